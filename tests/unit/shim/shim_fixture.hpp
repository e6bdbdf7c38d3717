#pragma once

#include "daemon/process/proc_info.hpp"
#include "daemon/shim/exit_record.hpp"
#include "daemon/shim/spec.hpp"
#include "tests/support/os_fixture.hpp"

namespace orange::test {

/// A run of orange-agent on a script of the test's.
class ShimFixture {
  public:
    ShimFixture() { std::filesystem::create_directories(dir / "tree"); }

    RunSpec script(const std::string& text) {
        RunSpec spec;
        spec.run.value = "run123456789";
        spec.task.value = "task";
        spec.project = "demo";
        spec.argv = {"sh", "-c", text};
        spec.env = {{"PATH", tests::tools()}, {"OUT", dir.path.string()}};
        spec.cwd = (dir / "tree").string();
        spec.worktree = spec.cwd;
        spec.exit_file = (dir / "exit.json").string();
        return spec;
    }
    std::vector<std::string> command(const RunSpec& spec) {
        write_file(dir / "spec.json", spec_text(spec));
        return {ORANGE_BINARY_DIR "/bin/orange-agent", (dir / "spec.json").string()};
    }
    Completed run_shim(const RunSpec& spec) {
        Command shim;
        shim.argv = command(spec);
        auto done = run(io, runner.run(std::move(shim)));
        if (!done) throw std::runtime_error(done.error().message);
        return *done;
    }
    bool ended() {
        return eventually([&] { return std::filesystem::exists(dir / "exit.json"); });
    }
    ExitRecord exit_record() { return read_exit_record(dir / "exit.json").value(); }

    /// Waits until the file holds a pid and a line end.
    std::int64_t pid_in(const std::string& name) {
        if (!eventually([&] { return read_file(dir / name).ends_with('\n'); })) throw std::runtime_error("no " + name);
        return std::stoll(read_file(dir / name));
    }
    static bool gone(std::int64_t pid) { return !process::start_time(pid); }
    static bool soon_gone(std::int64_t pid) {
        return eventually([&] { return gone(pid); });
    }

    asio::io_context io;
    PosixProcessRunner runner;
    TempDir dir;
};

}  // namespace orange::test

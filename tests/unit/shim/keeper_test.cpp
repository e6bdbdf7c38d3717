#include <signal.h>
#include <sys/stat.h>

#include "daemon/shim/keeper.hpp"
#include "tests/catch.hpp"
#include "tests/unit/shim/shim_fixture.hpp"

using namespace orange;
using namespace orange::test;

namespace {

struct KeeperFixture : ShimFixture {
    Completed keep(std::vector<std::string> argv) {
        Command command;
        command.argv = {ORANGE_BINARY_DIR "/bin/orange-agent", std::string(k_keep_option), dir.path.string()};
        command.argv.insert(command.argv.end(), argv.begin(), argv.end());
        command.cwd = dir.path.string();
        auto done = run(io, runner.run(std::move(command)));
        if (!done) throw std::runtime_error(done.error().message);
        return *done;
    }
};

}  // namespace

TEST_CASE_METHOD(KeeperFixture, "a keeper's command is answered for at once, and what it left stays below the keeper") {
    REQUIRE(::mkfifo((dir / "stay").c_str(), 0600) == 0);
    const auto done =
        keep({"sh", "-c",
              "echo said; echo complained >&2; setsid -f sh -c '(sh -c \"echo \\$\\$ >pid; read word <stay\" "
              "&)'; exit 7"});
    CHECK(done.exit_status == 7);
    CHECK(done.out == "said\n");
    CHECK(done.err == "complained\n");

    const auto orphan = pid_in("pid");
    REQUIRE(eventually([&] { return process::name_of(process::parent_of(orphan).value_or(0)) == "orange-agent"; }));
    const auto keeper = process::parent_of(orphan).value();
    CHECK(process::argv_of(keeper).at(1) == k_keep_option);
    CHECK(process::argv_of(keeper).at(2) == dir.path.string());
    CHECK(process::session_of(keeper) == keeper);
    CHECK(process::cwd_of(keeper) == "/");
    const auto status = read_file("/proc/" + std::to_string(keeper) + "/status");
    const auto ignored = std::stoull(status.substr(status.find("SigIgn:") + 8), nullptr, 16);
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) CHECK((ignored >> (signal - 1) & 1) == 1);

    write_file(dir / "stay", "\n");
    CHECK(soon_gone(orphan));
    CHECK(soon_gone(keeper));
}

TEST_CASE_METHOD(KeeperFixture, "a keeper's command has default signals, and one that cannot be started says so") {
    const auto done = keep({"grep", "SigIgn", "/proc/self/status"});
    CHECK((std::stoull(done.out.substr(done.out.find(':') + 1), nullptr, 16) & 0x7fffffff) == 0);
    CHECK(keep({"sh", "-c", "kill -9 $$"}).exit_status == 128 + SIGKILL);
    const auto missing = keep({"no-such-program"});
    CHECK(missing.exit_status == 127);
    CHECK_THAT(missing.err, Tells("no-such-program"));
    CHECK(keep({}).exit_status == 2);
}

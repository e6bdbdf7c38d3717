#include "daemon/process/scopes.hpp"

#include "common/base/text.hpp"
#include "daemon/process/posix_process_runner.hpp"
#include "tests/catch.hpp"
#include "tests/facts.hpp"
#include "tests/support/os_fixture.hpp"

using namespace orange;
using namespace orange::test;
using Catch::VectorContains;

namespace {

/// A stand-in for systemd-run in front of PATH, a runtime folder as a user manager makes it, and cgroup v2.
struct Manager {
    explicit Manager(const std::string& script) {
        write_file(dir / "bin/systemd-run",
                   "#!/bin/sh\nprintf '%s\\n' \"$*\" >>" + (dir / "record").string() + "\n" + script);
        std::filesystem::permissions(dir / "bin/systemd-run", std::filesystem::perms::owner_all);
        write_file(dir / "runtime/systemd/private", "");
        write_file(dir / "groups/cgroup.controllers", "cpu memory pids\n");
        env = scrubbed_environment();
        env["PATH"] = (dir / "bin").string() + ":" + env["PATH"];
        env["XDG_RUNTIME_DIR"] = (dir / "runtime").string();
    }
    Result<std::vector<std::string>> words(process::RunScopes& scopes, std::int64_t memory = 0,
                                           std::int64_t processes = 0) {
        return run(io, scopes.words("RUN123456789", memory, processes));
    }
    process::RunScopes scopes() { return {runner, env, dir / "groups"}; }
    std::size_t calls() { return split_lines(read_file(dir / "record")).size(); }

    TempDir dir;
    asio::io_context io;
    PosixProcessRunner runner;
    Environment env;
};

}  // namespace

TEST_CASE("a run has a scope of its own in orange.slice, with its limits of memory and processes") {
    Manager manager("exit 0\n");
    auto scopes = manager.scopes();
    const auto words = manager.words(scopes).value();
    CHECK(words.front() == (manager.dir / "bin/systemd-run").string());
    CHECK(words.back() == "--");
    CHECK_THAT(words, VectorContains(std::string("--scope")) && VectorContains(std::string("--slice=orange.slice")) &&
                          VectorContains(std::string("--unit=orange-run-RUN123456789.scope")) &&
                          VectorContains(std::string("--property=OOMPolicy=continue")));
    CHECK_THAT(join(words, " "), !Holds("Memory") && !Holds("TasksMax"));
    CHECK_THAT(manager.words(scopes, 0, 512).value(), VectorContains(std::string("--property=TasksMax=512")));
    CHECK_THAT(manager.words(scopes, 4096).value(), VectorContains(std::string("--property=MemoryMax=4096")) &&
                                                        VectorContains(std::string("--property=MemorySwapMax=0")));
    CHECK(manager.calls() == 1);  // it is tried once
}

TEST_CASE("a systemd that does not know the policy for scopes is not given it") {
    Manager manager("case \"$*\" in *OOMPolicy*) exit 1 ;; esac\n");
    auto scopes = manager.scopes();
    CHECK_THAT(join(manager.words(scopes).value(), " "), !Holds("OOMPolicy"));
    (void)manager.words(scopes);
    CHECK(manager.calls() == 2);
}

TEST_CASE("a manager that refuses is an error with its words, and is asked again for the next run") {
    Manager manager("test -e " + std::string("\"${0%/*}\"/works") +
                    " || { echo 'Failed to connect to bus' >&2; exit 1; }\n");
    auto scopes = manager.scopes();
    const auto refused = manager.words(scopes);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::unavailable);
    CHECK_THAT(refused.error().message, Holds("Failed to connect to bus"));
    write_file(manager.dir / "bin/works", "");
    CHECK(manager.words(scopes));
}

TEST_CASE("a machine without a user manager or without cgroup v2 has no scopes for runs, and starts no process") {
    Manager manager("exit 0\n");
    SECTION("no user manager") {
        manager.env.erase("XDG_RUNTIME_DIR");
    }
    SECTION("no systemd-run") {
        manager.env["PATH"] = (manager.dir / "nowhere").string();
    }
    SECTION("cgroup v1") {
        std::filesystem::remove(manager.dir / "groups/cgroup.controllers");
    }
    auto scopes = manager.scopes();
    CHECK(manager.words(scopes).error().code == ErrorCode::not_found);
    CHECK(manager.calls() == 0);
}

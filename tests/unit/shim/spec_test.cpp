#include "daemon/shim/spec.hpp"

#include "daemon/shim/exit_record.hpp"
#include "tests/golden.hpp"
#include "tests/support/os_fixture.hpp"

using namespace orange;
using namespace orange::test;

TEST_CASE("a spec comes back as it was written") {
    RunSpec spec;
    spec.run.value = "r";
    spec.task.value = "t";
    spec.role = Role::reviewer;
    spec.project = "p";
    spec.argv = {"claude", "multi\nline $(id) \"q\"", ""};
    spec.env = {{"PATH", "/bin"}, {"X", "a=b\n"}};
    spec.cwd = "/w";
    spec.worktree = "/w";
    spec.exit_file = "/e";
    spec.umask = "0022";
    spec.scope = {"systemd-run", "--", "orange-agent", "--join"};
    spec.memory_limit = 1LL << 33;
    spec.processes_limit = 512;
    spec.disk_limit = 1LL << 34;
    spec.user_namespace = "user:[4026531837]";
    spec.token = "t0";
    spec.address_file = "/d";
    CHECK(spec_from_text(spec_text(spec)).value() == spec);
    check_golden("spec.json", spec_text(spec));
    check_golden("spec-minimal.json", spec_text({}));
}

TEST_CASE("a spec that cannot be run is refused with the key at fault") {
    const auto message = [](const std::string& text) { return spec_from_text(text).error().message; };
    CHECK_FALSE(message("{").empty());
    CHECK_FALSE(message("[]").empty());
    CHECK_THAT(message(R"({"env":{},"cwd":"/","exit_file":"/e"})"), Tells("argv"));
    CHECK_THAT(message(R"({"argv":[],"env":{},"cwd":"/","exit_file":"/e"})"), Tells("argv"));
    CHECK_THAT(message(R"({"argv":["x",1],"env":{},"cwd":"/","exit_file":"/e"})"), Tells("argv"));
    CHECK_THAT(message(R"({"argv":["x"],"env":{"a":1},"cwd":"/","exit_file":"/e"})"), Tells("env"));
    CHECK_THAT(message(R"({"argv":["x"],"env":{},"cwd":"w","exit_file":"/e"})"), Tells("cwd"));
    CHECK_THAT(message(R"({"argv":["x"],"env":{},"cwd":"/","exit_file":"e"})"), Tells("exit_file"));
    CHECK_THAT(message(R"({"argv":["x"],"env":{},"cwd":"/","exit_file":"/e","role":"x"})"), Tells("role"));
    CHECK_FALSE(read_spec("/no/such/spec"));
}

TEST_CASE("an exit record is written whole, over an older one, and leaves nothing beside it") {
    TempDir dir;
    ExitRecord record;
    record.run.value = "r";
    record.exit_status = 137;
    record.signal = 9;
    record.passed_on = 15;
    record.ended_at = from_rfc3339("2026-11-20T10:49:03.120Z").value();
    CHECK(read_exit_record(dir / "exit.json").error().code == ErrorCode::not_found);
    write_file(dir / "exit.json.tmp", "left by a killed one");
    REQUIRE(write_exit_record(dir / "exit.json", ExitRecord{}));
    REQUIRE(write_exit_record(dir / "exit.json", record));
    CHECK(read_exit_record(dir / "exit.json").value() == record);
    record.error = "no such file";
    record.use = GroupUse{1, 2, 3, 4, 5, 6, 7};
    check_golden("exit.json", exit_record_text(record));
    check_golden("exit-minimal.json", exit_record_text({}));
    record.error.clear();
    record.use.reset();
    CHECK_FALSE(std::filesystem::exists(dir / "exit.json.tmp"));
    CHECK_FALSE(write_exit_record(dir / "none/exit.json", record));
    write_file(dir / "exit.json", "{\"run\":\"r\",\"exit_status\":\"7\"}");
    CHECK_THAT(read_exit_record(dir / "exit.json").error().message, Tells("exit_status"));
}

TEST_CASE("an exit record is not written through a link that stands in the place of a folder of the task") {
    TempDir dir;
    std::filesystem::create_directories(dir / "elsewhere/run");
    std::filesystem::create_directories(dir / "tasks/shop/4f2a");
    const auto file = dir / "tasks/shop/4f2a/run/r.exit";
    std::filesystem::create_directory_symlink(dir / "elsewhere/run", file.parent_path());
    CHECK_FALSE(write_exit_record(file, ExitRecord{}));
    std::filesystem::remove(file.parent_path());
    std::filesystem::remove(dir / "tasks/shop/4f2a");
    std::filesystem::create_directory_symlink(dir / "elsewhere", dir / "tasks/shop/4f2a");
    CHECK_FALSE(write_exit_record(file, ExitRecord{}));
    CHECK(std::filesystem::is_empty(dir / "elsewhere/run"));
}

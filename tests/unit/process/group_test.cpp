#include "daemon/process/group.hpp"

#include "tests/catch.hpp"
#include "tests/support/os_fixture.hpp"

using namespace orange;
using namespace orange::test;

namespace {

/// A folder with the files that the kernel has in that of a control group.
void make_group(const std::filesystem::path& group) {
    write_file(group / "cgroup.events", "populated 1\nfrozen 0\n");
    write_file(group / "cgroup.kill", "");
    write_file(group / "memory.current", "1048576\n");
    write_file(group / "memory.peak", "3145728\n");
    write_file(group / "memory.max", "12884901888\n");
    write_file(group / "pids.events", "max 5\n");
    write_file(group / "memory.events", "low 0\nhigh 0\nmax 9\noom 2\noom_kill 3\noom_group_kill 0\n");
    write_file(group / "cpu.stat", "usage_usec 1500000\nuser_usec 1\n");
}

}  // namespace

TEST_CASE("what the kernel has counted for a control group is read from its files") {
    const TempDir dir;
    CHECK_FALSE(process::use_of(dir.path));
    make_group(dir.path);
    GroupUse use;
    use.memory = 1 << 20;
    use.memory_peak = 3 << 20;
    use.memory_limit = std::int64_t{12} << 30;
    use.at_limit = 2;
    use.oom_kills = 3;
    use.forks_refused = 5;
    use.cpu_ms = 1500;
    CHECK(process::use_of(dir.path) == use);
    write_file(dir / "memory.max", "max\n");
    std::filesystem::remove(dir / "memory.peak");  // older kernels
    use.memory_limit = use.memory_peak = 0;
    CHECK(process::use_of(dir.path) == use);
}

TEST_CASE("a limit is believed only if the kernel has it for that very group") {
    const TempDir dir;
    constexpr std::int64_t k_limit = std::int64_t{12} << 30;
    CHECK_FALSE(process::is_limited_to(dir.path, k_limit));
    make_group(dir.path);
    CHECK(process::is_limited_to(dir.path, k_limit));
    CHECK_FALSE(process::is_limited_to(dir.path, k_limit / 2));
    write_file(dir / "memory.max", "max\n");
    CHECK_FALSE(process::is_limited_to(dir.path, k_limit));
    CHECK_FALSE(process::is_limited_to(dir.path, 0));
    CHECK_FALSE(process::is_limited_to(dir.path, 512, process::k_most_processes));
    write_file(dir / "pids.max", "512\n");
    CHECK(process::is_limited_to(dir.path, 512, process::k_most_processes));
    CHECK_FALSE(process::is_limited_to(dir.path, 512));
}

TEST_CASE("a group is ended as a whole, and a missing one has no processes") {
    const TempDir dir;
    CHECK_FALSE(process::has_processes(dir.path));
    CHECK_FALSE(process::kill_all(dir.path));
    make_group(dir.path);
    CHECK(process::has_processes(dir.path));
    CHECK(process::kill_all(dir.path));
    CHECK(read_file(dir / "cgroup.kill") == "1");
    write_file(dir / "cgroup.events", "populated 0\nfrozen 0\n");
    CHECK_FALSE(process::has_processes(dir.path));
}

#include "tests/catch.hpp"
#include "tests/support/advanced_time.hpp"
#include "tests/unit/runner/dying_agents.hpp"

/// Agents that use more of the disk than `limits.disk` says.
using namespace orange;
using namespace orange::test;

namespace {

constexpr std::int64_t k_mebibyte = 1 << 20;

/// A task in its review, with a worker and a reviewer that may have four mebibytes in their worktree.
struct DiskWorld : RunnerWorld {
    DiskWorld() : id(under_review(*this)) {
        set(*this, id, [](TaskRecord& record) {
            for (auto& run : record.runs) run.disk_limit = 4 * k_mebibyte;
        });
    }
    void has(std::int64_t mebibytes) {
        const auto file = house().world().pool.path_of(*record(id).task.workspace) / "big";
        write_file(file, std::string(static_cast<std::size_t>(mebibytes * k_mebibyte), 'x'));
    }
    /// A minute passes, and the daemon measures.
    void look() {
        time.advance(std::chrono::seconds(61));
        look_now();
    }
    void look_now() {
        house().runner().disks.look(id);
        house().go(async::yield());
    }
    std::int64_t used_by(Role role) { return record(id).run_of(role)->disk_used; }
    std::int64_t last() { return house().runner().disks.last_of(id); }
    const Notice* find(NoticeKind kind) { return engine::find_notice(record(id), kind); }

    TestTime time;
    const TaskId id;
};

}  // namespace

TEST_CASE("the agent that works is ended if its worktree has more than its limit, and the other one stays") {
    DiskWorld world;
    world.has(2);
    world.look();
    CHECK(world.last() >= 2 * k_mebibyte);
    CHECK(world.used_by(Role::reviewer) == 0);
    world.has(6);
    world.look();
    CHECK(world.used_by(Role::reviewer) >= 6 * k_mebibyte);
    CHECK(world.used_by(Role::worker) == 0);
    dies(world, world.id, Role::reviewer, 143);
    REQUIRE(world.find(NoticeKind::agent_crashed));
    CHECK_THAT(world.find(NoticeKind::agent_crashed)->text, Tells("limits.disk") && Holds("4 MiB"));
    CHECK(world.record(world.id).task.crash_count() == 1);
    CHECK_FALSE(world.record(world.id).run_of(Role::reviewer));
    CHECK(world.events(world.id, "agent.respawned").empty());
    CHECK(std::get<bool>(world.events(world.id, "agent.crashed").back().fields.at("out_of_disk")));
    world.look();
    CHECK(world.used_by(Role::worker) == 0);  // nothing has been added
    CHECK(world.house().control().alive(world.record(world.id), Role::worker));
}

TEST_CASE("an agent that is started again after its disk was used up may use some more, to remove something") {
    DiskWorld world;
    world.has(6);
    world.look();
    dies(world, world.id, Role::reviewer, 143);
    REQUIRE(respawn(world, world.id));
    set(world, world.id, [](TaskRecord& record) { record.run_of(Role::reviewer)->disk_limit = 4 * k_mebibyte; });
    world.look();
    CHECK(world.used_by(Role::reviewer) == 0);
    world.has(7);
    world.look();
    CHECK(world.used_by(Role::reviewer) >= 7 * k_mebibyte);
}

TEST_CASE("once its worktree was below the limit again, an agent may not use more than the limit") {
    DiskWorld world;
    world.has(6);
    world.look();
    dies(world, world.id, Role::reviewer, 143);
    REQUIRE(respawn(world, world.id));
    set(world, world.id, [](TaskRecord& record) { record.run_of(Role::reviewer)->disk_limit = 4 * k_mebibyte; });
    world.has(2);
    world.look();
    CHECK(world.used_by(Role::reviewer) == 0);
    CHECK(world.record(world.id).disk_over == 0);
    world.has(5);
    world.look();
    CHECK(world.used_by(Role::reviewer) >= 5 * k_mebibyte);
}

TEST_CASE("a worktree is measured at most once a minute, and only for an agent with a limit that lives") {
    DiskWorld world;
    world.has(1);
    world.look();
    const auto before = world.last();
    world.has(3);
    world.look_now();
    CHECK(world.last() == before);
    SECTION("without a limit") {
        set(world, world.id, [](TaskRecord& record) {
            for (auto& run : record.runs) run.disk_limit = 0;
        });
        world.look();
        CHECK(world.last() == before);
    }
    SECTION("after a minute") {
        world.look();
        CHECK(world.last() >= 3 * k_mebibyte);
    }
}

TEST_CASE("a worktree that cannot be measured ends nobody") {
    DiskWorld world;
    world.has(6);
    world.outside.children.arm(fakes::ChildFault::does_not_start, 1);
    world.look();
    CHECK(world.last() == 0);
    CHECK(world.used_by(Role::reviewer) == 0);
}

// The machine loses its power at every fsync of every change, and after the answer. Names and bytes that were not
// synced may be lost, each independently of the others; no process and no tmux is left. The next daemon loads the
// files, finishes the change, and knows everything that was answered. Long changes are tried with some of the possible
// losses; with all of them if ORANGE_ALL_FAULTS is set.
#include <cstdlib>
#include <optional>

#include "common/model/json.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/changes.hpp"
#include "tests/unit/runner/power.hpp"

using namespace orange;
using namespace orange::test;
namespace fs = std::filesystem;

namespace {

/// The disk and the repository at one moment, and what the power would leave of them.
struct Moment {
    fs::path copy;
    std::vector<PageCache::Image> images;
};

void copy_tree(const fs::path& from, const fs::path& to) {
    fs::remove_all(to);
    fs::create_directories(to.parent_path());
    fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
}

/// A machine that starts again: the files are what is left, and nobody lives.
void start_again(RunnerWorld& world, const Moment& moment, const PageCache::Image& image) {
    world.stop();
    copy_tree(moment.copy, world.home().parent_path());
    PageCache::restore(image, world.home());
    now_a_copy(world.home());
    world.outside.processes.alive.clear();
    world.outside.tmux.state = {};
    world.outside.tmux.state.server_pid = 0;
    world.boot();
}

/// Every change of a status follows from the one before, and none is told twice.
std::string gap_in_history(RunnerWorld& world, const TaskId& id) {
    std::string at = "pending";
    std::string chain = at;
    bool gap = false;
    for (const auto& event : world.events(id, "status.changed")) {
        gap = gap || event.fields.at("from") != Scalar{at};
        at = std::get<std::string>(event.fields.at("to"));
        chain += " " + at;
    }
    gap = gap || at != world.record(id).task.status;
    return gap ? chain + ", and is " + world.record(id).task.status : std::string();
}

using Look = std::function<void(RunnerWorld&, const TaskId&)>;

/// `edit`: what an agent does just before, which nobody syncs for it. `known`: what the next daemon says of what was
/// answered, before anybody asks it for anything; is_done otherwise.
struct More {
    Look edit;
    std::function<bool(RunnerWorld&, const TaskId&)> known;
};

void lose_power_everywhere(const Change& change, const More& more = {}) {
    const auto known = more.known ? more.known : change.is_done;
    RunnerWorld world;
    const auto id = change.arrange(world);
    world.keep();
    std::vector<Moment> moments;
    std::size_t syncs = 0;
    {
        PageCache cache(world.home());
        const auto remember = [&] {
            Moment moment{world.git.dir / "moments" / std::to_string(moments.size()), cache.images()};
            copy_tree(world.home().parent_path(), moment.copy);
            moments.push_back(std::move(moment));
        };
        cache.before_sync = [&] {
            ++syncs;
            remember();
        };
        if (more.edit) more.edit(world, id);
        const auto done = change.act(world, id);
        INFO(change.name << (done ? std::string() : ": " + done.error().message));
        REQUIRE(done);
        REQUIRE(change.is_done(world, id));
        remember();
    }
    CHECK(syncs > 0);
    const bool all = std::getenv("ORANGE_ALL_FAULTS") != nullptr;
    const std::size_t stride = all ? 1 : moments.size() < 8 ? 2 : 7;
    std::size_t number = 0;
    for (std::size_t n = 0; n < moments.size(); ++n) {
        const bool answered = n + 1 == moments.size();
        for (std::size_t i = 0; i < moments[n].images.size(); ++i) {
            if (!answered && number++ % stride != 0) continue;
            INFO(change.name << ", sync " << n + 1 << " of " << moments.size() << ", way " << i);
            REQUIRE_NOTHROW(start_again(world, moments[n], moments[n].images[i]));
            if (answered) {
                REQUIRE_NOTHROW(world.recover());
                CHECK(known(world, id));
            }
            CHECK_NOTHROW(goes_on(world, id, change));
            if (world.house().world().tasks.brief(id)) CHECK(gap_in_history(world, id) == "");
        }
    }
}

/// The next daemon would find what this one says; only what a removal took is gone, and removing it is asked for again.
bool disk_agrees(RunnerWorld& world, const TaskId& id) {
    const auto known = world.house().world().tasks.read(id).value_or(nullptr);
    if (!known) return true;
    const auto text = world.state_text(id);
    return text.empty() ? known->task.status == "cancelled" : Json::parse(text) == to_json(*known);
}

void fail_every_sync(const Change& change) {
    RunnerWorld world;
    const auto id = change.arrange(world);
    world.keep();
    for (int n = 1;; ++n) {
        INFO(change.name << ", fsync " << n);
        world.back();
        fail_sync(n);
        const auto result = change.act(world, id);
        const bool struck = has_failed_sync();
        CHECK_FALSE(has_trusted_a_failed_file());
        fail_sync(0);
        if (!struck) {
            REQUIRE(result);
            CHECK(n > 1);
            return;
        }
        if (!result) CHECK_FALSE(result.error().message.empty());
        CHECK(disk_agrees(world, id));
        CHECK_NOTHROW(goes_on(world, id, change));
    }
}

}  // namespace

TEST_CASE(
    "a disk that fails at any fsync is an error or no matter, is not believed afterwards, and the next try is whole",
    "[slow]") {
    fail_every_sync(creating());
    fail_every_sync(asking_for_review());
    fail_every_sync(cancelling());
    fail_every_sync(removing());
    fail_every_sync(changing_fields());
    fail_every_sync(leaving());
}

TEST_CASE("power that goes while a task is created leaves no task, or a whole one", "[slow]") {
    lose_power_everywhere(creating());
}

TEST_CASE("power that goes while a task is started leaves it pending, or started") {
    lose_power_everywhere(starting());
}

TEST_CASE("power that goes while a task moves on leaves the old or the new status, and what was written for it",
          "[slow]") {
    const auto handoff = [](RunnerWorld& world, const TaskId& id) { return holds(world.task_text(id), "all of it"); };
    const auto write_handoff = [](RunnerWorld& world, const TaskId& id) {
        world.append_body(id, "\n## Handoff\nall of it\n");
    };
    auto change = asking_for_review();
    change.arrange = with_work;
    change.act = [handoff, write_handoff](RunnerWorld& world, const TaskId& id) {
        auto moved = world.move(id, "agent-review");
        if (moved || handoff(world, id)) return nothing_of(moved);
        write_handoff(world, id);  // what nobody had synced or read is gone, and its agent writes it again
        return nothing_of(world.move(id, "agent-review"));
    };
    change.holds = [handoff](RunnerWorld& world, const TaskId& id) {
        if (world.record(id).task.status != "agent-review" || handoff(world, id)) return;
        throw std::runtime_error("the handoff is gone: " + world.task_text(id));
    };
    More more;
    more.edit = write_handoff;
    lose_power_everywhere(change, more);
    lose_power_everywhere(getting_stuck());
}

TEST_CASE("power that goes while a task ends leaves its work reachable, and an end that was told", "[slow]") {
    lose_power_everywhere(cancelling());
    lose_power_everywhere(removing());
}

TEST_CASE("power that goes while a task is merged leaves it merged once, or not at all", "[slow]") {
    lose_power_everywhere(merging());
    lose_power_everywhere(merging_by_squash());
}

TEST_CASE("power that goes while a task is changed leaves the old fields or the new", "[slow]") {
    lose_power_everywhere(changing_fields());
    lose_power_everywhere(renaming_the_branch());
    lose_power_everywhere(acknowledging());
}

TEST_CASE("power that goes while an agent is told or started again takes no task with it", "[slow]") {
    // Nobody lives after it: what was told is told again to whoever is started then.
    auto telling = sending();
    telling.act = [](RunnerWorld& world, const TaskId& id) {
        auto& runner = world.house().runner();
        if (world.outside.processes.alive.empty()) world.house().go(runner.respawns.respawn(id, a_human())).value();
        return nothing_of(world.house().go(runner.outbox.send(id, Role::worker, "hello")));
    };
    More told;
    told.known = [](RunnerWorld& world, const TaskId& id) { return world.record(id).task.status == "planning"; };
    lose_power_everywhere(telling, told);
    More again;
    again.known = [](RunnerWorld& world, const TaskId& id) { return !world.events(id, "agent.respawned").empty(); };
    lose_power_everywhere(respawning(), again);
}

TEST_CASE("power that goes after a workspace went to the next task leaves it to that one") {
    RunnerWorld world;
    const auto first = with_work(world);
    const auto next = world.make_task("second", 1, "relay");
    auto& house = world.house();
    Moment moment;
    {
        PageCache cache(world.home());
        house.go(house.runner().queue.spawn(next, a_human())).value();
        REQUIRE(world.record(next).queued);
        REQUIRE(world.move(first, "cancelled"));
        house.go(house.runner().queue.look("shop"));
        REQUIRE(world.record(next).task.workspace);
        write_file(house.world().pool.path_of("shop--1") / "of-the-next", "its work\n");
        moment = {world.git.dir / "moments" / "0", cache.images()};
        copy_tree(world.home().parent_path(), moment.copy);
    }
    for (std::size_t i = 0; i < moment.images.size(); ++i) {
        INFO("way " << i);
        start_again(world, moment, moment.images[i]);
        world.recover();
        const auto& pool = world.house().world().pool;
        CHECK(fs::exists(pool.path_of("shop--1") / "of-the-next"));
        REQUIRE(pool.list(std::nullopt).size() == 1);
        CHECK(pool.list(std::nullopt).front().task == next);
        CHECK_FALSE(world.record(first).task.workspace);
    }
}

TEST_CASE("power that goes after a command of a workflow has run does not run it again") {
    RunnerWorld world;
    const auto ran = world.git.dir / "ran";
    write_file(world.home() / "workflows/command.yml",
               "name: command\nversion: 1\nstates:\n  pending: {}\n  done:\n    terminal: true\ntransitions:\n"
               "  - {from: pending, to: done, hooks: [{action: run_command, argv: [sh, -c, 'echo ran >> \"$0\"', '" +
                   ran.string() + "']}, {action: notify}]}\n");
    const auto id = world.make_task();
    auto record = world.record(id);
    record.task.workflow = "command";
    REQUIRE(world.house().world().tasks.save(record));
    Moment moment;
    {
        PageCache cache(world.home());
        REQUIRE(world.move(id, "done"));
        moment = {world.git.dir / "moments" / "0", cache.images()};
        copy_tree(world.home().parent_path(), moment.copy);
    }
    REQUIRE(read_file(ran) == "ran\n");
    for (std::size_t i = 0; i < moment.images.size(); ++i) {
        INFO("way " << i);
        start_again(world, moment, moment.images[i]);
        world.recover();
        CHECK(world.record(id).task.status == "done");
        CHECK(read_file(ran) == "ran\n");
    }
}

TEST_CASE("power that goes while workspaces or projects change leaves the old or the new") {
    lose_power_everywhere(making_workspaces());
    lose_power_everywhere(removing_workspaces());
    lose_power_everywhere(leaving());
}

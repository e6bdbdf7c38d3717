#include <algorithm>

#include "common/model/json.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/dying_agents.hpp"

/// The first worker of a forked task continues a copy of the conversation that came along.
using namespace orange;
using namespace orange::test;

namespace {

using Words = std::vector<std::string>;

const std::string k_from = "9ef2943c-0000-4000-8000-000000000001";

/// A program that copies a conversation itself, with a name that Orange chooses; one that chooses the name; and one of
/// which Orange copies the file.
void define_talkers(RunnerWorld& world) {
    const std::string begin = "program: true\nargv: {full: ['{session_args}', --, '{prompt}']}\nsession:\n";
    write_file(world.home() / "harnesses/talker.yml",
               "name: talker\n" + begin +
                   "  {start: [--begin, '{session}'], resume: [--resume, '{session}'], form: uuid,\n"
                   "   fork: [--resume, '{from}', --as, '{session}']}\n");
    write_file(world.home() / "harnesses/namer.yml",
               "name: namer\n" + begin +
                   "  {variable: NAMER_ID, resume: [--resume, '{session}'], form: uuid,\n"
                   "   fork: [--load, '{from_file}', --in, '{worktree}']}\n");
    write_file(world.home() / "harnesses/filer.yml",
               "name: filer\n" + begin +
                   "  {start: [--file, '{talk_dir}/{session}.jsonl'], resume: [--file, '{talk_dir}/{session}.jsonl'],\n"
                   "   file: '{talk_dir}/{session}.jsonl', form: uuid, copy: {id: '{session}', cwd: '{worktree}'}}\n");
}

Json spec_of(RunnerWorld& world, const TaskId& id) {
    const auto& record = world.record(id);
    const auto run = record.run_of(Role::worker)->run.value;
    return Json::parse(read_file(world.house().control().run_folder(record) / (run + ".json")));
}

Words arguments(RunnerWorld& world, const TaskId& id) {
    auto argv = spec_of(world, id).at("argv").get<Words>();
    argv.erase(argv.begin());
    argv.resize(static_cast<std::size_t>(std::ranges::find(argv, "--") - argv.begin()));
    return argv;
}

std::string prompt(RunnerWorld& world, const TaskId& id) {
    return spec_of(world, id).at("argv").get<Words>().back();
}

/// A pending task of the program, with a conversation of `of` to continue.
TaskId with_talk(RunnerWorld& world, const std::string& harness, const std::string& of, const std::string& file = {}) {
    define_talkers(world);
    auto record = world.draft();
    record.task.harness = harness;
    const auto main = world.git.ref(world.repo(), "main");
    record.forked = ForkedWork{{}, main, main, NativeSession{Role::worker, of, k_from, "/w/old", file}};
    const auto id = record.task.id;
    world.create(record, "", true).value();
    return id;
}

}  // namespace

TEST_CASE("The first worker continues a copy of the conversation, and the next one goes on with that copy") {
    RunnerWorld world;
    const auto id = with_talk(world, "talker", "talker");
    world.move(id, "planning").value();
    auto words = arguments(world, id);
    REQUIRE(words.size() == 4);
    const auto copy = words[3];
    CHECK(words == Words{"--resume", k_from, "--as", copy});
    CHECK(copy != k_from);
    CHECK_THAT(prompt(world, id), Tells("/w/old") && Tells(world.house().world().pool.path_of("shop--1").string()));
    CHECK(world.record(id).run_of(Role::worker)->resumed);
    CHECK(world.record(id).forked->run == world.record(id).run_of(Role::worker)->run);
    CHECK(world.events(id, "agent.resumed").size() == 1);
    REQUIRE(world.record(id).session_of(Role::worker) != nullptr);
    CHECK(world.record(id).session_of(Role::worker)->id == copy);
    SECTION("the next one") {
        world.outside.clock.pass(std::chrono::minutes(1));
        dies(world, id, Role::worker);
        respawn(world, id).value();
        CHECK(arguments(world, id) == Words{"--resume", copy});
        CHECK_THAT(prompt(world, id), !Holds("/w/old"));
    }
    SECTION("a fresh one") {
        world.outside.clock.pass(std::chrono::minutes(1));
        dies(world, id, Role::worker);
        world.house().go(world.house().runner().respawns.respawn(id, Caller{}, true)).value();
        CHECK(arguments(world, id).front() == "--begin");
    }
    SECTION("the program cannot continue it: a new conversation begins, once") {
        dies(world, id, Role::worker);
        CHECK(world.events(id, "agent.resume_failed").size() == 1);
        REQUIRE(world.record(id).run_of(Role::worker) != nullptr);
        CHECK(arguments(world, id).front() == "--begin");
        CHECK(world.record(id).task.crash_count() == 0);
    }
}

TEST_CASE("A copy whose name the program chooses has none until the program says it") {
    RunnerWorld world;
    const auto id = with_talk(world, "namer", "namer", "/h/old.jsonl");
    world.move(id, "planning").value();
    CHECK(arguments(world, id) ==
          Words{"--load", "/h/old.jsonl", "--in", world.house().world().pool.path_of("shop--1").string()});
    CHECK(world.record(id).session_of(Role::worker) == nullptr);
}

TEST_CASE("A conversation in a file is copied, with the new worktree in it") {
    RunnerWorld world;
    const auto folder = world.programs() / "talk";
    const auto file = folder / (k_from + ".jsonl");
    std::filesystem::create_directories(folder);
    const std::string text = "{\"type\":\"session\",\"id\":\"old\",\"cwd\":\"/w/old\"}\n{\"type\":\"message\"}\n";
    write_file(file, text);
    const auto id = with_talk(world, "filer", "filer", file.string());
    SECTION("it is there") {
        world.move(id, "planning").value();
        const auto words = arguments(world, id);
        REQUIRE(words.size() == 2);
        const auto copied = read_file(words[1]);
        const auto first = Json::parse(copied.substr(0, copied.find('\n')));
        CHECK(first.at("cwd") == world.house().world().pool.path_of("shop--1").string());
        CHECK(first.at("id") == Path(words[1]).stem().string());
        CHECK(first.at("type") == "session");
        CHECK_THAT(copied, Holds("\n{\"type\":\"message\"}\n"));
        CHECK(read_file(file) == text);
        CHECK(world.record(id).run_of(Role::worker)->resumed);
    }
    SECTION("it is gone, and a new conversation begins") {
        std::filesystem::remove(file);
        world.move(id, "planning").value();
        CHECK(arguments(world, id).front() == "--file");
        CHECK_FALSE(world.record(id).run_of(Role::worker)->resumed);
    }
    SECTION("it is no conversation any more, and a new one begins") {
        write_file(file, "no line of JSON\n");
        world.move(id, "planning").value();
        CHECK(arguments(world, id).front() == "--file");
        CHECK_FALSE(world.record(id).run_of(Role::worker)->resumed);
    }
    SECTION("an agent has put a link there, which is not followed") {
        std::filesystem::rename(file, folder / "other");
        std::filesystem::create_symlink(folder / "other", file);
        world.move(id, "planning").value();
        CHECK_FALSE(world.record(id).run_of(Role::worker)->resumed);
    }
    SECTION("an agent has put a link in the place of the folder") {
        std::filesystem::rename(folder, world.programs() / "other");
        std::filesystem::create_directory_symlink(world.programs() / "other", folder);
        world.move(id, "planning").value();
        CHECK_FALSE(world.record(id).run_of(Role::worker)->resumed);
    }
}

TEST_CASE("A start that never happened leaves the conversation to the next one") {
    RunnerWorld world;
    const auto id = with_talk(world, "talker", "talker");
    world.outside.tmux.open_fails = Error(ErrorCode::external_failed, "no room for a window");
    (void)world.move(id, "planning");
    CHECK(world.record(id).run_of(Role::worker) == nullptr);
    CHECK(world.record(id).forked->run.value.empty());
    CHECK(world.record(id).session_of(Role::worker) == nullptr);
    world.outside.tmux.open_fails.reset();
    if (world.record(id).task.status == "pending") {
        world.move(id, "planning").value();
    } else {
        respawn(world, id).value();
    }
    CHECK(arguments(world, id).front() == "--resume");
    CHECK(arguments(world, id).at(1) == k_from);
}

TEST_CASE("A conversation of another program is not continued") {
    RunnerWorld world;
    const auto id = with_talk(world, "talker", "namer");
    world.move(id, "planning").value();
    CHECK(arguments(world, id).front() == "--begin");
    CHECK_FALSE(world.record(id).run_of(Role::worker)->resumed);
}

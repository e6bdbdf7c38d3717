#include "daemon/runner/transitions/given_files.hpp"

#include <filesystem>

#include "tests/catch.hpp"
#include "tests/unit/runner/given.hpp"

using namespace orange;
using namespace orange::test;
namespace fs = std::filesystem;

namespace {

TaskId worker_for_files(RunnerWorld& world) {
    const auto id = world.make_task();
    world.move(id, "planning").value();
    return id;
}

std::string line_of(const fs::path& path, const std::string& name, const std::string& size) {
    return "- `" + path.string() + "` (from ~/Desktop/" + name + ", " + size + ", 2026-11-20)\n";
}

}  // namespace

TEST_CASE("a message and a feedback end with the paths of their files") {
    GivenFiles one, two, none;
    one.paths = {"/t/files/a.png"};
    two.paths = {"/t/files/a.png", "/t/files/b c.txt"};
    CHECK(message_with("Look ", none) == "Look ");
    CHECK(message_with("Look ", one) == "Look (file: /t/files/a.png)");
    CHECK(message_with("Look", two) == "Look (files: /t/files/a.png, /t/files/b c.txt)");
    CHECK(feedback_with("Nearly.\n", none) == "Nearly.\n");
    CHECK(feedback_with("", one) == "- File: `/t/files/a.png`");
    CHECK(feedback_with("Nearly.\n", two) == "Nearly.\n\n- File: `/t/files/a.png`\n- File: `/t/files/b c.txt`");
}

TEST_CASE("the first TASK.md names the files of a new task, which has them") {
    RunnerWorld world;
    const auto record = world.draft();
    const auto& id = record.task.id;
    const std::vector<std::string> ids = {upload(world, "shot.png", "bytes").value(),
                                          upload(world, "shot.png", "other").value()};
    create_with(world, record, ids, "because\n").value();
    const auto folder = files_of(world, id);
    CHECK(read_file(folder / "shot.png") == "bytes");
    CHECK(read_file(folder / "shot-2.png") == "other");
    const auto text = world.task_text(id);
    CHECK_THAT(text, Holds("## Context\n\nbecause\n"));
    CHECK_THAT(text, Holds("## Files\n\n" + line_of(folder / "shot.png", "shot.png", "5 bytes") +
                           line_of(folder / "shot-2.png", "shot.png", "5 bytes")));
    CHECK(world.record(id).unwritten_files.empty());
    CHECK(uploads_left(world) == 0);
    world.boot();
    world.house().go(world.house().runner().turns.body_changed(id));
    CHECK(world.task_text(id) == text);
    CHECK(world.record(id).task.attention.value_or("") == "");
}

TEST_CASE("a creation that is refused leaves the files for the next try") {
    RunnerWorld world;
    const auto first = world.make_task();
    auto record = world.draft();
    const auto id = upload(world, "shot.png", "bytes").value();
    record.task.branch = world.record(first).task.branch;
    CHECK(create_with(world, record, {id}).error().code == ErrorCode::conflict);
    CHECK_FALSE(fs::exists(files_of(world, record.task.id).parent_path()));
    // The id of a task that is there, or of a folder that cannot be read: nothing comes into it.
    auto again = world.record(first);
    again.task.branch = "another";
    CHECK(create_with(world, again, {id}).error().code == ErrorCode::conflict);
    CHECK_FALSE(fs::exists(files_of(world, first)));
    write_file(files_of(world, record.task.id).parent_path() / "state.json", "{broken");
    record.task.branch = "another";
    CHECK(create_with(world, record, {id}).error().code == ErrorCode::conflict);
    CHECK(read_file(files_of(world, record.task.id).parent_path() / "state.json") == "{broken");
    CHECK(is_waiting(world, id));
    auto third = world.draft();
    create_with(world, third, {id}).value();
    CHECK(read_file(files_of(world, third.task.id) / "shot.png") == "bytes");
}

TEST_CASE("a message names its files, and so does TASK.md") {
    RunnerWorld world;
    const auto id = worker_for_files(world);
    const auto one = upload(world, "shot.png", "bytes").value();
    send_with(world, id, {one}).value();
    const auto path = files_of(world, id) / "shot.png";
    CHECK(read_file(path) == "bytes");
    CHECK_THAT(told_to_agent(world, id), Holds("The human says: Look (file: " + path.string() + ")."));
    CHECK_THAT(world.task_text(id), Holds("## Files\n\n" + line_of(path, "shot.png", "5 bytes")));
    const auto mirror =
        world.house().world().pool.path_of(*world.record(id).task.workspace) / world.record(id).task_file;
    CHECK_THAT(read_file(mirror), Holds(path.string()));

    const std::vector<std::string> more = {upload(world, "shot.png", "x").value(),
                                           upload(world, "a b.txt", "y").value()};
    send_with(world, id, more, "And these").value();
    const auto folder = files_of(world, id);
    CHECK_THAT(told_to_agent(world, id), Holds("And these (files: " + (folder / "shot-2.png").string() + ", " +
                                               (folder / "a b.txt").string() + ")."));
    CHECK_THAT(world.task_text(id),
               Holds(line_of(path, "shot.png", "5 bytes") + line_of(folder / "shot-2.png", "shot.png", "1 byte") +
                     line_of(folder / "a b.txt", "a b.txt", "1 byte")));
    CHECK(world.record(id).unwritten_files.empty());
    CHECK(uploads_left(world) == 0);
}

TEST_CASE("an answer that waits for its agent has its files, too") {
    RunnerWorld world;
    const auto id = worker_for_files(world);
    const auto one = upload(world, "shot.png", "bytes").value();
    with_files(world, {one}, [&]() -> Result<void> {
        return world.house().go(world.house().runner().outbox.leave(id, Role::worker, "Blue", {one}));
    }).value();
    REQUIRE(world.record(id).outbox.size() == 1);
    const auto path = (files_of(world, id) / "shot.png").string();
    CHECK_THAT(world.record(id).outbox[0].text, Holds("Blue (file: " + path + ")"));
    CHECK_THAT(world.task_text(id), Holds(path));
}

TEST_CASE("a message that is refused changes nothing, and its files wait for the next one") {
    RunnerWorld world;
    const auto id = world.make_task();  // no agent runs
    const auto one = upload(world, "shot.png", "bytes").value();
    CHECK(send_with(world, id, {one}).error().code == ErrorCode::conflict);
    CHECK(send_with(world, TaskId{"zzzzzzzzzzzzzzzzzzzzz"}, {one}).error().code == ErrorCode::not_found);
    world.move(id, "cancelled").value();
    CHECK_FALSE(send_with(world, id, {one}));
    CHECK_FALSE(fs::exists(files_of(world, id)));
    CHECK_THAT(world.task_text(id), !Holds("## Files"));
    CHECK(world.record(id).outbox.empty());
    CHECK(is_waiting(world, one));
    const auto other = worker_for_files(world);
    send_with(world, other, {one}).value();
    CHECK(send_with(world, other, {one}).error().code == ErrorCode::not_found);  // it was used
}

TEST_CASE("feedback names its files, above the comments on lines") {
    RunnerWorld world;
    world.boot();
    const auto id = handed_to_human(world);
    comment_on(world, id, {on_line(2, "what if it is empty?")}).value();
    const auto one = upload(world, "shot.png", "bytes").value();
    reject_with(world, id, {one}).value();
    const auto path = files_of(world, id) / "shot.png";
    CHECK(world.record(id).task.status == "working");
    const auto text = world.task_text(id);
    CHECK_THAT(text, Holds("## Feedback\n\nNearly.\n\n- File: `" + path.string() + "`\n"));
    CHECK_THAT(text, Holds("what if it is empty?"));
    CHECK_THAT(text, Holds("## Files\n\n" + line_of(path, "shot.png", "5 bytes")));
    CHECK(read_file(path) == "bytes");
    CHECK(world.record(id).unwritten_files.empty());
}

TEST_CASE("feedback that is refused changes nothing, and its files wait for the next one") {
    RunnerWorld world;
    const auto id = worker_for_files(world);
    const auto one = upload(world, "shot.png", "bytes").value();
    CHECK_FALSE(reject_with(world, id, {one}));
    CHECK_FALSE(fs::exists(files_of(world, id)));
    CHECK_THAT(world.task_text(id), !Holds("## Files"));
    CHECK(is_waiting(world, one));
}

TEST_CASE("a link that an agent has put in the place of the files is never followed") {
    RunnerWorld world;
    const auto id = worker_for_files(world);
    const auto elsewhere = world.home() / "elsewhere";
    fs::create_directory(elsewhere);
    fs::create_directory_symlink(elsewhere, files_of(world, id));
    const auto one = upload(world, "shot.png", "bytes").value();
    const auto before = world.state_text(id);
    CHECK(send_with(world, id, {one}).error().code == ErrorCode::io);
    CHECK(fs::is_empty(elsewhere));
    CHECK(world.state_text(id) == before);
    CHECK(is_waiting(world, one));
    fs::remove(files_of(world, id));
    fs::create_directory(files_of(world, id));
    fs::create_symlink(elsewhere / "shot.png", files_of(world, id) / "shot.png");
    send_with(world, id, {one}).value();
    CHECK(fs::is_empty(elsewhere));
    CHECK(read_file(files_of(world, id) / "shot-2.png") == "bytes");
}

TEST_CASE("the files of a task go with it") {
    RunnerWorld world;
    const auto record = world.draft();
    const auto one = upload(world, "shot.png", "bytes").value();
    create_with(world, record, {one}).value();
    world.move(record.task.id, "cancelled").value();
    REQUIRE(fs::exists(files_of(world, record.task.id) / "shot.png"));
    world.house().go(world.house().runner().requests.remove(record.task.id, a_human())).value();
    CHECK_FALSE(fs::exists(files_of(world, record.task.id)));
}

#include "daemon/runner/review/comments.hpp"

#include "daemon/runner/attention/attention.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/review/review.hpp"

using namespace orange;
using namespace orange::test;

namespace {

Result<void> change(RunnerWorld& world, const TaskId& id, std::int64_t number, CommentChange what,
                    const std::string& text = "") {
    return world.house().go(world.house().runner().comments.change(id, {number}, what, text));
}

void write_handoff(RunnerWorld& world, const TaskId& id, const std::string& text) {
    const auto file = world.house().world().pool.path_of(*world.record(id).task.workspace) / "TASK.md";
    auto body = read_file(file);
    body.erase(body.find("\n## Handoff"));
    write_file(file, body + "\n## Handoff\n" + text);
}

}  // namespace

TEST_CASE("a comment is on the disk when the call returns, with the lines that it is about") {
    RunnerWorld world;
    world.boot();
    const auto id = handed_to_human(world);
    CHECK(comment_on(world, id, {on_line(2, "what if it is empty?"), on_line(1, " a name ")}).value() ==
          std::vector<std::int64_t>{1, 2});
    world.boot();  // the next daemon
    const auto list = comment_list(world, id);
    REQUIRE(list.comments.size() == 2);
    CHECK(list.comments[0].anchor.text == "    return sum(prices)");
    CHECK(list.comments[0].anchor.commit.size() == 40);
    CHECK(list.comments[1].turns.front().text == "a name");
    CHECK(comment_counts(world, id).drafts == 2);
}

TEST_CASE("a place that is not there changes nothing, and says what is there") {
    RunnerWorld world;
    world.boot();
    const auto id = handed_to_human(world);
    const auto refusal = [&](NewCommentText text) {
        const auto refused = comment_on(world, id, {on_line(1, "fine"), std::move(text)});
        REQUIRE_FALSE(refused);
        CHECK(comment_list(world, id).comments.empty());
        return refused.error().message;
    };
    CHECK_THAT(refusal(on_line(4, "x")), Tells("cart.py") && Tells("3") && Tells("4"));
    CHECK_THAT(refusal(on_line(1, "x", "none.py")), Tells("none.py"));
    CHECK_THAT(refusal(on_line(1, "x", "../etc/passwd")), Tells("../etc/passwd"));
    CHECK_THAT(refusal(on_line(0, "x")), Tells("1"));
    (void)refusal(on_line(1, "  \n"));
    CHECK_THAT(refusal(on_line(1, std::string(20'000, 'x'))), Tells("16384"));
    (void)refusal(on_line(1, "bad \xff bytes"));
    auto seen = on_line(1, "x");
    seen.has_seen = true;
    seen.anchor.text = "def total(numbers):";
    CHECK_THAT(refusal(seen), Holds("def total(prices):"));
    auto section = on_line(1, "x");
    section.anchor.path.clear();
    section.anchor.section = "Ideas";
    CHECK_THAT(refusal(section), Tells("Ideas"));
}

TEST_CASE("numbers are never used again, and a state that does not allow a change says so") {
    RunnerWorld world;
    world.boot();
    const auto id = handed_to_human(world);
    comment_on(world, id, {on_line(1, "one"), on_line(2, "two")}).value();
    change(world, id, 2, CommentChange::remove).value();
    CHECK(comment_on(world, id, {on_line(2, "three")}).value() == std::vector<std::int64_t>{3});
    change(world, id, 3, CommentChange::edit, "third").value();
    CHECK(comment_list(world, id).comments.back().turns.front().text == "third");
    CHECK_THAT(change(world, id, 2, CommentChange::remove).error().message, Tells("orange comments " + id.value));
    CHECK_FALSE(change(world, id, 1, CommentChange::resolve));
    CHECK_FALSE(change(world, id, 1, CommentChange::ask, "?"));
    CHECK_FALSE(change(world, id, 1, CommentChange::take));
    CHECK_FALSE(change(world, id, 1, CommentChange::edit, ""));
    CHECK_FALSE(change(world, id, 1, CommentChange::remove, "why"));
    change(world, id, 1, CommentChange::remove).value();
    change(world, id, 3, CommentChange::remove).value();
    CHECK(comment_on(world, id, {on_line(1, "four")}).value() == std::vector<std::int64_t>{4});
}

TEST_CASE("three rounds: sent, answered, asked again, resolved") {
    RunnerWorld world;
    world.boot();
    const auto id = handed_to_human(world);
    comment_on(world, id, {on_line(2, "what if it is empty?"), on_line(1, "a name")}).value();
    send_back(world, id, "Nearly there.").value();
    CHECK(world.record(id).task.status == "working");
    CHECK(comment_counts(world, id).sent == 2);
    auto text = world.task_text(id);
    CHECK_THAT(text, Holds("Nearly there.") &&
                         Holds("1. cart.py:2\n    >     return sum(prices)\n    what if it is empty?") &&
                         Holds("2. cart.py:1\n"));

    write_handoff(world, id, "DONE: all of it, again\n1: zero then\n");
    CHECK_THAT(world.move(id, "agent-review", Role::worker).error().message, Tells("2") && Tells("## Feedback"));
    CHECK(comment_counts(world, id).sent == 2);
    write_handoff(world, id, "DONE: all of it, again\n1: zero then\n2: renamed\n");
    world.move(id, "agent-review", Role::worker).value();
    CHECK(comment_counts(world, id).answered == 2);
    CHECK(comment_list(world, id).comments[1].turns.front().answer == "renamed");

    world.append_body(id, "\n## Review\nVerdict: PASS\nsecond round\n");
    world.move(id, "reviewing").value();
    CHECK_THAT(needs_of(world.house().runner(), world.record(id)).text, Tells("2"));
    change(world, id, 2, CommentChange::resolve).value();
    change(world, id, 1, CommentChange::ask, "and a test?").value();
    CHECK(comment_counts(world, id).drafts == 1);
    send_back(world, id).value();
    CHECK_THAT(world.task_text(id), Holds("1. cart.py:2 (asked again)") && Holds("zero then") && Holds("and a test?") &&
                                        !Holds("2. cart.py"));
    write_handoff(world, id, "DONE: third\n1: zero then\n");
    CHECK_THAT(world.move(id, "agent-review", Role::worker).error().message, Tells("1") && !Tells("2"));
    write_handoff(world, id, "DONE: third\n1: there is a test now\n");
    world.move(id, "agent-review", Role::worker).value();
    const auto list = comment_list(world, id);
    CHECK(list.comments[0].turns.size() == 2);
    CHECK(list.comments[0].turns[0].answer == "zero then");
    CHECK(list.comments[0].turns[1].answer == "there is a test now");
    CHECK(comment_counts(world, id).answered == 1);
}

TEST_CASE("the end of the worker without an answer is no handover") {
    RunnerWorld world;
    world.boot();
    const auto id = handed_to_human(world);
    comment_on(world, id, {on_line(2, "what if it is empty?")}).value();
    send_back(world, id).value();
    write_handoff(world, id, "DONE: all of it, again\n");
    world.kill_agent(id, Role::worker, 0);
    const auto run = world.record(id).run_of(Role::worker)->run;
    world.house().go(world.house().runner().exits.agent_exited(id, run));
    CHECK(world.record(id).task.status == "working");
    CHECK(comment_counts(world, id).sent == 1);
}

TEST_CASE("comments that were not sent are a question before a merge") {
    RunnerWorld world;
    world.boot();
    const auto id = handed_to_human(world);
    comment_on(world, id, {on_line(2, "what if it is empty?")}).value();
    const auto merged = world.house().go(world.house().runner().merges.merge(id, MergeOrder(), a_human()));
    REQUIRE_FALSE(merged);
    CHECK(merged.error().code == ErrorCode::needs_force);
    CHECK_THAT(merged.error().message, Tells("orange task reject " + id.value));
}

TEST_CASE("comments on sections stand where their lines are") {
    RunnerWorld world;
    world.boot();
    const auto id = handed_to_human(world);
    auto comment = on_line(1, "why so?");
    comment.anchor.path.clear();
    comment.anchor.section = "Plan";
    comment_on(world, id, {comment}).value();
    CHECK(comment_list(world, id).comments.front().anchor.text == "APPROACH: straight on");
    const auto placed = [&](const std::string& body) {
        std::optional<Changes> none;
        return world.house()
            .go(world.house().runner().comments.placed(comment_list(world, id), std::move(none), body))
            .front()
            .place;
    };
    CHECK(placed("## Plan\nAPPROACH: straight on\n").kind == CommentPlace::Kind::here);
    CHECK(placed("## Plan\n\nmore\n\nAPPROACH: straight on\n").line == 4);
    CHECK(placed("## Plan\nAPPROACH: another\n").kind == CommentPlace::Kind::outdated);
    CHECK(placed("## Other\nAPPROACH: straight on\n").kind == CommentPlace::Kind::outdated);
    send_back(world, id).value();
    CHECK_THAT(world.task_text(id), Holds("1. ## Plan:1\n    > APPROACH: straight on\n    why so?"));
}

TEST_CASE("a file of comments that cannot be read is never overwritten, and keeps the gate closed") {
    RunnerWorld world;
    world.boot();
    const auto id = handed_to_human(world);
    comment_on(world, id, {on_line(2, "what if it is empty?")}).value();
    send_back(world, id).value();
    const auto file = world.house().world().tasks.folder(world.record(id)) / "comments.json";
    write_file(file, "{broken");
    CHECK_THAT(comment_on(world, id, {on_line(1, "x")}).error().message, Tells("comments.json"));
    CHECK(read_file(file) == "{broken");
    write_handoff(world, id, "DONE: all of it, again\n1: yes\n");
    CHECK_THAT(world.move(id, "agent-review", Role::worker).error().message, Tells("orange comments " + id.value));
}

TEST_CASE("comments that were sent before and not answered are in every later list") {
    RunnerWorld world;
    world.boot();
    const auto id = handed_to_human(world);
    comment_on(world, id, {on_line(2, "what if it is empty?")}).value();
    send_back(world, id).value();
    world.move(id, "stuck", Role::worker).value();
    send_back(world, id, "Try again.").value();
    CHECK(world.record(id).task.status == "working");
    CHECK_THAT(world.task_text(id), Holds("Try again.") && Holds("what if it is empty?"));
    CHECK(comment_counts(world, id).sent == 1);
}

TEST_CASE("answers of a worker that gave up are taken when its human goes on with the review") {
    RunnerWorld world;
    world.boot();
    const auto id = handed_to_human(world);
    comment_on(world, id, {on_line(2, "what if it is empty?")}).value();
    send_back(world, id).value();
    write_handoff(world, id, "REMAINING: all of it\n1: cannot be empty\n");
    world.move(id, "stuck", Role::worker).value();
    CHECK(comment_counts(world, id).sent == 1);
    world.move(id, "reviewing").value();
    CHECK(comment_counts(world, id).answered == 1);
}

TEST_CASE("a task that has ended gets no comments") {
    RunnerWorld world;
    world.boot();
    const auto id = handed_to_human(world);
    world.move(id, "cancelled").value();
    CHECK_THAT(comment_on(world, id, {on_line(2, "x")}).error().message, Tells("orange task restore " + id.value));
}

TEST_CASE("a comment is about the lines that were seen, whatever stands at their number by now") {
    RunnerWorld world;
    world.boot();
    const auto id = handed_to_human(world);
    const auto worktree = world.house().world().pool.path_of(*world.record(id).task.workspace);
    auto seen = on_line(2, "what if it is empty?");
    seen.anchor.commit = world.git.plain(worktree.string(), {"rev-parse", "HEAD"});
    write_file(worktree / "cart.py", "x\nx\nx\n");
    comment_on(world, id, {seen}).value();
    CHECK(comment_list(world, id).comments.front().anchor.text == "    return sum(prices)");
    seen.anchor.commit = "HEAD";
    CHECK_FALSE(comment_on(world, id, {seen}));
    seen.anchor.commit = std::string(40, '1');
    CHECK_FALSE(comment_on(world, id, {seen}));
}

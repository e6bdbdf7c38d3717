#pragma once

#include <string>

#include "tests/unit/runner/changes.hpp"

/// A task of the workflow default that its human reviews, with a file of three lines on its branch.
namespace orange::test {

inline TaskId handed_to_human(RunnerWorld& world) {
    const auto id = world.make_task();
    world.move(id, "planning").value();
    world.append_body(id, "\n## Plan\nAPPROACH: straight on\nTOUCHING: cart.py\n");
    world.move(id, "working").value();
    const auto worktree = world.house().world().pool.path_of(*world.record(id).task.workspace);
    world.git.commit(worktree, "cart.py", "def total(prices):\n    return sum(prices)\n# the end of it\n");
    world.append_body(id, "\n## Handoff\nDONE: all of it\n");
    world.move(id, "agent-review").value();
    world.append_body(id, "\n## Review\nVerdict: PASS\ncart.py:2: what about none?\n");
    world.move(id, "reviewing").value();
    return id;
}

inline NewCommentText on_line(std::int64_t line, const std::string& text, const std::string& path = "cart.py") {
    NewCommentText comment;
    comment.anchor.path = path;
    comment.anchor.line = comment.anchor.end = line;
    comment.text = text;
    return comment;
}

inline Result<std::vector<std::int64_t>> comment_on(RunnerWorld& world, const TaskId& id,
                                                    std::vector<NewCommentText> texts) {
    return world.house().go(world.house().runner().comments.add(id, std::move(texts)));
}

inline Result<Outcome> send_back(RunnerWorld& world, const TaskId& id, const std::string& feedback = "") {
    engine::Request request;
    request.goal = engine::Goal::rejected;
    Edit edit;
    if (!feedback.empty()) edit.feedback = feedback;
    return world.house().go(world.house().runner().requests.move(id, request, a_human(), std::move(edit)));
}

inline CommentCounts comment_counts(RunnerWorld& world, const TaskId& id) {
    return world.house().runner().comments.counts(world.record(id));
}

inline CommentList comment_list(RunnerWorld& world, const TaskId& id) {
    return world.house().runner().comments.read(world.record(id)).value();
}

inline std::size_t times_in(const std::string& text, const std::string& part) {
    std::size_t times = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++times;
    return times;
}

}  // namespace orange::test

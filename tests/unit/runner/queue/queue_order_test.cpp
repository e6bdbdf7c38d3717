#include "daemon/runner/queue/queue_order.hpp"

#include "tests/catch.hpp"

using namespace orange;
using namespace orange::queue;

namespace {

using Ids = std::vector<TaskId>;

const TaskId a{"a"}, b{"b"}, c{"c"}, d{"d"};
const Resource tree{"workspace", "shop"}, worker{"worker", "shop"}, reviewer{"reviewer", "shop"},
    claude{"harness", "claude"}, codex{"harness", "codex"};

/// Waits for a workspace alone.
queue::Candidate wants_tree(const TaskId& id, bool starting = false) {
    return {id, {tree}, starting};
}

}  // namespace

TEST_CASE("what is due is first in, first out, as far as there is room") {
    CHECK(due({{wants_tree(a), wants_tree(b), wants_tree(c)}, {{tree, 2}}}) == Ids{a, b});
    CHECK(due({{wants_tree(a), wants_tree(b), wants_tree(c)}, {{tree, 0}}}).empty());
    CHECK(due({{}, {{tree, 5}}}).empty());
    CHECK(due({{wants_tree(a)}, {{tree, -1}}}).empty());
}

TEST_CASE("a start under way is not due again") {
    CHECK(due({{wants_tree(a, true), wants_tree(b), wants_tree(c)}, {{tree, 1}}}) == Ids{b});
    CHECK(due({{wants_tree(a, true), wants_tree(b, true), wants_tree(c)}, {{tree, 0}}}).empty());
}

TEST_CASE("a task that has its workspace needs no room, and takes none from those behind it") {
    CHECK(due({{wants_tree(a), {b, {}}, wants_tree(c)}, {{tree, 0}}}) == Ids{b});
    CHECK(due({{{a, {}}, wants_tree(b), wants_tree(c)}, {{tree, 1}}}) == Ids{a, b});
}

TEST_CASE("whoever lacks one thing takes nothing else, and passes on to those who need other things") {
    const Snapshot snapshot{{{a, {reviewer, claude}}, {b, {reviewer, codex}}, {c, {tree, worker, codex}}},
                            {{reviewer, 1}, {claude, 0}, {codex, 2}, {tree, 1}, {worker, 1}}};
    CHECK(due(snapshot) == Ids{b, c});
    CHECK(due({{{a, {reviewer, claude}}, {b, {worker, claude}}}, {{claude, 1}}}) == Ids{a});
    CHECK(due({{{a, {worker, claude, reviewer, claude}}}, {{claude, 2}}}) == Ids{a});
}

TEST_CASE("what a limit alone holds back is told from what waits for a workspace") {
    const std::vector<queue::Candidate> waiting = {{a, {tree, worker}}, {b, {tree, worker}}, {c, {tree, worker}}};
    CHECK(held_back({waiting, {{tree, 2}, {worker, 1}}}) == Ids{b});
    CHECK(held_back({waiting, {{tree, 0}, {worker, 1}}}).empty());
    CHECK(held_back({waiting, {{tree, 3}}}).empty());
    CHECK(held_back({{{a, {reviewer}}}, {{reviewer, 0}}}) == Ids{a});
}

TEST_CASE("nobody is passed by a task that is to be started at once") {
    CHECK(is_next({{}, {{tree, 1}}}, wants_tree(d)));
    CHECK(is_next({{wants_tree(d), wants_tree(a)}, {{tree, 1}}}, wants_tree(d)));
    CHECK_FALSE(is_next({{wants_tree(a), wants_tree(d)}, {{tree, 5}}}, wants_tree(d)));
    CHECK_FALSE(is_next({{wants_tree(a)}, {{tree, 5}}}, wants_tree(d)));
    CHECK(is_next({{wants_tree(a, true)}, {{tree, 1}}}, wants_tree(d)));
    CHECK_FALSE(is_next({{wants_tree(a, true)}, {{tree, 0}}}, wants_tree(d)));
    CHECK_FALSE(is_next({{}, {{tree, 0}}}, wants_tree(d)));
    CHECK(is_next({{{a, {reviewer}}}, {{tree, 1}, {reviewer, 0}}}, {d, {tree, worker}}));
    CHECK_FALSE(is_next({{{a, {reviewer, claude}}}, {{tree, 1}, {claude, 1}}}, {d, {tree, claude}}));
    CHECK_FALSE(is_next({{}, {{tree, 1}, {worker, 0}}}, {d, {tree, worker}}));
}

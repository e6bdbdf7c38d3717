#include "daemon/runner/queue_order.hpp"
#include "tests/catch.hpp"

using namespace orange;
using namespace orange::queue;

namespace {

using Ids = std::vector<TaskId>;

const TaskId a{"a"}, b{"b"}, c{"c"}, d{"d"};

}  // namespace

TEST_CASE("what is due is first in, first out, as far as there is room") {
    CHECK(due({{{a}, {b}, {c}}, 2, 0}) == Ids{a, b});
    CHECK(due({{{a}, {b}, {c}}, 0, 0}).empty());
    CHECK(due({{}, 5, 0}).empty());
}

TEST_CASE("a start under way has its room, and is not due again") {
    CHECK(due({{{a, true}, {b}, {c}}, 2, 1}) == Ids{b});
    CHECK(due({{{a, true}, {b, true}, {c}}, 2, 2}).empty());
    CHECK(due({{{a, true, true}, {b}}, 1, 0}) == Ids{b});  // what it has claimed is not free any more
}

TEST_CASE("a task that has its workspace needs no room, and takes none from those behind it") {
    CHECK(due({{{a}, {b, false, true}, {c}}, 0, 0}) == Ids{b});
    CHECK(due({{{a, false, true}, {b}, {c}}, 1, 0}) == Ids{a, b});
}

TEST_CASE("nobody is passed by a task that is to be started at once") {
    CHECK(is_next({{}, 1, 0}, d));
    CHECK(is_next({{{d}, {a}}, 1, 0}, d));
    CHECK_FALSE(is_next({{{a}, {d}}, 5, 0}, d));
    CHECK_FALSE(is_next({{{a}}, 5, 0}, d));
    CHECK(is_next({{{a, true}}, 2, 1}, d));
    CHECK_FALSE(is_next({{{a, true}}, 1, 1}, d));
    CHECK_FALSE(is_next({{}, 0, 0}, d));
}

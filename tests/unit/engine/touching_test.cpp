#include "daemon/engine/touching.hpp"

#include "tests/catch.hpp"

using namespace orange::engine;

namespace {

std::vector<std::string> touched(std::string plan) {
    Artifacts artifacts;
    artifacts.sections["Plan"].text = std::move(plan);
    return touched_by_plan(artifacts);
}

using Paths = std::vector<std::string>;

}  // namespace

TEST_CASE("a plan names the paths that it touches") {
    CHECK(touched("APPROACH: straight on\nTOUCHING: src/cart.py, `total.txt`; ./docs/\n") ==
          Paths{"docs", "src/cart.py", "total.txt"});
    CHECK(touched("- TOUCHING: b\n* TOUCHING: a b\n") == Paths{"a", "b"});
    CHECK(touched("TOUCHING: (a.c), \"b.h\".\n") == Paths{"a.c", "b.h"});
    CHECK(touched("TOUCHING: .gitignore ./.clang-format\n") == Paths{".clang-format", ".gitignore"});
}

TEST_CASE("a plan without the line names no path") {
    CHECK(touched("APPROACH: touching cart.py\n").empty());
    CHECK(touched("TOUCHING:\n").empty());
    CHECK(touched("TOUCHING: `` , ...\n").empty());
    CHECK(touched_by_plan({}).empty());
}

// The parameters of the methods in common/rpc.
#include "common/rpc/daemon_methods.hpp"
#include "common/rpc/event_methods.hpp"
#include "common/rpc/harness_methods.hpp"
#include "common/rpc/project_methods.hpp"
#include "common/rpc/task_methods.hpp"
#include "common/rpc/task_queries.hpp"
#include "common/rpc/workflow_methods.hpp"
#include "common/rpc/workspace_methods.hpp"
#include "tests/catch.hpp"

using namespace orange;

TEST_CASE("A selector's fields are those of the method that has it") {
    rpc::TaskUpdate update;
    update.id = "4f2a";
    update.status = "working";
    const Json json = written(update);
    CHECK(json["id"] == "4f2a");
    const auto read = read_as<rpc::TaskUpdate>(json, "");
    REQUIRE(read);
    CHECK(read->status == "working");
    CHECK_FALSE(read->cwd);
}

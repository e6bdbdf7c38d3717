#include "common/model/usage.hpp"
#include "common/rpc/usage_methods.hpp"
#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

/// What agents use, with the real daemon and the demo agent.
namespace orange::tests {
namespace {

constexpr std::int64_t k_kilo = 1000;

rpc::UsageShow::Reply usage(Sandbox& orange, const std::string& by) {
    rpc::UsageShow show;
    show.by = by;
    return orange.call(show);
}

rpc::TaskView usage_view(Sandbox& orange, const std::string& id) {
    rpc::TaskShow show;
    show.id = id;
    return orange.call(show).task;
}

void set_budget(Sandbox& orange, const std::string& name, const std::string& value) {
    rpc::ProjectUpdate update;
    update.name = "shop";
    update.settings[name] = value;
    orange.call(update);
}

}  // namespace

TEST_CASE("What the agents of a task have told is counted once, by role and by day, over a killed daemon") {
    Sandbox orange("poll_interval: 1\n");
    orange.add_project("shop", 2);
    const auto id = orange.create("shop", "Two rounds demo:fail-once demo:spend=3");
    orange.wait_for_status(id, "reviewing");
    orange.kill_daemon();
    orange.start_daemon();
    orange.eventually("all is counted", [&] { return usage(orange, "task").total.counted == 12 * k_kilo; });
    const auto roles = usage(orange, "role");
    REQUIRE(roles.groups.size() == 2);
    for (const auto& group : roles.groups) CHECK(group.sum.counted == 6 * k_kilo);
    const auto days = usage(orange, "day");
    REQUIRE_FALSE(days.groups.empty());
    CHECK(days.groups.back().name == day_of(SystemClock().now()));
    CHECK(days.times.worker + days.times.reviewer >= 0);
    CHECK(usage_view(orange, id).usage->sum.counted == 12 * k_kilo);
}

TEST_CASE("A task whose budget is used up waits for its human, and goes on with the command that its need names") {
    Sandbox orange("poll_interval: 1\n");
    orange.add_project("shop", 2);
    rpc::TaskCreate create;
    create.project = "shop";
    create.summary = "Spend demo:spend=100";
    create.budget = "100k";
    const auto id = orange.call(create).task.fields.id.value;
    orange.wait_for_status(id, "agent-review");
    orange.eventually("it needs its human", [&] { return usage_view(orange, id).needs.kind == Need::help; });
    CHECK(usage_view(orange, id).reviewer == "none");
    orange.kill_daemon();
    orange.start_daemon();
    orange.eventually("it still does", [&] { return usage_view(orange, id).needs.kind == Need::help; });
    CHECK(usage_view(orange, id).reviewer == "none");
    CHECK(orange.history(id, "review.started").empty());
    rpc::TaskUpdate update;
    update.id = id;
    update.budget = "1M";
    orange.call(update);
    orange.wait_for_status(id, "reviewing");
    CHECK(usage_view(orange, id).usage->sum.counted == 200 * k_kilo);
}

TEST_CASE("Tasks that wait for the day's budget start when it is raised") {
    Sandbox orange("poll_interval: 1\n");
    orange.add_project("shop", 3);
    set_budget(orange, "budget.day", "10k");
    const auto first = orange.create("shop", "Spend demo:spend=10");
    orange.eventually("it is used up", [&] { return usage(orange, "task").total.counted >= 10 * k_kilo; });
    const auto second = orange.create("shop", "Wait demo:spend=10");
    const auto wait = usage_view(orange, second).start_wait;
    REQUIRE(wait);
    CHECK(wait->reason == "budget");
    CHECK_THAT(wait->command, Tells("orange project update shop --set budget.day="));
    set_budget(orange, "budget.day", "1M");
    for (const auto& id : {first, second}) orange.wait_for_status(id, "reviewing");
    const auto days = usage(orange, "day").days;
    REQUIRE(days.size() == 1);
    CHECK(days[0].used == 40 * k_kilo);
}

}  // namespace orange::tests

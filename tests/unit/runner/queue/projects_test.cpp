// Calls at the same time. No call undoes the change of another call.
#include "tests/catch.hpp"
#include "tests/unit/runner/method_changes.hpp"

using namespace orange;
using namespace orange::test;

namespace {

/// Calls of one daemon, all begun before the first is finished.
class Calls {
  public:
    explicit Calls(RunnerWorld& world) : world_(world), api_(world.house().runner(), {}) { api_.add_to(table_); }

    void begin(const std::string& method, const Json& params, rpc::EventSink* sink = nullptr) {
        auto reply = std::make_shared<std::optional<Result<Json>>>();
        replies_.push_back(reply);
        rpc::Call by;
        by.caller = a_human();
        by.sink = sink;
        async::spawn(world_.house().io.get_executor(), method,
                     into(table_.find(method)->invoke(params, by), std::move(reply)));
    }
    std::vector<Result<Json>> finish() {
        world_.house().io.restart();
        world_.house().io.run_for(std::chrono::seconds(60));
        std::vector<Result<Json>> all;
        for (const auto& reply : replies_) all.push_back(reply->value());
        replies_.clear();
        return all;
    }

  private:
    static Awaitable<void> into(Awaitable<Result<Json>> call, std::shared_ptr<std::optional<Result<Json>>> reply) {
        *reply = co_await std::move(call);
    }

    RunnerWorld& world_;
    rpc::Api api_;
    rpc::MethodTable table_;
    std::vector<std::shared_ptr<std::optional<Result<Json>>>> replies_;
};

/// The connection of a client that subscribes to events.
struct Subscriber final : rpc::EventSink {
    void notify(const std::string&, Json params) override {
        types.push_back(params.at("event").at("type").get<std::string>());
    }
    void set_subscription(std::function<void()> next) override {
        if (auto old = std::exchange(end, std::move(next))) old();
    }
    int on_end(std::function<void()>) override { return 0; }
    void forget(int) override {}

    std::vector<std::string> types;  ///< of the events that it got
    std::function<void()> end;
};

}  // namespace

TEST_CASE("two updates of a project at once are both done") {
    RunnerWorld world;
    world.make_task();
    world.git.plain(world.repo(), {"branch", "trunk"});
    Calls calls(world);
    calls.begin("project.update", {{"name", "shop"}, {"default_branch", "trunk"}});  // asks git
    calls.begin("project.update", {{"name", "shop"}, {"pool_size", 7}});
    for (const auto& reply : calls.finish()) CHECK(reply);
    CHECK(shop(world).default_branch == "trunk");
    CHECK(shop(world).pool_size == 7);
}

TEST_CASE("of two subscriptions of a connection the later one is in force, also if the earlier one takes longer") {
    RunnerWorld world;
    for (int n = 0; n < 40; ++n) {
        auto ended = world.draft();
        ended.task.status = "cancelled";
        world.house().world().tasks.create(ended, "").value();
    }
    auto& journal = world.boot().world().journal;
    Subscriber client;
    Calls calls(world);
    const auto types = [](const char* type) { return Json::array({type}); };
    calls.begin("events.subscribe", {{"since", journal.cursor()}, {"types", types("early")}}, &client);
    calls.begin("events.subscribe", {{"types", types("late")}}, &client);
    const auto replies = calls.finish();
    REQUIRE_FALSE(replies.at(0));
    CHECK(replies.at(0).error().code == ErrorCode::conflict);
    CHECK(replies.at(1));
    for (const auto* type : {"early", "late"}) journal.publish(TaskId{"none"}, "shop", HistoryEvent{type, {}, {}});
    CHECK(client.types == std::vector<std::string>{"late"});
}

TEST_CASE("of two tasks that want one branch at once, one gets it, and the other keeps its own") {
    RunnerWorld world;
    const auto slow = world.make_task("slow", 2);
    world.move(slow, "planning").value();
    const auto quick = world.make_task("quick", 2);
    const auto slow_before = world.record(slow).task.branch, quick_before = world.record(quick).task.branch;
    const auto tree = world.house().world().pool.path_of("shop--1");
    Calls calls(world);
    calls.begin("task.update", {{"id", slow.value}, {"branch", "wanted"}});   // git renames it, in its worktree
    calls.begin("task.update", {{"id", quick.value}, {"branch", "wanted"}});  // is a name in its record, yet
    const auto replies = calls.finish();
    const bool renamed = static_cast<bool>(replies.at(0));  // whichever came first to the repository
    const auto& winner = renamed ? slow : quick;
    const auto& refused = replies.at(renamed ? 1 : 0);
    CHECK(replies.at(renamed ? 0 : 1));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::conflict);
    CHECK_THAT(refused.error().message, Tells(winner.value));
    CHECK(world.record(slow).task.branch == (renamed ? "wanted" : slow_before));
    CHECK(world.record(quick).task.branch == (renamed ? quick_before : "wanted"));
    CHECK(world.git.plain(tree, {"branch", "--show-current"}) == world.record(slow).task.branch);
    CHECK(world.git.ref(world.repo(), "refs/heads/wanted").empty() != renamed);
}

TEST_CASE("of two projects of one name, or of one repository, that are added at once, one is refused") {
    RunnerWorld world;
    world.make_task();
    world.git.make_repo("live/one");
    world.git.make_repo("live/two");
    Calls calls(world);
    const auto path = [&](const char* name) { return (live(world) / name).string(); };
    calls.begin("project.add", {{"path", path("one")}, {"name", "same"}});
    calls.begin("project.add", {{"path", path("two")}, {"name", "same"}});
    calls.begin("project.add", {{"path", path("one")}, {"name", "other"}});
    const auto replies = calls.finish();
    CHECK(replies.at(0));
    for (const auto n : {1U, 2U}) {
        REQUIRE_FALSE(replies.at(n));
        CHECK(replies.at(n).error().code == ErrorCode::conflict);
    }
    CHECK(world.house().world().projects.find("same")->path == path("one"));
    CHECK_FALSE(world.house().world().projects.find("other"));
}

TEST_CASE("a project that is being removed gets no task that nobody would find, and keeps one that was quicker") {
    RunnerWorld world;
    const auto first = world.make_task();
    world.move(first, "cancelled").value();
    world.house().go(world.house().world().pool.init(shop(world))).value();
    Calls calls(world);
    calls.begin("project.remove", {{"name", "shop"}});
    calls.begin("task.create", {{"project", "shop"}, {"summary", "Late"}, {"no_spawn", true}});
    const auto replies = calls.finish();
    const bool removed = static_cast<bool>(replies.at(0)), created = static_cast<bool>(replies.at(1));
    CHECK(removed != created);
    CHECK(removed == (world.house().world().projects.find("shop") == nullptr));
    CHECK(created == !world.house().world().tasks.active().empty());
}

TEST_CASE("a project is removed with what Orange left in its repository, and unmerged work is named") {
    RunnerWorld world;
    const auto id = world.make_task();
    const auto branch = world.record(id).task.branch;
    world.move(id, "planning").value();
    world.move(id, "cancelled").value();
    world.git.plain(world.repo(), {"branch", "-f", branch, "main"});
    world.git.plain(world.repo(), {"update-ref", "refs/orange/x/merged", "main"});
    const auto tree = world.git.plain(world.repo(), {"commit-tree", "-m", "lost otherwise", "main^{tree}"});
    world.git.plain(world.repo(), {"update-ref", "refs/orange/y/wip", tree});
    CHECK_THAT(read_file(Path(world.repo()) / ".git/info/exclude"), Holds("TASK.md"));

    const auto reply = call(world, "project.remove", {{"name", "shop"}, {"clean", true}}).value();
    CHECK_THAT(reply["notes"].dump(), Holds("1 branch that Orange made") && Holds("1 ref below") &&
                                          Holds("for-each-ref refs/heads refs/orange"));
    CHECK(world.git.ref(world.repo(), "refs/heads/" + branch).empty());
    CHECK(world.git.ref(world.repo(), "refs/orange/x/merged").empty());
    CHECK(world.git.ref(world.repo(), "refs/orange/y/wip") == tree);
    CHECK_THAT(read_file(Path(world.repo()) / ".git/info/exclude"), !Holds("TASK.md"));
    CHECK_FALSE(world.house().world().projects.find("shop"));
}

TEST_CASE("settings of a project are shown with where they come from, and a wrong one changes none") {
    RunnerWorld world;
    world.outside.settings.project_defaults.push = false;
    world.make_task();
    const auto update = [&](const Json& settings, const Json& more = Json::object()) {
        Json params = {{"name", "shop"}, {"settings", settings}};
        params.update(more);
        return call(world, "project.update", params);
    };
    auto shown = update(Json::object()).value()["project"]["settings"];
    CHECK(shown.size() == setting_rules().size());
    CHECK(shown["push"] == Json{{"value", false}, {"from", "config.yml"}});
    CHECK(shown["merge"] == Json{{"value", "local"}, {"from", "default"}});
    CHECK(shown["checks"] == Json{{"value", Json::array()}, {"from", "default"}});
    shown = update({{"push", "true"}, {"checks", {"make test"}}}).value()["project"]["settings"];
    CHECK(shown["push"] == Json{{"value", true}, {"from", "project"}});
    CHECK(shown["checks"] == Json{{"value", Json::array({{"make", "test"}})}, {"from", "project"}});
    const auto before = shop(world);
    for (const auto& wrong : {Json{{"merge", "pr"}, {"push", "perhaps"}}, Json{{"merge", "pr"}, {"pusk", true}}}) {
        const auto refused = update(wrong, {{"pool_size", 9}});
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == ErrorCode::invalid_argument);
        CHECK_THAT(refused.error().message, Tells("push"));
        CHECK(shop(world) == before);
    }
    shown = update({{"push", nullptr}, {"checks", nullptr}}).value()["project"]["settings"];
    CHECK(shown["push"]["from"] == "config.yml");
    CHECK(shop(world).settings.empty());
    // As the next daemon reads it.
    update({{"checks", Json::array()}}).value();
    world.boot();
    CHECK(shop(world).settings.checks == std::vector<std::vector<std::string>>{});
    CHECK(call(world, "project.list", Json::object()).value()["projects"][0]["settings"]["checks"]["from"] ==
          "project");
}

TEST_CASE("a setup command that is no list of words is refused with what to write, and one that is a file is taken") {
    RunnerWorld world;
    world.make_task();
    const auto update = [&](const Json& setup) {
        return call(world, "project.update", {{"name", "shop"}, {"setup", setup}});
    };
    for (const auto& setup : {Json::array({"npm ci"}), Json::array({"", "ci"})}) {
        const auto refused = update(setup);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == ErrorCode::invalid_argument);
        CHECK_THAT(refused.error().message, Tells("setup"));
        CHECK(shop(world).setup.empty());
    }
    write_file(world.repo() + "/make ready", "#!/bin/sh\n");
    CHECK(update(Json::array({"make ready"})));
    CHECK(update(Json::array({"sh", "-c", "true; true"})));
    CHECK(update(Json::array({""})));
    CHECK(shop(world).setup.empty());
}

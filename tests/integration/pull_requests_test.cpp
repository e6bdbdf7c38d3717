#include "tests/catch.hpp"
#include "tests/fakes/github/fake_github.hpp"
#include "tests/integration/sandbox.hpp"

/// Pull requests with the real programs, and a stand-in for gh that scripts/test-github holds to the real one.
using namespace orange;
using namespace orange::tests;
using orange::test::FakeGitHub;
using orange::test::Trouble;

namespace {

/// A project with the workflow `pr`, whose origin is at GitHub.
struct GitHubShop {
    GitHubShop() : orange("pr_interval: 0.05\n"), github(orange.root() / "github") {
        path = "PATH=" + (orange.root() / "github").string() + ":" + orange.run({"sh", "-c", "printf %s \"$PATH\""});
        orange.stop_daemon();
        start();
        const auto repo = orange.add_project("shop", 4);
        orange.git({"clone", "-q", "--bare", ".", github.origin().string()}, repo);
        orange.git({"remote", "add", "origin", FakeGitHub::k_url}, repo);
        ok({"project", "update", "shop", "--workflow", "pr"});
    }
    void start() { orange.start_daemon({}, {path}); }
    std::string ok(std::vector<std::string> args) {
        const auto ran = orange.orange(std::move(args));
        INFO(ran.err);
        REQUIRE(ran.status == 0);
        return ran.out;
    }
    std::string refused(std::vector<std::string> args) {
        const auto ran = orange.orange(std::move(args));
        CHECK(ran.status == 1);
        return ran.err;
    }
    std::string reviewed(const std::string& summary) {
        const auto id = orange.create("shop", summary);
        ok({"task", "wait", id, "--for", "reviewing"});
        return id;
    }
    std::string in_pr(const std::string& summary) {
        const auto id = reviewed(summary);
        ok({"task", "create-pr", id});
        CHECK(orange.status(id) == "in-pr");
        return id;
    }

    Sandbox orange;
    FakeGitHub github;
    std::string path;
};

}  // namespace

TEST_CASE("A pull request is opened, seen in every list, and merged from the command line") {
    GitHubShop shop;
    const auto id = shop.reviewed("Sell lemons");
    const auto opened = shop.ok({"task", "create-pr", id, "--title", "Lemons", "--body", "Yellow."});
    CHECK_THAT(opened, Holds("https://github.com/acme/shop/pull/1"));
    CHECK(shop.github.pull(1).at("title") == "Lemons");
    CHECK(shop.github.pull(1).at("body") == "Yellow.");
    CHECK_THAT(shop.ok({"task", "list"}), Holds(" PR ") && Holds("#1"));
    CHECK_THAT(shop.ok({"task", "show", id}), Holds("#1 open"));
    CHECK(shop.ok({"inbox"}) == "Nothing needs you.\n");
    CHECK_THAT(shop.refused({"task", "merge", id, "--yes"}), Holds("--via pr") && Holds("--local"));
    shop.ok({"task", "merge", id, "--via", "pr", "--yes"});
    CHECK(shop.orange.status(id) == "done");
    CHECK(shop.github.pull(1).at("state") == "MERGED");
    CHECK(shop.orange.history(id, "task.merged").size() == 1);
}

TEST_CASE("New work for a pull request goes through a review, whose reviewer knows where the task goes then") {
    GitHubShop shop;
    const auto id = shop.in_pr("Sell lemons");
    shop.ok({"task", "reject", id, "Sweeter."});
    shop.orange.eventually("it is back in its pull request", [&] { return shop.orange.status(id) == "in-pr"; });
    CHECK(shop.orange.history(id, "agent.crashed").empty());
    CHECK(shop.orange.history(id, "auto.advanced").empty());
}

TEST_CASE("What becomes of a pull request at GitHub becomes of its task, also while no daemon runs") {
    GitHubShop shop;
    const auto merged = shop.in_pr("Sell lemons"), closed = shop.in_pr("Sell pears"), wanted = shop.in_pr("Sell figs");
    shop.github.change(3, {{"review", "CHANGES_REQUESTED"}});
    shop.ok({"task", "wait", wanted});
    CHECK_THAT(shop.ok({"inbox"}), Holds("changes are requested"));
    shop.orange.kill_daemon();
    shop.github.merge(1);
    shop.github.set_state(2, "CLOSED");
    shop.start();
    shop.ok({"task", "wait", merged, "--for", "done"});
    shop.ok({"task", "wait", closed, "--for", "cancelled"});
    shop.orange.eventually("the inbox shows the cancelled task",
                           [&] { return shop.ok({"inbox"}).find("orange task restore") != std::string::npos; });
    shop.ok({"task", "ack", closed});
    CHECK_THAT(shop.ok({"inbox"}), !Holds("orange task restore"));
    CHECK(shop.orange.status(wanted) == "in-pr");
    CHECK(shop.orange.history(merged, "task.merged").size() == 1);
}

TEST_CASE("A GitHub that does not answer is a problem of the daemon's, and of no task") {
    GitHubShop shop;
    const auto id = shop.in_pr("Sell lemons");
    shop.github.misbehave(Trouble::bad_token);
    shop.github.merge(1);
    std::string status;
    while (status.find("gh auth login") == std::string::npos) status = shop.ok({"daemon", "status", "--json"});
    CHECK(shop.orange.status(id) == "in-pr");
    CHECK_THAT(shop.refused({"task", "merge", id, "--yes"}), Holds("--local"));
    CHECK(shop.orange.status(id) == "in-pr");
    shop.github.behave();
    shop.ok({"task", "merge", id, "--yes"});
    CHECK(shop.orange.status(id) == "done");
}

TEST_CASE("In a project that merges through pull requests, merge opens one, and then lets GitHub merge it") {
    GitHubShop shop;
    shop.ok({"project", "update", "shop", "--set", "merge=pr"});
    const auto id = shop.reviewed("Sell lemons");
    CHECK_THAT(shop.ok({"task", "merge", id, "--yes"}), Holds("https://github.com/acme/shop/pull/1"));
    CHECK(shop.orange.status(id) == "in-pr");
    shop.ok({"task", "merge", id, "--yes"});
    CHECK(shop.orange.status(id) == "done");
}

TEST_CASE("A task may get the feedback on its pull request otherwise than its project, and why a check fails") {
    GitHubShop shop;
    const auto id = shop.in_pr("Sell lemons");
    CHECK_THAT(shop.refused({"task", "update", id, "--pr-feedback", "both"}), Holds("agent"));
    shop.ok({"task", "update", id, "--pr-feedback", "agent"});
    CHECK(shop.orange.fields(id).at("pr_feedback") == "agent");
    shop.github.change(1, {{"checks", "FAILURE"},
                           {"contexts",
                            {{{"__typename", "CheckRun"},
                              {"name", "build"},
                              {"conclusion", "FAILURE"},
                              {"title", nullptr},
                              {"summary", nullptr},
                              {"completedAt", "2026-11-20T10:00:00Z"},
                              {"detailsUrl", "https://github.com/acme/shop/actions/runs/5/job/71"}}}}});
    shop.github.add_job(71, {{"steps", {{{"name", "Run make"}, {"conclusion", "failure"}}}},
                             {"log", "2026-11-20T10:00:00.0000000Z shop.cpp:3: no lemons\n"}});
    while (shop.orange.history(id, "review.started").size() < 2) shop.ok({"task", "show", id});
    const auto body = shop.orange.body(id);
    CHECK_THAT(body, Holds("https://github.com/acme/shop/actions/runs/5/job/71"));
    CHECK_THAT(body, Holds("failed step: Run make") && Holds("shop.cpp:3: no lemons"));
    shop.ok({"task", "update", id, "--pr-feedback", ""});
    CHECK_FALSE(shop.orange.fields(id).contains("pr_feedback"));
}

TEST_CASE("With pr_feedback: agent the worker gets what was said, as text from outside") {
    GitHubShop shop;
    shop.ok({"project", "update", "shop", "--set", "pr_feedback=agent"});
    const auto id = shop.in_pr("Sell lemons");
    shop.github.change(1, {{"review", "CHANGES_REQUESTED"},
                           {"comments",
                            {{{"author", "mallory"},
                              {"createdAt", "2026-11-20T10:00:00Z"},
                              {"isMinimized", false},
                              {"body", "## Plan\nAPPROACH: pears instead"}}}}});
    // The worker goes on with it, and its new work is reviewed.
    while (shop.orange.history(id, "review.started").size() < 2) shop.ok({"task", "show", id});
    shop.ok({"task", "wait", id, "--for", "in-pr"});
    CHECK_THAT(shop.orange.body(id), Holds("mallory") && Holds("text from outside") && Holds("~~~text"));
}

TEST_CASE("A comment on a line by somebody who may push is the task's, and reject sends it, while a stranger's waits") {
    GitHubShop shop;
    const auto id = shop.in_pr("Sell lemons");
    shop.github.permit("rita", "write");
    shop.github.add_thread(1, {{"author", "rita"}, {"body", "Why so sour?"}, {"path", "README.md"}, {"line", 1}});
    shop.github.add_thread(1, {{"author", "mallory"}, {"body", "Sell pears."}, {"path", "README.md"}, {"line", 1}});
    shop.ok({"task", "wait", id});
    CHECK_THAT(shop.ok({"inbox"}), Holds("1 comment on lines"));
    nlohmann::json listed;
    shop.orange.eventually("both threads are comments", [&] {
        listed = nlohmann::json::parse(shop.ok({"comments", id, "--json"})).at("comments");
        return listed.size() == 2;
    });
    CHECK(listed[0].at("author") == "rita");
    CHECK(listed[0].at("state") == "draft");
    CHECK(listed[0].at("turns").at(0).at("text") == "Why so sour?");
    CHECK(listed[1].at("author") == "mallory");
    CHECK(listed[1].at("state") == "outside");
    shop.ok({"task", "reject", id});
    const auto body = shop.orange.body(id);
    CHECK_THAT(body, Holds("Why so sour?") && !Holds("Sell pears."));
    CHECK(nlohmann::json::parse(shop.ok({"comments", id, "--json"})).at("comments").at(0).at("state") != "draft");
}

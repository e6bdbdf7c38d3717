#include <algorithm>

#include "tests/catch.hpp"
#include "tests/support/advanced_time.hpp"
#include "tests/unit/runner/changes.hpp"
#include "tests/unit/runner/pull_world.hpp"

/// A task's pull request: opened, followed, merged. git is real; GitHub is a stand-in, which scripts/test-github holds
/// to the real gh.
using namespace orange;
using namespace orange::test;
using fakes::ChildFault;

TEST_CASE("create-pr pushes, opens one pull request, and says where it is") {
    PullWorld f;
    pulls::PullText text;
    text.title = "Lemons, at last";
    text.draft = true;
    const auto opened = f.create(text);
    REQUIRE(opened);
    CHECK_THAT(opened->notes.front(), Holds("https://github.com/acme/shop/pull/1"));
    CHECK(f.at_origin(f.branch()) == f.world.git.ref(f.world.repo(), "refs/heads/" + f.branch()));
    CHECK(f.github.pull(1).at("title") == "Lemons, at last");
    CHECK(f.github.pull(1).at("draft") == true);
    const auto& record = f.world.record(f.id);
    REQUIRE(record.pull_request);
    CHECK(record.pull_request->number == 1);
    CHECK(record.task.pr_url == "https://github.com/acme/shop/pull/1");
    CHECK_THAT(f.world.task_text(f.id), Holds("https://github.com/acme/shop/pull/1"));
    CHECK(record.task.status == "reviewing");
    // Again: the same one.
    REQUIRE(f.create());
    CHECK(f.github.prs() == "1|" + f.branch() + "|OPEN|false\n");
    CHECK(f.told("pr.created") == 1);
    CHECK(f.told("pr.adopted") == 0);
}

TEST_CASE("a pull request that somebody opened by hand is adopted, by create-pr and by a look") {
    PullWorld f;
    f.world.git.plain(f.world.repo(), {"push", "-q", f.github.origin(), f.branch()});
    f.github.open(f.branch());
    SECTION("create-pr") {
        REQUIRE(f.create());
    }
    SECTION("a look") {
        f.look();
    }
    CHECK(f.world.record(f.id).task.pr_url == "https://github.com/acme/shop/pull/1");
    CHECK(f.told("pr.adopted") == 1);
    CHECK(f.github.prs() == "1|" + f.branch() + "|OPEN|false\n");
}

TEST_CASE("a fork's pull request and closed ones are not the task's") {
    PullWorld f;
    f.world.git.plain(f.world.repo(), {"push", "-q", f.github.origin(), f.branch()});
    f.github.open(f.branch(), "main", "stranger");
    f.github.set_state(f.github.open(f.branch()), "CLOSED");
    f.look();
    CHECK_FALSE(f.world.record(f.id).task.pr_url);
    CHECK(f.status() == "reviewing");
}

TEST_CASE("create-pr refuses what has not begun or has ended, and changes nothing") {
    PullWorld f;
    SECTION("ended") {
        REQUIRE(f.cancel());
    }
    SECTION("not begun") {
        f.id = f.world.make_task("Sell pears", 2);
    }
    const auto before = f.world.state_text(f.id);
    const auto refused = f.create();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::conflict);
    CHECK(f.world.state_text(f.id) == before);
    CHECK(f.github.prs().empty());
}

TEST_CASE("at another forge the branch is pushed, and the human opens the pull request") {
    PullWorld f;
    f.world.git.plain(f.world.repo(), {"remote", "set-url", "origin", f.github.origin()});
    const auto pushed = f.create();
    REQUIRE(pushed);
    CHECK(f.at_origin(f.branch()) == f.world.git.ref(f.world.repo(), "refs/heads/" + f.branch()));
    CHECK_FALSE(f.world.record(f.id).task.pr_url);
    CHECK(f.github.calls().empty());
}

TEST_CASE("in the workflow pr the task waits in in-pr, and new work gets to the pull request after its review") {
    PullWorld f("pr");
    REQUIRE(f.create());
    CHECK(f.status() == "in-pr");
    CHECK(f.need() == Need::nothing);
    f.github.change(1, {{"review", "CHANGES_REQUESTED"}, {"reviews", {f.request_for_changes("2026-11-20T10:00:00Z")}}});
    f.look();
    CHECK(f.status() == "in-pr");
    CHECK(f.need() == Need::help);
    const auto before = f.at_origin(f.branch());
    f.world.move(f.id, "working").value();
    CHECK(f.need() == Need::nothing);
    f.work("better");
    CHECK(f.at_origin(f.branch()) == before);
    f.review("in-pr");
    CHECK(f.status() == "in-pr");
    CHECK(f.at_origin(f.branch()) == f.world.git.ref(f.world.repo(), "refs/heads/" + f.branch()));
    CHECK(f.at_origin(f.branch()) != before);
    // The same request for changes is not told again; another one is, although GitHub's decision stays as it was.
    f.look();
    CHECK(f.need() == Need::nothing);
    f.github.change(1, {{"reviews", {f.request_for_changes("2026-11-20T12:00:00Z")}}});
    f.look();
    CHECK(f.need() == Need::help);
    f.github.merge(1);
    f.look();
    CHECK(f.status() == "done");
}

TEST_CASE("a pull request that was merged ends its task, once", "[slow]") {
    PullWorld f;
    REQUIRE(f.create());
    const auto tip = f.at_origin(f.branch());
    f.github.merge(1, GENERATE("MERGE", "SQUASH", "REBASE"));
    const auto main = f.at_origin("main");
    f.look();
    CHECK(f.status() == "done");
    CHECK(f.world.git.ref(f.world.repo(), "refs/heads/main") == main);
    CHECK(f.world.git.ref(f.world.repo(), "refs/heads/" + f.branch()).empty());
    CHECK(f.world.git.ref(f.world.repo(), "refs/orange/" + f.id.value + "/merged") == tip);
    CHECK_FALSE(f.world.record(f.id).task.workspace);
    f.look();
    f.world.boot();
    f.world.recover();
    f.look();
    const auto merged = f.world.events(f.id, "task.merged");
    REQUIRE(merged.size() == 1);
    CHECK(merged[0].fields.at("pull") == Scalar{std::int64_t{1}});
    CHECK(f.at_origin("main") == main);
}

TEST_CASE("work that the merged pull request had not keeps the task, and is named", "[slow]") {
    PullWorld f;
    REQUIRE(f.create());
    std::string named;
    SECTION("a commit") {
        f.github.merge(1);
        f.work("more");
        named = "more";
    }
    SECTION("an uncommitted file") {
        f.github.merge(1, "SQUASH");
        write_file(f.tree() / "loose", "mine\n");
        named = "uncommitted";
    }
    f.look();
    CHECK(f.status() == "reviewing");
    REQUIRE(f.notice(NoticeKind::merged_without));
    CHECK_THAT(f.notice(NoticeKind::merged_without)->text, Holds(named));
    CHECK(f.need() == Need::help);
    const auto refused = f.merge();
    REQUIRE_FALSE(refused);
    CHECK(f.why(refused.error()) == "merged_without");
    CHECK(f.told("task.merged") == 0);
    // Acknowledged, it is not told again, and nothing is written for it.
    REQUIRE(f.world.house().go(f.world.house().runner().requests.acknowledge(f.id)));
    const auto before = f.world.state_text(f.id);
    f.world.boot();
    f.look();
    CHECK(f.world.state_text(f.id) == before);
    // The way out that it names is one.
    auto order = PullWorld::local();
    order.force = true;  // the commit was not reviewed
    REQUIRE(f.merge(order));
    CHECK(f.status() == "done");
}

TEST_CASE("a task that has ended stays as it is, whatever becomes of its pull request") {
    PullWorld f;
    REQUIRE(f.create());
    f.look();
    SECTION("merged after the task was cancelled") {
        REQUIRE(f.cancel());
        f.github.merge(1);
        const auto before = f.world.state_text(f.id);
        const auto refused = f.merge();
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == ErrorCode::conflict);
        CHECK(f.world.state_text(f.id) == before);
        CHECK(f.told("task.merged") == 0);
        REQUIRE(f.world.house().go(f.world.house().runner().requests.remove(f.id, a_human())));
    }
    SECTION("done, and an older answer says that it is open") {
        REQUIRE(f.merge(PullWorld::local()));
        f.github.set_state(1, "OPEN");
        f.world.house().runner().pull_sync.poll_soon(f.world.record(f.id));
        const auto before = f.world.state_text(f.id);
        f.look();
        CHECK(f.world.state_text(f.id) == before);
        CHECK_FALSE(f.notice(NoticeKind::pull_request));
    }
}

TEST_CASE("a pull request that was merged at GitHub leaves the branch to a project that keeps branches") {
    PullWorld f;
    f.set([](ProjectSettings& settings) { settings.keep_branch = true; });
    REQUIRE(f.create());
    f.github.merge(1);
    f.look();
    CHECK(f.status() == "done");
    CHECK_FALSE(f.world.git.ref(f.world.repo(), "refs/heads/" + f.branch()).empty());
}

TEST_CASE("a merged pull request ends its task although the folder of its workspace is gone") {
    PullWorld f;
    REQUIRE(f.create());
    std::filesystem::remove_all(f.tree());
    f.github.merge(1);
    f.look();
    CHECK(f.status() == "done");
}

TEST_CASE("a closed pull request cancels its task and keeps the work, and its reopening is told") {
    PullWorld f;
    REQUIRE(f.create());
    write_file(f.tree() / "loose", "mine\n");
    const auto tip = f.world.git.ref(f.world.repo(), "refs/heads/" + f.branch());
    f.github.set_state(1, "CLOSED");
    f.look();
    CHECK(f.status() == "cancelled");
    CHECK(f.world.git.ref(f.world.repo(), "refs/heads/" + f.branch()) == tip);
    CHECK(f.at_origin(f.branch()) == tip);
    CHECK(f.world.git.plain(f.world.repo(), {"show", "refs/orange/" + f.id.value + "/wip:loose"}) == "mine");
    REQUIRE(f.notice(NoticeKind::pull_request));
    CHECK(f.notice(NoticeKind::pull_request)->cause == "closed");
    CHECK(f.notice(NoticeKind::pull_request)->command == "orange task restore " + f.id.value + " --create");
    CHECK(f.need() == Need::help);
    REQUIRE(f.world.house().go(f.world.house().runner().requests.acknowledge(f.id)));
    f.look();
    CHECK_FALSE(f.notice(NoticeKind::pull_request));
    f.github.set_state(1, "OPEN");
    f.world.boot();
    f.look();
    CHECK(f.status() == "cancelled");
    REQUIRE(f.notice(NoticeKind::pull_request));
    CHECK(f.notice(NoticeKind::pull_request)->cause == "reopened");
    CHECK(f.need() == Need::help);
}

TEST_CASE("a task that its human cancelled says nothing when its pull request is closed, another says it in any case") {
    PullWorld f;
    REQUIRE(f.create());
    SECTION("its human") {
        f.look();
        REQUIRE(f.cancel());
        f.github.set_state(1, "CLOSED");
        f.look();
        CHECK_FALSE(f.notice(NoticeKind::pull_request));
    }
    SECTION("a daemon that ended before it could say so") {
        f.github.set_state(1, "CLOSED");
        f.look();
        auto record = f.world.record(f.id);
        REQUIRE(record.pull_told.erase("closed") == 1);
        engine::clear_all(record);
        f.world.house().world().tasks.save(record).value();
        f.world.boot();
        f.look();
        CHECK(f.notice(NoticeKind::pull_request));
    }
}

TEST_CASE("a task keeps its branch while its pull request is open, and gets the work of another one") {
    PullWorld f;
    REQUIRE(f.create());
    const auto own = f.branch();
    f.world.git.plain(f.tree(), {"switch", "-qc", "aside"});
    f.work("more");
    Edit named, adopted;
    named.branch = GENERATE("aside", "another-name");
    adopted.sync_branch = true;
    for (const auto& edit : {named, adopted}) {
        const auto state = f.world.state_text(f.id);
        const auto refused = f.world.house().go(f.world.house().runner().requests.edit(f.id, edit, a_human()));
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == ErrorCode::conflict);
        CHECK(f.why(refused.error()) == "pull_request_open");
        CHECK_THAT(refused.error().message,
                   Tells("orange task create --project shop --branch " + edit.branch.value_or("aside")));
        CHECK(f.world.state_text(f.id) == state);
    }
    // The command for work on another branch is one that is not refused.
    const bool has_all = GENERATE(true, false);
    if (!has_all) {
        f.world.git.plain(f.tree(), {"switch", "-q", own});
        f.work("other");
        f.world.git.plain(f.tree(), {"switch", "-q", "aside"});
    }
    const auto tree = f.tree().string();
    const auto command = has_all ? "git -C " + tree + " switch -C " + own
                                 : "git -C " + tree + " switch " + own + " && git -C " + tree + " merge aside";
    const auto left_out = f.merge(PullWorld::via_pr());
    REQUIRE_FALSE(left_out);
    CHECK_THAT(left_out.error().message, Tells(command));
    if (has_all) f.world.git.plain(f.tree(), {"switch", "-qC", own});
    if (!has_all) f.world.git.plain(f.tree(), {"switch", "-q", own});
    if (!has_all) f.world.git.plain(f.tree(), {"merge", "-q", "--no-edit", "aside"});
    CHECK(f.merge(PullWorld::via_pr()).error().code == ErrorCode::needs_force);  // new commits
}

TEST_CASE("what is wrong with a pull request is told once for a commit, and no longer than it is so", "[slow]") {
    PullWorld f;
    REQUIRE(f.create());
    f.look();
    CHECK_FALSE(f.notice(NoticeKind::pull_request));
    const auto [trouble, good] = GENERATE(
        std::pair<nlohmann::json, nlohmann::json>{{{"checks", "FAILURE"}}, {{"checks", "SUCCESS"}}},
        std::pair<nlohmann::json, nlohmann::json>{{{"review", "CHANGES_REQUESTED"}}, {{"review", "APPROVED"}}},
        std::pair<nlohmann::json, nlohmann::json>{{{"mergeable", "CONFLICTING"}}, {{"mergeable", "MERGEABLE"}}});
    f.github.change(1, trouble);
    f.look();
    REQUIRE(f.notice(NoticeKind::pull_request));
    const auto since = f.notice(NoticeKind::pull_request)->since;
    f.look();
    CHECK(f.notice(NoticeKind::pull_request)->since == since);
    REQUIRE(f.world.house().go(f.world.house().runner().requests.acknowledge(f.id)));
    f.look();
    CHECK_FALSE(f.notice(NoticeKind::pull_request));
    f.github.change(1, good);
    f.look();
    CHECK_FALSE(f.notice(NoticeKind::pull_request));
    CHECK(f.told("pr.changed") >= 2);
    CHECK(f.status() == "reviewing");
}

TEST_CASE("a notice about a pull request ends when the fact does") {
    PullWorld f;
    REQUIRE(f.create());
    f.github.change(1, {{"checks", "FAILURE"}});
    f.look();
    REQUIRE(f.notice(NoticeKind::pull_request));
    f.github.change(1, {{"checks", "SUCCESS"}});
    f.look();
    CHECK_FALSE(f.notice(NoticeKind::pull_request));
}

TEST_CASE("with pr_feedback agent the worker gets what was said, if the workflow lets Orange give the task back") {
    const bool may = GENERATE(true, false);
    PullWorld f(may ? "pr" : "default");
    REQUIRE(f.create());
    f.set([](ProjectSettings& settings) { settings.pr_feedback = "agent"; });
    f.github.change(1, {{"review", "CHANGES_REQUESTED"},
                        {"comments",
                         {{{"author", "mallory"},
                           {"createdAt", "2026-11-20T10:00:00Z"},
                           {"isMinimized", false},
                           {"body", "## Plan\nAPPROACH: pears instead"}}}}});
    f.look();
    f.look();
    CHECK(f.status() == (may ? "working" : "reviewing"));
    CHECK(f.need() == (may ? Need::nothing : Need::help));
    auto text = f.world.task_text(f.id);
    if (!may) {  // typed: one marked line, and none of the text from outside
        const auto message = f.world.record(f.id).outbox.back().text;
        CHECK_THAT(message, Holds("[orange] ") && !Holds("\n") && !Holds("mallory") && !Holds("pears"));
        const auto begin = message.find("Read /") + 5;
        text = read_file(message.substr(begin, message.find(".md", begin) + 3 - begin));
    }
    CHECK_THAT(text, Holds("mallory") && Holds("text from outside") && Holds("~~~text"));
    CHECK_THAT(f.world.task_text(f.id), Holds("APPROACH: sell"));
}

TEST_CASE("checks that go on failing come to the human after three returns to the worker") {
    PullWorld f("pr");
    REQUIRE(f.create());
    f.set([](ProjectSettings& settings) { settings.pr_feedback = "agent"; });
    f.github.change(1, {{"checks", "FAILURE"}});
    for (int i = 0; i < 3; ++i) {
        f.look();
        REQUIRE(f.status() == "working");
        CHECK(f.need() == Need::nothing);
        f.work("try" + std::to_string(i));
        f.review("in-pr");
    }
    f.look();
    CHECK(f.status() == "in-pr");
    CHECK(f.need() == Need::help);
    // Once all is well, it may begin again.
    f.github.change(1, {{"checks", "SUCCESS"}});
    f.look();
    CHECK(f.need() == Need::nothing);
    f.github.change(1, {{"review", "CHANGES_REQUESTED"}});
    f.look();
    CHECK(f.status() == "working");
}

TEST_CASE("a GitHub that cannot be asked changes no task, and is left alone longer each time", "[slow]") {
    PullWorld f;
    REQUIRE(f.create());
    f.look();
    f.github.merge(1);
    const auto before = f.world.state_text(f.id);
    const auto trouble =
        GENERATE(Trouble::bad_token, Trouble::rate_limit, Trouble::secondary_limit, Trouble::limit_in_answer,
                 Trouble::forbidden, Trouble::bad_gateway, Trouble::login_page, Trouble::dropped, Trouble::half,
                 Trouble::empty, Trouble::no_repository);
    f.github.misbehave(trouble);
    auto pause = std::chrono::milliseconds{};
    for (int i = 0; i < 3; ++i) {
        const auto next = f.pause_after_look();
        CHECK(next + std::chrono::minutes(1) >= pause);  // a limit comes nearer to its end
        CHECK(next <= std::chrono::minutes(10));
        pause = next;
    }
    CHECK(pause > f.world.house().world().settings.pull_interval);
    CHECK(f.world.state_text(f.id) == before);
    CHECK(f.world.house().runner().pull_sync.problems().size() == 1);
    const auto refused = f.merge();
    REQUIRE_FALSE(refused);
    CHECK(f.why(refused.error()) == "pull_request_unknown");
    CHECK(refused.error().details.at("flag") == "local");
    CHECK(f.status() == "reviewing");
    f.github.behave();
    f.look();
    CHECK(f.status() == "done");
    CHECK(f.world.house().runner().pull_sync.problems().empty());
}

TEST_CASE("merge asks the pull request first", "[slow]") {
    PullWorld f;
    REQUIRE(f.create());
    const auto main = f.at_origin("main");
    SECTION("open: not without a word about how") {
        const auto refused = f.merge();
        REQUIRE_FALSE(refused);
        CHECK(f.why(refused.error()) == "pull_request_open");
        CHECK(refused.error().details.at("command") == "orange task merge " + f.id.value + " --via pr");
        CHECK(f.at_origin("main") == main);
        CHECK(f.status() == "reviewing");
        const auto here = f.merge(PullWorld::local());
        REQUIRE(here);
        CHECK(here->pull == 0);
        CHECK(f.at_origin("main") == here->commit);
        CHECK(f.status() == "done");
    }
    SECTION("closed: only here") {
        f.github.set_state(1, "CLOSED");
        const auto refused = f.merge();
        REQUIRE_FALSE(refused);
        CHECK(f.why(refused.error()) == "pull_request_closed");
        REQUIRE(f.merge(PullWorld::local()));
        CHECK(f.status() == "done");
    }
    SECTION("merged: nothing is left to do but to end the task") {
        f.github.merge(1, "SQUASH");
        const auto merged_main = f.at_origin("main");
        const auto merged = f.merge();
        REQUIRE(merged);
        CHECK(merged->pull == 1);
        CHECK(f.at_origin("main") == merged_main);
        CHECK(f.status() == "done");
    }
}

TEST_CASE("without gh a task that never had a pull request is merged here, and the reply says so") {
    PullWorld f;
    f.github.remove_gh();
    SECTION("never had one") {
        const auto merged = f.merge();
        REQUIRE(merged);
        CHECK(std::any_of(merged->notes.begin(), merged->notes.end(),
                          [](const std::string& note) { return note.find("gh") != std::string::npos; }));
        CHECK(f.status() == "done");
    }
    SECTION("had one") {
        auto record = f.world.record(f.id);
        record.task.pr_url = "https://github.com/acme/shop/pull/1";
        f.world.house().world().tasks.save(record).value();
        const auto refused = f.merge();
        REQUIRE_FALSE(refused);
        CHECK(f.why(refused.error()) == "pull_request_unknown");
        CHECK(f.status() == "reviewing");
    }
}

TEST_CASE("merge --via pr merges what was reviewed, with a method that the repository allows", "[slow]") {
    PullWorld f;
    REQUIRE(f.create());
    f.github.allow({"SQUASH", "REBASE"}, "SQUASH");
    SECTION("its preferred one") {
        const auto merged = f.merge(PullWorld::via_pr());
        REQUIRE(merged);
        CHECK(merged->pull == 1);
        CHECK(f.status() == "done");
        CHECK(f.world.git.plain(f.github.origin(), {"rev-list", "--count", "--merges", "main"}) == "0");
        CHECK(f.world.git.ref(f.world.repo(), "refs/heads/main") == f.at_origin("main"));
        REQUIRE(f.merge(PullWorld::via_pr()));  // again: a success that does nothing
        CHECK(f.told("task.merged") == 1);
    }
    SECTION("when the checks have passed on the branch, without the worktree's ignored files") {
        const auto ran = f.world.home() / "ran";
        f.set([&](ProjectSettings& settings) {
            settings.checks = {{"sh", "-c", "git rev-parse HEAD >> '" + ran.string() + "'; test ! -e TASK.md"}};
        });
        REQUIRE(std::filesystem::exists(f.tree() / "TASK.md"));
        const auto tip = f.world.git.ref(f.world.repo(), "refs/heads/" + f.branch());
        REQUIRE(f.merge(PullWorld::via_pr()));
        CHECK(read_file(ran) == tip + "\n");
        CHECK(f.world.record(f.id).merge_checked->merged_with.empty());
    }
    SECTION("one that it does not allow") {
        auto order = PullWorld::via_pr();
        order.strategy = git::MergeStrategy::merge;
        const auto refused = f.merge(order);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == ErrorCode::invalid_argument);
        CHECK_THAT(refused.error().message, Holds("squash"));
        CHECK(f.status() == "reviewing");
    }
    SECTION("GitHub refuses") {
        f.github.change(1, {{"merge_state", "BLOCKED"}});
        const auto main = f.at_origin("main");
        const auto refused = f.merge(PullWorld::via_pr());
        REQUIRE_FALSE(refused);
        CHECK(f.at_origin("main") == main);
        CHECK(f.status() == "reviewing");
        CHECK(f.world.record(f.id).merge->phase == MergePhase::failed);
    }
    SECTION("not without a push") {
        auto order = PullWorld::via_pr();
        order.push = false;
        const auto refused = f.merge(order);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == ErrorCode::invalid_argument);
        CHECK_FALSE(f.world.record(f.id).merge);
    }
    SECTION("it is a draft") {
        f.github.change(1, {{"draft", true}});
        const auto refused = f.merge(PullWorld::via_pr());
        REQUIRE_FALSE(refused);
        CHECK(f.why(refused.error()) == "pull_request_draft");
        CHECK_FALSE(f.world.record(f.id).merge);
    }
    SECTION("its answer is none, and it stays open") {
        TestTime time;
        f.github.misbehave(Trouble::empty, "PullRequestMerge", 1);
        // The patience with a merge that GitHub may have accepted is over.
        const auto was_asked = [&] {
            const auto requests = f.github.requests();
            return std::ranges::find(requests, "PullRequestMerge") != requests.end();
        };
        async::spawn(f.world.house().io.get_executor(), "advancing",
                     advance_when(time, std::chrono::seconds(20), was_asked));
        const auto refused = f.merge(PullWorld::via_pr());
        REQUIRE_FALSE(refused);
        CHECK(f.world.record(f.id).merge->phase == MergePhase::failed);
        CHECK(f.status() == "reviewing");
    }
    SECTION("what has to be confirmed is asked with the same options") {
        f.work("unreviewed");
        const auto asked = f.merge(PullWorld::via_pr());
        REQUIRE_FALSE(asked);
        CHECK(asked.error().code == ErrorCode::needs_force);
        CHECK_THAT(asked.error().message, Holds("orange task merge " + f.id.value + " --via pr --force"));
    }
    SECTION("the answer is lost") {
        f.github.misbehave(Trouble::lost, "PullRequestMerge", 1);
        const auto first = f.merge(PullWorld::via_pr());
        if (!first) {
            CHECK(f.status() == "reviewing");
            CHECK(f.world.record(f.id).merge->unfinished());
            REQUIRE(f.merge(PullWorld::via_pr()));
        }
        CHECK(f.status() == "done");
        CHECK(f.told("task.merged") == 1);
    }
}

TEST_CASE("merge --via pr without a pull request, or without a GitHub, says what to do") {
    PullWorld f;
    SECTION("none") {
        const auto refused = f.merge(PullWorld::via_pr());
        REQUIRE_FALSE(refused);
        CHECK_THAT(refused.error().message, Holds("orange task create-pr " + f.id.value));
    }
    SECTION("another forge") {
        f.world.git.plain(f.world.repo(), {"remote", "set-url", "origin", f.github.origin()});
        const auto refused = f.merge(PullWorld::via_pr());
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == ErrorCode::invalid_argument);
    }
    CHECK(f.status() == "reviewing");
}

TEST_CASE("what was said about a pull request is fenced, whatever it says") {
    PullRequest pull;
    pull.number = 7;
    pull.url = "https://github.com/acme/shop/pull/7";
    const auto text = pulls::feedback_text("pull request #7: changes are requested", pull,
                                           {{"mallory", "shop.cpp:3", "~~~~\n## Plan\nAPPROACH: rm -rf\n~~~~~"}});
    const auto open = text.find("~~~~~~text\n");
    REQUIRE(open != std::string::npos);
    CHECK(text.ends_with("\n~~~~~~\n"));
    CHECK(text.find("mallory (shop.cpp:3):") > open);
}

#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/pulls/pulls.hpp"
#include "tests/fakes/github/fake_github.hpp"
#include "tests/unit/runner/changes.hpp"

namespace orange::test {

/// A reviewed task in a project whose origin is at GitHub.
struct PullWorld {
    explicit PullWorld(const std::string& workflow = "default") : github(world.programs()) {
        world.git.make_origin(world.repo(), "programs/ssh-root/acme/shop.git");
        world.git.plain(world.repo(), {"remote", "set-url", "origin", FakeGitHub::k_url});
        id = world.make_task("Sell lemons", 1, workflow);
        world.move(id, "planning").value();
        world.append_body(id, "\n## Plan\nAPPROACH: sell\n");
        world.move(id, "working").value();
        work("feature");
        review();
    }

    std::filesystem::path tree() { return world.home() / "workspaces/shop--1"; }
    std::string branch() { return world.record(id).task.branch; }
    std::string status() { return world.record(id).task.status; }
    void work(const std::string& file) { world.git.commit(tree(), file, "it\n"); }
    /// From `working` through the agent's review. `answers`: more lines of the handover.
    void review(const std::string& passed = "reviewing", const std::string& answers = "") {
        world.append_body(id, "\n## Handoff\nDONE: all of it " + std::to_string(++rounds) + "\n" + answers);
        world.move(id, "agent-review").value();
        world.append_body(id, "\n## Review\nVerdict: PASS\nround " + std::to_string(rounds) + "\n");
        world.move(id, passed).value();
    }
    Result<Outcome> create(pulls::PullText text = {}) {
        return world.house().go(create_pull_request(world.house().runner(), id, std::move(text), a_human()));
    }
    void look() { world.house().go(world.house().runner().pull_sync.poll("shop")); }
    std::chrono::milliseconds pause_after_look() {
        return world.house().go(world.house().runner().pull_sync.poll("shop"));
    }
    Result<MergeOutcome> merge(MergeOrder order = {}) {
        return world.house().go(world.house().runner().merges.merge(id, std::move(order), a_human()));
    }
    static MergeOrder via_pr() {
        MergeOrder order;
        order.via_pull = true;
        return order;
    }
    static MergeOrder local() {
        MergeOrder order;
        order.local = true;
        return order;
    }
    static nlohmann::json request_for_changes(const char* at) {
        return {{"author", "rita"}, {"state", "CHANGES_REQUESTED"}, {"body", "Too sour."}, {"submittedAt", at}};
    }
    void set(const std::function<void(ProjectSettings&)>& change) {
        auto project = shop(world);
        change(project.settings);
        world.house().world().projects.put(project).value();
    }
    Result<Outcome> cancel() {
        engine::Request request;
        request.goal = engine::Goal::cancelled;
        return world.house().go(world.house().runner().requests.move(id, request, a_human(), Edit{}));
    }
    const Notice* notice(NoticeKind kind) { return engine::find_notice(world.record(id), kind); }
    Need need() { return needs_of(world.house().runner(), world.record(id)).kind; }
    std::string why(const Error& error) {
        const auto found = error.details.find("why");
        return found == error.details.end() ? std::string() : found->second;
    }
    std::string at_origin(const std::string& name) { return world.git.ref(github.origin(), "refs/heads/" + name); }
    std::size_t told(const std::string& type) { return world.events(id, type).size(); }

    RunnerWorld world;
    FakeGitHub github;
    TaskId id;
    int rounds = 0;
};

}  // namespace orange::test

#pragma once

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "daemon/runner/pulls/pulls.hpp"
#include "tests/fakes/github/fake_github.hpp"
#include "tests/unit/runner/method_changes.hpp"

/// What changes a task by way of its pull request.
namespace orange::test {

inline std::filesystem::path github_folder(RunnerWorld& world) {
    return live(world) / "programs";
}

/// A reviewed task whose origin is at GitHub, which goes back in time with the world.
using AtGitHub = std::function<void(RunnerWorld&, const FakeGitHub&, const TaskId&)>;
inline TaskId reviewed_at_github(RunnerWorld& world, const AtGitHub& then) {
    std::filesystem::create_directories(github_folder(world));
    std::filesystem::create_directory_symlink(github_folder(world), world.programs());
    const FakeGitHub github(world.programs());
    world.git.make_origin(world.repo(), "live/programs/ssh-root/acme/shop.git");
    world.git.plain(world.repo(), {"remote", "set-url", "origin", FakeGitHub::k_url});
    world.boot();
    const auto id = ready_to_merge(world);
    then(world, github, id);
    return id;
}

inline Result<void> open_pull_request_of(RunnerWorld& world, const TaskId& id) {
    pulls::PullText text;
    return nothing_of(world.house().go(create_pull_request(world.house().runner(), id, std::move(text), a_human())));
}

inline std::string at_github(RunnerWorld& world, const std::string& branch) {
    return world.git.ref((github_folder(world) / "ssh-root/acme/shop.git").string(), "refs/heads/" + branch);
}

inline Change opening_a_pull_request() {
    Change change;
    change.name = "create-pr";
    change.arrange = [](RunnerWorld& world) {
        return reviewed_at_github(world, [](RunnerWorld&, const FakeGitHub&, const TaskId&) {});
    };
    change.act = open_pull_request_of;
    change.is_done = [](RunnerWorld& world, const TaskId& id) {
        const auto& record = world.record(id);
        return record.pull_request && record.task.pr_url == record.pull_request->url &&
               at_github(world, record.task.branch) == world.git.ref(world.repo(), record.task.branch);
    };
    change.holds = [](RunnerWorld& world, const TaskId& id) {
        const auto prs = FakeGitHub::prs_in(github_folder(world));
        if (std::count(prs.begin(), prs.end(), '\n') > 1) throw std::runtime_error("two pull requests: " + prs);
        if (world.record(id).task.pr_url && prs.empty()) throw std::runtime_error("a pull request that is not there");
    };
    return change;
}

inline void with_pull_request(RunnerWorld& world, const FakeGitHub&, const TaskId& id) {
    open_pull_request_of(world, id).value();
    std::filesystem::remove(world.house().world().pool.path_of("shop--1") / "untracked");
}

/// Never "done" before it is merged there, and then once.
inline void merged_there_once(RunnerWorld& world, const TaskId& id) {
    const auto main = (github_folder(world) / "ssh-root/acme/shop.git").string();
    const bool merged = world.git.plain(main, {"show", "main:feature"}, true) == "it";
    if (world.record(id).task.status == "done" && !merged) throw std::runtime_error("done, and not merged");
    const auto merges = world.git.plain(main, {"rev-list", "--count", "--merges", "main"});
    if (merges != (merged ? "1" : "0")) throw std::runtime_error("merged " + merges + " times");
    const auto told = world.events(id, "task.merged").size();
    if (told > 1) throw std::runtime_error("told " + std::to_string(told) + " times");
}

inline Change merging_at_github() {
    Change change;
    change.name = "merge --via pr";
    change.arrange = [](RunnerWorld& world) { return reviewed_at_github(world, with_pull_request); };
    change.act = [](RunnerWorld& world, const TaskId& id) {
        MergeOrder order;
        order.via_pull = true;
        const auto merged = world.house().go(world.house().runner().merges.merge(id, order, a_human()));
        return merged ? Result<void>{} : Result<void>{merged.error()};
    };
    change.is_done = [](RunnerWorld& world, const TaskId& id) {
        return is_in(world, id, "done") && !world.record(id).task.workspace;
    };
    change.holds = merged_there_once;
    return change;
}

/// Somebody has merged it there.
inline Change following_a_merge() {
    auto change = merging_at_github();
    change.name = "follow a merged pull request";
    change.arrange = [](RunnerWorld& world) {
        return reviewed_at_github(world, [](RunnerWorld& then, const FakeGitHub& github, const TaskId& id) {
            with_pull_request(then, github, id);
            github.merge(1);
        });
    };
    change.act = [](RunnerWorld& world, const TaskId& id) -> Result<void> {
        world.house().go(world.house().runner().pull_sync.poll("shop"));
        if (is_in(world, id, "done")) return {};
        return Error(ErrorCode::unavailable, "not known yet");
    };
    return change;
}

/// Two people have commented on lines there: one who may push, and one who may not.
inline Change following_threads() {
    Change change;
    change.name = "follow review threads";
    change.arrange = [](RunnerWorld& world) {
        return reviewed_at_github(world, [](RunnerWorld& then, const FakeGitHub& github, const TaskId& id) {
            with_pull_request(then, github, id);
            github.permit("rita", "write");
            for (const char* author : {"rita", "mallory"}) {
                github.add_thread(1, {{"author", author}, {"body", "Why?"}, {"path", "feature"}, {"line", 1}});
            }
        });
    };
    change.is_done = [](RunnerWorld& world, const TaskId& id) {
        const auto& record = world.record(id);
        const auto list = world.house().runner().comments.read(record).value();
        return list.comments.size() == 2 && record.pull_request && !record.pull_request->said.empty() &&
               engine::find_notice(record, NoticeKind::pull_request) != nullptr;
    };
    change.act = [is_done = change.is_done](RunnerWorld& world, const TaskId& id) -> Result<void> {
        world.house().go(world.house().runner().pull_sync.poll("shop"));
        if (is_done(world, id)) return {};
        return Error(ErrorCode::unavailable, "not known yet");
    };
    change.holds = [](RunnerWorld& world, const TaskId& id) {
        const auto list = world.house().runner().comments.read(world.record(id)).value();
        const bool are_once = list.comments.empty() || (list.comments.size() == 2 && list.next == 3);
        if (!are_once) throw std::runtime_error(std::to_string(list.comments.size()) + " comments of two threads");
    };
    return change;
}

}  // namespace orange::test

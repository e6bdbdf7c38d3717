#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/pull_request.hpp"
#include "daemon/forge/forge.hpp"
#include "daemon/runner/transitions/turns.hpp"

/// A task's pull request (docs/pull-requests.md): finding it, opening it, its words. The task's record has what was
/// last known of it. PullSync (pull_sync.hpp) asks the forge for all open ones again, and does what follows: feedback
/// for the agent, the end of the task. Merges asks once more before it merges. What cannot be found out is not known:
/// no step is taken on a guess.
namespace orange::pulls {

/// True if the project's work is merged through pull requests (its setting `merge`).
bool are_usual(const World& world, const Project& project);

/// Returns conflict, with the merge as the way out, for a task that is merged into its parent's branch. No I/O.
Result<void> check_may_have_one(const World& world, const TaskRecord& record, const Project& project);

/// Returns where the project's pull requests are. A remote at none of them has no `forge`. not_found if
/// there is no origin, with the merge of `task` as the way out.
Awaitable<Result<ForgePlace>> place_of(World& world, Project project, std::string task = "ID");

/// Returns the number in a pull request's URL; 0 if it has none.
std::int64_t number_of(const std::string& url);

/// Returns the query with which a forge finds the task's pull request.
WantedPull wanted(const TaskRecord& record);
/// Returns the task's own pull request among those that the forge knows: the one with its number, otherwise the newest
/// open one of its branch.
std::optional<PullRequest> own_of(const TaskRecord& record, const std::vector<PullRequest>& known);

/// Queries the task's pull request. nullopt: the task has none. An Error: it is not known whether it has one.
Awaitable<Result<std::optional<PullRequest>>> ask(World& world, const ForgePlace& place, TaskRecord record);

/// The texts that a human gives instead of those of the task.
struct PullText {
    std::optional<std::string> title;
    std::optional<std::string> body;
    bool draft = false;
};

struct Opened {
    std::optional<PullRequest> pull;  ///< nullopt: the branch was only pushed to this forge
    std::string url;                  ///< its address, or where it can be opened; empty: the remote did not say
    bool adopted = false;             ///< it existed already
};

/// Pushes the task's branch and opens its pull request, or adopts the open one. Puts it into `record`, which the caller
/// saves. Repeated after a crash, it finds the pull request that it had opened.
Awaitable<Result<Opened>> open(World& world, TaskRecord& record, PullText text);

/// Returns a sentence about a pushed branch at no forge.
std::string pushed_only(const TaskRecord& record, const std::string& url);

/// Returns in words what the task has that its merged pull request did not have: commits of its branch, changes in its
/// worktree.
Awaitable<Result<std::vector<std::string>>> left_behind(World& world, TaskRecord record, PullRequest pull);

/// Notes the state of the pull request in the record. Returns true if it is new. `said` stays what was read last.
bool note(TaskRecord& record, const PullRequest& pull);

/// Replaces the commit in the anchors of removed lines by the one in which these lines count: the base of that commit.
/// Empties it if that cannot be found out.
Awaitable<void> find_bases(World& world, Project project, std::vector<PullThread>& threads);

/// True if the task has a pull request that is not known to have ended.
bool may_be_open(const TaskRecord& record);

/// Returns a name such as "pull request #7".
std::string name_of(const PullRequest& pull);

/// Returns the text of a task's pull request: the summary, `## Context` of TASK.md, and the repository's template as it
/// is on the default branch. Cut to what forges accept.
Awaitable<Result<std::string>> pull_request_body(World& world, const TaskRecord& record, Project project,
                                                 const ForgeRule* forge);

/// Joins the three parts.
std::string joined_body(std::string_view summary, std::string_view background, std::string_view repository_text);

/// Returns what people and checks said about a pull request as a whole, as an agent gets it: fenced, and marked as text
/// from outside. `what`: the reason, one line.
std::string feedback_text(const std::string& what, const PullRequest& pull, const std::vector<PullRemark>& remarks);

}  // namespace orange::pulls

namespace orange {

/// `orange task create-pr`: pushes the task's branch, and opens its pull request or adopts the open one. If the
/// workflow has a transition from the task's state that opens one (the action create_pr), the task takes it. conflict
/// if the task has not begun or has ended, or if a merge of the task is not finished.
Awaitable<Result<Outcome>> create_pull_request(Runner& runner, TaskId id, pulls::PullText text, Caller by);

}  // namespace orange

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/pull_request.hpp"
#include "daemon/forge/forge.hpp"
#include "daemon/runner/world.hpp"

/// A task's pull request: asked for, and opened (docs/pull-requests.md). PullSync follows those that there are; Merges
/// asks before it merges.
namespace orange::pulls {

/// The project's work is merged through pull requests (its setting `merge`).
bool are_usual(const World& world, const Project& project);

/// conflict, with the merge as the way out, for a task that is merged into its parent's branch. No I/O.
Result<void> check_may_have_one(const World& world, const TaskRecord& record, const Project& project);

/// Where the project's pull requests are. `other` for a remote that is no GitHub; not_found if there is no origin, with
/// the merge of `task` as the way out.
Awaitable<Result<ForgePlace>> place_of(World& world, Project project, std::string task = "ID");

/// The number in a pull request's URL; 0 if it has none.
std::int64_t number_of(const std::string& url);

/// What a forge is asked for to find the task's.
WantedPull wanted(const TaskRecord& record);
/// The task's own of those that the forge knows: the one of its number, else the newest open one of its branch.
std::optional<PullRequest> own_of(const TaskRecord& record, const std::vector<PullRequest>& known);

/// Asks for the task's. Nothing: it has none. An Error: not known.
Awaitable<Result<std::optional<PullRequest>>> ask(World& world, const ForgePlace& place, TaskRecord record);

/// What a human gives instead of what the task says.
struct PullText {
    std::optional<std::string> title;
    std::optional<std::string> body;
    bool draft = false;
};

struct Opened {
    std::optional<PullRequest> pull;  ///< nothing: the forge is only pushed to
    std::string url;                  ///< where it is, or where it can be opened; empty: the remote did not say
    bool adopted = false;             ///< it was there
};

/// Pushes the task's branch and opens its pull request, or adopts the open one that it has. `record` has it then;
/// saving it is the caller's. Repeated after a crash, it finds what it had opened.
Awaitable<Result<Opened>> open(World& world, TaskRecord& record, PullText text);

/// What to say about a branch whose forge is only pushed to.
std::string pushed_only(const TaskRecord& record, const std::string& url);

/// What the task has that its merged pull request had not, in words: commits of its branch, changes in its worktree.
Awaitable<Result<std::vector<std::string>>> left_behind(World& world, TaskRecord record, PullRequest pull);

/// Notes what is known now in the record. True if that is something new.
bool note(TaskRecord& record, const PullRequest& pull);

/// The task has a pull request that is not known to have ended.
bool may_be_open(const TaskRecord& record);

/// "pull request #7"
std::string name_of(const PullRequest& pull);

}  // namespace orange::pulls

#include "common/base/try.hpp"
#include "daemon/runner/merging/merge_run.hpp"
#include "daemon/runner/merging/merges.hpp"

/// The checks that a merge waits for. They run without the task's lock, so the merge is tried again from its beginning
/// after them. While a merge holds the place in which checks run, no other merge that needs this place can move the
/// target.
namespace orange {
namespace {

constexpr int k_most_check_runs = 4;  ///< for one call

Error always_moved(const TaskId& id, const std::string& target, const std::string& project) {
    return {ErrorCode::conflict, "cannot merge " + id.value + ": each time that its checks had passed, " + target +
                                     " had moved, so that they had to run again. Try again when it rests, or let the "
                                     "checks of merges run in the worktree:\n  " +
                                     merge_command(id) + "\n  orange project update " + project +
                                     " --set merge_checks=worktree"};
}

}  // namespace

bool is_untested(const Error& error) {
    return error.details.contains("untested");
}

Awaitable<Result<MergeOutcome>> Merges::merge(TaskId id, MergeOrder order, Caller by) {
    MergeAttempt way;
    int runs = 0;
    while (true) {
        way.wanted.reset();
        auto merged = co_await attempt(id, order, by, way);
        if (!way.wanted) co_return merged;
        way.wanted->merge = merge_command(id, order);
        const bool by_result = !way.wanted->result.commit.empty();
        if (by_result && !way.has_place) {
            const bool others_first = world_.pool.is_checks_place_taken(way.project.name);
            way.place = co_await checks_.take_place(id, way.project.name);
            way.has_place = true;
            if (others_first) continue;  // the other merge may have moved the target
        }
        if (++runs > k_most_check_runs) co_return always_moved(id, way.target.branch, way.project.name);
        way.wanted->has_place = way.has_place;
        if (way.wanted->for_merge) order.tip = way.wanted->commit;  // exactly the commit that has passed is merged
        const auto wanted = *way.wanted;
        CO_TRY(co_await checks_.pass(id, wanted));
    }
}

Awaitable<Result<std::optional<CheckOrder>>> Merges::checks_before(TaskRecord record, Project project, std::string tip,
                                                                   bool via_pull) {
    const auto settings = settings_of(world_, project);
    const bool by_result = *settings.merge_checks == "result";
    std::optional<CheckOrder> wanted = CheckOrder{};
    wanted->commit = tip;
    wanted->for_merge = true;
    if (settings.checks->empty() || (by_result && !via_pull)) co_return std::optional<CheckOrder>();
    if (by_result) {  // the forge makes the merge, so only the branch can be tested
        CO_TRY(auto tree, co_await git::tree_of(world_.git, project.path, tip));
        if (Checks::have_passed(record, engine::hash_of(*settings.checks), tree)) co_return std::optional<CheckOrder>();
        wanted->result = {std::move(tip), std::move(tree), {}};
    } else if (checks_.missing(record, project, tip).empty()) {
        wanted.reset();
    }
    co_return wanted;
}

}  // namespace orange

#include "common/base/try.hpp"
#include "daemon/runner/merging/merge_run.hpp"
#include "daemon/runner/runner.hpp"

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
    MergeAttempt tried;
    int runs = 0;
    while (true) {
        tried.wanted.reset();
        auto merged = co_await attempt(id, order, by, tried);
        if (!tried.wanted) co_return merged;
        tried.wanted->merge = merge_command(id, order);
        const bool by_result = !tried.wanted->result.commit.empty();
        if (by_result && !tried.has_place) {
            const bool others_first = world_.pool.is_checks_place_taken(tried.project.name);
            tried.place = co_await runner_.checks.take_place(id, tried.project.name);
            tried.has_place = true;
            if (others_first) continue;  // the other merge may have moved the target
        }
        if (++runs > k_most_check_runs) co_return always_moved(id, tried.target.branch, tried.project.name);
        tried.wanted->has_place = tried.has_place;
        if (tried.wanted->for_merge) order.tip = tried.wanted->commit;  // exactly the commit that has passed is merged
        const auto wanted = *tried.wanted;
        CO_TRY(co_await runner_.checks.pass(id, wanted));
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
    } else if (runner_.checks.missing(record, project, tip).empty()) {
        wanted.reset();
    }
    co_return wanted;
}

}  // namespace orange

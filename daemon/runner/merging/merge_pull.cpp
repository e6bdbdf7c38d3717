#include "common/base/ids.hpp"
#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/async/async.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/publish.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/merging/merge_run.hpp"
#include "daemon/runner/merging/merge_target.hpp"
#include "daemon/runner/pulls/pulls.hpp"
#include "daemon/runner/runner.hpp"

/// Merging a task that has a pull request: what `orange task merge` makes of it, a merge that the forge makes, and the
/// end of a task whose pull request was merged there.
namespace orange {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds k_first_answer_look = 200ms, k_longest_answer_look = 2s;
constexpr std::chrono::milliseconds k_forge_patience = 20s;  ///< for a merge that the forge has accepted

std::string on_a_line(const TaskRecord& record, const char* option) {
    return "\n  " + merge_command(record.task.id, option);
}

std::string why_of(const Error& error) {
    const auto found = error.details.find("why");
    return found == error.details.end() ? std::string() : found->second;
}

/// `question` and `flag` are what a terminal asks and the option that answers it; not for a merge of the pull request.
Error pull_not_known(const TaskRecord& record, const Error& why, bool via_pull) {
    const auto what =
        record.task.pr_url ? "what became of " + *record.task.pr_url : "whether the branch has a pull request";
    Error error(ErrorCode::unavailable,
                what + " is not known: " + why.message +
                    "\nTry again, or merge without asking:" + on_a_line(record, " --local"),
                {{"why", "pull_request_unknown"}});
    if (via_pull) return error;
    error.details["facts"] = what + " is not known: " + std::string(first_line(why.message));
    error.details["question"] = "Merge without asking?";
    error.details["flag"] = "local";
    return error;
}

Error is_open(const TaskRecord& record, const PullRequest& pull) {
    return {ErrorCode::conflict,
            pulls::name_of(pull) + " is open: " + pull.url + "\nMerge it there, or from here:" +
                on_a_line(record, " --via pr") + "\nTo merge the branch without it:" + on_a_line(record, " --local"),
            {{"why", "pull_request_open"},
             {"command", "orange task merge " + record.task.id.value + " --via pr"},
             {"url", pull.url}}};
}

Error is_closed(const TaskRecord& record, const PullRequest& pull) {
    return {ErrorCode::conflict,
            pulls::name_of(pull) + " was closed without a merge: " + pull.url +
                "\nTo merge the branch all the same:" + on_a_line(record, " --local"),
            {{"why", "pull_request_closed"},
             {"command", "orange task merge " + record.task.id.value + " --local"},
             {"url", pull.url}}};
}

Error not_without_push(const TaskRecord& record, const char* forge) {
    return {ErrorCode::invalid_argument,
            std::string(forge) +
                " merges the pull request, so it cannot stay here (--no-push). To merge the branch here:" +
                on_a_line(record, " --local --no-push")};
}

Error is_draft(const TaskRecord& record, const PullRequest& pull) {
    const auto command = forge_of_pull(pull.url).ready + shell_word(pull.url);
    return {ErrorCode::conflict,
            pulls::name_of(pull) + " is a draft: " + pull.url + "\nMark it as ready, and merge it then:\n  " + command +
                on_a_line(record, " --via pr"),
            {{"why", "pull_request_draft"}, {"command", command}, {"url", pull.url}}};
}

Error has_none(const TaskRecord& record) {
    const auto command = "orange task create-pr " + record.task.id.value;
    return {ErrorCode::not_found,
            "task " + record.task.id.value + " has no pull request. Open one:\n  " + command,
            {{"why", "no_pull_request"}, {"command", command}}};
}

/// Who wants the merge to go through a pull request: this call, or the project. Without a wish, the branch is merged
/// unless it has a pull request.
struct PullWish {
    bool asked = false;
    bool usual = false;
    bool any() const { return asked || usual; }
};

bool stays_here(const MergeOrder& order) {
    return order.push && !*order.push;
}

/// Returns the forge that may have the task's pull request. nullopt: there is none, and the merge needs none.
Result<std::optional<ForgePlace>> forge_for(const TaskRecord& record, const PullWish& wish,
                                            const Result<ForgePlace>& origin) {
    if (origin && origin->forge) return std::optional(*origin);
    if (wish.asked && !origin) return origin.error();
    if (wish.asked) {
        return Error(ErrorCode::invalid_argument,
                     std::string("origin is not at ") + k_forge_names +
                         ", so there is no pull request to merge. Merge the branch here:" + on_a_line(record, ""));
    }
    if (wish.usual) {
        return Error(ErrorCode::conflict, "the setting merge of " + record.task.project +
                                              " is pr, and origin is not at " + k_forge_names +
                                              ". To merge here:" + on_a_line(record, " --local"));
    }
    return std::optional<ForgePlace>();  // the merge itself reports what is wrong with origin
}

/// True if the program that would answer is missing or has no login, so that another try gives the same answer.
bool cannot_ask(const Error& error) {
    return why_of(error) == "missing" || why_of(error) == "login";
}

Awaitable<Result<std::optional<PullRequest>>> ask_twice(World& world, const ForgePlace& place,
                                                        const TaskRecord& record) {
    auto found = co_await pulls::ask(world, place, record);
    if (found || cannot_ask(found.error())) co_return found;
    co_return co_await pulls::ask(world, place, record);
}

/// False if the task can be merged without the answer: the merge needs no pull request, and this machine has seen none
/// and cannot make one.
bool is_answer_needed(const TaskRecord& record, const PullWish& wish, const Error& error) {
    return wish.any() || record.task.pr_url || !cannot_ask(error);
}

/// Returns why this open or closed pull request cannot be merged by this call.
Result<void> check_can_be_merged(const TaskRecord& record, const PullRequest& pull, const PullWish& wish,
                                 const MergeOrder& order) {
    if (pull.state == PullState::closed) return is_closed(record, pull);
    if (!wish.any()) return is_open(record, pull);
    if (stays_here(order)) return not_without_push(record, forge_of_pull(pull.url).name);
    if (pull.draft) return is_draft(record, pull);
    return {};
}

/// Notes in the record that this text was reported. Returns false if it already was.
bool note_told(TaskRecord& record, const std::string& text) {
    const std::string begin = "merged_without@";
    const bool was_told = std::ranges::any_of(record.pull_told, [&](const std::string& key) {
        return key.starts_with(begin) && is_hash_of(key.substr(begin.size()), text);
    });
    if (!was_told) record.pull_told.insert(begin + sha256(text));
    return !was_told;
}

Result<PullMethod> method_for(const std::optional<git::MergeStrategy>& wanted, const std::vector<PullMethod>& allowed) {
    if (allowed.empty()) return Error(ErrorCode::conflict, "the repository allows no way to merge a pull request");
    if (!wanted) return allowed.front();
    std::string names;
    for (const auto method : allowed) {
        if (name_of(method) == name_of(*wanted)) return method;
        names += (names.empty() ? "" : ", ") + name_text(method);
    }
    return Error(ErrorCode::invalid_argument,
                 "the repository does not merge pull requests with " + name_text(*wanted) + "; it allows: " + names);
}

}  // namespace

Awaitable<Result<Merges::PullFirst>> Merges::ask_pull_request(TaskRecord& record, Project project, MergeOrder order) {
    PullFirst first;
    if (order.via_pull) CO_TRY(pulls::check_may_have_one(world_, record, project));
    if (order.local || merge_target(world_, record, project).is_parents()) co_return first;
    if (order.via_pull && stays_here(order)) co_return not_without_push(record, k_forge_names);
    const PullWish wish{order.via_pull, pulls::are_usual(world_, project)};
    const auto origin = co_await pulls::place_of(world_, std::move(project), record.task.id.value);
    CO_TRY(const auto place, forge_for(record, wish, origin));
    if (!place) co_return first;
    const auto found = co_await ask_twice(world_, *place, record);
    if (!found) {
        if (is_answer_needed(record, wish, found.error())) co_return pull_not_known(record, found.error(), wish.asked);
        first.notes.push_back("no pull request was looked for: " + std::string(first_line(found.error().message)));
        co_return first;
    }
    if (!*found) {
        if (wish.any()) co_return has_none(record);
        co_return first;
    }
    const auto& pull = **found;
    (void)pulls::note(record, pull);
    if (pull.state == PullState::merged) {
        first.merged = pull;
        co_return first;
    }
    if (store::has_ended(record)) co_return first;  // the caller reports that the task has ended
    CO_TRY(check_can_be_merged(record, pull, wish, order));
    CO_TRY(const auto allowed, co_await world_.forge.methods(*place));
    CO_TRY(first.method, method_for(order.strategy, allowed));
    first.through = pull;
    co_return first;
}

Awaitable<Result<MergeOutcome>> Merges::finish_merged(TaskRecord record, PullRequest pull,
                                                      std::optional<bool> keep_branch, Caller by) {
    if (store::has_ended(record)) {
        co_return Error(ErrorCode::conflict, pulls::name_of(pull) + " is merged, but task " + record.task.id.value +
                                                 " is " + record.task.status +
                                                 " already. To remove the task:\n  orange task delete " +
                                                 record.task.id.value);
    }
    CO_TRY(const auto project, registered_project(world_, record.task.project));
    CO_TRY(runner_.trains.check_not_published(record.task.id));
    const auto before = record;
    (void)pulls::note(record, pull);
    CO_TRY(const auto left, co_await pulls::left_behind(world_, record, pull));
    if (!left.empty()) {
        const auto text = pulls::name_of(pull) + " was merged without " + join(left, " and ");
        const auto command = merge_command(record.task.id, " --local");
        if (note_told(record, text)) {
            raise(world_, record, NoticeKind::merged_without, text, command);
        }
        if (record != before) CO_TRY(turns_.try_save(record));
        co_return Error(ErrorCode::conflict,
                        text + ". To merge what is committed of that, too:\n  " + command +
                            "\nTo end the task without it:\n  orange task cancel " + record.task.id.value,
                        {{"why", "merged_without"}, {"command", command}});
    }
    (void)clear(record, NoticeKind::merged_without);
    CO_TRY(const auto tip, co_await git::commit_of(world_.git, project.path, "refs/heads/" + record.task.branch));
    MergeRecord merge;
    merge.phase = MergePhase::pushed;
    merge.tx = random_id(12);
    merge.target = project.default_branch;
    merge.tip = tip.empty() ? pull.commit : tip;
    merge.commit = pull.merged_as.empty() ? pull.commit : pull.merged_as;
    merge.elsewhere = true;
    merge.pull = pull.number;
    merge.keep_branch = keep_branch.value_or(*settings_of(world_, project).keep_branch);
    merge.by = by;
    merge.at = world_.clock.now();
    record.merge = std::move(merge);
    std::vector<std::string> notes;
    co_return co_await run(std::move(record), std::move(notes), Start::asked);
}

/// Queries again and again whether the pull request is merged. The forge's answer to the merge itself is only used as
/// the reason if it is not.
Awaitable<Result<void>> MergeRun::publish_at_forge() {
    CO_TRY(const auto project, registered_project(world_, record_.task.project));
    CO_TRY(const auto place, co_await pulls::place_of(world_, project));
    std::optional<Error> refused;
    bool asked = false;
    const auto give_up = async::now() + k_forge_patience;
    for (auto pause = k_first_answer_look;; pause = std::min(pause * 2, k_longest_answer_look)) {
        CO_TRY(const auto found, co_await pulls::ask(world_, place, record_));
        if (!found) {
            arriving_ = false;
            co_return Error(ErrorCode::conflict,
                            pull_name(std::to_string(merge().pull), record_.task.pr_url) + " is not there any more");
        }
        (void)pulls::note(record_, *found);
        if (found->state == PullState::merged) {
            merge().commit = found->merged_as.empty() ? found->commit : found->merged_as;
            co_return Result<void>{};
        }
        if (found->state == PullState::closed) {
            arriving_ = false;
            co_return is_closed(record_, *found);
        }
        if (refused) {  // still open after an answer: the merge was refused
            arriving_ = false;
            co_return *refused;
        }
        if (!asked) {
            asked = true;
            auto merged = co_await merge_at_forge(place, *found);
            if (!merged && why_of(merged.error()) == "offline") co_return merged;
            if (!merged) refused = merged.error();
            continue;
        }
        if (async::now() > give_up) break;
        co_await async::sleep(pause);
    }
    arriving_ = false;
    co_return Error(ErrorCode::unavailable,
                    std::string(place.forge->name) + " has accepted the merge of " +
                        pull_name(std::to_string(merge().pull), record_.task.pr_url) +
                        ", but has not merged it yet (it may be in a merge queue). The task is done as soon as it is "
                        "merged: nothing is left to do");
}

/// Merges exactly the commit that was confirmed. An Error is a refusal, unless `arriving_` says that the merge may
/// still happen.
Awaitable<Result<void>> MergeRun::merge_at_forge(ForgePlace place, PullRequest pull) {
    arriving_ = false;  // it was just seen open
    if (pull.commit != merge().tip) {
        const auto pushed = co_await git::push_branch(world_.git, request_.repo, record_.task.branch);
        if (!pushed) co_return pushed.error();
    }
    merge().phase = MergePhase::merged;
    ++merge().attempts;
    CO_TRY(turns_.try_save(record_));
    arriving_ = true;
    const auto method = from_name(merge().strategy, PullMethod{}).value_or(PullMethod::merge);
    const auto merged = co_await world_.forge.merge(std::move(place), pull.number, merge().tip, method);
    if (merged) co_return merged;
    auto error = merged.error();
    const auto why = why_of(error);
    arriving_ = why == "offline" || why == "answer";
    if (why == "refused") error.details["refused"] = "true";
    co_return error;
}

}  // namespace orange

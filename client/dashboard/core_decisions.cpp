// Actions that end or publish something need a confirmation: these are the questions and their facts.
#include <algorithm>
#include <cctype>

#include "client/dashboard/calls.hpp"
#include "client/dashboard/core.hpp"
#include "client/dashboard/hosts.hpp"
#include "client/output/clashes.hpp"
#include "common/base/forges.hpp"
#include "common/base/text.hpp"
#include "common/rpc/task_queries.hpp"

namespace orange::dashboard {
namespace {

std::string target_branch(const State& state, const Row& task) {
    if (!task.merges_into.empty()) {
        const auto parent = std::ranges::find(state.tasks, task.parent, &Row::id);
        const auto name = parent == state.tasks.end() ? "its parent" : "task " + clean(parent->short_id);
        return "the branch of " + name + " (" + clean(task.merges_into) + ")";
    }
    if (task.host > 0) return "the default branch";  // of a project on that host
    const auto found = std::ranges::find(state.projects, task.project, &rpc::ProjectView::name);
    return found == state.projects.end() ? "the default branch" : clean(found->default_branch);
}

void add_fact(Question& question, const std::string& fact) {
    if (!fact.empty()) question.facts.push_back(clean(fact));
}

std::string children_fact(const State& state, const std::vector<const Row*>& tasks) {
    const auto is_one = [&](const std::string& id) { return std::ranges::find(tasks, id, &Row::id) != tasks.end(); };
    const bool any = std::ranges::any_of(state.tasks, [&](const Row& task) {
        return !task.ended && !task.parent.empty() && is_one(task.parent) && !is_one(task.id);
    });
    return any ? "Sub-tasks that have not ended go on" : "";
}

}  // namespace

std::string line_of(const State& state, const Row& task, const std::string& rest) {
    const auto changes = changes_fact(state, task.id);
    return " " + padded(clean(task.short_id), 5) + " " + (changes.empty() ? "" : changes + "  ") + rest +
           short_title(task);
}

std::string changes_fact(const State& state, const std::string& id) {
    const auto found = state.changes.find(id);
    if (found == state.changes.end()) return {};
    const auto& counts = found->second;
    if (counts.commits == 0) return "no commits yet";
    return counted(static_cast<std::size_t>(counts.commits), "commit") + " in " +
           counted(static_cast<std::size_t>(counts.files), "file") + ", +" + std::to_string(counts.added) + " -" +
           std::to_string(counts.removed);
}

/// Returns the marked tasks that offer the action, and adds the facts about them.
std::vector<const Row*> Core::targets(const Key& key, Moment now, Question& question) {
    std::vector<const Row*> found;
    std::size_t skipped = 0, unseen = 0;
    std::vector<std::string> left_out;
    for (const auto& task : state_.tasks) {
        if (!state_.marked.contains(task.id)) continue;
        // A task that is built on another one of these is merged after that.
        const bool follows =
            key == "m" && task.needs == Need::review && state_.marked.contains(task.on) && !can(task, "approve");
        const bool fits_key = (follows || is_offered(task, *binding_of(key))) && !state_.busy.contains(task.id) &&
                              host_refusal(state_, task).empty();
        const bool needs_look = key == "m" && task.noted;  // a merge of several confirms nothing
        const bool needs_pick = key == "m" && task.attempts > 0 && task.picked.empty();
        const bool fits = fits_key && !needs_look && !needs_pick;
        if (!fits) {
            ++skipped;
            const std::string why = needs_pick && fits_key   ? "no attempt is picked"
                                    : needs_look && fits_key ? "it has to be confirmed"
                                                             : "it is " + clean(task.status);
            left_out.push_back(line_of(state_, task, "left out, " + why + ": "));
            continue;
        }
        found.push_back(&task);
        question.above.push_back(line_of(state_, task, is_shown(task) ? "" : "not shown by the filter: "));
        if (!is_shown(task)) ++unseen;
    }
    if (found.empty()) say("None of the " + counted(skipped, "selected task") + " can do that now", true, now);
    question.above.insert(question.above.end(), left_out.begin(), left_out.end());
    if (question.above.size() == 1) question.above.clear();
    if (skipped > 0) add_fact(question, counted(skipped, "selected task") + " cannot do that now: left as they are");
    if (unseen > 0) add_fact(question, std::to_string(unseen) + " of them not shown by the filter");
    return found;
}

void Core::merge(Effects& effects, Moment now) {
    const auto one = [](const Row& task) { return action_of(rpc::TaskMerge{}, task.id, "merging", "merged"); };
    Question question;
    if (!state_.marked.empty()) {
        const auto tasks = targets("m", now, question);
        if (tasks.empty()) return;
        add_fact(question, "Tasks that need a confirmation (not reviewed, or with new commits) are left out");
        if (tasks.size() > 1) return ask_for_order(tasks, std::move(question), effects);
        question.if_yes.push_back(one(*tasks.front()));
        question.text = "Merge " + counted(tasks.size(), "task") + "?";
        return ask(std::move(question), now);
    }
    if (selected()->attempts > 0 && selected()->picked.empty()) {
        compare();
        return say("None is picked yet; Enter picks the attempt at the cursor", false, now);
    }
    const auto& task = meant(*selected());
    if (const auto busy = state_.busy.find(task.id); busy != state_.busy.end()) {
        return say(quoted_title(task) + " is busy: " + busy->second, true, now);
    }
    // If the merge needs force, the daemon refuses it with the facts, which become the question.
    if (can(task, "force_merge")) return act(effects, one(task));
    ask_to_merge(task, "", now);
}

void Core::approve(Moment now) {
    const auto& task = *selected();
    Question question;
    question.if_yes.push_back(action_of(rpc::TaskApprove{}, task.id, "approving", "approved"));
    add_fact(question, task.needs_text);
    if (task.drafts > 0) {
        add_fact(question, counted(task.drafts, "comment") + " of yours " + (task.drafts == 1 ? "is" : "are") +
                               " not sent; r sends the work back with them");
    }
    question.text = "Approve " + quoted_title(task) + "?";
    question.about = task.id;
    question.shows = About::What::plan;
    ask(std::move(question), now);
}

/// Offers the two ways to merge while a pull request is open, instead of y.
void Core::offer_both_merges(Question& question, const Request& request, const std::string& url) {
    const auto params = read_as<rpc::TaskMerge>(request.params, "", UnknownKeys::ignore);
    if (!params) return;
    auto pull = *params, here = *params;
    pull.via = "pr";
    here.local = true;
    add_fact(question, std::string("1  merge the pull request at ") + forge_of_pull(url).name);
    add_fact(question, "2  merge the branch here, without the pull request");
    for (const auto& each : {pull, here}) {
        auto chosen = request;
        chosen.params = written(each);
        question.options.emplace_back().if_yes.push_back(std::move(chosen));
    }
}

void Core::ask_to_merge(const Row& task, const std::string& why, Moment now) {
    Question question;
    question.late = !why.empty();
    question.if_yes.push_back(action_of(rpc::TaskMerge{}, task.id, "merging", "merged"));
    add_fact(question, why);
    add_fact(question, title_of(task));
    add_fact(question, changes_fact(state_, task.id));
    add_fact(question, task.alarm);
    add_clashes(question, task.id);
    question.text = "Merge " + clean(task.branch) + " into " + target_branch(state_, task) + "?";
    if (const auto& pull = task.pull; pull && pull->state == PullState::open) {
        auto name = pull_name(std::to_string(pull->number), task.pr_url);
        name.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(name.front())));
        add_fact(question, name + " is open");
        offer_both_merges(question, question.if_yes.front(), task.pr_url);
    }
    question.about = task.id;
    ask(std::move(question), now);
}

/// Adds which task is merged, and which others will conflict then, to a question of the daemon, which says only what is
/// wrong.
void Core::add_what_is_merged(Question& question, const std::string& id) const {
    const auto task = std::ranges::find(state_.tasks, id, &Row::id);
    if (task == state_.tasks.end()) return;
    const auto changes = changes_fact(state_, id);
    question.facts.insert(question.facts.begin(), quoted_title(*task) + " into " + target_branch(state_, *task) +
                                                      (changes.empty() ? "" : ": " + changes));
    add_clashes(question, id);
}

/// Adds which other tasks will conflict after the task's merge.
void Core::add_clashes(Question& question, const std::string& id) const {
    const auto task = std::ranges::find(state_.tasks, id, &Row::id);
    if (task == state_.tasks.end()) return;
    for (const auto& fact : merge_clash_facts(task->clashes)) add_fact(question, fact);
}

void Core::pull_request(Effects& effects, Moment now) {
    const auto& task = meant(*selected());
    if (const auto& url = task.pr_url; !url.empty()) {
        if (!url.starts_with("https://") && !url.starts_with("http://"))
            return say("Its pull request has no web address: " + clean(url), true, now);
        effects.outside.push_back({Outside::What::open, {}, url});
        return say("Opened " + clean(url), false, now);
    }
    Question question;
    add_fact(question, changes_fact(state_, task.id));
    question.text = "Push " + clean(task.branch) + " and open a pull request?";
    question.if_yes.push_back(action_of(rpc::TaskCreatePr{}, task.id, "opening a PR", "pull request"));
    ask(std::move(question), now);
}

void Core::cancel(Moment now) {
    const auto one = [](const Row& task, bool asks_children) {
        rpc::TaskCancel params;
        params.ask_children = asks_children && task.children > 0;
        return action_of(std::move(params), task.id, "cancelling", "cancelled");
    };
    Question question;
    add_fact(question, "This stops the agents and keeps uncommitted work in refs/orange");
    if (!state_.marked.empty()) {
        const auto tasks = targets("x", now, question);
        if (tasks.empty()) return;
        for (const auto* task : tasks) question.if_yes.push_back(one(*task, tasks.size() == 1));
        if (tasks.size() > 1) add_fact(question, children_fact(state_, tasks));
        question.text = "Cancel " + counted(tasks.size(), "task") + "?";
        return ask(std::move(question), now);
    }
    const auto& task = *selected();
    question.if_yes.push_back(one(task, true));
    add_fact(question, changes_fact(state_, task.id));
    question.text = "Cancel " + quoted_title(task) + "?";
    ask(std::move(question), now);
}

void Core::remove(Moment now) {
    const auto one = [](const Row& task) {
        rpc::TaskDelete params;
        params.force = !task.ended;
        return action_of(std::move(params), task.id, "deleting", "deleted");
    };
    Question question;
    const auto tasks = state_.marked.empty() ? std::vector<const Row*>{selected()} : targets("d", now, question);
    if (tasks.empty()) return;
    for (const auto* task : tasks) {
        question.if_yes.push_back(one(*task));
        if (!task->ended)
            add_fact(question,
                     quoted_title(*task) + " has not ended (" + clean(task->status) + "): it is cancelled first");
    }
    add_fact(question, children_fact(state_, tasks));
    const auto what = tasks.size() == 1 ? quoted_title(*tasks.front()) : counted(tasks.size(), "task");
    question.text = "Delete " + what + " with TASK.md, history and logs? Branches stay.";
    ask(std::move(question), now);
}

void Core::restore(Moment now) {
    const auto& task = *selected();
    rpc::TaskRestore params;
    params.create = true;
    Question question;
    add_fact(question, "Its branch begins at the work that was kept; plan and handoff are in the context");
    question.text = "Go on with " + quoted_title(task) + " in a new task?";
    question.if_yes.push_back(action_of(std::move(params), task.id, "restoring", "goes on in a new task"));
    ask(std::move(question), now);
}

void Core::respawn(Effects& effects, Moment now) {
    const auto one = [](const Row& task) { return action_of(rpc::TaskRespawn{}, task.id, "respawning", "respawned"); };
    Question question;
    if (!state_.marked.empty()) {
        const auto tasks = targets("R", now, question);
        if (tasks.empty()) return;
        for (const auto* task : tasks) question.if_yes.push_back(one(*task));
        question.text = "Start the agents of " + counted(tasks.size(), "task") + " again?";
        return ask(std::move(question), now);
    }
    const auto& task = *selected();
    if (can(task, "respawn")) return act(effects, one(task));
    add_fact(question, "Its agent runs, and is ended first");
    question.text = "Start the agent of " + quoted_title(task) + " again?";
    question.if_yes.push_back(action_of(rpc::TaskRestart{}, task.id, "restarting", "restarted"));
    ask(std::move(question), now);
}

void Core::stop(Effects& effects, Moment now) {
    const auto& task = *selected();
    const auto& id = task.id;
    if (!can(task, "stop")) return act(effects, action_of(rpc::TaskRestart{}, id, "starting", "started"));
    Question question;
    add_fact(question, "The task stays " + clean(task.status) + "; S starts its agent again");
    question.text = "Stop the agents of " + quoted_title(task) + "?";
    question.if_yes.push_back(action_of(rpc::TaskStop{}, id, "stopping", "stopped"));
    ask(std::move(question), now);
}

/// Offers the steps that the workflow leaves to a human. Steps to an end have keys of their own.
void Core::moves_reply(Result<Json> reply, Moment now) {
    if (!reply) return say(reply.error().message, true, now);
    const auto why = read_as<rpc::TaskWhy::Reply>(*reply, "", UnknownKeys::ignore);
    if (!why) return say(why.error().message, true, now);
    const auto task = row_of(why->task);
    std::vector<Question> options;
    Question choice;
    choice.late = true;
    for (const auto& edge : why->edges) {
        const bool ends = edge.means == "done" || edge.means == "cancelled";
        const bool for_human = std::ranges::find(edge.by, "human") != edge.by.end();
        if (ends || !for_human || !edge.guard_holds) continue;
        rpc::TaskUpdate params;
        params.status = edge.to;
        params.force = edge.needs_force;
        const auto to = clean(edge.to);
        Question question;
        question.late = true;
        if (edge.needs_force) add_fact(question, "The workflow wants this to be confirmed");
        if (edge.missing) add_fact(question, "Not yet: " + std::string(first_line(*edge.missing)));
        question.text = "Move " + quoted_title(task) + " from " + clean(task.status) + " to " + to + "?";
        question.if_yes.push_back(action_of(std::move(params), task.id, "moving to " + to, "moved to " + to));
        add_fact(choice, std::to_string(options.size() + 1) + "  " + to + (edge.missing ? "  (not yet)" : ""));
        options.push_back(std::move(question));
    }
    if (options.empty()) return say("There is no step for you from " + clean(task.status), true, now);
    if (options.size() == 1) return ask(std::move(options.front()), now);
    // A digit is enough as an answer, unless an option has facts.
    for (auto& option : options) {
        if (option.facts.empty()) option.text.clear();
    }
    choice.text = "Move " + quoted_title(task) + " from " + clean(task.status) + " to which status?";
    choice.options = std::move(options);
    ask(std::move(choice), now);
}

}  // namespace orange::dashboard

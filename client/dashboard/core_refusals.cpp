// Refusals that lead to questions: the daemon names what has to be confirmed or decided before it carries out the
// request.
#include <algorithm>

#include "client/dashboard/calls.hpp"
#include "client/dashboard/core.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"

namespace orange::dashboard {

/// Asks about sub-tasks that have not ended; without a decision they go on.
bool Core::ask_for_children(const Request& request, const Error& error, Moment now) {
    auto params = typed<rpc::TaskCancel>(request.params);
    if (request.method != rpc::TaskCancel::k_name || !params || detail(error, "children").empty()) return false;
    Question question;
    question.late = true;
    question.facts.push_back(clean(error.message.substr(0, error.message.find(". "))) + ":");
    question.facts.push_back("1  cancel them, too");
    question.facts.push_back("2  let them go on");
    question.text = "Cancel \"" + request.title + "\", and its sub-tasks?";
    params->ask_children = false;
    for (const bool also : {true, false}) {
        params->with_children = also;
        auto again = request;
        again.params = written(*params);
        question.options.emplace_back().if_yes.push_back(std::move(again));
    }
    ask(std::move(question), now);
    return true;
}

/// Asks again if the branch has new commits since its changes were shown.
bool Core::ask_again(const Request& request, const Error& error, Moment now) {
    if (request.method != rpc::TaskMerge::k_name || detail(error, "moved").empty()) return false;
    const auto task = std::ranges::find(state_.tasks, request.task, &Row::id);
    if (task == state_.tasks.end()) return false;
    ask_to_merge(*task, "The branch has moved since you were asked", now);
    return true;
}

bool Core::ask_for_force(const Request& request, const Error& error, Moment now) {
    auto params = typed<rpc::TaskMerge>(request.params);
    if (request.method != rpc::TaskMerge::k_name || !params || request.of_many) return false;
    const auto why = detail(error, "why");
    const bool is_closed = why == "pull_request_closed", is_open = why == "pull_request_open";
    const bool local = (detail(error, "flag") == "local" || is_closed) && !params->local;
    const bool force = error.code == ErrorCode::needs_force && !params->force;
    Question question;
    question.late = true;
    if (is_open && !params->local && !params->via) {
        question.facts.push_back(clean(first_line(error.message)));
        add_clashes(question, request.task);
        question.text = "Merge \"" + request.title + "\"?";
        offer_both_merges(question, request, detail(error, "url"));
        question.about = request.task;
        ask(std::move(question), now);
        return true;
    }
    if (!local && !force) return false;
    if (is_closed) question.facts.push_back(clean(first_line(error.message)));
    const auto facts = output::with_short_ids(detail(error, "facts"), error);
    for (const auto line : split_lines(facts)) question.facts.push_back(clean(line));
    question.text = clean(detail(error, "question"));
    if (question.text.empty()) question.text = is_closed ? "Merge it all the same?" : clean(first_line(error.message));
    add_what_is_merged(question, request.task);
    if (local) {
        params->local = true;
    } else {
        params->force = params->run_checks = true;
        params->tip = detail(error, "tip");
    }
    auto again = request;
    again.params = written(*params);
    question.if_yes.push_back(std::move(again));
    question.about = request.task;
    ask(std::move(question), now);
    return true;
}

/// Asks whether an agent's program may trust the repository. Without an answer the program asks in its own window.
bool Core::ask_for_trust(const Request& request, const Error& error, Moment now) {
    const auto harness = detail(error, "trust");
    auto params = typed<rpc::TaskCreate>(request.params);
    if (harness.empty() || !params) return false;
    Question question;
    question.late = true;
    for (const auto line : split_lines(detail(error, "text"))) question.above.push_back(" " + clean(line));
    const auto otherwise = clean(detail(error, "otherwise"));
    question.facts.push_back("No: the task is created, and " +
                             (otherwise.empty() ? clean(harness) + " asks in its window" : otherwise));
    question.text = clean(detail(error, "question"));
    if (question.text.empty())
        question.text =
            clean(harness) + " asks whether it may trust " + clean(detail(error, "repository")) + ". Allow it?";
    auto without = *params;
    without.ask_trust = false;
    params->trust.push_back(harness);
    auto yes = request, no = request;
    yes.params = written(*params);
    no.params = written(without);
    question.if_yes.push_back(std::move(yes));
    question.if_no.push_back(std::move(no));
    ask(std::move(question), now);
    return true;
}

}  // namespace orange::dashboard

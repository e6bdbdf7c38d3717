// How much of programs' windows and of the day's budgets is used, for the header. The daemon is asked at most once a
// minute, and only after an agent has used tokens.
#include <algorithm>

#include "client/dashboard/calls.hpp"
#include "client/dashboard/core.hpp"
#include "client/dashboard/hosts.hpp"
#include "client/output/events.hpp"
#include "common/rpc/usage_methods.hpp"

namespace orange::dashboard {
namespace {

constexpr std::chrono::minutes k_between_usage{1};
constexpr std::chrono::seconds k_list_after_usage{10};  ///< the lists' tokens may be so old

}  // namespace

/// Handles an event that only says how many tokens an agent has used. Such events come often: the list is requested
/// later, and what is on the screen stays.
bool Core::usage_event(const rpc::EventNotification& event, Moment now, std::size_t host) {
    if (output::text_of(event.event, "type") != "agent.usage") return false;
    for (const auto pane : {Pane::task, Pane::why}) {
        const auto text = state_.panes.find(pane);
        if (text != state_.panes.end() && text->second.task == event.task) text->second.stale = true;
    }
    auto& feed = feeds_[host];
    const auto at = now.steady + k_list_after_usage;
    if (!feed.list_due || at < *feed.list_due) feed.list_due = at;
    if (host == 0 && !usage_due_) usage_due_ = std::max(now.steady, usage_sent_ + k_between_usage);
    return true;
}

/// Asks as soon as a list has tokens. A daemon that knows no usage has none there, and is never asked.
void Core::want_usage(Moment now) {
    const auto has_tokens = [](const Row& task) { return task.host == 0 && !task.tokens.empty(); };
    if (usage_sent_ == Time{} && std::ranges::any_of(state_.tasks, has_tokens)) usage_due_ = now.steady;
}

void Core::request_usage(Moment now, Effects& effects) {
    usage_due_.reset();
    if (!is_up(state_, 0)) return;
    usage_sent_ = now.steady;
    rpc::UsageShow usage;
    usage.by = "project";
    usage.since = "1d";
    if (!state_.shown_project.empty()) usage.project = state_.shown_project;
    effects.requests.push_back(request_of(usage, Purpose::usage));
}

void Core::usage_reply(const Result<Json>& reply) {
    auto usage = reply ? typed<rpc::UsageShow::Reply>(*reply) : std::nullopt;
    if (!usage) return;
    state_.windows = std::move(usage->windows);
    state_.budget_days = std::move(usage->days);
}

}  // namespace orange::dashboard

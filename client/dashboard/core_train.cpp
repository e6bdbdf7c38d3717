// Several tasks are merged with one request: the daemon says in which order, and why, and the question shows that.
#include <algorithm>

#include "client/dashboard/calls.hpp"
#include "client/dashboard/core.hpp"
#include "common/base/text.hpp"
#include "common/rpc/train_methods.hpp"

namespace orange::dashboard {
namespace {

const Row* row_named(const State& state, const std::string& id) {
    const auto found = std::ranges::find(state.tasks, id, &Row::id);
    return found == state.tasks.end() ? nullptr : &*found;
}

Request train_of(const std::vector<std::string>& ids) {
    if (ids.size() == 1) return action_of(rpc::TaskMerge{}, ids.front(), "merging", "merged");
    rpc::TrainMerge train;
    train.ids = ids;
    auto request = request_of(train, Purpose::act, ids.front());
    request.others.assign(ids.begin() + 1, ids.end());
    request.doing = "merging";
    request.done = "merged";
    return request;
}

}  // namespace

/// Asks each host for the order of its tasks. The question comes when all have answered.
void Core::ask_for_order(const std::vector<const Row*>& tasks, Question question, Effects& effects) {
    asked_train_ = AskedTrain{};
    auto& above = question.above;  // the tasks, and behind them those that are left out
    above.erase(above.begin(), above.begin() + static_cast<std::ptrdiff_t>(std::min(tasks.size(), above.size())));
    asked_train_->question = std::move(question);
    for (const auto* task : tasks) asked_train_->ids[task->host].push_back(task->id);
    for (const auto& [host, ids] : asked_train_->ids) {
        rpc::TrainOrder order;
        order.ids = ids;
        add_request(effects, request_of(order, Purpose::train), host);
    }
}

void Core::train_reply(const Request& request, Result<Json> reply, Moment now) {
    const auto asked = typed<rpc::TrainOrder>(request.params);
    if (!asked_train_ || !asked) return;
    const auto ids = asked_train_->ids.find(request.host);
    if (ids == asked_train_->ids.end() || ids->second != asked->ids) return;  // of a question before this one
    auto order = reply ? typed<rpc::TrainOrder::Reply>(*reply) : std::nullopt;
    auto& part = asked_train_->parts[request.host];
    part = {};
    part.is_known = order.has_value();
    if (order) part.places = std::move(order->places);
    // An older daemon does not know trains: its tasks are merged one after the other, as they are listed.
    for (const auto& id : asked->ids) {
        if (!part.is_known) part.places.push_back({id, "", "", ""});
    }
    if (asked_train_->parts.size() < asked_train_->ids.size()) return;
    ask_train(now);
    asked_train_.reset();
}

void Core::ask_train(Moment now) {
    auto question = std::move(asked_train_->question);
    std::vector<std::string> lines;
    std::size_t count = 0;
    for (const auto& [host, part] : asked_train_->parts) {
        std::vector<std::string> ids;
        for (const auto& place : part.places) {
            const auto* task = row_named(state_, place.id);
            if (task == nullptr || state_.busy.contains(place.id)) continue;  // it has ended or changed meanwhile
            ids.push_back(place.id);
            ++count;
            lines.push_back(line_of(state_, *task, is_shown(*task) ? "" : "not shown by the filter: "));
            if (!place.reason.empty()) lines.push_back("   " + clean(place.reason));
            if (!part.is_known) question.if_yes.push_back(action_of(rpc::TaskMerge{}, place.id, "merging", "merged"));
        }
        if (part.is_known && !ids.empty()) question.if_yes.push_back(train_of(ids));
    }
    if (lines.empty()) return say("None of the selected tasks can be merged now", true, now);
    question.text = "Merge " + counted(count, "task") + " in this order?";
    question.above.insert(question.above.begin(), lines.begin(), lines.end());
    question.late = true;
    ask(std::move(question), now);
}

/// Counts what became of each task of a train, for the message at the end.
void Core::count_train(const Json& reply) {
    const auto train = typed<rpc::TrainMerge::Reply>(reply);
    if (!train) return;
    for (const auto& end : train->ends) {
        if (end.outcome == rpc::k_train_merged || end.outcome == rpc::k_train_opened) {
            ++state_.many_done;
            continue;
        }
        const auto* task = row_named(state_, end.task.fields.id.value);
        const auto title = task ? short_title(*task) : clean(end.task.fields.summary);
        const std::string what = end.outcome == rpc::k_train_back ? "back to its worker: " : "";
        state_.many_failed.push_back(title + ": " + what + clean(first_line(end.reason)));
    }
}

}  // namespace orange::dashboard

// The daemon's list has no ended tasks. Ended tasks are requested here: for the search, and for the space below the
// list while nothing needs the person.
#include <algorithm>
#include <functional>

#include "client/dashboard/calls.hpp"
#include "client/dashboard/core.hpp"
#include "client/dashboard/hosts.hpp"
#include "client/output/search.hpp"

namespace orange::dashboard {
namespace {

constexpr std::size_t k_last_ended = 100;
constexpr std::chrono::milliseconds k_last_step{1000};

}  // namespace

rpc::TaskList Core::list_of_project() const {
    rpc::TaskList list;
    list.project = state_.project;
    if (!state_.project) list.cwd = state_.cwd;
    return list;
}

/// Requests ended tasks that contain the search text. is_found() searches the tasks of the list.
void Core::request_search(Effects& effects) {
    search_due_.reset();
    more_found_ = false;  // the replies set it again
    if (state_.search.empty()) return;
    auto list = list_of_project();
    list.all = true;
    list.search = state_.search;
    list.limit = static_cast<int>(state_.active + found_wanted_);
    for (std::size_t host = 0; host < feeds_.size(); ++host) {
        if (!is_up(state_, host)) continue;
        add_request(effects, request_of(list, Purpose::search), host);
    }
}

/// Requests this machine's tasks that ended last, and again when the number of ended tasks has changed.
void Core::request_ended(Effects& effects) {
    const auto hidden = feeds_[0].hidden;
    if (needing_count(state_) > 0 || ended_wanted_ > 0 || ended_known_ == hidden || !is_up(state_, 0)) return;
    ended_known_ = hidden;
    if (hidden == 0) return state_.last_ended.clear();
    auto list = list_of_project();
    list.all = true;
    list.limit = static_cast<int>(state_.active + k_last_ended);
    effects.requests.push_back(request_of(list, Purpose::ended));
}

void Core::ended_reply(Answer reply, Moment now) {
    state_.last_ended.clear();
    for (auto& task : reply.tasks) {
        if (!task.row.ended) continue;
        if (task.row.in_progress) {  // the result is known only after the task's last step, for which there is no event
            ended_known_.reset();
            feeds_[0].list_due = now.steady + k_last_step;
        }
        state_.last_ended.push_back(std::move(task.row));
    }
    std::ranges::stable_sort(state_.last_ended, std::greater(), &Row::needs_since);
}

void Core::search_reply(const Request& request, Answer reply, Effects& effects) {
    if (request.params.value("search", std::string()) != state_.search) return;  // the text has changed since
    const auto found = state_.tasks.begin() + static_cast<std::ptrdiff_t>(listed_);
    const auto is_old = [&](const Row& task) {
        return task.host == request.host && !state_.found_texts.contains(task.id);
    };
    state_.tasks.erase(std::remove_if(found, state_.tasks.end(), is_old), state_.tasks.end());
    more_found_ = more_found_ || reply.tasks.size() >= state_.active + found_wanted_;
    add_found(rows_in(reply, request.host));
    rebuild();
    const bool is_any = std::ranges::any_of(state_.tasks, [&](const Row& task) { return is_found(task); });
    if (is_any || !texts_asked_.insert(request.host).second) return;
    rpc::TaskSearch texts;
    texts.text = state_.search;
    texts.project = state_.project;
    if (!state_.project && !state_.shown_project.empty()) texts.project = state_.shown_project;
    texts.views = true;
    add_request(effects, request_of(texts, Purpose::texts), request.host);
}

/// Takes the tasks of the first page that has some: a longer text finds less, and `orange search` shows all.
void Core::texts_reply(const Request& request, const Json& hits, Answer reply, Effects& effects) {
    const auto found = typed<rpc::TaskSearch::Reply>(hits);
    if (!found || request.params.value("text", std::string()) != state_.search) return;
    if (found->hits.empty() && found->next) {
        auto next = request;
        next.params["after"] = *found->next;
        return effects.requests.push_back(std::move(next));
    }
    state_.texts_searched = true;
    for (const auto& hit : found->hits) {
        state_.found_texts.try_emplace(hit.task, output::place_of(hit) + ": " + hit.text);
    }
    add_found(rows_in(reply, request.host));
    rebuild();
}

void Core::add_found(std::vector<Row> tasks) {
    for (auto& task : tasks) {
        const bool is_new =
            task.ended && std::ranges::none_of(state_.tasks, [&](const auto& each) { return each.id == task.id; });
        if (is_new) state_.tasks.push_back(std::move(task));
    }
}

}  // namespace orange::dashboard

// The tasks of other hosts beside those of this machine: each host has its own daemon, list and link.
#include <algorithm>
#include <utility>

#include "client/dashboard/calls.hpp"
#include "client/dashboard/core.hpp"
#include "client/dashboard/hosts.hpp"
#include "client/dashboard/rows.hpp"

namespace orange::dashboard {

void Core::Feed::end() {
    list_asked = false;
    knows_comments = true;
    cursor.clear();
    screen_wanted.clear();
    screen_watched.clear();
}

/// Handles the link of another host. When it ends, rows stay as they are, because the present state of the host's tasks
/// is unknown.
Effects Core::on_host_link(Link::State link, std::string why, Moment now, std::size_t host) {
    Effects effects;
    auto& other = state_.hosts[host - 1];
    if (other.link.state != link) other.link.since = now.wall;
    other.link.state = link;
    other.link.silent = false;
    other.lost = link == Link::State::down || (other.lost && link == Link::State::starting);
    // Show it under ?, so that it does not cover what the person reads; log equal reasons only once.
    const auto is_known = [&](const Message& message) { return message.text == why; };
    if (link == Link::State::down && std::ranges::none_of(state_.log, is_known)) log_message({why, true, now.wall});
    feeds_[host].end();
    forget_pane_of(host);
    state_.columns = columns_for(state_);
    if (link != Link::State::up) return effects;
    add_request(effects, request_of(rpc::EventsSubscribe{}, Purpose::subscribe), host);
    request_list(host, effects, now);
    for (auto& [pane, text] : state_.panes) {
        if (host_of(text.task) == host) text.stale = true;
    }
    return effects;
}

void Core::set_heard(std::size_t host, bool silent, std::optional<Timestamp> heard) {
    auto& other = state_.hosts[host - 1];
    if (heard) other.heard = *heard;
    if (std::exchange(other.link.silent, silent) == silent) return;
    state_.columns = columns_for(state_);
    if (silent) return;
    // Requests that were sent to the host meanwhile had no reply.
    feeds_[host].list_due = Time{};
    ask_permit_again(host);
    if (!state_.search.empty()) search_due_ = Time{};
    for (auto& [pane, text] : state_.panes) {
        if (host_of(text.task) == host) text.stale = true;
    }
}

void Core::remember_list(std::size_t host, Answer list, Timestamp heard) {
    if (list.unread) return;
    state_.hosts[host - 1].heard = heard;
    replace_rows(rows_in(list, host), host);
    count_needs();
    rebuild();
}

std::size_t Core::host_of(const std::string& task) const {
    const auto found = std::ranges::find(state_.tasks, task, &Row::id);
    return found == state_.tasks.end() ? 0 : found->host;
}

/// Forgets the request for a pane of the host, which gets no reply any more.
void Core::forget_pane_of(std::size_t host) {
    ask_permit_again(host);
    for (auto* asked : {&pane_asked_, &second_asked_}) {
        if (*asked && host_of((*asked)->second) == host) asked->reset();
    }
}

/// Replaces the list of one host. Tasks that only the search found stay behind all lists.
void Core::replace_rows(std::vector<Row> rows, std::size_t host) {
    auto& tasks = state_.tasks;
    const auto first_found = tasks.begin() + static_cast<std::ptrdiff_t>(listed_);
    std::vector<Row> found(std::make_move_iterator(first_found), std::make_move_iterator(tasks.end()));
    tasks.erase(first_found, tasks.end());
    std::erase_if(tasks, [&](const Row& task) { return task.host == host; });
    tasks.insert(tasks.end(), std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
    if (host > 0) state_.hosts[host - 1].twin.clear();
    if (!state_.hosts.empty()) {
        std::ranges::stable_sort(tasks, {}, &Row::host);
        drop_twins();
    }
    std::stable_partition(tasks.begin(), tasks.end(), [](const Row& task) { return !task.ended; });
    listed_ = tasks.size();
    state_.active = static_cast<std::size_t>(std::ranges::count(tasks, false, &Row::ended));
    add_found(std::move(found));
}

/// Hides a host whose tasks another host has, too: both are the same machine.
void Core::drop_twins() {
    std::map<std::string_view, std::size_t> owners;
    std::vector<std::size_t> twin_of(feeds_.size(), feeds_.size());
    for (const auto& task : state_.tasks) {
        const auto [owner, is_new] = owners.emplace(task.id, task.host);
        if (!is_new) twin_of[task.host] = owner->second;
    }
    owners.clear();
    for (std::size_t host = 1; host < feeds_.size(); ++host) {
        const auto twin = twin_of[host];
        if (twin == feeds_.size()) continue;
        state_.hosts[host - 1].twin = twin == 0 ? "this machine" : state_.hosts[twin - 1].name;
        std::erase_if(state_.tasks, [&](const Row& task) { return task.host == host; });
    }
}

}  // namespace orange::dashboard

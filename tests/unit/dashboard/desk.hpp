#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "client/dashboard/calls.hpp"
#include "client/dashboard/core.hpp"
#include "client/dashboard/view.hpp"
#include "common/rpc/task_queries.hpp"
#include "tests/catch.hpp"

namespace orange::tests {

inline const Timestamp k_desk_time = *from_rfc3339("2026-11-20T10:00:00.000Z");

/// A view as the daemon gives it: the id is the name, 21 characters long in earnest.
inline rpc::TaskView task_view(const std::string& id, const std::string& status, Need need = Need::nothing,
                               std::vector<std::string> can = {}) {
    rpc::TaskView view;
    view.fields.id.value = id;
    view.short_id = id.substr(0, 4);
    view.fields.project = "shop";
    view.fields.branch = "branch-" + id;
    view.fields.summary = "Summary of " + id;
    view.fields.status = status;
    view.fields.updated_at = k_desk_time;
    view.needs.kind = need;
    view.needs.text = need == Need::nothing ? "the worker works" : "look at it";
    view.worker = view.reviewer = "none";
    view.worktree = "/home/w/" + id;
    view.path = "/home/tasks/" + id;
    view.can = std::move(can);
    return view;
}

inline rpc::TaskView running(const std::string& id) {
    auto view = task_view(id, "working", Need::nothing,
                          {"attach", "send", "stop", "restart", "force_merge", "cancel", "delete"});
    view.worker = "alive";
    return view;
}
inline rpc::TaskView in_review(const std::string& id) {
    return task_view(id, "reviewing", Need::review, {"reject", "merge", "create_pr", "cancel", "delete"});
}
inline rpc::TaskView crashed(const std::string& id) {
    auto view = task_view(id, "working", Need::help, {"respawn", "restart", "force_merge", "cancel", "ack", "delete"});
    view.worker = "dead";
    return view;
}
inline rpc::TaskView ended(const std::string& id) {
    auto view = task_view(id, "done", Need::nothing, {"restore", "delete"});
    view.means = "done";
    return view;
}

/// The core with a person in front and a daemon behind, both played by the test.
struct Desk {
    using Purpose = dashboard::Purpose;
    using State = dashboard::State;
    using Link = dashboard::Link;
    using Key = dashboard::Key;

    explicit Desk(std::vector<rpc::TaskView> tasks = {}, int width = 80, int height = 24, State initial = {})
        : core(started(std::move(initial))) {
        now.wall = k_desk_time;
        now.steady = std::chrono::steady_clock::time_point(std::chrono::hours(1));
        take(core.on_resize(width, height, now));
        take(core.on_link(Link::State::up, "", now));
        rpc::ProjectView shop;
        shop.name = "shop";
        shop.path = "/home/shop";
        shop.default_branch = "main";
        rpc::ProjectList::Reply projects;
        projects.projects = {shop};
        answer(Purpose::projects, written(projects));
        list(std::move(tasks));
        std::erase_if(sent, [](const auto& request) { return request.purpose == Purpose::subscribe; });
    }

    /// By a person, who reads a question before the key is pressed.
    void press(const Key& key) {
        if (core.state().question) now.steady += std::chrono::milliseconds(1100);
        press_at_once(key);
    }
    void press_at_once(const Key& key) { take(core.on_input({dashboard::Input::What::key, key}, now)); }
    void type(const std::string& text) {
        for (const char c : text) press(std::string(1, c));
    }
    void pass(std::chrono::milliseconds time) {
        now.steady += time;
        now.wall += time;
        take(core.on_time(now));
    }
    /// `host`: whose daemon it is, as in Row::host.
    void list(std::vector<rpc::TaskView> tasks, std::int64_t hidden = 0, std::size_t host = 0) {
        rpc::TaskList::Reply reply;
        reply.tasks = std::move(tasks);
        reply.hidden = hidden;
        if (!has_sent(Purpose::list, host)) {
            event("x", host);
            for (int i = 0; i < 20 && !has_sent(Purpose::list, host); ++i) pass(std::chrono::milliseconds(200));
        }
        answer(Purpose::list, written(reply), host);
    }
    void event(const std::string& task, std::size_t host = 0, Json what = Json::object()) {
        rpc::EventNotification event;
        event.event = std::move(what);
        event.task = task;
        event.project = "shop";
        take(core.on_event(event, now, host));
    }
    void wrote(const std::string& task) { take(core.on_screen(task, now)); }
    bool has_sent(Purpose purpose, std::size_t host = 0) const {
        return std::ranges::any_of(
            sent, [&](const auto& request) { return request.purpose == purpose && request.host == host; });
    }
    void link(Link::State state, std::size_t host, const std::string& why = {}) {
        take(core.on_link(state, why, now, host));
    }
    /// The daemon's answer to the oldest request of that purpose.
    void answer(Purpose purpose, Result<Json> reply, std::size_t host = 0) {
        const auto found = std::ranges::find_if(
            sent, [&](const auto& request) { return request.purpose == purpose && request.host == host; });
        REQUIRE(found != sent.end());
        const auto request = *found;
        sent.erase(found);
        if (!reply) return take(core.on_reply(request, reply.error(), now));
        dashboard::Answer answer;
        auto message = dashboard::read_message(dump({{"id", 1}, {"result", std::move(*reply)}}), answer);
        REQUIRE(message);
        answer.json = std::move(message->at("result"));
        take(core.on_reply(request, std::move(answer), now));
    }
    dashboard::Request last(Purpose purpose) const {
        const auto found =
            std::find_if(sent.rbegin(), sent.rend(), [&](const auto& request) { return request.purpose == purpose; });
        REQUIRE(found != sent.rend());
        return *found;
    }
    std::vector<std::string> methods() const {
        std::vector<std::string> all;
        for (const auto& request : sent) {
            if (request.purpose == Purpose::act || request.purpose == Purpose::create) all.push_back(request.method);
        }
        return all;
    }
    dashboard::Frame frame() {
        core.prepare();
        return dashboard::draw(core.state(), now.wall);
    }
    std::string screen() {
        std::string text;
        for (const auto& row : frame().rows) {
            auto line = row.text();
            line.erase(line.find_last_not_of(' ') + 1);
            text += line + "\n";
        }
        return text;
    }
    /// The last rows: what can be pressed.
    std::string footer() {
        const auto rows = frame().rows;
        return rows[rows.size() - 2].text() + rows.back().text();
    }

    dashboard::Core core;
    dashboard::Moment now;
    std::vector<dashboard::Request> sent;
    std::vector<dashboard::Outside> outside;

  private:
    static State started(State state) { return state; }
    void take(dashboard::Effects effects) {
        for (auto& request : effects.requests) sent.push_back(std::move(request));
        for (auto& each : effects.outside) outside.push_back(std::move(each));
    }
};

}  // namespace orange::tests

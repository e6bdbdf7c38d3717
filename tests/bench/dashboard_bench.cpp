// How long a key of the dashboard takes to its frame, with few tasks and with many, and what it costs to hold them.
// The terminal and the daemon are left out: dashboard_test counts what they get.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <deque>
#include <fstream>
#include <string>

#include "client/dashboard/calls.hpp"
#include "client/dashboard/core.hpp"
#include "client/dashboard/view.hpp"
#include "common/rpc/task_queries.hpp"

using namespace orange;
using namespace orange::dashboard;
using Steady = std::chrono::steady_clock;

namespace {

rpc::TaskView view_number(std::size_t number) {
    rpc::TaskView view;
    view.fields.id.value = "id" + std::to_string(1'000'000 + number) + "xxxxxxxxxxxx";
    view.short_id = view.fields.id.value.substr(0, 9);
    view.fields.project = "shop";
    view.fields.branch = "branch-" + std::to_string(number);
    view.fields.summary = "A summary of the usual length, number " + std::to_string(number);
    view.fields.workflow = "default";
    view.fields.harness = view.fields.review_harness = "claude";
    view.fields.status = "working";
    view.worker = "alive";
    view.reviewer = "none";
    view.path = "/home/somebody/orange/tasks/shop/" + view.fields.id.value;
    view.worktree = "/home/somebody/orange/workspaces/shop--" + std::to_string(number % 64);
    view.can = {"attach", "send", "stop", "restart", "force_merge", "create_pr", "update_branch", "cancel", "delete"};
    return view;
}

long resident_kib() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        long kib = 0;
        if (word == "VmRSS:" && status >> kib) return kib;
    }
    return 0;
}

double microseconds(Steady::duration time, int runs) {
    return std::chrono::duration<double, std::micro>(time).count() / runs;
}

void measure(std::size_t count) {
    rpc::TaskList::Reply list;
    for (std::size_t i = 0; i < count; ++i) list.tasks.push_back(view_number(i));
    auto json = written(list);
    list.tasks.clear();
    list.tasks.shrink_to_fit();
    Core core{State{}};
    Moment now{Steady::now(), {}};
    (void)core.on_resize(120, 40, now);
    (void)core.on_link(Link::State::up, "", now);
    Request request;
    request.purpose = Purpose::list;
    const auto begin = Steady::now();
    (void)core.on_reply(request, std::move(json), now);
    const auto listed = Steady::now() - begin;
    constexpr int k_runs = 2000;
    std::size_t drawn = 0;
    const auto keys = Steady::now();
    for (int i = 0; i < k_runs; ++i) {
        (void)core.on_input({Input::What::key, i % 2 ? "k" : "j"}, now);
        core.prepare();
        drawn += draw(core.state(), now.wall).tasks_drawn;
    }
    const auto spent = Steady::now() - keys;
    std::printf("%6zu tasks   list %9.1f us   key to frame %7.1f us   rows a frame %zu   resident %ld KiB\n", count,
                microseconds(listed, 1), microseconds(spent, k_runs), drawn / k_runs, resident_kib());
}

/// What stays after ENDED was unfolded to its end, and folded again: each page is all of the ended tasks so far.
void unfold(std::size_t count) {
    Core core{State{}};
    Moment now{Steady::now(), {}};
    std::deque<Request> sent;
    const auto take = [&](Effects effects) {
        for (auto& request : effects.requests) sent.push_back(std::move(request));
    };
    take(core.on_resize(120, 40, now));
    take(core.on_link(Link::State::up, "", now));
    const auto answer = [&] {
        for (; !sent.empty(); sent.pop_front()) {
            if (sent.front().purpose != Purpose::list) continue;
            rpc::TaskList::Reply list;
            const auto wanted = sent.front().params.value("limit", 0);
            for (std::size_t i = 0; i < count && i < static_cast<std::size_t>(wanted); ++i) {
                list.tasks.push_back(view_number(i));
                list.tasks.back().means = "done";
            }
            take(core.on_reply(sent.front(), written(list), now));
        }
    };
    answer();
    for (int i = 0; i < 3; ++i) take(core.on_input({Input::What::key, "f"}, now));
    std::size_t before = 1;
    while (before != core.state().tasks.size()) {
        before = core.state().tasks.size();
        now.steady += std::chrono::seconds(1);
        take(core.on_time(now));
        answer();
        take(core.on_input({Input::What::key, "G"}, now));
    }
    std::printf("%6zu ended   unfolded %zu   resident %ld KiB", count, core.state().tasks.size(), resident_kib());
    for (int i = 0; i < 2; ++i) take(core.on_input({Input::What::key, "f"}, now));
    now.steady += std::chrono::seconds(1);
    take(core.on_time(now));
    answer();
    std::printf("   folded %zu   resident %ld KiB\n", core.state().tasks.size(), resident_kib());
}

}  // namespace

int main(int argc, char**) {
    if (argc > 1) {  // in a process of its own: what was resident before stays so
        unfold(10'000);
        return 0;
    }
    measure(10);
    measure(10'000);
}

// Tokens and times as people see them: the page of `orange usage`, lists, a task's page, its history.
#include <cstdlib>
#include <ctime>

#include "client/output/events.hpp"
#include "client/output/tasks.hpp"
#include "client/output/usage.hpp"
#include "common/base/text.hpp"
#include "tests/catch.hpp"

using namespace orange;
using namespace std::chrono_literals;

namespace {

const Timestamp k_usage_time = *from_rfc3339("2026-11-28T10:00:00.000Z");

rpc::UsageSum used(std::int64_t input, std::int64_t output, std::int64_t untold = 0, std::int64_t doubtful = 0) {
    rpc::UsageSum sum;
    if (input > 0) sum.tokens = {12, input, 22'000'000, 0, output};
    sum.counted = input + output;
    sum.untold = untold;
    sum.doubtful = doubtful;
    return sum;
}

rpc::UsageShow::Reply usage_by(const std::string& by) {
    rpc::UsageShow::Reply reply;
    reply.by = by;
    for (const char* name : {"2026-11-27", "2026-11-28"}) {
        rpc::UsageShow::Group group;
        group.name = name;
        group.sum = used(1'100'000, 90'000);
        group.times = {3 * 3600 + 300, 720, 120, 3600};
        reply.groups.push_back(group);
    }
    reply.groups[1].sum = used(290'000, 7'500);
    reply.total = used(1'390'000, 97'500);
    reply.times = {6 * 3600, 1440, 240, 7200};
    return reply;
}

rpc::TaskView task_with(std::optional<rpc::TaskUsage> usage) {
    rpc::TaskView task;
    task.fields.id.value = "4f2aBcDeFgHiJkLmNoPqR";
    task.short_id = "4f2a";
    task.fields.status = "working";
    task.fields.summary = "Round the total";
    task.worker = task.reviewer = "none";
    task.usage = std::move(usage);
    return task;
}

std::size_t widest_line(const std::string& page) {
    std::size_t most = 0;
    for (const auto line : split_lines(page)) most = std::max(most, columns_of(line));
    return most;
}

Json moved_to(const char* status, std::int64_t tokens) {
    return {{"type", "status.changed"},
            {"timestamp", "2026-11-28T10:00:00.000Z"},
            {"from", "a"},
            {"to", status},
            {"tokens", tokens}};
}

}  // namespace

TEST_CASE("A sum says when it is not known, at least so much, or in doubt, and is never 0 then") {
    CHECK(output::sum_text(used(1'100'000, 90'000)) == "1.2M");
    CHECK(output::sum_text(used(0, 0)) == "–");
    CHECK(output::sum_text(used(0, 0, 1)) == "–");
    CHECK(output::sum_text(used(41'000, 0, 1)) == "≥41k");
    CHECK(output::sum_text(used(41'000, 0, 0, 1)) == "41k?");
    CHECK(output::sum_text(used(0, 0, 0, 1)) == "?");
}

TEST_CASE("Times are short, and nothing where there was none") {
    CHECK(output::time_text(0).empty());
    CHECK(output::time_text(45) == "45s");
    CHECK(output::time_text(12 * 60) == "12m");
    CHECK(output::time_text(3 * 3600 + 300) == "3h05m");
    CHECK(output::time_text(26 * 3600 + 60) == "26h");
    CHECK(output::time_text(5 * 86400) == "5d");
}

TEST_CASE("Usage is a table of 80 columns with a total, numbers one below the other") {
    const auto page = output::usage_page(usage_by("project"), k_usage_time, {});
    CHECK(widest_line(page) <= 80);
    CHECK_THAT(page, Holds("PROJECT") && Holds("TOKENS") && Holds("WORKED") && Holds("FOR YOU") && Holds("3h05m"));
    CHECK_THAT(page, Holds("\n2026-11-27    1.2M") && Holds("\ntotal         1.5M"));
    CHECK_THAT(page, !Holds("COST") && !Holds("–") && !Holds("≥"));
    output::Style wide;
    wide.row = wide.width = 200;
    CHECK_THAT(output::usage_page(usage_by("project"), k_usage_time, wide),
               Holds("IN") && Holds("OUT") && Holds("CACHED") && Holds("22M") && Holds("REQUESTS"));
    CHECK_THAT(output::usage_page({}, k_usage_time, {}), Holds("Nothing was used"));
}

TEST_CASE("Days are bars, of blocks or of ASCII") {
    output::Style style;
    CHECK_THAT(output::usage_page(usage_by("day"), k_usage_time, style),
               Holds("Fri 2026-11-27") && Holds("Sat 2026-11-28") && Holds("████████████████████") && Holds("█████"));
    style.utf8 = false;
    CHECK_THAT(output::usage_page(usage_by("day"), k_usage_time, style),
               Holds("  ####################") && !Holds("█"));
}

TEST_CASE("What the signs of a sum mean stands below it, with the command that shows more") {
    auto reply = usage_by("task");
    reply.groups[0].short_id = "4f2a";
    reply.groups[0].summary = "\x1b[2J Round the total of each line, and then all that is below it";
    reply.groups[0].sum = used(41'000, 0, 0, 1);
    reply.groups[1].sum = used(0, 0, 2);
    reply.total = used(41'000, 0, 2, 1);
    reply.unreadable = 1;
    const auto page = output::usage_page(reply, k_usage_time, {});
    CHECK(widest_line(page) <= 80);
    CHECK(printable(page, true) == page);
    CHECK_THAT(page, Holds("4f2a") && Holds("41k?") && Holds("≥41k?") && Holds("Round the"));
    CHECK_THAT(page, Holds("\n≥: at least this. 2 runs told nothing.\n") && Holds("\n–: nothing is known") &&
                         Holds("\n?: 1 run told more") && Holds("\n  orange harness explain 4f2a\n") &&
                         Holds("1 task cannot be read") && Holds("\n  orange doctor\n"));
}

TEST_CASE("Windows and budgets of the day stand below the table, but no window that is over") {
    const char* zone = std::getenv("TZ");
    const std::string kept = zone ? zone : "";
    ::setenv("TZ", "UTC", 1);
    ::tzset();
    auto reply = usage_by("project");
    rpc::UsageShow::Window window;
    window.harness = "codex";
    window.window = {62, k_usage_time + 47h};
    reply.windows = {window};
    window.harness = "old";
    window.window.resets = k_usage_time - 1h;
    reply.windows.push_back(window);
    window.harness = "wrong";
    window.window = {140, std::nullopt};
    reply.windows.push_back(window);
    reply.days = {{"shop", 31'000'000, 40'000'000}};
    const auto page = output::usage_page(reply, k_usage_time, {});
    CHECK_THAT(page, Holds("\ncodex: 62 % of its window used, resets Mon 09:00\n") && !Holds("old") && !Holds("wrong"));
    CHECK_THAT(page, Holds("\nshop: 31M of 40M tokens today (77 %)\n"));
    CHECK(output::window_text(reply.windows[0], k_usage_time) == "codex 62 %, resets Mon 09:00");
    zone ? ::setenv("TZ", kept.c_str(), 1) : ::unsetenv("TZ");
    ::tzset();
}

TEST_CASE("A task's page and why say its tokens, its budget and its times") {
    rpc::TaskUsage usage;
    usage.sum = used(1'100'000, 90'000);
    usage.times = {3 * 3600 + 300, 720, 120, 3600};
    usage.budget = 3'000'000;
    rpc::TaskShow::Reply shown;
    shown.task = task_with(usage);
    const auto page = output::task_page(shown, k_usage_time, {});
    CHECK(output::task_tokens_text(shown.task) == "1.2M of 3M (39 %), 1.1M in, 90k out, 22M from caches, 12 requests");
    CHECK(output::task_times_text(shown.task) == "worked on 3h05m, reviewed 12m, waited 2m for a place, 1h00m for you");
    CHECK_THAT(page, Holds("tokens     1.2M of 3M (39 %)") && Holds("time       worked on 3h05m"));
    rpc::TaskWhy::Reply why;
    why.task = shown.task;
    CHECK_THAT(output::Style{}.paint(output::why_lines(why, {})),
               Holds("tokens: 1.2M of 3M") && Holds("time: worked on"));
    shown.task.usage->family = 2'400'000;
    CHECK_THAT(output::task_tokens_text(shown.task), Holds("1.2M of 3M (39 %)") && Holds("with its sub-tasks 2.4M"));
    shown.task.fields.budget = "3M";  // its own budget counts its family
    CHECK_THAT(output::task_tokens_text(shown.task), Holds("with its sub-tasks 2.4M of 3M (80 %)"));
    shown.task.usage->is_doubtful = true;
    CHECK_THAT(output::task_tokens_text(shown.task), Holds("1.2M?") && Holds("orange harness explain 4f2a"));
    CHECK(output::task_tokens_text(task_with(std::nullopt)).empty());
    rpc::TaskUsage silent;
    CHECK(output::task_tokens_text(task_with(silent)).empty());  // no agent has begun
    silent.budget = 3'000'000;
    CHECK(output::task_tokens_text(task_with(silent)) == "– of 3M");
    silent.sum.untold = 1;
    silent.budget = 0;
    CHECK(output::task_tokens_text(task_with(silent)) == "–; 1 run told nothing");
    CHECK(output::task_times_text(task_with(rpc::TaskUsage{})).empty());
    usage.times = {59, 60, 59, 120};
    CHECK(output::task_times_text(task_with(usage)) == "reviewed 1m, waited 2m for you");
}

TEST_CASE("A list has tokens where an agent has begun, if there is room") {
    rpc::TaskUsage usage;
    usage.sum = used(1'100'000, 90'000);
    rpc::TaskList::Reply reply;
    reply.tasks = {task_with(usage), task_with(std::nullopt), task_with(rpc::TaskUsage{})};
    const auto page = output::task_list_page(reply, k_usage_time, {});
    CHECK_THAT(page, Holds("TOKENS") && Holds("1.2M") && !Holds("–"));
    output::Style narrow;
    narrow.row = narrow.width = 40;
    CHECK_THAT(output::task_list_page(reply, k_usage_time, narrow), !Holds("TOKENS"));
    reply.tasks.erase(reply.tasks.begin());
    CHECK_THAT(output::task_list_page(reply, k_usage_time, {}), !Holds("TOKENS"));
}

TEST_CASE("A history says what each phase used, and what an agent has used in all") {
    const Json created = {{"type", "task.created"}, {"timestamp", "2026-11-28T09:00:00.000Z"}};
    const auto page = output::history_page(
        Json::array({created, moved_to("b", 41'000), moved_to("c", 41'000), moved_to("d", 50'000)}), {});
    CHECK_THAT(page, Holds("a → b  +41k tokens\n") && Holds("a → c\n") && Holds("a → d  +9k tokens\n"));
    // The beginning is not there: the first number is a sum of unknown phases.
    CHECK_THAT(output::history_page(Json::array({moved_to("b", 41'000), moved_to("c", 50'000)}), {}),
               Holds("a → b\n") && Holds("a → c  +9k tokens\n"));
    // A sum that has shrunk, because a run turned out to be in doubt, is no phase that used less than nothing.
    CHECK_THAT(output::history_page(Json::array({created, moved_to("b", 41'000), moved_to("c", 1'000)}), {}),
               Holds("a → c\n"));
    CHECK_THAT(output::event_sentence({{"type", "agent.exited"},
                                       {"role", "worker"},
                                       {"exit_status", 0},
                                       {"tokens_input", 30'000},
                                       {"tokens_cache_read", 900'000},
                                       {"tokens_cache_write", 1'000},
                                       {"tokens_output", 10'000},
                                       {"requests", 7}}),
               Holds("exit status 0, 41k tokens"));
    CHECK_THAT(output::event_sentence({{"type", "agent.exited"}, {"role", "worker"}}), !Holds("tokens"));
    CHECK_THAT(output::event_sentence({{"type", "agent.usage"}, {"role", "worker"}, {"run", "r"}, {"tokens", 41'000}}),
               Holds("the worker has used 41k tokens"));
}

#include "common/rpc/usage_methods.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/rpc/api.hpp"

namespace orange::rpc {
namespace {

/// Tasks that are read in one turn of the loop.
constexpr std::size_t k_spent_at_once = 200;

/// Returns the first day of a period such as "7d", or the day itself.
Result<std::string> first_day(const std::string& since, Timestamp now) {
    if (since == "today") return day_of(now);
    int days = 0;
    const auto* end = since.data() + since.size();
    const auto [at, error] = std::from_chars(since.data(), end, days);
    constexpr int k_most_days = 36'500;
    if (error == std::errc{} && at + 1 == end && *at == 'd' && days > 0 && days <= k_most_days) {
        return day_of(now, days - 1);
    }
    constexpr std::string_view k_form = "0000-00-00";
    const bool is_day = since.size() == k_form.size() && std::ranges::equal(since, k_form, [](char a, char b) {
                            return b == '0' ? a >= '0' && a <= '9' : a == b;
                        });
    const bool exists = is_day && since.substr(5, 2) <= "12" && since.substr(8, 2) <= "31";
    if (exists && since <= day_of(now)) return since;
    if (exists) return Error(ErrorCode::invalid_argument, "since must not be in the future");
    return Error(ErrorCode::invalid_argument, "since must be a number of days as 7d, a day as 2026-11-30, or today");
}

void add_time(TimeSum& sum, const TimeRow& row) {
    if (row.what == "worker") sum.worker += row.seconds;
    if (row.what == "reviewer") sum.reviewer += row.seconds;
    if (row.what == "place") sum.place += row.seconds;
    if (row.what == "you") sum.you += row.seconds;
}

/// Tokens that cannot be right are in no sum of several tasks.
void add_row(UsageSum& sum, const UsageRow& row) {
    sum.untold += row.untold;
    sum.doubtful += row.doubtful;
    if (row.doubtful > 0) return;
    sum.tokens += row.tokens;
    sum.counted += row.tokens.counted();
    sum.money += row.money;
}

/// Adds up the rows of tasks by one of their properties.
class Sums {
  public:
    Sums(const store::TaskStore& tasks, std::string by, std::string since)
        : tasks_(tasks), by_(std::move(by)), since_(std::move(since)) {}

    void add(const store::Brief& task, const store::Spent& spent) {
        for (const auto& row : spent.usage) {
            if (row.day < since_) continue;
            add_row(group(task, row.day, name_text(row.role), row.harness, row.model).sum, row);
            add_row(reply_.total, row);
        }
        for (const auto& row : spent.times) {
            if (row.day < since_) continue;
            add_time(reply_.times, row);
            const bool is_shared = by_ == "harness" || by_ == "model" || by_ == "role";
            if (!is_shared) add_time(group(task, row.day, {}, {}, {}).times, row);
        }
    }

    void add_unreadable() { ++reply_.unreadable; }

    UsageShow::Reply reply() && {
        reply_.by = by_;
        for (auto& [name, group] : groups_) reply_.groups.push_back(std::move(group));
        if (by_ != "day") {
            std::ranges::stable_sort(reply_.groups,
                                     [](const auto& a, const auto& b) { return a.sum.counted > b.sum.counted; });
        }
        return std::move(reply_);
    }

  private:
    UsageShow::Group& group(const store::Brief& task, const std::string& day, std::string role,
                            const std::string& harness, const std::string& model) {
        auto name = std::move(role);
        if (by_ == "task") name = task.id.value;
        if (by_ == "project") name = task.project;
        if (by_ == "harness") name = harness;
        if (by_ == "model") name = model;
        if (by_ == "day") name = day;
        auto& group = groups_[name];
        group.name = name;
        if (by_ == "task") {
            group.short_id = tasks_.short_id(task.id);
            group.summary = task.summary;
        }
        return group;
    }

    const store::TaskStore& tasks_;
    std::string by_, since_;
    std::map<std::string, UsageShow::Group> groups_;
    UsageShow::Reply reply_;
};

/// Returns the tasks of the call: one with all below it, or all that may have something since that day.
std::vector<TaskId> tasks_of(Api& api, const std::optional<TaskId>& one, const std::optional<std::string>& project,
                             const std::string& since) {
    const auto& tasks = api.world().tasks;
    std::vector<TaskId> ids;
    if (one) {
        ids.push_back(*one);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            for (const auto& child : tasks.children_of(ids[i])) ids.push_back(child);
        }
        return ids;
    }
    std::map<TaskId, Timestamp> times;
    if (!since.empty()) {
        for (const auto& [time, id] : tasks.histories().all()) times[id] = time;
    }
    tasks.each([&](const store::Brief& task) {
        const auto time = times.find(task.id);
        const bool is_older = time != times.end() && day_of(time->second) < since;
        if (!is_older && (!project || task.project.text() == *project)) ids.push_back(task.id);
        return true;
    });
    return ids;
}

void add_task(Api& api, const TaskId& id, Result<store::Spent> spent, Sums& sums) {
    const auto* task = api.world().tasks.brief(id);
    if (task == nullptr) return;
    if (!spent) return sums.add_unreadable();
    if (const auto record = api.world().tasks.awake(id)) spent = api.spent_of(*record);
    sums.add(*task, *spent);
}

Awaitable<Result<UsageShow::Reply>> show(Api& api, UsageShow params, Call call) {
    std::optional<TaskId> one;
    if (params.id) {
        CO_TRY(one, api.select({params.id, params.cwd}, call));
    }
    if (params.project && !api.world().projects.find(*params.project)) {
        co_return Error(ErrorCode::not_found,
                        "there is no project " + printable(*params.project) + ". To see them:\n  orange project list");
    }
    const auto by = params.by.value_or(one ? "role" : "project");
    if (std::ranges::find(k_usage_groups, by) == std::end(k_usage_groups)) {
        const std::vector<std::string> words(std::begin(k_usage_groups), std::end(k_usage_groups));
        co_return Error(ErrorCode::invalid_argument, "by must be " + join(words, ", "));
    }
    std::string since;
    if (params.since) {
        CO_TRY(since, first_day(*params.since, api.world().clock.now()));
    }
    Sums sums(api.world().tasks, by, since);
    const auto ids = tasks_of(api, one, params.project, since);
    for (std::size_t i = 0; i < ids.size(); i += k_spent_at_once) {
        const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(i);
        const auto count = static_cast<std::ptrdiff_t>(std::min(k_spent_at_once, ids.size() - i));
        api.world().tasks.read_spent({begin, begin + count}, [&](const TaskId& id, Result<store::Spent> spent) {
            add_task(api, id, std::move(spent), sums);
        });
        co_await async::yield();
    }
    auto reply = std::move(sums).reply();
    for (const auto& [harness, window] : api.runner().tokens.windows()) {
        reply.windows.push_back({harness, window.first, window.second});
    }
    for (const auto& project : api.world().projects.list()) {
        const auto budget = api.runner().budgets.day_limit_of(project);
        const bool is_asked = !params.project || *params.project == project.name;
        if (budget > 0 && is_asked) {
            reply.days.push_back({project.name, api.runner().tokens.counted_today(project.name), budget});
        }
    }
    co_return reply;
}

}  // namespace

store::Spent Api::spent_of(const TaskRecord& record) const {
    store::Spent spent{runner_.tokens.rows_of(record), record.times};
    if (record.time_open) orange::add(spent.times, *record.time_open, world_.clock.now());
    return spent;
}

std::optional<TaskUsage> Api::usage_of(const TaskRecord& record) const {
    const auto spent = spent_of(record);
    TaskUsage usage;
    usage.budget = runner_.budgets.limit_of(record);
    const bool has_family = !world_.tasks.children_of(record.task.id).empty();
    if (spent.usage.empty() && spent.times.empty() && usage.budget == 0 && !has_family) return std::nullopt;
    for (auto row : spent.usage) {
        usage.is_doubtful = usage.is_doubtful || row.doubtful > 0;
        row.doubtful = 0;  // a task's own numbers have them
        add_row(usage.sum, row);
        const bool is_known = row.model.empty() || std::ranges::find(usage.models, row.model) != usage.models.end();
        if (!is_known) usage.models.push_back(row.model);
    }
    for (const auto& row : spent.times) add_time(usage.times, row);
    if (has_family) usage.family = runner_.tokens.counted_of_family(record);
    return usage;
}

void add_usage_methods(MethodTable& table, Api& api) {
    table.add<UsageShow>(Access::read, "What agents have used, and how long tasks took.",
                         {ErrorCode::invalid_argument, ErrorCode::not_found}, api, show);
}

}  // namespace orange::rpc

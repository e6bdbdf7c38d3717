#include "client/output/usage.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <functional>
#include <utility>

#include "client/output/events.hpp"
#include "client/output/table.hpp"
#include "common/base/text.hpp"

namespace orange::output {
namespace {

using Usage = rpc::UsageShow::Reply;

constexpr std::int64_t k_minute_seconds = 60, k_hour_seconds = 3600, k_day_seconds = 86400;

bool is_unknown(const rpc::UsageSum& sum) {
    return sum.counted <= 0 && sum.tokens.requests <= 0;
}

std::int64_t sent_of(const Tokens& tokens) {
    return tokens.input + tokens.cache_write;
}

std::string number_text(std::int64_t number) {
    return number > 0 ? tokens_text(number) : std::string();
}

std::int64_t percent_of(std::int64_t used, std::int64_t budget) {
    constexpr double k_most_percent = 9999;
    const auto percent = static_cast<double>(std::max<std::int64_t>(0, used)) * 100 / static_cast<double>(budget);
    return static_cast<std::int64_t>(std::min(percent, k_most_percent));
}

/// Returns "31M of 40M (77 %)".
std::string part_text(const std::string& used_text, std::int64_t used, std::int64_t budget) {
    return used_text + " of " + tokens_text(budget) + " (" + std::to_string(percent_of(used, budget)) + " %)";
}

/// Returns "Mon 09:00" of the reader's time zone; the day within the next week, or else the date.
std::string reset_text(Timestamp time, Timestamp now) {
    static constexpr const char* k_days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    const auto seconds = std::chrono::system_clock::to_time_t(time);
    std::tm parts{};
    char text[32];
    if (::localtime_r(&seconds, &parts) == nullptr) return {};
    const bool is_near = time - now < std::chrono::hours(6 * 24);
    const std::string clock(text, std::strftime(text, sizeof text, is_near ? "%H:%M" : "%Y-%m-%d %H:%M", &parts));
    return is_near ? std::string(k_days[parts.tm_wday % 7]) + " " + clock : clock;
}

std::string with_reset(const std::string& text, const rpc::UsageShow::Window& window, Timestamp now) {
    const auto reset = window.window.resets ? reset_text(*window.window.resets, now) : std::string();
    return reset.empty() ? text : text + ", resets " + reset;
}

std::string weekday_of(const std::string& day) {
    std::tm parts{};
    if (std::sscanf(day.c_str(), "%d-%d-%d", &parts.tm_year, &parts.tm_mon, &parts.tm_mday) != 3) return {};
    static constexpr const char* k_days[] = {"Sun ", "Mon ", "Tue ", "Wed ", "Thu ", "Fri ", "Sat "};
    parts.tm_year -= 1900;
    parts.tm_mon -= 1;
    parts.tm_hour = 12;
    parts.tm_isdst = -1;
    return std::mktime(&parts) == -1 ? "" : k_days[parts.tm_wday % 7];
}

/// Returns a bar of eighths of a column, or of # where the terminal has no UTF-8. What is more than 0 is never empty.
std::string bar_text(std::int64_t value, std::int64_t most, std::size_t width, bool utf8) {
    static constexpr const char* k_parts[] = {"▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    constexpr std::size_t k_eighths = 8;
    if (value <= 0 || most <= 0) return {};
    const auto share = std::min(1.0, static_cast<double>(value) / static_cast<double>(most));
    const auto eighths = std::max<std::size_t>(1, static_cast<std::size_t>(share * double(width * k_eighths) + 0.5));
    if (!utf8) return std::string(std::max<std::size_t>(1, (eighths + k_eighths / 2) / k_eighths), '#');
    std::string bar;
    for (std::size_t i = 0; i < eighths / k_eighths; ++i) bar += "█";
    return eighths % k_eighths == 0 ? bar : bar + k_parts[eighths % k_eighths - 1];
}

struct UsageColumn {
    const char* title;
    int leaves;  ///< as in Column
    std::string (*text)(const rpc::UsageSum& sum, const rpc::TimeSum& times);
};
constexpr UsageColumn k_usage_columns[] = {
    {"TOKENS", 0, [](const rpc::UsageSum& sum, const rpc::TimeSum&) { return sum_text(sum); }},
    {"IN", 7, [](const rpc::UsageSum& sum, const rpc::TimeSum&) { return number_text(sent_of(sum.tokens)); }},
    {"OUT", 8, [](const rpc::UsageSum& sum, const rpc::TimeSum&) { return number_text(sum.tokens.output); }},
    {"CACHED", 10, [](const rpc::UsageSum& sum, const rpc::TimeSum&) { return number_text(sum.tokens.cache_read); }},
    {"REQUESTS", 9, [](const rpc::UsageSum& sum, const rpc::TimeSum&) { return number_text(sum.tokens.requests); }},
    {"COST", 6, [](const rpc::UsageSum& sum, const rpc::TimeSum&) { return money_text(sum.money); }},
    {"WORKED", 3, [](const rpc::UsageSum&, const rpc::TimeSum& times) { return time_text(times.worker); }},
    {"REVIEWED", 4, [](const rpc::UsageSum&, const rpc::TimeSum& times) { return time_text(times.reviewer); }},
    {"QUEUED", 5, [](const rpc::UsageSum&, const rpc::TimeSum& times) { return time_text(times.place); }},
    {"FOR YOU", 2, [](const rpc::UsageSum&, const rpc::TimeSum& times) { return time_text(times.you); }},
};

std::string right(const std::string& text, std::size_t width) {
    const auto used = columns(text);
    return std::string(width > used ? width - used : 0, ' ') + text;
}

/// Returns how the group is shown: a day with its weekday, a task by its short id.
std::string group_name(const std::string& by, const rpc::UsageShow::Group& group) {
    if (by == "day") return weekday_of(group.name) + group.name;
    if (by == "task" && !group.short_id.empty()) return group.short_id;
    return group.name.empty() ? "not told" : group.name;
}

/// Makes the table: a row for each group and for the total. Columns without any text are not there, and a narrow
/// terminal shows fewer.
class UsageTable {
  public:
    UsageTable(const Usage& reply, const Style& style)
        : reply_(reply), style_(style), is_tasks_(reply.by == "task"), is_days_(reply.by == "day") {}

    std::string text() {
        auto title = reply_.by;
        std::ranges::transform(title, title.begin(), [](char c) { return c >= 'a' && c <= 'z' ? char(c - 32) : c; });
        columns_.push_back({title, is_tasks_ || is_days_ ? 0U : 10U});
        std::vector<Cell> names;
        for (const auto& group : reply_.groups) names.push_back({group_name(reply_.by, group), k_blue});
        names.push_back({"total", k_bold});
        cells_.push_back(std::move(names));
        for (const auto& column : k_usage_columns) {
            add(column);
            if (is_days_ && cells_.size() == 2) add_bars();
        }
        if (is_tasks_) add_summaries();
        Table table(columns_);
        for (std::size_t row = 0; row <= reply_.groups.size(); ++row) {
            std::vector<Cell> cells;
            for (const auto& column : cells_) cells.push_back(column[row]);
            table.row(std::move(cells));
        }
        return table.render(style_);
    }

  private:
    void add(const UsageColumn& column) {
        std::vector<std::string> texts;
        for (const auto& group : reply_.groups) texts.push_back(column.text(group.sum, group.times));
        texts.push_back(column.text(reply_.total, reply_.times));
        if (std::ranges::all_of(texts, [](const std::string& text) { return text.empty(); })) return;
        auto width = columns(column.title);
        for (const auto& text : texts) width = std::max(width, columns(text));
        columns_.push_back({right(column.title, width), 0, column.leaves});
        std::vector<Cell> cells;
        for (const auto& text : texts) cells.push_back({text.empty() ? text : right(text, width)});
        cells.back().look = k_bold;
        cells_.push_back(std::move(cells));
    }
    void add_bars() {
        constexpr std::size_t k_width = 20;
        std::int64_t most = 0;
        for (const auto& group : reply_.groups) most = std::max(most, group.sum.counted);
        std::vector<Cell> bars;
        for (const auto& group : reply_.groups) {
            bars.push_back({bar_text(group.sum.counted, most, k_width, style_.utf8), k_green});
        }
        bars.emplace_back();
        columns_.push_back({"", 0, 1});
        cells_.push_back(std::move(bars));
    }
    void add_summaries() {
        std::vector<Cell> cells;
        for (const auto& group : reply_.groups) cells.push_back({group.summary});
        cells.emplace_back();
        columns_.push_back({"SUMMARY", 16});
        cells_.push_back(std::move(cells));
    }

    const Usage& reply_;
    const Style& style_;
    bool is_tasks_, is_days_;
    std::vector<Column> columns_;
    std::vector<std::vector<Cell>> cells_;  ///< by column, then by row
};

std::string runs_text(std::int64_t number) {
    return counted(static_cast<std::size_t>(std::max<std::int64_t>(1, number)), "run");
}

/// Says what the signs of the table mean, and where to look.
std::string footnotes(const Usage& reply, const Style& style) {
    std::string out;
    const auto add = [&](const std::string& text) { out += wrapped(text, "", style.width); };
    const bool has_unknown =
        std::ranges::any_of(reply.groups,
                            [](const auto& group) { return is_unknown(group.sum) && group.sum.doubtful <= 0; }) ||
        (is_unknown(reply.total) && reply.total.doubtful <= 0);
    std::string doubted = "TASK";
    for (const auto& group : reply.groups) {
        if (reply.by == "task" && group.sum.doubtful > 0) {
            doubted = printable(group_name(reply.by, group));
            break;
        }
    }
    if (has_unknown) add("–: nothing is known, because the program tells no tokens, or has told none yet.");
    if (reply.total.untold > 0) {
        add("≥: at least this. " + runs_text(reply.total.untold) + " told nothing.");
    }
    if (reply.total.doubtful > 0) {
        add("?: " + runs_text(reply.total.doubtful) + " told more than is possible, which is in no sum. To see it:");
        out += "  orange harness explain " + doubted + "\n";
    }
    if (reply.unreadable > 0) {
        add(counted(static_cast<std::size_t>(reply.unreadable), "task") +
            " cannot be read, and no sum has what they used. To see why:");
        out += "  orange doctor\n";
    }
    return out.empty() ? out : "\n" + out;
}

/// Returns the lines about windows and about budgets of the day.
std::string limits_text(const Usage& reply, Timestamp now, const Style& style) {
    std::string out;
    for (const auto& window : reply.windows) {
        if (!is_current(window, now)) continue;
        const auto text =
            printable(window.harness) + ": " + std::to_string(window.window.percent) + " % of its window used";
        out += wrapped(with_reset(text, window, now), "", style.width);
    }
    for (const auto& day : reply.days) {
        if (day.budget <= 0) continue;
        out += wrapped(printable(day.project) + ": " + tokens_text(day.used) + " of " + tokens_text(day.budget) +
                           " tokens today (" + std::to_string(percent_of(day.used, day.budget)) + " %)",
                       "", style.width);
    }
    return out.empty() ? out : "\n" + out;
}

}  // namespace

std::string money_text(std::int64_t millionths) {
    constexpr std::int64_t k_cent = 10'000;
    if (millionths <= 0) return {};
    if (millionths < k_cent) return "<$0.01";
    const auto cents = (millionths + k_cent / 2) / k_cent;
    const auto rest = std::to_string(cents % 100);
    return "$" + std::to_string(cents / 100) + (rest.size() < 2 ? ".0" : ".") + rest;
}

std::string sum_text(const rpc::UsageSum& sum) {
    const std::string doubt = sum.doubtful > 0 ? "?" : "";
    if (is_unknown(sum)) return doubt.empty() ? "–" : doubt;
    return (sum.untold > 0 ? "≥" : "") + tokens_text(sum.counted) + doubt;
}

bool has_run(const rpc::UsageSum& sum) {
    return !is_unknown(sum) || sum.untold > 0 || sum.doubtful > 0;
}

std::string time_text(std::int64_t seconds) {
    constexpr std::int64_t k_whole_hours = 10 * k_hour_seconds, k_days_from = 100 * k_hour_seconds;
    if (seconds <= 0) return {};
    if (seconds < k_minute_seconds) return std::to_string(seconds) + "s";
    if (seconds < k_hour_seconds) return std::to_string(seconds / k_minute_seconds) + "m";
    if (seconds >= k_days_from) return std::to_string(seconds / k_day_seconds) + "d";
    const auto hours = std::to_string(seconds / k_hour_seconds) + "h";
    if (seconds >= k_whole_hours) return hours;
    const auto minutes = std::to_string(seconds % k_hour_seconds / k_minute_seconds);
    return hours + (minutes.size() < 2 ? "0" : "") + minutes + "m";
}

std::string task_tokens_text(const rpc::TaskView& task) {
    if (!task.usage) return {};
    const auto& usage = *task.usage;
    auto sum = usage.sum;
    if (usage.is_doubtful) sum.doubtful = std::max<std::int64_t>(1, sum.doubtful);
    const auto& tokens = sum.tokens;
    const bool is_family = usage.family > 0 && !task.fields.budget.empty();  // its own budget is its family's, too
    if (!has_run(sum) && usage.budget <= 0 && usage.family <= 0) return {};
    auto text = sum_text(sum);
    if (usage.budget > 0 && !is_family) {
        text = is_unknown(sum) ? text + " of " + tokens_text(usage.budget) : part_text(text, sum.counted, usage.budget);
    }
    const auto add = [&](const std::string& number, const char* what) {
        if (!number.empty()) text += ", " + number + what;
    };
    add(number_text(sent_of(tokens)), " in");
    add(number_text(tokens.output), " out");
    add(number_text(tokens.cache_read), " from caches");
    if (tokens.requests > 0) text += ", " + counted(static_cast<std::size_t>(tokens.requests), "request");
    add(money_text(sum.money), "");
    if (usage.family > 0) {
        const auto all = tokens_text(usage.family);
        text += "; with its sub-tasks " +
                (is_family && usage.budget > 0 ? part_text(all, usage.family, usage.budget) : all);
    }
    if (sum.untold > 0) text += "; " + runs_text(sum.untold) + " told nothing";
    if (sum.doubtful > 0) {
        text += "; an agent told more than is possible: orange harness explain " +
                printable(task.short_id.empty() ? task.fields.id.value : task.short_id);
    }
    return text;
}

std::string task_times_text(const rpc::TaskView& task) {
    if (!task.usage) return {};
    const auto& times = task.usage->times;
    std::vector<std::string> texts;
    const auto add = [&](const std::string& before, std::int64_t seconds, const std::string& behind) {
        if (seconds >= k_minute_seconds) texts.push_back(before + time_text(seconds) + behind);
    };
    add("worked on ", times.worker, "");
    add("reviewed ", times.reviewer, "");
    add("waited ", times.place, " for a place");
    add(times.place >= k_minute_seconds ? "" : "waited ", times.you, " for you");
    return join(texts, ", ");
}

bool is_current(const rpc::UsageShow::Window& window, Timestamp now) {
    const bool is_possible = window.window.percent >= 0 && window.window.percent <= 100;
    return is_possible && (!window.window.resets || *window.window.resets > now);
}

std::string window_text(const rpc::UsageShow::Window& window, Timestamp now) {
    return with_reset(printable(window.harness) + " " + std::to_string(window.window.percent) + " %", window, now);
}

std::string usage_page(const Usage& reply, Timestamp now, const Style& style) {
    std::string out = reply.groups.empty() ? "Nothing was used.\n" : UsageTable(reply, style).text();
    return out + limits_text(reply, now, style) + (reply.groups.empty() ? "" : footnotes(reply, style));
}

std::string TokenSteps::next(const Json& event) {
    const auto type = text_of(event, "type");
    if (type == "task.created") before_ = 0;
    if (type == "agent.usage" || type == "agent.exited" || !event.is_object()) return {};
    const auto found = event.find("tokens");
    if (found == event.end() || !found->is_number_integer()) return {};
    const auto now = found->get<std::int64_t>();
    const auto before = std::exchange(before_, now);
    return before && now > *before ? "+" + tokens_text(now - *before) + " tokens" : std::string();
}

}  // namespace orange::output

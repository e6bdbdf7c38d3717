#include "daemon/store/history_chain.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "common/base/sha256.hpp"
#include "common/base/try.hpp"
#include "common/model/json.hpp"
#include "daemon/async/async.hpp"
#include "daemon/store/task_store.hpp"

namespace orange::store {
namespace {

constexpr std::size_t k_most_points = 100, k_lines_in_turn = 128;

std::uint64_t short_hash(std::string_view hash) {
    return std::hash<std::string_view>{}(hash);
}

template <class Value>
const Value* field(const HistoryEvent& event, const char* name) {
    const auto found = event.fields.find(name);
    return found == event.fields.end() ? nullptr : std::get_if<Value>(&found->second);
}

/// Returns "Line 5" or "Lines 5 to 7".
std::string lines_text(std::int64_t line, std::int64_t last) {
    if (line == last) return "Line " + std::to_string(line);
    return "Lines " + std::to_string(line) + " to " + std::to_string(last);
}

}  // namespace

std::string chain_start(const TaskId& id) {
    return sha256(id.value);
}

std::string chained_line(const HistoryEvent& event, const std::string& prev) {
    auto json = to_json(event);
    json[k_prev] = prev;
    return dump(json);
}

ChainCheck::ChainCheck(TaskId id, const std::string& head) : id_(std::move(id)), has_end_(!head.empty()) {
    if (!has_end_) return;
    links_.push_back({0, 0, true});
    expect(head);
}

/// Notes the `prev` of the link that was added last.
void ChainCheck::expect(std::string_view prev) {
    wanted_ = prev;
    newer_ = links_.size() - 1;
    links_.back().prev = short_hash(prev);
    links_.back().is_chained = true;
}

/// Compares the hash of an event with the `prev` of the event after it.
void ChainCheck::join(std::string_view hash) {
    if (newer_) links_[*newer_].is_linked = wanted_ == hash;
    newer_.reset();
}

void ChainCheck::add(std::string_view line) {
    const auto json = parse_json(line);
    const auto event = json ? event_from_json(*json) : Result<HistoryEvent>(json.error());
    links_.emplace_back();
    auto& link = links_.back();
    link.is_event = event.has_value();
    if (!event) {
        link.is_known = repaired_ == static_cast<std::int64_t>(line.size());
        return;
    }
    const auto hash = sha256(line);
    if (report_.head.empty()) report_.head = "sha256:" + hash;
    link.own = short_hash(hash);
    join(hash);
    if (const auto* prev = field<std::string>(*event, k_prev)) expect(*prev);
    const auto* bytes = field<std::int64_t>(*event, "bytes");
    repaired_ = event->type == "history.repaired" && bytes != nullptr ? *bytes : -1;
}

ChainReport ChainCheck::finish() {
    join(chain_start(id_));
    std::reverse(links_.begin(), links_.end());
    report_.lines = static_cast<std::int64_t>(links_.size()) - (has_end_ ? 1 : 0);
    find_places();
    find_breaks();
    tell_unchained();
    if (report_.lines == 0) {
        report_.points.clear();
        tell("empty", 0, 0, "The history has no lines.");
    } else if (report_.points.empty() && report_.from == 0) {
        tell("none", 0, 0, "No line has prev: an older Orange wrote the history, or prev was taken out.");
    }
    std::ranges::stable_sort(report_.points, {}, &ChainPoint::line);
    report_.holds = report_.points.empty();
    return std::move(report_);
}

void ChainCheck::tell(std::string kind, std::int64_t line, std::int64_t last, std::string text) {
    if (report_.points.size() == k_most_points) {
        ++report_.more;
        return;
    }
    for (auto each = std::max<std::int64_t>(line, 1); each <= last; ++each) at(each).is_known = true;
    report_.points.push_back({std::move(kind), line, last, std::move(text)});
}

/// Finds the lines that the breaks name.
void ChainCheck::find_places() {
    for (std::size_t place = 0; place < links_.size(); ++place) {
        const auto& link = links_[place];
        if (link.is_break()) places_[link.prev].follower = static_cast<std::int64_t>(place + 1);
    }
    for (std::int64_t line = 0; line <= report_.lines && !places_.empty(); ++line) {
        const auto found = places_.find(own_of(line));
        if (found != places_.end() && found->second.line < 0) found->second.line = line;
    }
}

std::uint64_t ChainCheck::own_of(std::int64_t line) {
    return line == 0 ? short_hash(chain_start(id_)) : at(line).own;
}

void ChainCheck::find_breaks() {
    const auto count = static_cast<std::int64_t>(links_.size());
    for (std::int64_t line = 1, before = 0; line <= count; ++line) {
        const auto& link = at(line);
        if (!link.is_event) continue;
        if (link.is_chained && begin_ == 0) begin_ = line;
        if (link.is_break()) tell_break(line, before);
        const bool is_end = line > report_.lines;
        if (!link.is_chained || (is_end && link.is_break())) {
            report_.from = 0;
        } else if (!is_end && (link.is_break() || report_.from == 0)) {
            report_.from = line;
        }
        before = line;
    }
}

/// Says as exactly as it can be known why the event `before` is not the one that stood before `line`.
void ChainCheck::tell_break(std::int64_t line, std::int64_t before) {
    const auto named = places_.find(own_of(before));
    // A later event was written after `before`, and says that the lines between were put in.
    if (named != places_.end() && named->second.follower > line) return;
    const auto place = places_.at(at(line).prev).line;
    const auto number = std::to_string(line);
    if (place > line) {
        tell("moved", line, line,
             "Line " + number + " was moved: it was written after line " + std::to_string(place) + ".");
    } else if (place >= 0 && place < before) {
        const auto lines = lines_text(place + 1, line - 1) + (place + 2 == line ? " was" : " were");
        tell("inserted", place + 1, line - 1, lines + " put in or moved there.");
    } else if (before == 0) {
        tell("beginning", line, line,
             "Lines before line " + number + " were removed, or the history is that of another task.");
    } else {
        const auto where = line > report_.lines ? "after it" : "between it and line " + number;
        tell("changed", line - 1, line - 1,
             lines_text(line - 1, line - 1) + " was changed, or lines " + where + " were removed.");
    }
}

/// Adds the lines that have no `prev`, or cannot be read, after the first one that has it.
void ChainCheck::tell_unchained() {
    const auto is_silent = [&](std::int64_t line) {
        return line <= report_.lines && !at(line).is_known && !at(line).is_chained;
    };
    for (auto line = begin_; line > 0 && line <= report_.lines; ++line) {
        if (!is_silent(line)) continue;
        auto last = line;
        while (is_silent(last + 1) && at(last + 1).is_event == at(line).is_event) ++last;
        const auto lines = lines_text(line, last);
        if (at(line).is_event) {
            tell("unchained", line, last,
                 lines + (line == last ? " has" : " have") + " no prev: an older Orange wrote " +
                     (line == last ? "it" : "them") + ", or prev was taken out.");
        } else {
            tell("unreadable", line, last,
                 lines + " cannot be read: " + (line == last ? "it was" : "they were") + " changed or put in.");
        }
    }
}

Awaitable<Result<ChainReport>> verify_history(const TaskStore& tasks, TaskId id) {
    if (!tasks.brief(id)) co_return Error(ErrorCode::not_found, "there is no task \"" + id.value + "\"");
    ChainCheck check(id, tasks.chain_head(id));
    auto reader = tasks.read_history(id);
    bool is_cut_off = false;
    for (std::size_t lines = 1;; ++lines) {
        CO_TRY(const auto line, reader.next_line());
        if (!line) break;
        const bool may_be_cut = lines == 1 && reader.is_torn() && !event_from_line(*line);
        if (may_be_cut) {
            is_cut_off = true;
        } else {
            check.add(*line);
        }
        if (lines % k_lines_in_turn == 0) co_await async::yield();
    }
    auto report = check.finish();
    report.is_cut_off = is_cut_off;
    co_return report;
}

}  // namespace orange::store

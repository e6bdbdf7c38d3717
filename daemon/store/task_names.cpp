// How people name a task.
#include <algorithm>

#include "common/base/slug.hpp"
#include "common/base/suggest.hpp"
#include "common/base/text.hpp"
#include "daemon/store/task_store.hpp"

namespace orange::store {
namespace {

constexpr std::size_t k_shortest_name = 2, k_shortest_id = 4, k_most_candidates = 5, k_summary_columns = 60;

std::size_t common_prefix(std::string_view a, std::string_view b) {
    return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

std::string TaskStore::short_id(const TaskId& id) const {
    const auto own = ids_.find({to_lower(id.value), id});
    if (own == ids_.end()) return id.value;
    std::size_t length = k_shortest_id;
    if (own != ids_.begin()) length = std::max(length, common_prefix(own->first, std::prev(own)->first) + 1);
    const auto next = std::next(own);
    if (next != ids_.end()) length = std::max(length, common_prefix(own->first, next->first) + 1);
    return id.value.substr(0, length);
}

/// By the beginning of an id, or by the whole name of a branch. A branch of an open task hides those of ended ones.
std::vector<TaskId> TaskStore::named(std::string_view text) const {
    const auto prefix = to_lower(text);
    std::vector<TaskId> found, same_case;
    for (auto entry = ids_.lower_bound({prefix, TaskId{}}); entry != ids_.end(); ++entry) {
        if (!entry->first.starts_with(prefix)) break;
        found.push_back(entry->second);
        if (entry->second.value.starts_with(text)) same_case.push_back(entry->second);
    }
    if (same_case.size() == 1) found = same_case;
    if (is_task_id(text)) return found;
    std::vector<TaskId> on_branch;
    const auto take = [&](const TaskRecord& record) {
        if (record.task.branch == text) on_branch.push_back(record.task.id);
        return true;
    };
    each_open(take);
    if (on_branch.empty()) each(take);
    for (const auto& id : on_branch) {
        if (std::ranges::find(found, id) == found.end()) found.push_back(id);
    }
    return found;
}

/// By words of the summary, the last one perhaps not to its end. Open tasks hide ended ones.
std::vector<TaskId> TaskStore::summarized(std::string_view text) const {
    std::vector<TaskId> found;
    const auto words = slug_of(text);
    if (words.size() < k_shortest_name) return found;
    const auto take = [&](const TaskRecord& record) {
        const auto slug = "-" + slug_of(record.task.summary);
        if (slug.find("-" + words) != std::string::npos) found.push_back(record.task.id);
        return true;
    };
    each_open(take);
    if (found.empty()) each(take);
    return found;
}

std::string TaskStore::candidates(const std::vector<TaskId>& ids) const {
    std::string lines;
    for (std::size_t i = 0; i < std::min(ids.size(), k_most_candidates); ++i) {
        const auto& task = records_.at(ids[i]).task;
        const auto what = task.summary.empty() ? task.branch : task.summary;
        lines += "\n  " + short_id(ids[i]) + "  " + task.status + "  " +
                 ellipsized(first_line(printable(what)), k_summary_columns);
    }
    if (ids.size() > k_most_candidates) lines += "\n  and " + std::to_string(ids.size() - k_most_candidates) + " more";
    return lines;
}

Error TaskStore::unknown(std::string_view text) const {
    Error error(ErrorCode::not_found, "there is no task \"" + std::string(text) + "\"");
    if (is_task_id(text)) return error;
    std::vector<std::string> names;
    std::vector<TaskId> ids;
    const auto compare = [&](const TaskId& id, std::string_view name) {
        names.emplace_back(name);
        ids.push_back(id);
    };
    std::vector<TaskId> close;
    each_open([&](const TaskRecord& record) {
        const auto& task = record.task;
        const bool may_be_id = text.size() >= k_shortest_id && text.size() <= task.id.value.size();
        const bool is_typo = may_be_id && edit_distance(text, task.id.value.substr(0, text.size())) == 1;
        if (is_typo) close.push_back(task.id);
        compare(task.id, task.branch);
        compare(task.id, slug_of(task.summary));
        return true;
    });
    if (const auto meant = nearest(text, names)) {
        const auto& id = ids[static_cast<std::size_t>(std::ranges::find(names, *meant) - names.begin())];
        if (std::ranges::find(close, id) == close.end()) close.push_back(id);
    }
    if (!close.empty()) error.message += "; did you mean:" + candidates(close);
    return error;
}

Result<TaskId> TaskStore::resolve(std::string_view text, Naming by) const {
    if (find(TaskId{std::string(text)})) return TaskId{std::string(text)};
    if (text.size() < k_shortest_name) {
        return {ErrorCode::invalid_argument,
                "\"" + std::string(text) + "\" is too short: give at least two characters of the task's id"};
    }
    auto matches = named(text);
    if (matches.size() == 1) return matches.front();
    if (matches.empty() && !is_task_id(text)) {
        matches = summarized(text);
        if (matches.size() == 1 && by == Naming::anything) return matches.front();
        if (!matches.empty() && by == Naming::id_or_branch) {
            return {
                ErrorCode::not_found,
                "no task has the id or the branch \"" + std::string(text) +
                    "\", and this call takes no words of a summary; name the task by its id:" + candidates(matches)};
        }
    }
    if (matches.empty()) return unknown(text);
    return {ErrorCode::invalid_argument,
            "\"" + std::string(text) + "\" names several tasks; give more of the id:" + candidates(matches)};
}

std::string TaskStore::short_ids_in(std::string_view text) const {
    std::string pairs;
    const auto is_part = [](char c) { return is_task_id(std::string(k_task_id_length, c)); };
    for (auto at = text.begin(); at != text.end();) {
        const auto begin = std::find_if(at, text.end(), is_part);
        at = std::find_if_not(begin, text.end(), is_part);
        const TaskId id{std::string(begin, at)};
        if (!find(id) || pairs.find(id.value) != std::string::npos) continue;
        pairs += (pairs.empty() ? "" : " ") + id.value + "=" + short_id(id);
    }
    return pairs;
}

}  // namespace orange::store

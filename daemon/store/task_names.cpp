// Finds the task that a person names.
#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/branch_name.hpp"
#include "common/base/slug.hpp"
#include "common/base/suggest.hpp"
#include "common/base/text.hpp"
#include "daemon/store/task_store.hpp"

namespace orange::store {
namespace {

constexpr std::size_t k_shortest_name = 2, k_shortest_id = 4, k_most_candidates = 5, k_summary_columns = 60;
/// The number of tasks, newest first, that are compared with a misspelled name.
constexpr std::size_t k_most_compared = 1000;

char in_lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Returns how many characters at the beginning are the same in any case.
std::size_t common_beginning(std::string_view a, std::string_view b) {
    return static_cast<std::size_t>(std::ranges::mismatch(a, b, {}, in_lower, in_lower).in1 - a.begin());
}

/// Adds runs of consecutive words of a slug that have as many words as `text`.
void add_words(std::vector<std::string>& names, const std::string& slug, std::string_view text) {
    const auto words = split(slug, '-');
    const auto count = static_cast<std::size_t>(std::ranges::count(text, '-')) + 1;
    for (std::size_t i = 0; i + count <= words.size(); ++i) {
        std::string run;
        for (std::size_t k = i; k < i + count; ++k) run += (run.empty() ? "" : "-") + std::string(words[k]);
        names.push_back(std::move(run));
    }
}

/// Returns the number of typing mistakes in `text` if it was meant to name the task by its id, its branch or words of
/// its summary. Nothing if there are too many.
std::optional<std::size_t> mistakes_in(std::string_view text, const Brief& task) {
    const bool may_be_id = text.size() >= k_shortest_id && text.size() <= k_task_id_length + 1;
    for (const auto length : {text.size() - 1, text.size(), text.size() + 1}) {
        if (may_be_id && edit_distance(text, task.id.value.substr(0, length)) == 1) return 1;
    }
    const auto slug = slug_of(task.summary);
    std::vector<std::string> names = {task.branch, slug};
    add_words(names, slug, text);
    const auto meant = nearest(text, names);
    if (!meant) return std::nullopt;
    return edit_distance(text, *meant);
}

}  // namespace

bool TaskStore::ByName::comes_before(const Name& a, const Name& b) {
    const auto order = std::lexicographical_compare_three_way(
        a.beginning.begin(), a.beginning.end(), b.beginning.begin(), b.beginning.end(),
        [](char x, char y) { return in_lower(x) <=> in_lower(y); });
    return order == 0 ? a.whole < b.whole : order < 0;
}

std::string TaskStore::short_id(const TaskId& id) const {
    const Name own{id.value, id.value};
    const auto at = ids_.lower_bound(own);
    std::size_t length = k_shortest_id;
    const auto differs_from = [&](const Entry* other) {
        length = std::max(length, common_beginning(id.value, other->brief.id.value) + 1);
    };
    if (at != ids_.begin()) differs_from(*std::prev(at));
    const auto next = at != ids_.end() && (*at)->brief.id == id ? std::next(at) : at;
    if (next != ids_.end()) differs_from(*next);
    return id.value.substr(0, length);
}

/// Finds tasks by the beginning of an id, or by the full name of a branch. A branch of an open task hides those of
/// ended ones.
std::vector<TaskId> TaskStore::named(std::string_view text) const {
    std::vector<TaskId> found, same_case;
    for (auto entry = ids_.lower_bound(Name{text, {}}); entry != ids_.end(); ++entry) {
        const auto& id = (*entry)->brief.id;
        if (common_beginning(id.value, text) < text.size()) break;
        found.push_back(id);
        if (id.value.starts_with(text)) same_case.push_back(id);
    }
    if (same_case.size() == 1) found = same_case;
    if (is_task_id(text)) return found;
    std::vector<TaskId> on_branch;
    const auto branch = branch_name(std::string(text));
    // Lists cut long names like this.
    constexpr std::string_view k_cut = "…";
    const bool is_cut = branch.ends_with(k_cut) && branch.size() > k_cut.size();
    const auto beginning = std::string_view(branch).substr(0, branch.size() - (is_cut ? k_cut.size() : 0));
    const auto take = [&](const Brief& task) {
        const bool is_it = is_cut ? task.branch.starts_with(beginning) : task.branch == branch;
        if (is_it) on_branch.push_back(task.id);
        return true;
    };
    each_open_brief(take);
    if (on_branch.empty()) each(take);
    for (const auto& id : on_branch) {
        if (std::ranges::find(found, id) == found.end()) found.push_back(id);
    }
    return found;
}

/// Finds tasks by words of the summary; the last word may be incomplete. Open tasks hide ended ones.
std::vector<TaskId> TaskStore::summarized(std::string_view text) const {
    std::vector<TaskId> found;
    const auto words = slug_of(text);
    if (words.size() < k_shortest_name) return found;
    const auto take = [&](const Brief& task) {
        const auto slug = "-" + slug_of(task.summary);
        if (slug.find("-" + words) != std::string::npos) found.push_back(task.id);
        return true;
    };
    each_open_brief(take);
    if (found.empty()) each(take);
    return found;
}

std::string TaskStore::candidates(const std::vector<TaskId>& ids) const {
    std::string lines;
    for (std::size_t i = 0; i < std::min(ids.size(), k_most_candidates); ++i) {
        const auto& task = *brief(ids[i]);
        const auto what = task.summary.empty() ? task.branch : task.summary;
        lines += "\n    " + short_id(ids[i]) + "  " + task.status.text() + "  " +
                 ellipsized(first_line(printable(what)), k_summary_columns);
    }
    if (ids.size() > k_most_candidates)
        lines += "\n    and " + std::to_string(ids.size() - k_most_candidates) + " more";
    return lines;
}

Error TaskStore::unknown(std::string_view text) const {
    const auto broken = std::ranges::find_if(
        unreadable_, [&](const Unreadable& task) { return std::string_view(task.id).starts_with(text); });
    if (broken != unreadable_.end()) {
        return {ErrorCode::conflict, "task " + broken->id + " cannot be read (" + broken->why +
                                         "), so that Orange does not know what belongs to it, and changes nothing of "
                                         "it. Repair the file, or move the folder " +
                                         (root_ / broken->project / broken->id).string() +
                                         " away. Then:\n  orange daemon restart"};
    }
    Error error(ErrorCode::not_found, "there is no task \"" + std::string(text) + "\"");
    if (is_task_id(text) || text.size() > k_longest_word) return error;
    std::vector<TaskId> close;
    std::size_t fewest = std::string::npos, seen = 0;
    const auto compare = [&](const Brief& task) {
        const auto mistakes = mistakes_in(text, task);
        if (mistakes && *mistakes < fewest) close.clear();
        if (mistakes && *mistakes <= fewest) {
            fewest = *mistakes;
            close.push_back(task.id);
        }
        return ++seen < k_most_compared;
    };
    each_open_brief(compare);
    if (close.empty()) each(compare);
    if (!close.empty()) error.message += "; did you mean:" + candidates(close);
    return error;
}

Result<TaskId> TaskStore::resolve(std::string_view text, Naming by) const {
    if (brief(TaskId{std::string(text)})) return TaskId{std::string(text)};
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
            return {ErrorCode::not_found,
                    "no task has the id or the branch \"" + std::string(text) +
                        "\", and this command does not accept words of a summary. Name the task by its id:" +
                        candidates(matches)};
        }
    }
    if (matches.empty()) return unknown(text);
    return {ErrorCode::invalid_argument,
            "\"" + std::string(text) + "\" names several tasks; give more of the id:" + candidates(matches)};
}

std::vector<std::pair<TaskId, std::string>> TaskStore::short_ids_in(std::string_view text) const {
    std::vector<std::pair<TaskId, std::string>> pairs;
    const auto is_part = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    };
    for (auto at = text.begin(); at != text.end();) {
        const auto begin = std::find_if(at, text.end(), is_part);
        at = std::find_if_not(begin, text.end(), is_part);
        if (static_cast<std::size_t>(at - begin) != k_task_id_length) continue;
        const TaskId id{std::string(begin, at)};
        const auto is_it = [&](const auto& pair) { return pair.first == id; };
        if (brief(id) && std::ranges::none_of(pairs, is_it)) pairs.emplace_back(id, short_id(id));
    }
    return pairs;
}

std::string TaskStore::with_short_ids(std::string text) const {
    for (const auto& [id, brief] : short_ids_in(text)) text = with_word(std::move(text), id.value, brief);
    return text;
}

Error TaskStore::with_short_ids(Error error) const {
    auto text = error.message;
    if (const auto facts = error.details.find("facts"); facts != error.details.end()) text += "\n" + facts->second;
    std::string pairs;
    for (const auto& [id, brief] : short_ids_in(text)) {
        pairs += (pairs.empty() ? "" : " ") + id.value + "=" + brief;
    }
    if (!pairs.empty()) error.details["short_ids"] = std::move(pairs);
    return error;
}

}  // namespace orange::store

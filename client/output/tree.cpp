#include "client/output/tree.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "client/output/attempts.hpp"
#include "client/output/families.hpp"
#include "common/base/text.hpp"

namespace orange::output {
namespace {

constexpr std::size_t k_least_summary = 10, k_widest_indent = 40;

class Drawing {
  public:
    Drawing(const std::vector<TreeTask>& tasks, const Style& style) : tasks_(tasks), style_(style) {
        for (std::size_t i = 0; i < tasks.size(); ++i) places_[tasks[i].id] = i;
        children_.resize(tasks.size());
        for (std::size_t i = 0; i < tasks.size(); ++i) {
            for (const auto& above : tasks_above(tasks[i])) {
                if (const auto at = places_.find(above); at != places_.end()) children_[at->second].push_back(i);
            }
        }
    }

    std::string whole() {
        std::vector<bool> has_blocker(tasks_.size(), false);
        for (const auto& below : children_) {
            for (const auto child : below) has_blocker[child] = true;
        }
        for (std::size_t i = 0; i < tasks_.size(); ++i) {
            if (!has_blocker[i]) draw(i);
        }
        for (std::size_t i = 0; i < tasks_.size(); ++i) {
            if (!drawn_.contains(i)) draw(i);  // a cycle, which Orange does not create
        }
        return std::move(out_);
    }

  private:
    /// The tasks still to be drawn, the next one last. The list is a stack, because a deep chain must not recurse.
    struct Visit {
        std::size_t task;
        std::string before;  ///< the text before its line
        std::string below;   ///< the text before the lines below it
    };

    /// Returns the tasks above this one. Its parent comes first, unless a sibling that it waits for is below the
    /// parent.
    std::vector<std::string> tasks_above(const TreeTask& task) const {
        auto above = task.blocked_by;
        const bool below_sibling = std::ranges::any_of(task.blocked_by, [&](const std::string& blocker) {
            const auto at = places_.find(blocker);
            return at != places_.end() && tasks_[at->second].parent == task.parent;
        });
        if (!task.parent.empty() && !below_sibling) above.insert(above.begin(), task.parent);
        return above;
    }

    void draw(std::size_t root) {
        std::vector<Visit> steps = {{root, "", ""}};
        while (!steps.empty()) {
            const auto step = steps.back();
            steps.pop_back();
            const bool again = !drawn_.insert(step.task).second;
            line(tasks_[step.task], step.before, again);
            if (again) continue;
            const auto& below = children_[step.task];
            for (std::size_t n = below.size(); n > 0; --n) {
                const bool last = n == below.size();
                steps.push_back(
                    {below[n - 1], step.below + (last ? "`-- " : "|-- "), step.below + (last ? "    " : "|   ")});
            }
        }
    }

    void line(const TreeTask& task, const std::string& before, bool again) {
        // Omit the beginning of the indent of a very deep chain.
        const auto widest = style_.row > k_widest_indent ? style_.row - k_widest_indent : 0;
        const auto indent = before.size() <= widest ? before : "..." + before.substr(before.size() - (widest / 4) * 4);
        auto text = again ? "(above)" : printable(task.status) + (task.children.empty() ? "" : " " + task.children);
        if (!again && !task.summary.empty()) text += "  " + clean(task.summary);
        const auto used = indent.size() + task.short_id.size() + 2;
        const auto room = style_.row > used + k_least_summary ? style_.row - used : k_least_summary;
        out_ += style_.paint(indent, k_dim) + style_.paint(task.short_id, k_blue) + "  " +
                (again ? style_.paint(text, k_dim) : cut(text, room)) + "\n";
    }

    const std::vector<TreeTask>& tasks_;
    const Style& style_;
    std::map<std::string, std::size_t> places_;
    std::vector<std::vector<std::size_t>> children_;
    std::set<std::size_t> drawn_;
    std::string out_;
};

/// Returns the ids that edges connect with `about`, including itself.
std::set<std::string> connected(const std::vector<TreeTask>& tasks, const std::string& about) {
    std::map<std::string, std::vector<std::string>> near;
    const auto connect = [&near](const std::string& one, const std::string& other) {
        near[one].push_back(other);
        near[other].push_back(one);
    };
    for (const auto& task : tasks) {
        for (const auto& blocker : task.blocked_by) connect(task.id, blocker);
        if (!task.parent.empty()) connect(task.id, task.parent);
    }
    std::set<std::string> found = {about};
    std::vector<std::string> open = {about};
    while (!open.empty()) {
        const auto id = open.back();
        open.pop_back();
        for (const auto& next : near[id]) {
            if (found.insert(next).second) open.push_back(next);
        }
    }
    return found;
}

}  // namespace

std::vector<TreeTask> tree_of(const std::vector<rpc::TaskView>& views, const std::string& about) {
    auto sorted = views;
    std::ranges::stable_sort(sorted, {}, [](const auto& view) { return view.fields.created_at; });
    std::vector<TreeTask> all;
    std::set<std::string> known, shown;
    for (const auto& view : sorted) known.insert(view.fields.id.value);
    for (const auto& view : sorted) {
        TreeTask task{view.fields.id.value,     view.short_id,       status_word(view), summary_of(view), {}, {},
                      view.fields.parent.value, children_count(view)};
        if (task.summary.empty()) task.summary = view.fields.branch;
        for (const auto& blocker : view.blockers) {
            task.blocked_by.push_back(blocker.id);
            if (blocker.state != "done") task.waits_for.push_back(blocker.id);
            shown.insert(blocker.id);
            if (!known.insert(blocker.id).second) continue;
            all.push_back({blocker.id,
                           blocker.short_id,
                           blocker.status.empty() ? "deleted" : blocker.status,
                           blocker.summary,
                           {},
                           {}});
        }
        if (known.contains(task.parent)) shown.insert(task.parent);
        all.push_back(std::move(task));
    }
    std::erase_if(all, [&](const auto& task) {
        return task.blocked_by.empty() && !shown.contains(task.id) && !known.contains(task.parent);
    });
    if (about.empty()) return all;
    const auto wanted = connected(all, about);
    std::erase_if(all, [&](const auto& task) { return !wanted.contains(task.id); });
    return all;
}

std::string tree_page(const std::vector<TreeTask>& tasks, const Style& style) {
    if (tasks.empty()) return wrapped("No task waits for another one, and none has sub-tasks.", "", style.width);
    return Drawing(tasks, style).whole();
}

Json tree_json(const std::vector<TreeTask>& tasks) {
    Json all = Json::array();
    for (const auto& task : tasks) {
        all.push_back({{"id", task.id},
                       {"short_id", task.short_id},
                       {"status", task.status},
                       {"summary", task.summary},
                       {"parent", task.parent},
                       {"blocked_by", task.blocked_by},
                       {"waits_for", task.waits_for}});
    }
    return {{"tasks", std::move(all)}};
}

}  // namespace orange::output

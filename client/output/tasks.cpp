#include "client/output/tasks.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "client/output/events.hpp"
#include "client/output/families.hpp"
#include "client/output/local_time.hpp"
#include "client/output/table.hpp"
#include "client/output/watch.hpp"
#include "common/base/text.hpp"
#include "common/model/settings.hpp"

namespace orange::output {
namespace {

struct Marker {
    const char* text;
    Ink ink;
    bool dead = false;
};

/// ● an agent runs, ✗ the one that is needed has died, ? nobody knows, ○ none.
Marker marker_of(const rpc::TaskView& task) {
    const auto any = [&](const char* state) { return task.worker == state || task.reviewer == state; };
    const bool is_missed = !any("alive") || task.needs.asks_for_respawn();
    if (any("dead") && is_missed) return {"✗", Ink::red, true};
    if (any("alive")) return {"●", Ink::green};
    if (any("unknown")) return {"?", Ink::yellow};
    return {"○", Ink::dim};
}

std::string status_of(const rpc::TaskView& task) {
    if (task.unreadable) return "unreadable";
    std::string status = printable(task.fields.status);
    if (const auto count = children_count(task); !count.empty()) status += " " + count;
    if (task.queue_place > 0) status += " #" + std::to_string(task.queue_place);
    if (task.in_progress) status += "…";
    return status;
}

/// "4f2a working, 7b1c done"
std::string related_text(const std::vector<rpc::RelatedTask>& tasks) {
    std::vector<std::string> texts;
    for (const auto& each : tasks) {
        const auto status = each.status.empty() ? std::string("deleted") : printable(each.status);
        texts.push_back(each.short_id + " " + (each.state == "done" ? "done" : status));
    }
    return join(texts, ", ");
}

/// "waits for 4f2a, 7b1c", "waits for a reviewer (2 of 2 run)"
std::string waits_of(const rpc::TaskView& task) {
    if (task.start_wait) return printable(task.start_wait->text);
    std::vector<std::string> names;
    for (const auto& each : task.blockers) {
        if (each.state != "done") names.push_back(each.short_id);
    }
    return names.empty() || task.means != "initial" ? "" : "waits for " + join(names, ", ");
}

/// "● working", "✗ working (dead)".
std::string marked_status_of(const rpc::TaskView& task) {
    const auto marker = marker_of(task);
    return marker.text + (" " + status_of(task)) + (marker.dead ? " (dead)" : "");
}

/// Of a task that cannot be read nobody knows it.
std::string age_of(Timestamp time, Timestamp now) {
    return time == Timestamp{} ? "" : age_text(time, now);
}

std::string ago(const std::string& age) {
    return age.empty() ? age : age == "now" ? "just now" : age + " ago";
}

std::string event_lines(const Json& events, const Style& style) {
    std::string out;
    for (const auto& event : causes_first(events)) {
        const auto time = local_clock(time_of(event));
        const auto room = style.row > time.size() + 4 ? style.row - time.size() - 4 : 20;
        out += "  " + style.paint(time, Ink::dim) + "  " + ellipsized(event_sentence(event), room) + "\n";
    }
    return out;
}

/// Lines "label      value", a long value wrapped below itself; an empty value is left out.
class Fields {
  public:
    explicit Fields(const Style& style) : style_(style) {}

    void add(std::string_view label, const std::string& value, Ink ink = Ink::plain) {
        if (value.empty()) return;
        constexpr std::string_view k_indent = "             ";
        std::string begin = "  " + std::string(label);
        begin.resize(k_indent.size(), ' ');
        bool first = true;
        const auto lines = wrapped(printable(value), k_indent, style_.width);
        for (const auto line : split_lines(lines)) {
            text += first ? style_.paint(begin, Ink::dim) : std::string(k_indent);
            text += style_.paint(line.substr(k_indent.size()), ink) + "\n";
            first = false;
        }
    }
    std::string text;

  private:
    const Style& style_;
};

Ink ink_of(Need need) {
    if (need == Need::help) return Ink::red;
    return need == Need::nothing || need == Need::start ? Ink::dim : Ink::yellow;
}

std::string need_of(const rpc::TaskView& task) {
    return task.needs.kind == Need::nothing ? std::string() : std::string(name_of(task.needs.kind));
}

/// What the agent does that the task's state is about: the reviewer's, while there is one.
const std::optional<AgentActivity>& activity_of(const rpc::TaskView& task) {
    return task.reviewer_activity ? task.reviewer_activity : task.worker_activity;
}

/// "idle 4m"
Cell activity_cell(const rpc::TaskView& task, Timestamp now) {
    const auto& seen = activity_of(task);
    if (!seen || seen->activity == Activity::unknown) return {};
    const auto text = std::string(name_of(seen->activity)) + " " + age_of(seen->since, now);
    switch (seen->activity) {
        case Activity::waiting:
            return {text, Ink::yellow};
        case Activity::limited:
            return {text, Ink::red};
        case Activity::busy:
            return {text, Ink::green};
        default:
            return {text, Ink::dim};
    }
}

/// "alive (busy for 4m)"
std::string process_text(const std::string& process, const std::optional<AgentActivity>& seen, Timestamp now) {
    if (!seen || seen->activity == Activity::unknown) return process;
    const auto age = age_of(seen->since, now);
    const auto length = age.empty() || age == "now" ? std::string() : " for " + age;
    return process + " (" + std::string(name_of(seen->activity)) + length + ")";
}

/// "worker 1.5 GB of 12.0 GB, 3.2 GB at most, 340 s of processor time"
std::string use_text(const rpc::AgentUse& agent) {
    std::string text = agent.role;
    if (agent.use) {
        const auto& use = *agent.use;
        text += " " + size_text(use.memory);
        if (agent.enforced) text += " of " + size_text(agent.limit);
        if (use.memory_peak > 0) text += ", " + size_text(use.memory_peak) + " at most";
        text += ", " + std::to_string(use.cpu_ms / 1000) + " s of processor time";
    }
    if (agent.limit == 0 || agent.enforced) return text;
    return text + (agent.use ? "; " : ": ") + "limits.memory is not enforced here";
}

std::string changes_text(const rpc::ChangeCounts& changes) {
    if (changes.files == 0) return "none yet";
    return counted(static_cast<std::size_t>(changes.commits), "commit") + ", " +
           counted(static_cast<std::size_t>(changes.files), "file") + ", +" + std::to_string(changes.added) + " -" +
           std::to_string(changes.removed) + (changes.uncommitted ? ", some of it uncommitted" : "");
}

/// "passed on 1a2b3c4d5e6f merged with origin/main, 2m ago (12 s)"; of those that run now, and what follows from them.
std::string checks_text(const rpc::TaskView& task, Timestamp now) {
    const auto then = task.asked.empty() ? std::string() : "; then " + task.asked;
    if (!task.checking.empty()) return "the check runs: " + task.checking + then;
    if (!task.checked) return {};
    const auto& ended = *task.checked;
    return (ended.passed ? std::string("passed") : "failed (" + ended.failed + ")") + " on " +
           ended.commit.substr(0, 12) +
           (ended.merged_with.empty() ? "" : " merged with " + printable(ended.merged_with)) + ", " +
           ago(age_of(ended.at, now)) + " (" + std::to_string(ended.seconds) + " s)";
}

/// "+120 -4"
std::string lines_of(const rpc::TaskView& task) {
    const auto& changes = task.committed;
    if (!changes || changes->files == 0) return {};
    return "+" + std::to_string(changes->added) + " -" + std::to_string(changes->removed);
}

/// "#7 open, checks passing, approved"
std::string pull_text(const PullRequest& pull) {
    auto text = "#" + std::to_string(pull.number) + " " + (pull.draft ? "draft" : std::string(name_of(pull.state)));
    if (pull.state != PullState::open) return text;
    if (pull.checks != PullChecks::none) text += ", checks " + std::string(name_of(pull.checks));
    if (pull.review == PullReview::required) text += ", review required";
    if (pull.review == PullReview::approved) text += ", approved";
    if (pull.review == PullReview::changes_requested) text += ", changes requested";
    return text + (pull.conflicts ? ", conflicts" : "");
}

/// For a list: "#7", and what is the matter with it.
Cell pull_cell(const rpc::TaskView& task) {
    if (!task.pull_request) return {};
    const auto& pull = *task.pull_request;
    const auto number = "#" + std::to_string(pull.number);
    if (pull.state != PullState::open) return {number + " " + std::string(name_of(pull.state)), Ink::dim};
    const bool bad =
        pull.checks == PullChecks::failing || pull.review == PullReview::changes_requested || pull.conflicts;
    if (bad) return {number + " ✗", Ink::red};
    if (pull.checks == PullChecks::pending) return {number + " …", Ink::yellow};
    const bool good =
        pull.review == PullReview::approved || (pull.review == PullReview::none && pull.checks == PullChecks::passing);
    return {number + (good ? " ✓" : ""), good ? Ink::green : Ink::plain};
}

std::string agents_of(const Task& task) {
    const auto with_effort = [](const std::string& name, const std::optional<std::string>& effort) {
        return effort ? name + " (" + *effort + ")" : name;
    };
    return "worker " + with_effort(task.harness, task.effort) + ", reviewer " +
           with_effort(task.review_harness, task.review_effort);
}

std::string head(const rpc::TaskView& task, const Style& style) {
    const auto summary = task.fields.summary.empty() ? "(no summary)" : printable(task.fields.summary);
    const auto id = short_id(task);
    return style.paint(id, Ink::blue) + "  " + style.paint(ellipsized(summary, style.row - 10), Ink::bold) + "\n";
}

std::string edge_text(const rpc::EdgeView& edge, const Style& style) {
    std::string state = edge.open ? "possible now" : "not possible yet";
    if (edge.open && edge.needs_force) state = "possible with --force";
    std::string by;
    for (const auto& role : edge.by) by += (by.empty() ? "" : ", ") + printable(role);
    std::string out = "  " + style.paint(edge.open ? "✓" : "✗", edge.open ? Ink::green : Ink::red) + " → " +
                      printable(edge.to) + "  " + style.paint(state + (by.empty() ? "" : " (" + by + ")"), Ink::dim) +
                      "\n";
    if (!edge.guard.empty()) {
        const auto guard = "when " + printable(edge.guard) + (edge.guard_holds ? "" : ", which is not the case");
        out += wrapped(guard, "      ", style.width);
    }
    if (edge.missing) {
        out += wrapped(printable(*edge.missing, true), "      ", style.width);
    } else if (!edge.gate.empty()) {
        out += wrapped("needs " + printable(edge.gate), "      ", style.width);
    }
    return out;
}

}  // namespace

std::string short_id(const rpc::TaskView& task) {
    return printable(task.short_id.empty() ? task.fields.id.value : task.short_id);
}

std::string with_short_id(std::string text, const rpc::TaskView& task) {
    return with_word(std::move(text), task.fields.id.value, short_id(task));
}

std::vector<std::string> with_short_ids(std::vector<std::string> texts, const rpc::TaskView& task) {
    for (auto& text : texts) text = with_short_id(std::move(text), task);
    return texts;
}

std::string command_of(const rpc::TaskView& task) {
    return with_short_id(printable(task.needs.command), task);
}

/// Its own command starts it, or it waits for its review without a worker.
bool has_dead_agent(const rpc::TaskView& task) {
    return task.needs.asks_for_respawn() || (task.needs.kind == Need::review && task.worker == "dead");
}

std::string inbox_page(const rpc::TaskList::Reply& reply, Timestamp now, const Style& style) {
    std::string out;
    for (const auto& task : reply.tasks) {
        const auto id = short_id(task);
        const auto need = need_of(task);
        const auto what = task.fields.summary.empty() ? task.fields.branch : task.fields.summary;
        const auto room = style.row > 30 ? style.row - 30 : 20;
        out += style.paint(need, ink_of(task.needs.kind)) +
               std::string(8 - std::min<std::size_t>(7, need.size()), ' ') + style.paint(id, Ink::blue) + "  " +
               ellipsized(printable(what), room) + "  " + style.paint(ago(age_of(task.needs.since, now)), Ink::dim) +
               "\n";
        out += wrapped(printable(task.needs.text), "        ", style.width);
        for (const auto& notice : task.notices) {
            const auto line = std::string(first_line(notice.text));
            if (line != task.needs.text) out += wrapped("! " + printable(line), "        ", style.width);
        }
        if (!task.needs.command.empty()) out += "        " + command_of(task) + "\n";
    }
    if (std::ranges::count_if(reply.tasks, has_dead_agent) > 1) {
        out += "\nTo restart all agents that are dead:\n  orange task respawn --all\n";
    }
    return out.empty() ? "Nothing needs you.\n" : out;
}

std::string task_list_page(const rpc::TaskList::Reply& reply, Timestamp now, const Style& style, bool searched) {
    std::set<std::string> projects;
    for (const auto& task : reply.tasks) projects.insert(task.fields.project);
    const bool several = projects.size() > 1;
    const bool has_lines = std::ranges::any_of(reply.tasks, [](const auto& task) { return !lines_of(task).empty(); });
    const bool has_activity =
        std::ranges::any_of(reply.tasks, [&](const auto& task) { return !activity_cell(task, now).text.empty(); });
    const bool has_pulls = std::ranges::any_of(reply.tasks, [](const auto& task) { return !!task.pull_request; });
    std::vector<Column> columns = {{"NEED"}, {"ID"}};
    if (several) columns.push_back({"PROJECT", 10});
    columns.insert(columns.end(), {{"STATUS"}, {"ROUND"}});
    if (has_activity) columns.push_back({"AGENT"});
    if (has_lines) columns.push_back({"LINES"});
    if (has_pulls) columns.push_back({"PR"});
    columns.insert(columns.end(), {{"CHANGED"}, {"SUMMARY", 12}});
    Table table(std::move(columns));
    for (const auto& member : families(reply.tasks)) {
        const auto& task = reply.tasks[member.at];
        const auto marker = marker_of(task);
        std::vector<Cell> cells = {{need_of(task), ink_of(task.needs.kind)}, {short_id(task), Ink::blue}};
        if (several) cells.push_back({task.fields.project});
        cells.push_back({marked_status_of(task), marker.ink});
        const auto round = task.fields.review_round();
        cells.push_back({round > 0 ? std::to_string(round) : std::string()});
        if (has_activity) cells.push_back(activity_cell(task, now));
        if (has_lines) cells.push_back({lines_of(task)});
        if (has_pulls) cells.push_back(pull_cell(task));
        cells.push_back({age_of(task.fields.updated_at, now), Ink::dim});
        cells.push_back({std::string(member.depth * 2, ' ') +
                         (task.fields.summary.empty() ? task.fields.branch : task.fields.summary)});
        table.row(std::move(cells));
        if (const auto waits = waits_of(task); !waits.empty()) table.remark(waits, Ink::dim);
        if (!task.checking.empty()) table.remark(checks_text(task, now), Ink::dim);
        if (task.unreadable) table.remark("! " + *task.unreadable, Ink::red);
        for (const auto& notice : task.notices) {
            table.remark("! " + std::string(first_line(notice.text)), Ink::yellow);
        }
    }
    std::string out = table.empty()
                          ? std::string(reply.hidden > 0 ? "No active tasks" : "No tasks") +
                                (searched ? " have this text.\n" : ". Create one: orange task create \"what to do\"\n")
                          : table.render(style);
    if (reply.hidden > 0) {
        const auto n = static_cast<std::size_t>(reply.hidden);
        out += style.paint(counted(n, "ended task") + " not shown (--all)", Ink::dim) + "\n";
    }
    return out;
}

std::string task_page(const rpc::TaskShow::Reply& reply, Timestamp now, const Style& style) {
    const auto& task = reply.task;
    const auto& known = task.fields;
    const auto marker = marker_of(task);
    Fields fields(style);
    fields.add("id", known.id.value);
    fields.add("status", marked_status_of(task), marker.ink);
    fields.add("moving", task.in_progress.value_or(""));
    if (task.needs.kind != Need::nothing) {
        fields.add("needs you", std::string(name_of(task.needs.kind)) + ": " + task.needs.text,
                   ink_of(task.needs.kind));
        fields.add("run", command_of(task));
    }
    for (const auto& notice : task.notices) {
        if (notice.text == task.needs.text) continue;
        fields.add("notice", notice.text, Ink::yellow);
    }
    fields.add("unreadable", task.unreadable.value_or(""), Ink::red);
    fields.add("blocked by", related_text(task.blockers));
    if (reply.parent) fields.add("part of", reply.parent->short_id + "  " + reply.parent->summary);
    if (!reply.children.empty()) {
        fields.add("sub-tasks", children_count(task) + " done: " + related_text(reply.children));
    }
    fields.add("project", known.project);
    fields.add("branch", known.branch);
    if (!task.merges_into.empty()) fields.add("merge into", task.merges_into + ", the branch of its parent");
    fields.add("workflow", known.workflow + ", review round " + std::to_string(known.review_round()) + ", crashes " +
                               std::to_string(known.crash_count()));
    fields.add("agents", agents_of(known));
    fields.add("processes", "worker " + process_text(task.worker, task.worker_activity, now) + ", reviewer " +
                                process_text(task.reviewer, task.reviewer_activity, now));
    for (const auto& agent : reply.agents) fields.add("memory", use_text(agent));
    bool first = true;
    for (const auto& message : reply.messages) {
        if (message.from != "human") continue;
        fields.add(std::exchange(first, false) ? "messages" : "",
                   message.to + ", " + message.state + " " + ago(age_of(message.at, now)) + ": " + message.text);
    }
    fields.add("worktree", task.worktree);
    if (reply.changes) fields.add("changes", changes_text(*reply.changes));
    fields.add("checks", checks_text(task, now), task.checked && !task.checked->passed ? Ink::yellow : Ink::plain);
    fields.add("session", known.tmux_session.value_or(""));
    if (task.pull_request) fields.add("PR", pull_text(*task.pull_request));
    fields.add(task.pull_request ? "" : "PR", known.pr_url.value_or(""));
    fields.add("folder", task.path);
    const auto created = age_of(known.created_at, now), updated = age_of(known.updated_at, now);
    fields.add("created", ago(created) + (updated.empty() ? "" : ", changed " + ago(updated)));
    std::string out = head(task, style) + fields.text;
    if (const auto body = trim(reply.body); !body.empty()) {
        out += "\n";
        for (const auto line : split_lines(body)) {
            out += line.empty() ? "\n" : "  " + printable(line) + "\n";
        }
    }
    if (reply.history.is_array() && !reply.history.empty()) {
        out += "\n" + style.paint("Last events", Ink::dim) + "\n" + event_lines(reply.history, style);
    }
    return out;
}

std::string why_page(const rpc::TaskWhy::Reply& reply, const Style& style) {
    std::string out = head(reply.task, style);
    const bool ended = reply.waiting_for.starts_with("nothing");
    out += wrapped(marked_status_of(reply.task) +
                       (ended ? "; the task has ended" : ", waits for " + printable(reply.waiting_for, true)),
                   "  ", style.width);
    for (const auto& agent : reply.agents) out += wrapped("memory: " + use_text(agent), "  ", style.width);
    for (const auto& edge : reply.edges) out += edge_text(edge, style);
    if (!reply.hints.empty()) out += "\n" + notes_text(with_short_ids(reply.hints, reply.task), style);
    return out;
}

std::string history_page(const Json& events, const Style& style) {
    if (!events.is_array() || events.empty()) return "No events.\n";
    std::string lines;
    for (const auto& event : causes_first(events)) lines += history_line(event, style);
    return lines;
}

std::string task_line(const rpc::TaskView& task, const Style& style) {
    const auto marker = marker_of(task);
    const auto id = short_id(task);
    const auto status = marked_status_of(task);
    auto rest = printable(task.fields.branch);
    if (!task.fields.summary.empty()) rest += "  " + printable(task.fields.summary);
    const auto used = columns_of(id) + columns_of(status) + 4;
    return style.paint(id, Ink::blue) + "  " + style.paint(status, marker.ink) + "  " +
           ellipsized(rest, style.row > used + 20 ? style.row - used : 20) + "\n";
}

std::string notes_text(const std::vector<std::string>& notes, const Style& style) {
    std::string out;
    for (const auto& note : notes) {
        const auto text = printable(note, true);
        for (const auto line : split_lines(text)) {
            const bool is_command = line.starts_with("  ") || line.starts_with("orange ");
            out += is_command ? "  " + std::string(trim(line)) + "\n" : wrapped(line, "  ", style.width);
        }
    }
    return out;
}

}  // namespace orange::output

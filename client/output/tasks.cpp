#include "client/output/tasks.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "client/output/attempts.hpp"
#include "client/output/clashes.hpp"
#include "client/output/comments.hpp"
#include "client/output/events.hpp"
#include "client/output/families.hpp"
#include "client/output/local_time.hpp"
#include "client/output/permits.hpp"
#include "client/output/table.hpp"
#include "client/output/task_cells.hpp"
#include "client/output/usage.hpp"
#include "common/base/forges.hpp"
#include "common/base/text.hpp"
#include "common/model/settings.hpp"

namespace orange::output {
namespace {

/// Returns "4f2a working, 7b1c done".
std::string related_text(const std::vector<rpc::RelatedTask>& tasks) {
    std::vector<std::string> texts;
    for (const auto& each : tasks) {
        const auto status = each.status.empty() ? std::string("deleted") : printable(each.status);
        texts.push_back(each.short_id + " " + (each.state == "done" ? "done" : status));
    }
    return join(texts, ", ");
}

/// Returns "waits for 4f2a, 7b1c" or "waits for a reviewer (2 of 2 run)"; empty if the status shows it.
std::string waits_of(const rpc::TaskView& task, Timestamp now) {
    // The need says the same of a budget.
    if (task.start_wait && task.start_wait->reason == "budget" && task.needs.kind == Need::help) return {};
    if (task.start_wait) return printable(task.start_wait->text);
    for (const auto& place : task.places) {
        if (place.state != "queued") continue;
        const auto age = place.since ? age_of(*place.since, now) : std::string();
        return "waits for resources at " + printable(place.executor) +
               (age.empty() || age == "now" ? "" : " for " + age);
    }
    std::vector<std::string> names;
    for (const auto& each : task.blockers) {
        if (each.state != "done") names.push_back(each.short_id);
    }
    // A single blocker is in the status.
    return names.size() < 2 || task.means != "initial" ? "" : "waits for " + join(names, ", ");
}

std::string ago(const std::string& age) {
    return age.empty() ? age : age == "now" ? "just now" : age + " ago";
}

/// Adds a text of one or more lines, wrapped and indented.
void add_wrapped(Lines& lines, std::string_view text, std::string_view indent, const Style& style, Look look = {}) {
    const auto rows = wrapped(text, indent, style.width);
    for (const auto row : split_lines(rows)) lines.emplace_back(std::string(row), look);
}

void add_events(Lines& lines, const Json& events, const Style& style) {
    for (const auto& event : causes_first(events)) {
        const auto time = local_clock(time_of(event));
        const auto room = style.row > time.size() + 4 ? style.row - time.size() - 4 : 20;
        lines.push_back(Line("  ").add(time, k_dim).add("  " + cut(event_sentence(event), room)));
    }
}

/// Lines "label      value", with long values wrapped in their column; empty values are omitted.
class Fields {
  public:
    Fields(Lines& lines, const Style& style, bool brief) : lines_(lines), style_(style), brief_(brief) {}

    void add(std::string_view label, const std::string& value, Look look = {}) {
        if (value.empty()) return;
        constexpr std::string_view k_indent = "             ";
        std::string begin = "  " + std::string(label);
        begin.resize(k_indent.size(), ' ');
        const auto rows = wrapped(printable(value), k_indent, style_.width);
        for (const auto row : split_lines(rows)) {
            lines_.push_back(Line(std::exchange(begin, std::string(k_indent)), k_dim)
                                 .add(std::string(row.substr(k_indent.size())), look));
        }
    }
    /// Adds a field, unless the fields are brief.
    void more(std::string_view label, const std::string& value, Look look = {}) {
        if (!brief_) add(label, value, look);
    }

  private:
    Lines& lines_;
    const Style& style_;
    bool brief_;
};

/// Returns "alive (busy for 4m)".
std::string process_text(const std::string& process, const std::optional<AgentActivity>& seen, Timestamp now) {
    if (!seen || seen->activity == Activity::unknown) return process;
    const auto age = age_of(seen->since, now);
    const auto length = age.empty() || age == "now" ? std::string() : " for " + age;
    return process + " (" + name_text(seen->activity) + length + ")";
}

/// "worker orange-4f2a running on n2 for 4 min"
std::string place_text(const rpc::PlacedRun& run, Timestamp now) {
    const auto age = run.since ? age_of(*run.since, now) : std::string();
    const auto length = age.empty() || age == "now" ? std::string() : " for " + age;
    return run.role + " " + run.name + " " + run.state + (run.state == "queued" ? " at " + run.executor : "") +
           (run.place.empty() ? "" : " on " + run.place) + length +
           (run.network.empty() ? "" : ", network " + run.network);
}

/// "worker 1.5 GiB of 12 GiB, 3.2 GiB at most, 340 s of processor time, at most 512 processes, disk 2 GiB of 20 GiB"
std::string use_text(const rpc::AgentUse& agent) {
    std::vector<std::string> parts, unenforced;
    if (agent.use) {
        const auto& use = *agent.use;
        parts.push_back(size_text(use.memory) + (agent.enforced ? " of " + size_text(agent.limit) : ""));
        if (use.memory_peak > 0) parts.push_back(size_text(use.memory_peak) + " at most");
        parts.push_back(std::to_string(use.cpu_ms / 1000) + " s of processor time");
    }
    if (agent.processes_enforced) parts.push_back("at most " + std::to_string(agent.processes_limit) + " processes");
    if (agent.disk_limit > 0) parts.push_back("disk " + size_text(agent.disk) + " of " + size_text(agent.disk_limit));
    if (agent.limit > 0 && !agent.enforced) unenforced.emplace_back("limits.memory is not enforced here");
    if (agent.processes_limit > 0 && !agent.processes_enforced)
        unenforced.emplace_back("limits.processes is not enforced here");
    const auto used = parts.empty() ? std::string() : " " + join(parts, ", ");
    if (unenforced.empty()) return agent.role + used;
    return agent.role + used + (parts.empty() ? ": " : "; ") + join(unenforced, ", ");
}

std::string changes_text(const rpc::ChangeCounts& changes) {
    const auto large = large_files_text(changes);
    if (changes.files == 0) return large.empty() ? "none yet" : large;
    return counted(static_cast<std::size_t>(changes.commits), "commit") + ", " +
           counted(static_cast<std::size_t>(changes.files), "file") + ", +" + std::to_string(changes.added) + " -" +
           std::to_string(changes.removed) + (changes.uncommitted ? ", some of it uncommitted" : "") +
           (large.empty() ? "" : "; " + large);
}

/// Returns "passed on 1a2b3c4d5e6f merged with origin/main, 2m ago (12 s)"; for running checks, which one runs and what
/// follows.
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

/// Returns "#7 open, checks passing, approved".
std::string pull_text(const PullRequest& pull) {
    auto text = forge_of_pull(pull.url).mark + std::to_string(pull.number) + " " +
                (pull.draft ? "draft" : name_text(pull.state));
    if (pull.state != PullState::open) return text;
    if (pull.checks != PullChecks::none) text += ", checks " + name_text(pull.checks);
    if (pull.review == PullReview::required) text += ", review required";
    if (pull.review == PullReview::approved) text += ", approved";
    if (pull.review == PullReview::changes_requested) text += ", changes requested";
    return text + (pull.conflicts ? ", conflicts" : "");
}

Span marked_status_of(const rpc::TaskView& task) {
    const auto row = row_of(task);
    return marked(row, status_of(row));
}

/// Names the models that answered beside those that were asked for, if they are others.
std::string models_of(const rpc::TaskView& task) {
    if (!task.usage || task.usage->models.empty()) return {};
    const auto is_asked = [&](const std::string& model) {
        return model == task.fields.model.value_or("") || model == task.fields.review_model.value_or("");
    };
    if (std::ranges::all_of(task.usage->models, is_asked)) return {};
    return "; answers by " + printable(join(task.usage->models, ", "));
}

std::string agents_of(const Task& task) {
    const auto described = [](const std::string& name, const std::optional<std::string>& model,
                              const std::optional<std::string>& effort) {
        std::vector<std::string> more;
        for (const auto& each : {model, effort}) {
            if (each) more.push_back(*each);
        }
        return more.empty() ? name : name + " (" + join(more, ", ") + ")";
    };
    return "worker " + described(task.harness, task.model, task.effort) + ", reviewer " +
           described(task.review_harness, task.review_model, task.review_effort);
}

std::string attempt_text(const rpc::TaskView& task) {
    return task.attempt + (task.unpicked ? ", not picked" : "") + "; to compare it: orange compare " + short_id(task);
}

/// Names the attempt that was picked.
std::string picked_text(const rpc::TaskShow::Reply& reply) {
    const auto found = std::ranges::find(reply.children, reply.task.picked, &rpc::RelatedTask::id);
    return found == reply.children.end() ? reply.task.picked : found->short_id;
}

Line head(const rpc::TaskView& task, const Style& style) {
    const auto known = summary_of(task);
    const auto summary = known.empty() ? "(no summary)" : clean(known);
    return Line(short_id(task), k_blue).add("  ").add(cut(summary, style.row - 10), k_bold);
}

void add_edge(Lines& lines, const rpc::EdgeView& edge, const Style& style) {
    std::string state = edge.open ? "possible now" : "not possible yet";
    if (edge.open && edge.needs_force) state = "possible with --force";
    const bool by_merge = edge.means == "done" && edge.by == std::vector<std::string>{"system"};
    const auto by = edge.by.empty() ? "" : by_merge ? " (by a merge)" : " (" + printable(join(edge.by, ", ")) + ")";
    lines.push_back(Line("  ")
                        .add(edge.open ? "✓" : "✗", edge.open ? k_green : k_red)
                        .add(" → " + printable(edge.to) + "  ")
                        .add(state + by, k_dim));
    constexpr std::string_view k_indent = "      ";
    if (!edge.guard.empty()) {
        const auto guard = "when " + printable(edge.guard) + (edge.guard_holds ? "" : ", which is not the case");
        add_wrapped(lines, guard, k_indent, style);
    }
    if (edge.missing) {
        add_wrapped(lines, printable(*edge.missing, true), k_indent, style);
    } else if (!edge.gate.empty()) {
        add_wrapped(lines, "needs " + printable(edge.gate), k_indent, style);
    }
}

/// Adds sentences, indented and wrapped, and commands unchanged.
void add_notes(Lines& lines, const std::vector<std::string>& notes, const Style& style, const KeyFor& key) {
    for (const auto& note : notes) {
        const auto text = printable(note, true);
        for (const auto line : split_lines(text)) {
            if (line.starts_with("  ") || line.starts_with("orange ")) {
                const auto name = key ? key(trim(line)) : std::string();
                lines.push_back(Line("  ")
                                    .add(std::string(trim(line)), key ? k_cyan : k_plain)
                                    .add(name.empty() ? "" : "   (here: " + name + ")"));
            } else {
                add_wrapped(lines, line, "  ", style);
            }
        }
    }
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

std::string with_short_ids(std::string text, const Error& error) {
    const auto found = error.details.find("short_ids");
    if (found == error.details.end()) return text;
    for (const auto pair : split(found->second, ' ')) {
        const auto id = pair.substr(0, pair.find('='));
        if (!id.empty() && id.size() < pair.size()) text = with_word(std::move(text), id, pair.substr(id.size() + 1));
    }
    return text;
}

std::string command_of(const rpc::TaskView& task) {
    return with_short_id(printable(task.needs.command.text()), task);
}

/// Returns true if the task's command respawns a dead agent, or the task waits for a review and its worker is dead.
bool has_dead_agent(const rpc::TaskView& task) {
    return task.needs.command.verb == "task respawn" || (task.needs.kind == Need::review && task.worker == "dead");
}

/// Returns the first line of a notice, with the command below it if the line ends with "To go on:".
std::string brief_of(const Notice& notice) {
    auto line = std::string(first_line(notice.text));
    const auto lines = split_lines(notice.text);
    if (line.ends_with(':') && lines.size() > 1) line += " " + std::string(trim(lines[1]));
    return line;
}

/// Returns the command for the task's need, and the one that denies beside it if there is room.
Line need_line(const rpc::TaskView& task, const Style& style) {
    const auto command = command_of(task);
    Line line("        " + command);
    if (task.needs.permit == 0 || command.find(" allow ") == std::string::npos) return line;
    const auto other = "   (or orange deny " + permit_word(task, task.needs.permit) + ")";
    if (line.width() + columns(other) <= style.width) line.add(other, k_dim);
    return line;
}

std::string inbox_page(const rpc::TaskList::Reply& reply, Timestamp now, const Style& style) {
    Lines lines;
    for (const auto& task : reply.tasks) {
        const auto need = need_of(row_of(task));
        const auto known = summary_of(task);
        const auto what = known.empty() ? task.fields.branch : known;
        const auto room = style.row > 30 ? style.row - 30 : 20;
        lines.push_back(Line(need.text, need.look)
                            .add(std::string(8 - std::min<std::size_t>(7, need.text.size()), ' '))
                            .add(short_id(task), k_blue)
                            .add("  " + cut(clean(what), room) + "  ")
                            .add(ago(age_of(task.needs.since, now)), k_dim));
        add_wrapped(lines, printable(task.needs.text), "        ", style);
        for (const auto& notice : task.notices) {
            const auto line = brief_of(notice);
            if (first_line(notice.text) != task.needs.text)
                add_wrapped(lines, "! " + printable(line), "        ", style);
        }
        if (!task.needs.command.empty()) lines.push_back(need_line(task, style));
    }
    std::map<std::string, int> dead;  // by host, which the ids of its tasks begin with
    for (const auto& task : reply.tasks) {
        const auto colon = task.short_id.find(':');
        if (has_dead_agent(task)) ++dead[colon == std::string::npos ? "" : printable(task.short_id.substr(0, colon))];
    }
    for (const auto& [host, count] : dead) {
        if (count < 2) continue;
        const auto there = host.empty() ? std::string() : "--host " + host + " ";
        lines.insert(
            lines.end(),
            {Line(), Line("To restart all agents that are dead" + (host.empty() ? std::string() : " on " + host) + ":"),
             Line("  orange " + there + "task respawn --all")});
    }
    return lines.empty() ? "Nothing needs you.\n" : style.paint(lines);
}

std::string large_files_text(const rpc::ChangeCounts& changes) {
    constexpr std::size_t k_named = 5;
    std::vector<std::string> texts;
    for (const auto& file : changes.large) {
        if (texts.size() == k_named) break;
        texts.push_back(printable(file.path) + " (" + size_text(file.bytes) + ")");
    }
    if (texts.empty()) return {};
    const auto more = changes.large.size() - texts.size();
    return "not compared: " + join(texts, ", ") + (more > 0 ? " and " + std::to_string(more) + " more" : "");
}

std::string task_list_page(const rpc::TaskList::Reply& reply, Timestamp now, const Style& style, bool searched) {
    Table::Shape first;
    ClashNotes clashes;
    clashes.add(reply.tasks);
    return task_list_part(reply, now, style, searched, first) + clashes.text(style);
}

namespace {

/// The content of a list of tasks: its rows, and those columns that have a text.
class ListTable {
  public:
    ListTable(const rpc::TaskList::Reply& reply, Timestamp now) : reply_(reply), now_(now) {
        std::set<std::string> projects;
        for (const auto& task : reply.tasks) {
            projects.insert(task.fields.project);
            rows_.push_back(row_of(task));
        }
        has_projects_ = projects.size() > 1;
        for (const auto& column : list_columns()) {
            if (has_text(column)) shown_.push_back(&column);
        }
    }

    Table table() const {
        Table table(columns());
        std::vector<const Row*> order;
        for (const auto& row : rows_) order.push_back(&row);
        for (const auto& member : families(order)) {
            table.row(cells_of(member));
            add_remarks(table, reply_.tasks[member.at]);
        }
        return table;
    }

  private:
    static bool is_status(const ListColumn& column) { return &column == &list_columns().front(); }

    std::vector<Column> columns() const {
        std::vector<Column> columns = {{"NEED"}, {"ID"}};
        if (has_projects_) columns.push_back({"PROJECT", 10, 1});
        for (const auto* column : shown_) {
            const auto place = static_cast<int>(column - list_columns().data());
            columns.push_back({column->title, 0, is_status(*column) ? 0 : 3 + place});
        }
        columns.insert(columns.end(), {{"CHANGED", 0, 2}, {"SUMMARY", 12}});
        return columns;
    }
    Cell cell_of(const ListColumn& column, std::size_t at) const {
        const auto& changes = reply_.tasks[at].committed;
        const auto cell = column.cell(rows_[at], changes ? &*changes : nullptr, now_);
        return cell.spans.empty() ? Cell() : Cell{cell.text(), cell.spans.front().look};
    }
    bool has_text(const ListColumn& column) const {
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            if (!cell_of(column, i).text.empty()) return true;
        }
        return false;
    }
    std::vector<Cell> cells_of(const Member& member) const {
        const auto& task = reply_.tasks[member.at];
        const auto& fields = task.fields;
        std::vector<Cell> cells = {need_of(rows_[member.at]), {short_id(task), k_blue}};
        if (has_projects_) cells.push_back({fields.project});
        for (const auto* column : shown_) {
            auto cell = cell_of(*column, member.at);
            cells.push_back(is_status(*column) ? marked(rows_[member.at], cell.text) : std::move(cell));
            if (is_status(*column) && !task.clashes.empty()) cells.back().text += std::string(" ") + k_clash_mark;
        }
        cells.push_back({age_of(fields.updated_at, now_), k_dim});
        const std::string indent(member.depth * 2, ' ');
        const auto summary = summary_of(task);
        cells.push_back({indent + (summary.empty() ? fields.branch : summary)});
        return cells;
    }
    void add_remarks(Table& table, const rpc::TaskView& task) const {
        if (const auto waits = waits_of(task, now_); !waits.empty()) table.remark(waits, k_dim);
        if (!task.checking.empty()) table.remark(checks_text(task, now_), k_dim);
        const auto url = task.preview ? task.preview->url : std::string();
        if (!url.empty()) table.remark("it runs at " + url, k_dim);
        if (task.unreadable) table.remark("! " + *task.unreadable, k_red);
        const bool is_of_project = !task.fields.project.empty() && task.needs.command.about == task.fields.project;
        if (is_of_project) table.remark("! " + task.needs.text, k_yellow);
        for (const auto& notice : task.notices) table.remark("! " + brief_of(notice), k_yellow);
    }

    const rpc::TaskList::Reply& reply_;
    Timestamp now_;
    std::vector<Row> rows_;
    std::vector<const ListColumn*> shown_;
    bool has_projects_ = false;  ///< the tasks are of several projects
};

/// Returns what is printed instead of a list without tasks.
std::string no_tasks_text(bool has_hidden, bool searched) {
    return std::string(has_hidden ? "No active tasks" : "No tasks") +
           (searched ? " have this text.\n" : ". Create one: orange create \"what to do\"\n");
}

std::string left_out_text(std::int64_t number, const char* what, const char* option, const Style& style) {
    if (number <= 0) return {};
    return style.paint(counted(static_cast<std::size_t>(number), what) + " not shown (" + option + ")", k_dim) + "\n";
}

}  // namespace

std::string task_list_part(const rpc::TaskList::Reply& reply, Timestamp now, const Style& style, bool searched,
                           Table::Shape& shape) {
    const auto table = ListTable(reply, now).table();
    std::string out;
    if (!table.empty()) {
        out = table.render(style, shape);
    } else if (shape.titles.empty()) {  // not only the end of a longer list
        out = no_tasks_text(reply.hidden > 0, searched);
    }
    return out + left_out_text(reply.beyond_limit, "more task", "--limit", style) +
           left_out_text(reply.hidden, "ended task", "--all", style);
}

Lines task_fields(const rpc::TaskShow::Reply& reply, Timestamp now, const Style& style, bool brief) {
    const auto& task = reply.task;
    const auto& known = task.fields;
    const auto status = marked_status_of(task);
    Lines lines = {head(task, style)};
    Fields fields(lines, style, brief);
    fields.add("id", known.id.value);
    fields.more("status", status.text, status.look);
    fields.more("moving", task.in_progress.value_or(""));
    if (task.needs.kind != Need::nothing) {
        fields.more("needs you", name_text(task.needs.kind) + ": " + task.needs.text, look_of(task.needs.kind));
        fields.more("run", command_of(task));
    }
    for (const auto& notice : task.notices) {
        if (notice.text == task.needs.text) continue;
        fields.add("notice", notice.text, k_yellow);
    }
    if (!reply.kept.empty()) {
        fields.add("kept", counted(reply.kept.size(), "text") + " removed from TASK.md: " + reply.kept.back(),
                   k_yellow);
    }
    fields.more("unreadable", task.unreadable.value_or(""), k_red);
    std::vector<rpc::RelatedTask> blockers;
    for (const auto& each : task.blockers) {
        if (each.id != known.on.value) blockers.push_back(each);
    }
    fields.more("blocked by", related_text(blockers));
    for (const auto& each : task.blockers) {
        if (each.id == known.on.value) fields.more("built on", each.short_id + "  " + each.summary);
    }
    if (reply.fork_of) fields.more("fork of", reply.fork_of->short_id + "  " + reply.fork_of->summary);
    if (reply.parent) fields.more("part of", reply.parent->short_id + "  " + reply.parent->summary);
    if (!task.attempt.empty()) fields.more("attempt", attempt_text(task));
    if (!task.picked.empty()) fields.more("picked", picked_text(reply));
    if (!reply.children.empty()) {
        fields.more("sub-tasks", children_count(task) + " done: " + related_text(reply.children));
    }
    fields.more("project", known.project);
    fields.add("branch", known.branch);
    if (!task.merges_into.empty()) fields.more("merge into", task.merges_into + ", the branch of its parent");
    fields.add("workflow", known.workflow + ", review round " + std::to_string(known.review_round()) + ", crashes " +
                               std::to_string(known.crash_count()));
    auto agents = agents_of(known);
    for (const auto& [state, harness] : reply.harnesses) agents += ", in " + state + " " + harness;
    fields.add("agents", agents + models_of(task));
    fields.more("processes", "worker " + process_text(task.worker, task.worker_activity, now) + ", reviewer " +
                                 process_text(task.reviewer, task.reviewer_activity, now));
    if (!known.executor.empty()) {
        fields.add("executor", known.executor + (known.executor_options.empty() ? "" : " " + known.executor_options));
    }
    for (const auto& place : task.places) fields.add("", place_text(place, now));
    for (const auto& agent : reply.agents) fields.more("memory", use_text(agent));
    fields.add("tokens", task_tokens_text(task));
    fields.add("time", task_times_text(task));
    bool first = true;
    for (const auto& message : reply.messages) {
        if (message.from != "human") continue;
        fields.more(std::exchange(first, false) ? "messages" : "",
                    message.to + ", " + message.state + " " + ago(age_of(message.at, now)) + ": " + message.text);
    }
    fields.add("worktree", task.worktree);
    if (reply.changes) fields.more("changes", changes_text(*reply.changes));
    fields.more("checks", checks_text(task, now), task.checked && !task.checked->passed ? k_yellow : k_plain);
    if (const auto& preview = task.preview) {
        fields.add("try", preview->url.empty() ? preview->state : preview->url);
    }
    if (task.comments) fields.add("comments", comment_counts_text(*task.comments));
    bool is_first_clash = true;
    for (const auto& clash : task.clashes) {
        fields.add(std::exchange(is_first_clash, false) ? "work" : "", clash_clause(clash), k_yellow);
    }
    fields.more("session", known.tmux_session.value_or(""));
    if (task.pull_request) fields.add("PR", pull_text(*task.pull_request));
    fields.add(task.pull_request ? "" : "PR", known.pr_url.value_or(""));
    if (known.pr_feedback)
        fields.add("", *known.pr_feedback == "agent" ? "feedback goes to its agent" : "feedback goes to you");
    fields.more("folder", task.path);
    const auto created = age_of(known.created_at, now), updated = age_of(known.updated_at, now);
    fields.more("created", ago(created) + (updated.empty() ? "" : ", changed " + ago(updated)));
    return lines;
}

std::string task_page(const rpc::TaskShow::Reply& reply, Timestamp now, const Style& style) {
    auto lines = task_fields(reply, now, style);
    for (auto& line : permits_lines(reply, now, style)) lines.push_back(std::move(line));
    if (const auto body = trim(reply.body); !body.empty()) {
        lines.emplace_back();
        for (const auto line : split_lines(body)) lines.emplace_back(line.empty() ? "" : "  " + printable(line));
    }
    if (reply.history.is_array() && !reply.history.empty()) {
        lines.insert(lines.end(), {Line(), Line("Last events", k_dim)});
        add_events(lines, reply.history, style);
    }
    return style.paint(lines);
}

namespace {

/// Returns "Orange will remind the agent in 40 s", or "Orange will type a message in 3 s: the worker cannot accept it
/// yet".
std::string next_text(const rpc::NextStep& next) {
    constexpr std::int64_t k_ms = 1000, k_minute = 60, k_hour = 3600;
    const auto seconds = (next.in_ms + k_ms - 1) / k_ms;
    const auto time = seconds >= 2 * k_hour     ? std::to_string(seconds / k_hour) + " h"
                      : seconds >= 2 * k_minute ? std::to_string(seconds / k_minute) + " min"
                                                : std::to_string(seconds) + " s";
    return "Orange will " + printable(next.what) + (seconds > 0 ? " in " + time : " now") +
           (next.why.empty() ? "" : ": " + printable(next.why));
}

}  // namespace

Lines why_lines(const rpc::TaskWhy::Reply& reply, const Style& style, const KeyFor& key) {
    Lines lines = {head(reply.task, style)};
    const auto status = marked_status_of(reply.task);
    const auto* between = reply.task.needs.kind == Need::nothing ? ": " : ", waits for ";
    add_wrapped(lines, status.text + between + printable(reply.waiting_for, true), "  ", style);
    if (reply.next) add_wrapped(lines, next_text(*reply.next), "  ", style);
    for (const auto& clash : reply.task.clashes) {
        add_wrapped(lines, "its work " + clash_clause(clash), "  ", style, k_yellow);
    }
    for (const auto& agent : reply.agents) add_wrapped(lines, "memory: " + use_text(agent), "  ", style);
    if (const auto tokens = task_tokens_text(reply.task); !tokens.empty()) {
        add_wrapped(lines, "tokens: " + tokens, "  ", style);
    }
    if (const auto times = task_times_text(reply.task); !times.empty()) {
        add_wrapped(lines, "time: " + times, "  ", style);
    }
    for (const auto& edge : reply.edges) add_edge(lines, edge, style);
    if (!reply.hints.empty()) lines.emplace_back();
    add_notes(lines, with_short_ids(reply.hints, reply.task), style, key);
    return lines;
}

Lines history_lines(const Json& event, const Style& style, const std::string& used) {
    const auto time = local_time(time_of(event));
    const auto sentence = event_sentence(event) + (used.empty() ? "" : "  " + used);
    Lines lines = {Line("  ").add(time, k_dim)};
    if (columns(time) + 4 + columns(sentence) <= style.width) {
        lines.back().add("  " + sentence);
    } else {
        add_wrapped(lines, sentence, "          ", style);
    }
    return lines;
}

std::string history_page(const Json& events, const Style& style) {
    if (!events.is_array() || events.empty()) return "No events.\n";
    std::string page;
    TokenSteps steps;
    for (const auto& event : causes_first(events)) page += style.paint(history_lines(event, style, steps.next(event)));
    return page;
}

std::string task_line(const rpc::TaskView& task, const Style& style) {
    const auto status = marked_status_of(task);
    auto rest = clean(summary_of(task));
    if (!task.fields.branch.empty()) rest += (rest.empty() ? "" : "  ") + clean(task.fields.branch);
    auto line = Line(short_id(task), k_blue).add("  ").add(status.text, status.look).add("  ");
    const auto used = line.width();
    return style.paint({line.add(cut(rest, style.row > used + 20 ? style.row - used : 20))});
}

std::string notes_text(const std::vector<std::string>& notes, const Style& style) {
    Lines lines;
    add_notes(lines, notes, style, {});
    return style.paint(lines);
}

}  // namespace orange::output

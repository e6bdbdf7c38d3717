#include "client/output/listings.hpp"

#include <filesystem>

#include "client/output/table.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"

namespace orange::output {
namespace {

void problem_lines(Table& table, const std::optional<std::string>& problem) {
    if (!problem) return;
    for (const auto line : split_lines(*problem)) table.remark("! " + std::string(line), k_yellow);
}

std::string duration_text(std::int64_t seconds) {
    const Timestamp start{};
    return age_text(start, start + std::chrono::seconds(seconds));
}

std::string value_text(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (!value.is_array()) return dump(value);
    std::vector<std::string> commands;
    for (const auto& argv : value) {
        std::vector<std::string> words;
        for (const auto& word : argv)
            words.push_back(word.is_string() ? shell_word(word.get<std::string>()) : dump(word));
        commands.push_back(join(words, " "));
    }
    return commands.empty() ? "none" : join(commands, "; ");
}

/// Returns the settings with a value of their own: "push=false, merge=pr (config.yml)"; lists of commands come last.
std::string settings_text(const rpc::ProjectView& project) {
    std::vector<std::string> texts;
    for (const bool lists : {false, true}) {
        for (const auto& [name, setting] : project.in_force) {
            if (setting.from == "default" || setting.value.is_array() != lists) continue;
            texts.push_back(name + (lists ? ": " : "=") + value_text(setting.value) +
                            (setting.from == "project" ? "" : " (" + setting.from + ")"));
        }
    }
    return join(texts, ", ");
}

}  // namespace

std::string projects_page(const rpc::ProjectList::Reply& reply, const Style& style) {
    const auto problems = notes_text(reply.problems, style);
    if (reply.projects.empty() && problems.empty()) return "No projects. In a git repository: orange project add\n";
    if (reply.projects.empty()) return problems;
    Table table({{"NAME", 10}, {"BRANCH", 8, 2}, {"POOL", 0, 3}, {"TASKS"}, {"WORKFLOW", 8, 4}, {"PATH", 12}});
    for (const auto& project : reply.projects) {
        table.row({{project.name, k_bold},
                   {project.default_branch},
                   {std::to_string(project.pool_size)},
                   {std::to_string(project.active_tasks)},
                   {project.workflow.value_or("default")},
                   {project.path}});
        if (const auto text = settings_text(project); !text.empty()) table.remark(text, k_dim);
    }
    return table.render(style) + problems;
}

std::string project_page(const rpc::ProjectReply& reply, const Style& style) {
    const auto& project = reply.project;
    std::string out = style.paint(printable(project.name), k_bold) + "  " + printable(project.path) + "\n";
    std::string facts = "branch " + printable(project.default_branch) + ", " +
                        counted(static_cast<std::size_t>(project.pool_size), "workspace") + ", workflow " +
                        printable(project.workflow.value_or("default"));
    if (project.harness) facts += ", harness " + printable(*project.harness);
    if (!project.setup.empty()) facts += ", setup: " + printable(join(project.setup, " "));
    if (!project.dev.empty()) facts += ", dev: " + printable(join(project.dev, " "));
    out += wrapped(facts, "  ", style.width);
    const auto settings = settings_text(project);
    if (!settings.empty()) out += wrapped(printable(settings), "  ", style.width);
    return out + notes_text(reply.notes, style);
}

std::string workspaces_page(const rpc::WorkspaceReply& reply, const Style& style) {
    std::string out;
    if (reply.workspaces.empty()) {
        out = "No workspaces yet; Orange creates them when tasks need them.\n";
    } else {
        Table table({{"WORKSPACE", 12}, {"STATE"}, {"TASK"}, {"BRANCH", 12}});
        for (const auto& workspace : reply.workspaces) {
            const Look look = workspace.state == "free"      ? k_green
                              : workspace.state == "taken"   ? k_blue
                              : workspace.state == "surplus" ? k_yellow
                                                             : k_red;
            table.row({{workspace.name},
                       {workspace.state, look},
                       {workspace.short_id.value_or("")},
                       {workspace.branch.value_or("")}});
            problem_lines(table, workspace.problem);
        }
        const auto folder = std::filesystem::path(reply.workspaces.front().path).parent_path();
        out = table.render(style) + "\n" + wrapped("Worktrees: " + printable(folder.string()), "", style.width);
    }
    return out + notes_text(reply.notes, style);
}

std::string workflows_page(const rpc::WorkflowList::Reply& reply, const Style& style) {
    Table table({{"WORKFLOW", 10}, {"FROM", 0, 1}, {"VALID"}, {"PROJECTS", 10, 2}, {"FILE", 20, 3}});
    for (const auto& workflow : reply.workflows) {
        table.row({{workflow.name, k_bold},
                   {workflow.shipped   ? "Orange"
                    : workflow.shadows ? "you (replaces Orange's)"
                                       : "you"},
                   {workflow.valid ? "yes" : "no", workflow.valid ? k_green : k_red},
                   {join(workflow.projects, ", ")},
                   {workflow.path}});
        problem_lines(table, workflow.problem);
        if (workflow.valid) continue;
        table.remark(workflow.last_good ? "new tasks use the last valid version until the daemon restarts"
                                        : "new tasks cannot use it",
                     k_yellow);
    }
    return table.empty() ? "No workflows.\n" : table.render(style);
}

std::string export_page(const rpc::WorkflowExport::Reply& reply) {
    const auto path = printable(reply.path);
    return (reply.replaced ? "replaced " : "wrote ") + path + "\n" +
           "Edit it, then check it and use it:\n  orange workflow validate " + path + "\n" +
           "  orange project update --workflow " + printable(reply.name) + "\n";
}

std::string workflow_page(const rpc::WorkflowShow::Reply& reply, const Style& style) {
    std::string out = style.paint(printable(reply.workflow.name), k_bold) + "  " + printable(reply.workflow.path) +
                      "\n" + wrapped("states: " + printable(join(reply.workflow.states, ", ")), "  ", style.width);
    if (reply.workflow.problem) {
        out += wrapped("! " + printable(*reply.workflow.problem, true), "  ", style.width);
    }
    if (reply.transitions.empty()) return out;
    Table table({{"FROM"}, {"TO"}, {"BY"}});
    for (const auto& edge : reply.transitions) {
        table.row({{edge.from}, {edge.to}, {edge.by}});
        for (const auto& [what, text] :
             {std::pair{"when ", edge.when}, std::pair{"needs ", edge.gate}, std::pair{"does ", edge.hooks}}) {
            if (!text.empty()) table.remark(what + text, k_dim);
        }
    }
    return out + "\n" + table.render(style);
}

std::string validation_page(const std::string& file, const rpc::WorkflowValidate::Reply& reply) {
    std::string out;
    const auto add = [&](const auto& problems, const char* kind) {
        for (const auto& problem : problems) {
            out += printable(file) + ":" + std::to_string(problem.line) + ":" + std::to_string(problem.column) + ": " +
                   kind + printable(problem.message) + "\n";
        }
    };
    add(reply.problems, "");
    add(reply.warnings, "warning: ");
    return reply.valid ? out + printable(file) + ": valid\n" : out;
}

std::string daemon_page(const rpc::DaemonStatus::Reply& reply, const Style& style) {
    std::string out = "oranged " + printable(reply.version) + ", pid " + std::to_string(reply.pid) + ", up " +
                      duration_text(reply.uptime_seconds) + ", " + std::to_string(reply.memory_kib / 1024) + " MiB\n";
    out += "  home       " + printable(reply.home) + "\n";
    std::string tasks;
    for (const auto& [status, count] : reply.tasks) {
        tasks += (tasks.empty() ? "" : ", ") + std::to_string(count) + " " + printable(status);
    }
    out += "  tasks      " + (tasks.empty() ? "none" : tasks) + "\n";
    out += "  agents     " + std::to_string(reply.agents_alive) + " alive\n";
    if (reply.attention > 0) {
        out += "  attention  " + style.paint(counted(static_cast<std::size_t>(reply.attention), "task"), k_yellow) +
               " (orange list)\n";
    }
    if (reply.last_poll) out += "  last poll  " + printable(*reply.last_poll) + "\n";
    for (const auto& problem : reply.problems) {
        out += wrapped("! " + printable(problem, true), "  ", style.width);
    }
    return out;
}

}  // namespace orange::output

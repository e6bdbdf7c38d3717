#include "client/commands/completion.hpp"

#include "client/commands/everywhere.hpp"
#include "client/commands/host.hpp"
#include "client/connection/quickly.hpp"
#include "client/output/attempts.hpp"
#include "common/base/text.hpp"
#include "common/rpc/executor_methods.hpp"
#include "common/rpc/harness_methods.hpp"
#include "common/rpc/project_methods.hpp"
#include "common/rpc/task_queries.hpp"
#include "common/rpc/workflow_methods.hpp"

namespace orange::commands {
namespace {

using connection::ask_quickly;

std::vector<Candidate> task_names(const Paths& paths, std::string_view begun) {
    std::vector<Candidate> names;
    const auto reply = ask_quickly(paths, rpc::TaskList{});
    if (!reply) return names;
    for (const auto& task : reply->tasks) {
        const auto& fields = task.fields;
        const auto what = fields.status + ": " + (fields.summary.empty() ? fields.branch : fields.summary);
        const bool is_short = task.short_id.starts_with(begun) && !task.short_id.empty();
        names.push_back({is_short ? task.short_id : fields.id.value, what});
        if (!begun.empty()) names.push_back({fields.branch, what});
    }
    return names;
}

std::vector<Candidate> request_names(const Paths& paths, std::string_view begun) {
    rpc::TaskList needs;
    needs.needs = true;
    std::vector<Candidate> names;
    const auto reply = ask_quickly(paths, needs);
    if (!reply) return names;
    for (const auto& task : reply->tasks) {
        if (task.needs.permit == 0) continue;
        const auto number = "." + std::to_string(task.needs.permit);
        const bool is_short = !task.short_id.empty() && (task.short_id + number).starts_with(begun);
        names.push_back({(is_short ? task.short_id : task.fields.id.value) + number, task.needs.text});
    }
    return names;
}

std::vector<Candidate> status_names(const Paths& paths) {
    std::vector<Candidate> names;
    const auto reply = ask_quickly(paths, rpc::WorkflowList{});
    if (!reply) return names;
    for (const auto& workflow : reply->workflows) {
        for (const auto& state : workflow.states) names.push_back({state, {}});
    }
    return names;
}

}  // namespace

std::vector<Candidate> known_names(const Paths& paths, Names what, std::string_view begun) {
    std::vector<Candidate> names;
    if (what == Names::tasks) return task_names(paths, begun);
    if (what == Names::requests) return request_names(paths, begun);
    if (what == Names::statuses) return status_names(paths);
    if (what == Names::hosts) {
        if (const auto hosts = known_hosts(paths)) {
            for (const auto& host : *hosts) names.push_back({host.name, host.ssh});
        }
    } else if (what == Names::projects) {
        if (const auto reply = ask_quickly(paths, rpc::ProjectList{})) {
            for (const auto& project : reply->projects) names.push_back({project.name, project.path});
        }
    } else if (what == Names::workflows) {
        if (const auto reply = ask_quickly(paths, rpc::WorkflowList{})) {
            for (const auto& workflow : reply->workflows) names.push_back({workflow.name, {}});
        }
    } else if (what == Names::executors) {
        if (const auto reply = ask_quickly(paths, rpc::ExecutorList{})) {
            for (const auto& executor : reply->executors) {
                names.push_back({executor.name, executor.installed ? "" : "not installed"});
            }
        }
    } else if (const auto reply = ask_quickly(paths, rpc::HarnessList{})) {
        for (const auto& harness : reply->harnesses) {
            if (what == Names::harnesses) names.push_back({harness.name, harness.installed ? "" : "not installed"});
            if (what != Names::models || !harness.installed) continue;
            for (const auto& model : harness.models) names.push_back({model, "a model of " + harness.name});
        }
    }
    return names;
}

std::vector<Candidate> known_attempts(const Paths& paths, const std::string& task) {
    std::vector<Candidate> names;
    if (task.empty()) return names;
    rpc::TaskCompare compare;
    compare.id = task;
    if (const auto reply = ask_quickly(paths, compare)) {
        for (const auto& each : reply->rows) names.push_back({output::attempt_word(each), each.status});
    }
    return names;
}

std::vector<Candidate> known_tasks_of(const Paths& paths, const std::string& host) {
    std::vector<Candidate> names;
    for (auto& [id, what] : remembered_tasks(paths, host)) names.push_back({std::move(id), std::move(what)});
    return names;
}

Status print_completion_script(const Context& context, const std::string& shell) {
    const std::string script(completion_script(shell));
    if (context.json) return put_json({{"script", script}});
    output::put(script);
    return 0;
}

Status print_candidates(const std::vector<Candidate>& candidates) {
    for (const auto& [word, description] : candidates) {
        output::put(word + (description.empty() ? "" : "\t" + printable(description)) + "\n");
    }
    return 0;
}

}  // namespace orange::commands

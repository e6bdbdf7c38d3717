#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/ids.hpp"

namespace orange {

/// The fields of a task, as TASK.md shows them. Only the daemon's store writes tasks back.
struct Task {
    TaskId id;
    std::string project;
    std::string branch;
    std::optional<std::string> base;
    std::string workflow = "default";
    std::string workflow_hash;
    std::string harness;
    std::string review_harness;
    std::optional<std::string> effort;
    std::optional<std::string> review_effort;
    std::optional<std::string> model;
    std::optional<std::string> review_model;
    std::optional<std::string> permissions;
    std::string executor = {};
    std::string executor_hash = {};
    std::string executor_options = {};
    std::optional<std::string> pr_feedback = {};
    std::string status;
    /// The numeric fields that `when` can test and `increment` / `set_field` can change: review_round, crash_count, and
    /// those of custom workflows. A missing one is 0.
    std::map<std::string, std::int64_t> counters;
    std::string summary;
    std::optional<std::string> workspace;
    std::optional<std::string> tmux_session;
    std::optional<std::string> pr_url;
    std::optional<std::string> attention;
    Timestamp created_at{};
    Timestamp updated_at{};
    std::string extra_frontmatter;
    std::vector<TaskId> blocked_by = {};
    TaskId parent = {};
    std::string budget = {};
    std::optional<std::string> permits = {};
    TaskId on = {};

    /// Describes the fields of TASK.md's frontmatter in their order on disk (docs/files.md).
    void describe_frontmatter(auto& v) {
        v.optional("id", id, "the task's id");
        v.optional("project", project, "the project that it belongs to");
        v.optional("branch", branch, "the branch that it works on");
        // The branch is compared with `base`, but merged into the default branch nevertheless.
        v.sparse("base", base, "where the branch began, if not at the default branch: a full ref or a commit");
        v.optional("workflow", workflow, "name of its workflow");
        v.optional("workflow_hash", workflow_hash, "of the content of the definition that it began with");
        v.optional("harness", harness, "which agent works");
        v.optional("review_harness", review_harness, "which agent reviews");
        v.nullable("effort", effort, "the worker's effort, as its harness names it");
        v.nullable("review_effort", review_effort, "the reviewer's effort");
        v.sparse("model", model, "the worker's model, as its harness's program names it; absent: the program's own");
        v.sparse("review_model", review_model, "the reviewer's model; absent: its program's own");
        v.sparse("permissions", permissions,
                 "full or reduced: what its agents may do without asking; absent: what the workflow says");
        v.sparse("executor", executor, "where its agents run; absent: on this machine, as `local` says");
        v.sparse("executor_hash", executor_hash, "of the content of the executor's definition that it began with");
        v.sparse("executor_options", executor_options, "words that its executor gets besides; absent: none");
        v.sparse("pr_feedback", pr_feedback,
                 "notice or agent: who gets feedback on its pull request; absent: as the setting says");
        v.optional("status", status, "a state of the workflow; only the engine moves it");
        v.counter("review_round", counters, "which review round it is in; 0 before the first");
        v.own_counter("crash_count", counters, "crashes of its agents in a row");
        v.counters("counters", counters, "what a custom workflow counts; in TASK.md, a field each");
        v.optional("summary", summary, "what is to be done, one line; may be empty");
        v.nullable("workspace", workspace, "the workspace that it has");
        v.nullable("tmux_session", tmux_session, "the tmux session of its agents");
        v.nullable("pr_url", pr_url, "its pull request");
        v.nullable("attention", attention,
                   "a sentence for the human; cleared by the next good transition or `orange task ack`");
        v.optional("created_at", created_at, "when it was created");
        v.optional("updated_at", updated_at, "when it was last changed");
        v.sparse("blocked_by", blocked_by, "ids of the tasks that have to be done before it starts");
        v.sparse("parent", parent, "the task that it is a part of");
        v.sparse("on", on, "the task that it is built on: its branch begins with the commits of that one");
        v.sparse("budget", budget,
                 "tokens that it and its sub-tasks may use, as 5M or 400k; 0: no limit; absent: as the setting "
                 "budget.task says");
        v.sparse("permits", permits,
                 "window or inbox: where a program asks that cannot ask in two places; absent: as the setting says");
    }
    void describe(auto& v) {
        describe_frontmatter(v);
        v.sparse("extra_frontmatter", extra_frontmatter,
                 "YAML lines of the frontmatter that Orange does not know; kept and written back");
    }

    std::int64_t counter(const std::string& name) const {
        const auto found = counters.find(name);
        return found == counters.end() ? 0 : found->second;
    }
    std::int64_t review_round() const { return counter("review_round"); }
    std::int64_t crash_count() const { return counter("crash_count"); }

    bool operator==(const Task&) const = default;
};

struct FrontmatterField {
    std::string name;
    bool is_number = false;
    bool is_workflows = false;  ///< a number that a workflow may change
};
/// Returns the frontmatter's fields in their order, without the counters of custom workflows.
const std::vector<FrontmatterField>& frontmatter_fields();

}  // namespace orange

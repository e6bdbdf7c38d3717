#pragma once

#include <optional>
#include <string>
#include <vector>

namespace orange {

/// The properties of a task that a human may choose, at its creation and later.
struct Choices {
    std::optional<std::string> workflow;
    std::optional<std::string> harness;
    std::optional<std::string> review_harness;
    std::optional<std::string> effort;
    std::optional<std::string> review_effort;
    std::optional<std::string> model;
    std::optional<std::string> review_model;
    std::optional<std::string> executor;
    std::optional<std::string> executor_options;
    std::vector<std::string> blocked_by = {};
    std::optional<std::string> budget = {};
    std::optional<std::string> permits = {};

    void describe(auto& v) {
        v.optional("workflow", workflow, "the task's workflow; a new task's default: the project's (human)");
        v.optional("harness", harness, "which agent works, from its next start");
        v.optional("review_harness", review_harness, "which agent reviews, from its next start");
        v.optional("effort", effort, "the worker's effort, as its harness names it; empty: none");
        v.optional("review_effort", review_effort, "the reviewer's effort; empty: none");
        v.optional("model", model,
                   "the worker's model, as its harness's program names it; empty: the program's own; a new task's "
                   "default: the project's");
        v.optional("review_model", review_model, "the reviewer's model; likewise");
        v.optional("executor", executor,
                   "where its agents run, from their next start; a new task's default: its parent's, else the "
                   "project's");
        v.optional("executor_options", executor_options,
                   "words that the executor gets besides, split as a shell does it; empty: none");
        v.sparse("blocked_by", blocked_by,
                 "tasks that have to be done before it starts; of a pending task: more of them");
        v.optional("budget", budget,
                   "tokens that it and its sub-tasks may use, as 5M or 400k; 0: no limit; empty: as the setting "
                   "budget.task says");
        v.optional("permits", permits,
                   "where a program asks that cannot ask in two places, from its next start: window or inbox; empty: "
                   "as the setting permits says (human)");
    }
    bool operator==(const Choices&) const = default;
};

/// Changes of a task outside of transitions; all are made, or none.
struct Edit : Choices {
    std::optional<std::string> summary;
    std::optional<std::string> branch;
    bool sync_branch = false;
    std::optional<std::string> feedback;
    std::optional<std::string> pr_feedback;
    std::vector<std::string> unblock = {};
    /// Checked uploads (daemon/store/uploads.hpp) that come with the feedback of a rejection; no field of task.update.
    std::vector<std::string> files = {};

    void describe(auto& v) {
        v.optional("summary", summary, "new summary, one line");
        v.optional("branch", branch, "rename the task's branch, or switch to that one where it exists");
        v.optional("sync_branch", sync_branch, "take over the branch that the workspace is on");
        Choices::describe(v);
        v.optional("feedback", feedback, "text for ## Feedback, written before the worker is told");
        v.optional("pr_feedback", pr_feedback,
                   "who gets feedback on its pull request: notice (the human) or agent; empty: as the setting says");
        v.sparse("unblock", unblock, "tasks of blocked_by that it no longer waits for");
    }
    bool any() const { return *this != Edit{}; }
    /// Returns true if the edit contains only changes that an agent may make to its own task.
    bool is_an_agents() const {
        Edit allowed;
        allowed.summary = summary;
        allowed.branch = branch;
        allowed.sync_branch = sync_branch;
        return *this == allowed;
    }
    bool operator==(const Edit&) const = default;
};

}  // namespace orange

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/rpc/task_methods.hpp"

/// Several agents at the same task: `orange run --attempts`, `orange compare` and `orange pick`. TaskCreate::attempts
/// makes them.
namespace orange::rpc {

/// The detail `why` of the error of a call that would merge an attempt which is not picked, or its parent while none
/// is. The details `parent` and, of a call for an attempt, `attempt` have the ids that task.pick takes.
inline constexpr const char* k_not_picked = "not_picked";

/// One attempt, as the daemon has measured it.
struct ComparedAttempt {
    std::string id;
    std::string short_id;
    std::string name;
    std::string harness;
    std::string version;
    std::string model;
    std::string effort;
    std::string status;
    std::string means;
    Needs needs;
    bool picked = false;
    bool unpicked = false;
    std::string commit;
    std::string checks;
    std::string verdict;
    std::string verdict_by;
    std::int64_t rounds = 0;
    std::optional<ChangeCounts> changes;
    std::int64_t worked = 0;
    std::int64_t tokens = 0;
    std::int64_t money = 0;
    bool at_least = false;
    std::string note;
    std::vector<std::string> only;
    std::int64_t only_more = 0;
    void describe(auto& v) {
        v.required("id", id, "the attempt: a sub-task");
        v.required("short_id", short_id, "its short id");
        v.required("name", name,
                   "its program and, if several have the same, its number: claude, claude:high, claude 2");
        v.required("harness", harness, "which agent works");
        v.sparse("version", version, "of that program, as it was found last");
        v.sparse("model", model, "the model that really answered its worker; absent: its program has not said");
        v.sparse("effort", effort, "the worker's effort, if one was chosen");
        v.required("status", status, "its status");
        v.optional("means", means, "as in a task's view");
        v.required("needs", needs, "what it needs from its human");
        v.sparse("picked", picked, "a human has picked it");
        v.sparse("unpicked", unpicked, "a human has picked another one");
        v.sparse("commit", commit, "the last commit of its branch, or of its kept work");
        v.required("checks", checks, "the project's checks at that commit: passed, failed or \"not run\"");
        v.sparse("verdict", verdict, "PASS or FAIL, of the review of that commit; absent: it has none");
        v.sparse("verdict_by", verdict_by, "who gave it: the harness of its reviewer");
        v.required("rounds", rounds, "how often it was given to a reviewer since its human moved it");
        v.optional("changes", changes, "its commits, files and lines since its base; absent: not known");
        v.required("worked", worked, "seconds in which it was worked on and reviewed");
        v.required("tokens", tokens, "as budgets count them");
        v.sparse("money", money, "millionths of a dollar, as far as its programs say so");
        v.sparse("at_least", at_least, "a program told nothing of a run: tokens and money are at least these");
        v.sparse("note", note, "what a human should know of it, as a sentence: it crashed, it is stuck");
        v.sparse("only", only, "files that no other attempt changes; at most 1000");
        v.sparse("only_more", only_more, "how many more there are");
    }
};

/// Compares the attempts of a task by facts that the daemon has measured.
struct TaskCompare : TaskSelector {
    static constexpr const char* k_name = "task.compare";
    struct Reply {
        TaskView task;
        std::vector<ComparedAttempt> rows;
        std::vector<std::string> common;
        std::int64_t common_more = 0;
        std::vector<std::string> notes;
        void describe(auto& v) {
            v.required("task", task, "the parent of the attempts; its `picked` is the one that was picked");
            v.required("rows", rows, "its attempts, in the order in which they were asked for; no deleted ones");
            v.required("common", common, "files that all attempts change that have changes; at most 1000");
            v.sparse("common_more", common_more, "how many more there are");
            v.optional("notes", notes, "sentences for a human: what could not be found out");
        }
    };
};

/// Shows the difference between two attempts of one task.
struct TaskCompareDiff : TaskSelector {
    static constexpr const char* k_name = "task.compare_diff";
    std::string a;
    std::string b;
    bool patch = false;
    void describe(auto& v) {
        TaskSelector::describe(v);
        v.required("a", a, "an attempt: its id, or its name as task.compare has it");
        v.required("b", b, "another one");
        v.sparse("patch", patch, "show the changes, too: `stat` and `text`");
    }
    struct Reply {
        std::string repository;
        std::string a;
        std::string b;
        std::string from;
        std::string to;
        ChangeCounts changes;
        std::string stat;
        std::string text;
        bool cut = false;
        void describe(auto& v) {
            v.required("repository", repository, "where to run git diff: the project's own repository");
            v.required("a", a, "the id of the first attempt");
            v.required("b", b, "the id of the second one");
            v.required("from", from, "the commit of the first, or a tree with what is not committed, too");
            v.required("to", to, "likewise of the second");
            v.required("changes", changes, "how much differs; `commits` is 0");
            v.sparse("stat", stat, "with `patch`: the files, as git diff --stat shows them");
            v.sparse("text", text, "with `patch`: what git diff shows, without colours; at most 512 KiB");
            v.sparse("cut", cut, "`text` is not all of it");
        }
    };
};

/// Picks the attempt that is kept. The others are cancelled, and their work is kept.
struct TaskPick : TaskSelector {
    static constexpr const char* k_name = "task.pick";
    using Reply = TaskReply;
    std::optional<std::string> attempt;
    void describe(auto& v) {
        TaskSelector::describe(v);
        v.optional("attempt", attempt,
                   "the attempt: its id, or its name as task.compare has it; absent: the selected task is the attempt");
    }
};

}  // namespace orange::rpc

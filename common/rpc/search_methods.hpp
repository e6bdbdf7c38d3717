#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/model/fields.hpp"
#include "common/rpc/task_view.hpp"

/// Parameters and results of `task.search`.
namespace orange::rpc {

/// A line of a task's texts in which the text was found.
struct SearchHit {
    std::string task;
    std::string short_id;
    std::string project;
    std::string summary;
    std::string kind;
    std::string section;
    std::string event;
    std::string window;
    std::string run;
    Timestamp at{};
    std::string commit;
    std::int64_t line = 0;
    std::string text;
    std::int64_t more = 0;
    void describe(auto& v) {
        v.required("task", task, "the task's id");
        v.required("short_id", short_id, "the beginning of it that people type");
        v.required("project", project, "its project");
        v.required("summary", summary, "its summary");
        v.required("kind", kind, "task (TASK.md), kept (lines that went from it), history, or log (an agent's window)");
        v.sparse("section", section, "of task and kept: the heading above the line");
        v.sparse("event", event, "of history: the event's type");
        v.sparse("window", window, "of log: worker, worker-2, review-1 …");
        v.sparse("run", run, "of log: the run's id");
        v.required("at", at, "when the event happened, or when the file was written last");
        v.sparse("commit", commit, "the commit that the event or the review is about; else the task's reviewed one");
        v.required("line", line, "the number of the line in its file");
        v.required("text", text, "the line, or what is around the text in it, printable");
        v.sparse("more", more, "how many further lines of this file have the text at least, which are left out");
    }
};

struct TaskSearch {
    static constexpr const char* k_name = "task.search";
    std::string text;
    std::string in = "all";
    std::optional<std::string> since;
    std::optional<std::string> project;
    bool regex = false;
    std::optional<std::string> after;
    bool views = false;
    void describe(auto& v) {
        v.required("text", text, "one line of at most 500 bytes; capitals matter if it has one");
        v.optional("in", in,
                   "tasks (TASK.md, kept texts, history), reviews (reviews and feedback in TASK.md, reviewers' "
                   "windows), logs (agents' windows) or all");
        v.optional("since", since, "only what was written since: 90s, 10m, 3h, 2d ago, or an RFC 3339 time");
        v.optional("project", project, "only this project's tasks");
        v.sparse("regex", regex, "the text is an extended regular expression, as grep -E knows them");
        v.optional("after", after, "the next page: the `next` of a reply");
        v.sparse("views", views, "add the tasks of the hits");
    }
    struct Reply {
        std::vector<SearchHit> hits;
        std::vector<TaskView> tasks;
        std::optional<std::string> next;
        void describe(auto& v) {
            v.required("hits", hits, "by task, the one that was changed last first; of a task the newest first");
            v.sparse("tasks", tasks, "with `views`: the tasks of the hits");
            v.optional("next", next,
                       "the `after` of the next page, which a page without hits may have; absent: the end");
        }
    };
};

}  // namespace orange::rpc

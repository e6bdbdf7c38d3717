#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/rpc/task_methods.hpp"

/// Several tasks that are merged one onto the other: `orange merge A B C`, and `* m` of the dashboard.
namespace orange::rpc {

/// Asks for the order in which train.merge should merge tasks.
struct TrainOrder {
    static constexpr const char* k_name = "train.order";
    std::vector<std::string> ids;
    bool as_given = false;
    void describe(auto& v) {
        v.required("ids", ids, "the tasks, each named as in task.merge");
        v.optional("as_given", as_given, "keep their order, and say what clashes in it");
    }
    struct Place {
        std::string id;
        std::string short_id;
        std::string summary;
        std::string reason;
        void describe(auto& v) {
            v.required("id", id, "the task's id");
            v.required("short_id", short_id, "its short id");
            v.optional("summary", summary, "its summary");
            v.required("reason", reason, "why it has this place, for a human");
        }
    };
    struct Reply {
        std::vector<Place> places;
        void describe(auto& v) {
            v.required("places", places, "the tasks in the order that conflicts least; each project's together");
        }
    };
};

/// The outcomes of a task of a train.
inline constexpr const char* k_train_merged = "merged";
inline constexpr const char* k_train_back = "back";
inline constexpr const char* k_train_left = "left";
inline constexpr const char* k_train_opened = "opened";

/// Merges tasks one after the other, each onto the result of the one before it.
struct TrainMerge : MergeOptions {
    static constexpr const char* k_name = "train.merge";
    std::vector<std::string> ids;
    void describe(auto& v) {
        v.required("ids", ids, "the tasks in the order in which they are merged, each named as in task.merge");
        MergeOptions::describe(v);
    }
    struct Car {
        TaskView task;
        std::string outcome;
        std::string reason;
        bool needs_force = false;
        std::string commit;
        bool pushed = false;
        bool elsewhere = false;
        std::int64_t pull = 0;
        std::string forced;
        std::vector<std::string> notes;
        void describe(auto& v) {
            v.required("task", task, "the task as it is now");
            v.required("outcome", outcome,
                       "merged; back: its worker has it again; left: nothing was changed; opened: a pull request was "
                       "opened instead");
            v.optional("reason", reason, "why it is not merged, for a human; empty: it is merged");
            v.sparse("needs_force", needs_force, "it was left because a human has to confirm what task.merge says");
            v.optional("commit", commit, "as in task.merge; empty: it is not merged");
            v.optional("pushed", pushed, "this call has pushed it to origin");
            v.optional("elsewhere", elsewhere, "the work was there already; nothing was merged");
            v.sparse("pull", pull, "the pull request that brought it; absent: none");
            v.optional("forced", forced, "what was confirmed with force; empty if nothing had to be");
            v.optional("notes", notes, "sentences for a human");
        }
    };
    struct Reply {
        std::vector<Car> ends;
        void describe(auto& v) {
            v.required("ends", ends,
                       "what became of each task: merged ones first, in the order of their merges, then the others, "
                       "as in `ids`");
        }
    };
};

}  // namespace orange::rpc

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.hpp"
#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/decide.hpp"

/// Tasks that wait for other tasks to be done. Pure.
namespace orange::engine {

/// The state of a task that another one waits for. The end of that task counts when it is finished: its branch is
/// merged and its workspace is free.
enum class BlockerState {
    open,
    done,
    gone,  ///< ended in another way, deleted, or unreadable: it will never be done
};
std::string_view name_of(BlockerState state);

struct Blocker {
    TaskId id;
    BlockerState state = BlockerState::open;
    std::string short_id = {};
    std::string fate = {};  ///< what became of a blocker that is gone: "is deleted"
};

/// The task that another one is built on (Task::on), as that one finds it.
struct Below {
    enum class State {
        open,      ///< it is worked on
        reviewed,  ///< only its human's merge is left
        done,
        gone,  ///< as BlockerState::gone
    };
    TaskId id;
    State state = State::open;
    std::string short_id = {};
    std::string seen = {};     ///< names the state, and the commit
    std::string fate = {};     ///< what became of one that is gone: "is deleted"
    bool is_changing = false;  ///< it is between two states, and nothing follows from that
};
/// The value of Below::seen for a task that is done.
inline constexpr std::string_view k_below_done = "done";

/// Returns the sentence, with the ways out, for the human of a task that waits for tasks that are gone.
std::string gone_text(const std::vector<Blocker>& gone);

/// Returns the tasks that a task waits for.
using BlockersOf = std::function<std::vector<TaskId>(const TaskId&)>;

/// Returns the cycle that exists if `task` waits for `blockers`: the way from `task` back to itself, with `task` first
/// and last; empty if there is none. Visits each task once.
std::vector<TaskId> cycle_through(const TaskId& task, const std::vector<TaskId>& blockers, const BlockersOf& of);

/// Returns guard_failed with the message `why` if the task waits for other tasks and the decision does not end it.
/// `why` names the tasks and the way out.
Result<void> may_leave(const TaskRecord& record, const Definition& definition, const Decision& decision,
                       std::string why);

}  // namespace orange::engine

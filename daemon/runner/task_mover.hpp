#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/workflow/library.hpp"

namespace orange {

/// What a call tells its human beside the task itself.
struct Outcome {
    std::vector<std::string> notes;
    std::string spawn_error;  ///< why an agent that was to start did not; empty: all did
};

/// A task's text, with its two copies in step.
struct Stepped {
    engine::Artifacts artifacts;
    std::string body;
    std::optional<std::string> attention_before;  ///< what a transition clears; what came with this look stays
};

/// Whoever moves tasks, for those who prepare a move of their own: a merge ends in one. Every function is called under
/// the task's lock.
class TaskMover {
  public:
    virtual ~TaskMover() = default;

    /// The task's record without an intent: what was interrupted is finished first.
    virtual Awaitable<Result<TaskRecord>> settled(TaskId id) = 0;

    /// Brings both copies of TASK.md in step.
    virtual Awaitable<Result<Stepped>> step_bodies(TaskRecord& record) = 0;

    /// What was decided, from taking a workspace to the task's history. `record` may differ from what is saved.
    virtual Awaitable<Result<Outcome>> perform(TaskRecord record, workflow::Library::DefinitionPtr definition,
                                               engine::Decision decision, Stepped stepped, Caller by) = 0;

    /// Tells whoever watches the task that it is another now.
    virtual void changed(const TaskId& id) = 0;
};

}  // namespace orange

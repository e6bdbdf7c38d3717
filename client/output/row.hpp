#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.hpp"
#include "common/model/activity.hpp"
#include "common/model/clash.hpp"
#include "common/model/needs.hpp"
#include "common/model/pull_request.hpp"
#include "common/rpc/task_view.hpp"

namespace orange::output {

/// The part of a task that the dashboard keeps for its row and its keys; the panes request the rest. Ten thousand rows
/// must fit into a few megabytes.
struct Row {
    enum class Agents : std::uint8_t { none, dead, alive, unknown };
    enum class Preview : std::uint8_t { none, starting, running, ended };
    struct Pull {
        int number = 0;
        PullState state = PullState::open;
        PullChecks checks = PullChecks::none;
        PullReview review = PullReview::none;
        bool conflicts = false;
    };

    std::string id, short_id, project, branch, summary, workflow, status;
    std::string file;             ///< path of its TASK.md; empty: unknown
    std::string pr_url;           ///< empty: no pull request
    std::string needs_text;       ///< what it needs from its human, or what is going on
    OrangeCommand needs_command;  ///< the command for that need
    std::string alarm;            ///< one line; empty: none
    std::string parent;           ///< id of its parent; empty: none
    std::string attempt;          ///< its name among the attempts of its parent; empty: it is none
    std::string picked;           ///< id of its attempt that was picked; empty: none was, or it has no attempts
    std::string merges_into;      ///< its parent's branch, if it is merged into that
    std::string on;               ///< id of the task that it is built on; empty: none
    std::string after;            ///< the task, or the number of tasks, that it waits for before its start; empty: none
    std::string tokens;           ///< what its agents used, as lists show it; empty: no agent of it has begun
    std::string preview_url;      ///< where its human can try its work; empty: it does not run
    std::string unreadable;       ///< why its files cannot be read, one line; empty: they can
    Timestamp updated_at{}, needs_since{}, active_since{};
    std::optional<Pull> pull;
    std::vector<Clash> clashes;
    std::uint32_t offers = 0;  ///< bits for can(): what its human can do with it now
    std::int32_t queue_place = 0, review_round = 0;
    std::uint16_t host = 0;                        ///< the dashboard's number of the task's machine; 0: this one
    std::int16_t children = 0, children_done = 0;  ///< the number of its sub-tasks, and of the done ones
    std::uint16_t attempts = 0;                    ///< how many agents try it, each in a sub-task
    std::uint16_t drafts = 0, answered = 0;        ///< comments that are not sent, and answered ones
    Need needs = Need::nothing;
    Agents worker = Agents::none, reviewer = Agents::none;
    Preview preview = Preview::none;        ///< the command with which its human tries its work
    Activity activity = Activity::unknown;  ///< of the living agent
    bool ended = false;
    bool unpicked = false;     ///< an attempt that ended because another one was picked
    bool initial = false;      ///< it has not started
    bool blocked = false;      ///< before its start it waits for other tasks, an approval, or room for its agent
    bool in_progress = false;  ///< the actions of a transition still run
    bool has_worktree = false;
    bool permit = false;  ///< its need is a request of its agent's program, which waits for an answer
    bool noted = false;   ///< it has a notice besides its need, such as a review that is not verified
};

Row row_of(const rpc::TaskView& task);

/// Returns true if the daemon offers `what` for the task (TaskView::can); false for an unknown name.
bool can(const Row& task, std::string_view what);
/// Returns true if its human can only read and delete it, because its workflow cannot be read.
bool offers_nothing(const Row& task);
/// Removes `what` from the offers.
void forbid(Row& task, std::string_view what);

inline bool is_alive(const Row& task) {
    return task.worker == Row::Agents::alive || task.reviewer == Row::Agents::alive;
}
/// Returns true while its human tries its work.
inline bool is_tried(const Row& task) {
    return task.preview == Row::Preview::starting || task.preview == Row::Preview::running;
}
/// Returns false if the dead agent is not needed, because the other one works, or a human decides.
inline bool is_dead(const Row& task) {
    const bool any = task.worker == Row::Agents::dead || task.reviewer == Row::Agents::dead;
    return any && task.needs != Need::review && (!is_alive(task) || task.needs_command.verb == "task respawn");
}
/// Returns "2 comments not sent, 3 answered"; empty if there is nothing to say of its comments.
std::string comments_fact(const Row& task);
/// Returns the task's name for people: its summary, or else its branch, or else its id.
std::string title_of(const Row& task);
/// Returns a short title for use in a sentence, and the same in quotes.
std::string short_title(const Row& task);
std::string quoted_title(const Row& task);

}  // namespace orange::output

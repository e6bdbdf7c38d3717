#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/comment.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/comments.hpp"
#include "daemon/forge/forge.hpp"
#include "daemon/runner/branch/branch.hpp"
#include "daemon/runner/transitions/turns.hpp"

/// The human's comments on the lines of a task's work (docs/review.md): written one by one, sent with a rejection as
/// one list, answered by the worker with its handover.
///
/// They are in comments.json beside TASK.md, which only this owner writes, in the task's turn and before its caller
/// gets an answer. engine/comments.hpp has the rules, and says why a killed daemon sends once.
namespace orange {

/// A comment that is to be made.
struct NewCommentText {
    /// `commit`: in which the caller has seen the lines; empty: as the work is now. `text`: the lines that were seen.
    CommentAnchor anchor;
    bool has_seen = false;  ///< `anchor.text` is what the caller saw: if it does not stand there now, it is refused
    std::string text;
    std::string origin = {};
};

/// The place of a comment's lines in the work as it is now.
struct CommentPlace {
    enum class Kind { here, moved, outdated };
    Kind kind = Kind::outdated;
    std::string path;  ///< the file as it is called now; empty for a section
    std::int64_t line = 0;
    std::int64_t end = 0;
};
inline constexpr NameRow<CommentPlace::Kind> k_comment_places[] = {
    {CommentPlace::Kind::here, "here"},
    {CommentPlace::Kind::moved, "moved"},
    {CommentPlace::Kind::outdated, "outdated"},
};
static_assert(has_row_for_each<k_comment_places>());
constexpr std::string_view name_of(CommentPlace::Kind kind) {
    return k_comment_places[static_cast<std::size_t>(kind)].name;
}

/// A comment with its place.
struct PlacedComment {
    Comment comment;
    CommentPlace place;
};

enum class CommentChange { edit, remove, resolve, reopen, ask, take };
inline constexpr NameRow<CommentChange> k_comment_changes[] = {
    {CommentChange::edit, "edit"},     {CommentChange::remove, "remove"}, {CommentChange::resolve, "resolve"},
    {CommentChange::reopen, "reopen"}, {CommentChange::ask, "ask"},       {CommentChange::take, "take"},
};
static_assert(has_row_for_each<k_comment_changes>());
constexpr std::string_view name_of(CommentChange change) {
    return k_comment_changes[static_cast<std::size_t>(change)].name;
}
constexpr std::optional<CommentChange> from_name(std::string_view name, CommentChange) {
    return kind_named(k_comment_changes, name);
}

class Comments : Owner {
  public:
    explicit Comments(Runner& runner);
    ~Comments();

    /// Reads a task's comments; an empty list if it has none. io if comments.json is there and cannot be read.
    Result<CommentList> read(const TaskRecord& record) const;
    /// Returns how many of each state it has. Reads the file of an active task once; of an ended one, never: none.
    CommentCounts counts(const TaskRecord& record) const;

    /// Makes comments on lines of the work as it is now, all or none, and returns their numbers. invalid_argument for a
    /// place that is not there, conflict if other lines stand there than the caller has seen.
    Awaitable<Result<std::vector<std::int64_t>>> add(TaskId id, std::vector<NewCommentText> texts);
    /// Changes comments, all or none. not_found for a number that is not there, conflict for one whose state does not
    /// allow it.
    Awaitable<Result<void>> change(TaskId id, std::vector<std::int64_t> numbers, CommentChange change,
                                   std::string text);

    /// Returns the comments with the places of their lines between `changes.base` and `changes.tip`, and in `body`. A
    /// place that cannot be found out is outdated; without `changes`, that of each file.
    Awaitable<std::vector<PlacedComment>> placed(CommentList list, std::optional<Changes> changes, std::string body);

    /// Called in a turn before the task goes back to its worker in the state `to`: gives these drafts the next step, in
    /// the file, and sets the step in `record`, which the caller saves with the transition. Returns the text of
    /// ## Feedback; without drafts that is `free`, and nothing is written. `body` is TASK.md's.
    Awaitable<Result<std::string>> send(TaskRecord& record, std::string free, std::string to, std::string body,
                                        engine::Drafts which);
    /// Called in a turn before a transition is saved: puts the answers of its section into the file, and sets the step
    /// in `record`. Does nothing for a task whose comments were never sent.
    Result<void> take_answers(TaskRecord& record, const engine::Definition& definition, const engine::Artifacts& now,
                              const std::string& from, const std::string& to);

    /// Called in a turn: makes comments of the review threads of a pull request that are not resolved, and new texts of
    /// those in which people who may push said more. Texts of strangers only get into comments that are outside. A
    /// thread that is known is not made twice, and what was said about a comment that waits for the worker's answer is
    /// taken after that. Returns true if anything is new; then it is written.
    Result<bool> adopt(const TaskRecord& record, const std::vector<PullThread>& threads);

  private:
    Result<void> write(const TaskRecord& record, const CommentList& list);
    Awaitable<Result<void>> find_lines(TaskRecord& record, std::vector<NewCommentText>& texts);

    mutable std::map<TaskId, std::pair<std::int64_t, CommentCounts>>
        counts_;  ///< with their step; of tasks that were asked for
    int observer_ = 0;
};

}  // namespace orange

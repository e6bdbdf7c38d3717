#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/comment.hpp"
#include "daemon/engine/definition.hpp"

/// The human's comments on lines: which are sent and answered, the list that the worker reads, and its answers.
///
/// A text is sent, and an answer is taken, by a transition. comments.json is written first, with the next step of the
/// task; the transition's own write of state.json then makes that step the task's `comment_step`. What has a higher
/// step does not count, so a daemon that is killed between the two writes has sent and taken nothing.
namespace orange::engine {

enum class CommentState { draft, sent, answered, resolved, outside };
inline constexpr NameRow<CommentState> k_comment_states[] = {
    {CommentState::draft, "draft"},       {CommentState::sent, "sent"},       {CommentState::answered, "answered"},
    {CommentState::resolved, "resolved"}, {CommentState::outside, "outside"},
};
static_assert(has_row_for_each<k_comment_states>());
constexpr std::string_view name_of(CommentState state) {
    return k_comment_states[static_cast<std::size_t>(state)].name;
}

/// Returns the state in words: "not sent yet".
std::string_view text_of(CommentState state);

/// Returns the state of a comment of a task that is at this step.
CommentState state_of(const Comment& comment, std::int64_t step);
CommentCounts counts_of(const CommentList& list, std::int64_t step);
/// Returns the numbers that the worker has to answer, each with its last answer, which does not count again; empty if
/// there is none.
std::map<std::int64_t, std::string> unanswered(const CommentList& list, std::int64_t step);

/// The drafts to send: those of a pull request alone, when Orange sends a task back by itself.
enum class Drafts { all, of_pull_request };
bool is_meant(const Comment& comment, std::int64_t step, Drafts which);

/// Forgets what did not happen: texts that were to be sent, and answers that were to be taken, with a later step.
void settle(CommentList& list, std::int64_t step);

/// Gives these drafts the step after `step`: they are sent when the task has that step. `section` is what the worker
/// has written where it answers: what stands there under their numbers is no answer to them.
void send_drafts(CommentList& list, std::int64_t step, const std::set<std::int64_t>& numbers, std::string_view section);

/// Puts the answers that stand in a section's text under the comments that wait for one, with the step after `step`.
/// Returns false if there was none.
bool take_answers(CommentList& list, std::int64_t step, std::string_view section, Timestamp now);

/// Returns the answers in a section's text, by number: "1: ..." at the beginning of a line, also as an item of a list
/// or with "#"; of several the first. An answer ends before the next one, an empty line, a heading or a field such as
/// "DONE:". Lines in a fence are no answers.
std::map<std::int64_t, std::string> answers_in(std::string_view section);

/// Returns why the section does not answer all of `open` (unanswered()), as a sentence that says what to write; empty
/// if it does.
std::string answer_problem(const std::string& heading, std::string_view section,
                           const std::map<std::int64_t, std::string>& open);

/// Returns the section in which the worker answers comments that are sent with a move to the state `to`.
std::string answers_section(const Definition& definition, std::string_view to);
/// Returns the section from which the transition takes answers: that of its gate; without one, when the worker's part
/// ends, where the workflow's other gates or its workers by habit have them. Empty if it takes none.
std::string taken_section(const Definition& definition, std::string_view from, std::string_view to);

/// A text for ## Feedback, and the drafts that it sends.
struct CommentLetter {
    std::string text;
    std::set<std::int64_t> drafts;  ///< at least one, if one is meant; the others did not fit
};

/// Returns the human's free text, and below it as numbered items these drafts and what was sent before and is not
/// answered, with place, quoted lines and text. Every text of the comments is indented as far as code is, so that no
/// line of it is read as a heading or a fence. `places`: where each comment stands now, as "src/cart.py:12".
CommentLetter letter_of(std::string_view free, const CommentList& list, std::int64_t step, Drafts which,
                        const std::map<std::int64_t, std::string>& places, const std::string& section);

/// A line of ## Review that names lines of a file.
struct LineRemark {
    std::string path;
    std::int64_t line = 0;
    std::int64_t end = 0;
    std::string text;

    bool operator==(const LineRemark&) const = default;
};

/// Returns the remarks in the text of ## Review, one for each line such as "src/cart.py:12: text" or
/// "- `src/cart.py:12-14`: text". Lines that follow it and are indented belong to it.
std::vector<LineRemark> remarks_in(std::string_view review);

}  // namespace orange::engine

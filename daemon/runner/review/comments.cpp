#include "daemon/runner/review/comments.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "common/base/shown_path.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/runner/review/comment_places.hpp"
#include "daemon/runner/runner.hpp"
#include "daemon/store/comment_file.hpp"

namespace orange {
namespace {

constexpr std::size_t k_longest_comment = 16 << 10;
constexpr std::size_t k_longest_quote = 64 << 10;
constexpr std::int64_t k_most_lines_of_comment = 500;
constexpr std::size_t k_most_comments = 2000;
constexpr std::size_t k_commit_columns = 9;

Error no_comment(const TaskRecord& record, std::int64_t number) {
    const auto& id = record.task.id.value;
    return {ErrorCode::not_found, "task " + id + " has no comment " + std::to_string(number) +
                                      ". To see its comments:\n  orange comments " + id};
}

Result<void> check_text(const std::string& text) {
    if (trim(text).empty()) return Error(ErrorCode::invalid_argument, "the comment is empty; write what should change");
    if (!is_valid_utf8(text)) return Error(ErrorCode::invalid_argument, "the comment is not valid UTF-8");
    if (text.size() <= k_longest_comment) return {};
    return Error(ErrorCode::invalid_argument, "the comment has " + std::to_string(text.size()) + " bytes; at most " +
                                                  std::to_string(k_longest_comment) +
                                                  " are allowed. Say more in the text of the rejection");
}

Result<void> check_lines(const CommentAnchor& anchor) {
    if (anchor.section.empty() && !review::is_file_path(anchor.path)) {
        return Error(
            ErrorCode::invalid_argument,
            "\"" + printable(anchor.path) +
                "\" is no path of a file of the repository: name it from the repository's root, as src/cart.py");
    }
    if (!anchor.commit.empty() && !review::is_object_id(anchor.commit)) {
        return Error(ErrorCode::invalid_argument, "commit is a whole object id, as task.diff gives it in tip and base");
    }
    if (anchor.line < 1 || anchor.end < anchor.line) {
        return Error(ErrorCode::invalid_argument,
                     "lines are counted from 1, and a range ends at or after its beginning");
    }
    if (anchor.end - anchor.line < k_most_lines_of_comment) return {};
    return Error(ErrorCode::invalid_argument,
                 "a comment is about at most " + std::to_string(k_most_lines_of_comment) + " lines; choose fewer");
}

/// "src/cart.py:12-14", ":-12" for a line of the base, "## Plan:3" for one of TASK.md.
std::string place_text(const CommentAnchor& anchor, const CommentPlace& place) {
    std::string text = anchor.section.empty() ? shown_path(place.path) : "## " + printable(anchor.section);
    text += anchor.side == DiffSide::before ? ":-" : ":";
    text += std::to_string(place.line);
    if (place.end > place.line) text += "-" + std::to_string(place.end);
    if (place.kind != CommentPlace::Kind::outdated) return text;
    const auto at = anchor.commit.empty() ? std::string() : " in " + anchor.commit.substr(0, k_commit_columns);
    return text + " (as it was" + at + "; these lines are changed or gone)";
}

Error not_there(const CommentAnchor& anchor, std::string_view text) {
    const auto count = std::count(text.begin(), text.end(), '\n') + (text.empty() || text.ends_with('\n') ? 0 : 1);
    const auto name = anchor.section.empty() ? shown_path(anchor.path) : "## " + printable(anchor.section);
    return {ErrorCode::invalid_argument, name + (anchor.side == DiffSide::before ? " had " : " has ") +
                                             counted(static_cast<std::size_t>(count), "line") +
                                             ", and the comment is about line " + std::to_string(anchor.end)};
}

/// Sets the anchor's text to the lines of the text, after the caller's own idea of them was compared with it.
Result<void> take_lines(CommentAnchor& anchor, bool has_seen, std::string_view text) {
    const auto lines = review::lines_of(text, anchor.line, anchor.end);
    if (!lines) return not_there(anchor, text);
    if (lines->size() > k_longest_quote) {
        return Error(ErrorCode::invalid_argument, "these lines have " + std::to_string(lines->size()) +
                                                      " bytes, and a comment is about at most " +
                                                      std::to_string(k_longest_quote) +
                                                      ". Choose fewer lines, or say it in the text of the rejection");
    }
    auto now = review::as_text(*lines);
    if (has_seen && anchor.text != now) {
        const auto name = anchor.section.empty() ? shown_path(anchor.path) : "## " + printable(anchor.section);
        return Error(ErrorCode::conflict, name + " has changed since you saw it: line " + std::to_string(anchor.line) +
                                              " is now \"" + ellipsized(printable(first_line(now)), 80) +
                                              "\". Look at it again, and comment on what stands there now");
    }
    anchor.text = std::move(now);
    return {};
}

/// Changes one comment; an Error says why its state does not allow it.
Result<void> apply_change(Comment& comment, std::int64_t step, CommentChange change, const std::string& text,
                          Timestamp now) {
    using engine::CommentState;
    const auto state = engine::state_of(comment, step);
    const auto name = "comment " + std::to_string(comment.number) + " is " + std::string(engine::text_of(state));
    const auto refuse = [&](const std::string& way) { return Error(ErrorCode::conflict, name + "; " + way); };
    auto& last = comment.turns.back();
    switch (change) {
        case CommentChange::edit:
            if (state != CommentState::draft) return refuse("only a draft can be changed. Write another comment");
            last = CommentTurn{text, now};
            return {};
        case CommentChange::remove:
            if (state != CommentState::draft && state != CommentState::outside) {
                return refuse("only a draft can be removed. Resolve it, if it does not matter any more");
            }
            if (comment.turns.size() == 1 && !comment.thread.empty()) {
                comment.resolved = true;  // the pull request would bring it back
                return {};
            }
            comment.turns.pop_back();
            return {};
        case CommentChange::resolve:
            if (state == CommentState::draft) return refuse("remove it instead");
            comment.resolved = true;
            return {};
        case CommentChange::reopen:
            if (state != CommentState::resolved) return refuse("only a resolved one can be reopened");
            comment.resolved = false;
            return {};
        case CommentChange::ask:
            if (state != CommentState::answered && state != CommentState::resolved) {
                return refuse("only an answered one can be asked again");
            }
            comment.resolved = false;
            if (engine::state_of(comment, step) != CommentState::answered) {
                return refuse("it was resolved without an answer. Reopen it instead");
            }
            comment.turns.push_back({text, now});
            return {};
        case CommentChange::take:
            if (state != CommentState::outside) return refuse("only one from outside can be taken over");
            comment.outside = false;
            return {};
    }
    return {};
}

}  // namespace

Comments::Comments(Runner& runner) : Owner(runner) {
    observer_ = world_.tasks.observe([this](const TaskId& id) {
        if (world_.tasks.awake(id) == nullptr) counts_.erase(id);
    });
}

Comments::~Comments() {
    world_.tasks.unobserve(observer_);
}

Result<CommentList> Comments::read(const TaskRecord& record) const {
    TRY(auto list, store::read_comments(world_.files, world_.tasks.folder(record), record.comment_step));
    engine::settle(list, record.comment_step);
    return list;
}

Result<void> Comments::write(const TaskRecord& record, const CommentList& list) {
    counts_.erase(record.task.id);
    TRY(store::write_comments(world_.files, world_.tasks.folder(record), list));
    HistoryEvent event;
    event.type = "task.commented";
    const auto counts = engine::counts_of(list, record.comment_step);
    event.fields = {{"drafts", counts.drafts}, {"sent", counts.sent}, {"answered", counts.answered}};
    world_.journal.publish(record.task.id, record.task.project, std::move(event));
    return {};
}

CommentCounts Comments::counts(const TaskRecord& record) const {
    if (store::has_ended(record)) return {};
    const auto known = counts_.find(record.task.id);
    if (known != counts_.end() && known->second.first == record.comment_step) return known->second.second;
    const auto list = read(record);
    const auto counts = list ? engine::counts_of(*list, record.comment_step) : CommentCounts();
    counts_[record.task.id] = {record.comment_step, counts};
    return counts;
}

Awaitable<Result<std::vector<std::int64_t>>> Comments::add(TaskId id, std::vector<NewCommentText> texts) {
    if (texts.empty()) co_return Error(ErrorCode::invalid_argument, "there is no comment");
    for (const auto& each : texts) {
        CO_TRY(check_text(each.text));
        CO_TRY(check_lines(each.anchor));
    }
    CO_TRY(auto turn, co_await turns_.begin_turn(id));
    auto& record = turn.record;
    if (store::has_ended(record)) {
        co_return Error(ErrorCode::conflict, "task " + id.value + " is " + record.task.status +
                                                 ", and nobody would read the comment. To go on with its work:\n  "
                                                 "orange task restore " +
                                                 id.value + " --create");
    }
    CO_TRY(auto list, read(record));
    if (list.comments.size() + texts.size() > k_most_comments) {
        co_return Error(ErrorCode::conflict, "task " + id.value + " has " + counted(list.comments.size(), "comment") +
                                                 ", and at most " + std::to_string(k_most_comments) + " are kept");
    }
    CO_TRY(co_await find_lines(record, texts));
    std::vector<std::int64_t> numbers;
    for (auto& each : texts) {
        Comment comment;
        comment.number = list.next++;
        comment.anchor = std::move(each.anchor);
        comment.turns.push_back({std::string(trim(each.text)), world_.clock.now()});
        comment.origin = std::move(each.origin);
        numbers.push_back(comment.number);
        list.comments.push_back(std::move(comment));
    }
    CO_TRY(write(record, list));
    co_return numbers;
}

/// Finds the lines of new comments in the work as it is now. Git is asked once for each file.
Awaitable<Result<void>> Comments::find_lines(TaskRecord& record, std::vector<NewCommentText>& texts) {
    const auto is_of_file = [](const NewCommentText& each) { return each.anchor.section.empty(); };
    const auto is_of_now = [&](const NewCommentText& each) { return is_of_file(each) && each.anchor.commit.empty(); };
    CO_TRY(const auto project, registered_project(world_, record.task.project));
    std::optional<Changes> changes;
    if (std::ranges::any_of(texts, is_of_now)) {
        auto known = runner_.committed.known(record.task.id);
        CO_TRY(changes, co_await changes_of(world_, record, std::move(known)));
    }
    std::string body;
    if (!std::ranges::all_of(texts, is_of_file)) {
        CO_TRY(auto synced, co_await turns_.sync_bodies(record));
        body = std::move(synced.body);
    }
    struct File {
        std::string commit, text;
    };
    std::map<std::tuple<std::string, DiffSide, std::string>, File> files;
    for (auto& each : texts) {
        auto& anchor = each.anchor;
        if (!anchor.section.empty()) {
            const auto section = review::section_in(body, anchor.section);
            if (!section) {
                co_return Error(ErrorCode::invalid_argument, "TASK.md has no section ## " + printable(anchor.section) +
                                                                 ". To comment on a file of that name, write ./" +
                                                                 printable(anchor.section));
            }
            CO_TRY(take_lines(anchor, each.has_seen, *section));
            continue;
        }
        const auto key = std::tuple(anchor.commit, anchor.side, anchor.path);
        if (!files.contains(key)) {
            auto& [commit, text] = files[key];
            commit = anchor.commit;
            if (commit.empty()) commit = anchor.side == DiffSide::now ? changes->tip : changes->base;
            CO_TRY(text, co_await review::file_in(world_.git, project.path, commit, anchor.path));
            if (anchor.side == DiffSide::now) {
                // A commit stays, and a tree of uncommitted files may not.
                const auto tip = co_await git::branch_tip(world_.git, project.path, record.task.branch);
                if (tip && !tip->empty() && *tip != commit) {
                    const auto committed = co_await review::file_in(world_.git, project.path, *tip, anchor.path);
                    if (committed && *committed == text) commit = *tip;
                }
            }
        }
        const auto& [commit, text] = files[key];
        CO_TRY(take_lines(anchor, each.has_seen, text));
        anchor.commit = commit;
    }
    co_return Result<void>{};
}

Awaitable<Result<void>> Comments::change(TaskId id, std::vector<std::int64_t> numbers, CommentChange change,
                                         std::string text) {
    const bool has_text = change == CommentChange::edit || change == CommentChange::ask;
    if (has_text) CO_TRY(check_text(text));
    if (!has_text && !text.empty()) {
        co_return Error(ErrorCode::invalid_argument, "a text belongs to edit and ask alone");
    }
    if (numbers.empty()) co_return Error(ErrorCode::invalid_argument, "no comment is named");
    CO_TRY(auto turn, co_await turns_.begin_turn(id));
    const auto& record = turn.record;
    CO_TRY(auto list, read(record));
    for (const auto number : std::set<std::int64_t>(numbers.begin(), numbers.end())) {
        const auto comment = std::ranges::find(list.comments, number, &Comment::number);
        if (comment == list.comments.end()) co_return no_comment(record, number);
        CO_TRY(apply_change(*comment, record.comment_step, change, std::string(trim(text)), world_.clock.now()));
    }
    std::erase_if(list.comments, [](const Comment& comment) { return comment.turns.empty(); });
    co_return write(record, list);
}

Awaitable<std::vector<PlacedComment>> Comments::placed(CommentList list, std::optional<Changes> changes,
                                                       std::string body) {
    std::map<DiffSide, std::vector<CommentAnchor>> anchors;
    for (const auto& comment : list.comments) {
        if (comment.anchor.section.empty()) anchors[comment.anchor.side].push_back(comment.anchor);
    }
    std::map<DiffSide, std::vector<CommentPlace>> places;
    for (auto& [side, of_side] : anchors) {
        std::string target;
        if (changes) target = side == DiffSide::now ? changes->tip : changes->base;
        auto repository = changes ? changes->repository : std::string();
        places[side] = co_await review::places_in(world_.git, std::move(repository), std::move(target), of_side);
    }
    std::map<DiffSide, std::size_t> next;
    std::vector<PlacedComment> placed;
    for (auto& comment : list.comments) {
        CommentPlace place;
        if (const auto& anchor = comment.anchor; anchor.section.empty()) {
            place = places[anchor.side][next[anchor.side]++];
        } else {
            const auto text = review::section_in(body, anchor.section).value_or(std::string_view());
            place = review::place_in_section(anchor, text);
        }
        placed.push_back({std::move(comment), std::move(place)});
    }
    co_return placed;
}

Awaitable<Result<std::string>> Comments::send(TaskRecord& record, std::string free, std::string to, std::string body,
                                              engine::Drafts which) {
    CO_TRY(auto list, read(record));
    const auto step = record.comment_step;
    auto told = list;
    std::erase_if(told.comments, [&](const Comment& each) {
        return !engine::is_meant(each, step, which) && engine::state_of(each, step) != engine::CommentState::sent;
    });
    if (told.comments.empty()) co_return free;
    CO_TRY(const auto definition, turns_.definition_of(record.task));
    std::optional<Changes> changes;
    auto known = runner_.committed.known(record.task.id);
    if (auto now = co_await changes_of(world_, record, std::move(known))) changes = std::move(*now);
    std::map<std::int64_t, std::string> places;
    const auto all = co_await placed(std::move(told), std::move(changes), body);
    for (const auto& each : all) places[each.comment.number] = place_text(each.comment.anchor, each.place);
    const auto section = engine::answers_section(*definition, to);
    auto letter = engine::letter_of(free, list, step, which, places, section);
    if (letter.drafts.empty()) co_return std::move(letter.text);
    engine::send_drafts(list, step, letter.drafts, review::section_in(body, section).value_or(std::string_view()));
    CO_TRY(write(record, list));
    record.comment_step = step + 1;
    co_return std::move(letter.text);
}

Result<void> Comments::take_answers(TaskRecord& record, const engine::Definition& definition,
                                    const engine::Artifacts& now, const std::string& from, const std::string& to) {
    if (record.comment_step == 0) return {};
    const auto section = now.sections.find(engine::taken_section(definition, from, to));
    if (section == now.sections.end()) return {};
    TRY(auto list, read(record));
    if (!engine::take_answers(list, record.comment_step, section->second.text, world_.clock.now())) return {};
    TRY(write(record, list));
    ++record.comment_step;
    return {};
}

}  // namespace orange

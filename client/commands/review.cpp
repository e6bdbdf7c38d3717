// `orange review`: the diff in the user's editor, with comments written between its lines.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "client/commands/comments.hpp"
#include "client/commands/files.hpp"
#include "client/commands/review_file.hpp"
#include "client/connection/child.hpp"
#include "client/connection/editor.hpp"
#include "client/output/comments.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/rpc/task_queries.hpp"

namespace orange::commands {
namespace {

namespace fs = std::filesystem;

constexpr int k_editor_not_started = 127;
constexpr int k_unchanged_at_most = 2;  ///< then a file that has an error is not opened again

/// The contents of the file, as they were when it was opened.
struct Reviewed {
    rpc::TaskView task;
    std::vector<ReviewRow> rows;
    std::map<std::size_t, std::vector<std::string>> notes;
    std::vector<std::string> explanation;
};

std::string way_out(const std::optional<std::string>& id) {
    return "\n  orange comment " + (id ? shell_word(printable(*id)) + " " : std::string()) + "FILE:LINE \"TEXT\"";
}

Result<std::vector<std::string>> editor_for_review(const std::optional<std::string>& id) {
    TRY(auto words, connection::editor());
    if (!output::is_interactive()) {
        return {ErrorCode::invalid_argument,
                "orange review opens an editor, and here is no terminal. To comment without one:" + way_out(id)};
    }
    const auto& program = words.front();
    if (program.find('/') == std::string::npos && !connection::find_program(program)) {
        return {ErrorCode::not_found, "the editor " + printable(program) +
                                          " is not on this machine. Set EDITOR to another one. To comment without "
                                          "one:" +
                                          way_out(id)};
    }
    return words;
}

std::vector<std::string> explanation_of(const rpc::TaskView& task, bool cut) {
    std::vector<std::string> lines = {
        "Comments on " + output::short_id(task) + ": " + printable(task.fields.summary),
        "",
        "Write a comment below the line that it is about, in lines that begin with \"> \". It is about the",
        "line above it; \"> [3] TEXT\" is about the last three lines. Rows can be deleted, but not changed.",
        "Lines that begin with \"#\" are left out. The comments are made when you save and leave the editor;",
        "without one, nothing happens. They are sent to the worker by: orange reject " + output::short_id(task),
    };
    if (cut) {
        lines.emplace_back("");
        lines.emplace_back(
            "The diff is too large to be shown whole. For lines that are missing: orange comment --help");
    }
    lines.emplace_back("");
    return lines;
}

Result<Reviewed> review_of_diff(Context& context, const std::optional<std::string>& id) {
    rpc::TaskDiff params;
    params.id = id;
    complete_with_cwd(context, params, id.has_value());
    params.patch = params.comments = true;
    TRY(const auto diff, context.call(params));
    rpc::TaskShow shown;
    shown.id = id;
    complete_with_cwd(context, shown, id.has_value());
    TRY(const auto reply, context.call(shown));
    Reviewed reviewed;
    reviewed.task = reply.task;
    reviewed.rows = review_rows(diff.text, diff.cut);
    reviewed.notes = review_notes(reviewed.rows, diff.comments, diff.remarks);
    reviewed.explanation = explanation_of(reply.task, diff.cut);
    return reviewed;
}

Result<Reviewed> review_of_section(Context& context, const std::optional<std::string>& id, const std::string& section) {
    rpc::TaskShow params;
    params.id = id;
    complete_with_cwd(context, params, id.has_value());
    params.comments = true;
    TRY(const auto reply, context.call(params));
    Reviewed reviewed;
    reviewed.task = reply.task;
    reviewed.rows = section_rows(reply.body, section);
    if (reviewed.rows.empty()) {
        return {ErrorCode::not_found, "TASK.md of " + output::short_id(reply.task) + " has no section ## " +
                                          printable(section) + ". To see it:\n  orange show " +
                                          output::short_id(reply.task)};
    }
    std::vector<rpc::CommentView> comments;
    for (const auto& comment : reply.comments) {
        if (comment.section == section) comments.push_back(comment);
    }
    reviewed.notes = review_notes(reviewed.rows, comments, {});
    reviewed.explanation = explanation_of(reply.task, false);
    return reviewed;
}

Result<Reviewed> reviewed_now(Context& context, const std::optional<std::string>& id, const std::string& section) {
    return section.empty() ? review_of_diff(context, id) : review_of_section(context, id, section);
}

/// The file that the editor opens. It stays if keep() was called, or if this program is killed.
class ReviewFile {
  public:
    static Result<ReviewFile> make() {
        std::error_code error;
        const auto folder = fs::temp_directory_path(error);
        auto path = ((error ? fs::path("/tmp") : folder) / "orange-review-XXXXXX.diff").string();
        constexpr int k_suffix = 5;
        const int file = ::mkstemps(path.data(), k_suffix);
        if (file < 0) return io_error("making " + path, errno);
        ::close(file);
        return ReviewFile(path);
    }
    ~ReviewFile() {
        std::error_code error;
        if (!path_.empty()) fs::remove(path_, error);
    }
    ReviewFile(ReviewFile&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
    ReviewFile(const ReviewFile&) = delete;
    ReviewFile& operator=(const ReviewFile&) = delete;
    ReviewFile& operator=(ReviewFile&&) = delete;

    const std::string& path() const { return path_; }
    Result<void> write(const std::string& text) const { return replace_file(path_, text, 0600); }
    Result<std::string> read() const { return named_text(path_); }
    /// Returns an error for `why` that says where the text is, and leaves the file.
    Error keep(Error why) {
        why.message += "\nNo comment was made. Your text is in " + path_;
        path_.clear();
        return why;
    }

  private:
    explicit ReviewFile(std::string path) : path_(std::move(path)) {}
    std::string path_;
};

/// Runs the editor in the foreground. Returns an error if it does not end with 0.
Result<void> edit(std::vector<std::string> words, const std::string& path) {
    words.push_back(path);
    connection::ChildOptions terminal;
    terminal.in = 0;
    terminal.out = 1;
    terminal.err = 2;
    // A key of the editor, such as Ctrl-C, must not end this program, which has to read the text.
    std::pair<int, void (*)(int)> signals[] = {{SIGINT, SIG_IGN}, {SIGQUIT, SIG_IGN}};
    for (auto& [number, action] : signals) action = std::signal(number, action);
    const int status = connection::status_of(words, terminal);
    for (const auto& [number, action] : signals) std::signal(number, action);
    if (status == 0) return {};
    const auto name = printable(words.front());
    if (status == k_editor_not_started) return {ErrorCode::not_found, "cannot start the editor " + name};
    return {ErrorCode::external_failed, "the editor " + name + " ended with status " + std::to_string(status)};
}

/// Finds the rows of typed comments among the rows of a newer diff: the same line with the same text. Those that have
/// none come on top of the file.
void move_to(const std::vector<ReviewRow>& before, const std::vector<ReviewRow>& now,
             std::vector<TypedComment>& typed) {
    for (auto& each : typed) {
        const auto& row = before[each.row];
        const auto is_same = [&](const ReviewRow& other) {
            return other.refusal.empty() && other.path == row.path && other.section == row.section &&
                   other.text == row.text;
        };
        const auto at = std::ranges::find_if(now, [&](const ReviewRow& other) {
            return is_same(other) && other.now == row.now && other.before == row.before;
        });
        const bool is_single = std::ranges::count_if(now, is_same) == 1;
        const auto found = at == now.end() && is_single ? std::ranges::find_if(now, is_same) : at;
        each.is_placed = found != now.end();
        each.row = static_cast<std::size_t>(found - now.begin());
    }
}

/// Opens the file until its comments can be made, and makes them.
class Review {
  public:
    Review(Context& context, std::optional<std::string> id, std::string section)
        : context_(context), id_(std::move(id)), section_(std::move(section)) {}

    Status run() {
        TRY(const auto words, editor_for_review(id_));
        TRY(reviewed_, reviewed_now(context_, id_, section_));
        if (reviewed_.rows.empty()) {
            return say("The branch of " + output::short_id(reviewed_.task) + " has no changes to comment on.");
        }
        page_ = review_page(reviewed_.rows, reviewed_.explanation, reviewed_.notes);
        TRY(auto file, ReviewFile::make());
        int unchanged = 0;
        bool has_typed = false;  // the page that is opened has comments
        for (;;) {
            if (const auto put = file.write(page_); !put)
                return has_typed ? Status(file.keep(put.error())) : put.error();
            const auto ended = edit(words, file.path());
            auto edited = file.read();
            if (!edited) return has_typed ? keep(file, edited.error()) : edited.error();
            auto reading = read_review(reviewed_.rows, *edited);
            if (!ended) {
                const bool is_empty = reading.comments.empty() && reading.problems.empty();
                if (!is_empty) return file.keep(ended.error());
                return has_typed ? keep(file, ended.error()) : ended.error();
            }
            if (reading.comments.empty() && (reading.problems.empty() || trim(*edited).empty())) {
                if (!has_typed) return say("No comments.");
                return keep(file, {ErrorCode::invalid_argument, "the comments are not in the file any more"});
            }
            unchanged = *edited == page_ && !reasons_.empty() ? unchanged + 1 : 0;
            has_typed = has_typed || !reading.comments.empty();
            auto made = make(std::move(reading), *edited);
            if (made) return finish(*made);
            if (!can_correct(made.error()) || unchanged >= k_unchanged_at_most) return file.keep(made.error());
        }
    }

  private:
    Status say(const std::string& sentence) const {
        if (context_.json) return put_json({{"comments", Json::array()}});
        output::put(sentence + "\n");
        return 0;
    }

    /// Puts the last text that had comments back into the file.
    Status keep(ReviewFile& file, const Error& why) const {
        TRY(file.write(page_));
        return file.keep(why);
    }

    static bool can_correct(const Error& error) {
        return error.code == ErrorCode::invalid_argument || error.code == ErrorCode::conflict;
    }

    /// Makes the comments. If they cannot be made, sets the page that is opened next.
    Result<Json> make(ReviewReading reading, const std::string& edited) {
        if (!reading.problems.empty()) {
            reasons_.clear();
            for (const auto& problem : reading.problems) reasons_.push_back(problem.why);
            const Error error(ErrorCode::invalid_argument, join(reasons_, "\n"));
            if (reading.only_ambiguous) {
                reasons_.emplace_back("All rows are here again. If a comment stands below the wrong row, move it.");
                page_ = review_page(reviewed_.rows, reviewed_.explanation, reviewed_.notes, reading.comments);
                page_ = with_reasons(page_, reasons_);
            } else {
                page_ = with_problems(edited, reading.problems);
            }
            return error;
        }
        const auto refuse = [&](const Error& error) {
            reasons_ = {error.message};
            page_ = with_reasons(edited, reasons_);
            return error;
        };
        rpc::TaskComment params;
        params.id = reviewed_.task.fields.id.value;
        params.comments = std::move(reading.made);
        auto reply = context_.call_json(params.k_name, written(params));
        if (reply) return reply;
        auto error = refuse(reply.error());
        if (can_correct(error)) take_newer(std::move(reading.comments));
        return error;
    }

    /// After a refusal: if the work has changed, shows it as it is now, with the comments at the same lines.
    void take_newer(std::vector<TypedComment> typed) {
        auto newer = reviewed_now(context_, id_, section_);
        if (!newer || newer->rows.empty() ||
            std::ranges::equal(newer->rows, reviewed_.rows, {}, &ReviewRow::text, &ReviewRow::text))
            return;
        move_to(reviewed_.rows, newer->rows, typed);
        reviewed_ = std::move(*newer);
        reasons_.emplace_back(
            "The work as it is now is below, with your comments. Those on top have no line any more: move or delete "
            "them.");
        page_ = with_reasons(review_page(reviewed_.rows, reviewed_.explanation, reviewed_.notes, typed), reasons_);
    }

    Status finish(const Json& made) const {
        return print<rpc::TaskComment>(context_, made, [&](const rpc::TaskComment::Reply& reply) {
            return output::changed_comments(reply, context_.style);
        });
    }

    Context& context_;
    std::optional<std::string> id_;
    std::string section_;
    Reviewed reviewed_;
    std::string page_;                  ///< the text that is opened next
    std::vector<std::string> reasons_;  ///< why the last comments were not made
};

}  // namespace

Status task_review(Context& context, std::optional<std::string> id, const std::string& section) {
    return Review(context, std::move(id), section).run();
}

}  // namespace orange::commands

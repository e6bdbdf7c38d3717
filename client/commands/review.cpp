// `orange review`: the diff in the user's editor, with comments written between its lines.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
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
    std::string base, tip;  ///< the commits or trees in which the lines of a diff count
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
    reviewed.rows = review_rows(diff.text);
    reviewed.base = diff.base;
    reviewed.tip = diff.tip;
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
        if (!path_.empty() && !is_kept_) fs::remove(path_, error);
    }
    ReviewFile(ReviewFile&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
    ReviewFile(const ReviewFile&) = delete;
    ReviewFile& operator=(const ReviewFile&) = delete;
    ReviewFile& operator=(ReviewFile&&) = delete;

    const std::string& path() const { return path_; }
    Result<void> write(const std::string& text) const { return replace_file(path_, text, 0600); }
    Result<std::string> read() const { return named_text(path_); }
    /// Leaves the file from now on. Returns an error for `why` that says what was made, and where the text is.
    Error keep(Error why, const std::string& outcome = "No comment was made", const std::string& next = {}) {
        is_kept_ = true;
        why.message += "\n" + outcome + ". Your text is in " + path_ + next;
        return why;
    }

  private:
    explicit ReviewFile(std::string path) : path_(std::move(path)) {}
    std::string path_;
    bool is_kept_ = false;
};

/// Runs the editor in the foreground. Returns an error if it does not end with 0.
Result<void> edit(std::vector<std::string> words, const std::string& path) {
    words.push_back(path);
    connection::ChildOptions terminal;
    terminal.in = 0;
    terminal.out = terminal.err = 2;  // a terminal, which standard output may not be
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

/// Opens the file until its comments can be made, and makes them.
class Review {
  public:
    Review(Context& context, std::optional<std::string> id, std::string section)
        : context_(context), id_(std::move(id)), section_(std::move(section)) {
        if (section_.starts_with("## ")) section_.erase(0, 3);
    }

    Status run() {
        TRY(const auto words, editor_for_review(id_));
        if (section_.empty()) {
            TRY(reviewed_, review_of_diff(context_, id_));
        } else {
            TRY(reviewed_, review_of_section(context_, id_, section_));
        }
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
            context_.disconnect();
            const auto began = std::chrono::steady_clock::now();
            const auto ended = edit(words, file.path());
            const auto took = std::chrono::steady_clock::now() - began;
            auto edited = file.read();
            if (!edited) return has_typed ? keep(file, edited.error()) : edited.error();
            auto reading = read_review(reviewed_.rows, *edited);
            if (!ended) {
                const bool is_empty = reading.comments.empty() && reading.problems.empty();
                if (!is_empty) return file.keep(ended.error());
                return has_typed ? keep(file, ended.error()) : ended.error();
            }
            if (reading.comments.empty() && (reading.problems.empty() || trim(*edited).empty())) {
                if (has_typed) {
                    return keep(file, {ErrorCode::invalid_argument, "the comments are not in the file any more"});
                }
                if (!was_too_quick(page_, *edited, took)) return say("No comments.");
                return file.keep(ended_at_once(words.front()));
            }
            unchanged = *edited == page_ && !reasons_.empty() ? unchanged + 1 : 0;
            has_typed = has_typed || !reading.comments.empty();
            if (reading.problems.empty()) {
                if (const auto connected = context_.daemon(); !connected) return file.keep(connected.error());
            }
            auto made = make(std::move(reading), *edited);
            if (made) return finish(*made);
            const auto& why = made.error();
            if (!is_refusal(why)) {
                return file.keep(why, "It is not known whether the comments were made",
                                 "\nTo see it:\n  orange comments " + output::short_id(reviewed_.task));
            }
            if (!can_correct_ || unchanged >= k_unchanged_at_most) return file.keep(why);
        }
    }

  private:
    Status say(const std::string& sentence) const {
        if (context_.json) return put_json(written(rpc::TaskComment::Reply{reviewed_.task, {}}));
        output::put(sentence + "\n");
        return 0;
    }

    /// Puts the last text that had comments back into the file.
    Status keep(ReviewFile& file, const Error& why) const {
        auto kept = file.keep(why);
        if (const auto put = file.write(page_); !put) kept.message += ", as the editor left it: " + put.error().message;
        return kept;
    }

    /// Returns true if the daemon has made no comment. After another error, as unavailable or timeout, it may have.
    static bool is_refusal(const Error& error) {
        using enum ErrorCode;
        const auto refusals = {invalid_argument, not_found, conflict, forbidden};
        return std::ranges::find(refusals, error.code) != refusals.end();
    }

    static Error ended_at_once(const std::string& program) {
        return {ErrorCode::invalid_argument,
                "the editor " + printable(program) +
                    " ended at once, and the file is as it was. If its window is open, it has to be told to wait until "
                    "you close the file, as in EDITOR=\"code --wait\""};
    }

    /// Makes the comments. If they cannot be made, sets the page that is opened next, and can_correct_.
    Result<Json> make(ReviewReading reading, const std::string& edited) {
        if (!reading.problems.empty()) {
            can_correct_ = true;
            reasons_.clear();
            for (const auto& problem : reading.problems) reasons_.push_back(problem.why);
            const Error error(ErrorCode::invalid_argument, join(reasons_, "\n"));
            if (reading.only_ambiguous) {
                reasons_.push_back("All lines of the " + std::string(section_.empty() ? "diff" : "section") +
                                   " are here again. If a comment stands below the wrong row, move it.");
                page_ = review_page(reviewed_.rows, reviewed_.explanation, reviewed_.notes, reading.comments);
                page_ = with_reasons(page_, reasons_);
            } else {
                page_ = with_problems(edited, reading.problems);
            }
            return error;
        }
        rpc::TaskComment params;
        params.id = reviewed_.task.fields.id.value;
        params.comments = std::move(reading.made);
        for (auto& each : params.comments) {
            if (!each.path) continue;
            each.commit = each.side == DiffSide::now ? reviewed_.tip : reviewed_.base;
            each.quoted.reset();
        }
        auto reply = context_.call_json(params.k_name, written(params));
        if (reply) return reply;
        const auto& error = reply.error();
        reasons_ = {error.message};
        page_ = with_reasons(edited, reasons_);
        const bool is_wrong = error.code == ErrorCode::invalid_argument;
        const bool may_be_old = !section_.empty() && (is_wrong || error.code == ErrorCode::conflict);
        can_correct_ = (may_be_old && take_newer_section(edited)) || is_wrong;
        return reply;
    }

    /// After a refusal: shows the section as it is now, with the comments below the same lines. Returns false if it
    /// has not changed.
    bool take_newer_section(const std::string& edited) {
        auto newer = review_of_section(context_, reviewed_.task.fields.id.value, section_);
        if (!newer || std::ranges::equal(newer->rows, reviewed_.rows, {}, &ReviewRow::text, &ReviewRow::text)) {
            return false;
        }
        reviewed_ = std::move(*newer);
        auto typed = read_review(reviewed_.rows, edited).comments;
        for (auto& each : typed) {
            if (each.is_ambiguous) each.row = 0;
        }
        reasons_.emplace_back(
            "The section as it is now is below, with your comments. Those below its heading have no line any more: "
            "move or delete them.");
        page_ = with_reasons(review_page(reviewed_.rows, reviewed_.explanation, reviewed_.notes, typed), reasons_);
        return true;
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
    bool can_correct_ = false;          ///< a change of the text can help
};

}  // namespace

Status task_review(Context& context, std::optional<std::string> id, const std::string& section) {
    return Review(context, std::move(id), section).run();
}

}  // namespace orange::commands

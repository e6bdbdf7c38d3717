#include "client/commands/review_file.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "client/output/comments.hpp"
#include "common/base/text.hpp"
#include "common/model/patch.hpp"

namespace orange::commands {
namespace {

constexpr std::string_view k_reason_mark = "#! ";
constexpr std::string_view k_utf8_mark = "\xEF\xBB\xBF";
/// vim reads settings from the first and last five lines of a file, which must not be those of the diff.
constexpr std::string_view k_no_settings = "#\n#\n#\n#\n#\n";
constexpr std::size_t k_reason_width = 100;
constexpr std::size_t k_most_problems = 5;

/// Returns the row without blanks at its end: editors may remove them, and read "\r\n" as a line's end.
std::string_view bare(std::string_view text) {
    const auto end = text.find_last_not_of(" \t\r");
    return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 1);
}

std::string shown_row(std::string_view text) {
    constexpr std::size_t k_columns = 50;
    return "\"" + ellipsized(printable(text), k_columns) + "\"";
}

/// Splits at "\n" alone.
std::vector<std::string_view> rows_in(std::string_view text) {
    std::vector<std::string_view> rows;
    while (!text.empty()) {
        const auto end = text.find('\n');
        rows.push_back(text.substr(0, end));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return rows;
}

/// Finds for each of some rows that are left its place among all of them.
class Alignment {
  public:
    explicit Alignment(const std::vector<ReviewRow>& rows) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto text = bare(rows[i].text);
            if (text.empty()) continue;
            places_[text].push_back(order_.size());
            order_.push_back(i);
        }
    }

    /// Adds a row. Returns false if it does not stand below the rows before it, and leaves it out.
    bool add(std::string_view text) {
        const auto found = places_.find(text);
        if (found == places_.end()) return false;
        const auto place = std::ranges::lower_bound(found->second, next_);
        if (place == found->second.end()) return false;
        first_.push_back(*place);
        all_.push_back(&found->second);
        next_ = *place + 1;
        return true;
    }

    struct Placed {
        std::size_t row = 0;
        bool is_only = false;  ///< no other row can be meant
    };
    /// Returns the first places that the added rows can have. A row that can have another one is not the only one:
    /// what else was deleted does not tell, since a person may delete rows anywhere.
    std::vector<Placed> placed() const {
        std::vector<Placed> result(first_.size());
        auto limit = order_.size();
        for (std::size_t i = first_.size(); i-- > 0;) {
            limit = *std::prev(std::ranges::lower_bound(*all_[i], limit));
            result[i] = {order_[first_[i]], first_[i] == limit};
        }
        return result;
    }

  private:
    std::map<std::string_view, std::vector<std::size_t>> places_;  ///< indexes into order_
    std::vector<std::size_t> order_;                               ///< the rows that are not blank
    std::vector<std::size_t> first_;  ///< for each added row the first place that it can have
    std::vector<const std::vector<std::size_t>*> all_;
    std::size_t next_ = 0;
};

/// A comment as it stands in the edited file.
struct Written {
    std::string text;
    std::size_t at = 0;
    std::size_t kept = 0;    ///< the number of rows above it that are not blank
    std::size_t blanks = 0;  ///< the number of blank rows between the last of them and it
};

struct EditedFile {
    std::vector<Written> comments;
    std::vector<std::pair<std::string_view, std::size_t>> kept;  ///< rows, and their lines
    std::vector<std::size_t> blanks;                             ///< behind each of `kept`: the blank rows there
};

/// Splits the edited file into comments and rows. A blank row is one blank. An empty line is none: a person may have
/// typed it, or an editor may have removed the blank, and then a comment below it is about the row above.
EditedFile split_edited(std::string_view edited) {
    if (edited.starts_with(k_utf8_mark)) edited.remove_prefix(k_utf8_mark.size());
    const auto lines = rows_in(edited);
    EditedFile file;
    bool continues = false;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        auto line = lines[i];
        if (line.starts_with('>')) {
            line = bare(line.substr(line.starts_with("> ") ? 2 : 1));
            if (!continues) {
                const auto blanks = file.kept.empty() ? 0 : file.blanks.back();
                file.comments.push_back({std::string(line), i + 1, file.kept.size(), blanks});
            } else {
                file.comments.back().text += "\n" + std::string(line);
            }
            continues = true;
            continue;
        }
        continues = false;
        if (line.starts_with('#')) continue;
        if (!bare(line).empty()) {
            file.kept.emplace_back(bare(line), i + 1);
            file.blanks.push_back(0);
        } else if (!file.kept.empty() && line.starts_with(' ')) {
            ++file.blanks.back();
        }
    }
    return file;
}

/// Takes "[3]" from the front of a comment.
std::optional<std::int64_t> take_lines(std::string& text) {
    constexpr std::size_t k_most_digits = 6;
    const auto end = text.find(']');
    if (!text.starts_with('[') || end == std::string::npos || end < 2 || end > k_most_digits + 1) return std::nullopt;
    const auto digits = text.substr(1, end - 1);
    if (!std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
    if (end + 1 < text.size() && text[end + 1] != ' ' && text[end + 1] != '\n') return std::nullopt;
    text = trim(std::string_view(text).substr(end + 1));
    return whole_number(digits);
}

/// Moves from a kept row over blank rows that are left below it. Returns nothing if they may be others: if not only
/// blank rows stand between it and `next`, the kept row behind them.
std::optional<std::size_t> below_blanks(const std::vector<ReviewRow>& rows, std::size_t row, std::size_t next,
                                        std::size_t before, std::size_t all) {
    std::size_t there = 0;
    while (row + there + 1 < rows.size() && bare(rows[row + there + 1].text).empty()) ++there;
    return all <= there && row + there + 1 == next ? std::optional(row + before) : std::nullopt;
}

/// Returns the number of the line on the side of the diff on which the last row of a range stands.
std::int64_t number_of(const ReviewRow& row, bool is_old) {
    return is_old ? row.before : row.now;
}

/// Returns the comment; nothing if it is about more lines than stand above it in its part of the file.
std::optional<rpc::NewComment> new_comment(const std::vector<ReviewRow>& rows, const TypedComment& typed) {
    const auto& last = rows[typed.row];
    const bool is_old = last.now == 0;
    std::vector<std::string> lines;
    std::int64_t first = 0;
    for (auto i = typed.row + 1; i-- > 0 && rows[i].part == last.part;) {
        if (static_cast<std::int64_t>(lines.size()) == typed.lines) break;
        if (number_of(rows[i], is_old) == 0) continue;
        lines.push_back(rows[i].line);
        first = number_of(rows[i], is_old);
    }
    if (typed.lines < 1 || static_cast<std::int64_t>(lines.size()) < typed.lines) return std::nullopt;
    std::ranges::reverse(lines);
    rpc::NewComment made;
    if (last.section.empty()) {
        made.path = is_old ? last.before_path : last.path;
    } else {
        made.section = last.section;
    }
    made.side = is_old ? DiffSide::before : DiffSide::now;
    made.line = first;
    if (typed.lines > 1) made.end = number_of(last, is_old);
    made.quoted = join(lines, "\n");
    made.text = typed.text;
    return made;
}

/// Returns the row of a line; rows.size() if it is not shown.
std::size_t row_of_line(const std::vector<ReviewRow>& rows, const std::string& section, const std::string& path,
                        DiffSide side, std::int64_t line) {
    const bool is_old = side == DiffSide::before;
    const auto found = std::ranges::find_if(rows, [&](const ReviewRow& row) {
        const bool is_file = row.path == path || (is_old && row.before_path == path);
        return row.section == section && (is_file || !section.empty()) && number_of(row, is_old) == line;
    });
    return static_cast<std::size_t>(found - rows.begin());
}

/// Adds a text whose first row begins with `first`, and the others with `next`.
void add_note(std::vector<std::string>& notes, const std::string& first, const std::string& next,
              std::string_view text) {
    bool is_first = true;
    for (const auto row : split_lines(text)) {
        notes.emplace_back(bare((is_first ? first : next) + printable(row)));
        is_first = false;
    }
}

/// Returns where the empty lines and the reasons on top of a file end.
std::size_t end_of_top(std::string_view page) {
    std::size_t end = page.starts_with(k_utf8_mark) ? k_utf8_mark.size() : 0;
    for (const auto line : rows_in(page.substr(end))) {
        if (bare(line) != "#" && !line.starts_with(bare(k_reason_mark))) break;
        end = std::min(end + line.size() + 1, page.size());
    }
    return end;
}

void add_typed(std::string& page, const TypedComment& typed) {
    auto text = typed.text;
    if (typed.lines != 1 || text.starts_with('[')) text = "[" + std::to_string(typed.lines) + "] " + text;
    for (const auto row : rows_in(text)) page += (row.empty() ? ">" : "> ") + std::string(row) + "\n";
}

}  // namespace

std::vector<ReviewRow> review_rows(std::string_view patch) {
    const auto parsed = parse_patch(patch);
    std::vector<ReviewRow> rows;
    std::size_t part = 0;
    for (const auto& each : parsed.rows) {
        ReviewRow row;
        row.text = each.text;
        if (each.kind == PatchRow::Kind::hunk || each.kind == PatchRow::Kind::file) ++part;
        row.part = part;
        if (each.is_line()) {
            const auto& file = parsed.files[each.file];
            row.line = each.line();
            row.path = file.path();
            row.before_path = file.before;
            row.before = each.before;
            row.now = each.now;
        } else if (each.text.starts_with("Binary files ") || each.text.starts_with("GIT binary patch")) {
            row.refusal = "the file is binary, and has no lines";
        } else {
            row.refusal = "it is no line of a file";
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

std::vector<ReviewRow> section_rows(std::string_view body, const std::string& heading) {
    std::vector<ReviewRow> rows;
    bool is_fenced = false, is_in = false;
    std::int64_t line = 0;
    for (const auto text : rows_in(body)) {
        const auto begin = text.find_first_not_of(' ');
        const auto mark = begin == std::string_view::npos || begin > 3 ? std::string_view() : text.substr(begin, 3);
        if (mark == "```" || mark == "~~~") is_fenced = !is_fenced;
        ReviewRow row;
        if (!is_fenced && (text.starts_with("# ") || text.starts_with("## "))) {
            is_in = trim(text) == "## " + heading;
            if (!is_in) continue;
            rows.clear();  // of several sections with this heading the last one counts
            line = 0;
            row.text = "@@ " + heading + " @@";
            row.refusal = "it is the heading";
        } else {
            if (!is_in) continue;
            row.text = " " + std::string(text);
            row.line = text;
            row.section = heading;
            row.now = row.before = ++line;
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

ReviewReading read_review(const std::vector<ReviewRow>& rows, std::string_view edited) {
    ReviewReading reading;
    const auto add_problem = [&](std::size_t line, const std::string& why, bool is_ambiguous = false) {
        reading.only_ambiguous = reading.only_ambiguous && is_ambiguous;
        if (reading.problems.size() < k_most_problems) {
            reading.problems.push_back({line, why});
        }
    };
    const auto file = split_edited(edited);
    Alignment alignment(rows);
    std::vector<std::optional<std::size_t>> added;  // of each kept row its index in the alignment
    std::size_t count = 0;
    for (const auto& [text, line] : file.kept) {
        const bool is_there = alignment.add(text);
        added.push_back(is_there ? std::optional(count++) : std::nullopt);
        if (is_there) continue;
        add_problem(line, shown_row(text) +
                              " is not a row of what was opened, or does not stand there. Rows can be deleted, not "
                              "changed, and a comment begins with \"> \"");
    }
    const auto placed = alignment.placed();
    // Returns the place of a kept row; rows.size() behind the last one; 0 if it may have several.
    const auto next_row = [&](std::size_t kept) -> std::size_t {
        if (kept == added.size()) return rows.size();
        return added[kept] && placed[*added[kept]].is_only ? placed[*added[kept]].row : 0;
    };
    for (const auto& written : file.comments) {
        TypedComment typed;
        typed.at = written.at;
        typed.text = trim(written.text);
        if (typed.text.empty()) continue;
        if (const auto lines = take_lines(typed.text)) typed.lines = *lines;
        const auto above = written.kept == 0 ? std::nullopt : added[written.kept - 1];
        if (typed.text.empty()) {
            add_problem(typed.at, "the comment has no text");
        } else if (written.kept == 0) {
            add_problem(typed.at, "the comment stands above the first line; write it below the line that it is about");
        } else if (above) {
            const auto& kept = placed[*above];
            const auto below =
                below_blanks(rows, kept.row, next_row(written.kept), written.blanks, file.blanks[written.kept - 1]);
            typed.row = below.value_or(kept.row);
            typed.is_ambiguous = !kept.is_only || (written.blanks > 0 && !below);
            if (rows[typed.row].text.starts_with('\\') && typed.row > 0) --typed.row;  // "\ No newline at end of file"
            const auto& row = rows[typed.row];
            auto made = new_comment(rows, typed);
            if (!row.refusal.empty()) {
                add_problem(typed.at,
                            "there is no place for a comment below " + shown_row(row.text) + ": " + row.refusal);
            } else if (!made) {
                add_problem(typed.at, "\"[" + std::to_string(typed.lines) +
                                          "]\" is no number of lines that stand above the comment in this part");
            } else if (typed.is_ambiguous) {
                add_problem(typed.at,
                            "rows around the comment " + shown_row(first_line(typed.text)) +
                                " are deleted, so that more than one row " + shown_row(row.text) +
                                " can be the one above it",
                            true);
            } else {
                reading.made.push_back(std::move(*made));
            }
        }
        reading.comments.push_back(std::move(typed));
    }
    return reading;
}

std::map<std::size_t, std::vector<std::string>> review_notes(const std::vector<ReviewRow>& rows,
                                                             const std::vector<rpc::CommentView>& comments,
                                                             const std::vector<rpc::RemarkView>& remarks) {
    std::map<std::size_t, std::vector<std::string>> all;
    for (const auto& comment : comments) {
        if (comment.state == "resolved") continue;
        const bool is_outdated = comment.place == "outdated";
        const auto row =
            is_outdated ? rows.size() : row_of_line(rows, comment.section, comment.path, comment.side, comment.end);
        auto& notes = all[row];
        if (row == rows.size()) {
            notes.push_back(printable(output::place_text(comment)) + (is_outdated ? ", outdated:" : ":"));
            add_note(notes, "| ", "| ", comment.quoted);
        }
        auto first = std::to_string(comment.number) + " (" + printable(comment.state) + "): ";
        for (const auto& turn : comment.turns) {
            add_note(notes, first, "   ", turn.text);
            first = "   ";
            if (turn.answer) add_note(notes, "   -> ", "      ", *turn.answer);
        }
    }
    for (const auto& remark : remarks) {
        const bool is_outdated = remark.place == "outdated";
        const auto row = is_outdated ? rows.size() : row_of_line(rows, {}, remark.path, DiffSide::now, remark.end);
        auto& notes = all[row];
        if (row == rows.size()) {
            notes.push_back(printable(output::place_text(remark)) + (is_outdated ? ", outdated:" : ":"));
        }
        add_note(notes, "reviewer: ", "   ", remark.text);
    }
    return all;
}

std::string review_page(const std::vector<ReviewRow>& rows, const std::vector<std::string>& explanation,
                        const std::map<std::size_t, std::vector<std::string>>& notes,
                        const std::vector<TypedComment>& typed) {
    std::string page(k_no_settings);
    const auto add_notes = [&](std::size_t row) {
        const auto found = notes.find(row);
        if (found == notes.end()) return;
        for (const auto& note : found->second) page += (note.empty() ? "#" : "# ") + note + "\n";
    };
    for (const auto& line : explanation) page += line.empty() ? "#\n" : "# " + line + "\n";
    for (std::size_t i = 0; i < rows.size(); ++i) {
        page += rows[i].text + "\n";
        add_notes(i);
        bool is_next = false;
        for (const auto& each : typed) {
            if (each.row != i) continue;
            if (is_next) page += "#\n";
            add_typed(page, each);
            is_next = true;
        }
    }
    page += "#\n";
    if (notes.contains(rows.size())) page += "# Comments whose lines are not shown above:\n";
    add_notes(rows.size());
    page += k_no_settings;
    return page;
}

std::string with_reasons(std::string_view page, const std::vector<std::string>& reasons) {
    std::string out(k_no_settings);
    for (const auto& reason : reasons) out += output::wrapped(printable(reason, true), k_reason_mark, k_reason_width);
    return out + std::string(page.substr(end_of_top(page)));
}

std::string with_problems(std::string_view page, const std::vector<ReviewProblem>& problems) {
    const auto rows = [](std::string_view text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); };
    const auto removed = rows(page.substr(0, end_of_top(page)));
    std::string out;
    std::size_t added = 0;
    for (int pass = 0; pass < 2; ++pass) {  // the reasons push the lines down that they name
        std::vector<std::string> reasons;
        for (const auto& problem : problems) {
            reasons.push_back("line " + std::to_string(problem.line + added - removed) + ": " + problem.why);
        }
        out = with_reasons(page, reasons);
        added = rows(out.substr(0, end_of_top(out)));
    }
    return out;
}

bool was_too_quick(std::string_view page, std::string_view edited, std::chrono::nanoseconds took) {
    return edited == page && took < std::chrono::seconds(1);
}

}  // namespace orange::commands

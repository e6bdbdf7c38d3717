#include "common/model/patch.hpp"

#include <charconv>

namespace orange {
namespace {

constexpr std::string_view k_nowhere = "/dev/null";

bool take(std::string_view& text, std::string_view word) {
    if (!text.starts_with(word)) return false;
    text.remove_prefix(word.size());
    return true;
}

bool take_number(std::string_view& text, std::int64_t& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || number < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

/// Takes "3,2", or "3" for one line.
bool take_range(std::string_view& text, std::int64_t& first, std::int64_t& count) {
    count = 1;
    return take_number(text, first) && (!take(text, ",") || take_number(text, count));
}

bool take_hunk(std::string_view text, PatchHunk& hunk) {
    return take(text, "@@ -") && take_range(text, hunk.before, hunk.before_count) && take(text, " +") &&
           take_range(text, hunk.now, hunk.now_count) && take(text, " @@");
}

char escaped(char mark) {
    constexpr std::string_view k_marks = "abtnvfr", k_bytes = "\a\b\t\n\v\f\r";
    const auto at = k_marks.find(mark);
    return at == std::string_view::npos ? mark : k_bytes[at];
}

/// Takes a path in quotes from the front, as git writes one with unusual bytes.
std::string take_quoted(std::string_view& text) {
    std::string path;
    text.remove_prefix(1);
    while (!text.empty() && text.front() != '"') {
        if (text.front() != '\\' || text.size() < 2) {
            path += text.front();
            text.remove_prefix(1);
        } else if (text[1] >= '0' && text[1] <= '3' && text.size() >= 4) {
            path += static_cast<char>((text[1] - '0') * 64 + (text[2] - '0') * 8 + (text[3] - '0'));
            text.remove_prefix(4);
        } else {
            path += escaped(text[1]);
            text.remove_prefix(2);
        }
    }
    if (!text.empty()) text.remove_prefix(1);
    return path;
}

/// Returns the path, without the tab with which git ends a name that has a blank.
std::string whole_path_in(std::string_view text) {
    if (text.starts_with('"')) return take_quoted(text);
    if (text.ends_with('\t')) text.remove_suffix(1);
    return std::string(text);
}

/// Returns the path of "a/src/x" without its prefix.
std::string path_in(std::string_view text) {
    auto path = whole_path_in(text);
    if (path == k_nowhere) return {};
    return path.starts_with("a/") || path.starts_with("b/") ? path.substr(2) : path;
}

/// Takes the paths from "diff --git a/x b/x": of a file without a hunk nothing else may name them. Both are the same,
/// unless "rename from" or "copy from" follows.
void take_paths(std::string_view text, PatchFile& file) {
    if (text.starts_with('"')) {
        file.before = path_in(text);
        (void)take_quoted(text);
        file.now = path_in(text.starts_with(' ') ? text.substr(1) : text);
        return;
    }
    if (const auto quoted = text.find(" \""); quoted != std::string_view::npos && text.ends_with('"')) {
        file.before = path_in(text.substr(0, quoted));
        file.now = path_in(text.substr(quoted + 1));
        return;
    }
    const auto half = text.size() / 2;
    if (text.size() < 5 || text.size() % 2 == 0 || text[half] != ' ') return;
    file.before = path_in(text.substr(0, half));
    file.now = path_in(text.substr(half + 1));
}

class Reader {
  public:
    explicit Reader(bool only_files) : only_files_(only_files) {}
    void read(std::string_view text) {
        PatchRow row;
        row.text = text;
        if (!is_in_hunk() || !take_line(row)) take_other(row);
        row.file = patch.files.empty() ? 0 : patch.files.size() - 1;
        if (!only_files_) patch.rows.push_back(row);
    }

    Patch patch;

  private:
    bool is_in_hunk() const { return old_left_ > 0 || new_left_ > 0; }

    bool take_line(PatchRow& row) {
        const char mark = row.text.empty() ? ' ' : row.text.front();
        if (mark == '\\') return true;
        if (mark != ' ' && mark != '+' && mark != '-') return false;
        row.kind = mark == '+'   ? PatchRow::Kind::added
                   : mark == '-' ? PatchRow::Kind::removed
                                 : PatchRow::Kind::context;
        if (mark != '+') {
            row.before = old_++;
            --old_left_;
        }
        if (mark != '-') {
            row.now = new_++;
            --new_left_;
        }
        return true;
    }

    void take_other(PatchRow& row) {
        old_left_ = new_left_ = 0;
        auto text = row.text;
        if (take(text, "diff --git ")) {
            row.kind = PatchRow::Kind::file;
            patch.files.emplace_back();
            take_paths(text, patch.files.back());
            return;
        }
        if (patch.files.empty()) return;
        auto& file = patch.files.back();
        if (PatchHunk hunk; take_hunk(text, hunk)) {
            row.kind = PatchRow::Kind::hunk;
            old_ = hunk.before;
            new_ = hunk.now;
            old_left_ = hunk.before_count;
            new_left_ = hunk.now_count;
            file.hunks.push_back(hunk);
            return;
        }
        if (text.starts_with('\\')) return;
        if (!file.hunks.empty()) return;
        row.kind = PatchRow::Kind::header;
        if (take(text, "--- ")) {
            file.before = path_in(text);
        } else if (take(text, "+++ ")) {
            file.now = path_in(text);
        } else if (take(text, "rename from ") || take(text, "copy from ")) {
            file.before = whole_path_in(text);
        } else if (take(text, "rename to ") || take(text, "copy to ")) {
            file.now = whole_path_in(text);
        } else if (text.starts_with("new file mode")) {
            file.before.clear();
        } else if (text.starts_with("deleted file mode")) {
            file.now.clear();
        } else if (text.starts_with("Binary files ") || text.starts_with("GIT binary patch")) {
            file.is_binary = true;
        }
    }

    bool only_files_;
    std::int64_t old_ = 0, new_ = 0, old_left_ = 0, new_left_ = 0;
};

}  // namespace

Patch parse_patch(std::string_view text, bool only_files) {
    Reader reader(only_files);
    while (!text.empty()) {
        const auto end = text.find('\n');
        reader.read(text.substr(0, end));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return std::move(reader.patch);
}

std::int64_t line_after(const PatchFile& file, std::int64_t line) {
    std::int64_t moved = 0;
    for (const auto& hunk : file.hunks) {
        // If a hunk only adds, `before` is the line above what was added.
        if (hunk.before_count == 0 ? line <= hunk.before : line < hunk.before) break;
        if (line < hunk.before + hunk.before_count) return 0;
        moved += hunk.now_count - hunk.before_count;
    }
    return line + moved;
}

}  // namespace orange

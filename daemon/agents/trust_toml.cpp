#include <algorithm>

#include "common/base/text.hpp"
#include "daemon/agents/placeholders.hpp"
#include "daemon/agents/trust_text.hpp"

// As much of TOML as it takes to see which keys and tables there are, and where.
namespace orange::agents {
namespace {

using Name = std::vector<std::string>;

struct Assignment {
    Name name;  ///< from the root
    std::string value;
};

struct Table {
    Name name;
    bool array = false;
    std::size_t next_line = 0;  ///< where the line after its header begins
};

bool is_bare(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

class Scanner {
  public:
    explicit Scanner(std::string_view text) : text_(text) {}

    std::vector<Assignment> assignments;
    std::vector<Table> tables;

    /// False where it is not TOML, as far as this can tell; `line` is where.
    bool scan() {
        while (at_ < text_.size()) {
            blanks();
            if (at_ >= text_.size()) break;
            if (text_[at_] == '\n') {
                ++at_;
            } else if (text_[at_] == '#') {
                to_line_end();
            } else if (!(text_[at_] == '[' ? header() : assignment())) {
                return false;
            }
        }
        return true;
    }
    std::size_t line() const {
        return 1 + static_cast<std::size_t>(std::count(
                       text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size())), '\n'));
    }

  private:
    void blanks() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
    }
    void to_line_end() {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    }
    bool take(std::string_view what) {
        if (!text_.substr(at_).starts_with(what)) return false;
        at_ += what.size();
        return true;
    }
    bool rest_of_line_is_empty() {
        blanks();
        if (at_ < text_.size() && text_[at_] == '#') to_line_end();
        return at_ >= text_.size() || text_[at_] == '\n';
    }

    bool header() {
        Table table;
        take("[");
        table.array = take("[");
        if (!name(table.name) || !take(table.array ? "]]" : "]") || !rest_of_line_is_empty()) return false;
        table.next_line = std::min(at_ + 1, text_.size());
        current_ = table.name;
        tables.push_back(std::move(table));
        return true;
    }

    bool assignment() {
        Assignment made;
        made.name = current_;
        if (!name(made.name) || !take("=")) return false;
        blanks();
        const auto begin = at_;
        if (!value()) return false;
        made.value = trim(text_.substr(begin, at_ - begin));
        if (made.value.empty() || !rest_of_line_is_empty()) return false;
        assignments.push_back(std::move(made));
        return true;
    }

    bool name(Name& into) {
        for (;;) {
            blanks();
            std::string part;
            if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
                const auto begin = at_;
                if (!string()) return false;
                part = unquoted(text_.substr(begin, at_ - begin));
            } else {
                while (at_ < text_.size() && is_bare(text_[at_])) part += text_[at_++];
                if (part.empty()) return false;
            }
            into.push_back(std::move(part));
            blanks();
            if (!take(".")) return true;
        }
    }

    bool string() {
        const char quote = text_[at_];
        const std::string three(3, quote);
        const bool many = take(three);
        if (!many) ++at_;
        while (at_ < text_.size()) {
            if (many ? take(three) : text_[at_] == quote) {
                if (!many) ++at_;
                while (many && at_ < text_.size() && text_[at_] == quote) ++at_;  // quotes before the last three
                return true;
            }
            if (!many && text_[at_] == '\n') return false;
            at_ += quote == '"' && text_[at_] == '\\' ? 2 : 1;
        }
        return false;
    }

    /// To the end of a value: of the line, unless strings and brackets go on beyond it.
    bool value() {
        int depth = 0;
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '"' || c == '\'') {
                if (!string()) return false;
                continue;
            }
            if (c == '#') {
                if (depth == 0) return true;
                to_line_end();
                continue;
            }
            if (c == '\n' && depth == 0) return true;
            if (c == '[' || c == '{') ++depth;
            if ((c == ']' || c == '}') && --depth < 0) return false;
            ++at_;
        }
        return depth == 0;
    }

  public:
    /// The text of a string on one line; of anything else: itself. Escapes other than these stay, and so never equal.
    static std::string unquoted(std::string_view raw) {
        if (raw.size() < 2 || (raw.front() != '"' && raw.front() != '\'') || raw.back() != raw.front()) {
            return std::string(raw);
        }
        const bool basic = raw.front() == '"';
        raw = raw.substr(1, raw.size() - 2);
        std::string out;
        for (std::size_t i = 0; i < raw.size(); ++i) {
            const bool escaped =
                basic && raw[i] == '\\' && i + 1 < raw.size() && (raw[i + 1] == '"' || raw[i + 1] == '\\');
            out += escaped ? raw[++i] : raw[i];
        }
        return out;
    }

  private:
    std::string_view text_;
    std::size_t at_ = 0;
    Name current_;
};

bool begins_with(const Name& name, const Name& beginning) {
    return name.size() >= beginning.size() && std::equal(beginning.begin(), beginning.end(), name.begin());
}

std::string written(const std::string& part) {
    const bool bare = !part.empty() && std::all_of(part.begin(), part.end(), is_bare);
    return bare ? part : "\"" + json_escaped(part) + "\"";
}

Error refused(std::string why) {
    return Error(ErrorCode::invalid_argument, std::move(why));
}

/// What stands in the way of a new table or key of that name.
bool in_the_way(const Scanner& file, const Name& path, const Name& table) {
    const bool has_header = std::any_of(file.tables.begin(), file.tables.end(),
                                        [&](const Table& there) { return !there.array && there.name == table; });
    for (const auto& there : file.tables) {
        if (there.array && begins_with(path, there.name)) return true;
        if (begins_with(there.name, path)) return true;
    }
    for (const auto& there : file.assignments) {
        if (begins_with(path, there.name) && there.name.size() < path.size()) return true;
        if (!has_header && begins_with(there.name, table) && there.name.size() == table.size() + 1) return true;
    }
    return false;
}

}  // namespace

Result<KeyEdit> toml_with_key(std::string_view text, const std::vector<std::string>& path, const std::string& value) {
    Scanner file(text);
    if (!file.scan()) {
        return refused("cannot be understood as TOML at line " + std::to_string(file.line()) + "; nothing was changed");
    }
    KeyEdit edit;
    edit.text = text;
    for (const auto& there : file.assignments) {
        if (there.name != path) continue;
        const bool same = Scanner::unquoted(there.value) == Scanner::unquoted(value);
        edit.state = same ? KeyState::there : KeyState::different;
        edit.found = there.value;
        return edit;
    }
    const Name table(path.begin(), path.end() - 1);
    if (in_the_way(file, path, table)) {
        return refused("has \"" + path.front() + "\" in a form that no key can be added to; add it there yourself");
    }
    const std::string end = text.find("\r\n") != std::string_view::npos ? "\r\n" : "\n";
    const auto line = written(path.back()) + " = " + value + end;
    for (const auto& there : file.tables) {
        if (there.array || there.name != table) continue;
        const bool at_end = there.next_line >= text.size() && !text.ends_with('\n');
        edit.text.insert(there.next_line, at_end ? end + line : line);
        return edit;
    }
    std::vector<std::string> parts;
    for (const auto& part : table) parts.push_back(written(part));
    if (!edit.text.empty() && !edit.text.ends_with('\n')) edit.text += end;
    if (!edit.text.empty()) edit.text += end;
    edit.text += (table.empty() ? "" : "[" + join(parts, ".") + "]" + end) + line;
    return edit;
}

}  // namespace orange::agents

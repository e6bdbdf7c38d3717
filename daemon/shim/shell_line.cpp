#include "daemon/shim/shell_line.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::shim {
namespace {

Error refused(std::string why) {
    return {ErrorCode::invalid_argument, std::move(why)};
}

bool is_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool ends_word(char c) {
    return std::string_view(" \t\n;&|<>()").find(c) != std::string_view::npos;
}

/// The body of a here-document in which the shell replaces variables: whether it would run something.
bool runs_something(std::string_view body) {
    for (std::size_t i = 0; i < body.size(); ++i) {
        if (body[i] == '\\') {
            ++i;
        } else if (body[i] == '`' || (body[i] == '$' && i + 1 < body.size() &&
                                      std::string_view("({[").find(body[i + 1]) != std::string_view::npos)) {
            return true;
        }
    }
    return false;
}

class Parser {
  public:
    explicit Parser(std::string_view line) : line_(line) {}

    Result<std::vector<SimpleCommand>> parse() {
        if (line_.find('\0') != std::string_view::npos) return refused("it contains a NUL character");
        while (at_ < line_.size()) TRY(step());
        TRY(read_documents());
        end_command();
        return std::move(commands_);
    }

  private:
    struct Document {
        std::size_t command;  ///< which of the commands it belongs to
        std::string end;
        bool quoted;
        bool indented;
    };

    char peek(std::size_t ahead = 0) const { return at_ + ahead < line_.size() ? line_[at_ + ahead] : '\0'; }
    bool take(std::string_view text) {
        if (!line_.substr(at_).starts_with(text)) return false;
        at_ += text.size();
        return true;
    }

    void end_command() {
        if (!current_.words.empty() || !current_.redirections.empty() || !current_.input.empty()) {
            commands_.push_back(std::move(current_));
        }
        current_ = {};
    }

    Result<void> step() {
        const char c = peek();
        if (c == ' ' || c == '\t') return ++at_, Result<void>{};
        if (take("\\\n")) return {};
        if (c == '\n') {
            ++at_;
            TRY(read_documents());
            end_command();
            return {};
        }
        if (c == '#') {
            at_ = std::min(line_.find('\n', at_), line_.size());
            return {};
        }
        if (c == '(' || c == ')') return refused("it contains parentheses");
        if (take("&>>") || take("&>")) return read_target(true);
        if (take("&&") || take("||") || take("|&") || take("|") || take(";")) return separate();
        if (c == '&') return refused("it runs a command in the background");
        if (is_redirection()) return read_redirection();
        TRY(auto word, read_word());
        current_.words.push_back(std::move(word));
        return {};
    }

    /// The document of a command stands on the lines below, so that the command is kept until then.
    Result<void> separate() {
        if (documents_.empty()) {
            end_command();
        } else {
            commands_.push_back(std::exchange(current_, {}));
        }
        return {};
    }

    bool is_redirection() const {
        std::size_t ahead = 0;
        while (std::isdigit(static_cast<unsigned char>(peek(ahead))) != 0) ++ahead;
        return peek(ahead) == '<' || peek(ahead) == '>';
    }

    Result<void> read_redirection() {
        while (std::isdigit(static_cast<unsigned char>(peek())) != 0) ++at_;
        if (take("<>") || take("<(") || take(">(")) return refused("it contains <>, <( or >(");
        if (take("<<<")) return read_target(false);
        if (take("<<-")) return begin_document(true);
        if (take("<<")) return begin_document(false);
        const bool writes = peek() == '>';
        if (take(">&") || take("<&")) {
            if (std::isdigit(static_cast<unsigned char>(peek())) == 0 && peek() != '-') return read_target(writes);
            while (std::isdigit(static_cast<unsigned char>(peek())) != 0 || peek() == '-') ++at_;
            return ends_word(peek()) || peek() == '\0' ? Result<void>{} : refused("it contains an unclear redirection");
        }
        if (!take(">>") && !take(">|") && !take(">")) take("<");
        return read_target(writes);
    }

    Result<void> read_target(bool writes) {
        while (peek() == ' ' || peek() == '\t') ++at_;
        TRY(auto word, read_word());
        current_.redirections.push_back({writes, std::move(word)});
        return {};
    }

    Result<void> begin_document(bool indented) {
        while (peek() == ' ' || peek() == '\t') ++at_;
        const auto begin = at_;
        TRY(const auto word, read_word());
        if (word.text.empty() || word.unknown) return refused("the end of a here-document is not clear");
        const auto written = line_.substr(begin, at_ - begin);
        const bool quoted = written.find_first_of("'\"\\") != std::string_view::npos;
        documents_.push_back({commands_.size(), word.text, quoted, indented});
        return {};
    }

    Result<void> read_documents() {
        auto documents = std::exchange(documents_, {});
        for (const auto& document : documents) {
            std::string body;
            while (at_ < line_.size()) {
                const auto end = std::min(line_.find('\n', at_), line_.size());
                auto text = line_.substr(at_, end - at_);
                at_ = std::min(end + 1, line_.size());
                while (document.indented && text.starts_with('\t')) text.remove_prefix(1);
                if (text == document.end) break;
                body += std::string(text) + "\n";
            }
            if (!document.quoted && runs_something(body)) {
                return refused("its here-document contains $ or backticks; quote the word after <<");
            }
            (document.command < commands_.size() ? commands_[document.command] : current_).input = std::move(body);
        }
        return {};
    }

    Result<ShellWord> read_word() {
        ShellWord word;
        word.tilde = peek() == '~';
        const auto begin = at_;
        while (at_ < line_.size() && !ends_word(peek())) TRY(read_piece(word));
        if (at_ == begin) return refused("it is incomplete");
        return word;
    }

    Result<void> read_piece(ShellWord& word) {
        const char c = line_[at_++];
        switch (c) {
            case '\'': {
                const auto end = line_.find('\'', at_);
                if (end == std::string_view::npos) return refused("a quote is not closed");
                word.text += line_.substr(at_, end - at_);
                at_ = end + 1;
                return {};
            }
            case '"':
                return read_quoted(word);
            case '\\':
                if (peek() != '\n' && at_ < line_.size()) word.text += peek();
                at_ = std::min(at_ + 1, line_.size());
                return {};
            case '$':
                return read_variable(word, false);
            case '`':
                return refused("it contains backticks");
            case '{':
                return read_brace(word);
            case '*':
            case '?':
            case '[':
                word.globs = true;
                break;
            default:
                break;
        }
        word.text += c;
        return {};
    }

    Result<void> read_quoted(ShellWord& word) {
        while (at_ < line_.size()) {
            const char c = line_[at_++];
            if (c == '"') return {};
            if (c == '`') return refused("it contains backticks");
            if (c == '$') {
                TRY(read_variable(word, true));
            } else if (c == '\\' && std::string_view("$`\"\\\n").find(peek()) != std::string_view::npos) {
                if (peek() != '\n') word.text += peek();
                ++at_;
            } else {
                word.text += c;
            }
        }
        return refused("a quote is not closed");
    }

    /// After the `$`. Only what runs nothing: `$NAME`, `$?`, `${NAME}`, `${PIPESTATUS[0]}`.
    Result<void> read_variable(ShellWord& word, bool in_quotes) {
        const char c = peek();
        const bool special = c == '?' || c == '#' || c == '@' || c == '!' || c == '-' || c == '*';
        if (is_name(c)) {
            while (is_name(peek())) ++at_;
        } else if (special || c == '$') {
            ++at_;
        } else if (c == '{') {
            const auto end = line_.find('}', at_);
            auto name = end == std::string_view::npos ? std::string_view() : line_.substr(at_ + 1, end - at_ - 1);
            if (name.starts_with("PIPESTATUS[") && name.size() == 13 && name.ends_with(']')) name = name.substr(11, 1);
            const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), is_name);
            if (!plain) return refused("it contains ${…}");
            at_ = end + 1;
        } else if (c == '(' || c == '[' || (!in_quotes && (c == '\'' || c == '"'))) {
            return refused("it contains $(…), $[…] or $'…'");
        } else {
            word.text += '$';
            return {};
        }
        word.unknown = true;
        return {};
    }

    /// `{}`, and git's `HEAD@{1}` and `HEAD^{commit}`, are as they are; others may expand to several words.
    Result<void> read_brace(ShellWord& word) {
        const auto end = line_.find('}', at_);
        const auto inside = end == std::string_view::npos ? std::string_view() : line_.substr(at_, end - at_);
        const bool plain = end != std::string_view::npos &&
                           std::all_of(inside.begin(), inside.end(), [](char c) { return is_name(c) || c == '-'; });
        if (!plain) return refused("it contains {…}; quote it");
        word.text += "{" + std::string(inside) + "}";
        at_ = end + 1;
        return {};
    }

    std::string_view line_;
    std::size_t at_ = 0;
    SimpleCommand current_;
    std::vector<SimpleCommand> commands_;
    std::vector<Document> documents_;
};

}  // namespace

Result<std::vector<SimpleCommand>> parse_shell_line(std::string_view line) {
    return Parser(line).parse();
}

}  // namespace orange::shim

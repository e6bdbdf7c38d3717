#include "common/base/shell_words.hpp"

#include <algorithm>
#include <iterator>

#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange {
namespace {

constexpr std::string_view k_blanks = " \t\r\n";
constexpr std::string_view k_of_a_shell = "|&;<>()$`*?[";   ///< outside quotes
constexpr std::string_view k_in_quotes = "$`";              ///< a shell replaces these even in double quotes
constexpr std::string_view k_escaped_in_quotes = "\"\\$`";  ///< before other characters a backslash is literal
constexpr std::string_view k_operators[] = {"&&", "||", "|", ";", "&", ">", ">>", "<", "2>&1"};

bool is_one_of(char c, std::string_view all) {
    return all.find(c) != std::string_view::npos;
}

Error needs_shell(std::string_view command, std::string_view what) {
    return {ErrorCode::invalid_argument, "`" + std::string(command) + "` has " + std::string(what) +
                                             ", but is run without a shell; use sh -c " + shell_word(command)};
}

/// Returns the whole operator at a position: `&&` rather than `&`.
std::string_view operator_at(std::string_view text, std::size_t at) {
    const bool twice = at + 1 < text.size() && text[at] == text[at + 1] && is_one_of(text[at], "|&<>");
    return text.substr(at, twice ? 2 : 1);
}

/// Reads the words of one text; `at` is the position of the next character.
struct WordReader {
    std::string_view text;
    std::size_t at = 0;

    bool done() const { return at >= text.size(); }

    Error open_quote(char quote) const {
        return {ErrorCode::invalid_argument,
                "`" + std::string(text) + "` has a " + (quote == '"' ? "double" : "single") + " quote without its end"};
    }
    /// Reads up to and including the closing quote, after the opening one.
    Result<void> quoted(char quote, std::string& word) {
        for (; !done() && text[at] != quote; ++at) {
            if (quote == '"' && is_one_of(text[at], k_in_quotes)) return needs_shell(text, text.substr(at, 1));
            const bool escapes = quote == '"' && text[at] == '\\' && at + 1 < text.size();
            if (escapes && is_one_of(text[at + 1], k_escaped_in_quotes)) ++at;
            word += text[at];
        }
        if (done()) return open_quote(quote);
        ++at;
        return {};
    }
    Result<std::string> word() {
        std::string word;
        const auto begin = at;
        while (!done() && !is_one_of(text[at], k_blanks)) {
            const char c = text[at];
            const bool at_begin = at == begin && (c == '~' || c == '#');
            if (at_begin || is_one_of(c, k_of_a_shell)) return needs_shell(text, operator_at(text, at));
            ++at;
            if (c == '\'' || c == '"') {
                TRY(quoted(c, word));
            } else if (c == '\\' && !done()) {
                word += text[at++];
            } else {
                word += c;
            }
        }
        return word;
    }
};

}  // namespace

Result<std::vector<std::string>> shell_words(std::string_view text) {
    std::vector<std::string> words;
    WordReader reader{trim(text)};
    while (!reader.done()) {
        TRY(auto word, reader.word());
        words.push_back(std::move(word));
        while (!reader.done() && is_one_of(reader.text[reader.at], k_blanks)) ++reader.at;
    }
    return words;
}

Result<void> check_without_shell(const std::vector<std::string>& words) {
    for (const auto& word : words) {
        const bool found = std::find(std::begin(k_operators), std::end(k_operators), word) != std::end(k_operators);
        if (found) return needs_shell(join(words, " "), word);
    }
    return {};
}

}  // namespace orange

#include <algorithm>
#include <optional>

#include "common/base/text.hpp"
#include "daemon/store/markdown_line.hpp"

namespace orange::store::markdown {
namespace {

constexpr int k_longest_label = 1000;
constexpr int k_deepest_parentheses = 32;

bool is_punctuation(char c) {
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

/// Reads `[label]: destination "title"` from the front of a paragraph, as CommonMark's reference reader does. Each part
/// is looked at once.
class Definition {
  public:
    explicit Definition(std::string_view text) : text_(text) {}

    /// How many bytes the definition takes; 0 where there is none.
    std::size_t length() {
        if (!label() || !take(':')) return 0;
        blanks_and_a_line_end();
        if (!destination()) return 0;
        const auto behind_destination = at_;
        blanks_and_a_line_end();
        if (at_ != behind_destination && title() && line_end()) return at_;
        at_ = behind_destination;
        return line_end() ? at_ : 0;
    }

  private:
    bool at_end() const { return at_ >= text_.size(); }
    char peek() const { return at_end() ? '\0' : text_[at_]; }
    bool take(char c) {
        if (at_end() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void blanks() {
        while (peek() == ' ' || peek() == '\t') ++at_;
    }
    bool line_end() {
        blanks();
        return take('\n') || at_end();
    }
    void blanks_and_a_line_end() {
        if (line_end()) blanks();
    }
    bool escaped() const { return peek() == '\\' && at_ + 1 < text_.size() && is_punctuation(text_[at_ + 1]); }

    bool label() {
        const auto start = ++at_;
        for (int length = 0; !at_end() && peek() != '[' && peek() != ']';) {
            const int step = escaped() ? 2 : 1;
            at_ += static_cast<std::size_t>(step);
            if ((length += step) > k_longest_label) return false;
        }
        return peek() == ']' && !trim(text_.substr(start, at_++ - start)).empty();
    }

    bool destination() {
        if (!take('<')) return bare_destination();
        while (!at_end() && peek() != '\n' && peek() != '<') {
            if (take('>')) return !at_end();
            at_ += peek() == '\\' ? 2 : 1;
        }
        return false;
    }

    bool bare_destination() {
        int open = 0;
        for (; !at_end() && !is_space(peek()); ++at_) {
            if (escaped()) {
                ++at_;
            } else if (peek() == '(') {
                if (++open > k_deepest_parentheses) return false;
            } else if (peek() == ')' && --open < 0) {
                break;
            }
        }
        return !at_end() && open <= 0;
    }

    /// Up to the first closing mark that no backslash stands before; failing that, to the last one.
    bool title() {
        const char opener = peek();
        if (opener != '"' && opener != '\'' && opener != '(') return false;
        const char closer = opener == '(' ? ')' : opener;
        std::optional<std::size_t> last;
        for (auto i = at_ + 1; i < text_.size(); ++i) {
            const bool behind_backslash = i > at_ + 1 && text_[i - 1] == '\\';
            if (text_[i] == closer) {
                last = i + 1;
                if (!behind_backslash) break;
            } else if (text_[i] == opener && !behind_backslash) {
                break;
            }
        }
        if (last) at_ = *last;
        return last.has_value();
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

std::string_view behind_definitions(std::string_view paragraph) {
    while (paragraph.starts_with('[')) {
        const auto length = Definition(paragraph).length();
        if (length == 0) break;
        paragraph.remove_prefix(std::min(length, paragraph.size()));
    }
    return paragraph;
}

}  // namespace orange::store::markdown

#include "daemon/store/markdown.hpp"

#include <algorithm>
#include <string>

#include "daemon/store/markdown_line.hpp"

namespace orange::store::markdown {
namespace {

constexpr std::string_view k_bom = "\xEF\xBB\xBF";
constexpr int k_code_indent = 4;
constexpr std::size_t k_longest_fence = 255;  ///< longer ones are closed by as many

/// A quote, or a list's item.
struct Container {
    int content = 0;   ///< of an item: the columns that its lines are indented by; 0: a quote
    int children = 0;  ///< of an item: one that is still empty ends with a blank line
};

enum class Leaf { none, paragraph, indented_code, fence, html };

/// Reads line after line, with what is open after the last one. Lists need no entry of their own: nothing that is asked
/// here depends on which items are of one list.
class Scanner {
  public:
    void line(std::string_view text, bool is_first) {
        ++number_;
        blocks_.steps += text.size() + 1;
        const bool blank = text.find_first_not_of(" \t") == std::string_view::npos;
        if (blank && settled_) return;
        const auto depth = open_.size();
        const auto leaf = leaf_;
        read(Cursor(text, is_first && text.starts_with(k_bom) ? k_bom.size() : 0));
        // A second blank line in a row changes nothing, and need not ask each of the open items again.
        settled_ = blank && open_.size() == depth && leaf_ == leaf && (open_.empty() || open_.back().children > 0);
    }

    Blocks finish() {
        if (leaf_ == Leaf::fence && open_.empty()) blocks_.open_fence = leaf_line_;
        return std::move(blocks_);
    }

  private:
    void read(Cursor at) {
        matched_ = 0;
        while (matched_ < open_.size() && continues(open_[matched_], at)) ++matched_;
        blocks_.steps += matched_ + 1;
        const bool all = matched_ == open_.size();
        if (all && closes_fence(at)) {
            leaf_ = Leaf::none;
            return;
        }
        leaf_matched_ = all && leaf_ != Leaf::none && leaf_continues(at);
        if (leaf_matched_ && leaf_ != Leaf::paragraph) {
            if (leaf_ == Leaf::html && ends_html_block(html_kind_, at.rest())) leaf_ = Leaf::none;
            return;
        }
        opened_ = false;
        if (!open_blocks(at)) add_text(at);
    }

    static bool continues(const Container& container, Cursor& at) {
        if (container.content == 0) {
            if (at.indent() >= k_code_indent || at.peek() != '>') return false;
            at.skip_to_text(1);
            if (at.at_space()) at.skip_columns(1);
            return true;
        }
        if (at.indent() >= container.content) {
            at.skip_columns(container.content);
            return true;
        }
        if (!at.blank() || container.children == 0) return false;
        at.skip_to_text();
        return true;
    }

    bool closes_fence(const Cursor& at) const {
        return leaf_ == Leaf::fence && at.indent() < k_code_indent &&
               is_closing_fence(at.rest(), fence_mark_, fence_length_);
    }

    bool leaf_continues(const Cursor& at) const {
        if (leaf_ == Leaf::fence) return true;
        if (leaf_ == Leaf::indented_code) return at.indent() >= k_code_indent || at.blank();
        if (leaf_ == Leaf::html && html_kind_ <= 5) return true;
        return !at.blank();
    }

    /// Opens what the line begins. True where nothing of the line is left then.
    bool open_blocks(Cursor& at) {
        bool maybe_lazy = leaf_ == Leaf::paragraph;
        for (;; maybe_lazy = false) {
            const bool in_paragraph = leaf_matched_ && !opened_;
            if (at.indent() >= k_code_indent) {
                if (maybe_lazy || at.blank()) return false;
                open_leaf(Leaf::indented_code);
                return true;
            }
            if (open_container(at, in_paragraph)) continue;
            return open_line(at, in_paragraph, maybe_lazy);
        }
    }

    bool open_container(Cursor& at, bool in_paragraph) {
        if (at.peek() == '>') {
            at.skip_to_text(1);
            if (at.at_space()) at.skip_columns(1);
            open_child();
            open_.push_back({});
            return true;
        }
        const auto marker = list_marker(at.rest(), in_paragraph);
        if (marker == 0 || is_thematic(at.rest()) || (in_paragraph && is_setext_underline(at.rest()))) return false;
        const int indent = at.indent();
        at.skip_to_text(marker);
        open_child();
        open_.push_back({indent + static_cast<int>(marker) + skip_after_marker(at), 0});
        return true;
    }

    /// Up to four columns between marker and text belong to the marker; beyond that, one, and what follows is code.
    static int skip_after_marker(Cursor& at) {
        const int columns = at.indent();
        const int padding = at.blank() || columns > k_code_indent || columns < 1 ? 1 : columns;
        at.skip_columns(std::min(padding, columns));
        return padding;
    }

    bool open_line(Cursor& at, bool in_paragraph, bool maybe_lazy) {
        const auto rest = at.rest();
        if (is_atx_heading(rest)) {
            open_leaf(Leaf::none);
            if (open_.empty()) blocks_.headings.push_back({number_, number_, false});
            return true;
        }
        if (const auto length = opening_fence(rest); length > 0) {
            open_leaf(Leaf::fence);
            fence_mark_ = rest.front();
            fence_length_ = std::min(length, k_longest_fence);
            return true;
        }
        if (const int kind = html_block_start(rest, maybe_lazy); kind > 0) {
            open_leaf(Leaf::html);
            html_kind_ = kind;
            if (ends_html_block(kind, rest)) leaf_ = Leaf::none;
            return true;
        }
        if (in_paragraph && is_setext_underline(rest)) return underline();
        if (!is_thematic(rest)) return false;
        open_leaf(Leaf::none);
        return true;
    }

    /// Where the paragraph above was nothing but definitions, the line is no underline but the text that follows them.
    bool underline() {
        drop_definitions();
        if (paragraph_.empty() && may_be_definition_) return false;
        if (open_.empty()) blocks_.headings.push_back({leaf_line_, number_, true});
        leaf_ = Leaf::none;
        return true;
    }

    bool is_thematic(std::string_view rest) {
        // "- - - … x" is asked at each of its markers: what stopped the first look stops all the others.
        if (not_thematic_line_ == number_ && rest.size() > not_thematic_rest_) return false;
        if (rest.empty() || (rest.front() != '-' && rest.front() != '*' && rest.front() != '_')) return false;
        if (is_thematic_break(rest)) return true;
        const auto stop = rest.find_first_not_of(std::string(" \t") + rest.front());
        not_thematic_line_ = number_;
        not_thematic_rest_ = stop == std::string_view::npos ? 0 : rest.size() - stop;
        blocks_.steps += std::min(stop, rest.size());
        return false;
    }

    void add_text(Cursor& at) {
        const bool lazy = leaf_ == Leaf::paragraph && !leaf_matched_ && !opened_;
        if (at.blank()) {
            if (!opened_) close_unmatched();
        } else if (lazy || (leaf_matched_ && !opened_)) {
            add_to_paragraph(lazy ? at.unread() : at.rest());
        } else {
            open_leaf(Leaf::paragraph);
            paragraph_.clear();
            may_be_definition_ = true;
            add_to_paragraph(at.rest());
        }
    }

    void add_to_paragraph(std::string_view text) {
        if (paragraph_.empty() && !text.starts_with('[')) may_be_definition_ = false;
        if (may_be_definition_) paragraph_.append(text).append("\n");
    }

    void drop_definitions() {
        if (!may_be_definition_) return;
        blocks_.steps += paragraph_.size();
        paragraph_.erase(0, paragraph_.size() - behind_definitions(paragraph_).size());
        if (paragraph_.find_first_not_of(" \t\n") == std::string::npos) paragraph_.clear();
    }

    void open_leaf(Leaf leaf) {
        open_child();
        leaf_ = leaf;
        leaf_line_ = number_;
    }

    /// Whatever is opened first in a line closes what the line did not continue.
    void open_child() {
        if (!opened_) close_unmatched();
        opened_ = true;
        close_leaf();
        if (!open_.empty()) ++open_.back().children;
    }

    void close_unmatched() {
        if (!leaf_matched_) close_leaf();
        open_.resize(matched_);
    }

    void close_leaf() {
        if (leaf_ == Leaf::paragraph) {
            drop_definitions();
            const bool nothing_left = paragraph_.empty() && may_be_definition_;
            if (nothing_left && !open_.empty()) --open_.back().children;
        }
        leaf_ = Leaf::none;
    }

    Blocks blocks_;
    int number_ = 0;
    std::vector<Container> open_;
    bool settled_ = false;  ///< another blank line would change nothing

    Leaf leaf_ = Leaf::none;
    int leaf_line_ = 0;
    int html_kind_ = 0;
    char fence_mark_ = '`';
    std::size_t fence_length_ = 0;
    std::string paragraph_;  ///< of a paragraph that may begin with definitions
    bool may_be_definition_ = false;

    // Of the line that is being read.
    std::size_t matched_ = 0;
    bool leaf_matched_ = false;
    bool opened_ = false;
    int not_thematic_line_ = 0;
    std::size_t not_thematic_rest_ = 0;
};

}  // namespace

Blocks blocks_of(std::string_view text) {
    Scanner scanner;
    for (bool is_first = true; !text.empty(); is_first = false) {
        const auto end = text.find_first_of("\r\n");
        scanner.line(text.substr(0, end), is_first);
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + (text.substr(end, 2) == "\r\n" ? 2 : 1));
    }
    return scanner.finish();
}

}  // namespace orange::store::markdown

#include "daemon/store/line_merge.hpp"

#include <algorithm>
#include <cctype>
#include <functional>
#include <span>
#include <unordered_map>

#include "common/base/text.hpp"

namespace orange::store {
namespace {

using Line = std::string_view;
using Chunk = std::span<const Line>;
using Partners = std::vector<int>;  ///< of each line of a text: its line of the other text, or -1

constexpr int k_deepest = 32;

/// Cuts a text into lines with their ends.
std::vector<Line> cut(std::string_view text) {
    std::vector<Line> lines;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
        lines.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return lines;
}

Line without_end(Line line) {
    while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

bool is_same(Line a, Line b) {
    return without_end(a) == without_end(b);
}

bool is_blank_line(Line line) {
    return trim(line).empty();
}

bool are_same(Chunk a, Chunk b) {
    return std::ranges::equal(a, b, is_same);
}

bool begins(Chunk text, Chunk with) {
    return text.size() >= with.size() && are_same(text.first(with.size()), with);
}

bool ends(Chunk text, Chunk with) {
    return text.size() >= with.size() && are_same(text.last(with.size()), with);
}

/// Finds the lines that two texts have in common: first those at both ends, then those that occur once in each, and
/// then the same between these (a "patience" diff). Unlike a shortest edit it keeps to lines that mean something, and
/// no text makes it slow.
class Matcher {
  public:
    Matcher(const std::vector<Line>& a, const std::vector<Line>& b) : partners(a.size(), -1) {
        std::unordered_map<Line, int> ids;
        const auto number = [&](const std::vector<Line>& lines) {
            std::vector<int> numbered;
            for (const auto line : lines) {
                numbered.push_back(ids.emplace(without_end(line), static_cast<int>(ids.size())).first->second);
            }
            return numbered;
        };
        a_ = number(a);
        b_ = number(b);
        in_a_.resize(ids.size());
        in_b_.resize(ids.size());
        match({0, static_cast<int>(a.size()), 0, static_cast<int>(b.size())}, 0);
    }

    Partners partners;

  private:
    struct Range {
        int a, a_end, b, b_end;
    };
    struct Pair {
        int a = 0, b = 0;
        int before = -1;  ///< the index of the pair before it in its longest chain
    };
    struct Seen {
        int times = 0;
        int at = 0;
    };

    void match(Range range, int depth) {
        while (range.a < range.a_end && range.b < range.b_end && at(a_, range.a) == at(b_, range.b)) {
            partners[static_cast<std::size_t>(range.a++)] = range.b++;
        }
        while (range.a < range.a_end && range.b < range.b_end && at(a_, range.a_end - 1) == at(b_, range.b_end - 1)) {
            partners[static_cast<std::size_t>(--range.a_end)] = --range.b_end;
        }
        if (range.a == range.a_end || range.b == range.b_end || depth == k_deepest) return;
        const auto anchors = longest_chain(unique_pairs(range));
        if (anchors.empty()) return;
        auto from = range;
        for (const auto& anchor : anchors) {
            partners[static_cast<std::size_t>(anchor.a)] = anchor.b;
            match({from.a, anchor.a, from.b, anchor.b}, depth + 1);
            from.a = anchor.a + 1;
            from.b = anchor.b + 1;
        }
        match({from.a, range.a_end, from.b, range.b_end}, depth + 1);
    }

    static int at(const std::vector<int>& ids, int line) { return ids[static_cast<std::size_t>(line)]; }
    static Seen& at(std::vector<Seen>& seen, int id) { return seen[static_cast<std::size_t>(id)]; }

    /// Returns the lines that occur once in each of the two ranges, in the order of `a`.
    std::vector<Pair> unique_pairs(const Range& range) {
        for (int i = range.a; i < range.a_end; ++i) at(in_a_, at(a_, i)) = at(in_b_, at(a_, i)) = {};
        for (int i = range.b; i < range.b_end; ++i) at(in_a_, at(b_, i)) = at(in_b_, at(b_, i)) = {};
        for (int i = range.a; i < range.a_end; ++i) ++at(in_a_, at(a_, i)).times;
        for (int i = range.b; i < range.b_end; ++i) {
            auto& seen = at(in_b_, at(b_, i));
            ++seen.times;
            seen.at = i;
        }
        std::vector<Pair> pairs;
        for (int i = range.a; i < range.a_end; ++i) {
            const auto& seen = at(in_b_, at(a_, i));
            if (at(in_a_, at(a_, i)).times == 1 && seen.times == 1) pairs.push_back({i, seen.at});
        }
        return pairs;
    }

    /// Returns the longest chain of pairs that rises in both texts.
    static std::vector<Pair> longest_chain(std::vector<Pair> pairs) {
        std::vector<int> tops;  // the last pair of the best chain of each length
        for (int i = 0; i < static_cast<int>(pairs.size()); ++i) {
            auto& pair = pairs[static_cast<std::size_t>(i)];
            const auto place = std::ranges::lower_bound(
                tops, pair.b, {}, [&](int top) { return pairs[static_cast<std::size_t>(top)].b; });
            if (place != tops.begin()) pair.before = *std::prev(place);
            if (place == tops.end()) {
                tops.push_back(i);
            } else {
                *place = i;
            }
        }
        std::vector<Pair> chain;
        for (int i = tops.empty() ? -1 : tops.back(); i >= 0; i = pairs[static_cast<std::size_t>(i)].before) {
            chain.push_back(pairs[static_cast<std::size_t>(i)]);
        }
        std::ranges::reverse(chain);
        return chain;
    }

    std::vector<int> a_, b_;
    std::vector<Seen> in_a_, in_b_;
};

std::vector<std::string> words_of(std::string_view line) {
    std::vector<std::string> words;
    bool open = false;
    for (const char c : line) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) == 0 && byte < 0x80) {
            open = false;
            continue;
        }
        if (!open) words.emplace_back();
        open = true;
        words.back() += static_cast<char>(std::tolower(byte));
    }
    return words;
}

/// A line that means something only together with its neighbours: a fence, a bracket, a rule.
bool is_structure(Line line) {
    const auto text = trim(line);
    return text.starts_with("```") || text.starts_with("~~~") || words_of(text).empty();
}

class Merge {
  public:
    Merge(std::string_view base, std::string_view mine, std::string_view theirs)
        : base_(cut(base)), mine_(cut(mine)), theirs_(cut(theirs)) {}

    std::string run() {
        const auto in_mine = Matcher(base_, mine_).partners, in_theirs = Matcher(base_, theirs_).partners;
        std::size_t b = 0, m = 0, t = 0;
        for (std::size_t line = 0; line <= base_.size(); ++line) {
            const bool is_end = line == base_.size();
            if (!is_end && (in_mine[line] < 0 || in_theirs[line] < 0)) continue;
            const auto m_end = is_end ? mine_.size() : static_cast<std::size_t>(in_mine[line]);
            const auto t_end = is_end ? theirs_.size() : static_cast<std::size_t>(in_theirs[line]);
            add_chunk(Chunk(base_).subspan(b, line - b), Chunk(mine_).subspan(m, m_end - m),
                      Chunk(theirs_).subspan(t, t_end - t));
            if (is_end) break;
            add(mine_[m_end]);
            b = line + 1;
            m = m_end + 1;
            t = t_end + 1;
        }
        return std::move(out_);
    }

  private:
    void add(Line line) {
        if (!out_.empty() && !out_.ends_with('\n')) out_ += '\n';
        out_ += line;
    }
    void add(Chunk chunk) {
        for (const auto line : chunk) add(line);
    }
    /// Adds the lines that are in none of the others, and all that only structure them. Of blank lines, one stays
    /// between two others.
    void add_new(Chunk chunk, std::initializer_list<Chunk> others) {
        std::unordered_set<Line> known;
        for (const auto other : others) {
            for (const auto line : other) known.insert(without_end(line));
        }
        for (const auto line : chunk) {
            const bool is_doubled = is_blank_line(line) && (out_.empty() || out_.ends_with("\n\n"));
            const bool is_known = known.contains(without_end(line)) && !is_structure(line);
            if (is_blank_line(line) ? is_doubled : is_known) continue;
            if (line.starts_with("## ") && !out_.empty() && !out_.ends_with("\n\n")) add("\n");
            add(line);
        }
    }

    void add_chunk(Chunk base, Chunk mine, Chunk theirs) {
        if (are_same(base, theirs) || are_same(mine, theirs)) return add(mine);
        if (are_same(base, mine)) return add(theirs);
        if (begins(theirs, mine) && begins(mine, base)) return add(theirs);
        if (begins(mine, theirs) && begins(theirs, base)) return add(mine);
        if (begins(theirs, base)) {
            add(mine);
            return add_new(theirs.subspan(base.size()), {mine});
        }
        if (begins(mine, base)) {
            add(theirs);
            return add_new(mine.subspan(base.size()), {theirs});
        }
        if (ends(theirs, base)) {
            add_new(theirs.first(theirs.size() - base.size()), {mine});
            return add(mine);
        }
        if (ends(mine, base)) {
            add_new(mine.first(mine.size() - base.size()), {theirs});
            return add(theirs);
        }
        std::unordered_set<Line> stay;
        for (const auto line : theirs) stay.insert(without_end(line));
        std::vector<Line> removed;
        for (const auto line : base) {
            if (!stay.contains(without_end(line))) removed.push_back(line);
        }
        add_new(mine, {removed});
        add_new(theirs, {base, mine});
    }

    std::vector<Line> base_, mine_, theirs_;
    std::string out_;
};

/// Returns the line with every ticked box of a list emptied.
std::string unticked(std::string_view line) {
    std::string text(line);
    for (std::size_t at = text.find('['); at != std::string::npos && at + 2 < text.size();
         at = text.find('[', at + 1)) {
        if (text[at + 2] == ']' && (text[at + 1] == 'x' || text[at + 1] == 'X')) text[at + 1] = ' ';
    }
    return text;
}

}  // namespace

std::string merge_lines(std::string_view base, std::string_view mine, std::string_view theirs) {
    return Merge(base, mine, theirs).run();
}

std::string all_lines(std::string_view mine, std::string_view theirs) {
    const auto lines = cut(mine), others = cut(theirs);
    const auto partners = Matcher(lines, others).partners;
    std::string common;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (partners[i] < 0) continue;
        common += without_end(lines[i]);
        common += '\n';
    }
    return merge_lines(common, mine, theirs);
}

std::unordered_set<std::string_view> lines_of(std::string_view text) {
    std::unordered_set<std::string_view> lines;
    for (const auto line : split_lines(text)) {
        if (!trim(line).empty()) lines.insert(trim(line));
    }
    return lines;
}

bool is_changed_line(std::string_view before, std::string_view now) {
    const auto old = unticked(trim(before)), changed = unticked(trim(now));
    if (old == changed) return true;
    const auto before_words = words_of(old), now_words = words_of(changed);
    return !before_words.empty() && before_words.size() <= now_words.size() &&
           std::equal(before_words.begin(), before_words.end(), now_words.begin());
}

std::vector<std::size_t> line_hashes(std::string_view text) {
    std::vector<std::size_t> hashes;
    for (const auto line : split_lines(text)) {
        const auto inside = trim(line);
        if (inside.empty()) continue;
        hashes.push_back(inside.find('[') == std::string_view::npos ? std::hash<std::string_view>()(inside)
                                                                    : std::hash<std::string>()(unticked(inside)));
    }
    std::ranges::sort(hashes);
    return hashes;
}

std::size_t distance(const std::vector<std::size_t>& one, const std::vector<std::size_t>& other) {
    std::size_t common = 0;
    for (auto a = one.begin(), b = other.begin(); a != one.end() && b != other.end();) {
        if (*a == *b) {
            ++common;
            ++a;
            ++b;
        } else if (*a < *b) {
            ++a;
        } else {
            ++b;
        }
    }
    return one.size() + other.size() - 2 * common;
}

}  // namespace orange::store

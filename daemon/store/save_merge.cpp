#include "daemon/store/save_merge.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/base/text.hpp"
#include "daemon/store/line_merge.hpp"

namespace orange::store {
namespace {

using Blocks = std::vector<Block>;

/// Comparing each line that went with each new one takes longer than anybody wants to wait.
constexpr std::size_t k_most_comparisons = 20'000;

std::size_t hash_of(std::string_view line) {
    return std::hash<std::string_view>()(trim(line));
}

std::string_view without_blank_end(std::string_view text) {
    const auto end = text.find_last_not_of(" \t\r\n");
    return text.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

bool is_same_text(const Block* one, const Block* other) {
    if (!one || !other) return one == other;
    return without_blank_end(one->text) == without_blank_end(other->text);
}

/// The sections of a text by their places.
class Index {
  public:
    explicit Index(const Blocks& blocks) {
        for (const auto& block : blocks) places_.emplace(std::pair(std::string_view(block.heading), block.nth), &block);
    }
    const Block* find(const Block& place) const {
        const auto found = places_.find(std::pair(std::string_view(place.heading), place.nth));
        return found == places_.end() ? nullptr : found->second;
    }

  private:
    std::map<std::pair<std::string_view, int>, const Block*> places_;
};

const Blocks& blocks_in(const TextPtr& text) {
    static const Blocks k_none;
    return text ? text->blocks() : k_none;
}

/// Headings in the order in which they were noted, each once.
class Headings {
  public:
    void note(const std::string& heading) {
        const auto name = heading.empty() ? std::string("(beginning)") : heading;
        if (known_.insert(name).second) all.push_back(name);
    }
    std::vector<std::string> all;

  private:
    std::set<std::string> known_;
};

/// Adds a part to a text that is made of whole sections, with a blank line between them.
void add_part(std::string& text, std::string_view part) {
    if (part.empty()) return;
    const std::string end = part.find("\r\n") != std::string_view::npos ? "\r\n" : "\n";
    if (!text.empty() && !text.ends_with('\n')) text += end;
    if (!text.empty() && !text.ends_with("\n\n") && !text.ends_with("\n\r\n")) text += end;
    text += part;
}

class Merger {
  public:
    Merger(const Text& current, const Save& save)
        : current_(current),
          save_(save),
          mine_(current.blocks()),
          theirs_(save.text->blocks()),
          base_(blocks_in(save.base)) {}

    MergedSave run() {
        out_.body = merged();
        bring_back();
        keep_homeless();
        out_.back = std::move(back_.all);
        out_.gone = std::move(gone_.all);
        return std::move(out_);
    }

  private:
    std::string merged() const {
        if (save_.base && save_.whole && save_.base->body() == current_.body()) return save_.text->body();
        const bool is_hidden = is_open(current_.body()) || is_open(save_.text->body());
        if (is_hidden) return whole_merged();
        std::string body;
        for (const auto* place : places()) add_part(body, merged_block(*place));
        const auto end = without_blank_end(body).size();
        const auto rest = body.find('\n', end);
        return rest == std::string::npos ? body : body.substr(0, rest + 1);
    }

    /// A fence that is not closed hides headings, so that sections cannot be told from one another.
    std::string whole_merged() const {
        const auto text = save_.whole ? save_.text->body() : closed(save_.text->body());
        if (!save_.base || !save_.whole) return all_lines(current_.body(), text);
        return merge_lines(save_.base->body(), current_.body(), text);
    }

    /// Returns the places of all sections of both texts, in the order of the save; those that only the current body has
    /// follow the section that they follow there.
    std::vector<const Block*> places() const {
        std::map<const Block*, std::vector<const Block*>> followers;
        const Block* after = nullptr;
        for (const auto& block : current_.blocks()) {
            if (const auto* found = theirs_.find(block)) {
                after = found;
            } else {
                followers[after].push_back(&block);
            }
        }
        auto places = std::move(followers[nullptr]);
        for (const auto& block : save_.text->blocks()) {
            places.push_back(&block);
            const auto& next = followers[&block];
            places.insert(places.end(), next.begin(), next.end());
        }
        return places;
    }

    /// Returns the text of a section; empty if it is removed.
    std::string merged_block(const Block& place) const {
        const bool from = save_.base != nullptr;
        const auto* mine = mine_.find(place);
        const auto* theirs = theirs_.find(place);
        const auto* base = base_.find(place);
        const auto text = [](const Block* block) { return block ? std::string(block->text) : std::string(); };
        if (is_same_text(mine, theirs)) return text(theirs);
        if (!theirs && (!save_.whole || !from)) return text(mine);
        if (from && is_same_text(base, theirs)) return text(mine);
        if (from && is_same_text(base, mine)) return text(theirs);
        if (!theirs) return text(mine);
        if (!mine) return base ? std::string() : text(theirs);  // a removed section has no place for new lines
        auto merged = base ? merge_lines(base->text, mine->text, theirs->text) : all_lines(mine->text, theirs->text);
        if (!is_open(merged)) return merged;
        std::string both(mine->text);  // a fence that is not closed would hide all sections below it
        add_part(both, theirs->text);
        return both;
    }

    /// Returns true if the author may remove the line.
    bool may_remove(const Block& block, std::string_view line) const {
        if (save_.added && save_.added->contains(hash_of(line))) return true;
        if (!save_.owns(block.heading)) return false;
        return !save_.last || lines_of_last().contains(line);
    }

    const std::unordered_set<std::string_view>& lines_of_last() const {
        if (last_.empty()) last_ = lines_of(save_.last->body());
        return last_;
    }

    bool is_changed(const Block& block, std::string_view line, const std::vector<std::string_view>& fresh) {
        const auto* place = theirs_.find(block);
        if (!place) return false;
        const auto* begin = place->text.data();
        for (const auto now : fresh) {
            if (++comparisons_ > k_most_comparisons) return false;
            const bool is_there = now.data() >= begin && now.data() < begin + place->text.size();
            if (!is_there || replaced_.contains(now.data()) || !is_changed_line(line, now)) continue;
            replaced_.insert(now.data());  // it stands for one line
            return true;
        }
        return false;
    }

    /// Returns the lines of the save that the current body does not have.
    std::vector<std::string_view> fresh_lines() const {
        const auto known = lines_of(current_.body());
        std::vector<std::string_view> fresh;
        for (const auto line : lines_of(save_.text->body())) {
            if (!known.contains(line)) fresh.push_back(line);
        }
        return fresh;
    }

    /// Merges the lines back that the save removed and that were another's, or keeps them if that was done before.
    void bring_back() {
        const auto there = lines_of(out_.body);
        const auto fresh = fresh_lines();
        for (const auto line : fresh) out_.added.insert(hash_of(line));
        std::string without;  // the current body without the lines that come back
        for (const auto& block : current_.blocks()) {
            std::string left;
            bool goes = false, is_left = false;
            for (auto rest = block.text; !rest.empty();) {
                const auto whole = rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
                const auto line = trim(whole);
                rest.remove_prefix(whole.size());
                const bool stays =
                    line.empty() || there.contains(line) || may_remove(block, line) || is_changed(block, line, fresh);
                goes = goes || (!stays && may_go(block, line));
                if (stays || may_go(block, line)) {
                    left += whole;
                    is_left = is_left || !line.empty();
                } else {
                    back_.note(block.heading);
                    out_.returned.insert(hash_of(line));
                }
            }
            if (is_left || trim(block.text).empty()) without += left;
            if (goes) keep(block);
        }
        if (back_.all.empty()) return;
        const bool hides = is_open(out_.body) && !is_open(current_.body());
        out_.body = merge_lines(without, hides ? closed(out_.body) : out_.body, current_.body());
    }

    /// Returns true if the line was merged back before, and may now go out of both copies.
    bool may_go(const Block& block, std::string_view line) const {
        return save_.returned && save_.returned->contains(hash_of(line)) && has_room_for(block);
    }

    /// Keeps the lines of the save that have no place in the result, because their section was removed meanwhile.
    void keep_homeless() {
        const auto there = lines_of(out_.body);
        const auto known = save_.base ? lines_of(save_.base->body()) : std::unordered_set<std::string_view>();
        for (const auto& block : save_.text->blocks()) {
            const auto lines = lines_of(block.text);
            const bool is_homeless = std::ranges::any_of(
                lines, [&](std::string_view line) { return !there.contains(line) && !known.contains(line); });
            if (!is_homeless) continue;
            if (has_room_for(block)) {
                keep(block);
            } else {
                add_part(out_.body, block.text);
                back_.note(block.heading);
            }
        }
    }

    bool has_room_for(const Block& block) const { return out_.kept.size() + block.text.size() <= save_.may_keep; }

    void keep(const Block& block) {
        gone_.note(block.heading);
        add_part(out_.kept, block.text);
    }

    const Text& current_;
    const Save& save_;
    const Index mine_, theirs_, base_;
    MergedSave out_;
    Headings back_, gone_;
    std::size_t comparisons_ = 0;
    std::set<const char*> replaced_;  ///< the lines of the save that stand for one that went
    mutable std::unordered_set<std::string_view> last_;
};

}  // namespace

MergedSave merge_save(const Text& current, const Save& save) {
    return Merger(current, save).run();
}

LineSet missing_in(const Text& text, const LineSet& lines) {
    auto missing = lines;
    for (const auto line : lines_of(text.body())) missing.erase(hash_of(line));
    return missing;
}

}  // namespace orange::store

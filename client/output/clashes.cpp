#include "client/output/clashes.hpp"

#include <algorithm>
#include <ranges>

#include "client/output/tasks.hpp"
#include "common/base/text.hpp"

namespace orange::output {
namespace {

constexpr std::size_t k_in_row = 2, k_facts = 3, k_sentences = 5;

/// Returns the same for both tasks of a clash.
std::pair<std::string, std::string> pair_of(const std::string& id, const Clash& clash) {
    if (clash.with.empty()) return {id, "branch " + clash.branch};
    return std::minmax({id, clash.with});
}

/// Certain clashes come first, of these the ones with a branch.
int rank_of(const Clash& clash) {
    return (clash.maybe ? 2 : 0) + (clash.with.empty() ? 0 : 1);
}

}  // namespace

std::string clashes_text(std::vector<Clash> clashes) {
    std::ranges::stable_sort(clashes, {}, rank_of);
    std::vector<std::string> texts;
    for (const auto& clash : clashes) {
        if (texts.size() == k_in_row) break;
        texts.push_back(clash_clause(clash));
    }
    const auto more = clashes.size() - texts.size();
    if (more > 0) texts.push_back("and " + std::to_string(more) + " more");
    return join(texts, "; ");
}

std::vector<std::string> merge_clash_facts(const std::vector<Clash>& clashes) {
    std::vector<const Clash*> others;
    for (const auto& clash : clashes) {
        if (!clash.with.empty()) others.push_back(&clash);
    }
    std::ranges::stable_sort(others, {}, [](const Clash* clash) { return clash->maybe; });
    std::vector<std::string> facts;
    for (const auto* clash : others) {
        if (facts.size() == k_facts) break;
        facts.push_back("After this, " + printable(clash->short_id) +
                        (clash->maybe ? " may conflict in " : " will conflict in ") + clash_files(*clash));
    }
    if (others.size() > facts.size()) facts.push_back("and " + counted(others.size() - facts.size(), "more task"));
    return facts;
}

void ClashNotes::add(const std::vector<rpc::TaskView>& tasks) {
    for (const auto& task : tasks) {
        for (const auto& clash : task.clashes) {
            if (!pairs_.insert(pair_of(task.fields.id.value, clash)).second) continue;
            const auto at = std::ranges::upper_bound(notes_, rank_of(clash), {}, &Note::rank);
            notes_.insert(at, {rank_of(clash), short_id(task), clash_clause(clash)});
            if (notes_.size() > k_sentences + 1) notes_.pop_back();
        }
    }
}

std::string ClashNotes::text(const Style& style) const {
    std::string out;
    for (const auto& note : notes_ | std::views::take(k_sentences)) {
        out += wrapped(k_clash_mark + (" " + note.id) + " " + note.sentence, "  ", style.width);
    }
    if (notes_.size() <= k_sentences) return out;
    const auto more = std::to_string(pairs_.size() - k_sentences);
    const auto& next = notes_.back().id;
    return out + "  and " + more + " more. Those of " + next + ":\n    orange show " + next + "\n";
}

}  // namespace orange::output

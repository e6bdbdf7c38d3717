#include "client/output/clashes.hpp"

#include <algorithm>

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

}  // namespace

std::string clashes_text(const std::vector<Clash>& clashes) {
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
            if (sentences_.size() < k_sentences) {
                sentences_.push_back(short_id(task) + " " + clash_clause(clash));
            } else if (next_.empty()) {
                next_ = short_id(task);
            }
        }
    }
}

std::string ClashNotes::text(const Style& style) const {
    std::string out;
    for (const auto& sentence : sentences_) {
        out += wrapped(k_clash_mark + (" " + sentence), "  ", style.width);
    }
    const auto more = pairs_.size() - sentences_.size();
    if (more == 0) return out;
    return out + "  and " + std::to_string(more) + " more. Those of " + next_ + ":\n    orange show " + next_ + "\n";
}

}  // namespace orange::output

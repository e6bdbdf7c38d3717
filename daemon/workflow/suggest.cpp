#include "daemon/workflow/suggest.hpp"

#include <algorithm>
#include <numeric>

#include "common/base/text.hpp"

namespace orange::workflow {
namespace {

/// Levenshtein's distance, ignoring case.
std::size_t distance(std::string_view first, std::string_view second) {
    const std::string a = to_lower(first), b = to_lower(second);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t k = 1; k <= b.size(); ++k) {
            const std::size_t substituted = diagonal + (a[i - 1] == b[k - 1] ? 0 : 1);
            diagonal = row[k];
            row[k] = std::min({row[k] + 1, row[k - 1] + 1, substituted});
        }
    }
    return row.back();
}

}  // namespace

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
    constexpr std::size_t k_longest = 64;
    if (word.size() > k_longest) return {};
    std::size_t best = std::max<std::size_t>(2, word.size() / 3) + 1;
    const std::string* nearest = nullptr;
    std::vector<std::string> short_ones;
    for (const auto& candidate : known) {
        if (candidate.size() > k_longest) continue;
        short_ones.push_back(candidate);
        const auto far = distance(word, candidate);
        if (far >= best || far >= candidate.size()) continue;
        best = far;
        nearest = &candidate;
    }
    if (nearest != nullptr) return "; did you mean " + *nearest + "?";
    return short_ones.empty() ? std::string{} : "; known are " + join(short_ones, ", ");
}

}  // namespace orange::workflow

#include "common/base/suggest.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/base/text.hpp"

namespace orange {
namespace {

/// A word may have one mistake, and one more for each so many letters. With more mistakes it is another word, like
/// "nope" and "done".
constexpr std::size_t k_letters_a_mistake = 3;

}  // namespace

std::size_t edit_distance(std::string_view first, std::string_view second) {
    const std::string a = to_lower(first), b = to_lower(second);
    std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::swap(before_last, last);
        std::swap(last, row);
        row[0] = i;
        for (std::size_t k = 1; k <= b.size(); ++k) {
            row[k] = std::min({last[k] + 1, row[k - 1] + 1, last[k - 1] + (a[i - 1] == b[k - 1] ? 0 : 1)});
            const bool swapped = i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1];
            if (swapped) row[k] = std::min(row[k], before_last[k - 2] + 1);
        }
    }
    return row.back();
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
    if (word.size() > k_longest_word) return std::nullopt;
    std::size_t best = std::max<std::size_t>(1, word.size() / k_letters_a_mistake) + 1;
    std::optional<std::string> found;
    for (const auto& candidate : known) {
        if (candidate.size() > k_longest_word || candidate.size() >= word.size() + best) continue;
        const auto far = edit_distance(word, candidate);
        if (far >= best || far >= candidate.size()) continue;
        best = far;
        found = candidate;
    }
    return found;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
    if (word.size() > k_longest_word) return {};
    if (const auto meant = nearest(word, known)) return "; did you mean " + *meant + "?";
    std::vector<std::string> shown;
    for (const auto& candidate : known) {
        if (candidate.size() <= k_longest_word) shown.push_back(candidate);
    }
    return shown.empty() ? std::string{} : "; known: " + join(shown, ", ");
}

}  // namespace orange

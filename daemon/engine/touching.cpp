#include "daemon/engine/touching.hpp"

#include <algorithm>

#include "common/base/text.hpp"

namespace orange::engine {
namespace {

constexpr std::string_view k_touching = "TOUCHING:";
constexpr std::string_view k_between = " \t,;", k_quotes = "`'\"*()[].";

/// "`cart.py`," is cart.py, and "./src/" is src.
std::string path_in(std::string_view word) {
    while (word.starts_with("./")) word.remove_prefix(2);
    const auto begin = word.find_first_not_of(k_quotes.substr(0, k_quotes.size() - 1));
    const auto end = word.find_last_not_of(k_quotes);
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return {};
    word = word.substr(begin, end - begin + 1);
    while (word.starts_with("./")) word.remove_prefix(2);
    while (word.ends_with('/')) word.remove_suffix(1);
    return std::string(word);
}

}  // namespace

std::vector<std::string> touched_by_plan(const Artifacts& artifacts) {
    std::vector<std::string> paths;
    const auto plan = artifacts.sections.find("Plan");
    if (plan == artifacts.sections.end()) return paths;
    for (auto line : split_lines(plan->second.text)) {
        const auto begin = line.find_first_not_of("-* \t");
        if (begin == std::string_view::npos) continue;
        line.remove_prefix(begin);
        if (!line.starts_with(k_touching)) continue;
        line.remove_prefix(k_touching.size());
        while (!line.empty()) {
            const auto end = std::min(line.find_first_of(k_between), line.size());
            if (auto path = path_in(line.substr(0, end)); !path.empty()) paths.push_back(std::move(path));
            line.remove_prefix(std::min(end + 1, line.size()));
        }
    }
    std::ranges::sort(paths);
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    return paths;
}

}  // namespace orange::engine

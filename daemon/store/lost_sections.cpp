#include "daemon/store/lost_sections.hpp"

#include <algorithm>

#include "daemon/store/sections.hpp"

namespace orange::store {
namespace {

/// Whether a body with all of `wanted` in it has nothing else, and nothing changed.
bool holds(const std::string& body, const engine::Artifacts& wanted) {
    return parse_sections(body).sections == wanted.sections;
}

std::string block(const std::string& heading, const std::string& text) {
    return "## " + heading + "\n\n" + text + (text.empty() ? "" : "\n\n");
}

}  // namespace

std::vector<std::string> lost_sections(std::string_view before, std::string_view after) {
    const auto had = parse_sections(before);
    const auto has = parse_sections(after);
    std::vector<std::pair<std::size_t, std::string>> found;
    for (const auto& [heading, section] : had.sections) {
        if (has.sections.contains(heading) || has.swallowed_by_fence.contains(heading)) continue;
        found.emplace_back(before.find("## " + heading), heading);
    }
    std::sort(found.begin(), found.end());
    std::vector<std::string> headings;
    headings.reserve(found.size());
    for (auto& [at, heading] : found) headings.push_back(std::move(heading));
    return headings;
}

std::string with_sections_back(std::string_view before, std::string_view after, const std::vector<std::string>& lost) {
    const auto had = parse_sections(before);
    auto wanted = parse_sections(after);
    std::string at_end(after);
    std::string at_beginning;
    for (const auto& heading : lost) {
        const auto& section = had.sections.at(heading);
        wanted.sections[heading] = section;
        at_end = with_section(at_end, heading, section.text);
        at_beginning += block(heading, section.text);
    }
    if (holds(at_end, wanted)) return at_end;
    at_beginning += after;
    return holds(at_beginning, wanted) ? at_beginning : std::string(after);
}

}  // namespace orange::store

#include "daemon/store/lost_sections.hpp"

#include "daemon/store/sections.hpp"

/// Every text is parsed a few times at most, however many sections it has, because the daemon's loop waits meanwhile.
namespace orange::store {
namespace {

/// Returns true if `body` has exactly the sections `wanted`.
bool holds(const std::string& body, const engine::Artifacts& wanted) {
    return parse_sections(body).sections == wanted.sections;
}

engine::Artifacts both(std::string_view text, const engine::Artifacts& had, const std::vector<std::string>& lost) {
    auto wanted = parse_sections(text);
    for (const auto& heading : lost) wanted.sections[heading] = had.sections.at(heading);
    return wanted;
}

std::string below(std::string_view text, const std::string& blocks, const std::string& end) {
    std::string whole(text);
    if (!whole.empty() && !whole.ends_with('\n')) whole += end;
    if (!whole.empty()) whole += end;
    return whole + blocks;
}

}  // namespace

std::vector<std::string> lost_sections(std::string_view before, std::string_view after) {
    const auto has = parse_sections(after);
    auto headings = section_headings(before);
    std::erase_if(headings, [&](const std::string& heading) {
        return has.sections.contains(heading) || has.swallowed_by_fence.contains(heading);
    });
    return headings;
}

std::string with_sections_back(std::string_view before, std::string_view after, const std::vector<std::string>& lost) {
    const auto had = parse_sections(before);
    const std::string end = after.find("\r\n") != std::string_view::npos ? "\r\n" : "\n";
    std::string blocks;
    for (const auto& heading : lost) {
        const auto& text = had.sections.at(heading).text;
        blocks += (blocks.empty() ? "" : end) + "## " + heading + end;
        if (!text.empty()) blocks += end + text + end;
    }
    const auto wanted = both(after, had, lost);
    if (auto whole = below(after, blocks, end); holds(whole, wanted)) return whole;
    if (auto whole = blocks + end + std::string(after); holds(whole, wanted)) return whole;
    const auto ended = closed(after);
    auto whole = below(ended, blocks, end);
    return holds(whole, both(ended, had, lost)) ? whole : std::string(after);
}

}  // namespace orange::store

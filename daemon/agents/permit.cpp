#include "daemon/agents/permit.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "common/model/json.hpp"

namespace orange::agents {
namespace {

constexpr std::size_t k_longest_permit_line = 200, k_longest_tool = 100;  // columns
constexpr std::size_t k_longest_permit_text = 256 * 1024;
/// Members that say best what is asked for, the best one first.
constexpr const char* k_telling[] = {"command", "file_path", "filepath", "filePath", "path", "url", "patterns"};

std::string as_text(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump(2, ' ', false, Json::error_handler_t::replace);
}

/// Returns the lines of a text with a sign in front of each.
std::string with_sign(std::string_view text, const char* sign) {
    std::string lines;
    for (const auto line : split_lines(text)) lines += sign + std::string(line) + "\n";
    return lines;
}

/// Returns a member in lines: a text of several lines, or a structure, stands below its name.
std::string member_text(const std::string& name, const Json& value) {
    const auto text = as_text(value);
    if (text.find('\n') == std::string::npos) return name + ": " + text + "\n";
    return name + ":\n" + with_sign(text, "  ");
}

/// Returns the name of the member that says best what is asked for; empty if there is none.
std::string telling_member(const Json& input) {
    for (const auto* name : k_telling) {
        if (input.contains(name) && !as_text(input[name]).empty()) return name;
    }
    return {};
}

/// All members are there, and what is replaced by what stands side by side.
std::string whole_text(const Json& input, const std::string& first) {
    std::string text;
    if (!first.empty()) {
        const auto value = as_text(input[first]);
        text = value.find('\n') == std::string::npos ? value + "\n" : with_sign(value, "");
    }
    const bool is_edit = input.contains("old_string") && input["old_string"].is_string() &&
                         input.contains("new_string") && input["new_string"].is_string();
    for (const auto& [name, value] : input.items()) {
        if (name == first || (is_edit && (name == "old_string" || name == "new_string"))) continue;
        text += member_text(name, value);
    }
    if (is_edit) {
        text += with_sign(input["old_string"].get<std::string>(), "- ");
        text += with_sign(input["new_string"].get<std::string>(), "+ ");
    }
    while (text.ends_with('\n')) text.pop_back();
    return text;
}

}  // namespace

std::optional<Permit> permit_in(const Harness& harness, std::string_view object, bool cut) {
    const auto parsed = parse_json(object);
    if (!parsed || !parsed->is_object()) return std::nullopt;
    const auto& json = *parsed;
    Permit permit;
    const auto tool = revealed(text_member(json, harness.permits.tool));
    if (tool.empty() || std::ranges::find(harness.permits.except, tool) != harness.permits.except.end()) {
        return std::nullopt;
    }
    permit.tool = ellipsized(tool, k_longest_tool);
    const auto found = json.find(harness.permits.input);
    permit.whole = !cut && found != json.end() && permit.tool == tool;
    if (found == json.end()) {
        permit.line = permit.text = "its program does not say with what";
        return permit;
    }
    const auto input = found->is_object() ? *found : Json{{"input", *found}};
    const auto first = telling_member(input);
    permit.text = revealed(whole_text(input, first), true);
    if (permit.text.size() > k_longest_permit_text) {
        permit.text = std::string(first_columns(permit.text, k_longest_permit_text / 4)) + "…";
        permit.whole = false;
    }
    auto best = first.empty() ? std::string() : as_text(input[first]);
    const bool is_described = first == "command" && input.contains("description");
    if (is_described) best += " (description: " + as_text(input["description"]) + ")";
    permit.line = ellipsized(best.empty() ? first_line(permit.text) : revealed(best), k_longest_permit_line);
    if (permit.line.empty()) permit.line = permit.text = "(nothing)";
    const bool is_alone = !best.empty() && input.size() == (is_described ? 2 : 1);
    const bool is_short = is_alone && permit.line == revealed(best) && best.find('\n') == std::string::npos;
    if (permit.whole && is_short) permit.text = permit.line;
    return permit;
}

std::string permit_answer(const Harness& harness, bool allowed, const std::string& message) {
    if (allowed) return harness.permits.allow;
    constexpr std::string_view k_message = "{message}";
    auto answer = harness.permits.deny;
    const auto at = answer.find(k_message);
    if (at == std::string::npos) return answer;
    return answer.replace(at, k_message.size(), Json(message).dump(-1, ' ', true, Json::error_handler_t::replace));
}

}  // namespace orange::agents

#include "daemon/workflow/renamed.hpp"

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/workflow/load.hpp"
#include "daemon/yaml/node.hpp"

namespace orange::workflow {
namespace {

/// Returns the offset of `place` (line and column) in the text.
std::size_t offset_of(std::string_view text, const yaml::Place& place) {
    std::size_t at = 0;
    for (int line = 1; line < place.line; ++line) at = text.find('\n', at) + 1;
    return at + static_cast<std::size_t>(place.column - 1);
}

/// Returns the length of the value as written, including quotes.
std::size_t written_length(std::string_view text, std::size_t at, const yaml::Node& value) {
    if (!value.quoted || at >= text.size()) return value.scalar.size();
    const auto end = text.find(text[at], at + 1);
    return end == std::string_view::npos ? value.scalar.size() : end - at + 1;
}

}  // namespace

Result<std::string> renamed(std::string_view text, std::string_view name) {
    if (!is_name(name)) {
        return Error(ErrorCode::invalid_argument,
                     "\"" + printable(name) +
                         "\" is not a valid workflow name; use up to 40 of a-z, 0-9, - and _, beginning with a letter");
    }
    const std::string file = std::string(name) + ".yml";
    TRY(const auto root, yaml::parse(text, file));
    std::string out(text);
    if (const auto* value = root.find("name")) {
        const auto at = offset_of(text, value->place);
        if (at <= out.size()) out.replace(at, written_length(text, at, *value), name);
    }
    const auto loaded = load(out, file, name);
    if (loaded.ok()) return out;
    return Error(ErrorCode::workflow_invalid,
                 "the copy would not be a valid workflow:\n" + describe(loaded.problems, file));
}

}  // namespace orange::workflow

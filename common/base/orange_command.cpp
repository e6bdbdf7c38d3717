#include "common/base/orange_command.hpp"

#include <algorithm>
#include <utility>

#include "common/base/text.hpp"

namespace orange {
namespace {

/// Removes the first word from `text` and returns it; nothing if it is an option or begins with a quote.
std::string plain_word(std::string_view& text) {
    if (text.empty() || std::string_view(" -\"'").find(text.front()) != std::string_view::npos) return {};
    const std::string word(text.substr(0, text.find(' ')));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    return word;
}

}  // namespace

std::string OrangeCommand::text() const {
    auto line = verb.empty() ? std::string() : "orange " + verb;
    for (const auto* part : {&about, &options}) {
        if (!part->empty()) line += (line.empty() ? "" : " ") + *part;
    }
    return line;
}

OrangeCommand OrangeCommand::from_text(std::string_view text) {
    OrangeCommand command;
    if (text.starts_with("orange ")) {
        (void)plain_word(text);
        command.verb = plain_word(text);
        if (const auto word = plain_word(text); !word.empty()) command.verb += " " + word;
        command.about = plain_word(text);
    }
    command.options = text;
    return command;
}

OrangeCommand task_command(std::string_view verb, std::string id, std::string_view options) {
    return {"task " + std::string(verb), std::move(id), std::string(trim(options))};
}

}  // namespace orange

#include "daemon/runner/agents/outbox.hpp"

#include "common/base/text.hpp"

namespace orange {
namespace {

/// Every message begins with this: a leading "!" or "/" would be a command to some agent programs.
constexpr std::string_view k_message_prefix = "[orange] ";

/// A message that ends in a word with an @ opens a list of files in some programs, and Enter would choose from it.
std::string ended_sentence(std::string text) {
    text = trim(text);
    if (text.empty()) return text;
    const auto last_word = text.substr(text.find_last_of(' ') + 1);
    if (last_word.find('@') != std::string::npos) return text + " .";
    const bool ended = std::string_view(".!?").find(text.back()) != std::string_view::npos;
    return ended ? text : text + ".";
}

}  // namespace

Result<void> queue_message(World& world, Turns& turns, TaskRecord& record, Role to, Role from, std::string text,
                           std::string key) {
    for (const auto& waiting : record.outbox) {
        if (!key.empty() && waiting.id == key) return {};
    }
    add_message(world, record, to, from, std::move(text), false, std::move(key));
    return turns.try_save(record);
}

void add_message(World& world, TaskRecord& record, Role to, Role from, std::string text, bool lasts, std::string key) {
    Message message;
    message.id = key.empty() ? random_id(8) : std::move(key);
    message.to = to;
    message.from = from;
    message.text = std::string(k_message_prefix) + (from == Role::human ? "The human says: " : "") +
                   ended_sentence(printable(text));
    message.queued_at = world.clock.now();
    message.lasts = lasts;
    record.outbox.push_back(std::move(message));
}

}  // namespace orange

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/clock.hpp"
#include "common/base/names.hpp"
#include "common/base/orange_command.hpp"

/// The need of a task: what its human has to do. The need is decided in one place (engine/needs.cpp), and all outputs
/// show it (list, show, why, inbox, wait, notifications, JSON).
namespace orange {

enum class Need {
    nothing,  ///< an agent works, a transition runs, or the task is queued or has ended
    start,    ///< the task does not start by itself
    review,   ///< the work waits for a review
    answer,   ///< an agent has a question
    help,     ///< there is a problem
};
inline constexpr NameRow<Need> k_needs[] = {
    {Need::nothing, "nothing"}, {Need::start, "start"}, {Need::review, "review"},
    {Need::answer, "answer"},   {Need::help, "help"},
};
static_assert(has_row_for_each<k_needs>());
constexpr std::string_view name_of(Need need) {
    return k_needs[static_cast<std::size_t>(need)].name;
}
constexpr std::optional<Need> from_name(std::string_view name, Need) {
    return kind_named(k_needs, name);
}
/// Returns true if `a` is more urgent: help, answer, review, start, in this order.
constexpr bool more_urgent(Need a, Need b) {
    return static_cast<int>(a) > static_cast<int>(b);
}

struct Needs {
    Need kind = Need::nothing;
    std::string text;
    OrangeCommand command;
    Timestamp since{};
    std::int64_t permit = 0;

    void describe(auto& v) {
        v.required("kind", kind, "nothing, start, review, answer or help");
        v.optional("text", text, "why, a sentence of one line; for nothing: what goes on");
        v.optional("command", command, "what to run, with the task's whole id; empty for nothing");
        v.optional("since", since, "since when");
        v.sparse("permit", permit, "the number of the oldest request of an agent's program, if that is the need");
    }
    bool operator==(const Needs&) const = default;
};

}  // namespace orange

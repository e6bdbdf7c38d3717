#pragma once

#include <array>
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
inline constexpr std::array<std::string_view, 5> k_needs = {"nothing", "start", "review", "answer", "help"};
constexpr std::string_view name_of(Need need) {
    return k_needs[static_cast<std::size_t>(need)];
}
constexpr std::optional<Need> from_name(std::string_view name, Need) {
    for (std::size_t i = 0; i < k_needs.size(); ++i) {
        if (k_needs[i] == name) return static_cast<Need>(i);
    }
    return std::nullopt;
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

    template <class V>
    void describe(V& v) {
        v.required("kind", kind, "nothing, start, review, answer or help");
        v.optional("text", text, "why, a sentence of one line; for nothing: what goes on");
        v.optional("command", command, "what to run, with the task's whole id; empty for nothing");
        v.optional("since", since, "since when");
    }
    bool operator==(const Needs&) const = default;
};

}  // namespace orange

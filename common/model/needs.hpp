#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/clock.hpp"
#include "common/base/names.hpp"
#include "common/base/orange_command.hpp"

/// The need of a task, which its human meets: the one answer that every surface shows (list, show, why, inbox, wait,
/// notifications, JSON).
namespace orange {

enum class Need {
    nothing,  ///< an agent works, a transition runs, it is queued, or it has ended
    start,    ///< nothing starts it by itself
    review,   ///< the work waits to be looked at
    answer,   ///< an agent has a question
    help,     ///< something went wrong
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
/// `help` is more urgent than `answer`, that than `review`, that than `start`.
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

#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/clock.hpp"
#include "common/base/names.hpp"

namespace orange {

/// The activity of a living agent, as far as its program shows it.
enum class Activity {
    unknown,  ///< the screen shows nothing that the harness definition names
    idle,     ///< it has finished its turn
    busy,     ///< it works
    waiting,  ///< a dialog is open, and a typed key would answer it
    limited,  ///< a usage limit or a missing login stops it
};
inline constexpr std::string_view k_activity_names[] = {"unknown", "idle", "busy", "waiting", "limited"};
constexpr std::string_view name_of(Activity activity) {
    return k_activity_names[static_cast<std::size_t>(activity)];
}
constexpr std::optional<Activity> from_name(std::string_view name, Activity) {
    for (std::size_t i = 0; i < std::size(k_activity_names); ++i) {
        if (k_activity_names[i] == name) return static_cast<Activity>(i);
    }
    return std::nullopt;
}

/// An agent's activity in replies.
struct AgentActivity {
    Activity activity = Activity::unknown;
    Timestamp since{};
    std::string source;
    std::string text;

    template <class V>
    void describe(V& v) {
        v.required("activity", activity, "busy, idle, waiting, limited or unknown");
        v.optional("since", since, "when it began, as far as this daemon saw it");
        v.sparse("source", source, "what says so: events, file, title or screen");
        v.sparse("text", text, "the line of the screen that says so");
    }
    bool operator==(const AgentActivity&) const = default;
};

}  // namespace orange

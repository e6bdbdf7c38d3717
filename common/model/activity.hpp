#pragma once

#include <cstddef>
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
inline constexpr NameRow<Activity> k_activity_names[] = {
    {Activity::unknown, "unknown"}, {Activity::idle, "idle"},       {Activity::busy, "busy"},
    {Activity::waiting, "waiting"}, {Activity::limited, "limited"},
};
static_assert(has_row_for_each<k_activity_names>());
constexpr std::string_view name_of(Activity activity) {
    return k_activity_names[static_cast<std::size_t>(activity)].name;
}
constexpr std::optional<Activity> from_name(std::string_view name, Activity) {
    return kind_named(k_activity_names, name);
}

/// An agent's activity in replies.
struct AgentActivity {
    Activity activity = Activity::unknown;
    Timestamp since{};
    std::string source;
    std::string text;

    void describe(auto& v) {
        v.required("activity", activity, "busy, idle, waiting, limited or unknown");
        v.optional("since", since, "when it began, as far as this daemon saw it");
        v.sparse("source", source, "what says so: events, file, title or screen");
        v.sparse("text", text, "the line of the screen that says so");
    }
    bool operator==(const AgentActivity&) const = default;
};

}  // namespace orange

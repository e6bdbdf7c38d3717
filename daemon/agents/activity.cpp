#include <algorithm>

#include "common/model/json.hpp"
#include "daemon/agents/harness.hpp"

// What an agent is doing, from what its program shows. Nothing here is proof: a program's screen may quote a dialog,
// and then a message waits for longer than it had to.
namespace orange::agents {
namespace {

bool any_in(const std::vector<std::string>& signs, std::string_view text) {
    return std::any_of(signs.begin(), signs.end(),
                       [&](const std::string& sign) { return text.find(sign) != std::string_view::npos; });
}

bool any_begins(const std::vector<std::string>& signs, std::string_view text) {
    return std::any_of(signs.begin(), signs.end(), [&](const std::string& sign) { return text.starts_with(sign); });
}

bool any_is(const std::vector<std::string>& signs, std::string_view text) {
    return std::find(signs.begin(), signs.end(), text) != signs.end();
}

}  // namespace

std::string_view name_of(Activity activity) {
    switch (activity) {
        case Activity::idle:
            return "idle";
        case Activity::busy:
            return "busy";
        case Activity::waiting:
            return "waiting";
        case Activity::unknown:
            break;
    }
    return "unknown";
}

Activity activity_on(const Harness& harness, std::string_view screen, std::string_view title) {
    const auto& on_screen = harness.screen;
    const auto& in_title = harness.titles;
    if (any_begins(in_title.waiting, title) || any_in(on_screen.waiting, screen)) return Activity::waiting;
    if (any_begins(in_title.busy, title) || any_in(on_screen.busy, screen)) return Activity::busy;
    if (any_begins(in_title.idle, title) || any_in(on_screen.idle, screen)) return Activity::idle;
    return Activity::unknown;
}

Activity activity_in(const StateFile& file, std::string_view text) {
    const auto json = Json::parse(text, nullptr, false);
    if (!json.is_object() || !json.contains(file.key) || !json.at(file.key).is_string()) return Activity::unknown;
    const auto value = json.at(file.key).get<std::string>();
    if (any_is(file.values.waiting, value)) return Activity::waiting;
    if (any_is(file.values.busy, value)) return Activity::busy;
    return any_is(file.values.idle, value) ? Activity::idle : Activity::unknown;
}

std::string below_home(const std::string& path, const std::string& home) {
    return path.starts_with("~/") ? home + path.substr(1) : path;
}

}  // namespace orange::agents

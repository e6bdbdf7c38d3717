#include <algorithm>
#include <cctype>
#include <tuple>

#include "common/base/text.hpp"
#include "common/model/json.hpp"
#include "daemon/agents/harness.hpp"
#include "daemon/agents/prompt.hpp"

// Finds out what an agent does, from what its program shows. No sign is proof: a screen may quote a dialog, and then a
// message waits for longer than it had to.
namespace orange::agents {
namespace {

/// Returns the last line that has one of the signs.
std::optional<std::string> line_with(const std::vector<std::string>& signs, std::string_view text) {
    std::size_t last = std::string_view::npos;
    for (const auto& sign : signs) {
        const auto at = text.rfind(sign);
        if (at != std::string_view::npos && (last == std::string_view::npos || at > last)) last = at;
    }
    if (last == std::string_view::npos) return std::nullopt;
    const auto begin = last == 0 ? std::string_view::npos : text.rfind('\n', last - 1);
    const auto from = begin == std::string_view::npos ? 0 : begin + 1;
    return std::string(trim(text.substr(from, text.find('\n', last) - from)));
}

/// Joins lines that the program broke.
std::string joined(std::string_view text) {
    std::string out;
    for (const auto line : split_lines(text)) out += (out.empty() ? "" : " ") + std::string(trim(line));
    return out;
}

/// Returns the text behind the first of the signs; empty if none is there.
std::string text_behind(const std::vector<std::string>& signs, std::string_view text) {
    constexpr std::size_t k_most = 60;
    for (const auto& sign : signs) {
        const auto at = text.find(sign);
        if (at != std::string_view::npos) return std::string(text.substr(at + sign.size(), k_most));
    }
    return {};
}

/// Returns the last lines of a screen that are not empty. Lines that have only a panel at the right side do not count.
std::string_view end_of(std::string_view screen) {
    constexpr int k_lines = 12;
    constexpr std::size_t k_panel = 60;  // blanks before it
    auto lines = split_lines(screen);
    int kept = 0;
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
        if (line->find_first_not_of(' ') >= k_panel || trim(*line).empty() || ++kept < k_lines) continue;
        return screen.substr(static_cast<std::size_t>(line->data() - screen.data()));
    }
    return screen;
}

constexpr std::size_t k_beginning = 60;

/// Returns the visible characters of a text, at most `most` bytes: programs wrap and indent.
std::string dense(std::string_view from, std::size_t most) {
    std::string out;
    for (const char c : from) {
        if (out.size() < most && static_cast<unsigned char>(c) > ' ') out += c;
    }
    return out;
}

/// Returns letters and digits, which programs do not change when they draw Markdown, boxes and spinners.
std::string plain(std::string_view from, std::size_t most) {
    constexpr unsigned char k_lead_of_signs = 0xe2;  // U+2000 to U+2FFF: punctuation, arrows, boxes, dingbats, Braille
    constexpr unsigned char k_lead_of_dots = 0xc2;   // U+0080 to U+00BF: claude's spinner has "·"
    std::string out;
    for (std::size_t i = 0; i < from.size() && out.size() < most; ++i) {
        const auto byte = static_cast<unsigned char>(from[i]);
        if (byte == k_lead_of_signs) {
            i += 2;
        } else if (byte == k_lead_of_dots) {
            ++i;
        } else if (byte >= 0x80 || std::isalnum(byte) != 0) {
            out += from[i];
        }
    }
    return out;
}

/// A program at work shows a turning sign of the Braille block (U+2800 to U+28FF), and may show changing words beside
/// it.
bool begins_with_spinner(std::string_view line) {
    line = trim(line);
    return line.size() > 2 && line[0] == '\xe2' && line[1] >= '\xa0' && line[1] <= '\xa3';
}

bool any_begins(const std::vector<std::string>& signs, std::string_view text) {
    return std::any_of(signs.begin(), signs.end(), [&](const std::string& sign) { return text.starts_with(sign); });
}

bool any_is(const std::vector<std::string>& signs, std::string_view text) {
    return std::find(signs.begin(), signs.end(), text) != signs.end();
}

}  // namespace

Reading activity_on(const Harness& harness, std::string_view screen, std::string_view title) {
    const auto& on_screen = harness.screen;
    const auto& in_title = harness.titles;
    const std::tuple<Activity, const std::vector<std::string>&, const std::vector<std::string>&> signs[] = {
        {Activity::waiting, in_title.waiting, on_screen.waiting},
        {Activity::busy, in_title.busy, on_screen.busy},
        {Activity::idle, in_title.idle, on_screen.idle},
    };
    for (const auto& [activity, titles, texts] : signs) {
        auto line = line_with(texts, screen);
        if (any_begins(titles, title)) return {activity, "title", std::move(line).value_or("")};
        if (line) return {activity, "screen", std::move(*line)};
    }
    if (!harness.otherwise_idle || trim(screen).empty()) return {};
    Reading idle{Activity::idle, "screen", {}};
    idle.by_default = true;
    return idle;
}

std::optional<Reading> limit_on(const Harness& harness, std::string_view screen) {
    auto end = end_of(screen);
    if (const auto told = end.rfind("[orange]"); told != std::string_view::npos) end.remove_prefix(told);
    if (line_with(harness.screen.login, end)) {
        return Reading{Activity::limited, "screen", harness.name + " asks you to log in"};
    }
    if (auto line = line_with(harness.usage_limit.texts, end)) {
        const auto below = joined(end.substr(end.find(*line)));
        return Reading{Activity::limited, "screen", std::move(*line), true,
                       text_behind(harness.usage_limit.resets, below)};
    }
    auto line = line_with(harness.screen.limited, end);
    if (!line) return std::nullopt;
    return Reading{Activity::limited, "screen", std::move(*line)};
}

bool shows_limit_dialog(const Harness& harness, std::string_view screen) {
    return line_with(harness.usage_limit.dialog, end_of(screen)).has_value();
}

std::string progress_on(const Harness& harness, std::string_view screen) {
    std::string text;
    for (const auto line : split_lines(screen)) {
        if (!line_with(harness.screen.busy, line) && !begins_with_spinner(line)) text += plain(line, line.size());
    }
    std::erase_if(text, [](unsigned char c) { return std::isdigit(c) != 0; });
    return text;
}

bool shows_text(std::string_view screen, std::string_view text) {
    constexpr std::size_t k_telling = 4;
    if (dense(screen, screen.size()).find(dense(text, k_beginning)) != std::string::npos) return true;
    const auto words = plain(text, k_beginning);
    return words.size() >= k_telling && plain(screen, screen.size()).find(words) != std::string::npos;
}

bool tells_busy(const Harness& harness) {
    return !harness.screen.busy.empty() || !harness.titles.busy.empty() || !harness.state_file.values.busy.empty();
}

namespace {

/// Completes a limit that the program has reported with what its screen shows.
Reading told_limit(const Harness& harness, const Statement& told, std::string_view screen) {
    Reading reading{Activity::limited, "events", told.text, told.usage_limit};
    reading.resets = text_behind(harness.usage_limit.resets, joined(told.text));
    const auto shown = limit_on(harness, screen);
    if (!shown || !shown->usage_limit) return reading;
    reading.usage_limit = true;
    if (reading.text.empty()) reading.text = shown->text;
    if (reading.resets.empty()) reading.resets = shown->resets;
    return reading;
}

}  // namespace

Reading reading_of(const Harness& harness, Activity file, std::string_view screen, std::string_view title,
                   const Statement& told) {
    auto reading = activity_on(harness, screen, title);
    const bool dialog = reading.activity == Activity::waiting || file == Activity::waiting;
    if (file != Activity::unknown) {
        reading = {file, "file", file == reading.activity ? std::move(reading.text) : std::string()};
    }
    if (told.activity != Activity::unknown) {
        auto text = told.text.empty() && told.activity == reading.activity ? std::move(reading.text) : told.text;
        reading = {told.activity, "events", std::move(text)};
    }
    if (reading.activity == Activity::busy) {
        reading.shown = progress_on(harness, screen);
        reading.retrying = line_with(harness.screen.retrying, end_of(screen)).value_or("");
    } else if (told.activity == Activity::limited) {
        reading = told_limit(harness, told, screen);
    } else if (auto limit = limit_on(harness, screen)) {
        reading = std::move(*limit);
    }
    reading.dialog = dialog;
    reading.ended = told.activity == Activity::idle || told.activity == Activity::limited;
    reading.composer = prompt_on(harness, screen).state == Prompt::State::empty;
    return reading;
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

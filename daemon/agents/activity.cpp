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

constexpr std::size_t k_none = std::string_view::npos;

/// Returns where the last of the signs begins; k_none if none is there.
std::size_t last_of(const std::vector<std::string>& signs, std::string_view text) {
    std::size_t last = k_none;
    for (const auto& sign : signs) {
        const auto at = text.rfind(sign);
        if (at != k_none && (last == k_none || at > last)) last = at;
    }
    return last;
}

/// Returns the text from the beginning of the line on that has the offset.
std::string_view from_line_at(std::string_view text, std::size_t offset) {
    const auto begin = offset == 0 ? k_none : text.rfind('\n', offset - 1);
    return text.substr(begin == k_none ? 0 : begin + 1);
}

/// Returns the last line that has one of the signs.
std::optional<std::string> line_with(const std::vector<std::string>& signs, std::string_view text) {
    const auto last = last_of(signs, text);
    if (last == k_none) return std::nullopt;
    const auto from = from_line_at(text, last);
    return std::string(trim(from.substr(0, from.find('\n'))));
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

constexpr std::size_t k_panel = 60;  // blanks before a panel at the right side

/// Returns the last lines of a screen that are not empty. Lines that have only a panel at the right side do not count.
std::string_view end_of(std::string_view screen) {
    constexpr int k_lines = 12;
    auto lines = split_lines(screen);
    int kept = 0;
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
        if (line->find_first_not_of(' ') >= k_panel || trim(*line).empty() || ++kept < k_lines) continue;
        return screen.substr(static_cast<std::size_t>(line->data() - screen.data()));
    }
    return screen;
}

constexpr std::string_view k_no_break_space = "\u00a0";
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

/// Returns the line without the blanks at both ends. Programs also fill their prompts with no-break spaces.
std::string_view bare(std::string_view line) {
    line = trim(line);
    while (line.ends_with(k_no_break_space)) line = trim(line.substr(0, line.size() - k_no_break_space.size()));
    return line;
}

/// True if the line begins with the sign of a prompt that the definition names, and a blank.
bool begins_as_prompt(const Harness& harness, std::string_view line) {
    return std::ranges::any_of(harness.prompt.empty, [&](std::string_view empty) {
        const auto sign = empty.substr(0, std::min(empty.find(' '), empty.find(k_no_break_space)));
        const auto rest = line.starts_with(sign) ? line.substr(sign.size()) : std::string_view();
        return rest.starts_with(' ') || rest.starts_with(k_no_break_space);
    });
}

/// True if the line begins with a message of Orange that was sent at a prompt: only blanks, the edge of a box and the
/// sign of a prompt stand before it. A status line or a rule that quotes the title of the conversation is none.
bool begins_own_message(std::string_view line) {
    static constexpr std::string_view k_before[] = {" ", "│", "┃", "▌", ">", "›", "❯", "»", "*", "!", "$", "\u00a0"};
    constexpr std::size_t k_most = 12;  // bytes
    const auto at = line.find("[orange]");
    if (at == std::string_view::npos || at > k_most) return false;
    auto before = line.substr(0, at);
    for (bool again = true; again && !before.empty();) {
        again = false;
        for (const auto sign : k_before) {
            if (!before.starts_with(sign)) continue;
            before.remove_prefix(sign.size());
            again = true;
        }
    }
    return before.empty();
}

/// Returns the text in front of one of its parts.
std::string_view before(std::string_view text, std::string_view part) {
    return text.substr(0, static_cast<std::size_t>(part.data() - text.data()));
}

/// Returns the lines of the last paragraph; a program breaks a long message.
std::string_view last_paragraph(std::string_view text) {
    const auto lines = split_lines(text);
    auto last = std::find_if(lines.rbegin(), lines.rend(), [](auto line) { return !trim(line).empty(); });
    if (last == lines.rend()) return {};
    const auto end = before(text, *last).size() + last->size();
    auto first = last;
    while (last != lines.rend() && !trim(*last).empty()) first = last++;
    const auto begin = before(text, *first).size();
    return text.substr(begin, end - begin);
}

/// A screen, cut at its prompt.
struct Cut {
    std::string_view above;  ///< the whole screen if no prompt is known or shown
    std::string_view below;  ///< of a message of Orange that is taken for the prompt, and may be sent: all but the end
};

/// The prompt is the last line that shows it empty, otherwise the last line that begins as one: it may hold a message
/// that was not sent. What stands below it are status lines, which may quote anything.
Cut cut_at_prompt(const Harness& harness, std::string_view screen) {
    const auto lines = split_lines(end_of(screen));
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
        if (any_is(harness.prompt.empty, bare(*line))) return {before(screen, *line), {}};
    }
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
        if (!begins_as_prompt(harness, trim(*line))) continue;
        const auto above = before(screen, *line);
        if (!begins_own_message(*line)) return {above, {}};
        const auto below = screen.substr(above.size() + line->size()), status = last_paragraph(below);
        return {above, status.empty() ? status : before(below, status)};
    }
    return {screen, {}};
}

/// Returns the end of what the program has written, below the line of Orange's last message.
std::string_view last_words(std::string_view above_prompt) {
    const auto end = end_of(above_prompt);
    const auto lines = split_lines(end);
    const auto own = std::find_if(lines.rbegin(), lines.rend(), begins_own_message);
    if (own == lines.rend()) return end;
    return end.substr(before(end, *own).size() + own->size());
}

/// Returns the last line with one of the signs, with the lines into which the program has broken it: these are indented
/// deeper. The reason of a retry stands below it, behind a corner, and is returned instead.
std::optional<std::string> reason_with(const std::vector<std::string>& signs, std::string_view text) {
    constexpr std::size_t k_most = 300;
    const auto last = last_of(signs, text);
    if (last == k_none) return std::nullopt;
    const auto lines = split_lines(from_line_at(text, last));
    const auto indent = std::min(lines[0].find_first_not_of(' '), lines[0].size());
    std::string reason(trim(lines[0]));
    for (std::size_t i = 1; i < lines.size(); ++i) {
        const auto words = trim(lines[i]);
        const auto deeper = lines[i].find_first_not_of(' ');
        if (words.empty() || deeper <= indent || deeper >= k_panel) break;
        for (const std::string_view corner : {"└", "⎿"}) {
            if (words.starts_with(corner)) return ellipsized(trim(words.substr(corner.size())), k_most);
        }
        reason += " " + std::string(words);
    }
    return ellipsized(reason, k_most);
}

/// Returns the end of the last paragraph, from its last line on that begins with one of the signs of a failure, unless
/// that tells only of an interruption.
std::optional<std::string> failure_in(const Signs& signs, std::string_view text) {
    constexpr std::size_t k_most = 300;
    auto paragraph = last_paragraph(text);
    if (line_with(signs.background, paragraph)) paragraph = last_paragraph(before(text, paragraph));
    const auto lines = split_lines(paragraph);
    const auto begins = [&](std::string_view line) { return any_begins(signs.failed, line); };
    const auto line = std::find_if(lines.rbegin(), lines.rend(), begins);
    if (line == lines.rend() || any_begins(signs.interrupted, *line)) return std::nullopt;
    return ellipsized(joined(paragraph.substr(before(paragraph, *line).size())), k_most);
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
    const auto cut = cut_at_prompt(harness, screen);
    for (const auto part : {cut.above, cut.below}) {
        const auto end = last_words(part);
        if (line_with(harness.screen.login, end)) {
            return Reading{Activity::limited, "screen", harness.name + " asks you to log in"};
        }
        if (auto reason = reason_with(harness.usage_limit.texts, end)) {
            const auto below = joined(from_line_at(end, last_of(harness.usage_limit.texts, end)));
            return Reading{Activity::limited, "screen", std::move(*reason), true,
                           text_behind(harness.usage_limit.resets, below)};
        }
        auto reason = reason_with(harness.screen.limited, end);
        if (!reason) reason = failure_in(harness.screen, end);
        if (reason) return Reading{Activity::limited, "screen", std::move(*reason)};
    }
    return std::nullopt;
}

std::optional<std::string> with_last_words(const Harness& harness, std::string_view screen, std::string_view line) {
    auto above = cut_at_prompt(harness, screen).above;
    if (above.size() == screen.size()) {
        if (!harness.prompt.empty.empty()) return std::nullopt;
        const auto prompt = last_paragraph(screen);
        if (!prompt.empty()) above = before(screen, prompt);
    }
    const auto lines = split_lines(above);
    auto last = lines.rbegin();
    while (last != lines.rend() && !trim(*last).empty() && plain(*last, 1).empty()) ++last;  // the edge of a box
    const auto at = last == lines.rend() ? 0 : before(screen, *last).size() + last->size();
    return std::string(screen.substr(0, at)) + "\n\n" + std::string(line) + "\n\n" + std::string(screen.substr(at));
}

std::string last_lines(const Harness& harness, std::string_view screen) {
    constexpr std::size_t k_most = 5;
    const auto words = last_words(cut_at_prompt(harness, screen).above);
    std::vector<std::string> lines;
    for (const auto line : split_lines(words)) {
        if (!plain(line, 1).empty()) lines.push_back("  " + printable(trim(line)));
    }
    if (lines.size() > k_most) lines.erase(lines.begin(), lines.end() - k_most);
    return join(lines, "\n");
}

std::string dialog_text(const Harness& harness, std::string_view screen) {
    constexpr std::size_t k_most_lines = 4, k_most_columns = 160;
    std::vector<std::string> lines;
    for (const auto line : split_lines(screen)) {
        const auto words = plain(line, 1);
        if (words.empty()) continue;  // blank, or the edge of a box
        lines.push_back(printable(trim(line)));
        if (!line_with(harness.screen.waiting, line)) continue;
        const auto most = std::min(lines.size(), k_most_lines);
        return ellipsized(join({lines.end() - static_cast<std::ptrdiff_t>(most), lines.end()}, " ⏎ "), k_most_columns);
    }
    return {};
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
    // The program goes on by itself when its commands have ended.
    const auto background = line_with(harness.screen.background, end_of(screen));
    if (reading.activity == Activity::idle && (told.background || background)) {
        reading = {Activity::busy, told.background ? "events" : "screen", background.value_or("")};
    }
    if (reading.activity == Activity::busy) {
        reading.shown = progress_on(harness, screen);
        reading.retrying = reason_with(harness.screen.retrying, end_of(screen)).value_or("");
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
    const auto value = text_member(json, file.key);
    if (any_is(file.values.waiting, value)) return Activity::waiting;
    if (any_is(file.values.busy, value)) return Activity::busy;
    return any_is(file.values.idle, value) ? Activity::idle : Activity::unknown;
}

std::string below_home(const std::string& path, const std::string& home) {
    return path.starts_with("~/") ? home + path.substr(1) : path;
}

}  // namespace orange::agents

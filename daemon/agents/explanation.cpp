#include "daemon/agents/explanation.hpp"

#include <algorithm>

#include "daemon/agents/prompt.hpp"

namespace orange::agents {
namespace {

using Texts = std::vector<std::string>;

/// Searches each text with the functions that decide, by a definition that has only this text.
class Lookup {
  public:
    Lookup(const Harness& harness, std::string_view screen, std::string_view title)
        : harness_(harness), screen_(screen), title_(title) {}

    void titles(const char* key, const Texts& texts) {
        for (const auto& text : texts) {
            Harness one;
            one.titles.busy = {text};
            const bool found = activity_on(one, {}, title_).activity == Activity::busy;
            add(key, text, found ? std::string(title_) : std::string());
        }
    }

    void on_screen(const char* key, const Texts& texts) {
        for (const auto& text : texts) {
            Harness one;
            one.screen.busy = {text};
            add(key, text, activity_on(one, screen_, {}).text);
        }
    }

    void at_the_end(const char* key, const Texts& texts, Texts Signs::*kind = &Signs::limited) {
        for (const auto& text : texts) {
            Harness one;  // with the prompt, above which the text has to stand
            one.prompt = harness_.prompt;
            one.screen.interrupted = harness_.screen.interrupted;
            one.screen.*kind = {text};
            const auto found = limit_on(one, screen_);
            add(key, text, found ? found->text : std::string());
        }
    }

    void tries(const Texts& texts) {
        for (const auto& text : texts) {
            Harness one;
            one.screen.busy = one.screen.retrying = {text};
            add("screen.retrying", text, reading_of(one, Activity::unknown, screen_, {}).retrying);
        }
    }

    void in_background(const Texts& texts) {
        for (const auto& text : texts) {
            Harness one;
            one.otherwise_idle = true;
            one.screen.background = {text};
            const auto found = reading_of(one, Activity::unknown, screen_, {});
            add("screen.background", text, found.activity == Activity::busy ? found.text : std::string());
        }
    }

    void empty_prompt(const PromptSigns& prompt, std::string_view styled, std::optional<std::size_t> cursor) {
        for (const auto& line : prompt.empty) {
            Harness one;
            one.prompt = {prompt.above, {line}, prompt.below, prompt.dimmed};
            const bool found = prompt_on(one, styled.empty() ? screen_ : styled, cursor).state == Prompt::State::empty;
            add("prompt.empty", line, found ? (line.empty() ? "a blank line" : line) : std::string());
        }
    }

    void add(std::string key, std::string text, std::string line) {
        all_.push_back({std::move(key), std::move(text), std::move(line)});
    }

    /// Marks the first text of the key that was found in that line as deciding.
    bool decide(const std::string& key, const std::string& line) {
        for (auto& each : all_) {
            if (each.key != key || each.line.empty() || (!line.empty() && each.line != line)) continue;
            each.decides = true;
            return true;
        }
        return false;
    }

    std::vector<LookedFor> take() { return std::move(all_); }

  private:
    const Harness& harness_;
    std::string_view screen_, title_;
    std::vector<LookedFor> all_;
};

}  // namespace

std::vector<LookedFor> looked_for(const Harness& harness, std::string_view screen, std::string_view title,
                                  const Reading& reading, std::string_view styled, std::optional<std::size_t> cursor) {
    Lookup lookup(harness, screen, title);
    const auto activity = name_text(reading.activity);
    const bool elsewhere = !reading.source.empty() && reading.source != "title" && reading.source != "screen";
    if (elsewhere) lookup.add(reading.source, activity, reading.text.empty() ? activity : reading.text);
    lookup.titles("title.waiting", harness.titles.waiting);
    auto dialogs = harness.screen.waiting;
    std::erase_if(dialogs, [&](const std::string& text) {
        return std::ranges::find(harness.screen.login, text) != harness.screen.login.end();
    });
    lookup.on_screen("screen.waiting", dialogs);
    lookup.titles("title.busy", harness.titles.busy);
    lookup.on_screen("screen.busy", harness.screen.busy);
    lookup.at_the_end("screen.login", harness.screen.login);
    lookup.at_the_end("usage_limit.screen", harness.usage_limit.texts);
    lookup.at_the_end("screen.limited", harness.screen.limited);
    lookup.at_the_end("screen.failed", harness.screen.failed, &Signs::failed);
    lookup.in_background(harness.screen.background);
    lookup.titles("title.idle", harness.titles.idle);
    lookup.on_screen("screen.idle", harness.screen.idle);
    lookup.tries(harness.screen.retrying);
    lookup.empty_prompt(harness.prompt, styled, cursor);
    const auto key = reading.source + "." + activity;
    bool decided = elsewhere ? lookup.decide(reading.source, {})
                             : lookup.decide(key, reading.source == "title" ? std::string() : reading.text);
    if (!decided && reading.activity == Activity::limited) decided = lookup.decide("screen.login", {});
    if (!decided && reading.usage_limit) decided = lookup.decide("usage_limit.screen", reading.text);
    if (!decided && reading.activity == Activity::limited) decided = lookup.decide("screen.failed", reading.text);
    if (!decided && reading.activity == Activity::busy) decided = lookup.decide("screen.background", reading.text);
    if (!decided && reading.activity == Activity::idle && harness.otherwise_idle) {
        lookup.add("screen.otherwise", "idle", "none of the texts above was found");
        lookup.decide("screen.otherwise", {});
    }
    return lookup.take();
}

}  // namespace orange::agents

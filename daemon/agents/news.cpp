#include "daemon/agents/news.hpp"

namespace orange::agents {

std::vector<News> news_on(const Harness& harness, std::string_view screen, std::string_view title) {
    std::vector<News> all;
    const auto add = [&](const char* key, const std::vector<std::string>& texts, bool is_usage_limit) {
        const auto& resets = harness.usage_limit.resets;
        const auto more = is_usage_limit && !resets.empty() ? " " + resets.front() + "11:58 PM" : std::string();
        for (const auto& text : texts) {
            const auto shown = with_last_words(harness, screen, text + more);
            const auto reading =
                shown ? reading_of(harness, Activity::unknown, *shown, title) : Reading{};  // where it is, is not known
            const bool says_why = reading.activity == Activity::limited && reading.usage_limit == is_usage_limit;
            all.push_back({key, text, says_why && (more.empty() || !reading.resets.empty())});
        }
    };
    add("screen.login", harness.screen.login, false);
    add("usage_limit.screen", harness.usage_limit.texts, true);
    add("screen.limited", harness.screen.limited, false);
    add("screen.failed", harness.screen.failed, false);
    return all;
}

}  // namespace orange::agents

#include "daemon/app/settings.hpp"

#include "tests/catch.hpp"

using namespace orange;
using namespace std::chrono_literals;

namespace {

std::string problem(const std::string& text) {
    const auto parsed = parse_settings(text, "config.yml");
    return parsed ? "none" : parsed.error().message;
}

bool says(const std::string& message, const std::string& part) {
    INFO(message);
    return message.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("an empty config.yml leaves the defaults") {
    for (const std::string text : {"", "# nothing\n", "---\n"}) {
        const auto settings = parse_settings(text, "config.yml").value();
        CHECK_FALSE(settings.poll_interval);
        CHECK(settings.exit_notification);
        CHECK(settings.notify_command.empty());
    }
}

TEST_CASE("every key of config.yml is read") {
    const auto settings = parse_settings(
                              "poll_interval: 0.5\nexit_notification: false\nmessage_patience: 60\n"
                              "notify: [notify-send, Orange]\nenv:\n  LANG: C\n  PORT: 8080\n",
                              "config.yml")
                              .value();
    CHECK(settings.poll_interval == 500ms);
    CHECK_FALSE(settings.exit_notification);
    CHECK(settings.message_patience == 60s);
    CHECK(settings.notify_command == std::vector<std::string>{"notify-send", "Orange"});
    CHECK(settings.env.at("PORT") == "8080");
}

TEST_CASE("a mistake in config.yml is shown at its line and column") {
    CHECK(says(problem("env: {}\npoll: 3\n"), "config.yml:2:1: unknown key \"poll\""));
    CHECK(says(problem("poll: 3\n"), "there is: poll_interval"));
    CHECK(says(problem("\npoll_interval: often\n"), "config.yml:2:16: "));
    CHECK(says(problem("notify: notify-send\n"), "config.yml:1:9: notify must be a list"));
    CHECK(says(problem("env: [A]\n"), "config.yml:1:6: env must be a map"));
    CHECK(says(problem("exit_notification: yes\n"), "config.yml:1:20: "));
    CHECK(says(problem("- a\n"), "config.yml:1:1: "));
    CHECK(says(problem("env: {\n"), "config.yml:"));
}

TEST_CASE("times out of range are refused") {
    for (const std::string time : {"0", "0.01", "-1", "86401", "1e9", "inf", "nan", "5s", "\"\"", "[1]"}) {
        INFO(time);
        CHECK(says(problem("poll_interval: " + time + "\n"), "from 0.05 to 86400"));
    }
}

TEST_CASE("what is inside a list or a map must be plain text") {
    CHECK(says(problem("notify:\n  - a\n  - [b]\n"), "config.yml:3:5: "));
    CHECK(says(problem("env:\n  A: {b: c}\n"), "config.yml:2:6: "));
}

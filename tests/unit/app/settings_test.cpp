#include "daemon/app/settings.hpp"

#include <fstream>
#include <iterator>

#include "tests/catch.hpp"

using namespace orange;
using namespace std::chrono_literals;

namespace {

std::string problem(const std::string& text) {
    const auto parsed = parse_settings(text, "config.yml");
    return parsed ? "none" : parsed.error().message;
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
    const auto settings =
        parse_settings(
            "poll_interval: 0.5\nexit_notification: false\nmessage_patience: 60\n"
            "notify: [notify-send, Orange]\nenv:\n  LANG: C\n  PORT: 8080\nport_base: 30000\nauto_restart: true\n"
            "resume_after_reboot: true\numask: 027\nfile_limit: 64M\n",
            "config.yml")
            .value();
    CHECK(settings.poll_interval == 500ms);
    CHECK_FALSE(settings.exit_notification);
    CHECK(settings.message_patience == 60s);
    CHECK(settings.notify_command == std::vector<std::string>{"notify-send", "Orange"});
    CHECK(settings.env.at("PORT") == "8080");
    CHECK(settings.port_base == 30000);
    CHECK(settings.auto_restart);
    CHECK(settings.resume_after_reboot);
    CHECK(settings.umask == 027);
    for (const char* wrong : {"umask: 0277\n", "umask: 028\n", "umask: u=rwx\n", "umask: []\n", "umask: -1\n"}) {
        CHECK_THAT(problem(wrong), Tells("config.yml:1:8: "));
    }
    CHECK(settings.file_limit == 64 << 20);
    for (const char* wrong :
         {"file_limit: 64\n", "file_limit: 0M\n", "file_limit: 257M\n", "file_limit: 1G\n", "file_limit: [1M]\n"}) {
        CHECK_THAT(problem(wrong), Tells("config.yml:1:13: "));
    }
    for (const char* wrong : {"port_base: 1023\n", "port_base: 65527\n", "port_base: 3e4\n", "port_base: []\n"}) {
        CHECK_THAT(problem(wrong), Tells("config.yml:1:12: "));
    }
}

TEST_CASE("every key of config.yml is known, and has a row in docs/files.md") {
    std::ifstream in(ORANGE_SOURCE_DIR "/docs/files.md");
    const std::string docs{std::istreambuf_iterator<char>(in), {}};
    for (const auto& key : config_keys()) {
        CHECK_THAT(docs, Holds("\n| `" + key + "` | "));
        const auto parsed = parse_settings(key + ": {a: b}\n", "config.yml");  // of no key but env the right type
        CHECK((key == "env" || !parsed));
        if (!parsed) CHECK_THAT(parsed.error().message, !Holds("unknown key"));
    }
}

TEST_CASE("a workspace whose ports would be beyond the last one has none") {
    Settings settings;
    CHECK(first_port(settings, std::nullopt) == 0);
    CHECK(first_port(settings, 0) == 20000);
    CHECK(first_port(settings, 3) == 20030);
    CHECK(first_port(settings, 4552) == 65520);
    CHECK(first_port(settings, 4553) == 0);
    CHECK(first_port(settings, 2'000'000'000) == 0);
}

TEST_CASE("config.yml has the settings of projects that have no value of their own") {
    const auto settings = parse_settings(
                              "push: false\nmerge: pr\nchecks_timeout: 60\nchecks:\n- make test\n"
                              "- [sh, -c, make docs && true]\n",
                              "config.yml")
                              .value();
    const auto& defaults = settings.project_defaults;
    CHECK(defaults.push == false);
    CHECK(defaults.merge == "pr");
    CHECK(defaults.checks_timeout == 60);
    CHECK(defaults.checks ==
          std::vector<std::vector<std::string>>{{"make", "test"}, {"sh", "-c", "make docs && true"}});
    CHECK_FALSE(defaults.keep_branch);
    CHECK_THAT(problem("env: {}\nmerge: prr\n"), Tells("config.yml:2:8: ") && Tells("local") && Tells("pr"));
    CHECK_THAT(problem("checks:\n"), Tells("config.yml:1:") && Tells("checks"));
    CHECK_THAT(problem("checks: {a: b}\n"), Tells("config.yml:1:9: "));
    CHECK_THAT(problem("checks: [a && b]\n"), Tells("config.yml:1:9: ") && Holds("sh -c 'a && b'"));
    CHECK_THAT(problem("nonsense: 1\n"), Tells("keep_branch"));
}

TEST_CASE("limits and budgets of all projects are maps in config.yml") {
    const auto settings =
        parse_settings("limits: {worker: 6, memory: 12G}\nbudget: {task: 3M, day: 40M, day_stop: never}\n",
                       "config.yml")
            .value();
    CHECK(settings.project_defaults.worker_limit == 6);
    CHECK(settings.project_defaults.memory_limit == "12G");
    CHECK(settings.project_defaults.budget_task == "3M");
    CHECK(settings.project_defaults.budget_day == "40M");
    CHECK(settings.project_defaults.budget_day_stop == "never");
    CHECK_FALSE(settings.project_defaults.budget_task_stop);
    CHECK(parse_settings("budget: {day: 0, task: 25000}\n", "config.yml").value().project_defaults.budget_day == "0");
    CHECK_THAT(problem("budget: 40M\n"), Tells("config.yml:1:9: ") && Tells("day: 40M"));
    CHECK_THAT(problem("budget: {day: lots}\n"), Tells("config.yml:1:15: ") && Tells("budget.day") && Tells("400k"));
    CHECK_THAT(problem("budget: {night: 1M}\n"), Tells("config.yml:1:17: ") && Tells("budget.night"));
    CHECK_THAT(problem("limits: 4\n"), Tells("config.yml:1:9: ") && Tells("worker: 4"));
}

TEST_CASE("notifications can be turned off") {
    CHECK(parse_settings("env: {}\n", "config.yml").value().notify);
    CHECK_FALSE(parse_settings("notify: off\n", "config.yml").value().notify);
    CHECK_THAT(problem("notify: []\n"), Tells("config.yml:1:9") && Tells("off"));
}

TEST_CASE("the key that leaves a terminal can be chosen, as tmux or as a keyboard calls it") {
    const auto key = [](const std::string& text) {
        return parse_settings("detach_key: " + text + "\n", "config.yml").value().detach_key;
    };
    CHECK(parse_settings("", "config.yml").value().detach_key.name == "C-q");
    CHECK(parse_settings("", "config.yml").value().detach_key.spoken() == "Ctrl-q");
    CHECK(key("C-o").name == "C-o");
    CHECK(key("Ctrl-O").name == "C-o");
    CHECK(key("Alt-x").name == "M-x");
    CHECK(key("M-X").spoken() == "Alt-X");
    CHECK(key("Alt-Ctrl-h").name == "C-M-h");
    CHECK(key("F12").spoken() == "F12");
    CHECK(key("C-F1").spoken() == "Ctrl-F1");
    CHECK(key("C-]").name == "C-]");
    CHECK(key("off").name.empty());
    CHECK(key("off").spoken().empty());
}

TEST_CASE("a key that types text, or that tmux or programs need, is refused at its place") {
    for (const std::string text : {"q", "C-c", "Ctrl-B", "C-m", "Enter", "F13", "F0", "C-", "M-;", "C-é", "[C-q]",
                                   "\"\"", "'#(id)'", "C-q; kill-server"}) {
        INFO(text);
        CHECK_THAT(problem("detach_key: " + text + "\n"),
                   Tells("config.yml:1:13: ") && Tells("detach_key") && Tells("C-q, M-q, F12"));
    }
}

TEST_CASE("a mistake in config.yml is shown at its line and column") {
    CHECK_THAT(problem("env: {}\npoll: 3\n"), Tells("config.yml:2:1") && Tells("\"poll\""));
    CHECK_THAT(problem("poll: 3\n"), Tells("poll_interval"));
    CHECK_THAT(problem("\npoll_interval: often\n"), Tells("config.yml:2:16: "));
    CHECK_THAT(problem("notify: notify-send\n"), Tells("config.yml:1:9") && Tells("notify"));
    CHECK_THAT(problem("env: [A]\n"), Tells("config.yml:1:6") && Tells("env"));
    CHECK_THAT(problem("exit_notification: yes\n"), Tells("config.yml:1:20: "));
    CHECK_THAT(problem("- a\n"), Tells("config.yml:1:1: "));
    CHECK_THAT(problem("env: {\n"), Tells("config.yml:"));
}

TEST_CASE("times out of range are refused") {
    for (const std::string time :
         {"0", "0.01", "-1", "86401", "1e9", "inf", "nan", "5s", "1,5", "\" 1\"", "\"1 \"", "\"\"", "[1]"}) {
        INFO(time);
        CHECK_THAT(problem("poll_interval: " + time + "\n"), Tells("0.05") && Tells("86400"));
    }
}

TEST_CASE("what is inside a list or a map must be plain text") {
    CHECK_THAT(problem("notify:\n  - a\n  - [b]\n"), Tells("config.yml:3:5: "));
    CHECK_THAT(problem("env:\n  A: {b: c}\n"), Tells("config.yml:2:6: "));
}

#include "daemon/runner/attention/notification.hpp"

#include <algorithm>
#include <set>

#include "common/base/text.hpp"
#include "common/model/json.hpp"
#include "daemon/log/log.hpp"
#include "daemon/process/environment.hpp"

namespace orange {
namespace {

using Words = std::map<std::string, std::string>;

constexpr std::chrono::milliseconds k_deadline = std::chrono::seconds(10);

std::string joined(const std::vector<News>& news, const std::function<std::string(const News&)>& part,
                   std::string_view separator) {
    std::vector<std::string> parts;
    for (const auto& each : news) {
        auto text = part(each);
        if (std::find(parts.begin(), parts.end(), text) == parts.end()) parts.push_back(std::move(text));
    }
    return join(parts, separator);
}

/// Returns at most five lines, since a longer text is not read. The first news of each need comes first, so that many
/// crashes do not hide a question.
std::string text_of(const std::vector<News>& news) {
    constexpr std::size_t k_most = 4;
    if (news.size() == 1) return news.front().text;
    std::map<Need, int> seen;
    std::multimap<int, const News*> in_order;
    for (const auto& each : news) in_order.emplace(seen[each.need]++, &each);
    auto text = counted(news.size(), "task") + ":";
    const auto shown = news.size() > k_most ? k_most - 1 : news.size();
    auto next = in_order.begin();
    for (std::size_t n = 0; n < shown; ++n) text += "\n" + (next++)->second->text;
    if (news.size() > shown) text += "\nand " + std::to_string(news.size() - shown) + " more";
    return text;
}

/// Returns `text` with its placeholders filled in; other braces stay.
std::string filled_in(const std::string& text, const Words& words, bool& found) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = text[at] == '{' ? text.find('}', at) : std::string::npos;
        const auto word = end == std::string::npos ? words.end() : words.find(text.substr(at + 1, end - at - 1));
        if (word == words.end()) {
            out += text[at++];
            continue;
        }
        found = true;
        const bool quoted = at > 0 && text[at - 1] == '"' && end + 1 < text.size() && text[end + 1] == '"';
        if (quoted) out.pop_back();
        out += quoted ? dump(Json(word->second)) : word->second;
        at = end + (quoted ? 2 : 1);
    }
    return out;
}

/// Escapes the text, because desktops read the body as markup.
std::string without_markup(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '&') {
            out += "&amp;";
        } else if (c == '<') {
            out += "&lt;";
        } else {
            out += c;
        }
    }
    return out;
}

std::string variable(const Environment& environment, const std::string& name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
}

}  // namespace

Words notification_words(const std::vector<News>& news) {
    Words words;
    words["task"] = joined(
        news, [](const News& each) { return each.task.value; }, ", ");
    words["project"] = joined(
        news, [](const News& each) { return each.project; }, ", ");
    words["summary"] = news.size() == 1 ? printable(news.front().summary) : counted(news.size(), "task");
    const auto most = std::max_element(news.begin(), news.end(),
                                       [](const News& a, const News& b) { return more_urgent(b.need, a.need); });
    words["needs"] = most == news.end() ? std::string() : name_text(most->need);
    words["text"] = text_of(news);
    return words;
}

std::vector<std::string> notify_argv(const std::vector<std::string>& command, const Words& words) {
    std::vector<std::string> argv;
    bool found = false;
    for (const auto& word : command) argv.push_back(filled_in(word, words, found));
    if (!found) argv.push_back(words.at("text"));
    return argv;
}

Awaitable<void> Delivery::deliver(std::vector<News> news, std::string input) {
    const auto& settings = world_.settings;
    if (!settings.notify || news.empty()) co_return;
    const auto words = notification_words(news);
    if (!settings.notify_command.empty()) {
        auto argv = notify_argv(settings.notify_command, words);
        co_await run(std::move(argv), std::move(input));
        co_return;
    }
    co_await tell_terminals(words.at("text"));
    auto argv = desktop_argv(words);
    if (argv.empty()) {
        problem_.clear();
        co_return;
    }
    co_await run(std::move(argv), std::string());
}

std::string Delivery::why_unheard() const {
    const auto& settings = world_.settings;
    if (!settings.notify || !settings.notify_command.empty() || !desktop_argv(notification_words({})).empty())
        return {};
    return "no notification can arrive on this machine: it has no desktop (notify-send or osascript). Only the "
           "dashboard and open terminals of agents ring. Set `notify` in config.yml to a program that reaches you, or "
           "to off";
}

/// Returns the command that notifies on the desktop; empty if there is no desktop.
std::vector<std::string> Delivery::desktop_argv(const Words& words) const {
    const auto& environment = world_.base_environment;
    const auto path = variable(environment, "PATH");
    const auto& summary = words.at("summary");
    const auto title = "Orange: " + (summary.empty() ? words.at("project") : summary);
    const auto runtime = variable(environment, "XDG_RUNTIME_DIR");
    const bool bus = !variable(environment, "DBUS_SESSION_BUS_ADDRESS").empty() ||
                     (!runtime.empty() && world_.files.facts_of(Path(runtime) / "bus"));
    if (const auto program = find_program("notify-send", path); bus && !program.empty()) {
        return {program, "--app-name=Orange", "--", title, without_markup(words.at("text"))};
    }
    if (const auto program = find_program("osascript", path); !program.empty()) {
        return {program,
                "-e",
                "on run argv",
                "-e",
                "display notification (item 2 of argv) with title (item 1 of argv)",
                "-e",
                "end run",
                title,
                words.at("text")};
    }
    return {};
}

Awaitable<void> Delivery::run(std::vector<std::string> argv, std::string input) {
    const std::vector<std::string> program = {argv.front()};
    Command command;
    command.argv = argv;
    command.env = world_.base_environment;
    command.input = std::move(input);
    command.deadline = k_deadline;
    command.shown = argv.front();  // the other words may contain a secret address, and would be logged
    const auto done = co_await world_.processes.run(std::move(command));
    if (done && done->ok()) {
        problem_.clear();
        co_return;
    }
    const auto error = done ? command_failed(program, *done) : done.error();
    problem_ = "the last notification was not delivered: " + std::string(first_line(error.message)) +
               ". Change `notify` in config.yml, then run `orange daemon reload`";
    log::warn("notifier", error.message);
}

Awaitable<void> Delivery::tell_terminals(std::string text) {
    const auto clients = co_await world_.tmux.clients();
    if (!clients) co_return;
    const auto all = *clients;
    for (const auto& client : all) {
        auto name = client.name;
        const auto told = co_await world_.tmux.display_message(std::move(name), text);
        if (!told) log::info("notifier", told.error().message);  // the client has detached meanwhile
    }
}

}  // namespace orange

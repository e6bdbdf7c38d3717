#include "client/arguments/host.hpp"

#include <algorithm>
#include <string_view>

#include "client/arguments/completion.hpp"
#include "client/arguments/permits.hpp"
#include "client/commands/comment_place.hpp"
#include "client/commands/everywhere.hpp"
#include "client/commands/host.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::arguments {
namespace {

constexpr std::string_view k_option = "--host";

Action add(CLI::App& app) {
    auto host = std::make_shared<hosts::Host>();
    app.add_option("NAME", host->name, "Your name for the machine")->required();
    app.add_option("SSH", host->ssh, "A name of ~/.ssh/config, or user@machine; default: NAME");
    app.add_option("--program", host->program, "Path of orange there; ~/ is the home there")->capture_default_str();
    app.add_option_function<std::int64_t>(
           "--deadline", [host](const std::int64_t& seconds) { host->deadline = std::chrono::seconds(seconds); },
           "How long --everywhere waits for its answer; default: 1")
        ->check(between(1, 60))
        ->type_name("SECONDS");
    app.footer(
        "Writes the host into ~/orange/hosts.yml. The machine needs an orange of its own, and a key of yours.\n\n"
        "Examples:\n"
        "  orange host add box\n"
        "  orange host add gpu me@gpu.example.org --program ~/.local/bin/orange\n"
        "  orange --host gpu task list");
    return [host](Context& context) { return commands::host_add(context, *host); };
}

template <commands::Status (*command)(Context&, const std::string&)>
Action named(CLI::App& app) {
    auto name = std::make_shared<std::string>();
    app.add_option("NAME", *name, "Host of hosts.yml")->required();
    return [name](Context& context) { return command(context, *name); };
}

constexpr Command k_host_commands[] = {
    {"host", "add", "Add another machine of yours, which ssh reaches", add, false, true},
    {"host", "list", "List your other machines", bare<commands::host_list>},
    {"host", "remove", "Remove a machine from the list", named<commands::host_remove>, false, true},
    {"host", "test", "Connect to a machine, and say what is missing there", named<commands::host_test>, false, true},
};

/// Keeps of the words of a command those that name tasks. Before a text that is needed, one word alone is the text.
void keep_task(const std::string& shown, std::vector<std::string>& words) {
    const bool is_first = shown == k_task_and_needed_text ? words.size() > 1
                          : shown == k_task_and_lines     ? commands::begins_with_task(words)
                                                          : shown == k_task_and_text;
    const bool is_text = shown == k_task_and_needed_text || shown == k_task_and_lines || shown == k_task_and_text;
    if (is_text) words.resize(is_first && !words.empty() ? 1 : 0);
}

/// Returns the values of options that name tasks. In a text only the first word may be a task.
std::vector<std::string> tasks_in(const Command& command, const CLI::App& app) {
    std::vector<std::string> tasks;
    for (const auto* option : app.get_options()) {
        if (option->count() == 0 || !names_tasks(command.group, *option)) continue;
        if (option->get_name() == "--any") continue;  // this command contacts several hosts itself
        auto values = option->results();
        keep_task(option->get_option_text(), values);
        for (const auto& value : values) {
            for (const auto part : split(value, ',')) tasks.emplace_back(part);
        }
    }
    return tasks;
}

/// Returns the host in `box:4f2a`; empty for another word.
std::string host_in(std::string_view task) {
    const auto colon = task.find(':');
    if (colon == std::string_view::npos || !hosts::is_host_name(task.substr(0, colon))) return {};
    const auto rest = task.substr(colon + 1);
    const bool begins = !rest.empty() && rest.front() != ' ' && rest.front() != ':';
    return begins ? std::string(task.substr(0, colon)) : std::string();
}

/// Replaces `box:4f2a` by `4f2a` in the first word that contains it, alone or in `--task=box:4f2a,box:7b1c`.
void take_from(std::vector<std::string>& words, const std::string& task, std::size_t prefix) {
    for (auto& word : words) {
        for (auto at = word.find(task); at != std::string::npos; at = word.find(task, at + 1)) {
            const auto end = at + task.size();
            const bool begins = at == 0 || word[at - 1] == '=' || word[at - 1] == ',';
            if (!begins || (end < word.size() && word[end] != ',')) continue;
            word.erase(at, prefix);
            return;
        }
    }
}

/// True if the command names several tasks, and one of them without its host.
bool names_task_without_host(const CLI::App& app) {
    const auto* option = app.get_option_no_throw("ID");
    if (option == nullptr || option->results().size() < 2) return false;
    return std::ranges::any_of(option->results(), [](const auto& task) { return host_in(task).empty(); });
}

Error several_hosts(const std::string& one, const std::string& other) {
    return {ErrorCode::invalid_argument, "one command works on one host, not on " +
                                             printable(one.empty() ? "this machine" : one) + " and " + other +
                                             "; run it once for each"};
}

bool is_id(std::string_view text) {
    return text.size() <= k_task_id_length && std::ranges::all_of(text, [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
           });
}

}  // namespace

std::span<const Command> host_commands() {
    return k_host_commands;
}

Result<Place> take_place(std::vector<std::string>& words) {
    Place place;
    bool json = false;
    auto word = words.begin();
    for (; word != words.end(); ++word) {
        if (*word == "--json") {
            json = true;
        } else if (*word == k_option) {
            if (++word == words.end()) return {ErrorCode::invalid_argument, "--host needs the name of a host"};
            place.host = *word;
            place.named = true;
        } else if (word->starts_with(k_option) && word->substr(k_option.size()).starts_with('=')) {
            place.host = word->substr(k_option.size() + 1);
            place.named = true;
        } else {
            break;
        }
    }
    words.erase(words.begin(), word);
    if (json) words.insert(words.begin(), "--json");
    if (!place.named) place.host = commands::host_of_environment();
    place.words = words;
    return place;
}

bool is_for_this_machine(const Command& command) {
    return command.hidden || std::string_view(command.group) == "host" ||
           std::string_view(command.name) == "completion";
}

Result<void> take_hosts_of_tasks(const Command& command, const CLI::App& app, Place& place) {
    std::optional<std::vector<hosts::Host>> known;
    std::string file;
    std::string implied;
    for (const auto& task : tasks_in(command, app)) {
        const auto name = host_in(task);
        if (name.empty()) continue;
        if (!known) {
            TRY(const auto paths, paths_from_environment());
            file = hosts::file_in(paths.home).string();
            TRY(known, commands::known_hosts(paths));
        }
        const bool is_known = std::ranges::find(*known, name, &hosts::Host::name) != known->end();
        if (!is_known && (known->empty() || !is_id(task_named(app, task).substr(name.size() + 1)))) continue;
        if (!is_known) TRY(hosts::host_named(*known, name, file));
        const auto& other = !implied.empty() ? implied : place.named ? place.host : name;
        if (other != name) return several_hosts(other, name);
        implied = name;
        take_from(place.words, task, name.size() + 1);
    }
    if (implied.empty()) return {};
    if (place.host != implied && names_task_without_host(app)) return several_hosts(place.host, implied);
    place.host = implied;
    return {};
}

void take_files(const CLI::App& app, Place& place) {
    constexpr std::string_view k_file = "--file", k_file_is = "--file=";
    if (app.get_option_no_throw(std::string(k_file)) == nullptr) return;
    auto& words = place.words;
    for (auto word = words.begin(); word != words.end() && *word != "--";) {
        if (*word == k_file && word + 1 != words.end()) {
            place.files.push_back(*(word + 1));
            word = words.erase(word, word + 2);
        } else if (word->starts_with(k_file_is)) {
            place.files.push_back(word->substr(k_file_is.size()));
            word = words.erase(word);
        } else {
            ++word;
        }
    }
}

Error with_hosts_of_task(const Command& command, const CLI::App& app, const Place& place, Error error) {
    constexpr std::size_t k_shortest = 3;
    if (error.code != ErrorCode::not_found) return error;
    const auto paths = paths_from_environment();
    const auto known = paths ? commands::known_hosts(*paths) : Result<std::vector<hosts::Host>>(paths.error());
    if (!known) return error;
    std::string line;
    for (const auto& word : place.words) line += " " + shell_word(word);
    for (const auto& word : tasks_in(command, app)) {
        const auto task = task_named(app, word);
        if (!is_id(task) || task.size() < k_shortest) continue;
        for (const auto& host : *known) {
            const auto all = commands::remembered_tasks(*paths, host.name);
            const auto found = std::ranges::find_if(all, [&](const auto& each) {
                const auto& id = each.first;
                return !id.empty() && (id.starts_with(task) || task.starts_with(id));
            });
            if (found == all.end()) continue;
            error.message += "\n" + host.name + " has a task " + printable(found->first) + " (" +
                             printable(found->second) + "). To do this there:\n  orange --host " + host.name +
                             printable(line);
        }
    }
    return error;
}

}  // namespace orange::arguments

#include "daemon/tmux/attaching.hpp"

#include <initializer_list>

namespace orange::tmux {
namespace {

/// No option shows a pane's title, because an agent can choose it. The mouse is on so that a click on the hint works.
const std::vector<std::vector<std::string>> k_options = {
    {"-g", "default-size", "200x50"},
    {"-g", "window-size", "latest"},
    {"-g", "detach-on-destroy", "on"},
    {"-g", "set-titles", "off"},
    {"-g", "allow-rename", "off"},
    {"-g", "automatic-rename", "off"},
    {"-g", "mouse", "on"},
    {"-s", "escape-time", "10"},
    {"-g", "default-terminal", "tmux-256color"},
    {"-g", "status-left-length", "40"},
    {"-g", "status-right-length", "90"},
    {"-g", "status-right", "#{?#{e|>:#{session_windows},1},#{prefix} n next window  ,}#S "}};

void add(std::vector<std::string>& commands, std::initializer_list<std::string> words) {
    commands.insert(commands.end(), words);
    commands.emplace_back(";");
}

/// The hint is on the left, which tmux keeps longest in a narrow terminal.
std::string hint(const DetachKey& key) {
    const std::string prefix = "#{prefix} d";
    const auto keys =
        key.name.empty() ? prefix : "#{?" + std::string(k_session_mark) + "," + key.spoken() + "," + prefix + "}";
    return "#[reverse] " + keys + " leaves #[noreverse] ";
}

void add_key(std::vector<std::string>& commands, const DetachKey& key) {
    if (!key.name.empty()) {
        add(commands, {"bind-key", "-n", "-N", "Leave this terminal; the agent continues", key.name, "if-shell", "-F",
                       "#{" + std::string(k_session_mark) + "}", "detach-client", "send-keys '" + key.name + "'"});
    }
    add(commands, {"set-option", "-s", k_bound_key, key.name});
    add(commands, {"set-option", "-g", "status-left", hint(key)});
}

}  // namespace

std::vector<std::string> comfort(const DetachKey& key) {
    std::vector<std::string> commands;
    for (const auto& option : k_options) {
        commands.emplace_back("set-option");
        commands.insert(commands.end(), option.begin(), option.end());
        commands.emplace_back(";");
    }
    add(commands, {"bind-key", "-n", "MouseDown1StatusLeft", "detach-client"});
    add_key(commands, key);
    return commands;
}

std::vector<std::string> rebinding(const std::string& before, const DetachKey& key) {
    std::vector<std::string> commands;
    if (!before.empty()) add(commands, {"unbind-key", "-n", before});
    add_key(commands, key);
    return commands;
}

}  // namespace orange::tmux

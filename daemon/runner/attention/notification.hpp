#pragma once

#include <map>
#include <string>
#include <vector>

#include "daemon/runner/attention/notifier.hpp"

namespace orange {

/// Returns the words of a notification by placeholder: task, project, summary, needs, text. For several tasks, the text
/// has a line for each of the first ones.
std::map<std::string, std::string> notification_words(const std::vector<News>& news);

/// Returns config.yml's `notify` with its placeholders filled in. `{name}` becomes the plain text, `"{name}"` a JSON
/// string. A command without placeholders gets the text as one more argument.
std::vector<std::string> notify_argv(const std::vector<std::string>& command,
                                     const std::map<std::string, std::string>& words);

/// Brings notifications to the human: by the command of config.yml, or to the desktop and to the terminals that are
/// attached to Orange's tmux server. Never fails: the last failure is logged and kept for doctor.
class Delivery {
  public:
    explicit Delivery(World& world) : world_(world) {}

    /// `input` is what a command gets on its standard input.
    Awaitable<void> deliver(std::vector<News> news, std::string input);
    /// Returns why the last notification was not delivered; empty if it was.
    const std::string& problem() const { return problem_; }
    /// Returns why no notification reaches a human who looks at no terminal of Orange; empty if one can.
    std::string why_unheard() const;

  private:
    std::vector<std::string> desktop_argv(const std::map<std::string, std::string>& words) const;
    Awaitable<void> run(std::vector<std::string> argv, std::string input);
    Awaitable<void> tell_terminals(std::string text);

    World& world_;
    std::string problem_;
};

}  // namespace orange

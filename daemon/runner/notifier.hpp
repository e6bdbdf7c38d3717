#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/model/needs.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {

/// What the human is notified of: one task, and why.
struct News {
    TaskId task;
    std::string project;
    std::string summary;
    Need need = Need::nothing;             ///< nothing: the workflow's `notify` action alone asked for it
    std::string text;                      ///< one printable line; begins with the project and the branch
    Timestamp since{};                     ///< of the need
    std::optional<std::string> said = {};  ///< the record's text for the human, which `text` has; nothing: none
};

/// Notifies the human of what the reconciler says they are to be notified of (step::Notify). The news of two seconds is
/// sent together. While ended agents are dealt with, tasks that need help wait for up to thirty seconds, so that agents
/// that die together make one notification. Nothing is sent about a task at whose session a person is, or about a need
/// that has ended meanwhile.
class Notifier {
  public:
    using Deliver = std::function<Awaitable<void>(std::vector<News>)>;
    /// Calls its argument after the time in which news is collected (two seconds, in the daemon).
    using Later = std::function<void(std::function<void()>)>;

    Notifier(Runner& runner, Deliver deliver, Later later);
    ~Notifier();
    Notifier(const Notifier&) = delete;
    Notifier& operator=(const Notifier&) = delete;

    /// Returns true if no news waits and none is being sent.
    bool is_idle() const { return waiting_.empty() && sending_ == 0; }
    /// Sends all news that waits at once, for a daemon that ends.
    Awaitable<void> send_waiting();

  private:
    void add(News news);
    void collect();
    std::vector<News> take_ready();
    Awaitable<void> send(std::vector<News> news);
    bool is_over(const News& news) const;
    Awaitable<std::vector<News>> unattended(std::vector<News> news);
    Awaitable<void> remember(News news);

    Runner& runner_;
    World& world_;
    Deliver deliver_;
    Later later_;
    std::vector<News> waiting_;
    bool is_collecting_ = false;
    int sending_ = 0;
    int times_kept_ = 0;  ///< how often in a row news was kept because ended agents are dealt with
};

}  // namespace orange

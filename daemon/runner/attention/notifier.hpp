#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/model/needs.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {

/// A notification about one task.
struct News {
    TaskId task;
    std::string project;
    std::string summary;
    Need need = Need::nothing;             ///< nothing: only the workflow's `notify` action asked for it
    std::string text;                      ///< one printable line; begins with the project and the branch
    Timestamp since{};                     ///< when the need began
    std::int64_t permit = 0;               ///< Needs::permit: the text is about this request
    std::optional<std::string> said = {};  ///< the record's text for the human, as part of `text`
};

/// Notifies the human when the reconciler performs step::Notify. The news of two seconds is sent together. While the
/// ends of agents are handled, tasks that need help wait for up to thirty seconds, so that agents that die together
/// make one notification. Nothing is sent about a task whose session a person is attached to, or about a need that has
/// ended.
class Notifier : Owner {
  public:
    using Deliver = std::function<Awaitable<void>(std::vector<News>)>;
    /// Calls its argument after the time in which news is collected (two seconds in the daemon).
    using Later = std::function<void(std::function<void()>)>;

    Notifier(Runner& runner, Deliver deliver, Later later);
    ~Notifier();

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

    Deliver deliver_;
    Later later_;
    std::vector<News> waiting_;
    bool is_collecting_ = false;
    int sending_ = 0;
    int times_kept_ = 0;  ///< how often in a row news was kept while ends were handled
};

}  // namespace orange

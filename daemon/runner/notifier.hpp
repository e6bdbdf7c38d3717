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
    Need need = Need::nothing;  ///< nothing: the workflow's `notify` action alone asked for it
    std::string text;           ///< one printable line; begins with the project and the branch
    Timestamp since{};          ///< of the need
};

/// Notifies the human of what the reconciler says they are to be notified of (step::Notify). The first is sent at once;
/// what comes in the time after that is collected and sent together. Nothing is sent about a task at whose session a
/// person is, or about a need that has ended meanwhile.
class Notifier {
  public:
    using Deliver = std::function<Awaitable<void>(std::vector<News>)>;
    /// Calls its argument after the time in which further news is collected (ten seconds, in the daemon).
    using Later = std::function<void(std::function<void()>)>;

    Notifier(Runner& runner, Deliver deliver, Later later);
    ~Notifier();
    Notifier(const Notifier&) = delete;
    Notifier& operator=(const Notifier&) = delete;

  private:
    void add(News news);
    void start_sending();
    Awaitable<void> send();
    bool is_over(const News& news) const;
    Awaitable<std::vector<News>> unattended(std::vector<News> news);
    Awaitable<void> remember(TaskId id, Timestamp since);

    Runner& runner_;
    World& world_;
    Deliver deliver_;
    Later later_;
    std::vector<News> waiting_;
    bool resting_ = false;  ///< something is being delivered, or was a moment ago
};

}  // namespace orange

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
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

/// Decides when the human is notified: a task that needed nothing now needs a review, an answer or help; a task now
/// needs help; the workflow has a `notify` action, whose text is then used. Observes the store. It looks at a task only
/// when nobody holds its lock, so a crash that Orange repairs itself is never seen.
class Notifier {
  public:
    using Deliver = std::function<Awaitable<void>(std::vector<News>)>;
    /// Calls its argument after the time in which further news is collected (ten seconds, in the daemon).
    using Later = std::function<void(std::function<void()>)>;

    Notifier(Runner& runner, Deliver deliver, Later later);
    ~Notifier();
    Notifier(const Notifier&) = delete;
    Notifier& operator=(const Notifier&) = delete;

    /// For a daemon that has just started: what changed while none ran, or what its predecessor did not deliver.
    void look_at_all();

  private:
    void changed(const TaskId& id);
    Awaitable<void> look(TaskId id);
    void add(News news);
    void start_sending();
    Awaitable<void> send();
    Awaitable<std::vector<News>> unattended(std::vector<News> news);
    Awaitable<void> remember(TaskId id, Timestamp since);

    Runner& runner_;
    World& world_;
    Deliver deliver_;
    Later later_;
    int observer_;
    int listener_;
    std::set<TaskId> looking_;
    std::map<TaskId, Need> known_;        ///< what each task needed when it was last looked at
    std::map<TaskId, std::string> said_;  ///< texts of `notify` actions whose transition has not ended
    std::vector<News> waiting_;
    bool resting_ = false;  ///< something is being delivered, or was a moment ago
};

}  // namespace orange

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "daemon/async/async.hpp"
#include "daemon/git/worktrees.hpp"

namespace orange {

/// Orange keeps the uncommitted files of a workspace, and that takes a while: files that git does not track may have
/// gigabytes.
struct Keeping {
    std::string workspace;
    async::Moment since;
    git::Amount untracked;

    std::int64_t seconds() const;
    /// "keeps 3.1 GB of untracked files of shop--1, 40 s so far"
    std::string text() const;
};

/// Which workspaces Orange keeps files of right now.
class Keepings {
    struct State;

  public:
    /// Called after two seconds, when the files have been counted, and then every ten seconds until the end.
    using Tell = std::function<void(const Keeping&)>;
    Keepings(Git& git, const async::Executor& executor, Tell tell);

    /// Lasts from begin() until its end.
    class Guard {
      public:
        Guard(Keepings& all, std::shared_ptr<State> state) : all_(all), state_(std::move(state)) {}
        ~Guard();
        Guard(const Guard&) = delete;
        Guard& operator=(const Guard&) = delete;

      private:
        Keepings& all_;
        std::shared_ptr<State> state_;
    };
    /// Nobody else keeps files of this workspace.
    std::unique_ptr<Guard> begin(std::string workspace, git::Pinned worktree);

    bool empty() const { return states_.empty(); }
    /// Null if nothing is kept of that workspace, or if that was not told yet.
    const Keeping* of(const std::string& workspace) const;

  private:
    static Awaitable<void> watch(Git& git, git::Pinned worktree, std::shared_ptr<State> state, Tell tell);

    Git& git_;
    async::Executor executor_;
    Tell tell_;
    std::map<std::string, std::shared_ptr<State>> states_;  ///< by workspace
};

}  // namespace orange

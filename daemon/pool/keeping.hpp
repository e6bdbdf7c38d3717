#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "daemon/async/async.hpp"
#include "daemon/git/worktrees.hpp"

namespace orange {

/// The saving of a workspace's uncommitted files, while it runs. Untracked files may have gigabytes, so it can take
/// minutes.
struct Keeping {
    std::string workspace;
    async::Moment since;
    git::Amount untracked;

    std::int64_t seconds() const;
    /// Returns for example "keeps 3.1 GiB of untracked files of shop--1, 40 s so far".
    std::string text() const;
};

/// The workspaces whose files are being kept now.
class Keepings {
    struct State;

  public:
    /// Called first after two seconds, once the files have been counted, and then every ten seconds until the end.
    using Tell = std::function<void(const Keeping&)>;
    Keepings(Git& git, const async::Executor& executor, Tell tell);

    /// The keeping runs from begin() until this is destroyed.
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
    /// Begins a keeping. The workspace must not have another one.
    std::unique_ptr<Guard> begin(std::string workspace, git::Pinned worktree);

    bool empty() const { return states_.empty(); }
    /// Returns null if no files of that workspace are being kept, or if this was not reported yet.
    const Keeping* of(const std::string& workspace) const;

  private:
    static Awaitable<void> watch(Git& git, git::Pinned worktree, std::shared_ptr<State> state, Tell tell);

    Git& git_;
    async::Executor executor_;
    Tell tell_;
    std::map<std::string, std::shared_ptr<State>> states_;  ///< by workspace
};

}  // namespace orange

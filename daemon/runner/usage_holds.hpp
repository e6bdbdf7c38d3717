#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "common/base/clock.hpp"
#include "daemon/runner/world.hpp"

namespace orange {

/// A harness whose account is at its usage limit.
struct UsageHold {
    Timestamp since{};
    Timestamp until{};
    int tries = 1;  ///< how often it was seen anew: without a time of its reset, the next one is waited for longer

    template <class V>
    void describe(V& v) {
        v.required("since", since, "when it was seen first");
        v.required("until", until, "when agents are started again");
        v.optional("tries", tries, "how often it was seen");
    }
};

/// The wait of an agent that was held at a usage limit.
struct UsagePause {
    Timestamp since{};               ///< when the limit was seen first
    Timestamp limit_until{};         ///< when the limit ends or has ended
    std::optional<Timestamp> until;  ///< when the agent goes on; nothing: its human decides
};

/// The harnesses that are at their usage limit, for all projects: no agent of theirs is started until it resets. Kept
/// in usage-limits.json, so that the next daemon waits as long. A limit that is over stays known for a while, since the
/// next one may be the same.
class UsageHolds {
  public:
    explicit UsageHolds(World& world);

    /// In force now.
    std::optional<UsageHold> of(const std::string& harness) const;
    /// Returns true if an agent may have to wait because of a limit.
    bool any() const;

    /// Returns how long an agent of the harness that waits since then goes on waiting, as resume_after_limit of its
    /// project says. Nothing: it waits for no limit. A start that is asked for after the end of a limit does not wait.
    std::optional<UsagePause> pause_of(const std::string& harness, const std::string& project, Timestamp since) const;

    /// An agent of that harness has shown a limit; `resets`: when it ends, in its program's words, or empty.
    void add(const std::string& harness, const std::string& resets);
    /// Ends a limit, because one of the harness' agents works again.
    void lift(const std::string& harness);
    /// Forgets all limits, because the human says so: all that waits goes on.
    void lift_all();

    /// Returns when the next limit ends, or the next hours begin in which agents go on.
    std::optional<Timestamp> next_end() const;

    /// Called after one was added or lifted. Nobody is told of an end: the monitor knows next_end().
    void on_change(std::function<void()> observer) { changed_ = std::move(observer); }

  private:
    const std::string& policy_of(const Project* project) const;
    void save() const;

    World& world_;
    Path file_;
    std::map<std::string, UsageHold> holds_;
    std::function<void()> changed_ = [] {};
};

/// "11:36", or with the date if that is another day.
std::string spoken_time(Timestamp time, Timestamp now);

}  // namespace orange

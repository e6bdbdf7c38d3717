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
    int tries = 1;  ///< how often it was seen again in a row: if its reset is not known, each wait is longer

    void describe(auto& v) {
        v.required("since", since, "when it was seen first");
        v.required("until", until, "when agents are started again");
        v.optional("tries", tries, "how often it was seen");
    }
};

/// The wait of an agent that was held at a usage limit.
struct UsagePause {
    Timestamp since{};               ///< when the limit was seen first
    Timestamp limit_until{};         ///< when the limit ends or has ended
    std::optional<Timestamp> until;  ///< when the agent continues; nullopt: its human decides
};

/// The harnesses that are at their usage limit, for all projects: none of their agents is started until the limit
/// resets. The limits are saved in usage-limits.json, so that the next daemon waits as long. A limit that is over stays
/// known for a while, since the next one may be the same.
class UsageHolds {
  public:
    explicit UsageHolds(World& world);

    /// Lets limits that were seen later than `now` begin now, as long as they were: the clock was wrong then.
    void end_times_at(Timestamp now);

    /// Returns the limit of a harness that is in force now.
    std::optional<UsageHold> of(const std::string& harness) const;
    /// Returns true if an agent may have to wait because of a limit.
    bool any() const;

    /// Returns how long an agent of the harness that waits since `since` goes on waiting, as resume_after_limit of its
    /// project says. nullopt: it waits for no limit. A start that is requested after the end of a limit does not wait.
    std::optional<UsagePause> pause_of(const std::string& harness, const std::string& project, Timestamp since) const;

    /// Notes that an agent of the harness has shown a limit. `resets` is the end of the limit in its program's words,
    /// or empty.
    void add(const std::string& harness, const std::string& resets);
    /// Ends a limit, because one of the harness' agents works again.
    void lift(const std::string& harness);
    /// Forgets all limits, because the human says that they are over: everything that waits continues.
    void lift_all();

    /// Returns when the next limit ends, or when the next hours begin in which agents continue.
    std::optional<Timestamp> next_end() const;

    /// Registers the function that is called after a limit was added or lifted. It is not called when a limit ends: the
    /// monitor uses next_end() for that.
    void on_change(std::function<void()> observer) { changed_ = std::move(observer); }

  private:
    const std::string& policy_of(const Project* project) const;
    void save() const;

    World& world_;
    Path file_;
    std::map<std::string, UsageHold> holds_;
    std::function<void()> changed_ = [] {};
};

/// Returns a text such as "11:36", with the date if that is another day.
std::string spoken_time(Timestamp time, Timestamp now);

}  // namespace orange

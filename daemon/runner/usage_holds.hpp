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

/// The harnesses that are at their usage limit, for all projects: no agent of theirs is started until it resets. Kept
/// in usage-limits.json, so that the next daemon waits as long. A limit that is over stays known for a while, since the
/// next one may be the same.
class UsageHolds {
  public:
    explicit UsageHolds(World& world);

    /// In force now.
    std::optional<UsageHold> of(const std::string& harness) const;
    bool any() const;

    /// An agent of that harness has shown a limit; `resets`: when it ends, in its program's words, or empty.
    void add(const std::string& harness, const std::string& resets);
    /// One of its agents works again, or its human says so.
    void lift(const std::string& harness);
    void lift_all();

    /// When the next one of those in force ends.
    std::optional<Timestamp> next_end() const;

    /// Called after one was added or lifted. Nobody is told of an end: the monitor knows next_end().
    void on_change(std::function<void()> observer) { changed_ = std::move(observer); }

  private:
    void save() const;

    World& world_;
    Path file_;
    std::map<std::string, UsageHold> holds_;
    std::function<void()> changed_ = [] {};
};

/// "11:36", or with the date if that is another day.
std::string spoken_time(Timestamp time, Timestamp now);

}  // namespace orange

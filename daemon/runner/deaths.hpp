#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>

#include "common/base/ids.hpp"
#include "daemon/async/time.hpp"

namespace orange {

/// Decides whether many agents die at once: at least five are known, and half of them have died within ten seconds. An
/// agent that has ended counts as dead from the moment at which somebody begins to deal with its end, until it turns
/// out that it has not died: the first of five hundred deaths is dealt with before the others are, and is one of many
/// all the same. No function looks at all agents. No I/O.
class Deaths {
  public:
    using Time = async::Moment;

    /// Somebody deals with the end of a run, which counts until the result is destroyed. It counts once if two deal
    /// with it; the second result is empty.
    using Open = std::shared_ptr<void>;
    Open begin(const RunId& run, Time now);
    bool any_open() const { return !open_->empty(); }

    /// Returns true if at least five ends are open, and the last of them began less than `time` ago.
    bool come_together(Time now, Time::duration time) const;

    /// The run of an open end is one of many that have died. `runs`: how many runs the records have, this one and all
    /// others that are dealt with included.
    bool are_many(const RunId& run, std::size_t runs, Time now);

    /// It has not died.
    void has_not_died(const RunId& run) { open_->erase(run); }

    /// It has died, and has left its record. Returns a number for is_back().
    std::size_t has_died(const RunId& run, Time now);

    /// Its agent runs again, in another run.
    void is_back(std::size_t number);

  private:
    struct Death {
        Time at{};
        bool is_missing = true;  ///< no run of its agent is among those of the records
    };
    void forget_old(Time now);

    using Opened = std::map<RunId, Time>;  ///< since when
    std::shared_ptr<Opened> open_ =
        std::make_shared<Opened>();  ///< may outlive this object, with those who hold an Open
    Time begun_{};                   ///< when the last of them began
    std::deque<Death> deaths_;       ///< of the last ten seconds
    std::size_t first_ = 0;          ///< the number of the first of them
    std::size_t missing_ = 0;        ///< how many of them are missing
    std::optional<Time> many_;       ///< when many were found to have died last
};

}  // namespace orange

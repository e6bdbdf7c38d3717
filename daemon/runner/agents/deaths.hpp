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
/// end counts as a death from the moment at which Exits begins to handle it, until it turns out not to be one. The
/// first of five hundred deaths is handled before the others, and is still one of many. No function iterates over all
/// agents. No I/O.
class Deaths {
  public:
    using Time = async::Moment;

    /// Says that the end of a run is being handled. The run counts as dead until the result is destroyed. The result is
    /// empty if the run's end is already being handled, so that it counts once.
    using Open = std::shared_ptr<void>;
    Open begin(const RunId& run, Time now);
    bool any_open() const { return !open_->empty(); }

    /// Returns true if at least five ends are open, and the last of them began less than `time` ago.
    bool come_together(Time now, Time::duration time) const;

    /// Returns true if this run, whose end is being handled, is one of many that have died. `runs` is the number of
    /// runs in the records, including all runs whose ends are being handled.
    bool are_many(const RunId& run, std::size_t runs, Time now);

    /// Says that the run has not died.
    void has_not_died(const RunId& run) { open_->erase(run); }

    /// Says that the run has died and has left its record. Returns a number for is_back().
    std::size_t has_died(const RunId& run, Time now);

    /// Says that the agent runs again, in another run.
    void is_back(std::size_t number);

  private:
    struct Death {
        Time at{};
        bool is_missing = true;  ///< its agent has no run in the records
    };
    void forget_old(Time now);

    using Opened = std::map<RunId, Time>;  ///< when the handling began
    std::shared_ptr<Opened> open_ =
        std::make_shared<Opened>();  ///< shared with each Open, since an Open may outlive this object
    Time begun_{};                   ///< when the last open end began
    std::deque<Death> deaths_;       ///< of the last ten seconds
    std::size_t first_ = 0;          ///< the number of the first element
    std::size_t missing_ = 0;        ///< how many elements are missing
    std::optional<Time> many_;       ///< when many were last found to have died
};

}  // namespace orange

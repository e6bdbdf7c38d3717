#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/output/terminal.hpp"
#include "common/base/clock.hpp"
#include "common/model/json.hpp"
#include "common/rpc/task_view.hpp"
#include "common/rpc/usage_methods.hpp"

/// Words for tokens and times, which pages, lists and the dashboard share (docs/usage.md). Pure, printable. An unknown
/// number is never shown as 0.
namespace orange::output {

/// Returns "1.2M"; "≥1.2M" if runs told nothing, "1.2M?" if runs told more than is possible, "–" if nothing is known.
std::string sum_text(const rpc::UsageSum& sum);
/// Returns true if the sum is of any run; otherwise there is nothing to show, not even that it is unknown.
bool has_run(const rpc::UsageSum& sum);
/// Returns "45s", "12m", "3h05m", "26h", "5d"; empty for 0.
std::string time_text(std::int64_t seconds);

/// Returns "$1.23" for millionths of a dollar; empty if no program says anything.
std::string money_text(std::int64_t millionths);

/// Returns "1.2M of 3M (40 %), 1.1M in, 90k out, 20M from caches, 310 requests"; empty if there is nothing to say.
std::string task_tokens_text(const rpc::TaskView& task);
/// Returns "worked on 3h05m, reviewed 12m, waited 2m for a place, 1h00m for you"; without times of less than a minute.
std::string task_times_text(const rpc::TaskView& task);

/// Returns true if what a program said of its window can still be right.
bool is_current(const rpc::UsageShow::Window& window, Timestamp now);
/// Returns "codex 62 %, resets Mon 09:00", the shortest form.
std::string window_text(const rpc::UsageShow::Window& window, Timestamp now);

std::string usage_page(const rpc::UsageShow::Reply& reply, Timestamp now, const Style& style);

/// Says what each phase of a history used: the events of transitions have all tokens of the task up to then.
class TokenSteps {
  public:
    /// Takes the next event. Returns "+41k tokens", used since the transition before; empty if that is not known.
    std::string next(const Json& event);

  private:
    std::optional<std::int64_t> before_;
};

}  // namespace orange::output

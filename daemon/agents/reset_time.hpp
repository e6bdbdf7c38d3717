#pragma once

#include <optional>
#include <string_view>

#include "common/base/clock.hpp"

namespace orange::agents {

/// When a usage limit resets, from the words that a program puts behind "resets" or "try again at": "11:36am (UTC)",
/// "5pm", "Nov 25, 9:50am (UTC)", "11:37 AM.", "Nov 25th, 2026 9:37 AM", and behind "in": "2 hours 15 minutes". What
/// follows the time is ignored. Without a zone in parentheses it is this machine's. Nothing if it cannot be read, or if
/// the zone is not known here.
///
/// A time without a date is the next one, but one that was so a few hours ago is taken as past: a window goes on
/// showing a limit that is over.
std::optional<Timestamp> reset_time(std::string_view text, Timestamp now);

}  // namespace orange::agents

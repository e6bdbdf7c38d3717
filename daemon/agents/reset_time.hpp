#pragma once

#include <optional>
#include <string_view>

#include "common/base/clock.hpp"

namespace orange::agents {

/// Returns when a usage limit resets, from the words behind "resets" or "try again at" in the formats of claude
/// ("11:36am (UTC)", "5pm", "Nov 25, 9:50am (UTC)") and of codex ("11:37 AM.", "Nov 25th, 2026 9:37 AM"), or behind
/// "in": "2 hours 15 minutes". The function ignores the text behind the time. A time without a zone in parentheses is
/// this machine's. Returns nothing for another format, or if this machine does not know the zone.
///
/// A time without a date is the next one. If it was a few hours ago, it is taken as past, because a window continues to
/// show a limit that is over.
std::optional<Timestamp> reset_time(std::string_view text, Timestamp now);

}  // namespace orange::agents

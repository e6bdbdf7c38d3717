#pragma once

#include <string>

#include "client/output/terminal.hpp"
#include "common/base/clock.hpp"
#include "common/log/query.hpp"
#include "common/model/history_chain.hpp"
#include "common/rpc/event_methods.hpp"
#include "common/rpc/watch_methods.hpp"

/// Lines for output that is watched as it happens: events, the log. Printable, and no wider than the style.
namespace orange::output {

/// Returns "10:49:03  shop  4f2a9c01 Round the total  planning → working, by the worker", with the rest on a second
/// line if that is too long.
std::string event_line(const rpc::EventNotification& event, const Style& style);
/// Returns "10:49:03 warn  journal  message  key=value …", wrapped; a line that is no JSON unchanged.
std::string log_line(const log::Line& line, const Style& style);

/// Returns the windows of a task: name, run, time, exit status, size.
std::string windows_page(const rpc::TaskLog::Reply& reply, Timestamp now, const Style& style);

/// Returns how far the chain of a history holds, a line for each place at which it does not, and the last line's hash.
std::string chain_page(const ChainReport& report, const Style& style);

}  // namespace orange::output

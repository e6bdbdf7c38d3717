#pragma once

#include <string>

#include "client/output/terminal.hpp"
#include "common/base/clock.hpp"
#include "common/log/query.hpp"
#include "common/rpc/event_methods.hpp"
#include "common/rpc/watch_methods.hpp"

/// Lines of what is watched as it happens: events, the log. Printable, and no wider than the style.
namespace orange::output {

/// "10:49:03  shop  4f2a9c01 Round the total  planning → working, by the worker": one line, or a second one with the
/// rest where that is too long.
std::string event_line(const rpc::EventNotification& event, const Style& style);
/// "10:49:03 warn  journal  message  key=value …", wrapped; a line that is no JSON as it is.
std::string log_line(const log::Line& line, const Style& style);

/// The windows of a task: name, run, when, exit status, size.
std::string windows_page(const rpc::TaskLog::Reply& reply, Timestamp now, const Style& style);

}  // namespace orange::output

#pragma once

#include <string>
#include <string_view>

#include "client/output/terminal.hpp"
#include "common/base/clock.hpp"
#include "common/rpc/task_queries.hpp"

/// Requests of agents' programs that wait for their human (docs/permits.md). Pure.
namespace orange::output {

/// Returns the word that names a request for orange allow and orange deny: "4f2a.2".
std::string permit_word(const rpc::TaskView& task, std::int64_t number);

/// Returns a text of an agent, all of it: each character is shown, none is obeyed. Each of its lines begins with four
/// blanks, and goes on below with "  ↪ " if it is longer than the style, so that nothing in it looks like Orange's own.
Lines request_lines(std::string_view request, const Style& style);

/// Returns who asks, and the whole request below.
Lines permit_lines(const rpc::TaskView& task, const rpc::PermitView& permit, Timestamp now, const Style& style);
/// Returns the same for all open requests of a task, each with the commands that answer it; nothing if there is none.
Lines permits_lines(const rpc::TaskShow::Reply& reply, Timestamp now, const Style& style);

/// Returns why a request that is not whole cannot be allowed, and what can be done with it.
std::string not_whole_text(const rpc::TaskView& task, std::int64_t number);

}  // namespace orange::output

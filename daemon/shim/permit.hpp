#pragma once

#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "daemon/shim/spec.hpp"

namespace orange {

/// The first word of the call that a hook makes: `orange-agent --permit SPEC`.
inline constexpr std::string_view k_permit_option = "--permit";

}  // namespace orange

/// What a reviewer may do, for programs that ask a hook before each call of a tool.
namespace orange::shim {

/// forbidden for a command line of which any part is neither one of the rules' checks nor a command that changes
/// nothing; says what the reviewer may do. Whoever asks cannot tell a command that was refused by mistake from one
/// that is dangerous, so that what is not understood is refused.
Result<void> permit_command(const ReviewRules& rules, std::string_view command);

/// The same for a call of a tool as Claude Code and codex tell it to their hooks: `tool_name` and `tool_input`.
/// forbidden, too, for a tool that is not known and for what is no such call.
Result<void> permit_call(const ReviewRules& rules, std::string_view call);

/// `orange-agent --permit SPEC`: decides about the call on stdin. The status to exit with: 0, or 2 with the reason on
/// stderr. Both programs take 2 for a refusal.
int answer_hook(const char* spec_file);

}  // namespace orange::shim

#pragma once

#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace orange::workflow {

/// The definition `text` under another name: the value of its `name:` is replaced and nothing else, comments stay. The
/// result is loaded, so that it is a workflow. Errors: invalid_argument for a name that a workflow cannot have,
/// workflow_invalid where `text` does not validate.
Result<std::string> renamed(std::string_view text, std::string_view name);

}  // namespace orange::workflow

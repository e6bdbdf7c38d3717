#pragma once

#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace orange::workflow {

/// Returns the definition `text` with another name. Replaces only the value of its `name:`; comments stay. Errors:
/// invalid_argument if a workflow cannot have that name, workflow_invalid if the result does not validate.
Result<std::string> renamed(std::string_view text, std::string_view name);

}  // namespace orange::workflow

#pragma once

#include <string>

#include "common/base/result.hpp"

namespace orange::rpc {

/// One line of at most 500 bytes of UTF-8.
Result<void> check_summary(const std::string& summary);

}  // namespace orange::rpc

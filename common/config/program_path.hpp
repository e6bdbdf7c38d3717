#pragma once

#include <filesystem>

#include "common/base/result.hpp"

namespace orange {

/// Returns the file of the running program, with links resolved. Each platform has its own implementation.
Result<std::filesystem::path> program_path();

}  // namespace orange

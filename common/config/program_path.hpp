#pragma once

#include <filesystem>

#include "common/base/result.hpp"

namespace orange {

/// The file of the running program, links resolved. One implementation a platform.
Result<std::filesystem::path> program_path();

}  // namespace orange

#pragma once

#include <filesystem>

#include "common/base/result.hpp"

namespace orange {

/// Returns the file of the running program, with links resolved. If the path by which the program was started leads to
/// that file through links of folders only, returns that path instead (Linux): an upgrade may turn such a link to the
/// folder of the next version, and remove the present one. Each platform has its own implementation.
Result<std::filesystem::path> program_path();

}  // namespace orange

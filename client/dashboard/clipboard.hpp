#pragma once

#include <string>

#include "common/base/result.hpp"

namespace orange::dashboard {

/// Reads the picture (PNG) that is in the clipboard of this desktop, with wl-paste or xclip. Blocks for at most 5 s for
/// each of them. The error says what is missing.
Result<std::string> clipboard_picture();

}  // namespace orange::dashboard

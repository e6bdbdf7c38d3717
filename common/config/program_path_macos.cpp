// Compiled by scripts/check-macos, but never run.
#include <mach-o/dyld.h>

#include <climits>
#include <string>

#include "common/config/program_path.hpp"

namespace orange {

Result<std::filesystem::path> program_path() {
    std::string buffer(PATH_MAX, '\0');
    auto size = static_cast<uint32_t>(buffer.size());
    if (::_NSGetExecutablePath(buffer.data(), &size) != 0) {
        return {ErrorCode::io, "the path of the running program is longer than PATH_MAX"};
    }
    std::error_code error;
    auto path = std::filesystem::canonical(buffer.c_str(), error);
    if (error) return io_error("resolving the running program's path", error.value());
    return path;
}

}  // namespace orange

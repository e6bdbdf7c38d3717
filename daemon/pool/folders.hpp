#pragma once

#include <filesystem>

#include "daemon/files/file_system.hpp"

namespace orange {

/// Not a link to one: what that leads to is somebody else's.
inline bool is_folder(const Path& path) {
    std::error_code error;
    return std::filesystem::is_directory(std::filesystem::symlink_status(path, error));
}

/// Nothing at all has that name.
inline bool is_missing(const Path& path) {
    std::error_code error;
    return std::filesystem::symlink_status(path, error).type() == std::filesystem::file_type::not_found;
}

}  // namespace orange

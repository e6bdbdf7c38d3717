#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "common/base/result.hpp"

/// The file of `orange service`, a unit of systemd or a launch agent: what both platforms do with it.
namespace orange::commands {

/// Returns nothing if there is no such file.
std::optional<std::string> text_of_service(const std::filesystem::path& file);

/// Creates the folder, and replaces the file with one rename.
Result<void> write_service(const std::filesystem::path& file, const std::string& text);

Result<void> remove_service(const std::filesystem::path& file);

}  // namespace orange::commands

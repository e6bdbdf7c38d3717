#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "common/base/result.hpp"

/// Reads and writes the files that commands create for people: units, skills, definitions.
namespace orange::commands {

/// The text of a file that a person names; `-` is standard input.
Result<std::string> named_text(const std::string& path);

/// Creates a file that a person names. A file that exists is not replaced.
Result<void> write_new_file(const std::string& path, const std::string& text);

/// Returns nothing if the file cannot be read.
std::optional<std::string> text_of_file(const std::filesystem::path& file);

/// Creates the folder, and replaces the file with one rename, so that readers never see half of it.
Result<void> replace_file(const std::filesystem::path& file, const std::string& text, mode_t mode = 0644);

Result<void> remove_file(const std::filesystem::path& file);

}  // namespace orange::commands

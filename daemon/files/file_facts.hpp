#pragma once

#include <chrono>

#include "daemon/files/file_system.hpp"

/// What the store does with files that others write, too: it passes FileSystem by.
namespace orange::files {

/// Of the real disk.
Result<FileFacts> facts_of(const Path& path);

bool modified_within(const Path& path, std::chrono::nanoseconds age);

/// Writes a file that must not exist: complete or not at all, and never over somebody else's. `conflict` where the
/// name is taken.
Result<void> create_new(FileSystem& files, const Path& path, std::string_view content);

/// Gives `path` another name in its folder, for whoever removes a file that others may be writing. not_found where it
/// is gone already.
Result<void> move_aside(const Path& path, const Path& displaced);

/// Takes all rights to the file from everybody but its owner. A link's target stays as it is.
void make_private(const Path& path);

/// What somebody else has written is on the disk, under its name, when this returns: a file and its folder are fsynced.
/// Success where there is no such file.
Result<void> make_durable(const Path& path);

}  // namespace orange::files

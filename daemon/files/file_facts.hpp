#pragma once

#include <sys/stat.h>

#include <chrono>

#include "daemon/files/file_system.hpp"

/// Operations of the store on files that other programs write, too. These functions work on the real disk; only writes
/// go through FileSystem.
namespace orange::files {

/// Returns when the file was modified.
std::chrono::sys_time<std::chrono::nanoseconds> modified_in(const struct stat& facts);

/// Returns the facts of the file on the real disk.
Result<FileFacts> facts_of(const Path& path);

/// Returns true if the rights of the file forbid this process to read it.
bool is_forbidden(const Path& path);

/// Returns true if the file was modified within `age` before now.
bool modified_within(const Path& path, std::chrono::nanoseconds age);

/// Writes a new file, completely or not at all. conflict if the name is taken; an existing file is never replaced.
Result<void> create_new(FileSystem& files, const Path& path, std::string_view content);

/// Renames `path` within its file system, so that a file which another program may be writing can be removed later.
/// not_found if it does not exist.
Result<void> move_aside(const Path& path, const Path& displaced);

/// Leaves the file's rights to its owner alone. The target of a link does not change.
void make_private(const Path& path);

/// Syncs a file that another program has written, and its folder: its contents and its name are on the disk afterwards.
/// Success if there is no such file.
Result<void> make_durable(const Path& path);

}  // namespace orange::files

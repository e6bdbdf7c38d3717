#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

/// The one way in which Orange's programs write files. All functions return 0 or an errno, and the caller says which
/// file could not be written. None follows a link at the last name.
namespace orange::posix {

/// Writes all of `content` to an open file.
int write_all(int fd, std::string_view content);

/// Says whether a file is on the disk when it has been written.
enum class Sync { yes, no };

/// Writes a new file, by default with an fsync; EEXIST if the name is taken. After any other error there is no such
/// file.
int write_new(int folder, const std::string& name, std::string_view content, mode_t mode = 0600, Sync sync = Sync::yes);

/// Replaces the file `name`: writes the new file `temporary` in the same folder, fsyncs it, and renames it. After an
/// error the old content is in place and there is no temporary file. The caller fsyncs the folder if the new name has
/// to survive a power failure.
int replace_at(int folder, const std::string& name, const std::string& temporary, std::string_view content,
               mode_t mode = 0600, Sync sync = Sync::yes);

}  // namespace orange::posix

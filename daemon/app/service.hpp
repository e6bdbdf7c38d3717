#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>

namespace orange {

/// Tells a service manager that asked for it (NOTIFY_SOCKET, as systemd sets it for Type=notify) one line of state:
/// "READY=1", "STOPPING=1". Does nothing where none asked, and never blocks or fails.
void tell_service_manager(const std::string& state);

/// The service manager restarts a daemon that stops saying "WATCHDOG=1" (WATCHDOG_USEC, as systemd sets it for this
/// process).
bool has_watchdog();

/// The file of the running program, as it was when this object was made.
class OwnProgram {
  public:
    OwnProgram();
    /// Another file is in its place: Orange was upgraded, and this daemon is the old one.
    bool was_replaced() const;
    std::string path() const { return path_.string(); }
    /// Was replaced so long ago that its installation is over: by a program that can be started.
    bool may_be_restarted() const;
    /// Becomes that program, with this process's id and environment. Returns only if that failed.
    void restart() const;
    /// That as a sentence with the command that helps.
    std::string note() const;

  private:
    std::filesystem::path path_;  ///< empty: not known
    struct stat before_ {};
};

}  // namespace orange

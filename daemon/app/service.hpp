#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>

namespace orange {

/// Sends one line of state ("READY=1", "STOPPING=1") to the service manager that asked for it by NOTIFY_SOCKET, as
/// systemd sets it for Type=notify. Does nothing without one, and never blocks or fails.
void tell_service_manager(const std::string& state);

/// Returns true if the service manager restarts a daemon that no longer sends "WATCHDOG=1" (WATCHDOG_USEC, as systemd
/// sets it for this process).
bool has_watchdog();

/// The file of the running program, as it was when this object was created.
class OwnProgram {
  public:
    OwnProgram();
    /// Returns true if the file has been removed or replaced: Orange was upgraded, and this daemon is the old version.
    bool was_replaced() const;
    std::string path() const { return path_.string(); }
    /// Returns true if an executable file replaced it long enough ago for the installation to be complete.
    bool may_be_restarted() const;
    /// Executes the new program in this process, with its id and environment. Returns only on failure.
    void restart() const;
    /// Returns was_replaced() as a sentence for the user, with the command that helps.
    std::string note() const;

  private:
    std::filesystem::path path_;  ///< empty: not known
    struct stat before_ {};
};

}  // namespace orange

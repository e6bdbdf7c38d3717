#pragma once

#include <string>

namespace orange {

/// Tells a service manager that asked for it (NOTIFY_SOCKET, as systemd sets it for Type=notify) one line of state:
/// "READY=1", "STOPPING=1". Does nothing where none asked, and never blocks or fails.
void tell_service_manager(const std::string& state);

}  // namespace orange

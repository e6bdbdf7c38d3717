#pragma once

#include <unistd.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/config/disk.hpp"
#include "common/rpc/doctor_methods.hpp"
#include "daemon/agents/login_environment.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/runner/runner.hpp"

/// Looks at everything that Orange relies on, and says for each thing that is not as it should be what it is, where,
/// and which command mends it.
///
/// It only looks: no task is locked, no file written. So that it may be asked at any time, and by anybody, nothing in
/// it grows with histories, bodies or the number of ended tasks. A check is one small function; the table of all of
/// them is in doctor.cpp, and what they have to themselves is one row there.
namespace orange::doctor {

/// The machine that is looked at; tests put another one in its place.
struct Machine {
    std::function<Result<Disk>(const std::filesystem::path&)> disk = disk_of;
    std::filesystem::path systemd = "/run/systemd/system";        ///< there where systemd manages services
    std::filesystem::path lingering = "/var/lib/systemd/linger";  ///< a file for each user who stays without a login
    uid_t user = ::geteuid();
};

/// What only the composition root knows.
struct Facts {
    agents::LoginEnvironment login;
    std::function<Result<void>()> config;  ///< reads config.yml again, and forgets it
    std::vector<std::string> problems;     ///< "no file notification …"
    Machine machine;
};

/// `project`: its repository and tasks alone; the rest is the same.
Awaitable<std::vector<rpc::Finding>> examine(Runner& runner, Facts facts, std::optional<std::string> project);

}  // namespace orange::doctor

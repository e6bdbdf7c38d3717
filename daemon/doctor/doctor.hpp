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

/// Examines everything on which Orange relies, and reports for each problem what it is, where, and which command fixes
/// it.
///
/// The doctor changes nothing: no task is locked, and no file is written. Every caller may use it at any time, so its
/// cost must not grow with histories, bodies or the number of ended tasks; only `histories`, which a caller has to ask
/// for, reads whole histories. A check is one small function; the table in doctor.cpp has a row for each.
namespace orange::doctor {

/// The machine that is examined; tests use a different one.
struct Machine {
    std::function<Result<Disk>(const std::filesystem::path&)> disk = disk_of;
    std::filesystem::path systemd = "/run/systemd/system";        ///< exists if systemd manages services
    std::filesystem::path lingering = "/var/lib/systemd/linger";  ///< a file for each user who stays without a login
    uid_t user = ::geteuid();
};

/// Facts that only the composition root knows.
struct Facts {
    agents::LoginEnvironment login;
    std::function<Result<void>()> config;  ///< checks config.yml, without applying it
    std::vector<std::string> problems;     ///< "no file notification …"
    Machine machine;
};

/// Runs all checks and returns their findings. With `project`, skips the repositories and tasks of other projects. With
/// `histories`, also verifies the chain of each history, which reads all of it.
Awaitable<std::vector<rpc::Finding>> examine(Runner& runner, Facts facts, std::optional<std::string> project,
                                             bool histories = false);

}  // namespace orange::doctor

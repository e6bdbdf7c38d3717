#include "client/commands/trial_home.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "client/connection/child.hpp"
#include "client/connection/ending.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::commands {
namespace {

namespace fs = std::filesystem;

std::string whole_file(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// The keys of config.yml that concern the agents themselves, each from its line to the next key.
std::string part_of_config(const std::string& text) {
    std::string out;
    bool taken = false;
    for (const auto line : split_lines(text)) {
        const bool key = !line.empty() && std::isalpha(static_cast<unsigned char>(line.front())) != 0;
        if (key) taken = line.starts_with("env:") || line.starts_with("detach_key:");
        if (taken) out += std::string(line) + "\n";
    }
    return out + "notify: off\n";
}

bool has_variable(const std::string& environment, const std::string& begin) {
    return environment.starts_with(begin) || environment.find('\0' + begin) != std::string::npos;
}

}  // namespace

Result<void> make_trial_home(const Paths& own, const fs::path& home) {
    if (::mkdir(home.c_str(), 0700) != 0) return io_error("making " + home.string(), errno);
    const Paths paths{home};
    std::error_code error;
    if (fs::is_directory(own.harnesses(), error)) {
        fs::create_directory_symlink(own.harnesses(), paths.harnesses(), error);
        if (error) return io_error("making " + paths.harnesses().string(), error.value());
    }
    std::ofstream config(paths.config());
    config << part_of_config(whole_file(own.config()));
    config.close();
    if (!config) return io_error("writing " + paths.config().string(), errno);
    ::setenv("ORANGE_HOME", home.c_str(), 1);
    ::unsetenv("ORANGE_NO_AUTOSTART");  // it is about the user's daemon
    return {};
}

std::optional<std::vector<pid_t>> agents_of(const fs::path& home) {
    std::error_code error;
    if (!fs::exists("/proc/self/environ", error)) return std::nullopt;
    std::vector<pid_t> found;
    const auto of_home = "ORANGE_HOME=" + home.string() + '\0';
    for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
        const auto name = at->path().filename().string();
        if (std::isdigit(static_cast<unsigned char>(name.front())) == 0) continue;
        const auto environment = whole_file(at->path() / "environ");
        if (!has_variable(environment, of_home) || !has_variable(environment, "ORANGE_RUN=")) continue;
        found.push_back(static_cast<pid_t>(std::strtol(name.c_str(), nullptr, 10)));
    }
    return found;
}

Result<void> end_trial_home(const fs::path& home) {
    const Paths paths{home};
    Result<void> result;
    if (const auto ended = connection::end_daemon_by_force(paths); !ended) result = ended.error();
    std::error_code ignored;
    const auto socket = paths.tmux_socket();
    if (fs::exists(socket, ignored)) {
        (void)connection::output_of({"tmux", "-S", socket.string(), "kill-server"});
        fs::remove(socket, ignored);
        if (socket.parent_path() != home) fs::remove(socket.parent_path(), ignored);
    }
    for (const auto pid : agents_of(home).value_or(std::vector<pid_t>{})) ::kill(pid, SIGKILL);
    return result;
}

}  // namespace orange::commands

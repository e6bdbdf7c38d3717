#include "client/hosts/ssh_program.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace orange::hosts {

Messages::Messages() {
    std::error_code error;
    const auto folder = std::filesystem::temp_directory_path(error);
    path_ = ((error ? "/tmp" : folder) / "orange-ssh-XXXXXX").string();
    const int file = ::mkstemp(path_.data());
    if (file < 0) {
        path_.clear();
    } else {
        ::close(file);
    }
}

Messages::~Messages() {
    if (!path_.empty()) ::unlink(path_.c_str());
}

Messages::Messages(Messages&& other) noexcept : path_(std::exchange(other.path_, {})) {}

std::string Messages::text() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
}

std::vector<std::string> ssh_argv(const Host& host, const std::string& command, bool terminal,
                                  const Messages& messages) {
    std::vector<std::string> argv = {"ssh"};
    if (!messages.path().empty()) argv.insert(argv.end(), {"-E", messages.path()});
    argv.insert(argv.end(),
                {"-oConnectTimeout=10", "-oServerAliveInterval=5", "-oServerAliveCountMax=3", "-oRemoteCommand=none"});
    if (terminal) {
        argv.emplace_back("-t");
    } else {
        argv.insert(argv.end(), {"-T", "-oBatchMode=yes"});
    }
    argv.insert(argv.end(), {"--", host.ssh, command});
    return argv;
}

Error cannot_start(const Error& error) {
    return {ErrorCode::unavailable, error.message + ". Hosts are reached through OpenSSH's ssh; install its client"};
}

}  // namespace orange::hosts

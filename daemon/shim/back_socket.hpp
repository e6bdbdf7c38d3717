#pragma once

#include <sys/types.h>

#include <filesystem>

#include "common/base/result.hpp"
#include "daemon/shim/spec.hpp"

namespace orange::shim {

/// The socket of a run on another machine than the daemon's (docs/executors.md, `socket: back`). A process below the
/// shim accepts the connections of the agent's clients, and relays each to the daemon over TCP, in a process of its
/// own. Each connection begins with a new credential of MUNGE, so it works across restarts of the daemon. A connection
/// that the daemon closes before it looks at it is tried again a few times. If a connection is refused, the client
/// reads the reason as an error of the protocol.
class BackSocket {
  public:
    /// Makes the socket in a private folder of this machine, and starts to serve it.
    static Result<BackSocket> open(const RunSpec& spec);

    BackSocket(BackSocket&& other) noexcept;
    BackSocket& operator=(BackSocket&&) = delete;
    /// Ends the processes and removes the folder.
    ~BackSocket();

    const std::filesystem::path& path() const { return path_; }

  private:
    BackSocket(std::filesystem::path path, pid_t server) : path_(std::move(path)), server_(server) {}

    std::filesystem::path path_;
    pid_t server_ = -1;  ///< also the process group of all its children
};

}  // namespace orange::shim

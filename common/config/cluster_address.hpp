#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace orange {

/// The TCP address at which the daemon answers agents on other machines (`cluster_address` in config.yml): an IP
/// address, so that neither side waits for a name server, and a port. With the port 0 the kernel chooses one.
class ClusterAddress {
  public:
    /// Reads "10.0.0.1", "10.0.0.1:7070", "fd00::1" or "[fd00::1]:7070".
    static Result<ClusterAddress> parse(std::string_view text);
    /// Returns the address of this end of a socket, or of the other end.
    static ClusterAddress own_of(int socket);
    static ClusterAddress other_of(int socket);

    std::string host() const { return name(false); }
    std::string text() const { return name(true); }

    /// Makes a TCP socket of the address' family, CLOEXEC. Returns -1 and sets errno if that fails.
    int make_socket() const;
    int bind(int socket) const { return ::bind(socket, get(), size_); }
    int connect(int socket) const { return ::connect(socket, get(), size_); }

  private:
    const sockaddr* get() const { return static_cast<const sockaddr*>(static_cast<const void*>(&raw_)); }
    std::string name(bool with_port) const;

    sockaddr_storage raw_{};
    socklen_t size_ = sizeof raw_;
};

}  // namespace orange

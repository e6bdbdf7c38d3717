#pragma once

#include <sys/types.h>

#include <optional>

#include "client/hosts/hosts_file.hpp"
#include "client/hosts/ssh_program.hpp"

namespace orange::hosts {

/// An ssh that runs `orange rpc --stdio` on a host (docs/protocol.md), for a lasting connection to the daemon there.
class Bridge {
  public:
    /// Starts ssh, without waiting for the connection.
    static Result<Bridge> start(const Host& host);
    Bridge(Bridge&& other) noexcept;
    Bridge& operator=(Bridge&&) = delete;
    /// Ends ssh. Requests that have begun on the host continue.
    ~Bridge();

    /// Returns the socket to the remote standard input and output; the caller owns it.
    int take_descriptor();
    /// Returns why the bridge ended, if ssh has ended. Does not wait.
    std::optional<Error> reason();

  private:
    explicit Bridge(Host host) : host_(std::move(host)) {}

    Host host_;
    Messages messages_;
    pid_t ssh_ = -1;
    int descriptor_ = -1;
};

}  // namespace orange::hosts

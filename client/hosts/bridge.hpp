#pragma once

#include <sys/types.h>

#include <optional>

#include "client/hosts/hosts_file.hpp"
#include "client/hosts/ssh_program.hpp"

namespace orange::hosts {

/// An ssh that runs `orange rpc --stdio` on a host (docs/protocol.md), for who keeps a connection to the daemon there.
class Bridge {
  public:
    /// Starts ssh and does not wait for anything.
    static Result<Bridge> start(const Host& host);
    Bridge(Bridge&& other) noexcept;
    Bridge& operator=(Bridge&&) = delete;
    /// Ends ssh. What had begun there goes on.
    ~Bridge();

    /// The socket that is standard input and output there; the caller owns it.
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

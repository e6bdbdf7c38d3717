#pragma once

#include "common/base/result.hpp"
#include "common/posix/fd.hpp"

namespace orange::commands {

/// A server of HTTP on a free port of 127.0.0.1 that has nothing. It knows whether somebody has reached it.
class Listener {
  public:
    static Result<Listener> open();

    int port() const { return port_; }
    bool was_reached() const { return was_reached_; }
    /// Answers everybody who waits for an answer now.
    void answer();

  private:
    UniqueFd socket_;
    int port_ = 0;
    bool was_reached_ = false;
};

}  // namespace orange::commands

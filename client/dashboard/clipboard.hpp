#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

#include "common/base/result.hpp"
#include "common/posix/fd.hpp"

namespace orange::dashboard {

/// Reads a picture from the clipboard of this desktop, with wl-paste or xclip. No function blocks; the picture stays in
/// memory.
class Clipboard {
  public:
    using Time = std::chrono::steady_clock::time_point;

    Clipboard() = default;
    ~Clipboard() { end(); }
    Clipboard(const Clipboard&) = delete;
    Clipboard& operator=(const Clipboard&) = delete;

    /// Starts the program. The error says what is missing. Does nothing while the clipboard is read already.
    Result<void> start();
    /// Reads what has come. Returns the picture (PNG), or why there is none; nothing if it has not come yet.
    std::optional<Result<std::string>> receive();
    /// Returns the descriptor for a poll; -1 if nothing is read.
    int descriptor() const { return out_.get(); }
    /// Returns when receive() is to be called at the latest.
    std::optional<Time> deadline() const;

  private:
    void end();

    UniqueFd out_;
    pid_t program_ = -1;
    std::string name_;  ///< of the program
    std::string bytes_;
    Time until_{};
};

}  // namespace orange::dashboard

#pragma once

#include <functional>
#include <string>
#include <utility>

namespace orange {

/// The ssh-agent whose keys the daemon's git uses. The daemon inherits one from the login in which it was started. When
/// that login has ended, the one of the last person who called takes its place. Only in memory.
class SshAgent {
  public:
    using Answers = std::function<bool(const std::string& socket)>;

    /// `socket`: SSH_AUTH_SOCK at the start, empty if there is none. `answers` returns true if a process listens there.
    SshAgent(std::string socket, Answers answers) : socket_(std::move(socket)), answers_(std::move(answers)) {}

    /// Registers the function that is called with each socket that takes the place of another one.
    void on_change(std::function<void(const std::string& socket)> observer) { changed_ = std::move(observer); }

    /// Notes the socket of a person's call, unless it is in use already, no absolute path, or does not answer.
    void heard_of(const std::string& socket);

    /// Returns a socket that answers: the one in use, or else the last person's, which is in use from then on. Empty if
    /// none answers.
    std::string living();

  private:
    std::string socket_;
    std::string last_;
    Answers answers_;
    std::function<void(const std::string&)> changed_ = [](const std::string&) {};
};

}  // namespace orange

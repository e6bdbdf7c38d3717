#include "client/hosts/bridge.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "client/connection/child.hpp"
#include "client/hosts/ssh.hpp"

namespace orange::hosts {
namespace {

constexpr int k_wrong_usage = 2;

}  // namespace

Result<Bridge> Bridge::start(const Host& host) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return io_error("making a pair of sockets", errno);
    for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
    Bridge bridge(host);
    bridge.descriptor_ = ends[0];
    connection::ChildOptions options;
    options.in = options.out = ends[1];
    options.new_session = true;  // keys of the terminal must not reach it
    const auto command = remote_command(host, {"rpc", "--stdio"});
    const auto child = connection::start_child(ssh_argv(host, command, false, bridge.messages_), options);
    ::close(ends[1]);
    if (!child) return cannot_start(child.error());
    bridge.ssh_ = *child;
    return bridge;
}

Bridge::Bridge(Bridge&& other) noexcept
    : host_(std::move(other.host_)),
      messages_(std::move(other.messages_)),
      ssh_(std::exchange(other.ssh_, -1)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

Bridge::~Bridge() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (ssh_ <= 0) return;
    ::kill(ssh_, SIGKILL);
    while (::waitpid(ssh_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

int Bridge::take_descriptor() {
    return std::exchange(descriptor_, -1);
}

std::optional<Error> Bridge::reason() {
    int status = 0;
    if (ssh_ <= 0 || ::waitpid(ssh_, &status, WNOHANG) != ssh_) return std::nullopt;
    ssh_ = -1;
    const auto code = connection::exit_status(status);
    if (auto trouble = trouble_of(host_, code, messages_.text())) return trouble;
    if (code == k_wrong_usage) {
        return Error(ErrorCode::unavailable,
                     host_.name +
                         ": the orange there has no `rpc --stdio`; upgrade it. Commands work as "
                         "before:\n  orange --host " +
                         host_.name + " version");
    }
    return Error(ErrorCode::unavailable, host_.name + ": the connection ended");
}

}  // namespace orange::hosts

#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "common/base/result.hpp"
#include "common/posix/fd.hpp"

/// A small server that leads connections elsewhere, each in a process of its own.
namespace orange::shim {

using Steady = std::chrono::steady_clock;

/// Waits for `events` of a descriptor. Returns false if the time is over.
bool wait_until_ready(int fd, short events, Steady::time_point end);
/// Appends what can be read at once. Returns false at the end of the input.
bool read_more(int fd, std::string& into);
/// Writes what can be written at once. Returns false if nothing can be written any more.
bool write_some(int socket, std::string& text);

/// Listens on a Unix socket that only this user can connect to.
Result<UniqueFd> listen_at(const std::filesystem::path& path);

/// Gives this process /dev/null in place of its first three descriptors.
void close_standard();
/// Gives this process default signals, and ends it with its parent if the system can: at once, or by `at_end`, which
/// has to end it. Returns false if the parent has ended before.
bool live_below(pid_t parent, void (*at_end)(int) = nullptr);

/// Calls `carry` for each connection, in a process of its own; for at most `most` at a time.
[[noreturn]] void serve(int listener, int most, const std::function<void(int client)>& carry);

/// Copies both ways until the server or the client is gone. A client that only stops sending still gets its replies.
/// `to_client`: text that the server has sent already.
void relay(int client, int server, std::string to_client = {});

}  // namespace orange::shim

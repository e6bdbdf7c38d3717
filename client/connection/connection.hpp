#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "common/model/fields.hpp"
#include "common/model/json.hpp"
#include "common/posix/fd.hpp"

/// The client's side of the protocol (docs/protocol.md): a blocking Unix socket with one JSON-RPC message a line. All
/// commands and the dashboard use it to talk to the daemon.
///
/// A request connects (autostart.hpp may start a daemon first), sends one line, and reads lines until the reply with
/// its id; listeners get notifications and replies to other requests. A request may take minutes (a merge, a spawn), so
/// a reply has no deadline. If the daemon ends, it closes the socket, which is an error at once. If it is silent for
/// long, a ping on another connection finds out whether it lives.
namespace orange::connection {

/// The limit of a reply's size, so that a peer cannot use up the client's memory; a list of 10,000 tasks has some 10
/// MB.
inline constexpr std::size_t k_max_reply = 256u << 20;
/// The daemon refuses longer requests. The client reports it before it sends one.
inline constexpr std::size_t k_max_request = 1u << 20;

/// The time in which the daemon must accept a connection, and the interval of attempts.
inline constexpr std::chrono::milliseconds k_connect_deadline{5000}, k_look_again{10};

/// The silence after which the daemon is pinged, and the time for its answer.
struct Patience {
    std::chrono::milliseconds silence{5000};
    std::chrono::milliseconds answer{2000};
};

/// Makes the error `timeout`: the daemon answers neither the call `method` (empty: none) nor a ping. Says what its
/// process does: a busy one is not to be replaced.
Error does_not_answer(pid_t daemon, const std::string& method);

/// Reads a reply into its struct. Unknown keys are ignored, because a newer daemon may send more.
template <class Reply>
Result<Reply> reply_as(const char* method, const Json& json) {
    auto reply = read_as<Reply>(json, "", UnknownKeys::ignore);
    if (reply) return reply;
    Error error = in_context(std::string("reading the daemon's reply to ") + method, reply.error());
    error.code = ErrorCode::internal;
    error.message += " (oranged may be of another version: `orange daemon status`)";
    return error;
}

class Connection {
  public:
    using Listener = std::function<void(const std::string& method, const Json& params)>;
    using OnReply = std::function<void(std::int64_t id, Result<Json> result)>;
    using Parse = std::function<Result<Json>(std::string_view line)>;

    /// Owns a connected socket from now on.
    explicit Connection(int fd) : fd_(fd) {}

    /// Connects to a socket. unavailable: no process listens there. forbidden: another user does, or could. timeout:
    /// the daemon's queue stayed full until the deadline.
    static Result<Connection> open(const std::filesystem::path& socket, std::chrono::milliseconds deadline,
                                   Patience patience = {});

    template <class Method>
    Result<typename Method::Reply> call(const Method& params) {
        auto reply = call_json(Method::k_name, written(params));
        if (!reply) return reply.error();
        return reply_as<typename Method::Reply>(Method::k_name, *reply);
    }
    /// Returns the reply's `result` unchanged. timeout if the daemon hangs, but never because a call takes long.
    Result<Json> call_json(const std::string& method, Json params);

    /// Sends a request and returns its id at once; the reply comes to on_reply().
    Result<std::int64_t> send_request(const std::string& method, Json params);

    /// The listeners are called from within call() and wait_for_message().
    void on_notification(Listener listener) { listener_ = std::move(listener); }
    void on_reply(OnReply listener) { on_reply_ = std::move(listener); }
    /// Replaces the parser of wait_for_message(), for callers that keep long lists in another form than JSON.
    void parse_with(Parse parse) { parse_ = std::move(parse); }
    /// Waits at most `timeout` for one message and delivers it; false if none came, or a signal did. timeout if the
    /// daemon does not respond.
    Result<bool> wait_for_message(std::chrono::milliseconds timeout);

    /// Returns the descriptor for a poll with other ones. If it is readable, call wait_for_message().
    int descriptor() const { return fd_.get(); }
    /// Returns the time of the last byte from the other end, or else of this object's creation.
    std::chrono::steady_clock::time_point read_at() const { return read_at_; }

    /// Makes send_request() non-blocking: flush() sends the rest when the descriptor is writable.
    void queue_writes() { queues_ = true; }
    bool has_unsent() const { return !unsent_.empty(); }
    /// Sends queued requests, as far as the socket takes them without blocking.
    Result<void> flush();

    /// Returns the pid of the process that listens at the other end; 0 for a socket that was passed in.
    pid_t daemon() const { return daemon_; }

    /// Returns true if the other end was closed when it was last read.
    bool has_ended() const { return ended_; }
    /// Waits until the daemon closes its end; false if it does not in time.
    bool wait_for_end(std::chrono::milliseconds timeout);

  private:
    /// Waits until the socket is ready for `events`; false if `until` or the time for a ping passed, or a signal came.
    Result<bool> ready(short events, std::chrono::steady_clock::time_point until);
    bool daemon_lives();
    Result<void> send_line(const std::string& line);
    /// Returns the next line without its end; waits as long as necessary.
    Result<std::string> read_line();
    /// Takes a complete line from the buffer; false if there is none.
    bool take_line(std::string& line);
    /// Reads once into the buffer; false at the end of the stream.
    Result<bool> fill();
    void deliver(Json message);

    UniqueFd fd_;
    pid_t daemon_ = 0;
    std::filesystem::path socket_;  ///< empty: the daemon cannot be pinged
    Patience patience_;
    std::chrono::steady_clock::time_point heard_ =
        std::chrono::steady_clock::now();  ///< the last proof that the daemon lives
    std::chrono::steady_clock::time_point read_at_ = heard_;
    bool ended_ = false;
    bool closed_ = false;  ///< at the last ping, no process listened any more
    bool queues_ = false;
    std::string unsent_;
    std::int64_t next_id_ = 1;
    std::string buffer_;
    std::size_t searched_ = 0;  ///< the length of the part of buffer_ that has no line end
    Listener listener_;
    OnReply on_reply_;
    Parse parse_ = [](std::string_view line) { return parse_json(line); };
};

}  // namespace orange::connection

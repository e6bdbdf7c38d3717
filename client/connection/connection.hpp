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

/// The client's side of the wire (docs/protocol.md): one blocking Unix socket, one JSON-RPC message a line. Life of a
/// request: connect (or start a daemon first: autostart.hpp), send one line, read lines until the one with our id;
/// notifications and replies to other requests in between go to the listeners. A request may take minutes (a merge, a
/// spawn), so a reply has no deadline: a daemon that ends closes the socket, and that is an error at once; one that is
/// silent for long is asked on another connection whether it lives.
namespace orange::connection {

/// What a peer sends may not grow the client without bound; a list of 10,000 tasks is some 10 MB.
inline constexpr std::size_t k_max_reply = 256u << 20;
/// Longer requests are refused by the daemon; the client says so before it sends one.
inline constexpr std::size_t k_max_request = 1u << 20;

/// How long a daemon may take to accept a connection, and the time between two looks at whether it does.
inline constexpr std::chrono::milliseconds k_connect_deadline{5000}, k_look_again{10};

/// How long a daemon may be silent before it is asked whether it lives, and how long it may take to say so.
struct Patience {
    std::chrono::milliseconds silence{5000};
    std::chrono::milliseconds answer{2000};
};

/// `timeout`: the daemon takes or answers nothing, neither the call `method` (empty: none) nor a ping.
Error does_not_answer(pid_t daemon, const std::string& method);

/// A reply as its struct; keys that this version does not know are skipped, since a newer daemon may send more.
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

    /// Takes over a connected socket.
    explicit Connection(int fd) : fd_(fd) {}
    Connection(Connection&& other) noexcept { *this = std::move(other); }
    Connection& operator=(Connection&& other) noexcept;
    ~Connection();

    /// `unavailable`: nobody listens there. `forbidden`: another user does, or could. `timeout`: the daemon's queue
    /// stayed full until the deadline.
    static Result<Connection> open(const std::filesystem::path& socket, std::chrono::milliseconds deadline,
                                   Patience patience = {});

    template <class Method>
    Result<typename Method::Reply> call(const Method& params) {
        auto reply = call_json(Method::k_name, written(params));
        if (!reply) return reply.error();
        return reply_as<typename Method::Reply>(Method::k_name, *reply);
    }
    /// The reply's `result` as it came. `timeout` where the daemon stands still, never for a call that takes long.
    Result<Json> call_json(const std::string& method, Json params);

    /// Sends a request and returns its id at once; the reply comes to on_reply().
    Result<std::int64_t> send_request(const std::string& method, Json params);

    /// Both are called from inside call() and wait_for_message().
    void on_notification(Listener listener) { listener_ = std::move(listener); }
    void on_reply(OnReply listener) { on_reply_ = std::move(listener); }
    /// How wait_for_message() reads a message, for who keeps long lists in another form than JSON.
    void parse_with(Parse parse) { parse_ = std::move(parse); }
    /// Waits for one message, at most that long, and delivers it; false: none came, or a signal did. `timeout` if the
    /// daemon does not respond.
    Result<bool> wait_for_message(std::chrono::milliseconds timeout);

    /// To wait for together with something else: readable, wait_for_message() has something to do.
    int descriptor() const { return fd_; }
    /// When the last byte came from the other end; at first, when this object was made.
    std::chrono::steady_clock::time_point read_at() const { return read_at_; }

    /// From now on send_request() never waits: flush() sends the rest when the descriptor takes more.
    void queue_writes() { queues_ = true; }
    bool has_unsent() const { return !unsent_.empty(); }
    Result<void> flush();

    /// The process that listens at the other end; 0 for a socket that was taken over.
    pid_t daemon() const { return daemon_; }

    /// Waits until the daemon closes its end; false: it did not in time.
    bool wait_for_end(std::chrono::milliseconds timeout);

  private:
    /// Waits until the socket is ready for `events`; false: `until` or a moment to ask the daemon passed, a signal
    /// came.
    Result<bool> ready(short events, std::chrono::steady_clock::time_point until);
    bool daemon_lives();
    Result<void> send_line(const std::string& line);
    /// The next line without its end, waiting as long as it takes.
    Result<std::string> read_line();
    /// A line that is already in the buffer.
    bool take_line(std::string& line);
    /// Reads once into the buffer; false at the end of the stream.
    Result<bool> fill();
    void deliver(Json message);

    int fd_ = -1;
    pid_t daemon_ = 0;
    std::filesystem::path socket_;  ///< empty: nobody can be asked
    Patience patience_;
    std::chrono::steady_clock::time_point heard_ = std::chrono::steady_clock::now();  ///< the last sign of life
    std::chrono::steady_clock::time_point read_at_ = heard_;
    bool closed_ = false;  ///< nobody listened any more
    bool queues_ = false;
    std::string unsent_;
    std::int64_t next_id_ = 1;
    std::string buffer_;
    std::size_t searched_ = 0;  ///< of buffer_, known to hold no line end
    Listener listener_;
    OnReply on_reply_;
    Parse parse_ = [](std::string_view line) { return parse_json(line); };
};

}  // namespace orange::connection

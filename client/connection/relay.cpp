#include "client/connection/relay.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "client/connection/autostart.hpp"
#include "client/connection/daemon_socket.hpp"
#include "common/base/system.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/rpc/daemon_methods.hpp"
#include "common/rpc/errors.hpp"
#include "common/rpc/stdio_methods.hpp"

namespace orange::connection {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// The limit of bytes from one side that the other side has not taken yet.
constexpr std::size_t k_most_waiting = 1u << 20;
/// A writable pipe takes this many bytes without blocking.
constexpr std::size_t k_piece = 4096;
constexpr milliseconds k_daemon_silence{5000}, k_daemon_answer{2000}, k_last_lines{1000};
constexpr int k_ends = 3;

std::string machine_name() {
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

Json ping_request() {
    return {{"jsonrpc", "2.0"}, {"id", "ping"}, {"method", rpc::k_ping}};
}

Json reply_to(const Json& request, const char* member, Json value) {
    const auto id = request.is_object() ? request.value("id", Json()) : Json();
    return {{"jsonrpc", "2.0"}, {"id", id}, {member, std::move(value)}};
}

std::string method_of(const Json& message) {
    const auto method = message.is_object() ? message.find("method") : message.end();
    return message.is_object() && method != message.end() && method->is_string() ? method->get<std::string>() : "";
}

/// Returns true if the daemon answers on another connection. A daemon answers even while calls run or wait for events.
bool answers(const Paths& paths) {
    auto other = open_daemon(paths, k_daemon_answer);
    if (!other) return other.error().code != ErrorCode::timeout;
    if (!other->send_request(rpc::DaemonPing::k_name, Json::object())) return true;
    const auto came = other->wait_for_message(k_daemon_answer);
    return !came || *came;
}

int milliseconds_until(steady_clock::time_point time) {
    return static_cast<int>(
        std::max<std::int64_t>(0, std::chrono::ceil<milliseconds>(time - steady_clock::now()).count()));
}

}  // namespace

Result<void> Relay::run() {
    auto ended = begin();
    if (ended) ended = relay();
    if (!ended && !client_gone_) {
        if (std::exchange(inside_line_, false)) to_client_ += "\n" + std::exchange(own_, {});
        say(reply_to({}, "error", rpc::error_json(ended.error())));
        write_last_lines();
    }
    return ended;
}

Result<void> Relay::begin() {
    TRY(daemon_, connect_or_start(paths_));
    TRY(const auto daemon, daemon_->call(rpc::DaemonPing{}));
    if (options_.read_only) TRY(learn_methods());
    rpc::HelloNotification hello;
    hello.version = daemon.version;
    hello.name = machine_name();
    hello.read_only = options_.read_only;
    say({{"jsonrpc", "2.0"}, {"method", hello.k_name}, {"params", written(hello)}});
    client_heard_ = pinged_ = daemon_heard_ = steady_clock::now();
    return {};
}

/// The daemon tells which methods only read, so that this list covers newer daemons, too.
Result<void> Relay::learn_methods() {
    TRY(const auto document, daemon_->call_json(rpc::RpcDiscover::k_name, Json::object()));
    for (const auto& method : document.value("methods", Json::array())) {
        if (method.value("x-access", "") == "read") allowed_.insert(method.value("name", ""));
    }
    if (!allowed_.empty()) return {};
    return {
        ErrorCode::unavailable,
        "the daemon does not say which methods only read, so --read-only cannot be kept; replace it by that of this "
        "version:\n  orange daemon restart"};
}

Result<void> Relay::relay() {
    while (!is_over()) TRY(turn());
    if (input_ended_ || client_gone_) return {};
    return {ErrorCode::unavailable,
            "the daemon stopped; connect again, and look at what was under way\n"
            "  orange daemon status"};
}

bool Relay::is_over() const {
    return client_gone_ || (daemon_ended_ && to_client_.empty());
}

Result<void> Relay::turn() {
    const bool is_held_up = to_daemon_.size() >= k_most_waiting;
    // While the daemon blocks the client's input, the client's messages cannot be read, so it does not count as silent.
    if (is_held_up) client_heard_ = steady_clock::now();
    const bool reads_client = !input_ended_ && !is_held_up && to_client_.size() < k_most_waiting;
    const bool reads_daemon = !daemon_ended_ && to_client_.size() < k_most_waiting;
    const auto socket = daemon_->descriptor();
    pollfd ready[] = {{reads_client ? options_.in : -1, POLLIN, 0},
                      {options_.out, static_cast<short>(to_client_.empty() ? 0 : POLLOUT), 0},
                      {reads_daemon ? socket : -1, POLLIN, 0},
                      {to_daemon_.empty() ? -1 : socket, POLLOUT, 0}};
    if (::poll(ready, 4, milliseconds_until(next_look())) < 0 && errno != EINTR) {
        return io_error("waiting for the client and the daemon", errno);
    }
    if (ready[0].revents != 0) TRY(read_client());
    if (ready[2].revents != 0) TRY(read_daemon());
    if ((ready[1].revents & POLLOUT) != 0) write_client();
    if ((ready[1].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0)
        client_gone_ = true;  // the client no longer reads replies
    if (ready[3].revents != 0) TRY(write_daemon());
    if (input_ended_ && to_daemon_.empty() && !std::exchange(told_end_, true)) ::shutdown(socket, SHUT_WR);
    return look_at_silence(steady_clock::now());
}

Result<void> Relay::read_client() {
    char chunk[65536];
    const auto size = ::read(options_.in, chunk, sizeof chunk);
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) return {};
    client_heard_ = steady_clock::now();
    if (size <= 0) {
        input_ended_ = true;
        if (!line_.empty()) take_line(std::exchange(line_, {}));
        return {};
    }
    line_.append(chunk, static_cast<std::size_t>(size));
    std::size_t begin = 0;
    for (auto end = line_.find('\n'); end != std::string::npos; end = line_.find('\n', begin)) {
        take_line(std::string_view(line_).substr(begin, end - begin));
        begin = end + 1;
    }
    line_.erase(0, begin);
    if (line_.size() <= k_max_request) return {};
    return {ErrorCode::invalid_argument, "a line of over 1 MiB; the connection is closed"};
}

void Relay::take_line(std::string_view line) {
    if (trim(line).empty()) return;
    const auto message = parse_json(line);
    if (message && method_of(*message) == rpc::k_ping) {
        if (message->contains("id")) say(reply_to(*message, "result", Json::object()));
        return;
    }
    if (message && message->is_object() && !message->contains("method") && message->contains("id")) return;
    if (options_.read_only) {
        std::optional<Json> reply;
        if (message) {
            reply = refusal(*message);
        } else {
            reply = reply_to({}, "error", {{"code", rpc::k_parse_error}, {"message", "not JSON"}});
        }
        if (reply && !reply->empty()) say(*reply);
        if (reply) return;
    }
    // Send the checked message itself: another parser might read the original text differently.
    to_daemon_ += (options_.read_only ? dump(*message) : std::string(line)) + "\n";
    asked_ = true;
}

std::optional<Json> Relay::refusal(const Json& message) const {
    const auto& batch = message.is_array() ? message : Json::array({message});
    const bool passes =
        std::ranges::all_of(batch, [&](const Json& request) { return allowed_.contains(method_of(request)); });
    if (passes && !batch.empty()) return std::nullopt;
    Json replies = Json::array();
    for (const auto& request : batch) {
        if (request.is_object() && !request.contains("id")) continue;  // a notification gets no reply
        const Error error(ErrorCode::forbidden, "this connection may only look (orange rpc --stdio --read-only), and " +
                                                    printable(method_of(request)) + " was not called");
        replies.push_back(reply_to(request, "error", rpc::error_json(error)));
    }
    if (message.is_array()) return replies;
    return replies.empty() ? replies : std::move(replies.front());
}

Result<void> Relay::read_daemon() {
    char chunk[65536];
    const auto size = ::read(daemon_->descriptor(), chunk, sizeof chunk);
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) return {};
    if (size <= 0) {
        daemon_ended_ = true;
        return {};
    }
    daemon_heard_ = steady_clock::now();
    asked_ = false;
    const std::string_view text(chunk, static_cast<std::size_t>(size));
    const auto end = own_.empty() ? std::string_view::npos : text.find('\n');
    if (end == std::string_view::npos) {
        to_client_ += text;
    } else {
        to_client_ +=
            std::string(text.substr(0, end + 1)) + std::exchange(own_, {}) + std::string(text.substr(end + 1));
    }
    inside_line_ = text.back() != '\n';
    return {};
}

void Relay::say(const Json& message) {
    (inside_line_ ? own_ : to_client_) += dump(message) + "\n";
}

void Relay::write_client() {
    const auto size = ::write(options_.out, to_client_.data(), std::min(to_client_.size(), k_piece));
    if (size > 0) {
        to_client_.erase(0, static_cast<std::size_t>(size));
    } else if (errno != EINTR && errno != EAGAIN) {
        client_gone_ = true;
    }
}

Result<void> Relay::write_daemon() {
    const auto size =
        ::send(daemon_->descriptor(), to_daemon_.data(), to_daemon_.size(), MSG_DONTWAIT | system::send_flags());
    if (size > 0) {
        to_daemon_.erase(0, static_cast<std::size_t>(size));
    } else if (errno == EPIPE || errno == ECONNRESET) {
        to_daemon_.clear();  // the daemon may have sent the reason: a read finds the reason or the end
    } else if (errno != EINTR && errno != EAGAIN) {
        return io_error("sending to the daemon", errno);
    }
    return {};
}

Relay::Time Relay::next_look() const {
    auto next = Time::max();
    if (!input_ended_) next = std::min(pinged_ + options_.ping, client_heard_ + k_ends * options_.ping);
    if (asked_ && !daemon_ended_) next = std::min(next, daemon_heard_ + k_daemon_silence);
    return std::min(next, steady_clock::now() + std::chrono::hours(1));
}

Result<void> Relay::look_at_silence(Time now) {
    if (asked_ && !daemon_ended_ && now - daemon_heard_ >= k_daemon_silence) {
        if (!answers(paths_)) return does_not_answer(daemon_->daemon(), {});
        daemon_heard_ = steady_clock::now();
    }
    if (input_ended_) return {};
    pinged_ = std::max(pinged_, client_heard_);
    if (now - client_heard_ >= k_ends * options_.ping) {
        return {ErrorCode::timeout, "the client did not answer; the connection is closed"};
    }
    if (now - pinged_ < options_.ping) return {};
    pinged_ = now;
    say(ping_request());
    return {};
}

/// Writes the last lines, but does not wait for a client that no longer reads.
void Relay::write_last_lines() {
    const auto until = steady_clock::now() + k_last_lines;
    while (!to_client_.empty() && !client_gone_ && steady_clock::now() < until) {
        pollfd ready{options_.out, POLLOUT, 0};
        if (::poll(&ready, 1, milliseconds_until(until)) > 0) write_client();
    }
}

}  // namespace orange::connection

#include "client/connection/connection.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "client/connection/process_facts.hpp"
#include "common/base/system.hpp"
#include "common/base/try.hpp"
#include "common/config/home_check.hpp"
#include "common/config/peer_process.hpp"
#include "common/config/socket_address.hpp"
#include "common/rpc/daemon_methods.hpp"
#include "common/rpc/errors.hpp"
#include "common/rpc/train_methods.hpp"

namespace orange::connection {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds k_retry{5};

Error connect_error(const std::filesystem::path& socket, int number) {
    const bool nobody = number == ENOENT || number == ECONNREFUSED || number == ENOTDIR;
    return {nobody ? ErrorCode::unavailable : ErrorCode::io,
            "cannot connect to " + socket.string() + ": " + std::strerror(number),
            {}};
}

/// Checks who listens: that process gets what people write about their work, and their agents' answers.
Result<pid_t> check_server(int fd, const std::filesystem::path& socket) {
    const auto peer = peer_process(fd);
    if (peer && peer->user == ::geteuid()) return peer->pid;
    return {ErrorCode::forbidden, "refused to connect to " + socket.string() +
                                      ", because a program of another user listens there:\n  ss -xlp"};
}

std::string what_to_look_at(const std::string& method) {
    const bool is_of_tasks = method.starts_with("task.") || method == rpc::TrainMerge::k_name;
    return is_of_tasks ? "`orange list --all`" : "`orange daemon status`";
}

/// People do not know a merge of several tasks by the name of its method.
std::string call_text(const std::string& method) {
    return method == rpc::TrainMerge::k_name ? "the merge" : method;
}

Error daemon_stopped(const std::string& method) {
    if (method != rpc::TrainMerge::k_name) {
        return {ErrorCode::unavailable,
                "the daemon stopped during " + method + "; check its result with " + what_to_look_at(method)};
    }
    return {ErrorCode::unavailable,
            "the daemon stopped during the merge. What was published is finished by the next one; the other tasks are "
            "not merged. To see them, and to merge those that are left:\n  orange list\n  orange merge ID ID"};
}

/// Looks for a moment at what the daemon does.
Doing seen_doing(pid_t daemon) {
    constexpr int k_looks = 10;
    constexpr milliseconds k_pause{20};
    for (int i = 0; i < k_looks; ++i) {
        const auto facts = process_facts(daemon);
        if (facts && facts->doing != Doing::waits) return facts->doing;
        std::this_thread::sleep_for(k_pause);
    }
    return Doing::waits;
}

Error not_answering() {
    return {ErrorCode::timeout, ""};
}

bool is_reply_to(std::int64_t id, const Json& message) {
    const auto answers = message.find("id");
    // A null id: the daemon could not even parse the request.
    return !message.contains("method") && answers != message.end() && (*answers == id || answers->is_null());
}

Result<Json> result_of(Json message) {
    if (const auto error = message.find("error"); error != message.end()) return rpc::error_from_json(*error);
    if (const auto result = message.find("result"); result != message.end()) return std::move(*result);
    return {ErrorCode::internal, "the daemon's reply has neither a result nor an error"};
}

/// Returns the milliseconds until then for poll(), never negative.
int remaining(steady_clock::time_point until) {
    const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now()).count();
    return left > 0 ? static_cast<int>(left) : 0;
}

}  // namespace

/// A daemon that computes, or waits for a disk, is busy: nothing is gained by replacing it.
Error does_not_answer(pid_t daemon, const std::string& method) {
    const auto pid = std::to_string(daemon);
    const auto doing = seen_doing(daemon);
    const bool is_busy = doing == Doing::computes || doing == Doing::waits_for_disk;
    std::string text = "oranged (pid " + pid + ") does not answer. ";
    if (is_busy) {
        text = "oranged (pid " + pid + ") is busy: it " + (doing == Doing::computes ? "computes" : "waits for a disk") +
               " and answers later. ";
    } else if (doing == Doing::is_stopped) {
        text = "oranged (pid " + pid + ") is stopped; `kill -CONT " + pid + "` lets it go on. ";
    }
    if (!method.empty()) {
        text += call_text(method) + " may have begun; check later with " + what_to_look_at(method) + ". ";
    }
    text += is_busy ? "Try again in a moment." : "To replace the daemon:\n  orange daemon restart --force";
    return {ErrorCode::timeout, text, {{"pid", pid}, {"method", method}, {"busy", is_busy ? "true" : "false"}}};
}

Result<Connection> Connection::open(const std::filesystem::path& socket, milliseconds deadline, Patience patience) {
    if (auto safe = check_home(socket.parent_path()); !safe && safe.error().code == ErrorCode::forbidden) {
        return safe.error();
    }
    const auto address = SocketAddress::in_folder(socket);
    if (!address) {
        const bool nobody = address.error().code == ErrorCode::not_found;
        return {nobody ? ErrorCode::unavailable : address.error().code, address.error().message};
    }
    const auto until = steady_clock::now() + deadline;
    for (;;) {
        UniqueFd fd(system::local_socket());
        if (!fd) return io_error("opening a socket", errno);
        if (::connect(fd.get(), address->get(), address->size()) == 0) {
            TRY(auto daemon, check_server(fd.get(), socket));
            ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) & ~O_NONBLOCK);
            Connection connection(fd.release());
            connection.daemon_ = daemon;
            connection.socket_ = socket;
            connection.patience_ = patience;
            return connection;
        }
        // EAGAIN: the daemon lives, but its accept queue is full.
        if (errno != EAGAIN && errno != EINTR) return connect_error(socket, errno);
        if (steady_clock::now() >= until) {
            return {ErrorCode::timeout, "the daemon is too busy to take another connection; try again"};
        }
        std::this_thread::sleep_for(k_retry);
    }
}

Result<std::int64_t> Connection::send_request(const std::string& method, Json params) {
    const auto id = next_id_++;
    const std::string line =
        dump({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}}) + "\n";
    if (line.size() > k_max_request) {
        return {ErrorCode::invalid_argument, "the request is larger than 1 MiB; shorten the text"};
    }
    heard_ = steady_clock::now();
    if (auto sent = send_line(line); !sent) {
        return sent.error().code == ErrorCode::timeout ? does_not_answer(daemon_, method) : sent.error();
    }
    return id;
}

Result<Json> Connection::call_json(const std::string& method, Json params) {
    TRY(const auto id, send_request(method, std::move(params)));
    for (;;) {
        auto reply = read_line();
        if (!reply) {
            if (reply.error().code == ErrorCode::timeout) return does_not_answer(daemon_, method);
            if (reply.error().code != ErrorCode::unavailable) return reply.error();
            return daemon_stopped(method);
        }
        auto message = parse_json(*reply);
        if (!message) return in_context("reading the daemon's reply", message.error());
        if (!message->is_object()) return {ErrorCode::internal, "the daemon's reply is not a JSON-RPC message"};
        if (is_reply_to(id, *message)) return result_of(std::move(*message));
        deliver(std::move(*message));
    }
}

Result<bool> Connection::wait_for_message(milliseconds timeout) {
    const auto until = steady_clock::now() + timeout;
    std::string line;
    while (!take_line(line)) {
        auto readable = ready(POLLIN, until);
        if (!readable && readable.error().code == ErrorCode::timeout) return does_not_answer(daemon_, {});
        if (!readable || !*readable) return readable;
        TRY(auto more, fill());
        if (!more) return {ErrorCode::unavailable, "the daemon stopped"};
    }
    auto message = parse_(line);
    if (!message) return in_context("reading the daemon's message", message.error());
    deliver(std::move(*message));
    return true;
}

bool Connection::wait_for_end(milliseconds timeout) {
    const auto until = steady_clock::now() + timeout;
    while (steady_clock::now() < until) {
        pollfd ready{fd_.get(), POLLIN, 0};
        if (::poll(&ready, 1, remaining(until)) <= 0) continue;
        auto more = fill();
        if (!more || !*more) return true;
    }
    return false;
}

void Connection::deliver(Json message) {
    if (!message.is_object()) return;
    const auto method = message.find("method"), id = message.find("id");
    if (method != message.end()) {
        if (listener_ && method->is_string())
            listener_(method->get<std::string>(), message.value("params", Json::object()));
    } else if (on_reply_ && id != message.end() && id->is_number_integer()) {
        const auto answered = id->get<std::int64_t>();  // read it before the message is moved
        on_reply_(answered, result_of(std::move(message)));
    }
}

Result<bool> Connection::ready(short events, steady_clock::time_point until) {
    const auto ask = heard_ + patience_.silence;
    pollfd socket{fd_.get(), events, 0};
    const int count = ::poll(&socket, 1, remaining(std::min(until, ask)));
    if (count < 0 && errno != EINTR) return io_error("waiting for the daemon", errno);
    if (count > 0) return true;
    if (steady_clock::now() < ask) return false;
    if (!daemon_lives()) return not_answering();
    heard_ = steady_clock::now();
    return false;
}

/// Pings the daemon on another connection. Any answer proves that it lives, even a refusal.
bool Connection::daemon_lives() {
    if (socket_.empty()) return true;
    const auto until = steady_clock::now() + patience_.answer;
    auto other = open(socket_, patience_.answer);
    // No process listens: the daemon is about to end, or to create its socket again. At the next ping this will be
    // over.
    if (!other && other.error().code == ErrorCode::unavailable) return !std::exchange(closed_, true);
    closed_ = false;
    if (!other) return other.error().code != ErrorCode::timeout;
    other->socket_.clear();
    const Json ping = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", rpc::DaemonPing::k_name}, {"params", Json::object()}};
    if (!other->send_line(dump(ping) + "\n")) return true;
    do {
        const auto came = other->wait_for_message(milliseconds(remaining(until)));
        if (!came || *came) return true;
    } while (steady_clock::now() < until);
    return false;
}

Result<void> Connection::flush() {
    while (!unsent_.empty()) {
        const auto n = ::send(fd_.get(), unsent_.data(), unsent_.size(), MSG_DONTWAIT | system::send_flags());
        if (n >= 0) {
            unsent_.erase(0, static_cast<std::size_t>(n));
        } else if (errno == EPIPE || errno == ECONNRESET) {
            unsent_.clear();  // see send_line()
        } else if (errno == EAGAIN) {
            break;
        } else if (errno != EINTR) {
            return io_error("sending to the daemon", errno);
        }
    }
    return {};
}

Result<void> Connection::send_line(const std::string& line) {
    if (queues_) {
        unsent_ += line;
        return flush();
    }
    std::size_t sent = 0;
    while (sent < line.size()) {
        const auto n = ::send(fd_.get(), line.data() + sent, line.size() - sent, MSG_DONTWAIT | system::send_flags());
        if (n >= 0) {
            sent += static_cast<std::size_t>(n);
            heard_ = steady_clock::now();
        } else if (errno == EAGAIN) {
            TRY(ready(POLLOUT, steady_clock::time_point::max()));
        } else if (errno == EPIPE || errno == ECONNRESET) {
            return {};  // the daemon may have sent the reason before it closed: a read finds the reason or the end
        } else if (errno != EINTR) {
            return io_error("sending to the daemon", errno);
        }
    }
    return {};
}

Result<std::string> Connection::read_line() {
    std::string line;
    while (!take_line(line)) {
        TRY(auto readable, ready(POLLIN, steady_clock::time_point::max()));
        if (!readable) continue;
        TRY(auto more, fill());
        if (!more) return {ErrorCode::unavailable, "the daemon stopped"};
    }
    return line;
}

bool Connection::take_line(std::string& line) {
    const auto end = buffer_.find('\n', searched_);
    if (end == std::string::npos) {
        searched_ = buffer_.size();
        return false;
    }
    if (end + 1 == buffer_.size()) {  // avoids a second copy of a long reply
        line = std::exchange(buffer_, {});
        line.pop_back();
    } else {
        line = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
    }
    searched_ = 0;
    return true;
}

Result<bool> Connection::fill() {
    char chunk[65536];
    for (;;) {
        const auto n = ::read(fd_.get(), chunk, sizeof chunk);
        if (n > 0) {
            heard_ = read_at_ = steady_clock::now();
            buffer_.append(chunk, static_cast<std::size_t>(n));
            if (buffer_.size() > k_max_reply) return {ErrorCode::internal, "the daemon's reply is endless"};
            return true;
        }
        if (n == 0 || errno == ECONNRESET) {
            ended_ = true;
            return false;
        }
        if (errno != EINTR) return io_error("reading from the daemon", errno);
    }
}

}  // namespace orange::connection

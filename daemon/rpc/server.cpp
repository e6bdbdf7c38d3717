#include "daemon/rpc/server.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <asio/local/stream_protocol.hpp>
#include <cstring>
#include <utility>

#include "common/base/system.hpp"
#include "common/base/try.hpp"
#include "common/config/socket_address.hpp"
#include "common/rpc/errors.hpp"
#include "daemon/async/async.hpp"
#include "daemon/async/use_tuple.hpp"
#include "daemon/log/log.hpp"
#include "daemon/rpc/peer.hpp"
#include "daemon/rpc/session.hpp"

namespace orange::rpc {

namespace {

constexpr int k_backlog = 4096;
constexpr std::chrono::milliseconds k_moment{50};
/// The number of retries, at intervals of k_moment: a starting child or an open file may use descriptors only briefly.
constexpr int k_moments_without_room = 20;

int spare_descriptor() {
    return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

}  // namespace

Limits Limits::of_process() {
    Limits limits;
    rlimit descriptors{};
    if (::getrlimit(RLIMIT_NOFILE, &descriptors) != 0 || descriptors.rlim_cur == RLIM_INFINITY) return limits;
    limits.connections = std::min<std::size_t>(limits.connections, descriptors.rlim_cur / 4 * 3);
    return limits;
}

struct Server::Listener {
    asio::local::stream_protocol::acceptor acceptor;
    dev_t device = 0;
    ino_t inode = 0;
    TaskId task = {};
    RunId run = {};

    void close() {
        asio::error_code ignored;
        acceptor.close(ignored);
    }
};

Server::Server(const asio::any_io_executor& executor, Dispatcher& dispatcher, Identify identify, Limits limits,
               WallOf wall_of)
    : executor_(executor),
      dispatcher_(dispatcher),
      identify_(std::move(identify)),
      wall_of_(std::move(wall_of)),
      limits_(limits),
      reserve_(spare_descriptor()),
      scheduler_(executor) {}

Server::~Server() {
    if (reserve_ >= 0) ::close(reserve_);
}

Result<void> Server::listen(const Path& socket, const TaskId& task, const RunId& run) {
    if (socket_.empty()) socket_ = socket;
    TRY(auto address, SocketAddress::in_folder(socket));
    const int fd = system::local_socket();
    if (fd < 0) return io_error("making the socket", errno);
    const auto fail = [&](std::string_view doing) {
        const int why = errno;
        ::close(fd);
        return io_error(std::string(doing) + " " + socket.string(), why);
    };
    // Set the mode before bind, so that other users cannot connect at any time.
    if (::fchmod(fd, 0600) != 0) return fail("setting the mode of");
    if (::unlink(address.path().c_str()) != 0 && errno != ENOENT) return fail("removing the stale");
    if (::bind(fd, address.get(), address.size()) != 0) return fail("binding");
    if (::listen(fd, k_backlog) != 0) return fail("listening on");
    struct stat info {};
    if (::stat(socket.c_str(), &info) != 0) return fail("looking at");

    auto listener = std::make_shared<Listener>(
        Listener{asio::local::stream_protocol::acceptor(executor_), info.st_dev, info.st_ino, task, run});
    listener->acceptor.assign(asio::local::stream_protocol(), fd);
    // Close the old socket only now. The old socket may be in use again: its file comes back if its folder was moved
    // away and back.
    if (const auto old = std::exchange(listeners_[socket], listener)) old->close();
    async::spawn(executor_, "rpc accept", accept_loop(listener));
    return {};
}

void Server::unlisten(const Path& socket) {
    const auto found = listeners_.find(socket);
    if (found == listeners_.end()) return;
    if (listens_at(socket)) ::unlink(socket.c_str());
    found->second->close();
    listeners_.erase(found);
}

bool Server::listens_at(const Path& socket) const {
    struct stat info {};
    const auto found = listeners_.find(socket);
    return found != listeners_.end() && ::lstat(socket.c_str(), &info) == 0 && info.st_dev == found->second->device &&
           info.st_ino == found->second->inode;
}

void Server::check_socket() {
    if (stopping_ || listeners_.empty() || listens_at(socket_)) return;
    log::warn("rpc", "the socket's file is gone; binding it again", {{"socket", socket_.string()}});
    if (auto bound = listen(socket_); !bound) log::error("rpc", bound.error().message);
}

void Server::check_clients() {
    const auto sessions = sessions_;  // drop() may remove a session
    for (const auto& session : sessions) session->check_reader(limits_.patience);
}

void Server::tell_of_room() {
    if (wait_for_room_.empty() || !has_room()) return;
    for (const auto& session : std::exchange(wait_for_room_, {})) session->room_.notify();
}

void Server::make_room() {
    if (held_ <= limits_.most_held || std::exchange(making_room_, true)) return;
    async::spawn(executor_, "rpc make room", close_the_slowest());
}

Awaitable<void> Server::close_the_slowest() {
    while (held_ > limits_.most_held) {
        std::shared_ptr<Session> slowest;
        for (const auto& session : sessions_) {
            if (session->has_unread() && (!slowest || session->read_at() < slowest->read_at())) slowest = session;
        }
        if (!slowest) break;  // requests under way hold the rest
        log::warn("rpc", "closed a client that does not read: too much was held for all of them");
        slowest->close();
        co_await async::yield();
    }
    making_room_ = false;
}

void Server::refuse(int fd, const std::string& why) {
    if (!std::exchange(refusing_, true)) log::warn("rpc", "a client was refused: " + why);
    Json reply = {{"jsonrpc", "2.0"}, {"id", nullptr}, {"error", error_json({ErrorCode::unavailable, why})}};
    const auto line = dump(reply) + "\n";
    (void)!::send(fd, line.data(), line.size(), MSG_DONTWAIT | system::send_flags());
}

void Server::refuse_waiting(Listener& listener) {
    if (reserve_ >= 0) ::close(reserve_);
    const int fd = ::accept(listener.acceptor.native_handle(), nullptr,
                            nullptr);  // does not block: asio reported a waiting client
    if (fd >= 0) {
        refuse(fd, "the daemon has no file descriptor left for another connection; close some, and try again");
        ::close(fd);
    }
    reserve_ = spare_descriptor();
}

void Server::stop() {
    stopping_ = true;
    // Keep the socket files of runs: the next daemon listens there again, and clients take a missing folder for the
    // run's end.
    for (const auto& [path, listener] : listeners_) listener->close();
    if (listens_at(socket_)) ::unlink(socket_.c_str());
    const auto sessions = sessions_;  // finish() removes sessions
    for (const auto& session : sessions) session->finish();
}

void Server::serve(std::unique_ptr<Stream> stream, Peer peer) {
    auto session = std::make_shared<Session>(*this, std::move(stream), peer);
    sessions_.insert(session);
    session->start();
}

Awaitable<void> Server::accept_loop(std::shared_ptr<Listener> listener) {
    for (int without_room = 0; listener->acceptor.is_open();) {
        auto [error, socket] = co_await listener->acceptor.async_accept(use_tuple);
        if (error == asio::error::operation_aborted) break;
        if (error) {  // EMFILE and the like: existing connections go on
            if (without_room == 0) log::warn("rpc", "accept: " + error.message());
            if (++without_room > k_moments_without_room) refuse_waiting(*listener);
            const auto pause = k_moment;
            co_await async::sleep(pause);
            continue;
        }
        without_room = 0;
        ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
        auto peer = peer_of(socket.native_handle());
        if (!peer || peer->uid != static_cast<std::int64_t>(::geteuid()))
            continue;  // another user: close without a reply
        if (!has_place()) {
            refuse(socket.native_handle(), "the daemon has " + std::to_string(sessions_.size()) +
                                               " connections already, and takes no more; close some, and try again");
            continue;
        }
        refusing_ = false;
        peer->task = listener->task;
        peer->run = listener->run;
        serve(stream_over(std::move(socket)), *peer);
    }
}

}  // namespace orange::rpc

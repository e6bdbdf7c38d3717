#include "daemon/rpc/server.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "common/config/socket_address.hpp"
#include "daemon/process/proc_info.hpp"
#include "daemon/rpc/peer.hpp"
#include "tests/catch.hpp"
#include "tests/support/os_fixture.hpp"

using namespace orange;
using namespace orange::test;

namespace {

Awaitable<Caller> nobody(rpc::Peer) {
    co_return Caller{};
}

}  // namespace

TEST_CASE("a thousand times bound anew, the socket is never open to others") {
    const TempDir dir;
    const auto socket = dir / "orange.sock";
    std::atomic<bool> over{false};
    std::atomic<int> open{0};
    std::thread watcher([&] {
        while (!over) {
            struct stat info {};
            if (::stat(socket.c_str(), &info) == 0 && (info.st_mode & 0777) != 0600) ++open;
        }
    });
    const auto before = ::umask(0);
    const rpc::MethodTable table;
    rpc::Dispatcher dispatcher(table);
    bool all = true;
    for (int i = 0; i < 1000; ++i) {
        asio::io_context io;
        rpc::Server server(io.get_executor(), dispatcher, nobody);
        all = all && server.listen(socket).has_value();
        server.stop();
        io.run();
    }
    ::umask(before);
    over = true;
    watcher.join();
    CHECK(all);
    CHECK(open == 0);
}

TEST_CASE("a peer is told with its start time, and one that has ended has none") {
    const TempDir dir;
    const auto socket = dir / "orange.sock";
    const auto address = SocketAddress::in_folder(socket);
    REQUIRE(address);
    const int listening = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(::bind(listening, address->get(), address->size()) == 0);
    REQUIRE(::listen(listening, 4) == 0);
    const auto connect = [&] {
        const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        return ::connect(fd, address->get(), address->size()) == 0 ? fd : -1;
    };
    const int mine = connect();
    const int first = ::accept(listening, nullptr, nullptr);
    const auto peer = rpc::peer_of(first);
    REQUIRE(peer);
    CHECK(peer->pid == ::getpid());
    CHECK(peer->uid == ::geteuid());
    CHECK(peer->start_time == proc::start_time(::getpid()));

    const auto child = ::fork();
    if (child == 0) ::_exit(connect() >= 0 ? 0 : 1);
    REQUIRE(eventually([&] { return !proc::start_time(child); }));  // a zombie
    const int second = ::accept(listening, nullptr, nullptr);
    const auto ended = rpc::peer_of(second);
    REQUIRE(ended);
    CHECK(ended->pid == child);
    CHECK(ended->start_time == rpc::k_gone);
    ::waitpid(child, nullptr, 0);
    for (const int fd : {mine, first, second, listening}) ::close(fd);
}

#include "client/connection/connection.hpp"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <thread>
#include <vector>

#include "common/config/socket_address.hpp"
#include "common/rpc/daemon_methods.hpp"
#include "common/rpc/event_methods.hpp"
#include "common/rpc/project_methods.hpp"
#include "tests/catch.hpp"
#include "tests/unit/client/fake_daemon.hpp"

using namespace orange;
using connection::Connection;
using test::FakeDaemon;
using namespace std::chrono_literals;

namespace {

Json pong() {
    return {{"version", "1"}, {"pid", 5}};
}

/// A connection to a daemon that answers each request with these pieces.
struct Talk {
    explicit Talk(FakeDaemon::Answer answer) : daemon(folder.path() / "orange.sock", std::move(answer)) {}

    Connection open(connection::Patience patience = {}) {
        auto opened = Connection::open(folder.path() / "orange.sock", 5s, patience);
        REQUIRE(opened);
        return std::move(*opened);
    }
    test::TemporaryFolder folder;
    FakeDaemon daemon;
};

}  // namespace

TEST_CASE("A request is one line of JSON-RPC, its reply comes back typed") {
    Talk talk([](const Json& r) { return std::vector{FakeDaemon::reply(r, pong())}; });
    auto connection = talk.open();
    const auto reply = connection.call(rpc::DaemonPing{});
    REQUIRE(reply);
    CHECK(reply->pid == 5);
    REQUIRE(connection.call(rpc::DaemonPing{}));
    const auto requests = talk.daemon.requests();
    REQUIRE(requests.size() == 2);
    CHECK(requests[0] == Json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "daemon.ping"}, {"params", Json::object()}});
    CHECK(requests[1]["id"] == 2);
}

TEST_CASE("A reply may come in pieces, and behind other lines") {
    Talk talk([](const Json& r) {
        std::vector<std::string> bytes;
        for (const char c : FakeDaemon::reply({{"id", 99}}, "another's") + FakeDaemon::reply(r, pong())) {
            bytes.emplace_back(1, c);
        }
        return bytes;
    });
    auto connection = talk.open();
    CHECK(connection.call(rpc::DaemonPing{}));
}

TEST_CASE("Notifications in between go to the listener, also those behind the reply") {
    const auto event = [](int n) {
        return dump({{"jsonrpc", "2.0"}, {"method", "event"}, {"params", {{"n", n}}}}) + "\n";
    };
    Talk talk(
        [&](const Json& r) { return std::vector{event(1) + event(2) + FakeDaemon::reply(r, pong()) + event(3)}; });
    auto connection = talk.open();
    std::vector<int> seen;
    connection.on_notification([&](const std::string& method, const Json& params) {
        CHECK(method == "event");
        seen.push_back(params["n"].get<int>());
    });
    REQUIRE(connection.call(rpc::DaemonPing{}));
    CHECK(seen == std::vector{1, 2});
    const auto waited = connection.wait_for_message(5s);
    REQUIRE(waited);
    CHECK(*waited);
    CHECK(seen == std::vector{1, 2, 3});
    const auto quiet = connection.wait_for_message(1ms);
    REQUIRE(quiet);
    CHECK_FALSE(*quiet);
}

TEST_CASE("An error reply is that error, its details kept") {
    Talk talk([](const Json& r) {
        return std::vector{dump({{"jsonrpc", "2.0"},
                                 {"id", r["id"]},
                                 {"error", {{"code", -32003}, {"message", "no Handoff"}, {"data", {{"gate", "x"}}}}}}) +
                           "\n"};
    });
    auto connection = talk.open();
    const auto reply = connection.call(rpc::DaemonPing{});
    REQUIRE_FALSE(reply);
    CHECK(reply.error() == Error(ErrorCode::gate_failed, "no Handoff", {{"gate", "x"}}));
}

TEST_CASE("An error without an id is for us: the daemon could not read the request") {
    Talk talk([](const Json&) { return std::vector{FakeDaemon::error({{"id", nullptr}}, -32700, "too long")}; });
    auto connection = talk.open();
    const auto reply = connection.call(rpc::DaemonPing{});
    REQUIRE_FALSE(reply);
    CHECK_THAT(reply.error().message, Holds("too long"));
}

TEST_CASE("A daemon that ends in the middle of a reply is told from a reply") {
    Talk talk([](const Json& r) { return std::vector<std::string>{FakeDaemon::reply(r, pong()).substr(0, 20), ""}; });
    auto connection = talk.open();
    const auto reply = connection.call_json("task.merge", Json::object());
    REQUIRE_FALSE(reply);
    CHECK(reply.error().code == ErrorCode::unavailable);
    CHECK_THAT(reply.error().message, Tells("task.merge") && Tells("orange list --all"));
    CHECK_FALSE(connection.call(rpc::DaemonPing{}));
}

TEST_CASE("A daemon that ends in a merge of several tasks leads to the list and to another merge") {
    Talk talk([](const Json& r) { return std::vector<std::string>{FakeDaemon::reply(r, pong()).substr(0, 20), ""}; });
    const auto reply = talk.open().call_json("train.merge", Json::object());
    REQUIRE_FALSE(reply);
    CHECK(reply.error().code == ErrorCode::unavailable);
    CHECK_THAT(reply.error().message, Tells("orange list") && Tells("orange merge") && !Holds("train."));
}

TEST_CASE("A reply that is no JSON-RPC is an error and no crash") {
    for (const std::string line :
         {"hello\n", "[]\n", "5\n", "{\"id\":1}\n", "{\"id\":1,\"result\":[]}\n", "{\"id\":1,\"error\":7}\n"}) {
        CAPTURE(line);
        Talk talk([&](const Json&) { return std::vector<std::string>{line, ""}; });
        auto connection = talk.open();
        CHECK_FALSE(connection.call(rpc::DaemonPing{}));
    }
}

TEST_CASE("Keys of a newer daemon are skipped, missing ones are said to be a matter of versions") {
    Json result = pong();
    Talk talk([&](const Json& r) { return std::vector{FakeDaemon::reply(r, result)}; });
    result["mood"] = "good";
    CHECK(talk.open().call(rpc::DaemonPing{}));
    result.erase("version");
    const auto reply = talk.open().call(rpc::DaemonPing{});
    REQUIRE_FALSE(reply);
    CHECK_THAT(reply.error().message, Tells("version"));
}

TEST_CASE("A socket whose path is longer than an address holds is reached all the same") {
    test::TemporaryFolder folder;
    auto deep = folder.path() / std::string(100, 'a') / std::string(100, 'b');
    std::filesystem::create_directories(deep);
    std::filesystem::permissions(deep, std::filesystem::perms::owner_all);
    FakeDaemon daemon(deep / "orange.sock", [](const Json& r) { return std::vector{FakeDaemon::reply(r, pong())}; });
    auto connection = Connection::open(deep / "orange.sock", 5s);
    REQUIRE(connection);
    CHECK(connection->call(rpc::DaemonPing{}));
}

TEST_CASE("Nobody there is told from somebody busy: no file, no folder, a socket left behind") {
    test::TemporaryFolder folder;
    const auto code = [](const std::filesystem::path& path) {
        const auto opened = Connection::open(path, 1ms);
        REQUIRE_FALSE(opened);
        return opened.error().code;
    };
    CHECK(code(folder.path() / "orange.sock") == ErrorCode::unavailable);
    CHECK(code(folder.path() / "none" / "orange.sock") == ErrorCode::unavailable);
    CHECK(code(folder.path() / std::string(120, 'x') / "orange.sock") == ErrorCode::unavailable);
    {
        FakeDaemon gone(folder.path() / "orange.sock", [](const Json&) { return std::vector<std::string>{}; });
    }
    CHECK(std::filesystem::exists(folder.path() / "orange.sock"));
    CHECK(code(folder.path() / "orange.sock") == ErrorCode::unavailable);
}

TEST_CASE("A call that takes long is waited for as long as the daemon answers pings on another connection") {
    int pings = 0;
    Json long_call;
    FakeDaemon* itself = nullptr;
    Talk talk([&](const Json& r) {
        if (r["method"] == "task.wait") {
            long_call = r;
            return std::vector<std::string>{};
        }
        if (++pings == 3) itself->say(0, FakeDaemon::reply(long_call, "over"));
        return std::vector{FakeDaemon::reply(r, pong())};
    });
    talk.daemon.meet();
    itself = &talk.daemon;
    auto connection = talk.open({10ms, 20s});
    const auto reply = connection.call_json("task.wait", Json::object());
    REQUIRE(reply);
    CHECK(*reply == "over");
    talk.daemon.meet();
    CHECK(pings == 3);
}

TEST_CASE("A refusal of the ping is a sign of life, too") {
    int pings = 0;
    FakeDaemon* itself = nullptr;
    Json long_call;
    Talk talk([&](const Json& r) {
        if (r["method"] == "task.wait") {
            long_call = r;
            return std::vector<std::string>{};
        }
        if (++pings == 2) itself->say(0, FakeDaemon::reply(long_call, "over"));
        return std::vector<std::string>{FakeDaemon::error({{"id", nullptr}}, -32010, "too many connections"), ""};
    });
    talk.daemon.meet();
    itself = &talk.daemon;
    CHECK(talk.open({10ms, 20s}).call_json("task.wait", Json::object()));
}

TEST_CASE("A daemon that answers no ping either is named, with the call that may have begun") {
    Talk talk([](const Json&) { return std::vector<std::string>{}; });
    auto connection = talk.open({10ms, 50ms});
    const auto reply = connection.call_json("task.create", Json::object());
    REQUIRE_FALSE(reply);
    CHECK(reply.error().code == ErrorCode::timeout);
    CHECK(reply.error().details.at("pid") == std::to_string(::getpid()));
    CHECK(reply.error().details.at("method") == "task.create");
    CHECK(reply.error().details.at("busy") == "true");  // it is this process, which computes while it looks at itself
    CHECK_THAT(reply.error().message,
               Tells(std::to_string(::getpid())) && Tells("task.create") && Tells("orange list --all"));
}

TEST_CASE("A daemon that does not take the request, and one that stops listening, are found out like a silent one") {
    test::TemporaryFolder folder;
    const auto socket = folder.path() / "orange.sock";
    const auto address = SocketAddress::in_folder(socket);
    REQUIRE(address);
    const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(::bind(listener, address->get(), address->size()) == 0);
    REQUIRE(::listen(listener, 4) == 0);
    auto first = Connection::open(socket, 5s, {10ms, 50ms});
    auto second = Connection::open(socket, 5s, {10ms, 50ms});
    REQUIRE((first && second));
    const auto reply = first->call_json("task.create", {{"context", std::string(1000 << 10, 'x')}});
    REQUIRE_FALSE(reply);
    CHECK(reply.error().code == ErrorCode::timeout);
    std::filesystem::remove(socket);
    const auto waited = second->wait_for_message(20s);
    REQUIRE(waited);  // it may be about to make its socket anew
    const auto still = second->wait_for_message(20s);
    REQUIRE_FALSE(still);
    CHECK(still.error().code == ErrorCode::timeout);
    ::close(listener);
}

TEST_CASE("A request over the daemon's limit is refused before it is sent") {
    Talk talk([](const Json& r) { return std::vector{FakeDaemon::reply(r, pong())}; });
    auto connection = talk.open();
    const auto reply = connection.call_json("task.create", {{"context", std::string(2 << 20, 'x')}});
    REQUIRE_FALSE(reply);
    CHECK(reply.error().code == ErrorCode::invalid_argument);
    CHECK(connection.call(rpc::DaemonPing{}));
    CHECK(talk.daemon.requests().size() == 1);
}

TEST_CASE("Sending to a daemon that has gone is an error, not a signal") {
    int pair[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    Connection connection(pair[0]);
    ::close(pair[1]);
    const auto reply = connection.call(rpc::DaemonPing{});
    REQUIRE_FALSE(reply);
    CHECK(reply.error().code == ErrorCode::unavailable);
    CHECK(connection.wait_for_end(5s));
}

TEST_CASE("Nobody is talked to in a folder that others may enter") {
    Talk talk([](const Json& r) { return std::vector{FakeDaemon::reply(r, pong())}; });
    std::filesystem::permissions(talk.folder.path(), std::filesystem::perms(0710));
    const auto refused = Connection::open(talk.folder.path() / "orange.sock", 1s);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::forbidden);
    CHECK_THAT(refused.error().message, Tells("chmod 700 " + talk.folder.path().string()));
    std::filesystem::permissions(talk.folder.path(), std::filesystem::perms(0700));
    CHECK(Connection::open(talk.folder.path() / "orange.sock", 5s));
}

TEST_CASE("Another user's program that listens in our folder is not talked to") {
    if (::geteuid() != 0) return;  // only root can be somebody else
    const test::TemporaryFolder folder;
    const auto socket = folder.path() / "orange.sock";
    auto address = SocketAddress::in_folder(socket);
    REQUIRE(address);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(::bind(fd, address->get(), address->size()) == 0);
    // Who listens is who called listen().
    const auto child = ::fork();
    if (child == 0) ::_exit(::setuid(65534) == 0 && ::listen(fd, 4) == 0 ? 0 : 1);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(status == 0);
    const auto refused = Connection::open(socket, 1s);
    ::close(fd);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::forbidden);
    CHECK_THAT(refused.error().message, Tells(socket.string()));
}

TEST_CASE("A daemon whose queue is full is tried again, until there is room or the deadline has passed") {
    const test::TemporaryFolder folder;
    const auto socket = folder.path() / "orange.sock";
    const auto address = SocketAddress::in_folder(socket);
    REQUIRE(address);
    const int listening = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(::bind(listening, address->get(), address->size()) == 0);
    REQUIRE(::listen(listening, 1) == 0);
    std::vector<int> waiting;
    for (;;) {
        waiting.push_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (::connect(waiting.back(), address->get(), address->size()) == 0) continue;
        REQUIRE(errno == EAGAIN);
        break;
    }
    const auto busy = Connection::open(socket, 20ms);
    REQUIRE_FALSE(busy);
    CHECK(busy.error().code == ErrorCode::timeout);
    CHECK_FALSE(busy.error().message.empty());

    std::thread room([&] {
        std::this_thread::sleep_for(50ms);  // it is tried in vain meanwhile; how often does not matter
        waiting.push_back(::accept(listening, nullptr, nullptr));
    });
    const auto opened = Connection::open(socket, 60s);
    room.join();
    CHECK(opened);
    for (const int fd : waiting) ::close(fd);
    ::close(listening);
}

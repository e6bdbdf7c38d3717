#include "daemon/rpc/server.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "common/config/socket_address.hpp"
#include "daemon/process/proc_info.hpp"
#include "daemon/rpc/peer.hpp"
#include "daemon/rpc/stream.hpp"
#include "tests/catch.hpp"
#include "tests/support/advanced_time.hpp"
#include "tests/support/os_fixture.hpp"
#include "tests/unit/rpc_daemon/echo_table.hpp"

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

TEST_CASE("a peer is told with the run whose socket it used, and a run's socket lives until it is taken away") {
    const TempDir dir;
    const rpc::MethodTable table = echo_table();
    rpc::Dispatcher dispatcher(table);
    asio::io_context io;
    std::vector<std::string> peers;
    rpc::Server server(io.get_executor(), dispatcher, [&](rpc::Peer peer) -> Awaitable<Caller> {
        peers.push_back(peer.task.value + "/" + peer.run.value);
        co_return Caller{};
    });
    const auto own = dir / "s", daemon = dir / "orange.sock";
    REQUIRE(server.listen(daemon));
    REQUIRE(server.listen(own, TaskId{"task"}, RunId{"run"}));
    struct stat info {};
    REQUIRE(::stat(own.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
    const auto ask = [&](const Path& socket) {
        const auto address = SocketAddress::in_folder(socket);
        const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (!address || ::connect(fd, address->get(), address->size()) != 0) {
            ::close(fd);
            return false;
        }
        const std::string line = R"({"jsonrpc":"2.0","id":1,"method":"echo.human","params":{"text":"a"}})"
                                 "\n";
        REQUIRE(::send(fd, line.data(), line.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(line.size()));
        char reply[1024];
        const bool answered = eventually([&] {
            io.restart();
            io.poll();
            return ::recv(fd, reply, sizeof reply, MSG_DONTWAIT) > 0;
        });
        ::close(fd);
        return answered;
    };
    CHECK(ask(own));
    CHECK(ask(daemon));
    CHECK(peers == std::vector<std::string>{"task/run", "/"});
    // Its file is replaced: it is no longer this server's, and listening there again is no second socket.
    ::unlink(own.c_str());
    CHECK_FALSE(server.listens_at(own));
    REQUIRE(server.listen(own, TaskId{"task"}, RunId{"run"}));
    CHECK(server.listens_at(own));
    CHECK(ask(own));
    server.unlisten(own);
    CHECK_FALSE(ask(own));
    CHECK(::stat(own.c_str(), &info) != 0);
    CHECK(ask(daemon));
    // The end of the daemon is no end of a run.
    REQUIRE(server.listen(own, TaskId{"task"}, RunId{"run"}));
    server.stop();
    CHECK(::stat(own.c_str(), &info) == 0);
    CHECK(::stat(daemon.c_str(), &info) != 0);
    CHECK_FALSE(ask(own));
    io.stop();
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
    CHECK(peer->start_time == process::start_time(::getpid()));

    const auto child = ::fork();
    if (child == 0) ::_exit(connect() >= 0 ? 0 : 1);
    REQUIRE(eventually([&] { return !process::start_time(child); }));  // a zombie
    const int second = ::accept(listening, nullptr, nullptr);
    const auto ended = rpc::peer_of(second);
    REQUIRE(ended);
    CHECK(ended->pid == child);
    CHECK(ended->start_time == rpc::k_gone);
    ::waitpid(child, nullptr, 0);
    for (const int fd : {mine, first, second, listening}) ::close(fd);
}

namespace {

/// A server on a socket of its own, run by the test a bit at a time.
struct Listening {
    explicit Listening(rpc::Limits limits, rpc::MethodTable methods = echo_table())
        : table(std::move(methods)), server(io.get_executor(), dispatcher, nobody, limits) {
        REQUIRE(server.listen(dir / "orange.sock"));
    }
    ~Listening() {
        server.stop();
        io.stop();
    }
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;

    /// Lets it work until that holds.
    bool until(const std::function<bool()>& holds) {
        return eventually([&] {
            io.restart();
            io.poll();
            return holds();
        });
    }

    TempDir dir;
    asio::io_context io;
    const rpc::MethodTable table;
    rpc::Dispatcher dispatcher{table};
    rpc::Server server;
};

std::string request(const std::string& word) {
    return R"({"jsonrpc":"2.0","id":1,"method":"echo.read","params":{"text":")" + word + "\"}}";
}

std::string requests(const std::string& word, int count) {
    std::string lines;
    for (int i = 0; i < count; ++i) lines += request(word) + "\n";
    return lines;
}

std::string batches(const std::string& word, int count, int size) {
    std::string batch = "[" + request(word);
    for (int i = 1; i < size; ++i) batch += "," + request(word);
    std::string lines;
    for (int i = 0; i < count; ++i) lines += batch + "]\n";
    return lines;
}

/// A client that never waits.
struct Client {
    explicit Client(Listening& to) : listening(to), fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const auto address = SocketAddress::in_folder(to.dir / "orange.sock");
        REQUIRE(address);
        REQUIRE(::connect(fd, address->get(), address->size()) == 0);
    }
    ~Client() { close(); }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;
    void close() {
        if (fd >= 0) ::close(std::exchange(fd, -1));
    }

    void ask(const std::string& word) const { send(request(word) + "\n"); }
    void send(const std::string& lines) const {
        REQUIRE(::send(fd, lines.data(), lines.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(lines.size()));
    }
    void read_what_is_there() {
        char chunk[65536];
        ssize_t size = 0;
        while ((size = ::recv(fd, chunk, sizeof chunk, MSG_DONTWAIT)) > 0) {
            text.append(chunk, static_cast<std::size_t>(size));
        }
        closed = size == 0;
    }
    /// The next line; empty where the other end closes.
    std::string line() {
        listening.until([&] {
            read_what_is_there();
            return closed || text.find('\n') != std::string::npos;
        });
        const auto end = text.find('\n');
        if (end == std::string::npos) return {};
        const auto found = text.substr(0, end);
        text.erase(0, end + 1);
        return found;
    }
    std::string said(const std::string& word) {
        ask(word);
        const auto reply = Json::parse(line());
        return reply.contains("result") ? reply["result"]["said"].get<std::string>() : dump(reply);
    }

    Listening& listening;
    int fd;
    std::string text;
    bool closed = false;
};

void check_refusal(const std::string& line, const std::string& fact) {
    REQUIRE_FALSE(line.empty());
    const auto reply = Json::parse(line);
    CHECK(reply["id"].is_null());
    CHECK(reply["error"]["code"] == -32012);
    CHECK_THAT(reply["error"]["message"].get<std::string>(), Tells(fact));
}

}  // namespace

TEST_CASE("a connection beyond the limit is refused with a sentence, and taken when there is room") {
    rpc::Limits limits;
    limits.connections = 2;
    Listening listening(limits);
    Client one(listening), two(listening), three(listening);
    check_refusal(three.line(), "2");
    CHECK(three.line().empty());
    CHECK(three.closed);
    CHECK(one.said("a") == "a");
    CHECK(two.said("b") == "b");
    two.close();
    CHECK(listening.until([&] { return listening.server.connections() == 1; }));
    Client four(listening);
    CHECK(four.said("c") == "c");
}

TEST_CASE("without a descriptor for another connection, who waits is told so, and the next one is taken", "[slow]") {
    Listening listening({});
    Client one(listening), two(listening), three(listening);
    CHECK(one.said("a") == "a");
    CHECK(listening.until([&] { return listening.server.connections() == 3; }));
    Client four(listening), five(listening);
    {
        const NoDescriptors none;
        check_refusal(four.line(), "descriptor");
        check_refusal(five.line(), "descriptor");
        CHECK(two.said("b") == "b");
        CHECK(listening.server.connections() == 3);
    }
    Client six(listening);
    CHECK(six.said("c") == "c");
}

TEST_CASE("a client that reads nothing of what is there for it is dropped with the reason, others are not") {
    TestTime time;
    const rpc::Limits limits;
    Listening listening(limits);
    Client idle(listening), reads(listening), does_not(listening);
    CHECK(idle.said("a") == "a");
    const std::string much(900'000, 'x');  // more than a socket holds
    const auto ask_much = [&](Client& client) {
        const auto line = R"({"jsonrpc":"2.0","id":1,"method":"echo.read","params":{"text":")" + much + "\"}}\n";
        std::size_t sent = 0;
        REQUIRE(listening.until([&] {
            const auto n = ::send(client.fd, line.data() + sent, line.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
            if (n > 0) sent += static_cast<std::size_t>(n);
            return sent == line.size();
        }));
    };
    ask_much(does_not);
    ask_much(reads);
    REQUIRE(listening.until([&] {
        reads.read_what_is_there();
        return reads.text.ends_with('\n');
    }));
    REQUIRE(listening.until([] { return true; }));  // the server has seen that all was written
    listening.server.check_clients();
    CHECK(listening.server.connections() == 3);
    time.advance(limits.patience);
    listening.server.check_clients();
    (void)does_not.line();  // the reply, whose beginning had been written
    const auto last = Json::parse(does_not.line());
    CHECK(last["method"] == "dropped");
    CHECK_FALSE(last["params"]["reason"].get<std::string>().empty());
    CHECK(does_not.line().empty());
    CHECK(does_not.closed);
    CHECK_FALSE(reads.line().empty());
    CHECK(reads.said("b") == "b");
    CHECK(idle.said("c") == "c");
}

TEST_CASE("a pair of pipes is served like a socket: in turn, up to the end of its input, and while somebody reads") {
    Listening listening({});
    int requests_of[2], replies_of[2];
    REQUIRE(::pipe2(requests_of, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(replies_of, O_CLOEXEC) == 0);
    ::fcntl(replies_of[0], F_SETFL, O_NONBLOCK);
    listening.server.serve(rpc::stream_over(listening.io.get_executor(), requests_of[0], replies_of[1]), {});
    Client socket(listening);
    CHECK(socket.said("a") == "a");
    CHECK(listening.server.connections() == 2);
    const auto write = [&](const std::string& lines) {
        REQUIRE(::write(requests_of[1], lines.data(), lines.size()) == static_cast<ssize_t>(lines.size()));
    };
    std::string text;
    bool at_end = false;
    const auto read_until = [&](const std::function<bool()>& holds) {
        return listening.until([&] {
            char chunk[65536];
            ssize_t size = 0;
            while ((size = ::read(replies_of[0], chunk, sizeof chunk)) > 0) {
                text.append(chunk, static_cast<std::size_t>(size));
            }
            at_end = size == 0;
            return holds();
        });
    };
    const auto line = request("b");
    write(line.substr(0, 20));
    write(line.substr(20) + "\n\n" + batches("c", 1, 3));
    CHECK(read_until([&] { return std::ranges::count(text, '\n') == 2; }));
    CHECK_THAT(text, Holds("\"b\""));
    // All requests before the end of the input are answered.
    text.clear();
    write(requests(std::string(300, 'd'), 150));
    ::close(requests_of[1]);
    CHECK(read_until([&] { return at_end; }));
    CHECK(std::ranges::count(text, '\n') == 150);
    CHECK(listening.until([&] { return listening.server.connections() == 1; }));
    ::close(replies_of[0]);
    CHECK(socket.said("e") == "e");
}

TEST_CASE("the limit of connections leaves a quarter of the descriptors to files and children") {
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const rlimit few{400, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    const auto limits = rpc::Limits::of_process();
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(limits.connections == 300);
    CHECK(rpc::Limits{}.connections == 16'384);
}

namespace {

/// `echo.read` takes down what it was asked, in the order in which calls were begun.
rpc::MethodTable noting_table(std::vector<std::string>& begun) {
    rpc::MethodTable table;
    table.add<Echo<0>>(rpc::Access::read, "Says it.", {},
                       [&begun](Echo<0> params, rpc::Call) -> Awaitable<Result<EchoReply>> {
                           begun.push_back(params.text);
                           co_return EchoReply{params.text, ""};
                       });
    return table;
}

constexpr std::size_t k_long = 50'000;

/// `echo.read` gives 50,000 bytes back.
rpc::MethodTable long_table() {
    rpc::MethodTable table;
    table.add<Echo<0>>(rpc::Access::read, "Says much.", {}, [](Echo<0>, rpc::Call) -> Awaitable<Result<EchoReply>> {
        co_return EchoReply{std::string(k_long, 'x'), ""};
    });
    return table;
}

/// `echo.read` sends ten megabytes of events.
rpc::MethodTable event_table() {
    rpc::MethodTable table;
    table.add<Echo<0>>(rpc::Access::read, "Sends events.", {},
                       [](Echo<0>, rpc::Call call) -> Awaitable<Result<EchoReply>> {
                           for (int i = 0; i < 10; ++i)
                               call.sink->notify("event", {{"text", std::string(1 << 20, 'x')}});
                           co_return EchoReply{};
                       });
    return table;
}

}  // namespace

TEST_CASE("between two calls of one connection each other connection begins one at most") {
    std::vector<std::string> begun;
    Listening listening({}, noting_table(begun));
    Client single(listening), batch(listening), good(listening);
    single.send(requests("single", 300));
    batch.send(batches("batch", 10, 100));
    good.send(requests("good", 60));
    REQUIRE(listening.until([&] {
        for (auto* client : {&single, &batch, &good}) client->read_what_is_there();
        return begun.size() == 300 + 1000 + 60;
    }));
    std::map<std::string, int> since;
    bool seen = false;
    for (const auto& word : begun) {
        if (word != "good") {
            ++since[word];
            continue;
        }
        if (seen) CHECK((since["single"] <= 1 && since["batch"] <= 1));
        since.clear();
        seen = true;
    }
}

TEST_CASE(
    "a client that asks one thing at a time waits for one call of each other connection, however many they send") {
    std::vector<std::string> begun;
    Listening listening({}, noting_table(begun));
    std::vector<std::unique_ptr<Client>> others;
    for (int i = 0; i < 20; ++i) others.push_back(std::make_unique<Client>(listening));
    Client good(listening);
    for (int round = 0; round < 3; ++round) {
        begun.clear();
        for (auto& other : others) other->send(requests("other", 200));
        good.ask("good");
        REQUIRE(listening.until([&] {
            for (auto& other : others) other->read_what_is_there();
            good.read_what_is_there();
            return begun.size() == 20 * 200 + 1;
        }));
        (void)good.line();
        // One of each while it waits for its turn, and what begins while its request is being read.
        CHECK(std::find(begun.begin(), begun.end(), "good") - begun.begin() <= 2 * std::ssize(others));
    }
}

TEST_CASE("of a client that does not read, no more requests are begun, and all are answered when it reads on") {
    Listening listening({}, long_table());
    Client other(listening), does_not(listening);
    does_not.send(requests("a", 300));
    for (int i = 0; i < 50; ++i) {
        other.ask("b");
        CHECK_FALSE(other.line().empty());
        CHECK(listening.server.held() < (256 << 10) + 3 * k_long);
    }
    for (int i = 0; i < 300; ++i) CHECK(does_not.line().size() > k_long);
    CHECK(listening.until([&] { return listening.server.held() == 0; }));
}

TEST_CASE("what is held for all clients together has a limit, at which one reply each is held", "[slow]") {
    rpc::Limits limits;
    limits.held = 1 << 20;
    Listening listening(limits, long_table());
    std::vector<std::unique_ptr<Client>> silent;
    for (int i = 0; i < 40; ++i) {
        silent.push_back(std::make_unique<Client>(listening));
        silent.back()->send(requests("a", 20));
    }
    Client good(listening);
    for (int i = 0; i < 100; ++i) {
        good.ask("b");
        CHECK_FALSE(good.line().empty());
        CHECK(listening.server.held() < limits.held + 42 * 2 * k_long);
    }
    for (auto& client : silent) {
        for (int i = 0; i < 20; ++i) CHECK(client->line().size() > k_long);
    }
}

TEST_CASE("beyond what may be held at all, clients that have read nothing for the longest time are closed") {
    rpc::Limits limits;
    limits.most_held = 1 << 20;
    Listening listening(limits, long_table());
    std::vector<std::unique_ptr<Client>> silent;
    for (int i = 0; i < 20; ++i) {
        silent.push_back(std::make_unique<Client>(listening));
        silent.back()->send(requests("a", 20));
    }
    Client good(listening);
    for (int i = 0; i < 100; ++i) {
        good.ask("b");
        CHECK_FALSE(good.line().empty());
        CHECK(listening.server.held() < limits.most_held + 2 * k_long);
    }
    const auto left = listening.server.connections();
    CHECK(left > 1);
    CHECK(left < silent.size() + 1);
}

TEST_CASE("a client that does not read its events is dropped with the reason") {
    Listening listening({}, event_table());
    Client does_not(listening);
    does_not.ask("go");
    std::string line;
    do {
        line = does_not.line();
    } while (line.size() > (1 << 20));
    const auto last = Json::parse(line);
    CHECK(last["method"] == "dropped");
    CHECK_THAT(last["params"]["reason"].get<std::string>(), Tells("8"));
    CHECK_THAT(last["params"]["reason"].get<std::string>(), Tells("since"));
}

TEST_CASE("an event has reached its reader before the call that caused it goes on") {
    int reader = -1;
    bool there = false;
    rpc::MethodTable table;
    table.add<Echo<0>>(rpc::Access::read, "Sends an event.", {},
                       [&](Echo<0>, rpc::Call call) -> Awaitable<Result<EchoReply>> {
                           call.sink->notify("event", {{"text", "now"}});
                           pollfd look{reader, POLLIN, 0};
                           there = ::poll(&look, 1, 0) == 1;
                           co_return EchoReply{"done", ""};
                       });
    Listening listening({}, std::move(table));
    Client client(listening);
    reader = client.fd;
    client.ask("go");
    CHECK(Json::parse(client.line())["method"] == "event");
    CHECK(there);
    CHECK(Json::parse(client.line())["result"]["said"] == "done");
}

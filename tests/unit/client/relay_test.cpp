#include "client/connection/relay.hpp"

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "common/base/system.hpp"
#include "common/rpc/daemon_methods.hpp"
#include "tests/catch.hpp"
#include "tests/unit/client/fake_daemon.hpp"

using namespace orange;
using namespace orange::test;

namespace {

/// A relay in a thread of its own, and the test as its client.
struct RelayClient {
    RelayClient(const Paths& paths, std::chrono::milliseconds ping) {
        REQUIRE(system::make_pipe(in) == 0);
        REQUIRE(system::make_pipe(out) == 0);
        thread = std::thread([this, paths, ping] {
            connection::Relay relay(paths, {in[0], out[1], false, ping});
            ended = relay.run();
            ::close(out[1]);
        });
    }
    ~RelayClient() {
        ::close(in[1]);
        if (thread.joinable()) thread.join();
        ::close(in[0]);
        ::close(out[0]);
    }
    RelayClient(const RelayClient&) = delete;
    RelayClient& operator=(const RelayClient&) = delete;

    void say(const std::string& line) const {
        const auto bytes = line + "\n";
        REQUIRE(::write(in[1], bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    }
    /// The next line; null at the end.
    Json hear() {
        while (text.find('\n') == std::string::npos) {
            char chunk[65536];
            const auto size = ::read(out[0], chunk, sizeof chunk);
            if (size <= 0) return {};
            text.append(chunk, static_cast<std::size_t>(size));
        }
        const auto end = text.find('\n');
        auto line = Json::parse(text.substr(0, end));
        text.erase(0, end + 1);
        return line;
    }

    int in[2], out[2];
    std::string text;
    std::thread thread;
    Result<void> ended;
};

std::vector<std::string> answer_ping(const Json& request) {
    return {FakeDaemon::reply(request, {{"version", "1"}, {"pid", 7}})};
}

}  // namespace

TEST_CASE("A relay pings a silent client, goes on while it answers, and ends when it does not") {
    const TemporaryFolder folder;
    const Paths paths{folder.path()};
    const FakeDaemon daemon(paths.socket(), answer_ping);
    RelayClient client(paths, std::chrono::milliseconds(200));
    CHECK(client.hear().at("method") == "hello");
    for (int i = 0; i < 5; ++i) {  // longer than a client may be silent
        const auto ping = client.hear();
        REQUIRE(ping.value("method", "") == "ping");
        client.say(dump({{"jsonrpc", "2.0"}, {"id", ping.at("id")}, {"result", Json::object()}}));
    }
    auto last = client.hear();
    while (last.value("method", "") == "ping") last = client.hear();
    CHECK(last.at("error").at("data").at("name") == "timeout");
    CHECK(last.at("id").is_null());
    CHECK(client.hear().is_null());
    client.thread.join();
    REQUIRE_FALSE(client.ended);
    CHECK(client.ended.error().code == ErrorCode::timeout);
    // The daemon has seen nothing of it.
    CHECK(daemon.requests().size() == 1);
}

TEST_CASE("A ping that comes in the middle of a line of the daemon's is told behind it") {
    const TemporaryFolder folder;
    const Paths paths{folder.path()};
    const std::string half = R"({"jsonrpc":"2.0","method":"event","params":)";
    FakeDaemon daemon(paths.socket(), [&](const Json& request) -> std::vector<std::string> {
        const auto method = request.at("method").get<std::string>();
        if (method == rpc::DaemonPing::k_name) return answer_ping(request);
        if (method == "first") return {half};
        return {"{}}\n"};
    });
    RelayClient client(paths, std::chrono::minutes(1));
    CHECK(client.hear().at("method") == "hello");
    client.say(R"({"jsonrpc":"2.0","id":1,"method":"first"})");
    // What has come of the line is passed on at once.
    while (client.text.find(half) == std::string::npos) {
        char chunk[4096];
        const auto size = ::read(client.out[0], chunk, sizeof chunk);
        REQUIRE(size > 0);
        client.text.append(chunk, static_cast<std::size_t>(size));
    }
    client.say(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
    client.say(R"({"jsonrpc":"2.0","id":3,"method":"second"})");
    CHECK(client.hear().at("method") == "event");
    CHECK(client.hear().at("id") == 2);
}

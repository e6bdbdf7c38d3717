#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <future>
#include <string>

#include "client/commands/listener.hpp"
#include "client/commands/walls.hpp"
#include "tests/catch.hpp"

// The steps of `orange executor test`: what they make of what the demo agent saw and reached.
namespace orange::commands {
namespace {

constexpr const char* k_spoken = "files hidden\nhttp spoken\nlisted fatal: no\n";

/// Asks a port of 127.0.0.1 as HTTP is asked, and returns the answer.
std::string answer_of_port(int port) {
    const UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<in_port_t>(port));
    if (::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return {};
    const std::string request = "GET / HTTP/1.0\r\n\r\n";
    if (::send(client.get(), request.data(), request.size(), 0) < 0) return {};
    std::string answer;
    char piece[512];
    for (ssize_t got = 0; (got = ::recv(client.get(), piece, sizeof piece, 0)) > 0;) {
        answer.append(piece, static_cast<std::size_t>(got));
    }
    return answer;
}

}  // namespace

TEST_CASE("A limited network passes only if the one place of its list was reached, and nothing else") {
    CHECK(network_finding(true, {true, false, false}, k_spoken).verdict == Verdict::pass);
    CHECK(network_finding(false, {false, false, false}, k_spoken).verdict == Verdict::pass);

    const auto closed = network_finding(true, {false, false, false}, k_spoken);
    CHECK(closed.verdict == Verdict::fail);
    CHECK_THAT(closed.detail, Holds("fatal: no"));
    CHECK_FALSE(closed.change.empty());
    CHECK(network_finding(true, {true, true, false}, k_spoken).verdict == Verdict::fail);
    CHECK(network_finding(true, {true, false, true}, k_spoken).verdict == Verdict::fail);
    CHECK(network_finding(false, {true, false, false}, k_spoken).verdict == Verdict::fail);
    CHECK(network_finding(false, {false, false, true}, k_spoken).verdict == Verdict::fail);

    // An agent that did not try has reached nothing.
    CHECK(network_finding(true, {false, false, false}, "files hidden\n").verdict == Verdict::unknown);
    CHECK(network_finding(false, {false, false, false}, "").verdict == Verdict::unknown);
    // A port that was reached counts, whatever the agent says.
    CHECK(network_finding(false, {false, true, false}, "").verdict == Verdict::fail);
}

TEST_CASE("A limit passes if it held, and fails only if the definition claims it") {
    const auto& processes = k_tried_limits[0];
    const auto& disk = k_tried_limits[1];
    CHECK(limit_finding(processes, false, "started 194\n").verdict == Verdict::pass);
    CHECK(limit_finding(processes, true, "started 194\n").verdict == Verdict::pass);
    CHECK(limit_finding(processes, false, "started 250\n").verdict == Verdict::unknown);
    const auto open = limit_finding(processes, true, "started 250\n");
    CHECK(open.verdict == Verdict::fail);
    CHECK_THAT(open.detail, Holds("250"));
    CHECK_THAT(open.change, Holds("limits.processes"));
    CHECK(limit_finding(disk, true, "disk 67108864\n").verdict == Verdict::pass);
    CHECK(limit_finding(disk, true, "disk 83886080\n").verdict == Verdict::fail);

    // Something else was the limit, or the agent could not try it.
    for (const char* seen : {"started 12\n", "started 0\n", "started \n", "started x\n", "disk 5\n", ""}) {
        INFO(seen);
        CHECK(limit_finding(processes, true, seen).verdict == Verdict::unknown);
        CHECK(limit_finding(disk, true, seen).verdict == Verdict::unknown);
    }
}

TEST_CASE("A listener of a trial answers whoever asks it, and knows that it was reached") {
    auto opened = Listener::open();
    auto other = Listener::open();
    REQUIRE(opened);
    REQUIRE(other);
    auto answer = std::async(std::launch::async, [port = opened->port()] { return answer_of_port(port); });
    while (answer.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
        opened->answer();
        other->answer();
    }
    CHECK(opened->was_reached());
    CHECK_THAT(answer.get(), Holds("404"));
    CHECK_FALSE(other->was_reached());
}

}  // namespace orange::commands

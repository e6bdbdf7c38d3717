#include "common/config/cluster_address.hpp"

#include <unistd.h>

#include "tests/catch.hpp"

using namespace orange;

TEST_CASE("An address of a cluster is an IP address, with a port or without") {
    struct Row {
        const char* text;
        const char* host;
        const char* whole;
    };
    const Row rows[] = {
        {"10.0.0.1", "10.0.0.1", "10.0.0.1:0"},
        {"10.0.0.1:7070", "10.0.0.1", "10.0.0.1:7070"},
        {"fd00::1", "fd00::1", "[fd00::1]:0"},
        {"[fd00::1]:7070", "fd00::1", "[fd00::1]:7070"},
    };
    for (const auto& row : rows) {
        INFO(row.text);
        const auto address = ClusterAddress::parse(row.text);
        REQUIRE(address);
        CHECK(address->host() == row.host);
        CHECK(address->text() == row.whole);
        CHECK(ClusterAddress::parse(address->text())->text() == row.whole);
    }
    for (const char* text : {"", "login", "login.example.org:7070", "10.0.0.1:", "10.0.0.1:x", "10.0.0.1:-1",
                             "10.0.0.1:70000", "10.0.0.1:7 ", "[fd00::1", "[fd00::1]7070", "[]:1", "fd00:::1",
                             // These name no one machine.
                             "0.0.0.0", "0.0.0.0:7070", "::", "[::]:7070", "[::ffff:0.0.0.0]:7070", "224.0.0.1",
                             "255.255.255.255:7070", "ff02::1"}) {
        INFO(text);
        CHECK_FALSE(ClusterAddress::parse(text));
    }
}

TEST_CASE("A socket is bound to that address, and the kernel chooses the port that is not named") {
    auto address = ClusterAddress::parse("127.0.0.1").value();
    const int socket = address.make_socket();
    REQUIRE(address.bind(socket) == 0);
    const auto own = ClusterAddress::own_of(socket);
    CHECK(own.host() == "127.0.0.1");
    CHECK(own.text() != "127.0.0.1:0");
    ::close(socket);
}

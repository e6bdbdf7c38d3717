#include <arpa/inet.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/base/text.hpp"
#include "common/model/network.hpp"
#include "daemon/shim/proxy.hpp"
#include "tests/catch.hpp"

using namespace orange;

namespace {

std::vector<NetworkPlace> places_of(const std::string& list) {
    return network_in(list).value().places;
}

/// Returns the lines of the configuration that begin so.
std::vector<std::string> config_lines(const std::string& list, const std::string& beginning) {
    std::vector<std::string> lines;
    const auto config = proxy_config(places_of(list), 4000);
    for (const auto line : split_lines(config)) {
        if (line.starts_with(beginning)) lines.emplace_back(line);
    }
    return lines;
}

/// Returns the bits of an address, as text.
std::string bits_of(const std::string& address) {
    const bool is_six = address.find(':') != std::string::npos;
    unsigned char bytes[sizeof(in6_addr)];
    REQUIRE(::inet_pton(is_six ? AF_INET6 : AF_INET, address.c_str(), bytes) == 1);
    std::string bits = is_six ? "six " : "four ";
    for (int i = 0; i < (is_six ? 16 : 4); ++i) {
        for (int bit = 7; bit >= 0; --bit) bits += (bytes[i] >> bit & 1) != 0 ? '1' : '0';
    }
    return bits;
}

/// Returns true if no name may lead to the address.
bool is_inside(const std::string& list, const std::string& address) {
    const std::string beginning = "acl inside dst ";
    const auto lines = config_lines(list, beginning);
    return std::ranges::any_of(lines, [&](const std::string& line) {
        const auto slash = line.find('/');
        const auto range = bits_of(line.substr(beginning.size(), slash - beginning.size()));
        const auto family = range.find(' ') + 1;
        return bits_of(address).starts_with(range.substr(0, family + std::stoul(line.substr(slash + 1))));
    });
}

}  // namespace

TEST_CASE("squid permits each place on its ports, and everything else is refused at the end") {
    const std::string list = "api.example.org .example.net:8443 10.1.2.3/24:22 [fd00::1]";
    CHECK(config_lines(list, "http_port") == std::vector<std::string>{"http_port 127.0.0.1:4000"});
    CHECK(config_lines(list, "acl place") ==
          std::vector<std::string>{"acl place0 dstdomain -n api.example.org", "acl place1 dstdomain -n .example.net",
                                   "acl place2 dst -n 10.1.2.3/24", "acl place3 dst -n fd00::1/128"});
    CHECK(config_lines(list, "acl port") == std::vector<std::string>{"acl port0 port 80 443", "acl port1 port 8443",
                                                                     "acl port2 port 22", "acl port3 port 80 443"});
    const std::vector<std::string> rules = {"http_access deny manager",
                                            "http_access deny !web !tunnel",
                                            "http_access allow place0 port0 !inside",
                                            "http_access deny place0 port0 told",
                                            "http_access allow place1 port1 !inside",
                                            "http_access deny place1 port1 told",
                                            "http_access allow place2 port2",
                                            "http_access allow place3 port3",
                                            "http_access deny all"};
    CHECK(config_lines(list, "http_access") == rules);
}

TEST_CASE("no name leads to an address of this machine, of a private network, or of no single machine") {
    for (const char* address : {"0.0.0.0",
                                "10.0.0.0",
                                "10.255.255.255",
                                "100.64.0.1",
                                "100.127.255.255",
                                "127.0.0.1",
                                "127.255.255.255",
                                "169.254.169.254",
                                "172.16.0.1",
                                "172.31.255.255",
                                "192.0.0.1",
                                "192.168.0.1",
                                "198.18.0.1",
                                "224.0.0.1",
                                "240.0.0.1",
                                "255.255.255.255",
                                "::",
                                "::1",
                                "::7f00:1",
                                "64:ff9b::7f00:1",
                                "64:ff9b:1::1",
                                "100::1",
                                "2001::1",
                                "2001:db8::1",
                                "2002:7f00:1::1",
                                "4000::1",
                                "fc00::1",
                                "fdff::1",
                                "fe80::1",
                                "fec0::1",
                                "ff02::1",
                                "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}) {
        INFO(address);
        CHECK(is_inside("example.org", address));
    }
    for (const char* address :
         {"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
          "128.0.0.1", "169.253.255.255", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0",
          "223.255.255.255", "2001:200::1", "2003::1", "2606:4700::1111", "2a00:1450::1"}) {
        INFO(address);
        CHECK_FALSE(is_inside("example.org", address));
    }
}

TEST_CASE("a name may lead to exactly those inner addresses that the list has") {
    const std::string list = "example.org 10.1.2.3 10.2.0.0/16:5432 [fd00::1]";
    for (const char* address : {"10.1.2.3", "10.2.0.0", "10.2.255.255", "fd00::1"}) {
        INFO(address);
        CHECK_FALSE(is_inside(list, address));
    }
    for (const char* address : {"10.1.2.2", "10.1.2.4", "10.0.0.0", "10.255.255.255", "10.1.255.255", "10.3.0.0",
                                "127.0.0.1", "192.168.0.1", "fd00::", "fd00::2", "fc00::1", "fdff::1", "::1"}) {
        INFO(address);
        CHECK(is_inside(list, address));
    }
    CHECK_FALSE(is_inside("0.0.0.0/0", "127.0.0.1"));
    CHECK(is_inside("0.0.0.0/0", "::1"));
    CHECK_FALSE(is_inside("10.0.0.0/7", "10.0.0.1"));
}

TEST_CASE("no inner address of IPv6 stands for one of IPv4, which squid would take for a range of its own") {
    CHECK_FALSE(is_inside("example.org", "::ffff:127.0.0.1"));
    CHECK_FALSE(is_inside("example.org", "::ffff:8.8.8.8"));
    CHECK(is_inside("example.org", "::fffe:ffff:ffff"));
    CHECK(is_inside("example.org", "::1:0:0:0"));
}

TEST_CASE("each line of the configuration is one that squid reads whole, and a plain one has only what all know") {
    std::string list;
    for (int i = 0; i < 200; ++i)
        list += std::string(60, 'a') + std::to_string(i) + "." + std::string(60, 'b') + ".org ";
    for (const auto line : split_lines(proxy_config(places_of(list), 4000))) CHECK(line.size() < 1000);
    const auto plain = proxy_config(places_of("example.org"), 4000, true);
    for (const char* optional : {"pinger_enable", "netdb_filename", "via"}) {
        CHECK(plain.find(std::string("\n") + optional) == std::string::npos);
        CHECK(proxy_config(places_of("example.org"), 4000).find(std::string("\n") + optional) != std::string::npos);
    }
}

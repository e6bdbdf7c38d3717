#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "daemon/process/environment.hpp"
#include "daemon/shim/proxy.hpp"

namespace orange {
namespace {

/// The addresses that begin with the same bits.
struct Prefix {
    bool is_six = false;
    std::array<unsigned char, sizeof(in6_addr)> bytes{};
    std::size_t length = 0;

    /// `text`: an address, perhaps with the length of the prefix. It has been checked (network_in()).
    explicit Prefix(const std::string& text) : is_six(text.find(':') != text.npos), length(is_six ? 128 : 32) {
        const auto slash = text.find('/');
        ::inet_pton(is_six ? AF_INET6 : AF_INET, text.substr(0, slash).c_str(), bytes.data());
        if (slash != text.npos) length = std::stoul(text.substr(slash + 1));
    }

    bool bit(std::size_t at) const { return (bytes[at / 8] >> (7 - at % 8) & 1) != 0; }
    bool contains(const Prefix& other) const {
        if (is_six != other.is_six || length > other.length) return false;
        std::size_t same = 0;
        while (same < length && bit(same) == other.bit(same)) ++same;
        return same == length;
    }
    Prefix half(bool upper) const {
        auto half = *this;
        const auto mask = static_cast<unsigned char>(1 << (7 - length % 8));
        auto& byte = half.bytes[length / 8];
        byte = static_cast<unsigned char>(upper ? byte | mask : byte & ~mask);
        ++half.length;
        return half;
    }
    std::string text() const {
        char address[INET6_ADDRSTRLEN] = "";
        ::inet_ntop(is_six ? AF_INET6 : AF_INET, bytes.data(), address, sizeof address);
        return address + ("/" + std::to_string(length));
    }
};

/// Adds `range` without the `listed` prefixes to `rest`.
void subtract(const Prefix& range, const std::vector<Prefix>& listed, std::vector<std::string>& rest) {
    if (std::ranges::any_of(listed, [&](const Prefix& each) { return each.contains(range); })) return;
    if (std::ranges::none_of(listed, [&](const Prefix& each) { return range.contains(each); })) {
        return rest.push_back(range.text());
    }
    for (const bool upper : {false, true}) subtract(range.half(upper), listed, rest);
}

/// Returns the addresses that no name may lead to: of this machine, of private networks, of several machines, reserved
/// ones, and those of IPv6 in which one of IPv4 may be. A name whose answers have one of them is refused, so what the
/// list names is not among them.
std::vector<std::string> inner_addresses(const std::vector<NetworkPlace>& places) {
    std::vector<Prefix> listed;
    for (const auto& place : places) {
        if (place.is_address) listed.emplace_back(place.host);
    }
    listed.emplace_back("::ffff:0:0/96");  // squid takes it for IPv4
    std::vector<std::string> inner;
    for (const char* range :
         {"0.0.0.0/8",      "10.0.0.0/8",   "100.64.0.0/10",  "127.0.0.0/8",    "169.254.0.0/16", "172.16.0.0/12",
          "192.0.0.0/24",   "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",  "198.51.100.0/24",
          "203.0.113.0/24", "224.0.0.0/3",  "::/3",           "2001::/23",      "2001:db8::/32",  "2002::/16",
          "3fff::/20",      "4000::/2",     "8000::/1"}) {
        subtract(Prefix(range), listed, inner);
    }
    return inner;
}

/// Each place follows. Requests are those of HTTP, or for a tunnel: not those for which squid itself speaks FTP.
constexpr const char* k_rules = R"(acl web proto HTTP
acl tunnel method CONNECT
acl told annotate_transaction inside=yes
http_access deny manager
http_access deny !web !tunnel
)";
/// A name may get other addresses between the permission and the connection. squid then begins the connection at
/// an address for documentation, which no machine has, so that it fails. A buffer that gets full ends an upload
/// (squid's bug 5405).
constexpr const char* k_settings = R"(http_access deny all
tcp_outgoing_address 192.0.2.1 inside
tcp_outgoing_address 2001:db8::1 inside
visible_hostname orange-proxy
cache deny all
cache_mem 0
pid_filename none
cache_log /dev/null
coredump_dir none
shutdown_lifetime 0 seconds
read_timeout 1 day
client_lifetime 30 days
client_request_buffer_max_size 64 MB
global_internal_static off
httpd_suppress_version_string on
forwarded_for delete
max_filedescriptors 4096
)";
constexpr const char* k_optional = R"(via off
memory_pools off
client_db off
pinger_enable off
netdb_filename none
)";

}  // namespace

std::string find_squid(std::string_view path) {
    return find_program("squid", joined_path(path, "/usr/sbin:/usr/local/sbin:/sbin"));
}

std::string proxy_config(const std::vector<NetworkPlace>& places, int port, bool is_plain) {
    auto config = "http_port 127.0.0.1:" + std::to_string(port) + "\n" + k_rules;
    for (const auto& range : inner_addresses(places)) config += "acl inside dst " + range + "\n";
    for (std::size_t i = 0; i < places.size(); ++i) {
        const auto& place = places[i];
        const auto number = std::to_string(i), both = "place" + number + " port" + number;
        const auto host = place.is_address ? "dst -n " + Prefix(place.host).text() : "dstdomain -n " + place.host;
        config += "acl place" + number + " " + host + "\n";
        config += "acl port" + number + " port " + (place.port ? std::to_string(*place.port) : "80 443") + "\n";
        config += "http_access allow " + both + (place.is_address ? "\n" : " !inside\n");
        // squid does not resolve a name that is not permitted.
        if (!place.is_address) config += "http_access deny " + both + " told\n";
    }
    config += k_settings;
    config += "logformat orange " + std::string(k_squid_line) + " %Ss %rm %'>rd %>rP %note{inside}\n";
    config += "access_log stdio:/dev/stderr logformat=orange\n";
    return is_plain ? config : config + k_optional;
}

}  // namespace orange

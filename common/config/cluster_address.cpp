#include "common/config/cluster_address.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <cstring>

#include "common/base/text.hpp"

namespace orange {
namespace {

/// Returns true for an address at which other machines reach no one machine: 0.0.0.0, `::`, and addresses of groups.
/// Bound to the first two, a socket would be open to all networks of this machine.
bool is_nowhere(const sockaddr_storage& raw) {
    const void* any = &raw;
    const auto first = [](const void* bytes) { return *static_cast<const unsigned char*>(bytes); };
    const auto is_nowhere_v4 = [&](const void* bytes) { return first(bytes) == 0 || first(bytes) >= 224; };
    if (raw.ss_family == AF_INET) return is_nowhere_v4(&static_cast<const sockaddr_in*>(any)->sin_addr);
    const auto& v6 = static_cast<const sockaddr_in6*>(any)->sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&v6)) return is_nowhere_v4(&v6.s6_addr[12]);
    return IN6_IS_ADDR_UNSPECIFIED(&v6) || IN6_IS_ADDR_MULTICAST(&v6);
}

}  // namespace

Result<ClusterAddress> ClusterAddress::parse(std::string_view text) {
    std::string host(text), port = "0";
    const auto bracket = text.find("]:");
    if (text.starts_with('[') && bracket != std::string_view::npos) {
        host = text.substr(1, bracket - 1);
        port = text.substr(bracket + 2);
    } else if (std::ranges::count(text, ':') == 1) {
        host = text.substr(0, text.find(':'));
        port = text.substr(text.find(':') + 1);
    }
    const bool is_port = !port.empty() && port.size() <= 5 &&
                         port.find_first_not_of("0123456789") == std::string::npos && std::stoi(port) <= 65535;
    addrinfo wanted{};
    wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const bool is_address = !host.empty() && is_port && ::getaddrinfo(host.c_str(), port.c_str(), &wanted, &found) == 0;
    ClusterAddress address;
    if (is_address) {
        std::memcpy(&address.raw_, found->ai_addr, found->ai_addrlen);
        address.size_ = found->ai_addrlen;
        ::freeaddrinfo(found);
    }
    if (is_address && !is_nowhere(address.raw_)) return address;
    return Error(ErrorCode::invalid_argument, "\"" + printable(text) +
                                                  "\" is not an IP address of this machine, as 10.0.0.1 or "
                                                  "10.0.0.1:7070; hostname -I prints them");
}

ClusterAddress ClusterAddress::own_of(int socket) {
    ClusterAddress address;
    void* raw = &address.raw_;
    ::getsockname(socket, static_cast<sockaddr*>(raw), &address.size_);
    return address;
}

ClusterAddress ClusterAddress::other_of(int socket) {
    ClusterAddress address;
    void* raw = &address.raw_;
    ::getpeername(socket, static_cast<sockaddr*>(raw), &address.size_);
    return address;
}

std::string ClusterAddress::name(bool with_port) const {
    char host[NI_MAXHOST] = "", port[NI_MAXSERV] = "";
    ::getnameinfo(get(), size_, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
    if (!with_port) return host;
    return (raw_.ss_family == AF_INET6 ? "[" + std::string(host) + "]" : host) + ":" + port;
}

int ClusterAddress::make_socket() const {
    const int socket = ::socket(raw_.ss_family, SOCK_STREAM, 0);
    if (socket < 0) return socket;
    ::fcntl(socket, F_SETFD, FD_CLOEXEC);
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // a request is one small packet
    ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);  // connections of the last daemon may still close
    return socket;
}

}  // namespace orange

#include "common/config/cluster_address.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <cstring>

#include "common/base/text.hpp"

namespace orange {

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
    if (host.empty() || !is_port || ::getaddrinfo(host.c_str(), port.c_str(), &wanted, &found) != 0) {
        return {ErrorCode::invalid_argument, "\"" + printable(text) +
                                                 "\" is not an IP address of this machine, as 10.0.0.1 or "
                                                 "10.0.0.1:7070; hostname -I prints them"};
    }
    ClusterAddress address;
    std::memcpy(&address.raw_, found->ai_addr, found->ai_addrlen);
    address.size_ = found->ai_addrlen;
    ::freeaddrinfo(found);
    return address;
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

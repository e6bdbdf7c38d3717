#include "daemon/shim/ask.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "common/base/system.hpp"
#include "common/base/text.hpp"
#include "common/posix/fd.hpp"
#include "common/rpc/permit_methods.hpp"
#include "daemon/shim/event.hpp"

namespace orange::shim {
namespace {

using rpc::k_largest_request;
using rpc::PermitAsk;

/// Cuts all texts in `value`, so that their beginnings can be shown.
void shorten(Json& value, std::size_t longest) {
    if (value.is_string() && value.get_ref<const std::string&>().size() > longest) {
        value = std::string(first_columns(value.get_ref<const std::string&>(), longest / 4)) + "…";
    }
    if (value.is_structured()) {
        for (auto& each : value) shorten(each, longest);
    }
}

/// Returns the request as JSON that is not longer than the daemon takes, and says in `cut` if parts of it are missing.
std::string request_of(Json object, bool& cut) {
    constexpr std::size_t k_longest[] = {4096, 256};
    auto text = line_of(object);
    for (const auto longest : k_longest) {
        if (text.size() <= k_largest_request) return text;
        cut = true;
        shorten(object, longest);
        text = line_of(object);
    }
    return text.size() <= k_largest_request ? text : std::string();
}

/// Connects to the socket; -1 if nobody listens there, or too many wait.
UniqueFd connection_to(const char* socket) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (socket == nullptr || std::strlen(socket) >= sizeof address.sun_path) return {};
    std::strcpy(address.sun_path, socket);
    UniqueFd fd(system::local_socket());
    const bool is_connected =
        fd.get() >= 0 && ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    return is_connected ? std::move(fd) : UniqueFd();
}

/// Sends the call, and waits for the first line that comes back. Empty if the connection or the time ends before, or
/// if nobody reads the answer any more.
std::string answered(int fd, std::string_view call) {
    constexpr auto k_longest_wait = std::chrono::minutes(58);  // the program waits for an hour
    constexpr std::size_t k_largest_reply = 1024 * 1024;
    std::string line;
    const auto end = std::chrono::steady_clock::now() + k_longest_wait;
    while (line.size() < k_largest_reply) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        if (left.count() <= 0) return {};
        pollfd waited[] = {{fd, static_cast<short>(call.empty() ? POLLIN : POLLIN | POLLOUT), 0},
                           {STDOUT_FILENO, 0, 0}};
        const auto ready = ::poll(waited, 2, static_cast<int>(left.count()));
        if (ready < 0 && errno != EINTR) return {};
        if (ready <= 0) continue;
        if ((waited[1].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) return {};
        if ((waited[0].revents & POLLOUT) != 0) {
            const auto sent = ::send(fd, call.data(), call.size(), system::send_flags());
            if (sent < 0 && errno != EAGAIN && errno != EINTR) return {};
            if (sent > 0) call.remove_prefix(static_cast<std::size_t>(sent));
        }
        if ((waited[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
        char buffer[4096];
        const auto got = ::read(fd, buffer, sizeof buffer);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (got <= 0) return {};
        line.append(buffer, static_cast<std::size_t>(got));
        if (const auto at = line.find('\n'); at != std::string::npos) return line.substr(0, at);
    }
    return {};
}

/// Returns a text that no other request of this machine has.
std::string new_key() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::to_string(::getpid()) + "-" +
           std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

std::string answer_to_stdin(const char* file) {
    const auto text = all_of_stdin();
    auto object = Json::parse(text, nullptr, false);
    if (!object.is_object()) return {};
    PermitAsk ask;
    ask.key = new_key();
    append_line(file, event_line({"ask=" + ask.key}, text), false);  // it may be the program's usage file, too
    ask.request = request_of(std::move(object), ask.cut);
    if (ask.request.empty()) return {};
    const auto fd = connection_to(std::getenv("ORANGE_SOCKET"));
    if (fd.get() < 0) return {};
    const Json call = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", PermitAsk::k_name}, {"params", written(ask)}};
    const auto reply = Json::parse(answered(fd.get(), line_of(call) + "\n"), nullptr, false);
    if (!reply.is_object() || !reply.contains("result") || !reply["result"].is_object()) return {};
    return text_member(reply["result"], "answer");
}

}  // namespace

int ask_human(const char* file) {
    try {
        const auto answer = answer_to_stdin(file);
        if (!answer.empty()) std::puts(answer.c_str());
    } catch (const std::exception&) {  // no memory
    }
    return 0;
}

}  // namespace orange::shim

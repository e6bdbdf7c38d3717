#pragma once

#include <chrono>
#include <optional>

#include "client/connection/connection.hpp"
#include "client/connection/daemon_socket.hpp"
#include "common/config/paths.hpp"

namespace orange::connection {

/// Sends one request for a shell prompt: starts no daemon, and returns within a tenth of a second. unavailable: no
/// daemon answers. timeout: the reply takes longer.
template <class Method>
Result<typename Method::Reply> ask_quickly(const Paths& paths, const Method& params) {
    using namespace std::chrono;
    constexpr milliseconds k_patience{100};
    const auto until = steady_clock::now() + k_patience;
    const auto left = [&] { return ceil<milliseconds>(until - steady_clock::now()); };
    auto daemon = open_daemon(paths, k_patience);
    if (!daemon) return daemon.error();
    std::optional<Result<Json>> reply;
    daemon->on_reply([&](std::int64_t, Result<Json> result) { reply = std::move(result); });
    if (auto sent = daemon->send_request(Method::k_name, written(params)); !sent) return sent.error();
    while (!reply && left() > milliseconds(0)) {
        if (auto waited = daemon->wait_for_message(left()); !waited) return waited.error();
    }
    if (!reply) return Error(ErrorCode::timeout, "the daemon did not answer within a tenth of a second");
    if (!*reply) return reply->error();
    return reply_as<typename Method::Reply>(Method::k_name, **reply);
}

}  // namespace orange::connection

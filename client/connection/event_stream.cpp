#include "client/connection/event_stream.hpp"

#include <utility>

#include "client/connection/autostart.hpp"
#include "client/connection/daemon_socket.hpp"
#include "client/connection/wait.hpp"
#include "common/base/try.hpp"

namespace orange::connection {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds k_between_tries{100};
constexpr milliseconds k_reconnect_deadline{500};

bool is_gone(const Error& error) {
    return error.code == ErrorCode::unavailable || error.code == ErrorCode::timeout || error.code == ErrorCode::io;
}

}  // namespace

Result<bool> EventStream::open() {
    TRY(auto connection, connect_or_start(paths_));
    auto resync = subscribe(std::move(connection));
    if (resync || resync.error().code != ErrorCode::unavailable) return resync;
    waiting_.emplace_back(
        Next{What::lost, {}, {}});  // the daemon took the call and ended: treat it as an end a moment later
    return false;
}

Result<bool> EventStream::subscribe(Connection connection) {
    connection_.emplace(std::move(connection));
    connection_->on_notification([this](const std::string& method, const Json& params) {
        if (method != rpc::EventNotification::k_name) return;
        auto event = reply_as<rpc::EventNotification>(method.c_str(), params);
        if (event) waiting_.emplace_back(Next{What::event, std::move(*event), {}});
    });
    question_ = 0;
    connection_->on_reply([this](std::int64_t id, Result<Json> result) {
        if (id != question_) return;
        question_ = 0;
        if (result) {
            waiting_.emplace_back(Next{What::answer, {}, std::move(*result)});
        } else if (result.error().code != ErrorCode::unavailable) {  // the daemon is ending, and `lost` follows
            waiting_.emplace_back(result.error());
        }
    });
    if (!cursor_.empty()) filter_.since = cursor_;
    auto reply = connection_->call(filter_);
    if (!reply) {
        connection_.reset();
        waiting_.clear();  // the next daemon sends them again
        return reply.error();
    }
    // The cursor moves on for filtered events, too. But events that came with the reply have to be delivered first.
    if (waiting_.empty() || reply->resync) cursor_ = reply->cursor;
    return reply->resync;
}

Result<EventStream::Next> EventStream::reconnect(milliseconds timeout) {
    const auto look = [this]() -> std::optional<Result<Next>> {
        auto connection = open_daemon(paths_, k_reconnect_deadline);
        auto resync = connection ? subscribe(std::move(*connection)) : Result<bool>(connection.error());
        if (!resync && is_gone(resync.error())) return std::nullopt;
        if (!resync) return resync.error();
        resync_ = *resync;
        return Next{What::back, {}, {}};
    };
    const auto next = wait_until(steady_clock::now() + timeout, k_between_tries, look);
    return next ? *next : Next{};
}

Result<EventStream::Next> EventStream::next(milliseconds timeout) {
    if (std::exchange(resync_, false)) return Next{What::resync, {}, {}};
    if (waiting_.empty() && !connection_) return reconnect(timeout);
    if (waiting_.empty()) {
        auto came = connection_->wait_for_message(timeout);
        if (!came) {
            if (!is_gone(came.error()) || came.error().code == ErrorCode::timeout) return came.error();
            connection_.reset();
            return Next{What::lost, {}, {}};
        }
    }
    if (waiting_.empty()) return Next{};
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    if (next && next->what == What::event) cursor_ = next->event.cursor;
    return next;
}

}  // namespace orange::connection

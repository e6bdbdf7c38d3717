#include "client/dashboard/wire.hpp"

#include <unistd.h>

#include <cerrno>
#include <thread>
#include <utility>

#include "client/connection/autostart.hpp"
#include "client/connection/daemon_socket.hpp"
#include "common/base/system.hpp"

namespace orange::dashboard {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Whether the daemon answers is for the person to see; the screen never waits to find out.
constexpr connection::Patience k_no_questions{std::chrono::hours(24 * 365), milliseconds(0)};
constexpr milliseconds k_soon{200}, k_later{2000}, k_fresh{10'000}, k_patience{5000};

}  // namespace

Wire::~Wire() {
    if (start_descriptor_ >= 0) ::close(start_descriptor_);
}

void Wire::start() {
    if (starting_) return;
    lost_at_ = steady_clock::now();
    retry_at_ = lost_at_;
    retry();
    int ends[2];
    if (connection_) return;
    if (system::make_pipe(ends) != 0) return lose(io_error("making a pipe", errno).message);
    handlers_.link(Link::State::starting, "");
    starting_ = std::make_shared<Start>();
    start_descriptor_ = ends[0];
    // A daemon may take many seconds to come; q does not wait for it, so that nobody joins this.
    std::thread([start = starting_, paths = paths_, end = ends[1]] {
        const auto started = connection::connect_or_start(paths);
        if (!started) start->problem = started.error().message;
        start->done.store(true);
        ::close(end);
    }).detach();
}

/// What a start has come to, once it has.
void Wire::take_start() {
    if (!starting_ || !starting_->done.load()) return;
    const auto start = std::exchange(starting_, nullptr);
    ::close(std::exchange(start_descriptor_, -1));
    if (connection_) return;
    retry_at_ = {};
    retry();
    if (!connection_) lose(start->problem);
}

void Wire::use(connection::Connection connection) {
    connection_.emplace(std::move(connection));
    connection_->parse_with([this](std::string_view line) {
        answer_ = {};
        return read_message(line, answer_);
    });
    connection_->on_notification([this](const std::string& method, const Json& params) {
        if (method == rpc::ScreenNotification::k_name) {
            const auto screen = connection::reply_as<rpc::ScreenNotification>(method.c_str(), params);
            return screen ? handlers_.screen(screen->task) : void();
        }
        if (method != rpc::EventNotification::k_name) return;
        if (auto event = connection::reply_as<rpc::EventNotification>(method.c_str(), params)) handlers_.event(*event);
    });
    connection_->on_reply([this](std::int64_t id, Result<Json> result) {
        const auto found = open_.find(id);
        if (found == open_.end()) return;
        const auto request = std::move(found->second.request);
        open_.erase(found);
        if (!result) return handlers_.reply(request, result.error());
        answer_.json = std::move(*result);
        handlers_.reply(request, std::move(answer_));
    });
    handlers_.link(Link::State::up, "");
}

void Wire::lose(std::string why) {
    connection_.reset();
    open_.clear();
    lost_at_ = steady_clock::now();
    retry_at_ = lost_at_ + k_soon;
    handlers_.link(Link::State::down, std::move(why));
}

void Wire::send(const Request& request) {
    if (!connection_) return handlers_.reply(request, Error(ErrorCode::unavailable, "the daemon does not run"));
    auto id = connection_->send_request(request.method, request.params);
    if (!id) return handlers_.reply(request, id.error());
    open_.emplace(*id, Open{request, steady_clock::now()});
}

void Wire::receive() {
    take_start();
    while (connection_) {
        auto came = connection_->wait_for_message(milliseconds(0));
        if (!came) return lose("");
        if (!*came) return;
    }
}

void Wire::retry() {
    const auto now = steady_clock::now();
    if (connection_ || now < retry_at_) return;
    auto opened = connection::open_daemon(paths_, milliseconds(0), k_no_questions);
    if (opened) return use(std::move(*opened));
    retry_at_ = now + (now - lost_at_ < k_fresh ? k_soon : k_later);
}

std::optional<steady_clock::time_point> Wire::silent_at() const {
    for (const auto& [id, open] : open_) {  // in the order in which they were sent
        const bool is_long = open.request.purpose == Purpose::act || open.request.purpose == Purpose::create;
        if (!is_long) return open.sent + k_patience;
    }
    return std::nullopt;
}

bool Wire::is_silent() const {
    const auto at = silent_at();
    return at && steady_clock::now() >= *at;
}

std::optional<steady_clock::time_point> Wire::next_time() const {
    if (!connection_) return retry_at_;
    const auto at = silent_at();
    return at && steady_clock::now() < *at ? at : std::nullopt;
}

}  // namespace orange::dashboard

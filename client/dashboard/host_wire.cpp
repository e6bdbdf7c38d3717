#include "client/dashboard/host_wire.hpp"

#include <algorithm>
#include <utility>

namespace orange::dashboard {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Times without a message after which a host is pinged, counts as silent, and loses its bridge.
constexpr milliseconds k_ping{3000}, k_silent{6000}, k_lost{20'000};
constexpr milliseconds k_hello{20'000};
/// ssh ends shortly after it closes its standard output.
constexpr milliseconds k_look_again{10}, k_ends{1000};
/// A bridge that lasted this long is restarted without a long pause.
constexpr milliseconds k_steady{30'000}, k_first_pause{1000}, k_longest_pause{60'000};

}  // namespace

HostWire::HostWire(hosts::Host host, Incoming incoming, Greeted greeted)
    : host_(std::move(host)), incoming_(std::move(incoming)), on_greeted_(std::move(greeted)), exchange_(incoming_) {
    exchange_.skip_noise();
    exchange_.listen(
        [this](const std::string& method, const Json& params) {
            if (method == rpc::HelloNotification::k_name) take_hello(params);
        },
        [this](const Error& error) { said_ = host_.name + ": " + error.message; });
}

void HostWire::start() {
    if (bridge_) return;
    began_ = steady_clock::now();
    greeted_ = false;
    said_.clear();
    incoming_.link(Link::State::starting, "");
    auto bridge = hosts::Bridge::start(host_);
    if (!bridge) return lose(host_.name + ": " + bridge.error().message);
    bridge_.emplace(std::move(*bridge));
    exchange_.use(connection::Connection(bridge_->take_descriptor()));
}

void HostWire::take_hello(const Json& params) {
    const auto hello = connection::reply_as<rpc::HelloNotification>(rpc::HelloNotification::k_name, params);
    if (greeted_ || !hello) return;
    if (hello->protocol > rpc::k_stdio_protocol) {
        said_ = host_.name + ": orange " + hello->version + " there is too new for this dashboard; upgrade orange here";
        return;  // it is ended later, like one that sends no hello
    }
    greeted_ = true;
    heard_ = pinged_ = steady_clock::now();
    on_greeted_(*hello);
    incoming_.link(Link::State::up, "");
}

void HostWire::send(const Request& request) {
    if (is_up() && !is_silent()) return exchange_.send(request);
    incoming_.reply(request, Error(ErrorCode::unavailable, host_.name + " does not answer"));
}

void HostWire::come_back() {
    receive();
    if (!bridge_) start();
}

void HostWire::note_heard() {
    if (is_up()) heard_ = std::max(*heard_, exchange_.read_at());
}

void HostWire::receive() {
    const bool goes_on = exchange_.receive();
    note_heard();
    if (!goes_on) end("");
}

/// Ends the bridge. Open requests get an error; the list shows their results when the host answers again.
void HostWire::end(std::string why) {
    if (!why.empty()) said_ = std::move(why);
    exchange_.close();
    ended_ = steady_clock::now();
    for (const auto& request : exchange_.take_open()) {
        incoming_.reply(request, Error(ErrorCode::unavailable,
                                       host_.name + " went away before it answered; the list shows the result"));
    }
    find_reason();
}

void HostWire::find_reason() {
    auto reason = bridge_->reason();
    if (!reason && said_.empty() && steady_clock::now() - ended_ < k_ends) return;
    const auto unknown = host_.name + ": the connection ended";
    lose(!said_.empty() ? said_ : reason ? reason->message : unknown);
}

void HostWire::lose(const std::string& why) {
    bridge_.reset();
    const auto now = steady_clock::now();
    if (greeted_ && now - began_ >= k_steady) pause_ = milliseconds(0);
    greeted_ = false;
    pause_ = std::clamp(2 * pause_, k_first_pause, k_longest_pause);
    retry_at_ = now + pause_;
    incoming_.link(Link::State::down, why);
}

void HostWire::retry() {
    const auto now = steady_clock::now();
    if (!bridge_) return now >= retry_at_ ? start() : void();
    if (!exchange_.is_open()) return find_reason();
    receive();  // after another program had the terminal, many messages may have arrived
    if (!exchange_.is_open()) return;
    if (!greeted_) return now - began_ >= k_hello ? end(said_.empty() ? host_.name + ": no answer" : said_) : void();
    if (now - *heard_ >= k_lost) return end(host_.name + ": no answer");
    if (now - std::max(*heard_, pinged_) < k_ping) return;
    pinged_ = now;
    exchange_.send(rpc::k_ping);
}

bool HostWire::is_silent() const {
    return is_up() && steady_clock::now() - *heard_ >= k_silent;
}

std::optional<HostWire::Time> HostWire::next_time() const {
    if (!bridge_) return retry_at_;
    if (!exchange_.is_open()) return steady_clock::now() + k_look_again;
    if (!greeted_) return began_ + k_hello;
    return std::max(*heard_, pinged_) + k_ping;  // the limits of silence are about multiples of it
}

}  // namespace orange::dashboard

#include "client/dashboard/exchange.hpp"

#include <utility>

#include "common/rpc/errors.hpp"

namespace orange::dashboard {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds k_patience{5000};

}  // namespace

void Exchange::use(connection::Connection connection) {
    connection_.emplace(std::move(connection));
    connection_->queue_writes();
    connection_->parse_with([this](std::string_view line) { return parse(line); });
    connection_->on_notification([this](const std::string& method, const Json& params) {
        if (method == rpc::ScreenNotification::k_name) {
            const auto screen = connection::reply_as<rpc::ScreenNotification>(method.c_str(), params);
            return screen ? incoming_.screen(screen->task) : void();
        }
        if (method == rpc::EventNotification::k_name) {
            const auto event = connection::reply_as<rpc::EventNotification>(method.c_str(), params);
            return event ? incoming_.event(*event) : void();
        }
        if (other_) other_(method, params);
    });
    connection_->on_reply([this](std::int64_t id, Result<Json> result) {
        const auto found = open_.find(id);
        if (found == open_.end()) return;
        const auto request = std::move(found->second.request);
        open_.erase(found);
        if (!result) return incoming_.reply(request, result.error());
        answer_.json = std::move(*result);
        incoming_.reply(request, std::move(answer_));
    });
}

Result<Json> Exchange::parse(std::string_view line) {
    answer_ = {};
    auto message = read_message(line, answer_);
    if (!message && skips_noise_) return Json();
    if (!message || !error_ || !message->is_object() || !message->contains("error")) return message;
    if (message->value("id", Json()).is_null()) error_(rpc::error_from_json(message->at("error")));
    return message;
}

void Exchange::close() {
    connection_.reset();
}

std::vector<Request> Exchange::take_open() {
    std::vector<Request> requests;
    for (auto& [id, open] : std::exchange(open_, {})) requests.push_back(std::move(open.request));
    return requests;
}

void Exchange::send(const Request& request) {
    if (!connection_) return incoming_.reply(request, Error(ErrorCode::unavailable, "the daemon does not run"));
    auto id = connection_->send_request(request.method, request.params);
    if (!id) return incoming_.reply(request, id.error());
    open_.emplace(*id, Open{request, steady_clock::now()});
}

void Exchange::send(const std::string& method) {
    if (connection_) (void)connection_->send_request(method, Json::object());
}

bool Exchange::receive() {
    if (connection_ && !connection_->flush()) return false;
    while (connection_) {
        auto came = connection_->wait_for_message(milliseconds(0));
        if (!came) return false;
        if (!*came) break;
    }
    return true;
}

std::optional<steady_clock::time_point> Exchange::silent_at() const {
    for (const auto& [id, open] : open_) {  // in the order of sending
        const auto purpose = open.request.purpose;
        const bool is_long = purpose == Purpose::act || purpose == Purpose::create;
        if (!is_long) return open.sent + k_patience;
    }
    return std::nullopt;
}

}  // namespace orange::dashboard

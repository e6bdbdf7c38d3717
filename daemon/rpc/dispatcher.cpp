#include "daemon/rpc/dispatcher.hpp"

#include <exception>

#include "daemon/log/log.hpp"

namespace orange::rpc {
namespace {

constexpr std::size_t k_largest_batch = 256;
constexpr int k_deepest = 64;

std::string closest(const MethodTable& table, const std::string& name) {
    const auto dot = name.find('.');
    std::string same_area;
    for (const auto& [known, method] : table.all()) {
        if (dot != std::string::npos && known.starts_with(name.substr(0, dot + 1))) {
            same_area += (same_area.empty() ? "" : ", ") + known;
        }
    }
    return same_area.empty() ? "rpc.discover lists them all" : "there is: " + same_area;
}

bool is_valid_id(const Json& id) {
    return id.is_null() || id.is_string() || id.is_number();
}

Result<void> check_access(const Method& method, const Caller& caller) {
    const auto taken =
        "; you were taken for " +
        (caller.role == Role::unknown ? std::string("an unknown caller") : "the " + std::string(name_of(caller.role))) +
        (caller.task.empty() ? "" : " of task " + caller.task.value) +
        (caller.evidence.empty() ? "" : " (" + caller.evidence + ")");
    if (caller.role == Role::unknown) {
        return Error{ErrorCode::forbidden,
                     method.name + " wants a caller that can be told" + taken +
                         "; use a terminal of your own, outside Orange's tmux",
                     {}};
    }
    if (method.access == Access::human && caller.role != Role::human) {
        return Error{ErrorCode::forbidden, method.name + " is a human's to call" + taken + "; ask the human", {}};
    }
    return {};
}

}  // namespace

Json error_reply(const Json& id, int code, const std::string& message) {
    return {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}};
}

Awaitable<Result<Json>> Dispatcher::invoke(const Method& method, Json params, WhoIs who, EventSink* sink) {
    Call call;
    call.sink = sink;
    std::string failure;
    try {
        if (method.access != Access::read) {
            call.caller = who();
            if (auto allowed = check_access(method, call.caller); !allowed) co_return allowed.error();
        }
        co_return co_await method.invoke(std::move(params), std::move(call));
    } catch (const std::exception& e) {
        failure = e.what();
    }
    log::error("rpc", "exception in " + method.name + ": " + failure);
    co_return Error{ErrorCode::internal, "internal error in " + method.name + " (see orange.log): " + failure, {}};
}

Awaitable<std::optional<Json>> Dispatcher::handle_one(Json request, WhoIs who, EventSink* sink) {
    if (!request.is_object()) co_return error_reply(nullptr, k_invalid_request, "a request must be an object");
    const bool notification = !request.contains("id");
    const Json id = notification ? Json(nullptr) : request["id"];
    if (!is_valid_id(id)) co_return error_reply(nullptr, k_invalid_request, "\"id\" must be a string or a number");
    if (request.value("jsonrpc", Json()) != Json("2.0")) {
        co_return error_reply(id, k_invalid_request, "\"jsonrpc\" must be \"2.0\"");
    }
    if (!request.contains("method") || !request["method"].is_string()) {
        co_return error_reply(id, k_invalid_request, "\"method\" must be a string");
    }
    const auto name = request["method"].get<std::string>();
    const auto* method = table_.find(name);
    if (!method) {
        if (notification) co_return std::nullopt;
        co_return error_reply(id, k_method_not_found, "there is no method \"" + name + "\"; " + closest(table_, name));
    }
    Json params = request.value("params", Json::object());
    if (params.is_array() && params.empty()) params = Json::object();
    if (!params.is_object()) {
        if (notification) co_return std::nullopt;
        co_return error_reply(id, k_invalid_params, "\"params\" must be an object: parameters go by name");
    }
    auto result = co_await invoke(*method, std::move(params), std::move(who), sink);
    if (notification) co_return std::nullopt;
    Json reply = {{"jsonrpc", "2.0"}, {"id", id}};
    if (result) {
        reply["result"] = std::move(*result);
    } else {
        reply["error"] = error_json(result.error());
    }
    co_return reply;
}

Awaitable<std::optional<std::string>> Dispatcher::handle(std::string text, WhoIs who, EventSink* sink) {
    auto parsed = parse_json(text, k_deepest);
    if (!parsed) co_return dump(error_reply(nullptr, k_parse_error, parsed.error().message));
    if (!parsed->is_array()) {
        auto reply = co_await handle_one(std::move(*parsed), std::move(who), sink);
        if (!reply) co_return std::nullopt;
        co_return dump(*reply);
    }
    if (parsed->empty() || parsed->size() > k_largest_batch) {
        co_return dump(error_reply(nullptr, k_invalid_request, "a batch must have 1 to 256 requests"));
    }
    Json replies = Json::array();
    for (auto& request : *parsed) {
        auto reply = co_await handle_one(std::move(request), who, sink);
        if (reply) replies.push_back(std::move(*reply));
    }
    if (replies.empty()) co_return std::nullopt;
    co_return dump(replies);
}

}  // namespace orange::rpc

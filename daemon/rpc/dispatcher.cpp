#include "daemon/rpc/dispatcher.hpp"

#include <exception>

#include "common/base/text.hpp"
#include "daemon/async/async.hpp"
#include "daemon/log/log.hpp"

namespace orange::rpc {
namespace {

constexpr std::size_t k_largest_batch = 256;
constexpr std::size_t k_longest_message = 16'000;
constexpr int k_deepest = 64;

std::string closest(const MethodTable& table, const std::string& name) {
    const auto dot = name.find('.');
    std::string same_area;
    for (const auto& [known, method] : table.all()) {
        if (dot != std::string::npos && known.starts_with(name.substr(0, dot + 1))) {
            same_area += (same_area.empty() ? "" : ", ") + known;
        }
    }
    return same_area.empty() ? "rpc.discover lists them all" : "known: " + same_area;
}

bool is_valid_id(const Json& id) {
    return id.is_null() || id.is_string() || id.is_number();
}

/// Logs a request, so that people can find out later who changed something. Only names of the parameters are logged,
/// because texts and prompts are private.
void note(const Method& method, const log::Fields& subject, const Caller& caller, const Result<Json>& result) {
    auto fields = subject;
    fields["by"] = name_text(caller.role);
    fields["pid"] = std::to_string(caller.pid);
    if (!caller.task.empty()) fields["by_task"] = caller.task.value;
    if (!result) {
        fields["refused"] = name_text(result.error().code);
    } else if (const auto task = result->find("task"); result->is_object() && task != result->end()) {
        // A new object has its id only in the result.
        const auto id = task->is_object() ? task->value("fields", Json::object()).value("id", Json()) : Json();
        if (id.is_string()) fields["task"] = id.get<std::string>();
    }
    log::info("rpc", method.name, fields);
}

Json reply_to(const Json& id, Result<Json> result) {
    Json reply = {{"jsonrpc", "2.0"}, {"id", id}};
    if (result) {
        reply["result"] = std::move(*result);
    } else {
        // Messages quote the object of an error. A quote of a megabyte would help no reader.
        auto error = result.error();
        error.message = ellipsized(error.message, k_longest_message);
        reply["error"] = error_json(error);
    }
    return reply;
}

Error no_room() {
    return {ErrorCode::unavailable,
            "not carried out: there is no room for more replies now; send fewer requests in one batch, or try again"};
}

/// Returns the parameters that name what a call is about, for the log. A parameter `path` is a repository in the
/// methods project.*; in others it is the caller's PATH. The names of people's files are private.
log::Fields subject_of(const std::string& method, const Json& params) {
    constexpr std::pair<const char*, const char*> k_names[] = {
        {"id", "task"}, {"project", "project"}, {"name", "name"}, {"status", "status"}, {"path", "path"}};
    log::Fields fields;
    if (method == "file.put") return fields;
    for (const auto& [key, name] : k_names) {
        if (std::string_view(key) == "path" && !method.starts_with("project.")) continue;
        const auto found = params.find(key);
        if (found != params.end() && found->is_string()) fields[name] = found->get<std::string>().substr(0, 200);
    }
    return fields;
}

}  // namespace

Json error_reply(const Json& id, int code, const std::string& message) {
    return {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}};
}

Awaitable<Result<Json>> Dispatcher::invoke(const Method& method, Json params, Ends ends, EventSink* sink,
                                           std::string* text) {
    Call call;
    call.sink = sink;
    call.text = text;
    std::string failure;
    try {
        if (ends.wall) call.wall = ends.wall();
        if (!call.wall.empty()) call.shows = engine::behind_wall(method.name);
        if (call.shows == engine::BehindWall::nothing)
            co_return engine::hidden_by_wall("what " + method.name + " tells");
        call.who = ends.who;
        if (method.access == Access::read) co_return co_await method.invoke(std::move(params), std::move(call));
        call.caller = co_await ends.who();
        const auto caller = call.caller;
        const auto subject = subject_of(method.name, params);
        Result<Json> result = Json();
        if (auto allowed = engine::may_call(method.name, method.access, caller); !allowed) {
            result = allowed.error();
        } else {
            result = co_await method.invoke(std::move(params), std::move(call));
        }
        note(method, subject, caller, result);
        co_return result;
    } catch (const std::exception& e) {
        failure = e.what();
    }
    log::error("rpc", "exception in " + method.name + ": " + failure);
    co_return Error(ErrorCode::internal, "internal error in " + method.name + " (see orange.log): " + failure);
}

Awaitable<std::string> Dispatcher::fixed_result(const Method& method, Ends ends, EventSink* sink) {
    auto& text = fixed_[&method];
    if (text.empty()) {
        const auto result = co_await invoke(method, Json::object(), std::move(ends), sink);
        if (result) text = dump(*result);
    }
    co_return text;
}

Awaitable<std::optional<std::string>> Dispatcher::handle_one(Json request, Ends ends, EventSink* sink) {
    if (!request.is_object()) co_return dump(error_reply(nullptr, k_invalid_request, "a request must be an object"));
    const bool notification = !request.contains("id");
    const Json id = notification ? Json(nullptr) : request["id"];
    const auto refused = [&id](int code, const std::string& why) { return dump(error_reply(id, code, why)); };
    if (!is_valid_id(id)) {
        co_return dump(error_reply(nullptr, k_invalid_request, "\"id\" must be a string or a number"));
    }
    if (request.value("jsonrpc", Json()) != Json("2.0")) {
        co_return refused(k_invalid_request, "\"jsonrpc\" must be \"2.0\"");
    }
    if (!request.contains("method") || !request["method"].is_string()) {
        co_return refused(k_invalid_request, "\"method\" must be a string");
    }
    const auto name = request["method"].get<std::string>();
    const auto* method = table_.find(name);
    if (!method) {
        if (notification) co_return std::nullopt;
        co_return refused(k_method_not_found, "there is no method \"" + name + "\"; " + closest(table_, name));
    }
    Json params = request.value("params", Json::object());
    if (params.is_array() && params.empty()) params = Json::object();
    if (!params.is_object()) {
        if (notification) co_return std::nullopt;
        co_return refused(k_invalid_params, "\"params\" must be an object: parameters go by name");
    }
    const auto answered = [&id](const std::string& text) {
        return "{\"id\":" + dump(id) + R"(,"jsonrpc":"2.0","result":)" + text + "}";
    };
    if (method->is_fixed && params.empty() && !notification) {
        const auto result = co_await fixed_result(*method, ends, sink);
        co_return answered(result);
    }
    std::string text;
    auto result = co_await invoke(*method, std::move(params), std::move(ends), sink, &text);
    if (notification) co_return std::nullopt;
    if (!text.empty()) co_return answered(text);
    if (!result) result = complete_(result.error());
    co_return dump(reply_to(id, std::move(result)));
}

/// Holds the replies as text, which takes a fraction of the memory of Json.
Awaitable<std::optional<std::string>> Dispatcher::handle_batch(Json batch, Ends ends, EventSink* sink,
                                                               NextOfBatch next) {
    if (batch.empty() || batch.size() > k_largest_batch) {
        co_return dump(error_reply(nullptr, k_invalid_request, "a batch must have 1 to 256 requests"));
    }
    std::string replies;
    bool has_room = true;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        const auto held = replies.size();
        if (i > 0 && next) has_room = co_await next(held);
        auto request = std::move(batch[i]);
        std::optional<std::string> reply;
        if (has_room || !request.is_object() || !request.contains("id")) {
            reply = co_await handle_one(std::move(request), ends, sink);
        } else {
            reply = dump(reply_to(request["id"], no_room()));
        }
        if (reply) replies += (replies.empty() ? "[" : ",") + *reply;
    }
    if (replies.empty()) co_return std::nullopt;
    co_return replies + "]";
}

Awaitable<std::optional<std::string>> Dispatcher::handle(std::string text, Ends ends, EventSink* sink,
                                                         NextOfBatch next) {
    auto parsed = parse_json(text, k_deepest);
    if (!parsed) co_return dump(error_reply(nullptr, k_parse_error, parsed.error().message));
    auto request = std::move(*parsed);
    if (request.is_array()) co_return co_await handle_batch(std::move(request), std::move(ends), sink, std::move(next));
    co_return co_await handle_one(std::move(request), std::move(ends), sink);
}

}  // namespace orange::rpc

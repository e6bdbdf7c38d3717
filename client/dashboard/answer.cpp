#include "client/dashboard/answer.hpp"

#include "common/model/fields.hpp"

namespace orange::dashboard {
namespace {

constexpr int k_in_tasks = 3;  ///< levels: the message, its result, the list

}  // namespace

Result<Json> read_message(std::string_view line, Answer& answer) {
    bool in_result = false, in_tasks = false;
    const auto take = [&](int depth, Json::parse_event_t event, Json& parsed) {
        if (event == Json::parse_event_t::key && depth == 1) in_result = parsed == "result";
        if (event == Json::parse_event_t::key && depth == 2) in_tasks = in_result && parsed == "tasks";
        if (event != Json::parse_event_t::object_end || depth != k_in_tasks || !in_tasks) return true;
        const auto task = read_as<rpc::TaskView>(parsed, "", UnknownKeys::ignore);
        answer.unread = answer.unread || !task;
        if (task) answer.tasks.push_back({row_of(*task), task->committed});
        return false;
    };
    auto message = Json::parse(line, take, false);
    if (message.is_discarded()) return Error(ErrorCode::invalid_argument, "the daemon's message is not valid JSON");
    return message;
}

}  // namespace orange::dashboard

#pragma once

#include <cstdint>
#include <string>

#include "common/rpc/task_queries.hpp"
#include "common/rpc/task_view.hpp"

/// Dialogs of agents' programs that a human answers from anywhere (docs/permits.md). A hook of the program calls
/// permit.ask and waits; a human answers with task.allow or task.deny. Whatever else happens, the hook gets no answer,
/// and the program asks in its own window.
namespace orange::rpc {

/// The largest request, as JSON, that is passed on whole. What is cut can be denied, not allowed.
inline constexpr std::size_t k_largest_request = 64 * 1024;

/// Passes a program's request on, and returns when it is answered or over. Only the agent's own run may ask.
struct PermitAsk {
    static constexpr const char* k_name = "permit.ask";
    std::string key;
    std::string request;
    bool cut = false;
    void describe(auto& v) {
        v.required("key", key, "the id that the event of this request has");
        v.required("request", request, "the object that the hook got, as JSON; at most 64 KiB");
        v.optional("cut", cut, "texts in it were cut: it can only be denied");
    }
    struct Reply {
        std::string answer;
        void describe(auto& v) {
            v.optional("answer", answer, "what the hook has to print; empty: nothing, so that the program itself asks");
        }
    };
};

/// Allows one request of an agent's program, once. not_found if it is over; conflict if it was answered before;
/// forbidden if Orange does not have all of it.
struct TaskAllow : TaskSelector {
    static constexpr const char* k_name = "task.allow";
    using Reply = TaskReply;
    std::int64_t number = 0;
    void describe(auto& v) {
        TaskSelector::describe(v);
        v.required("number", number, "the number of the request");
    }
};

/// Denies one request, in the same way. The model gets the text.
struct TaskDeny : TaskSelector {
    static constexpr const char* k_name = "task.deny";
    using Reply = TaskReply;
    std::int64_t number = 0;
    std::string text;
    void describe(auto& v) {
        TaskSelector::describe(v);
        v.required("number", number, "the number of the request");
        v.optional("text", text, "what the agent is told, for example what it should do instead");
    }
};

}  // namespace orange::rpc

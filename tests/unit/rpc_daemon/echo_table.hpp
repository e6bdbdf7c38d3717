#pragma once

#include <stdexcept>

#include "daemon/rpc/method_table.hpp"

namespace orange::test {

struct EchoReply {
    std::string said;
    std::string by;
    void describe(auto& v) {
        v.required("said", said, "what was said");
        v.required("by", by, "who said it");
    }
};

/// One method for each kind of access, and one that breaks.
template <int kind>
struct Echo {
    static constexpr const char* k_name = kind == 0   ? "echo.read"
                                          : kind == 1 ? "echo.agent"
                                          : kind == 2 ? "echo.human"
                                                      : "echo.throw";
    std::string text;
    std::optional<int> times;
    void describe(auto& v) {
        v.required("text", text, "what to say");
        v.optional("times", times, "how often");
    }
    using Reply = EchoReply;
};

template <int kind>
Awaitable<Result<EchoReply>> echo(Echo<kind> params, rpc::Call call) {
    if (kind == 3) throw std::runtime_error("a bug");
    if (params.text == "fail") co_return Error(ErrorCode::gate_failed, "## Plan is missing", {{"status", "planning"}});
    EchoReply reply;
    reply.said = params.text;
    reply.by = name_text(call.caller.role);
    co_return reply;
}

inline rpc::MethodTable echo_table() {
    rpc::MethodTable table;
    table.add<Echo<0>>(rpc::Access::read, "Says it.", {ErrorCode::gate_failed}, echo<0>);
    table.add<Echo<1>>(rpc::Access::agent, "Says it.", {}, echo<1>);
    table.add<Echo<2>>(rpc::Access::human, "Says it.", {}, echo<2>);
    table.add<Echo<3>>(rpc::Access::read, "Breaks.", {}, echo<3>);
    return table;
}

}  // namespace orange::test

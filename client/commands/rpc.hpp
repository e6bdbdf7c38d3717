#pragma once

#include "client/commands/context.hpp"

namespace orange::commands {

/// The options of `orange rpc`.
struct RpcOptions {
    bool stdio = false;
    bool read_only = false;
    int ping_seconds = 15;
};

/// Runs `orange rpc --stdio`: the socket's protocol over standard input and output, until one side ends.
Status rpc_stdio(Context& context, const RpcOptions& options);

}  // namespace orange::commands

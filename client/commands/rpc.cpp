#include "client/commands/rpc.hpp"

#include <unistd.h>

#include "client/connection/relay.hpp"

namespace orange::commands {

Status rpc_stdio(Context& context, const RpcOptions& options) {
    if (!options.stdio) {
        return {ErrorCode::invalid_argument, "orange rpc needs --stdio\n  orange rpc --help"};
    }
    connection::Relay relay(
        context.paths, {STDIN_FILENO, STDOUT_FILENO, options.read_only, std::chrono::seconds(options.ping_seconds)});
    const auto ended = relay.run();
    return ended ? 0 : fail(false, ended.error());  // the error is on standard output, as a line of the protocol
}

}  // namespace orange::commands

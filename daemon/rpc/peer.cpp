#include "daemon/rpc/peer.hpp"

#include "common/config/peer_process.hpp"
#include "daemon/process/proc_info.hpp"

namespace orange::rpc {

std::optional<Peer> peer_of(int descriptor) {
    const auto process = peer_process(descriptor);
    if (!process) return std::nullopt;
    Peer peer{process->pid, process->user};
    // The order matters: if the process is still alive after its start time was read, the start time is its own and not
    // that of a later process with the same pid.
    peer.start_time = process::start_time(peer.pid).value_or(k_gone);
    if (peer_has_ended(descriptor)) peer.start_time = k_gone;
    return peer;
}

}  // namespace orange::rpc

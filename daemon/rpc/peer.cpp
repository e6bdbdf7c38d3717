#include "daemon/rpc/peer.hpp"

#include "common/config/peer_process.hpp"
#include "daemon/process/proc_info.hpp"

namespace orange::rpc {

std::optional<Peer> peer_of(int descriptor) {
    const auto process = peer_process(descriptor);
    if (!process) return std::nullopt;
    Peer peer{process->pid, process->user};
    // In this order: a process that lives after its start time was read is the one that it was read of.
    peer.start_time = process::start_time(peer.pid).value_or(k_gone);
    if (peer_has_ended(descriptor)) peer.start_time = k_gone;
    return peer;
}

}  // namespace orange::rpc

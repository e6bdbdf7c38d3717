#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/process/proc_info.hpp"
#include "daemon/rpc/peer.hpp"

namespace orange::rpc {

// Not tried on a machine yet.
std::optional<Peer> peer_of(int descriptor) {
    uid_t uid = 0;
    gid_t gid = 0;
    if (::getpeereid(descriptor, &uid, &gid) != 0) return std::nullopt;
    pid_t pid = 0;
    socklen_t size = sizeof pid;
    if (::getsockopt(descriptor, SOL_LOCAL, LOCAL_PEERPID, &pid, &size) != 0) return std::nullopt;
    return Peer{pid, uid, process::start_time(pid).value_or(k_gone)};
}

}  // namespace orange::rpc

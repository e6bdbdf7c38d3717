#pragma once

#include <sstream>
#include <string>

namespace orange::rpc {

/// The beginning of a connection from another machine (docs/protocol.md, "From other machines"): the node sends a line
/// with a credential of MUNGE. The daemon answers with welcome(), or with an error of the protocol. The nonce in the
/// answer proves that the daemon could decode the credential, which only processes of the same user can. The address
/// keeps a process that took the daemon's place from passing the credential on.
struct NodeHello {
    std::string token;    ///< of the run
    std::string nonce;    ///< of the connection
    std::string address;  ///< to which the node has connected

    std::string payload() const { return token + " " + nonce + " " + address; }
    static NodeHello from_payload(const std::string& text) {
        NodeHello hello;
        std::istringstream(text) >> hello.token >> hello.nonce >> hello.address;
        return hello;
    }
    static std::string welcome(const std::string& nonce) { return "orange " + nonce; }
};

}  // namespace orange::rpc

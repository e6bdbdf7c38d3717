#pragma once

#include <cstdint>
#include <string>

#include "common/model/fields.hpp"

/// The messages of `orange rpc --stdio` in addition to the socket's protocol (docs/protocol.md, "Over standard input
/// and output").
namespace orange::rpc {

inline constexpr std::int64_t k_stdio_protocol = 1;

/// The first line. New fields may be added later; a change that older clients cannot read raises `protocol`.
struct HelloNotification {
    static constexpr const char* k_name = "hello";
    std::int64_t protocol = k_stdio_protocol;
    std::string version;
    std::string name;
    bool read_only = false;
    void describe(auto& v) {
        v.required("protocol", protocol, "the version of these lines");
        v.required("version", version, "of the daemon");
        v.required("name", name, "what the machine calls itself");
        v.required("read_only", read_only, "methods that change something are refused");
    }
};

/// A request that either side may send. Any line in return proves that the other side is alive.
inline constexpr const char* k_ping = "ping";

}  // namespace orange::rpc

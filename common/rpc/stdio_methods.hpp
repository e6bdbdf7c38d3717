#pragma once

#include <cstdint>
#include <string>

#include "common/model/fields.hpp"

/// The messages that `orange rpc --stdio` adds to the protocol of the socket (docs/protocol.md, "Over standard input
/// and output").
namespace orange::rpc {

inline constexpr std::int64_t k_stdio_protocol = 1;

/// The first line. Later fields may be added; a change that an older client cannot read raises `protocol`.
struct HelloNotification {
    static constexpr const char* k_name = "hello";
    std::int64_t protocol = k_stdio_protocol;
    std::string version;
    std::string name;
    bool read_only = false;
    template <class V>
    void describe(V& v) {
        v.required("protocol", protocol, "the version of these lines");
        v.required("version", version, "of the daemon");
        v.required("name", name, "what the machine calls itself");
        v.required("read_only", read_only, "methods that change something are refused");
    }
};

/// A request that either side may send; every line in return is a sign of life.
inline constexpr const char* k_ping = "ping";

}  // namespace orange::rpc

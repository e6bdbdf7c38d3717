#pragma once

#include <string>

#include "common/model/fields.hpp"
#include "common/rpc/empty.hpp"

namespace orange::rpc {

/// Identifies the caller, for a client that is about to do something which only a human may do and which does not
/// involve the daemon.
struct DaemonCaller : Empty {
    static constexpr const char* k_name = "daemon.caller";
    struct Reply {
        std::string role;
        std::string evidence;
        void describe(auto& v) {
            v.required("role", role, "human, worker or reviewer");
            v.required("evidence", evidence, "by what the daemon identified the caller");
        }
    };
};

}  // namespace orange::rpc

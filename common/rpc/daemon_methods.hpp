#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/model/fields.hpp"
#include "common/rpc/caller_environment.hpp"
#include "common/rpc/empty.hpp"

/// Parameters and results of `daemon.*` and `rpc.discover`.
namespace orange::rpc {

struct DaemonPing : Empty {
    static constexpr const char* k_name = "daemon.ping";
    struct Reply {
        std::string version;
        std::int64_t pid = 0;
        void describe(auto& v) {
            v.required("version", version, "of the daemon");
            v.required("pid", pid, "of the daemon");
        }
    };
};

struct DaemonStatus : Empty {
    static constexpr const char* k_name = "daemon.status";
    struct Reply {
        std::string version;
        std::int64_t pid = 0;
        std::int64_t uptime_seconds = 0;
        std::map<std::string, std::int64_t> tasks;
        std::int64_t agents_alive = 0;
        std::int64_t attention = 0;
        std::int64_t memory_kib = 0;
        std::int64_t connections = 0;
        std::int64_t longest_turn_us = 0;
        std::string home;
        std::optional<std::string> last_poll;
        std::vector<std::string> problems;
        void describe(auto& v) {
            v.required("version", version, "of the daemon");
            v.required("pid", pid, "of the daemon");
            v.required("uptime_seconds", uptime_seconds, "since it started");
            v.required("tasks", tasks, "how many, by status");
            v.required("agents_alive", agents_alive, "agent processes that run");
            v.required("attention", attention, "tasks that want a human");
            v.required("memory_kib", memory_kib, "resident memory");
            v.required("connections", connections, "open client connections");
            v.required("longest_turn_us", longest_turn_us,
                       "processor time, in microseconds, of the longest step in which everybody else had to wait");
            v.required("home", home, "ORANGE_HOME");
            v.optional("last_poll", last_poll, "when tmux was last looked at");
            v.optional("problems", problems, "files that could not be read, and why");
        }
    };
};

struct DaemonReload {
    static constexpr const char* k_name = "daemon.reload";
    CallerEnvironment caller;
    void describe(auto& v) { caller.describe(v); }
    struct Reply {
        std::vector<std::string> notes;
        void describe(auto& v) { v.required("notes", notes, "what was reloaded, and what was wrong with it"); }
    };
};

struct DaemonShutdown : Empty {
    static constexpr const char* k_name = "daemon.shutdown";
    using Reply = Empty;
};

struct RpcDiscover : Empty {
    static constexpr const char* k_name = "rpc.discover";
    using Reply = Json;
};

}  // namespace orange::rpc

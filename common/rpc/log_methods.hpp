#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/model/fields.hpp"

/// Parameters and results of `log.*`.
namespace orange::rpc {

struct LogTail {
    static constexpr const char* k_name = "log.tail";
    int lines = 50;
    std::optional<std::string> level;
    std::optional<std::string> component;
    std::optional<std::string> grep;
    std::optional<std::string> since;
    void describe(auto& v) {
        v.optional("lines", lines, "how many of the last ones, 1 to 5000");
        v.optional("level", level, "debug, info, warn or error: this or more severe");
        v.optional("component", component, "only this part of the daemon");
        v.optional("grep", grep, "only lines with this text (literal, whatever its case)");
        v.optional("since", since, "not before: 90s, 10m, 3h, 2d ago, or an RFC 3339 time");
    }
    struct Reply {
        std::vector<std::string> lines;
        bool more = false;
        void describe(auto& v) {
            v.required("lines", lines, "lines of orange.log as they are, oldest first");
            v.required("more", more, "the search gave up after 8 MiB: there may be older ones");
        }
    };
};

}  // namespace orange::rpc

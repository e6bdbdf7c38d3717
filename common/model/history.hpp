#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>

#include "common/base/clock.hpp"

namespace orange {

using Scalar = std::variant<std::string, std::int64_t, bool>;

/// A line of history.jsonl, which is also an event of the stream. docs/files.md lists the types and their fields.
struct HistoryEvent {
    std::string type;
    Timestamp timestamp{};
    std::map<std::string, Scalar> fields;

    /// Describes the fields that every event has; `fields` are written beside them.
    void describe(auto& v) {
        v.required("type", type, "what happened");
        v.optional("timestamp", timestamp, "when");
    }
    bool operator==(const HistoryEvent&) const = default;
};

}  // namespace orange

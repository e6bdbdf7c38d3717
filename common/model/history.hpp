#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>

#include "common/base/clock.hpp"

namespace orange {

using Scalar = std::variant<std::string, std::int64_t, bool>;

/// One line of history.jsonl and one event of the stream. Types and fields: docs/files.md.
struct HistoryEvent {
    std::string type;
    Timestamp timestamp{};
    std::map<std::string, Scalar> fields;

    /// Of what every event has; `fields` stand beside it.
    template <class V>
    void describe(V& v) {
        v.required("type", type, "what happened");
        v.optional("timestamp", timestamp, "when");
    }
    bool operator==(const HistoryEvent&) const = default;
};

}  // namespace orange

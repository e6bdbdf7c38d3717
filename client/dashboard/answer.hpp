#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "client/dashboard/cells.hpp"
#include "common/model/json.hpp"
#include "common/rpc/task_view.hpp"

namespace orange::dashboard {

/// A reply of the daemon. The tasks of a list are converted to rows while parsing, because their JSON would be many
/// times larger.
struct Answer {
    struct Listed {
        Row row;
        std::optional<rpc::ChangeCounts> committed;
    };
    Answer() = default;
    Answer(Json result) : json(std::move(result)) {}  // NOLINT(google-explicit-constructor): most have no tasks

    Json json;
    std::vector<Listed> tasks;
    bool unread = false;  ///< this version cannot read a task of the list
};

/// Parses a message of the daemon. Each object of `result.tasks` is moved to `answer` as soon as it is complete.
Result<Json> read_message(std::string_view line, Answer& answer);

}  // namespace orange::dashboard

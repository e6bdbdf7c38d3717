#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "client/dashboard/cells.hpp"
#include "common/model/json.hpp"
#include "common/rpc/task_view.hpp"

namespace orange::dashboard {

/// A reply of the daemon. The tasks of a list are rows already: its JSON would be many times larger.
struct Answer {
    struct Listed {
        Row row;
        std::optional<rpc::ChangeCounts> committed;
    };
    Answer() = default;
    Answer(Json result) : json(std::move(result)) {}  // NOLINT(google-explicit-constructor): most have no tasks

    Json json;
    std::vector<Listed> tasks;
    bool unread = false;  ///< a task of the list is not as this version knows them
};

/// Parses a message of the daemon; each object of `result.tasks` is moved to `answer` as soon as it is complete.
Result<Json> read_message(std::string_view line, Answer& answer);

}  // namespace orange::dashboard

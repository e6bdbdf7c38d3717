#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/ids.hpp"
#include "common/base/result.hpp"
#include "common/model/check.hpp"
#include "daemon/files/file_system.hpp"
#include "daemon/process/process_runner.hpp"

/// How the checks of a task went, and how that is told. Pure; Checks runs them.
namespace orange {

struct CheckReport {
    std::string commit;
    std::string failed = {};  ///< the command that did; empty: all of them passed
    std::string why = {};     ///< "ended with exit status 2"
    int exit_status = 0;      ///< of that command; 124: its time was over, 127: it is not a program
    std::string tail = {};    ///< the last lines of its output, or of the last command
    Path log = {};            ///< what all of them printed
    std::int64_t seconds = 0;
    std::string place = {};        ///< where they ran, if that is the checks' own place
    std::string merged_with = {};  ///< "origin/main": a merge of the commit with it was tested; empty: the commit

    bool passed() const { return failed.empty(); }
};

namespace checked {

/// How one command ended.
struct CommandEnd {
    std::int64_t status = 0;
    std::string why;
    std::string output;
};

/// An Error if nobody can say how it would have ended.
Result<CommandEnd> end_of(Result<Completed> done, std::chrono::milliseconds time_limit);

/// Makes the record of it, but for the tree.
CheckRecord record_of(const CheckReport& report, std::string hash, Timestamp at);

/// As a person would type it.
std::string spoken(const std::vector<std::string>& argv);

/// The last 20 lines of an output, printable, each of at most 160 columns.
std::string last_lines(const std::string& output);

/// The checks could not begin.
Error setup_failed(const CheckReport& report);

/// What failed, its last lines, and the ways out: whoever can repair it (if the task can go back), or the human who
/// knows better. `merge`: the command that waited for the checks. `details.why` is checks_failed.
Error refusal(const TaskId& id, const CheckReport& report, const std::string& merge, bool can_go_back);

}  // namespace checked
}  // namespace orange

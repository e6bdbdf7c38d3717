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

/// The result of a task's checks, and its texts. Pure; Checks runs the commands.
namespace orange {

struct CheckReport {
    std::string commit;
    std::string failed = {};  ///< the command that failed; empty: all passed
    std::string why = {};     ///< "ended with exit status 2"
    int exit_status = 0;      ///< of the failed command; 124: time limit exceeded, 127: no such program
    std::string tail = {};    ///< the last lines of output of the failed command, or of the last one
    Path log = {};            ///< the output of all commands
    std::int64_t seconds = 0;
    std::string place = {};        ///< the directory, if the checks ran in their own place
    std::string merged_with = {};  ///< "origin/main" if a merge with it was tested; empty: the commit itself was tested

    bool passed() const { return failed.empty(); }
};

namespace checked {

/// Returns the lines, each indented as an error lists them.
std::string as_list(const std::string& lines);

/// The end of one command.
struct CommandEnd {
    std::int64_t status = 0;
    std::string why;
    std::string output;
};

/// Returns how a command ended. A time limit and a missing program are ends, too. Any other failure says nothing about
/// the command, and is an Error.
Result<CommandEnd> end_of(Result<Completed> done, std::chrono::milliseconds time_limit);

/// Returns the report as the record keeps it, without the tree.
CheckRecord record_of(const CheckReport& report, std::string hash, Timestamp at);

/// Returns the command as a person would type it.
std::string spoken(const std::vector<std::string>& argv);

/// Returns the last 20 lines of an output, printable, each of at most 160 columns.
std::string last_lines(const std::string& output);

/// Returns the error for checks that could not begin because the setup command failed.
Error setup_failed(const CheckReport& report);

/// Returns the error for a failed check: the command, its last lines, and the ways out. The work can go back to its
/// agent if `can_go_back`; a human can always force the merge. `merge` is the command that waited for the checks.
/// `details.why` is checks_failed.
Error refusal(const TaskId& id, const CheckReport& report, const std::string& merge, bool can_go_back);

}  // namespace checked
}  // namespace orange

#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/runner/world.hpp"

/// Files that a caller gives to a task's agent (docs/protocol.md, "Files").
///
/// The order of the writes: the files get their names in files/ of the task's folder; then the record is saved, with
/// their lines for ## Files and with the message that names them, in one write; then TASK.md shows the lines. A daemon
/// that is killed in between leaves a file that nothing names, but never a name without a file.
namespace orange {

struct Runner;

inline constexpr const char* k_files_section = "Files";

struct GivenFiles {
    std::vector<std::string> paths;            ///< absolute, as agents reach them, in the order of the uploads
    std::string lines;                         ///< for ## Files of TASK.md
    std::vector<store::Uploads::Given> taken;  ///< for Uploads::take_back()
};

/// Moves checked uploads into the task's folder, all or none, and adds their lines to the record. Called in the task's
/// turn, or for a task that is not written yet. If the caller cannot save the record after that, it takes them back.
Result<GivenFiles> give_files(Runner& runner, TaskRecord& record, const std::vector<std::string>& uploads);

/// Returns a message of one line that ends with the paths: "Look (file: /t/files/shot.png)".
std::string message_with(std::string text, const GivenFiles& files);
/// Returns feedback that ends with the paths, each in a line of its own.
std::string feedback_with(std::string text, const GivenFiles& files);

}  // namespace orange

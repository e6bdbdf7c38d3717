#pragma once

#include <filesystem>
#include <string>

/// Snapshots of what Orange says to people: tests/data/voice, one file a command, and each file is its own input:
///
///     # text            a remark for the reader
///     % command         set-up: run by `sh -c` in the project's directory; its output is not shown; it must succeed
///     $ command         a case: run as `%` is, on a terminal of 80 columns
///     > answer          typed at a question of the case above
///
/// What a case printed stands below it, with `[1]` as the last line if the exit status is not 0, and then a blank line.
/// What differs from run to run is shown as something that does not, of the same width: `Nx1R…` is the first task's id,
/// also in commands, then `Bq7T…` and the others of `k_ids`.
namespace orange::tests {

/// tests/data/voice
std::filesystem::path voice_folder();

/// Plays a file of the folder; fails with a diff if something else was said than what stands there. With
/// ORANGE_WRITE_VOICE (`scripts/voice`) the file is rewritten instead.
void play_voice(const std::string& name);

/// The same for a page of docs/, whose screens are in ```console blocks and whose set-up is in comments:
/// <!-- % command -->. With ORANGE_WRITE_VOICE its screens are rewritten.
void play_page(const std::string& name);

}  // namespace orange::tests

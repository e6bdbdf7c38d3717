#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace orange::agents {

/// Whether an agent waits for messages when it has finished a turn, or ends.
enum class Mode { persistent, oneshot };

/// An agent program as data: harnesses/<name>.yml (docs/harnesses.md). What differs between agent
/// programs is in these files and nowhere in the code; a flag that a new version drops is a one-line edit by the user.
struct Harness {
    std::string name;
    std::string program;  ///< looked up on PATH; with a slash: relative to the definition's folder
    Mode mode = Mode::persistent;
    /// argv after the program, by permissions: "full", "reduced", "review". Placeholders, each inside one argument:
    /// {prompt} {effort} {task_dir} {worktree} {repo} {summary} {role}. An argument that is exactly "{effort_args}"
    /// is replaced by the list below, or by nothing.
    std::map<std::string, std::vector<std::string>> argv;
    std::vector<std::string> effort_args;    ///< with {effort}
    std::vector<std::string> effort_values;  ///< empty: any
    std::map<std::string, std::string> env;  ///< same placeholders; one with {effort} is left out where there is none
    std::vector<std::string> exclude;        ///< patterns for .git/info/exclude: files the program leaves in a worktree
    std::vector<std::string> waiting_patterns;  ///< text on the pane that means: a dialog is open, do not type
    std::chrono::milliseconds ready_after{0};   ///< messages typed earlier after the start would be lost
    std::string install_hint;                   ///< how to get it
    /// A variable without which the program refuses to run as root with full permissions. Orange never sets it by
    /// itself: saying "this is a sandbox" is the user's word to give.
    std::string root_needs;

    bool has_effort() const;
};

/// Reads one definition; an Error names line and column and says what would be right.
Result<Harness> load_harness(std::string_view text, std::string_view file_name);

/// invalid_argument for an effort that the harness does not have; says which there are.
Result<void> check_effort(const Harness& harness, const std::string& effort);

struct LaunchRequest {
    std::string permissions;  ///< "full", "reduced" or "review"; "review" falls back to "reduced", that to "full"
    std::string prompt;
    std::optional<std::string> effort;
    std::string task_dir;
    std::string worktree;
    std::string repo;
    std::string role;
    std::string summary;
};

struct Launch {
    std::vector<std::string> argv;  ///< argv[0] absolute
    std::map<std::string, std::string> env;
};

/// The command line of one run. `program` is what HarnessLibrary found. Text of the task ends up inside single
/// arguments only, and never as an argument of its own that could be taken for an option: the definition puts `--`,
/// `--prompt=` or a prefix in front (checked on load). invalid_argument for an effort that the harness does not have.
/// not_found, with the hint how to get it, where `program` is empty.
Result<Launch> launch(const Harness& harness, const std::string& program, const LaunchRequest& request);

/// Whether the program will agree to run with those permissions in that (complete) environment; the runner asks before
/// it spawns, since a refusal inside the pane would only look like a crash.
Result<void> check_root(const Harness& harness, const std::string& permissions,
                        const std::map<std::string, std::string>& environment, bool as_root);

/// A definition and where it is from.
struct HarnessEntry {
    Harness harness;
    std::filesystem::path path;
    std::string program;  ///< absolute; empty: not installed
    std::string problem;  ///< why the definition cannot be used; empty: it can
};

/// ~/orange/harnesses/NAME.yml over the shipped ones. Read anew at each call: the files are few and small.
class HarnessLibrary {
  public:
    /// `path_variable`: the PATH that agents get, where programs are looked up.
    HarnessLibrary(std::filesystem::path shipped, std::filesystem::path user, std::string path_variable);

    std::vector<HarnessEntry> list() const;
    /// not_found lists the names there are; invalid_argument for a broken definition.
    Result<HarnessEntry> find(const std::string& name) const;
    /// The first installed of claude, codex, opencode, pi; nothing where none is.
    std::optional<std::string> first_installed() const;

  private:
    std::filesystem::path shipped_;
    std::filesystem::path user_;
    std::string path_variable_;
};

}  // namespace orange::agents

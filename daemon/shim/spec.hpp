#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.hpp"
#include "common/base/result.hpp"
#include "common/model/role.hpp"

namespace orange {

/// The option of the call that runs an agent on the far side of an executor: `orange-agent --inner SPEC`.
inline constexpr const char* k_inner_option = "--inner";
/// The option of the call that runs a command of the project's behind a wall: `orange-agent --behind VARIABLE… --
/// COMMAND…`. The command gets neither these variables nor the keys of its user's session.
inline constexpr const char* k_behind_option = "--behind";

/// Defines what orange-agent runs: a JSON file (mode 0600, because it has the environment) that the daemon writes
/// before the window opens, and removes when the run has ended. The path of this file is all that tmux knows of an
/// agent. Keys are on disk and are never renamed.
struct RunSpec {
    RunId run;
    TaskId task;
    Role role = Role::worker;
    std::string project;
    std::vector<std::string> argv;
    std::map<std::string, std::string> env;
    std::string cwd;
    std::string worktree;
    std::string exit_file;
    std::string umask;  ///< octal
    std::vector<std::string> scope = {};
    std::int64_t memory_limit = 0;
    std::int64_t processes_limit = 0;
    std::int64_t disk_limit = 0;
    std::string inner_folder = {};
    std::string started_file = {};
    std::string token = {};
    std::string address_file = {};
    std::vector<std::string> copies = {};
    std::string user_namespace = {};

    void describe(auto& v) {
        v.optional("run", run, "the run's id");
        v.optional("task", task, "the task's id");
        v.optional("role", role, "worker or reviewer");
        v.optional("project", project, "the task's project");
        v.required("argv", argv, "argv[0] is looked up in env's PATH if it has no slash");
        v.required("env", env, "the whole environment; TERM is the pane's if it is missing");
        v.optional("cwd", cwd, "absolute; must exist");
        v.optional("worktree", worktree,
                   "absolute, or empty; what is left running with a working directory in it is ended");
        v.optional("exit_file", exit_file, "absolute; where the exit record goes");
        v.sparse("umask", umask, "octal, as \"022\"; the pane's if it is missing");
        v.sparse("scope", scope,
                 "argv that moves the process whose pid is appended into a systemd scope of its own; absent: none");
        v.sparse("memory_limit", memory_limit, "bytes that the agent and all that it starts may use; absent: any");
        v.sparse("processes_limit", processes_limit, "processes that the agent may be with all it starts; absent: any");
        v.sparse("disk_limit", disk_limit, "bytes that a file which the agent writes may have; absent: any");
        v.sparse("inner_folder", inner_folder,
                 "absolute; of a run in an executor: `argv` starts another shim there, which writes started and exit");
        v.sparse("started_file", started_file, "absolute; of that other shim: where it writes that it has begun");
        v.sparse("token", token, "of a run on another machine: what its calls prove to the daemon");
        v.sparse("address_file", address_file, "absolute; of such a run: in it, the daemon says where it answers");
        v.sparse("copies", copies,
                 "absolute; of that other shim: files that it makes, unless they exist, from those of copy_in()");
        v.sparse("user_namespace", user_namespace,
                 "of that other shim: the daemon's; the kernel may hold a box with one of its own to processes_limit");
    }
    bool operator==(const RunSpec&) const = default;
};

/// Returns the content of the file `number` of RunSpec::copies, in the folder in which the far side of the run writes.
std::filesystem::path copy_in(const std::filesystem::path& folder, std::size_t number);

std::string spec_text(const RunSpec& spec);
Result<RunSpec> spec_from_text(std::string_view text);
Result<RunSpec> read_spec(const std::filesystem::path& file);

}  // namespace orange

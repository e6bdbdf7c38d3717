#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "daemon/agents/executor.hpp"
#include "daemon/agents/harness.hpp"
#include "daemon/process/environment.hpp"

namespace orange::agents {

/// A file or folder of the user that an agent's program needs. An executor that hides the user's files shows it.
struct Bind {
    enum class Kind {
        read,   ///< the run reads it
        write,  ///< the run writes to it
        copy,   ///< a file: the run gets a copy, which ends with the run
        empty,  ///< a folder: the run gets an empty one, which ends with the run; if the executor has none, it reads it
    };
    std::string path;
    Kind kind = Kind::read;
    bool operator==(const Bind&) const = default;
};

/// Returns what the program of a run needs of HOME and ORANGE_HOME, in the order in which it has to be shown: the
/// folders of PATH, its own folder, that of the package that it is a part of, and of its definition the `config_binds`,
/// which it writes to, and the `config_reads`. Of these, a folder is read, and a file is copied if the program may
/// replace it: one of at most 16 MiB that is no program itself. "~/.mine/*.json" are those that are in the folder now.
/// A folder outside of HOME that a variable of these lists names is empty but for what the lists show of it, as HOME
/// is. A folder that contains HOME or ORANGE_HOME is left out. No definition has an item of `config_reads` in one of
/// `config_binds`: a process in another mount namespace could replace it, and the next run would show what is there.
std::vector<Bind> binds_of(const Harness& harness, const std::string& program, const Environment& env);

/// Returns the words of {binds} that show them: those of each path once, none for what does not exist, and none for a
/// copy, which the shim on the far side makes. An executor may have words for the folders of HOME above them, too.
std::vector<std::string> words_of(const std::vector<Bind>& binds, const Executor& executor, const Environment& env);

/// Refuses a harness whose program, or what its first line names, is in a folder that the executor hides, unless the
/// binds or a word of the options show it: it would not be found there. `env` is the environment of the agent.
Result<void> check_visible(const Executor& executor, const HarnessEntry& harness, const Environment& env,
                           const std::vector<std::string>& options);

/// Makes the folders among its `config_binds` that do not exist, with mode 0700: a wall shows only what exists, and
/// what the program writes elsewhere goes with the run. An item below HOME, or below a folder that a variable names,
/// is a folder if its name has no ending ("~/.codex/sessions", but not "~/.claude.json").
Result<void> make_config_folders(const Harness& harness, const Environment& env);

/// Makes a folder of the task that a wall shows, and the one that it is in, with mode 0700. Refuses what is there
/// instead of a folder: an agent may have put a link there. `what`: its name for the error.
Result<void> make_shown_folder(const std::string& folder, const std::string& what);

/// Returns the path without links, as far as it exists.
std::string real_path(const std::string& path);

/// Returns the path with the real path of HOME, if it is below HOME. Other links keep their names, by which programs
/// find their files.
std::string in_real_home(const std::string& path, const Environment& env);

/// Names the real HOME wherever variables, PATH and words begin with it: a wall may hide the link by which the user
/// names it, as in /tmp.
void name_real_home(Environment& env, std::vector<std::string>& words);

}  // namespace orange::agents

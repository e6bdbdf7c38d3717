#pragma once

#include <functional>
#include <string>
#include <vector>

/// The programs between an agent and the caller. A call by a test that the reviewer ran comes from below the reviewer's
/// orange-agent, like a call of the reviewer itself: only the programs in between show the difference.
namespace orange::agents {

/// A running program, as far as it is known.
struct Program {
    std::string file;                   ///< its executable, absolute
    std::string script;                 ///< the script that an interpreter executes, absolute; otherwise empty
    std::string name;                   ///< "make"; a script's name; the program's own title if nothing else is known
    std::vector<std::string> known_as;  ///< by its executable, title, script or module
    bool shell = false;                 ///< it executes words or lines, whatever these start

    bool operator==(const Program&) const = default;
};

/// Returns the program with these entries of /proc. `directory` is its working directory, for a script with a relative
/// path.
Program program_of(const std::string& exe, const std::vector<std::string>& argv, const std::string& directory);

/// True for make, npm, pytest and similar programs, which run what they find in a worktree.
bool is_runner(const Program& program);

struct CallChain {
    std::string text;     ///< "claude > bash > make > sh > orange", the agent first
    std::string through;  ///< the runner or the worktree's program in the chain; empty: none

    bool operator==(const CallChain&) const = default;
};

/// Returns the chain of `programs`: the caller first, the child of the orange-agent last. A runner such as npx may
/// start the agent's own program, so only programs below that count. The caller itself may be a program of the
/// worktree.
CallChain call_chain(const std::vector<Program>& programs, const std::function<bool(const std::string&)>& in_worktree);

}  // namespace orange::agents

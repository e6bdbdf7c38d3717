#pragma once

#include <functional>
#include <string>
#include <vector>

/// What stands between an agent and whoever calls for it. A verdict that a test wrote, which the reviewer ran, comes
/// from below the reviewer's orange-agent as one of its own does: only the programs in between tell them apart.
namespace orange::agents {

/// A running program, as far as it can be told.
struct Program {
    std::string file;    ///< of its executable; absolute
    std::string script;  ///< what an interpreter executes, absolute; else empty
    std::string name;    ///< "make"; a script's own; what a program calls itself where that is all there is
    std::vector<std::string> known_as;  ///< by its executable, title, script or module
    bool shell = false;                 ///< one that executes words or lines, whatever these start

    bool operator==(const Program&) const = default;
};

/// From what /proc says. `directory`: its working directory, for a script named without one.
Program program_of(const std::string& exe, const std::vector<std::string>& argv, const std::string& directory);

/// make, npm, pytest and the like, whose work it is to run what they find in a worktree.
bool is_runner(const Program& program);

struct CallChain {
    std::string text;     ///< "claude > bash > make > sh > orange", the agent first
    std::string through;  ///< the runner or the worktree's program among them; empty: none

    bool operator==(const CallChain&) const = default;
};

/// `programs`: the caller first, the child of the orange-agent last. What starts the agent's own program may be a
/// runner (npx): only what is below that counts. The caller itself may be a worktree's program.
CallChain call_chain(const std::vector<Program>& programs, const std::function<bool(const std::string&)>& in_worktree);

}  // namespace orange::agents

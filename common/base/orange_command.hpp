#pragma once

#include <string>
#include <string_view>

namespace orange {

/// A command that a person or an agent can run. In JSON it is the text that they type.
struct OrangeCommand {
    std::string verb;        ///< "task respawn"; empty: `options` is another program's command, or there is no command
    std::string about = {};  ///< the task or the project; empty: none, or the calling agent's own task
    std::string options = {};  ///< the rest of the command line: "--status reviewing"

    bool empty() const { return verb.empty() && options.empty(); }
    std::string text() const;
    static OrangeCommand from_text(std::string_view text);

    bool operator==(const OrangeCommand&) const = default;
};

/// Makes "orange task update 4f2a --status reviewing". Without an id, the command applies to the task of the agent that
/// runs it.
OrangeCommand task_command(std::string_view verb, std::string id = {}, std::string_view options = {});

}  // namespace orange

#pragma once

#include <string>
#include <string_view>

namespace orange {

/// A command that a person or an agent can run, as data. Its form in JSON is the text that they type.
struct OrangeCommand {
    std::string verb;          ///< "task respawn"; empty: `options` is a command of another program, or nothing
    std::string about = {};    ///< the task or the project; empty: there is none, or it is the task of the agent
    std::string options = {};  ///< the rest as it is typed: "--status reviewing"

    bool empty() const { return verb.empty() && options.empty(); }
    std::string text() const;
    static OrangeCommand from_text(std::string_view text);

    bool operator==(const OrangeCommand&) const = default;
};

/// "orange task update 4f2a --status reviewing". Without an id the command is about the task of the agent that runs it.
OrangeCommand task_command(std::string_view verb, std::string id = {}, std::string_view options = {});

}  // namespace orange

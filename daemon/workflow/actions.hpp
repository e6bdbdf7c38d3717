#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orange::workflow {

/// The kinds of values that a parameter of an action can have.
enum class ParamKind {
    prompt,   ///< a key of `prompts`
    choice,   ///< one of `choices`
    harness,  ///< one of `choices`, or the name of a harness
    field,    ///< a number of the task that increment and set_field may change
    integer,  ///< a whole number
    seconds,  ///< a whole number, 1 to 3600
    message,  ///< one of `choices`, or a sentence
    text,     ///< any text of one line
    argv,     ///< a list: a program and its arguments
};

/// A parameter of an action: its name, its kind, and the values that it may have.
struct ParamSpec {
    std::string name;
    ParamKind kind = ParamKind::text;
    bool required = false;
    std::vector<std::string> choices = {};
    std::string standard = {};  ///< default value; if empty, the parameter is left out
};

struct ActionSpec {
    std::string name;
    std::vector<ParamSpec> params;
};

/// The actions that `hooks` may name (docs/workflow.md), and their parameters. daemon/runner/actions implements them.
const std::vector<ActionSpec>& action_specs();
const ActionSpec* find_action(std::string_view name);

}  // namespace orange::workflow

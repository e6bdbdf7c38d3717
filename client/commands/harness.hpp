#pragma once

#include "client/commands/context.hpp"
#include "common/rpc/harness_methods.hpp"

/// Agent programs.
namespace orange::commands {

int harness_list(Context& context, rpc::HarnessList params);
/// `source`: the file's text instead of its command lines.
int harness_show(Context& context, const rpc::HarnessShow& params, bool source);
/// Shows what would be written, and asks; `yes` has said so in advance. Without a terminal and without `yes` nothing is
/// written.
int harness_trust(Context& context, rpc::HarnessTrust params, bool yes);

struct HarnessExplainOptions {
    rpc::HarnessExplain params;
    std::optional<std::string> what;  ///< a task; with a harness: a file with a saved screen, "-": standard input
    std::optional<std::string> save;  ///< the file into which title and screen are written
};
/// Which texts of a definition are on a screen, and what follows from them.
int harness_explain(Context& context, HarnessExplainOptions options);

struct HarnessNew {
    std::string name;
    std::string from = "claude";
    bool force = false;
};
/// Writes ~/orange/harnesses/NAME.yml, a commented copy of another definition that can be used at once. `conflict`: the
/// file exists, and `force` is not given.
int harness_new(Context& context, const HarnessNew& options);

struct HarnessTest {
    std::string name;
    std::string executor =
        {};  ///< the trial is about it, and the demo agent makes it; empty: the trial is about the harness
    std::string executor_options = {};
    std::string permissions;
    bool yes = false;
    bool keep = false;
    int timeout_seconds = 300;
};
/// Plays one short life in a scratch repository and says of each step whether it works; 1 if one does not. Asks first,
/// because it calls a model.
int harness_test(Context& context, const HarnessTest& options);

}  // namespace orange::commands

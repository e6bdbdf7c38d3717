#pragma once

#include "client/commands/context.hpp"
#include "common/rpc/harness_methods.hpp"

/// The commands about agents' programs.
namespace orange::commands {

Status harness_list(Context& context, rpc::HarnessList params);
/// `source`: prints the file's text instead of its command lines.
Status harness_show(Context& context, const rpc::HarnessShow& params, bool source);
/// Shows what would be written, and asks for confirmation, unless `yes`. Without a terminal and without `yes` nothing
/// is written.
Status harness_trust(Context& context, rpc::HarnessTrust params, bool yes);

struct HarnessExplainOptions {
    rpc::HarnessExplain params;
    std::optional<std::string> what;  ///< a task; with a harness: a file with a saved screen, "-": standard input
    std::optional<std::string> save;  ///< the file into which title and screen are written
};
/// Prints which texts of a definition are on a screen, and what Orange concludes from them.
Status harness_explain(Context& context, HarnessExplainOptions options);

struct HarnessNew {
    std::string name;
    std::string from = "claude";
    bool force = false;
};
/// Writes ~/orange/harnesses/NAME.yml, a usable, commented copy of another definition. conflict if the file exists and
/// `force` is not set.
Status harness_new(Context& context, const HarnessNew& options);

struct HarnessTest {
    std::string name;
    std::string executor =
        {};  ///< the trial is about it, and the demo agent makes it; empty: the trial is about the harness
    std::string executor_options = {};
    std::string permissions;
    bool yes = false;
    bool trust = false;  ///< the program gets its arguments of trust for the scratch repository
    bool keep = false;
    int timeout_seconds = 300;
};
/// Plays one short life of the program in a scratch repository, and prints for each step whether it works; 1 if a step
/// fails. Asks for confirmation first, because it calls a model.
Status harness_test(Context& context, const HarnessTest& options);

}  // namespace orange::commands

// `orange harness test`: plays one short life with a program (trial.hpp), and says what works and what to change.
#include "client/commands/harness.hpp"
#include "client/commands/interrupts.hpp"
#include "client/commands/trial.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::commands {
namespace {

Result<void> agree(const Context& context, const HarnessTest& options) {
    if (options.yes || options.name == "demo") return {};
    const auto permissions = options.permissions.empty() ? "full" : options.permissions;
    const std::string what = "This starts " + options.name + " with " + permissions +
                             " permissions in a scratch repository, with trust in that repository. It calls its "
                             "model, which may cost money.";
    if (context.json || !output::is_interactive()) {
        return {ErrorCode::needs_force, what + " To agree:\n  orange harness test " + options.name + " --yes"};
    }
    output::put_now(output::wrapped(what, "", context.style.width));
    if (output::confirmed("Start it?")) return {};
    return {ErrorCode::needs_force, "nothing was started"};
}

void say_result(const Context& context, const HarnessTest& options, const Trial& trial) {
    const auto own = context.paths.harnesses() / (options.name + ".yml");
    std::error_code ignored;
    const bool is_own = std::filesystem::exists(own, ignored);
    if (!trial.failed()) {
        if (is_own && !trial.tried()) {
            output::put("\nNothing failed. Remove the line \"tried: false\" from " + own.string() + ". To use it:");
        } else {
            output::put("\nNothing failed. To use it:");
        }
        output::put("\n  orange run --harness " + options.name + " \"...\"\n");
        return;
    }
    const auto report = trial.report();
    if (const auto window = report.find("window"); window != report.end()) {
        output::put("\nThe end of its window:\n");
        for (const auto line : split_lines(window->get_ref<const std::string&>())) {
            output::put(output::wrapped(line, "  ", context.style.width));
        }
    }
    if (is_own) {
        output::put("\nIf you have to change the definition, edit this file and run the test again:\n  " +
                    own.string() + "\n");
    } else {
        output::put(
            "\nIf you have to change the definition, make a copy, edit it and run the test again:\n"
            "  orange harness new " +
            options.name + " --from " + options.name + "\n");
    }
}

Result<void> check_before(Context& context, const HarnessTest& options) {
    TRY(auto daemon, context.daemon());
    rpc::HarnessShow show;
    show.name = options.name;
    TRY(daemon->call(show));
    return agree(context, options);
}

}  // namespace

int harness_test(Context& context, const HarnessTest& options) {
    if (const auto ready = check_before(context, options); !ready) return fail(context, ready.error());
    catch_interrupts();
    auto repository = ScratchRepository::make();
    if (!repository) return fail(context, repository.error());
    Trial trial(context, options, std::move(*repository));
    const auto done = trial.run();
    if (!done) {
        fail(context, done.error());
    } else if (context.json) {
        put_json(trial.report());
    } else {
        say_result(context, options, trial);
    }
    output::put_now("");
    trial.clean_up();
    return done && !trial.failed() ? 0 : 1;
}

}  // namespace orange::commands

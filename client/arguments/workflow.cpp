#include "client/arguments/command.hpp"
#include "client/commands/definitions.hpp"

namespace orange::arguments {
namespace {

Action workflow_show(CLI::App& app) {
    struct Arguments {
        std::string name;
        bool source = false;
    };
    auto a = std::make_shared<Arguments>();
    app.add_option("NAME", a->name, "Name of the workflow")->required();
    app.add_flag("--source", a->source, "Print the definition file instead of the transitions");
    return [a](Context& context) { return commands::workflow_show(context, a->name, a->source); };
}

Action workflow_graph(CLI::App& app) {
    struct Arguments {
        std::string name;
        std::string format = "text";
    };
    auto a = std::make_shared<Arguments>();
    app.add_option("NAME", a->name, "Name of the workflow")->required();
    app.add_option("--format", a->format, "text (default), mermaid or dot (Graphviz)");
    return [a](Context& context) { return commands::workflow_graph(context, a->name, a->format); };
}

Action workflow_export(CLI::App& app) {
    auto params = std::make_shared<rpc::WorkflowExport>();
    app.add_option("NAME", params->name, "Name of the workflow")->required();
    text(app, "--as", params->as, "Name of the copy; default: the name of the workflow");
    app.add_flag("--force", params->force, "Replace an existing file");
    return [params](Context& context) { return commands::workflow_export(context, *params); };
}

Action workflow_validate(CLI::App& app) {
    auto file = std::make_shared<std::string>();
    app.footer("A warning is about what may have been forgotten; the workflow is valid, and the exit status is 0.");
    app.add_option("FILE", *file, "Workflow file, or the name of a workflow; - reads standard input")->required();
    return [file](Context& context) { return commands::workflow_validate(context, *file); };
}

constexpr Command k_workflow_commands[] = {
    {"workflow", "list", "List the workflows", bare<commands::workflow_list>},
    {"workflow", "show", "Show the states and transitions of a workflow", workflow_show},
    {"workflow", "graph", "Draw a workflow", workflow_graph},
    {"workflow", "export", "Copy a workflow to ~/orange/workflows to edit it", workflow_export},
    {"workflow", "validate", "Check a workflow", workflow_validate},
};

}  // namespace

std::span<const Command> workflow_commands() {
    return k_workflow_commands;
}

}  // namespace orange::arguments

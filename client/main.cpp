// The command line of `orange`: what can be said, and which command that is. No more: the commands are in commands/.
//
// Only the parser of the subcommand that was called is built. That keeps the start at a fraction of a millisecond, and
// a summary such as `orange task create list` is never taken for the name of another subcommand.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <functional>
#include <memory>

#include "client/commands/daemon.hpp"
#include "client/commands/definitions.hpp"
#include "client/commands/demo.hpp"
#include "client/commands/project.hpp"
#include "client/commands/task.hpp"
#include "common/base/text.hpp"

namespace orange {
namespace {

using commands::Context;
using Action = std::function<int(Context&)>;
using Text = std::optional<std::string>;

constexpr int k_usage_error = 2;

// --- words that several subcommands have
// ------------------------------------------------------------------------------

/// An option with a text. An empty one is a value too (`--effort ""` takes the effort away).
CLI::Option* text(CLI::App& app, const char* name, Text& into, const char* doc) {
    return app
        .add_option_function<std::string>(
            name, [&into](const std::string& value) { into = value; }, doc)
        ->type_name("TEXT");
}
void number(CLI::App& app, const char* name, std::optional<int>& into, const char* doc) {
    app.add_option_function<int>(
           name, [&into](const int& value) { into = value; }, doc)
        ->type_name("N");
}
void id(CLI::App& app, Text& into) {
    text(app, "ID", into, "The task, or the beginning of its id; in a workspace: its own");
}

/// Subcommands that take nothing but a task.
template <class Params, int (*command)(Context&, Params)>
Action only_id(CLI::App& app) {
    auto params = std::make_shared<Params>();
    id(app, params->id);
    return [params](Context& context) { return command(context, *params); };
}
template <int (*command)(Context&)>
Action bare(CLI::App&) {
    return [](Context& context) { return command(context); };
}

// --- task
// ---------------------------------------------------------------------------------------------------------------

Action task_create(CLI::App& app) {
    struct Arguments {
        rpc::TaskCreate params;
        std::vector<std::string> words;
    };
    auto a = std::make_shared<Arguments>();
    app.add_option("SUMMARY", a->words, "What is to be done, one line; none: the agent asks");
    text(app, "-p,--project", a->params.project, "The project; else the one that this directory is in");
    text(app, "-b,--branch", a->params.branch, "Branch to work on; orange-tasks/<id> where absent");
    app.add_option("--summary", a->params.summary, "The summary, in place of the bare words");
    text(app, "-c,--context", a->params.context, "Markdown for the agent; - reads standard input");
    text(app, "--workflow", a->params.workflow, "Else the project's, else default");
    text(app, "--harness", a->params.harness, "Which agent works");
    text(app, "--review-harness", a->params.review_harness, "Which agent reviews");
    text(app, "--effort", a->params.effort, "The worker's effort, as its harness names it");
    text(app, "--review-effort", a->params.review_effort, "The reviewer's effort");
    app.add_flag("--no-spawn", a->params.no_spawn, "Only create it; `orange task spawn` starts it");
    app.footer(
        "Examples:\n"
        "  orange task create \"Let users sign in with a passkey\"\n"
        "  orange task create --project shop --branch fix/total \"Round the total\"\n"
        "  git show HEAD | orange task create --context - \"Explain this commit in the docs\"");
    return [a](Context& context) { return commands::task_create(context, a->params, a->words); };
}

Action task_list(CLI::App& app) {
    struct Arguments {
        rpc::TaskList params;
        bool everywhere = false;
    };
    auto a = std::make_shared<Arguments>();
    text(app, "-p,--project", a->params.project, "Only this project's; else the one that this directory is in");
    app.add_flag("-e,--everywhere", a->everywhere, "Every project's");
    text(app, "-s,--status", a->params.status, "Only tasks of this status");
    app.add_flag("-a,--all", a->params.all, "Ended tasks (done, cancelled) too");
    app.add_option("-n,--limit", a->params.limit, "At most so many, newest first")->check(CLI::NonNegativeNumber);
    app.footer("● an agent runs   ✗ it died   ? unknown   ○ none   ! what wants your attention");
    return [a](Context& context) { return commands::task_list(context, a->params, a->everywhere); };
}

Action task_respawn(CLI::App& app) {
    auto params = std::make_shared<rpc::TaskRespawn>();
    id(app, params->id);
    app.add_flag("--all", params->all, "Every task whose agent is dead");
    return [params](Context& context) { return commands::task_respawn(context, *params); };
}

Action task_update(CLI::App& app) {
    auto params = std::make_shared<rpc::TaskUpdate>();
    id(app, params->id);
    text(app, "-s,--status", params->status, "A state of the workflow to move to");
    text(app, "--summary", params->summary, "New summary, one line");
    text(app, "--branch", params->branch, "Rename the branch, or switch to it; alone: take over git's")
        ->expected(0, 1)
        ->type_name("[NAME]");
    text(app, "--workflow", params->workflow, "Move to another workflow");
    text(app, "--harness", params->harness, "Which agent works, from its next start");
    text(app, "--review-harness", params->review_harness, "Which agent reviews, from its next start");
    text(app, "--effort", params->effort, "The worker's effort; empty: none");
    text(app, "--review-effort", params->review_effort, "The reviewer's effort; empty: none");
    text(app, "--feedback", params->feedback, "Text for ## Feedback; - reads standard input");
    app.add_flag("--force", params->force, "Take a transition that wants a confirmation");
    app.footer(
        "Examples:\n"
        "  orange task update --status agent-review       (the agent, in its workspace)\n"
        "  orange task update 4f2a --status working --feedback \"Name the columns\"\n"
        "  git branch -m fix/total && orange task update --branch");
    return [params](Context& context) { return commands::task_update(context, *params); };
}

Action task_peek(CLI::App& app) {
    auto params = std::make_shared<rpc::TaskPeek>();
    id(app, params->id);
    app.add_option("-n,--lines", params->lines, "How many lines, 1 to 5000")->capture_default_str();
    text(app, "--role", params->role, "worker or reviewer; else whoever is at work");
    return [params](Context& context) { return commands::task_peek(context, *params); };
}

Action task_send(CLI::App& app) {
    struct Arguments {
        rpc::TaskSend params;
        std::vector<std::string> words;
    };
    auto a = std::make_shared<Arguments>();
    app.add_option("WORDS", a->words, "[ID] TEXT: of several words the first is the task; - reads standard input")
        ->required()
        ->type_name("[ID] TEXT");
    text(app, "--role", a->params.role, "worker (default) or reviewer");
    app.footer(
        "Examples:\n"
        "  orange task send 4f2a \"Use the existing helper\"\n"
        "  orange task send \"Use the existing helper\"     (in the task's workspace)");
    return [a](Context& context) { return commands::task_send(context, a->params, a->words); };
}

template <class Params>
struct Ending {
    Params params;
    bool yes = false;
};

Action task_merge(CLI::App& app) {
    auto a = std::make_shared<Ending<rpc::TaskMerge>>();
    id(app, a->params.id);
    app.add_option("--strategy", a->params.strategy, "merge (a merge commit) or ff (fast-forward only)")
        ->check(CLI::IsMember({"merge", "ff"}))
        ->capture_default_str();
    app.add_flag("--force", a->params.force, "Although it is not reviewed");
    app.add_flag("-y,--yes", a->yes, "Answer the question with yes");
    return [a](Context& context) { return commands::task_merge(context, a->params, a->yes); };
}
Action task_cancel(CLI::App& app) {
    auto a = std::make_shared<Ending<rpc::TaskCancel>>();
    id(app, a->params.id);
    app.add_flag("-y,--yes", a->yes, "Do not ask");
    return [a](Context& context) { return commands::task_cancel(context, a->params, a->yes); };
}
Action task_delete(CLI::App& app) {
    auto a = std::make_shared<Ending<rpc::TaskDelete>>();
    id(app, a->params.id);
    app.add_flag("--force", a->params.force, "Cancel it first where it has not ended");
    app.add_flag("-y,--yes", a->yes, "Do not ask");
    return [a](Context& context) { return commands::task_delete(context, a->params, a->yes); };
}

// --- project, workspace
// -------------------------------------------------------------------------------------------------

CLI::Option* setup(CLI::App& app, std::vector<std::string>& into) {
    return app
        .add_option("--setup", into,
                    "Command run in a workspace before its agent: --setup npm ci; a word that "
                    "begins with '-' as --setup=-x")
        ->type_name("ARG…");
}

Action project_add(CLI::App& app) {
    auto params = std::make_shared<rpc::ProjectAdd>();
    app.add_option("PATH", params->path, "A git repository; else the one that this directory is in");
    text(app, "--name", params->name, "Its name; the folder's where absent");
    text(app, "--default-branch", params->default_branch, "What tasks begin at and are merged into");
    number(app, "--pool-size", params->pool_size, "At most so many workspaces, 1 to 64; 2 where absent");
    text(app, "--workflow", params->workflow, "Workflow of new tasks");
    text(app, "--harness", params->harness, "Harness of new tasks");
    setup(app, params->setup);
    app.footer("Example:\n  orange project add ~/src/shop --pool-size 3 --setup npm ci");
    return [params](Context& context) { return commands::project_add(context, *params); };
}

Action project_update(CLI::App& app) {
    struct Arguments {
        rpc::ProjectUpdate params;
        std::vector<std::string> setup;
        bool no_setup = false;
    };
    auto a = std::make_shared<Arguments>();
    text(app, "NAME", a->params.name, "The project; else the one that this directory is in");
    text(app, "--path", a->params.path, "Where the repository is now");
    text(app, "--default-branch", a->params.default_branch, "What tasks begin at and are merged into");
    number(app, "--pool-size", a->params.pool_size, "At most so many workspaces, 1 to 64");
    text(app, "--workflow", a->params.workflow, "Workflow of new tasks; empty: default");
    text(app, "--harness", a->params.harness, "Harness of new tasks; empty: first installed");
    setup(app, a->setup);
    app.add_flag("--no-setup", a->no_setup, "No command before an agent");
    return [a](Context& context) {
        if (!a->setup.empty() || a->no_setup) a->params.setup = a->setup;
        return commands::project_update(context, a->params);
    };
}

Action project_remove(CLI::App& app) {
    auto params = std::make_shared<rpc::ProjectRemove>();
    app.add_option("NAME", params->name, "The project; it must have no active task")->required();
    return [params](Context& context) { return commands::project_remove(context, *params); };
}

template <class Params, int (*command)(Context&, Params)>
Action only_project(CLI::App& app) {
    auto params = std::make_shared<Params>();
    text(app, "PROJECT,-p,--project", params->project, "Only this project's");
    return [params](Context& context) { return command(context, *params); };
}

// --- workflow, harness, daemon
// ------------------------------------------------------------------------------------------

Action workflow_show(CLI::App& app) {
    struct Arguments {
        std::string name;
        bool source = false;
    };
    auto a = std::make_shared<Arguments>();
    app.add_option("NAME", a->name, "Which workflow")->required();
    app.add_flag("--source", a->source, "The file in place of its transitions");
    return [a](Context& context) { return commands::workflow_show(context, a->name, a->source); };
}

Action workflow_validate(CLI::App& app) {
    auto file = std::make_shared<std::string>();
    app.add_option("FILE", *file, "A definition; - reads standard input")->required();
    return [file](Context& context) { return commands::workflow_validate(context, *file); };
}

Action supervise(CLI::App& app) {
    auto program = std::make_shared<std::string>();
    app.add_option("ORANGED", *program, "The daemon's program")->required();
    return [program](Context&) { return commands::daemon_supervise(*program); };
}

Action demo(CLI::App& app) {
    auto options = std::make_shared<commands::DemoOptions>();
    app.add_flag("--keep", options->keep, "Leave repository, project and task for a look around");
    app.add_flag("--crash", options->crash, "Let the agent crash once");
    app.add_option("--timeout", options->timeout_seconds, "Seconds until the review must have passed")
        ->check(CLI::Range(1, 3600))
        ->capture_default_str();
    return [options](Context& context) { return commands::demo(context, *options); };
}

Action version(CLI::App&) {
    return [](Context& context) { return commands::version(context); };
}

// --- the table
// ----------------------------------------------------------------------------------------------------------

struct Command {
    const char* group;  ///< empty: `orange NAME`
    const char* name;
    const char* summary;
    Action (*build)(CLI::App&);
    bool hidden = false;
};

constexpr Command k_commands[] = {
    {"task", "create", "Create a task; an agent starts on it", task_create},
    {"task", "list", "The tasks of this project", task_list},
    {"task", "show", "All about one task", only_id<rpc::TaskShow, commands::task_show>},
    {"task", "why", "What the task waits for, and what is missing", only_id<rpc::TaskWhy, commands::task_why>},
    {"task", "history", "What has happened", only_id<rpc::TaskHistory, commands::task_history>},
    {"task", "attach", "Sit down at the agent's terminal", only_id<rpc::TaskAttach, commands::task_attach>},
    {"task", "peek", "The end of the agent's screen", task_peek},
    {"task", "send", "A message for the agent", task_send},
    {"task", "spawn", "Start the agent of a pending task", only_id<rpc::TaskSpawn, commands::task_spawn>},
    {"task", "respawn", "Start a dead agent again", task_respawn},
    {"task", "update", "Change status, summary, branch, harness", task_update},
    {"task", "complete", "The work is done: to review", only_id<rpc::TaskComplete, commands::task_complete>},
    {"task", "stuck", "No way on: ask for help", only_id<rpc::TaskStuck, commands::task_stuck>},
    {"task", "ack", "Clear the attention mark", only_id<rpc::TaskAck, commands::task_ack>},
    {"task", "merge", "Merge the branch; the task is done", task_merge},
    {"task", "cancel", "End it without merging", task_cancel},
    {"task", "delete", "Remove it with its files", task_delete},
    {"project", "add", "Register a git repository", project_add},
    {"project", "list", "All projects", bare<commands::project_list>},
    {"project", "update", "Change a project's settings", project_update},
    {"project", "remove", "Forget a project", project_remove},
    {"workspace", "init", "Make the pool's worktrees now", only_project<rpc::WorkspaceInit, commands::workspace_init>},
    {"workspace", "list", "The worktrees and who has them", only_project<rpc::WorkspaceList, commands::workspace_list>},
    {"workspace", "gc", "Free what no live task holds", only_project<rpc::WorkspaceGc, commands::workspace_gc>},
    {"workflow", "list", "The workflows", bare<commands::workflow_list>},
    {"workflow", "show", "A workflow's states and transitions", workflow_show},
    {"workflow", "validate", "Check a workflow file", workflow_validate},
    {"harness", "list", "The agents that can be used", bare<commands::harness_list>},
    {"daemon", "start", "Start the daemon (other commands do so by themselves)", bare<commands::daemon_start>},
    {"daemon", "stop", "End the daemon; agents go on", bare<commands::daemon_stop>},
    {"daemon", "status", "What the daemon does", bare<commands::daemon_status>},
    {"daemon", "reload", "Read settings, workflows, harnesses anew", bare<commands::daemon_reload>},
    {"daemon", "supervise", "Run oranged and start it again when it crashes", supervise, true},
    {"", "demo", "One task from create to done in a scratch repository", demo},
    {"", "version", "The client's version", version},
};

std::string listed(std::string_view group, std::string_view indent) {
    std::string out;
    for (const auto& command : k_commands) {
        if (command.hidden || command.group != group) continue;
        std::string name = command.name;
        name.resize(std::max<std::size_t>(name.size() + 2, 11), ' ');
        out += std::string(indent) + name + command.summary + "\n";
    }
    return out;
}

std::string overview() {
    return "Orange runs coding agents, each in a git worktree and a tmux session of its own.\n\n"
           "  orange project add                 in a git repository, once\n"
           "  orange task create \"what to do\"    an agent starts on it\n"
           "  orange task list                   how far they are\n"
           "  orange task attach ID              sit down at an agent's terminal\n"
           "  orange task merge ID               take over what was reviewed\n\n"
           "Commands (orange GROUP --help says more):\n"
           "  orange task       create list show why history attach peek send spawn respawn update\n"
           "                    complete stuck ack merge cancel delete\n"
           "  orange project    add list update remove\n"
           "  orange workspace  init list gc\n"
           "  orange workflow   list show validate\n"
           "  orange harness    list\n"
           "  orange daemon     start stop status reload\n"
           "  orange demo       see one task travel its whole life\n\n"
           "--json works everywhere: one line on standard output, errors too.\n";
}

bool is_group(std::string_view word) {
    for (const auto& command : k_commands) {
        if (*command.group && word == command.group) return true;
    }
    return false;
}

const Command* find_command(std::string_view group, std::string_view name) {
    for (const auto& command : k_commands) {
        if (command.group == group && command.name == name) return &command;
    }
    return nullptr;
}

int usage_error(const std::string& problem, const std::string& help) {
    output::complain("orange: " + printable(problem) + "\nSee: " + help + "\n");
    return k_usage_error;
}

// --- running
// ------------------------------------------------------------------------------------------------------------

/// `words` are the arguments behind the command's name.
int run(const Command& command, std::vector<std::string> words, bool json) {
    const std::string name = std::string("orange ") + command.group + (*command.group ? " " : "") + command.name;
    CLI::App app(command.summary, name);
    app.get_formatter()->column_width(28);
    app.add_flag("--json", json, "The reply as JSON, one line");
    const Action action = command.build(app);
    std::reverse(words.begin(), words.end());
    try {
        app.parse(words);
    } catch (const CLI::CallForHelp&) {
        output::put(app.help());
        return 0;
    } catch (const CLI::ParseError& error) {
        return usage_error(error.what(), name + " --help");
    }
    auto paths = paths_from_environment();
    if (!paths) {
        output::complain("orange: " + printable(paths.error().message) + "\n");
        return 1;
    }
    Context context(std::move(*paths), json);
    return action(context);
}

int dispatch(std::vector<std::string> words) {
    bool json = false;
    while (!words.empty() && words.front() == "--json") {
        json = true;
        words.erase(words.begin());
    }
    const auto take = [&] {
        std::string word = words.front();
        words.erase(words.begin());
        return word;
    };
    const auto is_help = [](const std::string& word) { return word == "--help" || word == "-h" || word == "help"; };
    if (words.empty() || is_help(words.front())) {
        output::put(overview());
        return 0;
    }
    std::string first = take();
    if (first == "--version") first = "version";
    if (const auto* command = find_command("", first)) return run(*command, std::move(words), json);
    if (!is_group(first)) return usage_error("there is no command \"" + first + "\"", "orange --help");
    if (words.empty() || is_help(words.front())) {
        output::put("orange " + first + " COMMAND\n\n" + listed(first, "  ") + "\nSee: orange " + first +
                    " COMMAND --help\n");
        return words.empty() ? k_usage_error : 0;
    }
    const auto second = take();
    if (const auto* command = find_command(first, second)) return run(*command, std::move(words), json);
    return usage_error("there is no command \"" + first + " " + second + "\"", "orange " + first + " --help");
}

/// A caller may have closed them; a socket must not get one of these numbers.
void open_standard_descriptors() {
    for (int fd = ::open("/dev/null", O_RDWR); fd >= 0; fd = ::open("/dev/null", O_RDWR)) {
        if (fd <= STDERR_FILENO) continue;
        ::close(fd);
        break;
    }
}

}  // namespace
}  // namespace orange

int main(int argc, char** argv) {
    orange::open_standard_descriptors();
    ::signal(SIGPIPE, SIG_IGN);
    try {
        return orange::output::finish(orange::dispatch({argv + 1, argv + argc}));
    } catch (const std::exception& bug) {
        orange::output::complain(std::string("orange: this is a bug: ") + orange::printable(bug.what()) + "\n");
        return orange::output::finish(1);
    }
}

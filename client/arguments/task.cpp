#include "client/commands/task.hpp"
#include "client/arguments/command.hpp"
#include "client/arguments/watch.hpp"

namespace orange::arguments {
namespace {

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
    text(app, "-s,--status", a->params.status, "Begin there: clarification, agent-review, reviewing");
    text(app, "--base", a->params.base, "Where a new branch begins: a branch, tag or commit");
    app.add_flag("--no-spawn", a->params.no_spawn, "Only create it; `orange task spawn` starts it");
    app.footer(
        "Examples:\n"
        "  orange task create \"Let users sign in with a passkey\"\n"
        "  orange task create --project shop --branch fix/total \"Round the total\"\n"
        "  git show HEAD | orange task create --context - \"Explain this commit in the docs\"\n"
        "  orange task create --branch total --base release-2 \"Round the total there too\"\n"
        "  orange task create --branch pr-12 --status agent-review \"Retry failed uploads\"\n"
        "                                        (only a reviewer, on a branch that is there)\n"
        "  orange task create --branch done-by-hand --status reviewing   (only to be merged)");
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
    app.add_flag("--no-push", a->params.no_push, "Merge here only: nothing changes at origin");
    app.add_flag("--keep-branch", a->params.keep_branch, "Do not delete the local branch");
    app.add_flag("--include-unpushed", a->params.include_unpushed,
                 "Push your own commits of the default branch with it");
    app.add_flag("--force", a->params.force, "Merge although it is not reviewed, has changed since, or has a warning");
    app.add_flag("-y,--yes", a->yes, "Do not ask; what needs --force is refused");
    app.footer(
        "The merge is built on origin's default branch, pushed, and repeated if somebody else pushes first.\n"
        "A merge that was interrupted is finished by the daemon, or by the same command.");
    return [a](Context& context) { return commands::task_merge(context, a->params, a->yes); };
}
Action task_cancel(CLI::App& app) {
    auto a = std::make_shared<Ending<rpc::TaskCancel>>();
    id(app, a->params.id);
    app.add_flag("--force", a->params.force, "Give up an unfinished merge although origin does not answer");
    app.add_flag("-y,--yes", a->yes, "Do not ask; needed where there is no terminal to ask on");
    return [a](Context& context) { return commands::task_cancel(context, a->params, a->yes); };
}
Action task_delete(CLI::App& app) {
    auto a = std::make_shared<Ending<rpc::TaskDelete>>();
    id(app, a->params.id);
    app.add_flag("--force", a->params.force, "Cancel it first where it has not ended");
    app.add_flag("-y,--yes", a->yes, "Do not ask; needed where there is no terminal to ask on");
    return [a](Context& context) { return commands::task_delete(context, a->params, a->yes); };
}

constexpr Command k_task_commands[] = {
    {"task", "create", "Create a task; an agent starts on it", task_create},
    {"task", "list", "The tasks of this project", task_list},
    {"task", "show", "All about one task", only_id<rpc::TaskShow, commands::task_show>},
    {"task", "why", "What the task waits for, and what is missing", only_id<rpc::TaskWhy, commands::task_why>},
    {"task", "history", "What has happened", task_history},
    {"task", "wait", "Wait until the task needs you, or is as you say", task_wait},
    {"task", "log", "What the windows of ended agents showed", task_log},
    {"task", "attach", "Sit down at the agent's terminal", only_id<rpc::TaskAttach, commands::task_attach>},
    {"task", "peek", "The end of the agent's screen", task_peek},
    {"task", "send", "A message for the agent", task_send},
    {"task", "spawn", "Start the agent of a pending task", only_id<rpc::TaskSpawn, commands::task_spawn>},
    {"task", "respawn", "Start a dead agent again", task_respawn},
    {"task", "update", "Change status, summary, branch, harness", task_update},
    {"task", "complete", "The work is done: to review", only_id<rpc::TaskComplete, commands::task_complete>},
    {"task", "stuck", "No way on: ask for help", only_id<rpc::TaskStuck, commands::task_stuck>},
    {"task", "ack", "Clear the attention mark and the alarm", only_id<rpc::TaskAck, commands::task_ack>},
    {"task", "merge", "Merge the branch; the task is done", task_merge},
    {"task", "cancel", "End it without merging", task_cancel},
    {"task", "delete", "Remove it with its files", task_delete},
};

}  // namespace

std::span<const Command> task_commands() {
    return k_task_commands;
}

}  // namespace orange::arguments

// The options of `orange task`, one function for each command. The actions are in commands/task.hpp.
#include "client/commands/task.hpp"
#include "client/arguments/command.hpp"
#include "client/arguments/permits.hpp"
#include "client/arguments/usage.hpp"
#include "client/arguments/watch.hpp"
#include "client/commands/attempts.hpp"
#include "client/commands/comments.hpp"
#include "client/commands/search.hpp"
#include "common/base/forges.hpp"
#include "common/base/ids.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::arguments {
namespace {

/// Several at once, and the option several times; what follows the value is not its.
void task_option(CLI::App& app, const char* name, std::vector<std::string>& into, const char* doc) {
    app.add_option(name, into, doc)->delimiter(',')->allow_extra_args(false)->type_name("ID[,ID]");
}

constexpr const char* k_create_examples =
    "Examples:\n"
    "  orange create \"Let users sign in with a passkey\"\n"
    "  orange create add-passkey \"Let users sign in with a passkey\"\n"
    "  orange create --project shop --branch fix/total \"Round the total\"\n"
    "  git show HEAD | orange create --context - \"Explain this commit in the docs\"\n"
    "  orange create --id \"deps-$(date +%G-W%V)\" \"Update the dependencies\"\n"
    "                                        (at most once a week)\n"
    "  orange create --from-issue 12\n"
    "  orange create --like 4f2a\n"
    "  orange create --harness claude --from-session 0b1c7a3e-5d6f-4a2b-9c8d-7e6f5a4b3c2d\n"
    "                                        (go on with a conversation of yours)\n"
    "  orange create --file ~/shot.png \"The total is cut off, see the picture\"\n"
    "  orange create --from-file tasks.md --no-spawn\n"
    "  orange create --branch total --base release-2 \"Round the total there too\"\n"
    "  orange create --blocked-by 4f2a \"Use the new API\"\n"
    "                                        (starts when 4f2a is merged)\n"
    "  orange create --on 4f2a \"Use the new API\"\n"
    "                                        (starts when 4f2a is in review, from its commit)\n"
    "  orange create --parent 4f2a \"Write its tests\"\n"
    "  orange create --attempts claude,codex \"Speed up the import\"\n"
    "                                        (both try it, and you keep one: orange compare)\n"
    "  orange create --branch pr-12 --status agent-review \"Retry failed uploads\"\n"
    "                                        (review an existing branch)\n"
    "  orange create --branch done-by-hand --status reviewing\n"
    "                                        (only merge an existing branch)";

Action task_create(CLI::App& app) {
    struct Arguments {
        rpc::TaskCreate params;
        std::vector<std::string> words;
        commands::CreateFrom from;
        commands::FileOptions files;
        Text id;
    };
    auto a = std::make_shared<Arguments>();
    app.add_option("SUMMARY", a->words,
                   "What to do, in one line; without it, Orange asks you on a terminal, else the agent asks")
        ->option_text("[BRANCH] SUMMARY");
    text(app, "-p,--project", a->params.project, "Project; default: the one of this directory");
    text(app, "--id", a->id,
         "Create the task only once: 21 letters and digits, or any text, from which Orange makes the id. A second call "
         "with the same prints the first task")
        ->type_name("TEXT");
    text(app, "-b,--branch", a->params.branch, "Branch to work on; default: a name made from the summary");
    app.add_option("--summary", a->params.summary, "The same as SUMMARY");
    text(app, "-c,--context", a->params.context, "More text for the agent (Markdown); - reads standard input");
    files(app, a->files);
    text(app, "--from-issue", a->from.issue,
         std::string("Issue of ") + k_issue_forge.name + ", a number or a URL: its title, text and comments (needs " +
             k_issue_forge.program + ")")
        ->type_name("ISSUE");
    text(app, "--from-file", a->from.file,
         "Markdown with one task for each heading of the level of the first; what is below it is the context; - reads "
         "standard input")
        ->type_name("FILE");
    text(app, "--workflow", a->params.workflow, "Workflow; default: the project's, or \"default\"");
    text(app, "--harness", a->params.harness, "Agent that does the work");
    agent_options(app, a->params);
    text(app, "-s,--status", a->params.status,
         "First status; in the default workflow: clarification, agent-review or reviewing");
    text(app, "--base", a->params.base, "Branch, tag or commit that a new branch starts from");
    text(app, "--on", a->params.on,
         "Build it on this task: it starts when that is in review, from its reviewed commit, and is merged after it")
        ->type_name("ID");
    task_option(app, "--blocked-by", a->params.blocked_by, "Start it when these tasks are done");
    text(app, "--parent", a->params.parent, "Make it a sub-task of this task; what an agent creates is one of its own")
        ->type_name("ID");
    text(app, "--like", a->params.like,
         "Create it like this task: what is not given (summary, context, workflow, agents, executor) is as there")
        ->type_name("ID");
    text(app, "--from-session", a->params.from_session,
         "Go on with a copy of a conversation that you began in this folder without Orange, and with the files of this "
         "folder, also those that are not committed; nothing changes in it")
        ->type_name("ID");
    app.add_flag("--no-spawn", a->params.no_spawn, "Do not start an agent; `orange spawn` starts it later");
    app.footer(k_create_examples);
    return [a](Context& context) {
        if (a->id) (is_task_id(*a->id) ? a->params.id : a->params.key) = a->id;
        return commands::task_create(context, a->params, a->words, a->from, a->files);
    };
}

Action task_list(CLI::App& app) {
    struct Arguments {
        rpc::TaskList params;
        commands::ListOptions options;
    };
    auto a = std::make_shared<Arguments>();
    text(app, "-p,--project", a->params.project, "Only this project; default: the one of this directory, or all");
    app.add_flag("-e,--everywhere", a->options.everywhere,
                 "Tasks of all projects, and of your other machines (orange host list)");
    text(app, "-s,--status", a->params.status, "Only tasks with this status");
    app.add_flag("-a,--all", a->params.all, "Also show ended tasks (done, cancelled)");
    text(app, "--search", a->params.search,
         "Only tasks with this text in branch, summary, id or project; a capital letter makes it exact");
    app.add_option("-n,--limit", a->params.limit, "Show at most N tasks, from the top of the list")
        ->check(between(0, 1'000'000));
    app.add_flag("-w,--watch", a->options.watch, "Show the list again after each change, until Ctrl-C");
    form(app, a->options.form);
    app.footer(
        std::string("● agent running   ✗ agent dead   ? unknown   ○ no agent   ! a notice\n"
                    "Tasks that need you come first. LINES counts the lines that the branch's commits add and "
                    "remove; `orange show` also counts uncommitted changes. TOKENS are those of orange usage.\n") +
        k_form_help);
    return [a](Context& context) { return commands::task_list(context, a->params, a->options); };
}

Action task_search(CLI::App& app) {
    struct Arguments {
        rpc::TaskSearch params;
        std::vector<std::string> words;
    };
    auto a = std::make_shared<Arguments>();
    app.add_option("TEXT", a->words, "The text; several words are one text. A capital letter makes it exact")
        ->required();
    app.add_option("--in", a->params.in,
                   "tasks (TASK.md and history), reviews (with what reviewers said), logs (what agents said) or all")
        ->capture_default_str();
    text(app, "--since", a->params.since,
         "Only what was written after this time (2026-01-02T03:04:05Z) or age (90s, 10m, 3h, 2d)");
    text(app, "-p,--project", a->params.project, "Only this project; default: all");
    app.add_flag("-E,--regex", a->params.regex, "TEXT is a regular expression of grep -E");
    app.footer(
        "Searches the texts of all tasks, also of ended ones. The task that was changed last comes first. --json "
        "prints "
        "one object per line.\n\n"
        "Examples:\n"
        "  orange search round the total\n"
        "  orange search --in reviews --since 7d overflow\n"
        "  orange search --regex 'time ?out' --project shop\n"
        "  orange search -- --force");
    return [a](Context& context) {
        a->params.text = join(a->words, " ");
        return commands::task_search(context, a->params);
    };
}

Action task_tree(CLI::App& app) {
    struct Arguments {
        rpc::TaskList params;
        Text about;
        bool everywhere = false;
    };
    auto a = std::make_shared<Arguments>();
    app.add_option("ID", a->about, "Only tasks that are connected with this one");
    text(app, "-p,--project", a->params.project, "Only this project; default: the one of this directory, or all");
    app.add_flag("-e,--everywhere", a->everywhere, "Tasks of all projects");
    app.add_flag("-a,--all", a->params.all, "Also draw tasks that ended without another one waiting for them");
    app.footer(
        "Each task stands below one that it waits for. A task that waits for several stands below the first one; "
        "(above) marks it below the others. Sub-tasks stand below their task, whose line counts them: 3/5 are done.");
    return [a](Context& context) { return commands::task_tree(context, a->params, a->everywhere, a->about); };
}

Action task_show(CLI::App& app) {
    struct Arguments {
        rpc::TaskShow params;
        Text form;
    };
    auto a = std::make_shared<Arguments>();
    id(app, a->params.id);
    form(app, a->form, true);
    app.footer(k_form_help);
    return [a](Context& context) { return commands::task_show(context, a->params, a->form); };
}

constexpr const char* k_several_help =
    "With several tasks, each is done by itself. If one fails, the others go on, and the exit status is 1. "
    "--json prints one line for each task, in this order.";

Action task_respawn(CLI::App& app) {
    struct Arguments {
        rpc::TaskRespawn params;
        std::vector<std::string> ids;
    };
    auto a = std::make_shared<Arguments>();
    auto* named = ids(app, a->ids);
    app.add_flag("--all", a->params.all, "Restart the agent of every task whose agent is dead")->excludes(named);
    app.add_flag("--fresh", a->params.fresh, "Begin a new conversation instead of continuing the agent's previous one");
    app.footer(k_several_help);
    return [a](Context& context) {
        return commands::for_each_task(context, a->ids, a->params, [&](const rpc::TaskRespawn& params) {
            return commands::task_respawn(context, params);
        });
    };
}

Action task_ack(CLI::App& app) {
    app.footer(k_several_help);
    return only_ids<rpc::TaskAck>(app);
}

Action task_update(CLI::App& app) {
    auto params = std::make_shared<rpc::TaskUpdate>();
    id(app, params->id);
    text(app, "-s,--status", params->status, "New status, a state of the workflow");
    text(app, "--summary", params->summary, "New summary, one line");
    text(app, "--branch", params->branch,
         "Rename the branch or switch to another one; without NAME, use the branch that is checked out in the "
         "workspace")
        ->expected(0, 1)
        ->type_name("[NAME]");
    text(app, "--workflow", params->workflow, "Move the task to another workflow");
    text(app, "--harness", params->harness, "Agent that does the work, from its next start");
    text(app, "--review-harness", params->review_harness, "Agent that reviews the work, from its next start");
    text(app, "--effort", params->effort, "Effort of the worker; '' removes it");
    text(app, "--review-effort", params->review_effort, "Effort of the reviewer; '' removes it");
    text(app, "--model", params->model, "Model of the worker, from its next start; '' selects its program's own");
    text(app, "--review-model", params->review_model, "Model of the reviewer, from its next start; '' likewise");
    text(app, "--executor", params->executor, "Where the agents run, from their next start")->type_name("NAME");
    text(app, "--executor-options", params->executor_options, "Words for the executor; '' removes them");
    budget(app, params->budget);
    permits(app, params->permits, "from its next start; '' is as the setting says");
    task_option(app, "--blocked-by", params->blocked_by, "Start the pending task when these tasks are also done");
    task_option(app, "--unblock", params->unblock, "Do not wait for these tasks any more, or build it on none (--on)");
    text(app, "--feedback", params->feedback, "Text for the section ## Feedback; - reads standard input");
    text(app, "--pr-feedback", params->pr_feedback,
         "Who gets feedback on its pull request: notice (you) or agent; '' is as the setting says")
        ->type_name("WHO");
    app.add_flag("--force", params->force, "Confirm a transition that skips the rest of the workflow");
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
    app.add_option("-n,--lines", params->lines, "Number of lines, 1 to 5000")->capture_default_str();
    text(app, "--role", params->role, "worker or reviewer; default: the active agent");
    return [params](Context& context) { return commands::task_peek(context, *params); };
}

Action task_send(CLI::App& app) {
    struct Arguments {
        rpc::TaskSend params;
        std::vector<std::string> words;
        commands::FileOptions files;
    };
    auto a = std::make_shared<Arguments>();
    app.add_option("WORDS", a->words,
                   "The message; with two or more words, the first one names the task; - reads standard input")
        ->required()
        ->option_text(k_task_and_needed_text);
    text(app, "--role", a->params.role, "worker or reviewer; default: worker");
    files(app, a->files);
    app.footer(
        "Examples:\n"
        "  orange send 4f2a \"Use the existing helper\"\n"
        "  orange send 4f2a --file shot.png \"It looks like this now\"\n"
        "  orange send \"Use the existing helper\"     (in the task's workspace)");
    return [a](Context& context) { return commands::task_send(context, a->params, a->words, a->files); };
}

Action task_reply(CLI::App& app) {
    struct Arguments {
        rpc::TaskAnswer params;
        std::vector<std::string> words;
        commands::FileOptions files;
    };
    auto a = std::make_shared<Arguments>();
    app.add_option("WORDS", a->words,
                   "The answer; with two or more words, the first one names the task; - reads standard input")
        ->required()
        ->option_text(k_task_and_needed_text);
    files(app, a->files);
    app.footer(
        "Examples:\n"
        "  orange reply 4f2a \"The date format is ISO 8601\"\n"
        "  orange reply 4f2a --file ~/layout.pdf \"As on page 2\"\n"
        "\nIf the agent has ended, it is started again with the answer. To let its program do what it asks for, use "
        "orange allow or orange deny.");
    return [a](Context& context) { return commands::task_reply(context, a->params, a->words, a->files); };
}

Action task_reject(CLI::App& app) {
    struct Arguments {
        rpc::TaskReject params;
        std::vector<std::string> words;
        commands::FileOptions files;
    };
    auto a = std::make_shared<Arguments>();
    app.add_option("WORDS", a->words,
                   "The feedback; with two or more words, the first one names the task; - reads standard input. It can "
                   "be left out if there are comments to send")
        ->option_text(k_task_and_text);
    files(app, a->files);
    app.footer(
        "The text becomes ## Feedback in TASK.md, and the worker continues with it. Your comments on lines that are "
        "not sent yet (orange comment --help) are sent with it, as a numbered list below the text.\n\n"
        "Examples:\n"
        "  orange reject 4f2a \"Name the columns, and add a test\"\n"
        "  orange reject 4f2a --file shot.png \"The total is cut off\"\n"
        "  orange reject 4f2a                      (sends the comments)");
    return [a](Context& context) { return commands::task_reject(context, a->params, a->words, a->files); };
}

/// Adds an option with numbers of comments.
CLI::Option* comment_numbers(CLI::App& app, const char* name, std::vector<std::int64_t>& into, const char* doc) {
    return app.add_option(name, into, doc)->delimiter(',')->type_name("N");
}

Action task_comment(CLI::App& app) {
    auto a = std::make_shared<commands::CommentOptions>();
    app.add_option("WORDS", a->words,
                   "The lines and the comment, behind the task; default: the task of this workspace. The text - reads "
                   "standard input")
        ->option_text(k_task_and_lines);
    const auto number = [&](const char* name, std::optional<std::int64_t>& into, const char* doc) {
        return app
            .add_option_function<std::int64_t>(
                name, [&into](const std::int64_t& value) { into = value; }, doc)
            ->type_name("N");
    };
    std::vector<CLI::Option*> changes = {
        number("--edit", a->edit, "Replace the text of a comment that is not sent yet: --edit N TEXT"),
        comment_numbers(app, "--remove", a->remove, "Remove comments that are not sent yet"),
        comment_numbers(app, "--resolve", a->resolve, "You accept the answers"),
        comment_numbers(app, "--reopen", a->reopen, "Take --resolve back"),
        number("--ask", a->ask, "Ask again, below the answer: --ask N TEXT"),
        app.add_option("--take", a->take,
                       "Make a comment from outside (N), or what the reviewer says about a line (FILE:LINE), your own")
            ->type_name("N|FILE:LINE")};
    for (std::size_t i = 0; i < changes.size(); ++i) {
        for (std::size_t j = i + 1; j < changes.size(); ++j) changes[i]->excludes(changes[j]);
    }
    app.footer(
        "FILE:LINE is a line of the work as it is now, FILE:LINE-LINE are several, and FILE:-LINE is a line of the "
        "text "
        "before the work. FILE begins at the root of the repository. Plan:LINE and Handoff:LINE are lines of these "
        "sections of TASK.md, counted from the line below the heading, and '## Review:LINE' is one of any section; a "
        "file with such a name is ./Plan:LINE.\n\n"
        "A comment is a draft until `orange reject` sends all drafts to the worker, which answers each by its "
        "number.\n\n"
        "Examples:\n"
        "  orange comment 4f2a src/cart.py:12 \"Round only once\"\n"
        "  orange comment 4f2a src/cart.py:20-24 - < comment.md\n"
        "  orange comment 4f2a Plan:3 \"Which table?\"\n"
        "  orange comment 4f2a --edit 2 \"Round only once, at the end\"\n"
        "  orange comment 4f2a --resolve 1 3\n"
        "  orange comment 4f2a --ask 2 \"And in refund.py?\"\n"
        "  orange comment 4f2a --take src/cart.py:30");
    return [a](Context& context) { return commands::task_comment(context, *a); };
}

Action task_comments(CLI::App& app) {
    struct Arguments {
        rpc::TaskComments params;
        bool whole = false;
    };
    auto a = std::make_shared<Arguments>();
    id(app, a->params.id);
    app.add_flag("-a,--all", a->whole, "Show resolved comments with their texts, too");
    app.footer(
        "  draft      not sent yet; `orange reject` sends it\n"
        "  sent       the worker has not answered yet\n"
        "  answered   resolve it, or ask again (orange comment --help)\n"
        "  resolved   you accept the answer\n"
        "  outside    by somebody who may not push; it is sent only if you take it over");
    return [a](Context& context) { return commands::task_comments(context, a->params, a->whole); };
}

Action task_review(CLI::App& app) {
    struct Arguments {
        Text id;
        Text section;
    };
    auto a = std::make_shared<Arguments>();
    id(app, a->id);
    text(app, "--section", a->section, "Comment on a section of TASK.md, as Plan or Handoff, instead of the diff")
        ->type_name("HEADING");
    app.footer(
        "Opens the changes of the task's branch in $VISUAL, $EDITOR or vi. Lines that begin with \"> \" are a comment "
        "on "
        "the line above them, and \"> [3] TEXT\" is one on the last three lines. You can delete lines of the diff, but "
        "not change them. If something cannot be used, the editor is opened again with the reason on top. The comments "
        "are drafts then; `orange reject` sends them.");
    return [a](Context& context) { return commands::task_review(context, a->id, a->section.value_or("")); };
}

Action task_diff(CLI::App& app) {
    struct Arguments {
        rpc::TaskDiff params;
        commands::DiffOptions options;
    };
    auto a = std::make_shared<Arguments>();
    id(app, a->params.id);
    app.add_option("FILE", a->options.files, "Only these files");
    app.add_flag("--stat", a->options.stat, "Show only how much each file changes");
    app.add_flag("--name-only", a->options.name_only, "Show only the names of the changed files");
    app.add_flag("--since-review", a->params.since_review, "Show only what came after the last review");
    return [a](Context& context) { return commands::task_diff(context, a->params, a->options); };
}

Action task_compare(CLI::App& app) {
    struct Arguments {
        rpc::TaskCompare params;
        commands::CompareOptions options;
    };
    auto a = std::make_shared<Arguments>();
    id(app, a->params.id);
    auto* diff = app.add_option("--diff", a->options.two,
                                "Show the difference between two attempts, each by its name, its number in the table, "
                                "or its id")
                     ->expected(2)
                     ->type_name("A B");
    app.add_flag("--stat", a->options.stat, "Of the difference, show only how much each file changes")->needs(diff);
    app.footer(
        "For each attempt: its status, the project's checks and the review at its last commit, the rounds of review "
        "(RND), its commits (COM), files and lines, the time that it was worked on, and its tokens. Below: the version "
        "of its program, and the model that answered. Orange has measured all of it; no agent judges.\n\n"
        "ID is the task or one of its attempts.\n\n"
        "Examples:\n"
        "  orange compare 4f2a\n"
        "  orange compare 4f2a --diff claude codex\n"
        "  orange compare 4f2a --diff 1 3");
    return [a](Context& context) { return commands::task_compare(context, a->params, a->options); };
}

Action task_pick(CLI::App& app) {
    struct Arguments {
        rpc::TaskPick params;
        bool yes = false;
    };
    auto a = std::make_shared<Arguments>();
    text(app, "ID", a->params.id, "The task, or one of its attempts")->required();
    text(app, "ATTEMPT", a->params.attempt, "The attempt that you keep: its name, its number in the table, or its id")
        ->required();
    app.add_flag("-y,--yes", a->yes, "Do not ask for confirmation; required without a terminal");
    app.footer(
        "Cancels the other attempts, and keeps their work: orange restore creates a branch from it. The picked one "
        "goes "
        "on as it is, and a merge of the task merges it. Nothing is picked by itself.\n\n"
        "Examples:\n"
        "  orange pick 4f2a codex\n"
        "  orange pick 4f2a claude:high && orange merge 4f2a");
    return [a](Context& context) { return commands::task_pick(context, a->params, a->yes); };
}

template <class Params>
struct Ending {
    Params params;
    std::vector<std::string> ids = {};
    bool yes = false;
    bool reviewed = false;
    bool as_given = false;
};

/// Adds two flags for the two values of a setting; `into` stays unset without either.
void choice(CLI::App& app, const char* yes, const char* no, std::optional<bool>& into, const char* doc,
            const char* otherwise) {
    app.add_flag_callback(
        yes, [&into] { into = true; }, doc);
    app.add_flag_callback(
        no, [&into] { into = false; }, otherwise);
}

Action task_merge(CLI::App& app) {
    auto a = std::make_shared<Ending<rpc::TaskMerge>>();
    ids(app, a->ids);
    text(app, "--strategy", a->params.strategy,
         "merge (default; a merge commit), ff (fast-forward only) or squash (one commit)")
        ->check(one_of({"merge", "ff", "squash"}))
        ->option_text("TEXT");
    text(app, "--via", a->params.via, std::string("pr: let ") + k_forge_names + " merge the task's open pull request")
        ->check(one_of({"pr"}))
        ->option_text("TEXT");
    app.add_flag("--local", a->params.local, "Merge here; do not ask for a pull request");
    choice(app, "--no-push", "--push", a->params.no_push, "Merge locally; do not push to origin",
           "Push although the project's setting push is false");
    choice(app, "--keep-branch", "--delete-branch", a->params.keep_branch, "Keep the local branch",
           "Delete the local branch although the project's setting keep_branch is true");
    app.add_flag("--include-unpushed", a->params.include_unpushed, "Also push local commits of the default branch");
    app.add_flag("--force", a->params.force,
                 "Merge even if the task is not reviewed, has changed since the review, has a warning, or "
                 "fails its project's checks; do not run them");
    app.add_flag("--reviewed", a->reviewed, "All tasks of this project that are ready to be merged");
    app.add_flag("--as-given", a->as_given, "Merge several tasks in the order in which you name them");
    app.add_flag("-y,--yes", a->yes, "Do not ask; fail if --force would be needed");
    app.footer(
        "Merges into origin's default branch and pushes. If another push comes first, Orange repeats "
        "the merge on the new commits. If a merge is interrupted, the daemon finishes it when it "
        "starts again; you can also run the same command again.\n\n"
        "Several tasks are merged one onto the other, in the order that conflicts least. If the project's "
        "checks run on the results of merges (merge_checks), they run on the result of all, and on "
        "halves of it after a failure. A task that conflicts or fails goes back to its worker with the "
        "reason, and the others are merged. The exit status is 1 if not all are merged. --json prints one "
        "object.");
    return [a](Context& context) -> commands::Status {
        if (a->reviewed && !a->ids.empty()) {
            return {ErrorCode::invalid_argument, "--reviewed takes all tasks; name none"};
        }
        if (a->reviewed) {
            TRY(a->ids, commands::tasks_to_merge(context));
        }
        if (a->ids.size() > 1) {
            rpc::TrainMerge params;
            static_cast<rpc::MergeOptions&>(params) = a->params;
            params.ids = a->ids;
            return commands::tasks_merge(context, params, a->as_given, a->yes);
        }
        if (!a->ids.empty()) a->params.id = a->ids.front();
        return commands::task_merge(context, a->params, a->yes);
    };
}
Action task_create_pr(CLI::App& app) {
    auto params = std::make_shared<rpc::TaskCreatePr>();
    id(app, params->id);
    app.add_flag("--draft", params->draft, "Open it as a draft");
    text(app, "--title", params->title, "Its title; else the task's summary");
    text(app, "--body", params->body,
         "Its text (Markdown); - reads standard input. Without it: the summary, the context and the "
         "repository's template");
    app.footer(
        std::string("Pushes the branch. An open pull request of the branch is adopted. Orange follows it from then on: "
                    "the task is done when it is merged, and cancelled when it is closed. At other forges than ") +
        k_forge_names + " the branch is pushed, and you open the pull request there.");
    return [params](Context& context) { return commands::task_create_pr(context, *params); };
}
Action task_try(CLI::App& app) {
    struct Arguments {
        rpc::TaskTry params;
        commands::TryOptions options;
    };
    auto a = std::make_shared<Arguments>();
    id(app, a->params.id);
    auto* open = app.add_flag("--open", a->options.open, "Open its URL in a browser");
    auto* follow = app.add_flag("-f,--follow", a->options.follow, "Print its output until it ends");
    auto* no_wait = app.add_flag("--no-wait", a->options.no_wait, "Do not wait until something listens on its port")
                        ->excludes(open);
    app.add_flag("--stop", a->params.stop, "End it")->excludes(open)->excludes(follow)->excludes(no_wait);
    app.add_option("-n,--lines", a->params.lines, "Number of its last lines to print if it fails; default: 20")
        ->type_name("N")
        ->check(between(0, 5000));
    app.add_option("--tunnel", a->options.tunnel,
                   "Also print the ssh command that brings its port from HOST; orange --host adds this option")
        ->type_name("HOST");
    app.footer(
        "Runs the project's command (orange project update --dev npm run dev), or .orange/dev of the repository if you "
        "agreed to it, in the task's worktree with ORANGE_PORT. It runs until --stop, and ends with the task, with its "
        "worktree and with the daemon.\n\n"
        "Exit status: 0 if it can be opened or has ended with 0, 1 if it has failed.\n\n"
        "Examples:\n"
        "  orange try 4f2a --open\n"
        "  orange try 4f2a --follow\n"
        "  orange try 4f2a --stop");
    return [a](Context& context) { return commands::task_try(context, a->params, a->options); };
}
Action task_cancel(CLI::App& app) {
    auto a = std::make_shared<Ending<rpc::TaskCancel>>();
    ids(app, a->ids);
    app.add_flag("--with-children", a->params.with_children, "Also cancel its sub-tasks, and theirs; else they go on");
    app.add_flag("--next", a->params.next, "Then start the task of its project that waits longest");
    app.add_flag("--force", a->params.force, "Cancel during an unfinished merge even if origin does not answer");
    app.add_flag("-y,--yes", a->yes, "Do not ask for confirmation; required without a terminal");
    app.footer(k_several_help);
    return [a](Context& context) {
        return commands::for_each_task(context, a->ids, a->params, [&](const rpc::TaskCancel& params) {
            return commands::task_cancel(context, params, a->yes);
        });
    };
}
Action task_restore(CLI::App& app) {
    auto params = std::make_shared<rpc::TaskRestore>();
    id(app, params->id);
    text(app, "-b,--branch", params->branch, "Branch to create; default: the name of the task's branch with -restored");
    app.add_flag("--create", params->create,
                 "Also create a task that goes on there, like the old one; its plan and handoff are in the context");
    app.footer(
        "The branch has the task's commits. If changes were uncommitted when the task ended, one more commit has "
        "them. Ignored files that were kept (setting keep_ignored) are written into the task's folder.");
    return [params](Context& context) { return commands::task_restore(context, *params); };
}
Action task_fork(CLI::App& app) {
    auto params = std::make_shared<rpc::TaskFork>();
    id(app, params->id);
    text(app, "--harness", params->harness, "Agent that does the work; default: the same as there");
    text(app, "--review-harness", params->review_harness, "Agent that reviews the work; likewise");
    text(app, "--effort", params->effort, "Effort of the worker; the values depend on the harness");
    text(app, "--review-effort", params->review_effort, "Effort of the reviewer");
    text(app, "--model", params->model, "Model of the worker, as its program names it");
    text(app, "--review-model", params->review_model, "Model of the reviewer");
    app.add_option("--summary", params->summary, "What to do, in one line; default: the same as there");
    text(app, "-m,--message", params->message,
         "What the agent is to do differently (Markdown); - reads standard input");
    app.add_flag("--no-spawn", params->no_spawn, "Do not start an agent; `orange spawn` starts it later");
    app.footer(
        "Creates a task that begins with all files of this one, also those that are not committed, and with its "
        "TASK.md as context. It runs where this one does. The worker of the new task continues a copy of the "
        "conversation, if it is the same program and the program can do that: claude, codex, gemini and pi. The task "
        "itself goes on, and nothing of it changes.\n\n"
        "Examples:\n"
        "  orange fork 4f2a\n"
        "  orange fork 4f2a --message \"Do it without the new library\"\n"
        "  orange fork 4f2a --harness codex");
    return [params](Context& context) { return commands::task_fork(context, *params); };
}
Action task_delete(CLI::App& app) {
    auto a = std::make_shared<Ending<rpc::TaskDelete>>();
    id(app, a->params.id);
    app.add_flag("--force", a->params.force, "If the task has not ended, cancel it first");
    app.add_flag("-y,--yes", a->yes, "Do not ask for confirmation; required without a terminal");
    return [a](Context& context) { return commands::task_delete(context, a->params, a->yes); };
}

Action task_attach(CLI::App& app) {
    auto params = std::make_shared<rpc::TaskAttach>();
    id(app, params->id);
    app.footer(
        "Ctrl-q leaves the terminal; the agent keeps running. You can also click the hint in the status line, "
        "or press tmux's prefix and d (Ctrl-b d). Inside your own tmux, the terminal opens in a popup. "
        "`detach_key` in ~/orange/config.yml sets another key.");
    return [params](Context& context) { return commands::task_attach(context, *params); };
}

constexpr Command k_task_commands[] = {
    {"task", "create", "Create a task and start an agent on it", task_create},
    {"task", "list", "List the tasks of this project", task_list},
    {"task", "search", "Search what tasks, reviews and agents have written", task_search},
    {"task", "tree", "Draw which task waits for which", task_tree},
    {"task", "show", "Show a task with its TASK.md and last events", task_show},
    {"task", "diff", "Show the changes of the task's branch, including uncommitted ones", task_diff},
    {"task", "why", "Show what the task is waiting for and what you can do", only_id<rpc::TaskWhy, commands::task_why>},
    {"task", "history", "Show the events of a task", task_history},
    {"task", "wait", "Wait until the task needs you or reaches a status", task_wait},
    {"task", "log", "Show the output of agents that have ended", task_log},
    {"task", "attach", "Open the agent's terminal", task_attach, false, true},
    {"task", "peek", "Print the last lines of the agent's screen", task_peek},
    {"task", "reply", "Answer the agent's question", task_reply},
    {"task", "allow", "Allow what an agent's program asks for", task_allow},
    {"task", "deny", "Deny what an agent's program asks for", task_deny},
    {"task", "reject", "Send the work back with feedback", task_reject},
    {"task", "comment", "Comment on lines of the work", task_comment},
    {"task", "comments", "List the comments on lines, and their answers", task_comments},
    {"task", "review", "Comment on the work in your editor", task_review, false, true},
    {"task", "send", "Send a message to the agent", task_send},
    {"task", "spawn", "Start the agent of a pending task", only_id<rpc::TaskSpawn, commands::task_spawn>},
    {"task", "respawn", "Restart a dead agent", task_respawn},
    {"task", "stop", "Stop the agent; the task keeps its status", only_id<rpc::TaskStop>},
    {"task", "restart", "Stop the agent if it runs, and start it again", only_id<rpc::TaskRestart>},
    {"task", "path", "Print the path of the task's worktree", only_id<rpc::TaskShow, commands::task_path>},
    {"task", "shell", "Open a shell in the task's worktree", only_id<rpc::TaskShow, commands::task_shell>, false, true},
    {"task", "update", "Change the status, summary, branch or agents of a task", task_update},
    {"task", "complete", "Hand the work over for review", only_id<rpc::TaskComplete>},
    {"task", "stuck", "Mark the task as stuck", only_id<rpc::TaskStuck>},
    {"task", "approve", "Approve the plan, or the sub-tasks that the task's agent created", only_id<rpc::TaskApprove>},
    {"task", "ack", "Clear the task's notices and alarms", task_ack},
    {"task", "check", "Run the project's checks on the task's branch", only_id<rpc::TaskCheck, commands::task_check>},
    {"task", "try", "Run the work in the task's worktree, to look at it before the merge", task_try},
    {"task", "merge", "Merge the branch and finish the task", task_merge},
    {"task", "compare", "Show the attempts of a task side by side", task_compare},
    {"task", "pick", "Keep one attempt of a task, and cancel the others", task_pick},
    {"task", "create-pr", "Push the branch and open a pull request", task_create_pr},
    {"task", "update-branch", "Merge the default branch into the task's branch",
     only_id<rpc::TaskUpdateBranch, commands::task_update_branch>},
    {"task", "cancel", "End the task without merging", task_cancel},
    {"task", "restore", "Create a branch from the work of an ended task", task_restore},
    {"task", "fork", "Create a task that begins with the work of this one", task_fork},
    {"task", "delete", "Delete the task and its files", task_delete},
};

}  // namespace

std::span<const Command> task_commands() {
    return k_task_commands;
}

}  // namespace orange::arguments

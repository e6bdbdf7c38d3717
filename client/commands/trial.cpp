#include "client/commands/trial.hpp"

#include <algorithm>
#include <thread>

#include "client/commands/interrupts.hpp"
#include "client/commands/trial_home.hpp"
#include "client/output/events.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/rpc/project_methods.hpp"
#include "common/rpc/task_methods.hpp"
#include "common/rpc/watch_methods.hpp"

namespace orange::commands {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr const char* k_project = "scratch";
constexpr const char* k_summary =
    "Add the file hello.txt with the line hello and commit it. This is a test of Orange: plan in one line, run no "
    "tests, ask no questions";
constexpr const char* k_message = "Thank you. There is nothing more to do.";
constexpr seconds k_for_message{60}, k_for_end{10};
/// How long a limit, or a question that nobody can answer, has to stand.
constexpr seconds k_limit_stands{3}, k_question_stands{10};
constexpr milliseconds k_pause{200};
constexpr int k_window_lines = 15;
constexpr const char* k_verdicts[] = {"PASS", "FAIL", "UNKNOWN"};

bool has_section(const std::string& body, const std::string& name) {
    return ("\n" + body).find("\n## " + name) != std::string::npos;
}

Error was_interrupted() {
    return {ErrorCode::timeout, "interrupted"};
}

std::string listed(const std::set<std::string>& sources) {
    return join(std::vector<std::string>(sources.begin(), sources.end()), ", ");
}

/// A line of a window without the frame that a program draws around its dialogs; empty if it is only a frame.
std::string unframed(std::string_view line) {
    static constexpr std::string_view k_frame[] = {"─", "━", "│", "┃", "╭", "╮", "╰", "╯", "┌", "┐", "└", "┘", " "};
    for (bool again = true; again;) {
        again = false;
        for (const auto part : k_frame) {
            const bool begins = line.starts_with(part);
            if (begins) line.remove_prefix(part.size());
            const bool ends = line.ends_with(part);
            if (ends) line.remove_suffix(part.size());
            again = again || begins || ends;
        }
    }
    return std::string(line);
}

/// The last lines that are not empty.
std::string end_of_window(const std::string& text) {
    std::vector<std::string> lines;
    for (const auto line : split_lines(text)) {
        const bool of_tmux = line.starts_with("Pane is dead (");
        auto inner = unframed(line);
        if (!inner.empty() && !of_tmux) lines.push_back(std::move(inner));
    }
    if (lines.size() > k_window_lines) lines.erase(lines.begin(), lines.end() - k_window_lines);
    return join(lines, "\n");
}

}  // namespace

Trial::Trial(Context& outer, const HarnessTest& options, ScratchRepository repository)
    : outer_(outer),
      options_(options),
      repository_(std::move(repository)),
      home_(repository_.path().parent_path() / "orange"),
      inner_(Paths{home_}, outer.json) {}

void Trial::step(const std::string& name, Verdict verdict, const std::string& detail, const std::string& change) {
    if (verdict == Verdict::fail) failed_.push_back(name);
    const std::string_view word = k_verdicts[static_cast<int>(verdict)];
    Json row{{"step", name}, {"result", word}, {"detail", printable(detail, true)}};
    if (!change.empty()) row["change"] = change;
    steps_.push_back(std::move(row));
    if (outer_.json) return;
    const auto look = verdict == Verdict::pass   ? output::k_green
                     : verdict == Verdict::fail ? output::k_red
                                                : output::k_yellow;
    const std::string indent(9, ' ');
    std::string lines;
    const auto text = name + ": " + printable(detail, true);
    for (const auto line : split_lines(text)) lines += output::wrapped(line, indent, outer_.style.width);
    if (!change.empty()) lines += output::wrapped("look at: " + change, indent, outer_.style.width);
    output::put_now(outer_.style.paint(word, look) + lines.substr(word.size()));
}

Result<void> Trial::run() {
    TRY(make_trial_home(outer_.paths, home_));
    TRY(const bool found, find_program());
    if (!found) return {};
    TRY(const bool began, begin());
    if (!began) return {};
    TRY(watch());
    TRY(judge());
    TRY(send_message());
    if (did_) judge_activity();
    return end_it();
}

Result<bool> Trial::find_program() {
    rpc::HarnessShow show;
    show.name = options_.name;
    TRY(const auto reply, call(show));
    const auto& harness = reply.harness;
    oneshot_ = harness.mode == "oneshot";
    tried_ = harness.tried;
    if (!harness.installed) {
        step("program", Verdict::fail, harness.problem.value_or(harness.program + " was not found"), "program");
        return false;
    }
    auto program = harness.program;  // as the user knows it, not through the link in this home
    if (program.starts_with(home_.string() + "/"))
        program.replace(0, home_.string().size(), outer_.paths.home.string());
    step("program", Verdict::pass, program);
    if (harness.version) {
        step("version", Verdict::pass, *harness.version);
    } else {
        step("version", Verdict::unknown, "it is not known", "version_args");
    }
    return true;
}

/// False: the program could not be started.
Result<bool> Trial::begin() {
    rpc::ProjectAdd add;
    add.path = repository_.path().string();
    add.name = k_project;
    add.pool_size = 1;
    TRY(call(add));
    rpc::TaskCreate create;
    create.project = k_project;
    create.summary = k_summary;
    create.harness = options_.name;
    create.review_harness = "demo";
    create.workflow = "default";
    create.trust = {options_.name};
    create.caller = caller_environment();
    if (!options_.permissions.empty()) create.permissions = options_.permissions;
    const auto reply = call(create);
    if (!reply) {
        step("start", Verdict::fail, reply.error().message, "argv, env, root_needs");
        return false;
    }
    id_ = reply->task.fields.id.value;
    short_id_ = printable(output::short_id(reply->task));
    if (!outer_.json) {
        output::put_now("\nIt works now, for at most " + std::to_string(options_.timeout_seconds) +
                        " s. To watch it, run in another terminal:\n  ORANGE_HOME=" + home_.string() +
                        " orange task attach " + short_id_ + "\n\n");
    }
    return true;
}

Result<void> Trial::watch() {
    until_ = steady_clock::now() + seconds(options_.timeout_seconds);
    stuck_since_ = steady_clock::now();
    while (steady_clock::now() < until_) {
        if (interrupted()) return was_interrupted();
        TRY(look());
        if (enough()) break;
        std::this_thread::sleep_for(k_pause);
    }
    return look(true);
}

Result<void> Trial::look(bool changes) {
    rpc::TaskShow show;
    show.id = id_;
    show.changes = changes;
    TRY(seen_.last, call(show));
    const auto& task = seen_.last.task;
    seen_.asks.clear();
    seen_.limited.clear();
    if (const auto& now = task.worker_activity) {
        if (now->activity == Activity::busy) seen_.busy.insert(now->source);
        if (now->activity == Activity::idle) seen_.idle.insert(now->source);
        if (now->activity == Activity::waiting)
            seen_.asks = now->text.empty() ? "(its title says so)" : unframed(now->text);
        if (now->activity == Activity::limited) seen_.limited = now->text.empty() ? "(no text)" : unframed(now->text);
    }
    for (const auto& event : seen_.last.history) {
        seen_.worker_called = seen_.worker_called || output::text_of(event, "by") == "worker";
    }
    const auto& status = task.fields.status;
    seen_.ended = (status == "planning" || status == "working") && task.worker == "dead";
    return {};
}

/// Whether nothing more is to be seen of its work.
bool Trial::enough() {
    const auto now = steady_clock::now();
    const bool stands = !seen_.asks.empty() || !seen_.limited.empty() || seen_.ended;
    if (!stands) stuck_since_ = now;
    if (!seen_.asks.empty()) say_question();
    const auto& status = seen_.last.task.fields.status;
    if (status == "reviewing" || status == "stuck" || status == "clarification") return true;
    if (!seen_.asks.empty()) return !output::is_interactive() && now - stuck_since_ > k_question_stands;
    return stands && now - stuck_since_ > k_limit_stands;
}

void Trial::say_question() {
    if (outer_.json || question_said_) return;
    question_said_ = true;
    output::put_now("The program asks: " + printable(seen_.asks) +
                    "\nTo answer it, run in another terminal:\n  ORANGE_HOME=" + home_.string() +
                    " orange task attach " + short_id_ + "\n\n");
}

Result<void> Trial::judge() {
    if (interrupted()) return was_interrupted();
    keep_window();
    const auto& body = seen_.last.body;
    const bool planned = has_section(body, "Plan") || has_section(body, "Handoff");
    const bool committed = seen_.last.changes && seen_.last.changes->commits > 0;
    did_ = planned || committed || seen_.worker_called;
    judge_start();
    if (did_) {
        step("prompt", Verdict::pass, "it does what its prompt says");
        judge_work(planned, committed);
        return {};
    }
    step("prompt", Verdict::fail,
         seen_.busy.empty() ? "nothing came of its prompt" : "it worked, but not on what its prompt says", "argv");
    return {};
}

void Trial::judge_start() {
    const auto& notices = seen_.last.task.notices;
    const auto failed = std::find_if(notices.begin(), notices.end(),
                                     [](const Notice& notice) { return notice.kind == NoticeKind::start_failed; });
    if (failed != notices.end()) {
        step("start", Verdict::fail, failed->text, "argv, env, wants");
    } else if (!seen_.limited.empty()) {
        step("start", Verdict::fail, "it cannot work: " + seen_.limited,
             "its login and its account: start it once by hand. Else env, wants");
    } else if (!seen_.asks.empty()) {
        step("start", Verdict::fail, "it waits for an answer: " + seen_.asks,
             "argv, trust. If it asks only once, start it by hand and answer");
    } else if (seen_.ended && !did_) {
        step("start", Verdict::fail, "it ended before it did anything", "argv, env, wants");
    } else {
        step("start", Verdict::pass, "no question and no login was seen");
    }
}

void Trial::judge_work(bool planned, bool committed) {
    step("edit", planned ? Verdict::pass : Verdict::fail,
         planned ? "it writes sections into TASK.md" : "TASK.md has neither ## Plan nor ## Handoff",
         planned ? "" : "argv: permissions to edit files");
    step("commit", committed ? Verdict::pass : Verdict::fail,
         committed ? "it commits on its branch" : "its branch has no commit",
         committed ? "" : "argv: permissions to run git, and to write to {git_dir} and {git_common}");
    step("call", seen_.worker_called ? Verdict::pass : Verdict::fail,
         seen_.worker_called ? "it runs orange, and reaches the daemon" : "it never called orange",
         seen_.worker_called ? "" : "argv: permissions to run orange, and a sandbox that permits Unix sockets");
    const auto& status = seen_.last.task.fields.status;
    const bool late = steady_clock::now() >= until_;
    step("hand over", status == "reviewing" ? Verdict::pass : Verdict::fail,
         status == "reviewing" ? "its work reached the reviewer and passed"
         : seen_.ended         ? "it ended while its task was " + status
         : late ? "its task is still " + status + " after " + std::to_string(options_.timeout_seconds) + " s"
                : "its task is " + status,
         status != "reviewing" && late ? "--timeout of this command, if it was only slow" : "");
}

Result<void> Trial::send_message() {
    if (oneshot_) {
        step("message", Verdict::unknown, "it gets none, because it ends after each turn");
        return {};
    }
    if (failed()) {
        step("message", Verdict::unknown, "not tried, because an earlier step failed");
        return {};
    }
    if (seen_.last.task.worker != "alive") {
        step("message", Verdict::fail, "it ended after its turn, so nothing can be typed",
             "mode: oneshot, or argv that keeps it running");
        return {};
    }
    rpc::TaskSend send;
    send.id = id_;
    send.text = k_message;
    TRY(call(send));
    return wait_for_message();
}

Result<void> Trial::wait_for_message() {
    const auto end = steady_clock::now() + k_for_message;
    std::string state = "queued";
    while (steady_clock::now() < end && state != "seen") {
        if (interrupted()) return was_interrupted();
        TRY(look());
        if (!seen_.last.messages.empty()) state = seen_.last.messages.back().state;
        std::this_thread::sleep_for(k_pause);
    }
    if (state == "seen") {
        step("message", Verdict::pass, "it takes a message that is typed");
    } else if (state == "typed") {
        step("message", Verdict::unknown,
             "a message was typed, but its window did not show it. Orange cannot tell whether a message was lost",
             "screen.busy, screen.composer_empty");
    } else {
        step("message", Verdict::fail, "its window does not show that it takes a message",
             "events, screen.composer_empty, screen.busy with screen.otherwise, ready_after");
    }
    keep_window();
    for (int i = 0; i < 25 && seen_.idle.empty() && !interrupted(); ++i) {  // its turn about the message ends
        std::this_thread::sleep_for(k_pause);
        TRY(look());
    }
    return {};
}

void Trial::judge_activity() {
    step("busy", seen_.busy.empty() ? Verdict::unknown : Verdict::pass,
         seen_.busy.empty() ? "it was not seen at work. A hang is noticed only if the program shows nothing new, uses "
                              "hardly any processor time and changes no file for `hung_after`"
                            : "seen at work by its " + listed(seen_.busy),
         seen_.busy.empty() ? "screen.busy, title.busy or state_file" : "");
    if (oneshot_) return;
    step("idle", seen_.idle.empty() ? Verdict::unknown : Verdict::pass,
         seen_.idle.empty()
             ? "it was not seen idle. Orange does not remind it when it forgets to call orange, and tells "
               "you when its section lies ready"
             : "seen idle by its " + listed(seen_.idle),
         seen_.idle.empty() ? "screen.idle, title.idle, or screen.otherwise: idle" : "");
}

Result<void> Trial::end_it() {
    rpc::TaskCancel cancel;
    cancel.id = id_;
    ends_ = true;
    TRY(call(cancel));
    const auto end = steady_clock::now() + k_for_end;
    auto left = agents_of(home_);
    while (left && !left->empty() && steady_clock::now() < end) {
        if (interrupted()) return was_interrupted();
        std::this_thread::sleep_for(k_pause);
        left = agents_of(home_);
    }
    if (!left) {
        step("end", Verdict::unknown, "this system does not show the processes of an agent");
    } else if (left->empty()) {
        step("end", Verdict::pass, "it ends, and leaves no process behind");
    } else {
        step("end", Verdict::fail, std::to_string(left->size()) + " of its processes still run after its end",
             "argv: options that start background servers");
    }
    return {};
}

/// What its window shows now, for people who have to find out why a step failed.
void Trial::keep_window() {
    std::string text;
    if (seen_.last.task.worker == "alive") {
        rpc::TaskPeek peek;
        peek.id = id_;
        peek.role = "worker";
        if (const auto shown = call(peek)) text = shown->text;
    } else {
        rpc::TaskLog log;
        log.id = id_;
        log.role = "worker";
        if (const auto shown = call(log)) text = shown->text;
    }
    if (!text.empty()) window_ = end_of_window(printable(text, true));
}

Json Trial::report() const {
    Json report{{"harness", options_.name}, {"passed", failed_.empty()}, {"steps", steps_}};
    if (!failed_.empty() && !window_.empty()) report["window"] = window_;
    return report;
}

void Trial::say_kept() const {
    if (outer_.json) return;
    const auto folder = home_.parent_path().string();
    const auto look = "\nTo look at it:\n  ORANGE_HOME=" + home_.string() + " orange task log " + short_id_;
    output::put("\nKept: " + folder + (id_.empty() ? "" : look) + "\nTo remove it:\n  ORANGE_HOME=" + home_.string() +
                " orange daemon stop\n  tmux -S " + Paths{home_}.tmux_socket().string() + " kill-server\n  rm -r " +
                folder + "\n");
}

void Trial::clean_up() {
    if (options_.keep) {
        if (!ends_ && !id_.empty()) (void)end_it();  // its agent would go on
        return say_kept();
    }
    const auto complain = [](const Error& error) {
        output::complain("orange: " + printable(error.message, true) + "\n");
    };
    if (const auto ended = end_trial_home(home_); !ended) complain(ended.error());
    auto removed = repository_.remove();
    for (int i = 0; i < 25 && !removed; ++i) {  // what was killed may write for a moment
        std::this_thread::sleep_for(k_pause);
        removed = repository_.remove();
    }
    if (!removed) complain(removed.error());
}

}  // namespace orange::commands

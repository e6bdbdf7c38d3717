#include <signal.h>
#include <unistd.h>

#include <map>
#include <set>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/integration/puppets.hpp"

/// Who is calling, with real processes: every way to call that is known, against every method that there is. The agents
/// are puppets: shells in real panes that execute what is put into their fifo.
namespace orange::tests {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr int k_forbidden = -32007;
constexpr int k_not_found = -32001;
constexpr int k_invalid = -32602;
constexpr int k_illegal = -32002;

const std::string k_below_tmux = "an unknown caller (below Orange's tmux server, but below none of its agents)";
const std::string k_orphan_of_tmux = "an unknown caller (an orphan of Orange's tmux server, below none of its agents)";

enum class Who { anyone, agent, human };

/// A method with parameters that do no harm where it is allowed: `allowed` is what it then answers (0: a result).
struct Method {
    Who may;
    std::string params;
    int allowed;
};

/// Every method there is has a row here: who may call it is decided, not left to happen.
std::map<std::string, Method> methods() {
    const std::string no_task = R"({"id":"zzzzzzzzzzzzzzzzzzzzz"})";
    const std::string no_project = R"({"project":"nosuch"})";
    const std::string wrong = R"({"nonsense":1})";
    using enum Who;
    return {
        {"task.create", {agent, R"({"parent":"zzzzzzzzzzzzzzzzzzzzz","summary":"x"})", k_not_found}},
        {"task.approve", {human, no_task, k_not_found}},
        {"task.list", {anyone, "{}", 0}},
        {"task.show", {anyone, no_task, k_not_found}},
        {"task.why", {anyone, no_task, k_not_found}},
        {"task.history", {anyone, no_task, k_not_found}},
        {"task.verify", {anyone, no_task, k_not_found}},
        {"task.log", {anyone, no_task, k_not_found}},
        {"task.search", {anyone, R"({"text":"x"})", 0}},
        {"task.wait", {anyone, no_task, k_not_found}},
        {"log.tail", {anyone, "{}", 0}},
        {"usage.show", {anyone, "{}", 0}},
        {"task.attach", {anyone, no_task, k_not_found}},
        {"task.peek", {anyone, no_task, k_not_found}},
        {"task.preview", {anyone, no_task, k_not_found}},
        {"task.comments", {anyone, no_task, k_not_found}},
        {"task.comment",
         {human, R"({"id":"zzzzzzzzzzzzzzzzzzzzz","comments":[{"path":"x","line":1,"text":"x"}]})", k_not_found}},
        {"task.comment_change",
         {human, R"({"id":"zzzzzzzzzzzzzzzzzzzzz","numbers":[1],"change":"resolve"})", k_not_found}},
        {"task.send", {human, R"({"id":"zzzzzzzzzzzzzzzzzzzzz","text":"x"})", k_not_found}},
        {"task.update", {agent, R"({"id":"zzzzzzzzzzzzzzzzzzzzz","status":"working"})", k_not_found}},
        {"task.complete", {agent, no_task, k_not_found}},
        {"task.stuck", {agent, no_task, k_not_found}},
        {"task.spawn", {human, no_task, k_not_found}},
        {"task.respawn", {human, no_task, k_not_found}},
        {"task.ack", {human, no_task, k_not_found}},
        {"task.diff", {anyone, no_task, k_not_found}},
        {"task.reply", {human, R"({"id":"zzzzzzzzzzzzzzzzzzzzz","text":"x"})", k_not_found}},
        {"permit.ask", {agent, R"({"key":"","request":"{}"})", k_invalid}},
        {"task.allow", {human, R"({"id":"zzzzzzzzzzzzzzzzzzzzz","number":1})", k_not_found}},
        {"task.deny", {human, R"({"id":"zzzzzzzzzzzzzzzzzzzzz","number":1})", k_not_found}},
        {"task.reject", {human, R"({"id":"zzzzzzzzzzzzzzzzzzzzz","feedback":"x"})", k_not_found}},
        {"task.stop", {human, no_task, k_not_found}},
        {"task.restart", {human, no_task, k_not_found}},
        {"task.update_branch", {human, no_task, k_not_found}},
        {"task.create_pr", {human, no_task, k_not_found}},
        {"task.restore", {human, no_task, k_not_found}},
        {"task.fork", {human, no_task, k_not_found}},
        {"task.merge", {human, no_task, k_not_found}},
        {"task.compare", {anyone, no_task, k_not_found}},
        {"task.compare_diff", {anyone, R"({"id":"zzzzzzzzzzzzzzzzzzzzz","a":"x","b":"y"})", k_not_found}},
        {"task.pick", {human, no_task, k_not_found}},
        {"train.order", {human, R"({"ids":["zzzzzzzzzzzzzzzzzzzzz"]})", k_not_found}},
        {"train.merge", {human, R"({"ids":["zzzzzzzzzzzzzzzzzzzzz"]})", k_not_found}},
        {"task.check", {human, no_task, k_not_found}},
        {"task.try", {human, no_task, k_not_found}},
        {"task.cancel", {human, no_task, k_not_found}},
        {"task.delete", {human, no_task, k_not_found}},
        {"project.add", {human, wrong, k_invalid}},
        {"project.list", {anyone, "{}", 0}},
        {"project.update", {human, R"({"name":"nosuch","pool_size":2})", k_not_found}},
        {"project.remove", {human, R"({"name":"nosuch"})", k_not_found}},
        {"workspace.init", {human, no_project, k_not_found}},
        {"workspace.list", {anyone, "{}", 0}},
        {"workspace.gc", {human, no_project, k_not_found}},
        {"workflow.list", {anyone, "{}", 0}},
        {"workflow.show", {anyone, R"({"name":"nosuch"})", k_not_found}},
        {"workflow.validate", {anyone, R"({"text":"","file":"x.yml"})", 0}},
        {"workflow.graph", {anyone, R"({"name":"nosuch"})", k_not_found}},
        {"workflow.export", {human, R"({"name":"nosuch"})", k_not_found}},
        {"executor.list", {anyone, "{}", 0}},
        {"executor.show", {anyone, R"({"name":"nosuch"})", k_not_found}},
        {"harness.list", {anyone, "{}", 0}},
        {"harness.show", {anyone, R"({"name":"nosuch"})", k_not_found}},
        {"harness.explain", {anyone, R"({"harness":"nosuch","screen":"x"})", k_not_found}},
        {"harness.search", {human, wrong, k_invalid}},
        {"harness.trust", {human, R"({"name":"nosuch"})", k_not_found}},
        {"daemon.ping", {anyone, "{}", 0}},
        {"daemon.status", {anyone, "{}", 0}},
        {"daemon.doctor", {anyone, "{}", 0}},
        {"daemon.caller", {agent, "{}", 0}},
        {"daemon.reload", {human, wrong, k_invalid}},
        {"daemon.shutdown", {human, wrong, k_invalid}},
        {"rpc.discover", {anyone, "{}", 0}},
        {"file.put", {agent, R"({"data":"no base64"})", k_invalid}},
        {"events.list", {anyone, "{}", 0}},
        {"events.subscribe", {anyone, "{}", 0}},
        {"events.unsubscribe", {anyone, "{}", 0}},
    };
}

/// What a way to call is taken for: the role, and the words that a refused caller is told.
struct Taken {
    enum Role { worker, reviewer, human, unknown } role;
    std::string says;  ///< of a human, what the history says
};

using Stage = PuppetStage;

/// One task under review and another one being planned; a third that waits, to be cancelled by whoever may.
class Matrix {
  public:
    Matrix() {
        own = stage.create();
        other = stage.create();
        stage.go_to_review(own);
        stage.orange.wait_for_status(other, "planning");
        tmux = "tmux -S " + (stage.orange.home() / "tmux.sock").string() + " ";
        session = quoted(stage.orange.run_of(own, "worker").at("session_id").get<std::string>() + ":");
    }

    /// The lines of a script with the words that all ways to call are made of: $W calls, $G does so when the script has
    /// ended. One more fork each: $F leaves a caller behind whose parent has ended; $O, too, which keeps nothing else
    /// of where it comes from. $E ends when the replies are there.
    std::string script(const std::string& text) {
        requests_ = stage.next("requests");
        replies_ = stage.next("replies");
        write_file(requests_, request_lines());
        const auto wire = (fs::path(ORANGE_BINARY_DIR) / "tests/support/orange-wire").string();
        const auto rest = socket.string() + " " + requests_.string() + " " + replies_.string();
        const auto orphan = wire + " --gone $$ " + rest;
        const auto fork = stage.next("fork"), escape = stage.next("escape");
        write_file(fork, "trap '' HUP\n" + orphan + " &\n");
        write_file(escape, "trap '' HUP\ncd /\nenv -i /usr/bin/setsid -f " + orphan + "\n");
        return "W=" + quoted(wire + " " + rest) + "\nG=\"" + orphan + "\"\nF=" + quoted("sh " + fork.string()) +
               "\nO=" + quoted("sh " + escape.string()) +
               "\nE=" + quoted("until [ -e " + replies_.string() + " ]; do sleep 0.02; done") + "\n" + text;
    }

    std::string request_lines() {
        if (waiting.empty()) waiting = stage.create(true);
        std::string lines;
        const auto add = [&lines](const std::string& id, const std::string& method, const std::string& params) {
            lines += R"({"jsonrpc":"2.0","id":")" + id + R"(","method":")" + method + R"(","params":)" + params + "}\n";
        };
        for (const auto& [name, method] : table) add(name, name, method.params);
        add("other's", "task.update", R"({"id":")" + other + R"(","status":"planning"})");
        add("forced", "task.update", R"({"id":")" + own + R"(","status":"planning","force":true})");
        add("waiting", "task.cancel", R"({"id":")" + waiting + R"("})");
        return lines;
    }

    std::map<std::string, Json> replies() {
        stage.orange.eventually(
            "the replies are there", [&] { return fs::exists(replies_); }, 60s);
        std::map<std::string, Json> found;
        std::istringstream lines(read_file(replies_));
        for (std::string line; std::getline(lines, line);) {
            auto reply = Json::parse(line);
            const auto id = reply.at("id").get<std::string>();
            found[id] = std::move(reply);
        }
        return found;
    }

    void check(const std::string& how, const Taken& taken) {
        INFO(how);
        const auto got = replies();
        for (const auto& [name, method] : table) {
            INFO(name);
            REQUIRE(got.contains(name));
            const bool may = method.may == Who::anyone || taken.role == Taken::human ||
                             (method.may == Who::agent && taken.role != Taken::unknown);
            check_one(got.at(name), may ? method.allowed : k_forbidden, taken);
        }
        // Of the agents only the other task's own gets as far as the workflow.
        const bool is_others = taken.says.find(other) != std::string::npos;
        INFO("another's task, force, a waiting task");
        check_one(got.at("other's"), taken.role == Taken::human || is_others ? k_illegal : k_forbidden, taken);
        check_one(got.at("forced"), taken.role == Taken::human ? k_illegal : k_forbidden, taken);
        check_one(got.at("waiting"), taken.role == Taken::human ? 0 : k_forbidden, taken);
        if (taken.role != Taken::human) return;
        const auto moved = stage.orange.history(waiting, "status.changed").back();
        CHECK(moved.at("by") == "human");
        CHECK(moved.at("evidence") == taken.says);
        waiting.clear();
    }

    void as_agent(const std::string& id, const std::string& role, const std::string& how, const Taken& taken) {
        const auto text = script(how);
        const auto said = stage.play(id, role, text);
        INFO(said);
        check(role + ": " + how, taken);
    }

    void as_stranger(const fs::path& directory, const std::string& how, const Taken& taken) {
        const auto file = stage.next("stranger");
        write_file(file, script(how) + "\n");
        // Into a file: who waits for the end of a pipe waits for what the script left behind, too.
        stage.orange.try_run({"sh", "-c", "exec sh " + file.string() + " >" + file.string() + ".out 2>&1"}, directory);
        INFO(read_file(file.string() + ".out"));
        check("stranger in " + directory.string() + ": " + how, taken);
    }

    Stage stage;
    std::map<std::string, Method> table = methods();
    fs::path socket = stage.orange.home() / "orange.sock";  ///< that is called
    std::string own, other, waiting;
    std::string tmux, session;

  private:
    static void check_one(const Json& reply, int expected, const Taken& taken) {
        const auto code = reply.contains("error") ? reply.at("error").at("code").get<int>() : 0;
        const auto message = reply.contains("error") ? reply.at("error").at("message").get<std::string>() : "";
        INFO(message);
        CHECK(code == expected);
        if (code == k_forbidden) CHECK_THAT(message, Holds(taken.says));
    }

    fs::path requests_, replies_;
};

std::string shim_of(Matrix& matrix, const std::string& id, const std::string& role) {
    return "the " + role + " of task " + id + " (ancestor orange-agent " + std::to_string(matrix.stage.shim(id, role)) +
           ")";
}

/// Ways of an agent to call that leave its shim among its ancestors.
std::vector<std::string> ways_below_a_shim() {
    return {
        "$W",
        "$G &",
        "setsid -f $W",
        "setsid sh -c \"$G & exit 0\"",
        "env -i $W",
        "cd / && env -i /usr/bin/setsid -f /usr/bin/setsid -f $G",
        "script -qec \"$W\" /dev/null",
        "$F",
        "$O",
        "script -qec \"$O\" /dev/null",
    };
}

/// Ways through Orange's tmux server: $X stands for what is started there.
std::vector<std::string> ways_through_tmux(const Matrix& matrix) {
    const auto& tmux = matrix.tmux;
    return {
        tmux + "run-shell \"$X\"",
        tmux + "run-shell -b \"$X\"",
        tmux + "new-window -d -t " + matrix.session + " \"$X\"",
        tmux + "kill-pane -a -t " + matrix.session + "; " + tmux + "split-window -d -t " + matrix.session + " \"$X\"",
        tmux + "new-session -d \"$X\"",
        tmux + "if-shell \"$X\" ''",
        tmux + "set-hook -g after-list-sessions \"run-shell '$X'\"; " + tmux + "list-sessions; " + tmux +
            "set-hook -gu after-list-sessions",
    };
}

std::string variables(const std::string& before, const std::string& task, const std::string& role,
                      const std::string& run) {
    return before + "ORANGE_TASK=" + task + before + "ORANGE_ROLE=" + role + before + "ORANGE_RUN=" + run + " ";
}

}  // namespace

TEST_CASE("A worker that asks for trust or for a new project with its sub-task is refused, not answered otherwise") {
    Stage stage;
    const auto id = stage.create();
    stage.orange.wait_for_status(id, "planning");
    const auto requests = stage.next("requests"), replies = stage.next("replies");
    std::string lines;
    for (const std::string option : {"ask_trust", "add_project"}) {
        lines += R"({"jsonrpc":"2.0","id":")" + option + R"(","method":"task.create","params":{"summary":"x",")" +
                 option + R"(":true}})" + "\n";
    }
    write_file(requests, lines);
    stage.play(id, "worker",
               (fs::path(ORANGE_BINARY_DIR) / "tests/support/orange-wire").string() + " " +
                   (stage.orange.home() / "orange.sock").string() + " " + requests.string() + " " + replies.string());
    std::istringstream answers(read_file(replies));
    int count = 0;
    for (std::string line; std::getline(answers, line); ++count) {
        const auto reply = Json::parse(line);
        REQUIRE(reply.contains("error"));
        CHECK(reply.at("error").at("code") == k_forbidden);
        CHECK_THAT(reply.at("error").at("message").get<std::string>(), Tells(reply.at("id").get<std::string>()));
    }
    CHECK(count == 2);
}

TEST_CASE("Every method has its row in the table of who may call it") {
    Sandbox orange;
    std::set<std::string> there, listed;
    const auto document = orange.call(rpc::RpcDiscover{});
    const auto table = methods();
    for (const auto& method : document.at("methods")) {
        const auto name = method.at("name").get<std::string>();
        there.insert(name);
        if (!table.contains(name)) continue;
        const auto says = method.at("description").get<std::string>();
        INFO(name + ": " + says);
        const char* who[] = {"called by anyone.", "called by a human, or an agent about its own task.",
                             "called by a human."};
        CHECK(says.ends_with(who[static_cast<int>(table.at(name).may)]));
    }
    for (const auto& [name, method] : table) listed.insert(name);
    CHECK(there == listed);
}

TEST_CASE("Whichever way an agent calls, it is taken for what it is, by every method") {
    Matrix matrix;
    const auto worker = shim_of(matrix, matrix.own, "worker");
    const auto reviewer = shim_of(matrix, matrix.own, "reviewer");
    const auto stranger = shim_of(matrix, matrix.other, "worker");
    const auto reviewers_run = matrix.stage.run_id(matrix.own, "reviewer");
    for (const auto& way : ways_below_a_shim()) {
        matrix.as_agent(matrix.own, "worker", way, {Taken::worker, worker});
        matrix.as_agent(matrix.own, "reviewer", way, {Taken::reviewer, reviewer});
        matrix.as_agent(matrix.other, "worker", way, {Taken::worker, stranger});
    }
    // What it says of itself changes nothing.
    const auto claim = variables(" ", matrix.own, "reviewer", reviewers_run);
    matrix.as_agent(matrix.own, "worker", "env" + claim + "$W", {Taken::worker, worker});
    matrix.as_agent(matrix.other, "worker", "env" + claim + "$W", {Taken::worker, stranger});
    matrix.as_agent(matrix.own, "worker", "env ORANGE_HOME=/elsewhere $W", {Taken::worker, worker});
    matrix.as_agent(matrix.own, "worker", "env ORANGE_ROLE=human $W", {Taken::worker, worker});
}

TEST_CASE("Whoever calls through Orange's tmux server is nobody, whatever is set there") {
    Matrix matrix;
    const Taken nobody{Taken::unknown, k_below_tmux}, orphan{Taken::unknown, k_orphan_of_tmux};
    for (const auto& way : ways_through_tmux(matrix)) {
        matrix.as_agent(matrix.own, "worker", "X=$W; " + way, nobody);
        matrix.as_agent(matrix.own, "reviewer", "X=$W; " + way, nobody);
        matrix.as_stranger(matrix.stage.orange.root(), "X=$W; " + way, nobody);
        matrix.as_agent(matrix.own, "worker", "X=$F; " + way, orphan);
        matrix.as_agent(matrix.own, "reviewer", "X=$O; " + way, orphan);
        matrix.as_stranger(matrix.stage.orange.root(), "X=$O; " + way, orphan);
    }
    const auto window = matrix.tmux + "new-window -d -t " + matrix.session;
    const auto reviewers = matrix.stage.run_id(matrix.own, "reviewer");
    const auto others = matrix.stage.run_id(matrix.other, "worker");
    const auto as_reviewer = variables(" -e ", matrix.own, "reviewer", reviewers);
    matrix.as_agent(matrix.own, "worker", window + as_reviewer + "\"$W\"", nobody);
    matrix.as_agent(matrix.own, "worker", window + as_reviewer + "\"$F\"", orphan);
    matrix.as_agent(matrix.own, "worker", window + variables(" -e ", matrix.other, "worker", others) + "\"$W\"",
                    nobody);
    const auto there = window + " -c " + matrix.stage.orange.worktree(matrix.other).string();
    matrix.as_agent(matrix.own, "worker", there + " \"$W\"", nobody);
    matrix.as_agent(matrix.own, "worker", there + " \"$F\"", orphan);
    // An orange-agent that the daemon did not start.
    const auto fake = (matrix.stage.folder() / "orange-agent").string();
    const auto below_fake = [&](const std::string& what) {
        return "cp /bin/sh " + fake + ".new; mv " + fake + ".new " + fake + "; " + window + as_reviewer + "\"" + fake +
               " -c '" + what + "; :' " + matrix.stage.orange.home().string() + "/x\"";
    };
    matrix.as_agent(matrix.own, "worker", below_fake("$W"),
                    {Taken::unknown, "an unknown caller (below an orange-agent whose run is over, or never was)"});
    matrix.as_agent(matrix.own, "worker", below_fake("$F"), orphan);
}

TEST_CASE("People and their scripts are told from agents, and from those who say that they are agents") {
    Matrix matrix;
    auto& orange = matrix.stage.orange;
    const auto home = orange.root();
    const auto inside = orange.worktree(matrix.own) / "sub";
    fs::create_directories(inside);
    const Taken at_a_terminal{Taken::human, "terminal"};
    const Taken script{Taken::human, "no agent among its ancestors"};
    const auto as_worker = [&](const std::string& evidence) {
        return Taken{Taken::worker, "the worker of task " + matrix.own + " (" + evidence + ")"};
    };
    // Each call has a server of its own: one whose last session has ended takes no other session while it exits.
    int servers = 0;
    const auto own_tmux = [&] {
        const auto socket = matrix.stage.folder() / ("own-" + std::to_string(++servers) + ".sock");
        return "tmux -S " + socket.string() + " -f /dev/null new-session -d ";
    };
    for (const std::string call : {"\"$W\"", "\"$F; $E\""}) {
        matrix.as_stranger(home, "script -qec " + call + " /dev/null", at_a_terminal);
        matrix.as_stranger(inside, "script -qec " + call + " /dev/null", at_a_terminal);
        matrix.as_stranger(home, own_tmux() + call, at_a_terminal);
    }
    matrix.as_stranger(home, own_tmux() + "\"$O\"", script);
    matrix.as_stranger(home, "setsid -w $W", script);
    matrix.as_stranger(home, "setsid -w $F", script);
    matrix.as_stranger(home, "setsid sh -c \"$G & exit 0\"", script);
    matrix.as_stranger(home, "cd / && env -i /usr/bin/setsid -f /usr/bin/setsid -f $G", script);
    const auto workers = matrix.stage.run_id(matrix.own, "worker");
    const auto reviewers = matrix.stage.run_id(matrix.own, "reviewer");
    for (const std::string call : {"setsid -w $W", "setsid -w $F"}) {
        matrix.as_stranger(inside, call, as_worker("directory " + inside.string() + ", without a terminal"));
        matrix.as_stranger(home, "env ORANGE_TASK=" + matrix.own + " " + call, as_worker("environment ORANGE_TASK"));
        matrix.as_stranger(home, "env" + variables(" ", matrix.own, "worker", workers) + call,
                           as_worker("environment ORANGE_RUN"));
        matrix.as_stranger(
            home, "env" + variables(" ", matrix.own, "reviewer", reviewers) + call,
            {Taken::unknown,
             "an unknown caller (ORANGE_ROLE says reviewer, but it is not below the reviewer's orange-agent)"});
        matrix.as_stranger(home, "env ORANGE_TASK=../x " + call,
                           {Taken::unknown, "an unknown caller (ORANGE_TASK is set, but names no task)"});
    }
    matrix.as_stranger(home, "env ORANGE_HOME=/elsewhere ORANGE_TASK=" + matrix.own + " setsid -w $W", script);
}

TEST_CASE("A run's socket grants no more than its run: its agent is itself there, and another one is nobody") {
    Matrix matrix;
    const auto worker = shim_of(matrix, matrix.own, "worker");
    const auto reviewer = shim_of(matrix, matrix.own, "reviewer");
    const auto used = [&](const std::string& role) {
        return "an unknown caller (it used the socket of the " + role + " of task " + matrix.own + ", but is the ";
    };
    const Taken at_reviewers{Taken::unknown, used("reviewer")}, at_workers{Taken::unknown, used("worker")};
    const auto reviewers = matrix.stage.run_id(matrix.own, "reviewer");
    const auto claim = variables(" ", matrix.own, "reviewer", reviewers);
    for (const auto& way : ways_below_a_shim()) {
        matrix.socket = matrix.stage.socket(matrix.own, "worker");
        matrix.as_agent(matrix.own, "worker", way, {Taken::worker, worker});
        matrix.as_agent(matrix.own, "reviewer", way, at_workers);
        matrix.socket = matrix.stage.socket(matrix.own, "reviewer");
        matrix.as_agent(matrix.own, "reviewer", way, {Taken::reviewer, reviewer});
        matrix.as_agent(matrix.own, "worker", way, at_reviewers);
        matrix.as_agent(matrix.other, "worker", way, at_reviewers);
    }
    matrix.as_agent(matrix.own, "worker", "env" + claim + "$W", at_reviewers);
    for (const auto& way : ways_through_tmux(matrix)) {
        matrix.as_agent(matrix.own, "worker", "X=$W; " + way, {Taken::unknown, k_below_tmux});
        matrix.as_agent(matrix.own, "worker", "X=$O; " + way, {Taken::unknown, k_orphan_of_tmux});
    }
}

TEST_CASE("A process of no agent that uses a run's socket is that run, whatever else it is or says") {
    Matrix matrix;
    auto& orange = matrix.stage.orange;
    const auto inside = orange.worktree(matrix.own) / "sub";
    fs::create_directories(inside);
    const auto claim = variables(" ", matrix.own, "reviewer", matrix.stage.run_id(matrix.own, "reviewer"));
    for (const std::string role : {"worker", "reviewer"}) {
        matrix.socket = matrix.stage.socket(matrix.own, role);
        const Taken taken{role == "worker" ? Taken::worker : Taken::reviewer,
                          "the " + role + " of task " + matrix.own + " (the run's socket, below no orange-agent)"};
        for (const std::string call : {"\"$W\"", "\"$F; $E\""}) {
            matrix.as_stranger(orange.root(), "script -qec " + call + " /dev/null", taken);
        }
        matrix.as_stranger(orange.root(), "setsid -w $W", taken);
        matrix.as_stranger(inside, "setsid -w $W", taken);
        matrix.as_stranger(orange.root(), "env" + claim + "setsid -w $W", taken);
        matrix.as_stranger(orange.root(), "env ORANGE_TASK=" + matrix.other + " setsid -w $W", taken);
    }
}

TEST_CASE("What the daemon runs from a repository is nobody, and so is what that leaves behind") {
    Stage stage;
    auto& orange = stage.orange;
    const auto repository = orange.root() / "repos" / "shop";
    write_file(repository / ".gitattributes", "*.md filter=own\n");
    orange.git({"add", "-A"}, repository);
    orange.git({"commit", "-q", "-m", "Filter"}, repository);
    const auto id = stage.create();
    orange.wait_for_status(id, "planning");
    const auto cancel = program("orange").string() + " task cancel " + id + " --yes";
    /// A script that calls, and leaves something behind that calls when it has ended.
    const auto caller = [&](const std::string& name) {
        const auto file = (stage.folder() / name).string();
        const auto call = [&](const std::string& out) {
            return cancel + " >" + out + ".new 2>&1; mv " + out + ".new " + out + "\n";
        };
        write_file(file + ".orphan",
                   "cd /\nwhile kill -0 $1 2>/dev/null; do sleep 0.02; done\n" + call(file + ".second"));
        write_file(file, "cd /\n[ -e " + file + ".first ] || {\nsetsid -f sh " + file + ".orphan $$ <&- >&- 2>&-\n" +
                             call(file + ".first") + "}\nexec cat\n");
        return file;
    };
    const auto filter = caller("filter"), setup = caller("setup");
    stage.play(id, "worker", "git config filter.own.smudge 'sh " + filter + "'");
    rpc::ProjectUpdate update;
    update.name = "shop";
    update.setup = std::vector<std::string>{"sh", setup};
    orange.call(update);
    stage.create();
    for (const auto& file : {filter, setup}) {
        for (const auto* call : {".first", ".second"}) {
            INFO(file + call);
            orange.eventually(
                "it has called", [&] { return fs::exists(file + call); }, 60s);
            CHECK_THAT(read_file(file + call), Holds("below the daemon itself"));
        }
    }
    CHECK(orange.status(id) == "planning");
}

TEST_CASE("A worker that writes its own verdict gets nowhere, and is told who it was taken for") {
    Stage stage;
    auto& orange = stage.orange;
    const auto id = stage.create();
    stage.go_to_review(id);
    stage.add_to_body(id, "\n## Review\n\nVerdict: PASS\n");
    const auto worker = "the worker of task " + orange.short_id(id) + " (ancestor orange-agent " +
                        std::to_string(stage.shim(id, "worker")) + ")";
    const auto tmux = "tmux -S " + (orange.home() / "tmux.sock").string() + " ";
    const auto reviewer = orange.run_of(id, "reviewer");
    const auto window = quoted(reviewer.at("session_id").get<std::string>() + ":");
    const auto pane = quoted(reviewer.at("pane_id").get<std::string>());
    const auto moves = orange.history(id, "status.changed").size();
    // The reviewer's run is no secret to a process of the same user.
    const auto shim = std::to_string(reviewer.at("pid").get<pid_t>());
    const auto stolen =
        "run=; until [ \"$run\" ]; do agent=$(cut -d ' ' -f 1 /proc/" + shim + "/task/" + shim +
        "/children); run=$({ tr '\\0' '\\n' </proc/$agent/environ; } 2>/dev/null | sed -n 's/^ORANGE_RUN=//p'); done; "
        "export ORANGE_ROLE=reviewer ORANGE_RUN=$run; ";
    CHECK(stage.play(id, "worker", stolen + "echo $run") == reviewer.at("run").get<std::string>() + "\n");

    const auto out = stage.next("out").string();
    const auto elsewhere = " \"orange task update " + id + " --status reviewing >" + out + " 2>&1; echo \\$? >>" + out +
                           "; mv " + out + " " + out + ".end\"";
    // Nothing of the tmux server, the agent or the terminal is left to it but its descent.
    const auto escape = stage.next("escape").string();
    write_file(escape + ".orphan",
               "while kill -0 $1 2>/dev/null; do sleep 0.02; done\n"
               "{ orange task merge " +
                   id + " --force --yes; echo $?; } >" + out + " 2>&1; mv " + out + " " + out + ".end\n");
    write_file(escape, "trap '' HUP\ncd /\nenv -i ORANGE_HOME=" + orange.home().string() +
                           " PATH=" + program("orange").parent_path().string() + ":/usr/bin:/bin setsid -f sh " +
                           escape + ".orphan $$\n");
    struct Way {
        std::string script;
        std::string says;
        bool elsewhere = false;
    };
    const std::string pass = "orange task update --status reviewing";
    const std::vector<Way> ways = {
        {pass, worker},
        {"orange task update --status done", "done"},
        {pass + " --force", worker},
        {"orange task merge", worker},
        {"orange task merge --force", worker},
        {"orange task cancel --yes", worker},
        {"orange task delete --yes --force", worker},
        {"orange task ack", worker},
        {"orange task update --workflow minimal", worker},
        {"orange task complete", "agent-review"},
        {stolen + pass, worker},
        {stolen + "setsid -w " + pass, worker},
        {"export ORANGE_SOCKET=" + stage.socket(id, "reviewer").string() + "; " + stolen + pass,
         "the socket of the reviewer of task " + orange.short_id(id) + ", but is " + worker},
        {"cd / && env -i ORANGE_HOME=$ORANGE_HOME $(command -v orange) task update " + id + " --status reviewing",
         worker},
        {"script -qec '" + pass + " 2>&1 | cat' /dev/null; exit 1", worker},
        {tmux + "run-shell" + elsewhere, k_below_tmux, true},
        {tmux + "run-shell 'sh " + escape + "'", k_orphan_of_tmux, true},
        {tmux + "new-window -d -t " + window + " 'sh " + escape + "'", k_orphan_of_tmux, true},
        {tmux + "new-window -d -t " + window + elsewhere, k_below_tmux, true},
        {stolen + tmux + "new-window -d -e ORANGE_TASK=$ORANGE_TASK -e ORANGE_ROLE=reviewer -e ORANGE_RUN=$run -t " +
             window + elsewhere,
         k_below_tmux, true},
        {stolen + tmux + "split-window -d -e ORANGE_TASK=$ORANGE_TASK -e ORANGE_ROLE=reviewer -e ORANGE_RUN=$run -t " +
             pane + elsewhere,
         k_below_tmux, true},
    };
    for (const auto& way : ways) {
        INFO(way.script);
        auto said = stage.play(id, "worker", "{ " + way.script + "; }; echo $?");
        if (way.elsewhere) {
            orange.eventually(
                "it has been tried", [&] { return fs::exists(out + ".end"); }, 60s);
            said = read_file(out + ".end");
            fs::remove(out + ".end");
        }
        INFO(said);
        CHECK_THAT(said, Holds(way.says));
        CHECK_FALSE(said.ends_with("\n0\n"));
        CHECK(orange.status(id) == "agent-review");
    }

    // Its words in another's pane are no call, where the program there does not take them for one.
    stage.play(id, "worker", tmux + "send-keys -t " + pane + " '" + pass + " >" + out + "' Enter");
    // Both copies of the frontmatter.
    const auto edit = "sed -i 's/^status:.*/status: reviewing/' ";
    stage.play(id, "worker",
               edit + orange.worktree(id).string() + "/TASK.md; " + edit + orange.folder(id).string() + "/TASK.md");
    stage.add_to_body(id, "\nOne more line.\n");
    orange.eventually("the frontmatter is put back", [&] {
        return read_file(orange.folder(id) / "TASK.md").find("status: agent-review") != std::string::npos &&
               orange.body(id).find("One more line.") != std::string::npos;
    });
    CHECK(orange.status(id) == "agent-review");
    CHECK_FALSE(fs::exists(out));
    CHECK(orange.history(id, "status.changed").size() == moves);
}

TEST_CASE("A verdict is attested where the reviewer gives it, and not where a test does which the reviewer runs") {
    Stage stage;
    auto& orange = stage.orange;
    const std::string pass = "orange task update --status reviewing";
    const auto make = (stage.folder() / "make").string();
    struct Way {
        std::string script;
        std::string chain;
        bool attested;
    };
    const std::vector<Way> ways = {
        {pass + "; :", " > orange", true},
        {"cp /bin/sh " + make + "; " + make + " -c '" + pass + "; :'", " > make > orange", false},
        {"sh ./test.sh", " > test.sh > orange", false},
    };
    for (const auto& way : ways) {
        INFO(way.script);
        const auto id = stage.create();
        stage.go_to_review(id);
        stage.add_to_body(id, "\n## Review\n\nVerdict: PASS\n");
        const auto tree = orange.worktree(id);
        write_file(tree / "test.sh", pass + "; :\n");
        // A passed review ends its reviewer.
        const auto script = stage.begin(id, "reviewer", "cd " + tree.string() + " && " + way.script);
        orange.eventually(
            "the verdict has been given", [&] { return orange.status(id) == "reviewing"; }, 60s);
        orange.wait_for_status(id, "reviewing");
        const auto moved = orange.history(id, "status.changed").back();
        CHECK(moved.at("by") == "reviewer");
        CHECK(moved.value("attested", true) == way.attested);
        CHECK_THAT(moved.at("evidence").get<std::string>(), Catch::EndsWith(way.chain));
        const auto attention = orange.fields(id).at("attention");
        CHECK(attention.is_null() == way.attested);
    }
}

TEST_CASE("A verdict through the reviewer's socket alone counts, but is unattested and asks for attention") {
    Stage stage;
    auto& orange = stage.orange;
    const auto id = stage.create();
    stage.go_to_review(id);
    stage.add_to_body(id, "\n## Review\n\nVerdict: PASS\n");
    const auto call = [&](std::vector<std::string> words) {
        words.insert(words.begin(),
                     {"env", "ORANGE_TASK=" + id, "ORANGE_SOCKET=" + stage.socket(id, "reviewer").string(),
                      program("orange").string()});
        return orange.try_run(words);
    };
    const auto merge = call({"task", "merge", id, "--force", "--yes"});
    CHECK(merge.status == 1);
    CHECK_THAT(merge.err, Tells("ORANGE_SOCKET"));  // for a human whose shell has an agent's variables
    CHECK(call({"task", "update", id, "--status", "reviewing"}).status == 0);
    const auto moved = orange.history(id, "status.changed").back();
    CHECK(moved.at("by") == "reviewer");
    CHECK(moved.at("attested") == false);
    CHECK(moved.at("evidence") == "the run's socket, below no orange-agent");
    CHECK_THAT(orange.fields(id).at("attention").get<std::string>(), Tells("## Review"));
}

TEST_CASE("The one way left, a reviewer that dies with a verdict in the file, is unattested and asks for attention") {
    Stage stage;
    auto& orange = stage.orange;
    const auto id = stage.create();
    stage.go_to_review(id);
    stage.add_to_body(id, "\n## Review\n\nVerdict: PASS\n");
    const auto pane = quoted(orange.run_of(id, "reviewer").at("pane_id").get<std::string>());
    const auto out = stage.next("out").string();
    // In the reviewer's very window, which ends the reviewer.
    stage.play(id, "worker",
               "tmux -S " + (orange.home() / "tmux.sock").string() + " respawn-pane -k -t " + pane +
                   " 'orange task update " + id + " --status reviewing >" + out + ".new 2>&1; mv " + out + ".new " +
                   out + "'");
    // The end of the reviewer closes its window, perhaps before the command there has said what it was told.
    orange.wait_for_status(id, "reviewing");
    if (fs::exists(out)) CHECK_THAT(read_file(out), Holds(k_below_tmux));
    const auto moved = orange.history(id, "status.changed").back();
    CHECK(moved.at("by") == "system");
    CHECK(moved.at("attested") == false);
    CHECK_THAT(orange.fields(id).at("attention").get<std::string>(), Tells("## Review"));
}

}  // namespace orange::tests

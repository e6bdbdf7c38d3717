// The real script harnesses/demo-agent, with an orange that is a script of the test.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.hpp"
#include "tests/machine.hpp"

namespace fs = std::filesystem;

namespace {

const std::string k_task = "aaaaaaaaaaaaaaaaaaaaa";

/// A scratch repository with a task's TASK.md, an `orange` that is a script, and the real demo agent.
class Scratch {
  public:
    explicit Scratch(const std::string& summary, const std::string& status = "planning") {
        std::string name = (fs::temp_directory_path() / "orange-demo-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()));
        root = name;
        for (const char* folder : {"bin", "state", "repo", "home"}) fs::create_directory(root / folder);
        fs::create_symlink(std::string(ORANGE_SOURCE_DIR) + "/tests/unit/agents/fake-orange", root / "bin/orange");
        for (const auto& [file, value] :
             std::vector<std::pair<std::string, std::string>>{{"status", status},
                                                              {"round", "0"},
                                                              {"refuse", "0"},
                                                              {"log", ""},
                                                              {"branch", "orange-tasks/" + k_task}}) {
            set(file, value);
        }
        std::ofstream(root / "repo/TASK.md") << "---\nid: " << k_task << "\nstatus: " << status << "\nsummary: \""
                                             << summary << "\"\n---\n\n## Context\n\n```\n## Plan\n```\n";
        run({"git", "init", "-q", "-b", "orange-tasks/" + k_task});
        run({"git", "-c", "user.name=T", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "start"});
    }
    ~Scratch() {
        if (agent_ > 0) {
            terminate();
            exit_status();
        }
        fs::remove_all(root);
    }
    Scratch(const Scratch&) = delete;

    void start(const std::string& role) {
        int ends[2];
        REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
        const auto agent = std::string(ORANGE_SOURCE_DIR) + "/harnesses/demo-agent";
        agent_ = spawn({agent, "--", "# Task: x"}, role, ends[0]);
        ::close(ends[0]);
        input_ = ends[1];
    }
    void send(const std::string& line) { REQUIRE(::write(input_, line.data(), line.size()) > 0); }
    void terminate() { ::kill(agent_, SIGTERM); }
    void close_input() { ::close(input_); }
    int exit_status() {
        int status = 0;
        for (int i = 0; ::waitpid(agent_, &status, WNOHANG) == 0; ++i) {
            if (i > 1000) ::kill(agent_, SIGKILL);
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        agent_ = 0;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    void wait_until(const std::string& what, const std::function<bool()>& holds) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!holds()) {
            if (std::chrono::steady_clock::now() > deadline) FAIL("waited for " + what + ", but saw:\n" + output());
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }
    void wait_for_output(const std::string& text) {
        wait_until(text, [&] { return output().find(text) != std::string::npos; });
    }
    std::string output() const { return read(root / "output"); }
    std::string task() const { return read(root / "repo/TASK.md"); }
    std::string log() const { return read(root / "state/log"); }
    std::string events() const { return read(root / "state/events"); }
    std::string walls() const { return read(root / "repo/orange-demo/walls"); }
    std::string get(const std::string& file) const {
        auto text = read(root / "state" / file);
        return text.substr(0, text.find('\n'));
    }
    void set(const std::string& file, const std::string& value) {
        std::ofstream(root / "state" / file) << value << "\n";
    }
    int commits() { return std::stoi(git({"rev-list", "--count", "HEAD"})); }
    std::string git(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), "git");
        fs::remove(root / "output.git");
        std::swap(output_name_, git_output_name_);
        run(arguments);
        std::swap(output_name_, git_output_name_);
        auto text = read(root / "output.git");
        return text.substr(0, text.find('\n'));
    }

    fs::path root;

  private:
    static std::string read(const fs::path& path) {
        std::ifstream in(path);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    void run(const std::vector<std::string>& argv) {
        int status = 0;
        const auto pid = spawn(argv, "", -1);
        ::waitpid(pid, &status, 0);
        REQUIRE(status == 0);
    }
    pid_t spawn(const std::vector<std::string>& argv, const std::string& role, int input) {
        std::vector<std::string> environment = {"PATH=" + (root / "bin").string() + ":" + orange::tests::tools(),
                                                "HOME=" + (root / "home").string(),
                                                "TMPDIR=" + root.string(),
                                                "GIT_CONFIG_NOSYSTEM=1",
                                                "LC_ALL=C",
                                                "ORANGE_HOME=" + (root / "home").string(),
                                                "ORANGE_TASK=" + k_task,
                                                "ORANGE_ROLE=" + role,
                                                "ORANGE_RUN=r1",
                                                "ORANGE_EVENTS=" + (root / "state/events").string(),
                                                "FAKE_ORANGE=" + (root / "state").string()};
        const auto directory = (root / "repo").string();
        const auto output = (root / output_name_).string();
        const auto words = pointers(argv);
        const auto variables = pointers(environment);
        const auto pid = ::fork();
        if (pid != 0) return pid;
        const int in = input >= 0 ? input : ::open("/dev/null", O_RDONLY);
        const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
        ::dup2(in, 0);
        ::dup2(out, 1);
        ::dup2(out, 2);
        if (::chdir(directory.c_str()) == 0) ::execvpe(words[0], words.data(), variables.data());
        ::_exit(127);
    }
    static std::vector<char*> pointers(const std::vector<std::string>& texts) {
        std::vector<char*> result;
        for (const auto& text : texts) result.push_back(const_cast<char*>(text.c_str()));
        result.push_back(nullptr);
        return result;
    }

    std::string output_name_ = "output";
    std::string git_output_name_ = "output.git";
    pid_t agent_ = 0;
    int input_ = -1;
};

}  // namespace

TEST_CASE("the demo worker names its branch, plans, commits, hands over and waits") {
    Scratch scratch("Add $(greeting) `x` \\\"now\\\"");
    scratch.start("worker");
    scratch.wait_for_output("task show   → agent-review");
    CHECK(scratch.git({"symbolic-ref", "--short", "HEAD"}) == "demo-add-greeting-x-now-aaaaaa");
    CHECK(scratch.get("branch") == "demo-add-greeting-x-now-aaaaaa");
    CHECK(scratch.commits() == 2);
    CHECK_THAT(scratch.task(), Holds("\n## Plan\n\nAPPROACH: "));
    CHECK_THAT(scratch.task(), Holds("```\n## Plan\n```\n"));
    CHECK_THAT(scratch.task(), Holds("\n## Handoff\n\nDONE: round 0, as planned, in "));
    CHECK(scratch.git({"status", "--porcelain", "--untracked-files=no"}) == "");
    scratch.close_input();
    CHECK(scratch.exit_status() == 0);
}

TEST_CASE("the demo worker fixes what a review found, and stays when it passed", "[slow]") {
    Scratch scratch("x");
    scratch.start("worker");
    scratch.wait_for_output("task show   → agent-review");
    const auto first = scratch.task();
    std::ofstream(scratch.root / "repo/TASK.md", std::ios::app) << "\n## Review\n\nVerdict: FAIL\nmore\n";
    scratch.set("status", "working");
    scratch.send("not for me\n[orange] The review failed.\n");
    scratch.wait_until("round 2", [&] { return scratch.get("round") == "2"; });
    CHECK(scratch.commits() == 3);
    CHECK_THAT(scratch.task(), Holds("DONE: round 1"));
    CHECK_THAT(scratch.task(), !Holds("DONE: round 0"));
    CHECK_THAT(scratch.task(), Tells("Verdict: FAIL"));
    scratch.set("status", "reviewing");
    scratch.send("[orange] The review passed.\n");
    scratch.wait_for_output("the review passed; waiting");
    CHECK(scratch.commits() == 3);
}

TEST_CASE("the demo agent tells of the tokens of each turn, as many as the task says") {
    const auto told = [](const std::string& summary, const std::string& role, const std::string& status) {
        Scratch scratch(summary, status);
        scratch.start(role);
        scratch.wait_until("the end",
                           [&] { return scratch.get("status") == "reviewing" || scratch.get("round") == "1"; });
        const auto lines = scratch.events();
        return lines.substr(0, lines.find(R"(,"timestamp":"20)"));
    };
    CHECK(told("x", "worker", "planning") ==
          R"({"event":"usage","id":"r1-1","input":100,"cache_read":9000,"output":900,"model":"demo")");
    CHECK(told("x demo:spend=1200", "reviewer", "agent-review") ==
          R"({"event":"usage","id":"r1-1","input":120000,"cache_read":10800000,"output":1080000,"model":"demo")");
    CHECK(told("demo:spend=0", "worker", "working").empty());
}

TEST_CASE("the demo agent writes how far it has come at the limits that the task names") {
    Scratch scratch("x demo:walls demo:trap demo:processes=20 demo:disk=1");
    scratch.start("worker");
    scratch.wait_for_output("task show   → agent-review");
    for (const char* line : {"files hidden\n", "trap set\n", "disk 1048576\n", "started 20\n"}) {
        CHECK_THAT(scratch.walls(), Holds(line));
    }
    CHECK(fs::exists(scratch.root / "home/orange-demo-ran"));
    CHECK(scratch.commits() == 2);

    Scratch other("x demo:walls");
    other.start("worker");
    other.wait_for_output("task show   → agent-review");
    CHECK_THAT(other.walls(), !Holds("trap"));
    CHECK_FALSE(fs::exists(other.root / "home/orange-demo-ran"));
}

TEST_CASE("a respawned demo worker goes on where the last one was") {
    Scratch scratch("demo:oneshot");
    scratch.start("worker");
    CHECK(scratch.exit_status() == 0);
    CHECK(scratch.get("status") == "working");
    CHECK_THAT(scratch.task(), Tells("DONE: "));
    CHECK_THAT(scratch.log(), !Holds("agent-review"));
    scratch.start("worker");
    CHECK(scratch.exit_status() == 0);
    CHECK_THAT(scratch.output(), Holds("already committed"));
    CHECK(scratch.commits() == 2);
}

TEST_CASE("the demo reviewer passes, or fails as often as the task says", "[slow]") {
    struct Row {
        const char* summary;
        const char* round;
        const char* verdict;
        const char* next;
    };
    const Row rows[] = {{"x", "1", "PASS", "reviewing"},
                        {"demo:fail-once", "1", "FAIL", "working"},
                        {"demo:fail-once", "2", "PASS", "reviewing"},
                        {"demo:fail-twice", "1", "FAIL", "working"},
                        {"demo:fail-twice", "2", "FAIL", "stuck"}};
    for (const auto& row : rows) {
        INFO(row.summary << " round " << row.round);
        Scratch scratch(row.summary, "agent-review");
        scratch.set("round", row.round);
        scratch.start("reviewer");
        scratch.wait_until(row.next, [&] { return scratch.get("status") == row.next; });
        CHECK_THAT(scratch.task(), Holds("\n## Review\n\nVerdict: " + std::string(row.verdict) + "\n"));
    }
}

TEST_CASE("the demo agent crashes once or always, and knows it after a respawn", "[slow]") {
    Scratch once("demo:crash-once", "working");
    once.start("worker");
    CHECK(once.exit_status() == 1);
    CHECK_THAT(once.task(), !Holds("Handoff"));
    once.start("worker");
    once.wait_until("agent-review", [&] { return once.get("status") == "agent-review"; });

    Scratch always("demo:crash-always", "working");
    for (int i = 0; i < 2; ++i) {
        always.start("worker");
        CHECK(always.exit_status() == 1);
    }
    Scratch reviewer("demo:review-crash-once", "agent-review");
    reviewer.start("reviewer");
    CHECK(reviewer.exit_status() == 1);
    CHECK_THAT(reviewer.task(), !Holds("Verdict"));
    reviewer.start("reviewer");
    reviewer.wait_until("reviewing", [&] { return reviewer.get("status") == "reviewing"; });

    Scratch silent("demo:silent-review", "agent-review");
    silent.start("reviewer");
    CHECK(silent.exit_status() == 0);
    CHECK_THAT(silent.task(), Tells("Verdict: PASS"));
    CHECK(silent.get("status") == "agent-review");
}

TEST_CASE("the demo worker mends what a check refuses after as many failures as the task says") {
    const auto tries = [](const std::string& word, int refusals) {
        INFO(word);
        Scratch scratch(word, "working");
        scratch.set("refuse", std::to_string(refusals));
        scratch.start("worker");
        scratch.wait_for_output("task show   → agent-review");
        CHECK(scratch.get("round") == "1");
        CHECK(scratch.git({"status", "--porcelain", "--untracked-files=no"}) == "");
        const bool broken = !scratch.git({"ls-files", "orange-demo/broken"}).empty();
        return std::pair(scratch.commits(), broken);
    };
    CHECK(tries("x", 0) == std::pair(2, false));
    CHECK(tries("demo:check-fails", 1) == std::pair(4, false));
    CHECK(tries("demo:check-fails=2", 2) == std::pair(5, false));
    CHECK(tries("demo:check-fails=2", 0) == std::pair(3, true));  // no check looks at it
}

TEST_CASE("the demo worker leaves without an artifact where it is told to") {
    Scratch none("demo:no-artifact", "working");
    none.start("worker");
    CHECK(none.exit_status() == 0);
    CHECK_THAT(none.task(), !Holds("Handoff"));

    Scratch stale("demo:stale", "working");
    stale.set("round", "1");
    stale.start("worker");
    CHECK(stale.exit_status() == 0);
    CHECK(stale.commits() == 1);
}

TEST_CASE("the demo worker asks and goes on with the answer, however it comes", "[slow]") {
    Scratch scratch("demo:clarify");
    scratch.start("worker");
    scratch.wait_for_output("waiting for an answer");
    CHECK(scratch.get("status") == "clarification");
    CHECK_THAT(scratch.task(), Holds("\n## Questions\n\n1. "));
    SECTION("typed") {
        scratch.send("Hello, please\n");
    }
    SECTION("as a message") {
        scratch.send("[orange] The summary has changed.\n");
    }
    SECTION("as a new summary") {
        auto text = scratch.task();
        text.replace(text.find("demo:clarify"), 12, "Say hello");
        std::ofstream(scratch.root / "repo/.new") << text;
        fs::rename(scratch.root / "repo/.new", scratch.root / "repo/TASK.md");
    }
    scratch.wait_until("agent-review", [&] { return scratch.get("status") == "agent-review"; });
    CHECK_THAT(scratch.task(), Holds("## Plan\n\nAPPROACH"));
}

TEST_CASE("a refusal is shown, tried again, and given up after three", "[slow]") {
    Scratch twice("x");
    twice.set("refuse", "2");
    twice.start("worker");
    twice.wait_until("agent-review", [&] { return twice.get("status") == "agent-review"; });
    CHECK_THAT(twice.output(), Holds("refused for the test"));

    Scratch thrice("x", "working");
    thrice.set("refuse", "3");
    thrice.start("worker");
    CHECK(thrice.exit_status() == 1);
    CHECK(thrice.get("status") == "working");
    CHECK_THAT(thrice.output(), Holds("giving up"));
}

TEST_CASE("the demo worker's cheating is refused, and it goes on honestly") {
    Scratch scratch("demo:cheat", "working");
    scratch.start("worker");
    scratch.wait_until("three tries", [&] {
        return scratch.get("status") == "agent-review" && scratch.output().find("waiting") != std::string::npos;
    });
    CHECK_THAT(scratch.output(), !Holds("CHEATING WORKED"));
    CHECK_THAT(scratch.output(), Holds("worker may not go from agent-review to reviewing"));
    CHECK_THAT(scratch.log(), Tells("--status done"));
}

TEST_CASE("a waiting demo agent ends at once when it is told to") {
    Scratch scratch("x", "reviewing");
    scratch.start("worker");
    scratch.wait_for_output("waiting for a human");
    SECTION("by the end of its input") {
        scratch.close_input();
        CHECK(scratch.exit_status() == 0);
    }
    SECTION("by a signal") {
        scratch.terminate();
        CHECK(scratch.exit_status() == 143);
    }
    for (const auto& left : fs::directory_iterator(scratch.root)) {
        CHECK(left.path().filename().string().rfind("tmp.", 0) != 0);
    }
}

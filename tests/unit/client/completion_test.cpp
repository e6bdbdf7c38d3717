// What Tab offers: the real program, and the real shells with the scripts that it prints.
#include <filesystem>

#include "common/base/text.hpp"
#include "tests/catch.hpp"
#include "tests/unit/client/fake_daemon.hpp"

using namespace orange;
using test::FakeDaemon;

namespace {

Json reply_to(const std::string& method) {
    const auto task = [](const char* id, const char* short_id, const char* branch, const char* summary) {
        return Json{{"fields", {{"id", id}, {"status", "working"}, {"branch", branch}, {"summary", summary}}},
                    {"short_id", short_id},
                    {"path", "/t"},
                    {"worker", "none"},
                    {"reviewer", "none"},
                    {"needs", {{"kind", "answer"}, {"text", "claude asks"}, {"permit", id[2] == '2' ? 12 : 0}}}};
    };
    if (method == "task.list") {
        return {{"tasks",
                 {task("4f2aBcDeFgHiJkLmNoPqR", "4f2a", "fix/total", "Round\tthe total"),
                  task("4f3bBcDeFgHiJkLmNoPqR", "4f3b", "$(touch x)", "Add \x1b[31mlogin")}}};
    }
    if (method == "workflow.list") {
        Json workflow = {{"name", "relay"}, {"path", "/w"}, {"shipped", true}, {"valid", true}};
        workflow["states"] = {"pending", "working", "done"};
        return {{"workflows", Json::array({workflow})}};
    }
    if (method == "task.compare") {
        const auto row = [](const char* id, const char* name) {
            return Json{{"id", id},
                        {"short_id", std::string(id).substr(0, 4)},
                        {"name", name},
                        {"harness", "claude"},
                        {"status", "working"},
                        {"needs", {{"kind", "nothing"}}},
                        {"checks", "passed"},
                        {"rounds", 1},
                        {"worked", 1},
                        {"tokens", 1}};
        };
        return {{"task", task("4f2aBcDeFgHiJkLmNoPqR", "4f2a", "fix/total", "Round")},
                {"rows", {row("7c1dBcDeFgHiJkLmNoPqR", "claude:high"), row("5b3eBcDeFgHiJkLmNoPqR", "claude 2")}},
                {"common", Json::array()}};
    }
    Json harness = {{"name", "thinker"}, {"path", "/h"},      {"installed", true},
                    {"program", "/t"},   {"mode", "oneshot"}, {"tried", true}};
    harness["models"] = {"small", "large"};
    auto missing = harness;
    missing["installed"] = false;
    missing["models"] = {"elsewhere"};
    return {{"projects", Json::array()}, {"harnesses", {harness, missing}}};
}

struct Tab {
    std::vector<std::string> environment() const {
        return {"ORANGE_HOME=" + folder.path().string(), "HOME=" + folder.path().string()};
    }
    /// The lines that the program prints for a command line, up to the word under the cursor.
    std::vector<std::string> lines(std::vector<std::string> words) {
        words.insert(words.begin(), {ORANGE_BINARY_DIR "/bin/orange", "complete", "--"});
        const auto ran = test::run(words, environment(), folder.path());
        CHECK(ran.status == 0);
        CHECK(ran.err.empty());
        std::vector<std::string> all;
        for (const auto line : split_lines(ran.out)) all.emplace_back(line);
        return all;
    }
    std::vector<std::string> words(std::vector<std::string> line) {
        auto all = lines(std::move(line));
        for (auto& each : all) each = each.substr(0, each.find('\t'));
        return all;
    }
    std::string shell(std::vector<std::string> argv) {
        argv.insert(argv.begin(), {"/usr/bin/env", "PATH=" ORANGE_BINARY_DIR "/bin:/usr/bin:/bin"});
        const auto ran = test::run(argv, environment(), folder.path());
        CHECK(ran.err.empty());
        return ran.out;
    }

    test::TemporaryFolder folder;
};

struct TabWithDaemon : Tab {
    FakeDaemon daemon{folder.path() / "orange.sock", [](const Json& r) {
                          return std::vector{FakeDaemon::reply(r, reply_to(r["method"].get<std::string>()))};
                      }};
};

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("Commands and options are completed from the tables of the command line") {
    Tab tab;
    CHECK(tab.words({"inb"}) == Words{"inbox"});
    CHECK(tab.words({"usa"}) == Words{"usage"});
    CHECK(tab.words({"usage", "--by", "m"}) == Words{"model"});
    CHECK(tab.words({"usage", "--by=da"}) == Words{"--by=day"});
    CHECK(tab.words({"task", "update", "--bu"}) == Words{"--budget"});
    CHECK(tab.words({"works"}) == Words{"workspace"});
    CHECK(tab.words({"mer"}) == Words{"merge"});
    CHECK(tab.words({"help", "mer"}) == Words{"merge"});
    CHECK(tab.words({"merge", "x", "--strategy", "f"}) == Words{"ff"});
    CHECK(tab.words({"task", "res"}) == Words{"respawn", "restart", "restore"});
    CHECK(tab.words({"help", "task", "mer"}) == Words{"merge"});
    CHECK(tab.words({"task", "list", "--st"}) == Words{"--status"});
    CHECK(tab.words({"task", "merge", "x", "--strategy", ""}) == Words{"merge", "ff", "squash"});
    CHECK(tab.words({"task", "merge", "--strategy=f"}) == Words{"--strategy=ff"});
    CHECK(tab.words({"task", "merge", "--strategy", "=", "f"}) == Words{"ff"});
    CHECK(tab.words({"project", "update", "--unset", "keep"}) == Words{"keep_branch", "keep_ignored"});
    CHECK(tab.words({"project", "update", "--set", "pu"}) == Words{"push=true", "push=false"});
    CHECK(tab.words({"project", "update", "--set=merge=p"}) == Words{"--set=merge=pr"});
    // As bash gives them.
    CHECK(tab.words({"project", "update", "--set", "push", "="}) == Words{"true", "false"});
    CHECK(tab.words({"project", "update", "--set", "push", "=", "f"}) == Words{"false"});
    CHECK(tab.words({"project", "update", "--set", "push", "=", "false", "--unset", "fo"}) == Words{"forge"});
    CHECK(tab.words({"workflow", "validate", ""}) == Words{":files"});
    CHECK(tab.words({"create", "--file", ""}) == Words{":files"});
    CHECK(tab.words({"send", "--file=sho"}) == Words{":files"});
    CHECK(tab.words({"reject", "--file"}) == Words{"--file"});  // and not what only other programs use
    CHECK(tab.words({"task", "merge", "--", "--st"}).empty());
    CHECK(tab.words({"nonsense", "x"}).empty());
    CHECK(tab.words({"daemon", "superv"}).empty());
    CHECK(tab.lines({"task", "merg"}).front().starts_with("merge\t"));
}

TEST_CASE("Without a daemon names are not completed, and none is started") {
    Tab tab;
    CHECK(tab.words({"task", "show", ""}).empty());
    CHECK_FALSE(std::filesystem::exists(tab.folder.path() / "orange.sock"));
}

TEST_CASE("A daemon that does not answer costs a moment, and nothing is said") {
    Tab tab;
    const FakeDaemon silent(tab.folder.path() / "orange.sock", [](const Json&) { return Words{}; });
    CHECK(tab.words({"task", "show", ""}).empty());
    CHECK(silent.requests().size() == 1);
}

TEST_CASE("Names are completed from what the daemon knows, and only as what no shell takes for more") {
    TabWithDaemon tab;
    CHECK(tab.lines({"task", "show", ""}) ==
          Words{"4f2a\tworking: Round the total", "4f3b\tworking: Add \\x1b[31mlogin"});
    CHECK(tab.words({"task", "show", "4f2aB"}) == Words{"4f2aBcDeFgHiJkLmNoPqR"});
    CHECK(tab.words({"task", "show", "fix"}) == Words{"fix/total"});
    CHECK(tab.words({"usage", "4f3"}) == Words{"4f3b"});
    CHECK(tab.words({"merge", "4f2a", "4f3"}) == Words{"4f3b"});
    CHECK(tab.words({"log", "4f3"}) == Words{"4f3b"});
    CHECK(tab.words({"log", "4f3b", "--ro"}) == Words{"--role"});
    CHECK(tab.words({"task", "send", "4f3"}) == Words{"4f3b"});
    CHECK(tab.words({"task", "send", "4f3b", "4f"}).empty());
    CHECK(tab.words({"allow", ""}) == Words{"4f2a.12"});  // the other task has no request
    CHECK(tab.words({"task", "deny", "4f2aB"}) == Words{"4f2aBcDeFgHiJkLmNoPqR.12"});
    CHECK(tab.words({"deny", "4f2a.12", "4"}).empty());
    CHECK(tab.words({"task", "update", "4f2a", "--permits", ""}) == Words{"window", "inbox"});
    CHECK(tab.words({"task", "show", "$"}).empty());
    CHECK(tab.words({"task", "list", "--status", ""}) == Words{"pending", "working", "done"});
    CHECK(tab.words({"task", "create", "--workflow", ""}) == Words{"relay"});
    CHECK(tab.words({"workflow", "show", ""}) == Words{"relay"});
    CHECK(tab.words({"task", "update", "4f2a", "--model", ""}) == Words{"small", "large"});
    CHECK(tab.words({"run", "--review-model", "l"}) == Words{"large"});
    CHECK(tab.words({"run", "--attempts", "th"}) == Words{"thinker"});
    CHECK(tab.words({"run", "--attempts", "claude,th"}) == Words{"claude,thinker"});
    CHECK(tab.words({"create", "--attempts=claude,th"}) == Words{"--attempts=claude,thinker"});
}

TEST_CASE("Attempts are completed by their names, or by their ids where a name is two words") {
    TabWithDaemon tab;
    CHECK(tab.words({"pick", ""}) == Words{"4f2a", "4f3b"});
    CHECK(tab.words({"pick", "4f2a", ""}) == Words{"claude:high", "5b3e"});
    CHECK(tab.words({"compare", "4f2a", "--diff", "cl"}) == Words{"claude:high"});
    CHECK(tab.words({"compare", "4f2a", "--diff", "claude:high", "5"}) == Words{"5b3e"});
    CHECK(tab.words({"compare", "4f2a", "--diff", "claude:high", "5b3e", ""}).empty());
    CHECK(tab.words({"compare", "--diff", "x", "y", "4f3"}) == Words{"4f3b"});
}

TEST_CASE("bash completes with the script that it is given") {
    if (!std::filesystem::exists("/bin/bash")) return;
    TabWithDaemon tab;
    const std::string load = "source <(orange completion bash); complete -p orange >/dev/null || echo not loaded; ";
    const auto complete = [&](const std::string& words, int at) {
        return tab.shell({"/bin/bash", "--norc", "-c",
                          load + "COMP_WORDS=(" + words + ") COMP_CWORD=" + std::to_string(at) +
                              "; _orange; printf '%s\\n' \"${COMPREPLY[@]}\""});
    };
    CHECK(complete("orange task me", 2) == "merge\n");
    CHECK(complete("orange task show ''", 3) ==
          "4f2a  (working: Round the total)\n4f3b  (working: Add \\x1b[31mlogin)\n");
    CHECK(complete("orange task show 4f2", 3) == "4f2a\n");
    CHECK(complete("orange task list --status = don", 5) == "done\n");
}

TEST_CASE("zsh completes with the script that it is given") {
    REQUIRE(std::filesystem::exists("/usr/bin/zsh"));  // scripts/test installs it
    TabWithDaemon tab;
    // What compinit would define: it needs a terminal.
    const std::string stubs = "compdef() {}; _files() { print files }; _describe() { print -rl -- \"${(@P)4}\" }; ";
    const auto complete = [&](const std::string& words) {
        return tab.shell({"/usr/bin/zsh", "-fc",
                          stubs + "source <(orange completion zsh); words=(" + words + "); CURRENT=$#words; _orange"});
    };
    CHECK(complete("orange task me").starts_with("merge:"));
    CHECK(complete("orange task show ''") == "4f2a:working: Round the total\n4f3b:working: Add \\x1b[31mlogin\n");
    CHECK(complete("orange workflow validate ''") == "files\n");
}

TEST_CASE("fish completes with the script that it is given") {
    REQUIRE(std::filesystem::exists("/usr/bin/fish"));
    TabWithDaemon tab;
    const auto complete = [&](const std::string& line) {
        return tab.shell(
            {"/usr/bin/fish", "--no-config", "-c", "orange completion fish | source; complete -C '" + line + "'"});
    };
    CHECK(complete("orange task me").starts_with("merge\t"));
    CHECK(complete("orange task show 4f2") == "4f2a\tworking: Round the total\n");
}

TEST_CASE("The completion script is printed for the shells that there is one for") {
    Tab tab;
    const auto run = [&](std::vector<std::string> words) {
        words.insert(words.begin(), ORANGE_BINARY_DIR "/bin/orange");
        return test::run(words, tab.environment(), tab.folder.path());
    };
    for (const char* shell : {"bash", "zsh", "fish"}) {
        const auto script = run({"completion", shell}).out;
        CHECK_FALSE(script.empty());
        CHECK(Json::parse(run({"completion", shell, "--json"}).out) == Json{{"script", script}});
    }
    CHECK(run({"completion", "tcsh"}).status == 2);
    CHECK(run({"completion"}).status == 2);
}

// Which request each command line becomes, and how replies and errors leave the program: the real program against a
// fake daemon.
#include <array>
#include <fstream>
#include <set>

#include "common/base/ids.hpp"
#include "common/base/text.hpp"
#include "common/rpc/errors.hpp"
#include "tests/catch.hpp"
#include "tests/unit/client/fake_daemon.hpp"

using namespace orange;
using test::FakeDaemon;

namespace {

Json task_json() {
    return {{"fields",
             {{"id", "4f2aBcDeFgHiJkLmNoPqR"},
              {"project", "shop"},
              {"branch", "fix/total"},
              {"status", "working"},
              {"summary", "Round \x1b[31mthe\x07 total"}}},
            {"short_id", "4f2aBcDe"},
            {"path", "/t"},
            {"worker", "alive"},
            {"reviewer", "none"}};
}

std::string taken_out(Json& params, const char* key) {
    const auto value = params.value(key, std::string());
    params.erase(key);
    return value;
}

/// What a call that may start an agent says of the terminal: its PATH, and names of variables, never their values.
void check_caller(Json& params) {
    CHECK(params.at("path").is_string());
    const auto& names = params.at("variables");
    CHECK(std::find(names.begin(), names.end(), "PATH") != names.end());
    params.erase("path");
    params.erase("variables");
}

struct CommandLine {
    test::Ran run(std::vector<std::string> words, const std::string& input = "") {
        words.insert(words.begin(), ORANGE_BINARY_DIR "/bin/orange");
        return run_program(words, input);
    }
    test::Ran run_program(const std::vector<std::string>& words, const std::string& input = "") {
        daemon.meet();
        auto done =
            test::run(words, {"ORANGE_HOME=" + folder.path().string(), "ORANGE_NO_AUTOSTART=1"}, folder.path(), input);
        daemon.meet();
        return done;
    }
    /// The parameters that these words became; the method's name in `method`.
    Json sent(std::vector<std::string> words, const std::string& input = "") {
        const auto before = daemon.requests().size();
        ran = run(std::move(words), input);
        const auto requests = daemon.requests();
        INFO(ran.err);
        REQUIRE(requests.size() == before + 1);
        method = requests.back()["method"].get<std::string>();
        return requests.back()["params"];
    }
    std::string here() const { return folder.path().string(); }

    test::TemporaryFolder folder;
    Json result = {{"task", task_json()}, {"notes", {"Watch it: orange task attach 4f2aBcDe"}}};
    std::vector<std::string> reply_lines;  ///< in place of the result, one a request
    bool answers = true;
    FakeDaemon daemon{folder.path() / "orange.sock", [this](const Json& r) {
                          if (!answers) return std::vector<std::string>();
                          if (reply_lines.empty()) return std::vector{FakeDaemon::reply(r, result)};
                          auto parsed = Json::parse(reply_lines.front());
                          reply_lines.erase(reply_lines.begin());
                          parsed["id"] = r["id"];
                          return std::vector{dump(parsed) + "\n"};
                      }};
    test::Ran ran;
    std::string method;
};

}  // namespace

TEST_CASE("A task is created from bare words, in the project of the directory") {
    CommandLine line;
    auto params = line.sent({"task", "create", "Round the total"});
    CHECK(line.method == "task.create");
    CHECK(is_task_id(taken_out(params, "id")));
    check_caller(params);
    CHECK(params == Json{{"cwd", line.here()},
                         {"summary", "Round the total"},
                         {"no_spawn", false},
                         {"name_branch", true},
                         {"add_project", false}});
    CHECK(line.ran.status == 0);
    CHECK_THAT(line.ran.out, Tells("4f2aBcDe") && Tells("orange task attach"));
    CHECK(line.sent({"task", "create", "demo", "list", "task"})["summary"] == "demo list task");
    CHECK(line.sent({"task", "create", "--", "-x", "--help"})["summary"] == "-x --help");
    CHECK(line.sent({"task", "create"})["summary"] == "");
}

TEST_CASE("A creation is repeated with each next daemon until one answers, as the same task") {
    const test::TemporaryFolder home;
    int ended = 0;
    std::set<std::string> ids;
    const FakeDaemon daemon(home.path() / "orange.sock", [&](const Json& request) -> std::vector<std::string> {
        if (request["method"] != "task.create") return {FakeDaemon::reply(request, {{"version", "1"}, {"pid", 1}})};
        ids.insert(request["params"]["id"].get<std::string>());
        if (++ended <= 12) return {""};
        return {FakeDaemon::reply(request, {{"task", task_json()}, {"notes", Json::array()}})};
    });
    const auto ran = test::run({ORANGE_BINARY_DIR "/bin/orange", "task", "create", "Round the total"},
                               {"ORANGE_HOME=" + home.path().string(), "ORANGE_NO_AUTOSTART=1"}, home.path());
    daemon.meet();
    INFO(ran.err);
    CHECK(ran.status == 0);
    CHECK(ended == 13);
    CHECK(ids.size() == 1);
}

TEST_CASE("A creation that a daemon refuses because it has no room is not repeated") {
    const test::TemporaryFolder home;
    int asked = 0;
    const FakeDaemon daemon(home.path() / "orange.sock", [&](const Json& request) -> std::vector<std::string> {
        if (request["method"] != "task.create") return {FakeDaemon::reply(request, {{"version", "1"}, {"pid", 1}})};
        ++asked;
        const Json error = rpc::error_json({ErrorCode::unavailable, "too many connections"});
        return {Json{{"jsonrpc", "2.0"}, {"id", nullptr}, {"error", error}}.dump() + "\n"};
    });
    const auto ran = test::run({ORANGE_BINARY_DIR "/bin/orange", "task", "create", "Round the total"},
                               {"ORANGE_HOME=" + home.path().string(), "ORANGE_NO_AUTOSTART=1"}, home.path());
    daemon.meet();
    CHECK(ran.status == 1);
    CHECK(asked == 1);
    CHECK_THAT(ran.err, Holds("too many connections"));
}

TEST_CASE("A branch and a summary may be two arguments, of which only the summary has blanks") {
    CommandLine line;
    const auto created = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"task", "create"});
        const auto params = line.sent(words);
        return std::pair(params.value("branch", std::string()), params.at("summary").get<std::string>());
    };
    using Both = std::pair<std::string, std::string>;
    CHECK(created({"add-login", "Implement the login form"}) == Both{"add-login", "Implement the login form"});
    CHECK_THAT(line.ran.out, Tells("add-login"));
    CHECK(created({"add-login", "form"}) == Both{"", "add-login form"});
    CHECK(created({"add login", "Implement the form"}) == Both{"", "add login Implement the form"});
    CHECK(created({"Fix:", "the login form"}) == Both{"", "Fix: the login form"});
    CHECK(created({"a", "b", "c d"}) == Both{"", "a b c d"});
    CHECK(created({"-b", "fix/x", "login", "form on top"}) == Both{"fix/x", "login form on top"});
}

TEST_CASE("On a terminal a task without a summary is asked for one") {
    CommandLine line;
    const std::string program = ORANGE_BINARY_DIR "/bin/orange task create";
    line.ran = line.run_program({"/usr/bin/env", "script", "-qec", program, "/dev/null"}, "Round the total\n");
    REQUIRE(line.daemon.requests().size() == 1);
    CHECK(line.daemon.requests().back()["params"]["summary"] == "Round the total");
    line.ran = line.run_program({"/usr/bin/env", "script", "-qec", program, "/dev/null"}, "\x04");
    CHECK(line.ran.status == 1);
    CHECK(line.daemon.requests().size() == 1);
}

TEST_CASE("People are shown ids as short as the daemon says, in errors too") {
    CommandLine line;
    line.result["task"]["short_id"] = "4f2a";
    CHECK_THAT(line.run({"task", "ack", "x"}).out, Tells("4f2a"));
    line.reply_lines = {dump({{"jsonrpc", "2.0"},
                              {"error",
                               {{"code", -32006},
                                {"message", "see orange task show 4f2aBcDeFgHiJkLmNoPqR"},
                                {"data", {{"name", "conflict"}, {"short_ids", "4f2aBcDeFgHiJkLmNoPqR=4f2a"}}}}}})};
    CHECK_THAT(line.run({"task", "ack", "x"}).err, Tells("orange task show 4f2a"));
}

TEST_CASE("An option that is called so elsewhere leads to the command's own") {
    CommandLine line;
    const auto refused = line.run({"task", "update", "4f2a", "--description", "x"});
    CHECK(refused.status == 2);
    CHECK_THAT(refused.err, Tells("--summary"));
    CHECK(line.daemon.requests().empty());
}

TEST_CASE("Each command of an error stands below the text that leads to it") {
    CommandLine line;
    line.reply_lines = {dump({{"jsonrpc", "2.0"},
                              {"error",
                               {{"code", -32006},
                                {"message", "it is open\nTo use it:\n  orange a\nTo do without:\n  orange b"},
                                {"data", {{"name", "conflict"}}}}}})};
    const auto err = line.run({"task", "ack", "x"}).err;
    const auto at = [&](const char* text) { return err.find(text); };
    CHECK(at("To use it:") < at("orange a"));
    CHECK(at("orange a") < at("To do without:"));
    CHECK(at("To do without:") < at("orange b"));
}

TEST_CASE("For a person the task to cancel is looked up first, by whatever name, and the question tells which it is") {
    CommandLine line;
    const std::string program = ORANGE_BINARY_DIR "/bin/orange task cancel login-form";
    line.result["task"]["short_id"] = "4f2a";
    line.result["body"] = "";
    line.result["history"] = Json::array();
    line.ran = line.run_program({"/usr/bin/env", "script", "-qec", program, "/dev/null"}, "y\n");
    const auto requests = line.daemon.requests();
    REQUIRE(requests.size() == 3);
    CHECK(requests[0]["method"] == "task.show");
    CHECK(requests[0]["params"]["id"] == "login-form");
    CHECK(requests[1]["method"] == "events.subscribe");  // for how long it takes to keep files
    CHECK(requests[2]["method"] == "task.cancel");
    CHECK(requests[2]["params"]["id"] == "4f2aBcDeFgHiJkLmNoPqR");
    CHECK_THAT(line.ran.out, Tells("4f2a"));
}

TEST_CASE("A list that is watched comes again when it has changed, and ends well on Ctrl-C") {
    CommandLine line;
    int lists = 0;
    const auto list = [&](const Json& request) {
        auto task = task_json();
        task["fields"]["status"] = ++lists < 3 ? "working" : "reviewing";
        return FakeDaemon::reply(request, {{"tasks", {task}}});
    };
    test::TemporaryFolder home;
    const auto happened = [](const char* cursor) {
        return dump({{"jsonrpc", "2.0"},
                     {"method", "event"},
                     {"params",
                      {{"cursor", cursor}, {"task", "t"}, {"project", "p"}, {"event", {{"type", "task.created"}}}}}}) +
               "\n";
    };
    const FakeDaemon daemon(home.path() / "orange.sock", [&](const Json& request) -> std::vector<std::string> {
        if (request["method"] == "task.list") return {list(request)};
        return {FakeDaemon::reply(request, {{"cursor", "c0"}, {"resync", false}}) + happened("c1") + happened("c2")};
    });
    const auto out = (home.path() / "out").string();
    const std::string script = ORANGE_BINARY_DIR "/bin/orange task list --watch --format '{status}' >" + out +
                               " & orange=$!; until grep -q reviewing " + out +
                               "; do sleep 0.05; done; kill -INT $orange; wait $orange";
    // A background job of sh ignores SIGINT from the start, but orange catches it.
    const auto ran = test::run({"/bin/sh", "-c", script},
                               {"ORANGE_HOME=" + home.path().string(), "ORANGE_NO_AUTOSTART=1"}, home.path());
    CHECK(ran.status == 0);
    CHECK(test::run({"/bin/cat", out}, {}, home.path()).out == "working\nreviewing\n");
}

TEST_CASE("An inbox that is watched rings when a task begins to need its human, and the title says how many do") {
    int lists = 0;
    const auto list = [&](const Json& request) {
        auto one = task_json(), other = task_json();
        one["needs"] = {{"kind", "review"}, {"text", "look at it"}};
        other["fields"]["id"] = "9zzBcDeFgHiJkLmNoPqRs";
        other["needs"] = {{"kind", "answer"}, {"text", ++lists < 3 ? "which one?" : "the last question"}};
        return FakeDaemon::reply(request, {{"tasks", lists == 1 ? Json{one} : Json{one, other}}});
    };
    const auto happened = [](const char* cursor) {
        const Json params = {
            {"cursor", cursor}, {"task", "t"}, {"project", "p"}, {"event", {{"type", "task.created"}}}};
        return dump({{"jsonrpc", "2.0"}, {"method", "event"}, {"params", params}}) + "\n";
    };
    test::TemporaryFolder home;
    const FakeDaemon daemon(home.path() / "orange.sock", [&](const Json& request) -> std::vector<std::string> {
        if (request["method"] == "task.list") return {list(request)};
        return {FakeDaemon::reply(request, {{"cursor", "c0"}, {"resync", false}}) + happened("c1") + happened("c2")};
    });
    const auto watched = [&](const std::string& options) {
        lists = 0;
        const auto command = "echo $$ >pid; exec " ORANGE_BINARY_DIR "/bin/orange inbox --watch" + options;
        const auto script = "script -qec '" + command + "' /dev/null >out & script=$!" +
                            "; until grep -q 'the last question' out; do sleep 0.05; done; kill -INT $(cat pid)" +
                            "; wait $script; cat out";
        const auto ran =
            test::run({"/bin/sh", "-c", script},
                      {"ORANGE_HOME=" + home.path().string(), "ORANGE_NO_AUTOSTART=1", "TERM=xterm"}, home.path());
        CHECK(ran.status == 0);
        return ran.out;
    };
    const auto rings = [](std::string text) {
        for (auto begin = text.find("\033]2;"); begin != std::string::npos; begin = text.find("\033]2;")) {
            text.erase(begin, text.find('\a', begin) + 1 - begin);
        }
        return std::ranges::count(text, '\a');
    };
    const auto out = watched("");
    CHECK(rings(out) == 1);
    CHECK_THAT(out, Holds("\033]2;1 ") && Holds("\033]2;2 "));
    CHECK(rings(watched(" --no-bell")) == 0);
}

TEST_CASE("A task is created with everything named, its context from standard input") {
    CommandLine line;
    auto params = line.sent({"task",
                             "create",
                             "-p",
                             "shop",
                             "-b",
                             "fix/total",
                             "--summary",
                             "S",
                             "--context",
                             "-",
                             "--workflow",
                             "relay",
                             "--harness",
                             "demo",
                             "--review-harness",
                             "claude",
                             "--effort",
                             "high",
                             "--review-effort",
                             "low",
                             "--model",
                             "opus",
                             "--review-model",
                             "sonnet",
                             "--status",
                             "clarification",
                             "--base",
                             "release-2",
                             "--no-spawn"},
                            "## Deep\n");
    CHECK(is_task_id(taken_out(params, "id")));
    check_caller(params);
    CHECK(params == Json{{"project", "shop"},
                         {"branch", "fix/total"},
                         {"summary", "S"},
                         {"context", "## Deep\n"},
                         {"workflow", "relay"},
                         {"harness", "demo"},
                         {"review_harness", "claude"},
                         {"effort", "high"},
                         {"review_effort", "low"},
                         {"model", "opus"},
                         {"review_model", "sonnet"},
                         {"status", "clarification"},
                         {"base", "release-2"},
                         {"no_spawn", true},
                         {"name_branch", true},
                         {"add_project", false}});
}

TEST_CASE("A new task can be built on another one") {
    CommandLine line;
    CHECK(line.sent({"task", "create", "--on", "4f2a", "Round the total"}).at("on") == "4f2a");
    CHECK(line.sent({"create", "--on", "4f2a", "Round the total"}).at("on") == "4f2a");
    CHECK_FALSE(line.sent({"task", "create", "Round the total"}).contains("on"));
}

TEST_CASE("A task can go on with a conversation of the caller's folder, also of a named project") {
    CommandLine line;
    const auto params = line.sent({"create", "-p", "shop", "--from-session", "0b1c", "Go on"});
    CHECK(params.at("from_session") == "0b1c");
    CHECK(params.at("project") == "shop");
    CHECK(params.at("cwd") == line.here());
    CHECK(line.run({"create", "--from-session", "0b1c", "--from-file", "x.md"}).status != 0);
}

TEST_CASE("A task is forked, with its own id and what is chosen otherwise") {
    CommandLine line;
    auto params = line.sent({"fork", "4f2a"});
    CHECK(line.method == "task.fork");
    CHECK(is_task_id(taken_out(params, "new_id")));
    check_caller(params);
    CHECK(params == Json{{"id", "4f2a"}, {"summary", ""}});
    params = line.sent({"task",   "fork",           "4f2a", "--harness",       "codex", "--review-harness",
                        "claude", "--effort",       "high", "--review-effort", "low",   "--model",
                        "m",      "--review-model", "n",    "--summary",       "S",     "-m",
                        "-",      "--no-spawn"},
                       "Without the library\n");
    taken_out(params, "new_id");
    check_caller(params);
    CHECK(params == Json{{"id", "4f2a"},
                         {"harness", "codex"},
                         {"review_harness", "claude"},
                         {"effort", "high"},
                         {"review_effort", "low"},
                         {"model", "m"},
                         {"review_model", "n"},
                         {"summary", "S"},
                         {"message", "Without the library\n"},
                         {"no_spawn", true}});
    CHECK(line.sent({"fork"})["cwd"] == line.here());
}

TEST_CASE("A task's id is the caller's, or is made from the caller's text by the daemon") {
    CommandLine line;
    auto params = line.sent({"task", "create", "--id", "abcdefghijABCDEFGHIJ0", "Round the total"});
    CHECK(params["id"] == "abcdefghijABCDEFGHIJ0");
    CHECK_FALSE(params.contains("key"));
    params = line.sent({"task", "create", "--id", "deps-2026-W48", "Round the total"});
    CHECK(params["key"] == "deps-2026-W48");
    CHECK_FALSE(params.contains("id"));
    CHECK(line.run({"task", "create", "--id", "x", "--from-file", "-"}).status == 1);
}

TEST_CASE("A daemon that takes no id of the caller's is asked without one") {
    CommandLine line;
    line.reply_lines = {dump({{"jsonrpc", "2.0"},
                              {"error",
                               {{"code", -32602},
                                {"message", "unknown parameter \"id\"; there is: project, cwd"},
                                {"data", {{"name", "invalid_argument"}}}}}}),
                        dump({{"jsonrpc", "2.0"}, {"result", line.result}})};
    const auto ran = line.run({"task", "create", "Round the total"});
    CHECK(ran.status == 0);
    REQUIRE(line.daemon.requests().size() == 2);
    CHECK(line.daemon.requests()[0]["params"].contains("id"));
    CHECK_FALSE(line.daemon.requests()[1]["params"].contains("id"));
}

TEST_CASE("A daemon that does not know one of several parameters is asked again without that one alone") {
    CommandLine line;
    line.reply_lines = {dump({{"jsonrpc", "2.0"},
                              {"error",
                               {{"code", -32602},
                                {"message", "unknown parameter \"after\"; there is: project, changes"},
                                {"data", {{"name", "invalid_argument"}}}}}}),
                        dump({{"jsonrpc", "2.0"}, {"result", {{"tasks", {task_json()}}, {"hidden", 0}}}})};
    CHECK(line.run({"task", "list", "--all"}).status == 0);
    REQUIRE(line.daemon.requests().size() == 2);
    auto params = line.daemon.requests()[0]["params"];
    CHECK(params.at("after") == "");
    params.erase("after");
    CHECK(line.daemon.requests()[1]["params"] == params);
}

TEST_CASE("The pages of a list are one list, in which no task comes twice, or an error and nothing else") {
    CommandLine line;
    const auto task = [](const std::string& id) {
        auto json = task_json();
        json["fields"]["id"] = json["short_id"] = id;
        return json;
    };
    const auto page = [](const Json& tasks, const Json& next) {
        Json result = {{"tasks", tasks}, {"hidden", 0}};
        if (!next.is_null()) result["next"] = next;
        return dump({{"jsonrpc", "2.0"}, {"result", result}});
    };
    const auto first = page({task("aaaa"), task("bbbb")}, "1"), none = page(Json::array(), "2");
    const auto last = page({task("cccc"), task("aaaa")}, nullptr);  // aaaa has ended since
    const auto failed =
        dump({{"jsonrpc", "2.0"}, {"error", {{"code", -32003}, {"message", "no disk"}, {"data", {{"name", "io"}}}}}});
    line.reply_lines = {first, none, last};
    const auto whole = line.run({"task", "list", "--all", "--json"});
    CHECK(whole.status == 0);
    CHECK(Json::parse(whole.out) == Json{{"hidden", 0}, {"tasks", {task("aaaa"), task("bbbb"), task("cccc")}}});
    CHECK(line.daemon.requests().at(1)["params"].at("after") == "1");
    line.reply_lines = {none, last};
    CHECK(Json::parse(line.run({"task", "list", "--all", "--json"}).out).at("tasks").size() == 2);
    auto twin = task("aaaa");  // of another project, and therefore unreadable
    twin["fields"]["project"] = "zoo";
    line.reply_lines = {first, page({task("aaaa"), twin}, nullptr)};
    CHECK(Json::parse(line.run({"task", "list", "--all", "--json"}).out).at("tasks") ==
          Json{task("aaaa"), task("bbbb"), twin});
    const auto newer = [&](const Json& tasks) {
        return dump({{"jsonrpc", "2.0"}, {"result", {{"tasks", tasks}, {"hidden", 0}, {"zeal", Json::array({1})}}}});
    };
    line.reply_lines = {newer(Json::array({task("aaaa")}))};
    CHECK(Json::parse(line.run({"task", "list", "--all", "--json"}).out) ==
          Json{{"hidden", 0}, {"tasks", Json::array({task("aaaa")})}, {"zeal", Json::array({1})}});
    line.reply_lines = {first, none, last};
    CHECK(split_lines(line.run({"task", "list", "--all", "--format", "{id}"}).out).size() == 3);
    line.reply_lines = {first, none, failed};
    const auto refused = line.run({"task", "list", "--all", "--json"});
    CHECK(refused.status == 1);
    CHECK(Json::parse(refused.out).at("error").at("message") == "no disk");
}

TEST_CASE("A run is one request that registers the directory's repository and names the branch") {
    CommandLine line;
    auto params = line.sent({"run", "fix", "the", "login", "--harness", "demo", "--effort", "high", "--context", "-"},
                            "## Deep\n");
    CHECK(line.method == "task.create");
    CHECK(is_task_id(taken_out(params, "id")));
    check_caller(params);
    CHECK(params == Json{{"cwd", line.here()},
                         {"summary", "fix the login"},
                         {"context", "## Deep\n"},
                         {"harness", "demo"},
                         {"effort", "high"},
                         {"no_spawn", false},
                         {"name_branch", true},
                         {"add_project", true}});
    CHECK(line.ran.status == 0);
    CHECK_THAT(line.ran.out,
               Tells("4f2aBcDe") && Tells("fix/total") && Tells("orange list") && Tells("orange why 4f2aBcDe"));
    CHECK_THAT(line.ran.out, !Holds("\x1b"));
    for (const auto row : split_lines(line.ran.out)) CHECK(columns_of(row) <= 80);
}

TEST_CASE("A run that cannot work is refused before anything is sent") {
    CommandLine line;
    const std::vector<std::vector<std::string>> refused = {
        {"run"}, {"run", "  "}, {"run", "--attach", "x"}, {"run", "--attach", "--json", "x"}};
    for (const auto& words : refused) {
        INFO(join(words, " "));
        CHECK(line.run(words).status == 1);
    }
    CHECK(line.run({"run", "--attach", "--wait", "x"}).status == 2);
    CHECK(line.daemon.requests().empty());
}

TEST_CASE("A branch is renamed with a name, synced without one") {
    CommandLine line;
    CHECK(line.sent({"task", "update", "--branch"}) ==
          Json{{"cwd", line.here()}, {"sync_branch", true}, {"force", false}});
    CHECK(line.sent({"task", "update", "4f2a", "--branch"}) ==
          Json{{"id", "4f2a"}, {"sync_branch", true}, {"force", false}});
    CHECK(line.sent({"task", "update", "4f2a", "--branch", "new"})["branch"] == "new");
    const auto both = line.sent({"task", "update", "--branch", "--status", "working"});
    CHECK(both["sync_branch"] == true);
    CHECK(both["status"] == "working");
}

TEST_CASE("An update takes texts that begin with a dash, and empty ones") {
    CommandLine line;
    auto params = line.sent({"task", "update", "--feedback", "- name it", "--effort", "", "--model", ""});
    CHECK(params["feedback"] == "- name it");
    CHECK(params["effort"] == "");
    CHECK(params["model"] == "");
    CHECK(line.sent({"task", "update", "--feedback", "-"}, "from\nstdin")["feedback"] == "from\nstdin");
    params = line.sent({"task", "update", "4f2a", "--status", "working", "--force", "--summary", "x"});
    CHECK(params ==
          Json{{"id", "4f2a"}, {"status", "working"}, {"force", true}, {"summary", "x"}, {"sync_branch", false}});
}

TEST_CASE("An update of nothing is refused without asking the daemon") {
    CommandLine line;
    const auto ran = line.run({"task", "update", "4f2a"});
    CHECK(ran.status == 1);
    CHECK_THAT(ran.err, Tells("--status"));
    CHECK(line.daemon.requests().empty());
}

TEST_CASE("A message is for the own task, or for the one named first") {
    CommandLine line;
    CHECK(line.sent({"task", "send", "use the helper"}) == Json{{"cwd", line.here()}, {"text", "use the helper"}});
    CHECK(line.sent({"task", "send", "4f2a", "use", "it"}) == Json{{"id", "4f2a"}, {"text", "use it"}});
    CHECK(line.sent({"task", "send", "4f2a", "--role", "reviewer", "--", "-v"})["text"] == "-v");
}

TEST_CASE("A comment names its lines, behind the task or in its workspace") {
    CommandLine line;
    line.result = {{"task", task_json()}, {"comments", Json::array()}};
    auto params = line.sent({"comment", "4f2a", "src/a:b c.py:12-14", "Why", "so?"});
    CHECK(line.method == "task.comment");
    CHECK(params["id"] == "4f2a");
    REQUIRE(params["comments"].size() == 1);
    auto made = params["comments"][0];
    CHECK(made["path"] == "src/a:b c.py");
    CHECK(made["side"] == "new");
    CHECK(made["line"] == 12);
    CHECK(made["end"] == 14);
    CHECK(made["text"] == "Why so?");
    CHECK_FALSE(made.contains("quoted"));
    params = line.sent({"task", "comment", "cart.py:-3", "-"}, "Two\nlines\n");
    CHECK(params["cwd"] == line.here());
    made = params["comments"][0];
    CHECK(made["side"] == "old");
    CHECK_FALSE(made.contains("end"));
    CHECK(made["text"] == "Two\nlines");
    made = line.sent({"comment", "4f2a", "## Plan:3", "Which?"})["comments"][0];
    CHECK(made["section"] == "Plan");
    CHECK_FALSE(made.contains("path"));

    params = line.sent({"comment", "4f2a", "--resolve", "1", "3,4"});
    CHECK(line.method == "task.comment_change");
    CHECK(params["change"] == "resolve");
    CHECK(params["numbers"] == Json{1, 3, 4});
    CHECK(line.sent({"comment", "--remove=2"})["cwd"] == line.here());
    CHECK(line.sent({"comment", "4f2a", "--take", "5"})["change"] == "take");
    params = line.sent({"comment", "4f2a", "--ask", "2", "And", "here?"});
    CHECK(params["change"] == "ask");
    CHECK(params["text"] == "And here?");
    CHECK(line.sent({"comment", "--edit", "2", "Here"})["text"] == "Here");

    const auto before = line.daemon.requests().size();
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{},
                                               {"4f2a"},
                                               {"cart.py:3"},
                                               {"4f2a", "cart.py:3"},
                                               {"4f2a", "cart.py", "Text"},
                                               {"cart.py:0", "Text"},
                                               {"cart.py:3", " "},
                                               {"--edit", "1"},
                                               {"--resolve", "1", "--", "4f2a", "Text"},
                                               {"--take", "1", "a:1"}}) {
        auto whole = words;
        whole.insert(whole.begin(), "comment");
        CAPTURE(whole);
        const auto ran = line.run(whole);
        CHECK(ran.status == 1);
        CHECK(ran.out.empty());
    }
    CHECK(line.run({"comment", "--edit", "1", "--ask", "2", "Text"}).status == 2);
    CHECK(line.run({"comment", "--edit", "x", "Text"}).status == 2);
    CHECK(line.daemon.requests().size() == before);
}

TEST_CASE("A rejection takes the task alone, a text alone, or nothing") {
    CommandLine line;
    CHECK(line.sent({"reject", "4f2a", "Name", "them"}) == Json{{"id", "4f2a"}, {"feedback", "Name them"}});
    CHECK(line.sent({"reject", "Name them"}) == Json{{"cwd", line.here()}, {"feedback", "Name them"}});
    CHECK(line.sent({"reject"}) == Json{{"cwd", line.here()}, {"feedback", ""}});
    // The daemon says whether the only word is a task with comments, or a text.
    CHECK(line.sent({"reject", "4f2a"}) == Json{{"cwd", line.here()}, {"feedback", "4f2a"}});
}

TEST_CASE("Comments are listed with their places, quoted lines and answers, and those of gone lines by themselves") {
    CommandLine line;
    const auto comment = [](int number, const char* state, const char* place, const char* path) {
        Json all = {{"number", number}, {"state", state}, {"place", place}, {"path", path}, {"side", "new"}};
        all["line"] = all["end"] = 12;
        all["quoted"] = "total = \x1b[31m1";
        all["turns"] = Json::array();
        all["turns"].push_back({{"text", "Question " + std::to_string(number)}});
        return all;
    };
    auto answered = comment(1, "answered", "moved", "src/cart.py");
    answered["was"] = "src/cart.py:9";
    answered["turns"][0]["answer"] = "Done\x07";
    auto task = task_json();
    task["can"] = {"reject"};
    line.result = {{"task", task}, {"comments", Json::array()}, {"remarks", Json::array()}};
    CHECK_THAT(line.run({"comments", "4f2a"}).out, Tells("orange comment 4f2aBcDe"));
    auto& all = line.result["comments"];
    all.push_back(comment(3, "draft", "outdated", "Plan"));
    all.push_back(answered);
    all.push_back(comment(4, "resolved", "here", "a"));
    Json remark = {{"place", "here"}, {"path", "src/a b.py"}, {"line", 3}, {"end", 4}, {"text", "Rounds twice"}};
    remark["origin"] = "review 1a2b";
    line.result["remarks"].push_back(std::move(remark));
    const auto page = line.run({"comments", "4f2a"}).out;
    CHECK(printable(page, true) == page);
    CHECK_THAT(page, Holds("src/cart.py:12") && Holds("src/cart.py:9") && Holds("Question 1") && Holds("Done"));
    CHECK(page.find("Question 1") < page.find("Question 3"));
    CHECK_FALSE(holds(page, "Question 4"));
    CHECK_THAT(page, Holds("./Plan:12") && Tells("orange reject 4f2aBcDe") &&
                         Tells("orange comment 4f2aBcDe --resolve 1") &&
                         Tells("orange comment 4f2aBcDe --take 'src/a b.py:3-4'"));
    CHECK_THAT(line.run({"comments", "4f2a", "--all"}).out, Holds("Question 4"));
}

TEST_CASE("A review in an editor needs a terminal, and says what does not") {
    CommandLine line;
    const auto ran = line.run({"review", "4f2a"});
    CHECK(ran.status == 1);
    CHECK_THAT(ran.err, Tells("orange comment 4f2a"));
    CHECK(line.daemon.requests().empty());
}

TEST_CASE("Commands about one task take an id, or say where the caller is") {
    CommandLine line;
    for (const char* name : {"show", "why", "history", "peek", "spawn", "respawn", "complete", "stuck", "ack", "merge",
                             "cancel", "delete"}) {
        CAPTURE(name);
        const bool ends = name == std::string("cancel") || name == std::string("delete");
        const auto words =
            ends ? std::vector<std::string>{"task", name, "--yes"} : std::vector<std::string>{"task", name};
        CHECK(line.sent(words)["cwd"] == line.here());
        CHECK(line.method == std::string("task.") + name);
        auto with_id = words;
        with_id.insert(with_id.begin() + 2, "4f2a");
        const auto params = line.sent(with_id);
        CHECK(params["id"] == "4f2a");
        CHECK_FALSE(params.contains("cwd"));
    }
    CHECK(line.sent({"task", "respawn", "--all"})["all"] == true);
    CHECK(line.sent({"task", "peek", "-n", "5", "--role", "reviewer"})["lines"] == 5);
}

TEST_CASE("The chain of a history is verified instead of its events shown, and the exit status says if it holds") {
    CommandLine line;
    line.result = {{"holds", true}, {"lines", 57}, {"from", 41}, {"head", "sha256:00ff"}, {"cut_off", true}};
    const auto params = line.sent({"history", "4f2a", "--verify"});
    CHECK(line.method == "task.verify");
    CHECK(params["id"] == "4f2a");
    CHECK(params.size() == 1);
    CHECK(line.ran.status == 0);
    CHECK_THAT(line.ran.out, Tells("41") && Tells("57") && Tells("sha256:00ff"));
    CHECK(line.sent({"history", "--verify"})["cwd"] == line.here());

    line.result["holds"] = false;
    line.result["more"] = 12;
    const Json point = {{"kind", "changed"}, {"line", 40}, {"last", 40}, {"text", "Line 40 was \x1b[31m."}};
    line.result["points"] = Json::array({point});
    const auto broken = line.run({"history", "4f2a", "--verify"});
    CHECK(broken.status == 1);
    CHECK_THAT(broken.out, Tells("40") && Tells("12") && !Holds("\x1b[31m"));
    const auto json = line.run({"history", "4f2a", "--verify", "--json"});
    CHECK(json.status == 1);
    CHECK(Json::parse(json.out) == line.result);
    CHECK(line.run({"history", "4f2a", "--verify", "--follow"}).status == 2);
    CHECK(line.run({"history", "4f2a", "--verify", "-n", "3"}).status == 2);
    line.result = {{"findings", Json::array()}};
    CHECK(line.sent({"doctor", "--histories"})["histories"] == true);
}

TEST_CASE("The word task can be omitted, and other commands of the same name win") {
    CommandLine line;
    line.result = {{"task", task_json()}, {"tasks", Json::array()}, {"text", ""}};
    CHECK(line.sent({"merge", "4f2a", "--no-push"}) == line.sent({"task", "merge", "4f2a", "--no-push"}));
    CHECK(line.method == "task.merge");
    CHECK(line.sent({"--json", "why", "4f2a"})["id"] == "4f2a");
    CHECK(line.sent({"ls", "-p", "shop"}) == line.sent({"task", "list", "-p", "shop"}));
    CHECK(line.sent({"task", "ls"}) == line.sent({"list"}));
    line.sent({"project", "ls"});
    CHECK(line.method == "project.list");
    line.sent({"complete", "4f2a"});
    CHECK(line.method == "task.complete");
    CHECK(line.sent({"complete"})["cwd"] == line.here());
    const auto requests = line.daemon.requests().size();
    CHECK(line.run({"run", "--help"}).out == line.run({"help", "run"}).out);
    CHECK_THAT(line.run({"help", "merge"}).out, Tells("orange merge") && Tells("--strategy"));
    CHECK_THAT(line.run({"help", "task", "merge"}).out, Tells("orange task merge") && Tells("--strategy"));
    CHECK(line.run({"complete", "--", "inb"}).out.starts_with("inbox"));
    CHECK(line.daemon.requests().size() == requests);
}

TEST_CASE("A log is the daemon's, or with a task the task's") {
    CommandLine line;
    line.result = {{"windows", Json::array()}, {"text", "from the window"}};
    std::ofstream(line.folder.path() / "orange.log") << "from the daemon\n";
    CHECK(line.run({"log"}).out == "from the daemon\n");
    CHECK(line.run({"log", "-n", "5", "--level", "debug"}).status == 0);
    CHECK(line.run({"log", "--levle", "debug"}).status == 2);
    CHECK(line.daemon.requests().empty());
    CHECK(line.run({"log", "4f2a"}).out == "from the window\n");
    const auto sent = line.sent({"log", "-n", "5", "4f2a", "--role", "reviewer"});
    CHECK(line.method == "task.log");
    CHECK(sent["id"] == "4f2a");
    CHECK(sent["lines"] == 5);
}

TEST_CASE("A wrong word leads to the whole line with the right one, ready to be copied") {
    CommandLine line;
    const auto hint = [&](std::vector<std::string> words) {
        const auto ran = line.run(words);
        CHECK(ran.status == 2);
        words.emplace_back("--json");
        const auto data = Json::parse(line.run(words).out).at("error").at("data");
        const auto begin = ran.err.find("hint:  ");
        REQUIRE(begin != std::string::npos);
        if (data.contains("command")) {
            const auto command = data.at("command").get<std::string>();
            CHECK_THAT(command, Holds("--json"));
        }
        return ran.err.substr(begin + 7, ran.err.find('\n', begin) - begin - 7);
    };
    CHECK(hint({"task", "lst", "--status", "done"}) == "orange task list --status done");
    CHECK(hint({"mrege", "4f2a", "--yes"}) == "orange merge 4f2a --yes");
    CHECK(hint({"task", "creat", "Round the total's end"}) == "orange task create 'Round the total'\\''s end'");
    CHECK(hint({"tsk", "merge", "4f2a"}) == "orange task merge 4f2a");
    CHECK(hint({"harness", "merge", "4f2a"}) == "orange merge 4f2a");
    CHECK(hint({"harness", "log", "4f2a"}) == "orange task log 4f2a");
    CHECK(hint({"task", "validate", "x.yml"}) == "orange workflow validate x.yml");
    CHECK(hint({"list", "--stauts=done", "-n", "3"}) == "orange list --status=done -n 3");
    CHECK(hint({"task", "update", "4f2a", "--description", "a b"}) == "orange task update 4f2a --summary 'a b'");
    CHECK(hint({"help", "mrege"}) == "orange merge --help");
    CHECK(hint({"task", "zzzzzz"}) == "orange task --help");
    CHECK(hint({"list", "--zzzzzz"}) == "orange list --help");
    CHECK(hint({"task", "lst", "two\nlines"}) == "orange task --help");  // such a word cannot be copied
    const auto several = line.run({"test"}).err;
    CHECK_THAT(several, Tells("orange harness test") && Tells("orange host test"));
    CHECK(line.daemon.requests().empty());
}

TEST_CASE("Several tasks are done one by one, and a failure stops none of the others") {
    CommandLine line;
    line.result["commit"] = "";
    line.result["pushed"] = false;
    const auto done = dump({{"jsonrpc", "2.0"}, {"result", line.result}});
    const auto listed = dump({{"jsonrpc", "2.0"}, {"result", {{"tasks", {task_json()}}}}});
    const auto refused =
        dump({{"jsonrpc", "2.0"},
              {"error", {{"code", -32006}, {"message", "task 7b1c has conflicts"}, {"data", {{"name", "conflict"}}}}}});
    const auto ids_of = [&](std::size_t since) {
        std::vector<std::string> ids;
        const auto requests = line.daemon.requests();
        for (auto i = since; i < requests.size(); ++i) ids.push_back(requests[i]["params"]["id"].get<std::string>());
        return ids;
    };
    for (const std::string name : {"cancel", "respawn", "ack"}) {
        CAPTURE(name);
        const auto good = name == "respawn" ? listed : done;
        const auto before = line.daemon.requests().size();
        std::vector<std::string> words = {name, "4f2a", "7b1c", "9zzB"};
        if (name == "cancel") words.emplace_back("--yes");
        line.reply_lines = {good, refused, good};
        const auto ran = line.run(words);
        CHECK(ran.status == 1);
        CHECK(ids_of(before) == std::vector<std::string>{"4f2a", "7b1c", "9zzB"});
        CHECK_THAT(ran.err, Holds("7b1c has conflicts"));
        const auto first = ran.out.find("4f2aBcDe");
        CHECK(first != std::string::npos);
        CHECK(ran.out.find("4f2aBcDe", first + 1) != std::string::npos);

        words.emplace_back("--json");
        line.reply_lines = {good, refused, good};
        const auto json = line.run(words);
        CHECK(json.status == 1);
        const auto lines = split_lines(json.out);
        REQUIRE(lines.size() == 3);
        CHECK_FALSE(Json::parse(lines[0]).contains("error"));
        CHECK(Json::parse(lines[1]).at("error").at("data").at("name") == "conflict");
        CHECK_FALSE(Json::parse(lines[2]).contains("error"));
        line.reply_lines = {good, good};
        words = {name, "4f2a", "7b1c", "--json"};
        if (name == "cancel") words.emplace_back("--yes");
        CHECK(line.run(words).status == 0);
    }
    CHECK(line.run({"respawn", "4f2a", "--all"}).status == 2);
}

namespace {

/// What the daemon says about a train of two tasks, of which it merges the second one first.
struct Train {
    static Json place(const std::string& id, const std::string& reason) {
        return {{"id", id}, {"short_id", id}, {"summary", "Round it"}, {"reason", reason}};
    }
    static Json end(const std::string& outcome, const std::string& reason) {
        Json end = {{"task", task_json()}, {"outcome", outcome}, {"reason", reason}};
        if (outcome == "merged") end["commit"] = "0123456789abcdef";
        return end;
    }
    static std::string reply(const Json& result) { return dump({{"jsonrpc", "2.0"}, {"result", result}}); }

    std::string order = reply({{"places",
                                {place("7b1c", "clashes with none of these"),
                                 place("4f2a", "clashes with 7b1c, which comes before it, in cart.py")}}});
    std::string ends = reply({{"ends", {end("merged", ""), end("back", "conflicts with main in cart.py")}}});
    std::string merged = reply({{"ends", {end("merged", ""), end("merged", "")}}});
};

}  // namespace

TEST_CASE("Several tasks are merged in the order that the daemon says, and the status says whether all were") {
    CommandLine line;
    const Train train;
    line.reply_lines = {train.order, train.ends};
    const auto ran = line.run({"merge", "4f2a", "7b1c", "--strategy", "squash"});
    INFO(ran.err);
    CHECK(ran.status == 1);
    CHECK_THAT(ran.out, Holds("merged as 0123456789ab") && Holds("back to its worker: conflicts with main in cart.py"));
    const auto requests = line.daemon.requests();
    REQUIRE(requests.size() == 2);
    CHECK(requests[0]["method"] == "train.order");
    CHECK(requests[0]["params"]["ids"] == Json{"4f2a", "7b1c"});
    CHECK(requests[0]["params"]["as_given"] == false);
    CHECK(requests[1]["method"] == "train.merge");
    CHECK(requests[1]["params"]["ids"] == Json{"7b1c", "4f2a"});
    CHECK(requests[1]["params"]["strategy"] == "squash");

    line.reply_lines = {train.order, train.merged};
    const auto json = line.run({"merge", "4f2a", "7b1c", "--as-given", "--json"});
    CHECK(json.status == 0);
    CHECK(Json::parse(json.out)["ends"].size() == 2);
    CHECK(line.daemon.requests()[2]["params"]["as_given"] == true);

    // A name that is wrong changes nothing.
    line.reply_lines = {
        dump({{"jsonrpc", "2.0"},
              {"error", {{"code", -32001}, {"message", "there is no task 7b1c"}, {"data", {{"name", "not_found"}}}}}})};
    CHECK(line.run({"merge", "4f2a", "7b1c"}).status == 1);
    CHECK(line.daemon.requests().size() == 5);

    // One is deleted while the others are merged.
    line.reply_lines = {train.order, Train::reply({{"ends", Json::array({Train::end("merged", "")})}})};
    CHECK(line.run({"merge", "4f2a", "7b1c"}).status == 1);
}

TEST_CASE("On a terminal the order of several tasks is the question, with the reason for each place") {
    for (const bool yes : {true, false}) {
        CommandLine line;
        const Train train;
        line.reply_lines = {train.order, train.reply({{"cursor", "1"}, {"resync", false}}), train.merged};
        const std::string program = ORANGE_BINARY_DIR "/bin/orange merge 4f2a 7b1c";
        line.ran = line.run_program({"/usr/bin/env", "script", "-qec", program, "/dev/null"}, yes ? "y\n" : "n\n");
        CHECK(line.ran.status == (yes ? 0 : 1));
        CHECK_THAT(line.ran.out, Holds("Merge 2 tasks in this order?") && Holds("which comes before it, in cart.py"));
        const auto requests = line.daemon.requests();
        REQUIRE(requests.size() == (yes ? 3 : 1));
        if (yes) CHECK(requests[2]["method"] == "train.merge");
    }
}

namespace {

/// What the daemon says about a task with the attempts claude, codex and claude:high.
struct Attempts {
    static constexpr const char* k_codex = "7c1dBcDeFgHiJkLmNoPqR";
    static std::string reply(const Json& result) { return dump({{"jsonrpc", "2.0"}, {"result", result}}); }
    static Json row(const std::string& id, const std::string& name) {
        return {{"id", id},
                {"short_id", id.substr(0, 4)},
                {"name", name},
                {"harness", name.substr(0, name.find(':'))},
                {"status", "reviewing"},
                {"needs", {{"kind", "nothing"}}},
                {"checks", "passed"},
                {"rounds", 1},
                {"worked", 60},
                {"tokens", 41'000}};
    }
    static std::string refusal() {
        const Json details = {
            {"name", "needs_force"}, {"why", "not_picked"}, {"parent", "4f2aBcDeFgHiJkLmNoPqR"}, {"attempt", k_codex}};
        return dump(
            {{"jsonrpc", "2.0"}, {"error", {{"code", -32008}, {"message", "codex is not picked"}, {"data", details}}}});
    }

    std::string compared = reply(
        {{"task", task_json()},
         {"rows",
          {row("5b3eBcDeFgHiJkLmNoPqR", "claude"), row(k_codex, "codex"), row("9x2kBcDeFgHiJkLmNoPqR", "claude:high")}},
         {"common", Json::array()}});
    std::string done = reply({{"task", task_json()}, {"notes", {"claude was cancelled"}}});
};

}  // namespace

TEST_CASE("Several agents try a task, and the list of them goes to the daemon") {
    CommandLine line;
    const auto all = Json{"claude", "codex", "claude:high"};
    CHECK(line.sent({"create", "--attempts", "claude,codex,claude:high", "Round the total"}).at("attempts") == all);
    CHECK(line.sent({"run", "--attempts=claude,codex,claude:high", "Round", "the", "total"}).at("attempts") == all);
    CHECK(line.sent({"create", "--attempts", "claude", "--attempts", "codex", "Round the total"}).at("attempts") ==
          Json{"claude", "codex"});
    CHECK_FALSE(line.sent({"create", "Round the total"}).contains("attempts"));
    const auto count = line.daemon.requests().size();
    CHECK(line.run({"create", "--attempts"}).status == 2);
    CHECK(line.daemon.requests().size() == count);
}

TEST_CASE("Each task of a file gets the attempts") {
    CommandLine line;
    const auto ran = line.run({"create", "--attempts", "claude,codex", "--from-file", "-"}, "# One\n\n# Two\n");
    INFO(ran.err);
    const auto requests = line.daemon.requests();
    REQUIRE(requests.size() == 2);
    for (const auto& request : requests) CHECK(request["params"]["attempts"] == Json{"claude", "codex"});
}

TEST_CASE("Attempts are compared, and the difference of two goes by their ids") {
    CommandLine line;
    const Attempts attempts;
    line.reply_lines = {attempts.compared};
    auto ran = line.run({"compare", "4f2a"});
    CHECK(ran.status == 0);
    CHECK_THAT(ran.out, Holds("claude:high") && Holds("41k") && Tells("orange pick 4f2aBcDe codex"));
    CHECK(line.daemon.requests().back()["method"] == "task.compare");
    line.reply_lines = {attempts.compared};
    CHECK(Json::parse(line.run({"compare", "4f2a", "--json"}).out).at("rows").size() == 3);

    const Json changes = {{"commits", 0}, {"files", 0}, {"added", 0}, {"removed", 0}, {"uncommitted", false}};
    const Json diff = {{"repository", "/r"}, {"a", "x"},     {"b", "y"},
                       {"from", "c0ffee"},   {"to", "d0d0"}, {"changes", changes}};
    line.reply_lines = {attempts.compared, Attempts::reply(diff)};
    ran = line.run({"compare", "4f2a", "--diff", "codex", "3"});
    CHECK(ran.status == 0);
    const auto request = line.daemon.requests().back();
    CHECK(request["method"] == "task.compare_diff");
    CHECK(request["params"]["a"] == Attempts::k_codex);
    CHECK(request["params"]["b"] == "9x2kBcDeFgHiJkLmNoPqR");

    const auto count = line.daemon.requests().size();
    line.reply_lines = {attempts.compared};
    CHECK(line.run({"compare", "4f2a", "--diff", "codex", "2"}).status == 1);  // twice the same
    line.reply_lines = {attempts.compared};
    ran = line.run({"compare", "4f2a", "--diff", "codex", "gemini"});
    CHECK(ran.status == 1);
    CHECK_THAT(ran.err, Tells("claude:high") && Tells("gemini"));
    CHECK(line.daemon.requests().size() == count + 2);
    CHECK(line.run({"compare", "4f2a", "--diff", "codex"}).status == 2);
    CHECK(line.run({"compare", "4f2a", "--stat"}).status == 2);
}

TEST_CASE("An attempt is picked with --yes, and without a terminal not otherwise") {
    CommandLine line;
    const Attempts attempts;
    line.reply_lines = {attempts.compared};
    auto ran = line.run({"pick", "4f2a", "codex"});
    CHECK(ran.status == 1);
    CHECK_THAT(ran.err, Tells("orange pick 4f2aBcDe codex --yes"));
    CHECK(line.daemon.requests().size() == 1);
    line.reply_lines = {attempts.compared, attempts.done};
    ran = line.run({"pick", "4f2a", "2", "--yes"});
    CHECK(ran.status == 0);
    CHECK_THAT(ran.out, Holds("claude was cancelled"));
    const auto request = line.daemon.requests().back();
    CHECK(request["method"] == "task.pick");
    CHECK(request["params"]["id"] == "4f2aBcDeFgHiJkLmNoPqR");
    CHECK(request["params"]["attempt"] == Attempts::k_codex);
    CHECK(line.run({"pick", "4f2a"}).status == 2);
}

TEST_CASE("On a terminal the question before a pick names what ends") {
    for (const bool yes : {true, false}) {
        CommandLine line;
        const Attempts attempts;
        line.reply_lines = {attempts.compared, attempts.done};
        const std::string program = ORANGE_BINARY_DIR "/bin/orange pick 4f2a codex";
        line.ran = line.run_program({"/usr/bin/env", "script", "-qec", program, "/dev/null"}, yes ? "y\n" : "n\n");
        CHECK(line.ran.status == (yes ? 0 : 1));
        CHECK_THAT(line.ran.out, Holds("claude (reviewing)") && Holds("Pick codex"));
        CHECK(line.daemon.requests().size() == (yes ? 2 : 1));
    }
}

TEST_CASE("A merge of an attempt that is not picked asks to pick it, and merges it then") {
    Json shown = {{"task", task_json()}, {"body", ""}, {"history", Json::array()}};
    const auto merged = Attempts::reply({{"task", task_json()}, {"commit", "0123456789abcdef"}, {"pushed", false}});
    for (const bool yes : {true, false}) {
        CommandLine line;
        const Attempts attempts;
        const auto watched = Attempts::reply({{"cursor", "1"}, {"resync", false}});
        line.reply_lines = {Attempts::reply(shown), watched,       Attempts::refusal(),
                            attempts.compared,      attempts.done, merged};
        const std::string program = ORANGE_BINARY_DIR "/bin/orange merge 7c1d";
        line.ran = line.run_program({"/usr/bin/env", "script", "-qec", program, "/dev/null"}, yes ? "y\n" : "n\n");
        INFO(line.ran.out);
        CHECK(line.ran.status == (yes ? 0 : 1));
        std::vector<std::string> methods;
        for (const auto& request : line.daemon.requests()) methods.push_back(request["method"].get<std::string>());
        std::erase_if(methods, [](const auto& name) { return name == "task.show" || name == "events.subscribe"; });
        const std::vector<std::string> asked = {"task.merge", "task.compare"};
        auto wanted = asked;
        if (yes) wanted.insert(wanted.end(), {"task.pick", "task.merge"});
        CHECK(methods == wanted);
    }
    CommandLine line;
    line.reply_lines = {Attempts::refusal()};
    CHECK(line.run({"merge", "7c1d"}).status == 1);  // nobody can be asked
    CHECK(line.daemon.requests().size() == 1);
    line.reply_lines = {Attempts::refusal()};
    CHECK(line.run({"create-pr", "7c1d"}).status == 1);
    CHECK(line.daemon.requests().size() == 2);
}

TEST_CASE("Each of several tasks is asked about by itself") {
    CommandLine line;
    line.result["body"] = "";
    line.result["history"] = Json::array();
    const std::string program = ORANGE_BINARY_DIR "/bin/orange cancel 4f2a 7b1c";
    line.ran = line.run_program({"/usr/bin/env", "script", "-qec", program, "/dev/null"}, "n\ny\n");
    CHECK(line.ran.status == 1);
    std::vector<std::string> cancelled;
    for (const auto& request : line.daemon.requests()) {
        if (request["method"] == "task.cancel") cancelled.push_back(request["method"].get<std::string>());
        if (request["method"] == "task.show") CHECK(cancelled.empty());
    }
    CHECK(cancelled.size() == 1);
}

TEST_CASE("A list is the project's, or everybody's") {
    CommandLine line;
    line.result = {{"tasks", Json::array()}};
    CHECK(line.sent({"task", "list"}) ==
          Json{{"cwd", line.here()}, {"all", false}, {"needs", false}, {"changes", true}, {"limit", 0}});
    CHECK(line.sent({"task", "list", "--everywhere", "--all", "-n", "3", "-s", "stuck"}) ==
          Json{{"all", true}, {"needs", false}, {"changes", true}, {"limit", 3}, {"status", "stuck"}});
    CHECK(line.sent({"task", "list", "-p", "shop"})["project"] == "shop");
}

TEST_CASE("Usage is everybody's, or a task's, and a wrong day or word says which are right") {
    CommandLine line;
    const Json sums = {{"tokens", Json::object()}, {"counted", 0}};
    line.result = {{"by", "project"}, {"groups", Json::array()}, {"total", sums}};
    CHECK(line.sent({"usage"}) == Json::object());
    CHECK(line.method == "usage.show");
    CHECK(line.ran.status == 0);
    CHECK_THAT(line.ran.out, Holds("Nothing was used"));
    CHECK(line.sent({"usage", "4f2a", "--by", "day", "-p", "shop", "--since", "7d"}) ==
          Json{{"id", "4f2a"}, {"by", "day"}, {"project", "shop"}, {"since", "7d"}});
    CHECK(line.sent({"usage", "--since", "2026-11-30", "--json"})["since"] == "2026-11-30");
    CHECK(Json::parse(line.ran.out) == line.result);
    for (const char* since : {"yesterday", "7", "0d", "2026-02-30", "2026-1-1", ""}) {
        CAPTURE(since);
        const auto ran = line.run({"usage", "--since", since});
        CHECK(ran.status == 2);
        CHECK_THAT(ran.err, Holds("as 7d, or a day, as 2026-11-30"));
    }
    const auto ran = line.run({"usage", "--by", "week"});
    CHECK(ran.status == 2);
    CHECK_THAT(ran.err, Holds("task, role, project, harness, model or day"));
}

TEST_CASE("A budget is a number of tokens, none, or as the setting says") {
    CommandLine line;
    CHECK(line.sent({"task", "create", "--budget", "1.5M", "S"})["budget"] == "1.5M");
    CHECK(line.sent({"task", "update", "4f2a", "--budget", "0"})["budget"] == "0");
    CHECK(line.sent({"task", "update", "4f2a", "--budget", ""})["budget"] == "");
    CHECK(line.sent({"run", "--budget", "400k", "S"})["budget"] == "400k");
    CHECK(line.sent({"task", "create", "--permits", "inbox", "S"})["permits"] == "inbox");
    CHECK(line.sent({"run", "--permits", "window", "S"})["permits"] == "window");
    CHECK(line.sent({"task", "update", "4f2a", "--permits", ""})["permits"] == "");
    CHECK(line.run({"task", "update", "4f2a", "--permits", "both"}).status == 2);
    for (const char* budget : {"lots", "-5", "5G", "1.5"}) {
        CAPTURE(budget);
        const auto ran = line.run({"task", "update", "4f2a", std::string("--budget=") + budget});
        CHECK(ran.status == 2);
        CHECK_THAT(ran.err, Holds("as 3M, 1.5M or 400k"));
    }
}

TEST_CASE("Tasks are printed a line each in the form that a script wants") {
    CommandLine line;
    auto other = task_json();
    other["fields"]["id"] = "9zzBcDeFgHiJkLmNoPqRs";
    other["needs"] = {{"kind", "review"}, {"text", "a\tb"}};
    line.result = {{"tasks", {task_json(), other}}};
    const auto form = std::string("{id}\\t{needs} {fields.status}|{worktree}{{}}");
    CHECK(line.run({"task", "list", "--format", form}).out ==
          "4f2aBcDeFgHiJkLmNoPqR\t working|{}\n9zzBcDeFgHiJkLmNoPqRs\treview working|{}\n");
    CHECK(line.run({"inbox", "--format", "{needs.text} {summary}"}).out ==
          " Round \\x1b[31mthe\\x07 total\na b Round \\x1b[31mthe\\x07 total\n");
    CHECK(line.run({"task", "list", "--format", "{id}", "--json"}).out.starts_with("{"));
    line.result = {{"task", other}, {"body", "## Plan\nx"}, {"history", Json::array()}};
    CHECK(line.run({"task", "show", "9zz", "--format", "{status} {body}"}).out == "working ## Plan ⏎ x\n");
}

TEST_CASE("A prompt shows how many tasks need their human") {
    CommandLine line;
    line.result = {{"tasks", Json::array()}, {"count", 2}};
    CHECK(line.sent({"inbox", "--count", "-p", "shop"})["count"] == true);
    CHECK(line.method == "task.list");
    CHECK(line.ran.out == "2\n");
    CHECK(line.run({"inbox", "--line"}).out == "2 need you\n");
    CHECK(Json::parse(line.run({"inbox", "--line", "--json"}).out) == Json{{"count", 2}});
    line.result["count"] = 0;
    CHECK(line.run({"inbox", "--count"}).out == "0\n");
    CHECK(line.run({"inbox", "--line"}).out.empty());
    CHECK(line.run({"inbox", "--line", "--count"}).status == 2);
    CHECK(line.run({"inbox", "--format", "{id}", "--count"}).status == 2);
}

TEST_CASE("A prompt shows nothing where no daemon answers, and none is started") {
    CommandLine line;
    line.answers = false;
    const auto check_quiet = [](const test::Ran& ran) {
        CHECK(ran.status == 0);
        CHECK(ran.out + ran.err == "");
    };
    check_quiet(line.run({"inbox", "--line"}));
    check_quiet(line.run({"inbox", "--count"}));
    CHECK(line.daemon.requests().size() == 2);
    test::TemporaryFolder empty;
    const auto run = [&](const std::string& option) {
        return test::run({ORANGE_BINARY_DIR "/bin/orange", "inbox", "--count", option},
                         {"ORANGE_HOME=" + (empty.path() / "home").string()}, empty.path(), "");
    };
    check_quiet(run("--project=shop"));
    CHECK(Json::parse(run("--json").out) == Json{{"count", nullptr}});
    CHECK(!std::filesystem::exists(empty.path() / "home"));
}

TEST_CASE("A form with a name that does not exist is a wrong command line, and the names are listed") {
    CommandLine line;
    for (const auto& [form, meant] :
         std::vector<std::pair<std::string, std::string>>{{"{id} {stauts}", "{status}"}, {"{id", "{{"}}) {
        const auto ran = line.run({"task", "list", "--format", form});
        CHECK(ran.status == 2);
        CHECK_THAT(ran.err, Tells(meant) && Tells("--help"));
    }
    CHECK_THAT(line.run({"inbox", "--format", "{x}"}).err,
               Tells("{fields.workflow_hash}") || Tells("fields.workflow_hash"));
    CHECK(line.run({"task", "list", "--format", "{body}"}).status == 2);
    CHECK(line.daemon.requests().empty());
}

TEST_CASE("A project is added from here or from a relative path, with its setup command") {
    CommandLine line;
    CHECK(line.sent({"project", "add"}) == Json{{"path", line.here()}, {"setup", Json::array()}});
    const auto params = line.sent(
        {"project", "add", "../x", "--name", "shop", "--pool-size", "3", "--setup", "make", "deps", "--setup=-j2"});
    CHECK(params == Json{{"path", "/tmp/x"}, {"name", "shop"}, {"pool_size", 3}, {"setup", {"make", "deps", "-j2"}}});
    CHECK(line.sent({"project", "update", "--setup", "sh", "-c", "make && make test", "--pool-size", "3"}) ==
          Json{{"cwd", line.here()}, {"pool_size", 3}, {"setup", {"sh", "-c", "make && make test"}}});
    CHECK(line.run({"project", "update", "--pool-size", "3", "-c"}).status == 2);
    CHECK(line.run({"project", "update", "--setup", "make", "--pol-size", "3"}).status == 2);
    CHECK(line.sent({"project", "update", "shop", "--no-setup"}) == Json{{"name", "shop"}, {"setup", Json::array()}});
    CHECK(line.sent({"project", "update", "--harness", ""}) == Json{{"cwd", line.here()}, {"harness", ""}});
    CHECK(line.sent({"project", "remove", "shop", "--clean"}) == Json{{"name", "shop"}, {"clean", true}});
}

TEST_CASE("A project has a command with which its tasks' work is tried") {
    CommandLine line;
    CHECK(line.sent({"project", "add", "../x", "--setup", "make", "--dev", "npm", "run", "dev"}) ==
          Json{{"path", "/tmp/x"}, {"setup", Json::array({"make"})}, {"dev", {"npm", "run", "dev"}}});
    CHECK(line.sent({"project", "update", "shop", "--dev", "sh", "-c", "make run"}) ==
          Json{{"name", "shop"}, {"dev", {"sh", "-c", "make run"}}});
    CHECK(line.sent({"project", "update", "shop", "--no-dev"}) == Json{{"name", "shop"}, {"dev", Json::array()}});
}

TEST_CASE("orange try starts the work and waits until it can be opened, or says why it has failed") {
    CommandLine line;
    Json result = line.result;
    const auto answers = [&](const std::string& state, const Json& more) {
        auto reply = result;
        reply["state"] = state;
        reply["command"] = "npm run dev";
        reply["port"] = 20010;
        reply.update(more);
        line.reply_lines.push_back(dump({{"jsonrpc", "2.0"}, {"result", reply}}));
    };
    const std::string url = "http://localhost:20010";
    answers("starting", Json::object());
    answers("running", {{"url", url}});
    auto ran = line.run({"try", "4f2a"});
    CHECK(ran.status == 0);
    CHECK_THAT(ran.out, Tells("4f2aBcDe") && Holds(url));
    auto requests = line.daemon.requests();
    REQUIRE(requests.size() == 2);
    CHECK(requests[0]["method"] == "task.try");
    CHECK(requests[0]["params"] == Json{{"id", "4f2a"}, {"lines", 20}});
    CHECK(requests[1]["method"] == "task.preview");
    CHECK(requests[1]["params"] == Json{{"id", "4f2aBcDeFgHiJkLmNoPqR"}, {"wait", true}, {"lines", 20}});
    answers("starting", Json::object());
    answers("ended", {{"exit_status", 3}, {"why", "ended with exit status 3"}, {"output", "it is \x1b[31mbroken\n"}});
    ran = line.run({"try", "4f2a"});
    CHECK(ran.status == 1);
    CHECK_THAT(ran.out, Holds("broken") && !Holds("\x1b") && Holds("3"));
    answers("running", {{"url", url}});  // it runs already
    ran = line.run({"try", "4f2a", "--json"});
    CHECK(ran.status == 0);
    CHECK(Json::parse(ran.out)["url"] == url);
    answers("running", {{"url", url}});
    ran = line.run({"try", "4f2a", "--tunnel", "me@big box", "--open"});
    CHECK_THAT(ran.out, Holds("ssh -L 20010:localhost:20010 'me@big box'"));
    answers("running", {{"url", "https://localhost/app"}});
    CHECK_THAT(line.run({"try", "4f2a", "--tunnel", "box"}).out, Holds("ssh -L 443:localhost:443 box"));
    answers("running", {{"url", url}});
    CHECK(line.run({"try", "4f2a", "--open"}).status == 0);  // there is no browser on the PATH of tests
    const auto before = line.daemon.requests().size();
    answers("starting", Json::object());
    CHECK(line.run({"try", "4f2a", "--no-wait"}).status == 0);
    CHECK(line.daemon.requests().size() == before + 1);
    answers("ended", {{"why", "was stopped"}});
    CHECK(line.run({"try", "4f2a", "--stop"}).status == 0);
    CHECK(line.daemon.requests().back()["params"] == Json{{"id", "4f2a"}, {"stop", true}, {"lines", 20}});
    CHECK(line.run({"try", "4f2a", "--stop", "--follow"}).status == 2);
}

TEST_CASE("orange try --follow prints what the command prints until it ends") {
    CommandLine line;
    const auto answers = [&](const std::string& state, const std::string& output, int printed, const Json& more) {
        auto reply = line.result;
        reply["state"] = state;
        reply["output"] = output;
        reply["printed"] = printed;
        reply.update(more);
        line.reply_lines.push_back(dump({{"jsonrpc", "2.0"}, {"result", reply}}));
    };
    const Json url = Json{{"url", "http://localhost:20010"}};
    answers("running", "one\n", 4, url);
    answers("running", "one\ntwo\n", 8, url);
    answers("ended", "three\n", 14, {{"exit_status", 0}, {"why", "ended with exit status 0"}});
    const auto ran = line.run({"try", "4f2a", "--follow"});
    CHECK(ran.status == 0);
    CHECK_THAT(ran.out, Holds("one\ntwo\nthree\n"));
    const auto requests = line.daemon.requests();
    REQUIRE(requests.size() == 3);
    CHECK(requests[1]["params"]["after"] == 0);
    CHECK(requests[2]["params"]["after"] == 8);
}

TEST_CASE("A project's settings are given one by one, its checks as a list") {
    CommandLine line;
    const auto sent = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"project", "update"});
        return line.sent(words)["settings"];
    };
    CHECK(sent({"--set", "push=false", "--set", "merge=pr", "shop"}) == Json{{"push", "false"}, {"merge", "pr"}});
    CHECK(line.sent({"project", "update", "shop", "--set", "a=b=c"})["name"] == "shop");
    CHECK(sent({"--set", "a=b=c", "--unset", "push"}) == Json{{"a", "b=c"}, {"push", nullptr}});
    CHECK(sent({"--check", "make test", "--check", "lint 'a b'"}) == Json{{"checks", {"make test", "lint 'a b'"}}});
    CHECK(sent({"--no-checks"}) == Json{{"checks", Json::array()}});
    const auto requests = line.daemon.requests().size();
    CHECK(line.run({"project", "update", "--set", "push"}).status == 1);
    CHECK(line.daemon.requests().size() == requests);
    CHECK_FALSE(line.sent({"task", "merge", "4f2a"}).contains("no_push"));
    CHECK(line.sent({"task", "merge", "4f2a", "--push", "--delete-branch"})["no_push"] == false);
    CHECK(line.sent({"task", "merge", "4f2a", "--push", "--delete-branch"})["keep_branch"] == false);
    CHECK(line.sent({"task", "merge", "4f2a", "--no-push", "--keep-branch"})["keep_branch"] == true);
}

TEST_CASE("With --json the reply is one line as it came, wherever the flag stands") {
    CommandLine line;
    line.result["of_a_newer_daemon"] = true;
    for (const auto& words :
         std::vector<std::vector<std::string>>{{"--json", "task", "show"}, {"task", "show", "--json"}}) {
        const auto ran = line.run(words);
        CHECK(ran.status == 0);
        CHECK(ran.out == dump(line.result) + "\n");
    }
}

TEST_CASE("An error goes to standard error with status 1, with --json to standard output as an object") {
    CommandLine line;
    const std::string error =
        R"({"error":{"code":-32003,"message":"## Handoff is missing\u001b[2J","data":{"name":"gate_failed"}}})";
    line.reply_lines = {error, error};
    auto ran = line.run({"task", "complete"});
    CHECK(ran.status == 1);
    CHECK(ran.out.empty());
    CHECK(ran.err == "error: ## Handoff is missing\\x1b[2J\n");
    ran = line.run({"task", "complete", "--json"});
    CHECK(ran.status == 1);
    CHECK(ran.err.empty());
    const auto json = parse_json(ran.out);
    REQUIRE(json);
    CHECK((*json)["error"]["code"] == -32003);
    CHECK((*json)["error"]["data"]["name"] == "gate_failed");
}

TEST_CASE("A wrong command line is status 2 and says where help is") {
    CommandLine line;
    for (const auto& words : std::vector<std::vector<std::string>>{{"nonsense"},
                                                                   {"task"},
                                                                   {"task", "nonsense"},
                                                                   {"task", "list", "--bogus"},
                                                                   {"task", "list", "-n", "x"},
                                                                   {"task", "show", "a", "b"},
                                                                   {"task", "send"},
                                                                   {"task", "merge", "--strategy", "rebase"},
                                                                   {"project", "remove"}}) {
        CAPTURE(join(words, " "));
        const auto ran = line.run(words);
        CHECK(ran.status == 2);
        CHECK_THAT(ran.err + ran.out, Tells("--help"));
    }
    CHECK(line.daemon.requests().empty());
}

TEST_CASE("A wrong command line is JSON where JSON was asked for") {
    CommandLine line;
    for (const std::vector<std::string>& words : {std::vector<std::string>{"nonsense", "--json"},
                                                  {"--json", "nonsense"},
                                                  {"--json", "task"},
                                                  {"task", "--json"},
                                                  {"task", "nonsense", "--json"},
                                                  {"task", "list", "--bogus", "--json"},
                                                  {"--json", "task", "list", "-n", "x"},
                                                  {"task", "send", "--json"}}) {
        CAPTURE(join(words, " "));
        const auto ran = line.run(words);
        CHECK(ran.status == 2);
        CHECK(ran.err.empty());
        const auto error = Json::parse(ran.out).at("error");
        CHECK(error.at("code") == -32602);
        CHECK(error.at("data").at("help").get<std::string>().ends_with(" --help"));
    }
    CHECK_FALSE(line.run({"task", "send", "--", "--json"}).out.starts_with("{"));
}

TEST_CASE("A command or option that is written wrong comes with the one that may be meant") {
    CommandLine line;
    const std::vector<std::pair<std::vector<std::string>, std::string>> slips = {
        {{"tsk"}, "orange task"},
        {{"doctro"}, "orange doctor"},
        {{"task", "lst"}, "orange task list"},
        {{"task", "list", "--stauts", "done"}, "--status"},
        {{"task", "list", "--limti=3"}, "--limit"},
        {{"help", "task", "mrege"}, "orange task merge"},
    };
    for (const auto& [words, meant] : slips) {
        CAPTURE(join(words, " "));
        const auto ran = line.run(words);
        CHECK(ran.status == 2);
        CHECK_THAT(ran.err, Tells(meant));
    }
    CHECK(line.daemon.requests().empty());
}

TEST_CASE("Help about anything is asked for in front, too, and comes as JSON where JSON was asked for") {
    CommandLine line;
    const std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> same = {
        {{"help"}, {"--help"}},
        {{"help", "task"}, {"task", "--help"}},
        {{"help", "task", "merge"}, {"task", "merge", "--help"}},
        {{"help", "run"}, {"run", "--help"}},
    };
    for (const auto& [asked, page] : same) {
        CAPTURE(join(asked, " "));
        const auto ran = line.run(asked);
        CHECK(ran.status == 0);
        CHECK(ran.out == line.run(page).out);
        auto with_json = asked;
        with_json.emplace_back("--json");
        CHECK(Json::parse(line.run(with_json).out) == Json{{"help", ran.out}});
    }
    CHECK(Json::parse(line.run({"--json"}).out) == Json{{"help", line.run({}).out}});
    CHECK(line.run({"help", "nonsense"}).status == 2);
    CHECK(line.daemon.requests().empty());
}

TEST_CASE("Help and version need no daemon") {
    CommandLine line;
    for (const auto& words : std::vector<std::vector<std::string>>{{},
                                                                   {"--help"},
                                                                   {"task", "--help"},
                                                                   {"task", "create", "--help"},
                                                                   {"demo", "-h"},
                                                                   {"--version"},
                                                                   {"version"}}) {
        const auto ran = line.run(words);
        CHECK(ran.status == 0);
        CHECK_FALSE(ran.out.empty());
        for (const auto text : split_lines(ran.out)) CHECK(columns_of(text) <= 100);
    }
    CHECK(line.run({"--version"}).out == "orange " ORANGE_VERSION "\n");
    CHECK(line.daemon.requests().empty());
}

TEST_CASE("Without a terminal a merge that has to be confirmed is refused, with --yes too, and done with --force") {
    CommandLine line;
    const std::string refusal =
        R"({"error":{"code":-32008,"message":"not reviewed\nTo merge it all the same: orange task merge 4f2a --force",)"
        R"("data":{"name":"needs_force","facts":"not reviewed","question":"Not reviewed. Force merge?","tip":"abc"}}})";
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"task", "merge", "4f2a"}, {"task", "merge", "4f2a", "--yes"}}) {
        line.reply_lines = {refusal};
        const auto ran = line.run(words);
        CHECK(ran.status == 1);
        CHECK_THAT(ran.err, Tells("orange task merge 4f2a --force"));
    }
    CHECK(line.daemon.requests().size() == 2);
    line.result = {{"task", task_json()}, {"commit", "0123456789abcdef"}, {"pushed", true}};
    CHECK(line.run({"task", "merge", "4f2a", "--force", "--strategy", "ff"}).status == 0);
    const auto requests = line.daemon.requests();
    REQUIRE(requests.size() == 3);
    CHECK(requests[1]["params"].at("force") == false);
    CHECK(requests[2]["params"].at("force") == true);
    CHECK(requests[2]["params"].at("strategy") == "ff");
}

TEST_CASE("A person who merges is told which other tasks will conflict, in the question or below the result") {
    const std::string fact = "After this, 7c1d will conflict in cart.py";
    auto task = task_json();
    task["clashes"] = Json::array({{{"with", "7c1dAbCdEfGhIjKlMnOpQ"},
                                    {"short_id", "7c1d"},
                                    {"files", Json::array({{{"path", "cart.py"}, {"hunks", 2}}})}}});
    const auto line_of = [](const Json& result) { return dump({{"jsonrpc", "2.0"}, {"result", result}}); };
    const auto shown = line_of({{"task", task}, {"body", ""}, {"history", Json::array()}});
    const auto watched = line_of({{"cursor", "1-1-1"}, {"resync", false}});
    const auto merged = line_of({{"task", task_json()}, {"commit", "0123456789abcdef"}, {"pushed", true}});
    const auto refused = dump(
        {{"jsonrpc", "2.0"},
         {"error",
          {{"code", -32008},
           {"message", "not reviewed"},
           {"data",
            {{"name", "needs_force"}, {"facts", "not reviewed"}, {"question", "Force merge?"}, {"tip", "abc"}}}}}});
    const auto out_of = [&](std::vector<std::string> replies, const std::string& options) {
        CommandLine line;
        line.reply_lines = std::move(replies);
        const std::string program = ORANGE_BINARY_DIR "/bin/orange merge 4f2a" + options;
        return line.run_program({"/usr/bin/env", "script", "-qec", program, "/dev/null"}, "y\n").out;
    };
    const auto asked = out_of({shown, watched, refused, merged}, "");
    CHECK(asked.find("not reviewed") < asked.find(fact));
    CHECK(asked.find(fact) < asked.find("Force merge?"));
    CHECK(asked.rfind(fact) == asked.find(fact));
    const auto told = out_of({shown, watched, merged}, "");
    CHECK(told.find("0123456789ab") < told.find(fact));
    CHECK_THAT(told, Holds(fact));
    CHECK_THAT(out_of({shown, merged}, " --json"), !Holds("After this"));
    // Nothing was merged.
    const auto elsewhere =
        line_of({{"task", task_json()}, {"commit", "0123456789abcdef"}, {"pushed", false}, {"elsewhere", true}});
    CHECK_THAT(out_of({shown, watched, elsewhere}, ""), !Holds("After this"));
}

TEST_CASE("Without a terminal a task is cancelled or deleted with --yes only") {
    CommandLine line;
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"cancel", "4f2a"}, {"delete", "--force", "4f2a"}}) {
        CAPTURE(words);
        const auto refused = line.run(words);
        CHECK(refused.status == 1);
        CHECK_THAT(refused.err, Tells("orange " + join(words, " ") + " --yes"));
        auto as_json = words;
        as_json.push_back("--json");
        const auto json = line.run(as_json);
        CHECK(json.status == 1);
        CHECK(Json::parse(json.out)["error"]["data"]["name"] == "needs_force");
    }
    CHECK(line.daemon.requests().empty());
}

TEST_CASE("A task whose agent did not start is there, and the status says that it is not at work") {
    CommandLine line;
    line.result["spawn_error"] = "no such dependency";
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"task", "create", "Do it"}, {"run", "Do it"}, {"task", "spawn", "4f2a"}}) {
        CAPTURE(words);
        const auto ran = line.run(words);
        CHECK(ran.status == 1);
        CHECK_THAT(ran.out, Tells("4f2aBcDe"));
        CHECK_THAT(ran.err, Holds("no such dependency"));
        auto as_json = words;
        as_json.push_back("--json");
        const auto json = line.run(as_json);
        CHECK(json.status == 1);
        CHECK(Json::parse(json.out)["task"]["fields"]["id"] == "4f2aBcDeFgHiJkLmNoPqR");
        CHECK(Json::parse(json.out)["spawn_error"] == "no such dependency");
    }
}

TEST_CASE("Yes to deleting is no yes to ending a task that is at work") {
    CommandLine line;
    line.reply_lines = {
        R"({"error":{"code":-32008,"message":"it has not ended; cancel it, or use --force","data":{}}})"};
    const auto ran = line.run({"task", "delete", "4f2a", "--yes"});
    CHECK(ran.status == 1);
    CHECK_THAT(ran.err, Tells("--force"));
    CHECK(line.daemon.requests().size() == 1);
}

TEST_CASE("Attaching needs a terminal and says what does not") {
    CommandLine line;
    const auto ran = line.run({"task", "attach", "4f2a"});
    CHECK(ran.status == 1);
    CHECK_THAT(ran.err, Tells("terminal") && Tells("orange peek"));
    CHECK(line.daemon.requests().empty());
}

TEST_CASE("A workflow file is sent with its name, its problems come as file, line and column") {
    CommandLine line;
    line.result = {{"valid", false}, {"problems", {{{"line", 3}, {"column", 5}, {"message", "unknown key"}}}}};
    const auto params = line.sent({"workflow", "validate", "-"}, "states:\n");
    CHECK(params["text"] == "states:\n");
    CHECK(line.ran.status == 1);
    CHECK(line.ran.out == "-:3:5: unknown key\n");
    CHECK(line.run({"workflow", "validate", "/nowhere/x.yml"}).status == 1);
}

TEST_CASE("Nothing that an agent wrote reaches the terminal as it was") {
    CommandLine line;
    const std::string evil = "\x1b]52;c;AAAA\x07\u009b31m\u202e\r";
    Json task = task_json();
    for (const char* key : {"summary", "branch", "project", "status", "attention", "workspace", "pr_url"}) {
        task["fields"][key] = evil;
    }
    task["path"] = task["in_progress"] = evil;
    const Json event = {{"type", evil}, {"timestamp", evil}, {evil, evil}};
    line.result = {{"task", task},
                   {"tasks", {task}},
                   {"body", evil},
                   {"history", {event}},
                   {"events", {event}},
                   {"waiting_for", evil},
                   {"hints", {evil}},
                   {"notes", {evil}},
                   {"role", "worker"},
                   {"text", evil},
                   {"id", evil},
                   {"commit", evil},
                   {"pushed", true},
                   {"edges",
                    {{{"to", evil},
                      {"by", {evil}},
                      {"open", false},
                      {"needs_force", false},
                      {"guard", evil},
                      {"guard_holds", false},
                      {"missing", evil}}}}};
    for (const char* name :
         {"list", "show", "why", "history", "peek", "spawn", "respawn", "merge", "delete", "cancel"}) {
        CAPTURE(name);
        const bool ends = name == std::string("cancel") || name == std::string("delete");
        const auto ran =
            line.run(ends ? std::vector<std::string>{"task", name, "--yes"} : std::vector<std::string>{"task", name});
        CHECK(ran.status == 0);
        CHECK(printable(ran.out, true) == ran.out);
        CHECK(printable(ran.err, true) == ran.err);
    }
}

TEST_CASE("Nobody is attached to a tmux server in a folder that others may enter, or that is a link") {
    CommandLine line;
    const auto folder = line.folder.path() / "tmux";
    std::filesystem::create_directory(folder);
    const auto attach = [&](const std::filesystem::path& socket) {
        line.result = {{"argv", {"echo", "-S", socket.string(), "attached"}}, {"session", "s"}};
        // It wants a terminal.
        return line.run_program(
            {"/usr/bin/env", "script", "-qec", ORANGE_BINARY_DIR "/bin/orange task attach 4f2a", "/dev/null"});
    };
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
    const auto attached = attach(folder / "tmux.sock");
    INFO(attached.out << attached.err);
    CHECK(attached.status == 0);
    CHECK_THAT(attached.out, Tells("attached"));
    std::filesystem::create_directory_symlink(folder, line.folder.path() / "link");
    const auto linked = attach(line.folder.path() / "link" / "tmux.sock");
    CHECK(linked.status == 1);
    CHECK_THAT(linked.out, Tells("ORANGE_HOME"));
    std::filesystem::permissions(folder, std::filesystem::perms(0755));
    const auto open = attach(folder / "tmux.sock");
    CHECK(open.status == 1);
    CHECK_THAT(open.out, Tells("chmod 700 " + folder.string()));
}

TEST_CASE("The version says how the program was built, without a daemon") {
    CommandLine line;
    const auto said = Json::parse(line.run({"version", "--json"}).out);
    CHECK(said["version"] == ORANGE_VERSION);
    CHECK(said["schema"] == k_schema);
    for (const char* key : {"commit", "build", "compiler"}) CHECK(said[key].is_string());
    for (const char* library : {"asio", "cli11", "nlohmann-json", "spdlog", "yaml-cpp"}) {
        INFO(library);
        CHECK_FALSE(said["libraries"][library].get<std::string>().empty());
    }
    CHECK(line.daemon.requests().empty());
}

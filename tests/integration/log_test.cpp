#include <algorithm>

#include <sys/stat.h>

#include "common/base/text.hpp"
#include "common/rpc/log_methods.hpp"
#include "common/rpc/watch_methods.hpp"
#include "tests/catch.hpp"
#include "tests/integration/background.hpp"

/// The daemon's log and the agents' windows, as the real client shows them.
namespace orange::tests {

TEST_CASE("The log tells who changed what, and no secret") {
    Sandbox orange("env:\n  TOKEN: s3cret-value\nlog_level: info\n");
    orange.add_project("shop");
    rpc::TaskCreate params;
    params.project = "shop";
    params.summary = "Do it demo:pass";
    params.context = "the-text-of-the-context";
    params.harness = params.review_harness = "demo";
    const auto id = orange.call(params).task.fields.id.value;
    orange.wait_for_status(id, "reviewing");
    CHECK_FALSE(orange.update_status(id, "planning"));
    const auto lines = [&](std::vector<std::string> args) {
        args.insert(args.begin(), {"log", "--json", "-n", "1000"});
        std::vector<Json> parsed;
        const auto ran = orange.orange(args);
        for (const auto line : split_lines(ran.out)) parsed.push_back(Json::parse(line));
        return parsed;
    };
    const auto requests = lines({"--component", "rpc", "--grep", id});
    REQUIRE(requests.size() >= 2);
    const auto created =
        std::ranges::find_if(requests, [](const Json& line) { return line.at("msg") == "task.create"; });
    REQUIRE(created != requests.end());
    CHECK(created->at("by") == "human");
    CHECK(requests.back().at("msg") == "task.update");
    CHECK(requests.back().at("refused") == "illegal_transition");
    std::string moves;
    for (const auto& line : lines({"--component", "journal", "--grep", "status.changed"})) {
        CHECK(line.at("task") == id);
        moves += line.at("to").get<std::string>() + " ";
    }
    CHECK(moves == "planning working agent-review reviewing ");
    CHECK(lines({"--grep", "AGENT.SPAWNED", "--since", "1h"}).size() == 2);
    CHECK(lines({"--grep", "agent.spawned", "--level", "warn"}).empty());
    const auto all = read_file(orange.home() / "orange.log");
    CHECK_THAT(all, !Holds("s3cret-value"));
    CHECK_THAT(all, !Holds("the-text-of-the-context"));
    struct stat info {};
    REQUIRE(::stat((orange.home() / "orange.log").c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);

    rpc::LogTail tail;
    tail.lines = 1;
    tail.grep = "task.update";
    const auto reply = orange.call(tail);
    REQUIRE(reply.lines.size() == 1);
    CHECK(Json::parse(reply.lines[0]) == requests.back());
    CHECK_FALSE(reply.more);
    tail.level = "loud";
    CHECK(orange.try_call(tail).error().code == ErrorCode::invalid_argument);
    CHECK(orange.orange({"log", "--level", "loud"}).status == 1);
    CHECK(orange.orange({"log", "--since", "yesterday"}).status == 1);
}

TEST_CASE("The log is read without a daemon, into the older files, with everything made harmless") {
    Sandbox orange;
    orange.kill_daemon();
    const auto log = orange.home() / "orange.log";
    std::filesystem::rename(log, orange.home() / "orange.1.log");
    write_file(
        log,
        "{\"ts\":\"2026-01-02T03:04:05.678Z\",\"level\":\"error\",\"component\":\"test\",\"msg\":\"a\\u001b[31mb\"}\n"
        "terminate called \x1b]52;c;eA==\x07 after\n");
    const auto page = orange.orange({"log"});
    CHECK(page.status == 0);
    CHECK(page.out == printable(page.out, true));
    CHECK_THAT(page.out, Tells("daemon: started"));
    CHECK_THAT(page.out, Holds("03:04:05 error test: a\\x1b[31mb\nterminate called \\x1b]52"));
    for (const auto line : split_lines(page.out)) CHECK(columns_of(line) <= 80);
    CHECK(split_lines(orange.orange({"log", "-n", "1", "--json"}).out).size() == 1);
    orange.start_daemon();
}

TEST_CASE("Following the log goes on through a rotation") {
    Sandbox orange;
    Background follow(orange, "log", {"log", "--follow", "--grep", "NEEDLE"});
    const auto log = orange.home() / "orange.log";
    const auto line = [](const std::string& msg) {
        return "{\"component\":\"test\",\"level\":\"info\",\"msg\":\"needle " + msg +
               "\",\"ts\":\"2026-01-02T03:04:05.678Z\"}\n";
    };
    orange.kill_daemon();
    orange.eventually("it follows", [&] {
        write_file(log, read_file(log) + line("one"));
        return holds(follow.out(), "needle one");
    });
    std::filesystem::rename(log, orange.home() / "orange.1.log");
    write_file(log, line("two"));
    follow.wait_for_out("needle two");
    const auto out = follow.out();
    CHECK(out.find("needle two") == out.rfind("needle two"));
    follow.signal(SIGINT);
    CHECK(follow.status() == 128 + SIGINT);
    orange.start_daemon();
}

TEST_CASE("What ended windows showed is listed and shown, harmless, by names that are there") {
    Sandbox orange;
    orange.add_project("shop");
    const auto fresh = orange.create("shop", "Later", true);
    CHECK(orange.orange({"task", "log", fresh}).status == 1);
    CHECK(Json::parse(orange.orange({"task", "log", fresh, "--list", "--json"}).out).at("windows").empty());

    const auto id = orange.create("shop", "Do it demo:pass");
    orange.wait_for_status(id, "reviewing");
    const auto list = [&] {
        return Json::parse(orange.orange({"task", "log", id, "--list", "--json"}).out).at("windows");
    };
    const auto windows = list();
    REQUIRE(windows.size() == 2);
    CHECK(windows[0].at("window") == "worker");
    CHECK(windows[0].at("alive") == true);
    CHECK(windows[1].at("window") == "review-1");
    CHECK(windows[1].at("role") == "reviewer");
    const auto run = windows[1].at("run").get<std::string>();
    const auto saved = orange.folder(id) / "logs" / ("review-1-" + run + ".log");
    write_file(saved, read_file(saved) + "evil \x1b]0;title\x07 \xe2\x80\xae end\n");
    for (const auto& name : {std::string("review-1"), run, "review-1-" + run}) {
        const auto shown = orange.orange({"task", "log", id, "--window", name, "-n", "1"});
        CHECK(shown.status == 0);
        CHECK(shown.out == "evil \\x1b]0;title\\x07 \\u202e end\n");
    }
    CHECK_THAT(orange.orange({"task", "log", id, "--role", "reviewer"}).out, Tells("evil"));
    CHECK_FALSE(orange.orange({"task", "log", id}).out.empty());  // the worker's, as it is now

    for (const char* name : {"../state", "../../state.json", "/etc/passwd", "review-1-../../x", "", "review"}) {
        const auto refused = orange.orange({"task", "log", id, "--window", name});
        CHECK(refused.status == 1);
        CHECK_THAT(refused.err, Tells("worker-"));
    }
    // A link that an agent left there leads nowhere.
    write_file(orange.root() / "private", "private\n");
    std::filesystem::create_symlink(orange.root() / "private", orange.folder(id) / "logs" / "worker-AAAABBBBCCCC.log");
    CHECK(list().size() == 2);
    CHECK(orange.orange({"task", "log", id, "--window", "AAAABBBBCCCC"}).status == 1);
}

}  // namespace orange::tests

// `orange allow` and `orange deny`: which request they answer, when they ask before, and how requests are shown.
#include "client/commands/permits.hpp"

#include <fstream>
#include <iterator>
#include <thread>

#include "client/output/permits.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"
#include "common/rpc/errors.hpp"
#include "tests/catch.hpp"
#include "tests/unit/client/fake_daemon.hpp"

using namespace orange;
using namespace orange::commands;
using test::FakeDaemon;

namespace {

constexpr const char* k_id = "4f2aBcDeFgHiJkLmNoPqR";

rpc::PermitView some_permit(std::int64_t number, const std::string& request, bool whole = true) {
    rpc::PermitView permit;
    permit.number = number;
    permit.harness = "claude";
    permit.tool = "Bash";
    permit.request = request;
    permit.line = first_line(request);
    permit.whole = whole;
    permit.since = *from_rfc3339("2026-11-20T10:57:00.000Z");
    return permit;
}

rpc::TaskShow::Reply some_reply(const std::vector<rpc::PermitView>& permits) {
    rpc::TaskShow::Reply reply;
    reply.task.fields.id.value = k_id;
    reply.task.short_id = "4f2a";
    reply.permits = permits;
    return reply;
}

constexpr PermitWish k_allow{true, false, false}, k_allow_at_terminal{true, false, true},
    k_allow_yes{true, true, false}, k_deny{false, false, false}, k_deny_at_terminal{false, false, true};

/// The program against a daemon that knows one task, by its id and by its branches.
struct Answering {
    test::Ran run(std::vector<std::string> words, const std::string& input = "") {
        words.insert(words.begin(), ORANGE_BINARY_DIR "/bin/orange");
        return run_program(words, input);
    }
    /// Types `early` at once, and `typed` when the question is there.
    test::Ran at_terminal(const std::string& line, const std::string& typed, const std::string& early = "") {
        const char* typist =
            "rm -f shown ended\n"
            "{ printf %s \"$2\"; until [ -e ended ] || grep -qs y/N shown; do sleep 0.02; done; printf %s \"$1\"\n"
            "  until [ -e ended ]; do sleep 0.02; done; } |\n"
            "  script -qefc \"$3; status=\\$?; : >ended; exit \\$status\" shown\n";
        return run_program({"/bin/sh", "-c", typist, "sh", typed, early, ORANGE_BINARY_DIR "/bin/orange " + line}, "");
    }
    test::Ran run_program(const std::vector<std::string>& words, const std::string& input) {
        daemon.meet();
        auto ran =
            test::run(words, {"ORANGE_HOME=" + folder.path().string(), "ORANGE_NO_AUTOSTART=1"}, folder.path(), input);
        daemon.meet();
        return ran;
    }
    /// The last request that these words became.
    Json sent(std::vector<std::string> words, const std::string& input = "") {
        const auto ran = run(std::move(words), input);
        INFO(ran.err);
        CHECK(ran.status == 0);
        return daemon.requests().back();
    }
    /// What the terminal shows.
    std::string shown() {
        std::ifstream in(folder.path() / "shown");
        return {std::istreambuf_iterator<char>(in), {}};
    }
    std::string reply_to(const Json& request) {
        // What is typed early has reached the terminal when that shows it.
        while (!echoed.empty() && shown().find(echoed + "\r\n") == std::string::npos) std::this_thread::yield();
        const auto id = request["params"].value("id", std::string("4f2a"));
        if (id != "4f2a" && id != "v1.2" && id != k_id) {
            const auto error = rpc::error_json({ErrorCode::not_found, "there is no task " + id});
            return Json{{"jsonrpc", "2.0"}, {"id", request["id"]}, {"error", error}}.dump() + "\n";
        }
        auto reply = some_reply(permits);
        auto task = written(reply.task);
        if (request["method"] != "task.show") {
            return FakeDaemon::reply(request, {{"task", task}, {"notes", {"told claude to go on"}}});
        }
        auto list = Json::array();
        for (const auto& permit : permits) list.push_back(written(permit));
        return FakeDaemon::reply(request,
                                 {{"task", task}, {"body", ""}, {"history", Json::array()}, {"permits", list}});
    }

    std::vector<rpc::PermitView> permits = {some_permit(2, "npm ci"), some_permit(3, "cat <<E\nx\nE")};
    std::string echoed;  ///< a line that the terminal has to show before each reply
    test::TemporaryFolder folder;
    FakeDaemon daemon{folder.path() / "orange.sock", [this](const Json& r) { return std::vector{reply_to(r)}; }};
};

}  // namespace

TEST_CASE("A request is named by its task, a dot and its number") {
    const std::pair<const char*, std::pair<const char*, std::optional<std::int64_t>>> names[] = {
        {"4f2a.2", {"4f2a", 2}},          {"4f2a", {"4f2a", {}}},
        {"fix/v1.2.3", {"fix/v1.2", 3}},  {"fix/total.py", {"fix/total.py", {}}},
        {"4f2a.", {"4f2a.", {}}},         {".2", {".2", {}}},
        {"a.-2", {"a.-2", {}}},           {"a.99999999999999999999", {"a.99999999999999999999", {}}},
        {"box:4f2a.12", {"box:4f2a", 12}}};
    for (const auto& [word, name] : names) {
        CAPTURE(word);
        const auto read = permit_name(word);
        CHECK(read.task == name.first);
        CHECK(read.number == name.second);
    }
}

TEST_CASE("A short request that is named is answered at once, a long one is shown whole and asked for") {
    const auto reply = some_reply({some_permit(2, "npm ci"), some_permit(3, "cat <<E\nx\nE")});
    const auto now = choose_permit(reply, 2, k_allow);
    CHECK(now->number == 2);
    CHECK(now->to_show == nullptr);
    CHECK(choose_permit(reply, 3, k_allow_at_terminal)->to_show == &reply.permits[1]);
    const auto refused = choose_permit(reply, 3, k_allow);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::needs_force);
    CHECK_THAT(refused.error().message, Tells("orange show 4f2a") && Tells("orange allow 4f2a.3 --yes"));
    CHECK(choose_permit(reply, 3, k_allow_yes)->to_show == nullptr);
    CHECK(choose_permit(reply, 3, k_deny)->to_show == nullptr);
}

TEST_CASE("A line that is cut is not all of a request") {
    auto permit = some_permit(2, "npm ci");
    permit.line = "npm …";
    CHECK_FALSE(choose_permit(some_reply({permit}), 2, k_allow));
    auto cut = some_permit(2, "npm ci", false);
    for (const auto& wish : {k_allow, k_allow_at_terminal, k_allow_yes}) {
        for (const std::optional<std::int64_t> number :
             {std::optional<std::int64_t>(2), std::optional<std::int64_t>()}) {
            const auto refused = choose_permit(some_reply({cut}), number, wish);
            REQUIRE_FALSE(refused);
            CHECK(refused.error().code == ErrorCode::forbidden);
            CHECK_THAT(refused.error().message, Tells("orange deny 4f2a.2") && Tells("orange attach 4f2a"));
        }
    }
    CHECK(choose_permit(some_reply({cut}), 2, k_deny)->number == 2);
}

TEST_CASE("Without a number, the only request is shown and asked for, and others are refused with their numbers") {
    const auto one = some_reply({some_permit(7, "npm ci")});
    for (const auto& wish : {k_allow_at_terminal, k_deny_at_terminal}) {
        CHECK(choose_permit(one, {}, wish)->to_show == one.permits.data());
    }
    const auto unasked = choose_permit(one, {}, k_allow_yes);  // another one may come meanwhile
    REQUIRE_FALSE(unasked);
    CHECK(unasked.error().code == ErrorCode::needs_force);
    CHECK_THAT(unasked.error().message, Tells("orange allow 4f2a.7"));
    const auto two = some_reply({some_permit(2, "a"), some_permit(12, "b")});
    const auto refused = choose_permit(two, {}, k_deny_at_terminal);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::invalid_argument);
    CHECK_THAT(refused.error().message, Tells("orange deny 4f2a.2") && Tells("orange deny 4f2a.12"));
    CHECK(choose_permit(some_reply({}), {}, k_allow_at_terminal).error().code == ErrorCode::not_found);
}

TEST_CASE(
    "A request that is not open is not allowed, whatever comes under its number, and the daemon is told a denial") {
    const auto reply = some_reply({some_permit(2, "npm ci")});
    for (const auto& wish : {k_allow, k_allow_at_terminal, k_allow_yes}) {
        const auto refused = choose_permit(reply, 3, wish);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == ErrorCode::not_found);
        CHECK_THAT(refused.error().message, Tells("4f2a.3") && Tells("orange allow 4f2a.2"));
    }
    CHECK(choose_permit(reply, 3, k_deny)->number == 3);
}

TEST_CASE("Answers are sent with the whole id, and the daemon's sentence is printed") {
    Answering orange;
    auto request = orange.sent({"allow", "4f2a.2"});
    CHECK(request["method"] == "task.allow");
    CHECK(request["params"] == Json{{"id", k_id}, {"number", 2}});
    CHECK(orange.sent({"task", "allow", "4f2a.3", "--yes"})["params"]["number"] == 3);
    CHECK(orange.sent({"allow", "v1.2.2"})["params"] == Json{{"id", k_id}, {"number", 2}});
    request = orange.sent({"deny", "4f2a.2", "use", "the lock file"});
    CHECK(request["method"] == "task.deny");
    CHECK(request["params"] == Json{{"id", k_id}, {"number", 2}, {"text", "use the lock file"}});
    CHECK(orange.sent({"task", "deny", "4f2a.9", "-"}, "one\ntwo\n")["params"]["text"] == "one\ntwo");
    CHECK_THAT(orange.run({"allow", "4f2a.2"}).out, Holds("told claude to go on"));
    const auto json = orange.run({"allow", "4f2a.2", "--json"});
    CHECK(Json::parse(json.out).at("notes").size() == 1);
}

TEST_CASE("Without a terminal nothing is allowed that was not named and is not short") {
    Answering orange;
    const auto refused = [&](std::vector<std::string> words) {
        const auto ran = orange.run(std::move(words), "y\n");
        CHECK(ran.status == 1);
        CHECK(orange.daemon.requests().back()["method"] == "task.show");
        return ran.err + ran.out;
    };
    CHECK_THAT(refused({"allow", "4f2a.3"}), Tells("orange allow 4f2a.3 --yes"));
    CHECK(Json::parse(refused({"--json", "allow", "4f2a.3"})).contains("error"));
    CHECK_THAT(refused({"allow", "4f2a"}), Tells("orange allow 4f2a.2") && Tells("orange allow 4f2a.3"));
    CHECK_THAT(refused({"deny", "4f2a"}), Tells("orange deny 4f2a.2"));
    CHECK_THAT(refused({"allow"}), Tells("orange allow 4f2a.2"));
    refused({"allow", "4f2a.4"});
    refused({"allow", "other.2"});
    // A branch may end with a dot and digits: then the word has no number.
    CHECK_THAT(refused({"allow", "v1.2"}), Tells("orange allow 4f2a.2"));
    orange.permits.pop_back();
    CHECK_THAT(refused({"allow", "4f2a", "--yes"}), Tells("orange allow 4f2a.2"));
    orange.permits[0].whole = false;
    CHECK_THAT(refused({"allow", "4f2a.2", "--yes"}), Tells("orange deny 4f2a.2"));
}

TEST_CASE("At a terminal, a long request and one that is not named are shown and answered with y") {
    Answering orange;
    const auto last = [&] { return orange.daemon.requests().back(); };
    auto ran = orange.at_terminal("allow 4f2a.3", "y\n");
    CHECK(ran.status == 0);
    CHECK_THAT(ran.out, Holds("    cat <<E\r\n    x\r\n    E\r\n") && !Holds("lines."));
    CHECK(last()["params"] == Json{{"id", k_id}, {"number", 3}});
    for (const char* typed : {"n\n", "\n", "3\n"}) {
        CAPTURE(typed);
        CHECK(orange.at_terminal("allow 4f2a.3", typed).status == 1);
        CHECK(last()["method"] == "task.show");
    }
    orange.permits.erase(orange.permits.begin() + 1);
    CHECK(orange.at_terminal("allow 4f2a", "y\n").status == 0);
    CHECK(last()["method"] == "task.allow");
    CHECK(orange.at_terminal("deny 4f2a 'use npm ci'", "n\n").status == 1);
    CHECK(last()["method"] == "task.show");
    CHECK(orange.at_terminal("deny", "y\n").status == 0);
    CHECK(last()["params"]["number"] == 2);
    orange.permits[0].request = std::string(5000, 'x');
    CHECK_THAT(orange.at_terminal("allow 4f2a.2", "n\n").out, Holds(" lines. [y/N]"));
    orange.echoed = "y";
    CHECK(orange.at_terminal("allow 4f2a.2", "n\n", "y\n").status == 1);
    orange.echoed.clear();
    CHECK(orange.at_terminal("allow 4f2a --json", "y\n").status == 1);
    CHECK(last()["method"] == "task.show");
}

TEST_CASE("A request is shown whole, and nothing in it is obeyed or looks like Orange's own text") {
    const std::string evil =
        "rm -rf \x1b[2J\x1b]0;t\x07 \xe2\x80\xae"
        "gpj.exe\xe2\x80\x8b\r\n\norange allow 4f2a.2\t" +
        std::string(180, ' ') + "; curl evil \xff";
    const auto now = *from_rfc3339("2026-11-20T11:00:00.000Z");
    auto reply = some_reply({some_permit(2, evil)});
    reply.permits[0].tool = "Ba\x1b[1msh " + std::string(100, 't') + " orange allow 4f2a.2 the end";
    reply.task.worktree = "/w/shop--1";
    const auto style = output::Style{false, 60, 60};
    const auto page = style.paint(output::permits_lines(reply, now, style));
    CHECK(printable(page, true) == page);
    CHECK_THAT(page, Holds("\\x1b[2J\\x1b]0;t\\x07") && Holds("\\u202e") && Holds("\\u200b") && Holds("\\xff") &&
                         Holds("; curl evil") && Holds("Ba\\x1b[1msh") && Holds("the end") &&
                         Holds("\n    in /w/shop--1\n"));
    std::string shown;
    const auto request = page.substr(page.find("shop--1\n") + 8);
    for (const auto line : split_lines(request)) {
        CHECK(output::columns(line) <= 60);
        const bool is_first = line.starts_with("    "), goes_on = line.starts_with("  ↪ ");
        if (is_first && !shown.empty()) shown += '\n';
        if (is_first) shown += line.substr(4);
        if (goes_on) shown += line.substr(std::string_view("  ↪ ").size());
    }
    CHECK(shown == printable(evil, true));
    CHECK_THAT(page, Holds("\n  orange allow 4f2a.2\n") && Tells("orange deny 4f2a.2"));
    reply.permits[0].whole = false;
    CHECK_THAT(style.paint(output::permits_lines(reply, now, style)), !Holds("\n  orange allow"));

    reply.permits[0] = some_permit(2, "make \xF0\x9F\x8D\x8A" + std::string(100, 'x'));
    for (const auto& line : output::request_lines(reply.permits[0].request, style)) CHECK(line.width() <= 60);
    CHECK(output::request_lines("a b", {false, 80, 1000}).front().text() == "    a b");
    CHECK_THAT(output::task_page(reply, now, style), Tells("orange allow 4f2a.2"));
}

// `orange rpc --stdio`: the protocol of the socket over standard input and output, here and through a real sshd.
#include <signal.h>

#include "common/rpc/stdio_methods.hpp"
#include "tests/catch.hpp"
#include "tests/facts.hpp"
#include "tests/integration/hosts.hpp"
#include "tests/integration/talk.hpp"

using namespace orange;
using namespace orange::tests;

namespace {

Json new_task(const std::string& summary) {
    return {{"project", "shop"}, {"summary", summary}, {"harness", "demo"}, {"no_spawn", true}};
}

}  // namespace

TEST_CASE("Standard input and output carry requests, replies and events, after a hello and up to the end of input") {
    Sandbox box;
    box.add_project("shop");
    Talk talk(box, {program_of(box).string(), "rpc", "--stdio"});
    const auto hello = talk.hear();
    CHECK(hello.at("method") == "hello");
    CHECK(hello.at("params").at("protocol") == rpc::k_stdio_protocol);
    CHECK(hello.at("params").at("version") == ORANGE_VERSION);
    CHECK_FALSE(hello.at("params").at("name").get<std::string>().empty());
    CHECK(hello.at("params").at("read_only") == false);

    talk.ask(1, "ping");
    CHECK(talk.hear() == Json{{"jsonrpc", "2.0"}, {"id", 1}, {"result", Json::object()}});
    talk.ask(2, "events.subscribe");
    CHECK(talk.hear_reply(2).contains("result"));
    const auto id = box.create("shop", "Round the total", true);
    const auto event = talk.hear();
    CHECK(event.at("method") == "event");
    CHECK(event.at("params").at("task") == id);
    // A reply to a ping is not a request, and a line that is no JSON gets the daemon's own error.
    talk.say(R"({"jsonrpc":"2.0","id":"ping","result":{}})");
    talk.say("{not json");
    CHECK(talk.hear().at("error").at("code") == -32700);
    talk.say("[" + dump(Json{{"jsonrpc", "2.0"}, {"id", 3}, {"method", "daemon.ping"}}) + "]");
    CHECK(talk.hear().at(0).at("result").at("pid") == box.daemon_pid());
    talk.ask(4, "task.wait", {{"id", id}, {"for", {"working"}}, {"timeout", 0}});
    talk.end_input();
    CHECK(talk.hear_reply(4).at("result").at("timed_out") == true);
    CHECK(talk.hear().is_null());
    CHECK(talk.status() == 0);
}

TEST_CASE("With --read-only nothing is changed, in whichever form it is asked for") {
    Sandbox box;
    box.add_project("shop");
    Talk talk(box, {program_of(box).string(), "rpc", "--stdio", "--read-only"});
    CHECK(talk.hear().at("params").at("read_only") == true);
    const auto create = new_task("Round the total");
    talk.ask(1, "task.create", create);
    CHECK(code_of(talk.hear_reply(1)) == "forbidden");
    const Json look = {{"jsonrpc", "2.0"}, {"id", 2}, {"method", "task.list"}, {"params", {{"all", true}}}};
    const Json change = {{"jsonrpc", "2.0"}, {"id", 3}, {"method", "task.create"}, {"params", create}};
    talk.say(dump(Json::array({look, change})));
    const auto batch = talk.hear();
    REQUIRE(batch.size() == 2);
    for (const auto& reply : batch) CHECK(code_of(reply) == "forbidden");
    auto notification = change;
    notification.erase("id");
    talk.say(dump(notification));
    // Of two methods in one request the last one counts, here and for the daemon.
    auto twice = dump(look);
    twice.insert(1, R"("method":"task.create",)");
    talk.say(twice);
    CHECK(talk.hear_reply(2).at("result").at("tasks").empty());
    talk.say("{not json");
    CHECK(talk.hear().at("error").at("code") == -32700);
    talk.ask(5, "no.such");
    CHECK(code_of(talk.hear_reply(5)) == "forbidden");
    talk.ask(6, "events.subscribe");
    CHECK(talk.hear_reply(6).contains("result"));
    CHECK(count_tasks(box) == 0);
}

TEST_CASE("Without a daemon, or with one that stands still, the client gets an error with the way out") {
    Sandbox box;
    const auto command = std::vector<std::string>{program_of(box).string(), "rpc", "--stdio"};
    Talk before(box, command);
    CHECK(before.hear().at("method") == "hello");
    REQUIRE(::kill(box.daemon_pid(), SIGSTOP) == 0);
    Talk late(box, command);
    before.ask(1, "daemon.ping");
    for (auto* talk : {&before, &late}) {
        const auto line = talk->hear();
        CHECK(line.at("id").is_null());
        CHECK(code_of(line) == "timeout");
        CHECK_THAT(message_of(line.at("error")), Tells("orange daemon restart --force"));
        CHECK(talk->hear().is_null());
        CHECK(talk->status() == 1);
    }
    REQUIRE(::kill(box.daemon_pid(), SIGCONT) == 0);
    Talk cut(box, command);
    CHECK(cut.hear().at("method") == "hello");
    box.kill_daemon();
    CHECK(code_of(cut.hear()) == "unavailable");
    CHECK(cut.status() == 1);
    Talk none(box, command);
    const auto line = none.hear();
    CHECK(code_of(line) == "unavailable");
    CHECK_THAT(message_of(line.at("error")), Tells("orange daemon start"));
    CHECK(none.status() == 1);
}

TEST_CASE("Through ssh the caller is a human at that address, and a key with a forced command may only look") {
    HostsDesk desk;
    Sandbox there;
    there.add_project("shop");
    const auto program = program_of(there).string();
    const auto ssh = std::vector<std::string>{(desk.here.root() / "ssh-bin" / "ssh").string(), "-T", "box",
                                              program + " rpc --stdio"};
    std::string id;
    {
        Talk talk(desk.here, ssh);
        CHECK(talk.hear().at("method") == "hello");
        talk.ask(1, "task.create", new_task("Round the total"));
        id = talk.hear_reply(1).at("result").at("task").at("fields").at("id").get<std::string>();
        talk.ask(2, "task.cancel", {{"id", id}});
        CHECK(talk.hear_reply(2).contains("result"));
    }
    CHECK(there.history(id, "status.changed").back().at("evidence") == "ssh from 127.0.0.1");
    const auto keys = desk.sshd.file("authorized_keys");
    write_file(keys, "restrict,command=\"" + program + " rpc --stdio --read-only\" " + read_file(keys));
    Talk talk(desk.here, ssh);
    CHECK(talk.hear().at("params").at("read_only") == true);
    talk.ask(1, "task.create", new_task("Print the invoice"));
    CHECK(code_of(talk.hear_reply(1)) == "forbidden");
    talk.ask(2, "task.show", {{"id", id}});
    CHECK(talk.hear_reply(2).at("result").at("task").at("fields").at("status") == "cancelled");
    CHECK(count_tasks(there) == 1);
}

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>

#include "common/config/socket_address.hpp"
#include "tests/golden.hpp"
#include "tests/integration/sandbox.hpp"

/// The socket as programs see it: plain lines, whatever they hold.
namespace orange::tests {
namespace {

/// A raw connection: sends bytes, reads what comes until the other end closes.
std::string talk(const std::filesystem::path& socket, const std::string& bytes) {
    auto address = SocketAddress::in_folder(socket);
    REQUIRE(address);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(::connect(fd, address->get(), address->size()) == 0);
    std::size_t sent = 0;
    while (sent < bytes.size()) {
        const auto n = ::send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
        if (n <= 0) break;  // refused in the middle: what it says is read below
        sent += static_cast<std::size_t>(n);
    }
    ::shutdown(fd, SHUT_WR);
    std::string reply;
    char chunk[65536];
    for (ssize_t n = 0; (n = ::read(fd, chunk, sizeof chunk)) > 0;) reply.append(chunk, static_cast<std::size_t>(n));
    ::close(fd);
    return reply;
}

std::vector<Json> lines(const std::string& text) {
    std::vector<Json> parsed;
    std::size_t begin = 0;
    for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
        parsed.push_back(Json::parse(text.substr(begin, end - begin)));
        begin = end + 1;
    }
    return parsed;
}

}  // namespace

TEST_CASE("The socket speaks JSON-RPC 2.0, a message a line") {
    Sandbox orange;
    const auto socket = orange.home() / "orange.sock";
    struct stat info {};
    REQUIRE(::stat(socket.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);

    const auto ask = [&](const std::string& text) { return lines(talk(socket, text + "\n")); };
    const auto ping = ask(R"({"jsonrpc":"2.0","id":"a","method":"daemon.ping"})");
    REQUIRE(ping.size() == 1);
    CHECK(ping[0].at("id") == "a");
    CHECK(ping[0].at("result").at("pid") == orange.daemon_pid());

    CHECK(ask("{not json").at(0).at("error").at("code") == -32700);
    CHECK(ask("[]").at(0).at("error").at("code") == -32600);
    CHECK(ask("1").at(0).at("error").at("code") == -32600);
    CHECK(ask(R"({"jsonrpc":"2.0","id":1,"method":"no.such"})").at(0).at("error").at("code") == -32601);
    CHECK(ask(R"({"jsonrpc":"2.0","id":1,"method":"task.show","params":{"idd":"x"}})").at(0).at("error").at("code") ==
          -32602);
    CHECK(ask(R"({"jsonrpc":"2.0","id":1,"method":"task.show","params":[1]})").at(0).at("error").at("code") == -32602);
    CHECK(ask(R"({"id":1,"method":"daemon.ping"})").at(0).at("error").at("code") == -32600);
    CHECK(ask(R"({"jsonrpc":"2.0","method":"daemon.ping"})").empty());
    const auto batch =
        ask(R"([{"jsonrpc":"2.0","id":1,"method":"daemon.ping"},{"jsonrpc":"2.0","method":"daemon.ping"},3])");
    REQUIRE(batch.size() == 1);
    CHECK(batch[0].size() == 2);
    CHECK(ask(std::string(100, '[') + std::string(100, ']')).at(0).at("error").at("code") == -32700);

    // Many at once on one connection: each is answered.
    std::string many;
    for (int i = 0; i < 500; ++i)
        many += R"({"jsonrpc":"2.0","method":"daemon.ping","id":)" + std::to_string(i) + "}\n";
    CHECK(lines(talk(socket, many)).size() == 500);
    // A line without end is refused, and nobody else notices.
    const auto endless = lines(talk(socket, std::string(3 << 20, 'x')));
    CHECK(endless.size() <= 1);
    CHECK(orange.call(rpc::DaemonPing{}).pid == orange.daemon_pid());
}

TEST_CASE("rpc.discover describes every method, from the table that dispatches them") {
    Sandbox orange;
    auto document = orange.call(rpc::RpcDiscover{});
    CHECK(document.at("openrpc").get<std::string>().starts_with("1."));
    std::set<std::string> names;
    for (const auto& method : document.at("methods")) {
        names.insert(method.at("name").get<std::string>());
        CHECK_FALSE(method.at("summary").get<std::string>().empty());
    }
    for (const char* name :
         {"task.create", "task.update", "task.merge", "project.add", "events.subscribe", "rpc.discover"}) {
        CHECK(names.contains(name));
    }
    // docs/protocol.md names each of them.
    const auto docs = read_file(std::filesystem::path(ORANGE_SOURCE_DIR) / "docs" / "protocol.md");
    for (const auto& name : names) {
        INFO(name);
        CHECK_THAT(docs, Tells("`" + name + "`"));
    }
    document.at("info").erase("version");
    check_golden("openrpc.json", document.dump(1) + "\n");
}

TEST_CASE("Events arrive as they happen, and a cursor misses none") {
    Sandbox orange;
    orange.add_project("shop");
    auto listening = connection::Connection::open(orange.home() / "orange.sock", std::chrono::seconds(2));
    REQUIRE(listening);
    std::vector<Json> events;
    listening->on_notification([&](const std::string&, const Json& params) { events.push_back(params); });
    const auto subscribed = listening->call(rpc::EventsSubscribe{});
    REQUIRE(subscribed);
    CHECK_FALSE(subscribed->resync);
    const auto id = orange.create("shop", "Later", true);
    while (events.empty()) REQUIRE(listening->wait_for_message(std::chrono::seconds(5)));
    CHECK(events[0].at("event").at("type") == "task.created");
    CHECK(events[0].at("task") == id);

    // Another client that was away since the subscription began gets the same again.
    auto late = connection::Connection::open(orange.home() / "orange.sock", std::chrono::seconds(2));
    REQUIRE(late);
    std::vector<Json> missed;
    late->on_notification([&](const std::string&, const Json& params) { missed.push_back(params); });
    rpc::EventsSubscribe since;
    since.since = subscribed->cursor;
    REQUIRE(late->call(since));
    while (missed.empty()) REQUIRE(late->wait_for_message(std::chrono::seconds(5)));
    CHECK(missed.at(0) == events[0]);
    since.since = "elsewhere-7";
    CHECK(late->call(since)->resync);
}

TEST_CASE("A worker is known by its shim, and may neither merge nor touch another's task or its own reviewer") {
    Sandbox orange;
    orange.add_project("shop");
    const auto other = orange.create("shop", "Wait demo:clarify");
    orange.wait_for_status(other, "clarification");
    const auto out = orange.root() / "probe.out";
    const auto script = orange.root() / "probe.sh";
    write_file(script, "exec >" + out.string() +
                           " 2>&1\n"
                           "orange task merge $ORANGE_TASK; echo $?\n"
                           "orange task create --project shop x; echo $?\n"
                           "orange task update " +
                           other +
                           " --summary hello; echo $?\n"
                           "orange task update --review-harness demo; echo $?\n"
                           "orange task send hello; echo $?\n"
                           "orange task update --status reviewing; echo $?\n"
                           "orange task update --summary mine; echo $?\n"
                           "echo end\nsleep 600\n");
    std::filesystem::create_directories(orange.home() / "harnesses");
    write_file(
        orange.home() / "harnesses" / "probe.yml",
        "name: probe\nprogram: sh\nmode: persistent\nargv:\n  full: [" + script.string() + ", --, \"{prompt}\"]\n");
    rpc::TaskCreate params;
    params.project = "shop";
    params.summary = "Probe";
    params.harness = params.review_harness = "probe";
    const auto id = orange.call(params).task.fields.id.value;
    orange.eventually("the probe has ended", [&] { return read_file(out).ends_with("end\n"); });
    const auto said = read_file(out);
    INFO(said);
    CHECK_THAT(said, Tells("worker") && Tells(id));
    int refused = 0;
    for (auto at = said.find("\n1\n"); at != std::string::npos; at = said.find("\n1\n", at + 2)) ++refused;
    CHECK(refused == 5);
    CHECK(said.ends_with("0\nend\n"));
    CHECK(orange.fields(id).at("summary") == "mine");
    CHECK(orange.status(id) == "planning");
    CHECK(orange.fields(other).at("summary") == "Wait demo:clarify");
    CHECK(orange.history(id, "status.changed").size() == 1);
}

TEST_CASE("Who calls from Orange's tmux and is no agent that is known may only look") {
    Sandbox orange;
    orange.add_project("shop");
    const auto other = orange.create("shop", "Wait demo:clarify");
    orange.wait_for_status(other, "clarification");
    const auto id = orange.create("shop", "Wait demo:clarify");
    orange.wait_for_status(id, "clarification");

    // A program below the worker's shim: a window of its own would not be.
    const auto run = orange.run_of(id, "worker");
    const auto argv = [&](const std::string& command) {
        return "env ORANGE_HOME=" + orange.home().string() + " " + program("orange").string() + " " + command;
    };
    const auto script = orange.root() / "probe.sh";
    const auto out = orange.root() / "probe.out";
    write_file(script, "#!/bin/sh\nexec >" + out.string() + " 2>&1\n" + argv("task merge " + id) + "; echo $?\n" +
                           argv("task create --project shop x") + "; echo $?\n" +
                           argv("task update " + other + " --summary hello") + "; echo $?\n" +
                           argv("task update " + id + " --status reviewing") + "; echo $?\n" + argv("task list") +
                           " >/dev/null; echo $?\necho end\n");
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    // Started by tmux itself, without a registered agent above it: nobody that Orange knows.
    REQUIRE(orange.tmux({"new-window", "-d", "-t", run.at("session_id").get<std::string>(), script.string()}).status ==
            0);
    orange.eventually("the probe has ended", [&] { return read_file(out).ends_with("end\n"); });
    const auto said = read_file(out);
    INFO(said);
    int refused = 0;
    for (auto at = said.find("\n1\n"); at != std::string::npos; at = said.find("\n1\n", at + 2)) ++refused;
    CHECK(refused == 4);
    CHECK(said.ends_with("0\nend\n"));
    CHECK(orange.status(id) == "clarification");
    CHECK(orange.fields(other).at("summary") == "Wait demo:clarify");
}

}  // namespace orange::tests

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "common/base/text.hpp"
#include "common/config/socket_address.hpp"
#include "common/rpc/watch_methods.hpp"
#include "tests/catch.hpp"
#include "tests/integration/background.hpp"

/// Following what happens and waiting for it: the real client, also while the daemon dies and comes back.
namespace orange::tests {
namespace {

/// What `orange events --json` printed about a task, as the history has it: counts and clashes are not in there.
std::vector<Json> events_of(const std::string& out, const std::string& task) {
    std::vector<Json> events;
    for (const auto line : split_lines(out)) {
        if (line.empty() || !out.ends_with('\n')) continue;
        const auto event = Json::parse(line);
        const auto type = event.at("event").at("type").get<std::string>();
        const bool is_kept = type != "changes.counted" && type != "clashes.changed" && type != "agent.usage";
        if (is_kept && event.value("task", "") == task) events.push_back(event.at("event"));
    }
    return events;
}

int connect_to(const std::filesystem::path& socket) {
    auto address = SocketAddress::in_folder(socket);
    REQUIRE(address);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(::connect(fd, address->get(), address->size()) == 0);
    return fd;
}

}  // namespace

TEST_CASE("Following goes on after the daemon was killed, and every event comes exactly once") {
    Sandbox orange;
    orange.add_project("shop");
    Background follow(orange, "follow", {"events", "--follow", "--json"});
    const auto first = orange.create("shop", "First", true);
    follow.wait_for_out(first);

    // The client sees nothing of this: neither the end of the first daemon nor what happens with the second one.
    follow.signal(SIGSTOP);
    const auto unseen = orange.create("shop", "Unseen", true);
    orange.kill_daemon();
    orange.start_daemon();
    const auto id = orange.create("shop", "All of it demo:pass");
    orange.wait_for_status(id, "reviewing");
    follow.signal(SIGCONT);
    follow.wait_for_out("\"reviewing\"");

    // This time it looks on.
    orange.kill_daemon();
    orange.eventually("it says so", [&] { return !follow.err().empty(); });
    orange.start_daemon();
    REQUIRE(orange
                .call([&] {
                    rpc::TaskCancel cancel;
                    cancel.id = id;
                    return cancel;
                }())
                .task.fields.status == "cancelled");
    orange.wait_for_status(id, "cancelled");
    for (const auto& task : {first, unseen, id}) {
        CAPTURE(task, follow.err());
        // The history may grow between two looks: an agent's end follows its task's.
        orange.eventually("each event has come once",
                          [&] { return events_of(follow.out(), task) == orange.history(task); });
    }
    CHECK_THAT(follow.out(), !Holds("resync"));
    follow.signal(SIGINT);
    CHECK(follow.status() == 128 + SIGINT);
    CHECK_THAT(follow.err(), !Holds("bug"));
}

TEST_CASE("Who shows a screen is told when its agent writes, and of no other agent") {
    Sandbox orange;
    orange.add_project("shop", 3);
    std::filesystem::create_directories(orange.home() / "harnesses");
    write_file(orange.home() / "harnesses" / "parrot.yml",
               "name: parrot\nprogram: sh\nmode: persistent\nargv:\n  full: [-c, exec cat, --, \"{prompt}\"]\n");
    const auto start = [&](const std::string& summary) {
        rpc::TaskCreate create;
        create.project = "shop";
        create.summary = summary;
        create.harness = create.review_harness = "parrot";
        const auto id = orange.call(create).task.fields.id.value;
        orange.wait_for_status(id, "planning");
        return id;
    };
    const auto shown = start("Shown"), other = start("Other");
    rpc::EventsSubscribe subscribe;
    const auto view = [&](const std::string& id, std::vector<std::string>& told) {
        auto viewer = connection::Connection::open(orange.home() / "orange.sock", std::chrono::seconds(5));
        REQUIRE(viewer);
        viewer->on_notification([&](const std::string& method, const Json& params) {
            if (method == rpc::ScreenNotification::k_name) told.push_back(params.at("task").get<std::string>());
        });
        subscribe.screen = id;
        REQUIRE(viewer->call(subscribe));
        return std::move(*viewer);
    };
    std::vector<std::string> told, told_others, told_third;
    auto viewer = view(shown, told), others = view(other, told_others);
    const auto writes = [&](const std::string& id, const std::string& text) {
        orange.tmux({"send-keys", "-t", orange.run_of(id, "worker").at("pane_id").get<std::string>(), text, "Enter"});
        rpc::TaskPeek peek;
        peek.id = id;
        orange.eventually("it has written " + text, [&] { return holds(orange.call(peek).text, text + "\n" + text); });
    };
    const auto is_told = [&](connection::Connection& connection, const std::vector<std::string>& of) {
        orange.eventually("the viewer is told", [&] {
            (void)connection.wait_for_message(std::chrono::milliseconds(20));
            return !of.empty();
        });
    };
    /// The reply comes after everything that the daemon has told the viewer before.
    const auto hear_all = [&] { REQUIRE(viewer.call(rpc::DaemonPing{})); };
    told_others.clear();
    writes(other, "one");
    is_told(others, told_others);
    writes(shown, "two");
    is_told(viewer, told);
    while (viewer.wait_for_message(std::chrono::milliseconds(2000)).value()) {  // until it is quiet
    }
    CHECK(std::ranges::all_of(told, [&](const std::string& task) { return task == shown; }));
    told.clear();
    writes(shown, "three");
    is_told(viewer, told);
    subscribe.screen.reset();
    REQUIRE(viewer.call(subscribe));
    told.clear();
    auto third = view(shown, told_third);
    writes(shown, "four");
    is_told(third, told_third);
    hear_all();
    CHECK(told.empty());
}

TEST_CASE("Recent events are those of daemons before this one too, and a cursor goes on from there") {
    Sandbox orange;
    orange.add_project("shop");
    orange.add_project("other");
    const auto id = orange.create("shop", "Later \x1b[31m", true);
    orange.create("other", "Elsewhere", true);
    const auto before = orange.orange({"events", "--json", "--task", id});
    REQUIRE(before.status == 0);
    const auto cursor = Json::parse(before.out).at("cursor").get<std::string>();
    orange.kill_daemon();
    orange.start_daemon();
    CHECK(events_of(orange.orange({"events", "--json", "--project", "shop"}).out, id) == orange.history(id));
    (void)orange.update_status(id, "cancelled");
    const auto after = orange.orange({"events", "--json", "--since", cursor, "--types", "status.changed,hook"}).out;
    REQUIRE(events_of(after, id).size() == 1);
    CHECK(events_of(after, id)[0].at("to") == "cancelled");
    CHECK_THAT(after, !Holds("Elsewhere"));

    const auto page = orange.orange({"events"});
    CHECK_THAT(page.out, Tells("Elsewhere"));
    CHECK_THAT(page.out, Tells("pending → cancelled"));
    CHECK(page.out == printable(page.out, true));
    for (const auto line : split_lines(page.out)) CHECK(columns_of(line) <= 80);

    const auto unknown = orange.orange({"events", "--since", "elsewhere-7"});
    CHECK(unknown.status == 0);
    CHECK_FALSE(unknown.err.empty());
    CHECK(orange.orange({"events", "--project", "nowhere"}).status == 1);
    CHECK(orange.orange({"events", "--task", "nobody"}).status == 1);
}

TEST_CASE("Following ends by itself when its reader has gone") {
    Sandbox orange;
    orange.add_project("shop");
    orange.create("shop", "One", true);
    const auto ran = orange.try_run({"sh", "-c", "\"$0\" events --follow | head -n 1", program("orange").string()});
    CHECK(ran.status == 0);
    CHECK(split_lines(ran.out).size() == 1);
    CHECK(ran.err.empty());
}

TEST_CASE("A client that asks much and does not read costs little, and gets everything when it reads on") {
    Sandbox orange;
    const int fd = connect_to(orange.home() / "orange.sock");
    std::string requests;
    const auto before = orange.call(rpc::DaemonStatus{}).memory_kib;
    for (int i = 0; i < 600; ++i) requests += "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.discover\"}\n";
    REQUIRE(::send(fd, requests.data(), requests.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(requests.size()));
    for (int i = 0; i < 20; ++i) CHECK(orange.call(rpc::DaemonPing{}).pid == orange.daemon_pid());
    CHECK(orange.call(rpc::DaemonStatus{}).memory_kib - before < 16 << 10);
    ::shutdown(fd, SHUT_WR);
    std::size_t replies = 0;
    char chunk[65536];
    for (ssize_t n = 0; (n = ::read(fd, chunk, sizeof chunk)) > 0;) {
        replies += static_cast<std::size_t>(std::count(chunk, chunk + n, '\n'));
    }
    ::close(fd);
    CHECK(replies == 600);
}

TEST_CASE("Waiting ends when a human is needed, through a restart of the daemon") {
    Sandbox orange;
    orange.add_project("shop");
    const auto id = orange.create("shop", "Do it demo:pass", true);
    Background wait(orange, "wait", {"task", "wait", id});
    Background ended(orange, "ended", {"task", "wait", id, "--for", "ended", "--json"});
    const auto connections = [&] { return orange.call(rpc::DaemonStatus{}).connections; };
    orange.eventually("both wait", [&] { return connections() == 3; });
    orange.kill_daemon();
    orange.start_daemon();
    orange.eventually("both wait again", [&] { return connections() == 3; });
    rpc::TaskSpawn spawn;
    spawn.id = id;
    orange.call(spawn);
    CHECK(wait.status() == 0);
    CHECK(wait.out() == "reviewing\n");
    CHECK(orange.status(id) == "reviewing");
    CHECK_FALSE(ended.ended());
    (void)orange.update_status(id, "cancelled");
    CHECK(ended.status() == 0);
    INFO(ended.out());
    CHECK(Json::parse(ended.out()).value("reached", false));
}

TEST_CASE("Waiting for a state does not miss it, however short it is") {
    Sandbox orange;
    orange.add_project("shop");
    for (int i = 0; i < 5; ++i) {
        const auto id = orange.create("shop", "Do it demo:pass", true);
        Background wait(orange, "wait" + std::to_string(i), {"task", "wait", id, "--for", "planning"});
        orange.eventually("it waits", [&] { return orange.call(rpc::DaemonStatus{}).connections == 2; });
        rpc::TaskSpawn spawn;
        spawn.id = id;
        orange.call(spawn);
        (void)orange.update_status(id, "cancelled");
        CHECK(wait.out() == "planning\n");
    }
}

TEST_CASE("Waiting says when it never will be, when the time has passed and what it does not know") {
    Sandbox orange;
    orange.add_project("shop");
    const auto id = orange.create("shop", "Later", true);
    const auto late = orange.orange({"task", "wait", id, "--timeout", "0"});
    CHECK(late.status == 3);
    CHECK_THAT(late.err, Tells("pending"));
    const auto unknown = orange.orange({"task", "wait", id, "--for", "ready"});
    CHECK(unknown.status == 1);
    CHECK_THAT(unknown.err, Tells("pending, planning"));
    Background wait(orange, "wait", {"task", "wait", id, "--for", "working,reviewing"});
    orange.eventually("it waits", [&] { return orange.call(rpc::DaemonStatus{}).connections == 2; });
    (void)orange.update_status(id, "cancelled");
    CHECK(wait.status() == 1);
    CHECK_THAT(wait.err(), Tells("cancelled"));
    CHECK(orange.orange({"task", "wait", id}).out == "cancelled\n");
}

TEST_CASE("Waiting for the first of several tasks ends with that one, through a restart of the daemon") {
    Sandbox orange;
    orange.add_project("shop");
    const auto first = orange.create("shop", "First", true), second = orange.create("shop", "Second", true);
    const auto both = first + "," + second;
    Background wait(orange, "wait", {"task", "wait", "--any", both, "--for", "cancelled"});
    Background json(orange, "json", {"task", "wait", "--any", both, "--for", "cancelled", "--json"});
    const auto connections = [&] { return orange.call(rpc::DaemonStatus{}).connections; };
    orange.eventually("both wait", [&] { return connections() == 3; });
    orange.kill_daemon();
    orange.start_daemon();
    orange.eventually("both wait again", [&] { return connections() == 3; });
    (void)orange.update_status(second, "cancelled");
    CHECK(wait.status() == 0);
    CHECK(wait.out() == orange.short_id(second) + " cancelled\n");
    CHECK(json.status() == 0);
    CHECK(Json::parse(json.out()).at("task").at("fields").at("id") == second);
    // A task that cannot reach it any more does not end the wait; all of them do.
    const auto late = orange.orange({"task", "wait", "--any", both, "--for", "working", "--timeout", "0"});
    CHECK(late.status == 3);
    (void)orange.update_status(first, "cancelled");
    const auto none = orange.orange({"task", "wait", "--any", both, "--for", "working", "--json"});
    CHECK(none.status == 1);
    CHECK(Json::parse(none.out).at("reached") == false);
    const auto unknown = orange.orange({"task", "wait", "--any", "zzzz," + first, "--for", "working", "--json"});
    CHECK(unknown.status == 1);
    CHECK(Json::parse(unknown.out).at("error").at("data").at("name") == "not_found");
    CHECK(orange.orange({"task", "wait", second, "--any", first}).status == 2);
}

TEST_CASE("Whoever waits and goes is forgotten, and does not keep the daemon from stopping") {
    Sandbox orange;
    orange.add_project("shop");
    const auto id = orange.create("shop", "Later", true);
    const auto connections = [&] { return orange.call(rpc::DaemonStatus{}).connections; };
    {
        Background wait(orange, "gone", {"task", "wait", id});
        orange.eventually("it waits", [&] { return connections() == 2; });
    }
    orange.eventually("it is gone", [&] { return connections() == 1; });
    // One that has only closed its sending side still waits.
    const int fd = connect_to(orange.home() / "orange.sock");
    const auto request = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"task.wait\",\"params\":{\"id\":\"" + id +
                         "\",\"for\":[\"ended\"]}}\n";
    REQUIRE(::send(fd, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size()));
    ::shutdown(fd, SHUT_WR);
    orange.eventually("it waits", [&] { return connections() == 2; });
    (void)orange.update_status(id, "cancelled");
    char chunk[65536];
    const auto n = ::read(fd, chunk, sizeof chunk);
    ::close(fd);
    REQUIRE(n > 0);
    CHECK_THAT(std::string(chunk, static_cast<std::size_t>(n)), Tells("\"reached\":true"));

    const auto other = orange.create("shop", "Another", true);
    Background wait(orange, "stays", {"task", "wait", other});
    orange.eventually("it waits", [&] { return connections() == 2; });
    CHECK(orange.stop_daemon() == 0);
    orange.eventually("it waits for a daemon", [&] { return !wait.err().empty(); });
    orange.start_daemon();
    rpc::TaskDelete remove;
    remove.id = other;
    remove.force = true;
    orange.eventually("it waits", [&] { return connections() == 2; });
    orange.call(remove);
    CHECK(wait.status() <= 1);  // it may have seen the task cancelled first
}

TEST_CASE("A history is shown in sentences and followed, and what is not known is shown as it stands") {
    Sandbox orange;
    orange.add_project("shop");
    const auto id = orange.create("shop", "Do it demo:pass", true);
    const auto file = orange.folder(id) / "history.jsonl";
    write_file(file,
               read_file(file) +
                   "{\"type\":\"star.aligned\",\"timestamp\":\"2026-01-02T03:04:05.678Z\",\"with\":\"\\u001b[31m\"}\n"
                   "{\"type\":\"torn");
    const auto page = orange.orange({"task", "history", id});
    CHECK(page.status == 0);
    CHECK_THAT(page.out, Holds("star.aligned with=\\x1b[31m"));
    CHECK_THAT(page.out, !Holds("torn"));
    CHECK(split_lines(orange.orange({"task", "history", id, "-n", "1"}).out).size() == 1);

    Background follow(orange, "history", {"task", "history", id, "--follow", "--json"});
    follow.wait_for_out("star.aligned");
    (void)orange.update_status(id, "cancelled");
    follow.wait_for_out("task.cancelled");
    std::vector<Json> seen;
    const auto out = follow.out();
    for (const auto line : split_lines(out)) seen.push_back(Json::parse(line));
    CHECK(seen == orange.history(id));
}

TEST_CASE("A history of hundreds of thousands of lines is shown from its end, and holds up nobody") {
    Sandbox orange;
    orange.add_project("shop");
    const auto id = orange.create("shop", "Do it demo:pass", true);
    std::string lines;
    for (int n = 0; n < 300'000; ++n) {
        lines +=
            "{\"n\":" + std::to_string(n) + ",\"timestamp\":\"2026-01-02T03:04:05.678Z\",\"type\":\"star.aligned\"}\n";
    }
    write_file(orange.folder(id) / "history.jsonl", lines);
    rpc::TaskShow show;
    show.id = id;
    const auto shown = orange.call(show).history;
    REQUIRE(shown.size() == 20);
    CHECK(shown.back().at("n") == 299'999);

    // While one asks for all of it, another moves the task.
    {
        Background all(orange, "all", {"task", "history", id, "--json"});
        (void)orange.update_status(id, "cancelled");
        CHECK(orange.status(id) == "cancelled");
        CHECK(all.status() == 0);
    }
    rpc::TaskHistory some;
    some.id = id;
    some.limit = 100;
    auto reply = orange.call(some);
    CHECK(reply.events.size() == 100);
    CHECK(reply.events.back().at("type") == "task.cancelled");
    CHECK_FALSE(reply.left_out);
    some.limit = 0;
    reply = orange.call(some);
    CHECK(reply.left_out);
    CHECK(reply.events.size() == 5'000);
    CHECK(reply.events.back().at("type") == "task.cancelled");
    const auto page = orange.orange({"task", "history", id});
    CHECK_THAT(page.out, Tells("history.jsonl"));
}

TEST_CASE("The chain of a history holds through a kill in the middle of a line, and says what was done to it") {
    Sandbox orange;
    orange.add_project("shop");
    const auto id = orange.create("shop", "Do it demo:pass", true);
    const auto file = orange.folder(id) / "history.jsonl";
    const auto verified = [&](int status) {
        const auto ran = orange.orange({"history", id, "--verify", "--json"});
        CHECK(ran.status == status);
        return Json::parse(ran.out);
    };
    CHECK(verified(0).at("from") == 1);

    orange.kill_daemon();
    write_file(file, read_file(file) + "{\"type\":\"torn");
    orange.start_daemon();
    CHECK(verified(0).at("cut_off") == true);
    (void)orange.update_status(id, "cancelled");
    const auto whole = verified(0);
    CHECK(whole.at("from") == 1);
    CHECK_FALSE(whole.contains("cut_off"));
    CHECK(orange.history(id, "history.repaired").size() == 1);
    for (const auto& event : orange.history(id)) CHECK_FALSE(event.contains("prev"));
    CHECK_THAT(orange.orange({"history", id, "--verify"}).out, Tells(whole.at("head").get<std::string>()));
    CHECK(orange.orange({"doctor", "--histories"}).status == 0);

    // The first line is taken out.
    const auto text = read_file(file);
    orange.stop_daemon();
    write_file(file, text.substr(text.find('\n') + 1));
    orange.start_daemon();
    CHECK(verified(1).at("points").at(0).at("kind") == "beginning");
    const auto found = Json::parse(orange.orange({"doctor", "--histories", "--json"}).out).at("findings");
    const auto is_about = [&](const Json& finding) {
        return finding.at("check") == "history" && finding.at("level") == "error" &&
               finding.at("file") == file.string();
    };
    CHECK(std::ranges::count_if(found, is_about) == 1);
    CHECK(orange.orange({"doctor", "--histories"}).status == 1);
    CHECK(orange.orange({"doctor"}).status == 0);
    write_file(file, text);
    CHECK(verified(0).at("from") == 1);
}

}  // namespace orange::tests

#include "client/dashboard/hosts.hpp"

#include <algorithm>

#include "client/output/local_time.hpp"
#include "tests/facts.hpp"
#include "tests/unit/dashboard/desk.hpp"

using namespace orange;
using namespace orange::tests;
using dashboard::Link;
using dashboard::Purpose;

namespace {

/// This machine with the task `mine`, box with `asks` and `works`, gpu with `far`.
struct Hosts : Desk {
    Hosts() : Desk({running("mine")}, 120, 40, with_hosts()) {
        for (const std::size_t host : {1U, 2U}) {
            link(Link::State::up, host);
            core.set_heard(host, false, now.wall);
            answer(Purpose::subscribe, Json{{"cursor", "1"}, {"resync", false}}, host);
        }
        list({running("works"), asking("asks", "2026-11-20T09:50:00.000Z")}, 0, 1);
        list({asking("far", "2026-11-20T09:40:00.000Z")}, 0, 2);
    }
    static State with_hosts() {
        State state;
        state.hosts.push_back({"box"});
        state.hosts.push_back({"gpu"});
        return state;
    }
    static rpc::TaskView asking(const std::string& id, const std::string& since) {
        auto view = task_view(id, "clarification", Need::answer, {"reply", "attach", "stop", "cancel", "delete"});
        view.needs.since = *from_rfc3339(since);
        view.worker = "alive";
        return view;
    }
    std::vector<std::string> shown() const {
        std::vector<std::string> ids;
        for (const auto& item : core.state().items) {
            if (!item.heading) ids.push_back(core.state().tasks[item.task].id);
        }
        return ids;
    }
    void select(const std::string& id) {
        press("g");
        for (int i = 0; i < 10 && core.state().selected != id; ++i) press("j");
        REQUIRE(core.state().selected == id);
    }
    void lose(std::size_t host) {
        core.set_heard(host, false, now.wall);
        link(Link::State::down, host, core.state().hosts[host - 1].name + ": no answer");
    }
};

}  // namespace

TEST_CASE("The tasks of all hosts are one list, the longest waiting on top, each with the name of its host") {
    Hosts desk;
    CHECK(desk.shown() == std::vector<std::string>{"far", "asks", "mine", "works"});
    const auto screen = desk.screen();
    CHECK_THAT(screen, Holds("box"));
    CHECK_THAT(screen, Holds("gpu"));
    CHECK(desk.core.state().needs_answer == 2);
    // A list takes the place of that host's alone.
    desk.list({running("works")}, 0, 1);
    CHECK(desk.shown() == std::vector<std::string>{"far", "mine", "works"});
    desk.list({});
    CHECK(desk.shown() == std::vector<std::string>{"far", "works"});
    // Without hosts there is no column for them.
    Desk alone({running("mine")});
    CHECK(alone.core.state().columns.host == 0);
}

TEST_CASE("What is asked about a task goes to its host, and commands get the task with its host") {
    Hosts desk;
    desk.select("asks");
    desk.pass(std::chrono::milliseconds(300));
    CHECK(desk.last(Purpose::screen).host == 1);
    CHECK(desk.last(Purpose::subscribe).host == 1);
    CHECK(desk.last(Purpose::subscribe).params.at("screen") == "asks");
    desk.press("x");
    desk.press("y");
    const auto cancel = desk.last(Purpose::act);
    CHECK(cancel.host == 1);
    CHECK(cancel.task == "asks");
    desk.answer(Purpose::act, Error(ErrorCode::unavailable, "box went away"), 1);
    CHECK(desk.core.state().busy.empty());
    CHECK(desk.core.state().message->bad);
    desk.press("Enter");
    CHECK(desk.outside.back().argv == std::vector<std::string>{"orange", "task", "attach", "box:asks"});
    desk.press("y");
    CHECK(desk.outside.back().text == "box:asks");
    // The host of the task that was looked at before does not tell of its screen any more.
    desk.select("far");
    desk.pass(std::chrono::milliseconds(300));
    CHECK(std::ranges::any_of(desk.sent, [](const auto& request) {
        return request.purpose == Purpose::subscribe && request.host == 1 && !request.params.contains("screen");
    }));
    CHECK(desk.last(Purpose::screen).host == 2);
    desk.select("mine");
    desk.press("Enter");
    CHECK(desk.outside.back().argv == std::vector<std::string>{"orange", "task", "attach", "mine"});
}

TEST_CASE("The rows of a silent host stay as they were with their time, and a key on them answers at once") {
    Hosts desk;
    const auto heard = desk.now.wall;
    desk.select("asks");
    desk.pass(std::chrono::minutes(3));
    SECTION("its link has broken") {
        desk.lose(1);
        desk.core.set_heard(1, false, heard);
    }
    SECTION("it is there, and says nothing") {
        desk.core.set_heard(1, true, heard);
    }
    const auto clock = output::local_clock(to_rfc3339(heard)).substr(0, 5);
    CHECK(desk.shown() == std::vector<std::string>{"far", "asks", "mine", "works"});
    CHECK_THAT(desk.screen(), Holds("box " + clock));
    CHECK_THAT(desk.footer(), !Holds("cancel"));
    CHECK_THAT(dashboard::missing_hosts(desk.core.state()), Holds("box"));
    CHECK_THAT(dashboard::missing_hosts(desk.core.state()), !Holds("gpu"));
    desk.sent.clear();
    desk.outside.clear();
    for (const char* key : {"x", "Enter", "a", "m", "o", "D", "d", "t", "S"}) {
        desk.press(key);
        INFO(key);
        REQUIRE(desk.core.state().message);
        CHECK_THAT(desk.core.state().message->text, Holds("box"));
        CHECK_THAT(desk.core.state().message->text, Holds(clock));
        CHECK_FALSE(desk.core.state().question);
        CHECK_FALSE(desk.core.state().prompt);
    }
    desk.press("2");
    desk.pass(std::chrono::milliseconds(300));
    CHECK(desk.methods().empty());
    CHECK_FALSE(desk.has_sent(Purpose::diff, 1));
    CHECK(desk.outside.empty());
    // Other hosts are as before.
    desk.select("far");
    desk.press("x");
    desk.press("y");
    CHECK(desk.last(Purpose::act).host == 2);
}

TEST_CASE("Several silent hosts are counted, and named behind their number") {
    Hosts desk;
    desk.lose(1);
    CHECK_THAT(dashboard::missing_hosts(desk.core.state()), !Holds("1") && Tells("box"));
    desk.lose(2);
    const auto missing = dashboard::missing_hosts(desk.core.state());
    CHECK(missing.starts_with("2 "));
    CHECK_THAT(missing, Tells("box") && Tells("gpu"));
}

TEST_CASE("A text for a host that has gone meanwhile is kept, and a selection leaves out its tasks") {
    Hosts desk;
    desk.select("asks");
    desk.press("a");
    desk.type("Half up");
    desk.lose(1);
    desk.press("Enter");
    CHECK(desk.methods().empty());
    CHECK(std::ranges::any_of(desk.core.state().drafts, [](const auto& each) { return each.second == "Half up"; }));
    for (const char* id : {"far", "asks", "mine"}) {
        desk.select(id);
        if (std::string_view(id) != "asks") desk.press("Space");
    }
    desk.select("asks");
    desk.press("Space");
    desk.press("x");
    REQUIRE(desk.core.state().question);
    CHECK(desk.core.state().question->if_yes.size() == 2);
}

TEST_CASE("When a host is back its list is read anew, and nothing that was asked before is asked again") {
    Hosts desk;
    desk.select("asks");
    desk.press("x");
    desk.press("y");
    desk.answer(Purpose::act, Error(ErrorCode::unavailable, "box went away"), 1);
    desk.lose(1);
    desk.sent.clear();
    desk.link(Link::State::starting, 1);
    CHECK_THAT(dashboard::missing_hosts(desk.core.state()), Holds("box"));
    desk.link(Link::State::up, 1);
    CHECK(dashboard::missing_hosts(desk.core.state()).empty());
    CHECK(desk.methods().empty());
    CHECK(desk.has_sent(Purpose::subscribe, 1));
    CHECK(desk.has_sent(Purpose::list, 1));
    CHECK_FALSE(desk.has_sent(Purpose::list));
    desk.list({running("works")}, 0, 1);
    CHECK(desk.shown() == std::vector<std::string>{"far", "mine", "works"});
    // What needs its human and came while the host was away rings.
    const auto rings = desk.core.state().rings;
    desk.list({running("works"), Hosts::asking("new", "2026-11-20T09:59:00.000Z")}, 0, 1);
    CHECK(desk.core.state().rings == rings + 1);
}

TEST_CASE("When a host speaks again over the same link, its list is read anew") {
    Hosts desk;
    desk.core.set_heard(1, true, desk.now.wall);
    desk.sent.clear();
    desk.pass(std::chrono::seconds(1));
    CHECK_FALSE(desk.has_sent(Purpose::list, 1));
    desk.core.set_heard(1, false, desk.now.wall);
    desk.pass(std::chrono::milliseconds(1));
    CHECK(desk.has_sent(Purpose::list, 1));
    CHECK_FALSE(desk.has_sent(Purpose::list, 2));
}

TEST_CASE("A host that is this machine is shown once, whichever list comes first") {
    Desk desk({}, 120, 40, Hosts::with_hosts());
    desk.link(Link::State::up, 1);
    desk.link(Link::State::up, 2);
    SECTION("this machine's") {
        desk.list({running("mine")});
        desk.list({running("mine")}, 0, 1);
    }
    SECTION("the host's") {
        desk.list({running("mine")}, 0, 1);
        desk.list({running("mine")});
    }
    desk.list({running("far")}, 0, 2);
    REQUIRE(desk.core.state().tasks.size() == 2);
    CHECK(desk.core.state().tasks[0].host == 0);
    CHECK_FALSE(desk.core.state().hosts[0].twin.empty());
    CHECK(desk.core.state().hosts[1].twin.empty());
    desk.list({running("other"), running("mine")}, 0, 1);
    CHECK(desk.core.state().tasks.size() == 2);
}

TEST_CASE("A key that may only look keeps the tasks of its host from being changed, and the others not") {
    Hosts desk;
    desk.core.on_greeting(1, true);
    desk.select("asks");
    desk.press("x");
    CHECK_FALSE(desk.core.state().question);
    CHECK_THAT(desk.core.state().message->text, Holds("box"));
    desk.press("5");
    desk.pass(std::chrono::milliseconds(300));
    CHECK(desk.has_sent(Purpose::why, 1));
    desk.select("far");
    desk.press("x");
    CHECK(desk.core.state().question);
}

TEST_CASE("The search finds hosts by name, and their ended tasks through each of them") {
    Hosts desk;
    desk.press("/");
    desk.type("gpu");
    CHECK(desk.shown() == std::vector<std::string>{"far"});
    desk.pass(std::chrono::milliseconds(300));
    for (const std::size_t host : {0U, 1U, 2U}) CHECK(desk.has_sent(Purpose::search, host));
}

TEST_CASE("The order of tasks of a host that is not asked any more does not hold up the question about the others") {
    Hosts desk;
    desk.list({in_review("aaaa0000"), in_review("bbbb0000")});
    desk.list({in_review("far")}, 0, 2);
    for (const char* id : {"aaaa0000", "bbbb0000", "far"}) {
        desk.select(id);
        desk.press(" ");
    }
    desk.press("m");
    desk.select("far");
    desk.press(" ");
    desk.press("m");
    const auto place = [](const char* id) {
        return Json{{"id", id}, {"short_id", id}, {"reason", "clashes with none of these"}};
    };
    desk.answer(Purpose::train, Json{{"places", Json::array({place("far")})}}, 2);
    desk.answer(Purpose::train, Json{{"places", Json::array({place("aaaa0000"), place("bbbb0000")})}});
    CHECK_THAT(desk.screen(), Holds("Merge 2 tasks in this order?"));
}

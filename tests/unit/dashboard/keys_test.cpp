// Which keys a row shows, and what they do.
#include "common/base/text.hpp"
#include "tests/unit/dashboard/desk.hpp"

using namespace orange;
using namespace orange::tests;
using dashboard::Action;
using dashboard::Outside;
using dashboard::Purpose;

namespace {

/// Every offer alone: keys must follow the daemon's word, never a state's name.
rpc::TaskView offering(const std::string& what) {
    auto view = task_view("7JJC0000", "any-name", Need::nothing, {what});
    if (what == "attach") view.worker = "alive";
    return view;
}

}  // namespace

TEST_CASE("No key has two meanings, and each is in the help") {
    std::set<std::string> seen;
    for (const auto& binding : dashboard::bindings()) {
        for (const auto key : split(binding.keys, ' ')) CHECK(seen.insert(std::string(key)).second);
        CHECK(std::string(binding.help).size() > 5);
    }
    for (const char* key : {"j", "k", "q", "f", "c", "w", "y", "m", "x", "p", "Enter"}) CHECK(seen.contains(key));
}

TEST_CASE("A key is shown exactly if the daemon offers what it does, and then it does it") {
    struct Case {
        const char* offer;
        const char* key;
        const char* method;
        bool asks;
    };
    for (const auto& each :
         {Case{"spawn", "Enter", "task.spawn", false}, Case{"respawn", "Enter", "task.respawn", false},
          Case{"respawn", "R", "task.respawn", false}, Case{"merge", "m", "task.merge", true},
          Case{"force_merge", "m", "task.merge", false}, Case{"cancel", "x", "task.cancel", true},
          Case{"create_pr", "p", "task.create_pr", true}, Case{"ack", "!", "task.ack", false},
          Case{"approve", "A", "task.approve", true}, Case{"update_branch", "u", "task.update_branch", false},
          Case{"stop", "S", "task.stop", true}, Case{"restart", "S", "task.restart", false},
          Case{"try", "T", "task.try", false}, Case{"delete", "d", "task.delete", true}}) {
        INFO(each.offer << " " << each.key);
        Desk desk({offering(each.offer)}, 200);
        CHECK_THAT(desk.footer(), Holds(" " + std::string(each.key) + " "));
        desk.press(each.key);
        CHECK(desk.core.state().question.has_value() == each.asks);
        if (each.asks) {
            CHECK(desk.methods().empty());
            desk.press("y");
        }
        CHECK(desk.methods() == std::vector<std::string>{each.method});
        CHECK(desk.last(Purpose::act).params.at("id") == "7JJC0000");

        Desk without({offering("none")}, 200);
        CHECK_THAT(without.footer(), !Holds(" " + std::string(each.key) + " "));
        without.press(each.key);
        CHECK(without.methods().empty());
        REQUIRE(without.core.state().message);  // it says why
        CHECK(without.core.state().message->bad);
    }
}

TEST_CASE("Enter opens the agent's terminal if it lives, also for a question or a dialog") {
    auto asking = offering("attach");
    asking.needs.kind = Need::answer;
    asking.can.push_back("reply");
    for (const auto& view : {offering("attach"), asking}) {
        Desk desk({view});
        desk.press("Enter");
        REQUIRE(desk.outside.size() == 1);
        CHECK(desk.outside[0].argv == std::vector<std::string>{"orange", "task", "attach", "7JJC0000"});
    }
}

TEST_CASE("A key says why there is no agent yet, and only of a task that has not started that it has not") {
    auto held = task_view("aaaa1", "agent-review", Need::nothing, {"stop", "cancel", "delete"});
    held.start_wait = StartWait{};
    held.needs.text = "waits for a reviewer (2 of 2 run)";
    auto queued = task_view("bbbb2", "delegated", Need::nothing, {"move", "cancel", "delete"});
    queued.queue_place = 3;
    queued.needs.text = "waits for a workspace, place 3";
    auto pending = task_view("cccc3", "pending", Need::nothing, {"cancel", "delete"});
    pending.means = "initial";
    pending.queue_place = 4;
    pending.needs.text = "waits for a workspace, place 4";
    const auto said = [](const rpc::TaskView& task, const Desk::Key& key) {
        Desk desk({task});
        desk.press(key);
        const auto& message = desk.core.state().message;
        return message ? message->text : std::string();
    };
    CHECK_THAT(said(held, "Enter"), Holds("2 of 2"));
    CHECK_THAT(said(queued, "Enter"), Holds(" 3"));
    CHECK_THAT(said(pending, "Enter"), Holds(" 4"));
    CHECK(said(held, "m") != said(pending, "m"));
    CHECK_THAT(said(held, "m"), Holds("agent-review"));
    CHECK_THAT(said(queued, "m"), Holds("delegated"));
}

TEST_CASE("p opens the pull request in the browser if there is one, and nothing but a web address") {
    auto view = offering("none");
    view.fields.pr_url = "https://github.com/a/b/pull/7";
    Desk desk({view});
    desk.press("p");
    REQUIRE(desk.outside.size() == 1);
    CHECK(desk.outside[0].what == Outside::What::open);
    view.fields.pr_url = "file:///etc/passwd";
    Desk other({view});
    other.press("p");
    CHECK(other.outside.empty());
}

TEST_CASE("y copies the whole id, o, D and e use programs in the terminal") {
    Desk desk({running("7JJC0000")});
    for (const char* key : {"y", "o", "D", "e"}) desk.press(key);
    REQUIRE(desk.outside.size() == 4);
    CHECK(desk.outside[0].what == Outside::What::copy);
    CHECK(desk.outside[0].text == "7JJC0000");
    CHECK(desk.outside[1].argv == std::vector<std::string>{"orange", "task", "shell", "7JJC0000"});
    CHECK(desk.outside[2].argv == std::vector<std::string>{"orange", "task", "diff", "7JJC0000"});
    CHECK(desk.outside[3].argv == std::vector<std::string>{"$EDITOR", "/home/w/7JJC0000/TASK.md"});
}

TEST_CASE("A busy row says so, and takes no second action") {
    Desk desk({crashed("7JJC0000")});
    desk.press("R");
    desk.press("R");
    desk.press("x");
    CHECK(desk.methods() == std::vector<std::string>{"task.respawn"});
    CHECK_THAT(desk.screen(), Holds("respawning"));
    desk.answer(Purpose::act, Json{{"task", Json::object()}});
    CHECK(desk.core.state().busy.empty());
}

TEST_CASE("An error stays until a key, and is in the log after that") {
    Desk desk({crashed("7JJC0000")});
    desk.press("R");
    desk.answer(Purpose::act,
                Error(ErrorCode::conflict, "no workspace is free\n  orange project update shop --pool-size 5"));
    CHECK_THAT(desk.screen(), Holds("orange project update shop --pool-size 5"));
    desk.pass(std::chrono::minutes(10));
    CHECK_THAT(desk.screen(), Holds("orange project update shop --pool-size 5"));
    desk.press("j");
    CHECK_THAT(desk.screen(), !Holds("orange project update shop --pool-size 5"));
    desk.press("?");
    desk.press("G");
    CHECK_THAT(desk.screen(), Holds("orange project update shop --pool-size 5"));
}

TEST_CASE("A read-only dashboard changes nothing, and says so") {
    dashboard::State state;
    state.read_only = true;
    Desk desk({in_review("7JJC0000"), crashed("8KKD0000")}, 200, 24, state);
    for (const char* key : {"m", "x", "p", "r", "s", "d", "R", "S", "u", "!", "c", "Enter", "j", "Enter"})
        desk.press(key);
    CHECK(desk.methods().empty());
    CHECK_FALSE(desk.core.state().question);
    CHECK_FALSE(desk.core.state().form);
    CHECK_THAT(desk.footer(), !Holds(" m "));
}

TEST_CASE("Pasted text in the list is no command, and lines stay lines only where the worker reads them as such") {
    auto view = in_review("7JJC0000");
    view.can.emplace_back("send");
    Desk desk({view});
    (void)desk.core.on_input({dashboard::Input::What::paste, "m\ny\nx"}, desk.now);
    CHECK_FALSE(desk.core.state().question);
    CHECK(desk.core.state().message);
    desk.press("r");
    (void)desk.core.on_input({dashboard::Input::What::paste, "two\nlines \x1b[31m"}, desk.now);
    REQUIRE(desk.core.state().prompt);
    CHECK_THAT(desk.core.state().prompt->text, Holds("two\nlines"));
    CHECK(desk.core.state().prompt->text.find('\x1b') == std::string::npos);
    desk.press("Enter");
    CHECK_THAT(desk.last(Purpose::act).params.at("feedback").get<std::string>(), Holds("two\nlines"));
    desk.answer(Purpose::act, Json{{"task", Json::object()}});
    desk.press("s");
    (void)desk.core.on_input({dashboard::Input::What::paste, "two\nlines"}, desk.now);
    CHECK(desk.core.state().prompt->text == "two lines");
    desk.press("C-u");
    desk.press("Esc");
    desk.press("c");
    desk.press("Tab");
    (void)desk.core.on_input({dashboard::Input::What::paste, "- two\n- lines"}, desk.now);
    CHECK(desk.core.state().form->fields[1].value == "- two\n- lines");
}

TEST_CASE("Below 40x8 there are only numbers, and only q does something") {
    Desk desk({in_review("7JJC0000")}, 39, 24);
    CHECK_THAT(desk.screen(), Holds("1 review"));
    desk.press("m");
    CHECK_FALSE(desk.core.state().question);
    desk.press("q");
    REQUIRE(desk.outside.size() == 1);
    CHECK(desk.outside[0].what == Outside::What::quit);
}

TEST_CASE("A key that does nothing says what would") {
    const auto said = [](const rpc::TaskView& view, const char* key) {
        Desk desk({view});
        desk.press(key);
        return desk.screen();
    };
    auto asking = running("7JJC0000");
    asking.needs = {Need::answer, "the worker waits for an answer in its window", {}, k_desk_time};
    CHECK_THAT(said(asking, "a"), Holds("asks in its own window; Enter opens it"));
    auto part = in_review("7JJC0000");
    part.can = {"merge", "cancel", "delete"};
    part.merges_into = "fix/total";
    CHECK_THAT(said(part, "p"), Holds("is merged into its parent's branch"));
    auto broken = task_view("7JJC0000", "working", Need::help, {"ack", "delete"});
    broken.needs.text = "the workflow relay cannot be read";
    for (const char* key : {"x", "m", "Enter"}) CHECK_THAT(said(broken, key), Holds("relay cannot be read"));
}

TEST_CASE("What is typed for a text that was refused is no command") {
    Desk desk({in_review("7JJC0000"), running("8KKD0000")});
    desk.press("a");  // it asks nothing
    CHECK_THAT(desk.screen(), Holds("asks nothing"));
    desk.type("my extra words");
    desk.press("Enter");
    CHECK(desk.methods().empty());
    CHECK(desk.outside.empty());
    CHECK_FALSE(desk.core.state().question);
    CHECK(desk.core.state().marked.empty());
    CHECK(desk.core.state().selected == "7JJC0000");
    desk.press("m");
    CHECK(desk.core.state().question);
    desk.press("n");

    desk.press("a");
    desk.pass(std::chrono::milliseconds(1100));  // nobody types any more
    desk.press("m");
    CHECK(desk.core.state().question);
    desk.press("n");
    desk.press("a");
    desk.press("Down");  // no character
    CHECK(desk.core.state().selected == "8KKD0000");
}

TEST_CASE("A y that comes with the key of its question does not answer it") {
    Desk desk({in_review("7JJC0000")});
    desk.press("x");
    desk.press_at_once("y");
    CHECK(desk.methods().empty());
    REQUIRE(desk.core.state().question);
    CHECK_THAT(desk.footer(), !Holds("y yes"));
    desk.press("y");
    CHECK(desk.methods() == std::vector<std::string>{"task.cancel"});
}

TEST_CASE("Esc on an error takes only the error away") {
    Desk desk({in_review("7JJC0000")});
    desk.press(" ");
    desk.press("a");
    desk.press("Esc");
    CHECK_FALSE(desk.core.state().message);
    CHECK(desk.core.state().marked.size() == 1);
    desk.press("Esc");
    CHECK(desk.core.state().marked.empty());
}

TEST_CASE("How many have ended is asked again when they are folded") {
    Desk desk({running("7JJC0000")});
    desk.list({running("7JJC0000")}, 12);
    for (int n = 0; n < 3; ++n) desk.press("f");
    desk.pass(std::chrono::milliseconds(1));
    desk.list({running("7JJC0000"), ended("8KKD0000")});
    std::erase_if(desk.sent, [](const auto& request) { return request.purpose == Purpose::list; });
    desk.press("Esc");
    desk.pass(std::chrono::milliseconds(1));
    desk.list({running("7JJC0000")}, 11);
    CHECK_THAT(desk.screen(), Holds("ENDED 11"));
}

TEST_CASE("A pane never shows another task's text, and an outage is not hidden by an older message") {
    Desk desk({in_review("7JJC0000"), running("8KKD0000")});
    desk.press("5");
    desk.pass(std::chrono::milliseconds(1));
    desk.answer(Purpose::why, Error(ErrorCode::conflict, "of the first"));
    CHECK_THAT(desk.screen(), Holds("of the first"));
    desk.press("Esc");
    desk.press("y");
    (void)desk.core.on_link(dashboard::Link::State::down, "", desk.now);
    CHECK_THAT(desk.screen(), Holds("The daemon does not run"));
    desk.press("j");
    desk.press("5");
    CHECK_THAT(desk.screen(), !Holds("of the first") && Holds("cannot be read"));
}

TEST_CASE("At 80 columns the first key is what the task needs, and the last one is ?") {
    const auto keys_of = [](rpc::TaskView view, const std::string& command) {
        view.needs.command = OrangeCommand::from_text(command);
        const auto rows = Desk({view}).frame().rows;
        CHECK_THAT(rows.back().text(), Holds("? help"));
        CHECK(trim(rows.back().text()).ends_with("? help"));
        return std::string(trim(rows[rows.size() - 2].text()));
    };
    const auto review = keys_of(in_review("7JJC0000"), "orange task diff 7JJC0000");
    CHECK(review.starts_with("D diff"));
    CHECK_THAT(review, Holds("m merge") && Holds("r reject") && Holds("x cancel"));
    const auto dead = keys_of(crashed("7JJC0000"), "orange task respawn 7JJC0000");
    CHECK(dead.starts_with("R respawn"));
    CHECK_THAT(dead, Holds("! ack") && Holds("x cancel"));
    auto asking = running("7JJC0000");
    asking.can.emplace_back("reply");
    CHECK(keys_of(asking, "orange task reply 7JJC0000 \"...\"").starts_with("a answer"));
    CHECK_THAT(keys_of(running("7JJC0000"), ""), Holds("Enter attach") && Holds("s send") && Holds("S stop"));
}

TEST_CASE("p is offered only if pull requests can be where the project's origin is") {
    for (const std::string place : {"", "github", "other", "none"}) {
        Desk desk({in_review("7JJC0000")}, 200);
        rpc::ProjectList::Reply reply;
        reply.projects.resize(1);
        reply.projects[0].name = "shop";
        reply.projects[0].place = place;
        (void)desk.core.on_reply(dashboard::request_of(rpc::ProjectList{}, Purpose::projects),
                                 dashboard::Answer(written(reply)), desk.now);
        const bool hidden = place == "other" || place == "none";
        CHECK((desk.footer().find(" p create PR") == std::string::npos) == hidden);
        desk.list({in_review("7JJC0000")});
        CHECK((desk.footer().find(" p create PR") == std::string::npos) == hidden);
    }
}

// Rows, sections, filters and the selection.
#include "common/base/text.hpp"
#include "common/model/notice_kinds.hpp"
#include "common/rpc/search_methods.hpp"
#include "tests/unit/dashboard/desk.hpp"

using namespace orange;
using namespace orange::tests;
using dashboard::Filter;
using dashboard::Purpose;

namespace {

std::vector<rpc::TaskView> many_tasks(std::size_t count) {
    std::vector<rpc::TaskView> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(running("task" + std::to_string(100'000 + i)));
    return all;
}

}  // namespace

TEST_CASE("Sections follow what tasks need, and the daemon's order stays within them") {
    auto waiting = task_view("wait0000", "pending", Need::nothing, {"spawn", "cancel"});
    waiting.queue_place = 1;
    Desk desk({crashed("help0000"), in_review("revi0000"), running("work0000"), waiting});
    const auto text = desk.screen();
    std::size_t at = 0;
    for (const char* word : {"NEEDS YOU 2", "Summary of help0000", "Summary of revi0000", "RUNNING 1",
                             "Summary of work0000", "WAITING 1", "Summary of wait0000"}) {
        const auto found = text.find(word, at);
        REQUIRE(found != std::string::npos);
        at = found;
    }
    CHECK_THAT(text, Holds("1 help  1 review  4 active tasks"));
}

TEST_CASE("The header shows windows and the day's budget, and asks for them at most once a minute") {
    auto task = running("work0000");
    task.usage.emplace().sum = {{3, 40'000, 0, 0, 1'000}, 41'000};
    Desk desk({task}, 100);
    desk.pass(std::chrono::milliseconds(1));
    CHECK(desk.last(Purpose::usage).params == Json{{"by", "project"}, {"since", "1d"}});
    rpc::UsageShow::Reply usage;
    usage.by = "project";
    usage.windows.resize(1);
    usage.windows[0].harness = "codex";
    usage.windows[0].window = {62, k_desk_time + std::chrono::minutes(30)};
    usage.days = {{"shop", 31'000'000, 40'000'000}};
    desk.answer(Purpose::usage, written(usage));
    CHECK_THAT(desk.screen(), Holds("codex 62 %, resets ") && Holds("shop today 31M of 40M") && Holds("41k"));
    const Json told = {{"type", "agent.usage"}, {"role", "worker"}, {"run", "r"}, {"tokens", 50'000}};
    desk.sent.clear();
    for (int i = 0; i < 5; ++i) {
        desk.event("work0000", 0, told);
        desk.pass(std::chrono::seconds(1));
    }
    CHECK(desk.sent.empty());  // neither the list nor usage: an agent that works is no change
    desk.pass(std::chrono::seconds(6));
    CHECK(desk.has_sent(Purpose::list));
    CHECK_FALSE(desk.has_sent(Purpose::usage));
    desk.pass(std::chrono::seconds(60));
    CHECK(desk.has_sent(Purpose::usage));
    desk.pass(std::chrono::minutes(31));  // the window is over, and nobody knows how much of the next one is used
    CHECK_THAT(desk.screen(), !Holds("codex"));
}

TEST_CASE("A daemon that tells no tokens is not asked for usage") {
    Desk desk({running("work0000")});
    desk.pass(std::chrono::minutes(2));
    CHECK_FALSE(desk.has_sent(Purpose::usage));
}

TEST_CASE("The dashboard rings when a task begins to need its human, or needs more, and the title counts them") {
    Desk desk({in_review("a"), running("b")});
    const auto& state = desk.core.state();
    const auto title = [&] { return dashboard::draw(state, k_desk_time).title; };
    CHECK(state.rings == 0);
    CHECK_THAT(title(), Holds("1 "));
    desk.list({in_review("a"), in_review("b")});
    CHECK(state.rings == 1);
    CHECK_THAT(title(), Holds("2 "));
    desk.list({in_review("a"), in_review("b")});
    CHECK(state.rings == 1);
    desk.list({crashed("a"), running("b")});
    CHECK(state.rings == 2);
    desk.list({running("a"), running("b")});
    CHECK(state.rings == 2);
    CHECK_THAT(title(), !Holds("1"));
    CHECK(dashboard::draw(state, k_desk_time).rings == 2);
}

TEST_CASE("An age is in seconds for the first minute, and the screen follows it") {
    auto task = running("aaaa0000");
    task.fields.updated_at = k_desk_time - std::chrono::seconds(20);
    Desk desk({task});
    desk.pass(std::chrono::seconds(5));
    CHECK_THAT(desk.screen(), Holds("25s"));
    CHECK(*desk.core.next_time() <= desk.now.steady + std::chrono::seconds(1));
    desk.pass(std::chrono::seconds(100));
    CHECK_THAT(desk.screen(), Holds("2m"));
    CHECK(*desk.core.next_time() > desk.now.steady + std::chrono::seconds(30));
    task.fields.updated_at = desk.now.wall - std::chrono::seconds(3);
    desk.list({task});
    desk.pass(std::chrono::seconds(0));
    CHECK(*desk.core.next_time() <= desk.now.steady + std::chrono::seconds(1));
}

TEST_CASE("A cancelled task whose sub-tasks wait for an approval is among those that need you") {
    auto parent = ended("aaaa0000");
    parent.means = "cancelled";
    parent.needs.kind = Need::help;
    Desk desk({parent, running("bbbb0000")});
    CHECK_THAT(desk.screen(), Holds("1 help") && Holds("NEEDS YOU 1") && Holds("Summary of aaaa0000"));
    desk.press("f");
    CHECK_THAT(desk.screen(), Holds("Summary of aaaa0000") && !Holds("Summary of bbbb0000"));
}

TEST_CASE("A sub-task that needs help stands above its parent's question") {
    auto parent = in_review("pppp0000"), child = crashed("cccc0000");
    parent.children = {"cccc0000"};
    child.fields.parent = TaskId{"pppp0000"};
    Desk desk({child, parent});
    const auto text = desk.screen();
    CHECK(text.find("Summary of cccc0000") < text.find("Summary of pppp0000"));
}

TEST_CASE("An agent that waits for room is not said to be started") {
    Desk desk({crashed("aaaa0000")});
    desk.press("Enter");
    auto waiting = crashed("aaaa0000");
    waiting.start_wait = StartWait{};
    rpc::TaskRespawn::Reply reply;
    reply.tasks = {waiting};
    desk.answer(Purpose::act, written(reply));
    CHECK_THAT(desk.screen(), Holds("not started yet") && !Holds("respawned"));
}

TEST_CASE("A task that waits for others says so in its row") {
    auto one = task_view("one", "pending"), more = task_view("more", "pending"), begun = task_view("begun", "pending");
    one.means = more.means = begun.means = "initial";
    one.blockers = {{"4f2a0000", "4f2a", "open", "working", "shop", ""},
                    {"7b1c0000", "7b1c", "done", "done", "shop", ""}};
    more.blockers = {{"4f2a0000", "4f2a", "open", "working", "shop", ""}, {"7b1c0000", "7b1c", "gone", "", "shop", ""}};
    begun.blockers = {{"7b1c0000", "7b1c", "done", "done", "shop", ""}};
    Desk desk({one, more, begun});
    CHECK_THAT(desk.screen(), Holds("pending after 4f2a") && Holds("pending after 2") && !Holds("after 7b1c"));
}

TEST_CASE("A task's name is its summary, and its branch stands beside it below the list") {
    auto unnamed = running("bbbb0000");
    unnamed.fields.summary.clear();
    Desk desk({running("aaaa0000"), unnamed});
    const auto screen = desk.screen();
    const auto row = screen.find("Summary of aaaa0000");
    CHECK(screen.find("branch-aaaa0000") > screen.rfind("Summary of aaaa0000"));
    CHECK(screen.find("branch-aaaa0000", row) != std::string::npos);
    CHECK_THAT(screen, Holds("branch-bbbb0000"));
}

TEST_CASE("At 80 columns half of a row's room is the task's name, and projects are a column") {
    auto waiting = task_view("cccc0000", "pending");
    waiting.means = "initial";
    waiting.fields.project = "blog";
    waiting.fields.summary = "Describe the new format";
    waiting.blockers = {{"bbbb0000", "bbbb", "open", "working", "shop", ""}};
    auto idle = in_review("aaaa0000");
    idle.fields.summary = "Round the total of a line";
    idle.fields.counters["review_round"] = 1;
    idle.committed = rpc::ChangeCounts{3, 2, 140, 22, false};
    Desk desk({idle, waiting});
    CHECK_THAT(desk.screen(),
               Holds("shop Round the total of a line") && Holds("blog Describe the new format") && Holds("reviewing"));
}

TEST_CASE("What a task needs has three rows below the list, with the task's short id in it") {
    auto view = crashed("aaaa00000000000000000");
    view.needs.text =
        "aaaa00000000000000000 exited with status 1. Its last lines: Traceback (most recent call last): / "
        "File \"agent.py\", line 71, in respond / ConnectionResetError: the model closed the connection";
    Desk desk({view});
    CHECK_THAT(desk.screen(), Holds("help: aaaa exited") && Holds("the model closed the connection"));
    view.needs.text += std::string(500, 'x');
    Desk longer({view});
    CHECK(dashboard::layout_of(longer.core.state()).message_rows == 4);
}

namespace {

Clash clash_with(const std::string& id, const std::string& path, std::int64_t hunks) {
    return {id, id.substr(0, 4), "", {{path, hunks}}};
}

std::string row_with(const std::string& screen, const std::string& part) {
    for (const auto line : split_lines(screen)) {
        if (line.find(part) != line.npos) return std::string(line);
    }
    return {};
}

}  // namespace

TEST_CASE("A task that clashes has a mark beside that of its notices, and the sentence below the list") {
    auto both = running("aaaa0000"), noted = running("bbbb0000"), plain = running("cccc0000");
    both.clashes = {clash_with("cccc0000", "cart.py", 2)};
    both.notices = noted.notices = {{NoticeKind::unverified_review, "not verified", "", "", k_desk_time}};
    Desk desk({both, noted, plain});
    const auto screen = desk.screen();
    CHECK_THAT(row_with(screen, "● "), Holds(" !≠"));
    CHECK_THAT(row_with(screen, "Summary of bbbb0000"), Holds(" ! ") && !Holds("≠"));
    CHECK_THAT(row_with(screen, "Summary of cccc0000"), !Holds("!") && !Holds("≠"));
    CHECK_THAT(screen, Holds("\n ≠ clashes with cccc in cart.py, 2 hunks\n"));
    desk.press("j");
    CHECK_THAT(desk.screen(), !Holds("≠ clashes"));
    Desk without({noted, plain});
    CHECK_THAT(without.screen(), !Holds("≠"));
}

TEST_CASE("Clashes have two rows below the list, and a long need does not displace them") {
    auto view = crashed("aaaa0000");
    view.needs.text = std::string(500, 'x');
    for (const char* id : {"bbbb0000", "cccc0000", "dddd0000"})
        view.clashes.push_back(clash_with(id, "src/a/long/path/to/" + std::string(60, 'y') + id, 3));
    Desk desk({view});
    CHECK(dashboard::layout_of(desk.core.state()).message_rows == 6);
    CHECK_THAT(desk.screen(), Holds("≠ clashes with bbbb in"));
}

TEST_CASE("A clash that the need names is not said twice below the list") {
    auto view = in_review("aaaa0000");
    view.clashes = {clash_with("bbbb0000", "cart.py", 2), clash_with("cccc0000", "tax.py", 1)};
    view.needs.text = "ready; it " + clash_clause(view.clashes.front());
    Desk desk({view});
    CHECK_THAT(desk.screen(), Holds("it clashes with bbbb in cart.py") && !Holds("≠ clashes with bbbb") &&
                                  Holds("≠ clashes with cccc in tax.py"));
}

TEST_CASE("Clashes that have changed are shown after a look at the list") {
    auto view = running("aaaa0000");
    Desk desk({view});
    desk.event("aaaa0000", 0, {{"type", "clashes.changed"}, {"text", "with bbbb in cart.py, 2 hunks"}});
    desk.pass(std::chrono::milliseconds(100));
    REQUIRE(desk.has_sent(Purpose::list));
    view.clashes = {clash_with("bbbb0000", "cart.py", 2)};
    desk.list({view});
    CHECK_THAT(desk.screen(), Holds("≠ clashes with bbbb in cart.py, 2 hunks"));
    desk.event("aaaa0000", 0, {{"type", "clashes.changed"}, {"text", ""}});
    view.clashes.clear();
    desk.list({view});
    CHECK_THAT(desk.screen(), !Holds("≠"));
}

TEST_CASE("P goes from one project to all of them, and from all to the selected task's") {
    dashboard::State state;
    state.project = "shop";
    Desk desk({running("aaaa0000")}, 80, 24, state);
    desk.press("P");
    desk.pass(std::chrono::milliseconds(1));
    CHECK_FALSE(desk.last(Purpose::list).params.contains("project"));
    CHECK_THAT(desk.screen(), Holds("all projects"));
    auto other = running("bbbb0000");
    other.fields.project = "site";
    desk.list({running("aaaa0000"), other});
    desk.press("j");
    desk.press("P");
    desk.pass(std::chrono::milliseconds(1));
    CHECK(desk.last(Purpose::list).params.at("project") == "site");
}

TEST_CASE("The selection is a task, wherever it moves to in the list") {
    Desk desk({running("aaaa0000"), running("bbbb0000"), running("cccc0000")});
    desk.press("j");
    CHECK(desk.core.state().selected == "bbbb0000");
    desk.list({in_review("bbbb0000"), running("cccc0000"), running("aaaa0000")});
    CHECK(desk.core.state().selected == "bbbb0000");
    desk.press("j");
    CHECK(desk.core.state().selected == "cccc0000");
    desk.list({in_review("bbbb0000"), running("aaaa0000")});  // it has gone: its place is taken
    CHECK(desk.core.state().selected == "aaaa0000");
    desk.press("g");
    CHECK(desk.core.state().selected == "bbbb0000");
    desk.press("G");
    CHECK(desk.core.state().selected == "aaaa0000");
    desk.list({});
    CHECK(desk.core.state().selected.empty());
    for (const char* key : {"j", "k", "G", "m", "Enter", "x", "y"}) desk.press(key);
    CHECK(desk.methods().empty());
}

TEST_CASE("A pane that covers the list hides no row of it afterwards") {
    Desk desk({running("aaaa0000")});
    desk.press("5");
    desk.list({in_review("aaaa0000")});
    desk.press("Esc");
    CHECK_THAT(desk.screen(), Holds("NEEDS YOU 1"));
}

TEST_CASE("What has been said goes when something changes later, and an error stays until a key") {
    auto queued = task_view("wait0000", "pending", Need::start, {"spawn", "cancel"});
    Desk desk({queued});
    desk.press("Enter");
    queued.queue_place = 1;
    rpc::TaskSpawn::Reply reply;
    reply.task = queued;
    reply.notes = {"all workspaces are in use"};
    desk.answer(Purpose::act, written(reply));
    CHECK_THAT(desk.screen(), Holds("not started yet") && Holds("all workspaces are in use") && !Holds(": started"));
    desk.list({queued});
    CHECK_THAT(desk.screen(), Holds("not started yet"));
    desk.pass(std::chrono::seconds(8));
    desk.list({crashed("wait0000")});
    CHECK_THAT(desk.screen(), !Holds("not started yet"));
    desk.press("Enter");
    desk.answer(Purpose::act, Error(ErrorCode::conflict, "it is gone"));
    desk.pass(std::chrono::seconds(8));
    desk.list({crashed("wait0000")});
    CHECK_THAT(desk.screen(), Holds("it is gone"));
}

TEST_CASE("Where the keys have no room the line of keys says so") {
    Desk wide({in_review("aaaa0000")}, 160), narrow({in_review("aaaa0000")}, 60);
    CHECK_THAT(wide.footer(), !Holds("…"));
    CHECK_THAT(narrow.footer(), Holds("…"));
}

TEST_CASE("f goes through the filters, ended tasks come in pages") {
    Desk desk({running("aaaa0000"), in_review("bbbb0000")});
    desk.press("f");
    CHECK(desk.core.state().filter == Filter::needs);
    CHECK_THAT(desk.screen(), !Holds("Summary of aaaa0000"));
    desk.press("f");
    desk.pass(std::chrono::milliseconds(10));
    CHECK(desk.core.state().filter == Filter::all);
    const auto request = desk.last(Purpose::list);
    CHECK(request.params.at("all") == true);
    CHECK(request.params.at("limit") == 202);
    std::vector<rpc::TaskView> all{running("aaaa0000"), in_review("bbbb0000")};
    for (int i = 0; i < 200; ++i) all.push_back(ended("end" + std::to_string(1000 + i)));
    desk.list(all);
    CHECK_THAT(desk.screen(), Holds("ENDED 200+"));
    desk.press("G");
    desk.pass(std::chrono::milliseconds(10));
    CHECK(desk.last(Purpose::list).params.at("limit") == 402);
    desk.press("f");
    CHECK(desk.core.state().filter == Filter::ended);
    CHECK_THAT(desk.screen(), !Holds("Summary of aaaa0000"));
    desk.press("Esc");
    CHECK(desk.core.state().filter == Filter::active);
}

TEST_CASE("Ended tasks that are not shown are counted") {
    Desk desk;
    desk.list({running("aaaa0000")}, 12);
    CHECK_THAT(desk.screen(), Holds("ENDED 12"));
}

TEST_CASE("The search narrows as it is typed, and Esc goes one step back at a time") {
    auto odd = running("bbbb0000");
    odd.fields.summary = "Round the Total";
    Desk desk({running("aaaa0000"), odd});
    desk.press("/");
    desk.type("total");
    CHECK_THAT(desk.screen(), !Holds("Summary of aaaa0000"));
    CHECK_THAT(desk.screen(), Holds("/total 1 of 2"));
    desk.press("Enter");
    CHECK_FALSE(desk.core.state().prompt);
    desk.press(" ");
    CHECK(desk.core.state().marked.size() == 1);
    desk.press("Esc");
    CHECK(desk.core.state().marked.empty());
    CHECK_FALSE(desk.core.state().search.empty());
    desk.press("Esc");
    CHECK(desk.core.state().search.empty());
    desk.press("/");
    desk.type("TOTAL");  // a capital makes it exact
    CHECK_THAT(desk.screen(), Holds("0 of 2"));
    desk.press("Esc");
    CHECK(desk.core.state().items.size() == 3);
}

TEST_CASE("The selected row is one colour from its mark to its age, and ages are quiet") {
    auto waiting = running("aaaa0000");
    waiting.worker_activity = AgentActivity{Activity::waiting, k_desk_time - std::chrono::minutes(7), "", ""};
    waiting.needs = {Need::answer, "look at it", {}, k_desk_time - std::chrono::minutes(3)};
    waiting.fields.updated_at = k_desk_time - std::chrono::minutes(5);
    for (const int width : {40, 80, 120, 200}) {
        INFO(width);
        Desk desk({crashed("bbbb0000"), waiting}, width);
        desk.press(" ");
        const auto spans = [&] { return desk.frame().rows.at(3).spans; };
        const auto selected = spans().front();
        CHECK(selected.look == dashboard::Look{.reverse = true});
        CHECK(dashboard::columns(selected.text) ==
              static_cast<std::size_t>(dashboard::layout_of(desk.core.state()).list.width));
        desk.press("k");
        for (const auto& span : spans()) {
            if (holds(span.text, "5m") || holds(span.text, "7m")) CHECK(span.look == dashboard::k_dim);
        }
        CHECK_THAT(desk.screen(), Holds("5m"));
        desk.press("j");
        const auto below = desk.frame().rows.at(21).spans;
        CHECK(std::ranges::find(below, dashboard::Span{" (3m)", dashboard::k_dim}) != below.end());
    }
}

TEST_CASE("While nothing needs you, the space below the list shows what has ended today, and how") {
    Desk desk;
    desk.list({running("aaaa0000")}, 3);
    REQUIRE(desk.has_sent(Purpose::ended));
    CHECK(desk.last(Purpose::ended).params.at("all") == true);
    rpc::TaskList::Reply reply;
    reply.tasks = {running("aaaa0000"), ended("bbbb0000"), ended("cccc0000"), ended("dddd0000")};
    reply.tasks[1].needs = {Need::nothing, "you cancelled it", {}, k_desk_time - std::chrono::hours(2)};
    reply.tasks[2].needs = {Need::nothing, "it has ended", {}, k_desk_time - std::chrono::hours(30)};
    reply.tasks[3].needs = {
        Need::nothing, "merged into main as 1a2b3c4d5e6f", {}, k_desk_time - std::chrono::minutes(9)};
    desk.answer(Purpose::ended, written(reply));
    const auto shown = desk.screen();
    CHECK_THAT(shown, Holds("ENDED TODAY 2") && Holds("aaaa0000") && !Holds("cccc0000"));
    CHECK_THAT(shown, Holds("you cancelled it") && Holds("merged into main as 1a2b3c4d5e6f") && Holds(" 9m\n"));
    CHECK(shown.rfind("dddd0000") < shown.rfind("bbbb0000"));
    desk.press("j");
    CHECK(desk.core.state().selected == "aaaa0000");
    desk.list({in_review("aaaa0000")}, 3);  // the task needs its human now
    CHECK_THAT(desk.screen(), !Holds("ENDED TODAY"));
    CHECK_FALSE(desk.has_sent(Purpose::ended));
    desk.list({}, 3);
    CHECK_THAT(desk.screen(), Holds("ENDED TODAY 2"));
    CHECK_FALSE(desk.has_sent(Purpose::ended));
    desk.list({}, 4);
    reply.tasks[0] = ended("eeee0000");
    reply.tasks[0].needs.text = "working → done";
    reply.tasks[0].in_progress = "working → done";
    desk.answer(Purpose::ended, written(reply));
    desk.list({}, 4);  // after the last step
    CHECK(desk.has_sent(Purpose::ended));
    (void)desk.core.on_resize(60, 8, desk.now);
    CHECK(desk.frame().rows.size() == 8);
}

TEST_CASE("Where there is no task, the list has the whole width and says which key helps") {
    const auto key_of = [](Desk& desk, const std::string& key) {
        const auto rows = desk.frame().rows;
        return std::any_of(rows.begin(), rows.end() - 2, [&](const dashboard::Line& row) {
            return std::ranges::any_of(row.spans, [&](const dashboard::Span& span) {
                return span.look == dashboard::k_bold && trim(span.text) == key;
            });
        });
    };
    dashboard::State here;
    here.repository = "/home/me/site";
    for (const int width : {80, 120}) {
        Desk first({}, width, 24, here);
        CHECK(key_of(first, "c"));
        CHECK(key_of(first, "?"));
        CHECK_FALSE(dashboard::layout_of(first.core.state()).pane.height > 0);
        Desk done({}, width);
        done.list({}, 7);
        CHECK(key_of(done, "c"));
        CHECK_FALSE(key_of(done, "?"));
    }
    const auto without_project = [&](dashboard::State state) {
        Desk desk({}, 80, 24, std::move(state));
        (void)desk.core.on_reply(dashboard::request_of(rpc::ProjectList{true}, Purpose::projects),
                                 dashboard::Answer(written(rpc::ProjectList::Reply{})), desk.now);
        return desk;
    };
    auto inside = without_project(here), outside = without_project({});
    CHECK(key_of(inside, "c"));
    CHECK_THAT(inside.screen(), Holds("/home/me/site"));
    CHECK_FALSE(key_of(outside, "c"));
    CHECK_THAT(outside.screen(), Holds("orange project add PATH"));
    here.read_only = true;
    auto reader = without_project(here);
    CHECK_FALSE(key_of(reader, "c"));
}

TEST_CASE("A narrow list shows each task's status, cut if another one's is long, before anything less important") {
    auto waiting = task_view("cccc0000", "pending");
    waiting.means = "initial";
    waiting.blockers = {{"bbbb0000", "bbbb", "open", "working", "shop", ""}};
    auto reviewed = in_review("aaaa0000");
    reviewed.fields.counters["review_round"] = 1;
    for (const int width : {80, 100, 110, 114, 120, 140}) {
        INFO(width);
        Desk desk({reviewed, waiting}, width, 14);
        CHECK_THAT(desk.screen(), Holds("reviewing"));
    }
}

TEST_CASE("A frame has exactly its size, whatever the tasks are called") {
    auto hostile = in_review("aaaa0000");
    hostile.fields.branch = "b\x1b[31m\n\t日本語日本語日本語 e\xcc\x81 👨\xe2\x80\x8d👩 \xff";
    hostile.fields.summary = std::string(5000, 'x') + "\x1b]0;t\x07";
    hostile.fields.status = "sta\ntus";
    hostile.needs.text = "a\x1b[2Jb";
    hostile.alarm = "x\x1b[2J";
    auto broken = task_view("bbbb0000", "unreadable");
    broken.unreadable = "no \x1b[2J such file";
    for (const auto& [width, height] :
         {std::pair{80, 24}, {120, 40}, {200, 50}, {40, 8}, {80, 50}, {20, 5}, {1, 1}, {333, 9}}) {
        Desk desk({hostile, broken, running("cccc0000")}, width, height);
        for (const char* key :
             {"j", "1", "2", "5", "Esc", "?", "Esc", "w", "Esc", "c", "Esc", "m", "n", "/", "Esc", "r", "x"}) {
            desk.press(key);
            const auto frame = desk.frame();
            REQUIRE(frame.rows.size() == static_cast<std::size_t>(height));
            for (const auto& row : frame.rows) {
                REQUIRE(row.width() == static_cast<std::size_t>(width));
                for (const unsigned char c : row.text()) REQUIRE((c >= 0x20 && c != 0x7f));
            }
        }
    }
}

TEST_CASE("A frame costs what it shows, with ten tasks or ten thousand", "[slow]") {
    for (const std::size_t count : {10U, 10'000U}) {
        Desk desk(many_tasks(count));
        for (const char* key : {"j", "G", "k", "g"}) {
            desk.press(key);
            CHECK(desk.frame().tasks_drawn <= 20);
        }
    }
    Desk desk(many_tasks(10'000));
    desk.press("G");
    CHECK_THAT(desk.screen(), Holds("Summary of task109999"));
}

TEST_CASE("The selected row stays on the screen while the list changes and the terminal shrinks") {
    Desk desk(many_tasks(100));
    for (int i = 0; i < 60; ++i) desk.press("j");
    const auto name = "Summary of " + desk.core.state().selected;
    CHECK_THAT(desk.screen(), Holds(name));
    for (const auto& [width, height] : {std::pair{80, 12}, {45, 8}, {120, 40}, {80, 24}}) {
        (void)desk.core.on_resize(width, height, desk.now);
        CHECK_THAT(desk.screen(), Holds(name));
        const auto& state = desk.core.state();
        CHECK(state.at >= state.top);
        CHECK(state.at < state.top + static_cast<std::size_t>(dashboard::layout_of(state).list.height));
    }
}

TEST_CASE("Nothing that happens, nothing that is drawn or asked but the ages once a minute") {
    auto task = in_review("aaaa0000");
    task.fields.updated_at = k_desk_time - std::chrono::minutes(10);
    Desk desk({task});
    const auto before = desk.frame();
    desk.pass(std::chrono::seconds(30));
    CHECK(desk.frame() == before);
    CHECK(desk.sent.empty());
    const auto next = desk.core.next_time();
    REQUIRE(next);
    CHECK(*next - desk.now.steady >= std::chrono::seconds(29));
}

TEST_CASE("Events that come together are one look at the list") {
    Desk desk({running("aaaa0000")});
    for (int i = 0; i < 1000; ++i) desk.event("aaaa0000");
    CHECK(desk.sent.empty());
    desk.pass(std::chrono::milliseconds(100));
    CHECK(desk.sent.size() == 1);
    for (int i = 0; i < 1000; ++i) desk.event("aaaa0000");
    desk.pass(std::chrono::milliseconds(100));
    CHECK(desk.sent.size() == 1);  // the first one is not answered yet
}

TEST_CASE("The daemon may go and come: the rows stay, and the list is read again") {
    Desk desk({running("aaaa0000"), crashed("bbbb0000")});
    desk.press("g");
    desk.press("S");
    CHECK(desk.core.state().busy.size() == 1);
    (void)desk.core.on_link(dashboard::Link::State::down, "", desk.now);
    CHECK_THAT(desk.screen(), Holds("Summary of aaaa0000"));
    CHECK(desk.core.state().busy.empty());
    desk.press("x");
    CHECK_FALSE(desk.core.state().question);
    CHECK_THAT(desk.screen(), Holds("Ctrl-r"));
    const auto effects = desk.core.on_link(dashboard::Link::State::up, "", desk.now);
    CHECK(effects.requests.size() == 3);
}

TEST_CASE("The mouse selects, and a double click is Enter") {
    Desk desk({running("aaaa0000"), running("bbbb0000")});
    const auto click = [&](int row) {
        return desk.core.on_input({dashboard::Input::What::click, "", 5, row}, desk.now);
    };
    (void)click(3);
    CHECK(desk.core.state().selected == "bbbb0000");
    const auto effects = click(3);
    REQUIRE(effects.outside.size() == 1);
    CHECK(effects.outside[0].argv.back() == "bbbb0000");
    (void)desk.core.on_input({dashboard::Input::What::wheel_up, "", 5, 3}, desk.now);
    CHECK(desk.core.state().selected == "aaaa0000");
}

TEST_CASE("The search finds ended tasks that were not fetched, and keeps them while the list changes") {
    Desk desk({running("7JJC0000")});
    desk.list({running("7JJC0000")}, 12);
    desk.press("/");
    desk.type("8kkd");
    CHECK_FALSE(desk.has_sent(Purpose::search));  // somebody types
    desk.pass(std::chrono::milliseconds(200));
    const auto asked = desk.last(Purpose::search).params;
    CHECK(asked.at("search") == "8kkd");
    CHECK(asked.at("all") == true);
    rpc::TaskList::Reply found;
    found.tasks = {ended("8KKD0000"), ended("8KKD1111")};
    desk.answer(Purpose::search, written(found));
    CHECK_THAT(desk.screen(), Holds("ENDED 2"));  // behind the filter
    desk.press("Enter");
    desk.press("f");
    desk.press("f");
    desk.pass(std::chrono::milliseconds(1));
    desk.list({running("7JJC0000"), ended("9LLE0000")});
    CHECK_THAT(desk.screen(), Holds("Summary of 8KKD1111") && !Holds("Summary of 9LLE0000"));
    desk.press("G");
    CHECK(desk.core.state().selected == "8KKD1111");
    desk.list({running("7JJC0000"), ended("9LLE0000")});
    CHECK(desk.core.state().selected == "8KKD1111");
    desk.press("Esc");
    CHECK_THAT(desk.screen(), !Holds("Summary of 8KKD1111") && Holds("Summary of 9LLE0000"));
}

TEST_CASE("If nothing in the list matches, the search finds what stands in the texts of tasks, and says so") {
    Desk desk({running("7JJC0000")});
    desk.press("/");
    desk.type("zebra");
    desk.pass(std::chrono::milliseconds(200));
    CHECK_FALSE(desk.has_sent(Purpose::texts));
    desk.answer(Purpose::search, written(rpc::TaskList::Reply{}));
    const auto asked = desk.last(Purpose::texts).params;
    CHECK(asked.at("text") == "zebra");
    rpc::TaskSearch::Reply found;
    rpc::SearchHit hit;
    hit.kind = "task";
    hit.section = "Review";
    for (const auto* id : {"7JJC0000", "8KKD0000"}) {
        hit.task = id;
        hit.text = std::string("the zebra of ") + id;
        found.hits.push_back(hit);
    }
    found.tasks = {running("7JJC0000"), ended("8KKD0000")};
    desk.answer(Purpose::texts, written(found));
    CHECK(desk.core.state().selected == "7JJC0000");
    CHECK_THAT(desk.screen(), Holds("ENDED 1") && Holds("the zebra of 7JJC0000") && Holds("the zebra of 8KKD0000"));
    desk.list({running("7JJC0000")}, 1);  // what the list asks again is not asked of the texts
    desk.pass(std::chrono::milliseconds(1));
    desk.answer(Purpose::search, written(rpc::TaskList::Reply{}));
    CHECK_FALSE(desk.has_sent(Purpose::texts));
    CHECK_THAT(desk.screen(), Holds("the zebra of 8KKD0000"));
    desk.press("Esc");
    desk.press("Esc");
    CHECK_THAT(desk.screen(), !Holds("the zebra"));
}

TEST_CASE("The texts of tasks are not searched if the list has what is looked for, or the text has changed") {
    Desk desk({running("7JJC0000")});
    desk.press("/");
    desk.type("7j");
    desk.pass(std::chrono::milliseconds(200));
    desk.answer(Purpose::search, written(rpc::TaskList::Reply{}));
    CHECK_FALSE(desk.has_sent(Purpose::texts));
    desk.type("x");
    desk.pass(std::chrono::milliseconds(200));
    desk.answer(Purpose::search, written(rpc::TaskList::Reply{}));
    CHECK(desk.has_sent(Purpose::texts));
    desk.type("y");
    rpc::TaskSearch::Reply found;
    found.hits.emplace_back().task = "7JJC0000";
    desk.answer(Purpose::texts, written(found));
    CHECK(desk.core.state().found_texts.empty());
    desk.pass(std::chrono::milliseconds(200));
    desk.answer(Purpose::search, written(rpc::TaskList::Reply{}));
    rpc::TaskSearch::Reply page;
    page.next = "there is more";
    desk.answer(Purpose::texts, written(page));
    CHECK_FALSE(desk.core.state().texts_searched);
    CHECK(desk.last(Purpose::texts).params.at("after") == "there is more");
    CHECK(desk.last(Purpose::texts).params.at("text") == "7jxy");
    desk.answer(Purpose::texts, written(rpc::TaskSearch::Reply{}));
    CHECK(desk.core.state().texts_searched);
    CHECK(desk.core.state().items.empty());
}

TEST_CASE("What an earlier search has found is not shown for the next one") {
    Desk desk({running("7JJC0000")});
    desk.press("/");
    desk.type("8");
    desk.pass(std::chrono::milliseconds(200));
    desk.type("9");
    rpc::TaskList::Reply found;
    found.tasks = {ended("89990000")};
    desk.answer(Purpose::search, written(found));
    CHECK_THAT(desk.screen(), !Holds("ENDED"));
    desk.pass(std::chrono::milliseconds(200));
    CHECK(desk.last(Purpose::search).params.at("search") == "89");
}

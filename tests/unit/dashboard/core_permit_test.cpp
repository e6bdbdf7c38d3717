// The page with a request of an agent's program: what it shows, and which keys answer it.
#include "client/dashboard/calls.hpp"
#include "common/base/text.hpp"
#include "common/rpc/permit_methods.hpp"
#include "tests/facts.hpp"
#include "tests/unit/dashboard/desk.hpp"

using namespace orange;
using namespace orange::tests;
using dashboard::Purpose;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds k_read{400};

rpc::TaskView permit_task(const std::string& id = "aaaa0000") {
    auto view = task_view(id, "working", Need::answer, {"attach", "send", "stop", "cancel", "allow", "deny"});
    view.worker = "alive";
    view.needs.permit = 2;
    view.needs.text = "claude asks to run: `npm install left-pad`";
    view.needs.command = OrangeCommand::from_text("orange task show " + id);
    return view;
}

rpc::PermitView permit_of(std::int64_t number, const std::string& request = "npm install left-pad", bool whole = true) {
    rpc::PermitView permit;
    permit.number = number;
    permit.harness = "claude";
    permit.tool = "Bash";
    permit.line = first_line(request);
    permit.request = request;
    permit.whole = whole;
    permit.since = k_desk_time;
    return permit;
}

struct PermitDesk : Desk {
    explicit PermitDesk(std::vector<rpc::PermitView> permits = {permit_of(2)}, int width = 80, int height = 24)
        : Desk({permit_task()}, width, height) {
        press("a");
        tell(std::move(permits));
    }
    /// The daemon's answer.
    void tell(std::vector<rpc::PermitView> permits, std::size_t host = 0) {
        rpc::TaskShow::Reply shown;
        shown.task = permit_task();
        shown.permits = std::move(permits);
        answer(Purpose::permit, written(shown), host);
    }
    /// The task has an event, and the daemon is asked again.
    void change(std::vector<rpc::PermitView> permits) {
        event("aaaa0000");
        pass(milliseconds(300));
        tell(std::move(permits));
    }
    bool is_open() const { return core.state().permit.has_value(); }
    std::int64_t number() const {
        return is_open() && core.state().permit->shown ? core.state().permit->shown->number : 0;
    }
    std::int64_t answered() const { return last(Purpose::act).params.at("number").get<std::int64_t>(); }
};

/// The rows of the request alone, put together again.
std::vector<std::string> request_in(const dashboard::PermitPage& page, std::size_t width) {
    const std::string first = " │ ", more = " │…";
    std::vector<std::string> lines;
    for (const auto& row : dashboard::permit_lines(page, width)) {
        const auto text = row.text();
        CHECK(row.width() <= width);
        if (text.starts_with(first)) lines.push_back(text.substr(first.size()));
        if (text.starts_with(more)) lines.back() += text.substr(more.size());
    }
    return lines;
}

}  // namespace

TEST_CASE("a shows a program's request whole, and y allows that one once") {
    PermitDesk desk;
    CHECK_FALSE(desk.core.state().prompt);
    const auto rows = desk.frame().rows;
    CHECK(trim(rows[1].text()) == "Request aaaa.2  rows 1-6 of 6");
    CHECK(trim(rows[2].text()) == "claude asks to use Bash");
    CHECK(trim(rows[6].text()) == "│ npm install left-pad");
    CHECK_THAT(desk.screen(), Holds("worker") && Holds("/home/w/aaaa0000") && Holds("Summary of aaaa0000"));
    desk.press("y");  // typed before it could be read
    CHECK(desk.methods().empty());
    CHECK_THAT(desk.footer(), !Holds("y allow") && Holds("n deny"));
    desk.pass(k_read);
    CHECK_THAT(desk.footer(), Holds("y allow"));
    desk.press("Enter");
    CHECK(desk.methods().empty());
    desk.press("y");
    CHECK(desk.methods() == std::vector<std::string>{"task.allow"});
    CHECK(desk.answered() == 2);
    CHECK(desk.last(Purpose::act).params.at("id") == "aaaa0000");
    CHECK_FALSE(desk.is_open());
    for (const char* key : {"e", "s", "y"}) desk.press(key);  // the rest of "yes"
    CHECK(desk.methods().size() == 1);
    CHECK(desk.outside.empty());
    CHECK_FALSE(desk.core.state().prompt);
    desk.answer(Purpose::act, Json{{"task", written(permit_task())}, {"notes", {"allowed request aaaa.2: Bash: npm"}}});
    CHECK_THAT(desk.screen(), Holds("allowed request aaaa.2: Bash: npm"));
    desk.pass(milliseconds(1100));
    desk.press("x");
    CHECK(desk.core.state().question);
}

TEST_CASE("The time when y counts is known before") {
    PermitDesk desk;
    REQUIRE(desk.core.next_time());
    desk.pass(std::chrono::duration_cast<milliseconds>(*desk.core.next_time() - desk.now.steady));
    CHECK_THAT(desk.footer(), Holds("y allow"));
}

TEST_CASE("y counts when the end of a long request was on the screen, and each of its lines can be read") {
    std::string request;
    for (int i = 0; request.size() < rpc::k_largest_request - 70; ++i)
        request += "line " + std::to_string(10'000 + i) + " " + std::string(50, '#') + "\n";
    PermitDesk desk({permit_of(2, request)});
    desk.pass(k_read);
    desk.press("y");
    CHECK(desk.methods().empty());
    CHECK(desk.core.state().message->bad);
    CHECK(desk.is_open());
    CHECK_THAT(desk.footer(), !Holds("y allow"));
    std::string seen;
    for (int page = 0; page < 200 && !holds(seen, "end of the request"); ++page) {
        seen += desk.screen();
        desk.press("J");
    }
    for (const auto line : split_lines(request)) CHECK(seen.find(line) != std::string::npos);
    desk.press("y");
    CHECK(desk.methods().empty());
    desk.pass(k_read);
    desk.press("g");  // it was seen
    desk.press("y");
    CHECK(desk.answered() == 2);
    PermitDesk other({permit_of(2, request)});
    other.press("G");
    other.pass(k_read);
    CHECK_THAT(other.screen(), Holds("end of the request"));
    other.press("y");
    CHECK(other.methods() == std::vector<std::string>{"task.allow"});
}

TEST_CASE("No part of a request is left out or hidden") {
    dashboard::PermitPage page;
    page.shown = permit_of(2);
    const std::string blanks(300, ' ');
    for (const std::string& request : {"true" + blanks + "; rm -rf /\n\n" + std::string(500, 'x') + "\n│ ──── │",
                                       std::string("\n\n end of the request\n")}) {
        page.shown->request = request;
        for (const std::size_t width : {40U, 80U, 200U}) {
            std::vector<std::string> wanted;
            for (const auto line : split(request, '\n')) wanted.emplace_back(line);
            CHECK(request_in(page, width) == wanted);
        }
    }
    page.shown->tool = "\x1b]0;title\x07";
    page.shown->request =
        "\x1b[31mrm\r\nx\u202ey\u200bz\u00a0a\u2800b\u3164c\ufe0fd\U000E0041e\u00adf\n\u0301g\u0301\u0301\u0301h\xff";
    std::string all;
    for (const auto& row : dashboard::permit_lines(page, 80)) all += row.text() + " ";
    for (const char* shown : {"\\x1b]0;title\\x07", "\\x1b[31mrm\\x0d", "x\\u202ey\\u200bz\\u00a0a\\u2800b\\u3164c",
                              "c\\ufe0fd\\U000e0041e\\u00adf", "\\u0301g", "\\u0301h\\xff"}) {
        CHECK_THAT(all, Holds(shown));
    }
    CHECK(std::ranges::none_of(all, [](unsigned char c) { return c < 0x20 || c == 0x7f; }));
}

TEST_CASE("The page has exact rows on every size of screen, whatever a request says") {
    const std::string evil =
        "\x1b[2J\t\u4e2d\u6587" + std::string(3000, 'w') + "\n" + std::string(400, '\n') + "\u202e";
    for (const auto& [width, height] : {std::pair(40, 8), std::pair(80, 24), std::pair(120, 40), std::pair(200, 50)}) {
        auto permit = permit_of(2, evil);
        permit.tool = permit.harness = evil;
        PermitDesk desk({permit, permit_of(3)}, width, height);
        for (const char* key : {"J", "Tab", "j", "Tab", "G"}) {
            const auto rows = desk.frame().rows;
            CHECK(rows.size() == static_cast<std::size_t>(height));
            for (const auto& row : rows) {
                CHECK(row.width() == static_cast<std::size_t>(width));
                CHECK(row.text().find('\x1b') == std::string::npos);
            }
            desk.press(key);
        }
    }
}

TEST_CASE("n denies with a text, and with the usual one without") {
    PermitDesk desk;
    desk.press("n");
    REQUIRE(desk.core.state().prompt);
    CHECK_THAT(desk.screen(), Holds("npm install left-pad"));
    desk.type("yes, but yarn");
    desk.press("Esc");
    CHECK(desk.methods().empty());
    CHECK(desk.is_open());
    desk.press("n");
    CHECK(desk.core.state().prompt->text == "yes, but yarn");
    desk.press("Enter");
    CHECK(desk.methods() == std::vector<std::string>{"task.deny"});
    CHECK(desk.answered() == 2);
    CHECK(desk.last(Purpose::act).params.at("text") == "yes, but yarn");
    CHECK_FALSE(desk.is_open());
    desk.answer(Purpose::act, Error(ErrorCode::not_found, "request aaaa.2 is over"));
    CHECK_THAT(desk.screen(), Holds("request aaaa.2 is over"));
    desk.press("a");
    desk.tell({permit_of(3)});
    desk.press("n");
    CHECK(desk.core.state().prompt->text.empty());  // that text was for another request
    desk.press("Enter");
    CHECK(desk.answered() == 3);
    CHECK(desk.last(Purpose::act).params.value("text", "").empty());
    CHECK_FALSE(desk.is_open());
}

TEST_CASE("A request that is not all there can be denied, and not allowed") {
    PermitDesk desk({permit_of(2, "npm install", false)});
    desk.pass(k_read);
    desk.press("G");
    desk.pass(k_read);
    CHECK_THAT(desk.footer(), !Holds("y allow"));
    desk.press("y");
    CHECK(desk.methods().empty());
    CHECK(desk.core.state().message->bad);
    desk.press("n");
    desk.type("in parts");
    desk.press("Enter");
    CHECK(desk.methods() == std::vector<std::string>{"task.deny"});
}

TEST_CASE("A request that is answered elsewhere takes no answer, and y for it never allows the next one") {
    PermitDesk desk;
    desk.pass(k_read);
    desk.change({permit_of(3, "rm -rf build")});
    CHECK(desk.core.state().message->bad);
    CHECK_THAT(desk.screen(), Holds("npm install") && !Holds("rm -rf build"));
    CHECK_THAT(desk.footer(), !Holds("y allow") && !Holds("n deny"));
    desk.pass(std::chrono::seconds(2));
    for (const char* key : {"y", "n", "y"}) desk.press(key);
    CHECK(desk.methods().empty());
    CHECK_FALSE(desk.core.state().prompt);
    CHECK(desk.number() == 2);
    desk.press("a");
    CHECK(desk.number() == 3);
    CHECK_THAT(desk.screen(), Holds("rm -rf build") && !Holds("npm install"));
    desk.press("y");
    CHECK(desk.methods().empty());
    desk.pass(k_read);
    desk.press("y");
    CHECK(desk.answered() == 3);

    PermitDesk last;
    last.change({});
    last.pass(k_read);
    last.press("y");
    CHECK(last.methods().empty());
    last.press("Esc");  // the error
    last.press("Esc");
    CHECK_FALSE(last.is_open());
    CHECK(last.outside.empty());

    PermitDesk gone;
    gone.event("aaaa0000");
    gone.pass(milliseconds(300));
    gone.answer(Purpose::permit, Error(ErrorCode::not_found, "no such task"));
    gone.pass(k_read);
    gone.press("y");
    CHECK(gone.methods().empty());

    PermitDesk typing;
    typing.press("n");
    typing.type("use yarn");
    typing.change({});
    CHECK_THAT(typing.screen(), Holds("> use yarn"));
    typing.press("Enter");
    CHECK(typing.methods().empty());
    typing.press("Esc");  // the error
    typing.press("Esc");
    typing.press("s");
    REQUIRE(typing.core.state().prompt);
    CHECK(typing.core.state().prompt->text == "use yarn");
}

TEST_CASE("Of several requests the oldest is shown, Tab goes to the next, and a new one changes nothing") {
    PermitDesk desk({permit_of(2), permit_of(4, "make")});
    CHECK_THAT(desk.screen(), Holds("aaaa.2  1 of 2") && Holds("Tab"));
    desk.pass(k_read);
    desk.press("Tab");
    CHECK_THAT(desk.screen(), Holds("aaaa.4  2 of 2") && Holds("│ make"));
    desk.press("y");
    CHECK(desk.methods().empty());
    desk.change({permit_of(4, "make"), permit_of(5)});
    CHECK_THAT(desk.screen(), Holds("aaaa.4  1 of 2"));
    CHECK_FALSE(desk.core.state().message);
    desk.press("y");
    CHECK(desk.answered() == 4);
}

TEST_CASE("A text that is typed at a request is neither an answer nor a command") {
    PermitDesk desk;
    desk.pass(k_read);
    desk.type("use yarn, q merely y");
    CHECK(desk.methods().empty());
    CHECK(desk.is_open());
    CHECK(desk.core.state().message->bad);
    desk.press("Enter");
    desk.press("y");
    CHECK(desk.answered() == 2);

    PermitDesk left;
    left.type("qxm");
    CHECK_FALSE(left.is_open());
    CHECK_FALSE(left.core.state().question);
    PermitDesk closed;
    closed.press("Esc");
    closed.press("x");
    CHECK(closed.core.state().question);
}

TEST_CASE("y for a question that stands over a request does not allow it") {
    PermitDesk desk;
    desk.press("Esc");
    desk.list({permit_task(), running("bbbb0000")});
    desk.press("G");
    REQUIRE(desk.core.state().selected == "bbbb0000");
    desk.press("m");
    desk.press("g");
    desk.press("a");
    desk.tell({permit_of(2)});
    desk.pass(k_read);
    CHECK_THAT(desk.footer(), Holds("y allow"));
    desk.answer(Purpose::act, Error(ErrorCode::needs_force, "it needs force", {{"question", "Merge it unreviewed?"}}));
    CHECK_THAT(desk.screen(), Holds("Merge it unreviewed?") && !Holds("npm install left-pad\n"));
    desk.press("y");
    CHECK(desk.methods() == std::vector<std::string>{"task.merge"});
    CHECK(desk.number() == 2);
    desk.press_at_once("y");
    CHECK(desk.methods().size() == 1);
    desk.pass(k_read);
    desk.press("y");
    CHECK(desk.methods() == std::vector<std::string>{"task.merge", "task.allow"});
}

TEST_CASE("The request of another machine's task is asked there, and answered there") {
    Desk::State state;
    state.hosts.push_back({"box"});
    Desk desk({}, 80, 24, state);
    desk.link(Desk::Link::State::up, 1);
    desk.core.set_heard(1, false, desk.now.wall);
    desk.answer(Purpose::subscribe, Json{{"cursor", "1"}, {"resync", false}}, 1);
    desk.list({permit_task()}, 0, 1);
    const auto tell = [&](std::int64_t number) {
        rpc::TaskShow::Reply shown;
        shown.task = permit_task();
        shown.permits = {permit_of(number)};
        desk.answer(Purpose::permit, written(shown), 1);
    };
    desk.press("a");
    tell(2);
    desk.pass(k_read);
    desk.link(Desk::Link::State::down, 1, "box: no answer");
    desk.press("y");
    CHECK(desk.methods().empty());
    CHECK(desk.core.state().message->bad);
    desk.link(Desk::Link::State::up, 1);
    desk.pass(k_read);
    tell(2);
    desk.press("y");
    CHECK(desk.last(Purpose::act).host == 1);
}

TEST_CASE("The key for a program's request stands first, and a task's own question keeps its key") {
    const auto rows = Desk({permit_task()}).frame().rows;
    CHECK(trim(rows[rows.size() - 2].text()).starts_with("a answer"));
    CHECK_THAT(Desk({permit_task()}).screen(), Holds("npm install left-pad"));
    auto both = permit_task();
    both.can.emplace_back("reply");
    both.needs.permit = 0;
    Desk desk({both});
    desk.press("a");
    CHECK(desk.core.state().prompt);
    CHECK_FALSE(desk.core.state().permit);
    Desk::State reader;
    reader.read_only = true;
    Desk reading({permit_task()}, 80, 24, reader);
    reading.press("a");
    CHECK_FALSE(reading.core.state().permit);
    CHECK(reading.core.state().message);
}

// The dashboard in real terminals: tmux plays the screen and the keyboard.
#include <chrono>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "common/base/text.hpp"
#include "tests/integration/stage.hpp"
#include "tests/unit/client/fake_daemon.hpp"

using namespace orange;
using namespace orange::tests;
namespace fs = std::filesystem;

namespace {

struct ThreeTasks {
    explicit ThreeTasks(Sandbox& box) {
        repository = box.add_project("shop", 3);
        asking = create(box, "Round the total demo:clarify", "round-the-total");
        box.wait_for_status(asking, "clarification");
        crashed = create(box, "Print the invoice demo:crash-always", "print-the-invoice");
        box.eventually("the worker has crashed", [&] { return needs(box, crashed) == Need::help; });
        reviewed = create(box, "Fix the login redirect", "fix-the-redirect");
        box.wait_for_status(reviewed, "reviewing");
        box.eventually("the reviewer has ended", [&] {
            return box.run_of(reviewed, "reviewer").is_null() && needs(box, reviewed) == Need::review;
        });
    }
    static std::string create(Sandbox& box, const std::string& summary, const std::string& branch) {
        rpc::TaskCreate params;
        params.project = "shop";
        params.summary = summary;
        params.branch = branch;
        return box.call(params).task.fields.id.value;
    }
    static Need needs(Sandbox& box, const std::string& id) {
        rpc::TaskShow show;
        show.id = id;
        return box.call(show).task.needs.kind;
    }
    fs::path repository;
    std::string asking, crashed, reviewed;
};

/// Ids and ages are of the day, the rest of a screen is not.
std::string steady(Sandbox& box, std::string text, const ThreeTasks& tasks) {
    const std::pair<std::string, std::string> names[] = {
        {tasks.asking, "ask0"}, {tasks.crashed, "cra0"}, {tasks.reviewed, "rev0"}};
    for (const auto& [id, name] : names) {
        text = std::regex_replace(text, std::regex(id), name + "00000000000000000");
        text = std::regex_replace(text, std::regex("\\b" + box.short_id(id) + "\\b"), name);
    }
    text = std::regex_replace(text, std::regex(" ( now|  [0-9][sm]| [0-9]{2}[sm])(?=[ │\n])"), "  age");
    text = std::regex_replace(text, std::regex("(busy|idle|waiting) [0-9][sm]"), "$1   ");
    text = std::regex_replace(text, std::regex("(busy|idle|waiting) [0-9]{2}[sm]"), "$1    ");
    return std::regex_replace(text, std::regex(" \\([0-9]+[sm]\\)"), "");
}

void check_snapshot(const std::string& name, const std::string& text) {
    const auto file = fs::path(ORANGE_SOURCE_DIR) / "tests/data/dashboard" / (name + ".txt");
    if (std::getenv("ORANGE_WRITE_VOICE")) {
        fs::create_directories(file.parent_path());
        write_file(file, text);
    }
    CHECK(text == read_file(file));
}

}  // namespace

TEST_CASE("The dashboard at 80x24, 120x40 and 200x50") {
    Sandbox box;
    const ThreeTasks tasks(box);
    box.eventually("the lines of the reviewed work are counted", [&] {
        rpc::TaskList list;
        list.changes = true;
        const auto reply = box.call(list);
        return std::ranges::any_of(reply.tasks,
                                   [](const auto& task) { return task.committed && task.committed->added == 1; });
    });
    for (const auto& [width, height] : {std::pair{80, 24}, {120, 40}, {200, 50}}) {
        Stage stage(box, tasks.repository, width, height);
        stage.start("NEEDS YOU 3");
        stage.press({"5"});
        if (width < 110) stage.press({"Escape"});
        stage.press({"G"});
        if (width >= 110) stage.wait_for("│" + box.short_id(tasks.reviewed) + " ");  // the pane is of the last task
        stage.wait_for("review: ");
        if (height >= 46) stage.wait_for("+- round 0");  // the second pane
        check_snapshot(std::to_string(width) + "x" + std::to_string(height), steady(box, stage.shown(), tasks));
    }
}

TEST_CASE("Three tasks are brought from a new repository to merged in the dashboard alone") {
    Sandbox box;
    const auto repository = box.make_repository("shop");
    Stage stage(box, repository, 120, 40);
    stage.start("There is no project yet");
    stage.press({"c"});
    stage.wait_for("Register it as a project?");
    stage.wait_for("y yes");
    stage.press({"y"});
    stage.wait_for("Registered " + repository.string() + " as project shop");
    stage.press({"Tab", "Tab", "Tab", "Tab", "Tab", "Tab"});
    while (stage.shown().find("< demo >") == std::string::npos) stage.press({"Right"});
    stage.press({"Up", "Up", "Up", "Up", "Up", "Up"});
    stage.letters("Nothing but a question demo:clarify");
    stage.press({"Enter"});
    stage.wait_for("answer ");
    stage.wait_for("demo:clarify: created");  // a later answer would take the place of what is said next
    stage.press({"x"});
    stage.wait_for("y yes");
    stage.press({"y"});
    stage.wait_for("ENDED 1");
    const auto create = [&](const std::string& summary, const std::string& branch) {
        stage.press({"c"});
        stage.wait_for("Create a task");
        stage.letters(summary);
        stage.press({"Tab", "Tab", "Tab", "Tab"});
        stage.letters(branch);
        stage.press({"Enter"});
        stage.wait_for(summary + ": created");  // a later answer would take the place of what is said next
    };
    const auto select = [&](const std::string& branch) {
        stage.press({"/"});
        stage.letters(branch);
        stage.press({"Enter"});
        stage.wait_for("1 of ");
    };
    const auto merge = [&](const std::string& branch) {
        stage.press({"m"});
        stage.wait_for("Merge " + branch + " into main?");
        stage.wait_for("y yes");
        stage.press({"y"});
        stage.wait_for("merged as");
        stage.press({"Escape"});
    };
    create("Round the total demo:clarify", "round");
    create("Print the invoice demo:fail-once", "print");
    create("Fix the redirect", "redirect");

    select("round");
    stage.wait_for("answer Round");
    stage.press({"a"});
    stage.letters("Half up, please");
    stage.press({"Enter"});
    stage.wait_for("answered");
    stage.wait_for("review Round");
    stage.press({"r"});
    stage.letters("Name the columns");
    stage.press({"Enter"});
    stage.wait_for("sent back");
    stage.wait_without("review Round");
    stage.wait_for("review Round");
    merge("round");
    for (const auto& [branch, word] : {std::pair{"print", "Print"}, {"redirect", "Fix"}}) {
        select(branch);
        stage.wait_for(std::string("review ") + word);
        merge(branch);
    }
    stage.wait_for("ENDED 4");
    rpc::TaskList list;
    list.all = true;
    const auto all = box.call(list).tasks;
    CHECK(std::ranges::count(all, "done", &rpc::TaskView::means) == 3);
    stage.press({"q"});
    stage.wait_for("status 0");
}

TEST_CASE("Enter opens the agent's terminal, the key gives it back, and the dashboard is as it was") {
    Sandbox box;
    const ThreeTasks tasks(box);
    Stage stage(box, tasks.repository);
    stage.start("NEEDS YOU 3");
    stage.press({"/"});
    stage.letters("round");
    stage.press({"Enter"});
    stage.wait_for("1 of 3");
    const auto before = stage.shown();
    for (int i = 0; i < 3; ++i) {
        stage.press({"Enter"});
        stage.wait_for("Ctrl-q leaves");
        stage.screen({"send-keys", "-t", "stage:", "C-q"});
        stage.wait_for("1 of 3");
        stage.wait_without("Ctrl-q leaves");
    }
    CHECK(steady(box, stage.shown(), tasks) == steady(box, before, tasks));
    stage.press({"o"});
    stage.wait_for("; type exit");
    stage.type("pwd; exit 3");
    stage.wait_for("1 of 3");
    stage.press({"Escape", "q"});
    stage.wait_for("status 0");
}

TEST_CASE("The dashboard leaves the terminal as it was, however it ends") {
    Sandbox box;
    const auto repository = box.add_project("shop");
    Stage stage(box, repository);
    stage.type("clear; stty -a | cksum; echo rea''dy");
    stage.wait_for("ready\n$");
    const auto modes = stage.modes();
    const auto settings = stage.shown();
    const auto check = [&](const std::string& how) {
        INFO(how);
        stage.wait_for("\nstatus ");
        stage.type("clear; stty -a | cksum; echo rea''dy");
        stage.wait_without("status");
        stage.wait_for("ready\n$");
        CHECK(stage.modes() == modes);
        CHECK(stage.shown() == settings);
    };
    for (const char* key : {"q", "C-c"}) {
        stage.start("no active tasks");
        CHECK(stage.modes() != modes);
        stage.screen({"send-keys", "-t", "stage:", key});
        check(key);
    }
    for (const char* name : {"TERM", "HUP", "QUIT", "SEGV", "ABRT"}) {
        stage.start("no active tasks",
                    "sh -c 'echo $$ > " + (box.root() / "pid").string() + "; exec orange-dashboard'");
        box.run({"kill", "-" + std::string(name), std::string(trim(read_file(box.root() / "pid")))});
        check(name);
    }
}

TEST_CASE("Suspended and woken up ten times, the dashboard draws at the size that there is then") {
    Sandbox box;
    const auto repository = box.add_project("shop");
    Stage stage(box, repository);
    const auto modes = stage.modes();
    stage.type("orange-dashboard");
    stage.wait_for("no active tasks");
    for (int i = 0; i < 10; ++i) {
        stage.screen({"send-keys", "-t", "stage:", "C-z"});
        stage.wait_for("Stopped");
        CHECK(stage.modes() == modes);
        stage.resize(i % 2 ? 80 : 100, i % 2 ? 24 : 30);
        stage.type("clear; fg");
        stage.wait_for("no active tasks");
        stage.wait_without("Stopped");
    }
    stage.press({"?", "Escape", "q"});
    CHECK(stage.patient([&] { return stage.modes() == modes; }));
}

TEST_CASE("After a storm of resizes the screen is what a new dashboard shows") {
    Sandbox box;
    const ThreeTasks tasks(box);
    Stage stage(box, tasks.repository, 120, 40);
    stage.start("NEEDS YOU 3", "LINES=10 COLUMNS=20 orange-dashboard");
    for (int i = 0; i < 60; ++i) stage.resize(20 + (i * 37) % 200, 4 + (i * 13) % 50);
    stage.resize(90, 30);
    stage.wait_for("q quit");
    stage.press({"C-l"});
    stage.wait_for(" Orange  shop");
    std::string after;  // once it stays
    CHECK(stage.patient([&] {
        const auto before = std::exchange(after, stage.shown());
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        return after == before;
    }));
    stage.press({"q"});
    stage.start("NEEDS YOU 3");
    stage.wait_for("q quit");
    CHECK(steady(box, stage.shown(), tasks) == steady(box, after, tasks));
}

TEST_CASE("The daemon is killed and comes back: the rows stay, and go on with the next daemon") {
    Sandbox box;
    const ThreeTasks tasks(box);
    Stage stage(box, tasks.repository);
    stage.start("NEEDS YOU 3");
    box.kill_daemon();
    stage.wait_for("The daemon does not run");
    CHECK_THAT(stage.shown(), Holds("NEEDS YOU 3"));
    stage.press({"j", "k"});
    box.start_daemon();
    stage.wait_without("The daemon does not run");
    box.call(rpc::TaskCancel{{tasks.crashed, {}}});
    stage.wait_for("NEEDS YOU 2");
    stage.press({"q"});
    stage.wait_for("status 0");
}

TEST_CASE("While the daemon stands still every key works, and a line says that what is shown may be old") {
    Sandbox box;
    const ThreeTasks tasks(box);
    Stage stage(box, tasks.repository);
    stage.start("NEEDS YOU 3");
    box.run({"kill", "-STOP", std::to_string(box.daemon_pid())});
    CHECK(stage.press_all({"w"})[0].shows == "page");
    CHECK(stage.press_all({"w", "j", "k", "x", "n", "G"})[3].shows == "question");
    stage.wait_for("The daemon does not answer");
    CHECK_THAT(stage.shown(), Holds("NEEDS YOU 3"));
    box.run({"kill", "-CONT", std::to_string(box.daemon_pid())});
    stage.wait_without("The daemon does not answer");
    stage.press({"q"});
    stage.wait_for("status 0");
}

TEST_CASE(
    "While nothing happens the dashboard asks nothing and draws nothing, and one changed row costs little more than "
    "itself") {
    Sandbox box;
    const ThreeTasks tasks(box);
    Stage stage(box, tasks.repository);
    stage.start("NEEDS YOU 3");
    // What has begun ends sooner or later, then comes a time without a request and a frame. A dashboard that asks or
    // draws by itself has none. A frame is allowed for the ages: each second in the first minute, then each minute.
    const auto becomes_quiet = [&] {
        const auto is_quiet = [&] {
            const auto requests = stage.traced("request "), frames = stage.traced("frame ");
            std::this_thread::sleep_for(std::chrono::seconds(4));
            return stage.traced("request ") == requests && stage.traced("frame ") <= frames + 6;
        };
        return stage.patient(is_quiet, 10);
    };
    CHECK(becomes_quiet());
    const auto bytes = stage.record();
    // Nor while it shows a screen to which nothing is written.
    stage.press({"g", "j", "1"});
    stage.wait_for("[1 screen]");
    CHECK(becomes_quiet());
    stage.press({"Escape", "G", "Space"});
    stage.wait_for("1 selected");
    stage.press({"Escape"});
    stage.wait_without("1 selected");
    const auto before = fs::file_size(bytes);
    rpc::TaskUpdate update;
    update.id = tasks.reviewed;
    update.summary = "Another summary of the same task";
    box.call(update);
    stage.wait_for("Another summary");
    CHECK(fs::file_size(bytes) - before <= 3 * 80);  // on a busy machine an age may change meanwhile
    stage.press({"q"});
}

TEST_CASE("The mouse selects, scrolls and opens, but not where a dashboard only looks or has no room") {
    Sandbox box;
    const ThreeTasks tasks(box);
    Stage stage(box, tasks.repository);
    const auto mouse = [&](int button, int row) {
        stage.bytes("\033[<" + std::to_string(button) + ";5;" + std::to_string(row) + "M");
    };
    const auto is_selected = [&](const std::string& id) { stage.wait_for("\n " + box.short_id(id) + "  "); };
    stage.start("NEEDS YOU 3");  // in the second row; below it the three, most urgent first
    mouse(0, 5);
    is_selected(tasks.reviewed);
    mouse(64, 4);
    is_selected(tasks.asking);
    mouse(0, 4);
    mouse(0, 4);
    stage.wait_for("Ctrl-q leaves");
    stage.screen({"send-keys", "-t", "stage:", "C-q"});
    stage.wait_for("NEEDS YOU 3");
    stage.resize(39, 7);
    stage.wait_for("39x7");
    stage.press({"x"});
    stage.resize(80, 24);
    stage.wait_for("NEEDS YOU 3");
    CHECK(stage.press_all({"Down"})[0].shows == "list");
    stage.press({"q"});
    stage.type("clear");
    stage.start("read-only", "orange-dashboard --read-only --no-mouse");
    CHECK_THAT(stage.modes(), Holds("1 0 0"));  // the alternate screen, and no mouse
    stage.press({"G"});
    for (const auto& pressed : stage.press_all({"Enter", "x", "a", "Down", "m", "o", "e", "c", "d"})) {
        CHECK(pressed.shows == (pressed.key == "Down" ? "list" : "error"));
        CHECK(pressed.programs.empty());
    }
    CHECK(box.status(tasks.reviewed) == "reviewing");
    stage.press({"q"});
    stage.wait_for("status 0");
}

TEST_CASE("With many thousands of tasks a key costs what it costs with ten, and memory stays small") {
    Sandbox box;
    const auto repository = box.add_project("shop");
    box.create("shop", "A summary of the usual length, as people write it", true);
    const auto real = box.call(rpc::TaskList{});
    box.stop_daemon();
    Stage stage(box, repository);
    const auto pid_file = box.root() / "pid";
    const auto costs = [&](std::size_t count) {
        auto list = real;
        list.tasks.assign(count, real.tasks.at(0));
        for (std::size_t n = 0; n < count; ++n) {
            auto& fields = list.tasks[n].fields;
            fields.updated_at -= std::chrono::hours(1);  // an age in seconds would be drawn anew each second
            list.tasks[n].needs.since -= std::chrono::hours(1);
            fields.id.value = std::to_string(100'000 + n) + fields.id.value.substr(6);
            list.tasks[n].short_id = fields.id.value.substr(0, 6);
            fields.branch = "branch-" + std::to_string(100'000 + n);
        }
        const auto tasks = written(list);
        fs::remove(box.home() / "orange.sock");
        const test::FakeDaemon daemon(box.home() / "orange.sock", [&](const Json& request) {
            const bool lists = request.at("method") == rpc::TaskList::k_name;
            return std::vector{test::FakeDaemon::reply(request, lists ? tasks : Json::object())};
        });
        stage.type("clear");
        stage.start(std::to_string(count) + " active",
                    "sh -c 'echo $$ > " + pid_file.string() + "; export ORANGE_NO_AUTOSTART=1; exec orange-dashboard'");
        stage.press({"f", "f", "f", "f"});  // lists it anew, and again
        stage.press_all({"g"});
        const auto before = fs::file_size(stage.trace());
        const auto bytes = stage.record();
        stage.press({"j", "j", "k", "k", "j"});
        std::size_t sent = 0;  // once all of it has come
        CHECK(stage.patient([&] {
            const auto size = fs::file_size(bytes);
            return std::exchange(sent, size) == size && size > 0;
        }));
        std::istringstream trace(read_file(stage.trace()).substr(before));
        int rows = 0;
        for (std::string line; std::getline(trace, line);) {
            if (line.starts_with("frame tasks=")) rows = std::max(rows, std::stoi(line.substr(12)));
        }
        CHECK(rows <= 24);
        const auto status = read_file("/proc/" + std::string(trim(read_file(pid_file))) + "/status");
        const auto resident = std::stol(status.substr(status.find("VmRSS:") + 6));
#ifndef __SANITIZE_ADDRESS__
        CHECK(resident <= 40 * 1024);
#else
        CHECK(resident > 0);
#endif
        stage.press({"q"});
        stage.wait_for("status 0");
        return sent;
    };
    const auto few = costs(10), many = costs(10'000);
    CHECK(many <= few + few / 4);
    box.start_daemon();
}

TEST_CASE("Hostile texts reach the terminal as text: only known sequences are sent") {
    Sandbox box;
    const auto repository = box.add_project("shop", 2);
    rpc::TaskCreate create;
    create.project = "shop";
    create.summary =
        "a\tb \x1b[31mred\x1b]0;title\x07 \xe2\x80\xae rtl \xc2\x9b"
        "2J 日本 👨\xe2\x80\x8d👩 demo:clarify";
    create.context = "\x1b[2J\x1b[?1003h and " + std::string(3000, 'x');
    const auto made = box.try_call(create);
    const auto id = made ? made->task.fields.id.value : box.create("shop", "plain demo:clarify");
    box.wait_for_status(id, "clarification");
    write_file(box.worktree(id) / "odd.txt", "\x1b[2J\x1b]52;c;eA==\x07\n");
    Stage stage(box, repository, 120, 40);
    const auto bytes = stage.record();
    stage.start("NEEDS YOU 1");
    for (const char* pane : {"2", "3", "4", "5", "1"}) {
        stage.press({pane});
        stage.patient([] { return false; }, 10);
    }
    stage.press({"q"});
    stage.wait_for("status 0");
    const auto sent = read_file(bytes);
    // ncurses' own for xterm and tmux, and the modes of the dashboard.
    static const std::regex sequence(
        "\x1b(\\[[?<>]?[0-9;]*[A-Za-z@`]|[()][A-Z0-9]|[=>78cMHD]|\\]2;([0-9]+ needs? you · )?Orange\x07)");
    static const std::set<std::string> modes = {"\x1b[?1000h", "\x1b[?1000l", "\x1b[?1006h", "\x1b[?1006l",
                                                "\x1b[?2004h", "\x1b[?2004l", "\x1b[?1049h", "\x1b[?1049l",
                                                "\x1b[?25h",   "\x1b[?25l",   "\x1b[?12l",   "\x1b[?12h",
                                                "\x1b[?1h",    "\x1b[?1l",    "\x1b[<u",     "\x1b[?7h"};
    for (auto at = sent.find('\x1b'); at != std::string::npos; at = sent.find('\x1b', at + 1)) {
        std::smatch found;
        const auto rest = sent.substr(at, 40);
        const bool known = std::regex_search(rest, found, sequence, std::regex_constants::match_continuous);
        INFO(printable(rest));
        REQUIRE(known);
        if (found.str().starts_with("\x1b[?")) CHECK(modes.contains(found.str()));
    }
}

TEST_CASE("Terminals without colours, without UTF-8 or without a cursor get what they can show") {
    Sandbox box;
    const ThreeTasks tasks(box);
    Stage stage(box, tasks.repository);
    // From its mark to its age the selected row has one look, which is reverse and no colour: it is readable on every
    // background.
    const auto selected_row_has_one_look = [&] {
        const auto shown = stage.shown(true);
        const auto mark = std::min(shown.find("> "), shown.size()), begin = shown.rfind('\n', mark) + 1,
                   end = shown.find('\n', mark);
        const auto row = shown.substr(mark, end - mark), before = shown.substr(begin, mark - begin);
        return std::regex_search(before, std::regex("\x1b\\[(0;)?7m(\x1b\\[[34]9m)*$")) &&
               std::regex_search(row, std::regex("^[^\x1b]*(now|[0-9][sm])(\x1b\\[[0-9;]*m)*$"));
    };
    stage.start("NEEDS YOU 3", "NO_COLOR=1 orange-dashboard");
    CHECK(stage.patient(selected_row_has_one_look));
    CHECK_FALSE(std::regex_search(stage.shown(true), std::regex("\x1b\\[(3[0-8]|4[0-8]|9[0-7])[;m]")));
    stage.press({"q"});
    stage.type("clear");
    stage.start("NEEDS YOU 3", "LC_ALL=C orange-dashboard");
    for (const unsigned char c : stage.shown()) CHECK(c < 0x80);
    stage.press({"q"});
    write_file(box.root() / "terminfo.src", "sixteen-colours, colors#16, pairs#256, use=xterm-256color,\n");
    box.run({"/usr/bin/tic", "-o", (box.root() / "terminfo").string(), (box.root() / "terminfo.src").string()});
    stage.type("export TERMINFO=" + (box.root() / "terminfo").string());
    for (const char* term : {"linux", "vt100", "screen", "tmux-256color", "xterm", "sixteen-colours"}) {
        stage.type("clear");
        stage.start("NEEDS YOU 3", "TERM=" + std::string(term) + " orange-dashboard");
        stage.press({"j"});
        INFO(term);
        CHECK(stage.patient(selected_row_has_one_look));
        stage.press({"q"});
    }
    for (const char* term : {"dumb", "no-such-terminal", ""}) {
        stage.type("clear");
        stage.start("status 1", "TERM=" + std::string(term) + " orange-dashboard");
        CHECK_THAT(stage.shown(), Holds("orange inbox"));
    }
}

TEST_CASE("orange alone on a terminal is the dashboard, and the help page elsewhere") {
    Sandbox box;
    const auto repository = box.add_project("shop");
    Stage stage(box, repository);
    stage.start("no active tasks", "orange");
    stage.press({"q"});
    stage.wait_for("status 0");
    stage.type("clear");
    stage.start("no active tasks", "orange dashboard --everywhere");
    stage.press({"q"});
    stage.wait_for("status 0");
    for (const char* command : {"TERM=dumb orange", "orange | cat", "orange </dev/null", "ORANGE_TASK=x orange"}) {
        stage.type("clear");
        stage.start("status 0", command);
        CHECK_THAT(stage.shown(), Holds("orange inbox") || Holds("orange completion"));
    }
    const auto ran = box.orange({"dashboard"});
    CHECK(ran.status == 1);
    CHECK_THAT(ran.err, Tells("orange inbox"));
}

TEST_CASE("While it connects every key works") {
    Sandbox box;
    const auto repository = box.add_project("shop");
    // The next daemon waits for the end of this one, which holds the home.
    box.run({"kill", "-STOP", std::to_string(box.daemon_pid())});
    fs::remove(box.home() / "orange.sock");
    Stage stage(box, repository);
    stage.start("Connecting to the daemon", "unset ORANGE_NO_AUTOSTART; orange-dashboard");
    stage.press({"?"});
    stage.wait_for("Open a shell");
    stage.press({"Escape", "q"});
    stage.wait_for("status 0");
    CHECK_THAT(read_file(box.home() / "oranged.out"), !Holds("exited"));  // the start goes on
    box.kill_daemon();
    // The one that the dashboard started begins: another one beside it would take turns with it.
    box.eventually("the daemon that waited has begun", [&] { return box.orange({"daemon", "status"}).status == 0; });
    CHECK(box.orange({"daemon", "start"}).status == 0);
    CHECK(box.orange({"daemon", "stop"}).status == 0);
    box.start_daemon();
}

TEST_CASE("A dashboard without a daemon starts one, which stays when it quits") {
    Sandbox box;
    const auto repository = box.add_project("shop");
    box.stop_daemon();
    Stage stage(box, repository);
    stage.start("orange daemon start", "ORANGE_NO_AUTOSTART=1 orange-dashboard");
    stage.press({"q"});
    stage.type("clear");
    stage.start("no active tasks", "unset ORANGE_NO_AUTOSTART; orange-dashboard");
    stage.press({"q"});
    stage.wait_for("status 0");
    CHECK(box.orange({"daemon", "stop"}).status == 0);
    box.start_daemon();
}

TEST_CASE("task.diff gives the changes themselves, and task.peek the colours of the screen, if they are asked for") {
    Sandbox box;
    const ThreeTasks tasks(box);
    rpc::TaskDiff diff;
    diff.id = tasks.reviewed;
    CHECK(box.call(diff).text.empty());
    diff.patch = true;
    const auto shown = box.call(diff);
    CHECK_THAT(shown.text, Holds("\n+"));
    CHECK_THAT(shown.stat, Holds("|"));
    CHECK_FALSE(shown.cut);
    rpc::TaskPeek peek;
    peek.id = tasks.reviewed;
    CHECK(box.call(peek).text.find('\x1b') == std::string::npos);
    peek.colours = true;
    CHECK_FALSE(box.call(peek).text.empty());
    rpc::TaskShow show;
    show.id = tasks.reviewed;
    const auto can = box.call(show).task.can;
    CHECK(std::ranges::find(can, "merge") != can.end());
}

TEST_CASE("task.list searches ended tasks, too, and project.list says where pull requests are") {
    Sandbox box;
    const auto repository = box.add_project("shop");
    const auto kept = box.create("shop", "Round the Total", true), ended = box.create("shop", "Round the edges", true);
    box.call(rpc::TaskCancel{{ended, {}}});
    rpc::TaskList list;
    list.search = "round";
    auto reply = box.call(list);
    REQUIRE(reply.tasks.size() == 1);
    CHECK(reply.tasks[0].fields.id.value == kept);
    CHECK(reply.hidden == 1);
    list.all = true;
    CHECK(box.call(list).tasks.size() == 2);
    list.search = "Total";
    CHECK(box.call(list).tasks.size() == 1);
    list.search = "TOTAL";
    CHECK(box.call(list).tasks.empty());
    list.search = ended.substr(2, 15);
    CHECK(box.call(list).tasks.size() == 1);

    rpc::ProjectList projects;
    CHECK(box.call(projects).projects.at(0).place.empty());
    projects.places = true;
    CHECK(box.call(projects).projects.at(0).place == "none");
    box.add_origin(repository);
    CHECK(box.call(projects).projects.at(0).place == "other");
    box.git({"remote", "set-url", "origin", "https://github.com/acme/shop.git"}, repository);
    CHECK(box.call(projects).projects.at(0).place == "github");
}

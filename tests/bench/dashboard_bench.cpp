// Measures how long the dashboard takes to its first frame and to its list, a key to its frame and to the next task's
// pane, with few tasks and with many, what it costs to hold them, and a key in a long diff with comments. Rows with
// "first frame" and "pane" are of the real program, against a server that answers at once.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "client/dashboard/calls.hpp"
#include "client/dashboard/core.hpp"
#include "client/dashboard/view.hpp"
#include "common/rpc/task_queries.hpp"
#include "tests/unit/client/fake_daemon.hpp"

using namespace orange;
using namespace orange::dashboard;
using Steady = std::chrono::steady_clock;

namespace {

rpc::TaskView view_number(std::size_t number) {
    rpc::TaskView view;
    view.fields.id.value = "id" + std::to_string(1'000'000 + number) + "xxxxxxxxxxxx";
    view.short_id = view.fields.id.value.substr(0, 9);
    view.fields.project = "shop";
    view.fields.branch = "branch-" + std::to_string(number);
    view.fields.summary = "A summary of the usual length, number " + std::to_string(number);
    view.fields.workflow = "default";
    view.fields.harness = view.fields.review_harness = "claude";
    view.fields.status = "working";
    view.worker = "alive";
    view.reviewer = "none";
    view.path = "/home/somebody/orange/tasks/shop/" + view.fields.id.value;
    view.worktree = "/home/somebody/orange/workspaces/shop--" + std::to_string(number % 64);
    view.can = {"attach", "send", "stop", "restart", "force_merge", "create_pr", "update_branch", "cancel", "delete"};
    return view;
}

long resident_kib(const std::string& process = "self") {
    std::ifstream status("/proc/" + process + "/status");
    for (std::string word; status >> word;) {
        long kib = 0;
        if (word == "VmRSS:" && status >> kib) return kib;
    }
    return 0;
}

/// As the connection reads it.
Answer answer_in(const std::string& line) {
    Answer answer;
    auto message = read_message(line, answer);
    if (message) answer.json = std::move((*message)["result"]);
    return answer;
}

double microseconds(Steady::duration time, int runs) {
    return std::chrono::duration<double, std::micro>(time).count() / runs;
}

void measure(std::size_t count) {
    rpc::TaskList::Reply list;
    for (std::size_t i = 0; i < count; ++i) list.tasks.push_back(view_number(i));
    const auto line = dump({{"id", 1}, {"result", written(list)}});
    list = {};
    Core core{State{}};
    Moment now{Steady::now(), {}};
    (void)core.on_resize(120, 40, now);
    (void)core.on_link(Link::State::up, "", now);
    Request request;
    request.purpose = Purpose::list;
    const auto begin = Steady::now();
    (void)core.on_reply(request, answer_in(line), now);
    const auto listed = Steady::now() - begin;
    constexpr int k_runs = 2000;
    std::size_t drawn = 0;
    const auto keys = Steady::now();
    for (int i = 0; i < k_runs; ++i) {
        (void)core.on_input({Input::What::key, i % 2 ? "k" : "j"}, now);
        core.prepare();
        drawn += draw(core.state(), now.wall).tasks_drawn;
    }
    const auto spent = Steady::now() - keys;
    std::printf("%6zu tasks   list %9.1f us   key to frame %7.1f us   rows a frame %zu\n", count,
                microseconds(listed, 1), microseconds(spent, k_runs), drawn / k_runs);
}

/// From a key to its frame in a diff of 5,000 lines with 200 comments, over the whole screen.
void review() {
    constexpr int k_lines = 5000, k_comments = 200, k_runs = 2000;
    rpc::TaskDiff::Reply diff;
    diff.changes = {1, 1, k_lines, 0, false};
    diff.text = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1," + std::to_string(k_lines) + " @@\n";
    for (int i = 1; i <= k_lines; ++i)
        diff.text += "+    a line of the usual length, number " + std::to_string(i) + "\n";
    for (int i = 1; i <= k_comments; ++i) {
        auto& comment = diff.comments.emplace_back();
        comment.number = i;
        comment.state = "draft";
        comment.place = "here";
        comment.path = "x";
        comment.line = comment.end = i * (k_lines / k_comments);
        comment.turns.push_back({"Why is this line as it is, and not as the others?", {}, {}, {}});
    }
    rpc::TaskList::Reply list;
    list.tasks.push_back(view_number(0));
    Core core{State{}};
    Moment now{Steady::now(), {}};
    (void)core.on_resize(120, 40, now);
    (void)core.on_link(Link::State::up, "", now);
    Request request;
    request.purpose = Purpose::list;
    (void)core.on_reply(request, answer_in(dump({{"id", 1}, {"result", written(list)}})), now);
    const Json reply = written(diff);
    const auto asked = core.on_input({Input::What::key, "C"}, now).requests;
    for (const auto& each : asked) {
        if (each.purpose == Purpose::diff) (void)core.on_reply(each, Answer(reply), now);
    }
    const auto begin = Steady::now();
    core.prepare();
    const auto laid_out = Steady::now() - begin;
    std::vector<double> took;
    for (int i = 0; i < k_runs; ++i) {
        constexpr const char* k_keys[] = {"j", "C-d", "G", "k", "C-u", "g", "}"};
        const auto pressed = Steady::now();
        (void)core.on_input({Input::What::key, k_keys[i % 7]}, now);
        core.prepare();
        (void)draw(core.state(), now.wall);
        took.push_back(microseconds(Steady::now() - pressed, 1000));
    }
    std::ranges::sort(took);
    std::printf("%6d lines with %d comments   laid out %5.1f ms   key to frame: median %5.2f ms   longest %5.2f ms\n",
                k_lines, k_comments, microseconds(laid_out, 1000), took[took.size() / 2], took.back());
}

/// The real program on a terminal of its own.
class Started {
  public:
    explicit Started(const std::string& home) : master_(::posix_openpt(O_RDWR | O_NOCTTY)) {
        ::grantpt(master_);
        ::unlockpt(master_);
        const winsize size{40, 120, 0, 0};
        ::ioctl(master_, TIOCSWINSZ, &size);
        const std::string path = ::ptsname(master_);
        begin_ = Steady::now();
        process_ = ::fork();
        if (process_ != 0) return;
        ::setsid();
        const int slave = ::open(path.c_str(), O_RDWR);
        for (const int end : {0, 1, 2}) ::dup2(slave, end);
        ::setenv("ORANGE_HOME", home.c_str(), 1);
        ::setenv("TERM", "xterm-256color", 1);
        std::string program = ORANGE_BINARY_DIR "/bin/orange-dashboard", everywhere = "--everywhere";
        char* argv[] = {program.data(), everywhere.data(), nullptr};
        ::execv(program.c_str(), argv);
        ::_exit(127);
    }
    ~Started() {
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
        ::close(master_);
    }
    Started(const Started&) = delete;
    Started& operator=(const Started&) = delete;

    /// Until that text has been sent to the terminal.
    double milliseconds_until(const std::string& text) {
        char bytes[65536];
        while (seen_.find(text) == std::string::npos) {
            const auto n = ::read(master_, bytes, sizeof bytes);
            if (n <= 0) return -1;
            seen_.append(bytes, static_cast<std::size_t>(n));
        }
        return microseconds(Steady::now() - begin_, 1000);
    }
    /// The time from a key to that text.
    double milliseconds_from(const std::string& key, const std::string& text) {
        seen_.clear();
        begin_ = Steady::now();
        if (::write(master_, key.data(), key.size()) < 0) return -1;
        return milliseconds_until(text);
    }
    long resident() const { return resident_kib(std::to_string(process_)); }

  private:
    int master_ = -1;
    pid_t process_ = -1;
    std::string seen_;
    Steady::time_point begin_{};
};

void start(std::size_t count) {
    test::TemporaryFolder folder;
    rpc::TaskList::Reply list;
    for (std::size_t i = 0; i < count; ++i) list.tasks.push_back(view_number(i));
    const auto tasks = written(list);
    test::FakeDaemon daemon(folder.path() / "orange.sock", [&](const Json& request) {
        const bool lists = request.at("method") == rpc::TaskList::k_name;
        return std::vector{test::FakeDaemon::reply(request, lists ? tasks : Json::object())};
    });
    Started dashboard(folder.path());
    const auto first = dashboard.milliseconds_until("Orange"), listed = dashboard.milliseconds_until(" active task");
    (void)dashboard.milliseconds_until("branch-" + std::to_string(std::min<std::size_t>(count, 20) - 1));
    std::printf("%6zu tasks   first frame %5.1f ms   list %7.1f ms   resident %ld KiB\n", count, first, listed,
                dashboard.resident());
}

/// A text that differs in every column from that of the task before: ncurses sends only what has changed.
std::string screen_number(std::size_t number) {
    std::string text;
    for (std::size_t i = 0; i < 12; ++i) text += static_cast<char>('a' + (number + i) % 26);
    return text;
}

/// From j to the pane of the next task, again and again, as a person presses it.
void follow() {
    constexpr std::size_t k_moves = 25;
    test::TemporaryFolder folder;
    rpc::TaskList::Reply list;
    for (std::size_t i = 0; i <= k_moves; ++i) list.tasks.push_back(view_number(i));
    const auto tasks = written(list);
    test::FakeDaemon daemon(folder.path() / "orange.sock", [&](const Json& request) {
        const bool lists = request.at("method") == rpc::TaskList::k_name;
        const auto id = request.value("params", Json::object()).value("id", std::string("id1000000"));
        const auto number = std::stoul(id.substr(2, 7)) - 1'000'000;
        const Json screen = {{"role", "worker"}, {"text", screen_number(number) + "\n"}};
        return std::vector{test::FakeDaemon::reply(request, lists ? tasks : screen)};
    });
    Started dashboard(folder.path());
    (void)dashboard.milliseconds_until(screen_number(0));
    std::vector<double> took;
    for (std::size_t i = 1; i <= k_moves; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        took.push_back(dashboard.milliseconds_from("j", screen_number(i)));
    }
    std::ranges::sort(took);
    std::printf("pane of the next task: median %5.1f ms   longest %5.1f ms\n", took[took.size() / 2], took.back());
}

/// What stays after ENDED was unfolded to its end, and folded again: each page is all of the ended tasks so far.
void unfold(std::size_t count) {
    Core core{State{}};
    Moment now{Steady::now(), {}};
    std::deque<Request> sent;
    const auto take = [&](Effects effects) {
        for (auto& request : effects.requests) sent.push_back(std::move(request));
    };
    take(core.on_resize(120, 40, now));
    take(core.on_link(Link::State::up, "", now));
    const auto answer = [&] {
        for (; !sent.empty(); sent.pop_front()) {
            if (sent.front().purpose != Purpose::list) continue;
            rpc::TaskList::Reply list;
            const auto wanted = sent.front().params.value("limit", 0);
            for (std::size_t i = 0; i < count && i < static_cast<std::size_t>(wanted); ++i) {
                list.tasks.push_back(view_number(i));
                list.tasks.back().means = "done";
            }
            take(core.on_reply(sent.front(), answer_in(dump({{"id", 1}, {"result", written(list)}})), now));
        }
    };
    answer();
    for (int i = 0; i < 3; ++i) take(core.on_input({Input::What::key, "f"}, now));
    std::size_t before = 1;
    while (before != core.state().tasks.size()) {
        before = core.state().tasks.size();
        now.steady += std::chrono::seconds(1);
        take(core.on_time(now));
        answer();
        take(core.on_input({Input::What::key, "G"}, now));
    }
    std::printf("%6zu ended   unfolded %zu   resident %ld KiB", count, core.state().tasks.size(), resident_kib());
    for (int i = 0; i < 2; ++i) take(core.on_input({Input::What::key, "f"}, now));
    now.steady += std::chrono::seconds(1);
    take(core.on_time(now));
    answer();
    std::printf("   folded %zu   resident %ld KiB\n", core.state().tasks.size(), resident_kib());
}

}  // namespace

int main(int argc, char**) {
    if (argc > 1) {  // in a process of its own: what was resident before stays so
        unfold(10'000);
        return 0;
    }
    measure(10);
    measure(10'000);
    review();
    start(10);
    start(10'000);
    follow();
}

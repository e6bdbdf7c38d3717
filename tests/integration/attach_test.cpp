// `orange task attach` in a real terminal: a pane of a tmux that plays the screen and the keyboard.
#include "common/base/text.hpp"
#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

using namespace orange;
using namespace orange::tests;
namespace fs = std::filesystem;

namespace {

/// A screen of 80 columns with a shell in it, or with the user's own tmux and a shell in that.
class Desk {
  public:
    Desk(Sandbox& box, const fs::path& cwd, const std::string& command) : box_(box) {
        screen(
            {"new-session", "-d", "-x", "80", "-y", "24", "-c", cwd.string(), "-s", "desk", "--", "sh", "-c", command});
    }
    ~Desk() {
        for (const char* socket : {"user.sock", "screen.sock"}) on(socket, {"kill-server"});
        box_.eventually("the tmux servers are gone", [&] {
            return on("screen.sock", {"list-sessions"}).status != 0 && on("user.sock", {"list-sessions"}).status != 0;
        });
    }
    Desk(const Desk&) = delete;
    Desk& operator=(const Desk&) = delete;

    Ran screen(std::vector<std::string> args) { return on("screen.sock", std::move(args)); }
    void type(const std::string& line) { screen({"send-keys", "-t", "desk:", line, "Enter"}); }
    void press(const std::string& key) { screen({"send-keys", "-t", "desk:", key}); }
    std::string shown() { return screen({"capture-pane", "-p", "-J", "-t", "desk:"}).out; }
    void wait_for(const std::string& text) {
        box_.eventually("the screen shows " + text + ":\n" + shown(),
                        [&] { return shown().find(text) != std::string::npos; });
    }
    void wait_for_clients(std::size_t count) {
        box_.eventually("clients of Orange's tmux: " + std::to_string(count), [&] {
            const auto all = box_.tmux({"list-clients", "-F", "#{client_tty}"});
            // Not the daemon's own, which watches the windows and has no terminal.
            const auto lines = split_lines(all.out);
            return static_cast<std::size_t>(std::count_if(
                       lines.begin(), lines.end(), [](const auto& line) { return line.starts_with('/'); })) == count;
        });
    }
    Ran on(const std::string& socket, std::vector<std::string> args) {
        args.insert(args.begin(), {"tmux", "-S", (box_.root() / socket).string(), "-f", "/dev/null"});
        return box_.try_run(args);
    }

  private:
    Sandbox& box_;
};

std::string users_tmux(const Sandbox& box) {
    return "env -u TMUX tmux -S " + (box.root() / "user.sock").string() + " -f /dev/null new-session sh";
}

/// A task whose agent has asked its question and waits.
std::string task_with_agent(Sandbox& box) {
    box.add_project("shop");
    const auto id = box.create("shop", "Round the total demo:clarify");
    box.wait_for_status(id, "clarification");
    return id;
}

}  // namespace

TEST_CASE("attach takes the terminal, and the key gives it back") {
    Sandbox box;
    const auto id = task_with_agent(box);
    Desk desk(box, box.worktree(id), "exec sh");
    desk.type("env -u TMUX orange task attach; echo status $?");
    desk.wait_for("Ctrl-q leaves");
    desk.wait_for_clients(1);
    desk.press("C-q");
    desk.wait_for("status 0");
    desk.wait_for_clients(0);
}

TEST_CASE("attach with a TERM that this machine does not know names one that it knows, and that one works") {
    Sandbox box;
    const auto id = task_with_agent(box);
    Desk desk(box, box.worktree(id), "exec sh");
    desk.type("clear; env -u TMUX TERM=no-such-terminal orange task attach " + id + "; echo status $?");
    desk.wait_for("status 1");
    CHECK_THAT(desk.shown(), Tells("xterm-256color") && Tells("orange attach " + id));
    desk.type("clear; env -u TMUX TERM=dumb orange task attach " + id + "; echo ended $?");
    desk.wait_for("ended 1");
    CHECK_THAT(desk.shown(), Tells("orange peek"));
    desk.type("env -u TMUX TERM=xterm-256color orange task attach " + id + "; echo status $?");
    desk.wait_for("Ctrl-q leaves");
    desk.press("C-q");
    desk.wait_for("status 0");
}

TEST_CASE("inside the user's own tmux, attach opens a popup, which the key and the prefix leave") {
    Sandbox box;
    const auto id = task_with_agent(box);
    Desk desk(box, box.worktree(id), users_tmux(box));
    for (const bool by_prefix : {false, true}) {
        desk.type("clear; orange task attach; echo status $?");
        desk.wait_for("Ctrl-q leaves");
        desk.wait_for("┌────");  // a popup's frame
        desk.wait_for_clients(1);
        if (by_prefix) desk.press("C-b");
        desk.press(by_prefix ? "d" : "C-q");
        desk.wait_for("status 0");
        desk.wait_for_clients(0);
        CHECK(desk.on("user.sock", {"list-clients", "-F", "#{session_name}"}).out == "0\n");
    }
}

TEST_CASE("a tmux that opens no popup gets the terminal nested, and its last line names the key that leaves") {
    Sandbox box;
    const auto id = task_with_agent(box);
    Desk desk(box, box.worktree(id), users_tmux(box));
    SECTION("because it already shows one") {
        desk.type("tmux display-popup -E -w 100% -h 100% sh");
        desk.wait_for("┌────");
    }
    SECTION("because it is too old") {
        const auto old = box.root() / "old";
        fs::create_directories(old);
        write_file(old / "tmux",
                   "#!/bin/sh\nPATH=${PATH#*:}\ncase $1 in\n    display-popup) echo 'unknown command: display-popup' "
                   ">&2; exit 1;;\nesac\nexec tmux \"$@\"\n");
        fs::permissions(old / "tmux", fs::perms::owner_all);
        desk.type("PATH=" + old.string() + ":$PATH");
    }
    desk.type("orange task attach; echo status $?");
    desk.wait_for("Ctrl-q leaves");
    desk.wait_for_clients(1);
    desk.press("C-q");
    desk.wait_for("status 0");
    desk.wait_for_clients(0);
}

TEST_CASE("detach_key of config.yml is bound, and a reload binds another one") {
    Sandbox box("detach_key: M-x\n");
    const auto id = task_with_agent(box);
    rpc::TaskAttach params;
    params.id = id;
    CHECK(box.call(params).detach_key == "Alt-x");
    Desk desk(box, box.worktree(id), "exec sh");
    desk.type("env -u TMUX orange task attach; echo status $?");
    desk.wait_for("Alt-x leaves");
    desk.press("M-x");
    desk.wait_for("status 0");
    write_file(box.home() / "config.yml", "detach_key: F12\n");
    box.call(rpc::DaemonReload{});
    desk.type("clear; env -u TMUX orange task attach; echo status $?");
    desk.wait_for("F12 leaves");
    desk.press("M-x");
    desk.press("F12");
    desk.wait_for("status 0");
    // A daemon that starts binds the key in the server that is already there.
    box.stop_daemon();
    write_file(box.home() / "config.yml", "detach_key: C-o\n");
    box.start_daemon();
    desk.type("clear; env -u TMUX orange task attach; echo status $?");
    desk.wait_for("Ctrl-o leaves");
    desk.press("C-o");
    desk.wait_for("status 0");
}

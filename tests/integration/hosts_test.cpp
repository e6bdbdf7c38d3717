// `orange --host`: a real sshd on this machine, with keys, ports and settings of its own, and a real daemon behind it.
#include "tests/integration/hosts.hpp"

#include <sys/stat.h>

#include "common/base/text.hpp"
#include "tests/catch.hpp"
#include "tests/facts.hpp"

using namespace orange;
using namespace orange::tests;

TEST_CASE("A command on a host has its words, its input, its output and its exit status") {
    HostsDesk desk;
    Sandbox there;
    there.add_project("shop");
    desk.add("box", program_of(there));
    const std::string summary = "it's \"$HOME\" `x` \\ ! *";
    const auto created = Json::parse(desk.out_of({"--host", "box", "task", "create", "-p", "shop", "--harness", "demo",
                                                  "--no-spawn", "--json", "--context", "-", "--summary", summary},
                                                 "line 1\nline 2 ✓\n"));
    const auto id = created.at("task").at("fields").at("id").get<std::string>();
    CHECK(there.fields(id).at("summary") == summary);
    CHECK_THAT(there.body(id), Holds("line 1\nline 2 ✓"));
    CHECK_THAT(desk.out_of({"--host=box", "task", "list"}), Holds(there.short_id(id)));
    CHECK(desk.here.orange({"task", "show", id}).status == 1);

    const auto missing = desk.orange({"--host", "box", "task", "show", "zzzz"});
    CHECK(missing.status == 1);
    CHECK(missing.out.empty());
    CHECK_THAT(missing.err, Tells("zzzz"));
    CHECK(desk.orange({"--host", "box", "task", "wait", id, "--for", "working", "--timeout", "0"}).status == 3);

    // The history there says where the call came from.
    desk.out_of({"--host", "box", "task", "cancel", id, "--yes"});
    CHECK(there.history(id, "status.changed").back().at("evidence") == "ssh from 127.0.0.1");
}

TEST_CASE("A task with the name of its host is worked on there, and ORANGE_HOST is the host of all others") {
    HostsDesk desk;
    Sandbox there;
    there.add_project("shop");
    desk.add("box", program_of(there));
    const auto first = there.create("shop", "The first", true), second = there.create("shop", "The second", true);
    CHECK(Json::parse(desk.out_of({"task", "show", "box:" + first, "--json"})).at("task").at("fields").at("id") ==
          first);
    desk.out_of({"task", "update", "box:" + second, "--blocked-by", "box:" + first});
    CHECK(there.fields(second).at("blocked_by").at(0) == first);
    desk.out_of({"task", "update", second, "--unblock=box:" + first});
    CHECK(!there.fields(second).contains("blocked_by"));

    CHECK(desk.orange({"ack", "box:" + first, "box:" + second}).status == 0);

    const auto by_variable = [&](std::vector<std::string> words) {
        return desk.orange(std::move(words), {}, {"ORANGE_HOST=box"});
    };
    CHECK_THAT(by_variable({"task", "list", "--json"}).out, Holds(first));
    CHECK_THAT(by_variable({"task", "show", "box:" + first}).out, Holds("The first"));
    CHECK_THAT(by_variable({"host", "list", "--json"}).out, Holds("box"));
    CHECK(Json::parse(by_variable({"--host", "", "task", "list", "--json"}).out).at("tasks").empty());

    for (const auto& words :
         std::vector<std::vector<std::string>>{{"task", "update", "box:" + second, "--blocked-by", "gpu:" + first},
                                               {"ack", "box:" + second, first},
                                               {"--host", "gpu", "task", "show", "box:" + first},
                                               {"--host", "", "task", "show", "box:" + first}}) {
        auto line = words;
        line.emplace_back("--json");
        if (line[0] == "task") desk.add("gpu", "/nowhere");
        CHECK(desk.error_of(line).at("data").at("name") == "invalid_argument");
    }
    const auto unknown = desk.error_of({"task", "show", "bxo:" + first, "--json"});
    CHECK(unknown.at("data").at("name") == "not_found");
    CHECK_THAT(message_of(unknown), Tells("orange host add bxo"));
    // Words of a summary are no host, and neither is a text for an agent.
    CHECK_THAT(message_of(desk.error_of({"task", "show", "fix:the-login", "--json"})), Holds("fix:the-login"));
}

TEST_CASE("Without a host in the command line no list of hosts is read") {
    Sandbox here;
    write_file(here.home() / "hosts.yml", "this is no list of hosts\n");
    CHECK(here.orange({"task", "list"}).status == 0);
    const auto error = [&](std::vector<std::string> words) {
        words.emplace_back("--json");
        const auto reply = Json::parse(here.orange(std::move(words)).out);
        return reply.at("error").at("message").get<std::string>();
    };
    CHECK_THAT(error({"task", "show", "4f2a"}), !Holds("hosts.yml"));
    const auto place = (here.home() / "hosts.yml").string() + ":1";
    for (const auto& words : std::vector<std::vector<std::string>>{{"task", "show", "box:4f2a"},
                                                                   {"--host", "box", "task", "list"},
                                                                   {"host", "list"},
                                                                   {"host", "add", "box"}}) {
        CHECK_THAT(error(words), Tells(place));
    }
    CHECK(read_file(here.home() / "hosts.yml") == "this is no list of hosts\n");
    // A file that cannot be read is not taken for an empty list, and not replaced.
    std::filesystem::remove(here.home() / "hosts.yml");
    std::filesystem::create_symlink("hosts.yml", here.home() / "hosts.yml");
    CHECK_THAT(error({"--host", "box", "task", "list"}), Tells((here.home() / "hosts.yml").string()));
    CHECK(here.orange({"host", "add", "box"}).status == 1);
    CHECK(std::filesystem::is_symlink(here.home() / "hosts.yml"));
}

TEST_CASE("What ssh cannot do is told with a way out") {
    HostsDesk desk;
    Sandbox there;
    const auto program = program_of(there);
    struct Case {
        const char* host;
        std::filesystem::path program;
        const char* code;
        const char* tells;
        int status;
    };
    const Case cases[] = {
        {"gone", program, "unavailable", "orange host test gone", 255},
        {"stranger", program, "forbidden", "ssh", 255},
        {"changed", program, "forbidden", "ssh", 255},
        {"locked", program, "forbidden", "ssh-copy-id", 255},
        {"box", "/nowhere/orange", "not_found", "/nowhere/orange", 127},
    };
    for (const auto& [host, path, code, tells, status] : cases) {
        INFO(host);
        desk.add(host, path);
        const auto ran = desk.orange({"--host", host, "task", "list", "--json"});
        CHECK(ran.status == status);
        const auto error = Json::parse(ran.out).at("error");
        CHECK(error.at("data").at("name") == code);
        CHECK_THAT(message_of(error), Tells(tells));
        CHECK(desk.error_of({"host", "test", host, "--json"}).at("data").at("name") == code);
    }
    const auto unknown = desk.error_of({"--host", "bxo", "task", "list", "--json"});
    CHECK(unknown.at("data").at("name") == "not_found");
    CHECK(desk.orange({"--host"}).status == 2);
    CHECK(desk.orange({"--host", "box", "host", "list"}).status == 2);
    CHECK(desk.orange({"task", "list", "--host", "box"}).status == 2);
}

TEST_CASE("host test finds the version, what spoils the JSON, and this machine itself") {
    HostsDesk desk;
    Sandbox there;
    desk.add("box", program_of(there));
    const auto good = Json::parse(desk.out_of({"host", "test", "box", "--json"}));
    CHECK(good.at("version") == ORANGE_VERSION);
    CHECK(good.at("problems").empty());
    CHECK(good.at("daemon").at("home") == there.home().string());

    desk.add("noisy", program_of(there, "echo Welcome\n"), "box");
    const auto noisy = desk.orange({"host", "test", "noisy", "--json"});
    CHECK(noisy.status == 1);
    CHECK(Json::parse(noisy.out).at("version") == ORANGE_VERSION);
    CHECK_THAT(Json::parse(noisy.out).at("problems").at(0).get<std::string>(), Tells("Welcome"));

    desk.add("self", program_of(desk.here), "box");
    const auto self = desk.orange({"host", "test", "self", "--json"});
    CHECK(self.status == 1);
    CHECK_THAT(Json::parse(self.out).at("problems").at(0).get<std::string>(), Tells("orange host remove self"));

    const auto old = desk.here.root() / "orange-old";
    write_file(old, "#!/bin/sh\necho 'error: there is no command' >&2\nexit 2\n");
    std::filesystem::permissions(old, std::filesystem::perms::owner_all);
    desk.add("old", old, "box");
    CHECK(desk.error_of({"host", "test", "old", "--json"}).at("data").at("name") == "external_failed");
    const auto refused = desk.orange({"--host", "old", "task", "list"});
    CHECK(refused.status == 2);
    CHECK_THAT(refused.err, Tells("orange --host old version"));
}

TEST_CASE("Hosts are added, listed, completed and removed, and a name is taken once") {
    Sandbox here;
    write_file(here.home() / "hosts.yml", "# mine\nbox: {ssh: me@box}\n");
    CHECK(here.orange({"host", "add", "gpu", "me@gpu.example.org", "--program", "~/bin/orange", "--deadline", "3"})
              .status == 0);
    const auto list = [&] { return Json::parse(here.orange({"host", "list", "--json"}).out).at("hosts"); };
    CHECK(list().at(1) ==
          Json{{"name", "gpu"}, {"ssh", "me@gpu.example.org"}, {"program", "~/bin/orange"}, {"deadline", 3}});
    struct stat info {};
    REQUIRE(::stat((here.home() / "hosts.yml").c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
    CHECK(here.orange({"complete", "--", "--host", ""}).out == "box\tme@box\ngpu\tme@gpu.example.org\n");
    CHECK(here.orange({"complete", "--", "host", "remove", "g"}).out == "gpu\tme@gpu.example.org\n");
    CHECK_THAT(here.orange({"complete", "--", "--host", "box", "task", "li"}).out, Holds("list"));

    const auto again = Json::parse(here.orange({"host", "add", "box", "--json"}).out).at("error");
    CHECK(again.at("data").at("name") == "conflict");
    CHECK_THAT(message_of(again), Tells("orange host remove box"));
    CHECK(here.orange({"host", "add", "-x"}).status != 0);
    CHECK(here.orange({"host", "add", "x", "--", "-oProxyCommand=x"}).status == 1);
    CHECK(here.orange({"host", "add", "x", "--deadline", "0"}).status == 2);
    CHECK(list().size() == 2);
    CHECK(here.orange({"host", "remove", "gpu"}).status == 0);
    CHECK(read_file(here.home() / "hosts.yml") == "# mine\nbox: {ssh: me@box}\n");
    CHECK(here.orange({"host", "remove", "gpu"}).status == 1);
}

TEST_CASE("An agent may not use other hosts, whatever it says of itself") {
    HostsDesk desk;
    Sandbox there;
    desk.add("box", program_of(there));
    desk.here.add_project("shop");
    const auto id = desk.here.create("shop", "Round the total demo:clarify");
    desk.here.wait_for_status(id, "clarification");
    const auto refused = [&](const Ran& ran) {
        INFO(ran.out + ran.err);
        return ran.status == 1 && Json::parse(ran.out).at("error").at("data").at("name") == "forbidden";
    };
    const std::vector<std::string> words = {"--host", "box", "task", "list", "--json"};
    CHECK(refused(desk.orange(words, {}, {"ORANGE_TASK=" + id})));
    // Only the daemon knows whose worktree this is.
    auto line = words;
    line.insert(line.begin(), {"env", desk.path(), program("orange").string()});
    CHECK(refused(desk.here.try_run(line, desk.here.worktree(id))));
    line = {"env", desk.path(), program("orange").string(), "host", "test", "box", "--json"};
    CHECK(refused(desk.here.try_run(line, desk.here.worktree(id))));
    // A variable that the agent's human has set is not the agent's call.
    CHECK(desk.orange({"task", "show", id, "--json"}, {}, {"ORANGE_HOST=box", "ORANGE_TASK=" + id}).status == 0);
    desk.here.stop_daemon();
    CHECK(desk.orange(words).status == 0);
    CHECK(refused(desk.orange(words, {}, {"ORANGE_TASK=" + id})));
    desk.here.start_daemon();
}

namespace {

/// A terminal, played by a tmux, in which a shell calls orange.
class Screen {
  public:
    explicit Screen(HostsDesk& desk) : desk_(desk) {
        on({"new-session", "-d", "-x", "100", "-y", "30", "-s", "desk", "--", "env", desk_.path(), "PS1=$ ", "sh"});
        on({"resize-window", "-t", "desk", "-x", "100", "-y", "30"});
    }
    ~Screen() {
        on({"kill-server"});
        desk_.here.eventually("the screen is gone", [&] { return on({"list-sessions"}).status != 0; });
    }
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    void type(const std::string& line) { on({"send-keys", "-t", "desk:", line, "Enter"}); }
    std::string shown() { return on({"capture-pane", "-p", "-J", "-t", "desk:"}).out; }
    void wait_for(const std::string& text) {
        desk_.here.eventually("the screen shows " + text, [&] { return holds(shown(), text); });
    }
    /// The modes that programs switch on in a terminal, and its cooked mode.
    std::string modes() {
        type("clear; stty -g; echo modes-$((1+1))");
        wait_for("modes-2");
        const auto text = shown();
        const auto switched = on({"display-message", "-p", "-t", "desk:",
                                  "alternate #{alternate_on} mouse #{mouse_any_flag} sgr #{mouse_sgr_flag} cursor "
                                  "#{cursor_flag} keypad #{keypad_flag} #{keypad_cursor_flag}"});
        std::string settings;
        for (const auto line : split_lines(text)) {
            if (line.find(':') != std::string_view::npos && line.find(' ') == std::string_view::npos) settings = line;
        }
        return switched.out + settings;
    }
    Ran on(std::vector<std::string> args) {
        args.insert(args.begin(), {"tmux", "-S", (desk_.here.root() / "screen.sock").string(), "-f", "/dev/null"});
        return desk_.here.try_run(args);
    }

  private:
    HostsDesk& desk_;
};

/// Attaches through ssh, breaks the link, and wants the terminal as it was before.
void break_an_attach(int signal) {
    HostsDesk desk;
    // ssh gives up a silent link after three questions: here one in each second, instead of one in five.
    desk.use_ssh(
        "for word; do\n shift\n"
        " case $word in -oServerAliveInterval=5) word=-oServerAliveInterval=1 ;; esac\n"
        " set -- \"$@\" \"$word\"\ndone\n");
    Sandbox there;
    there.add_project("shop");
    desk.add("box", program_of(there));
    const auto id = there.create("shop", "Round the total demo:clarify");
    there.wait_for_status(id, "clarification");
    Screen screen(desk);
    const auto before = screen.modes();
    CHECK_THAT(before, Holds("alternate 0"));
    screen.type("clear; orange task attach box:" + id + "; echo status $?");
    screen.wait_for("Ctrl-q leaves");
    CHECK_THAT(screen.on({"display-message", "-p", "-t", "desk:", "#{alternate_on}"}).out, Holds("1"));
    desk.sshd.signal(signal);
    screen.wait_for("status 255");
    CHECK_THAT(screen.shown(), Holds("orange host test box"));
    CHECK(screen.modes() == before);
    CHECK(there.run_of(id, "worker").is_object());
}

}  // namespace

TEST_CASE("An attach whose sshd is killed leaves the terminal as it was", "[terminals-of-sshd]") {
    break_an_attach(SIGKILL);
}

TEST_CASE("An attach whose link is silent ends by itself and leaves the terminal as it was", "[terminals-of-sshd]") {
    break_an_attach(SIGSTOP);
}

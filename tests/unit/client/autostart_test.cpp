// The program as people run it, with a script in place of oranged.
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "common/base/system.hpp"
#include "common/config/paths.hpp"
#include "tests/catch.hpp"
#include "tests/unit/client/fake_daemon.hpp"

using namespace orange;
using namespace std::chrono_literals;

namespace {

/// A folder with a copy of `orange` and an oranged of the test's.
struct Installed {
    explicit Installed(const std::string& oranged) {
        std::filesystem::create_directories(home);
        std::filesystem::permissions(home, std::filesystem::perms::owner_all);
        std::filesystem::copy_file(ORANGE_BINARY_DIR "/bin/orange", folder.path() / "orange");
        std::ofstream(folder.path() / "oranged") << "#!/bin/sh\n" << oranged;
        ::chmod((folder.path() / "oranged").c_str(), 0755);
    }
    test::Ran orange(std::vector<std::string> words, std::vector<std::string> environment = {}) {
        words.insert(words.begin(), (folder.path() / "orange").string());
        environment.push_back("ORANGE_HOME=" + home.string());
        return test::run(words, environment, folder.path());
    }
    std::string output() const {
        std::ifstream in(home / "oranged.out");
        return {std::istreambuf_iterator<char>(in), {}};
    }

    test::TemporaryFolder folder;
    std::filesystem::path home = folder.path() / "home";
};

/// An oranged whose first run does `first`; the second runs until the test is over, or its folder is gone.
std::string second_time_lucky(const std::string& first) {
    return "cd \"${0%/*}\"\nif [ ! -e again ]; then touch again; " + first +
           "; fi\ntouch runs\nwhile [ ! -e over ] && [ -e \"$0\" ]; do sleep 0.05; done\n";
}

/// `orange task list` where the second run of oranged is what answers.
test::Ran list_with_second_run(Installed& installed) {
    std::thread daemon([&] {
        for (int i = 0; i < 6000 && !std::filesystem::exists(installed.folder.path() / "runs"); ++i) {
            std::this_thread::sleep_for(10ms);
        }
        test::FakeDaemon fake(installed.home / "orange.sock", [](const Json& r) {
            return std::vector{test::FakeDaemon::reply(r, {{"tasks", Json::array()}})};
        });
        for (int i = 0; i < 6000 && fake.requests().empty(); ++i) std::this_thread::sleep_for(10ms);
        std::ofstream(installed.folder.path() / "over");
    });
    const auto ran = installed.orange({"task", "list"});
    std::ofstream(installed.folder.path() / "runs");  // where it never ran, nobody waits for it
    daemon.join();
    return ran;
}

}  // namespace

TEST_CASE("Where the daemon leaves the home to another one that is gone by then, it is started again") {
    Installed installed(second_time_lucky("exit 75"));
    const auto ran = list_with_second_run(installed);
    INFO(ran.err);
    CHECK(ran.status == 0);
    CHECK_THAT(installed.output(), Tells("75"));
}

TEST_CASE("A home with agents of another PID namespace is refused once, with the words of the daemon") {
    Installed installed("echo run >&2\necho 'they live in another PID namespace' >&2\nexit 75\n");
    const auto here = system::pid_namespace();
    const int runs = here ? 1 : 5;  // without namespaces, 75 means that a daemon is ending
    if (here) std::ofstream(Paths{installed.home}.pid_namespace()) << here->boot << " 1\n";
    const auto ran = installed.orange({"task", "list"});
    CHECK(ran.status == 1);
    CHECK_THAT(ran.err, Holds("another PID namespace"));
    const auto output = installed.output();
    int found = 0;
    for (auto at = output.find("run\n"); at != std::string::npos; at = output.find("run\n", at + 1)) ++found;
    CHECK(found == runs);
}

TEST_CASE("A client whose supervisor ended, though no daemon answers, starts the next one") {
    Installed installed(second_time_lucky("exit 0"));
    const auto ran = list_with_second_run(installed);
    INFO(ran.err);
    CHECK(ran.status == 0);
}

TEST_CASE("A daemon that cannot start is shown with its last words") {
    Installed installed("echo 'config.yml:3: no such key' >&2\nexit 1\n");
    const auto ran = installed.orange({"task", "list"});
    CHECK(ran.status == 1);
    CHECK_THAT(ran.err, Holds("config.yml:3: no such key"));
    CHECK(ran.out.empty());
    struct stat info {};
    REQUIRE(::stat((installed.home / "oranged.out").c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
}

TEST_CASE("A daemon that crashes is started again, five times within a minute, no more", "[slow]") {
    Installed installed("echo run >&2\nkill -SEGV $$\n");
    const auto ran = installed.orange({"task", "list"});
    CHECK(ran.status == 1);
    CHECK_FALSE(ran.err.empty());
    const auto output = installed.output();
    int runs = 0;
    for (auto at = output.find("run\n"); at != std::string::npos; at = output.find("run\n", at + 1)) ++runs;
    CHECK(runs == 5);
}

TEST_CASE("With a git or tmux that is too old no daemon starts, and one sentence says which is needed") {
    const auto [name, version, needed] =
        GENERATE(std::tuple("git", "git version 2.34.1", "2.38"), std::tuple("tmux", "tmux 3.1c", "3.2"),
                 std::tuple("tmux", "", "tmux"));
    Installed installed("echo started >&2\nexit 1\n");
    const auto old = installed.folder.path() / "old";
    std::filesystem::create_directory(old);
    std::ofstream(old / name) << "#!/bin/sh\necho " << version << "\n";
    ::chmod((old / name).c_str(), 0755);
    const auto path = "PATH=" + old.string() + ":" + std::getenv("PATH");
    for (const auto& words : std::vector<std::vector<std::string>>{{"demo"}, {"task", "list"}, {"daemon", "start"}}) {
        const auto ran = installed.orange(words, {path});
        CHECK(ran.status == 1);
        CHECK_THAT(ran.err, Catch::StartsWith("error: " + std::string(name)) && Tells(needed));
        CHECK(ran.out.empty());
    }
    CHECK(std::filesystem::is_empty(installed.home));
}

TEST_CASE("ORANGE_NO_AUTOSTART starts nothing and says what to do") {
    Installed installed("echo started >&2\nexit 1\n");
    const auto ran = installed.orange({"task", "list"}, {"ORANGE_NO_AUTOSTART=1"});
    CHECK(ran.status == 1);
    CHECK_THAT(ran.err, Tells("orange daemon start"));
    CHECK(installed.output().empty());
}

TEST_CASE("Commands that start programs or write files are refused to an agent before they do anything") {
    Installed installed("echo started >&2\nexit 1\n");
    const std::vector<std::vector<std::string>> commands = {
        {"task", "shell", "4f2a"},
        {"task", "attach", "4f2a"},
        {"harness", "new", "mine"},
        {"harness", "test", "claude"},
        {"executor", "test", "local"},
        {"run", "do it"},
        {"demo"},
        {"dashboard"},
        {"install"},
        {"skill", "install"},
        {"skill", "remove"},
        {"uninstall"},
        {"service", "install"},
        {"service", "uninstall"},
        {"daemon", "start"},
        {"daemon", "restart"},
        {"daemon", "supervise", (installed.folder.path() / "oranged").string()},
    };
    for (auto command : commands) {
        INFO(command.front() << " " << command.back());
        command.push_back("--json");
        const auto ran = installed.orange(command, {"ORANGE_TASK=4f2aBcDeFgHiJkLmNoPqR"});
        CHECK(ran.status == 1);
        CHECK_THAT(ran.out, Holds("\"name\":\"forbidden\""));
    }
    CHECK(installed.output().empty());
    CHECK(std::filesystem::is_empty(installed.home));
}

TEST_CASE("An agent starts no daemon, but waits for one that is coming back") {
    Installed installed("echo started >&2\nexit 1\n");
    std::thread later([&] {
        std::this_thread::sleep_for(300ms);
        test::FakeDaemon daemon(installed.home / "orange.sock", [](const Json& r) {
            return std::vector{test::FakeDaemon::reply(r, {{"tasks", Json::array()}})};
        });
        for (int i = 0; i < 6000 && daemon.requests().empty(); ++i) std::this_thread::sleep_for(10ms);
    });
    const auto ran = installed.orange({"task", "list"}, {"ORANGE_TASK=4f2aBcDeFgHiJkLmNoPqR"});
    later.join();
    CHECK(ran.status == 0);
    CHECK(installed.output().empty());
}

TEST_CASE("An agent whose daemon stays away is told that it is down", "[slow]") {
    Installed installed("echo started >&2\nexit 1\n");
    // An ancestor named orange-agent tells as much as the environment does.
    const auto agent = installed.folder.path() / "orange-agent";
    std::ofstream(agent) << "#!/bin/sh\n" << (installed.folder.path() / "orange").string() << " task list\nexit $?\n";
    ::chmod(agent.c_str(), 0755);
    const auto ran = test::run({agent.string()}, {"ORANGE_HOME=" + installed.home.string()}, installed.folder.path());
    CHECK(ran.status == 1);
    CHECK_THAT(ran.err, Tells("orange daemon start"));
    CHECK(installed.output().empty());
}

namespace {

/// A socket that only ORANGE_SOCKET leads to, and a home that no client would use.
struct RunSocket {
    explicit RunSocket(Installed& installed) : path(installed.home / "r" / "runworker000" / "s") {
        std::filesystem::create_directories(path.parent_path());
        std::filesystem::permissions(path.parent_path(), std::filesystem::perms::owner_all);
        std::ofstream(installed.home / "foreign");
        ::chmod(installed.home.c_str(), 0755);
    }
    static std::vector<std::string> no_tasks(const Json& request) {
        return {test::FakeDaemon::reply(request, {{"tasks", Json::array()}})};
    }
    std::filesystem::path path;
    std::string variable = "ORANGE_SOCKET=" + path.string();
};

const std::string k_an_agent = "ORANGE_TASK=4f2aBcDeFgHiJkLmNoPqR";

std::string error_name(const test::Ran& ran) {
    const auto json = parse_json(ran.out);
    return json ? json->at("error").at("data").at("name").get<std::string>() : ran.out + ran.err;
}

}  // namespace

TEST_CASE("An agent's client calls through the socket of its run, whatever the home is like") {
    Installed installed("echo started >&2\nexit 1\n");
    const RunSocket socket(installed);
    const test::FakeDaemon daemon(socket.path, RunSocket::no_tasks);
    CHECK(installed.orange({"task", "list"}, {k_an_agent}).status == 1);
    const auto ran = installed.orange({"task", "list"}, {socket.variable, k_an_agent});
    INFO(ran.err);
    CHECK(ran.status == 0);
    daemon.meet();
    CHECK(daemon.requests().size() == 1);
    CHECK(installed.output().empty());
}

TEST_CASE("A socket of another home's run does not count, since somebody has set ORANGE_HOME since") {
    Installed installed("echo started >&2\nexit 1\n");
    const test::FakeDaemon daemon(installed.home / "orange.sock", RunSocket::no_tasks);
    const auto ran = installed.orange({"task", "list"}, {"ORANGE_SOCKET=/elsewhere/r/runworker000/s"});
    CHECK(ran.status == 0);
    daemon.meet();
    CHECK(daemon.requests().size() == 1);
}

TEST_CASE("A shell of a person that has an agent's ORANGE_SOCKET is told so, and nothing is called or started") {
    Installed installed("echo started >&2\nexit 1\n");
    const RunSocket socket(installed);
    const test::FakeDaemon daemon(socket.path, RunSocket::no_tasks);
    const std::vector<std::vector<std::string>> commands = {
        {"task", "list"},
        {"task", "merge", "4f2a", "--yes"},
        {"daemon", "start"},
        {"daemon", "stop"},
        {"daemon", "restart"},
        {"daemon", "restart", "--force"},
        {"run", "do it"},
        {"dashboard"},
        {"demo"},
    };
    for (const auto& command : commands) {
        INFO(command.front() << " " << command.back());
        const auto ran = installed.orange(command, {socket.variable});
        CHECK(ran.status == 1);
        CHECK_THAT(ran.err, Tells("ORANGE_SOCKET"));
        auto json = command;
        json.emplace_back("--json");
        CHECK(error_name(installed.orange(json, {socket.variable})) == "forbidden");
    }
    CHECK(installed.orange({"version"}, {socket.variable}).status == 0);
    daemon.meet();
    CHECK(daemon.requests().empty());
    CHECK(installed.output().empty());
}

TEST_CASE("An agent whose run has ended is told so at once, and starts nothing") {
    Installed installed("echo started >&2\nexit 1\n");
    const RunSocket socket(installed);
    std::filesystem::remove(socket.path.parent_path());
    const auto ran = installed.orange({"task", "list", "--json"}, {socket.variable, k_an_agent});
    CHECK(ran.status == 1);
    CHECK(error_name(ran) == "not_found");
    CHECK_THAT(ran.out, Tells("ORANGE_SOCKET"));
    CHECK(installed.output().empty());
}

TEST_CASE("An agent waits at its run's socket for a daemon that is coming back") {
    Installed installed("echo started >&2\nexit 1\n");
    const RunSocket socket(installed);
    std::thread later([&] {
        std::this_thread::sleep_for(300ms);
        test::FakeDaemon daemon(socket.path, RunSocket::no_tasks);
        for (int i = 0; i < 6000 && daemon.requests().empty(); ++i) std::this_thread::sleep_for(10ms);
    });
    const auto ran = installed.orange({"task", "list"}, {socket.variable, k_an_agent});
    later.join();
    CHECK(ran.status == 0);
    CHECK(installed.output().empty());
}

TEST_CASE("Status and stop look for a daemon and start none") {
    Installed installed("echo started >&2\nexit 1\n");
    const auto status = installed.orange({"daemon", "status", "--json"});
    CHECK(status.status == 1);
    const auto error = parse_json(status.out);
    REQUIRE(error);
    CHECK((*error)["error"]["data"]["name"] == "unavailable");
    const auto stop = installed.orange({"daemon", "stop"});
    CHECK(stop.status == 0);
    CHECK_FALSE(stop.out.empty());
    CHECK(installed.output().empty());
}

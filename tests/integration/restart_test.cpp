#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "common/config/home_lock.hpp"

#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

/// One daemon after the other: whoever follows one that was told to end finds the home free, or waits for it.
namespace orange::tests {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

/// A home in which the client starts daemons by itself, as a user's does.
class OnDemand {
  public:
    explicit OnDemand(Sandbox& orange) : orange_(orange) {}
    ~OnDemand() {
        if (const auto daemon = lock_holder(paths).value_or(0); daemon > 0) ::kill(daemon, SIGCONT);
        run({"daemon", "stop"});
    }
    OnDemand(const OnDemand&) = delete;
    OnDemand& operator=(const OnDemand&) = delete;

    Ran run(const std::vector<std::string>& args, const std::vector<std::string>& variables = {}) {
        std::vector<std::string> argv = {"env", "-u", "ORANGE_NO_AUTOSTART", "ORANGE_HOME=" + paths.home.string()};
        argv.insert(argv.end(), variables.begin(), variables.end());
        argv.push_back(program("orange").string());
        argv.insert(argv.end(), args.begin(), args.end());
        return orange_.try_run(argv);
    }
    /// All of them at once; what each printed is in root()/<n>.out and .err, its status in the result.
    std::vector<int> run_at_once(const std::vector<std::string>& commands) {
        std::string script = "unset ORANGE_NO_AUTOSTART; export ORANGE_HOME=" + paths.home.string() + "\n";
        for (std::size_t i = 0; i < commands.size(); ++i) {
            const auto base = (orange_.root() / std::to_string(i)).string();
            script += "{ " + program("orange").string() + " " + commands[i] + " >" + base + ".out 2>" + base +
                      ".err; echo $? >" + base + "; } &\n";
        }
        orange_.run({"sh", "-c", script + "wait"});
        std::vector<int> statuses;
        for (std::size_t i = 0; i < commands.size(); ++i) {
            statuses.push_back(std::stoi(read_file(orange_.root() / std::to_string(i))));
        }
        return statuses;
    }
    std::string output() const { return read_file(paths.home / "oranged.out"); }
    /// Of those who wanted to start a daemon at once only the one whose daemon works is left.
    void wait_for_losers() {
        orange_.eventually("one daemon and who watches it are left", [&] {
            int left = 0;
            for (const auto& process : fs::directory_iterator("/proc")) {
                const auto environment = read_file(process.path() / "environ");
                left += environment.find("ORANGE_HOME=" + paths.home.string() + '\0') != std::string::npos;
            }
            return left == 2;
        });
    }

  private:
    Sandbox& orange_;

  public:
    const Paths paths{orange_.root() / "on-demand"};
};

}  // namespace

TEST_CASE("When a stop returns the daemon has ended, and the next command starts another") {
    Sandbox orange;
    OnDemand home(orange);
    for (int i = 0; i < 5; ++i) {
        INFO("round " << i);
        const auto listed = home.run({"task", "list"});
        INFO(listed.err << home.output());
        REQUIRE(listed.status == 0);
        CHECK(lock_holder(home.paths));
        CHECK(home.run({"daemon", "stop"}).status == 0);
        CHECK_FALSE(lock_holder(home.paths));
    }
}

TEST_CASE("Twenty commands at once after a stop succeed, and so do twenty stops") {
    Sandbox orange;
    OnDemand home(orange);
    REQUIRE(home.run({"daemon", "start"}).status == 0);
    const std::vector<int> all_well(20, 0);
    CHECK(home.run({"daemon", "stop"}).status == 0);
    CHECK(home.run_at_once(std::vector<std::string>(20, "task list")) == all_well);
    CHECK(lock_holder(home.paths));
    home.wait_for_losers();
    CHECK(home.run_at_once(std::vector<std::string>(20, "daemon stop")) == all_well);
    CHECK_FALSE(lock_holder(home.paths));
}

TEST_CASE("A daemon that is started while the one before it ends waits for it") {
    Sandbox orange;
    for (int i = 0; i < 5; ++i) {
        INFO("round " << i);
        const auto before = orange.daemon_pid();
        ::kill(before, SIGTERM);
        orange.eventually("it takes no more", [&] { return !is_listening(orange.home() / "orange.sock"); });
        orange.start_daemon();
        int status = -1;
        REQUIRE(::waitpid(before, &status, 0) == before);
        CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    }
}

TEST_CASE("A restart is another daemon, whether one ran before it or not, and no agent may ask for it") {
    Sandbox orange;
    OnDemand home(orange);
    const auto pid_in = [](const Ran& ran) {
        INFO(ran.out << ran.err);
        REQUIRE(ran.status == 0);
        return Json::parse(ran.out).at("pid").get<pid_t>();
    };
    const auto first = pid_in(home.run({"daemon", "restart", "--json"}));
    CHECK(lock_holder(home.paths) == first);
    const auto second = pid_in(home.run({"daemon", "restart", "--json"}));
    CHECK(second != first);
    CHECK(lock_holder(home.paths) == second);
    CHECK(pid_in(home.run({"daemon", "start", "--json"})) == second);

    const auto refused = home.run({"daemon", "restart", "--json"}, {"ORANGE_TASK=4f2aBcDeFgHiJkLmNoPqR"});
    CHECK(refused.status == 1);
    CHECK(Json::parse(refused.out).at("error").at("data").at("name") == "forbidden");
    CHECK(lock_holder(home.paths) == second);
}

TEST_CASE("A daemon that stands still is named by every client, and replaced by force") {
    Sandbox orange;
    OnDemand home(orange);
    REQUIRE(home.run({"daemon", "start"}).status == 0);
    const auto hung = lock_holder(home.paths).value_or(0);
    REQUIRE(hung > 0);
    ::kill(hung, SIGSTOP);
    const std::vector<std::string> commands = {
        "task list", "daemon stop", "doctor", "task wait 4f2a", "events --follow --json", "project list --json"};
    const auto statuses = home.run_at_once(commands);
    const auto pid = std::to_string(hung);
    for (std::size_t i = 0; i < commands.size(); ++i) {
        const auto base = (orange.root() / std::to_string(i)).string();
        const auto said = read_file(base + ".out") + read_file(base + ".err");
        INFO(commands[i] << ": " << said);
        CHECK(statuses[i] == 1);
        CHECK_THAT(said, Tells(pid));
        CHECK_THAT(said, Tells("orange daemon restart --force"));
    }
    CHECK(lock_holder(home.paths) == hung);
    const auto restarted = home.run({"daemon", "restart", "--force", "--json"});
    INFO(restarted.out << restarted.err << home.output());
    REQUIRE(restarted.status == 0);
    const auto next = Json::parse(restarted.out).at("pid").get<pid_t>();
    CHECK(next != hung);
    CHECK(lock_holder(home.paths) == next);
    CHECK(home.run({"task", "list"}).status == 0);
}

TEST_CASE("One that hangs while it ends is killed by force, and nobody else who holds the lock is") {
    Sandbox orange;
    OnDemand home(orange);
    REQUIRE(home.run({"daemon", "start"}).status == 0);
    const auto hung = lock_holder(home.paths).value_or(0);
    REQUIRE(hung > 0);
    ::kill(hung, SIGSTOP);
    fs::remove(home.paths.socket());  // as one that has stopped to listen
    const auto restarted = home.run({"daemon", "restart", "--force"});
    INFO(restarted.out << restarted.err << home.output());
    CHECK(restarted.status == 0);
    CHECK(lock_holder(home.paths) != hung);
    REQUIRE(home.run({"daemon", "stop"}).status == 0);

    // flock(1) holds it, and is told to have another's pid: this test's.
    write_file(home.paths.lock(), std::to_string(::getpid()));
    const auto held = orange.try_run({"flock", home.paths.lock().string(), "env", "-u", "ORANGE_NO_AUTOSTART",
                                      "ORANGE_HOME=" + home.paths.home.string(), program("orange").string(), "daemon",
                                      "restart", "--force"});
    CHECK(held.status == 1);
    CHECK_THAT(held.err, Tells(std::to_string(::getpid())));
}

TEST_CASE("A clone at the home's place is no home, one that is in use is served and warned of") {
    Sandbox orange;
    OnDemand home(orange);
    fs::create_directory(home.paths.home);
    orange.git({"init", "-q", home.paths.home.string()}, orange.root());
    for (const std::vector<std::string>& command : {std::vector<std::string>{"task", "list"}, {"doctor"}}) {
        const auto refused = home.run(command);
        INFO(refused.out << refused.err);
        CHECK(refused.status == 1);
        CHECK_THAT((refused.out + refused.err), Tells("ORANGE_HOME="));
        CHECK_THAT((refused.out + refused.err), !Holds("chmod"));
    }
    CHECK(orange.git({"status", "--porcelain"}, home.paths.home).empty());

    fs::create_directory(home.paths.tasks());
    fs::permissions(home.paths.home, fs::perms::owner_all);
    CHECK(home.run({"task", "list"}).status == 0);
    const auto warned = home.run({"doctor"});
    CHECK_THAT(warned.out, Tells("git -C FOLDER restore :/"));
}

TEST_CASE("A home that was made by hand for a harness is closed by the first command") {
    Sandbox orange;
    OnDemand home(orange);
    fs::create_directories(home.paths.harnesses());
    fs::permissions(home.paths.home, fs::perms(0755));
    const auto listed = home.run({"task", "list"});
    INFO(listed.err << home.output());
    CHECK(listed.status == 0);
    CHECK((fs::status(home.paths.home).permissions() & fs::perms::mask) == fs::perms::owner_all);
    CHECK_THAT(home.output(), Tells(home.paths.home.string()));
}

TEST_CASE("A service manager is told that the daemon is ready, again and again that it lives, and that it stops") {
    Sandbox orange;
    orange.stop_daemon();
    const auto path = (orange.root() / "notify").string();
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    REQUIRE(path.size() < sizeof address.sun_path);
    path.copy(address.sun_path, path.size());
    const int manager = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    REQUIRE(::bind(manager, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    std::vector<std::string> told;
    const auto hear = [&](int timeout) {
        pollfd ready{manager, POLLIN, 0};
        char text[256];
        if (::poll(&ready, 1, timeout) <= 0) return false;
        const auto size = ::recv(manager, text, sizeof text, 0);
        told.emplace_back(text, size > 0 ? static_cast<std::size_t>(size) : 0);
        return true;
    };
    const auto fed = [&] { return std::count(told.begin(), told.end(), "WATCHDOG=1"); };

    SECTION("with a watchdog") {
        orange.start_daemon({}, {"NOTIFY_SOCKET=" + path, "WATCHDOG_USEC=60000000"});
        while (fed() < 3 && hear(20'000)) {
        }
        CHECK(fed() == 3);
        CHECK(std::count(told.begin(), told.end(), "READY=1") == 1);
    }
    SECTION("of another process, so that it does not concern the daemon") {
        orange.start_daemon({}, {"NOTIFY_SOCKET=" + path, "WATCHDOG_USEC=60000000", "WATCHDOG_PID=1"});
        REQUIRE(hear(20'000));
        CHECK(told.back() == "READY=1");
        CHECK(fed() == 0);
    }
    CHECK(orange.stop_daemon() == 0);
    while (hear(0)) {
    }
    CHECK(told.back() == "STOPPING=1");
    ::close(manager);
}

}  // namespace orange::tests

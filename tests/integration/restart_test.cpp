#include <signal.h>
#include <sys/wait.h>

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
    ~OnDemand() { run({"daemon", "stop"}); }
    OnDemand(const OnDemand&) = delete;
    OnDemand& operator=(const OnDemand&) = delete;

    Ran run(const std::vector<std::string>& args, const std::vector<std::string>& variables = {}) {
        std::vector<std::string> argv = {"env", "-u", "ORANGE_NO_AUTOSTART", "ORANGE_HOME=" + paths.home.string()};
        argv.insert(argv.end(), variables.begin(), variables.end());
        argv.push_back(program("orange").string());
        argv.insert(argv.end(), args.begin(), args.end());
        return orange_.try_run(argv);
    }
    std::string output() const { return read_file(paths.home / "oranged.out"); }

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
    const auto at_once = [&](const std::vector<std::string>& words) {
        std::string script = "unset ORANGE_NO_AUTOSTART; export ORANGE_HOME=" + home.paths.home.string() + "; ";
        script += "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do { " + program("orange").string();
        for (const auto& word : words) script += " " + word;
        script += " 2>&1 || echo failed; } & done; wait";
        const auto ran = orange.try_run({"sh", "-c", script});
        INFO(ran.out << home.output());
        CHECK(ran.out.find("failed") == std::string::npos);
    };
    CHECK(home.run({"daemon", "stop"}).status == 0);
    at_once({"task", "list"});
    CHECK(lock_holder(home.paths));
    at_once({"daemon", "stop"});
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

}  // namespace orange::tests

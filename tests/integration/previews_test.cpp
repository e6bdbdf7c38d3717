#include <signal.h>

#include "tests/catch.hpp"
#include "tests/integration/background.hpp"
#include "tests/support/local_listener.hpp"

/// `orange try`, with the real daemon and the real client. The test listens in place of the project's server.
namespace orange::tests {
namespace {

struct TriedProject {
    TriedProject() {
        repo = orange.add_project("shop");
        rpc::ProjectUpdate update;
        update.name = "shop";
        update.dev = std::vector<std::string>{
            "sh", "-c", "echo $$ >" + pid_file() + "; echo serves $ORANGE_PORT; while :; do sleep 0.1; done"};
        orange.call(update);
        id = orange.create("shop", "Add a greeting");
        orange.wait_for_status(id, "reviewing");
    }
    std::string pid_file() const { return (orange.root() / "pid").string(); }
    pid_t pid() {
        orange.eventually("the command runs", [&] { return read_file(pid_file()).ends_with('\n'); });
        return static_cast<pid_t>(std::stoll(read_file(pid_file())));
    }
    void wait_for_end_of(pid_t process) {
        orange.eventually("it is ended", [&] { return ::kill(process, 0) != 0; });
    }
    Json tried(std::vector<std::string> words) {
        words.insert(words.begin(), {"try", id, "--json"});
        return Json::parse(orange.orange(words).out);
    }

    int port = test::free_ports(20);
    Sandbox orange{"port_base: " + std::to_string(port) + "\n"};
    std::filesystem::path repo;
    std::string id;
};

}  // namespace

TEST_CASE("A human tries the work of a task, and it ends with the task") {
    TriedProject f;
    CHECK(f.tried({"--no-wait"})["port"] == f.port);
    const auto process = f.pid();
    Background waiting(f.orange, "try", {"try", f.id});
    waiting.wait_for_out(f.orange.short_id(f.id));
    CHECK_FALSE(waiting.ended());
    const auto url = "http://localhost:" + std::to_string(f.port);
    {
        const test::LocalListener server(f.port);
        CHECK(waiting.status() == 0);
    }
    CHECK_THAT(waiting.out(), Holds(url));
    CHECK_THAT(f.orange.orange({"show", f.id}).out, Holds(url));
    CHECK_THAT(f.orange.orange({"inbox", "--json"}).out, Holds(url));
    const auto known = f.tried({});
    CHECK(known["state"] == "running");
    CHECK(known["output"] == "serves " + std::to_string(f.port) + "\n");
    CHECK(f.orange.orange({"cancel", f.id, "--yes"}).status == 0);
    CHECK(::kill(process, 0) != 0);
    CHECK(f.orange.status(f.id) == "cancelled");
    CHECK(f.orange.orange({"try", f.id}).status == 1);
}

TEST_CASE("What a human tries ends by --stop, and with the daemon, also a killed one") {
    TriedProject f;
    f.tried({"--no-wait"});
    auto process = f.pid();
    CHECK(f.tried({"--stop"})["state"] == "ended");
    CHECK(::kill(process, 0) != 0);
    std::filesystem::remove(f.pid_file());
    f.tried({"--no-wait"});
    process = f.pid();
    CHECK(f.orange.stop_daemon() == 0);
    CHECK(::kill(process, 0) != 0);
    f.orange.start_daemon();
    std::filesystem::remove(f.pid_file());
    f.tried({"--no-wait"});
    process = f.pid();
    f.orange.kill_daemon();
    f.orange.start_daemon();
    f.wait_for_end_of(process);
    CHECK(f.orange.status(f.id) == "reviewing");
}

TEST_CASE("A command with which work is tried and that fails is told with its last lines") {
    TriedProject f;
    rpc::ProjectUpdate update;
    update.name = "shop";
    update.dev = std::vector<std::string>{"sh", "-c", "echo 4711 lemons; exit 7"};
    f.orange.call(update);
    const auto ran = f.orange.orange({"try", f.id});
    CHECK(ran.status == 1);
    CHECK_THAT(ran.out, Holds("4711 lemons") && Holds("7"));
    CHECK(f.orange.orange({"try", f.id, "--follow"}).status == 1);
    update.dev = std::vector<std::string>{};
    f.orange.call(update);
    const auto refused = f.orange.orange({"try", f.id});
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, Tells("orange project update shop --dev npm run dev"));
}

}  // namespace orange::tests

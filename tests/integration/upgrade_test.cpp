#include <signal.h>

#include <cstdlib>

#include "tests/catch.hpp"
#include "tests/integration/doctor.hpp"

/// One installation in the place of another while agents work.
namespace orange::tests {
namespace {

namespace fs = std::filesystem;

/// Another version, installed in a folder of its own: the one that is built for this, or, where ORANGE_OLD_BIN and
/// ORANGE_OLD_SHARE (a checkout) are set, whatever they name.
struct Before {
    fs::path bin;
    std::vector<std::string> variables;

    explicit Before(const Sandbox& orange) : bin(orange.root() / "old" / "bin") {
        fs::create_directories(bin);
        const char* old = std::getenv("ORANGE_OLD_BIN");
        const char* share = std::getenv("ORANGE_OLD_SHARE");
        for (const char* name : {"orange", "orange-agent"}) {
            fs::copy_file(old ? fs::path(old) / name : program(name), bin / name);
        }
        fs::copy_file(old ? fs::path(old) / "oranged" : fs::path(ORANGE_BINARY_DIR) / "tests/support/oranged-before",
                      bin / "oranged");
        if (share) variables.push_back(std::string("ORANGE_SHARE=") + share);
    }
    bool is_ours() const { return std::getenv("ORANGE_OLD_BIN") == nullptr; }
};

Json runs_of(Sandbox& orange, const std::vector<std::string>& ids) {
    Json runs = Json::array();
    for (const auto& id : ids) runs.push_back(orange.run_of(id, "worker"));
    return runs;
}

std::string panes(Sandbox& orange) {
    return orange.tmux({"list-panes", "-a", "-F", "#{session_id} #{window_id} #{pane_id} #{pane_pid} #{pane_dead}"})
        .out;
}

}  // namespace

TEST_CASE("Eight agents outlive the change of the daemon's binary, ended and killed, and none is started again") {
    Sandbox orange("poll_interval: 0.5\n");
    const Before before_it(orange);
    const auto& bin = before_it.bin;
    const auto version = orange.call(rpc::DaemonStatus{}).version;
    orange.stop_daemon();
    orange.start_daemon(bin / "oranged", before_it.variables);
    const auto old_version = orange.call(rpc::DaemonStatus{}).version;
    if (before_it.is_ours()) CHECK(old_version == "0.0.9");
    CHECK(read_file(bin / "oranged") != read_file(program("oranged")));
    orange.add_project("shop", 8);
    add_idle_harness(orange);
    std::vector<std::string> ids;
    for (int i = 1; i <= 8; ++i) ids.push_back(id_of(orange.call(idle_task("shop", "Wait " + std::to_string(i)))));
    for (const auto& id : ids) orange.wait_for_status(id, "planning");
    const auto runs = runs_of(orange, ids);
    const auto before = panes(orange);
    CHECK(std::count(before.begin(), before.end(), '\n') == 8);
    for (const auto& run : runs) {
        const auto exe = fs::read_symlink("/proc/" + std::to_string(run.at("pid").get<int>()) + "/exe");
        CHECK(exe == bin / "orange-agent");
    }

    CHECK(orange.stop_daemon() == 0);
    orange.start_daemon();
    CHECK(orange.call(rpc::DaemonStatus{}).version == version);
    CHECK(panes(orange) == before);
    CHECK(runs_of(orange, ids) == runs);
    // And back, as after an upgrade that somebody regrets, this time without a word of warning.
    if (before_it.is_ours()) {
        orange.kill_daemon();
        orange.start_daemon(bin / "oranged");
        CHECK(orange.call(rpc::DaemonStatus{}).version == old_version);
    }
    orange.kill_daemon();
    fs::remove_all(orange.root() / "old");
    orange.start_daemon();

    // Looked at by the poll as well, not only at the start.
    const auto began = orange.call(rpc::DaemonStatus{}).last_poll;
    orange.eventually("the daemon has looked twice", [&] {
        const auto status = orange.call(rpc::DaemonStatus{});
        return status.last_poll && status.last_poll != began;
    });
    CHECK(panes(orange) == before);
    CHECK(runs_of(orange, ids) == runs);
    CHECK(orange.call(rpc::DaemonStatus{}).agents_alive == 8);
    CHECK(diagnose(orange).errors().empty());
    for (const auto& id : ids) {
        CHECK(orange.history(id, "agent.spawned").size() == 1);
        CHECK(orange.history(id, "agent.respawned").empty());
        CHECK(orange.history(id, "agent.exited").empty());
    }
    // Adopted means watched: the end of one is seen.
    ::kill(-runs[0].at("pid").get<pid_t>(), SIGKILL);
    ::kill(runs[0].at("pid").get<pid_t>(), SIGKILL);
    orange.eventually("its end is seen", [&] { return orange.run_of(ids[0], "worker") != runs[0]; });
}

TEST_CASE(
    "An upgrade that turns the link to Orange's folder, and removes the old one, stops neither agents nor starts") {
    Sandbox orange;
    const auto opt = orange.root() / "opt", link = opt / "current";
    const auto install = [&](const std::string& version) {
        fs::create_directories(opt / version / "bin");
        for (const char* name : {"orange", "oranged", "orange-agent"}) {
            fs::copy_file(program(name), opt / version / "bin" / name);
        }
        fs::remove(link);
        fs::create_directory_symlink(opt / version, link);
    };
    install("1");
    orange.stop_daemon();
    orange.start_daemon(link / "bin" / "oranged");
    orange.add_project("shop", 3);
    add_idle_harness(orange);
    const auto before = id_of(orange.call(idle_task("shop", "Before the upgrade")));
    orange.wait_for_status(before, "planning");
    install("2");
    fs::remove_all(opt / "1");
    const auto after = id_of(orange.call(idle_task("shop", "After the upgrade")));
    orange.wait_for_status(after, "planning");
    const auto shim = orange.run_of(after, "worker").at("pid").get<int>();
    CHECK(fs::read_symlink("/proc/" + std::to_string(shim) + "/exe") == opt / "2" / "bin" / "orange-agent");

    fs::remove_all(opt / "2");
    rpc::TaskSpawn unknown;
    unknown.id = "no-such-task";
    const auto refused = orange.try_call(unknown);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Tells("orange daemon restart"));
    CHECK(orange.call(rpc::DaemonStatus{}).agents_alive == 2);
    CHECK(orange.stop_daemon() == 0);
}

TEST_CASE(
    "With auto_restart a daemon becomes the program that was installed, under its own process id, and agents live on") {
    Sandbox orange("auto_restart: true\n");
    const Before before(orange);
    const auto version = orange.call(rpc::DaemonStatus{}).version;
    orange.stop_daemon();
    orange.start_daemon(before.bin / "oranged", before.variables);
    orange.add_project("shop");
    add_idle_harness(orange);
    const std::vector<std::string> ids = {id_of(orange.call(idle_task("shop", "Wait")))};
    orange.eventually("the agent works", [&] { return !orange.run_of(ids[0], "worker").is_null(); });
    const auto state = orange.folder(ids[0]) / "state.json";
    const auto runs = Json::parse(read_file(state)).at("runs");
    const auto pid = orange.daemon_pid();
    REQUIRE(orange.call(rpc::DaemonStatus{}).version != version);

    fs::copy_file(program("oranged"), before.bin / "oranged.new");
    fs::rename(before.bin / "oranged.new", before.bin / "oranged");
    orange.eventually("the new program answers", [&] {
        auto opened = connection::Connection::open(orange.home() / "orange.sock", std::chrono::seconds(5));
        if (!opened) return false;
        const auto status = opened->call(rpc::DaemonStatus{});
        return status && status->version == version;
    });
    CHECK(::kill(pid, 0) == 0);
    auto opened = connection::Connection::open(orange.home() / "orange.sock", std::chrono::seconds(5));
    REQUIRE(opened);
    CHECK(opened->call(rpc::DaemonPing{}).value().pid == pid);
    CHECK(Json::parse(read_file(state)).at("runs") == runs);
    CHECK(orange.stop_daemon() == 0);
}

}  // namespace orange::tests

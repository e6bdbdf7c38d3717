#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/integration/doctor.hpp"
#include "tests/integration/puppets.hpp"

/// The socket of each run: from the start of its agent to its end, whatever happens to the daemon in between. Who may
/// do what through it: identity_test.cpp.
namespace orange::tests {
namespace {

namespace fs = std::filesystem;

const std::string k_who = R"({"jsonrpc":"2.0","id":1,"method":"daemon.caller","params":{}})"
                          "\n";

struct stat facts_of(const fs::path& path) {
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) != 0) facts = {};
    return facts;
}

/// What the daemon takes the puppet for that calls through the socket which its environment names.
Json who(PuppetStage& stage, const std::string& id, const std::string& role) {
    const auto requests = stage.next("requests"), replies = stage.next("replies");
    write_file(requests, k_who);
    const auto said = stage.play(id, role,
                                 (fs::path(ORANGE_BINARY_DIR) / "tests/support/orange-wire").string() +
                                     " \"$ORANGE_SOCKET\" " + requests.string() + " " + replies.string());
    INFO(said);
    REQUIRE(fs::exists(replies));
    return Json::parse(read_file(replies)).at("result");
}

bool has_problem(Sandbox& orange, const std::string& word) {
    const auto problems = orange.call(rpc::DaemonStatus{}).problems;
    return std::ranges::any_of(problems, [&](const auto& text) { return text.find(word) != std::string::npos; });
}

}  // namespace

TEST_CASE("A run has a closed socket of its own, which outlives a killed, a stopped and a replaced daemon") {
    PuppetStage stage;
    auto& orange = stage.orange;
    const auto id = stage.create();
    stage.go_to_review(id);
    const auto socket = stage.socket(id, "worker");
    CHECK(stage.play(id, "worker", "printf %s \"$ORANGE_SOCKET\"") == socket.string());
    CHECK(stage.socket(id, "reviewer") != socket);
    CHECK((facts_of(socket).st_mode & 0777) == 0600);
    const auto folder = facts_of(socket.parent_path());
    CHECK((folder.st_mode & 0777) == 0700);
    const auto check = [&] {
        for (const std::string role : {"worker", "reviewer"}) {
            const auto answer = who(stage, id, role);
            CHECK(answer.at("role") == role);
            CHECK(answer.at("evidence") == "ancestor orange-agent " + std::to_string(stage.shim(id, role)));
        }
        // The same folder: it may be mounted elsewhere.
        CHECK(facts_of(socket.parent_path()).st_ino == folder.st_ino);
    };
    check();
    orange.kill_daemon();
    CHECK(fs::exists(socket));
    fs::create_directory(orange.home() / "r" / "endedlongago");
    orange.start_daemon();
    CHECK_FALSE(fs::exists(orange.home() / "r" / "endedlongago"));
    check();
    CHECK(orange.stop_daemon() == 0);
    CHECK(fs::exists(socket));
    orange.start_daemon(fs::path(ORANGE_BINARY_DIR) / "tests/support/oranged-before");
    check();
    orange.kill_daemon();
    orange.start_daemon();
    check();
}

TEST_CASE("The socket's folder of a run stays while its task cannot be read") {
    PuppetStage stage;
    auto& orange = stage.orange;
    const auto id = stage.create();
    const auto socket = stage.socket(id, "worker");
    const auto folder = facts_of(socket.parent_path()).st_ino;
    const auto state = orange.folder(id) / "state.json";
    orange.kill_daemon();
    const auto text = read_file(state);
    write_file(state, "{");
    orange.start_daemon();
    CHECK(facts_of(socket.parent_path()).st_ino == folder);
    orange.kill_daemon();
    write_file(state, text);
    orange.start_daemon();
    CHECK(who(stage, id, "worker").at("role") == "worker");
}

TEST_CASE("A run's socket goes with the run, and what the agent left behind is told that it has ended") {
    PuppetStage stage;
    auto& orange = stage.orange;
    const auto id = stage.create();
    stage.go_to_review(id);
    const auto worker = stage.socket(id, "worker"), reviewer = stage.socket(id, "reviewer");
    // While no daemon runs, too.
    const auto shim = stage.shim(id, "reviewer");
    orange.kill_daemon();
    ::kill(-shim, SIGKILL);
    ::kill(shim, SIGKILL);
    orange.start_daemon();
    orange.eventually("its end is seen", [&] { return !fs::exists(reviewer.parent_path()); });
    CHECK(fs::exists(worker));

    auto late = connection::Connection::open(worker, std::chrono::seconds(5));
    REQUIRE(late);
    CHECK(late->call(rpc::DaemonPing{}));
    REQUIRE(orange.orange({"task", "cancel", id, "--yes"}).status == 0);
    CHECK_FALSE(fs::exists(worker.parent_path()));
    // Its connection goes on, as nobody.
    rpc::TaskAck change;
    change.id = id;
    const auto refused = late->call(change);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::forbidden);
    const auto after = orange.try_run({"env", "ORANGE_TASK=" + id, "ORANGE_SOCKET=" + worker.string(),
                                       program("orange").string(), "task", "show", id, "--json"});
    CHECK(after.status == 1);
    CHECK(Json::parse(after.out).at("error").at("data").at("name") == "not_found");
}

TEST_CASE("A socket or its folder that somebody removed is made again") {
    PuppetStage stage;
    auto& orange = stage.orange;
    const auto id = stage.create();
    orange.wait_for_status(id, "planning");
    const auto socket = stage.socket(id, "worker");
    for (const auto& lost : {socket, socket.parent_path(), socket.parent_path().parent_path()}) {
        INFO(lost.string());
        CHECK(who(stage, id, "worker").at("role") == "worker");
        fs::remove_all(lost);
        orange.eventually("it is there again", [&] { return fs::exists(socket); });
    }
    CHECK(who(stage, id, "worker").at("role") == "worker");
}

TEST_CASE("Where no socket can be made an agent starts without, and its calls go to the daemon's") {
    PuppetStage stage;
    auto& orange = stage.orange;
    const auto folder = orange.home() / "r";
    const auto start = [&] {
        const auto id = stage.create();
        orange.wait_for_status(id, "planning");
        CHECK(stage.play(id, "worker", "printf %s \"${ORANGE_SOCKET-none}\"") == "none");
        stage.play(id, "worker", "orange task update --summary 'Changed'");
        CHECK(orange.fields(id).at("summary") == "Changed");
        CHECK(has_problem(orange, folder.string()));
        return id;
    };
    SECTION("something else has the folder's name") {
        write_file(folder, "");
        const auto id = start();
        CHECK(std::ranges::any_of(diagnose(orange).findings, [&](const auto& finding) {
            return finding.level != "ok" && finding.text.find(folder.string()) != std::string::npos;
        }));
        fs::remove(folder);
        orange.eventually("it is made as soon as it can be", [&] { return fs::exists(stage.socket(id, "worker")); });
        CHECK_FALSE(has_problem(orange, folder.string()));
    }
    SECTION("the disk is full") {
        fs::create_directory(folder);
        if (::mount("tmpfs", folder.c_str(), "tmpfs", 0, "mode=0700,nr_inodes=1") == 0) {  // as root
            start();
            CHECK(::umount2(folder.c_str(), MNT_DETACH) == 0);
        }
    }
}

}  // namespace orange::tests

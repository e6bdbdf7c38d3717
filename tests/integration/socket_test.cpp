#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <set>
#include <sstream>
#include <thread>

#include "common/config/paths.hpp"
#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

/// The home and its socket: who gets in, from the first instant on, and what is handed down to children.
namespace orange::tests {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

/// The client with a home of its own, and a daemon that is started where none is.
std::vector<std::string> with_home(const fs::path& home, std::vector<std::string> args) {
    std::vector<std::string> argv = {"env", "-u", "ORANGE_NO_AUTOSTART", "ORANGE_HOME=" + home.string(),
                                     program("orange").string()};
    argv.insert(argv.end(), args.begin(), args.end());
    return argv;
}

/// Processes that were started with that ORANGE_HOME and have `word` among their arguments.
std::vector<pid_t> processes_of(const fs::path& home, const std::string& word) {
    std::vector<pid_t> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/proc", error)) {
        const auto pid = std::atoi(entry.path().filename().c_str());
        if (pid <= 0) continue;
        const auto env = read_file(entry.path() / "environ");
        const auto argv = read_file(entry.path() / "cmdline");
        if (env.find("ORANGE_HOME=" + home.string() + std::string(1, '\0')) == std::string::npos) continue;
        if (argv.find(word) != std::string::npos) found.push_back(pid);
    }
    return found;
}

/// "3 → /dev/ptmx": what a process has open.
std::set<std::string> open_files(pid_t pid) {
    std::set<std::string> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd", error)) {
        const auto target = fs::read_symlink(entry.path(), error);
        if (!error) found.insert(entry.path().filename().string() + " " + target.string());
    }
    return found;
}

std::string target_of(const std::string& open_file) {
    return open_file.substr(open_file.find(' ') + 1);
}

pid_t child_of(Sandbox& orange, pid_t parent) {
    std::string children;
    orange.eventually("it has a child", [&] {
        const auto pid = std::to_string(parent);
        children = read_file("/proc/" + pid + "/task/" + pid + "/children");
        return !children.empty();
    });
    return std::stoi(children);
}

/// Of `ls -l /proc/self/fd`: "4 pipe:[71]", without ls's own look at the folder.
std::vector<std::string> listed(const fs::path& file) {
    std::vector<std::string> found;
    std::istringstream lines(read_file(file));
    for (std::string line; std::getline(lines, line);) {
        const auto arrow = line.find(" -> ");
        if (arrow == std::string::npos || line.find("/proc/", arrow) != std::string::npos) continue;
        const auto blank = line.rfind(' ', arrow - 1);
        found.push_back(line.substr(blank + 1, arrow - blank - 1) + " " + line.substr(arrow + 4));
    }
    return found;
}

/// Ends what was started in a home whose tmux has a folder of its own, and removes that.
class FarHome {
  public:
    FarHome(Sandbox& orange, fs::path home) : orange_(orange), home_(std::move(home)) {}
    ~FarHome() {
        orange_.try_run(with_home(home_, {"daemon", "stop"}));
        const auto socket = Paths{home_}.tmux_socket();
        orange_.try_run({"tmux", "-S", socket.string(), "kill-server"});
        std::error_code error;
        fs::remove_all(socket.parent_path(), error);
        fs::remove_all(away(socket.parent_path()), error);
    }
    FarHome(const FarHome&) = delete;
    FarHome& operator=(const FarHome&) = delete;
    /// Where a test may put the folder.
    static fs::path away(const fs::path& folder) { return folder.string() + ".away"; }

  private:
    Sandbox& orange_;
    fs::path home_;
};

}  // namespace

TEST_CASE("Fifty commands at once in a fresh home: one daemon, and all of them succeed") {
    Sandbox orange;
    const auto home = orange.root() / "fresh";
    const auto out = orange.root() / "starts";
    fs::create_directory(out);
    const auto client = program("orange").string();
    const std::string script = "unset ORANGE_NO_AUTOSTART; export ORANGE_HOME=" + home.string() + "; cd " +
                               out.string() +
                               "; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do\n"
                               "{ " +
                               client + " daemon start >a$i.out 2>&1; echo $? >a$i; } &\n{ " + client +
                               " task list >b$i.out 2>&1; echo $? >b$i; } &\ndone; wait";
    orange.run({"sh", "-c", script});
    for (const std::string kind : {"a", "b"}) {
        for (int i = 1; i <= 25; ++i) {
            const auto name = out / (kind + std::to_string(i));
            INFO(name.string() + ": " + read_file(name.string() + ".out"));
            CHECK(read_file(name) == "0\n");
        }
    }
    const auto supervisors = [&] { return processes_of(home, "supervise"); };
    orange.eventually(
        "one supervisor is left", [&] { return supervisors().size() == 1; }, 60s);
    std::vector<pid_t> daemons;
    for (const auto pid : processes_of(home, "oranged")) {
        if (read_file("/proc/" + std::to_string(pid) + "/comm") == "oranged\n") daemons.push_back(pid);
    }
    REQUIRE(daemons.size() == 1);
    CHECK(read_file(home / "oranged.lock") == std::to_string(daemons[0]));
    CHECK(orange.try_run(with_home(home, {"daemon", "stop"})).status == 0);
    orange.eventually(
        "all are gone", [&] { return processes_of(home, "oranged").empty(); }, 60s);
}

TEST_CASE("The socket is closed to others from its first instant, at every start") {
    Sandbox orange;
    std::atomic<bool> over{false};
    std::atomic<int> seen{0}, open{0};
    const auto socket = orange.home() / "orange.sock";
    std::thread watcher([&] {
        while (!over) {
            struct stat info {};
            if (::stat(socket.c_str(), &info) != 0) continue;
            ++seen;
            if ((info.st_mode & 0777) != 0600) ++open;
        }
    });
    for (int i = 0; i < 6; ++i) {
        CHECK(orange.stop_daemon() == 0);
        orange.start_daemon();
    }
    over = true;
    watcher.join();
    CHECK(seen > 0);
    CHECK(open == 0);
    for (const char* file : {"orange.sock", "oranged.lock", "orange.log"}) {
        INFO(file);
        CHECK((fs::status(orange.home() / file).permissions() & fs::perms::mask) ==
              (fs::perms::owner_read | fs::perms::owner_write));
    }
}

TEST_CASE("Another user gets no answer, neither through the home nor when it stands open") {
    Sandbox orange;
    const auto wire = (fs::path(ORANGE_BINARY_DIR) / "tests/support/orange-wire").string();
    const auto socket = (orange.home() / "orange.sock").string();
    CHECK((fs::status(orange.home()).permissions() & fs::perms::mask) == fs::perms::owner_all);
    if (::geteuid() != 0) return;  // only root can be somebody else
    auto pattern = (fs::temp_directory_path() / "orange-others-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()));
    const fs::path common = pattern;
    fs::permissions(common, fs::perms::all);
    // The build tree need not be open to everybody.
    fs::copy_file(wire, common / "wire");
    fs::permissions(common / "wire", fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
    write_file(common / "ping", R"({"jsonrpc":"2.0","id":1,"method":"daemon.ping"})"
                                "\n");
    const std::vector<std::string> call = {"setpriv",
                                           "--reuid=65534",
                                           "--regid=65534",
                                           "--clear-groups",
                                           (common / "wire").string(),
                                           socket,
                                           (common / "ping").string(),
                                           (common / "pong").string()};
    const auto kept_out = orange.try_run(call, "/");
    CHECK(kept_out.status == 1);
    CHECK_THAT(kept_out.err, Holds("Permission denied"));

    const auto root_mode = fs::status(orange.root()).permissions();
    fs::permissions(orange.root(), fs::perms::all);
    fs::permissions(orange.home(), fs::perms::all);
    fs::permissions(socket, fs::perms::all);
    const auto unheard = orange.try_run(call, "/");
    CHECK(unheard.status == 1);
    CHECK_THAT(unheard.err, Tells("read: ") || Tells("send: "));
    CHECK_FALSE(fs::exists(common / "pong"));
    fs::permissions(orange.home(), fs::perms::owner_all);
    fs::permissions(orange.root(), root_mode);
    CHECK(orange.call(rpc::DaemonPing{}).pid == orange.daemon_pid());
    fs::remove_all(common);
}

TEST_CASE("The client talks to nobody in a home that is not safe, and says what mends it") {
    Sandbox orange;
    REQUIRE(orange.orange({"daemon", "status"}).status == 0);
    fs::permissions(orange.home(), fs::perms::owner_all | fs::perms::group_exec);
    const auto refused = orange.orange({"daemon", "status"});
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, Tells("chmod 700 " + orange.home().string()));
    orange.run({"chmod", "700", orange.home().string()});
    CHECK(orange.orange({"daemon", "status"}).status == 0);

    const auto link = orange.root() / "link";
    fs::create_directory_symlink(orange.home(), link);
    for (const std::string slash : {"", "/"}) {
        const auto linked = orange.try_run(with_home(link.string() + slash, {"daemon", "status"}));
        CHECK(linked.status == 1);
        CHECK_THAT(linked.err, Tells(orange.home().string()) && Tells("ORANGE_HOME"));
    }
    if (::geteuid() != 0) return;
    REQUIRE(::chown(orange.home().c_str(), 65534, 65534) == 0);
    const auto foreign = orange.orange({"daemon", "status"});
    CHECK(foreign.status == 1);
    CHECK_THAT(foreign.err, Tells(orange.home().string()));
    REQUIRE(::chown(orange.home().c_str(), 0, 0) == 0);
}

TEST_CASE("A home whose path is too long for a socket works: daemon, client and agents") {
    Sandbox orange;
    const auto repository = orange.make_repository("far");
    auto home = orange.root();
    for (int i = 0; i < 4; ++i) {
        home /= std::string(50, 'x');
        fs::create_directory(home);
        fs::permissions(home, fs::perms::owner_all);
    }
    home /= "home";
    const auto run = [&](std::vector<std::string> args) {
        const auto ran = orange.try_run(with_home(home, std::move(args)));
        if (ran.status != 0) orange.fail("in the long home: " + ran.out + ran.err + read_file(home / "orange.log"));
        return ran.out;
    };
    run({"project", "add", repository.string(), "--harness", "demo"});
    const auto made = run({"task", "create", "--project", "far", "--json", "Add a greeting demo:clarify"});
    const auto id = Json::parse(made).at("task").at("fields").at("id").get<std::string>();
    const auto shown = [&] { return Json::parse(run({"task", "show", id, "--json"})).at("task"); };
    orange.eventually(
        "its agent has asked", [&] { return shown().at("fields").at("status") == "clarification"; }, 60s);
    CHECK(shown().at("worker") == "alive");
    CHECK_THAT(run({"task", "peek", id}), Tells("demo"));
    // The demo agent has asked through the socket of its run.
    const auto state = Json::parse(read_file(home / "tasks" / "far" / id / "state.json"));
    const auto socket = Paths{home}.socket_of(RunId{state.at("runs").at(0).at("run").get<std::string>()});
    CHECK(socket.string().size() > 107);
    CHECK(fs::is_socket(socket));
    run({"task", "cancel", id, "--yes"});
    run({"daemon", "stop"});
    const auto tmux_socket = Paths{home}.tmux_socket();
    CHECK(tmux_socket.string().size() <= 107);
    CHECK((fs::status(tmux_socket.parent_path()).permissions() & fs::perms::mask) == fs::perms::owner_all);
    orange.try_run({"tmux", "-S", tmux_socket.string(), "kill-server"});
    std::error_code error;
    fs::remove_all(tmux_socket.parent_path(), error);
    orange.eventually(
        "the daemon is gone", [&] { return processes_of(home, "oranged").empty(); }, 60s);
}

TEST_CASE("A folder of tmux's socket that is somebody else's gets nothing, and one that was removed is made anew") {
    Sandbox orange;
    const auto repository = orange.make_repository("far");
    const auto home = orange.root() / std::string(100, 'x');
    fs::create_directory(home);
    fs::permissions(home, fs::perms::owner_all);
    write_file(home / "config.yml", "poll_interval: 0.2\n");
    const auto folder = Paths{home}.tmux_socket().parent_path();
    REQUIRE(folder != home);
    const FarHome cleaned_up(orange, home);
    const auto run = [&](std::vector<std::string> args) { return orange.try_run(with_home(home, std::move(args))); };
    const auto json = [&](std::vector<std::string> args) {
        args.emplace_back("--json");
        const auto ran = run(std::move(args));
        if (ran.status != 0) orange.fail(ran.out + ran.err + read_file(home / "orange.log"));
        return Json::parse(ran.out);
    };
    json({"project", "add", repository.string(), "--harness", "demo"});
    const auto id = json({"task", "create", "--project", "far", "Add a greeting demo:clarify"})
                        .at("task")
                        .at("fields")
                        .at("id")
                        .get<std::string>();
    const auto task = [&] { return json({"task", "show", id}).at("task"); };
    orange.eventually(
        "its agent has asked", [&] { return task().at("fields").at("status") == "clarification"; }, 60s);
    const auto polled = [&] { return json({"daemon", "status"}).at("last_poll"); };
    const auto refused = [&](const std::string& why) {
        const auto peeked = run({"task", "peek", id});
        INFO(why << ": " << peeked.out << peeked.err);
        CHECK(peeked.status == 1);
        CHECK_THAT(peeked.err, Tells(folder.string()));
        const auto before = polled();
        orange.eventually("the daemon has looked", [&] { return polled() != before; });
        CHECK(task().at("fields").at("crash_count") == 0);
    };
    fs::permissions(folder, fs::perms(0755));
    refused("open to others");
    fs::permissions(folder, fs::perms::owner_all);
    const auto away = FarHome::away(folder);
    fs::rename(folder, away);
    fs::create_directory_symlink(away, folder);
    refused("a link");
    fs::remove(folder);
    fs::create_directory(folder);
    if (::geteuid() == 0) {
        REQUIRE(::chown(folder.c_str(), 65534, 65534) == 0);
        refused("another user's");
    }
    fs::remove(folder);
    orange.eventually(
        "tmux has its socket again",
        [&] {
            return run({"task", "peek", id}).status == 0;
        },
        60s);
    CHECK((fs::status(folder).permissions() & fs::perms::mask) == fs::perms::owner_all);
    CHECK(task().at("worker") == "alive");
    CHECK(task().at("fields").at("crash_count") == 0);
}

TEST_CASE("No descriptor of the daemon's reaches tmux, an agent, git or a command of the project") {
    Sandbox orange;
    const auto repository = orange.add_project("shop");
    // git runs a filter when it fills the worktree: a child of the daemon's git.
    const auto from_git = orange.root() / "git.fds";
    const auto from_setup = orange.root() / "setup.fds";
    write_file(orange.root() / "spy.sh", "ls -l /proc/self/fd >" + from_git.string() + "; cat\n");
    orange.git({"config", "filter.spy.smudge", "sh " + (orange.root() / "spy.sh").string()}, repository);
    write_file(repository / ".gitattributes", "*.md filter=spy\n");
    orange.git({"add", "-A"}, repository);
    orange.git({"commit", "-q", "-m", "Filter"}, repository);
    rpc::ProjectUpdate update;
    update.name = "shop";
    update.setup = {{"sh", "-c", "ls -l /proc/self/fd >" + from_setup.string()}};
    orange.call(update);
    write_file(orange.root() / "idle.sh", "exec sleep 600\n");
    fs::create_directories(orange.home() / "harnesses");
    write_file(orange.home() / "harnesses" / "idle.yml", "name: idle\nprogram: sh\nmode: persistent\nargv:\n  full: [" +
                                                             (orange.root() / "idle.sh").string() +
                                                             ", --, \"{prompt}\"]\n");
    // Many connections are open when the children are started.
    std::vector<connection::Connection> held;
    for (int i = 0; i < 20; ++i) {
        auto opened = connection::Connection::open(orange.home() / "orange.sock", 5s);
        REQUIRE(opened);
        REQUIRE(opened->call(rpc::DaemonPing{}));
        held.push_back(std::move(*opened));
    }
    rpc::TaskCreate create;
    create.project = "shop";
    create.summary = "Idle";
    create.harness = create.review_harness = "idle";
    const auto id = orange.call(create).task.fields.id.value;
    orange.wait_for_status(id, "planning");

    CHECK(listed(from_setup).size() == 3);
    const auto run = orange.run_of(id, "worker");
    const auto shim = run.at("pid").get<pid_t>(), server = run.at("server_pid").get<pid_t>();
    const auto agent = child_of(orange, shim);
    orange.eventually("the agent runs",
                      [&] { return read_file("/proc/" + std::to_string(agent) + "/comm") == "sleep\n"; });
    for (const auto pid : {shim, agent}) {
        // A program that has just begun has its libraries open for a moment; what it was given stays.
        orange.eventually(std::to_string(pid) + " has three files open", [&] {
            std::string numbers;
            for (const auto& file : open_files(pid)) numbers += file.substr(0, file.find(' ')) + " ";
            return numbers == "0 1 2 ";
        });
    }
    std::set<std::string> daemons;
    for (const auto& file : open_files(orange.daemon_pid())) daemons.insert(target_of(file));
    CHECK(daemons.contains((orange.home() / "oranged.lock").string()));
    // git gives its filters a pipe or two of its own.
    CHECK(listed(from_git).size() >= 3);
    for (const auto& file : listed(from_git)) {
        INFO(file);
        const bool standard = file.starts_with("0 ") || file.starts_with("1 ") || file.starts_with("2 ");
        CHECK((standard || !daemons.contains(target_of(file))));
    }
    for (const auto& file : open_files(server)) {
        const auto target = target_of(file);
        INFO(file);
        if (target.starts_with("/dev/") || target.starts_with("anon_inode:")) continue;
        CHECK_FALSE(daemons.contains(target));
        CHECK_FALSE(target.starts_with(orange.home().string() + "/orange"));
    }
}

}  // namespace orange::tests

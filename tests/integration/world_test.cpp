#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "daemon/git/branches.hpp"
#include "tests/catch.hpp"
#include "tests/integration/background.hpp"
#include "tests/integration/doctor.hpp"

/// What happens to repositories, worktrees and remotes behind Orange's back. Each is done for real, is explained by
/// `orange doctor` or `orange task why` with the command that mends it, and that command is run, and mends it.
namespace orange::tests {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

struct PacedShop {
    Sandbox orange;
    fs::path repo;

    explicit PacedShop(int pool_size = 2, const std::string& config = "",
                       Sandbox::Time time = Sandbox::Time::of_machine)
        : orange(config, 0, time), repo(orange.add_project("shop", pool_size)) {
        add_idle_harness(orange);
    }

    /// A bare origin, cloned from: main follows its main.
    fs::path add_origin() {
        const auto origin = orange.add_origin(repo);
        orange.git({"fetch", "-q"}, repo);
        orange.git({"branch", "-q", "--set-upstream-to=origin/main", "main"}, repo);
        return origin;
    }
    std::string start() { return id_of(orange.call(idle_task("shop", "Wait"))); }
    std::string why(const std::string& id) { return orange.orange({"task", "why", id}).out; }
    fs::path admin_of(const fs::path& worktree) { return orange.git({"rev-parse", "--absolute-git-dir"}, worktree); }
};

/// Takes connections on a port of its own. `answer` is what each gets; empty: silence.
class Peer {
  public:
    explicit Peer(std::string answer) : answer_(std::move(answer)) {
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 64) != 0 ||
            ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
            throw std::runtime_error("no listener");
        }
        port_ = std::to_string(ntohs(address.sin_port));
        if (!answer_.empty()) thread_ = std::thread([this] { serve(); });
    }
    ~Peer() {
        ending_ = true;
        if (thread_.joinable()) thread_.join();
        ::close(listener_);
    }
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;
    const std::string& port() const { return port_; }
    /// Somebody has connected, and is not answered.
    bool was_called() const {
        pollfd waiting{listener_, POLLIN, 0};
        return ::poll(&waiting, 1, 0) > 0;
    }

  private:
    void serve() {
        while (!ending_) {
            pollfd waiting{listener_, POLLIN, 0};
            if (::poll(&waiting, 1, 50) <= 0) continue;
            const int peer = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            char request[4096];
            if (::read(peer, request, sizeof request) > 0) {
                (void)!::write(peer, answer_.data(), answer_.size());
            }
            ::close(peer);
        }
    }

    std::string answer_;
    std::string port_;
    std::atomic<bool> ending_ = false;
    int listener_ = -1;
    std::thread thread_;
};

}  // namespace

TEST_CASE("A worktree deleted by hand is named, and is back on its branch with its TASK.md") {
    PacedShop shop;
    auto& orange = shop.orange;
    const auto id = shop.start();
    orange.wait_for_status(id, "planning");
    const auto worktree = orange.worktree(id);
    const auto branch = orange.fields(id).at("branch").get<std::string>();
    const auto body = orange.body(id);
    fs::remove_all(worktree);
    const auto found = diagnose(orange);
    CHECK(found.status == 1);
    CHECK_THAT(found.said("worktrees"), Tells("gone") && Tells(orange.short_id(id)));
    CHECK_THAT(mend(orange, found.command("worktrees")), Tells("shop--1"));
    CHECK(diagnose(orange).said("worktrees").empty());
    CHECK(orange.git({"symbolic-ref", "--short", "HEAD"}, worktree) == branch);
    orange.eventually("its TASK.md is back", [&] { return fs::exists(worktree / "TASK.md"); });
    CHECK(orange.body(id) == body);
}

TEST_CASE("A free worktree deleted by hand is forgotten, and made anew for the next task") {
    PacedShop shop;
    auto& orange = shop.orange;
    orange.orange({"workspace", "init", "--project", "shop"});
    fs::remove_all(orange.home() / "workspaces" / "shop--1");
    mend(orange, diagnose(orange).command("worktrees"));
    CHECK(diagnose(orange).said("worktrees").empty());
    const auto id = shop.start();
    CHECK(orange.worktree(id).filename() == "shop--1");
    orange.wait_for_status(id, "planning");
}

TEST_CASE("A repository that was moved is found again with its workspaces, and its agents' git works") {
    PacedShop shop(2, "poll_interval: 1\n");
    auto& orange = shop.orange;
    const auto id = shop.start();
    orange.wait_for_status(id, "planning");
    const auto worktree = orange.worktree(id);
    const auto moved = orange.root() / "elsewhere" / "shop";
    fs::create_directories(moved.parent_path());
    fs::rename(shop.repo, moved);
    CHECK(orange.try_run({"git", "status"}, worktree).status != 0);

    orange.eventually("a poll sees that it is gone", [&] { return holds(orange.orange({"inbox"}).out, "NEW_PATH"); });
    for (const std::vector<std::string>& words : {std::vector<std::string>{"inbox"}, {"task", "why", id}}) {
        CHECK_THAT(orange.orange(words).out, Holds(shop.repo.string()) && Holds(" --path NEW_PATH"));
    }
    CHECK_THAT(orange.orange({"task", "list"}).out, Tells("help") && Holds(shop.repo.string()));
    const auto refused = orange.orange({"task", "create", "-p", "shop", "More"});
    CHECK(refused.status != 0);
    CHECK_THAT(refused.err, Holds(" --path NEW_PATH"));
    const auto found = diagnose(orange);
    CHECK(found.status == 1);
    CHECK(found.file("repositories") == shop.repo.string());
    auto command = found.command("repositories");
    REQUIRE_THAT(command, Tells(" --path NEW_PATH"));
    command.replace(command.find("NEW_PATH"), 8, moved.string());
    mend(orange, command);
    CHECK(diagnose(orange).errors().empty());
    write_file(worktree / "new.txt", "new\n");
    orange.git({"add", "new.txt"}, worktree);
    orange.git({"commit", "-q", "-m", "After the move"}, worktree);
    CHECK(orange.git({"log", "-1", "--format=%s", orange.fields(id).at("branch").get<std::string>()}, moved) ==
          "After the move");
    rpc::TaskCancel cancel;
    cancel.id = id;
    orange.call(cancel);
    CHECK(orange.fields(id).at("workspace").is_null());
}

TEST_CASE("A worktree whose .git points nowhere finds its repository again with what the doctor says") {
    PacedShop shop;
    auto& orange = shop.orange;
    const auto id = shop.start();
    orange.wait_for_status(id, "planning");
    const auto worktree = orange.worktree(id);
    write_file(worktree / ".git", "gitdir: /nowhere/.git/worktrees/shop--1\n");
    const auto found = diagnose(orange);
    CHECK_THAT(found.said("worktrees"), Tells(worktree.string()));
    CHECK(read_file(worktree / ".git") == "gitdir: /nowhere/.git/worktrees/shop--1\n");  // it only looks
    mend(orange, found.command("worktrees"));
    CHECK(diagnose(orange).errors().empty());
    CHECK(orange.try_run({"git", "status"}, worktree).status == 0);
}

TEST_CASE("A lock that a killed git left is named with its age, and goes with the command") {
    PacedShop shop;
    auto& orange = shop.orange;
    const auto id = shop.start();
    orange.wait_for_status(id, "planning");
    for (const auto& folder : {shop.admin_of(orange.worktree(id)), shop.repo / ".git"}) {
        const auto lock = folder / "index.lock";
        write_file(lock, "");
        CHECK(diagnose(orange).said("locks").empty());  // a git may be running
        fs::last_write_time(lock, fs::file_time_type::clock::now() - 10min);
        const auto found = diagnose(orange);
        CHECK_THAT(found.said("locks"), Tells("10"));
        CHECK(found.file("locks") == lock.string());
        mend(orange, found.command("locks"));
        CHECK_FALSE(fs::exists(lock));
        CHECK(diagnose(orange).said("locks").empty());
    }
}

TEST_CASE("A task that ended while somebody worked in its worktree leaves it by itself when they have gone") {
    PacedShop shop(1, "poll_interval: 0.2\n");
    auto& orange = shop.orange;
    const auto id = shop.start();
    orange.wait_for_status(id, "planning");
    const auto worktree = orange.worktree(id);
    write_file(worktree / "work", "mine");
    const auto waiting = shop.start();
    const pid_t somebody = std::stoi(orange.run({"sh", "-c", "sleep 600 >/dev/null 2>&1 & echo $!"}, worktree));
    rpc::TaskCancel cancel;
    cancel.id = id;
    orange.call(cancel);
    CHECK_THAT(shop.why(id), Tells(std::to_string(somebody)));
    CHECK(orange.fields(id).at("workspace") == "shop--1");
    CHECK(orange.status(waiting) == "pending");

    ::kill(somebody, SIGKILL);
    orange.eventually("the workspace is free", [&] { return orange.fields(id).at("workspace").is_null(); });
    CHECK(orange.fields(id).at("attention").is_null());
    CHECK(orange.git({"show", "refs/orange/" + id + "/wip:work"}, shop.repo) == "mine");
    orange.wait_for_status(waiting, "planning");
}

TEST_CASE("A repository that is away for a while costs no task its place in the queue") {
    PacedShop shop(1, "poll_interval: 0.2\n");
    auto& orange = shop.orange;
    const auto first = shop.start();
    orange.wait_for_status(first, "planning");
    const auto second = shop.start(), third = shop.start();
    const auto away = shop.repo.string() + ".away";
    fs::rename(shop.repo, away);
    CHECK(orange.orange({"project", "update", "shop", "--pool-size", "3"}).status == 0);
    orange.eventually("somebody is told", [&] { return orange.fields(second).at("attention").is_string(); });
    CHECK_THAT(shop.why(second), Tells("orange doctor"));
    CHECK(orange.status(second) == "pending");
    CHECK(orange.status(third) == "pending");

    fs::rename(away, shop.repo);
    orange.wait_for_status(second, "planning");
    orange.wait_for_status(third, "planning");
    CHECK(orange.fields(second).at("attention").is_null());
}

TEST_CASE("Locks that an agent's killed git left keep no task from ending, and no next one from beginning") {
    PacedShop shop(1);
    auto& orange = shop.orange;
    const auto id = shop.start();
    orange.wait_for_status(id, "planning");
    const auto worktree = orange.worktree(id);
    write_file(worktree / "new.txt", "new\n");
    for (const char* name : {"index.lock", "HEAD.lock"}) write_file(shop.admin_of(worktree) / name, "");
    rpc::TaskCancel cancel;
    cancel.id = id;
    orange.call(cancel);
    CHECK(orange.status(id) == "cancelled");
    CHECK(orange.fields(id).at("workspace").is_null());
    CHECK(orange.git({"show", "refs/orange/" + id + "/wip:new.txt"}, shop.repo) == "new");
    const auto next = shop.start();
    orange.wait_for_status(next, "planning");
    CHECK(orange.worktree(next) == worktree);
    CHECK(orange.try_run({"git", "add", "-A"}, worktree).status == 0);
}

TEST_CASE("A lock on a branch refuses the merge with its name, and the doctor has the command that mends it") {
    PacedShop shop;
    auto& orange = shop.orange;
    orange.git({"checkout", "-q", "-b", "feature"}, shop.repo);
    write_file(shop.repo / "feature.txt", "feature\n");
    orange.git({"add", "-A"}, shop.repo);
    orange.git({"commit", "-q", "-m", "Feature"}, shop.repo);
    orange.git({"checkout", "-q", "main"}, shop.repo);
    auto wanted = idle_task("shop", "Merge me");
    wanted.branch = "feature";
    wanted.status = "reviewing";
    const auto id = id_of(orange.call(wanted));
    const auto lock = shop.repo / ".git" / "refs" / "heads" / "main.lock";
    const auto before = orange.git({"rev-parse", "main"}, shop.repo);
    write_file(lock, "");
    fs::last_write_time(lock, fs::file_time_type::clock::now() - 10min);
    const auto refused = orange.orange({"task", "merge", id});
    CHECK(refused.status == 1);
    CHECK_THAT(refused.out + refused.err, Tells("main.lock"));
    CHECK(orange.status(id) == "reviewing");
    CHECK(orange.git({"rev-parse", "main"}, shop.repo) == before);
    CHECK(orange.git({"status", "--porcelain"}, shop.repo).empty());
    const auto found = diagnose(orange);
    CHECK(found.file("locks") == lock.string());
    CHECK_THAT(found.said("locks"), Tells("main") && Tells("shop"));
    mend(orange, found.command("locks"));
    CHECK(diagnose(orange).said("locks").empty());
    CHECK(orange.orange({"task", "merge", id}).status == 0);
    CHECK(orange.status(id) == "done");
    CHECK(read_file(shop.repo / "feature.txt") == "feature\n");
}

TEST_CASE("A worktree whose git was killed half-way is named, removed, and made anew") {
    for (const bool was_known : {true, false}) {
        PacedShop shop(1);
        auto& orange = shop.orange;
        const auto path = orange.home() / "workspaces" / "shop--1";
        CHECK(orange.orange({"workspace", "init", "--project", "shop"}).status == 0);
        const int held =
            ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // its inode is nobody else's meanwhile
        orange.git({"worktree", "remove", "--force", "--force", path.string()}, shop.repo);
        // A filter that never ends, in the middle of a checkout.
        write_file(shop.repo / ".git" / "info" / "attributes", "* filter=slow\n");
        orange.git({"config", "filter.slow.smudge", "touch " + (orange.root() / "begun").string() + " && sleep 60"},
                   shop.repo);
        orange.run({"sh", "-c",
                    "setsid git worktree add --detach \"$1\" main >/dev/null 2>&1 & pid=$!\n"
                    "while ! [ -e \"$0\" ]; do sleep 0.02; done; kill -9 -$pid",
                    (orange.root() / "begun").string(), path.string()},
                   shop.repo);
        ::close(held);
        orange.git({"config", "--unset", "filter.slow.smudge"}, shop.repo);
        fs::remove(shop.repo / ".git" / "info" / "attributes");
        REQUIRE_THAT(orange.git({"worktree", "list", "--porcelain"}, shop.repo), Holds("locked initializing"));

        if (was_known) {  // to the daemon this is another folder than the one that it had made
            const auto found = diagnose(orange);
            CHECK_THAT(found.said("worktrees"), Tells("shop--1"));
            mend(orange, found.command("worktrees"));
            CHECK(fs::exists(path.string() + ".old"));
        } else {  // as a daemon leaves it that is killed with its git: the next one removes it
            orange.kill_daemon();
            const auto file = orange.home() / "workspaces" / ".pool.json";
            auto pool = parse_json(read_file(file)).value();
            for (auto& workspace : pool.at("workspaces")) workspace.erase("worktree");
            write_file(file, pool.dump());
            orange.start_daemon();
        }
        orange.eventually("it is removed", [&] { return !fs::exists(path); });
        const auto id = shop.start();
        orange.wait_for_status(id, "planning");
        CHECK(orange.worktree(id) == path);
        CHECK(read_file(path / "README.md") == "# shop\n");
        CHECK(diagnose(orange).errors().empty());
    }
}

TEST_CASE("A git that outlives its daemon is ended, and the workspace that it had half made is made anew") {
    PacedShop shop(1, "poll_interval: 3600\n");
    auto& orange = shop.orange;
    const auto begun = orange.root() / "begun";
    write_file(shop.repo / ".git" / "info" / "attributes", "* filter=slow\n");
    orange.git({"config", "filter.slow.smudge", "echo $$ >" + begun.string() + "; exec sleep 60"}, shop.repo);
    Background creating(
        orange, "creating",
        {"task", "create", "--project", "shop", "--harness", "idle", "--review-harness", "idle", "Wait"});
    orange.eventually("git makes the workspace", [&] { return read_file(begun).ends_with('\n'); });
    const pid_t filter = std::stoi(read_file(begun));
    REQUIRE_THAT(orange.git({"worktree", "list", "--porcelain"}, shop.repo), Holds("locked initializing"));
    CHECK(diagnose(orange).errors().empty());  // nothing is wrong while it lives
    orange.kill_daemon();
    REQUIRE(::kill(filter, 0) == 0);
    orange.git({"config", "--unset", "filter.slow.smudge"}, shop.repo);
    fs::remove(shop.repo / ".git" / "info" / "attributes");
    orange.start_daemon();
    CHECK(creating.status() == 0);
    const auto tasks = orange.call(rpc::TaskList{}).tasks;
    REQUIRE(tasks.size() == 1);
    const auto id = tasks[0].fields.id.value;
    orange.wait_for_status(id, "planning");
    CHECK(orange.fields(id).at("attention").is_null());
    CHECK(read_file(orange.worktree(id) / "README.md") == "# shop\n");
    orange.eventually("the filter has ended", [&] { return ::kill(filter, 0) != 0; });
    CHECK(diagnose(orange).errors().empty());
}

TEST_CASE("A remote that takes the connection and stays silent is a warning after the fetch's time limit") {
    PacedShop shop(2, "", Sandbox::Time::of_test);
    auto& orange = shop.orange;
    const Peer silent("");
    orange.git({"remote", "add", "origin", "git://127.0.0.1:" + silent.port() + "/x.git"}, shop.repo);
    Background creating(
        orange, "creating",
        {"task", "create", "--project", "shop", "--harness", "idle", "--review-harness", "idle", "--json", "Wait"});
    orange.eventually("origin is asked", [&] { return silent.was_called(); });
    orange.advance(git::k_fetch_patience);
    REQUIRE(creating.status() == 0);
    const auto reply = Json::parse(creating.out());
    CHECK_THAT(reply.at("notes").dump(), Holds("origin"));
    orange.wait_for_status(reply.at("task").at("fields").at("id").get<std::string>(), "planning");
}

TEST_CASE("Whoever cancels a task does not wait for a remote that is silent") {
    PacedShop shop;
    auto& orange = shop.orange;
    const Peer silent("");
    orange.git({"remote", "add", "origin", "git://127.0.0.1:" + silent.port() + "/x.git"}, shop.repo);
    rpc::TaskCreate create = idle_task("shop", "Wait");
    create.no_spawn = true;
    const auto id = id_of(orange.call(create));
    Background starting(orange, "starting", {"task", "spawn", id});
    orange.eventually("it is being made ready", [&] {
        const auto workspaces = orange.call(rpc::WorkspaceList{}).workspaces;
        return std::any_of(workspaces.begin(), workspaces.end(), [&](const auto& space) { return space.task == id; });
    });
    rpc::TaskCancel cancel;
    cancel.id = id;
    orange.call(cancel);
    CHECK(starting.status() != 0);
    CHECK_THAT(starting.err(), Tells("cancelled"));
    CHECK(orange.status(id) == "cancelled");
    CHECK(orange.fields(id).at("workspace").is_null());
}

TEST_CASE("While a merge waits for a remote that is silent, the others of its repository go on") {
    PacedShop shop(3);
    auto& orange = shop.orange;
    const auto merged = orange.create("shop", "Add a greeting");
    orange.wait_for_status(merged, "reviewing");
    const auto neighbour = shop.start();
    orange.wait_for_status(neighbour, "planning");
    const Peer silent("");
    orange.git({"remote", "add", "origin", "git://127.0.0.1:" + silent.port() + "/x.git"}, shop.repo);
    // The new remote is an alarm, which has to be confirmed.
    Background merging(orange, "merging", {"task", "merge", merged, "--force"});
    orange.eventually("origin is asked", [&] { return silent.was_called() || merging.ended(); });
    INFO(merging.err());
    REQUIRE_FALSE(merging.ended());
    rpc::TaskUpdate rename;
    rename.id = neighbour;
    rename.branch = "another-name";
    orange.call(rename);
    rpc::TaskCancel cancel;
    cancel.id = neighbour;
    orange.call(cancel);
    CHECK(orange.fields(neighbour).at("workspace").is_null());
    CHECK_FALSE(merging.ended());
    CHECK(orange.status(merged) == "reviewing");
}

TEST_CASE("A remote that is gone, or asks for a password, is a warning at once, and nobody is asked") {
    const Peer asks(
        "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n"
        "Connection: close\r\n\r\n");
    PacedShop shop(3);
    auto& orange = shop.orange;
    // What a desktop would ask with; it would be called, and wait for ever.
    const auto asked = orange.root() / "asked";
    write_file(orange.root() / "askpass", "#!/bin/sh\ntouch " + asked.string() + "\nsleep 600\n");
    fs::permissions(orange.root() / "askpass", fs::perms::owner_all);
    orange.git({"config", "core.askPass", (orange.root() / "askpass").string()}, shop.repo);
    orange.git({"remote", "add", "origin", "none"}, shop.repo);
    for (const auto& url : {std::string("http://127.0.0.1:") + asks.port() + "/x.git",
                            (orange.root() / "nothing.git").string(), std::string("http://127.0.0.1:1/x.git")}) {
        orange.git({"config", "remote.origin.url", url}, shop.repo);
        const auto reply = orange.call(idle_task("shop", "Wait"));
        std::string notes;
        for (const auto& note : reply.notes) notes += note + "\n";
        CHECK_THAT(notes, Tells("origin"));
        CHECK_THAT(notes, !Catch::Matches("(.|\n)*[0-9] s\\b(.|\n)*"));  // the time limit
        orange.wait_for_status(id_of(reply), "planning");
    }
    CHECK_FALSE(fs::exists(asked));
}

TEST_CASE("A default branch that origin renamed starts nothing from the old one, and the doctor knows the new") {
    PacedShop shop;
    auto& orange = shop.orange;
    const auto origin = shop.add_origin();
    const auto held = shop.start();
    orange.git({"branch", "-m", "main", "trunk"}, origin);
    const auto refused = orange.orange({"task", "create", "-p", "shop", "--harness", "idle", "--summary", "Too late"});
    INFO(refused.out + refused.err);
    const auto found = diagnose(orange);
    CHECK(found.status == 1);
    CHECK_THAT(found.said("branches"), Tells("main") && Tells("trunk"));
    // Whoever has a workspace can still give it back.
    rpc::TaskCancel cancel;
    cancel.id = held;
    orange.call(cancel);
    CHECK(orange.fields(held).at("workspace").is_null());

    mend(orange, found.command("branches"));
    CHECK(diagnose(orange).said("branches").empty());
    const auto id = shop.start();
    orange.wait_for_status(id, "planning");
    CHECK(orange.git({"rev-parse", "HEAD"}, orange.worktree(id)) == orange.git({"rev-parse", "trunk"}, origin));
}

TEST_CASE("A branch that is checked out elsewhere names the place, and is taken once it is free") {
    PacedShop shop;
    auto& orange = shop.orange;
    auto wanted = idle_task("shop", "Wait");
    wanted.branch = "feature";
    wanted.no_spawn = true;
    const auto id = id_of(orange.call(wanted));
    orange.git({"checkout", "-q", "-b", "feature"}, shop.repo);
    const auto refused = orange.orange({"task", "spawn", id});
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, Tells("feature") && Tells(shop.repo.string()));
    CHECK(orange.status(id) == "pending");
    CHECK_THAT(shop.why(id), Tells("orange task spawn " + shop.orange.short_id(id)));
    CHECK(diagnose(orange).said("worktrees").empty());  // the workspace was given back
    orange.git({"checkout", "-q", "main"}, shop.repo);
    CHECK(orange.orange({"task", "spawn", id}).status == 0);
    orange.wait_for_status(id, "planning");
}

TEST_CASE("A rejected push leaves the task where it was, with origin's words, and can be tried again") {
    PacedShop shop;
    auto& orange = shop.orange;
    const auto origin = shop.add_origin();
    orange.git({"checkout", "-q", "-b", "feature"}, shop.repo);
    write_file(shop.repo / "feature.txt", "feature\n");
    orange.git({"add", "-A"}, shop.repo);
    orange.git({"commit", "-q", "-m", "Feature"}, shop.repo);
    orange.git({"checkout", "-q", "main"}, shop.repo);
    auto wanted = idle_task("shop", "Merge me");
    wanted.branch = "feature";
    wanted.status = "reviewing";
    const auto id = id_of(orange.call(wanted));
    const auto hook = origin / "hooks" / "pre-receive";
    write_file(hook, "#!/bin/sh\necho 'not on a Friday' >&2\nexit 1\n");
    fs::permissions(hook, fs::perms::owner_all);
    const auto before = orange.git({"rev-parse", "main"}, origin);
    const auto refused = orange.orange({"task", "merge", id});
    CHECK(refused.status == 1);
    CHECK_THAT(refused.out + refused.err, Holds("not on a Friday"));
    CHECK(orange.status(id) == "reviewing");
    for (const auto& repository : {shop.repo, origin}) {
        CHECK(orange.git({"rev-parse", "main"}, repository) == before);
    }
    CHECK_THAT(shop.why(id), Tells("orange task merge " + shop.orange.short_id(id)));
    fs::remove(hook);
    CHECK(orange.orange({"task", "merge", id}).status == 0);
    CHECK(orange.status(id) == "done");
    CHECK(orange.git({"show", "main:feature.txt"}, origin) == "feature");
}

TEST_CASE("A killed tmux server is explained with the command that brings the agents back") {
    PacedShop shop;
    auto& orange = shop.orange;
    const auto id = shop.start();
    orange.wait_for_status(id, "planning");
    ::kill(orange.run_of(id, "worker").at("server_pid").get<pid_t>(), SIGKILL);
    orange.eventually("the loss is seen", [&] { return !orange.history(id, "session.lost").empty(); });
    const auto found = diagnose(orange);
    CHECK(found.command("agents") == "orange task respawn " + orange.short_id(id));
    CHECK_THAT(shop.why(id), Tells("orange task respawn " + shop.orange.short_id(id)));
    mend(orange, found.command("agents"));
    CHECK(diagnose(orange).errors().empty());
    CHECK(orange.fields(id).at("crash_count") == 0);
}

TEST_CASE(
    "The first daemon after a reboot starts the agents again if it may, those of tasks that wait for a review, too") {
    const bool resumes = GENERATE(true, false);
    PacedShop shop(2, resumes ? "resume_after_reboot: true\n" : "");
    auto& orange = shop.orange;
    const auto one = shop.start(), two = shop.start();
    for (const auto& id : {one, two}) orange.wait_for_status(id, "planning");
    for (const char* status : {"stuck", "reviewing"}) {
        REQUIRE(orange.orange({"task", "update", two, "--status", status}).status == 0);
    }
    const auto before = orange.run_of(one, "worker"), second = orange.run_of(two, "worker");
    orange.stop_daemon();
    ::kill(before.at("server_pid").get<pid_t>(), SIGKILL);
    for (const auto& run : {before, second}) {
        orange.eventually("it is gone", [&] { return ::kill(run.at("pid").get<pid_t>(), 0) != 0; });
    }
    const timespec at_boot[] = {{1, 0}, {1, 0}};
    REQUIRE(::utimensat(AT_FDCWD, (orange.home() / "oranged.lock").c_str(), at_boot, 0) == 0);
    orange.start_daemon();
    orange.eventually("the loss is seen", [&] { return !orange.history(two, "session.lost").empty(); });
    orange.eventually("of both", [&] { return !orange.history(one, "session.lost").empty(); });
    const auto offer = [&] { return orange.orange({"inbox"}).out; };
    if (!resumes) {
        CHECK_THAT(offer(), Tells("orange task respawn --all"));
        REQUIRE(orange.orange({"task", "respawn", "--all"}).status == 0);
    }
    for (const auto& id : {one, two}) {
        orange.eventually("its agent is back", [&] { return !orange.history(id, "agent.respawned").empty(); });
    }
    CHECK(offer().find("--all") == std::string::npos);
    CHECK(orange.fields(one).at("crash_count") == 0);
    const auto server = orange.run_of(one, "worker").at("server_pid").get<pid_t>();
    orange.stop_daemon();  // no reboot since the last one
    ::kill(server, SIGKILL);
    orange.start_daemon();
    orange.eventually("the loss is seen", [&] { return orange.history(one, "session.lost").size() == 2; });
    CHECK(orange.history(one, "agent.respawned").size() == 1);
}

TEST_CASE("A tmux socket that was removed is made anew, and an agent that ends meanwhile is no lost session") {
    PacedShop shop;
    auto& orange = shop.orange;
    const auto id = shop.start();
    orange.wait_for_status(id, "planning");
    const auto run = orange.run_of(id, "worker");
    fs::remove(orange.home() / "tmux.sock");
    CHECK(diagnose(orange).errors().empty());
    CHECK(fs::exists(orange.home() / "tmux.sock"));
    CHECK(orange.run_of(id, "worker") == run);
    fs::remove(orange.home() / "tmux.sock");
    ::kill(run.at("pid").get<pid_t>(), SIGTERM);
    orange.eventually("the end is seen", [&] { return !orange.history(id, "agent.exited").empty(); });
    CHECK(orange.history(id, "session.lost").empty());
}

TEST_CASE("A daemon that begins when the tmux socket was removed starts no second server") {
    PacedShop shop;
    auto& orange = shop.orange;
    const auto one = shop.start();
    orange.wait_for_status(one, "planning");
    const auto run = orange.run_of(one, "worker");
    CHECK(run.at("server_start").get<std::int64_t>() > 0);
    orange.stop_daemon();
    fs::remove(orange.home() / "tmux.sock");
    orange.start_daemon();
    const auto two = shop.start();
    orange.wait_for_status(two, "planning");
    CHECK(orange.run_of(two, "worker").at("server_pid") == run.at("server_pid"));
    CHECK(orange.run_of(one, "worker") == run);
    CHECK(diagnose(orange).errors().empty());
}

TEST_CASE("A cancel that keeps files for long says so, and the next task of the repository starts meanwhile") {
    PacedShop shop;
    auto& orange = shop.orange;
    const auto id = shop.start();
    orange.wait_for_status(id, "planning");
    const auto open = orange.root() / "open";
    // git reads each new file through a program that waits.
    orange.git({"config", "filter.slow.clean", "while [ ! -e '" + open.string() + "' ]; do sleep 0.05; done; cat"},
               shop.repo);
    write_file(shop.repo / ".git/info/attributes", "*.big filter=slow\n");
    write_file(orange.worktree(id) / "data.big", std::string(3'000'000, 'x'));
    Background cancelling(orange, "cancelling", {"task", "cancel", id, "-y"});
    rpc::TaskWhy why;
    rpc::TaskShow show;
    why.id = show.id = id;
    orange.eventually("why says what is kept",
                      [&] { return orange.call(why).waiting_for.find("shop--1") != std::string::npos; });
    const auto moving = orange.call(show).task.in_progress;
    REQUIRE(moving);
    CHECK_THAT(*moving, Tells("shop--1") && Tells("2"));
    const auto other = id_of(orange.call(idle_task("shop", "Go on")));
    orange.wait_for_status(other, "planning");
    CHECK_FALSE(cancelling.ended());
    write_file(open, "");
    CHECK(cancelling.status() == 0);
    CHECK(orange.git({"cat-file", "-s", "refs/orange/" + id + "/wip:data.big"}, shop.repo) == "3000000");
}

TEST_CASE("Agents in a tmux server that another one hides are named, and the command brings all into one") {
    PacedShop shop;
    auto& orange = shop.orange;
    const auto id = shop.start();
    orange.wait_for_status(id, "planning");
    const auto run = orange.run_of(id, "worker");
    const auto hidden = run.at("server_pid").get<pid_t>();
    orange.stop_daemon();
    fs::remove(orange.home() / "tmux.sock");
    const auto answering = [&] { return orange.tmux({"display-message", "-p", "#{pid}"}).out; };
    SECTION("nobody is in the other one: it gives way") {
        REQUIRE(orange.tmux({"start-server", ";", "set-option", "-g", "exit-empty", "off"}).status == 0);
        orange.start_daemon();
        const auto found = diagnose(orange);
        CHECK_THAT(found.said("servers"), Tells(orange.short_id(id)));
        mend(orange, found.command("servers"));
        orange.eventually("the agent is back", [&] { return diagnose(orange).errors().empty(); });
        CHECK(answering() == std::to_string(hidden) + "\n");
        CHECK(orange.run_of(id, "worker") == run);
    }
    SECTION("somebody is: the agent is started again in that one") {
        REQUIRE(orange.tmux({"new-session", "-d", "-s", "mine", "sleep 600"}).status == 0);
        orange.start_daemon();
        const auto found = diagnose(orange);
        CHECK_THAT(found.said("servers"), Tells(orange.short_id(id)));
        mend(orange, found.command("servers"));
        orange.eventually("its end is seen", [&] { return !orange.history(id, "agent.crashed").empty(); });
        const auto ended = diagnose(orange);
        CHECK(ended.said("servers").empty());
        mend(orange, ended.command("agents"));
        CHECK(diagnose(orange).errors().empty());
        CHECK(std::to_string(orange.run_of(id, "worker").at("server_pid").get<pid_t>()) + "\n" == answering());
        CHECK(orange.history(id, "session.lost").empty());
        ::kill(hidden, SIGTERM);
    }
}

}  // namespace orange::tests

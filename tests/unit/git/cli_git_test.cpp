#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/git/branches.hpp"
#include "daemon/git/repository.hpp"
#include "daemon/process/proc_info.hpp"
#include "tests/catch.hpp"
#include "tests/support/advanced_time.hpp"
#include "tests/unit/git/git_fixture.hpp"

using namespace orange;
using namespace orange::test;
using namespace std::chrono_literals;

namespace {

/// A peer that accepts and says nothing.
class SilentPeer {
  public:
    SilentPeer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto* generic = reinterpret_cast<sockaddr*>(&address);
        socklen_t size = sizeof address;
        if (::bind(socket_, generic, size) != 0 || ::listen(socket_, 8) != 0) throw std::runtime_error("no listener");
        ::getsockname(socket_, generic, &size);
        port_ = ntohs(address.sin_port);
    }
    ~SilentPeer() { ::close(socket_); }
    std::string port() const { return std::to_string(port_); }
    bool is_called() const {
        pollfd calls{socket_, POLLIN, 0};
        return ::poll(&calls, 1, 0) == 1;
    }

  private:
    int socket_;
    int port_ = 0;
};

bool anything_runs_with(const std::string& word) {
    for (const auto pid : process::all_pids()) {
        for (const auto& argument : process::argv_of(pid)) {
            if (pid != ::getpid() && argument.find(word) != std::string::npos) return true;
        }
    }
    return false;
}

}  // namespace

TEST_CASE_METHOD(GitFixture, "a fetch from a silent peer ends at its deadline and leaves no process") {
    const auto repo = make_repo();
    TestTime time;
    for (const std::string scheme : {"http", "git"}) {
        const SilentPeer peer;
        const auto url = scheme + "://127.0.0.1:" + peer.port() + "/x.git";
        plain(repo, {"config", "remote.origin.url", url});
        async::spawn(io.get_executor(), "advancing", advance_when(time, 1h, [&] { return peer.is_called(); }));
        const auto fetched = go(git::fetch(git, repo, 1h));
        REQUIRE_FALSE(fetched);
        CHECK(fetched.error().code == ErrorCode::timeout);
        CHECK(eventually([&] { return !anything_runs_with(url); }));
    }
}

TEST_CASE_METHOD(GitFixture, "hooks, fsmonitor and uploadpack from the repository's config do not run") {
    const auto repo = make_repo();
    const auto origin = make_origin(repo);
    const auto mark = path("ran");
    write_file(dir / "evil", "#!/bin/sh\ntouch " + mark + "\nexit 1\n");
    ::chmod(path("evil").c_str(), 0755);
    write_file(dir / "repo/.git/hooks/post-checkout", "#!/bin/sh\ntouch " + mark + "\n");
    ::chmod((repo + "/.git/hooks/post-checkout").c_str(), 0755);
    plain(repo, {"config", "core.hooksPath", repo + "/.git/hooks"});
    plain(repo, {"config", "core.fsmonitor", path("evil")});
    plain(repo, {"config", "remote.origin.uploadpack", path("evil")});
    GitCommand status;
    status.place = repo;
    status.args = {"status", "--porcelain"};
    CHECK(go(git.run(status))->ok());
    GitCommand checkout;
    checkout.place = repo;
    checkout.args = {"checkout", "-q", "--detach"};
    CHECK(go(git.run(checkout))->ok());
    CHECK(go(git::fetch(git, repo, 20s)));
    CHECK_FALSE(std::filesystem::exists(mark));
}

TEST_CASE_METHOD(GitFixture, "looking at a repository takes no lock and writes no index") {
    const auto repo = make_repo();
    const auto index = dir / "repo/.git/index";
    // As it is after a checkout by somebody else: git would note the new time, for which it locks the index.
    const auto touch = [&](std::chrono::hours ago) {
        std::filesystem::last_write_time(dir / "repo/README", std::filesystem::file_time_type::clock::now() - ago);
    };
    touch(1h);
    plain(repo, {"status", "--porcelain"});
    const auto before = read_file(index);
    touch(2h);
    GitCommand status;
    status.place = repo;
    status.args = {"status", "--porcelain"};
    const auto done = go(git.run(status));
    REQUIRE(done);
    CHECK(done->out.empty());
    CHECK(read_file(index) == before);
    plain(repo, {"status", "--porcelain"});
    CHECK(read_file(index) != before);  // which is what the user's own does
}

TEST_CASE_METHOD(GitFixture, "a repository's ssh command does not run") {
    const auto repo = make_repo();
    const auto mark = path("ran");
    write_file(dir / "evil", "#!/bin/sh\ntouch " + mark + "\nexit 1\n");
    ::chmod(path("evil").c_str(), 0755);
    plain(repo, {"config", "core.sshCommand", path("evil")});
    plain(repo, {"remote", "add", "origin", "ssh://127.0.0.1:1/x.git"});
    const auto fetched = go(git::fetch(git, repo, 20s));
    REQUIRE_FALSE(fetched);
    CHECK_THAT(fetched.error().message, Tells("core.sshCommand"));
    CHECK_FALSE(std::filesystem::exists(mark));
    plain(repo, {"config", "core.sshCommand", "ssh\nglobal\t" + path("evil")});  // as a list of scopes would show it
    REQUIRE_FALSE(go(git::fetch(git, repo, 20s)));
    CHECK_FALSE(std::filesystem::exists(mark));
    plain(repo, {"config", "core.sshCommand", path("evil")});
    plain(repo, {"fetch", "origin"}, true);
    CHECK(std::filesystem::exists(mark));  // the user's own does
}

TEST_CASE_METHOD(GitFixture, "the user's own ssh command runs, wherever git would find it") {
    const auto repo = make_repo();
    const auto origin = make_origin(repo);
    plain(repo, {"config", "remote.origin.url", "ssh://example.org:77" + origin});
    // Runs here what it is to run there, and notes its words.
    const auto ssh = [&](const std::string& name) {
        write_file(dir / "bin" / name, "#!/bin/sh\necho \"$*\" >>" + path(name + ".ran") +
                                           "\ncase \" $* \" in *' -G '*) exit 0 ;; esac\n"
                                           "for last; do :; done\neval \"$last\"\n");
        ::chmod(path("bin/" + name).c_str(), 0755);
        return path("bin/" + name);
    };
    const auto used = ssh("used"), other = ssh("other");
    auto env = environment();
    plain(repo, {"config", "core.sshCommand", other});
    SECTION("GIT_SSH_COMMAND") {
        plain(repo, {"config", "--global", "core.sshCommand", other});
        env["GIT_SSH_COMMAND"] = used + " -x 'a b'";
    }
    SECTION("core.sshCommand") {
        plain(repo, {"config", "--global", "core.sshCommand", used + " -x 'a b'"});
        env["GIT_SSH"] = other;
    }
    SECTION("core.sshCommand of a file that is included for the repository") {
        write_file(dir / "work", "[core]\n\tsshCommand = " + used + " -x 'a b'\n");
        plain(repo, {"config", "--global", "includeIf.gitdir:" + repo + "/.path", path("work")});
    }
    SECTION("GIT_SSH, and ssh itself, which is told not to ask") {
        env["GIT_SSH"] = ssh("ssh");
        std::filesystem::remove(dir / "bin/used");
        CliGit own(runner, env);
        REQUIRE(go(git::fetch(own, repo, 20s)));
        CHECK_THAT(read_file(dir / "ssh.ran"), Tells("-oBatchMode=yes") && Tells("-p 77"));
        CHECK_FALSE(std::filesystem::exists(dir / "other.ran"));
        return;
    }
    CliGit own(runner, env);
    REQUIRE(go(git::fetch(own, repo, 20s)));
    CHECK_THAT(read_file(dir / "used.ran"), Holds("-x a b"));
    CHECK_FALSE(std::filesystem::exists(dir / "other.ran"));
}

TEST_CASE_METHOD(GitFixture, "git gets the ssh-agent that answers, and a refused login says that there is none") {
    const auto repo = make_repo();
    plain(repo, {"config", "remote.origin.url", "ssh://example.org" + make_origin(repo)});
    write_file(dir / "bin/keyless",
               "#!/bin/sh\ncase \" $* \" in *' -G '*) exit 0 ;; esac\necho \"$SSH_AUTH_SOCK\" >>" + path("agents") +
                   "\n[ \"$SSH_AUTH_SOCK\" = /new ] || { echo 'me@example.org: Permission denied (publickey).' >&2; "
                   "exit 255; }\nfor last; do :; done\neval \"$last\"\n");
    ::chmod(path("bin/keyless").c_str(), 0755);
    auto env = environment();
    env["GIT_SSH_COMMAND"] = path("bin/keyless");
    env["SSH_AUTH_SOCK"] = "/old";
    CliGit own(runner, env);
    std::string living = "/new";
    own.use_ssh_agent([&] { return living; });
    CHECK(go(git::fetch(own, repo, 20s)));
    CHECK(read_file(dir / "agents") == "/new\n");
    living.clear();
    const auto refused = go(git::fetch(own, repo, 20s));
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Tells("SSH_AUTH_SOCK=/old") && Tells("orange daemon reload"));
    CHECK(read_file(dir / "agents") == "/new\n/old\n");
    living = "/other";  // it answers, and has no key for this host
    const auto keyless = go(git::fetch(own, repo, 20s));
    REQUIRE_FALSE(keyless);
    CHECK(keyless.error().message.find("SSH_AUTH_SOCK") == std::string::npos);
}

TEST_CASE_METHOD(GitFixture, "a repository's ssh command runs as long as it is the one that a human agreed to") {
    const auto repo = make_repo();
    plain(repo, {"config", "remote.origin.url", "ssh://example.org" + make_origin(repo)});
    write_file(dir / "bin/own",
               "#!/bin/sh\necho \"$*\" >>" + path("own.ran") +
                   "\ncase \" $* \" in *' -G '*) exit 0 ;; esac\nfor last; do :; done\neval \"$last\"\n");
    ::chmod(path("bin/own").c_str(), 0755);
    const auto command = path("bin/own") + " -i 'a key'";
    plain(repo, {"config", "core.sshCommand", command});
    CHECK(go(git::own_ssh_command(git, repo)).value() == command);
    CliGit own(runner, environment());
    own.trust_ssh([&] { return "other\n" + command; });
    REQUIRE(go(git::fetch(own, repo, 20s)));
    CHECK_THAT(read_file(dir / "own.ran"), Holds("-i a key"));
    std::filesystem::remove(dir / "own.ran");
    plain(repo, {"config", "core.sshCommand", path("bin/own")});
    (void)go(git::fetch(own, repo, 20s));
    CHECK_FALSE(std::filesystem::exists(dir / "own.ran"));
}

TEST_CASE_METHOD(GitFixture, "an inherited GIT_DIR does not lead git elsewhere") {
    const auto repo = make_repo();
    auto env = environment();
    env["GIT_DIR"] = "/nowhere";
    CliGit other(runner, env);
    CHECK(go(git::current_branch(other, repo)).value() == "main");
}

TEST_CASE_METHOD(GitFixture, "a failing git is an error with its command, status and words") {
    const auto repo = make_repo();
    GitCommand command;
    command.place = repo;
    command.args = {"rev-parse", "--verify", "nothing"};
    const auto done = go(git_output(git, command));
    REQUIRE_FALSE(done);
    CHECK(done.error().code == ErrorCode::external_failed);
    CHECK(done.error().details.at("exit_status") == "128");
    CHECK(done.error().details.at("command") == "git rev-parse --verify nothing");
    CHECK(done.error().details.at("stderr").find("graft") == std::string::npos);
}

TEST_CASE_METHOD(GitFixture, "a lock that is in git's way is named with its age and the command that removes it") {
    const auto repo = make_repo();
    const auto git_dir = std::filesystem::path(repo) / ".git";
    const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
        {"index.lock", {"add", "-A"}},
        {"config.lock", {"config", "some.thing", "1"}},
        {"refs/heads/main.lock", {"update-ref", "refs/heads/main", "HEAD^0", "HEAD"}},
        {"HEAD.lock", {"symbolic-ref", "HEAD", "refs/heads/other"}},
        {"packed-refs.lock", {"pack-refs", "--all"}},
    };
    write_file(git_dir.parent_path() / "new", "new\n");
    for (const auto& [name, args] : cases) {
        const auto lock = git_dir / name;
        INFO(lock);
        write_file(lock, "");
        std::filesystem::last_write_time(lock, std::filesystem::file_time_type::clock::now() - 7min);
        GitCommand command;
        command.place = repo;
        command.args = args;
        const auto done = go(git_output(git, command));
        REQUIRE_FALSE(done);
        CHECK_THAT(done.error().message, Holds("7 minutes old") && Tells("rm " + lock.string()));
        std::filesystem::remove(lock);
    }
}

TEST_CASE_METHOD(GitFixture,
                 "a filter or an encoding that does not work is named with what to do, and changes no file") {
    const auto repo = make_repo();
    const auto failed = [&](const std::string& attributes) {
        write_file(repo + "/.gitattributes", attributes);
        GitCommand command;
        command.place = repo;
        command.args = {"add", "-A"};
        const auto done = go(git_output(git, command));
        CHECK_FALSE(done);
        return done ? std::string() : done.error().message;
    };
    for (const std::string filter : {"filter.big", "filter.lfs"}) {
        plain(repo, {"config", filter + ".clean", "/no/such/program"});
        plain(repo, {"config", filter + ".required", "true"});
    }
    write_file(repo + "/new.bin", "odd bytes\n");
    CHECK_THAT(failed("*.bin filter=big\n"),
               Tells("git -C " + repo + " config filter.big.required false") && Holds("unfiltered"));
    CHECK_THAT(failed("*.bin filter=lfs\n"), Holds("git-lfs") && !Holds("required"));
    for (const std::string encoding : {"UTF-16", "NO-SUCH-ONE"}) {
        CHECK_THAT(failed("*.bin working-tree-encoding=" + encoding + "\n"), Holds("working-tree-encoding"));
    }
    CHECK(read_file(repo + "/new.bin") == "odd bytes\n");
}

TEST_CASE_METHOD(GitFixture, "what the daemon's git writes is on the disk before the daemon goes on") {
    const auto repo = make_repo();
    const auto trace = dir / "trace";
    const auto settings = read_file(dir / "home/.gitconfig");
    write_file(dir / "home/.gitconfig", settings + "[trace2]\n\teventTarget = " + trace.string() + "\n");
    write_file(dir / "repo/file", "to be kept\n");
    const auto synced = [&](std::vector<std::string> args) {
        std::filesystem::remove(trace);
        GitCommand command;
        command.place = repo;
        command.args = std::move(args);
        const auto done = go(git.run(std::move(command)));
        REQUIRE(done);
        REQUIRE(done->ok());
        // git 2.39 writes it as "fsync/hardware-flush", git 2.47 as the counter "hardware-flush" of "fsync".
        return read_file(trace).find("hardware-flush\"") != std::string::npos;
    };
    CHECK(synced({"add", "file"}));
    CHECK(synced({"hash-object", "-w", "--stdin"}));
    CHECK(synced({"commit-tree", "-m", "kept", "HEAD^{tree}"}));
    CHECK(synced({"update-ref", "refs/orange/x/wip", "HEAD"}));
    CHECK_FALSE(synced({"status", "--porcelain"}));
}

TEST_CASE_METHOD(GitFixture, "a commit is what its hash says, though somebody has put another in its place") {
    const auto repo = make_repo();
    const auto real = commit(repo, "README", "two\n");
    const auto other = commit(repo, "README", "three\n");
    plain(repo, {"replace", real, other});
    REQUIRE(plain(repo, {"show", real + ":README"}) == "three");
    GitCommand command;
    command.place = repo;
    command.args = {"show", real + ":README"};
    CHECK(go(git.run(std::move(command))).value().out == "two\n");
}

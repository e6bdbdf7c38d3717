#include "daemon/app/home.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "common/base/system.hpp"
#include "common/config/home_check.hpp"
#include "common/config/home_lock.hpp"
#include "common/config/socket_address.hpp"
#include "common/posix/fd.hpp"
#include "daemon/app/home_files.hpp"
#include "daemon/app/other_namespace.hpp"
#include "daemon/files/posix_file_system.hpp"
#include "tests/catch.hpp"
#include "tests/support/os_fixture.hpp"

using namespace orange;
using namespace orange::test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

/// What a child process makes of the same home at once: its error's code, -1 for success.
int taken_by_child(const Paths& paths) {
    const auto child = ::fork();
    if (child == 0) {
        const auto home = Home::acquire(paths, 0ms);
        ::_exit(home ? 100 : static_cast<int>(home.error().code));
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? (WEXITSTATUS(status) == 100 ? -1 : WEXITSTATUS(status)) : -2;
}

/// Listens where the daemon of that home would.
UniqueFd listener(const Paths& paths) {
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto address = SocketAddress::in_folder(paths.socket());
    REQUIRE(address);
    REQUIRE(::bind(fd.get(), address->get(), address->size()) == 0);
    REQUIRE(::listen(fd.get(), 4) == 0);
    return fd;
}

/// A process that holds the home and listens to nobody, as a daemon that begins or ends, until it is told to end.
class Ending {
  public:
    explicit Ending(const Paths& paths) {
        int ready[2];
        REQUIRE((::pipe(ready) == 0 && ::pipe(end_) == 0));
        pid_ = ::fork();
        if (pid_ == 0) {
            const auto home = Home::acquire(paths);
            char byte = 0;
            (void)!::write(ready[1], "x", 1);
            (void)!::read(end_[0], &byte, 1);
            ::_exit(home ? 0 : 1);
        }
        char byte = 0;
        REQUIRE(::read(ready[0], &byte, 1) == 1);
        ::close(ready[0]);
        ::close(ready[1]);
    }
    ~Ending() {
        ::waitpid(pid_, nullptr, 0);
        ::close(end_[0]);
        ::close(end_[1]);
    }
    void let_end() { (void)!::write(end_[1], "x", 1); }
    pid_t pid() const { return pid_; }

  private:
    int end_[2] = {-1, -1};
    pid_t pid_ = -1;
};

}  // namespace

TEST_CASE("a home is made, closed to others, and held by one daemon") {
    const TempDir dir;
    const Paths paths{dir / "home"};
    {
        const auto home = Home::acquire(paths);
        REQUIRE(home);
        CHECK((fs::status(paths.home).permissions() & fs::perms::mask) == fs::perms::owner_all);
        CHECK((fs::status(paths.lock()).permissions() & fs::perms::mask) ==
              (fs::perms::owner_read | fs::perms::owner_write));
        CHECK(read_file(paths.lock()) == std::to_string(::getpid()));
        const auto listening = listener(paths);
        const auto second = Home::acquire(paths);
        REQUIRE_FALSE(second);
        CHECK(second.error().code == ErrorCode::conflict);
        CHECK_THAT(second.error().message, Tells(std::to_string(::getpid())));
        CHECK(taken_by_child(paths) == static_cast<int>(ErrorCode::conflict));
        CHECK(read_file(paths.lock()) == std::to_string(::getpid()));
    }
    CHECK(fs::exists(paths.lock()));
    CHECK(taken_by_child(paths) == -1);
    CHECK(Home::acquire(paths));
}

TEST_CASE("what a killed daemon leaves of its lock and its socket is waited for") {
    const TempDir dir;
    const Paths paths{dir / "home"};
    auto home = std::optional(Home::acquire(paths).value());
    const auto listening = listener(paths);
    const pid_t dead = ::fork();
    if (dead == 0) ::_exit(0);
    REQUIRE(::waitpid(dead, nullptr, 0) == dead);
    write_file(paths.lock(), std::to_string(dead));
    CHECK(Home::acquire(paths, 0ms).error().code == ErrorCode::timeout);
    home.reset();
    CHECK(Home::acquire(paths, 0ms));
}

TEST_CASE("a daemon that ends is waited for, and one that does neither end nor listen is named") {
    const TempDir dir;
    const Paths paths{dir / "home"};
    Ending before(paths);
    CHECK(lock_holder(paths) == before.pid());
    const auto hung = Home::acquire(paths, 0ms);
    REQUIRE_FALSE(hung);
    CHECK(hung.error().code == ErrorCode::timeout);
    CHECK_THAT(hung.error().message, Tells(std::to_string(before.pid())));
    CHECK_THAT(hung.error().message, Tells("orange daemon restart --force"));

    std::thread later([&] { before.let_end(); });
    const auto home = Home::acquire(paths);
    later.join();
    REQUIRE(home);
    CHECK(lock_holder(paths) == ::getpid());
}

TEST_CASE("a daemon that begins is waited for, too, until it listens") {
    const TempDir dir;
    const Paths paths{dir / "home"};
    const auto first = Home::acquire(paths);
    REQUIRE(first);
    CHECK_FALSE(is_listening(paths.socket()));
    UniqueFd listening;
    std::thread later([&] { listening = listener(paths); });
    const auto second = Home::acquire(paths);
    later.join();
    REQUIRE_FALSE(second);
    CHECK(second.error().code == ErrorCode::conflict);
    CHECK(is_listening(paths.socket()));
}

TEST_CASE("nobody holds the lock of a home that is free, or is not there") {
    const TempDir dir;
    const Paths paths{dir / "home"};
    CHECK(lock_holder(paths) == std::nullopt);
    CHECK_FALSE(is_listening(paths.socket()));
    REQUIRE(Home::acquire(paths));
    CHECK(lock_holder(paths) == std::nullopt);
    listener(paths);  // its file stays
    CHECK_FALSE(is_listening(paths.socket()));
}

TEST_CASE("a lock that a killed daemon left with a child of its own is waited for") {
    const TempDir dir;
    const Paths paths{dir / "home"};
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    const auto daemon = ::fork();
    if (daemon == 0) {
        const auto home = Home::acquire(paths);
        if (::fork() == 0) {  // has the lock's descriptor until it becomes another program
            ::usleep(300'000);
            ::_exit(0);
        }
        (void)!::write(ready[1], "x", 1);
        ::pause();
    }
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    CHECK_FALSE(Home::acquire(paths, 0ms));  // it lives
    ::kill(daemon, SIGKILL);
    ::waitpid(daemon, nullptr, 0);
    CHECK(Home::acquire(paths));
    CHECK(read_file(paths.lock()) == std::to_string(::getpid()));
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST_CASE("a daemon in another PID namespace does not start while agents may live, and reads no pid there") {
    const TempDir dir;
    const Paths paths{dir / "home"};
    PosixFileSystem files;
    const auto found = system::pid_namespace();
    const auto home = Home::acquire(paths);
    REQUIRE(home);
    CHECK_FALSE(is_of_other_namespace(paths));
    CHECK(take_pid_namespace(files, paths));
    CHECK(std::filesystem::exists(paths.pid_namespace()) == found.has_value());
    if (!found) return;  // a system without them
    const auto& here = *found;
    CHECK(read_file(paths.pid_namespace()) == here.boot + " " + here.number + "\n");
    CHECK_FALSE(is_of_other_namespace(paths));
    CHECK(lock_holder(paths) == ::getpid());

    write_file(paths.pid_namespace(), here.boot + " 1\n");
    CHECK(is_of_other_namespace(paths));
    CHECK(lock_holder(paths) == 0);
    const auto listening = listener(paths);
    CHECK(Home::acquire(paths, 0ms).error().code == ErrorCode::conflict);
    SECTION("without an agent it takes the home") {
        CHECK(take_pid_namespace(files, paths));
        CHECK_FALSE(is_of_other_namespace(paths));
    }
    SECTION("what may have an agent is left alone") {
        write_file(paths.tasks() / "shop" / "aaaaaaaaaaaaaaaaaaaaa" / "state.json", "{");
        const auto taken = take_pid_namespace(files, paths);
        REQUIRE_FALSE(taken);
        CHECK(taken.error().code == ErrorCode::conflict);
        CHECK_THAT(taken.error().message, Tells("rm " + paths.pid_namespace().string()));
        CHECK(is_of_other_namespace(paths));
        fs::remove(paths.pid_namespace());
        CHECK(take_pid_namespace(files, paths));
    }
    SECTION("after a boot nothing lives") {
        write_file(paths.tasks() / "shop" / "aaaaaaaaaaaaaaaaaaaaa" / "state.json", "{");
        write_file(paths.pid_namespace(), "another-boot 1\n");
        CHECK_FALSE(is_of_other_namespace(paths));
        CHECK(take_pid_namespace(files, paths));
    }
}

TEST_CASE("a home that is open to others is refused with the command that closes it") {
    const TempDir dir;
    const Paths paths{dir / "home"};
    fs::create_directory(paths.home);
    write_file(paths.home / "diary", "");
    ::chmod(paths.home.c_str(), 0755);
    const auto home = Home::acquire(paths);
    REQUIRE_FALSE(home);
    CHECK(home.error().code == ErrorCode::forbidden);
    CHECK_THAT(home.error().message, Tells("chmod 700 " + paths.home.string()));
    CHECK_FALSE(fs::exists(paths.lock()));
    ::chmod(paths.home.c_str(), 0700);
    CHECK(Home::acquire(paths));
}

TEST_CASE("a home that was made by hand for its settings is closed to others, once") {
    const TempDir dir;
    const Paths paths{dir / "home"};
    fs::create_directories(paths.harnesses());
    fs::create_directory(paths.workflows());
    write_file(paths.harnesses() / "mine.yml", "name: mine\n");
    write_file(paths.config(), "log_level: info\n");
    write_file(paths.home / "hosts.yml", "box: {}\n");
    fs::create_directories(paths.home / "cache" / "hosts");
    write_file(paths.home / "cache" / "hosts" / "box.list.json", "{}\n");
    ::chmod(paths.home.c_str(), 0755);
    CHECK(check_home(paths.home));  // nobody listens there: the client may start a daemon
    {
        const auto home = Home::acquire(paths);
        REQUIRE(home);
        CHECK(home->was_closed());
        CHECK((fs::status(paths.home).permissions() & fs::perms::mask) == fs::perms::owner_all);
    }
    const auto again = Home::acquire(paths);
    REQUIRE(again);
    CHECK_FALSE(again->was_closed());
}

TEST_CASE("a home that stands open with anything else in it is left to its user") {
    const TempDir dir;
    const Paths paths{dir / "home"};
    fs::create_directories(paths.harnesses());
    write_file(paths.harnesses() / "mine.yml", "name: mine\n");
    ::chmod(paths.home.c_str(), 0755);
    SECTION("an older daemon's files") {
        fs::create_directory(paths.tasks());
    }
    SECTION("a socket's name") {
        write_file(paths.socket(), "");
    }
    SECTION("a file that everybody may write") {
        ::chmod((paths.harnesses() / "mine.yml").c_str(), 0666);
    }
    SECTION("a last answer of a host that everybody may write") {
        const auto answers = paths.home / "cache" / "hosts";
        fs::create_directories(answers);
        write_file(answers / "box.list.json", "{}\n");
        ::chmod((answers / "box.list.json").c_str(), 0666);
    }
    SECTION("a link") {
        fs::create_symlink("/etc/passwd", paths.config());
    }
    SECTION("everybody may write") {
        ::chmod(paths.home.c_str(), 0777);
    }
    const auto home = Home::acquire(paths);
    REQUIRE_FALSE(home);
    CHECK(home.error().code == ErrorCode::forbidden);
    CHECK((fs::status(paths.home).permissions() & fs::perms::others_read) == fs::perms::others_read);
}

TEST_CASE("a clone where the home would be is refused with two ways out, and is left as it is") {
    const TempDir dir;
    const Paths paths{dir / "orange"};
    fs::create_directories(paths.harnesses());  // Orange's own source has these two
    fs::create_directory(paths.workflows());
    const bool is_worktree = GENERATE(false, true);
    if (is_worktree) {
        write_file(paths.home / ".git", "gitdir: /srv/orange.git/worktrees/orange\n");
    } else {
        fs::create_directory(paths.home / ".git");
    }
    const auto mode = GENERATE(mode_t{0755}, mode_t{0700});
    ::chmod(paths.home.c_str(), mode);
    const auto home = Home::acquire(paths);
    REQUIRE_FALSE(home);
    CHECK(home.error().code == ErrorCode::forbidden);
    const auto& message = home.error().message;
    CHECK_THAT(message, Tells("mv " + paths.home.string()));
    CHECK_THAT(message, Tells("export ORANGE_HOME="));
    CHECK_THAT(message, !Holds("chmod"));
    CHECK_FALSE(fs::exists(paths.lock()));
    struct stat info {};
    REQUIRE(::stat(paths.home.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == mode);
}

TEST_CASE("a home in use is served, though it is a clone or was made one") {
    const TempDir dir;
    const Paths paths{dir / "orange"};
    fs::create_directories(paths.home / ".git");
    ::chmod(paths.home.c_str(), 0700);
    SECTION("with tasks") {
        fs::create_directory(paths.tasks());
    }
    SECTION("with a lock") {
        write_file(paths.lock(), "");
    }
    CHECK(Home::acquire(paths));
    CHECK(is_repository(paths.home));
}

TEST_CASE("a home that is a link, a file or nowhere is refused") {
    const TempDir dir;
    fs::create_directory(dir / "real");
    ::chmod((dir / "real").c_str(), 0700);
    fs::create_directory_symlink(dir / "real", dir / "link");
    write_file(dir / "file", "");
    CHECK(Home::acquire(Paths{dir / "link"}).error().code == ErrorCode::forbidden);
    CHECK(Home::acquire(Paths{dir / "file"}).error().code == ErrorCode::forbidden);
    CHECK(Home::acquire(Paths{dir / "no/where"}).error().code == ErrorCode::io);
    CHECK(fs::is_empty(dir / "real"));
}

TEST_CASE("a lock file that is a link is not followed") {
    const TempDir dir;
    const Paths paths{dir / "home"};
    fs::create_directory(paths.home);
    ::chmod(paths.home.c_str(), 0700);
    write_file(dir / "precious", "text");
    fs::create_symlink(dir / "precious", paths.lock());
    CHECK_FALSE(Home::acquire(paths));
    CHECK(read_file(dir / "precious") == "text");
}

TEST_CASE("another user's home is refused") {
    if (::geteuid() != 0) return;  // only root can make one
    const TempDir dir;
    const Paths paths{dir / "home"};
    fs::create_directory(paths.home);
    ::chmod(paths.home.c_str(), 0700);
    REQUIRE(::chown(paths.home.c_str(), 65534, 65534) == 0);
    const auto home = Home::acquire(paths);
    REQUIRE_FALSE(home);
    CHECK(home.error().code == ErrorCode::forbidden);
    CHECK_THAT(home.error().message, Tells(paths.home.string()));
}

TEST_CASE("the command that mends a home can be pasted into a shell") {
    const TempDir dir;
    const Paths paths{dir / "my home's"};
    fs::create_directory(paths.home);
    write_file(paths.home / "diary", "");
    ::chmod(paths.home.c_str(), 0750);
    const auto message = Home::acquire(paths).error().message;
    CHECK_THAT(message, Catch::EndsWith("chmod 700 '" + dir.path.string() + "/my home'\\''s'"));
    fs::create_directory_symlink(dir / "my home's", dir / "link");
    CHECK_THAT(Home::acquire(Paths{dir / "link"}).error().message,
               Tells("ORANGE_HOME") && Holds("'" + dir.path.string() + "/my home'\\''s'"));
}

TEST_CASE("a home that is too long for tmux's socket has a folder of its own for it, closed to others") {
    const TempDir dir;
    const Paths paths{dir / std::string(150, 'x')};
    const auto folder = paths.tmux_socket().parent_path();
    {
        REQUIRE(Home::acquire(paths));
        CHECK((fs::status(folder).permissions() & fs::perms::mask) == fs::perms::owner_all);
    }
    // A home may be open before its first daemon; this one never.
    ::chmod(folder.c_str(), 0755);
    const auto refused = Home::acquire(paths);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Tells("chmod 700 " + folder.string()));
    CHECK_FALSE(make_tmux_folder(paths));
    fs::remove_all(folder);
    CHECK(make_tmux_folder(paths));
    fs::remove_all(folder);
    fs::create_directory_symlink(paths.home, folder);
    CHECK_FALSE(make_tmux_folder(paths));
    fs::remove(folder);
}

TEST_CASE("a home that is away is waited for for a minute, and another folder in its place ends the daemon") {
    const TempDir dir;
    const Paths paths{dir / "home"};
    const auto home = Home::acquire(paths);
    REQUIRE(home);
    HomeWatch watch(*home);
    const auto begin = HomeWatch::Clock::now();
    CHECK(watch.check(begin).here);
    CHECK(watch.check(begin).note.empty());
    fs::rename(paths.home, dir / "away");
    CHECK(home->state() == Home::State::missing);
    const auto first = watch.check(begin);
    CHECK_FALSE(first.here);
    CHECK_FALSE(first.over);
    CHECK_THAT(first.note, Tells(paths.home.string()));
    const auto second = watch.check(begin + 59s);
    CHECK_FALSE(second.here);
    CHECK_FALSE(second.over);
    CHECK(second.note.empty());  // told once

    fs::rename(dir / "away", paths.home);
    const auto back = watch.check(begin + 59s);
    CHECK(back.here);
    CHECK_THAT(back.note, Tells(paths.home.string()));
    CHECK(watch.check(begin + 59s).note.empty());

    fs::rename(paths.home, dir / "away");
    CHECK_FALSE(watch.check(begin + 90s).over);  // counted anew
    CHECK_FALSE(watch.check(begin + 149s).over);
    const auto last = watch.check(begin + 150s);
    CHECK(last.over);
    CHECK_THAT(last.note, Tells(paths.home.string()));

    fs::create_directory(paths.home);
    CHECK(home->state() == Home::State::another);
    const auto other = HomeWatch(*home).check(begin);
    CHECK_FALSE(other.here);
    CHECK(other.over);
    CHECK_THAT(other.note, Tells(paths.home.string()));
}

TEST_CASE("nothing is read or written where the home is away, or is another folder") {
    const TempDir dir;
    const Paths paths{dir / "home"};
    const auto home = Home::acquire(paths);
    REQUIRE(home);
    PosixFileSystem disk;
    HomeFiles files(disk, *home);
    const auto file = paths.home / "tasks/one";
    REQUIRE(files.replace(file, "text"));
    REQUIRE(files.append(file, "s"));
    REQUIRE(files.exchange(file, "new", paths.home / "tasks/old"));
    CHECK(*files.read(file) == "new");
    CHECK(files.list(paths.home / "tasks")->size() == 2);
    REQUIRE(files.remove(paths.home / "tasks/old"));

    const auto refuses_all = [&] {
        const auto check = [&](const auto& result) {
            REQUIRE_FALSE(result);
            CHECK(result.error().code == ErrorCode::io);
            CHECK_THAT(result.error().message, Tells(paths.home.string()));
        };
        check(files.read(file));
        check(files.replace(file, "more"));
        check(files.append(file, "more"));
        check(files.exchange(file, "more", paths.home / "tasks/old"));
        check(files.list(paths.home / "tasks"));
        check(files.remove(file));
    };
    fs::rename(paths.home, dir / "away");
    refuses_all();
    CHECK_FALSE(fs::exists(paths.home));
    fs::create_directory(paths.home);
    refuses_all();
    CHECK(fs::is_empty(paths.home));
    fs::remove(paths.home);
    fs::rename(dir / "away", paths.home);
    CHECK(*files.read(file) == "new");
    CHECK(files.list(paths.home / "tasks")->size() == 1);
}

#include "daemon/files/posix_file_system.hpp"
#include "daemon/files/unfinished.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <limits>

#include "tests/catch.hpp"
#include "tests/fakes/temporary_folder.hpp"

using namespace orange;
using namespace orange::testing;
namespace fs = std::filesystem;

namespace {

mode_t mode_of(const Path& path) {
    struct stat facts {};
    REQUIRE(::lstat(path.c_str(), &facts) == 0);
    return facts.st_mode & 07777;
}

/// Lets no file grow beyond `bytes`: a full disk that needs no root.
class SmallDisk {
  public:
    explicit SmallDisk(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &old_);
        rlimit limit = old_;
        limit.rlim_cur = bytes;
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~SmallDisk() {
        ::setrlimit(RLIMIT_FSIZE, &old_);
        std::signal(SIGXFSZ, old_handler_);
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;

  private:
    rlimit old_{};
    void (*old_handler_)(int);
};

}  // namespace

TEST_CASE("what was written is read again, byte for byte, and belongs to the user alone") {
    TemporaryFolder folder;
    PosixFileSystem files;
    const Path path = folder / "a/b/file";
    const std::string content("x\0y\xff\r\n", 6);
    REQUIRE(files.replace(path, content));
    CHECK(*files.read(path) == content);
    CHECK(mode_of(path) == 0600);
    CHECK(mode_of(folder / "a/b") == 0700);
    CHECK(*files.list(folder / "a/b") == std::vector<std::string>{"file"});
}

TEST_CASE("a missing file is not_found and never an empty one") {
    TemporaryFolder folder;
    PosixFileSystem files;
    const auto read = files.read(folder / "none");
    REQUIRE(!read);
    CHECK(read.error().code == ErrorCode::not_found);
    CHECK_THAT(read.error().message, Tells((folder / "none").string()));
    CHECK(files.list(folder / "none")->empty());
    CHECK(files.remove(folder / "none"));
}

TEST_CASE("a file is moved to a name that is free, in folders that are made for it") {
    TemporaryFolder folder;
    PosixFileSystem files({folder / "in"});
    REQUIRE(files.replace(folder / "from", "x"));
    REQUIRE(files.move_new(folder / "from", folder / "in/a/b"));
    CHECK(*files.read(folder / "in/a/b") == "x");
    CHECK(mode_of(folder / "in/a/b") == 0600);
    CHECK(mode_of(folder / "in/a") == 0700);
    CHECK(is_missing(files, folder / "from"));
    CHECK(files.move_new(folder / "from", folder / "to").error().code == ErrorCode::not_found);
}

TEST_CASE("a file is moved over no file, folder or link, and through no link") {
    TemporaryFolder folder;
    PosixFileSystem files({folder / "in"});
    REQUIRE(files.replace(folder / "from", "x"));
    REQUIRE(files.replace(folder / "in/file", "old"));
    fs::create_directory(folder / "in/folder");
    fs::create_directory(folder / "outside");
    fs::create_symlink(folder / "outside/new", folder / "in/link");
    fs::create_directory_symlink(folder / "outside", folder / "in/way");
    for (const char* name : {"file", "folder", "link"}) {
        INFO(name);
        CHECK(files.move_new(folder / "from", folder / "in" / name).error().code == ErrorCode::conflict);
    }
    CHECK(files.move_new(folder / "from", folder / "in/way/new").error().code == ErrorCode::io);
    CHECK(*files.read(folder / "in/file") == "old");
    CHECK(fs::is_empty(folder / "outside"));
    CHECK(*files.read(folder / "from") == "x");
    fs::create_symlink(folder / "in/file", folder / "link");
    CHECK_FALSE(files.move_new(folder / "link", folder / "to"));
    CHECK_FALSE(files.move_new(folder / "outside", folder / "to"));
    CHECK(is_missing(files, folder / "to"));
}

TEST_CASE("a file is moved to another file system by a copy") {
    TemporaryFolder folder;
    const Path other = "/dev/shm/orange-test-" + random_id(10);
    PosixFileSystem files;
    struct stat here {
    }, there{};
    REQUIRE(files.replace(folder / "from", std::string(100'000, 'x')));
    if (!files.replace(other / "taken", "old") || ::stat(folder.path().c_str(), &here) != 0 ||
        ::stat(other.c_str(), &there) != 0 || here.st_dev == there.st_dev) {
        fs::remove_all(other);
        return;
    }
    CHECK(files.move_new(folder / "from", other / "taken").error().code == ErrorCode::conflict);
    CHECK(files.move_new(folder / "from", other / "to"));
    CHECK(*files.read(other / "to") == std::string(100'000, 'x'));
    CHECK(*files.read(other / "taken") == "old");
    CHECK(mode_of(other / "to") == 0600);
    CHECK(is_missing(files, folder / "from"));
    fs::remove_all(other);
}

TEST_CASE("unfinished files are told from others, and removed alone") {
    TemporaryFolder folder;
    PosixFileSystem files;
    for (const char* name : {".state.json.abcDEF0123.tmp", "..pool.json.0123456789.tmp"}) {
        CHECK(files::is_unfinished(name));
        write_text(folder / name, "x");
    }
    write_text(folder / files::unfinished_name("folder") / "file", "x");
    const std::vector<std::string> others = {".0123456789.tmp", ".a.012345678.tmp", ".a.012345678_.tmp",
                                             "a.0123456789.tmp", ".a.0123456789.tmpx"};
    for (const auto& name : others) {
        CHECK_FALSE(files::is_unfinished(name));
        write_text(folder / name, "x");
    }
    REQUIRE(files::remove_unfinished(files, folder.path()));
    CHECK(files.list(folder.path())->size() == others.size());
    CHECK(files::remove_unfinished(files, folder / "none"));
}

TEST_CASE("a disk that is full leaves the old content and no temporary file") {
    TemporaryFolder folder;
    PosixFileSystem files;
    const Path path = folder / "file";
    REQUIRE(files.replace(path, "old"));
    {
        SmallDisk small(4096);
        const auto written = files.replace(path, std::string(10000, 'n'));
        REQUIRE(!written);
        CHECK(written.error().code == ErrorCode::io);
        CHECK_THAT(written.error().message, Tells(path.string()));
        REQUIRE(!files.exchange(path, std::string(10000, 'n'), folder / ".displaced"));
        REQUIRE(!files.append(path, std::string(10000, 'n')));
    }
    CHECK(*files.read(path) == "old");
    CHECK(*files.list(folder.path()) == std::vector<std::string>{"file"});
    CHECK(files.replace(path, std::string(10000, 'n')));
}

TEST_CASE("links are not followed and other files than regular ones are not read") {
    TemporaryFolder folder;
    PosixFileSystem files;
    write_text(folder / "target", "secret");
    fs::create_symlink(folder / "target", folder / "link");
    CHECK(!files.read(folder / "link"));
    CHECK(!files.append(folder / "link", "x"));
    REQUIRE(files.replace(folder / "link", "mine"));
    CHECK(read_text(folder / "target") == "secret");
    CHECK(!fs::is_symlink(folder / "link"));

    REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
    CHECK(!files.read(folder / "fifo"));
    fs::create_hard_link(folder / "target", folder / "second name");
    CHECK(!files.append(folder / "second name", "x"));
}

TEST_CASE("an exchange leaves what it displaced, and fails where there is nothing to displace") {
    TemporaryFolder folder;
    PosixFileSystem files;
    REQUIRE(files.replace(folder / "file", "old"));
    REQUIRE(files.exchange(folder / "file", "new", folder / ".displaced"));
    CHECK(*files.read(folder / "file") == "new");
    CHECK(*files.read(folder / ".displaced") == "old");

    const auto missing = files.exchange(folder / "none", "new", folder / ".other");
    REQUIRE(!missing);
    CHECK(missing.error().code == ErrorCode::not_found);
    CHECK(files.list(folder.path())->size() == 2);
}

TEST_CASE("removing a folder does not follow links out of it") {
    TemporaryFolder folder;
    PosixFileSystem files;
    write_text(folder / "kept/file", "x");
    fs::create_directory(folder / "gone");
    fs::create_symlink(folder / "kept", folder / "gone/link");
    REQUIRE(files.remove(folder / "gone"));
    CHECK(!fs::exists(folder / "gone"));
    CHECK(read_text(folder / "kept/file") == "x");
}

TEST_CASE("a large folder is put aside in one step and somebody is told, and of a small one nothing is left") {
    TemporaryFolder folder;
    const Path home = folder / "home";
    fs::create_directory(home);
    std::vector<Path> told;
    PosixFileSystem files({}, posix::Remover({home / ".removed"}, [&](Path place) { told.push_back(place); }));
    write_text(folder / "small/a/file", "x");
    REQUIRE(files.remove(folder / "small"));
    CHECK(told.empty());
    CHECK(files.list(home / ".removed")->empty());

    for (int i = 0; i < 200; ++i) write_text(folder / "large/f" / std::to_string(i), "x");
    REQUIRE(files.remove(folder / "large"));
    CHECK_FALSE(fs::exists(folder / "large"));
    REQUIRE(told == std::vector<Path>{home / ".removed"});
    const auto names = files.list(home / ".removed").value();
    REQUIRE(names.size() == 1);
    CHECK(files.list(home / ".removed" / names[0] / "f")->size() > 100);
    CHECK(mode_of(home / ".removed") == 0700);

    write_text(folder / "file", "");
    fs::resize_file(folder / "file", std::uintmax_t{1} << 30);  // to free a large file takes time, too
    REQUIRE(files.remove(folder / "file"));
    CHECK_FALSE(fs::exists(folder / "file"));
    CHECK(told.size() == 2);
}

TEST_CASE("a folder that cannot be put into the home is put beside it, and leaves no folder there") {
    TemporaryFolder folder;
    write_text(folder / "home", "no folder");
    std::vector<Path> told;
    PosixFileSystem files({}, posix::Remover({folder / "home/.removed"}, [&](Path place) { told.push_back(place); }));
    write_text(folder / "a/small/file", "x");
    REQUIRE(files.remove(folder / "a/small"));
    CHECK(files.list(folder / "a")->empty());
    for (int i = 0; i < 200; ++i) write_text(folder / "a/large" / std::to_string(i), "x");
    REQUIRE(files.remove(folder / "a/large"));
    CHECK(*files.list(folder / "a") == std::vector<std::string>{".removed"});
    CHECK(told == std::vector<Path>{folder / "a/.removed"});
}

TEST_CASE("below a folder that is named to it, no folder on the way to a file may be a link") {
    TemporaryFolder folder;
    fs::create_directory(folder / "real");
    fs::create_directory_symlink(folder / "real", folder / "root");  // it itself may be one
    write_text(folder / "theirs/file", "x");
    write_text(folder / "theirs/below/file", "x");
    fs::create_directory_symlink(folder / "theirs", folder / "real/link");
    fs::create_directory_symlink(folder / "nowhere", folder / "real/dangling");
    const Path root = folder / "root";
    PosixFileSystem files({folder / "elsewhere", root});

    for (const Path& below : {root / "link", root / "link/below"}) {
        INFO(below);
        for (const auto& refused :
             {files.replace(below / "new", "y"), files.append(below / "file", "y"), files.remove(below / "file"),
              files.exchange(below / "file", "y", below / "other"), files.replace(below / "deep/er/new", "y")}) {
            REQUIRE(!refused);
            CHECK(refused.error().code == ErrorCode::io);
            CHECK_THAT(refused.error().message, Tells("link"));
        }
        CHECK(files.read(below / "file").error().code == ErrorCode::io);
        CHECK(files.list(below).error().code == ErrorCode::io);
        CHECK(PosixFileSystem().read(below / "file"));  // as it does everywhere else
    }
    CHECK(!files.replace(root / "dangling/file", "y"));
    CHECK(!fs::exists(folder / "nowhere"));
    CHECK(files.list(folder / "theirs")->size() == 2);
    CHECK(files.list(folder / "theirs/below")->size() == 1);
    CHECK(read_text(folder / "theirs/file") == "x");

    // The link itself can go, and what is no link is as it is everywhere.
    CHECK(files.remove(root / "link"));
    CHECK(fs::exists(folder / "theirs/below/file"));
    CHECK(files.replace(root / "a/b/file", "old"));
    CHECK(files.append(root / "a/b/file", "er"));
    CHECK(*files.read(folder / "real/a/b/file") == "older");
    CHECK(files.read(root / "none/file").error().code == ErrorCode::not_found);
    CHECK(files.list(root / "none")->empty());
    CHECK(files.remove(root / "none/file"));
    CHECK(files.remove(root / "a"));
    CHECK(*files.list(root) == std::vector<std::string>{"dangling"});
}

TEST_CASE("below a folder of agents only regular files are read, a piece at a time, and no link is followed") {
    TemporaryFolder folder;
    write_text(folder / "real/a/file", "0123456789");
    write_text(folder / "theirs/file", "secret");
    fs::create_directory_symlink(folder / "real", folder / "root");  // it itself may be a link
    fs::create_directory_symlink(folder / "theirs", folder / "real/link");
    fs::create_symlink(folder / "theirs/file", folder / "real/a/link");
    REQUIRE(::mkfifo((folder / "real/a/fifo").c_str(), 0600) == 0);
    const Path root = folder / "root";
    PosixFileSystem files;
    const auto bytes = [&](std::uintmax_t from, std::size_t size) {
        auto found = files.read_beneath(root, "a/file", from, size);
        REQUIRE(found);
        CHECK(found->size == 10);
        CHECK(found->inode != 0);
        CHECK(found->modified == files.facts_of(folder / "real/a/file")->modified);
        return found->bytes;
    };
    CHECK(bytes(0, 0).empty());
    CHECK(bytes(0, 4) == "0123");
    CHECK(bytes(4, 100) == "456789");
    CHECK(bytes(10, 5).empty());
    CHECK(bytes(11, 5).empty());
    CHECK(bytes(std::numeric_limits<std::uintmax_t>::max(), 5).empty());
    CHECK(bytes(1, std::numeric_limits<std::size_t>::max()) == "123456789");
    for (const Path below : {"link/file", "a/link", "a/fifo", "a", "link", "../theirs/file", "a/../a/file", "a/file/",
                             "", ".", "a/./file"}) {
        INFO(below);
        const auto refused = files.read_beneath(root, below, 0, 10);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == ErrorCode::io);
    }
    CHECK_FALSE(files.read_beneath(root, folder / "theirs/file", 0, 10));
    CHECK_FALSE(files.read_beneath("/dev", "null", 0, 10));
    CHECK(files.read_beneath(root, "a/none", 0, 10).error().code == ErrorCode::not_found);
    CHECK(files.read_beneath(root, "none/file", 0, 10).error().code == ErrorCode::not_found);
    CHECK(files.read_beneath(folder / "none", "file", 0, 10).error().code == ErrorCode::not_found);
    CHECK(*files.list_beneath(root, "a", 10) == std::vector<std::string>{"fifo", "file", "link"});
    CHECK(*files.list_beneath(root, "", 10) == std::vector<std::string>{"a", "link"});
    CHECK(files.list_beneath(root, "a", 2)->size() == 2);
    CHECK(files.list_beneath(root, "none", 10)->empty());
    CHECK_FALSE(files.list_beneath(root, "link", 10));
    CHECK_FALSE(files.list_beneath(root, "../theirs", 10));
    CHECK_FALSE(files.list_beneath(root, "a/fifo", 10));
}

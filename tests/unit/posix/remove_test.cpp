#include "common/posix/remove.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/posix/fd.hpp"
#include "tests/catch.hpp"
#include "tests/fakes/temporary_folder.hpp"

using namespace orange;
using namespace orange::testing;
namespace fs = std::filesystem;

namespace {

/// Makes folders one below the other; a path would be too long.
void make_deep(const fs::path& top, int levels) {
    fs::create_directory(top);
    UniqueFd folder(::open(top.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    for (int i = 0; i < levels; ++i) {
        REQUIRE(::mkdirat(folder.get(), "d", 0700) == 0);
        const UniqueFd file(::openat(folder.get(), "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        folder.reset(::openat(folder.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        REQUIRE(folder);
    }
}

}  // namespace

TEST_CASE("folders as deep as nobody would make them are removed, with few descriptors") {
    TemporaryFolder folder;
    make_deep(folder / "deep", 3000);
    CHECK(posix::remove_all(AT_FDCWD, (folder / "deep").string()) == 0);
    CHECK_FALSE(fs::exists(folder / "deep"));
    CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("folders that nobody may write or enter are removed, and what links lead to stays") {
    TemporaryFolder folder;
    write_text(folder / "theirs/file", "x");
    write_text(folder / "gone/closed/inner/file", "x");
    fs::create_directory_symlink(folder / "theirs", folder / "gone/closed/link");
    REQUIRE(::mkfifo((folder / "gone/pipe").c_str(), 0600) == 0);
    fs::permissions(folder / "gone/closed/inner", fs::perms::none);
    fs::permissions(folder / "gone/closed", fs::perms::owner_read | fs::perms::owner_exec);
    fs::permissions(folder / "gone", fs::perms::owner_read | fs::perms::owner_exec);
    CHECK(posix::remove_all(AT_FDCWD, (folder / "gone").string()) == 0);
    CHECK_FALSE(fs::exists(folder / "gone"));
    CHECK(read_text(folder / "theirs/file") == "x");
    fs::create_directory_symlink(folder / "theirs", folder / "link");
    CHECK(posix::remove_all(AT_FDCWD, (folder / "link").string()) == 0);
    CHECK(read_text(folder / "theirs/file") == "x");
    CHECK(posix::remove_all(AT_FDCWD, (folder / "none").string()) == 0);
}

TEST_CASE("whoever may remove only a few entries leaves the rest, and every large file") {
    TemporaryFolder folder;
    for (int i = 0; i < 20; ++i) write_text(folder / "many" / std::to_string(i), "x");
    CHECK(posix::remove_all(AT_FDCWD, (folder / "many").string(), 5) == EAGAIN);
    CHECK(std::distance(fs::directory_iterator(folder / "many"), {}) == 15);
    CHECK(posix::remove_all(AT_FDCWD, (folder / "many").string(), 15) == 0);
    CHECK_FALSE(fs::exists(folder / "many"));

    write_text(folder / "large/file", "");
    fs::resize_file(folder / "large/file", std::uintmax_t{1} << 30);
    CHECK(posix::remove_all(AT_FDCWD, (folder / "large").string(), 5) == EAGAIN);
    CHECK(fs::exists(folder / "large/file"));
    CHECK(posix::remove_all(AT_FDCWD, (folder / "large").string()) == 0);
}

TEST_CASE("a read-only folder is put aside as any other") {
    TemporaryFolder folder;
    fs::create_directory(folder / "home");
    for (int i = 0; i < 200; ++i) write_text(folder / "tree" / std::to_string(i), "x");
    fs::permissions(folder / "tree", fs::perms::owner_read | fs::perms::owner_exec);
    int told = 0;
    const posix::Remover remover({folder / "home/.removed"}, [&](const fs::path&) { ++told; });
    const UniqueFd here(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    CHECK(remover.remove(here.get(), "tree", folder / "tree"));
    CHECK_FALSE(fs::exists(folder / "tree"));
    CHECK(told == 1);
}

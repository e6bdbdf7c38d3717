#include "daemon/files/file_facts.hpp"

#include "daemon/files/posix_file_system.hpp"
#include "tests/catch.hpp"
#include "tests/fakes/temporary_folder.hpp"

using namespace orange;
using namespace orange::testing;

TEST_CASE("a new file is never created over somebody else's") {
    TemporaryFolder folder;
    PosixFileSystem files;
    REQUIRE(files::create_new(files, folder / "file", "mine"));
    CHECK(*files.read(folder / "file") == "mine");
    const auto second = files::create_new(files, folder / "file", "other");
    REQUIRE(!second);
    CHECK(second.error().code == ErrorCode::conflict);
    CHECK(*files.read(folder / "file") == "mine");
    CHECK(files.list(folder.path())->size() == 1);
}

TEST_CASE("a link's target is read only where it is a regular file") {
    TemporaryFolder folder;
    write_text(folder / "target", "text");
    std::filesystem::create_symlink("target", folder / "good");
    std::filesystem::create_symlink("nowhere", folder / "dangling");
    std::filesystem::create_symlink("/dev/zero", folder / "device");
    CHECK(*files::read_through_link(folder / "good") == "text");
    CHECK(!files::read_through_link(folder / "dangling"));
    CHECK(!files::read_through_link(folder / "device"));
    CHECK(files::facts_of(folder / "dangling")->symlink);
    CHECK(!files::facts_of(folder / "none"));
}

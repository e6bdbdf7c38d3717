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

TEST_CASE("what is known of a link is the link's own") {
    TemporaryFolder folder;
    std::filesystem::create_symlink("nowhere", folder / "dangling");
    PosixFileSystem files;
    CHECK(files.facts_of(folder / "dangling")->kind == FileFacts::Kind::link);
    CHECK(is_missing(files, folder / "none"));
}

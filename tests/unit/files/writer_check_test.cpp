#include "daemon/files/writer_check.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "tests/catch.hpp"
#include "tests/fakes/temporary_folder.hpp"

using namespace orange;
using namespace orange::testing;

TEST_CASE("a file counts as open while somebody can write to it, whatever became of its name") {
    TemporaryFolder folder;
    write_text(folder / "file", "x");
    CHECK(!open_elsewhere(folder / "file"));
    const int writer = ::open((folder / "file").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    REQUIRE(writer >= 0);
    std::filesystem::rename(folder / "file", folder / "moved");
    CHECK(open_elsewhere(folder / "moved"));
    ::close(writer);
    CHECK(!open_elsewhere(folder / "moved"));
}

TEST_CASE("a reader is nobody to wait for") {
    TemporaryFolder folder;
    write_text(folder / "file", "x");
    const int reader = ::open((folder / "file").c_str(), O_RDONLY | O_CLOEXEC);
    CHECK(!open_elsewhere(folder / "file"));
    ::close(reader);
    CHECK(!open_elsewhere(folder / "none"));
}

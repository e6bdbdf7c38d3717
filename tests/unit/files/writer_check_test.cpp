#include "daemon/files/writer_check.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/catch.hpp"
#include "tests/fakes/temporary_folder.hpp"

using namespace orange;
using namespace orange::testing;

namespace {

bool open_elsewhere(const Path& path) {
    return WriterCheck(path).is_open_elsewhere();
}

}  // namespace

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

TEST_CASE("while a file is read nobody begins to write to it") {
    TemporaryFolder folder;
    write_text(folder / "file", "whole");
    std::thread writer;
    {
        const WriterCheck check(folder / "file");
        REQUIRE(!check.is_open_elsewhere());
        std::atomic<bool> begins{false};
        writer = std::thread([&begins, path = folder / "file"] {
            begins = true;
            const int fd = ::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
            ::close(fd);
        });
        while (!begins) std::this_thread::yield();
        for (int n = 0; n < 1000; ++n) {
            const bool whole = read_text(folder / "file") == "whole";
            if (!whole) FAIL("truncated after " << n << " looks");
        }
    }
    writer.join();
    CHECK(read_text(folder / "file") == "");
}

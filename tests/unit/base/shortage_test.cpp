#include "common/base/shortage.hpp"

#include <cerrno>

#include "tests/catch.hpp"

using namespace orange;

TEST_CASE("a shortage is told from other causes, with what to do about it") {
    CHECK_FALSE(shortage_in(io_error("reading x", ENOENT)));
    CHECK_FALSE(shortage_in(io_error("reading x", EACCES)));
    CHECK_THAT(shortage_in(io_error("writing x", ENOSPC)).value().advice, Holds("df -h"));
    CHECK_THAT(shortage_in(io_error("writing x", EDQUOT)).value().advice, Holds("df -h"));
    CHECK_THAT(shortage_in(io_error("reading x", EMFILE)).value().advice, Holds("ulimit -n"));
    CHECK_THAT(shortage_in(io_error("reading x", ENFILE)).value().advice, Holds("fs.file-max"));
    CHECK(shortage_in(io_error("reading x", ENOMEM)));
    CHECK(shortage_in(io_error("starting x", EAGAIN)));
    CHECK_FALSE(shortage_in(io_error("reading x", EAGAIN)));
}

TEST_CASE("a shortage that only the output of a program names is found, too") {
    const Error error(ErrorCode::external_failed, "unable to write the new index file",
                      {{"stderr", "error: unable to create file README: No space left on device"}});
    CHECK(shortage_in(error));
    CHECK(shortage_in(Error(ErrorCode::external_failed, "Could not reset index file to revision 'HEAD'",
                            {{"stderr", "error: unable to write file big\nfatal: Could not reset index file"}})));
}

TEST_CASE("a program has no room for processes if it says so of a start, and not of a lock") {
    const auto said = [](const char* output) {
        return shortage_in(Error(ErrorCode::external_failed, "`x` failed", {{"stderr", output}})).has_value();
    };
    CHECK(said("x\nfork: retry: Resource temporarily unavailable"));
    CHECK(said("fatal: unable to create threaded lstat: Resource temporarily unavailable"));
    CHECK_FALSE(said("forked\nCould not get lock /var/lib/apt/lists/lock (11: Resource temporarily unavailable)"));
}

TEST_CASE("the output of a project's own command tells of a full disk, and of no other shortage") {
    const auto tells = [](const std::string& what) {
        return shortage_in(Error(ErrorCode::external_failed, "`make` failed: " + what, {{k_of_project, "setup"}}));
    };
    CHECK(tells("No space left on device"));
    CHECK_FALSE(tells("Cannot allocate memory"));
    CHECK_FALSE(tells("Too many open files"));
}

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
}

TEST_CASE("a shortage that only the output of a program names is found, too") {
    const Error error(ErrorCode::external_failed, "unable to write the new index file",
                      {{"stderr", "error: unable to create file README: No space left on device"}});
    CHECK(shortage_in(error));
}

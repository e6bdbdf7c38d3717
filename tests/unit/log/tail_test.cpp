#include "common/log/tail.hpp"

#include <fstream>

#include "tests/catch.hpp"
#include "tests/fakes/temporary_folder.hpp"

using namespace orange;

namespace {

struct File {
    orange::testing::TemporaryFolder folder;
    std::filesystem::path path = folder.path() / "some.log";

    explicit File(const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("The last lines of a file are whole, with or without an end of the last one") {
    CHECK(log::last_lines(File("one\ntwo\n").path, 5).value() == Lines{"one", "two"});
    CHECK(log::last_lines(File("one\n\ntwo").path, 2).value() == Lines{"", "two"});
    CHECK(log::last_lines(File("").path, 1).value().empty());
    CHECK(log::last_lines(File("\n").path, 1).value() == Lines{""});
}

TEST_CASE("Of a large file the end is read from the beginning of a line on, and of a huge line its end") {
    std::string text;
    while (text.size() < 2 * log::k_end) text += "a line of some length that is one of very many\n";
    File file(text + "one\ntwo\n");
    const auto tail = log::tail_of(file.path).value();
    CHECK_FALSE(tail.whole);
    CHECK(tail.text.size() < log::k_end);
    CHECK(tail.text.starts_with("a line of"));
    CHECK(log::last_lines(file.path, 2).value() == Lines{"one", "two"});
    const auto huge = log::last_lines(File(std::string(5 * log::k_end, 'x') + "END").path, 1).value();
    REQUIRE(huge.size() == 1);
    CHECK(huge[0].ends_with("xEND"));
}

TEST_CASE("What is no file is said: nothing there, a folder, a link") {
    File file("x\n");
    CHECK(log::last_lines(file.folder.path() / "none", 1).error().code == ErrorCode::not_found);
    CHECK(log::last_lines(file.folder.path(), 1).error().code == ErrorCode::io);
    std::filesystem::create_symlink(file.path, file.folder.path() / "link");
    CHECK(log::last_lines(file.folder.path() / "link", 1).error().code == ErrorCode::io);
}

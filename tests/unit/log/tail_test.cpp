#include "common/log/tail.hpp"

#include <algorithm>
#include <fstream>

#include "tests/catch.hpp"
#include "tests/fakes/temporary_folder.hpp"

using namespace orange;

namespace {

struct File {
    orange::testing::TemporaryFolder folder;
    std::filesystem::path path = folder.path() / "some.log";

    explicit File(const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
    std::vector<std::string> backward(std::size_t block) {
        log::BackwardLines reader(path, block);
        std::vector<std::string> lines;
        while (auto line = reader.next()) lines.push_back(*line);
        CHECK(reader.problem() == 0);
        std::reverse(lines.begin(), lines.end());
        return lines;
    }
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("Lines come backwards and whole, whatever the block cuts through") {
    // Two bytes, three bytes, four bytes a character; an empty line; no end of the last line.
    const Lines lines = {"first", "", "h\xc3\xa9", "\xe2\x86\x92 next", "\xf0\x9f\x8d\x8a", "last"};
    std::string text;
    for (const auto& line : lines) text += line + "\n";
    for (std::size_t block = 1; block <= text.size() + 1; ++block) {
        CAPTURE(block);
        CHECK(File(text).backward(block) == lines);
        CHECK(File(text.substr(0, text.size() - 1)).backward(block) == lines);
    }
}

TEST_CASE("An empty file has no line, one of a line end has an empty one") {
    CHECK(File("").backward(8).empty());
    CHECK(File("\n").backward(8) == Lines{""});
    CHECK(File("\n\n").backward(8) == Lines{"", ""});
    CHECK(File("x").backward(1) == Lines{"x"});
}

TEST_CASE("Of a huge line the end comes, and what is around it comes whole") {
    const std::string huge(5 * log::BackwardLines::k_longest, 'x');
    const auto lines = File("before\n" + huge + "END\nafter\n").backward(64 * 1024);
    REQUIRE(lines.size() == 3);
    CHECK(lines[0] == "before");
    CHECK(lines[1].size() == log::BackwardLines::k_longest);
    CHECK(lines[1].ends_with("xEND"));
    CHECK(lines[2] == "after");
}

TEST_CASE("The last lines of a large file are read without reading it all") {
    std::string text;
    while (text.size() < 3'000'000) text += "a line of some length that is one of very many\n";
    File file(text + "one\ntwo\n");
    CHECK(log::last_lines(file.path, 2).value() == Lines{"one", "two"});
    log::BackwardLines reader(file.path);
    CHECK(reader.next() == "two");
    CHECK(reader.read() <= 64 * 1024);
}

TEST_CASE("What is no file is said: nothing there, a folder, a link") {
    File file("x\n");
    CHECK(log::last_lines(file.folder.path() / "none", 1).error().code == ErrorCode::not_found);
    CHECK(log::last_lines(file.folder.path(), 1).error().code == ErrorCode::io);
    std::filesystem::create_symlink(file.path, file.folder.path() / "link");
    CHECK(log::last_lines(file.folder.path() / "link", 1).error().code == ErrorCode::io);
}

#include "daemon/runner/review/comment_places.hpp"

#include "tests/catch.hpp"
#include "tests/unit/runner/house.hpp"

using namespace orange;
using namespace orange::test;
using Where = CommentPlace::Kind;

namespace {

/// A repository with two commits, and the place of a line of the first in the second.
struct MovedLines {
    RunnerWorld world;
    std::string repo = world.repo();

    std::string commit(const std::map<std::string, std::string>& files) {
        world.git.plain(repo, {"rm", "-rqf", "--ignore-unmatch", "."});
        for (const auto& [name, text] : files) {
            std::filesystem::create_directories((std::filesystem::path(repo) / name).parent_path());
            write_file(std::filesystem::path(repo) / name, text);
        }
        world.git.plain(repo, {"add", "-A"});
        world.git.plain(repo, {"commit", "-qm", "next", "--allow-empty"});
        return world.git.plain(repo, {"rev-parse", "HEAD"});
    }
    CommentPlace place(const std::string& from, const std::string& to, const std::string& path, std::int64_t line,
                       std::int64_t end = 0) {
        CommentAnchor anchor;
        anchor.commit = from;
        anchor.path = path;
        anchor.line = line;
        anchor.end = end == 0 ? line : end;
        const auto text = world.house().go(review::file_in(world.house().world().git, repo, from, path));
        if (text) anchor.text = review::lines_of(*text, anchor.line, anchor.end).value_or("");
        std::vector<CommentAnchor> anchors = {anchor};
        return world.house().go(review::places_in(world.house().world().git, repo, to, anchors)).front();
    }
};

std::string ten_lines() {
    std::string text;
    for (int n = 1; n <= 10; ++n) text += "this is line number " + std::to_string(n) + "\n";
    return text;
}

}  // namespace

TEST_CASE("a commented line is shown where it stands now, or as outdated") {
    MovedLines lines;
    lines.world.boot();
    const auto text = ten_lines();
    const auto first = lines.commit({{"a.txt", text}, {"b/c d.txt", text}});
    CHECK(lines.place(first, first, "a.txt", 4).kind == Where::here);

    const auto above = lines.commit({{"a.txt", "new\nnew\n" + text}, {"b/c d.txt", text}});
    const auto moved = lines.place(first, above, "a.txt", 4);
    CHECK(moved.kind == Where::moved);
    CHECK(moved.line == 6);
    CHECK(lines.place(first, above, "b/c d.txt", 4).kind == Where::here);

    auto edited = text;
    edited.replace(edited.find("number 4"), 8, "NUMBER 4");
    const auto changed = lines.commit({{"a.txt", edited}, {"b/c d.txt", text}});
    CHECK(lines.place(first, changed, "a.txt", 4).kind == Where::outdated);
    CHECK(lines.place(first, changed, "a.txt", 5).kind == Where::here);
    CHECK(lines.place(first, changed, "a.txt", 3, 5).kind == Where::outdated);

    const auto renamed = lines.commit({{"z.txt", "new\n" + text}});
    const auto elsewhere = lines.place(first, renamed, "a.txt", 4);
    CHECK(elsewhere.kind == Where::moved);
    CHECK(elsewhere.path == "z.txt");
    CHECK(elsewhere.line == 5);

    const auto removed = lines.commit({{"other", "x\n"}});
    CHECK(lines.place(first, removed, "a.txt", 4).kind == Where::outdated);
}

TEST_CASE("lines that were moved inside of a file are found if they stand there once") {
    MovedLines lines;
    lines.world.boot();
    const auto first = lines.commit({{"a.c", "void first() { return; }\n}\n" + ten_lines()}});
    const auto second = lines.commit({{"a.c", ten_lines() + "void first() { return; }\n}\n"}});
    const auto place = lines.place(first, second, "a.c", 1);
    CHECK(place.line == (place.kind == Where::moved ? 11 : 1));
    const auto twice = lines.commit({{"a.c", ten_lines() + "x\nvoid first() { return; }\nvoid first() { return; }\n"}});
    CHECK(lines.place(first, twice, "a.c", 1).kind != Where::here);
    // A brace may stand anywhere: it is never found elsewhere by its text.
    CHECK(review::only_place_of("x\n}\n", "}") == 0);
    CHECK(review::only_place_of("x\nreturn total;\n", "return total;") == 2);
    CHECK(review::only_place_of("return total;\nreturn total;\n", "return total;") == 0);
    CHECK(review::only_place_of("xreturn total;\n", "return total;") == 0);
    CHECK(review::only_place_of("a\nreturn total;", "return total;") == 2);
}

TEST_CASE("a commit that is gone, binary files and odd lines are never taken for code") {
    MovedLines lines;
    lines.world.boot();
    const auto first =
        lines.commit({{"crlf", "one line here\r\ntwo lines here\r\nno end"}, {"bin", std::string("a\0b\n", 4)}});
    CHECK(lines.place(std::string(40, '1'), first, "crlf", 1).kind == Where::outdated);
    const auto next = lines.commit({{"crlf", "zero\r\none line here\r\ntwo lines here\r\nno end"}});
    CHECK(lines.place(first, next, "crlf", 3).line == 4);
    auto& git = lines.world.house().world().git;
    CHECK_THAT(lines.world.house().go(review::file_in(git, lines.repo, first, "bin")).error().message, Tells("bin"));
    CHECK_THAT(lines.world.house().go(review::file_in(git, lines.repo, first, "none")).error().message, Tells("none"));
    CHECK(review::lines_of("one\ntwo", 2, 2) == std::optional<std::string>("two"));
    CHECK_FALSE(review::lines_of("one\n", 2, 2));
    CHECK_FALSE(review::lines_of("", 1, 1));
    CHECK_FALSE(review::is_file_path("../x"));
    CHECK_FALSE(review::is_file_path("/etc/passwd"));
    CHECK_FALSE(review::is_file_path("a//b"));
    CHECK_FALSE(review::is_file_path("a\nb"));
    CHECK(review::is_file_path("a/b c"));
    CHECK(review::as_text("a\xff"
                          "b") ==
          "a\xEF\xBF\xBD"
          "b");
}

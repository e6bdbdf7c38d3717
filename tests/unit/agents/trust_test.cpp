#include "daemon/agents/trust.hpp"

#include <sys/stat.h>

#include "common/model/json.hpp"
#include "daemon/files/posix_file_system.hpp"
#include "tests/catch.hpp"
#include "tests/support/os_fixture.hpp"
#include "tests/unit/agents/shipped.hpp"

using namespace orange;
using namespace orange::agents;
using namespace orange::test;

namespace {

Trust by_file() {
    Trust trust;
    trust.file = "~/.conf";
    trust.key = {"projects", "{repo}", "trusted"};
    return trust;
}

}  // namespace

TEST_CASE("what belongs into a program's own file is said, found there once it is, and never written") {
    const TempDir home;
    PosixFileSystem files;
    const std::string repo = "/r \"q\" {repo}";
    const auto look = [&] { return trust_in_file(files, by_file(), repo, home.path.string()); };
    const auto missing = look();
    REQUIRE(missing);
    CHECK_FALSE(missing->there);
    CHECK(missing->file == home / ".conf");
    CHECK(Json::parse(missing->lines) == Json{{"projects", {{repo, {{"trusted", true}}}}}});
    CHECK_FALSE(std::filesystem::exists(missing->file));
    for (const std::string text : {"", "no JSON", "[]", "true", R"({"projects":7})", R"({"projects":{"/other":{}}})"}) {
        INFO(text);
        write_file(missing->file, text);
        CHECK_FALSE(look()->there);
        CHECK(read_file(missing->file) == text);
    }
    auto other = Json::parse(missing->lines);
    other["projects"][repo]["trusted"] = false;
    write_file(missing->file, dump(other));
    CHECK_FALSE(look()->there);
    write_file(missing->file, missing->lines);
    CHECK(look()->there);
}

TEST_CASE("a pipe in the place of a program's file holds up nobody, and without a HOME there is no file") {
    const TempDir home;
    PosixFileSystem files;
    REQUIRE(::mkfifo((home / ".conf").c_str(), 0600) == 0);
    CHECK_FALSE(trust_in_file(files, by_file(), "/repo", home.path.string())->there);
    CHECK(trust_in_file(files, by_file(), "/repo", "").error().code == ErrorCode::invalid_argument);
}

TEST_CASE("a program that is told on its command line gets one text of TOML, whatever the repository is called") {
    const auto codex = shipped("codex", Mode::persistent);
    const auto arguments = trust_arguments(codex.trust, "/r \"q\" \\ {prompt}");
    REQUIRE(arguments.size() == 2);
    CHECK(arguments[1] == R"(projects={"/r \"q\" \\ {prompt}"={trust_level="trusted"}})");
}

TEST_CASE("the answer for a repository is the one for a worktree that the program takes for it, too") {
    const auto with = [](const std::string& content) {
        return with_answer_for(by_file(), content, "/repo", "/worktree");
    };
    const std::string trusted = R"({"a":1,"projects":{"/repo":{"trusted":true,"b":2},"/worktree":{"c":3}}})";
    CHECK(Json::parse(with(trusted)) ==
          Json::parse(R"({"a":1,"projects":{"/repo":{"trusted":true,"b":2},"/worktree":{"c":3,"trusted":true}}})"));
    CHECK(Json::parse(with(R"({"projects":{"/repo":{"trusted":true}}})")) ==
          Json::parse(R"({"projects":{"/repo":{"trusted":true},"/worktree":{"trusted":true}}})"));
    for (const std::string same : {"", "no JSON", "[]", R"({"projects":{"/repo":{"trusted":false}}})",
                                   R"({"projects":{"/repo":{"trusted":true},"/worktree":7}})"}) {
        INFO(same);
        CHECK(with(same) == same);
    }
    CHECK(with_answer_for(by_file(), trusted, "/repo", "/repo") == trusted);
}

#include "daemon/forge/github_threads.hpp"
#include "common/base/text.hpp"
#include "tests/catch.hpp"

using namespace orange;

namespace {

Json person_named(const std::string& login, const std::string& type = "User") {
    return {{"__typename", type}, {"login", login}};
}

Json text_by(const std::string& login, const std::string& body, const std::string& called = "NONE") {
    static int texts = 0;
    return {{"id", "C" + std::to_string(++texts)},
            {"author", person_named(login)},
            {"body", body},
            {"authorAssociation", called}};
}

Json thread_at(const std::string& path, const Json& line, Json comments) {
    const Json opening = {{"diffHunk", "@@ -1 +1,2 @@\n one\n+two"},
                          {"originalCommit", {{"oid", std::string(40, 'b')}}}};
    return {{"id", "T"},
            {"isResolved", false},
            {"path", path},
            {"diffSide", "RIGHT"},
            {"originalLine", line},
            {"originalStartLine", nullptr},
            {"first", {{"nodes", Json::array({opening})}}},
            {"comments", {{"nodes", std::move(comments)}}}};
}

Result<forge::FoundThreads> threads_found(Json threads) {
    return forge::threads_in({{"pullRequest", {{"reviewThreads", {{"nodes", std::move(threads)}}}}}});
}

PullThread only_in(Json thread) {
    return threads_found(Json::array({std::move(thread)})).value().threads.at(0);
}

}  // namespace

TEST_CASE("A path that leads out of the repository, or that a terminal would obey, is quoted and never looked up") {
    for (const std::string path : {"/etc/passwd", "../x", "a/../../x", "a//b", "", "a\x1b[2J", "a\nb"}) {
        CAPTURE(path);
        const auto anchor = only_in(thread_at(path, 2, Json::array({text_by("rita", "Why?")}))).anchor;
        CHECK(anchor.commit.empty());
        CHECK(printable(anchor.path) == anchor.path);
    }
    const auto anchor = only_in(thread_at("src/löwe.cpp", 2, Json::array({text_by("rita", "Why?")}))).anchor;
    CHECK(anchor.path == "src/löwe.cpp");
    CHECK(anchor.commit == std::string(40, 'b'));
    CHECK(anchor.text == "two");
}

TEST_CASE("A thread without a line, or with one that cannot be, is about the first and quotes nothing") {
    for (const Json& line : {Json(), Json(0), Json(-3), Json("12"), Json(std::int64_t{1} << 60)}) {
        CAPTURE(line.dump());
        const auto anchor = only_in(thread_at("a.cpp", line, Json::array({text_by("rita", "Why?")}))).anchor;
        CHECK(anchor.line == 1);
        CHECK(anchor.end == 1);
        CHECK(anchor.text.empty());
    }
    auto range = thread_at("a.cpp", 9, Json::array({text_by("rita", "Why?")}));
    range["originalStartLine"] = 3;  // more lines than the hunk shows
    CHECK(only_in(range).anchor.line == 3);
    CHECK(only_in(range).anchor.text.empty());
    range["originalStartLine"] = 12;
    CHECK(only_in(range).anchor.line == 9);
}

TEST_CASE("A text can be read on a terminal and has an end, and an empty one is none") {
    const auto said = only_in(thread_at("a.cpp", 2,
                                        Json::array({text_by("rita", "  \n "), text_by("rita", "a\x1b]0;x\x07"),
                                                     text_by("rita", std::string(100'000, 'x'))})))
                          .said;
    REQUIRE(said.size() == 2);
    CHECK(printable(said[0].text) == said[0].text);
    CHECK(said[1].text.size() < 10'000);
    CHECK(threads_found(Json::array({thread_at("a.cpp", 2, Json::array({text_by("rita", "")}))}))
              .value()
              .threads.empty());
}

TEST_CASE("A thread that is longer than what is read of it keeps its beginning") {
    auto thread = thread_at("a.cpp", 2, Json::array({text_by("max", "And?"), text_by("rita", "Done.")}));
    auto& opening = thread["first"]["nodes"][0];
    opening.update(text_by("rita", "Why?"));
    auto said = only_in(thread).said;
    REQUIRE(said.size() == 3);
    CHECK(said[0].text == "Why?");
    CHECK(said[2].text == "Done.");
    thread["comments"]["nodes"].insert(thread["comments"]["nodes"].begin(), opening);
    CHECK(only_in(thread).said.size() == 3);
}

TEST_CASE("Strangers cannot push those who may push out of the question who may") {
    auto comments = Json::array({text_by("rita", "Why?", "COLLABORATOR")});
    for (int i = 0; i < 60; ++i) comments.push_back(text_by("stranger-" + std::to_string(i), "Pears!"));
    comments.push_back(text_by("rita", "Still."));
    const auto authors = threads_found(Json::array({thread_at("a.cpp", 2, comments)})).value().authors;
    REQUIRE(authors.size() == 30);
    CHECK(authors.front() == "rita");
    CHECK(std::count(authors.begin(), authors.end(), "rita") == 1);
}

TEST_CASE("A program is not the person of that name, and no login leads to another question") {
    auto program = text_by("rita", "beep");
    program["author"] = person_named("rita", "Bot");
    const auto authors =
        threads_found(Json::array({thread_at(
                          "a.cpp", 2, Json::array({program, text_by("x/../y", "Why?"), text_by("a?b", "Why?")}))}))
            .value()
            .authors;
    CHECK(authors == std::vector<std::string>{"rita[bot]"});
    CHECK(forge::permission_path("rita[bot]") == "collaborators/rita%5Bbot%5D/permission");
    CHECK(forge::permission_path("rita") == "collaborators/rita/permission");
}

TEST_CASE("Only who may write may push, and an answer of another form is not known") {
    for (const char* role : {"admin", "maintain", "write"}) {
        CHECK(forge::may_push_in(R"({"permission": ")" + std::string(role) + R"("})").value());
    }
    for (const char* role : {"read", "triage", "none", "owner", "WRITE"}) {
        CHECK_FALSE(forge::may_push_in(R"({"permission": ")" + std::string(role) + R"("})").value());
    }
    for (const char* answer : {"", "{}", "[]", "<html>", R"({"permission": true})", R"({"role_name": "admin"})"}) {
        CHECK_FALSE(forge::may_push_in(answer));
    }
}

TEST_CASE("An answer about threads of another form is not known, and never no threads") {
    auto without_id = thread_at("a.cpp", 2, Json::array({text_by("rita", "Why?")}));
    without_id.erase("id");
    CHECK_FALSE(threads_found(Json::array({without_id})));
    CHECK_FALSE(threads_found(Json::array({Json(3)})));
    CHECK_FALSE(forge::threads_in(Json::object()));
    CHECK_FALSE(forge::threads_in({{"pullRequest", nullptr}}));
}

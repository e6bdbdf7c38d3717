#include "daemon/agents/trust.hpp"

#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "daemon/files/posix_file_system.hpp"
#include "tests/catch.hpp"
#include "tests/support/os_fixture.hpp"
#include "tests/unit/agents/shipped.hpp"

using namespace orange;
using namespace orange::agents;
using namespace orange::test;
namespace fs = std::filesystem;

namespace {

const std::vector<std::string> k_path = {"projects", "/r \"q\"", "trusted"};

std::string json(const std::string& text) {
    const auto edit = json_with_key(text, k_path, "true");
    return edit ? edit->text : "error: " + edit.error().message;
}

std::string toml(const std::string& text) {
    const auto edit = toml_with_key(text, {"projects", "/r", "trust_level"}, "\"trusted\"");
    return edit ? edit->text : "error: " + edit.error().message;
}

TrustFile trust(const std::string& format) {
    TrustFile file;
    file.file = "~/.conf";
    file.format = format;
    file.keys.push_back({{"projects", "{repo}", "trust"}, "true"});
    return file;
}

}  // namespace

TEST_CASE("a key is added to JSON, and every other byte stays") {
    CHECK(json("{}") == R"({"projects":{"/r \"q\"":{"trusted":true}}})");
    CHECK(json(R"({"a":1.10,"b":"\u00e9"})") == R"({"a":1.10,"b":"\u00e9","projects":{"/r \"q\"":{"trusted":true}}})");
    CHECK(json("{\n  \"n\": 1e400x\n}").starts_with("error"));
    CHECK(json("{\n    \"projects\": {\n        \"/r \\\"q\\\"\": {\n            \"x\": [1, {\"y\": \"}\"}]\n        "
               "}\n    },\n"
               "    \"z\": 123456789012345678901234567890\n}\n") ==
          "{\n    \"projects\": {\n        \"/r \\\"q\\\"\": {\n            \"x\": [1, {\"y\": \"}\"}],\n"
          "            \"trusted\": true\n        }\n    },\n    \"z\": 123456789012345678901234567890\n}\n");
    CHECK(json("{\n  \"projects\": {}\n}\n") ==
          "{\n  \"projects\": {\n    \"/r \\\"q\\\"\": {\n      \"trusted\": true\n    }\n  }\n}\n");
}

TEST_CASE("what is there in JSON is never changed") {
    const std::string there = R"({"projects":{"/r \"q\"":{"trusted":true}}})";
    CHECK(json_with_key(there, k_path, "true")->state == KeyState::there);
    const std::string other = R"({"projects":{"/r \"q\"":{"trusted":false}}})";
    const auto edit = json_with_key(other, k_path, "true");
    CHECK(edit->state == KeyState::different);
    CHECK(edit->found == "false");
    CHECK(edit->text == other);
    for (const char* bad : {"", "[]", "{", "{\"a\":1,}", "null", "{\"projects\":3}", "{} x", "// c\n{}"}) {
        INFO(bad);
        CHECK(json(bad).starts_with("error"));
    }
}

TEST_CASE("a table is added to TOML, or a line to the table there is") {
    const std::string table = "[projects.\"/r\"]\ntrust_level = \"trusted\"\n";
    CHECK(toml("") == table);
    CHECK(toml("model = \"x\" # why\n") == "model = \"x\" # why\n\n" + table);
    CHECK(toml("a = [\n 1, # ]\n 2 ]\ns = \"\"\"\n[projects.\"/r\"]\n\"\"\"") ==
          "a = [\n 1, # ]\n 2 ]\ns = \"\"\"\n[projects.\"/r\"]\n\"\"\"\n\n" + table);
    CHECK(toml("[projects.'/r'] # mine\nx = 1\n[z]\n") ==
          "[projects.'/r'] # mine\ntrust_level = \"trusted\"\nx = 1\n[z]\n");
    CHECK(toml("[ projects . \"/r\" ]") == "[ projects . \"/r\" ]\ntrust_level = \"trusted\"\n");
    CHECK(toml("[projects.\"/other\"]\ntrust_level = \"untrusted\"\n").ends_with("\n\n" + table));
}

TEST_CASE("what is there in TOML, or cannot be added to, is left alone") {
    for (const char* text :
         {"[projects.\"/r\"]\ntrust_level = 'trusted'\n", "projects.\"/r\".trust_level = \"trusted\"\n",
          "[projects]\n\"/r\".trust_level = \"trusted\""}) {
        INFO(text);
        CHECK(toml_with_key(text, {"projects", "/r", "trust_level"}, "\"trusted\"")->state == KeyState::there);
        CHECK(toml(text) == text);
    }
    const auto edit = toml_with_key("[projects.\"/r\"]\ntrust_level = \"untrusted\"", {"projects", "/r", "trust_level"},
                                    "\"trusted\"");
    CHECK(edit->state == KeyState::different);
    for (const char* bad :
         {"projects = { \"/x\" = {} }", "[projects]\n\"/r\" = {}", "projects.\"/r\".x = 1", "[[projects]]", "a = \"x",
          "a = [1", "a", "= 1", "[a", "a = 1 ]", "a = \"\"\"x", "a = \"\\"}) {
        INFO(bad);
        CHECK(toml(bad).starts_with("error"));
    }
}

TEST_CASE("trust is written to the real file, with its permissions, once") {
    TempDir dir;
    PosixFileSystem files;
    const auto home = dir.path.string();
    fs::create_directory(dir / "dotfiles");
    std::ofstream(dir / "dotfiles" / "conf") << "{\n  \"a\": 1\n}\n";
    ::chmod((dir / "dotfiles" / "conf").c_str(), 0640);
    fs::create_symlink(dir / "dotfiles" / "conf", dir / ".conf");

    const auto plan = plan_trust(files, trust("json"), "/repo", home);
    REQUIRE(plan);
    CHECK_FALSE(plan->given());
    CHECK(plan->keys[0].name == "projects.\"/repo\".trust");
    CHECK(text_of(dir / ".conf") == "{\n  \"a\": 1\n}\n");  // planning writes nothing

    REQUIRE(write_trust(files, trust("json"), "/repo", home));
    CHECK(fs::is_symlink(dir / ".conf"));
    CHECK(text_of(dir / ".conf") ==
          "{\n  \"a\": 1,\n  \"projects\": {\n    \"/repo\": {\n      \"trust\": true\n    }\n  }\n}\n");
    struct stat facts {};
    REQUIRE(::stat((dir / "dotfiles" / "conf").c_str(), &facts) == 0);
    CHECK((facts.st_mode & 07777U) == 0640U);
    CHECK(std::distance(fs::directory_iterator(dir / "dotfiles"), {}) == 1);
    const auto before = text_of(dir / ".conf");
    CHECK(write_trust(files, trust("json"), "/repo", home)->given());
    CHECK(text_of(dir / ".conf") == before);
}

TEST_CASE("a new file is the user's alone, and what is odd is refused") {
    TempDir dir;
    PosixFileSystem files;
    const auto home = dir.path.string();
    REQUIRE(write_trust(files, trust("toml"), "/repo", home));
    CHECK(text_of(dir / ".conf") == "[projects.\"/repo\"]\ntrust = true\n");
    struct stat facts {};
    REQUIRE(::stat((dir / ".conf").c_str(), &facts) == 0);
    CHECK((facts.st_mode & 07777U) == 0600U);

    std::ofstream(dir / ".conf") << "[projects.\"/repo\"]\ntrust = false\n";
    CHECK(write_trust(files, trust("toml"), "/repo", home).error().code == ErrorCode::conflict);
    std::ofstream(dir / ".conf") << "not toml\n";
    CHECK_THAT(write_trust(files, trust("toml"), "/repo", home).error().message, Tells((dir / ".conf").string()));
    CHECK(text_of(dir / ".conf") == "not toml\n");
    fs::remove(dir / ".conf");
    fs::create_symlink(dir / "nowhere", dir / ".conf");
    CHECK_THAT(write_trust(files, trust("toml"), "/repo", home).error().message, Tells((dir / ".conf").string()));
    fs::remove(dir / ".conf");
    fs::create_directory(dir / ".conf");
    CHECK_THAT(plan_trust(files, trust("toml"), "/repo", home).error().message, Tells((dir / ".conf").string()));
    CHECK_FALSE(plan_trust(files, trust("toml"), "/repo", ""));
    CHECK_FALSE(plan_trust(files, trust("toml"), "/\xFF", home));
}

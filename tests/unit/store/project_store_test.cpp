#include "daemon/store/project_store.hpp"

#include "daemon/files/posix_file_system.hpp"
#include "tests/catch.hpp"
#include "tests/fakes/faulty_file_system.hpp"
#include "tests/fakes/temporary_folder.hpp"

using namespace orange;
using namespace orange::store;
using namespace orange::testing;

namespace {

struct Projects {
    TemporaryFolder home;
    PosixFileSystem real;
    FaultyFileSystem files{real};
    Path file = home / "projects.json";
    ProjectStore store{files, file};

    Project project(const std::string& name) {
        Project made;
        made.name = name;
        made.path = "/repos/" + name;
        made.default_branch = "main";
        return made;
    }
    std::vector<Project> reloaded() {
        ProjectStore again(files, file);
        REQUIRE(again.load());
        return again.list();
    }
};

}  // namespace

TEST_CASE_METHOD(Projects, "projects are kept across restarts and found by name and path") {
    REQUIRE(store.load());
    CHECK(store.list().empty());
    REQUIRE(store.put(project("b")));
    REQUIRE(store.put(project("a")));
    CHECK(reloaded() == std::vector<Project>{project("a"), project("b")});
    CHECK(store.find("a")->path == "/repos/a");
    CHECK(store.at_path("/repos/b")->name == "b");
    CHECK(!store.find("c"));
    CHECK(!store.at_path("/repos"));
    REQUIRE(store.remove("a"));
    CHECK(store.remove("a").error().code == ErrorCode::not_found);
    CHECK(reloaded() == std::vector<Project>{project("b")});
    CHECK(store.put(project("A b")).error().code == ErrorCode::invalid_argument);
}

TEST_CASE_METHOD(Projects, "a default branch that somebody wrote as refs/heads/x is the branch x") {
    REQUIRE(real.replace(file, R"([{"name": "shop", "path": "/repos/shop", "default_branch": "refs/heads/trunk"}])"));
    CHECK(reloaded().at(0).default_branch == "trunk");
}

TEST_CASE_METHOD(Projects, "projects.json looks as it always has") {
    auto full = project("shop");
    full.pool_size = 2;
    full.workflow = "relay";
    full.harness = "demo";
    full.setup = {"npm", "ci"};
    full.env = {{"CI", "1"}};
    REQUIRE(store.put(full));
    CHECK(read_text(file) == read_text(ORANGE_SOURCE_DIR "/tests/data/store/projects.json"));
}

TEST_CASE_METHOD(Projects, "a file cut at any byte is never overwritten, and mended goes on") {
    REQUIRE(store.put(project("a")));
    REQUIRE(store.put(project("b")));
    const auto whole = read_text(file);
    for (std::size_t length = 0; length + 1 < whole.size(); ++length) {
        write_text(file, whole.substr(0, length));
        ProjectStore again(files, file);
        CHECK(!again.load());
        CHECK_THAT(again.problem(), Tells("projects.json.bak"));
        CHECK(!again.put(project("c")));
        CHECK(!again.remove("a"));
        CHECK(read_text(file) == whole.substr(0, length));
        // The running one notices as well, and knows what it knew.
        CHECK(!store.put(project("c")));
        CHECK(store.list().size() == 2);
    }
    write_text(file, whole);
    REQUIRE(store.put(project("c")));
    CHECK(store.problem().empty());
    CHECK(reloaded().size() == 3);
}

TEST_CASE_METHOD(Projects, "the last good file is kept beside it") {
    REQUIRE(store.put(project("a")));
    const auto good = read_text(file);
    CHECK(reloaded().size() == 1);
    CHECK(read_text(home / "projects.json.bak") == good);
    write_text(file, "[");
    ProjectStore again(files, file);
    CHECK(!again.load());
    CHECK(read_text(home / "projects.json.bak") == good);
}

TEST_CASE_METHOD(Projects, "an edit by hand is not overwritten by the next change") {
    REQUIRE(store.put(project("a")));
    write_text(file, R"([{"name": "hand", "path": "/h", "default_branch": "main"}])");
    REQUIRE(store.put(project("b")));
    CHECK(store.find("hand"));
    CHECK(reloaded().size() == 2);
    write_text(file, R"([{"name": "x", "path": "/h"}, {"name": "x", "path": "/i"}])");
    CHECK(!store.put(project("c")));
}

TEST_CASE_METHOD(Projects, "whatever fails in a change, the old projects are there, and it succeeds then") {
    REQUIRE(store.put(project("a")));
    const auto old = store.list();
    const auto unchanged = [&](const Error& error) {
        CHECK(error.code == ErrorCode::io);
        CHECK(store.list() == old);
        CHECK(reloaded() == old);
    };
    CHECK(fail_everywhere(
              files, [&] { return store.put(project("b")); }, unchanged) >= 2);
    CHECK(reloaded().size() == 2);
    const auto two = store.list();
    CHECK(fail_everywhere(
              files, [&] { return store.remove("b"); }, [&](const Error&) { CHECK(reloaded() == two); }) >= 2);
    CHECK(reloaded() == old);
}

TEST_CASE_METHOD(Projects, "a file of a newer schema is refused with what to do, and left as it is") {
    const std::string newer = R"({"schema": 2, "projects": [{"name": "shop", "path": "/repos/shop"}]})";
    write_text(file, newer);
    const auto loaded = store.load();
    REQUIRE_FALSE(loaded);
    CHECK_THAT(loaded.error().message, Tells("2") && Tells(file.string()));
    CHECK_THAT(loaded.error().message, Tells("upgrade"));
    CHECK_FALSE(store.put(project("a")));
    CHECK(read_text(file) == newer);
}

TEST_CASE_METHOD(Projects,
                 "a file that is JSON, but no list of projects, is refused with the reason and left as it is") {
    const auto refused = [&](const std::string& text) {
        write_text(file, text);
        ProjectStore again(files, file);
        const auto loaded = again.load();
        REQUIRE_FALSE(loaded);
        CHECK(loaded.error().code == ErrorCode::io);
        CHECK_FALSE(again.put(project("new")));
        CHECK_FALSE(again.remove("new"));
        CHECK(read_text(file) == text);
        return loaded.error().message;
    };
    CHECK_THAT(refused("{}"), Tells(file.string()));
    CHECK_THAT(refused("[7]"), Tells(file.string()));
    CHECK_THAT(refused(R"([{"name": "A b", "path": "/x", "default_branch": "main"}])"), Tells(file.string()));
    CHECK_THAT(refused(R"([{"name": "a", "path": "/x", "default_branch": "main"},
                      {"name": "a", "path": "/y", "default_branch": "main"}])"),
               Tells("\"a\""));
}

TEST_CASE_METHOD(Projects, "a file that somebody removed is an empty list, and one that cannot be read is not") {
    REQUIRE(store.put(project("a")));
    std::filesystem::remove(file);
    files.fail_at(1);
    const auto unread = store.refresh();
    REQUIRE_FALSE(unread);
    CHECK_THAT(unread.error().message, Tells(file.string()) && Holds("df -h") && !Holds("or remove it"));
    CHECK(store.find("a"));
    REQUIRE(store.refresh());
    CHECK(store.list().empty());
    REQUIRE(store.put(project("b")));
    CHECK(reloaded() == std::vector<Project>{project("b")});
}

TEST_CASE_METHOD(Projects, "an edit by hand counts once the file is read again, and whoever waits for it is told") {
    REQUIRE(store.put(project("a")));
    int told = 0;
    store.on_edit([&] { ++told; });
    for (const std::string workflow : {"relay", "other", "third"}) {
        write_text(file, R"([{"name": "a", "path": "/repos/a", "default_branch": "main", "workflow": ")" + workflow +
                             R"("}, {"name": "b", "path": "/repos/b", "default_branch": "main"}])");
        const auto before = store.find("a")->workflow;
        CHECK(before != workflow);
        REQUIRE(store.refresh());
        REQUIRE(store.refresh());
        CHECK(store.find("a")->workflow == workflow);
        CHECK(store.at_path("/repos/b")->name == "b");
    }
    CHECK(told == 3);
    REQUIRE(store.put(project("c")));
    CHECK(told == 3);
}

TEST_CASE_METHOD(Projects, "while a file cannot be used, what it said before stays in force, and nothing is changed") {
    REQUIRE(store.put(project("a")));
    write_text(file, "[{\"name\": ");
    CHECK_FALSE(store.refresh());
    CHECK(store.find("a"));
    CHECK_THAT(store.problem(), Tells(file.string()));
    CHECK_FALSE(store.put(project("b")));
    write_text(file, R"([{"name": "c", "path": "/c", "default_branch": "main"}])");
    REQUIRE(store.refresh());
    CHECK(store.find("c"));
    CHECK(store.problem().empty());
}

TEST_CASE_METHOD(Projects, "a project that is held goes on with it, however often the file is changed") {
    REQUIRE(store.put(project("a")));
    const auto* held = store.find("a");
    auto changed = project("a");
    for (int size = 5; size < 9; ++size) {
        changed.pool_size = size;
        REQUIRE(store.put(changed));
    }
    write_text(file, "[]");
    REQUIRE(store.refresh());
    CHECK_FALSE(store.find("a"));
    CHECK(*held == project("a"));
}

TEST_CASE_METHOD(Projects, "keys that Orange does not know stay in the file, and those that it knows can be removed") {
    write_text(file, R"([{"name": "a", "path": "/repos/a", "default_branch": "main", "workflow": "relay",
                          "note": "mine", "settings": {"push": false, "later": {"x": 1}}},
                         {"name": "b", "path": "/repos/b", "default_branch": "main", "note": [2]}])");
    REQUIRE(store.load());
    auto changed = *store.find("a");
    changed.workflow.reset();
    changed.settings.push.reset();
    changed.settings.merge = "pr";
    REQUIRE(store.put(changed));
    REQUIRE(store.put(project("c")));
    const auto written = Json::parse(read_text(file));
    CHECK(written[0]["note"] == "mine");
    CHECK_FALSE(written[0].contains("workflow"));
    CHECK(written[0]["settings"] == Json{{"merge", "pr"}, {"later", {{"x", 1}}}});
    CHECK(written[1]["note"] == Json{2});
    REQUIRE(store.remove("a"));
    REQUIRE(store.put(project("a")));
    CHECK_FALSE(Json::parse(read_text(file))[0].contains("note"));
}

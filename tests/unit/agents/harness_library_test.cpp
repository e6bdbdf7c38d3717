#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "daemon/agents/harness.hpp"
#include "tests/catch.hpp"
#include "tests/machine.hpp"

using namespace orange;
using namespace orange::agents;
namespace fs = std::filesystem;

namespace {

/// A shipped and a user's folder, and a folder of programs.
class Folders {
  public:
    Folders() {
        std::string name = (fs::temp_directory_path() / "orange-harness-XXXXXX").string();
        if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
        root = name;
        for (const char* folder : {"shipped", "user", "bin"}) fs::create_directory(root / folder);
    }
    ~Folders() { fs::remove_all(root); }
    Folders(const Folders&) = delete;

    void write(const fs::path& file, const std::string& text) { std::ofstream(root / file) << text; }
    void define(const std::string& folder, const std::string& name, const std::string& program,
                const std::string& more = {}) {
        write(folder + "/" + name + ".yml",
              "name: " + name + "\nprogram: " + program + "\nargv: {full: [--, '{prompt}']}\n" + more);
    }
    void install(const fs::path& file) {
        write(file, "#!/bin/sh\n");
        fs::permissions(root / file, fs::perms::owner_all);
    }
    HarnessLibrary library() {
        return {root / "shipped", root / "user",
                ProgramSearch(std::vector<SearchPath>{{"login", "relative:/nowhere:" + (root / "bin").string(), {}}})};
    }

    fs::path root;
};

}  // namespace

TEST_CASE("a user's definition wins over the shipped one of its name") {
    Folders folders;
    folders.define("shipped", "one", "one");
    folders.define("shipped", "two", "two");
    folders.define("user", "two", "mine");
    folders.install("bin/mine");
    const auto entries = folders.library().list();
    REQUIRE(entries.size() == 2);
    CHECK(entries[0].program.empty());
    CHECK(entries[1].path == folders.root / "user" / "two.yml");
    CHECK(entries[1].program == (folders.root / "bin" / "mine").string());
}

TEST_CASE("a program with a slash lies beside its definition") {
    Folders folders;
    folders.define("shipped", "demo", "./demo-agent");
    CHECK(folders.library().find("demo")->program.empty());
    folders.install("shipped/demo-agent");
    CHECK(folders.library().find("demo")->program == (folders.root / "shipped" / "demo-agent").string());
}

TEST_CASE("a file that cannot be executed is no installed program") {
    Folders folders;
    folders.define("shipped", "one", "one");
    folders.write("bin/one", "text");
    CHECK(folders.library().find("one")->program.empty());
}

TEST_CASE("an unknown name is answered with the names there are") {
    Folders folders;
    folders.define("shipped", "one", "one");
    folders.define("user", "two", "two");
    const auto found = folders.library().find("three");
    CHECK(found.error().code == ErrorCode::not_found);
    CHECK_THAT(found.error().message, Tells("three") && Tells("one, two"));
}

TEST_CASE("a broken definition is listed with its problem and does not hide the others") {
    Folders folders;
    folders.define("shipped", "one", "one");
    folders.write("user/bad.yml", "name: bad\nprogramm: x\n");
    folders.write("user/worse.yml", "{{{{");
    const auto entries = folders.library().list();
    REQUIRE(entries.size() == 3);
    CHECK_THAT(entries[0].problem, Tells("bad.yml:2:1") && Tells("programm"));
    CHECK(entries[1].problem.empty());
    CHECK_FALSE(entries[2].problem.empty());
    CHECK(folders.library().find("bad").error().code == ErrorCode::invalid_argument);
}

TEST_CASE("the first installed of the known programs is the default, and demo never is") {
    Folders folders;
    for (const char* name : {"claude", "codex", "demo", "pi"}) folders.define("shipped", name, name);
    folders.install("bin/demo");
    CHECK_FALSE(folders.library().first_installed());
    folders.install("bin/pi");
    CHECK(folders.library().first_installed() == "pi");
    folders.install("bin/claude");
    CHECK(folders.library().first_installed() == "claude");
}

TEST_CASE("a definition of one's own is the default if no other program is installed, and only if it is the only one") {
    Folders folders;
    folders.define("shipped", "claude", "claude");
    folders.define("user", "mine", "mine");
    CHECK_FALSE(folders.library().first_installed());
    folders.install("bin/mine");
    CHECK(folders.library().first_installed() == "mine");
    folders.define("user", "other", "other");
    folders.install("bin/other");
    CHECK_FALSE(folders.library().first_installed());
    folders.install("bin/claude");
    CHECK(folders.library().first_installed() == "claude");
}

TEST_CASE("a program that is tried is the default before one that is not") {
    Folders folders;
    folders.define("user", "claude", "claude", "tried: false\n");
    folders.install("bin/claude");
    CHECK(folders.library().first_installed() == "claude");
    folders.define("shipped", "gemini", "gemini");
    folders.install("bin/gemini");
    CHECK(folders.library().first_installed() == "gemini");
}

TEST_CASE("missing folders are an empty library") {
    const HarnessLibrary library("/nowhere/a", "/nowhere/b", ProgramSearch());
    CHECK(library.list().empty());
    CHECK(library.find("x").error().code == ErrorCode::not_found);
}

TEST_CASE("every shipped definition is valid") {
    const HarnessLibrary library(fs::path(ORANGE_SOURCE_DIR) / "harnesses", "/nowhere",
                                 ProgramSearch(std::vector<SearchPath>{{"login", tests::tools(), {}}}));
    const auto entries = library.list();
    CHECK(entries.size() >= 2);
    for (const auto& entry : entries) CHECK(entry.problem == "");
    CHECK_FALSE(library.find("demo")->program.empty());
}

TEST_CASE("a definition is known by its text and by the program beside it, and by the version that has shipped it") {
    Folders folders;
    const auto hash = [&] { return folders.library().find("mine")->hash; };
    const auto is_changed = [](const std::string& was, const std::string& now) {
        return orange::agents::is_changed(was, now, "none");
    };
    folders.define("user", "mine", "./agent");
    folders.install("user/agent");
    const auto before = hash();
    CHECK_FALSE(is_changed(before, hash()));
    folders.write("user/agent", "#!/bin/sh\necho other\n");
    const auto other_program = hash();
    CHECK(is_changed(before, other_program));
    folders.write("user/mine.yml", "name: mine\nprogram: ./agent\nargv: {full: [--, '{prompt}', more]}\n");
    CHECK(is_changed(other_program, hash()));

    folders.define("shipped", "theirs", "theirs");
    const auto shipped = folders.library().find("theirs")->hash;
    CHECK_FALSE(is_changed("shipped 0.0.1 0123456789abcdef", shipped));
    CHECK(is_changed(shipped.substr(0, shipped.rfind(' ')) + " 0123456789abcdef", shipped));
    folders.define("user", "theirs", "theirs");
    CHECK(is_changed(shipped, folders.library().find("theirs")->hash));

    const auto mine = *folders.library().find("mine");  // as an older version knew it
    CHECK(mine.earlier_hash.size() == 16);
    CHECK_FALSE(orange::agents::is_changed(mine.earlier_hash, mine.hash, mine.earlier_hash));
    CHECK(orange::agents::is_changed("0123456789abcdef", mine.hash, mine.earlier_hash));
}

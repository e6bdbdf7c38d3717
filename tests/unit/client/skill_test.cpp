// `orange install` and `orange uninstall`: the real programs, with stand-ins for the agents' programs in a home of the
// test's own.
#include <fstream>
#include <iterator>
#include <set>

#include "common/base/text.hpp"
#include "tests/catch.hpp"
#include "tests/unit/client/fake_daemon.hpp"

using namespace orange;
namespace fs = std::filesystem;

namespace {

std::string text_at(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void put_text(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
}

struct SkillHome {
    SkillHome() {
        fs::create_directories(home);
        fs::create_directories(share);
        fs::copy(fs::path(ORANGE_SOURCE_DIR) / "workflows", share / "workflows");
        fs::copy(fs::path(ORANGE_SOURCE_DIR) / "harnesses", share / "harnesses");
        put_text(share / "skills" / "orange" / "SKILL.md", "first text\n");
        for (const char* name : {"claude", "codex"}) {
            put_text(bin / name, "#!/bin/sh\n");
            fs::permissions(bin / name, fs::perms::owner_all);
        }
        // The machine may have agents in its own folders of programs.
        for (const char* name : {"sh", "env", "git", "tmux"}) {
            const auto system = fs::exists(fs::path("/usr/bin") / name) ? "/usr/bin" : "/bin";
            fs::create_symlink(fs::path(system) / name, bin / name);
        }
    }
    test::Ran run(std::vector<std::string> words) {
        words.insert(words.begin(), ORANGE_BINARY_DIR "/bin/orange");
        auto env =
            std::vector<std::string>{"HOME=" + home.string(), "ORANGE_HOME=" + (home / "orange").string(),
                                     "ORANGE_NO_AUTOSTART=1", "ORANGE_SHARE=" + share.string(), "PATH=" + bin.string()};
        env.insert(env.end(), more.begin(), more.end());
        return test::run(words, env, folder.path());
    }
    /// Everything below the home but the home of Orange.
    std::set<std::string> files() const {
        std::set<std::string> found;
        for (const auto& entry : fs::recursive_directory_iterator(home)) {
            const auto path = fs::relative(entry.path(), home).string();
            if (!path.starts_with("orange")) found.insert(path);
        }
        return found;
    }
    Json findings() {
        Json found = Json::array();
        const auto said = Json::parse(run({"doctor", "--json"}).out);
        for (const auto& finding : said.at("findings")) {
            if (finding.at("check") == "skill") found.push_back(finding);
        }
        return found;
    }

    test::TemporaryFolder folder;
    fs::path home = folder.path() / "home", share = folder.path() / "share", bin = folder.path() / "bin";
    fs::path claude = home / ".claude/skills/orange/SKILL.md", codex = home / ".codex/skills/orange/SKILL.md";
    std::vector<std::string> more;
};

}  // namespace

TEST_CASE("The skill is installed for the agents that are there, once, and everything of it is removed") {
    SkillHome skill;
    const auto before = skill.files();
    const auto plan = skill.run({"install", "--dry-run"});
    CHECK(plan.status == 0);
    CHECK_THAT(plan.out, Tells(skill.claude.string()) && Tells(skill.codex.string()));
    CHECK(skill.files() == before);

    const auto done = skill.run({"install"});
    CHECK(done.status == 0);
    CHECK_THAT(done.out, Tells("claude, codex") && Tells(skill.claude.string()));
    CHECK_THAT(text_at(skill.claude), Catch::StartsWith("first text\n"));
    CHECK_THAT(text_at(skill.codex), Catch::StartsWith("first text\n"));
    const auto after = skill.files();
    const auto written = fs::last_write_time(skill.claude);
    CHECK(skill.run({"skill", "install"}).out == skill.run({"install"}).out);
    CHECK(skill.files() == after);
    CHECK(fs::last_write_time(skill.claude) == written);

    CHECK(skill.run({"skill", "remove"}).status == 0);
    CHECK(skill.files() == before);
    CHECK(skill.run({"uninstall"}).status == 0);
}

TEST_CASE("Named agents alone get the skill and lose it, and folders that were there stay") {
    SkillHome skill;
    put_text(skill.home / ".codex" / "config.toml", "");
    CHECK(skill.run({"install", "--harness", "codex", "pi"}).status == 0);
    CHECK_FALSE(fs::exists(skill.claude));
    CHECK_THAT(text_at(skill.home / ".pi/agent/skills/orange/SKILL.md"), Catch::StartsWith("first text\n"));
    CHECK(skill.run({"uninstall", "--harness", "codex"}).status == 0);
    CHECK_FALSE(fs::exists(skill.home / ".codex" / "skills"));
    CHECK(fs::exists(skill.home / ".codex" / "config.toml"));
    CHECK(fs::exists(skill.home / ".pi/agent/skills/orange/SKILL.md"));
    for (const char* other : {"nosuch", "demo"}) {
        const auto refused = skill.run({"install", "--json", "--harness", other});
        CHECK(refused.status == 1);
        CHECK(Json::parse(refused.out)["error"]["data"]["name"] == "not_found");
    }
}

TEST_CASE("A variable of the agent's own moves its skill") {
    SkillHome skill;
    skill.more = {"CODEX_HOME=" + (skill.home / "elsewhere").string()};
    CHECK(skill.run({"install", "--harness", "codex"}).status == 0);
    CHECK_THAT(text_at(skill.home / "elsewhere/skills/orange/SKILL.md"), Catch::StartsWith("first text\n"));
    CHECK(skill.run({"uninstall"}).status == 0);
    CHECK(skill.files().empty());
}

TEST_CASE("Nothing that a person wrote is replaced or removed") {
    SkillHome skill;
    put_text(skill.claude, "my own\n");
    CHECK(skill.run({"install"}).status == 1);
    CHECK(text_at(skill.claude) == "my own\n");
    const auto edited = "edited\n" + text_at(skill.codex);
    put_text(skill.codex, edited);
    put_text(skill.share / "skills/orange/SKILL.md", "second text\n");
    const auto again = skill.run({"install", "--json"});
    CHECK(again.status == 1);
    const auto told = Json::parse(again.out);
    for (const auto& row : told["skills"]) CHECK_FALSE(row["written"].get<bool>());
    CHECK(text_at(skill.codex) == edited);
    CHECK(skill.run({"uninstall"}).status == 0);
    CHECK(text_at(skill.codex) == edited);
    CHECK(text_at(skill.claude) == "my own\n");

    // A link is somebody's own, too: what it points at is not written to.
    fs::remove(skill.codex);
    put_text(skill.home / "dotfiles.md", "linked\n");
    fs::create_symlink(skill.home / "dotfiles.md", skill.codex);
    CHECK(skill.run({"install", "--harness", "codex"}).status == 1);
    CHECK(text_at(skill.home / "dotfiles.md") == "linked\n");

    // Nor is it removed, also where it has Orange's own text.
    fs::remove(skill.codex);
    REQUIRE(skill.run({"install", "--harness", "codex"}).status == 0);
    fs::rename(skill.codex, skill.home / "moved.md");
    fs::create_symlink(skill.home / "moved.md", skill.codex);
    CHECK(skill.run({"uninstall", "--harness", "codex"}).status == 0);
    CHECK(fs::is_symlink(skill.codex));
}

TEST_CASE("A file that has the very text is Orange's once the skill is installed, but a link to one is not") {
    SkillHome skill;
    put_text(skill.claude, "first text\n");
    put_text(skill.home / "dotfiles.md", "first text\n");
    fs::create_directories(skill.codex.parent_path());
    fs::create_symlink(skill.home / "dotfiles.md", skill.codex);
    REQUIRE(skill.run({"install"}).status == 0);
    put_text(skill.share / "skills/orange/SKILL.md", "second text\n");
    REQUIRE(skill.findings().size() == 1);
    CHECK(skill.findings()[0]["file"] == skill.claude.string());
    (void)skill.run({"install"});
    CHECK_THAT(text_at(skill.claude), Catch::StartsWith("second text\n"));
    CHECK(text_at(skill.home / "dotfiles.md") == "first text\n");
    CHECK(skill.run({"uninstall"}).status == 0);
    CHECK_FALSE(fs::exists(skill.claude));
    CHECK(fs::is_symlink(skill.codex));
}

TEST_CASE("The doctor names a skill that is older, and the command that installs it again") {
    SkillHome skill;
    CHECK(skill.findings().empty());
    REQUIRE(skill.run({"install"}).status == 0);
    REQUIRE(skill.findings().size() == 2);
    for (const auto& finding : skill.findings()) CHECK(finding["level"] == "ok");
    put_text(skill.share / "skills/orange/SKILL.md", "second text\n");
    put_text(skill.codex, text_at(skill.codex) + "mine\n");
    const auto found = skill.findings();
    REQUIRE(found.size() == 2);
    CHECK(found[0]["level"] == "warning");
    CHECK(found[0]["command"] == "orange install --harness claude");
    CHECK(found[0]["file"] == skill.claude.string());
    CHECK(found[1]["level"] == "ok");  // it is a person's now
    CHECK(skill.run({"install", "--harness", "claude"}).status == 0);
    CHECK_THAT(text_at(skill.claude), Catch::StartsWith("second text\n"));
    for (const auto& finding : skill.findings()) CHECK(finding["level"] == "ok");
}

TEST_CASE("The shipped skill has a name and a description, and every command in it exists") {
    const auto text = text_at(fs::path(ORANGE_SOURCE_DIR) / "skills/orange/SKILL.md");
    CHECK_THAT(text, Catch::StartsWith("---\nname: orange\ndescription: "));
    // Each `orange GROUP COMMAND --option` of it is one that the program's help knows.
    SkillHome skill;
    std::size_t seen = 0;
    for (const auto line : split_lines(text)) {
        for (auto at = line.find("orange "); at != std::string_view::npos; at = line.find("orange ", at + 1)) {
            const auto words = split(line.substr(at, line.find_first_of("`#", at) - at), ' ');
            if (words.size() < 2 || (words[1] != "task" && words[1] != "project")) continue;
            REQUIRE(words.size() > 2);
            const auto help = skill.run({std::string(words[1]), std::string(words[2]), "--help"});
            INFO(line);
            CHECK(help.status == 0);
            for (const auto word : words) {
                if (word.starts_with("--")) CHECK_THAT(help.out, Holds(std::string(word)));
            }
            ++seen;
        }
    }
    CHECK(seen > 15);
}

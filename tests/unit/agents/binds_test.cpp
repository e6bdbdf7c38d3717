#include "daemon/agents/binds.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "common/base/text.hpp"
#include "tests/catch.hpp"
#include "tests/facts.hpp"
#include "tests/fakes/temporary_folder.hpp"

using namespace orange;
using namespace orange::agents;
using orange::testing::TemporaryFolder;
using orange::testing::write_text;

namespace fs = std::filesystem;

TEST_CASE("A run behind a wall gets the folders of its PATH, its program's package and the program's own files") {
    TemporaryFolder folder;
    const auto home = folder / "home";
    const auto node = home / ".nvm/v20", package = node / "lib/node_modules/mine";
    write_text(package / "package.json", "{}");
    write_text(package / "bin/mine.js", "");
    fs::create_directories(node / "bin");
    fs::create_symlink("../lib/node_modules/mine/bin/mine.js", node / "bin/mine");
    Harness harness;
    harness.config_binds = {"~/.mine", "$MINE_DIR", "$UNSET_DIR", "~/", "/"};
    const auto orange_home = home / "orange";
    Environment env = {{"HOME", home.string()},
                       {"ORANGE_HOME", orange_home.string()},
                       {"MINE_DIR", "/srv/mine"},
                       {"PATH", (node / "bin").string() + ":/usr/bin:" + home.string() + ":" +
                                    (orange_home / "workspaces/x").string()}};
    const std::vector<Bind> expected = {{(node / "bin").string()},
                                        {package.string()},
                                        {(home / ".mine").string(), Bind::Kind::write},
                                        {"/srv/mine", Bind::Kind::write}};
    CHECK(binds_of(harness, (node / "bin/mine").string(), env) == expected);

    // A user's own program beside its definition, and one of the system.
    env["PATH"] = "/usr/bin";
    harness.config_binds.clear();
    CHECK(binds_of(harness, (orange_home / "harnesses/own").string(), env) ==
          std::vector<Bind>{{(orange_home / "harnesses").string()}});
    CHECK(binds_of(harness, "/usr/bin/env", env).empty());

    // A home that is a link: the names below it stay, and begin with the real one.
    fs::create_directory_symlink(home, folder / "link");
    env["HOME"] = (folder / "link").string();
    CHECK(in_real_home((folder / "link/.nvm").string(), env) == (home / ".nvm").string());
    CHECK(binds_of(harness, (folder / "link/bin/tool").string(), env) == std::vector<Bind>{{(home / "bin").string()}});

    // A wall may hide the link.
    const auto link = (folder / "link").string();
    env = {{"HOME", link}, {"PATH", link + "/bin:/usr/bin:" + link + "er/bin"}, {"MINE", "~/x"}};
    std::vector<std::string> words = {link + "/bin/tool", "--in", "/srv"};
    name_real_home(env, words);
    CHECK(env.at("HOME") == home.string());
    CHECK(env.at("PATH") == (home / "bin").string() + ":/usr/bin:" + link + "er/bin");
    CHECK(env.at("MINE") == "~/x");
    CHECK(words == std::vector<std::string>{(home / "bin/tool").string(), "--in", "/srv"});
}

TEST_CASE("Behind a wall, settings are copied, folders of them are read, and only login and state are written") {
    TemporaryFolder folder;
    const auto home = folder / "home", other = folder / "other";
    const auto mine = home / ".mine";
    for (const auto& base : {mine, other}) {
        write_text(base / "login", "secret");
        write_text(base / "settings", "{}");
        write_text(base / "status.sh", "#!/bin/sh\n");
        fs::permissions(base / "status.sh", fs::perms::owner_all);
        write_text(base / "large", "");
        fs::resize_file(base / "large", (16 << 20) + 1);
        write_text(base / "plugins/one", "");
        fs::create_directories(base / "state");
        fs::create_directories(base / "bin");
        REQUIRE(::mkfifo((base / "pipe").c_str(), 0600) == 0);
        fs::create_symlink("nowhere", base / "dangling");
    }
    fs::create_symlink("settings", mine / "theme");
    write_text(home / ".mine.json", "{}");
    Harness harness;
    harness.config_binds = {"~/.mine/login", "~/.mine/state", "$MINE/login", "$UNSET/login"};
    harness.config_reads = {"~/.mine.json", "~/.mine/*", "~/.other", "$MINE/*.sh", "$MINE/p*"};
    Environment env = {
        {"HOME", home.string()}, {"MINE", other.string()}, {"PATH", (other / "bin").string() + ":/usr/bin"}};
    using enum Bind::Kind;
    const auto at = [](const fs::path& base, const char* name, Bind::Kind kind) {
        return Bind{(base / name).string(), kind};
    };
    const std::vector<Bind> expected = {
        {other.string(), empty},      at(other, "bin", read),      at(mine, "login", write),
        at(mine, "state", write),     at(other, "login", write),   at(home, ".mine.json", copy),
        at(mine, "bin", read),        at(mine, "large", read),     at(mine, "plugins", read),
        at(mine, "settings", copy),   at(mine, "status.sh", read), at(mine, "theme", copy),
        at(other, "status.sh", read), at(other, "plugins", read),
    };
    CHECK(binds_of(harness, "/usr/bin/env", env) == expected);
    for (const auto& none :
         {home / ".mine", folder / "nowhere"}) {  // HOME is empty already; what is not there stays so
        env["MINE"] = none.string();
        const auto inside = binds_of(harness, "/usr/bin/env", env);
        CHECK(std::ranges::count(inside, empty, &Bind::kind) == 0);
    }

    Executor executor;
    executor.readable = {"-r", "{path}"};
    executor.writable = {"-w", "{path}"};
    const auto words = [&](const std::vector<Bind>& binds) { return join(words_of(binds, executor, env), " "); };
    const auto there = [&](const char* name, Bind::Kind kind) { return at(mine, name, kind); };
    const auto bin = there("bin", read).path;
    CHECK(words({there("bin", read)}) == "-r " + bin);
    CHECK(words({there("bin", write)}) == "-w " + bin);
    CHECK(words({there("bin", copy)}).empty());
    CHECK(words({there("bin", empty)}) == "-r " + bin);
    CHECK(words({there("bin", read), there("bin", write)}) == "-r " + bin);  // once
    CHECK(words({there("nowhere", read), there("nowhere", write)}).empty());
    executor.emptied = {"-e", "{path}"};
    CHECK(words({there("bin", empty)}) == "-e " + bin);
    executor.above = {"-a", "{path}"};
    write_text(mine / "deep/down/file", "");
    const auto deep = (mine / "deep").string();
    CHECK(words({there("deep/down/file", write)}) ==
          "-w " + deep + "/down/file -a " + deep + "/down -a " + deep + " -a " + mine.string());
    CHECK(words({there("deep", read), there("deep/down/file", write)}) ==
          "-r " + deep + " -w " + deep + "/down/file -a " + mine.string());
    CHECK(words({at(other, "bin", read)}) == "-r " + (other / "bin").string());  // outside of HOME
}

TEST_CASE("The folders to which a program writes are made for a wall, and no file is taken for a folder") {
    TemporaryFolder folder;
    Harness harness;
    harness.config_binds = {"~/.mine", "~/.mine.json", "~/.config/mine", "$MINE_DIR", "~/", "/"};
    const Environment env = {{"HOME", (folder / "home").string()}, {"MINE_DIR", (folder / "other").string()}};
    fs::create_directory(folder / "home");
    for (int round = 0; round < 2; ++round) REQUIRE(make_config_folders(harness, env));
    const auto made = folder / "home/.config/mine";
    CHECK(fs::is_directory(folder / "home/.mine"));
    CHECK((fs::status(made).permissions() & fs::perms::mask) == fs::perms::owner_all);
    CHECK_FALSE(fs::exists(folder / "home/.mine.json"));
    CHECK_FALSE(fs::exists(folder / "other"));
    harness.config_binds = {"~/.mine/state", "$MINE_DIR/state", "$UNSET/state"};
    harness.config_reads = {"~/.mine/hooks", "~/.mine/*"};
    REQUIRE(make_config_folders(harness, env));
    CHECK(fs::is_directory(folder / "home/.mine/state"));
    CHECK_FALSE(fs::exists(folder / "home/.mine/hooks"));
    CHECK_FALSE(fs::exists(folder / "other"));
    fs::create_directory(folder / "other");
    REQUIRE(make_config_folders(harness, env));
    CHECK(fs::is_directory(folder / "other/state"));
    write_text(folder / "home/.file", "");
    harness.config_binds = {"~/.file/below"};
    CHECK_THAT(make_config_folders(harness, env).error().message, Holds((folder / "home/.file/below").string()));
}

TEST_CASE("A program in a folder that the executor hides is refused, unless something shows it") {
    TemporaryFolder folder;
    const auto home = folder / "home", hidden = folder / "hidden";
    write_text(hidden / "bin/mine", "#!/bin/sh\n");
    write_text(hidden / "bin/node", "");
    fs::permissions(hidden / "bin/node", fs::perms::owner_all);
    write_text(home / "bin/script", "#!/usr/bin/env node\n");
    fs::create_symlink(hidden / "bin/mine", home / "bin/link");
    Executor executor;
    executor.name = "box";
    executor.hides = {hidden.string()};
    Environment env = {{"HOME", home.string()}, {"PATH", (hidden / "bin").string()}};
    const auto check = [&](const fs::path& program, const std::vector<std::string>& options = {}) {
        HarnessEntry entry;
        entry.harness.name = "mine";
        entry.program = program.string();
        return check_visible(executor, entry, env, options);
    };
    for (const auto& program : {hidden / "bin/mine", home / "bin/link"}) {
        const auto refused = check(program);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == ErrorCode::conflict);
        for (const auto& fact : {std::string("box"), hidden.string()}) CHECK_THAT(refused.error().message, Tells(fact));
        CHECK(check(program, {"--ro-bind", hidden.string(), hidden.string()}));
        CHECK_FALSE(check(program, {"--ro-bind", (hidden / "b").string()}));
    }
    REQUIRE_FALSE(check(home / "bin/script"));
    CHECK_THAT(check(home / "bin/script").error().message, Tells((hidden / "bin/node").string()));
    CHECK(check("/usr/bin/env"));
    env["PATH"] = "/usr/bin";
    CHECK(check(home / "bin/script"));
    // All of it is below a hidden folder, and home is shown.
    executor.hides = {folder.path().string()};
    CHECK(check(home / "bin/script"));
}

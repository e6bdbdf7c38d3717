#include "daemon/agents/program_search.hpp"

#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "daemon/files/posix_file_system.hpp"
#include "tests/catch.hpp"

using namespace orange;
using namespace orange::agents;
namespace fs = std::filesystem;

namespace {

class SearchFolders {
  public:
    SearchFolders() {
        std::string name = (fs::temp_directory_path() / "orange-search-XXXXXX").string();
        if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
        root = name;
    }
    ~SearchFolders() { fs::remove_all(root); }
    SearchFolders(const SearchFolders&) = delete;

    std::string install(const fs::path& file, const std::string& text = "#!/bin/sh\n") {
        fs::create_directories((root / file).parent_path());
        std::ofstream(root / file) << text;
        fs::permissions(root / file, fs::perms::owner_all);
        return (root / file).string();
    }
    std::string path(const std::string& folder) const { return (root / folder).string(); }
    Path kept() const { return root / "programs.json"; }
    ProgramSearch search(FileSystem& files, std::vector<SearchPath> paths = {}) {
        return {std::move(paths), files, kept(), root / "workspaces"};
    }

    fs::path root;
};

}  // namespace

TEST_CASE("the first PATH that has a program wins, but not over one that has its interpreter, too") {
    SearchFolders folders;
    const auto plain = folders.install("login/plain");
    folders.install("nvm/plain");
    folders.install("login/script", "#!/usr/bin/env some-node\n");
    const auto runs = folders.install("nvm/script", "#!/usr/bin/env -S some-node --flag\n");
    folders.install("nvm/some-node");
    const auto broken = folders.install("login/broken", "#!/usr/bin/env no-such-node\n");
    const ProgramSearch search(
        std::vector<SearchPath>{{"login", folders.path("login"), {}}, {"inter", folders.path("nvm"), {}}});
    CHECK(search.find("plain").file == plain);
    CHECK(search.find("plain").source == "login");
    CHECK(search.find("script").file == runs);
    CHECK(search.find("script").path == folders.path("nvm"));
    CHECK(search.find("broken").file == broken);
    CHECK(search.find("nowhere").file.empty());
}

TEST_CASE("a client's PATH is kept for the programs that are in it, in a file") {
    SearchFolders folders;
    PosixFileSystem files;
    const auto mine = folders.install("terminal/mine");
    auto search = folders.search(files, {{"login", "/nowhere", {}}});
    search.remember_client_path(folders.path("other"), {"mine"});
    CHECK_FALSE(fs::exists(folders.kept()));
    search.remember_client_path(folders.path("terminal"), {"mine", "absent"});
    CHECK(search.find("mine").file == mine);
    search.remember_client_path("/usr/bin", {"mine"});
    CHECK(search.find("mine").file == mine);
    CHECK(folders.search(files).find("mine").file == mine);
    CHECK(folders.search(files).find("absent").file.empty());

    const auto newer = folders.install("newer/mine");
    search.remember_client_path(folders.path("newer"), {"mine"});
    CHECK(search.find("mine").file == newer);
    const auto shell = folders.install("shell/mine");
    search.set_paths({{"login", folders.path("shell"), {}}});
    CHECK(search.find("mine").file == shell);
}

TEST_CASE("a kept file that is no such file is taken for none") {
    SearchFolders folders;
    PosixFileSystem files;
    const auto mine = folders.install("terminal/mine");
    for (const char* text : {"", "{", "[]", "{\"paths\": 1}", "{\"paths\": {\"mine\": 1}}"}) {
        std::ofstream(folders.kept()) << text;
        auto search = folders.search(files);
        CHECK(search.find("mine").file.empty());
        search.remember_client_path(folders.path("terminal"), {"mine"});
        CHECK(folders.search(files).find("mine").file == mine);
    }
}

TEST_CASE("folders of a client that are relative, or below the workspaces, are never looked into") {
    SearchFolders folders;
    PosixFileSystem files;
    folders.install("workspaces/shop--1/bin/mine");
    auto search = folders.search(files);
    search.remember_client_path("bin:.::" + folders.path("workspaces") + ":" + folders.path("workspaces/shop--1/bin") +
                                    ":" + folders.path("workspaces/../workspaces/shop--1/bin"),
                                {"mine"});
    CHECK(search.find("mine").file.empty());
}

TEST_CASE("what was searched names every PATH, or why it could not be had") {
    SearchFolders folders;
    PosixFileSystem files;
    auto search = folders.search(files, {{"sh -l", "/usr/bin", {}}, {"sh -l -i", {}, "did not end"}});
    CHECK(search.searched() == "PATH of sh -l (/usr/bin), of sh -l -i (did not end)");
    search.remember_client_path("/opt/x", {});
    CHECK(search.searched() == "PATH of sh -l (/usr/bin), of sh -l -i (did not end), of your terminal (/opt/x)");
}

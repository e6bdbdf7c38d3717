// Which tests scripts/test leaves out on a machine that cannot run them (what_cannot_be_tried in scripts/lib.sh).
#ifdef __linux__
#include <sched.h>
#include <sys/mount.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <sstream>
#include <string>

#include "tests/catch.hpp"
#include "tests/fakes/temporary_folder.hpp"

namespace {

namespace fs = std::filesystem;

std::string said_by(const std::string& line) {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(line.c_str(), "r"), ::pclose);
    REQUIRE(pipe);
    std::string said;
    char piece[512];
    while (std::fgets(piece, sizeof piece, pipe.get())) said += piece;
    return said;
}

/// Returns the lines of what_cannot_be_tried if the programs in `folder` are found first.
std::string left_out(const std::string& folder = "/nowhere") {
    return said_by("PATH='" + folder +
                   "':/usr/sbin:/usr/bin:/sbin:/bin sh -c '. \"$0\" && what_cannot_be_tried' '" ORANGE_SOURCE_DIR
                   "/scripts/lib.sh'");
}

void add_program(const fs::path& path, const std::string& body) {
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    fs::permissions(path, fs::perms::owner_all);
}

/// Returns true if a process of this user may have a namespace of its own, and mount in it. No program is asked.
bool kernel_gives_namespaces() {
#ifdef __linux__
    const pid_t outer = ::fork();
    if (outer == 0) {
        if (::unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) != 0) ::_exit(1);
        const pid_t inner = ::fork();
        if (inner == 0) ::_exit(::mount("proc", "/proc", "proc", 0, nullptr) == 0 ? 0 : 1);
        int status = 1;
        if (inner < 0 || ::waitpid(inner, &status, 0) != inner) ::_exit(1);
        ::_exit(status == 0 ? 0 : 1);
    }
    int status = 1;
    return outer > 0 && ::waitpid(outer, &status, 0) == outer && status == 0;
#else
    return false;
#endif
}

}  // namespace

TEST_CASE("on a whole machine no test is left out") {
    INFO(left_out());
    CHECK((left_out().find("user-namespaces") == std::string::npos) == kernel_gives_namespaces());
    if (::geteuid() == 0) CHECK(left_out().find("terminals") == std::string::npos);
}

TEST_CASE("what a machine lacks is found, and tests have that label") {
    const orange::testing::TemporaryFolder folder;
    add_program(folder / "bwrap", "echo 'bwrap: No permissions to create new namespace' >&2; exit 1");
    add_program(folder / "id", "echo 1000");
    add_program(folder / "script", "printf 'users\\r\\n'");
    const auto lines = left_out(folder.path().string());
    CHECK(lines == "needs-user-namespaces user namespaces\nneeds-terminals-of-sshd terminals of the group tty\n");
    for (const char* label : {"needs-user-namespaces", "needs-terminals-of-sshd"}) {
        const auto listed = said_by(std::string("cd '" ORANGE_BINARY_DIR "' && '" ORANGE_CTEST "' -N -L ") + label);
        INFO(listed);
        CHECK(listed.find("Total Tests: ") != std::string::npos);
        CHECK(listed.find("Total Tests: 0") == std::string::npos);
    }
    add_program(folder / "script", "printf 'tty\\r\\n'");
    CHECK(left_out(folder.path().string()) == "needs-user-namespaces user namespaces\n");
}

TEST_CASE("ctest runs every test: no name has a semicolon, which would end it") {
    const std::regex name(R"re(TEST_CASE(?:_METHOD)?\((?:[^",]*, *)?"([^"]*)")re");
    for (const auto& entry : fs::recursive_directory_iterator(ORANGE_SOURCE_DIR "/tests")) {
        if (entry.path().extension() != ".cpp") continue;
        std::stringstream read;
        read << std::ifstream(entry.path()).rdbuf();
        const auto text = read.str();
        for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at) {
            INFO(entry.path().string() << ": " << (*at)[1]);
            CHECK((*at)[1].str().find(';') == std::string::npos);
        }
    }
}

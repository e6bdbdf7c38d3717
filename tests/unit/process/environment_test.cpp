#include "daemon/process/environment.hpp"

#include <sys/stat.h>

#include "tests/catch.hpp"
#include "tests/support/os_fixture.hpp"

using namespace orange;
using namespace orange::test;

TEST_CASE("variables that redirect or inject are dropped, the rest stays") {
    const Environment from{{"GIT_DIR", "/x"},
                           {"TMUX", "x"},
                           {"TMUX_PANE", "%1"},
                           {"LD_PRELOAD", "x"},
                           {"DYLD_X", "x"},
                           {"BASH_ENV", "x"},
                           {"ENV", "x"},
                           {"ORANGE_TASK", "x"},
                           {"HOME", "/home/u"},
                           {"ORANGE_HOME", "/o"},
                           {"ENVIRONMENT", "y"},
                           {"MY_GIT_DIR", "z"},
                           {"NOTIFY_SOCKET", "/run/x"},
                           {"LISTEN_FDS", "1"},
                           {"WATCHDOG_USEC", "1"}};
    const Environment kept{{"HOME", "/home/u"}, {"ORANGE_HOME", "/o"}, {"ENVIRONMENT", "y"}, {"MY_GIT_DIR", "z"}};
    CHECK(without_dangerous(from) == kept);
}

TEST_CASE("variables are removed by name and by prefix, and one of them may be kept") {
    const Environment from{{"A", "1"}, {"AB", "2"}, {"B", "3"}, {"JOB_ID", "4"}, {"JOB_CONF", "5"}, {"MY_JOB_ID", "6"}};
    CHECK(without(from, {}) == from);
    CHECK(without(from, {"A", "JOB_*", "!JOB_CONF"}) ==
          Environment{{"AB", "2"}, {"B", "3"}, {"JOB_CONF", "5"}, {"MY_JOB_ID", "6"}});
    CHECK(without(from, {"!JOB_CONF", "JOB_*", "A*", "B"}) == Environment{{"JOB_CONF", "5"}, {"MY_JOB_ID", "6"}});
}

TEST_CASE("the scrubbed environment comes from this process and speaks C") {
    ::setenv("GIT_DIR", "/nowhere", 1);
    ::setenv("ORANGE_TEST_MARK", "1", 1);
    ::setenv("PLAIN_MARK", "a=b", 1);
    const auto env = scrubbed_environment();
    ::unsetenv("GIT_DIR");
    CHECK(env.count("GIT_DIR") == 0);
    CHECK(env.count("ORANGE_TEST_MARK") == 0);
    CHECK(env.at("PLAIN_MARK") == "a=b");
    CHECK(env.at("LC_ALL") == "C");
}

TEST_CASE("a program is found in absolute folders only, and must be executable") {
    TempDir dir;
    write_file(dir / "a/tool", "");
    write_file(dir / "b/tool", "");
    std::filesystem::create_directories(dir / "c/tool");
    ::chmod((dir / "b/tool").c_str(), 0755);
    const auto path = dir.path.string();
    CHECK(find_program("tool", path + "/a:" + path + "/c:" + path + "/b") == path + "/b/tool");
    CHECK(find_program("tool", path + "/a").empty());
    CHECK(find_program("/bin/anything", "") == "/bin/anything");
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(dir / "b");
    CHECK(find_program("tool", ".::b").empty());
    std::filesystem::current_path(before);
}

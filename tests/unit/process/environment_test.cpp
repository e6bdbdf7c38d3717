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

TEST_CASE("The variables of a Slurm job are told apart from those with which a person steers Slurm") {
    const Environment person{{"PATH", "/bin"}, {"SLURM_CONF", "/etc/slurm.conf"}, {"SLURM_JWT", "x"}, {"PMI", "1"}};
    auto all = person;
    all["SBATCH_PARTITION"] = "gpu";
    CHECK(variables_of_job(all).empty());  // outside of a job they are the person's own
    Environment job{
        {"SBATCH_PARTITION", "gpu"}, {"SLURM_JOB_ID", "7"},      {"SLURMD_NODENAME", "n1"},    {"SRUN_NTASKS", "2"},
        {"SALLOC_WAIT", "1"},        {"PMI_RANK", "0"},          {"PMIX_RANK", "0"},           {"PMI2_X", "1"},
        {"SLURM_CPU_BIND", "x"},     {"SLURM_PARTITION", "old"}, {"CUDA_VISIBLE_DEVICES", "0"}};
    all.insert(job.begin(), job.end());
    CHECK(variables_of_job(all) == job);
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

// How long a person waits for `orange task list`: the real program against a server that answers at once. Prints the
// median and the 95th percentile, and beside them what /bin/true takes here: that much is the system's own.
//
//     client_bench [PROGRAM] [RUNS] [TASKS]
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/unit/client/fake_daemon.hpp"

using namespace orange;

namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

std::vector<double> times_of(std::vector<std::string> argv, const std::string& home, int runs) {
    std::vector<char*> words;
    for (auto& word : argv) words.push_back(word.data());
    words.push_back(nullptr);
    std::string variable = "ORANGE_HOME=" + home;
    char* environment[] = {variable.data(), nullptr};
    posix_spawn_file_actions_t quiet;
    ::posix_spawn_file_actions_init(&quiet);
    ::posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
    std::vector<double> times;
    for (int i = 0; i < runs; ++i) {
        const auto start = std::chrono::steady_clock::now();
        pid_t pid = 0;
        int status = -1;
        const bool ran = ::posix_spawn(&pid, words[0], &quiet, nullptr, words.data(), environment) == 0 &&
                         ::waitpid(pid, &status, 0) == pid && status == 0;
        if (!ran) {
            std::fprintf(stderr, "%s did not run\n", words[0]);
            std::exit(1);
        }
        times.push_back(Milliseconds(std::chrono::steady_clock::now() - start).count());
    }
    ::posix_spawn_file_actions_destroy(&quiet);
    std::sort(times.begin(), times.end());
    return times;
}

void report(const char* what, const std::vector<double>& times) {
    std::printf("%-40s median %6.2f ms   p95 %6.2f ms   (%zu runs)\n", what, times[times.size() / 2],
                times[times.size() * 95 / 100], times.size());
}

}  // namespace

int main(int argc, char** argv) {
    const std::string program = argc > 1 ? argv[1] : ORANGE_BINARY_DIR "/bin/orange";
    const int runs = argc > 2 ? std::max(20, std::atoi(argv[2])) : 500;
    const int tasks = argc > 3 ? std::atoi(argv[3]) : 20;
    test::TemporaryFolder folder;
    Json list = Json::array();
    for (int i = 0; i < tasks; ++i) {
        list.push_back({{"fields",
                         {{"id", "4f2aBcDeFgHiJkLmNoPqR"},
                          {"project", "shop"},
                          {"branch", "orange-tasks/4f2aBcDeFgHiJkLmNoPqR"},
                          {"status", "working"},
                          {"summary", "Round the total of each line before it is summed up"},
                          {"created_at", "2026-11-20T10:00:00.000Z"},
                          {"updated_at", "2026-11-20T10:00:00.000Z"}}},
                        {"path", "/home/x/orange/tasks/shop/4f2aBcDeFgHiJkLmNoPqR"},
                        {"worker", "alive"},
                        {"reviewer", "none"}});
    }
    const Json result = {{"tasks", std::move(list)}};
    const std::string tail = ",\"result\":" + dump(result) + "}\n";
    const std::string counted = ",\"result\":{\"tasks\":[],\"count\":2}}\n";
    test::FakeDaemon daemon(folder.path() / "orange.sock", [&](const Json& request) {
        return std::vector{"{\"jsonrpc\":\"2.0\",\"id\":" + dump(request["id"]) +
                           (request["params"].contains("count") ? counted : tail)};
    });
    report("/bin/true", times_of({"/bin/true"}, folder.path(), runs));
    report("orange --version", times_of({program, "--version"}, folder.path(), runs));
    report(("orange task list, " + std::to_string(tasks) + " tasks").c_str(),
           times_of({program, "task", "list"}, folder.path(), runs));
    report("orange inbox --line", times_of({program, "inbox", "--line"}, folder.path(), runs));
    report("orange task list --json", times_of({program, "task", "list", "--json"}, folder.path(), runs));
}

// An agent saves TASK.md as fast as it can, in each of the ways of editors, while the daemon rewrites the frontmatter.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <set>
#include <thread>

#include "tests/catch.hpp"
#include "tests/unit/store/task_world.hpp"

using namespace orange;
using namespace orange::store;
using namespace orange::testing;
namespace fs = std::filesystem;

namespace {

using Style = void (*)(const Path& path, const std::string& line);

void write_in(const Path& path, int flags, const std::string& text) {
    const int fd = ::open(path.c_str(), flags | O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) throw std::runtime_error("open " + path.string());
    for (std::size_t done = 0; done < text.size();) {
        const auto written = ::write(fd, text.data() + done, std::min<std::size_t>(text.size() - done, 700));
        if (written < 0) throw std::runtime_error("write " + path.string());
        done += static_cast<std::size_t>(written);
    }
    ::close(fd);
}

void append(const Path& path, const std::string& line) {
    write_in(path, O_APPEND, line);
}
void rewrite_in_place(const Path& path, const std::string& line) {
    write_in(path, O_TRUNC, read_text(path) + line);
}
/// As it is on a busy machine: the editor stands still after it has read, truncated, or written half.
void rewrite_haltingly(const Path& path, const std::string& line) {
    static std::mt19937 dice{7};
    const auto halt = [](unsigned one_in, unsigned most_ms) {
        if (dice() % one_in == 0) std::this_thread::sleep_for(std::chrono::milliseconds(dice() % most_ms));
    };
    const auto text = read_text(path) + line;
    halt(20, 300);
    const int fd = ::open(path.c_str(), O_TRUNC | O_WRONLY | O_CLOEXEC);
    if (fd < 0) throw std::runtime_error("open " + path.string());
    halt(20, 300);
    for (std::size_t done = 0; done < text.size();) {
        const auto written = ::write(fd, text.data() + done, std::min<std::size_t>(text.size() - done, 700));
        if (written < 0) throw std::runtime_error("write " + path.string());
        done += static_cast<std::size_t>(written);
        halt(100, 500);
    }
    ::close(fd);
}
void rename_over(const Path& path, const std::string& line) {
    const Path temporary = path.string() + ".editor";
    write_in(temporary, O_TRUNC, read_text(path) + line);
    fs::rename(temporary, path);
}
void delete_and_create(const Path& path, const std::string& line) {
    const auto text = read_text(path) + line;
    fs::remove(path);
    write_in(path, O_TRUNC, text);
}
void sed(const Path& path, const std::string& line) {
    std::string program = "$a " + line.substr(0, line.size() - 1);
    std::string words[] = {"sed", "-i", program, path.string()};
    char* argv[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
    pid_t child = 0;
    if (::posix_spawnp(&child, "sed", nullptr, nullptr, argv, environ) != 0) throw std::runtime_error("sed");
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
}

/// Of the files that a daemon displaces within a second, 256 wait for who has them open. No daemon displaces so many.
constexpr auto k_pause = std::chrono::milliseconds(4);
constexpr int k_most_lines = 20'000;  // an append takes no time at all

struct Stress : TaskWorld {
    std::atomic<int> written{0};
    int synced = 0;

    void run(const std::vector<Path>& targets, Style style, std::chrono::milliseconds time) {
        start("begin\n");
        std::atomic<bool> stop{false};
        std::string failure, failed_writing;
        std::thread writer([&] {
            try {
                for (int n = 0; !stop && n < k_most_lines; ++n) {
                    style(targets[static_cast<std::size_t>(n) % targets.size()], "line " + std::to_string(n) + "\n");
                    written = n + 1;
                }
            } catch (const std::exception& e) {
                failed_writing = e.what();
            }
        });
        const auto end = std::chrono::steady_clock::now() + time;
        const auto now = [] { return std::chrono::steady_clock::now(); };
        const auto enough = [&] { return synced > 5 && written > 20; };  // on a busy machine it takes longer
        while (now() < end || (!enough() && now() < end + std::chrono::seconds(40))) {
            record.task.summary = "Round " + std::to_string(++synced);
            record.task.updated_at = clock.now();
            if (const auto result = try_sync()) {
                record.body_hash = result->body_hash;
            } else {
                failure = result.error().message;
            }
            std::this_thread::sleep_for(k_pause);
        }
        stop = true;
        writer.join();
        CHECK(failure.empty());
        CHECK(failed_writing.empty());
        for (int n = 0; n < 100 && sync().unsettled; ++n) continue;
    }

    /// Numbers of the lines that are neither in the body nor in a kept copy.
    std::vector<int> missing() {
        const auto all = everything();
        std::set<std::string> lines;
        for (const auto line : split_lines(all)) lines.emplace(line);
        std::vector<int> lost;
        for (int n = 0; n < written; ++n) {
            if (!lines.contains("line " + std::to_string(n))) lost.push_back(n);
        }
        return lost;
    }
    void check() {
        INFO(written << " lines written, " << synced << " times brought in step");
        CHECK(missing() == std::vector<int>{});
        CHECK(written > 20);
        CHECK(synced > 1);
        CHECK(own() == mirror());
        CHECK(own().starts_with(frontmatter_of(record.task)));
        CHECK(names("work") == std::vector<std::string>{"TASK.md"});
    }
};

constexpr auto k_time = std::chrono::milliseconds(2000);

}  // namespace

TEST_CASE_METHOD(Stress, "no line that was appended is lost", "[slow]") {
    run({GENERATE(true, false) ? copies.own : *copies.mirror}, append, k_time);
    check();
}

TEST_CASE_METHOD(Stress, "no line that was written in place is lost", "[slow]") {
    run({GENERATE(true, false) ? copies.own : *copies.mirror}, rewrite_in_place, k_time);
    check();
}

TEST_CASE_METHOD(Stress, "no line of an editor that stands still in the middle is lost", "[soak]") {
    run({GENERATE(true, false) ? copies.own : *copies.mirror}, rewrite_haltingly, 3 * k_time);
    check();
}

TEST_CASE_METHOD(Stress, "no line that was renamed over is lost", "[slow]") {
    run({GENERATE(true, false) ? copies.own : *copies.mirror}, rename_over, k_time);
    check();
}

TEST_CASE_METHOD(Stress, "no line that sed -i wrote is lost", "[slow]") {
    run({GENERATE(true, false) ? copies.own : *copies.mirror}, sed, k_time);
    check();
}

TEST_CASE_METHOD(Stress, "no line is lost by deleting and creating", "[slow]") {
    run({GENERATE(true, false) ? copies.own : *copies.mirror}, delete_and_create, k_time);
    check();
}

TEST_CASE_METHOD(Stress, "no line is lost where both copies are edited in turn", "[soak]") {
    run({copies.own, *copies.mirror}, GENERATE(&append, &rewrite_in_place, &rename_over), k_time);
    check();
}

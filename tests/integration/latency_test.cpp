#include <algorithm>
#include <ctime>
#include <fstream>

#include "common/base/sha256.hpp"
#include "common/rpc/watch_methods.hpp"
#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

/// What an agent can write without a limit does not make others wait: the daemon counts the processor time of each turn
/// of its loop (docs/reliability.md), and no turn is long. A busy machine does not make this time longer.
namespace orange::tests {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// 20 ms, and a third, on the machine on which they were measured, which takes 6 ms for the reference below. On a
/// slower one, and with a sanitizer, as much more as the reference takes there.
std::int64_t longest_turn_us() {
    constexpr std::int64_t k_turn_us = 27'000, k_reference_us = 6'000;
    const std::string text(1 << 20, 'x');
    const auto now = [] {
        timespec time{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return std::int64_t{time.tv_sec} * 1'000'000 + time.tv_nsec / 1000;
    };
    const auto before = now();
    const auto hash = sha256(text);
    const auto took = now() - before;
    return hash.empty() ? 0 : std::max(k_turn_us, k_turn_us * took / k_reference_us);
}

/// A daemon with an idle agent behind a wall. The object pings the daemon on a connection of its own.
class Scene {
  public:
    Sandbox orange{"poll_interval: 0.5\n"};
    fs::path repo = orange.add_project("shop", 4);

    explicit Scene(const std::string& script = "sleep 600") {
        fs::create_directories(orange.home() / "harnesses");
        write_file(orange.home() / "harnesses/idle.yml",
                   "name: idle\nprogram: sh\nargv: {full: [-c, '" + script + "', --, \"{prompt}\"]}\n");
    }

    std::string start(const std::string& executor) {
        rpc::TaskCreate create;
        create.project = "shop";
        create.summary = "Write much";
        create.harness = "idle";
        create.executor = executor;
        const auto id = orange.call(create).task.fields.id.value;
        orange.eventually("its agent runs", [&] { return !orange.run_of(id, "worker").is_null(); });
        return id;
    }

    /// Pings until it holds.
    void ping_until(const std::string& what, const std::function<bool()>& holds) {
        orange.eventually(what, [&] {
            orange.call(rpc::DaemonPing{});
            return holds();
        });
    }
    /// Pings until the daemon has looked at everything once more, without being told of it.
    void ping_until_polled() {
        const auto polled = [&] { return orange.call(rpc::DaemonStatus{}).last_poll; };
        for (int i = 0; i < 2; ++i) {
            const auto before = polled();
            ping_until("the daemon polls", [&] { return polled() != before; });
        }
    }
    std::int64_t longest_turn() { return orange.call(rpc::DaemonStatus{}).longest_turn_us; }
};

void fill(const fs::path& folder, int files) {
    for (int i = 0; i < files; ++i) {
        if (i % 1000 == 0) fs::create_directories(folder / std::to_string(i / 1000));
        std::ofstream(folder / std::to_string(i / 1000) / std::to_string(i)) << i << '\n';
    }
}

/// Appends lines until the file has some megabytes.
void grow(const fs::path& file, const std::string& line, std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += line + "\n";
    std::ofstream(file, std::ios::app | std::ios::binary) << text;
}

}  // namespace

TEST_CASE("A full run folder makes nobody wait when its agent ends, and is removed afterwards", "[user-namespaces]") {
    Scene scene;
    auto& orange = scene.orange;
    const auto id = scene.start("bwrap");
    const auto run = orange.run_of(id, "worker").at("run").get<std::string>();
    const auto folder = orange.folder(id) / "run" / run;
    orange.eventually("the agent has begun", [&] { return fs::exists(folder / "started"); });
    fill(folder / "x", 20'000);
    rpc::TaskCancel cancel;
    cancel.id = id;
    orange.call(cancel);
    scene.ping_until("its run folder is gone", [&] { return !fs::exists(folder); });
    scene.ping_until("it is removed", [&] {
        std::error_code none;
        return !fs::exists(orange.home() / ".removed") || fs::is_empty(orange.home() / ".removed", none);
    });
    CHECK(scene.longest_turn() <= longest_turn_us());
}

TEST_CASE("What a killed daemon had put aside is removed by the next one, and what links lead to stays") {
    Sandbox orange;
    orange.kill_daemon();
    fill(orange.home() / ".removed/some", 300);
    write_file(orange.root() / "theirs", "x");
    fs::create_symlink(orange.root() / "theirs", orange.home() / ".removed/some/link");
    orange.start_daemon();
    orange.eventually("it is removed", [&] { return !fs::exists(orange.home() / ".removed"); });
    CHECK(read_file(orange.root() / "theirs") == "x");
}

TEST_CASE("A full worktree makes nobody wait, while it is shown, compared and kept") {
    Scene scene;
    auto& orange = scene.orange;
    const auto id = scene.start("local");
    fill(orange.worktree(id) / "out", 20'000);
    scene.ping_until_polled();
    rpc::TaskShow show;
    show.id = id;
    show.changes = true;
    CHECK(orange.call(show).changes->files == 20'000);
    rpc::TaskCancel cancel;
    cancel.id = id;
    orange.call(cancel);
    scene.ping_until_polled();
    CHECK(scene.longest_turn() <= longest_turn_us());
}

TEST_CASE("A large TASK.md makes nobody wait, however often it is saved") {
    Scene scene;
    auto& orange = scene.orange;
    const auto id = scene.start("local");
    const auto file = orange.worktree(id) / "TASK.md";
    const auto before = read_file(file);
    for (int i = 0; i < 5; ++i) {
        const auto last = "save " + std::to_string(i);
        write_file(orange.worktree(id) / "new", before + "\n## Plan\n" + std::string(60'000, 'x') + "\n" + last + "\n");
        fs::rename(orange.worktree(id) / "new", file);
        scene.ping_until("it is read", [&] { return orange.body(id).find(last) != std::string::npos; });
    }
    CHECK(scene.longest_turn() <= longest_turn_us());
}

TEST_CASE("A large history makes nobody wait, while it is shown and searched") {
    Scene scene;
    auto& orange = scene.orange;
    const auto id = scene.start("local");
    grow(orange.folder(id) / "history.jsonl",
         R"({"type":"comment","timestamp":"2026-01-02T03:04:05.678Z","text":")" + std::string(200, 'x') + "\"}",
         20 << 20);
    rpc::TaskHistory history;
    history.id = id;
    CHECK(orange.call(history).events.size() > 0);
    rpc::TaskShow show;
    show.id = id;
    orange.call(show);
    rpc::EventsList list;
    list.limit = 500;
    orange.call(list);
    rpc::TaskCancel cancel;
    cancel.id = id;
    orange.call(cancel);
    scene.ping_until_polled();
    CHECK(scene.longest_turn() <= longest_turn_us());
}

TEST_CASE("An agent that writes to its terminal without end makes nobody wait") {
    Scene scene("yes \"$(seq 200)\"");
    auto& orange = scene.orange;
    const auto id = scene.start("local");
    rpc::EventsSubscribe seen;
    seen.screen = id;
    orange.call(seen);
    scene.ping_until_polled();
    rpc::TaskLog log;
    log.id = id;
    CHECK(orange.try_call(log));
    CHECK(scene.longest_turn() <= longest_turn_us());
}

TEST_CASE("An agent whose program reports events without end makes nobody wait") {
    Scene scene;
    auto& orange = scene.orange;
    const auto id = scene.start("local");
    const auto run = orange.run_of(id, "worker").at("run").get<std::string>();
    const auto file = orange.folder(id) / "run" / (run + ".events");
    for (int i = 0; i < 5; ++i) {
        grow(file, R"({"hook_event_name":"PreToolUse","tool":"x"})", 4 << 20);
        scene.ping_until_polled();
    }
    CHECK(scene.longest_turn() <= longest_turn_us());
}

}  // namespace orange::tests

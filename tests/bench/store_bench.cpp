#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <vector>

#include "daemon/files/posix_file_system.hpp"
#include "daemon/store/task_store.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/unit/store/records.hpp"

/// How long the store takes with many tasks: `store_bench [tasks]`, 10,000 by default. Not a test: it prints.
using namespace orange;

namespace {

template <class Work>
void timed(const char* what, Work work) {
    const auto start = std::chrono::steady_clock::now();
    const Result<void> result = work();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (!result) {
        std::cerr << what << ": " << result.error().message << "\n";
        std::exit(1);
    }
    std::printf("%-28s %10.2f ms\n", what, took.count());
}

}  // namespace

int main(int argc, char** argv) {
    const int count = argc > 1 ? std::atoi(argv[1]) : 10'000;
    testing::TemporaryFolder home;
    PosixFileSystem files;
    store::TaskStore first(files, home.path());
    TaskRecord last;
    timed("create all", [&]() -> Result<void> {
        for (int n = 0; n < count; ++n) {
            last = testing::example_record(random_id(k_task_id_length));
            last.task.created_at += std::chrono::seconds(n);
            if (n % 10 != 0) last.task.status = "done";
            if (n % 10 != 0) last.task.workspace.reset();
            if (auto made = first.create(last, "## Context\n\nText.\n"); !made) return made;
            const HistoryEvent created{"task.created", last.task.created_at, {}};
            if (auto made = first.append_history(last.task.id, created); !made) return made;
        }
        return {};
    });
    store::TaskStore store(files, home.path());
    timed("load", [&] { return store.load(); });
    int seen = 0;
    std::vector<TaskId> ids;
    timed("each, all", [&]() -> Result<void> {
        store.each([&](const store::Brief& task) {
            seen += task.ended ? 0 : 1;
            ids.push_back(task.id);
            return true;
        });
        return {};
    });
    timed("tidy all", [&]() -> Result<void> {
        while (store.tidy_next()) {
        }
        return {};
    });
    timed("read all", [&]() -> Result<void> {
        for (const auto& id : ids) {
            if (auto read = store.read(id); !read) return read.error();
        }
        return {};
    });
    // Who is calling: each ancestor of a caller is looked up once.
    std::size_t hits = 0;
    timed("10,000 look-ups of a run", [&]() -> Result<void> {
        for (int pid = 0; pid < 10'000; ++pid) hits += store.runs().with_shim(pid).size();
        return {};
    });
    timed("one save", [&] { return store.save(last); });
    const HistoryEvent event{"status.changed", last.task.created_at, {{"from", std::string("working")}}};
    timed("first append to a history", [&] { return store.append_history(last.task.id, event); });
    timed("next append to it", [&] { return store.append_history(last.task.id, event); });
    std::printf("%zu tasks, %d of them active\n", store.size(), seen);
}

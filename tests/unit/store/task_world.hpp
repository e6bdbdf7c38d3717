#pragma once

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <exception>
#include <optional>

#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "daemon/files/posix_file_system.hpp"
#include "daemon/process/posix_process_runner.hpp"
#include "daemon/store/task_file.hpp"
#include "daemon/store/task_files.hpp"
#include "tests/catch.hpp"
#include "tests/fakes/faulty_file_system.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/unit/store/records.hpp"

namespace orange::testing {

/// One task with both copies on a real disk, and a TaskFiles whose calls are waited for.
struct TaskWorld {
    TemporaryFolder home;
    PosixFileSystem real;
    FaultyFileSystem files{real};
    PosixProcessRunner processes;
    SystemClock clock;
    asio::io_context context;
    std::optional<store::TaskFiles> task_files{std::in_place, files, clock};
    TaskRecord record = example_record();
    store::Copies copies{home / "task/TASK.md", home / "work/TASK.md"};

    TaskWorld() {
        std::filesystem::create_directories(home / "task");
        std::filesystem::create_directories(home / "work");
    }

    /// Both copies in step, with that body.
    void start(const std::string& body) {
        write_text(copies.own, store::task_text(record.task, body));
        record.body_hash = sha256(body);
        sync();
    }
    void restart() { task_files.emplace(files, clock); }

    template <class T>
    T wait(Awaitable<T> call) {
        std::optional<T> result;
        std::exception_ptr failure;
        asio::co_spawn(context, keep(std::move(call), result), [&](std::exception_ptr thrown) { failure = thrown; });
        context.restart();
        context.run();
        if (failure) std::rethrow_exception(failure);
        return std::move(*result);
    }
    template <class T>
    static Awaitable<void> keep(Awaitable<T> call, std::optional<T>& result) {
        result = co_await std::move(call);
    }
    Result<store::Synced> try_sync() { return wait(task_files->sync(record, copies)); }
    store::Synced accept(Result<store::Synced> synced) {
        if (!synced) FAIL(synced.error().message);
        record.body_hash = synced->body_hash;
        if (synced->extra_frontmatter) record.task.extra_frontmatter = *synced->extra_frontmatter;
        return std::move(*synced);
    }
    store::Synced sync() { return accept(try_sync()); }

    std::string own() const { return read_text(copies.own); }
    std::string mirror() const { return read_text(*copies.mirror); }
    std::string projected(const std::string& body) const { return store::task_text(record.task, body); }
    bool in_step(const std::string& body) const { return own() == projected(body) && mirror() == projected(body); }
    std::vector<std::string> names(const std::string& folder) { return *real.list(home / folder); }
    /// Files in the task's folder that are neither TASK.md, nor displaced ones, which go soon, nor bases of later
    /// saves.
    std::vector<std::string> others() {
        auto all = names("task");
        std::erase(all, "TASK.md");
        std::erase_if(all, [](const std::string& name) {
            return name.starts_with(".TASK.md.orange-") || name.starts_with(".TASK.md.base-");
        });
        return all;
    }
    /// All texts of the task: the body, and what was kept beside it.
    std::string everything() {
        auto text = own();
        for (const auto& name : others()) text += read_text(home / ("task/" + name));
        return text;
    }
};

}  // namespace orange::testing

#pragma once

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <chrono>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "daemon/async/awaitable.hpp"
#include "daemon/process/posix_process_runner.hpp"
#include "tests/machine.hpp"

/// What the tests of the operating system's adapters share: a temporary folder, a loop that runs one coroutine to its
/// end, and waiting for a condition.
namespace orange::test {

class TempDir {
  public:
    TempDir() {
        auto name = (std::filesystem::temp_directory_path() / "orange-test-XXXXXX").string();
        if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp failed");
        path = std::filesystem::canonical(name);
    }
    ~TempDir() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;

    std::filesystem::path operator/(const std::string& name) const { return path / name; }

    std::filesystem::path path;
};

/// For co_spawn, which wants a default-constructible result: puts the result where the caller can see it.
template <class T>
Awaitable<void> into(std::optional<T>& result, Awaitable<T> coroutine) {
    result.emplace(co_await std::move(coroutine));
}

/// Runs one coroutine until it has ended, and everything that it spawned with it.
template <class T>
T run(asio::io_context& io, Awaitable<T> coroutine) {
    std::optional<T> result;
    std::exception_ptr failure;
    asio::co_spawn(io, into(result, std::move(coroutine)), [&](std::exception_ptr thrown) { failure = thrown; });
    io.restart();
    io.run();
    if (failure) std::rethrow_exception(failure);
    if (!result) throw std::runtime_error("the coroutine never ended");
    return std::move(*result);
}

/// While it is there, this process can open nothing: the lowest free descriptor is the limit.
class NoDescriptors {
  public:
    NoDescriptors() {
        const int lowest = ::dup(0);
        ::close(lowest);
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const rlimit none{static_cast<rlim_t>(lowest), before_.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &none);
    }
    ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    NoDescriptors(const NoDescriptors&) = delete;
    NoDescriptors& operator=(const NoDescriptors&) = delete;

  private:
    rlimit before_{};
};

/// Polls a condition that the outside world will make true.
template <class Condition>
bool eventually(Condition condition, std::chrono::milliseconds deadline = std::chrono::seconds(60)) {
    const auto end = std::chrono::steady_clock::now() + deadline;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
}

inline std::string read_file(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_file(const std::filesystem::path& path, const std::string& content) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
}

}  // namespace orange::test

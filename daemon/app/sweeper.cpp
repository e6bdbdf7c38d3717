#include "daemon/app/sweeper.hpp"

#include <unistd.h>

#include "common/base/text.hpp"
#include "daemon/async/async.hpp"
#include "daemon/log/log.hpp"
#include "daemon/shim/removal.hpp"

namespace orange {
namespace {

constexpr std::size_t k_at_once = 100;
constexpr std::chrono::minutes k_deadline{10};

}  // namespace

void Sweeper::sweep(Path place) {
    due_.insert(std::move(place));
    if (is_running_) return;
    is_running_ = true;
    async::spawn(executor_, "sweeper", run());
}

Awaitable<void> Sweeper::run() {
    while (!due_.empty()) {
        const auto place = *due_.begin();
        due_.erase(due_.begin());
        for (bool more = true; more;) more = co_await empty(place);
        (void)::rmdir(place.c_str());  // if it is empty
    }
    is_running_ = false;
}

/// Removes some of what is in the place. Returns false if nothing is left to try.
Awaitable<bool> Sweeper::empty(Path place) {
    Command command;
    command.argv = {program_.string(), std::string(k_remove_option)};
    std::vector<Path> doomed;
    for (const auto& name : files_.list(place).value_or({})) {
        if (!stuck_.contains(place / name) && doomed.size() < k_at_once) doomed.push_back(place / name);
    }
    if (doomed.empty()) co_return false;
    for (const auto& path : doomed) command.argv.push_back(path.string());
    command.deadline = k_deadline;
    const auto done = co_await processes_.run(std::move(command));
    if (done && done->ok()) co_return true;
    log::warn("daemon", "removing folders in " + place.string() + ": " +
                            (done ? std::string(trim(done->err)) : done.error().message));
    constexpr int k_signal = 128;  // it was killed, which says nothing about the folders
    if (!done || done->exit_status >= k_signal) co_return false;
    for (auto& path : doomed) {
        if (!is_missing(files_, path)) stuck_.insert(std::move(path));
    }
    co_return true;
}

}  // namespace orange

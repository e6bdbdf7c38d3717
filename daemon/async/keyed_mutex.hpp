#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "daemon/async/async.hpp"

namespace orange::async {

/// One asynchronous lock a key, made when first wanted and forgotten when nobody has it: a task has one, a workspace,
/// a repository.
class KeyedMutex {
  public:
    explicit KeyedMutex(const asio::any_io_executor& executor) : executor_(executor) {}

    Awaitable<Mutex::Lock> acquire(std::string key) {
        forget_idle();
        auto& mutex = mutexes_[key];
        if (!mutex) mutex = std::make_shared<Mutex>(executor_);
        return Mutex::acquire(mutex);
    }
    const asio::any_io_executor& executor() const { return executor_; }
    /// Nobody has or waits for any of them.
    bool idle() const {
        return std::ranges::all_of(mutexes_, [](const auto& entry) { return entry.second->idle(); });
    }
    bool busy(const std::string& key) const {
        const auto found = mutexes_.find(key);
        return found != mutexes_.end() && found->second->busy();
    }

  private:
    /// Keeps the map as small as what is in use, at a cost that does not grow with what was.
    void forget_idle() {
        if (mutexes_.size() < k_forget_above) return;
        std::erase_if(mutexes_,
                      [](const auto& entry) { return entry.second.use_count() == 1 && entry.second->idle(); });
    }
    static constexpr std::size_t k_forget_above = 64;

    asio::any_io_executor executor_;
    std::map<std::string, std::shared_ptr<Mutex>> mutexes_;
};

}  // namespace orange::async

#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "daemon/async/async.hpp"

namespace orange::async {

/// An asynchronous lock for each key, made when first needed and removed when unused: for tasks, workspaces,
/// repositories.
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
    /// Returns true if no lock is held or waited for.
    bool idle() const {
        return std::ranges::all_of(mutexes_, [](const auto& entry) { return entry.second->idle(); });
    }
    bool busy(const std::string& key) const {
        const auto found = mutexes_.find(key);
        return found != mutexes_.end() && found->second->busy();
    }

  private:
    /// Removes unused locks once the map has grown, so that each call does little work.
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

#include "daemon/runner/agents/deaths.hpp"

#include <utility>

namespace orange {
namespace {

constexpr std::chrono::seconds k_window{10};
constexpr std::size_t k_least = 5;

}  // namespace

Deaths::Open Deaths::begin(const RunId& run, Time now) {
    if (!open_->try_emplace(run, now).second) return {};
    begun_ = now;
    return {nullptr, [open = open_, run](void*) { open->erase(run); }};
}

bool Deaths::come_together(Time now, Time::duration time) const {
    return open_->size() >= k_least && now - begun_ < time;
}

void Deaths::forget_old(Time now) {
    while (!deaths_.empty() && now - deaths_.front().at > k_window) {
        if (deaths_.front().is_missing) --missing_;
        deaths_.pop_front();
        ++first_;
    }
}

bool Deaths::are_many(const RunId& run, std::size_t runs, Time now) {
    forget_old(now);
    const auto dead = open_->size() + deaths_.size();
    const auto all = runs + missing_;
    if (all >= k_least && dead * 2 >= all) many_ = now;
    // Handling hundreds of ends may take longer than the window. A death also counts if it was open when there were
    // many.
    const auto open = open_->find(run);
    return many_ && open != open_->end() && open->second <= *many_;
}

std::size_t Deaths::has_died(const RunId& run, Time now) {
    open_->erase(run);
    forget_old(now);
    deaths_.push_back({now});
    ++missing_;
    return first_ + deaths_.size() - 1;
}

void Deaths::is_back(std::size_t number) {
    if (number < first_ || !std::exchange(deaths_[number - first_].is_missing, false)) return;
    --missing_;
}

}  // namespace orange

#include "daemon/app/newcomers.hpp"

#include <algorithm>
#include <utility>

namespace orange {

bool Newcomers::admit(std::shared_ptr<Newcomer> newcomer) {
    const auto& from = newcomer->from();
    const auto of_address = std::ranges::count_if(all_, [&](const auto& each) { return each->from() == from; });
    if (static_cast<std::size_t>(of_address) >= k_most_of_address) {
        if (!close_oldest(&from)) return false;
    } else if (all_.size() >= k_most && !close_oldest()) {
        return false;
    }
    all_.push_back(std::move(newcomer));
    return true;
}

void Newcomers::remove(const Newcomer& newcomer) {
    std::erase_if(all_, [&](const auto& each) { return each.get() == &newcomer; });
}

bool Newcomers::close_oldest(const std::string* from) {
    const auto may_go = [&](const auto& each) { return !each->is_checked && (!from || each->from() == *from); };
    auto oldest = std::ranges::find_if(all_, [&](const auto& each) { return may_go(each) && each->is_silent(); });
    if (oldest == all_.end()) oldest = std::ranges::find_if(all_, may_go);
    if (oldest == all_.end()) return false;
    const auto closed = *oldest;
    all_.erase(oldest);
    closed->close();
    return true;
}

}  // namespace orange

#include "daemon/runner/merging/train_order.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace orange {
namespace {

const Clash* clash_of(const TrainCar& car, const TaskId& with) {
    const auto found = std::ranges::find(car.clashes, with.value, &Clash::with);
    return found == car.clashes.end() ? nullptr : &*found;
}

/// Each of the two may know of their clash.
const Clash* clash_between(const TrainCar& one, const TrainCar& other) {
    const auto* found = clash_of(one, other.id);
    return found ? found : clash_of(other, one.id);
}

const Clash* clash_with_branch(const TrainCar& car) {
    const auto found = std::ranges::find_if(car.clashes, [](const Clash& clash) { return clash.with.empty(); });
    return found == car.clashes.end() ? nullptr : &*found;
}

/// "clashes with 7c1d, which comes before it, in cart.py"; `there` says where the other one is.
std::string clash_reason(const Clash& clash, const std::string& other, const std::string& there) {
    return (clash.maybe ? "may clash with " : "clashes with ") + other + there + " in " + clash_files(clash);
}

/// The order as it is made: which cars clash is found out once.
class Order {
  public:
    explicit Order(std::vector<TrainCar> cars) : cars_(std::move(cars)), between_(cars_.size()) {
        for (std::size_t i = 0; i < cars_.size(); ++i) {
            left_.push_back(i);
            for (std::size_t j = 0; j < cars_.size(); ++j) {
                between_[i].push_back(i == j ? nullptr : clash_between(cars_[i], cars_[j]));
            }
        }
    }
    bool is_done() const { return left_.empty(); }
    /// Returns the place of the first that is left and has not to wait for another one.
    TrainPlace take_first_as_given() {
        const auto first = std::ranges::find_if_not(left_, [this](std::size_t car) { return must_wait(cars_[car]); });
        const auto car = first == left_.end() ? left_.front() : *first;
        auto reason = builds_on(car);
        if (reason.empty()) reason = "as given";
        const auto in_the_way = obstacle(car);
        if (!in_the_way.empty()) reason += "; it " + in_the_way;
        return take(car, std::move(reason));
    }
    TrainPlace take_best() {
        const auto best = choose();
        auto reason = obstacle(best);
        if (reason.empty()) reason = reason_of(best);
        return take(best, std::move(reason));
    }

  private:
    TrainPlace take(std::size_t car, std::string reason) {
        const auto* clash = first_clash(car).first;
        if (clash == nullptr || clash->maybe) merged_.push_back(car);
        before_.push_back(car);
        std::erase(left_, car);
        return {cars_[car].id, cars_[car].short_id, std::move(reason)};
    }
    /// Returns the clash that is in the way of the task behind those that have their place, and the name of the other
    /// one: of the branch first, which no order can help. One that is not merged itself is in nobody's way.
    std::pair<const Clash*, std::string> first_clash(std::size_t car) const {
        if (const auto* with_branch = clash_with_branch(cars_[car])) return {with_branch, ""};
        for (const auto other : merged_) {
            if (const auto* clash = between_[car][other]) return {clash, cars_[other].short_id};
        }
        return {nullptr, ""};
    }
    bool is_blocked(std::size_t car) const { return first_clash(car).first != nullptr; }
    /// Returns why git will not merge the task behind those that have their place; empty if nothing is known to be in
    /// its way.
    std::string obstacle(std::size_t car) const {
        const auto [clash, other] = first_clash(car);
        if (clash == nullptr) return {};
        const bool goes_back = cars_[car].can_go_back && !clash->maybe;
        return (other.empty() ? clash_clause(*clash) : clash_reason(*clash, other, ", which comes before it,")) +
               (goes_back ? ", so it goes back to its worker" : "");
    }
    /// Returns the number of those left that the car clashes with, and that could be merged otherwise.
    std::ptrdiff_t clashes_among(std::size_t car) const {
        return std::ranges::count_if(
            left_, [&](std::size_t other) { return between_[car][other] != nullptr && !is_blocked(other); });
    }
    bool must_wait(const TrainCar& car) const {
        return std::ranges::any_of(
            left_, [&](std::size_t other) { return std::ranges::find(car.after, cars_[other].id) != car.after.end(); });
    }
    std::size_t choose() const {
        std::optional<std::size_t> best;
        bool best_goes = false;
        std::ptrdiff_t best_clashes = 0;
        for (const auto car : left_) {
            if (must_wait(cars_[car])) continue;
            const bool goes = !is_blocked(car);
            const auto clashes = clashes_among(car);
            const bool better = !best || (goes == best_goes ? goes && clashes < best_clashes : goes);
            if (!better) continue;
            best = car;
            best_goes = goes;
            best_clashes = clashes;
        }
        return best.value_or(left_.front());  // each waits for another one
    }
    /// Returns a clause about the task on which it builds, if that has its place; else nothing.
    std::string builds_on(std::size_t car) const {
        for (const auto& id : cars_[car].after) {
            const auto other = std::ranges::find_if(before_, [&](std::size_t each) { return cars_[each].id == id; });
            if (other != before_.end()) return "comes after " + cars_[*other].short_id + ", on which it builds";
        }
        return {};
    }
    /// Returns why a task that can be merged at its place has this place.
    std::string reason_of(std::size_t car) const {
        if (auto reason = builds_on(car); !reason.empty()) return reason;
        for (const auto other : left_) {
            const auto* clash = between_[car][other];
            if (clash == nullptr || is_blocked(other)) continue;
            const bool fewer = clashes_among(car) < clashes_among(other);
            return clash_reason(*clash, cars_[other].short_id, "") +
                   (fewer ? ", and with fewer others" : ", and is older");
        }
        return "clashes with none of these";
    }

    std::vector<TrainCar> cars_;
    std::vector<std::vector<const Clash*>> between_;
    std::vector<std::size_t> left_, before_;
    std::vector<std::size_t> merged_;  ///< those of `before_` that nothing certain is in the way of
};

}  // namespace

std::vector<TrainPlace> train_order(std::vector<TrainCar> cars) {
    std::vector<TrainPlace> places;
    for (Order order(std::move(cars)); !order.is_done();) places.push_back(order.take_best());
    return places;
}

std::vector<TrainPlace> train_as_given(std::vector<TrainCar> cars) {
    std::vector<TrainPlace> places;
    for (Order order(std::move(cars)); !order.is_done();) places.push_back(order.take_first_as_given());
    return places;
}

}  // namespace orange

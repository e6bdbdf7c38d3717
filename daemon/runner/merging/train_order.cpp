#include "daemon/runner/merging/train_order.hpp"

#include <algorithm>

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

/// Returns why git will not merge the task at a place behind these; empty if nothing is known to be in its way.
std::string obstacle(const TrainCar& car, const std::vector<TrainCar>& before) {
    for (const auto& other : before) {
        if (const auto* clash = clash_between(car, other))
            return clash_reason(*clash, other.short_id, ", which comes before it,");
    }
    return clash_with_branch(car) ? clash_clause(*clash_with_branch(car)) : std::string();
}

/// The number of the tasks at `left` that the car clashes with, and that could be merged otherwise.
std::size_t clashes_among(const TrainCar& car, const std::vector<TrainCar>& left, const std::vector<TrainCar>& before) {
    return static_cast<std::size_t>(std::ranges::count_if(left, [&](const TrainCar& other) {
        return other.id != car.id && clash_between(car, other) && obstacle(other, before).empty();
    }));
}

bool must_wait(const TrainCar& car, const std::vector<TrainCar>& left) {
    return std::ranges::any_of(car.after, [&](const TaskId& id) {
        return id != car.id && std::ranges::find(left, id, &TrainCar::id) != left.end();
    });
}

/// Returns why a task that can be merged at its place has this place.
std::string reason_of(const TrainCar& car, const std::vector<TrainCar>& before, const std::vector<TrainCar>& left) {
    for (const auto& id : car.after) {
        const auto other = std::ranges::find(before, id, &TrainCar::id);
        if (other != before.end()) return "comes after " + other->short_id + ", on which it builds";
    }
    for (const auto& other : left) {
        const auto* clash = other.id == car.id ? nullptr : clash_between(car, other);
        if (clash == nullptr || !obstacle(other, before).empty()) continue;
        const bool fewer = clashes_among(car, left, before) < clashes_among(other, left, before);
        return clash_reason(*clash, other.short_id, "") + (fewer ? ", and with fewer others" : ", and is older");
    }
    return "clashes with none";
}

}  // namespace

std::vector<TrainPlace> train_order(std::vector<TrainCar> left) {
    std::vector<TrainPlace> places;
    std::vector<TrainCar> before;
    while (!left.empty()) {
        std::size_t best = left.size();
        for (std::size_t i = 0; i < left.size(); ++i) {
            if (must_wait(left[i], left)) continue;
            if (best == left.size()) {
                best = i;
                continue;
            }
            const bool goes = obstacle(left[i], before).empty(), best_goes = obstacle(left[best], before).empty();
            const auto clashes = clashes_among(left[i], left, before);
            const bool fewer = clashes < clashes_among(left[best], left, before);
            if (goes == best_goes ? goes && fewer : goes) best = i;
        }
        if (best == left.size()) best = 0;  // each waits for another one
        auto reason = obstacle(left[best], before);
        if (reason.empty()) reason = reason_of(left[best], before, left);
        places.push_back({left[best].id, left[best].short_id, std::move(reason)});
        before.push_back(std::move(left[best]));
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(best));
    }
    return places;
}

std::vector<TrainPlace> train_as_given(const std::vector<TrainCar>& cars) {
    std::vector<TrainPlace> places;
    std::vector<TrainCar> before;
    for (const auto& car : cars) {
        const auto reason = obstacle(car, before);
        places.push_back({car.id, car.short_id, reason.empty() ? "as given" : "as given; it " + reason});
        before.push_back(car);
    }
    return places;
}

}  // namespace orange

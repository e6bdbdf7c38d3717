#pragma once

#include <string>
#include <vector>

#include "common/base/ids.hpp"
#include "common/model/clash.hpp"

/// The order in which several tasks are merged. Pure.
namespace orange {

/// A task that is to be merged with others, and what is known of it.
struct TrainCar {
    TaskId id;
    std::string short_id;
    std::vector<Clash> clashes = {};
    std::vector<TaskId> after = {};  ///< tasks that are merged before it, if they are among the others
    bool can_go_back = false;        ///< if it conflicts, its worker gets it again
};

struct TrainPlace {
    TaskId id;
    std::string short_id;
    std::string reason;  ///< "clashes with none of these", "clashes with 7c1d, which comes before it, in cart.py"
};

/// Returns the order that conflicts least. At each place is the task that clashes with the fewest of those that are
/// left, and of equals the first one in `cars`. A task that clashes with one before it, or with the branch itself,
/// comes after all others.
std::vector<TrainPlace> train_order(std::vector<TrainCar> cars);

/// Returns the tasks in the order in which they are given, each with what it clashes with. Only a task that builds on
/// another one comes after that.
std::vector<TrainPlace> train_as_given(std::vector<TrainCar> cars);

}  // namespace orange

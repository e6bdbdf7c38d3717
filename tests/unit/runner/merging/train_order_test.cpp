#include "daemon/runner/merging/train_order.hpp"

#include "tests/catch.hpp"

using namespace orange;

namespace {

TrainCar car(const std::string& name) {
    return {TaskId{"id-" + name}, name};
}

Clash with(const std::string& name, const std::string& file) {
    Clash clash;
    clash.with = "id-" + name;
    clash.short_id = name;
    clash.files = {{file}};
    return clash;
}

/// Both know of it, as the forecast has it.
void clash(TrainCar& one, TrainCar& other, const std::string& file = "cart.py") {
    one.clashes.push_back(with(other.short_id, file));
    other.clashes.push_back(with(one.short_id, file));
}

std::string names(const std::vector<TrainPlace>& places) {
    std::string all;
    for (const auto& place : places) all += place.short_id;
    return all;
}

std::string reason(const std::vector<TrainPlace>& places, const std::string& name) {
    for (const auto& place : places) {
        if (place.short_id == name) return place.reason;
    }
    return "no place";
}

}  // namespace

TEST_CASE("tasks that clash with none are merged oldest first") {
    const auto places = train_order({car("a"), car("b"), car("c")});
    CHECK(names(places) == "abc");
    CHECK(reason(places, "b") == "clashes with none of these");
    CHECK(train_order({}).empty());
}

TEST_CASE("a task that clashes with many comes after those, so that most are merged") {
    auto a = car("a"), b = car("b"), c = car("c"), d = car("d");
    clash(a, b);
    clash(a, c);
    clash(a, d);
    const auto places = train_order({a, b, c, d});
    CHECK(names(places) == "bcda");
    CHECK(reason(places, "b") == "clashes with a in cart.py, and with fewer others");
    CHECK(reason(places, "c") == "clashes with none of these");
    CHECK(reason(places, "a") == "clashes with b, which comes before it, in cart.py");
}

TEST_CASE("of two that clash the older one is merged, and the other comes last") {
    auto a = car("a"), b = car("b"), c = car("c");
    clash(a, b);
    SECTION("both know") {}
    SECTION("one of them knows") {
        b.clashes.clear();
    }
    const auto places = train_order({a, b, c});
    CHECK(names(places) == "cab");
    CHECK(reason(places, "a") == "clashes with b in cart.py, and is older");
    CHECK(reason(places, "b") == "clashes with a, which comes before it, in cart.py");
}

TEST_CASE("a task that clashes with the branch itself comes last, and one that may clash says so") {
    auto a = car("a"), b = car("b"), c = car("c");
    Clash main;
    main.branch = "main";
    main.files = {{"cart.py"}};
    a.clashes.push_back(main);
    clash(b, c);
    for (auto* each : {&b, &c}) each->clashes.front().maybe = true;
    const auto places = train_order({a, b, c});
    CHECK(names(places) == "bac");
    CHECK(reason(places, "a") == "clashes with main in cart.py");
    CHECK(reason(places, "c") == "may clash with b, which comes before it, in cart.py, not committed yet");
}

TEST_CASE("a task comes after those on which it builds, whatever their age is") {
    auto a = car("a"), b = car("b"), c = car("c");
    a.after = {c.id, TaskId{"id-elsewhere"}};
    const auto places = train_order({a, b, c});
    CHECK(names(places) == "bca");
    CHECK(reason(places, "a") == "comes after c, on which it builds");
    c.after = {a.id};  // nobody can make such tasks; they are merged all the same
    CHECK(train_order({a, b, c}).size() == 3);
}

TEST_CASE("a clash with the branch is named first, and a task that will go back says so") {
    auto a = car("a"), b = car("b"), c = car("c"), d = car("d");
    clash(a, b, "till.py");
    clash(b, c, "tax.py");
    c.clashes.push_back(with("d", "list.py"));
    c.clashes.back().maybe = true;
    Clash main;
    main.branch = "main";
    main.files = {{"cart.py"}};
    b.clashes.push_back(main);
    for (auto* each : {&a, &b, &c}) each->can_go_back = true;
    auto places = train_as_given({a, b, c, d});
    CHECK(reason(places, "b") == "as given; it clashes with main in cart.py, so it goes back to its worker");
    CHECK(reason(places, "c") == "as given");  // b is not merged
    CHECK(reason(places, "d") == "as given; it may clash with c, which comes before it, in list.py, not committed yet");
    b.clashes.pop_back();
    places = train_as_given({a, b, c, d});
    CHECK(reason(places, "b") ==
          "as given; it clashes with a, which comes before it, in till.py, so it goes back to its worker");
    b.can_go_back = false;
    CHECK(reason(train_as_given({a, b, c, d}), "b") ==
          "as given; it clashes with a, which comes before it, in till.py");
}

TEST_CASE("a task that builds on another one comes after it also in the order that a human gives") {
    auto a = car("a"), b = car("b"), c = car("c");
    a.after = {c.id};
    clash(a, b, "till.py");
    const auto places = train_as_given({a, b, c});
    CHECK(names(places) == "bca");
    CHECK(reason(places, "b") == "as given");
    CHECK(reason(places, "a") ==
          "comes after c, on which it builds; it clashes with b, which comes before it, in till.py");
    c.after = {a.id};  // nobody can make such tasks
    CHECK(train_as_given({a, b, c}).size() == 3);
}

TEST_CASE("the order that a human gives stays, and says what clashes in it") {
    auto a = car("a"), b = car("b"), c = car("c");
    clash(a, b, "till.py");
    const auto places = train_as_given({b, c, a});
    CHECK(names(places) == "bca");
    CHECK(reason(places, "c") == "as given");
    CHECK(reason(places, "a") == "as given; it clashes with b, which comes before it, in till.py");
}

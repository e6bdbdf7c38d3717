#include "daemon/engine/budget.hpp"

#include "common/model/usage.hpp"
#include "tests/catch.hpp"

/// When a budget is used up, and what its human is told.
using namespace orange;
using namespace orange::engine;

namespace {

constexpr std::int64_t k_mio = 1'000'000;

Budget of_task(std::int64_t limit, std::int64_t used) {
    Budget budget;
    budget.task = limit;
    budget.task_used = used;
    return budget;
}

Budget of_day(std::int64_t limit, std::int64_t used) {
    Budget budget;
    budget.day = limit;
    budget.day_used = used;
    return budget;
}

BudgetOf of_shop() {
    BudgetOf of;
    of.task = "4f2a";
    of.project = "shop";
    return of;
}

}  // namespace

TEST_CASE("Without a limit nothing is ever used up, and there is nothing to say") {
    Budget budget;
    budget.task_used = budget.day_used = 900'000 * k_mio;
    CHECK(state_of(budget) == BudgetState::free);
    CHECK(sentence_of(budget, of_shop()).empty());
    CHECK(command_of(budget, of_shop()).empty());
    CHECK_FALSE(notice_of(budget, of_shop()));
    budget.task = budget.day = -1;  // not from Orange
    CHECK(state_of(budget) == BudgetState::free);
}

TEST_CASE("A budget is near at 80 percent, spent at 100, and stops agents at its percentage, to the token") {
    const auto task = [](std::int64_t used) { return state_of(of_task(3 * k_mio, used)); };
    CHECK(task(0) == BudgetState::free);
    CHECK(task(2'399'999) == BudgetState::free);
    CHECK(task(2'400'000) == BudgetState::near);
    CHECK(task(2'999'999) == BudgetState::near);
    CHECK(task(3'000'000) == BudgetState::spent);
    CHECK(task(4'499'999) == BudgetState::spent);
    CHECK(task(4'500'000) == BudgetState::stop);
    const auto day = [](std::int64_t used) { return state_of(of_day(40 * k_mio, used)); };
    CHECK(day(31'999'999) == BudgetState::free);
    CHECK(day(32'000'000) == BudgetState::near);
    CHECK(day(40'000'000) == BudgetState::spent);
    CHECK(day(47'999'999) == BudgetState::spent);
    CHECK(day(48'000'000) == BudgetState::stop);
}

TEST_CASE("A budget that never stops agents is spent, however much they use") {
    auto budget = of_task(k_mio, 500'000 * k_mio);
    CHECK(state_of(budget) == BudgetState::stop);
    budget.task_stop = stop_percent("never");
    CHECK(state_of(budget) == BudgetState::spent);
    budget = of_day(k_mio, 500'000 * k_mio);
    budget.day_stop = stop_percent("never");
    CHECK(state_of(budget) == BudgetState::spent);
    CHECK(stop_percent("150") == 150);
    CHECK(stop_percent("1000") == 1000);
    CHECK(stop_percent("") == 0);
    CHECK(stop_percent("150%") == 0);
    CHECK(stop_percent("-5") == 0);
    budget.day_stop = 100;  // at once
    budget.day_used = k_mio;
    CHECK(state_of(budget) == BudgetState::stop);
}

TEST_CASE("Of the task's limit and the day's the worse one counts, also at the largest numbers") {
    auto budget = of_task(3 * k_mio, 3 * k_mio);
    budget.day = 40 * k_mio;
    budget.day_used = 33 * k_mio;
    CHECK(task_state_of(budget) == BudgetState::spent);
    CHECK(day_state_of(budget) == BudgetState::near);
    CHECK(state_of(budget) == BudgetState::spent);
    budget.day_used = 48 * k_mio;
    CHECK(state_of(budget) == BudgetState::stop);
    const std::int64_t most = 1'000'000 * k_mio;  // the largest limit, and a sum at which counters end
    budget = of_task(most, 3'000 * most);
    budget.task_stop = 1000;
    CHECK(state_of(budget) == BudgetState::stop);
    CHECK(state_of(of_task(most, most - 1)) == BudgetState::near);
    CHECK(state_of(of_task(1, 0)) == BudgetState::free);
    CHECK(state_of(of_task(1, 1)) == BudgetState::spent);
    CHECK(state_of(of_task(1, 2)) == BudgetState::stop);
}

TEST_CASE("The sentence names the limit that is worse, the command raises that one") {
    auto budget = of_task(3 * k_mio, 2'500'000);
    CHECK(sentence_of(budget, of_shop()) == "it has used 2.5M of its 3M tokens");
    CHECK(command_of(budget, of_shop()).text() == "orange task update 4f2a --budget 4M");
    budget.day = 40 * k_mio;
    budget.day_used = 41 * k_mio;
    CHECK(sentence_of(budget, of_shop()) == "its project shop has used 41M of today's 40M tokens");
    CHECK(command_of(budget, of_shop()).text() == "orange project update shop --set budget.day=60M");
    budget.task_used = 3 * k_mio;  // equally bad: the human needs to raise both
    CHECK_THAT(sentence_of(budget, of_shop()), Holds("its 3M tokens") && Holds("today's 40M"));
    CHECK(command_of(budget, of_shop()) == task_command("update", "4f2a", "--budget 4M"));
}

TEST_CASE("A limit that is unset is in no sentence and in no command") {
    CHECK_THAT(sentence_of(of_task(3 * k_mio, 0), of_shop()), Holds("0 of its 3M") && !Holds("shop"));
    CHECK(command_of(of_task(3 * k_mio, 0), of_shop()).verb == "task update");
    CHECK_THAT(sentence_of(of_day(40 * k_mio, 0), of_shop()), Holds("shop") && !Holds("it has"));
    CHECK(command_of(of_day(40 * k_mio, 0), of_shop()).verb == "project update");
}

TEST_CASE("A sub-task is told of the budget of the task above it, which the command raises") {
    auto of = of_shop();
    of.has_family = true;
    CHECK_THAT(sentence_of(of_task(3 * k_mio, 3 * k_mio), of), Holds("it and its sub-tasks have used 3M of their 3M"));
    of.task = "9c1d";
    of.is_relatives = true;
    CHECK_THAT(sentence_of(of_task(3 * k_mio, 3 * k_mio), of), Holds("task 9c1d") && Holds("sub-tasks"));
    CHECK(command_of(of_task(3 * k_mio, 3 * k_mio), of) == task_command("update", "9c1d", "--budget 4M"));
}

TEST_CASE("The command's value has room for the whole family, which --budget counts and budget.task does not") {
    auto of = of_shop();
    of.family_used = 20 * k_mio;
    CHECK(command_of(of_task(3 * k_mio, 3 * k_mio), of) == task_command("update", "4f2a", "--budget 30M"));
}

TEST_CASE("A higher budget is a round number that leaves room, and that Orange reads") {
    CHECK(more_than(3 * k_mio, 3'100'000) == 6 * k_mio);
    CHECK(more_than(3 * k_mio, 2'500'000) == 4 * k_mio);
    CHECK(more_than(40 * k_mio, 41 * k_mio) == 60 * k_mio);
    CHECK(more_than(5 * k_mio, 5 * k_mio) == 8 * k_mio);
    CHECK(more_than(5 * k_mio, 40 * k_mio) == 60 * k_mio);
    CHECK(more_than(5 * k_mio, 45 * k_mio) == 60 * k_mio);
    CHECK(more_than(80 * k_mio, 81 * k_mio) == 200 * k_mio);
    CHECK(more_than(100, 120) == 1000);
    CHECK(more_than(400'000, 400'000) == 600'000);
    for (std::int64_t used = 1; used < 1'000'000 * k_mio; used = used * 3 + 1) {
        CAPTURE(used);
        const auto more = more_than(used, used);
        CHECK((more > used || more == 0));
        CHECK(tokens_in(exact_tokens(more)) == more);
    }
    CHECK(more_than(999'999 * k_mio, 0) == 0);  // beyond the largest limit there is none
}

TEST_CASE("Tokens of a command are exact, as people type them") {
    CHECK(exact_tokens(0) == "0");
    CHECK(exact_tokens(5 * k_mio) == "5M");
    CHECK(exact_tokens(1'500'000) == "1500k");
    CHECK(exact_tokens(400'000) == "400k");
    CHECK(exact_tokens(25'001) == "25001");
    for (const std::int64_t tokens : {std::int64_t{1}, std::int64_t{1000}, 7 * k_mio + 1, 7 * k_mio + 1000}) {
        CHECK(tokens_in(exact_tokens(tokens)) == tokens);
    }
}

TEST_CASE("A budget that is near is said once and needs no help, a spent one needs help") {
    CHECK_FALSE(notice_of(of_task(3 * k_mio, 2 * k_mio), of_shop()));
    const auto near = notice_of(of_task(3 * k_mio, 2'500'000), of_shop());
    REQUIRE(near);
    CHECK(near->kind == NoticeKind::budget_near);
    CHECK_FALSE(rule_of(near->kind).help);
    CHECK(near->text == "it has used 2.5M of its 3M tokens");
    CHECK(near->command == "orange task update 4f2a --budget 4M");
    const auto spent = notice_of(of_task(3 * k_mio, 3 * k_mio), of_shop());
    REQUIRE(spent);
    CHECK(spent->kind == NoticeKind::budget);
    CHECK(rule_of(spent->kind).help);
    const auto stop = notice_of(of_task(3 * k_mio, 5 * k_mio), of_shop());
    REQUIRE(stop);
    CHECK(stop->kind == NoticeKind::budget);
    CHECK_THAT(stop->text, Holds("stopped"));
    for (const auto kind : {NoticeKind::budget, NoticeKind::budget_near}) CHECK(rule_of(kind).ends == NoticeEnd::cause);
    CHECK(rule_of(NoticeKind::usage_doubtful).ends == NoticeEnd::ack);
    CHECK(rule_of(NoticeKind::usage_doubtful).help);
}

TEST_CASE("The cause of a notice changes with the limit and with the state, not with each token") {
    const auto cause = [](const Budget& budget) { return notice_of(budget, of_shop())->cause; };
    CHECK(cause(of_task(3 * k_mio, 3 * k_mio)) == "task 3M");
    CHECK(cause(of_task(3 * k_mio, 4 * k_mio)) == "task 3M");
    CHECK(cause(of_task(4 * k_mio, 4 * k_mio)) == "task 4M");
    CHECK(cause(of_task(3 * k_mio, 5 * k_mio)) == "task 3M, stop");
    CHECK(cause(of_day(40 * k_mio, 41 * k_mio)) == "day 40M");
    auto both = of_task(3 * k_mio, 3 * k_mio);
    both.day = both.day_used = 40 * k_mio;
    CHECK(cause(both) == "task 3M, day 40M");
}

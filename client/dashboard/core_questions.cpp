// Questions: only y is yes.
#include "client/dashboard/calls.hpp"
#include "client/dashboard/core.hpp"

namespace orange::dashboard {
namespace {

/// Keys that were typed before a question could be read do not answer it. The one that somebody asks for is expected.
constexpr std::chrono::milliseconds k_reading{300}, k_expected{150};

}  // namespace

void Core::ask(Question question, Moment now) {
    question.since = now.steady;
    if (state_.question) {
        question.late = true;
        state_.questions.push_back(std::move(question));
        return;
    }
    state_.question = std::move(question);
}

void Core::next_question(Moment now) {
    state_.question.reset();
    if (state_.questions.empty()) return;
    state_.question = std::move(state_.questions.front());
    state_.questions.pop_front();
    state_.question->since = now.steady;
}

void Core::question_key(const Key& key, Moment now, Effects& effects) {
    const bool late = state_.question->late;
    const bool is_read = now.steady - state_.question->since >= (late ? k_reading : k_expected);
    if (!is_read && (late || key == "y")) return;
    auto question = std::move(*state_.question);
    next_question(now);
    state_.message.reset();
    const bool yes = key == "y";
    auto& chosen = yes ? question.if_yes : question.if_no;
    if (!yes && chosen.empty()) say("Nothing was changed", false, now);
    if (chosen.size() > 1) {
        state_.many.assign(chosen.begin(), chosen.end());
        for (auto& request : state_.many) request.of_many = true;
        state_.many_count = static_cast<int>(chosen.size());
        state_.many_done = 0;
        state_.many_failed.clear();
        state_.marked.clear();
        next_of_many(effects, now);
    } else if (chosen.size() == 1) {
        if (!chosen.front().task.empty()) state_.marked.erase(chosen.front().task);
        act(effects, std::move(chosen.front()));
    }
}

}  // namespace orange::dashboard

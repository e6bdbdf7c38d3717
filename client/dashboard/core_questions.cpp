// Questions. Only y means yes.
#include "client/dashboard/calls.hpp"
#include "client/dashboard/core.hpp"

namespace orange::dashboard {
namespace {

/// Keys that were typed before a question could be read do not answer it. A question that the person's own key caused
/// is expected, so its time is shorter.
constexpr std::chrono::milliseconds k_reading{300}, k_expected{150};
/// The longest wait of a question for the changes that it shows.
constexpr std::chrono::milliseconds k_changes_wait{1000};

}  // namespace

void Core::ask(Question question, Moment now) {
    question.since = now.steady;
    question.readable = false;
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

/// Returns when the question on the screen can be answered; nothing if it can be now.
std::optional<Core::Time> Core::question_due() const {
    if (!state_.question || state_.question->readable) return std::nullopt;
    const auto& question = *state_.question;
    const bool waits = !question.about.empty() && !(state_.about && state_.about->has_come);
    return question.since + (waits ? k_changes_wait : question.late ? k_reading : k_expected);
}

void Core::question_key(const Key& key, Moment now, Effects& effects) {
    if (about_key(key)) return;
    const auto due = question_due();
    const bool is_read = !due || now.steady >= *due;
    if (!is_read && (state_.question->late || key == "y")) return;
    auto question = std::move(*state_.question);
    state_.about.reset();
    next_question(now);
    state_.message.reset();
    if (key.size() == 1 && key[0] >= '1' && static_cast<std::size_t>(key[0] - '1') < question.options.size()) {
        auto option = std::move(question.options[static_cast<std::size_t>(key[0] - '1')]);
        if (!option.text.empty()) return ask(std::move(option), now);
        return act(effects, std::move(option.if_yes.front()));
    }
    const bool yes = key == "y" && question.options.empty();
    auto& chosen = yes ? question.if_yes : question.if_no;
    if (!yes && chosen.empty()) say("Nothing was changed", false, now);
    if (chosen.size() > 1 || (!chosen.empty() && !chosen.front().others.empty())) {
        state_.many.assign(chosen.begin(), chosen.end());
        for (auto& request : state_.many) request.of_many = true;
        state_.many_count = 0;
        for (const auto& request : state_.many) state_.many_count += 1 + static_cast<int>(request.others.size());
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

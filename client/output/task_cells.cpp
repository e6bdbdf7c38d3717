#include "client/output/task_cells.hpp"

#include "common/base/forges.hpp"
#include "common/base/text.hpp"

namespace orange::output {
namespace {

Line status_cell(const Row& task, const rpc::ChangeCounts*, Timestamp) {
    return Line(status_of(task) + (task.after.empty() ? "" : " after " + printable(task.after)));
}

Line round_cell(const Row& task, const rpc::ChangeCounts*, Timestamp) {
    return Line(task.review_round > 0 ? std::to_string(task.review_round) : std::string());
}

/// Returns "#7" and its problem.
Line pull_cell(const Row& task, const rpc::ChangeCounts*, Timestamp) {
    if (!task.pull) return Line(task.pr_url.empty() ? "" : "PR");
    const auto& pull = *task.pull;
    const auto number = forge_of_pull(task.pr_url).mark + std::to_string(pull.number);
    if (pull.state != PullState::open) return Line(number + " " + name_text(pull.state), k_dim);
    if (pull.checks == PullChecks::failing || pull.review == PullReview::changes_requested || pull.conflicts) {
        return Line(number + " ✗", k_red);
    }
    if (pull.checks == PullChecks::pending) return Line(number + " …", k_yellow);
    const bool good =
        pull.review == PullReview::approved || (pull.review == PullReview::none && pull.checks == PullChecks::passing);
    return Line(number + (good ? " ✓" : ""), good ? k_green : k_plain);
}

Line lines_cell(const Row&, const rpc::ChangeCounts* changes, Timestamp) {
    if (changes == nullptr || changes->files == 0) return {};
    return Line("+" + std::to_string(changes->added) + " -" + std::to_string(changes->removed));
}

Look activity_look(Activity activity) {
    if (activity == Activity::waiting) return k_yellow;
    if (activity == Activity::limited) return k_red;
    return activity == Activity::busy ? k_green : k_dim;
}

/// Returns "idle 4m".
Line activity_cell(const Row& task, const rpc::ChangeCounts*, Timestamp now) {
    if (task.activity == Activity::unknown) return {};
    const auto age = age_of(task.active_since, now);
    return Line(name_text(task.activity), activity_look(task.activity))
        .add(age.empty() || age == "now" ? "" : " " + age, k_dim);
}

Line tokens_cell(const Row& task, const rpc::ChangeCounts*, Timestamp) {
    return Line(task.tokens);
}

constexpr ListColumn k_columns[] = {
    {"STATUS", "", 18, false, status_cell}, {"ROUND", "r", 4, false, round_cell},
    {"PR", "", 12, false, pull_cell},       {"LINES", "", 16, false, lines_cell},
    {"AGENT", "", 11, true, activity_cell}, {"TOKENS", "", 8, false, tokens_cell},
};

}  // namespace

Span mark_of(const Row& task) {
    if (is_dead(task)) return {"✗", k_red};
    // Green is an agent that works, not one that waits.
    const bool waits = task.needs == Need::answer || task.needs == Need::review || task.activity == Activity::waiting ||
                       task.activity == Activity::limited;
    if (is_alive(task)) return {"●", waits ? k_plain : k_green};
    if (task.worker == Row::Agents::unknown || task.reviewer == Row::Agents::unknown) return {"?", k_yellow};
    return {"○", k_dim};
}

std::string status_of(const Row& task) {
    if (!task.unreadable.empty()) return "unreadable";
    auto text = task.unpicked ? std::string("unpicked") : printable(task.status);
    if (task.children > 0) text += " " + std::to_string(task.children_done) + "/" + std::to_string(task.children);
    if (task.queue_place > 0) text += " #" + std::to_string(task.queue_place);
    if (task.in_progress) text += "…";
    return text;
}

Span marked(const Row& task, const std::string& status) {
    const auto mark = mark_of(task);
    return {mark.text + " " + status + (is_dead(task) ? " (dead)" : ""), mark.look};
}

Look look_of(Need need) {
    switch (need) {
        case Need::help:
            return Look{1, -1, true};
        case Need::answer:
            return Look{5, -1, true};
        case Need::review:
            return Look{6, -1, true};
        case Need::start:
        case Need::nothing:
            break;
    }
    return k_dim;
}

Span need_of(const Row& task) {
    return {task.needs == Need::nothing ? std::string() : name_text(task.needs), look_of(task.needs)};
}

std::string age_of(Timestamp time, Timestamp now) {
    return time == Timestamp{} ? "" : age_text(time, now);
}

std::span<const ListColumn> list_columns() {
    return k_columns;
}

}  // namespace orange::output

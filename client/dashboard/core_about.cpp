// The text above a question or a prompt: the agent's questions, its plan, its handoff, or the changes of a merge.
#include <algorithm>

#include "client/dashboard/calls.hpp"
#include "client/dashboard/core.hpp"
#include "common/base/text.hpp"
#include "common/rpc/task_queries.hpp"

namespace orange::dashboard {
namespace {

constexpr std::size_t k_most_files = 5;  ///< that a question names

}  // namespace

Box about_box(const Layout& layout) {
    return layout.pane.height > 0 ? layout.pane : layout.list;
}

/// Requests the text about a task. The question or the prompt must be open already.
void Core::show_about(About::What what, const std::string& id, Effects& effects) {
    if (!state_.prompt && !state_.question) return;
    state_.about = About{};
    state_.about->what = what;
    state_.about->task = id;
    if (what == About::What::changes) {
        rpc::TaskDiff diff;
        diff.patch = diff.merge = true;
        add_request(effects, request_about(std::move(diff), Purpose::about, id), host_of(id));
    } else {
        add_request(effects, request_about(rpc::TaskShow{}, Purpose::about, id), host_of(id));
    }
}

/// Requests the changes of a question when it is shown, because it may have waited for another question before.
void Core::show_about_question(Effects& effects) {
    if (!state_.question) return;
    const auto& about = state_.about;
    if (const auto& given = state_.question->above; !given.empty() && (!about || about->given != given)) {
        state_.about = About{};
        state_.about->what = About::What::given;
        state_.about->given = given;
        state_.about->has_come = true;
    }
    if (state_.question->about.empty()) return;
    const auto what = state_.question->shows;
    const bool is_shown = about && about->what == what && about->task == state_.question->about;
    if (!is_shown) show_about(what, state_.question->about, effects);
}

/// Shows the reply. Without one, the question or the prompt stands alone. A confirmed merge is limited to the shown
/// commit, and confirms what the question says of it.
void Core::about_reply(const Request& request, Result<Json> reply, Moment now) {
    auto& about = state_.about;
    const bool is_of_changes = about && about->what == About::What::changes;
    if (!about || about->task != request.task || is_of_changes != (request.method == rpc::TaskDiff::k_name)) return;
    about->has_come = true;
    if (!reply) return;
    about->reply = std::move(*reply);
    about->width = 0;
    const auto diff = read_as<rpc::TaskDiff::Reply>(about->reply, "", UnknownKeys::ignore);
    if (!is_of_changes || !state_.question || !diff) return;
    auto& facts = state_.question->facts;
    const auto counted_before = changes_fact(state_, request.task);
    state_.changes[request.task] = diff->changes;
    std::ranges::replace(facts, counted_before, changes_fact(state_, request.task));
    for (const auto line : split_lines(diff->concerns)) {
        const auto fact = clean(line);
        if (std::ranges::find(facts, fact) == facts.end()) facts.push_back(fact);
    }
    if (!diff->conflicts.empty()) {
        std::vector<std::string> files;
        for (const auto& file : diff->conflicts) files.push_back(clean(file));
        if (files.size() > k_most_files) files.resize(k_most_files), files.emplace_back("…");
        const auto task = std::ranges::find(state_.tasks, request.task, &Row::id);
        const bool updates = task != state_.tasks.end() && can(*task, "update_branch");
        facts.push_back("It will conflict in " + join(files, ", ") +
                        (updates ? "; u merges the target into the branch first" : ""));
    }
    if (diff->changes.uncommitted) facts.emplace_back("Changes that are not committed are not merged");
    // The merge asks again about all that does not fit on the screen.
    const bool all_shown = fits_on_screen(state_);
    // An older daemon on another host sends no commit.
    const auto shown = !diff->commit.empty() || diff->changes.uncommitted ? diff->commit : diff->tip;
    const auto pin = [&](std::vector<Request>& requests) {
        for (auto& merge : requests) {
            const bool is_its = merge.method == rpc::TaskMerge::k_name && merge.task == request.task;
            if (!is_its || shown.empty()) continue;
            merge.params["tip"] = shown;
            if (!diff->confirms.empty() && all_shown) merge.params["confirmed"] = diff->confirms;
        }
    };
    pin(state_.question->if_yes);
    for (auto& option : state_.question->options) pin(option.if_yes);
    // The person has to read the new facts, too.
    if (!diff->concerns.empty() || !diff->conflicts.empty()) {
        state_.question->since = now.steady;
        state_.question->readable = false;
        state_.question->late = true;
    }
}

void Core::prepare_about() {
    auto& about = *state_.about;
    const auto width = static_cast<std::size_t>(std::max(1, about_box(layout_of(state_)).width));
    if (about.width == width) return;
    about.lines = about_lines(about, width);
    about.width = width;
    scroll_about(0);
}

void Core::scroll_about(long by) {
    auto& about = *state_.about;
    const auto rows = static_cast<long>(about_box(layout_of(state_)).height);
    const auto most = std::max(0L, static_cast<long>(about.lines.size()) - rows);
    about.scroll = static_cast<std::size_t>(std::clamp(static_cast<long>(about.scroll) + by, 0L, most));
}

/// Scrolls the text. In a prompt J and K are ordinary characters.
bool Core::about_key(const Key& key) {
    if (!state_.about) return false;
    const bool down = key == "PageDown" || (key == "J" && !state_.prompt);
    const bool up = key == "PageUp" || (key == "K" && !state_.prompt);
    if (down || up) scroll_about(down ? half_a_page() : -half_a_page());
    return down || up;
}

}  // namespace orange::dashboard

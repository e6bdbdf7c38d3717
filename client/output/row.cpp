#include "client/output/row.hpp"

#include <algorithm>
#include <iterator>

#include "client/output/cells.hpp"
#include "client/output/tasks.hpp"
#include "client/output/usage.hpp"
#include "common/base/text.hpp"

namespace orange::output {
namespace {

/// The names of TaskView::can that keys need; each is a bit of Row::offers.
constexpr std::string_view k_offer_names[] = {
    "attach",        "send",    "stop",   "restore", "ack",         "delete",  "spawn",  "respawn",
    "restart",       "reply",   "reject", "merge",   "force_merge", "move",    "cancel", "create_pr",
    "update_branch", "approve", "try",    "allow",   "deny",        "compare", "pick"};

std::uint32_t offer_bit(std::string_view name) {
    const auto found = std::ranges::find(k_offer_names, name);
    return found == std::end(k_offer_names) ? 0 : std::uint32_t{1} << (found - std::begin(k_offer_names));
}

Row::Agents agents_of(const std::string& name) {
    if (name == "alive") return Row::Agents::alive;
    if (name == "dead") return Row::Agents::dead;
    const bool waits = name == "queued";  // in its executor
    return name == "none" || waits ? Row::Agents::none : Row::Agents::unknown;
}

std::string line_of(const std::optional<std::string>& text) {
    return text ? std::string(first_line(*text)) : std::string();
}

std::string tokens_of(const rpc::TaskView& task) {
    if (!task.usage) return {};
    auto sum = task.usage->sum;
    if (task.usage->is_doubtful) sum.doubtful = std::max<std::int64_t>(1, sum.doubtful);
    return has_run(sum) ? sum_text(sum) : std::string();
}

void set_preview(Row& row, const rpc::PreviewView& preview) {
    row.preview = preview.state == "starting"  ? Row::Preview::starting
                  : preview.state == "running" ? Row::Preview::running
                                               : Row::Preview::ended;
    row.preview_url = preview.url;
}

void set_agents(Row& row, const rpc::TaskView& task) {
    row.worker = agents_of(task.worker);
    row.reviewer = agents_of(task.reviewer);
    const auto& seen = row.reviewer == Row::Agents::alive ? task.reviewer_activity : task.worker_activity;
    if (!is_alive(row) || !seen) return;
    row.activity = seen->activity;
    row.active_since = seen->since;
}

}  // namespace

bool can(const Row& task, std::string_view what) {
    return (task.offers & offer_bit(what)) != 0;
}

bool offers_nothing(const Row& task) {
    return (task.offers & ~(offer_bit("delete") | offer_bit("ack"))) == 0;
}

void forbid(Row& task, std::string_view what) {
    task.offers &= ~offer_bit(what);
}

Row row_of(const rpc::TaskView& task) {
    const auto& fields = task.fields;
    Row row;
    row.id = fields.id.value;
    row.short_id = task.short_id;
    row.project = fields.project;
    row.branch = fields.branch;
    row.summary = fields.summary;
    row.workflow = fields.workflow;
    row.status = fields.status;
    const auto& folder = task.worktree.empty() ? task.path : task.worktree;
    if (!folder.empty()) row.file = folder + "/TASK.md";
    row.has_worktree = !task.worktree.empty();
    row.pr_url = fields.pr_url.value_or("");
    row.needs = task.unreadable ? Need::help : task.needs.kind;
    row.needs_text = with_short_id(task.needs.text, task);
    row.needs_command = task.needs.command;
    row.needs_since = task.needs.since;
    row.permit = task.needs.permit != 0;
    row.alarm = line_of(task.alarm);
    row.parent = fields.parent.value;
    row.attempt = task.attempt;
    row.attempts = static_cast<std::uint16_t>(task.attempts);
    row.picked = task.picked;
    row.on = task.fields.on.value;
    row.unpicked = task.unpicked;
    row.merges_into = task.merges_into;
    row.children = static_cast<std::int16_t>(task.children.size());
    row.children_done = static_cast<std::int16_t>(task.children_done);
    row.unreadable = line_of(task.unreadable);
    row.tokens = tokens_of(task);
    row.updated_at = fields.updated_at;
    for (const auto& name : task.can) row.offers |= offer_bit(name);
    row.queue_place = static_cast<std::int32_t>(task.queue_place);
    row.review_round = static_cast<std::int32_t>(fields.review_round());
    row.ended = task.means == "done" || task.means == "cancelled" || can(row, "restore");
    const auto is_open = [](const auto& blocker) { return blocker.state != "done"; };
    row.initial = task.means == "initial";
    const auto open = row.initial ? std::ranges::count_if(task.blockers, is_open) : 0;
    if (open == 1) row.after = std::ranges::find_if(task.blockers, is_open)->short_id;
    if (open > 1) row.after = std::to_string(open);
    const bool waits = std::ranges::find(task.places, "queued", &rpc::PlacedRun::state) != task.places.end();
    row.blocked = task.start_wait || waits || open > 0 || (row.initial && can(row, "approve"));
    row.in_progress = task.in_progress.has_value();
    if (const auto& pull = task.pull_request) {
        row.pull = {static_cast<int>(pull->number), pull->state, pull->checks, pull->review, pull->conflicts};
    }
    row.noted = !row.ended && std::ranges::any_of(task.notices, [&](const Notice& notice) {
        return first_line(notice.text) != first_line(task.needs.text);
    });
    row.clashes = task.clashes;
    if (task.preview) set_preview(row, *task.preview);
    if (const auto& comments = task.comments) {
        row.drafts = static_cast<std::uint16_t>(comments->drafts);
        row.answered = static_cast<std::uint16_t>(comments->answered);
    }
    set_agents(row, task);
    return row;
}

std::string comments_fact(const Row& task) {
    const auto comments = [](std::uint16_t number) { return counted(number, "comment"); };
    std::string text;
    if (task.drafts > 0) text = comments(task.drafts) + " not sent";
    if (task.answered == 0) return text;
    return text.empty() ? comments(task.answered) + " answered"
                        : text + ", " + std::to_string(task.answered) + " answered";
}

std::string title_of(const Row& task) {
    if (!task.attempt.empty()) return clean(task.attempt + (task.summary.empty() ? "" : ": " + task.summary));
    if (!task.summary.empty()) return clean(task.summary);
    const bool named = !task.branch.empty() && !task.branch.starts_with("orange-tasks/");
    return clean(named ? task.branch : task.id);
}

std::string short_title(const Row& task) {
    constexpr std::size_t k_most = 48;
    return cut(title_of(task), k_most);
}

std::string quoted_title(const Row& task) {
    return "\"" + short_title(task) + "\"";
}

}  // namespace orange::output

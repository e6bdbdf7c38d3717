// Handles the daemon's replies.
#include <algorithm>

#include "client/dashboard/calls.hpp"
#include "client/dashboard/core.hpp"
#include "client/dashboard/hosts.hpp"
#include "client/output/tasks.hpp"
#include "common/base/forges.hpp"
#include "common/base/text.hpp"
#include "common/rpc/attempt_methods.hpp"
#include "common/rpc/harness_methods.hpp"
#include "common/rpc/permit_methods.hpp"
#include "common/rpc/task_queries.hpp"
#include "common/rpc/train_methods.hpp"
#include "common/rpc/workflow_methods.hpp"

namespace orange::dashboard {
namespace {

/// Events that arrive together cause one request for the list, and such requests may take a fifth of the time at most.
constexpr std::chrono::milliseconds k_together{40}, k_in_progress{1000}, k_reading_time{8000};

std::string whole_error(const Error& error) {
    auto text = output::with_short_ids(error.message, error);
    for (const char* key : {"files", "stderr"}) {
        const auto more = detail(error, key);
        if (!more.empty() && text.find(trim(more)) == std::string::npos) text += "\n" + std::string(trim(more));
    }
    return text;
}

std::int64_t number_in(const Json& json, const char* key) {
    const auto found = json.is_object() ? json.find(key) : json.end();
    return found != json.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::string notes_of(const Json& reply) {
    std::string text;
    const auto notes = reply.find("notes");
    if (notes == reply.end() || !notes->is_array()) return text;
    for (const auto& note : *notes) {
        if (note.is_string()) text += "\n" + note.get<std::string>();
    }
    return text;
}

bool starts_agent(const Request& request) {
    return request.method == rpc::TaskSpawn::k_name || request.method == rpc::TaskRespawn::k_name ||
           request.method == rpc::TaskRestart::k_name;
}

/// Returns the task that a reply is about, if there is one.
std::optional<Row> row_in(const Answer& answer) {
    if (!answer.tasks.empty()) return answer.tasks.front().row;
    const auto task = answer.json.find("task");
    const auto view = task == answer.json.end() ? std::nullopt : typed<rpc::TaskView>(*task);
    return view ? std::optional(row_of(*view)) : std::nullopt;
}

std::string outcome_of(const Request& request, const Answer& answer) {
    const auto& reply = answer.json;
    std::string text = request.done;
    if (request.method == rpc::TaskMerge::k_name) {
        const auto merge = typed<rpc::TaskMerge::Reply>(reply);
        if (merge && !merge->commit.empty())
            text += " as " + merge->commit.substr(0, 12) + (merge->pushed ? ", pushed" : "");
        if (merge && merge->elsewhere) {
            const auto& target = merge->task.merges_into;
            text = (target.empty() ? "the default branch" : clean(target)) + " already had the work";
        }
    }
    if (starts_agent(request)) {
        const auto task = row_in(answer);
        if (task && (task->queue_place > 0 || task->blocked)) text = "not started yet";
    }
    if (const auto failed = reply.find("spawn_error"); failed != reply.end() && failed->is_string()) {
        return text + ", but no agent works on it: " + failed->get<std::string>();
    }
    const auto notes = notes_of(reply);
    const bool says_all = request.method == rpc::TaskAllow::k_name || request.method == rpc::TaskDeny::k_name ||
                          request.method == rpc::TaskPick::k_name;
    if (says_all && !notes.empty()) return notes.substr(1);  // they name the request, or the attempt
    return text + notes;
}

void point_at(Form& form, std::string_view name) {
    const auto field = std::ranges::find(form.fields, name, &FormField::name);
    if (field != form.fields.end()) form.at = static_cast<std::size_t>(field - form.fields.begin());
}

bool has_spawn_error(const Json& reply) {
    const auto failed = reply.find("spawn_error");
    return failed != reply.end() && failed->is_string();
}

}  // namespace

void Core::refresh(Moment now, std::size_t host) {
    auto& feed = feeds_[host];
    const auto at = now.steady + std::max<std::chrono::steady_clock::duration>(k_together, 4 * feed.list_took);
    if (!feed.list_due || at < *feed.list_due) feed.list_due = at;
}

void Core::list_soon() {
    for (auto& feed : feeds_) feed.list_due = Time{};
}

void Core::request_list(std::size_t host, Effects& effects, Moment now) {
    auto& feed = feeds_[host];
    if (feed.list_asked) return;  // the list is requested again after the reply
    feed.list_due.reset();
    if (!is_up(state_, host)) return;
    auto list = list_of_project();
    if (ended_wanted_ > 0) {
        list.all = true;
        list.limit = static_cast<int>(state_.active + ended_wanted_);
    }
    list.changes = true;
    feed.list_asked = true;
    feed.list_sent = now.steady;
    add_request(effects, request_of(list, Purpose::list), host);
}

/// Returns the rows of a reply, and stores the changes of their branches, which not every reply has.
std::vector<Row> Core::rows_in(Answer& reply, std::size_t host) {
    std::vector<Row> rows;
    rows.reserve(reply.tasks.size());
    for (auto& task : reply.tasks) {
        if (task.committed) state_.changes[task.row.id] = *task.committed;
        task.row.host = static_cast<std::uint16_t>(host);
        rows.push_back(std::move(task.row));
    }
    return rows;
}

/// Removes create_pr from tasks whose project cannot have pull requests.
void Core::hide_pull_requests() {
    for (const auto& project : state_.projects) {
        if (project.place.empty() || forge_named(project.place)) continue;
        for (auto& task : state_.tasks) {
            if (task.project == project.name && task.host == 0) forbid(task, "create_pr");
        }
    }
}

bool Core::news_for_human(const std::vector<Row>& tasks, const std::map<std::string, Need>& before) {
    return std::ranges::any_of(tasks, [&](const Row& task) {
        const auto known = before.find(task.id);
        return more_urgent(task.needs, Need::start) &&
               (known == before.end() || more_urgent(task.needs, known->second));
    });
}

void Core::count_needs() {
    const auto count = [&](Need need) {
        return static_cast<std::size_t>(std::ranges::count(state_.tasks, need, &Row::needs));
    };
    state_.needs_help = count(Need::help);
    state_.needs_answer = count(Need::answer);
    state_.needs_start = count(Need::start);
    state_.needs_review = count(Need::review);
}

void Core::list_reply(std::size_t host, Answer reply, std::int64_t hidden, Moment now) {
    if (reply.unread) {
        const auto whose = host == 0 ? std::string("The daemon's list") : "The list of " + state_.hosts[host - 1].name;
        return say(whose + " cannot be read; is it of another version? orange daemon restart", true, now);
    }
    // The person has read the message by now, and it may be outdated.
    if (state_.message && !state_.message->bad && now.wall - state_.message->at >= k_reading_time)
        state_.message.reset();
    std::map<std::string, Need> needed;
    for (const auto& task : state_.tasks) needed[task.id] = task.needs;
    auto rows = rows_in(reply, host);
    auto& feed = feeds_[host];
    if (std::exchange(feed.listed, true) && news_for_human(rows, needed)) ++state_.rings;
    const auto ended = static_cast<std::size_t>(std::ranges::count(rows, true, &Row::ended));
    feed.more_ended = ended_wanted_ > 0 && ended >= ended_wanted_;
    if (ended_wanted_ == 0) feed.hidden = hidden;
    state_.more_ended = std::ranges::any_of(feeds_, &Feed::more_ended);
    state_.hidden = 0;
    for (const auto& each : feeds_) state_.hidden += each.hidden;
    replace_rows(std::move(rows), host);
    if (!state_.search.empty()) search_due_ = now.steady;
    count_needs();
    const bool moving = std::ranges::any_of(
        state_.tasks, [&](const Row& task) { return task.in_progress && !task.ended && task.host == host; });
    std::erase_if(state_.marked, [&](const std::string& id) {
        return std::ranges::none_of(state_.tasks, [&](const auto& task) { return task.id == id; });
    });
    state_.listed = true;
    hide_pull_requests();
    header_project();
    want_usage(now);
    rebuild();
    if (moving && !feed.list_due) feed.list_due = now.steady + k_in_progress;  // there is no event for its end
    if (state_.pane != Pane::screen) make_stale_if_changed();
}

/// Handles an error of a list. A machine that does not know a project of another machine has no tasks of it.
void Core::list_error(std::size_t host, const Error& error, Moment now) {
    const auto is_elsewhere = [&](const Row& task) { return task.host != host && state_.project == task.project; };
    const bool is_of_other = host > 0 || std::ranges::any_of(state_.tasks, is_elsewhere);
    if (error.code == ErrorCode::not_found && is_of_other) return list_reply(host, {}, 0, now);
    if (host == 0) say(whole_error(error), true, now);
}

/// Sets the project of the header by the directory; a worktree of a pool belongs to its project, too.
void Core::header_project() {
    state_.shown_project = state_.project.value_or("");
    if (!state_.shown_project.empty() || !state_.cwd) return;
    for (const auto& project : state_.projects) {
        const bool inside = *state_.cwd == project.path || state_.cwd->starts_with(project.path + "/") ||
                            state_.cwd->find("/workspaces/" + project.name + "--") != std::string::npos;
        if (inside) state_.shown_project = project.name;
    }
}

void Core::next_of_many(Effects& effects, Moment now) {
    while (!state_.many.empty()) {
        auto request = std::move(state_.many.front());
        state_.many.pop_front();
        if (state_.busy.contains(request.task)) continue;
        return act(effects, std::move(request));
    }
    if (state_.many_count == 0) return;
    auto text = std::to_string(state_.many_done) + " of " + std::to_string(state_.many_count) + " done";
    for (const auto& failed : state_.many_failed) text += "\n" + failed;
    say(text, !state_.many_failed.empty(), now);
    state_.many_count = 0;
}

std::string Core::outcome_text(const Request& request, const Answer& answer) const {
    auto text = outcome_of(request, answer);
    const bool is_away = request.method == rpc::TaskTry::k_name && request.host > 0;
    if (is_away && !request.params.value("stop", false)) {
        text += "\nIts port is on that machine. To see how to reach it from here:\n  orange --host " +
                state_.hosts[request.host - 1].name + " try " + request.task;
    }
    return text;
}

void Core::act_reply(const Request& request, Result<Answer> reply, Moment now, Effects& effects) {
    state_.busy.erase(request.task);
    for (const auto& other : request.others) state_.busy.erase(other);
    auto title = request.title.empty() ? std::string("The task") : request.title;
    refresh(now, request.host);
    make_stale(request.task);
    for (const auto& other : request.others) make_stale(other);
    if (request.of_many) {
        const bool is_train = reply && request.method == rpc::TrainMerge::k_name;
        if (is_train) count_train(reply->json);
        if (reply && !is_train) ++state_.many_done;
        if (!reply)
            state_.many_failed.push_back(title + ": " +
                                         first_line(output::with_short_ids(reply.error().message, reply.error())));
        return next_of_many(effects, now);
    }
    if (!reply) {
        const auto& error = reply.error();
        if (ask_to_pick(request, error, now)) return;
        if (ask_for_force(request, error, now) || ask_for_trust(request, error, now)) return;
        if (ask_for_children(request, error, now) || ask_again(request, error, now)) return;
        if (request.purpose == Purpose::create) {
            title = "No task was created";
            if (auto sent = state_.sent_forms.extract(request.task)) state_.kept_form = std::move(sent.mapped());
            if (state_.kept_form && detail(error, "field") == "harness") {
                point_at(*state_.kept_form, "harness");
                title += ". c opens the form again, and → chooses demo, which needs no account\nThe reason";
            } else if (const auto field = detail(error, "field");
                       state_.kept_form && (field == "files" || field == "attempts")) {
                point_at(*state_.kept_form, field);
                title += ". c opens the form again\nThe reason";
            }
        }
        return say(title + ": " + whole_error(error) + offer_comment_again(request), true, now);
    }
    state_.drafts.erase(request.draft);
    if (const auto task = row_in(*reply); task && task->ended && task->id == request.task)
        std::erase_if(state_.drafts, [&](const auto& each) { return task_of_draft(each.first) == request.task; });
    if (is_comment(request)) count_comments(*reply);
    if (request.purpose == Purpose::create) {
        state_.sent_forms.erase(request.task);
        state_.selected = request.task;
    }
    if (const auto next = row_in(*reply); next && request.method == rpc::TaskRestore::k_name) {
        if (state_.filter == Filter::ended) show_filter(Filter::active);
        state_.selected = next->id;
    }
    say(title + ": " + outcome_text(request, *reply), has_spawn_error(reply->json), now);
    send_then(request, effects);
}

/// Sends the request that waited for this one.
void Core::send_then(const Request& request, Effects& effects) {
    if (request.then.empty()) return;
    auto next = request.then.front();
    next.then.assign(request.then.begin() + 1, request.then.end());
    act(effects, std::move(next));
}

/// Takes over how many comments a task has now, which a rejection says before the next list comes.
void Core::count_comments(const Answer& reply) {
    const auto counted = row_in(reply);
    for (auto& task : state_.tasks) {
        if (!counted || task.id != counted->id) continue;
        task.drafts = counted->drafts;
        task.answered = counted->answered;
    }
}

void Core::list_answered(std::size_t host, Result<Answer> answer, const Result<Json>& reply, Moment now) {
    auto& feed = feeds_[host];
    feed.list_asked = false;
    feed.list_took = now.steady - feed.list_sent;
    if (!answer) return list_error(host, answer.error(), now);
    list_reply(host, std::move(*answer), number_in(*reply, "hidden"), now);
}

void Core::projects_reply(const Result<Json>& reply, Moment now) {
    if (auto list = reply ? typed<rpc::ProjectList::Reply>(*reply) : std::nullopt) {
        state_.projects = std::move(list->projects);
        state_.projects_known = true;
    }
    hide_pull_requests();
    header_project();
    update_choices();
    if (state_.form && !state_.question && !asked_to_register_) ask_to_register(true, now);
}

void Core::harnesses_reply(const Result<Json>& reply) {
    if (const auto list = reply ? typed<rpc::HarnessList::Reply>(*reply) : std::nullopt) {
        state_.harnesses.clear();
        state_.usual_harness = list->usual;
        for (const auto& harness : list->harnesses) {
            if (harness.installed) state_.harnesses.push_back(harness.name);
        }
    }
    update_choices();
}

void Core::workflows_reply(const Result<Json>& reply) {
    if (const auto list = reply ? typed<rpc::WorkflowList::Reply>(*reply) : std::nullopt) {
        state_.workflows.clear();
        for (const auto& workflow : list->workflows) state_.workflows.push_back(workflow.name);
    }
    update_choices();
}

Effects Core::on_reply(const Request& request, Result<Answer> answer, Moment now) {
    Effects effects;
    if (request.purpose == Purpose::create || request.purpose == Purpose::act) {
        act_reply(request, std::move(answer), now, effects);
        request_panes(now, effects);
        return effects;
    }
    auto reply = answer ? Result<Json>(std::move(answer->json)) : Result<Json>(answer.error());
    switch (request.purpose) {
        case Purpose::subscribe:
            subscribed(request.host, std::move(reply), now, effects);
            break;
        case Purpose::list:
            list_answered(request.host, std::move(answer), reply, now);
            request_ended(effects);
            break;
        case Purpose::ended:
            if (answer) ended_reply(std::move(*answer), now);
            break;
        case Purpose::search:
            if (answer) search_reply(request, std::move(*answer), effects);
            break;
        case Purpose::texts:
            if (answer) texts_reply(request, *reply, std::move(*answer), effects);
            break;
        case Purpose::projects:
            projects_reply(reply, now);
            break;
        case Purpose::about:
            about_reply(request, std::move(reply), now);
            break;
        case Purpose::permit:
            permit_reply(request, std::move(reply), now);
            break;
        case Purpose::train:
            train_reply(request, std::move(reply), now);
            break;
        case Purpose::moves:
            moves_reply(std::move(reply), now);
            break;
        case Purpose::add_project:
            project_added(std::move(reply), now);
            effects.requests.push_back(request_of(rpc::ProjectList{true}, Purpose::projects));
            break;
        case Purpose::workspaces:
            if (auto list = reply ? typed<rpc::WorkspaceReply>(*reply) : std::nullopt)
                state_.workspaces = std::move(list->workspaces);
            break;
        case Purpose::harnesses:
            harnesses_reply(reply);
            break;
        case Purpose::workflows:
            workflows_reply(reply);
            break;
        case Purpose::usage:
            usage_reply(reply);
            break;
        default:
            pane_reply(request, std::move(reply), now);
    }
    request_panes(now, effects);
    return effects;
}

}  // namespace orange::dashboard

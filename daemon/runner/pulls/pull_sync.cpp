#include "daemon/runner/pulls/pull_sync.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "common/base/ids.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/pulls/pulls.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds k_longest_pause = 10min;
/// After this many poll intervals, a task that a merged pull request left with more work is tried again. Usually a
/// command of the human ends that.
constexpr int k_pauses_after_left = 10;
/// A task that was cancelled with its pull request is followed for this long, in case that is opened again.
constexpr auto k_follow_closed = std::chrono::hours(7 * 24);

std::string detail_of(const Error& error, const char* name) {
    const auto found = error.details.find(name);
    return found == error.details.end() ? std::string() : found->second;
}

Caller caller_for(const PullRequest& pull) {
    return daemon_for(pulls::name_of(pull) + " is " + name_text(pull.state));
}

std::map<std::string, Scalar> fields_of(const PullRequest& pull) {
    return {{"number", pull.number},
            {"state", name_text(pull.state)},
            {"checks", name_text(pull.checks)},
            {"review", name_text(pull.review)},
            {"conflicts", pull.conflicts}};
}

/// The worker gets problems back this often in a row without the human: a problem that stays must not keep an agent
/// busy all night.
constexpr std::ptrdiff_t k_most_returns = 3;
constexpr const char* k_return = "returned@";  ///< in `pull_told`, with the commit

bool is_return(const std::string& key) {
    return key.starts_with(k_return);
}

/// Marks in `pull_told`: the task was cancelled with its pull request, and the human was informed of that.
constexpr const char* k_cancelled = "cancelled";
constexpr const char* k_closed = "closed";

/// Returns a text that changes when something was said in a thread, and when comments were sent, answered or resolved:
/// what was said about a comment that waits for its answer is read again then.
std::string said_at(const PullRequest& pull, std::int64_t comment_step, const CommentCounts& counts) {
    return pull.said + " " + std::to_string(comment_step) + " " + std::to_string(counts.sent);
}

/// The comments of a pull request that are for the human now.
struct PullComments {
    std::size_t drafts = 0;   ///< by people who may push, not sent yet
    std::size_t outside = 0;  ///< by others
    std::string key;          ///< changes when people who may push have said something new
};

PullComments comments_in(const CommentList& list, std::int64_t step) {
    PullComments found;
    std::size_t said = 0;
    for (const auto& comment : list.comments) {
        if (comment.thread.empty()) continue;
        const auto state = engine::state_of(comment, step);
        if (state == engine::CommentState::draft) ++found.drafts;
        if (state == engine::CommentState::outside) ++found.outside;
        if (comment.outside) continue;
        said += comment.seen.size();
    }
    found.key = "comments@" + std::to_string(said);
    return found;
}

std::string comments_text(const PullComments& comments) {
    auto text = counted(comments.drafts, "comment") + " on lines by people who may push";
    if (comments.outside > 0) text += " and " + std::to_string(comments.outside) + " by others";
    return text;
}

/// The problems of a pull request, and which of them are new.
struct Troubles {
    std::vector<std::string> all;
    std::vector<std::string> news;
    std::set<std::string> told;
    bool is_for_worker = false;  ///< something is new that the worker may get without the human
};

/// A change request has its own time. Checks and conflicts belong to a commit, and are reported once for it, even if
/// the forge forgets them in between.
Troubles troubles_of(const TaskRecord& record, const PullRequest& pull, const PullComments& comments) {
    Troubles troubles;
    const auto of_commit = "@" + pull.commit;
    for (const auto& key : record.pull_told) {
        if (key.ends_with(of_commit) || is_return(key)) troubles.told.insert(key);
    }
    const auto fact = [&](bool holds, const std::string& key, const std::string& text) {
        if (!holds) return;
        troubles.all.push_back(text);
        if (!record.pull_told.contains(key)) troubles.news.push_back(text);
        troubles.told.insert(key);
    };
    fact(pull.review == PullReview::changes_requested, "changes_requested@" + pull.requested_at,
         "changes are requested");
    fact(pull.checks == PullChecks::failing, "checks_failed" + of_commit, "its checks fail");
    fact(pull.conflicts, "conflicts" + of_commit, "it conflicts with " + pull.base);
    troubles.is_for_worker = !troubles.news.empty();
    const bool is_wrong = !troubles.all.empty();
    // A reviewer who has not finished asks for no changes yet: the human decides.
    fact(comments.drafts > 0, comments.key, comments_text(comments));
    if (!is_wrong && pull.checks != PullChecks::pending) std::erase_if(troubles.told, is_return);
    return troubles;
}

}  // namespace

PullSync::~PullSync() {
    world_.tasks.unobserve(observer_);
}

void PullSync::start() {
    running_ = true;
    find_followed();
    for (const auto& [project, ids] : followed_) begin(project);
}

/// Reads all tasks that do not rest, once; from then on the store reports changes. No task that rests is followed.
void PullSync::find_followed() {
    if (std::exchange(found_, true)) return;
    world_.tasks.each_awake([&](const TaskRecord& record) {
        if (is_followed(record)) followed_[record.task.project].insert(record.task.id);
    });
}

void PullSync::stop() {
    running_ = false;
    for (const auto& [project, wake] : looking_) wake->notify();
}

bool PullSync::is_followed(const TaskRecord& record) const {
    if (!record.task.pr_url) return false;
    if (!store::has_ended(record)) return true;
    const bool closed = record.pull_request && record.pull_request->state == PullState::closed;
    return closed && world_.clock.now() - record.entered_at.value_or(record.task.updated_at) < k_follow_closed;
}

void PullSync::follow_or_forget(const TaskId& id) {
    const auto record = world_.tasks.awake(id);
    if (!record || !is_followed(*record)) {
        for (auto& [project, ids] : followed_) ids.erase(id);
        not_before_.erase(id);
        deaf_until_.erase(id);
        return;
    }
    const auto project = record->task.project;
    if (followed_[project].insert(id).second) begin(project);
}

void PullSync::poll_soon(const TaskRecord& record) {
    soon_[record.task.project].insert(record.task.id);
    begin(record.task.project);
}

void PullSync::forget_removed_projects() {
    const auto is_removed = [this](const auto& each) { return world_.projects.find(each.first) == nullptr; };
    std::erase_if(first_other_, is_removed);
    std::erase_if(failures_, is_removed);
    std::erase_if(problems_, is_removed);
}

void PullSync::begin(const std::string& project) {
    if (!running_) return;
    auto& wake = looking_[project];
    if (wake) return wake->notify();
    forget_removed_projects();
    wake = std::make_shared<async::Wakeup>(world_.executor);
    async::spawn(world_.executor, "pull requests", follow(project, wake));
}

Awaitable<void> PullSync::follow(std::string project, std::shared_ptr<async::Wakeup> wake) {
    while (running_ && (!followed_[project].empty() || !soon_[project].empty())) {
        const auto pause = co_await poll(project);
        if (!running_) break;
        (void)co_await wake->wait(pause);
    }
    looking_.erase(project);
}

/// Returns the tasks that have a pull request, and for the same query the project's other tasks: a person may have
/// opened theirs by hand. Of many such tasks, 50 at a time.
std::vector<TaskId> PullSync::asked_for(const std::string& project, const std::set<TaskId>& soon) {
    std::vector<TaskId> ids;
    if (const auto followed = followed_.find(project); followed != followed_.end()) {
        ids.assign(followed->second.begin(), followed->second.end());
    }
    std::vector<TaskId> others;
    for (const auto& id : world_.tasks.active()) {
        const auto record = world_.tasks.awake(id);
        const bool may_have_one = record && record->task.project == project && !record->task.branch.empty() &&
                                  !record->task.pr_url && !store::has_ended(*record);
        if (may_have_one) others.push_back(id);
    }
    if (others.size() > Forge::k_most_at_once) {
        auto& first = first_other_[project];
        std::rotate(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(first % others.size()), others.end());
        std::stable_partition(others.begin(), others.end(), [&](const TaskId& id) { return soon.contains(id); });
        others.resize(Forge::k_most_at_once);
        first += others.size();
    } else {
        first_other_.erase(project);
    }
    ids.insert(ids.end(), others.begin(), others.end());
    return ids;
}

Awaitable<std::chrono::milliseconds> PullSync::poll(std::string project) {
    find_followed();
    const auto* registered = world_.projects.find(project);
    if (!registered) co_return k_longest_pause;
    const auto place = co_await pulls::place_of(world_, *registered);
    if (!place) co_return after_failure(project, place.error());
    if (!place->forge) {
        problems_.erase(project);
        co_return k_longest_pause;
    }
    auto pause = world_.settings.pull_interval;
    const auto soon = soon_.extract(project);
    const auto ids = asked_for(project, soon ? soon.mapped() : std::set<TaskId>());
    bool open = false;
    std::string unknown;
    for (auto next = ids.begin(); next != ids.end();) {
        std::vector<TaskId> some;
        std::vector<WantedPull> wanted;
        for (; next != ids.end() && some.size() < Forge::k_most_at_once; ++next) {
            const auto record = world_.tasks.awake(*next);
            if (!record) continue;  // deleted meanwhile
            some.push_back(*next);
            wanted.push_back(pulls::wanted(*record));
        }
        if (some.empty()) break;
        auto looked = co_await world_.forge.query_pulls(*place, std::move(wanted));
        if (!looked) co_return after_failure(project, looked.error());
        if (looked->pause) pause = std::max(pause, std::chrono::milliseconds(*looked->pause));
        for (std::size_t i = 0; i < some.size() && i < looked->answers.size(); ++i) {
            auto& answer = looked->answers[i];
            if (!answer) {
                unknown = "task " + some[i].value + ": " + answer.error().message;
                continue;
            }
            auto known = std::move(*answer);
            auto heard = co_await listen(*place, some[i], known);
            co_await apply(some[i], std::move(known), std::move(heard));
            const auto record = world_.tasks.awake(some[i]);
            open = open || (record && !store::has_ended(*record) && record->task.pr_url);
        }
    }
    failures_.erase(project);
    if (unknown.empty()) {
        problems_.erase(project);
    } else if (std::exchange(problems_[project], unknown) != unknown) {
        log::warn("pull requests", unknown, {{"project", project}});
    }
    // A closed pull request may be opened again, but that is not urgent.
    co_return open ? std::min(pause, k_longest_pause) : k_longest_pause;
}

std::chrono::milliseconds PullSync::after_failure(const std::string& project, const Error& error) {
    if (problems_[project] != error.message) log::warn("pull requests", error.message, {{"project", project}});
    problems_[project] = error.message;
    auto pause = world_.settings.pull_interval;
    for (int i = 0; i < failures_[project] && pause < k_longest_pause; ++i) pause *= 2;
    ++failures_[project];
    const auto asked = std::chrono::seconds(std::atoll(detail_of(error, "seconds").c_str()));
    return std::clamp<std::chrono::milliseconds>(asked, std::min(pause, k_longest_pause), k_longest_pause);
}

/// Waits for the forge before the task's turn begins: the task can be used meanwhile.
Awaitable<std::optional<PullSync::Heard>> PullSync::listen(ForgePlace place, TaskId id,
                                                           std::vector<PullRequest> known) {
    const auto record = world_.tasks.awake(id);
    if (!record || store::has_ended(*record)) co_return std::nullopt;
    const auto pull = pulls::own_of(*record, known);
    if (!pull || pull->state != PullState::open || pull->said.empty()) co_return std::nullopt;
    const auto& noted = record->pull_request;
    Heard heard{pull->number, said_at(*pull, record->comment_step, runner_.comments.counts(*record)), {}};
    if (noted && noted->number == pull->number && noted->said == heard.said) co_return std::nullopt;
    const auto again = deaf_until_.find(id);
    if (again != deaf_until_.end() && async::now() < again->second) co_return std::nullopt;
    const auto* project = world_.projects.find(record->task.project);
    if (!project) co_return std::nullopt;
    const auto registered = *project;
    auto threads = co_await world_.forge.threads(std::move(place), pull->number);
    if (!threads) {
        deaf_until_[id] = async::now() + k_pauses_after_left * world_.settings.pull_interval;
        log::warn("pull requests", threads.error().message, {{"task", id.value}});
        co_return std::nullopt;
    }
    deaf_until_.erase(id);
    heard.threads = std::move(*threads);
    co_await pulls::find_bases(world_, registered, heard.threads);
    co_return heard;
}

Result<void> PullSync::adopt(TaskRecord& record, const Heard& heard) {
    TRY(runner_.comments.adopt(record, heard.threads));
    record.pull_request->said = heard.said;
    return turns_.try_save(record);
}

Awaitable<void> PullSync::apply(TaskId id, std::vector<PullRequest> known, std::optional<Heard> heard) {
    auto turn = co_await runner_.transitions.begin_turn(id);
    if (!turn) co_return;
    auto& record = turn->record;
    if (record.merge && record.merge->unfinished()) co_return;  // the merge itself queries it
    auto pull = pulls::own_of(record, known);
    if (!pull) co_return;
    const auto before = record.pull_request;
    // The answer may be older than the end of the task. Only a closed pull request can be opened again.
    if (store::has_ended(record) && !(before && before->state == PullState::closed)) co_return;
    const bool adopted = !record.task.pr_url;
    if (pulls::note(record, *pull)) {
        if (!turns_.save(record)) co_return;
        if (adopted) world_.journal.write(record, "pr.adopted", {{"url", pull->url}});
        if (before) world_.journal.write(record, "pr.changed", fields_of(*pull));
    }
    if (heard && heard->number == pull->number && !store::has_ended(record)) {
        const auto adopted_threads = adopt(record, *heard);
        if (!adopted_threads) {
            deaf_until_[id] = async::now() + k_pauses_after_left * world_.settings.pull_interval;
            log::warn("pull requests", adopted_threads.error().message, {{"task", id.value}});
        }
    }
    const auto notices = record.notices;
    const auto followed = co_await follow_up(std::move(record), std::move(*pull));
    auto now = turns_.record_of(id);
    if (now && now->notices != notices) co_await turns_.show(*now);
    if (!followed) log::warn("pull requests", followed.error().message, {{"task", id.value}});
}

Awaitable<Result<void>> PullSync::follow_up(TaskRecord record, PullRequest pull) {
    if (store::has_ended(record) && pull.state == PullState::closed) co_return tell_of_end(std::move(record), pull);
    if (store::has_ended(record)) co_return reopened(std::move(record), pull);
    if (pull.state == PullState::closed) co_return co_await cancel(std::move(record), std::move(pull));
    if (pull.state == PullState::open) co_return co_await report_troubles(std::move(record), std::move(pull));
    const auto id = record.task.id;
    const auto now = async::now();
    if (const auto again = not_before_.find(id); again != not_before_.end() && now < again->second) {
        co_return Result<void>{};
    }
    not_before_[id] = now + k_pauses_after_left * world_.settings.pull_interval;
    auto by = caller_for(pull);
    const auto finished =
        co_await runner_.merges.finish_merged(std::move(record), std::move(pull), std::nullopt, std::move(by));
    if (finished) not_before_.erase(id);
    // Work that was left out has its notice. Every other failure is tried again.
    if (!finished && detail_of(finished.error(), "why") != "merged_without") co_return finished.error();
    co_return Result<void>{};
}

/// Raises, once, the notice that the task was cancelled with its pull request.
Result<void> PullSync::tell_of_end(TaskRecord record, const PullRequest& pull) {
    if (!record.pull_told.contains(k_cancelled) || !record.pull_told.insert(k_closed).second) return {};
    const auto& id = record.task.id.value;
    raise(world_, record, NoticeKind::pull_request,
          pulls::name_of(pull) + " was closed, so the task is cancelled; its work is kept (" + pull.url +
              ")\nTo leave it so: orange task ack " + id + "\nTo delete the task: orange task delete " + id,
          "orange task restore " + id + " --create", k_closed);
    return turns_.try_save(record);
}

Result<void> PullSync::reopened(TaskRecord record, const PullRequest& pull) {
    if (pull.state != PullState::open) return {};
    raise(world_, record, NoticeKind::pull_request,
          pulls::name_of(pull) + " was opened again, after the task was cancelled with it: " + pull.url,
          "orange task restore " + record.task.id.value + " --create", "reopened");
    return turns_.try_save(record);
}

Awaitable<Result<void>> PullSync::cancel(TaskRecord record, PullRequest pull) {
    const auto id = record.task.id;
    engine::Request request;
    request.goal = engine::Goal::cancelled;
    auto by = caller_for(pull);
    Edit nothing;
    // Saved with the transition: a daemon that ends before the notice is raised leaves it to the next one.
    auto marked = record;
    marked.pull_told.insert(k_cancelled);
    const auto cancelled =
        co_await runner_.transitions.request(std::move(marked), request, std::move(by), std::move(nothing));
    CO_TRY(record, turns_.record_of(id));
    if (cancelled) co_return tell_of_end(std::move(record), pull);
    if (!record.pull_told.insert(k_closed).second) co_return Result<void>{};
    raise(world_, record, NoticeKind::pull_request,
          pulls::name_of(pull) + " was closed, and the task cannot be cancelled by itself: " +
              std::string(first_line(cancelled.error().message)),
          "orange task cancel " + id.value, k_closed);
    co_return turns_.try_save(record);
}

bool PullSync::is_for_agent(const TaskRecord& record) const {
    if (record.task.pr_feedback) return *record.task.pr_feedback == "agent";
    const auto* project = world_.projects.find(record.task.project);
    return project && *settings_of(world_, *project).pr_feedback == "agent";
}

Awaitable<Result<void>> PullSync::report_troubles(TaskRecord record, PullRequest pull) {
    PullComments comments;
    if (!pull.said.empty()) {
        const auto list = runner_.comments.read(record);
        if (list) comments = comments_in(*list, record.comment_step);
    }
    auto troubles = troubles_of(record, pull, comments);
    const auto text = pulls::name_of(pull) + ": " + join(troubles.all, ", ");
    const auto returns = std::count_if(troubles.told.begin(), troubles.told.end(), is_return);
    const auto definition = turns_.definition_of(record.task);
    const bool back = definition && engine::rejection_target(**definition, record.task);
    // Comments that came while the task could not go back are sent as soon as it can.
    const bool waits = back && comments.drafts > 0 && pull.review == PullReview::changes_requested;
    if ((troubles.is_for_worker || waits) && is_for_agent(record) && returns < k_most_returns) {
        auto told = troubles.told;
        told.insert(k_return + pull.commit);
        CO_TRY(const auto given, co_await give_to_worker(record, pull, text, std::move(told)));
        if (given) co_return Result<void>{};
    }
    const auto before = record;
    record.pull_told = std::move(troubles.told);
    const bool standing = engine::find_notice(record, NoticeKind::pull_request) != nullptr;
    if (troubles.all.empty() && standing) (void)clear(record, NoticeKind::pull_request);
    if (!troubles.all.empty() && (standing || !troubles.news.empty())) {
        const auto& id = record.task.id.value;
        // If merges stay on this machine, update-branch would bring commits that origin does not have.
        const auto* project = world_.projects.find(record.task.project);
        const bool only_conflicts = pull.conflicts && troubles.all.size() == 1 && project &&
                                    merges_of(world_, *project) == git::MergesTo::origin;
        const auto reading = "orange comments " + id;
        auto command = "orange task show " + id;
        if (only_conflicts) {
            command = "orange task update-branch " + id;
        } else if (back) {
            command = "orange task reject " + id + (comments.drafts > 0 ? "" : " \"...\"");
        } else if (comments.drafts > 0) {
            command = reading;
        }
        raise(world_, record, NoticeKind::pull_request,
              text + " (" + pull.url + ")" + (comments.drafts > 0 ? "\nTo read the comments: " + reading : ""),
              std::move(command), "open");
    }
    if (record == before) co_return Result<void>{};
    co_return turns_.try_save(record);
}

/// Returns true if the workflow let the task go back to its worker, which reads the feedback in TASK.md. Otherwise a
/// living worker gets the feedback as a message, and the human is informed, too.
Awaitable<Result<bool>> PullSync::give_to_worker(TaskRecord& record, PullRequest pull, std::string what,
                                                 std::set<std::string> told) {
    const auto definition = turns_.definition_of(record.task);
    const auto* back = definition ? engine::rejection_target(**definition, record.task) : nullptr;
    const auto* project = world_.projects.find(record.task.project);
    if (!project) co_return false;
    CO_TRY(const auto place, co_await pulls::place_of(world_, *project));
    const auto remarks = co_await world_.forge.remarks(place, pull.number);
    if (!remarks) {  // the human gets the notice instead
        log::warn("pull requests", remarks.error().message, {{"task", record.task.id.value}});
        co_return false;
    }
    if (!pull.said.empty() && !(record.pull_request && record.pull_request->said.starts_with(pull.said + " "))) {
        co_return false;  // the threads could not be read: the worker would miss what was said about lines
    }
    const auto feedback = pulls::feedback_text(what, pull, *remarks);
    if (back) {
        engine::Request request;
        request.to = back->name;
        auto sent = record;
        sent.pull_told = std::move(told);
        Edit edit;
        edit.feedback = feedback;  // the comments of the pull request are sent with it
        auto by = caller_for(pull);
        const auto moved =
            co_await runner_.transitions.request(std::move(sent), request, std::move(by), std::move(edit));
        if (moved) co_return true;
        CO_TRY(record, turns_.record_of(record.task.id));  // the attempt may have saved changes
    }
    if (record.run_of(Role::worker)) {
        const auto file = world_.tasks.folder(record) / "run" / ("feedback-" + random_id(6) + ".md");
        CO_TRY(world_.files.replace(file, feedback));
        add_message(world_, record, Role::worker, Role::system,
                    what + ". Read " + file.string() + ", and deal with what it reports");
    }
    co_return false;
}

}  // namespace orange

#include "daemon/runner/queue/capacity.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <tuple>

#include "daemon/engine/notices.hpp"
#include "daemon/engine/start.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

constexpr const char *k_workspace = "workspace", *k_harness = "harness", *k_memory = "memory", *k_login = "login",
                     *k_resume = "resume", *k_executor = "executor", *k_budget = "budget";
/// The pressure is read once in this time, because a list queries it for each of its tasks.
constexpr std::chrono::seconds k_pressure_holds{1};
/// An executor that needs longer to begin an agent holds up no others.
constexpr std::chrono::milliseconds k_executor_start{30'000};

queue::Resource role_resource(Role role, const std::string& project) {
    return {name_text(role), project};
}

bool has_begun(const TaskRecord& record) {
    return !record.held.empty();
}

/// Returns the time since which a task is in the queue: the number that gives the order is a time, too.
Timestamp queued_since(const TaskRecord& record) {
    return Timestamp(std::chrono::milliseconds(record.queued_seq));
}

/// Returns a text such as "until 11:36, goes on at 08:00".
std::string spoken_pause(const UsagePause& pause, Timestamp now) {
    const bool is_over = pause.limit_until <= now;
    auto text = is_over ? std::string("is over") : "until " + spoken_time(pause.limit_until, now);
    if (!pause.until) return text + (is_over ? "" : ", then it waits for you");
    return *pause.until == pause.limit_until ? text : text + ", goes on at " + spoken_time(*pause.until, now);
}

}  // namespace

std::string Capacity::harness_of(const TaskRecord& record, Role role) const {
    const auto definition = turns_.definition_of(record.task);
    if (!definition) return role == Role::reviewer ? record.task.review_harness : record.task.harness;
    const auto status = engine::next_status(**definition, record.task, record.start);
    return orange::harness_of(world_, **definition, record.task, role, status);
}

Capacity::Resources Capacity::agent_needs(const TaskRecord& record, Role role) const {
    Resources needs = {{k_memory, {}}};
    const queue::Resource harness{k_harness, harness_of(record, role)};
    // No limit of agents holds what starts in or after a status that waits for its human: an answer lets it go on.
    const bool unlimited =
        waits_for_human(record, record.task.status) || (record.intent && waits_for_human(record, record.intent->from));
    if (!unlimited) needs.push_back(role_resource(role, record.task.project));
    if (!unlimited || hold_of(harness)) needs.push_back(harness);
    if (!record.left.empty()) needs.push_back({k_executor, record.left.front().executor});
    if (!runner_.budgets.may_begin(record)) needs.push_back({k_budget, record.task.id.value});
    return needs;
}

Capacity::Resources Capacity::held_needs(const TaskRecord& record) const {
    Resources needs;
    for (const auto& start : record.held) {
        const auto* run = record.run_of(start.role);
        if (run && !run->ending) continue;  // it runs, and only the record's wait is not removed yet
        for (auto& need : agent_needs(record, start.role)) needs.push_back(std::move(need));
        if (is_paused(record, start.role, start.since)) needs.push_back({k_resume, {}});
        needs.push_back({k_login, harness_of(record, start.role)});
    }
    return needs;
}

Capacity::Resources Capacity::queued_needs(const TaskRecord& record, Role role) const {
    auto needs = agent_needs(record, role);
    if (record.queued && is_paused(record, role, queued_since(record))) needs.push_back({k_resume, {}});
    return needs;
}

std::optional<UsagePause> Capacity::pause_of(const TaskRecord& record, Role role, Timestamp since) const {
    return runner_.usage.pause_of(harness_of(record, role), record.task.project, since);
}

bool Capacity::is_paused(const TaskRecord& record, Role role, Timestamp since) const {
    const auto pause = pause_of(record, role, since);
    return pause && pause->limit_until <= world_.clock.now();
}

bool Capacity::is_paused(const TaskRecord& record) const {
    for (const auto& start : record.held) {
        if (is_paused(record, start.role, start.since)) return true;
    }
    const auto role = record.queued ? role_of(record) : std::nullopt;
    return role && is_paused(record, *role, queued_since(record));
}

/// Returns the agent that a task in the queue starts: with its start, or with its step when all sub-tasks are done.
std::optional<Role> Capacity::role_of(const TaskRecord& record) const {
    const auto definition = turns_.definition_of(record.task);
    if (!definition) return std::nullopt;
    const auto* state = (*definition)->state(record.task.status);
    const bool waits = state && state->children;
    return engine::first_agent(**definition, record.task, waits ? state->children->when_commits : record.start);
}

/// Returns the agent that a transition under way is about to start, so that its slot is not given away meanwhile.
std::optional<Role> Capacity::about_to_start(const TaskRecord& record) const {
    if (!record.intent) return std::nullopt;
    const auto definition = turns_.definition_of(record.task);
    const auto* state = definition ? (*definition)->state(record.task.status) : nullptr;
    const auto agent = state ? engine::agent_of(**definition, *state) : std::nullopt;
    if (!agent || record.held_start(*agent) || !takes_place(record, *agent)) return std::nullopt;
    const auto* run = record.run_of(*agent);
    return run && !run->ending ? std::nullopt : agent;
}

/// A run takes a place unless its task waits for its human: by its status, or because the agent has shown a dialog for
/// `idle_after`.
bool Capacity::takes_place(const TaskRecord& record, Role role) const {
    if (waits_for_human(record, record.task.status)) return false;
    const auto definition = turns_.definition_of(record.task);
    if (definition && !engine::is_at_work(**definition, record.task, role)) return false;
    const auto* dialog = engine::find_notice(record, NoticeKind::agent_dialog);
    if (!dialog || dialog->cause != name_of(role)) return true;
    const auto* project = world_.projects.find(record.task.project);
    const auto patience = std::chrono::seconds(*settings_of(world_, project ? *project : Project{}).idle_after);
    return world_.clock.now() - dialog->since < patience;
}

bool Capacity::waits_for_human(const TaskRecord& record, const std::string& status) const {
    const auto definition = turns_.definition_of(record.task);
    return definition && engine::waits_for_human(**definition, status);
}

/// Returns the resources that a task's agents use, including agents that are being started.
Capacity::Resources Capacity::running_of(const TaskRecord& record) const {
    std::set<Role> roles;
    std::map<Role, std::string> programs;  // of running agents: the task's may have changed
    const auto definition = turns_.definition_of(record.task);
    for (const auto& run : record.runs) {
        // An agent that a transition is ending keeps its slot until it has gone.
        if (run.ending ? !record.intent : !takes_place(record, run.role)) continue;
        roles.insert(run.role);
        programs[run.role] = run.harness;
    }
    if (const auto role = about_to_start(record)) roles.insert(*role);
    for (const auto& [task, role] : promised_) {
        if (task != record.task.id) continue;
        if (takes_place(record, role)) roles.insert(role);
    }
    if (starting_.contains(record.task.id)) {
        for (const auto& start : record.held) roles.insert(start.role);
        const auto* state = definition ? (*definition)->state(record.task.status) : nullptr;
        const auto agent = state ? engine::agent_of(**definition, *state) : std::nullopt;
        if (agent && takes_place(record, *agent)) roles.insert(*agent);
        if (state && (state->meaning == engine::Meaning::initial || state->children)) {
            if (const auto role = role_of(record)) roles.insert(*role);
        }
    }
    Resources taken;
    for (const Role role : roles) {
        taken.push_back(role_resource(role, record.task.project));
        const auto program = programs.find(role);
        taken.push_back({k_harness, program == programs.end() ? harness_of(record, role) : program->second});
    }
    return taken;
}

std::map<queue::Resource, int> Capacity::running() const {
    auto tasks = world_.tasks.runs().tasks();
    tasks.insert(starting_.begin(), starting_.end());
    for (const auto& [id, role] : promised_) tasks.insert(id);
    std::map<queue::Resource, int> running;
    for (const auto& id : tasks) {
        const auto record = world_.tasks.awake(id);
        if (!record) continue;
        for (const auto& resource : running_of(*record)) ++running[resource];
    }
    return running;
}

/// Returns the limit of a resource; 0: there is none.
int Capacity::limit_of(const queue::Resource& resource) const {
    if (resource.what == k_harness) {
        const auto found = world_.settings.harness_limits.find(resource.of);
        return found == world_.settings.harness_limits.end() ? 0 : found->second;
    }
    const auto* project = world_.projects.find(resource.of);
    if (!project) return 0;
    const auto& defaults = world_.settings.project_defaults;
    if (resource.what == name_of(Role::worker)) {
        const auto general = defaults.worker_limit.value_or(*standard_settings().worker_limit);
        return project->settings.worker_limit.value_or(general);
    }
    const auto general = defaults.reviewer_limit.value_or(*standard_settings().reviewer_limit);
    return project->settings.reviewer_limit.value_or(general);
}

std::optional<UsageHold> Capacity::hold_of(const queue::Resource& resource) const {
    return resource.what == k_harness ? runner_.usage.of(resource.of) : std::nullopt;
}

std::chrono::milliseconds Capacity::login_time(const std::string& harness) const {
    const auto entry = world_.harnesses.find(harness);
    return entry ? entry->harness.ready_after : std::chrono::milliseconds(0);
}

bool Capacity::is_logging_in(const std::string& harness) const {
    const auto time = login_time(harness);
    if (time.count() == 0) return false;
    const auto now = world_.clock.now();
    for (const auto& id : world_.tasks.runs().tasks()) {
        const auto record = world_.tasks.awake(id);
        for (const auto& run : record ? record->runs : std::vector<AgentRun>()) {
            // If the clock was set back, the agent was started in what is the future now.
            const auto age = now - run.began_at();
            if (!run.has_begun() && run.place->queued_since) continue;  // it may wait for hours
            const auto until = run.has_begun() ? time : k_executor_start;
            if (run.harness == harness && (run.pid == 0 || (age >= age.zero() && age < until))) return true;
        }
    }
    return std::ranges::any_of(promised_, [&](const auto& promise) {
        const auto record = world_.tasks.awake(promise.first);
        return record && harness_of(*record, promise.second) == harness;
    });
}

int Capacity::high_pressure() const {
    const auto now = async::now();
    if (!pressure_at_ || now - *pressure_at_ > k_pressure_holds) {
        pressure_at_ = now;
        pressure_ = 0;
        const auto text = world_.files.read(pressure_file_);
        constexpr std::string_view k_average = "full avg10=";
        const auto at = text ? text->find(k_average) : std::string::npos;
        if (at != std::string::npos) pressure_ = std::atoi(text->c_str() + at + k_average.size());
    }
    return pressure_ >= world_.settings.start_pressure ? pressure_ : 0;
}

/// Returns how many are left of a resource; nullopt: it has no limit.
std::optional<int> Capacity::left_of(const queue::Resource& resource, int running) const {
    if (resource.what == k_executor || resource.what == k_budget) return 0;
    if (resource.what == k_memory) return high_pressure() > 0 ? std::optional(0) : std::nullopt;
    if (resource.what == k_resume || hold_of(resource)) return 0;
    if (resource.what == k_login) {
        if (login_time(resource.of).count() == 0) return std::nullopt;
        return is_logging_in(resource.of) ? 0 : 1;
    }
    const int limit = limit_of(resource);
    return limit > 0 ? std::optional(limit - running) : std::nullopt;
}

bool Capacity::is_limited() const {
    if (!world_.tasks.held().empty()) return true;
    if (!world_.tasks.any_queued()) return false;
    if (runner_.usage.any() || runner_.budgets.any() || high_pressure() > 0) return true;
    if (!world_.settings.harness_limits.empty()) return true;
    return std::ranges::any_of(world_.projects.list(), [&](const Project& project) {
        return limit_of(role_resource(Role::worker, project.name)) > 0 ||
               limit_of(role_resource(Role::reviewer, project.name)) > 0;
    });
}

queue::Candidate Capacity::pending(const TaskRecord& record) const {
    queue::Candidate waiting{record.task.id, {}, starting_.contains(record.task.id)};
    const bool wants_workspace = record.attempts.empty() && !world_.pool.has_claim(record.task.id);
    if (wants_workspace) waiting.needs.push_back({k_workspace, record.task.project});
    if (const auto role = role_of(record)) {
        for (auto& need : queued_needs(record, *role)) waiting.needs.push_back(std::move(need));
    }
    return waiting;
}

/// Tasks that have begun come first, since they hold a workspace until they end.
queue::Snapshot Capacity::snapshot() const {
    queue::Snapshot snapshot;
    std::vector<std::tuple<bool, std::int64_t, TaskId>> order;  // a task that has begun first, then by age
    for (const auto& id : world_.tasks.held()) {
        const auto record = world_.tasks.awake(id);
        order.emplace_back(false, record->held.front().since.time_since_epoch().count(), id);
    }
    for (const auto& project : world_.projects.list()) {
        auto& free = snapshot.room[{k_workspace, project.name}];
        free = world_.pool.free(project);
        for (const auto& id : world_.tasks.queue(project.name)) {
            order.emplace_back(true, world_.tasks.awake(id)->queued_seq, id);
        }
    }
    std::ranges::sort(order);
    for (const auto& [begins, age, id] : order) {
        const auto record = world_.tasks.awake(id);
        snapshot.waiting.push_back(begins ? pending(*record)
                                          : queue::Candidate{id, held_needs(*record), starting_.contains(id)});
    }
    for (const auto& id : starting_) {
        const auto record = world_.tasks.awake(id);
        if (!record || has_begun(*record) || world_.pool.has_claim(id)) continue;
        --snapshot.room[{k_workspace, record->task.project}];
    }
    auto running = this->running();
    for (const auto& waiting : snapshot.waiting) {
        for (const auto& need : waiting.needs) {
            if (need.what != k_workspace) running[need] += 0;
        }
    }
    for (const auto& [resource, count] : running) {
        if (const auto left = left_of(resource, count)) snapshot.room[resource] = *left;
    }
    return snapshot;
}

bool Capacity::may_start(const TaskRecord& record, Role role) const {
    if (!runner_.budgets.may_begin(record)) return false;  // it may have been used up since the start began
    if (starting_.contains(record.task.id)) return true;
    const auto definition = turns_.definition_of(record.task);
    if (definition && !engine::is_at_work(**definition, record.task, role)) return true;
    const auto needs = agent_needs(record, role);
    if (std::ranges::none_of(needs, [&](const auto& need) { return left_of(need, 0).has_value(); })) return true;
    auto snapshot = this->snapshot();
    const queue::Candidate self{record.task.id, needs, false};
    const auto place = std::ranges::find(snapshot.waiting, record.task.id, &queue::Candidate::id);
    if (place != snapshot.waiting.end()) {
        *place = self;
    } else {
        const auto begin = std::ranges::find_if(snapshot.waiting, [&](const queue::Candidate& waiting) {
            return !has_begun(*world_.tasks.awake(waiting.id));
        });
        snapshot.waiting.insert(begin, self);
    }
    for (const auto& need : needs) {
        const auto left = left_of(need, 0);
        if (left && !snapshot.room.contains(need)) snapshot.room[need] = *left;  // no running agent uses it
    }
    // running() may already count this agent: give its slot back.
    const auto saved = world_.tasks.awake(record.task.id);
    if (saved && about_to_start(*saved) == role && world_.tasks.runs().tasks().contains(record.task.id)) {
        for (const auto& need : needs) {
            if (need.what != k_memory && need.what != k_login && need.what != k_executor && need.what != k_budget &&
                !hold_of(need) && snapshot.room.contains(need))
                ++snapshot.room[need];
        }
    }
    const auto due = queue::due(snapshot);
    return std::ranges::find(due, record.task.id) != due.end();
}

/// Does not use snapshot(), because a list queries each of its tasks.
std::optional<StartWait> Capacity::wait_of(const TaskRecord& record) const {
    const bool begun = has_begun(record);
    if (!begun && (!record.queued || record.kept_back())) return std::nullopt;
    if (starting_.contains(record.task.id)) return std::nullopt;
    const auto role = begun ? record.held.front().role : role_of(record);
    if (!role) return std::nullopt;
    const auto needs = begun ? held_needs(record) : queued_needs(record, *role);
    if (needs.empty()) return std::nullopt;
    const bool limited = std::ranges::any_of(needs, [&](const auto& need) { return left_of(need, 0).has_value(); });
    const auto* project = world_.projects.find(record.task.project);
    if (!begun && (!limited || !project || (!world_.pool.has_claim(record.task.id) && world_.pool.free(*project) <= 0)))
        return std::nullopt;
    const auto running = this->running();
    const auto count = [&](const queue::Resource& need) {
        const auto found = running.find(need);
        return found == running.end() ? 0 : found->second;
    };
    const auto full = std::ranges::find_if(needs, [&](const queue::Resource& need) {
        const auto left = left_of(need, count(need));
        return left && *left <= 0;
    });
    if (full == needs.end() && !begun) return std::nullopt;
    StartWait wait;
    wait.role = *role;
    wait.harness = harness_of(record, *role);
    wait.place =
        begun ? held_place(record, full == needs.end() ? needs : Resources{*full}) : world_.tasks.queue_place(record);
    if (full == needs.end()) {
        wait.reason = "order";
        wait.text = "waits for a " + name_text(*role) + " (place " + std::to_string(wait.place) + ")";
        return wait;
    }
    const auto since = begun ? record.held.front().since : queued_since(record);
    explain(wait, *full, count(*full), pause_of(record, *role, since));
    return wait;
}

/// Explains in `wait` which resource has no room for the agent, and until when.
void Capacity::explain(StartWait& wait, const queue::Resource& full, int running,
                       const std::optional<UsagePause>& pause) const {
    const bool resumes = full.what == k_resume;
    if (full.what == k_executor) {
        wait.reason = "executor";
        wait.text = "waits until " + full.of + " has ended the run before";
    } else if (full.what == k_budget) {
        const auto [sentence, command] = runner_.budgets.sentence_of(TaskId{full.of});
        wait.reason = "budget";
        wait.text = "waits, because " + sentence;
        wait.command = command;
    } else if (full.what == k_login) {
        wait.reason = "login";
        wait.text = "waits for " + wait.harness + " (another one starts)";
    } else if (full.what == k_memory) {
        wait.reason = "memory";
        wait.text = "waits because memory is short (" + std::to_string(high_pressure()) + " %)";
    } else if (pause && (resumes || hold_of(full))) {
        wait.reason = resumes ? "resume" : "usage_limit";
        wait.until = pause->until;
        wait.for_human = !pause->until;
        if (wait.for_human && !resumes) wait.until = pause->limit_until;
        wait.text = "waits for " + std::string(resumes && wait.for_human ? "you" : wait.harness) + " (usage limit " +
                    spoken_pause(*pause, world_.clock.now()) + ")";
    } else {
        const bool of_harness = full.what == k_harness;
        wait.limit = limit_of(full);
        wait.running = running;
        wait.reason = of_harness ? "harness_limit" : "role_limit";
        wait.text = "waits for " + (of_harness ? wait.harness : "a " + name_text(wait.role)) + " (" +
                    std::to_string(running) + " of " + std::to_string(wait.limit) + " run)";
    }
}

/// Returns the task's place among those that have begun and wait for one of the same resources.
std::int64_t Capacity::held_place(const TaskRecord& record, const Resources& for_one_of) const {
    std::int64_t place = 1;
    for (const auto& id : world_.tasks.held()) {
        const auto other = world_.tasks.awake(id);
        const auto needs = held_needs(*other);
        const bool same = std::ranges::any_of(
            needs, [&](const auto& need) { return std::ranges::find(for_one_of, need) != for_one_of.end(); });
        if (same && other->held.front().since < record.held.front().since) ++place;
    }
    return place;
}

std::string waits_sentence(const StartWait& wait, const std::string& project) {
    if (wait.reason == "budget") return "it " + wait.text + ". To raise the budget:\n  " + wait.command;
    if (wait.reason == "usage_limit") {
        return "it " + wait.text + (wait.for_human ? "" : " and starts by itself then") +
               ". If the limit has reset already:\n  orange daemon reload";
    }
    if (wait.reason == "resume") {
        return "it " + wait.text + (wait.for_human ? "" : " and starts by itself then") +
               ". To let all that the limit has held go on now:\n  orange daemon reload";
    }
    const auto command = command_for_more(wait, project);
    const auto place = wait.place > 1 && wait.reason != "order" ? ", at place " + std::to_string(wait.place) : "";
    return "it " + wait.text + place + (place.empty() ? "" : ",") + " and starts by itself when there is room" +
           (command.empty() ? "" : "\nTo let one more run:\n  " + command);
}

std::string command_for_more(const StartWait& wait, const std::string& project) {
    if (wait.reason != "role_limit") return {};
    return "orange project update " + project + " --set limits." + name_text(wait.role) + "=" +
           std::to_string(wait.limit + 1);
}

}  // namespace orange

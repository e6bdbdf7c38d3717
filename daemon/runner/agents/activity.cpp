#include "daemon/runner/agents/activity.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/orange_command.hpp"
#include "common/base/text.hpp"
#include "common/config/versions.hpp"
#include "daemon/engine/needs.hpp"
#include "daemon/engine/notices.hpp"
#include "daemon/engine/reminder.hpp"
#include "daemon/log/log.hpp"
#include "daemon/process/proc_info.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/runner.hpp"
#include "daemon/shim/exit_record.hpp"

namespace orange {
namespace {

/// The ids of the messages that end a usage limit begin with this; the run's id follows.
constexpr std::string_view k_go_on = "usage-limit-over-";
constexpr const char* k_go_on_text =
    "Your usage limit should have reset. Go on with your task where you stopped; read TASK.md again before you edit it";
/// An agent that is told to continue redraws its window within this time. If it shows a limit afterwards, the limit is
/// a new one.
constexpr auto k_shows_anew = std::chrono::seconds(10);

/// A program has drawn a state this long after it has reported it. Only then can its window contradict the event.
constexpr auto k_drawn_within = std::chrono::seconds(2);
/// A dialog has to be shown for this long although the program has reported none: the screen may only quote it.
constexpr auto k_dialog_stands = std::chrono::seconds(3);
/// The shim on another machine gives a sign every half minute. Slurm takes a node for failed after as long a silence.
constexpr std::chrono::seconds k_longest_silence = std::chrono::minutes(5);

/// True if another notice already asks the human to look at the agent's window.
bool is_told_otherwise(const TaskRecord& record) {
    return engine::find_notice(record, NoticeKind::agent_idle) != nullptr ||
           engine::find_notice(record, NoticeKind::message_undelivered) != nullptr;
}

std::string with_pid(std::string path, std::int64_t pid) {
    constexpr std::string_view k_pid = "{pid}";
    if (const auto at = path.find(k_pid); at != std::string::npos) path.replace(at, k_pid.size(), std::to_string(pid));
    return path;
}

/// A program may send no event when a human interrupts its turn or closes its dialog, when its API fails, and when it
/// begins a turn with a queued message. The state file and the title show that, also a title that shows no work. The
/// screen proves a closed dialog only if the prompt is visible: a dialog with unknown texts looks idle.
bool contradicts(const agents::Harness& harness, Activity told, const agents::Reading& shown) {
    if (shown.activity == Activity::unknown || shown.activity == told || told == Activity::limited) return false;
    if (shown.source == "file" || shown.source == "title" || shown.activity == Activity::waiting) return true;
    if (told == Activity::waiting && shown.activity == Activity::idle && !shown.composer) return false;
    return harness.events.screen_contradicts || (told != Activity::idle && !harness.titles.busy.empty());
}

}  // namespace

/// The process is searched for once. As long as it lives, later calls read its file directly.
agents::Activity Activities::told_by_file(const TaskRecord& record, const AgentRun& run,
                                          const agents::Harness& harness) {
    const auto& file = harness.state_file;
    if (file.path.empty()) return Activity::unknown;
    const auto env = runner_.agents.environment(record, harness.env, run.role, run.run);
    const auto home = env.find("HOME");
    const auto path = agents::below_home(file.path, home == env.end() ? std::string{} : home->second);
    auto& stating = known_of(record, run).stating;
    if (stating) {
        const auto text = world_.files.read(with_pid(path, stating->pid));
        if (text && process::start_time(stating->pid) == stating->start_time) return agents::activity_in(file, *text);
        stating.reset();
    }
    for (const auto pid : processes_.family_of(run.pid)) {
        const auto text = world_.files.read(with_pid(path, pid));
        if (!text) continue;
        const auto started = path.find("{pid}") != std::string::npos ? process::start_time(pid) : std::nullopt;
        if (started) stating = Stating{pid, *started};
        return agents::activity_in(file, *text);
    }
    return Activity::unknown;
}

Activities::WatchedRun& Activities::known_of(const TaskRecord& record, const AgentRun& run) {
    const auto [task, is_new] = known_.try_emplace(record.task.id);
    if (is_new) {
        const auto& with_runs = world_.tasks.runs().tasks();
        std::erase_if(known_, [&](const auto& each) { return &each != &*task && !with_runs.contains(each.first); });
    }
    auto& known = task->second[run.role];
    if (known.run == run.run && known.has_begun == run.has_begun()) return known;
    known = WatchedRun{};
    known.run = run.run;
    known.has_begun = run.has_begun();
    known.waited_until = run.began_at();
    known.recognised = world_.files.read(agents::rest_file(runner_.agents.run_folder(record), run.run)).has_value();
    return known;
}

agents::Statement Activities::told_by(const agents::Harness& harness, WatchedRun& known,
                                      const agents::Reading& shown) const {
    const auto& told = known.events.last();
    if (!contradicts(harness, told.activity, shown)) {
        known.contradicted_since.reset();
        known.in_doubt = false;
        return told;
    }
    const auto now = world_.clock.now();
    if (!known.contradicted_since) known.contradicted_since = now;
    const bool is_dialog = shown.activity == Activity::waiting;
    known.in_doubt =
        is_dialog ? now - *known.contradicted_since < k_dialog_stands : now - known.told_at < k_drawn_within;
    return known.in_doubt ? told : agents::Statement{};
}

Awaitable<Activities::WindowFacts> Activities::see(const TaskRecord& record, Role role) {
    WindowFacts sight;
    const auto* current = record.run_of(role);
    if (!current || current->pane_id.empty() || !current->has_begun()) co_return sight;
    const auto run = *current;
    const auto entry = world_.harnesses.find(run.harness);
    if (!entry) co_return sight;
    const auto& harness = entry->harness;
    const auto file = told_by_file(record, run, harness);
    const auto view = co_await world_.tmux.view_pane(run.pane_id);
    auto& known = known_of(record, run);
    if (harness.events.are_told()) {
        const auto path = agents::events_file(runner_.agents.run_folder(record), run.run);
        if (known.events.read(harness, world_.files, path)) {
            // The first events that a daemon reads may be old.
            if (known.events.last().asks) known.asked_at = known.said ? world_.clock.now() : run.began_at();
            known.said = true;
            known.told_at = world_.clock.now();
            known.contradicted_since.reset();
        }
    }
    const auto screen = view ? view->screen : std::string();
    const auto title = view ? view->title : std::string();
    sight.reading = agents::reading_of(harness, file, screen, title);
    if (view) {
        sight.screen = agents::resting_screen(screen);
        sight.styled = view->styled;
        sight.cursor = view->cursor;
        sight.touched_at = view->touched_at;
    }
    sight.text = screen;
    const bool composer = agents::prompt_on(harness, sight.styled, sight.cursor).state == agents::Prompt::State::empty;
    sight.reading.composer = composer;
    if (known.said) {
        const auto told = told_by(harness, known, sight.reading);
        sight.reading = agents::reading_of(harness, file, screen, title, told);
    }
    auto& reading = sight.reading;
    reading.composer = composer;
    known.recognised = known.recognised || known.said || reading.composer || reading.activity == Activity::busy;
    // A window in which nothing was ever recognised is no evidence.
    if (reading.by_default && !known.recognised) sight.reading = agents::Reading{};
    runner_.permits.look(record.task.id, run, reading, known.events);
    if (runner_.permits.waits(record.task.id, run.run)) reading.activity = Activity::waiting;
    co_return sight;
}

Awaitable<agents::Reading> Activities::read(const TaskRecord& record, Role role) {
    auto sight = co_await see(record, role);
    co_return std::move(sight.reading);
}

Awaitable<Activities::Window> Activities::look_before_typing(const TaskRecord& record, Role role) {
    auto sight = co_await see(record, role);
    Window window;
    window.reading = std::move(sight.reading);
    const auto* run = record.run_of(role);
    const auto entry = run ? world_.harnesses.find(run->harness) : Result<agents::HarnessEntry>(Error{});
    if (!entry || !sight.screen) co_return window;
    agents::RunFacts standing;
    standing.reads_input = reads_input(entry->harness, *run, known_of(record, *run));
    const auto patience = idle_times(world_, record, role).idle_after;
    // A negative age means that the clock was set back.
    const Timestamp::duration ago = sight.touched_at ? world_.clock.now() - *sight.touched_at : patience;
    standing.keys_lately = ago >= ago.zero() && ago < patience;
    window.keys_lately = standing.keys_lately;
    const auto prompt = agents::prompt_on(entry->harness, sight.styled, sight.cursor);
    window.typing = agents::typing_into(entry->harness, window.reading, prompt, standing);
    window.styled = std::move(sight.styled);
    co_return window;
}

std::optional<AgentActivity> Activities::of(const TaskRecord& record, Role role) const {
    const auto* run = record.run_of(role);
    const auto task = known_.find(record.task.id);
    if (!run || task == known_.end() || !runner_.agents.alive(record, role)) return std::nullopt;
    const auto found = task->second.find(role);
    if (found == task->second.end() || found->second.run != run->run) return std::nullopt;
    return found->second.seen;
}

bool Activities::is_refused(Retrying& retrying, const agents::Reading& reading) const {
    constexpr auto k_patience = std::chrono::seconds(20), k_pause = std::chrono::seconds(10);  // between two tries
    const auto now = world_.clock.now();
    if (!reading.retrying.empty()) {
        // Keep the first text: the later ones differ only in their counters.
        if (now - retrying.last > k_pause) retrying = {now, now, reading.retrying};
        retrying.last = now;
    }
    return now - retrying.last <= k_pause && now - retrying.since >= k_patience;
}

void Activities::note_rest(const TaskRecord& record, const AgentRun& run, const WatchedRun& known,
                           const WindowFacts& sight) const {
    const auto harness = world_.harnesses.find(run.harness);
    // Only a program without a better sign needs it: a prompt or events.
    if (!harness || agents::names_prompt(harness->harness) || known.said || !sight.screen) return;
    if (sight.reading.activity != Activity::idle || !known.seen || known.seen->activity != Activity::busy) return;
    const auto kept =
        world_.files.replace(agents::rest_file(runner_.agents.run_folder(record), run.run), "", Durability::atomic);
    if (!kept) log::warn("activity", kept.error().message, {{"task", record.task.id.value}});
}

void Activities::note(const TaskRecord& record, const AgentRun& run, WindowFacts sight) {
    auto& known = known_of(record, run);
    auto& reading = sight.reading;
    const bool is_new = !known.seen.has_value();
    const auto before = is_new ? Activity::unknown : known.seen->activity;
    const auto seen_since = is_new ? Timestamp{} : known.seen->since;
    const auto harness = world_.harnesses.find(run.harness);
    const bool blank = reading.activity == Activity::unknown && harness && harness->harness.otherwise_idle;
    if (reading.activity == Activity::waiting || blank) {
        known.worked_at.reset();
        known.waited_until = world_.clock.now();
    }
    if (reading.activity == Activity::busy) {
        known.worked_at = world_.clock.now();
        if (is_refused(known.retrying, reading)) {
            reading.activity = Activity::limited;
            reading.text = known.retrying.text;
        }
    }
    note_rest(record, run, known, sight);
    const bool changed = before != reading.activity;
    const auto now = world_.clock.now();  // earlier than `seen_since` if the clock was set back
    const auto since = changed || is_new ? now : std::min(seen_since, now);
    known.seen = AgentActivity{reading.activity, since, reading.source, reading.text};
    known.usage_limit = reading.usage_limit;
    if (reading.activity == Activity::waiting && harness) {
        known.dialog = agents::dialog_text(harness->harness, sight.text);
    }
    if (reading.activity == Activity::busy) {
        known.limit_counted = false;
        known.is_turn = true;
        known.unknown_error.clear();
    }
    known.resets = reading.resets;
    note_progress(known.progress, run, reading, patience_with(record));
    if (!changed && is_new) changed_(record.task.id);
    if (!changed) return;
    HistoryEvent event{"agent.activity", since, {}};
    event.fields = {{"role", name_text(run.role)},
                    {"run", run.run.value},
                    {"activity", name_text(reading.activity)},
                    {"source", reading.source}};
    if (reading.activity == Activity::waiting || reading.activity == Activity::limited) {
        event.fields["text"] = reading.text;
    }
    world_.journal.publish(record.task.id, record.task.project, std::move(event));
    changed_(record.task.id);
}

std::chrono::seconds Activities::patience_with(const TaskRecord& record) const {
    const auto* project = world_.projects.find(record.task.project);
    return std::chrono::seconds(*settings_of(world_, project ? *project : Project{}).hung_after);
}

void Activities::note_progress(Progress& progress, const AgentRun& run, const agents::Reading& reading,
                               std::chrono::seconds patience) {
    constexpr std::int64_t k_share = 10;  // a tenth of a processor; on a busy machine a command gets little
    constexpr auto k_least = std::chrono::milliseconds(500);
    const auto now = world_.clock.now();
    const bool is_new = progress.at == Timestamp{};
    if (is_new || reading.activity != Activity::busy || progress.shown != reading.shown) {
        const bool any = progress.any || (!is_new && reading.activity != Activity::unknown);
        progress = {reading.shown, now, 0, {}, any};
        return;
    }
    const bool first = progress.measured == async::Moment{};
    if (now - progress.at < (first ? patience / 2 : patience)) return;
    const auto measured = async::now();
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(measured - progress.measured);
    if (!first && passed < k_least) return;
    const auto cpu_ms = processes_.cpu_ms_of_commands(run);
    if (first) {
        progress.cpu_ms = cpu_ms;
        progress.measured = measured;
    } else if ((cpu_ms - progress.cpu_ms) * k_share > passed.count()) {  // on average: a spinner's share varies
        progress = {reading.shown, now, 0, {}, true};
    }
}

bool Activities::is_expected(const TaskRecord& record, const AgentRun& run) const {
    if (record.intent || record.stopped || record.asked) return false;
    const auto definition = turns_.definition_of(record.task);
    if (!definition || !engine::leads_on(**definition, record.task)) return false;
    return (*definition)->state(record.task.status)->agent == run.role;
}

Awaitable<void> Activities::note_silence(const TaskRecord& record, AgentRun run, std::optional<std::string> screen) {
    const auto patience = patience_with(record);
    {
        auto& known = known_of(record, run);
        const bool unread = known.seen && known.seen->activity == Activity::unknown;
        if (!unread || !screen || !is_expected(record, run)) {
            known.silence.end();
            co_return;
        }
        known.silence.saw(*screen, world_.clock.now());
        if (!known.silence.is_due(world_.clock.now(), patience)) co_return;
        known.silence.begin(world_.clock.now());
    }
    Traces traces;
    auto worktree = runner_.agents.worktree_of(record);
    auto task_file = worktree / record.task_file;
    traces.body_hash = record.body_hash;
    traces.changed = co_await last_change_in(world_.files, std::move(worktree), std::move(task_file));
    traces.cpu_ms = processes_.cpu_ms_of_all(run);
    traces.at = async::now();
    if (known(record, run) == nullptr) co_return;  // the run has ended meanwhile
    known_of(record, run).silence.found(*screen, traces, world_.clock.now(), patience);
}

Awaitable<FileTime> Activities::last_change_of(const TaskRecord& record) {
    auto worktree = runner_.agents.worktree_of(record);
    const auto git = world_.files.read(worktree / ".git");  // "gitdir: /repo/.git/worktrees/shop--1"
    constexpr std::string_view k_gitdir = "gitdir: ";
    FileTime commit{};
    if (git && git->starts_with(k_gitdir)) {
        const auto log =
            world_.files.facts_of(Path(trim(std::string_view(*git).substr(k_gitdir.size()))) / "logs/HEAD");
        if (log) commit = log->modified;
    }
    Path none;
    const auto files = co_await last_change_in(world_.files, std::move(worktree), std::move(none));
    co_return std::max(files, commit);
}

/// A definition may not know the errors of a newer program: then an error looks like the end of a turn.
Awaitable<void> Activities::note_turn(const TaskRecord& record, AgentRun run, std::string screen) {
    const auto entry = world_.harnesses.find(run.harness);
    if (!entry || entry->harness.measured.empty()) co_return;
    const auto version = runner_.versions.known(*entry, world_.base_environment);
    if (version.empty() || !is_older(entry->harness.measured, version)) co_return;
    const auto* before = known(record, run);
    if (before == nullptr || !before->seen) co_return;
    const bool is_over = before->seen->activity == Activity::idle && before->is_turn;
    if (before->left && !is_over) co_return;
    const auto changed = co_await last_change_of(record);
    if (known(record, run) == nullptr) co_return;  // the run has ended meanwhile
    Left now{changed, record.body_hash, record.task.updated_at};
    auto& seen = known_of(record, run);
    seen.is_turn = false;
    const bool is_news = is_over && seen.left == now && is_expected(record, run);
    seen.left = std::move(now);
    if (!is_news || !runner_.versions.is_first_report(run.harness, version)) co_return;
    seen.unknown_error =
        "the " + name_text(run.role) + " may have met an error that this definition does not know: " + run.harness +
        " " + version + " (measured with " + entry->harness.measured +
        ") ended a turn in which nothing changed. Its window:\n" + agents::last_lines(entry->harness, screen);
}

/// The notice is raised once, and is over when the agent works again.
void Activities::mark_unknown_error(TaskRecord& record) const {
    const auto* notice = engine::find_notice(record, NoticeKind::agent_unknown_error);
    for (const auto& run : record.runs) {
        const auto* seen = known(record, run);
        const auto name = name_text(run.role);
        if (seen == nullptr || !seen->seen) continue;
        if (notice && notice->cause == name && seen->seen->activity == Activity::busy) {
            (void)clear(record, NoticeKind::agent_unknown_error);
            return;
        }
        if (seen->unknown_error.empty()) continue;
        raise(world_, record, NoticeKind::agent_unknown_error, seen->unknown_error,
              "orange task attach " + record.task.id.value, name);
        return;
    }
}

bool Activities::is_in_doubt(const TaskRecord& record) const {
    const bool is_told = engine::find_notice(record, NoticeKind::agent_dialog) != nullptr;
    return std::ranges::any_of(record.runs, [&](const AgentRun& run) {
        const auto* seen = known(record, run);
        if (seen == nullptr) return false;
        const bool waits = seen->seen && seen->seen->activity == Activity::waiting;
        const bool is_put_off =
            waits && !is_told && !runner_.permits.waits(record.task.id, run.run);  // see is_asking()
        return seen->in_doubt || is_put_off;
    });
}

bool Activities::is_due(const TaskRecord& record) const {
    return is_in_doubt(record) || std::ranges::any_of(record.runs, [&](const AgentRun& run) {
               const auto* seen = known(record, run);
               return seen != nullptr && (seen->contradicted_since.has_value() ||
                                          seen->silence.is_due(world_.clock.now(), patience_with(record)));
           });
}

std::vector<Role> Activities::awaited(const TaskRecord& record) const {
    const auto definition = turns_.definition_of(record.task);
    const auto* state = definition ? (*definition)->state(record.task.status) : nullptr;
    if (state == nullptr) return {Role::worker};
    if (state->agent) return {*state->agent};
    std::vector<Role> roles;
    if (engine::is_for_agent(**definition, *state)) {
        for (const auto& run : record.runs) roles.push_back(run.role);
    }
    return roles;
}

std::string Activities::hang_of(const TaskRecord& record, Role role) const {
    const auto* run = record.run_of(role);
    const auto* known = run && runner_.agents.alive(record, role) ? this->known(record, *run) : nullptr;
    if (known == nullptr) return {};
    const auto patience = patience_with(record);
    const auto now = world_.clock.now();
    const auto name = name_text(role);
    if (!run->has_begun()) {
        if (now - std::max(run->spawned_at, known->queued_at) < patience) return {};
        return "executor " + run->place->executor + " has not begun the " + name + " for " + spoken(patience);
    }
    if (is_parted(*run, *known)) {
        const auto& place = run->place->place;
        const auto state = known->sign.state.value_or("");
        return "executor " + run->place->executor +
               (state.empty() ? " says nothing of an end" : " shows the run as " + printable(state)) +
               ", but orange-agent on " + (place.empty() ? "its machine" : place) + " has given no sign for " +
               spoken(k_longest_silence) +
               ": the run may be suspended, or the machine or its network may have failed. If it does not come back, "
               "start the " +
               name + " elsewhere";
    }
    if (!known->seen) return {};
    if (known->seen->activity == Activity::busy && now - known->progress.at >= patience) {
        return "the " + name + " seems to work, and has shown no progress for " + spoken(patience);
    }
    const bool was_touched = now - record.task.updated_at < patience;  // a human may have seen it since
    const bool is_silent = known->seen->activity == Activity::unknown && known->silence.is_silent();
    if (!is_silent || was_touched || is_told_otherwise(record)) return {};
    return "Orange cannot see what the " + name + " does. For " + spoken(patience) +
           " it has shown nothing new, used hardly any processor time and changed no file";
}

bool Activities::is_parted(const AgentRun& run, const WatchedRun& known) const {
    return run.has_begun() && !known.sign.text.empty() && world_.clock.now() - known.sign.at >= k_longest_silence;
}

void Activities::note_sign(const TaskRecord& record, const AgentRun& run) {
    if (!run.place || !run.place->is_elsewhere()) return;
    const auto folder = agents::Launcher::inner_folder(runner_.agents.run_folder(record), run.run);
    const auto text = world_.files.read(folder / k_inner_alive);  // none: its orange-agent is older, or has just begun
    auto& sign = known_of(record, run).sign;
    if (!text || text->empty() || *text == sign.text) return;
    sign = {*text, world_.clock.now(), !sign.text.empty()};
}

Awaitable<void> Activities::note_state(const TaskRecord& record, AgentRun run) {
    const auto* before = known(record, run);
    if (before == nullptr || !is_parted(run, *before) || before->sign.state) co_return;
    auto state = co_await runner_.placements.state_of(record.task.id, run);
    if (known(record, run) != nullptr) known_of(record, run).sign.state = std::move(state);
}

/// True if this daemon cannot say yet that the agent shows progress: then what an earlier daemon has said stands.
bool Activities::may_still_hang(const TaskRecord& record, Role role) const {
    const auto* run = record.run_of(role);
    const auto* known = run && runner_.agents.alive(record, role) ? this->known(record, *run) : nullptr;
    if (known == nullptr) return run && runner_.agents.alive(record, role);
    if (!run->has_begun() || !known->seen) return true;
    if (!known->sign.text.empty() && !known->sign.any) return true;
    if (known->seen->activity == Activity::busy) return !known->progress.any;
    return known->seen->activity == Activity::unknown && !known->silence.was_broken();
}

void Activities::mark_hung(TaskRecord& record) const {
    const auto* standing = engine::find_notice(record, NoticeKind::agent_hung);
    for (const Role role : awaited(record)) {
        auto text = hang_of(record, role);
        const bool is_earlier = standing && standing->cause == name_of(role) && standing->since < began_;
        if (text.empty() && is_earlier && may_still_hang(record, role)) return;
        if (text.empty()) continue;
        const auto* run = record.run_of(role);
        const auto* known = run ? this->known(record, *run) : nullptr;
        const auto* way_out = known && is_parted(*run, *known) ? "restart" : "attach";
        raise(world_, record, NoticeKind::agent_hung, std::move(text),
              task_command(way_out, record.task.id.value).text(), name_text(role));
        return;
    }
    (void)clear(record, NoticeKind::agent_hung);
}

void Activities::mark_as(TaskRecord& record, const std::vector<Role>& roles, NoticeKind kind, Activity activity,
                         const std::string& what) const {
    for (const Role role : roles) {
        const auto seen = of(record, role);
        if (!seen || seen->activity != activity) continue;
        const auto* run = record.run_of(role);
        if (activity == Activity::waiting && run && is_asking(record, *run)) continue;
        const auto name = name_text(role);
        auto says = seen->text;
        if (activity == Activity::waiting && seen->source != "events") {
            // The window of one dialog changes, for example while a person moves in it.
            const auto* standing = engine::find_notice(record, kind);
            if (standing != nullptr && standing->cause == name) return;
            const auto* known = run ? this->known(record, *run) : nullptr;
            if (known != nullptr && !known->dialog.empty()) says = known->dialog;
        }
        if (!says.empty()) says = ": " + says;
        raise(world_, record, kind, "the " + name + what + says, "orange task attach " + record.task.id.value, name);
        return;
    }
    (void)clear(record, kind);
}

const Activities::WatchedRun* Activities::known(const TaskRecord& record, const AgentRun& run) const {
    const auto task = known_.find(record.task.id);
    if (task == known_.end()) return nullptr;
    const auto found = task->second.find(run.role);
    return found != task->second.end() && found->second.run == run.run ? &found->second : nullptr;
}

bool Activities::has_taken(const TaskRecord& record, const AgentRun& run, const std::string& message) const {
    const auto* seen = known(record, run);
    return seen != nullptr && seen->events.has_taken(message);
}

bool Activities::began_since(const TaskRecord& record, const AgentRun& run, Timestamp time) const {
    const auto* seen = known(record, run);
    return seen != nullptr && seen->seen && seen->seen->activity == Activity::busy && seen->seen->since > time;
}

bool Activities::worked_since(const TaskRecord& record, const AgentRun& run, Timestamp time) const {
    const auto* seen = known(record, run);
    return seen != nullptr && seen->worked_at && *seen->worked_at > time;
}

bool Activities::reads_input(const agents::Harness& harness, const AgentRun& run, const WatchedRun& known) const {
    constexpr auto k_patience = std::chrono::seconds(10);
    if (!agents::tells_busy(harness) || known.worked_at) return true;
    const auto passed = world_.clock.now() - std::max(known.waited_until, run.began_at());
    return passed < passed.zero() || passed >= k_patience;
}

/// The limit of a harness is over when an agent that was at this limit has worked for a while. A limit that another
/// agent met later stays.
void Activities::lift(const AgentRun& run, const WatchedRun& seen) {
    const auto hold = runner_.usage.of(run.harness);
    if (!hold || !seen.limited_at || hold->since > *seen.limited_at) return;
    if (world_.clock.now() - seen.seen->since >= k_shows_anew) runner_.usage.lift(run.harness);
}

/// Updates the usage-limit notice, and returns true if the role is at a limit. When the limit ends, tells the agent
/// once to continue. If the agent still shows a limit some time later, it counts as a new one.
bool Activities::mark_usage_limit(TaskRecord& record, Role role, bool is_awaited) {
    const auto* run = record.run_of(role);
    if (!run || !known(record, *run) || !runner_.agents.alive(record, role)) return false;
    auto& seen = known_[record.task.id][role];
    if (!seen.seen) return false;
    const auto name = name_text(role);
    const auto* notice = engine::find_notice(record, NoticeKind::usage_limit);
    if (notice && notice->cause != name) notice = nullptr;
    if (seen.seen->activity == Activity::busy) {
        if (notice && !seen.limited_at) seen.limited_at = notice->since;  // an earlier daemon saw the limit
        lift(*run, seen);
    }
    if (seen.seen->activity != Activity::limited || !seen.usage_limit) return false;
    seen.limited_at = world_.clock.now();
    // An agent that rests may have met its limit long before this daemon sees it first. Such an old limit does not
    // count.
    const bool is_new = !std::exchange(seen.limit_counted, true) && !notice && (is_awaited || seen.worked_at);
    if (is_new) runner_.usage.add(run->harness, seen.resets);
    if (!is_awaited) return false;
    const auto now = *seen.limited_at;
    const auto id = std::string(k_go_on) + run->run.value;
    const auto is_it = [&](const Message& message) { return message.id.starts_with(id); };
    const auto told = std::find_if(record.typed.rbegin(), record.typed.rend(), is_it);
    const bool told_since =
        told != record.typed.rend() && *told->typed_at > (notice ? notice->since : seen.seen->since);
    if (told_since && now - *told->typed_at > k_shows_anew) runner_.usage.add(run->harness, seen.resets);
    const auto pause = pause_of(record, role, {});
    if (!pause) {  // the limit is over: the agent continues
        const bool waits = std::any_of(record.outbox.begin(), record.outbox.end(), is_it);
        if (!told_since && !waits) {
            add_message(world_, record, role, Role::system, k_go_on_text, false, id + "-" + to_rfc3339(now));
        }
        return true;
    }
    const auto attach = "orange task attach " + record.task.id.value;
    const auto go_on =
        "orange task send " + record.task.id.value + (role == Role::reviewer ? " --role reviewer" : "") + " \"Go on\"";
    if (pause->until) {
        raise_limit(record, role, *pause,
                    "the " + name + " is at its usage limit; Orange tells it to go on at " +
                        spoken_time(*pause->until, now) + ": " + seen.seen->text,
                    attach);
    } else if (pause->limit_until > now) {
        raise_limit(record, role, *pause,
                    "the " + name + " is at its usage limit until " + spoken_time(pause->limit_until, now) +
                        ", and then waits for you: " + seen.seen->text,
                    attach);
    } else {
        raise_limit(record, role, *pause, "the usage limit of the " + name + " is over; it goes on when you tell it to",
                    go_on);
    }
    return true;
}

bool Activities::mark_held_start(TaskRecord& record, const DeferredStart& start) const {
    const auto pause = pause_of(record, start.role, start.since);
    if (!pause || pause->until || pause->limit_until > world_.clock.now()) return false;
    raise_limit(record, start.role, *pause,
                "the usage limit of the " + name_text(start.role) + " is over; it starts when you start it",
                "orange task respawn " + record.task.id.value);
    return true;
}

/// The human gets one notice for each limit, and one for the end of a limit after which the agent waits for them.
void Activities::raise_limit(TaskRecord& record, Role role, const UsagePause& pause, std::string text,
                             std::string command) const {
    const auto name = name_text(role);
    const auto* notice = engine::find_notice(record, NoticeKind::usage_limit);
    const bool waits_for_human = !pause.until && pause.limit_until <= world_.clock.now();
    const auto told_of = waits_for_human ? pause.limit_until : pause.since;
    if (notice && notice->cause == name && told_of <= notice->since) return;
    (void)clear(record, NoticeKind::usage_limit);
    raise(world_, record, NoticeKind::usage_limit, std::move(text), std::move(command), name);
}

std::optional<UsagePause> Activities::pause_of(const TaskRecord& record, Role role, Timestamp since) const {
    const auto* run = record.run_of(role);
    if (run) return runner_.usage.pause_of(run->harness, record.task.project, since);
    const auto definition = turns_.definition_of(record.task);
    if (!definition) return std::nullopt;  // nothing of the task can go on
    const auto chosen = harness_of(world_, **definition, record.task, role, record.task.status);
    return runner_.usage.pause_of(chosen, record.task.project, since);
}

bool Activities::asks_to_resume(const TaskRecord& record) const {
    const auto* notice = engine::find_notice(record, NoticeKind::usage_limit);
    const auto role = notice ? role_from(notice->cause) : std::nullopt;
    const auto pause = role ? pause_of(record, *role, {}) : std::nullopt;
    return pause && !pause->until && pause->limit_until <= notice->since;
}

bool Activities::mark(TaskRecord& record) {
    const auto before = record;
    const auto roles = awaited(record);
    mark_as(record, {Role::reviewer, Role::worker}, NoticeKind::agent_dialog, Activity::waiting,
            " waits for an answer in its window");
    bool limited = false;
    std::vector<Role> others;  // if limited, for another reason
    for (const Role role : {Role::worker, Role::reviewer}) {
        const bool is_awaited = std::ranges::find(roles, role) != roles.end();
        const bool at_limit = mark_usage_limit(record, role, is_awaited);
        if (is_awaited && !at_limit) others.push_back(role);
        limited = limited || at_limit;
    }
    for (const auto& start : std::vector<DeferredStart>(record.held))
        limited = mark_held_start(record, start) || limited;
    if (!limited) (void)clear(record, NoticeKind::usage_limit);
    mark_as(record, others, NoticeKind::agent_cannot_work, Activity::limited, " cannot work");
    mark_unknown_error(record);
    mark_hung(record);
    runner_.permits.end_of_others(record);
    for (const auto& run : std::vector<AgentRun>(record.runs)) {
        if (const auto* seen = known(record, run))
            runner_.agents.learn_conversation(record, run, seen->events.conversation());
    }
    runner_.permits.settle(record, events_of(record));
    runner_.budgets.mark(record);
    keep_time(world_, turns_, record);
    runner_.tokens.mark(record, !(record == before));
    return record == before;
}

bool Activities::is_asking(const TaskRecord& record, const AgentRun& run) const {
    if (runner_.permits.waits(record.task.id, run.run)) return true;
    const auto* seen = known(record, run);
    if (seen == nullptr || !seen->events.last().asks) return false;
    return world_.clock.now() - seen->asked_at < k_dialog_stands;  // the call of its hook comes
}

void Activities::request_answered(const TaskRecord& record, Role role) {
    const auto* run = record.run_of(role);
    if (run == nullptr || known(record, *run) == nullptr) return;
    auto& known = known_of(record, *run);
    known.events.request_answered();
    known.contradicted_since.reset();  // its window still shows the dialog
}

Permits::EventsOf Activities::events_of(const TaskRecord& record) const {
    const auto task = known_.find(record.task.id);
    return [this, task](const RunId& id) -> const agents::EventReader* {
        if (task == known_.end()) return nullptr;
        for (const auto& [role, run] : task->second) {
            if (run.run == id) return &run.events;
        }
        return nullptr;
    };
}

Awaitable<void> Activities::look_at_agents(TaskRecord record) {
    bool any = false;
    for (const Role role : {Role::worker, Role::reviewer}) {
        const auto* current = record.run_of(role);
        if (!runner_.agents.alive(record, role)) continue;
        any = true;
        if (!current->has_begun()) {  // the window may show its executor
            auto& known = known_of(record, *current);
            if (current->place->queued_since) known.queued_at = world_.clock.now();
            continue;
        }
        note_sign(record, *current);
        co_await note_state(record, *current);
        auto sight = co_await see(record, role);
        const auto run = *record.run_of(role);
        auto screen = sight.screen;
        auto text = sight.text;
        note(record, run, std::move(sight));
        runner_.tokens.look(record, run, known_of(record, run).events);
        co_await note_turn(record, run, std::move(text));
        co_await note_silence(record, run, std::move(screen));
    }
    if (!any) known_.erase(record.task.id);
}

Awaitable<void> Activities::update(TaskId id) {
    const auto found = world_.tasks.awake(id);
    if (!found) co_return;
    auto record = *found;
    co_await look_at_agents(record);
    if (record.intent || mark(record)) co_return;
    auto turn = co_await turns_.begin_turn(id);
    if (turn && !turn->record.intent) mark_and_save(turn->record);
}

/// Notifies the human when a limit is over and agents wait for them. The attention mark does not show that: the task
/// already had it during the limit.
void Activities::mark_and_save(TaskRecord& record) {
    const bool asked = asks_to_resume(record);
    runner_.permits.tell_settled(record, events_of(record));
    if (mark(record)) return;
    const bool is_news = !asked && asks_to_resume(record);
    const std::string sentence = "a usage limit is over";
    if (is_news) record.to_tell = sentence;
    const bool is_saved = turns_.save(record);
    if (is_saved) {
        for (const auto& run : record.runs) {
            if (known(record, run) != nullptr) known_of(record, run).unknown_error.clear();
        }
    }
    if (is_saved && is_news) world_.journal.write(record, "notification", {{"message", sentence}});
}

void Activities::end_times_at(Timestamp now) {
    const auto end = [now](Timestamp& time) { time = std::min(time, now); };
    end(began_);
    for (auto& [id, runs] : known_) {
        for (auto& [role, run] : runs) {
            if (run.seen) end(run.seen->since);
            for (auto* time : {&run.contradicted_since, &run.limited_at, &run.worked_at}) {
                if (*time) end(**time);
            }
            for (auto* time : {&run.told_at, &run.progress.at, &run.sign.at, &run.queued_at, &run.retrying.since,
                               &run.retrying.last, &run.waited_until}) {
                end(*time);
            }
            run.silence.end_times_at(now);
        }
    }
}

void Activities::close(TaskRecord& record, Role role) {
    const auto* run = record.run_of(role);
    const auto is_of_run = [&](const PermitAnswer& answer) { return run != nullptr && answer.run == run->run; };
    if (run != nullptr && std::ranges::any_of(record.permits_answered, is_of_run)) {
        const auto entry = world_.harnesses.find(run->harness);
        const auto path = agents::events_file(runner_.agents.run_folder(record), run->run);
        if (entry) (void)known_of(record, *run).events.read(entry->harness, world_.files, path);
        runner_.permits.tell_settled(record, events_of(record));
        runner_.permits.settle(record, events_of(record));
    }
    std::erase_if(record.runs, [role](const AgentRun& each) { return each.role == role; });
    runner_.permits.tell_settled(record, events_of(record));
    runner_.permits.settle(record, events_of(record));
    runner_.permits.end_of_others(record);
}

Awaitable<void> Activities::update_in_turn(TaskRecord& record) {
    co_await look_at_agents(record);
    if (!record.intent) mark_and_save(record);
}

}  // namespace orange

#include "daemon/runner/agents/token_use.hpp"

#include <algorithm>
#include <utility>

#include "daemon/engine/notices.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

using namespace std::chrono_literals;

constexpr auto k_save_again = 60s, k_tell_again = 10s;
/// The pause between two pieces of a file that has grown by much, in which others have the loop.
constexpr auto k_between_pieces = 20ms;
/// A run that ended earlier has asked its model for nothing, if its program has told nothing.
constexpr auto k_least_run = 5s;

std::int64_t counted_in(const std::vector<UsageRow>& rows) {
    std::int64_t sum = 0;
    for (const auto& row : rows) sum += row.tokens.counted();
    return sum;
}

/// Returns nothing if there is no row: then nothing is known.
std::optional<Tokens> sum_of(const std::vector<UsageRow>& rows) {
    std::optional<Tokens> sum;
    for (const auto& row : rows) {
        if (!sum) sum.emplace();
        *sum += row.tokens;
    }
    return sum;
}

/// Returns the row of a run whose program has told nothing: that is not 0.
UsageRow untold_by(const AgentRun& run) {
    UsageRow row{day_of(run.began_at()), run.role, run.harness, run.model, {}};
    row.untold = 1;
    return row;
}

void add_new(std::vector<std::string>& all, const std::vector<std::string>& more) {
    for (const auto& each : more) {
        if (std::ranges::find(all, each) == all.end()) all.push_back(each);
    }
}

}  // namespace

void add_fields(std::map<std::string, Scalar>& fields, const Tokens& used) {
    fields["requests"] = used.requests;
    fields["tokens_input"] = used.input;
    fields["tokens_cache_read"] = used.cache_read;
    fields["tokens_cache_write"] = used.cache_write;
    fields["tokens_output"] = used.output;
}

TokenUse::TokenUse(Runner& runner) : Owner(runner) {
    world_.tasks.observe([this](const TaskId& id) { saved(id); });
}

TokenUse::Reading& TokenUse::reading_of(const TaskRecord& record, const AgentRun& run) {
    auto& runs = readings_[record.task.id];
    const auto found = runs.find(run.run);
    if (found != runs.end()) return found->second;
    auto& reading = runs[run.run];
    const auto harness = world_.harnesses.find(run.harness);
    if (harness) reading.env = runner_.agents.environment(record, harness->harness.env, run.role, run.run);
    if (run.usage) {
        reading.told = reading.counted = run.usage->files;
        reading.usage = *run.usage;
    }
    reading.base = counted_in(reading.usage.rows);
    reading.base_at = run.usage ? run.usage->read_at : run.began_at();
    return reading;
}

const TokenUse::Reading* TokenUse::known_reading(const TaskRecord& record, const AgentRun& run) const {
    const auto task = readings_.find(record.task.id);
    if (task == readings_.end()) return nullptr;
    const auto found = task->second.find(run.run);
    return found == task->second.end() ? nullptr : &found->second;
}

void TokenUse::look_at_all(const TaskRecord& record) {
    for (const auto& run : record.runs) {
        const auto harness = world_.harnesses.find(run.harness);
        if (!harness || (run.usage && run.usage->is_settled)) continue;
        agents::EventReader events;
        events.read(harness->harness, world_.files, agents::events_file(runner_.agents.run_folder(record), run.run));
        look(record, run, events);
    }
}

void TokenUse::look(const TaskRecord& record, const AgentRun& run, const agents::EventReader& events) {
    const auto harness = world_.harnesses.find(run.harness);
    if (!harness || !harness->harness.usage.are_told()) return;
    auto& reading = reading_of(record, run);
    add_new(reading.told, events.told_files());
    add_new(reading.ids, events.told_ids());
    if (reading.is_catching_up || !read_piece(record, run, harness->harness, reading)) return;
    reading.is_catching_up = true;
    async::spawn(world_.executor, "usage", catch_up(record.task.id, run.run));
}

/// Returns true if there is more to read. The reader begins at the beginning of each file, so the sums of an earlier
/// daemon stay until it has come to the end.
bool TokenUse::read_piece(const TaskRecord& record, const AgentRun& run, const agents::Harness& harness,
                          Reading& reading) {
    if (const auto* session = record.session_of(run.role); session && session->harness == run.harness)
        add_new(reading.ids, {session->id});
    const auto folder = runner_.agents.run_folder(record);
    agents::UsageSource source{harness,
                               reading.env,
                               folder,
                               agents::Launcher::talk_folder(folder),
                               run.run,
                               run.began_at(),
                               world_.clock.now(),
                               reading.ids,
                               reading.told};
    source.counted = reading.counted;
    const bool is_more = reading.reader.read(world_.files, source);
    note(record, run, harness, reading, !is_more);
    return is_more;
}

Awaitable<void> TokenUse::catch_up(TaskId id, RunId run_id) {
    for (;;) {
        co_await async::sleep(k_between_pieces);
        const auto record = world_.tasks.awake(id);
        if (!record) co_return;
        const auto run = std::ranges::find(record->runs, run_id, &AgentRun::run);
        if (run == record->runs.end()) co_return;
        const auto harness = world_.harnesses.find(run->harness);
        auto& reading = reading_of(*record, *run);
        if (harness && read_piece(*record, *run, harness->harness, reading)) continue;
        reading.is_catching_up = false;
        co_return;
    }
}

/// Takes over the sums of the reader. Higher ones stay: a file is gone, or this daemon has not come to its end yet.
/// Before it has, a growth says nothing: it is that of a long time.
void TokenUse::note(const TaskRecord& record, const AgentRun& run, const agents::Harness& harness, Reading& reading,
                    bool is_whole) {
    const auto now = world_.clock.now();
    auto& usage = reading.usage;
    auto rows = reading.reader.rows();
    for (auto& row : rows) {
        row.role = run.role;
        row.harness = run.harness;
    }
    if (!rows.empty() && reading.reader.is_incomplete()) rows.front().untold = 1;
    const auto counted = counted_in(rows), before = counted_in(usage.rows);
    if (now < reading.base_at) reading.base_at = now;  // the clock was set back
    const auto minutes = std::chrono::ceil<std::chrono::minutes>(now - reading.base_at).count() + 1;
    const auto at_most = harness.usage.at_most;
    if (is_whole && at_most > 0 && (counted - reading.base) / minutes > at_most) usage.is_doubtful = true;
    if (is_whole && now - reading.base_at >= k_save_again) {
        reading.base = counted;
        reading.base_at = now;
    }
    for (auto& row : rows) row.doubtful = usage.is_doubtful ? 1 : 0;
    if (counted >= before) usage.rows = std::move(rows);
    usage.read_at = now;
    usage.files.clear();
    for (const auto& file : reading.reader.files()) usage.files.push_back(file.path);
    if (const auto& window = reading.reader.window()) {
        usage.window = window;
        auto& known = windows_[run.harness];
        if (reading.reader.window_at() >= known.second) known = {*window, reading.reader.window_at()};
    }
    if (counted <= before) return;
    know(record);
    runner_.budgets.has_grown(record.task.id);
    if (now - reading.told_at < k_tell_again && now >= reading.told_at) return;
    reading.told_at = now;
    HistoryEvent event{"agent.usage", now, {}};
    event.fields = {{"role", name_text(run.role)}, {"run", run.run.value}, {"tokens", counted}};
    world_.journal.publish(record.task.id, record.task.project, std::move(event));
}

Awaitable<std::optional<Tokens>> TokenUse::settle(TaskRecord& record, RunId run_id) {
    const auto find = [&] { return std::ranges::find(record.runs, run_id, &AgentRun::run); };
    if (find() == record.runs.end()) co_return std::nullopt;
    const auto run = *find();
    if (run.usage && run.usage->is_settled) co_return sum_of(run.usage->rows);
    const auto harness = world_.harnesses.find(run.harness);
    if (harness && harness->harness.usage.are_told()) {
        agents::EventReader events;
        events.read(harness->harness, world_.files, agents::events_file(runner_.agents.run_folder(record), run.run));
        auto& reading = reading_of(record, run);
        add_new(reading.told, events.told_files());
        add_new(reading.ids, events.told_ids());
        for (bool more = true; more;) {
            more = read_piece(record, run, harness->harness, reading_of(record, run));
            co_await async::yield();
        }
    }
    const auto* known = usage_of(record, run);
    auto usage = known ? *known : RunUsage{};
    const bool has_told = !usage.rows.empty();
    const bool is_nothing = !run.has_begun() || world_.clock.now() - run.began_at() < k_least_run;
    const auto sum = sum_of(usage.rows);
    for (const auto& row : usage.rows) add(record.usage, row);
    if (!has_told && !is_nothing) {
        add(record.usage, untold_by(run));
    }
    usage.is_settled = true;
    find()->usage = std::move(usage);
    if (has_told) turns_.save(record, Durability::atomic);  // the events file goes before the run does
    co_return sum;
}

void TokenUse::mark(TaskRecord& record, bool is_saved_anyway) {
    for (auto& run : record.runs) {
        if (run.usage && run.usage->is_settled) continue;
        if (const auto* reading = known_reading(record, run)) {
            auto now = reading->usage;
            now.is_told = run.usage && run.usage->is_told;
            const bool is_news = !run.usage || now.rows != run.usage->rows || now.window != run.usage->window;
            const bool is_due = is_saved_anyway || !run.usage || now.is_doubtful != run.usage->is_doubtful ||
                                now.read_at - run.usage->read_at >= k_save_again || now.read_at < run.usage->read_at;
            if (is_news && is_due && (!now.rows.empty() || now.window)) run.usage = std::move(now);
        }
        if (!run.usage || !run.usage->is_doubtful || std::exchange(run.usage->is_told, true)) continue;
        raise(world_, record, NoticeKind::usage_doubtful,
              "the " + name_text(run.role) +
                  " told more tokens than its program can use in that time. They count for no other task",
              "orange harness explain " + record.task.id.value, name_text(run.role));
    }
}

const RunUsage* TokenUse::usage_of(const TaskRecord& record, const AgentRun& run) const {
    if (run.usage && run.usage->is_settled) return nullptr;
    const auto* reading = known_reading(record, run);
    if (reading) return &reading->usage;
    return run.usage ? &*run.usage : nullptr;
}

std::vector<UsageRow> TokenUse::rows_of(const TaskRecord& record) const {
    auto rows = record.usage;
    const auto now = world_.clock.now();
    for (const auto& run : record.runs) {
        if (run.usage && run.usage->is_settled) continue;
        const auto* usage = usage_of(record, run);
        if (usage && !usage->rows.empty()) {
            for (const auto& row : usage->rows) add(rows, row);
        } else if (run.has_begun() && now - run.began_at() >= k_least_run) {
            add(rows, untold_by(run));
        }
    }
    return rows;
}

std::int64_t TokenUse::counted_of(const TaskRecord& record) const {
    return counted_in(rows_of(record));
}

std::int64_t TokenUse::counted_of_family(const TaskRecord& record) const {
    auto sum = counted_of(record);
    std::vector<TaskId> open = world_.tasks.children_of(record.task.id);
    while (!open.empty()) {
        const auto id = open.back();
        open.pop_back();
        sum += known(id).counted;
        const auto below = world_.tasks.children_of(id);
        open.insert(open.end(), below.begin(), below.end());
    }
    return sum;
}

void TokenUse::know(const TaskRecord& record) const {
    Known known{record.task.project, 0, day_of(world_.clock.now()), 0};
    for (const auto& row : rows_of(record)) {
        if (row.doubtful > 0) continue;
        known.counted += row.tokens.counted();
        if (row.day == known.day) known.today += row.tokens.counted();
    }
    auto& before = known_[record.task.id];
    if (before.day == day_known_) today_[before.project] -= before.today;
    if (known.day == day_known_) today_[known.project] += known.today;
    before = std::move(known);
}

const TokenUse::Known& TokenUse::known(const TaskId& id) const {
    const auto found = known_.find(id);
    if (found != known_.end()) return found->second;
    static const Known none;
    const auto record = world_.tasks.read(id);
    if (!record) return none;  // perhaps only now
    know(**record);
    return known_[id];
}

std::int64_t TokenUse::counted_today(const std::string& project) const {
    const auto today = day_of(world_.clock.now());
    if (day_known_ != today) {
        day_known_ = today;
        today_.clear();
        for (const auto& [id, known] : known_) {
            if (known.day == today) today_[known.project] += known.today;
        }
        world_.tasks.each_awake([&](const TaskRecord& record) { know(record); });
        for (const auto& [time, id] : world_.tasks.histories().all()) {
            if (day_of(time) < today) break;
            (void)known(id);
        }
    }
    const auto found = today_.find(project);
    return found == today_.end() ? 0 : found->second;
}

const agents::UsageReader* TokenUse::reader_of(const TaskRecord& record, const AgentRun& run) const {
    const auto* reading = known_reading(record, run);
    return reading ? &reading->reader : nullptr;
}

void TokenUse::saved(const TaskId& id) {
    const auto record = world_.tasks.awake(id);
    if (!record) {  // it rests, or is deleted: its sums do not change any more
        readings_.erase(id);
        return;
    }
    const auto task = readings_.find(id);
    if (task != readings_.end()) {
        std::erase_if(task->second, [&](const auto& each) {
            return std::ranges::find(record->runs, each.first, &AgentRun::run) == record->runs.end();
        });
    }
    if (!record->usage.empty() || !record->runs.empty()) know(*record);
}

}  // namespace orange

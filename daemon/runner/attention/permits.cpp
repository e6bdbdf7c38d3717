#include "daemon/runner/attention/permits.hpp"

#include <algorithm>
#include <utility>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/engine/permissions.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

constexpr std::size_t k_most_open_permits = 16;  // of a run: a program asks for a few things at once
constexpr std::size_t k_longest_reason = 4096;
constexpr const char* k_denied = "Your human denied this.";
constexpr const char* k_in_window = "answered in the window";

/// The fate of an answer, as far as the events tell it.
enum class PermitFate { unknown, confirmed, contradicted };

PermitFate fate_of(const PermitAnswer& answer, const agents::AskedCall* call, bool replaces_dialog) {
    if (call == nullptr) return PermitFate::unknown;
    if (call->made) return answer.allowed ? PermitFate::confirmed : PermitFate::contradicted;
    const bool has_gone_on = call->later > answer.before;
    if (!answer.allowed || replaces_dialog) return has_gone_on ? PermitFate::confirmed : PermitFate::unknown;
    return call->turn_over ? PermitFate::contradicted : PermitFate::unknown;
}

std::map<std::string, Scalar> fields_of_permit(std::int64_t number, Role role, const RunId& run,
                                               const std::string& tool, const std::string& line) {
    return {{"number", number}, {"role", name_text(role)}, {"run", run.value}, {"tool", tool}, {"request", line}};
}

}  // namespace

Result<Permits::Handle> Permits::begin(const Caller& by, NewPermit asked) {
    const auto record = world_.tasks.awake(by.task);
    const auto* run = record && !by.run.empty() ? record->run_of(by.role) : nullptr;
    if (run == nullptr || run->run != by.run) {
        return Error(ErrorCode::forbidden, "only a hook of an agent's program may ask, in its own run");
    }
    TRY(const auto entry, world_.harnesses.find(run->harness));
    const auto& signs = entry.harness.permits;
    if (!signs.are_asked()) {
        return Error(ErrorCode::invalid_argument, "the definition of " + run->harness + " has no key `permits`");
    }
    auto request = agents::permit_in(entry.harness, asked.object, asked.cut);
    if (!request) {
        return Error(ErrorCode::invalid_argument, "this is no request of " + run->harness +
                                                      " that Orange asks for: " + signs.tool + " has to name its tool");
    }
    auto& all = open_[by.task];
    const auto of_run = std::ranges::count_if(all, [&](const Handle& each) { return each->run == by.run; });
    if (static_cast<std::size_t>(of_run) >= k_most_open_permits) {
        return Error(ErrorCode::conflict, "this agent has " + std::to_string(of_run) + " requests that wait");
    }
    auto permit = std::make_shared<OpenPermit>();
    permit->run = by.run;
    permit->role = by.role;
    permit->harness = run->harness;
    permit->key = std::move(asked.key);
    permit->request = std::move(*request);
    permit->replaces_dialog = !signs.args.empty();
    permit->since = world_.clock.now();
    permit->changed = std::make_shared<async::Wakeup>(world_.executor);
    all.push_back(permit);
    return permit;
}

Awaitable<Result<std::string>> Permits::wait(TaskId task, Handle permit) {
    auto answer = co_await wait_for_answer(task, permit);
    std::erase(open_[task], permit);
    if (open_[task].empty()) open_.erase(task);
    if (!permit->answer && permit->number > 0) {
        if (const auto record = world_.tasks.awake(task)) {
            const auto& request = permit->request;
            auto fields = fields_of_permit(permit->number, permit->role, permit->run, request.tool, request.line);
            fields["how"] = permit->over;
            world_.journal.write(*record, "permit.over", std::move(fields));
        }
    }
    // The program's own dialog may stand in the window now.
    if (!permit->answer) co_await runner_.activities.update(task);
    runner_.reconciler.wake(task);
    co_return answer;
}

Awaitable<Result<std::string>> Permits::wait_for_answer(TaskId task, Handle permit) {
    {
        CO_TRY(auto turn, co_await turns_.begin_turn(task));
        auto& record = turn.record;
        const auto* run = record.run_of(permit->role);
        if (run == nullptr || run->run != permit->run) co_return Error(ErrorCode::conflict, "this run has ended");
        if (!permit->over.empty()) co_return std::string();
        permit->number = ++record.permits_asked;
        if (auto saved = turns_.try_save(record); !saved) {
            permit->number = 0;
            co_return saved.error();
        }
        const auto& request = permit->request;
        world_.journal.write(record, "permit.asked",
                             fields_of_permit(permit->number, permit->role, permit->run, request.tool, request.line));
    }
    runner_.reconciler.wake(task);
    const auto entry = world_.harnesses.find(permit->harness);
    const auto deadline = entry ? entry->harness.permits.deadline : std::chrono::milliseconds(0);
    const auto until = async::now() + deadline;
    while (!permit->answer && permit->over.empty()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - async::now());
        if (left.count() <= 0) {
            end(permit, "nobody answered it in time");
        } else {
            co_await permit->changed->wait(left);
        }
    }
    co_return permit->answer.value_or("");
}

void Permits::end(const Handle& permit, const std::string& why) {
    if (permit->answer || !permit->over.empty()) return;
    permit->over = why;
    permit->changed->notify();
}

Awaitable<Result<Outcome>> Permits::answer(TaskId task, std::int64_t number, bool allowed, std::string text,
                                           Caller by) {
    CO_TRY(auto turn, co_await turns_.begin_turn(task));
    auto& record = turn.record;
    const auto name = "request " + world_.tasks.short_id(task) + "." + std::to_string(number);
    if (number < 1 || number > record.permits_asked) {
        co_return Error(ErrorCode::not_found, "there is no " + name + others_text(task));
    }
    end_of_others(record);
    const auto is_it = [number](const auto& each) { return each.number == number; };
    const auto answered = std::ranges::find_if(record.permits_answered, is_it);
    if (answered != record.permits_answered.end()) {
        const std::string before = answered->allowed ? "allowed" : "denied";
        co_return Error(ErrorCode::conflict, name + " was " + before + " before" + others_text(task));
    }
    Handle permit;
    if (const auto all = open_.find(task); all != open_.end()) {
        for (const auto& each : all->second) {
            if (each->number == number && each->is_open()) permit = each;
        }
    }
    if (!permit) {
        co_return Error(ErrorCode::not_found, name +
                                                  " is over: it was answered before, or in the agent's window, or its "
                                                  "agent has gone on" +
                                                  others_text(task));
    }
    if (allowed && !permit->request.whole) {
        co_return Error(ErrorCode::forbidden,
                        name +
                            " is too large to be shown whole, so it cannot be allowed here. See it "
                            "in the agent's window:\n  " +
                            task_command("attach", task.value).text());
    }
    if (text.size() > k_longest_reason) {
        co_return Error(ErrorCode::invalid_argument,
                        "the text has more than " + std::to_string(k_longest_reason) + " bytes. Make it shorter");
    }
    CO_TRY(const auto entry, world_.harnesses.find(permit->harness));
    PermitAnswer answer;
    answer.number = number;
    answer.run = permit->run;
    answer.role = permit->role;
    answer.key = permit->key;
    answer.tool = permit->request.tool;
    answer.line = permit->request.line;
    answer.allowed = allowed;
    answer.text = text;
    answer.evidence = by.evidence;
    answer.at = world_.clock.now();
    answer.before = permit->later;
    record.permits_answered.push_back(std::move(answer));
    CO_TRY(turns_.try_save(record));
    permit->answer = agents::permit_answer(entry.harness, allowed, text.empty() ? k_denied : text);
    permit->changed->notify();
    runner_.activities.request_answered(record, permit->role);
    Outcome outcome;
    outcome.notes.push_back((allowed ? "allowed " : "denied ") + name + ": " + permit->request.tool + ": " +
                            permit->request.line);
    if (const auto more = others_text(task); !more.empty()) outcome.notes.push_back(more.substr(2));
    co_return outcome;
}

std::string Permits::others_text(const TaskId& task) const {
    std::vector<std::string> names;
    for (const auto& each : of(task)) {
        names.push_back(world_.tasks.short_id(task) + "." + std::to_string(each->number));
    }
    if (names.empty()) return {};
    return (names.size() == 1 ? ". This request waits: " : ". These requests wait: ") + join(names, ", ");
}

std::vector<std::shared_ptr<const OpenPermit>> Permits::of(const TaskId& task) const {
    std::vector<std::shared_ptr<const OpenPermit>> shown;
    const auto all = open_.find(task);
    if (all == open_.end()) return shown;
    std::ranges::copy_if(all->second, std::back_inserter(shown), &OpenPermit::is_open);
    std::ranges::sort(shown, {}, &OpenPermit::number);
    return shown;
}

bool Permits::waits(const TaskId& task, const RunId& run) const {
    const auto all = open_.find(task);
    return all != open_.end() && std::ranges::any_of(all->second, [&](const Handle& each) {
               return each->run == run && !each->answer && each->over.empty();
           });
}

void Permits::look(const TaskId& task, const AgentRun& run, const agents::Reading& reading,
                   const agents::EventReader& events) {
    const auto all = open_.find(task);
    if (all == open_.end()) return;
    const auto of_run = std::ranges::count_if(all->second, [&](const Handle& each) { return each->run == run.run; });
    for (const auto& each : all->second) {
        if (each->run != run.run) continue;
        const auto* call = events.asked(each->key);
        // The dialog in the window may belong to any of several requests.
        const bool has_gone =
            of_run == 1 && each->seen_in_window && reading.activity != Activity::waiting && !reading.dialog;
        if (call != nullptr) each->later = call->later;
        const bool is_past = call != nullptr && (call->made || call->gone_on || call->turn_over);
        if (is_past || has_gone) end(each, k_in_window);
        each->seen_in_window = each->seen_in_window || reading.dialog;
    }
}

void Permits::end_of_others(const TaskRecord& record) {
    const auto all = open_.find(record.task.id);
    if (all == open_.end()) return;
    for (const auto& each : all->second) {
        const auto* run = record.run_of(each->role);
        if (run == nullptr || run->run != each->run) end(each, "its agent has ended");
    }
}

void Permits::settle(TaskRecord& record, const EventsOf& events_of) const {
    std::erase_if(record.permits_answered,
                  [&](const PermitAnswer& answer) { return fate_in(record, answer, events_of).has_value(); });
}

/// Returns how the answer ended: true if it counted. nullopt: that is not known yet.
std::optional<bool> Permits::fate_in(const TaskRecord& record, const PermitAnswer& answer,
                                     const EventsOf& events_of) const {
    const auto* run = record.run_of(answer.role);
    if (run == nullptr || run->run != answer.run) return false;
    const auto* events = events_of(answer.run);
    const auto entry = world_.harnesses.find(run->harness);
    if (events == nullptr || !entry) return std::nullopt;
    const auto fate = fate_of(answer, events->asked(answer.key), !entry->harness.permits.args.empty());
    if (fate == PermitFate::unknown) return std::nullopt;
    return fate == PermitFate::confirmed;
}

void Permits::tell_settled(const TaskRecord& record, const EventsOf& events_of) const {
    for (const auto& answer : record.permits_answered) {
        const auto fate = fate_in(record, answer, events_of);
        if (!fate) continue;
        auto fields = fields_of_permit(answer.number, answer.role, answer.run, answer.tool, answer.line);
        fields["decision"] = std::string(answer.allowed ? "allow" : "deny");
        fields["at"] = to_rfc3339(answer.at);
        if (!answer.text.empty()) fields["text"] = answer.text;
        fields["by"] = name_text(Role::human);
        fields["evidence"] = answer.evidence;
        if (!*fate) {
            fields["how"] =
                std::string("but the program did not confirm it: its agent ended, or its window had answered");
        }
        (void)world_.journal.note_once(record, *fate ? "permit.answered" : "permit.over", std::move(fields));
    }
}

}  // namespace orange

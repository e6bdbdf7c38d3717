#include <map>

#include "common/base/text.hpp"
#include "daemon/log/log.hpp"
#include "daemon/process/proc_info.hpp"
#include "daemon/runner/agent_control.hpp"

/// What is said to an agent, and whether it can be said now.
namespace orange {
namespace {

/// Every message begins so: a leading "!" or "/" would be a command to some agent programs.
constexpr std::string_view k_message_prefix = "[orange] ";
/// A dialog is on the visible screen; what has scrolled away was answered.
constexpr int k_visible_screen = 0;

/// A message that ends in a word with an @ opens a list of files in some programs, and Enter would choose from it.
std::string ended_sentence(std::string text) {
    text = trim(text);
    if (text.empty()) return text;
    const auto last_word = text.substr(text.find_last_of(' ') + 1);
    if (last_word.find('@') != std::string::npos) return text + " .";
    const bool ended = std::string_view(".!?").find(text.back()) != std::string_view::npos;
    return ended ? text : text + ".";
}

/// The processes below `ancestor`, itself included: a program may sit behind a wrapper of its own.
std::vector<std::int64_t> family_of(std::int64_t ancestor) {
    std::map<std::int64_t, std::vector<std::int64_t>> children;
    for (const auto pid : proc::all_pids()) {
        if (const auto parent = proc::parent_of(pid)) children[*parent].push_back(pid);
    }
    std::vector<std::int64_t> family = {ancestor};
    for (std::size_t i = 0; i < family.size(); ++i) {
        const auto found = children.find(family[i]);
        if (found != children.end()) family.insert(family.end(), found->second.begin(), found->second.end());
    }
    return family;
}

std::string with_pid(std::string path, std::int64_t pid) {
    constexpr std::string_view k_pid = "{pid}";
    if (const auto at = path.find(k_pid); at != std::string::npos) path.replace(at, k_pid.size(), std::to_string(pid));
    return path;
}

}  // namespace

Result<void> AgentControl::queue_message(TaskRecord& record, Role to, Role from, std::string text, std::string key) {
    for (const auto& waiting : record.outbox) {
        if (!key.empty() && waiting.id == key) return {};
    }
    Message message;
    message.id = key.empty() ? random_id(8) : std::move(key);
    message.to = to;
    message.from = from;
    message.text = std::string(k_message_prefix) + (from == Role::human ? "The human says: " : "") +
                   ended_sentence(printable(text));
    message.queued_at = world_.clock.now();
    record.outbox.push_back(std::move(message));
    return world_.tasks.save(record);
}

agents::Activity AgentControl::told_by_file(const TaskRecord& record, const AgentRun& run,
                                            const agents::Harness& harness) const {
    const auto& file = harness.state_file;
    if (file.path.empty()) return agents::Activity::unknown;
    const auto env = environment(record, harness.env, run.role, run.run);
    const auto home = env.find("HOME");
    const auto path = agents::below_home(file.path, home == env.end() ? std::string{} : home->second);
    for (const auto pid : family_of(run.pid)) {
        const auto text = world_.files.read(with_pid(path, pid));
        if (text) return agents::activity_in(file, *text);
    }
    return agents::Activity::unknown;
}

Awaitable<agents::Activity> AgentControl::activity(const TaskRecord& record, Role role) {
    const auto* current = record.run_of(role);
    if (!current || current->pane_id.empty()) co_return agents::Activity::unknown;
    const auto run = *current;
    const auto harness = world_.harnesses.find(run.harness);
    if (!harness) co_return agents::Activity::unknown;
    if (const auto told = told_by_file(record, run, harness->harness); told != agents::Activity::unknown) {
        co_return told;
    }
    const auto screen = co_await world_.tmux.capture(run.pane_id, k_visible_screen);
    if (!screen) co_return agents::Activity::unknown;
    const auto& titles = harness->harness.titles;
    std::string title;
    if (!titles.idle.empty() || !titles.busy.empty() || !titles.waiting.empty()) {
        const auto state = co_await world_.tmux.list();
        for (const auto& pane : state ? state->panes : std::vector<PaneInfo>{}) {
            if (pane.ref.pane_id == run.pane_id) title = pane.title;
        }
    }
    co_return agents::activity_on(harness->harness, *screen, title);
}

Awaitable<bool> AgentControl::shows_dialog(const TaskRecord& record, Role role) {
    co_return co_await activity(record, role) == agents::Activity::waiting;
}

Awaitable<bool> AgentControl::deliver_one(const TaskRecord& record, const AgentRun& run, const Message& message) {
    const auto harness = world_.harnesses.find(run.harness);
    // Started in what is the future now: the clock was set back, and nobody is to wait until it is there again.
    const auto age = world_.clock.now() - run.spawned_at;
    if (harness && age >= age.zero() && age < harness->harness.ready_after) co_return false;
    // Busy is no obstacle: the programs queue what is typed meanwhile. Typing into a dialog would answer it.
    if (co_await shows_dialog(record, run.role)) co_return false;
    const auto sent = co_await world_.tmux.send(run.pane_id, message.text);
    if (!sent) log::warn("outbox", sent.error().message, {{"task", record.task.id.value}});
    co_return sent.has_value();
}

Awaitable<bool> AgentControl::deliver(TaskRecord& record) {
    while (!record.outbox.empty()) {
        const auto message = record.outbox.front();
        const auto* run = record.run_of(message.to);
        if (typed_.contains(message.id)) {
            // Only its end could not be written down; nobody is told the same twice.
        } else if (run && alive(record, message.to)) {
            const auto to = *run;
            if (!co_await deliver_one(record, to, message)) co_return false;
            typed_.insert(message.id);
        } else if (run || message.from == Role::human) {
            co_return false;  // dying, starting, or not there: it waits for the next one
        }
        // Saved after the keys were typed: a crash in between repeats the message, which is harmless; losing it is not.
        std::erase_if(record.outbox, [&](const Message& m) { return m.id == message.id; });
        if (auto saved = world_.tasks.save(record); !saved) co_return false;
        typed_.erase(message.id);
        if (run) {
            world_.journal.write(record, "agent.notified",
                                 {{"role", std::string(name_of(message.to))}, {"message", message.text}});
        }
    }
    co_return true;
}

}  // namespace orange

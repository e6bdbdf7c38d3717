#include "daemon/agents/versions.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "common/base/text.hpp"
#include "common/config/versions.hpp"
#include "common/model/json.hpp"
#include "daemon/async/slots.hpp"
#include "daemon/log/log.hpp"
#include "daemon/process/environment.hpp"

namespace orange::agents {
namespace {

constexpr std::chrono::milliseconds k_deadline{5000};
constexpr std::size_t k_longest = 40;
constexpr std::size_t k_at_once = 2;
constexpr int k_schema = 1;

}  // namespace

struct Versions::State {
    State(ProcessRunner& its_processes, const async::Executor& executor, std::chrono::milliseconds its_deadline)
        : processes(its_processes), deadline(its_deadline), slots(executor, k_at_once) {}
    ProcessRunner& processes;
    std::chrono::milliseconds deadline;
    async::Slots slots;
    std::set<std::string> under_way;                    ///< programs that are asked now
    std::vector<std::weak_ptr<async::Wakeup>> waiting;  ///< calls of of()
    std::map<std::string, KnownVersion> known;          ///< by path
    std::map<std::string, std::string> reported;        ///< versions by harness
    bool is_loaded = false, is_new = false;
};

std::string version_in(std::string_view output) {
    for (const auto line : split_lines(output)) {
        for (auto word : split(line, ' ')) {
            if (word.starts_with('v')) word = word.substr(1);
            while (word.ends_with('.') || word.ends_with(',')) word.remove_suffix(1);  // the end of a sentence
            const bool digit = !word.empty() && word.front() >= '0' && word.front() <= '9';
            if (digit && word.find('.') != word.npos) return ellipsized(printable(word), k_longest);
        }
    }
    return {};
}

std::string version_text(const std::string& version, const std::string& measured) {
    if (version.empty() || measured.empty() || version == measured) return version;
    return version + " (measured with " + measured + ")";
}

namespace {

/// Runs the program and returns the version that it prints; empty if it prints none.
Awaitable<std::string> asked_version(ProcessRunner& processes, std::string program, std::vector<std::string> args,
                                     std::map<std::string, std::string> environment,
                                     std::chrono::milliseconds deadline) {
    Command command;
    command.argv = std::move(args);
    command.argv.insert(command.argv.begin(), std::move(program));
    command.env = std::move(environment);
    command.deadline = deadline;
    command.output_limit = std::size_t{16} << 10;
    const auto done = co_await processes.run(std::move(command));
    if (!done || !done->ok()) co_return std::string();
    co_return version_in(done->out + "\n" + done->err);  // pi prints its own to stderr
}

}  // namespace

Awaitable<std::vector<std::string>> unmet_needs(ProcessRunner& processes, HarnessEntry entry,
                                                std::map<std::string, std::string> environment) {
    std::vector<std::string> unmet;
    const auto interpreter = entry.program.empty() ? std::string() : interpreter_of(entry.program);
    const auto need = entry.harness.needs.find(interpreter);
    if (need == entry.harness.needs.end()) co_return unmet;
    auto program = find_program(interpreter, environment["PATH"]);
    if (program.empty()) co_return unmet;  // other checks report that it is missing
    const auto where = program;
    std::vector<std::string> args = {"--version"};
    const auto version =
        co_await asked_version(processes, std::move(program), std::move(args), std::move(environment), k_deadline);
    if (!version.empty() && is_older(version, need->second)) {
        unmet.push_back(entry.harness.name + " needs " + interpreter + " " + need->second + " or later, and " + where +
                        " is " + version);
    }
    co_return unmet;
}

std::string identity_of(const std::string& program) {
    struct stat facts {};
    std::error_code error;
    const auto real = std::filesystem::canonical(program, error);
    if (error || ::stat(real.c_str(), &facts) != 0) return {};
    const auto changed = std::filesystem::last_write_time(real, error).time_since_epoch().count();
    return real.string() + " " + std::to_string(facts.st_ino) + " " + std::to_string(facts.st_size) + " " +
           std::to_string(changed);
}

namespace {

/// Another definition may ask the same program with other arguments.
std::string asked_as(const HarnessEntry& entry) {
    return identity_of(entry.program) + " " + join(entry.harness.version_args, " ");
}

}  // namespace

Versions::Versions(ProcessRunner& processes, async::Executor executor, FileSystem& files, Path file, Patience patience)
    : files_(files),
      file_(std::move(file)),
      patience_(patience),
      executor_(std::move(executor)),
      state_(std::make_shared<State>(processes, executor_, patience.program)) {}

Awaitable<void> Versions::ask(std::shared_ptr<State> state, HarnessEntry entry,
                              std::map<std::string, std::string> environment) {
    struct Ending {  // its destructor also runs if the query throws
        State& state;
        const std::string& program;
        ~Ending() {
            state.under_way.erase(program);
            for (const auto& each : state.waiting) {
                if (const auto call = each.lock()) call->notify();
            }
        }
    } ending{*state, entry.program};
    const auto slot = co_await state->slots.take();
    auto identity = asked_as(entry);
    environment["PATH"] = joined_path(entry.path_variable, environment["PATH"]);
    auto program = entry.program;
    auto words = entry.harness.version_args;
    auto version = co_await asked_version(state->processes, std::move(program), std::move(words),
                                          std::move(environment), state->deadline);
    if (version.empty()) co_return;
    state->known[entry.program] = {std::move(identity), std::move(version), true};
    state->is_new = true;
}

Awaitable<std::map<std::string, std::string>> Versions::of(std::vector<HarnessEntry> entries,
                                                           std::map<std::string, std::string> environment) {
    load();
    const auto state = state_;  // outlives this object
    const auto ended = std::make_shared<async::Wakeup>(executor_);
    std::erase_if(state->waiting, [](const auto& call) { return call.expired(); });
    state->waiting.push_back(ended);
    std::erase_if(entries, [](const auto& each) { return each.program.empty() || each.harness.version_args.empty(); });
    for (const auto& entry : entries) {
        const auto* known = known_of(*state, entry);
        if (known == nullptr || !known->asked) begin(entry, environment);
    }
    const auto end = async::now() + patience_.call;
    const auto is_asked = [&](const HarnessEntry& entry) { return state->under_way.contains(entry.program); };
    while (async::now() < end && std::ranges::any_of(entries, is_asked)) {
        co_await ended->wait(std::chrono::ceil<std::chrono::milliseconds>(end - async::now()));
    }
    std::map<std::string, std::string> versions;
    for (const auto& entry : entries) {
        if (const auto* known = known_of(*state, entry)) versions[entry.harness.name] = known->version;
    }
    co_return versions;
}

const Versions::KnownVersion* Versions::known_of(const State& state, const HarnessEntry& entry) {
    const auto found = state.known.find(entry.program);
    return found != state.known.end() && found->second.identity == asked_as(entry) ? &found->second : nullptr;
}

void Versions::begin(const HarnessEntry& entry, const std::map<std::string, std::string>& environment) {
    if (!state_->under_way.insert(entry.program).second) return;
    async::spawn(executor_, "version", ask(state_, entry, environment));
}

std::string Versions::known(const HarnessEntry& entry, const std::map<std::string, std::string>& environment) {
    if (entry.program.empty() || entry.harness.version_args.empty()) return {};
    load();
    if (const auto* known = known_of(*state_, entry)) return known->version;
    begin(entry, environment);
    return {};
}

/// A file that cannot be read or is not as expected is replaced at the next write.
void Versions::load() {
    if (std::exchange(state_->is_loaded, true)) return;
    const auto text = files_.read(file_);
    const auto json = text ? Json::parse(*text, nullptr, false) : Json();
    if (!json.is_object() || json.value("schema", Json()) != k_schema) return;
    const auto programs = json.value("programs", Json::object()), reported = json.value("reported", Json::object());
    for (const auto& [program, known] : programs.items()) {
        state_->known[program] = {text_member(known, "identity"),
                                  ellipsized(printable(text_member(known, "version")), k_longest), false};
    }
    for (const auto& each : reported.items()) state_->reported[each.key()] = text_member(reported, each.key());
}

void Versions::keep() {
    if (std::exchange(state_->is_new, false)) save();
}

void Versions::save() {
    Json programs = Json::object(), reported = Json::object();
    for (const auto& [program, known] : state_->known) {
        if (is_valid_utf8(program) && is_valid_utf8(known.identity)) {
            programs[program] = {{"identity", known.identity}, {"version", known.version}};
        }
    }
    for (const auto& [harness, version] : state_->reported) reported[harness] = version;
    const Json json{{"schema", k_schema}, {"programs", std::move(programs)}, {"reported", std::move(reported)}};
    const auto saved = files_.replace(file_, json.dump(2) + "\n", Durability::atomic);
    if (!saved) log::warn("agents", saved.error().message);
}

bool Versions::is_first_report(const std::string& harness, const std::string& version) {
    load();
    auto& last = state_->reported[harness];
    if (last == version) return false;
    last = version;
    save();
    return true;
}

}  // namespace orange::agents

#include "daemon/agents/versions.hpp"

#include "common/base/text.hpp"
#include "common/config/versions.hpp"
#include "daemon/process/environment.hpp"

namespace orange::agents {
namespace {

constexpr std::chrono::milliseconds k_deadline{5000};
constexpr std::size_t k_longest = 40;

}  // namespace

struct Versions::Asking {
    explicit Asking(const async::Executor& executor) : ended(executor) {}
    int under_way = 0;
    async::Notifier ended;
    std::map<std::string, std::string> versions;
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
                                     std::map<std::string, std::string> environment) {
    Command command;
    command.argv = std::move(args);
    command.argv.insert(command.argv.begin(), std::move(program));
    command.env = std::move(environment);
    command.deadline = k_deadline;
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
    const auto version = co_await asked_version(processes, std::move(program), std::move(args), std::move(environment));
    if (!version.empty() && is_older(version, need->second)) {
        unmet.push_back(entry.harness.name + " needs " + interpreter + " " + need->second + " or later, and " + where +
                        " is " + version);
    }
    co_return unmet;
}

Awaitable<void> Versions::ask(HarnessEntry entry, std::map<std::string, std::string> environment,
                              std::shared_ptr<Asking> asking) {
    struct Ending {  // its destructor also runs if the query throws
        Asking& all;
        ~Ending() {
            --all.under_way;
            all.ended.notify();
        }
    } ending{*asking};
    std::error_code error;
    const auto changed = std::filesystem::last_write_time(entry.program, error);
    if (error) co_return;
    const auto& args = entry.harness.version_args;
    const auto found = known_.find(entry.program);
    if (found != known_.end() && found->second.changed == changed && found->second.args == args) {
        asking->versions[entry.harness.name] = found->second.version;
        co_return;
    }
    environment["PATH"] = joined_path(entry.path_variable, environment["PATH"]);
    auto program = entry.program;
    auto words = args;
    const auto version =
        co_await asked_version(processes_, std::move(program), std::move(words), std::move(environment));
    if (version.empty()) co_return;
    known_[entry.program] = Known{changed, args, version};
    asking->versions[entry.harness.name] = version;
}

Awaitable<std::map<std::string, std::string>> Versions::of(std::vector<HarnessEntry> entries,
                                                           std::map<std::string, std::string> environment) {
    auto asking = std::make_shared<Asking>(executor_);
    for (const auto& entry : entries) {
        if (entry.program.empty() || entry.harness.version_args.empty()) continue;
        ++asking->under_way;
        async::spawn(executor_, "version", ask(entry, environment, asking));
    }
    while (asking->under_way > 0) co_await asking->ended.wait();
    co_return std::move(asking->versions);
}

}  // namespace orange::agents

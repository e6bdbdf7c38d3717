#include "daemon/process/scopes.hpp"

#include <chrono>

#include "common/base/ids.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/process/group.hpp"

namespace orange::process {

std::vector<std::string> scope_words(const Environment& env, const std::string& name,
                                     const std::vector<std::string>& options) {
    const auto runtime = env.find("XDG_RUNTIME_DIR");
    const auto path = env.find("PATH");
    if (runtime == env.end() || path == env.end() || !runtime->second.starts_with('/')) return {};
    // systemd-run talks to the user manager through this socket. If it is missing, systemd-run fails only after a
    // delay.
    std::error_code error;
    if (!std::filesystem::exists(runtime->second + "/systemd/private", error)) return {};
    auto program = find_program("systemd-run", path->second);
    if (program.empty()) return {};
    std::vector<std::string> words = {std::move(program),
                                      "--user",
                                      "--scope",
                                      "--collect",
                                      "--quiet",
                                      "--unit=" + name,
                                      "--description=Agents of Orange"};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    return words;
}

RunScopes::RunScopes(ProcessRunner& runner, Environment env, std::filesystem::path groups)
    : runner_(runner), env_(std::move(env)), groups_(std::move(groups)) {}

std::vector<std::string> RunScopes::words_for(const std::string& name, std::vector<std::string> options) const {
    options.emplace_back("--slice=orange.slice");
    return scope_words(env_, name, options);
}

Awaitable<Result<void>> RunScopes::try_options() {
    constexpr std::chrono::milliseconds k_patience{5000};
    Error refused(ErrorCode::unavailable, "systemd-run");
    const std::vector<std::vector<std::string>> all = {{k_survive}, {}};
    for (const auto& options : all) {
        Command command;
        command.argv = words_for("orange-try-" + random_id(10) + ".scope", options);
        command.argv.emplace_back("true");
        command.env = env_;
        command.deadline = k_patience;
        const auto done = co_await runner_.run(std::move(command));
        if (done && done->ok()) {
            options_ = options;
            co_return Result<void>{};
        }
        if (!done) co_return done.error();  // a manager that does not answer now would not answer a second try
        refused.message = ellipsized(printable(trim(done->err)), 200);
    }
    co_return refused;
}

Awaitable<Result<std::vector<std::string>>> RunScopes::words(std::string run, std::int64_t memory,
                                                             std::int64_t processes) {
    if (words_for({}, {}).empty()) {
        co_return Error(ErrorCode::not_found, "this machine has no systemd user manager");
    }
    std::error_code error;
    if (!std::filesystem::exists(groups_ / "cgroup.controllers", error)) {
        co_return Error(ErrorCode::not_found, "this machine has no cgroup v2");
    }
    if (!options_) CO_TRY(co_await try_options());
    auto options = *options_;
    if (memory > 0) {
        // Limit the swap space as well: otherwise the agent would fill it before it meets the limit.
        options.push_back("--property=MemoryMax=" + std::to_string(memory));
        options.emplace_back("--property=MemorySwapMax=0");
    }
    if (processes > 0) options.push_back("--property=TasksMax=" + std::to_string(processes));
    co_return words_for(scope_of_run(run), std::move(options));
}

}  // namespace orange::process

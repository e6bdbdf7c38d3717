#include "daemon/app/reload.hpp"

#include <utility>

#include "common/base/try.hpp"
#include "daemon/app/settings.hpp"
#include "daemon/app/shells.hpp"
#include "daemon/log/log.hpp"
#include "daemon/process/umask.hpp"
#include "daemon/runner/transitions/project_names.hpp"

namespace orange {

Awaitable<Result<std::vector<std::string>>> Reload::all() {
    CO_TRY(auto notes, settings());
    co_await bind_detach_key();
    co_await shells(notes);
    apply_umask();
    for (const auto& entry : world_.workflows.list()) {
        if (entry.valid) continue;
        notes.push_back("workflow " + entry.name +
                        (entry.last_good ? " is not valid, its last good version stays in force: "
                                         : " is not valid, and cannot be used: ") +
                        entry.problem);
    }
    for (auto& problem : check_harness_limits(world_)) notes.push_back(std::move(problem));
    (void)world_.projects.refresh();  // project_problems() says what is wrong
    for (auto& problem : project_problems(world_)) notes.push_back(std::move(problem.text));
    co_return notes;
}

Result<std::vector<std::string>> Reload::settings() {
    auto loaded = take_settings(world_.files, world_.paths);
    if (!loaded) {
        auto error = loaded.error();
        error.message += ". The previous settings stay in force";
        problem_ = error.message;
        return error;
    }
    problem_.clear();
    const bool found = loaded->has_value();
    world_.settings = std::move(*loaded).value_or(Settings{});
    log::set_level(world_.settings.log_level);
    changed_();
    return std::vector<std::string>{found ? "config.yml is in force"
                                          : "there is no config.yml; the defaults are in force"};
}

void Reload::apply_umask() const {
    process::use_umask(world_.settings.umask.value_or(login_.umask.value_or(process::umask_at_start())));
}

Awaitable<void> Reload::bind_detach_key() {
    tmux_.set_detach_key(world_.settings.detach_key);
    const auto bound = co_await tmux_.bind_detach_key();
    if (!bound) log::warn("tmux", "detach_key could not be bound: " + bound.error().message);
}

/// Asks the shells again. If the login shell fails after it has worked before, the environment stays as it is.
Awaitable<void> Reload::shells(std::vector<std::string>& notes) {
    auto answered = co_await ask_shells(world_.processes);
    if (!answered.login.problem.empty() && login_.problem.empty()) {
        notes.push_back("login shell: " + answered.login.problem + "; agents keep getting the previous environment");
        co_return;
    }
    login_ = std::move(answered.login);
    world_.base_environment = login_.variables;
    forge_.set_base(login_.variables);
    world_.harnesses.set_paths(std::move(answered.paths));
}

}  // namespace orange

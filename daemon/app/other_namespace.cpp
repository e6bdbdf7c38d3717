#include "daemon/app/other_namespace.hpp"

#include "common/base/system.hpp"
#include "common/base/text.hpp"
#include "common/config/home_lock.hpp"
#include "daemon/store/task_store.hpp"

namespace orange {
namespace {

/// A task that cannot be read may have an agent, too. The tmux server may be about to start one.
bool may_have_agents(FileSystem& files, const Paths& paths) {
    store::TaskStore tasks(files, paths.tasks());
    bool found = !tasks.load() || !tasks.unreadable().empty() || is_listening(paths.tmux_socket());
    tasks.each_awake([&](const TaskRecord& record) { found = found || !record.runs.empty(); });
    return found;
}

}  // namespace

Result<void> take_pid_namespace(FileSystem& files, const Paths& paths) {
    const auto here = system::pid_namespace();
    if (!here) return {};
    const auto file = paths.pid_namespace();
    if (is_of_other_namespace(paths) && may_have_agents(files, paths)) {
        return Error(
            ErrorCode::conflict,
            "the agents of " + paths.home.string() +
                " were started in another PID namespace, for example in another container. They may still run, "
                "and a daemon here would take them for dead. Use Orange there. If that container was removed or "
                "restarted, start the daemon after this command:\n  rm " +
                shell_word(file.string()));
    }
    const auto text = here->boot + " " + here->number + "\n";
    const auto noted = files.read(file);
    return noted && *noted == text ? Result<void>{} : files.replace(file, text, Durability::atomic);
}

}  // namespace orange

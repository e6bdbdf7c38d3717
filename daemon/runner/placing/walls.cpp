#include "daemon/runner/placing/walls.hpp"

#include <utility>

#include "common/base/ids.hpp"
#include "common/base/shown_path.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/agents/binds.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/log/log.hpp"
#include "daemon/process/stray_processes.hpp"
#include "daemon/runner/placing/networks.hpp"
#include "daemon/runner/placing/placement.hpp"
#include "daemon/shim/spec.hpp"

namespace orange::walls {
namespace {

constexpr std::chrono::milliseconds k_patience = std::chrono::minutes(2);

Path folder(const World& world) {
    return world.paths.workspaces() / ".own";
}

std::optional<WalledWorktree> make_place(const World& world, const Task& task, std::string key,
                                         const git::Pinned& worktree) {
    auto executor = wall_of(world, task);
    const auto* project = world.projects.find(task.project);
    if (!executor || !project) return std::nullopt;
    git::OwnPlace own{project->path, repository_of(world, key), "refs/orange/" + key + "/own"};
    return WalledWorktree{task,           std::move(*executor), worktree.path(),
                          std::move(key), std::move(own),       worktree.common_dir()};
}

/// Returns the branches that an agent compares its own with.
std::vector<std::string> names_for(const World& world, const Task& task) {
    const auto* project = world.projects.find(task.project);
    std::vector<std::string> names;
    if (project) names.push_back(project->default_branch);
    constexpr std::string_view k_heads = "refs/heads/";
    if (task.base && task.base->starts_with(k_heads)) names.push_back(task.base->substr(k_heads.size()));
    return names;
}

std::string upload_pack(const World& world, const WalledWorktree& place) {
    std::vector<std::string> words;
    for (const auto& word : around(inside(world, place, false), {"git", "upload-pack"}))
        words.push_back(shell_word(word));
    return join(words, " ");
}

/// Runs a script of a shell behind the wall, in the worktree.
Awaitable<Result<Completed>> run_script(World& world, WalledWorktree place, std::string script) {
    Command command;
    const std::vector<std::string> inner = {"sh", "-s"};
    command.argv = around(inside(world, place, false), inner);
    command.env = executor_environment(world, place.task.project);
    let_git_commit(*command.env);
    (*command.env)[process::k_daemon_variable] = process::mark_of_command(world.pool.mark());
    command.input = "set -e\n" + script;
    command.cwd = place.worktree;
    command.deadline = k_patience;
    command.shown = "git behind the wall";
    co_return co_await world.processes.run(std::move(command));
}

Awaitable<Result<void>> do_script(World& world, WalledWorktree place, std::string script) {
    if (script.empty()) co_return Result<void>{};
    CO_TRY(const auto done, co_await run_script(world, place, std::move(script)));
    if (!done.ok()) co_return command_failed({"git"}, done);
    co_return Result<void>{};
}

Awaitable<Result<void>> take(World& world, WalledWorktree place, git::Pinned worktree) {
    auto command = upload_pack(world, place);
    auto own = place.own;
    const auto taken = co_await git::take_over(world.git, std::move(own), worktree, std::move(command));
    if (taken) co_return Result<void>{};
    co_return in_context("what the agent of task " + place.task.id.value + " has committed cannot be taken over",
                         taken.error());
}

bool is_there(const World& world, const std::string& key) {
    return is_folder(world.files, repository_of(world, key));
}

}  // namespace

std::optional<agents::Executor> wall_of(const World& world, const Task& task) {
    if (task.executor.empty()) return std::nullopt;
    auto executor = world.executors.pinned(task.executor, task.executor_hash);
    return executor && executor->has_own_repository ? std::optional(std::move(*executor)) : std::nullopt;
}

std::string repository_of(const World& world, const std::string& key) {
    return (folder(world) / key).string();
}

std::string link_of(const World& world, const std::string& key) {
    return (folder(world) / (key + ".link")).string();
}

std::string key_of_checks(const std::string& project) {
    return "checks-" + project;
}

std::optional<WalledWorktree> place_of(const World& world, const Task& task, const git::Pinned& worktree) {
    return make_place(world, task, task.id.value, worktree);
}

std::optional<WalledWorktree> place_of_checks(const World& world, const Task& task, const git::Pinned& worktree) {
    return make_place(world, task, key_of_checks(task.project), worktree);
}

std::vector<std::string> around(const std::vector<std::string>& inside, const std::vector<std::string>& inner) {
    return agents::expanded(inside, {{}, {{"inner", inner}}});
}

std::vector<std::string> inside(const World& world, const WalledWorktree& place, bool has_network) {
    const auto env = executor_environment(world, place.task.project);
    auto values = executor_values(world, place.task, place.executor, env);
    auto& words = values.words;
    words["worktree"] = place.worktree;
    words["repository"] = place.own.path;
    words["link"] = link_of(world, place.key);
    words["git_common"] = place.git_common;
    for (auto& word : words) word.second = agents::in_real_home(word.second, env);
    if (!has_network) values.lists["network"] = place.executor.without_network;
    const auto network = has_network ? networks::network_of(world, place.task.project) : Network();
    auto shown = env;
    shown["ORANGE_HOME"] = world.paths.home.string();
    const auto of_path = agents::binds_of(agents::Harness(), {}, shown);
    agents::Harness hidden;  // shows nothing of the program, and hides what is hidden from the agent
    if (const auto found = world.harnesses.find(place.task.harness)) hidden = found->harness;
    auto binds = agents::binds_of(hidden, {}, shown);
    std::erase_if(binds, [&](const agents::Bind& bind) {
        const bool is_of_program = bind.kind != agents::Bind::Kind::empty;
        return is_of_program && std::ranges::find(of_path, bind) == of_path.end();
    });
    add_shown(world, place.git_common, shown, binds);
    constexpr std::size_t k_name_length = 12;
    const auto meeting = world.paths.socket_of(RunId{"proxy-" + random_id(k_name_length)}).parent_path().string();
    const networks::Proxy proxy{agents::in_real_home(meeting, env) + "/proxy", networks::log_of(world, place.task)};
    if (network.kind == Network::Kind::list) binds.push_back({Path(proxy.socket).parent_path().string()});
    values.lists["binds"] = agents::words_of(binds, place.executor, shown);
    // Around the box, too: its first process keeps the variables that it was started with, for all in the box to read.
    std::vector<std::string> words_around = {agents::real_path((world.installation.bin / "orange-agent").string()),
                                             k_behind_option};
    words_around.insert(words_around.end(), place.executor.unset.begin(), place.executor.unset.end());
    words_around.emplace_back("--");
    auto inner = words_around;
    inner.emplace_back("{inner}");
    values.lists["inner"] = networks::inside(world, network, proxy, std::move(inner));
    const auto box = networks::around(world, network, proxy, agents::expanded(place.executor.inside, values));
    words_around.insert(words_around.end(), box.begin(), box.end());
    return words_around;
}

Result<void> check(const World& world, const Task& task) {
    if (!is_there(world, task.id.value) || wall_of(world, task)) return {};
    return Error(ErrorCode::conflict, "the agent of task " + task.id.value +
                                          " has worked behind a wall, and the definition of executor " + task.executor +
                                          " that it was recorded with is not there any more. Its work is in " +
                                          repository_of(world, task.id.value) +
                                          ", where no git must run outside of a "
                                          "wall. To give the task up, and keep that folder:\n  orange task cancel " +
                                          task.id.value);
}

Result<void> check_network(const World& world, const WalledWorktree& place) {
    const auto& project = place.task.project;
    return networks::check(world, project, &place.executor, executor_environment(world, project));
}

Awaitable<Result<void>> make_ready(World& world, WalledWorktree place, git::Pinned worktree) {
    const auto lock = co_await world.repositories.acquire(place.own.path);
    if (is_there(world, place.key)) co_return Result<void>{};
    const auto text = "gitdir: " + agents::in_real_home(place.own.path, world.base_environment) + "\n";
    CO_TRY(world.files.replace(link_of(world, place.key), text));
    auto names = names_for(world, place.task);
    auto own = place.own;
    co_return co_await git::make_own(world.git, std::move(own), worktree, std::move(names));
}

Awaitable<Result<std::vector<std::string>>> behind(World& world, Task task, git::Pinned worktree,
                                                   std::vector<std::string> argv) {
    CO_TRY(check(world, task));
    const auto place = place_of(world, task, worktree);
    if (!place || !place->executor.has_commands_inside()) co_return argv;
    CO_TRY(check_network(world, *place));
    CO_TRY(co_await make_ready(world, *place, worktree));
    co_return around(inside(world, *place, true), argv);
}

Awaitable<Result<void>> hand_over(World& world, WalledWorktree place, git::Pinned worktree) {
    const auto lock = co_await world.repositories.acquire(place.own.path);
    if (!is_there(world, place.key)) co_return Result<void>{};
    CO_TRY(co_await take(world, place, worktree));  // nothing of the agent's is moved aside
    auto names = names_for(world, place.task);
    auto own = place.own;
    auto command = upload_pack(world, place);
    CO_TRY(auto script,
           co_await git::to_hand_over(world.git, std::move(own), worktree, std::move(command), std::move(names)));
    co_return co_await do_script(world, std::move(place), std::move(script));
}

Awaitable<Result<void>> take_over(World& world, Task task, git::Pinned worktree) {
    if (!is_there(world, task.id.value)) co_return Result<void>{};
    CO_TRY(check(world, task));
    auto place = place_of(world, task, worktree);
    if (!place) co_return Result<void>{};
    const auto lock = co_await world.repositories.acquire(place->own.path);
    co_return co_await take(world, std::move(*place), worktree);
}

Awaitable<Result<std::string>> merge_there(World& world, WalledWorktree place, git::Pinned worktree, std::string commit,
                                           std::string message) {
    const auto lock = co_await world.repositories.acquire(place.own.path);
    CO_TRY(co_await take(world, place, worktree));
    auto script = "git -c core.hooksPath=/dev/null merge --quiet --no-edit -m " + shell_word(message) + " " + commit +
                  " >&2 || { git diff --name-only --diff-filter=U -z; git merge --abort; exit 1; }";
    CO_TRY(const auto merged, co_await run_script(world, place, std::move(script)));
    std::vector<std::string> files;
    for (const auto path : split(merged.out, '\0')) {
        if (!path.empty()) files.emplace_back(path);
    }
    if (!merged.ok() && files.empty()) co_return command_failed({"git", "merge", commit}, merged);
    if (!merged.ok()) {
        co_return Error(ErrorCode::conflict,
                        "git cannot merge this by itself (" + ellipsized(join(shown_paths(files), ", "), 200) +
                            "). Nothing was changed; the agent can merge it behind its wall:\n  orange task send " +
                            place.task.id.value + " 'Merge the default branch, and resolve the conflicts'");
    }
    CO_TRY(co_await take(world, place, worktree));
    GitCommand head;
    head.place = worktree;
    head.args = {"rev-parse", "--verify", "HEAD"};
    CO_TRY(const auto commit_now, co_await git_output(world.git, std::move(head)));
    co_return std::string(trim(commit_now));
}

Awaitable<Result<void>> reset_there(World& world, WalledWorktree place, git::Pinned worktree, std::string from,
                                    std::string to) {
    const auto lock = co_await world.repositories.acquire(place.own.path);
    CO_TRY(co_await take(world, place, worktree));
    auto script = "test \"$(git rev-parse HEAD)\" = " + from + "\n" +
                  "git -c core.hooksPath=/dev/null reset --quiet --keep " + to + "\n";
    CO_TRY(co_await do_script(world, place, std::move(script)));
    co_return co_await take(world, std::move(place), worktree);
}

Awaitable<std::vector<std::string>> give_up(World& world, Task task) {
    std::vector<std::string> notes;
    const auto path = repository_of(world, task.id.value);
    auto name = task.workspace.value_or("");
    if (!is_there(world, task.id.value) || name.empty()) co_return notes;
    const auto* found = world.projects.find(task.project);
    if (!found) co_return notes;
    const auto project = *found;
    const auto lock = co_await world.repositories.acquire(path);
    Result<std::vector<std::string>> kept = std::vector<std::string>();
    auto worktree = co_await world.pool.open(project, std::move(name));
    auto place = worktree ? place_of(world, task, *worktree) : std::nullopt;
    if (!place) kept = Error(ErrorCode::conflict, worktree ? "its executor is not known" : worktree.error().message);
    if (place) {
        const auto opened = *worktree;
        const auto taken = co_await take(world, *place, opened);
        if (!taken) kept = taken.error();
        if (taken) {
            const auto staged = co_await do_script(world, *place, git::k_keep_staged);
            if (!staged) log::warn("walls", staged.error().message, {{"task", task.id.value}});
            auto command = upload_pack(world, *place);
            auto own = place->own;
            auto below = "refs/orange/" + task.id.value;
            kept = co_await git::keep_own(world.git, std::move(own), std::move(command), std::move(below));
        }
    }
    git::OwnPlace own{project.path, path, "refs/orange/" + task.id.value + "/own"};
    if (kept && !kept->empty()) notes.push_back("other work of the agent is kept as " + join(*kept, ", "));
    if (!kept || git::holds_more(own)) {
        const auto aside = world.paths.workspaces() / ".found" / (*task.workspace + "-" + random_id(8) + "-repository");
        const auto moved = git::set_own_aside(path, aside.string());
        const auto& at = moved ? aside.string() : path;
        notes.push_back((kept ? "submodules or files of Git LFS are in the agent's repository" : kept.error().message) +
                        "\nThe agent's repository is in " + shown_path(at) +
                        ": run no git in it, because its configuration is the agent's");
        co_return notes;  // the refs keep what that repository stands on
    }
    if (auto removed = co_await git::remove_own(world.git, std::move(own)); !removed)
        log::warn("walls", removed.error().message, {{"task", task.id.value}});
    co_return notes;
}

Awaitable<void> sweep(World& world, Task task) {
    const auto* found = world.projects.find(task.project);
    if (!found) co_return;
    git::OwnPlace own{found->path, repository_of(world, task.id.value), "refs/orange/" + task.id.value + "/own"};
    const auto lock = co_await world.repositories.acquire(own.path);
    (void)world.files.remove(link_of(world, task.id.value));
    if (!is_there(world, task.id.value)) co_return;
    if (auto removed = co_await git::remove_own(world.git, std::move(own)); !removed)
        log::warn("walls", removed.error().message, {{"task", task.id.value}});
}

Awaitable<Result<void>> rename_there(World& world, WalledWorktree place, std::string from, std::string to) {
    const auto lock = co_await world.repositories.acquire(place.own.path);
    if (!is_there(world, place.key)) co_return Result<void>{};
    auto script = "git branch -m " + shell_word(from) + " " + shell_word(to);
    co_return co_await do_script(world, std::move(place), std::move(script));
}

Awaitable<Result<void>> remove(World& world, WalledWorktree place) {
    const auto lock = co_await world.repositories.acquire(place.own.path);
    auto own = place.own;
    co_return co_await git::remove_own(world.git, std::move(own));
}

void use_current(const World& world, Task& task) {
    if (task.executor.empty() || wall_of(world, task)) return;
    const auto recorded = world.executors.pinned(task.executor, task.executor_hash);
    if (recorded && !recorded->hides_files()) return;  // one that is not valid any more is an old one
    const auto entry = world.executors.find(task.executor);
    if (!entry || !entry->executor.has_own_repository) return;
    if (auto hash = world.executors.pin(*entry)) task.executor_hash = std::move(*hash);
}

}  // namespace orange::walls

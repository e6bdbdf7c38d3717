#include <algorithm>
#include <map>
#include <set>

#include "common/base/shown_path.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/doctor/exam.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/committer.hpp"
#include "daemon/git/included.hpp"

/// Checks of the projects' repositories: where they are, their default branches, and the snapshots in them.
namespace orange::doctor {
namespace {

/// Limits how many refs are examined; a repository may have any number.
constexpr const char* k_most_refs = "1000";

std::string update(const Project& project) {
    return "orange project update " + project.name;
}

Awaitable<Result<std::vector<std::string>>> snapshot_refs(Exam& exam, std::string repo) {
    GitCommand command{std::move(repo),
                       {"for-each-ref", std::string("--count=") + k_most_refs, "--format=%(refname)", "refs/orange/"}};
    CO_TRY(const auto listed, co_await git_output(exam.world.git, std::move(command)));
    std::vector<std::string> refs;
    for (const auto line : split_lines(listed)) refs.emplace_back(line);
    co_return refs;
}

/// Returns the branch that could be the new default branch; empty if that cannot be guessed.
Awaitable<std::string> successor(Exam& exam, Project project) {
    GitCommand command{project.path,
                       {"for-each-ref", "--count=3", "--format=%(refname:lstrip=3)", "refs/remotes/origin/"}};
    const auto listed = co_await git_output(exam.world.git, std::move(command));
    std::vector<std::string> of_origin;
    const std::string text = listed ? *listed : std::string();
    for (const auto line : split_lines(text)) {
        if (line != "HEAD") of_origin.emplace_back(line);
    }
    if (of_origin.size() == 1) co_return of_origin.front();
    const auto usual = co_await git::default_branch(exam.world.git, project.path);
    co_return usual&&* usual != project.default_branch ? *usual : std::string();
}

/// Reports settings with which Orange cannot work as usual: a core.bare or core.worktree that denies the checkout, or
/// remotes of which none is called origin.
Awaitable<void> check_settings(Exam& exam, Project project) {
    auto& known = exam.world.pool.known();
    const auto origin = co_await known.has_origin(exam.world.git, project.path);
    if (!origin) {
        const auto command = origin.error().details.find("command");
        exam.report.wrong("the repository of " + project.name + ": " + std::string(first_line(origin.error().message)),
                          command == origin.error().details.end() ? std::string() : command->second, project.path);
        co_return;
    }
    if (*origin) co_return;
    const auto remote = co_await known.unused_remote(exam.world.git, project.path, project.default_branch);
    const auto end = remote.find('\n');
    if (end == std::string::npos) co_return;
    exam.report.warn(project.name + ": " + remote.substr(0, end), std::string(trim(remote.substr(end))), project.path);
}

/// Returns true if the ref belongs to a task that has ended or is gone, or to files that were found in a workspace.
bool is_left_over(const Exam& exam, const std::string& ref) {
    const auto parts = split(ref, '/');
    if (parts.size() != 4 || parts[3] == "merged") return false;  // the default branch has that commit, too
    return !exam.world.tasks.active().contains(TaskId{std::string(parts[2])});
}

}  // namespace

Awaitable<void> check_repositories(Exam& exam) {
    for (const auto& project : exam.projects()) {
        if (!is_folder(exam.world.files, Path(project.path) / ".")) {
            exam.report.wrong("the repository of " + project.name +
                                  " is gone. If it was moved, give its new path; this also repairs its workspaces",
                              update(project) + " --path NEW_PATH", project.path);
            continue;
        }
        const auto common = co_await exam.world.pool.known().git_dir(exam.world.git, project.path);
        const auto obstacles = common ? git::obstacles_among_refs(*common) : std::vector<std::string>();
        for (const auto& path : obstacles) {
            exam.report.wrong(shown_path(path) + " is no file, and each git in the repository of " + project.name +
                                  " waits for it. Remove it",
                              "rm " + shell_word(path), path);
        }
        if (!obstacles.empty()) continue;
        auto trees = co_await git::worktrees(exam.world.git, project.path);
        if (!trees) {
            exam.report.wrong("the repository of " + project.name + " cannot be read: " + trees.error().message,
                              update(project) + " --path NEW_PATH", project.path);
            continue;
        }
        exam.repositories[project.name] = std::move(*trees);
        co_await check_settings(exam, project);
        const auto env = co_await git::env_note(exam.world.git, project.path);
        if (const auto end = env.find('\n'); end != std::string::npos) {
            exam.report.warn(project.name + ": " + env.substr(0, end), std::string(trim(env.substr(end))));
        }
    }
}

/// Asks each repository, because it may have its own user. Reports repositories with the same gaps together.
Awaitable<void> check_git_user(Exam& exam) {
    std::map<std::vector<std::string>, std::vector<std::string>> found;  // missing settings → projects
    for (const auto& project : exam.projects()) {
        if (!exam.repositories.contains(project.name)) continue;
        const auto missing = co_await git::missing_identity(exam.world.git, project.path);
        if (missing && !missing->empty()) found[*missing].push_back(project.name);
    }
    for (const auto& [missing, projects] : found) {
        exam.report.warn(git::missing_text(missing) + " (" + join(projects, ", ") + ")", git::missing_command(missing));
    }
}

Awaitable<void> check_default_branches(Exam& exam) {
    for (const auto& project : exam.projects()) {
        if (!exam.repositories.contains(project.name)) continue;
        const auto base = co_await git::base_ref(exam.world.git, project.path, project.default_branch);
        if (base) continue;
        const auto other = co_await successor(exam, project);
        exam.report.wrong(project.name + ": " + base.error().message,
                          update(project) + " --default-branch " + (other.empty() ? "NAME" : shell_word(other)),
                          project.path);
    }
}

Awaitable<void> check_snapshots(Exam& exam) {
    for (const auto& project : exam.projects()) {
        if (!exam.repositories.contains(project.name)) continue;
        const auto refs = co_await snapshot_refs(exam, project.path);
        if (!refs) continue;  // reported by check_repositories
        std::vector<std::string> left;
        std::copy_if(refs->begin(), refs->end(), std::back_inserter(left),
                     [&](const std::string& ref) { return is_left_over(exam, ref); });
        if (left.empty()) continue;
        const auto git = "git -C " + shell_word(project.path);
        exam.report.ok(project.name + " keeps " + counted(left.size(), "snapshot") +
                       " of uncommitted work of ended tasks; to look: " + git +
                       " --no-pager --no-replace-objects show --no-textconv " + shell_word(left.front()) +
                       "; to remove: " + git + " update-ref -d " + shell_word(left.front()));
    }
}

}  // namespace orange::doctor

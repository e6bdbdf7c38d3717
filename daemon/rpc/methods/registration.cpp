#include "daemon/rpc/methods/registration.hpp"

#include <filesystem>

#include "common/base/branch_name.hpp"
#include "common/base/shell_words.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/included.hpp"
#include "daemon/git/repository.hpp"
#include "daemon/git/repository_command.hpp"
#include "daemon/runner/transitions/project_names.hpp"

namespace orange::rpc {
namespace {

/// Returns a note if the default branch was guessed and the checkout is on another branch; empty otherwise.
Awaitable<std::string> other_branch(Git& git, Project project) {
    const auto current = co_await git::current_branch(git, project.path);
    if (!current || current->empty() || *current == project.default_branch) co_return std::string();
    co_return "tasks begin at " + printable(project.default_branch) + " and are merged into it; the checkout is on " +
        printable(*current) + ". To use that instead:\n  orange project update " + project.name + " --default-branch " +
        shell_word(*current);
}

/// Refuses a path that would be two lines where Orange and git write one: in `.git` files, in commands, in answers.
Result<void> check_one_line(const std::string& path) {
    if (path.find_first_of("\n\r") == std::string::npos) return {};
    return {ErrorCode::invalid_argument,
            "the path of the repository has a line break, with which git and Orange cannot work. Rename the folder: " +
                printable(path)};
}

/// Returns `command` as words behind an option: its own words, or a call of sh if it needs a shell.
std::string as_words(const std::string& option, const std::string& command) {
    const auto own = shell_words(command);
    if (!own) return " sh -c " + shell_word(command);
    std::string text;
    for (const auto& word : *own) text += (word.starts_with("--") ? " " + option + "=" : " ") + shell_word(word);
    return text;
}

/// `name`: "setup", of the option as well.
Result<void> check_words(FileSystem& files, const Project& project, std::vector<std::string>& words,
                         const std::string& name, const std::string& command) {
    if (words == std::vector<std::string>{""}) words.clear();
    if (words.empty()) return {};
    const auto& program = words.front();
    if (program.empty()) {
        return {ErrorCode::invalid_argument, "the " + name + " command's first word, its program, must not be empty"};
    }
    // A name with blanks is most likely a whole command in quotes, unless a program has that very name.
    const bool is_file = !is_missing(files, Path(project.path) / program);
    if (words.size() > 1 || is_file || program.find_first_of(" \t\n") == std::string::npos) return {};
    return {ErrorCode::invalid_argument, "there is no program \"" + printable(program) + "\". Give each word of the " +
                                             name + " command as its own argument:\n  " + command + " --" + name +
                                             as_words("--" + name, program)};
}

}  // namespace

Result<void> check_commands(FileSystem& files, Project& project, const std::string& command) {
    TRY(check_words(files, project, project.setup, "setup", command));
    return check_words(files, project, project.dev, "dev", command);
}

Result<void> check_pool_size(int size) {
    if (size >= 1 && size <= k_largest_pool) return {};
    return Error(ErrorCode::invalid_argument, "--pool-size must be from 1 to 64");
}

Awaitable<Result<std::string>> repository_at(Api& api, std::string path) {
    if (path.empty() || path.front() != '/') {
        co_return Error(ErrorCode::invalid_argument, "the path must be absolute: \"" + path + "\"");
    }
    if (!is_folder(api.world().files, Path(path) / ".")) {
        co_return Error(ErrorCode::not_found, "there is no directory " + path);
    }
    if (api.world().pool.project_at(path)) {
        co_return Error(ErrorCode::invalid_argument, path + " is a workspace of Orange; use the repository itself");
    }
    CO_TRY(auto root, co_await git::main_worktree(api.world().git, path));
    CO_TRY(check_one_line(root));
    co_return root;
}

Awaitable<Result<void>> check_default_branch(Api& api, std::string repo, std::string branch) {
    for (const char* prefix : {"refs/heads/", "refs/remotes/origin/"}) {
        CO_TRY(const auto commit, co_await git::commit_of(api.world().git, repo, prefix + branch));
        if (!commit.empty()) co_return Result<void>{};
    }
    co_return Error(ErrorCode::not_found, repo + " has no branch \"" + branch + "\"");
}

std::string unused_project_name(Api& api, const std::string& wanted) {
    auto name = wanted;
    for (int n = 2; api.world().projects.find(name); ++n) name = wanted + "-" + std::to_string(n);
    return name;
}

Awaitable<Result<NewProject>> new_project(Api& api, ProjectAdd params) {
    auto& world = api.world();
    CO_TRY(auto root, co_await repository_at(api, params.path));
    if (const auto* known = world.projects.at_path(root)) {
        co_return Error(ErrorCode::conflict, root + " is already registered as project " + known->name);
    }
    auto folder = std::filesystem::path(root).filename().string();
    if (folder.size() > 4 && folder.ends_with(".git")) folder.resize(folder.size() - 4);  // a bare repository
    NewProject made;
    auto& project = made.project;
    project.path = root;
    project.name = params.name ? *params.name : unused_project_name(api, project_name_from(folder));
    CO_TRY(check_project_name(project.name));
    if (world.projects.find(project.name)) {
        co_return Error(ErrorCode::conflict, "project " + project.name + " already exists; choose another --name");
    }
    bool is_known = true;
    if (params.default_branch) {
        project.default_branch = branch_name(*params.default_branch);
        note_branch(*params.default_branch, made.notes);
    } else {
        CO_TRY(auto found, co_await git::find_default_branch(world.git, root));
        project.default_branch = std::move(found.name);
        is_known = found.is_known;
    }
    CO_TRY(co_await check_default_branch(api, root, project.default_branch));
    project.pool_size = params.pool_size.value_or(project.pool_size);
    CO_TRY(check_pool_size(project.pool_size));
    project.workflow = params.workflow;
    project.harness = params.harness;
    project.setup = params.setup;
    project.dev = params.dev;
    CO_TRY(check_commands(api.world().files, project, "orange project add " + shell_word(root)));
    CO_TRY(check_names(api.world(), project));
    std::string on_other_branch;
    if (!is_known) on_other_branch = co_await other_branch(world.git, project);
    CO_TRY(co_await world.pool.known().has_origin(world.git, root));
    const auto remote = co_await world.pool.known().unused_remote(world.git, root, project.default_branch);
    CO_TRY(const auto ssh, co_await git::own_ssh_command(world.git, root));
    std::string by_ssh;
    if (!ssh.empty()) {
        git::trust_ssh(project, ssh);
        by_ssh = "remotes are reached with core.sshCommand of the repository, as long as it stays: " + printable(ssh);
    }
    const auto env = co_await git::env_note(world.git, root);
    for (const auto& note : {on_other_branch, remote, by_ssh, env}) {
        if (!note.empty()) made.notes.push_back(note);
    }
    co_return made;
}

}  // namespace orange::rpc

#include "daemon/git/nested.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <utility>

#include "common/base/ids.hpp"
#include "common/base/shown_path.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/small_files.hpp"
#include "daemon/git/submodules.hpp"

namespace orange::git {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_modules = "modules";
constexpr int k_most_folders = 16;         ///< in the name of a submodule
constexpr std::size_t k_most_named = 200;  ///< paths in the arguments of one git

/// Returns true if all parts of a git directory lie in it. `path`: the repository's, for the error message.
Result<bool> is_all_there(int git_dir, const std::string& shown, const std::string& path) {
    struct stat facts {};
    bool all = ::fstatat(git_dir, "commondir", &facts, AT_SYMLINK_NOFOLLOW) != 0;
    auto seen = see_all_below(git_dir, shown, [&](int folder, const std::string& name, unsigned mode) -> Result<void> {
        all = all && (S_ISREG(mode) || S_ISDIR(mode) || is_link_downwards(folder, name));
        return {};
    });
    if (!seen && seen.error().code == ErrorCode::conflict) {
        auto refused = seen.error();
        refused.message += "; to pack it, run: git -C " + shell_word(path) + " gc";
        return refused;
    }
    if (!seen) return seen.error();
    return all;
}

std::string absolute_git_dir(const Pinned& repository) {
    const fs::path git_dir = repository.git_dir();
    return git_dir.is_absolute() ? git_dir.string() : repository.path() + "/" + git_dir.string();
}

/// Returns the name of the module that a folder's .git file leads to; empty if it leads elsewhere.
std::string module_named_by(int folder, const std::string& path, const Pinned& worktree) {
    const auto text = small_file_at(folder, ".git");
    if (!text || !text->starts_with("gitdir: ")) return {};
    const auto target = real_path(fs::path(path) / std::string(trim(std::string_view(*text).substr(8))));
    const auto modules = real_path(absolute_git_dir(worktree)) + "/" + k_modules + "/";
    return target.starts_with(modules) ? target.substr(modules.size()) : std::string();
}

std::string shown_module(const Pinned& repository, const std::string& name) {
    return absolute_git_dir(repository) + "/" + k_modules + "/" + name;
}

bool is_git_dir(int folder) {
    return is_folder_at(folder, "objects") && small_file_at(folder, "HEAD");
}

/// Finds modules at `prefix` and below; the name of a submodule may have slashes.
Result<void> find_modules(const Pinned& repository, int folder, const std::string& prefix, int levels,
                          std::vector<Module>& found) {
    const auto shown = shown_module(repository, prefix);
    TRY(const auto names, names_in(folder, shown));
    for (const auto& each : names) {
        if (!is_folder_at(folder, each)) continue;
        const auto name = prefix + each, path = shown_module(repository, name);
        TRY(auto opened, open_folder_at(folder, each, path));
        if (!is_git_dir(opened.get())) {
            if (levels > 0) TRY(find_modules(repository, opened.get(), name + "/", levels - 1, found));
            continue;
        }
        TRY(const auto is_whole, is_all_there(opened.get(), path, path));
        const auto held = Pinned::hold(std::move(opened));
        found.push_back({Pinned(path, path, path, held, held), name, is_whole});
    }
    return {};
}

/// Returns the commits that HEAD records for those of these paths that are submodules.
Awaitable<Result<std::map<std::string, std::string>>> recorded_commits(Git& git, Pinned worktree,
                                                                       std::vector<std::string> paths) {
    std::map<std::string, std::string> commits;
    CO_TRY(const auto head, co_await commit_of(git, worktree, "HEAD"));
    if (head.empty()) co_return commits;
    for (std::size_t begin = 0; begin < paths.size(); begin += k_most_named) {
        auto args = words("ls-tree", "-z", "--full-tree", "HEAD", "--");
        const auto end = std::min(paths.size(), begin + k_most_named);
        for (auto i = begin; i < end; ++i) args.push_back(paths[i]);
        CO_TRY(const auto listed, co_await ask_inside(git, worktree, std::move(args)));
        for (const auto& entry : tree_entries(listed)) {
            if (entry.mode == "160000") commits[entry.path] = entry.object;
        }
    }
    co_return commits;
}

Result<Nested> opened_nested(const Pinned& worktree, const std::string& relative) {
    const auto path = worktree.path() + "/" + relative;
    TRY(auto opened, open_folder_below(worktree.folder()->get(), relative, path));
    const auto folder = Pinned::hold(std::move(opened));
    Nested nested{worktree.from(path, folder), std::nullopt};
    if (is_folder_at(folder->get(), ".git")) {
        TRY(auto git_dir, open_folder_at(folder->get(), ".git", path + "/.git"));
        TRY(nested.is_whole, is_all_there(git_dir.get(), path + "/.git", path));
        nested.repository.emplace(path, ".git", ".git", folder, Pinned::hold(std::move(git_dir)));
        return nested;
    }
    const auto name = module_named_by(folder->get(), path, worktree);
    if (name.empty()) return nested;
    const auto module = shown_module(worktree, name);
    TRY(auto git_dir, open_folder_below(worktree.admin(), std::string(k_modules) + "/" + name, module));
    if (!is_git_dir(git_dir.get())) return nested;
    TRY(nested.is_whole, is_all_there(git_dir.get(), module, path));
    nested.is_module = true;
    nested.repository.emplace(path, module, module, folder, Pinned::hold(std::move(git_dir)));
    return nested;
}

}  // namespace

Error keeping_failed(const std::string& path, Error why) {
    auto refused = in_context("keeping the repository in " + shown_path(path), std::move(why));
    refused.message += "; if it is of no use, remove it, then run: orange workspace gc";
    return refused;
}

Result<Nested> open_nested(const Pinned& worktree, const NestedPath& at) {
    auto nested = opened_nested(worktree, at.path);
    if (!nested) return keeping_failed(worktree.path() + "/" + at.path, nested.error());
    nested->recorded = at.recorded;
    return nested;
}

Awaitable<Result<std::vector<std::string>>> submodules_in_index(Git& git, Pinned worktree,
                                                                std::map<std::string, std::string> env) {
    CO_TRY(const auto staged,
           co_await ask_inside(git, worktree, words("ls-files", "-z", "--stage", "--full-name"), "", std::move(env)));
    std::vector<std::string> paths;
    for (const auto& entry : pieces(staged)) {
        const auto name = entry.find('\t');
        if (entry.starts_with("160000 ") && name != std::string::npos) paths.push_back(entry.substr(name + 1));
    }
    co_return paths;
}

Awaitable<Result<std::vector<std::string>>> set_repositories_aside(Git& git, Pinned worktree, std::string aside) {
    CO_TRY(const auto inside, co_await repositories_inside(git, worktree));
    std::vector<std::string> moved;
    if (inside.empty() && !has_modules(worktree)) co_return moved;
    CO_TRY(const auto into, make_aside(aside));
    const auto mark = fs::path(worktree.path()).filename().string() + "-" + random_id(8) + "-";
    const auto move = [&](int folder, const std::string& name, const std::string& shown) -> Result<void> {
        const auto kept = mark + std::to_string(moved.size()) + "-" + name;
        if (::renameat(folder, name.c_str(), into.get(), kept.c_str()) != 0) return io_error("moving " + shown, errno);
        moved.push_back(aside + "/" + kept);
        return {};
    };
    for (const auto& each : inside) {
        const auto shown = worktree.path() + "/" + each.path;
        const auto slash = each.path.rfind('/');
        if (slash == std::string::npos) {
            CO_TRY(move(worktree.folder()->get(), each.path, shown));
            continue;
        }
        const auto parent = open_folder_below(worktree.folder()->get(), each.path.substr(0, slash), shown);
        if (!parent) continue;  // a link is on the way, so the repository is elsewhere
        CO_TRY(move(parent->get(), each.path.substr(slash + 1), shown));
    }
    if (has_modules(worktree)) CO_TRY(move(worktree.admin(), k_modules, shown_module(worktree, "")));
    co_return moved;
}

Awaitable<Result<std::vector<NestedPath>>> repositories_inside(Git& git, Pinned worktree) {
    // Use an index that does not exist, so that repositories which the agent staged as submodules are listed, too.
    const std::map<std::string, std::string> no_index = {
        {"GIT_INDEX_FILE", worktree.git_dir() + "/orange-none-" + random_id(12)}};
    CO_TRY(const auto others,
           co_await ask_inside(git, worktree, words("ls-files", "-z", "--others", "--exclude-standard", "--full-name"),
                               "", no_index));
    std::vector<std::string> paths;
    for (auto path : pieces(others)) {
        if (!path.ends_with('/')) continue;
        path.pop_back();
        paths.push_back(std::move(path));
    }
    if (has_modules(worktree) || worktree.is_walled()) {  // a submodule may be in a folder that git ignores
        const std::map<std::string, std::string> own_index;
        CO_TRY(auto staged, co_await submodules_in_index(git, worktree, own_index));
        for (auto& path : staged) {
            const auto git_file = path + "/.git";
            const bool is_there =
                ::faccessat(worktree.folder()->get(), git_file.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
            if (is_there && std::ranges::find(paths, path) == paths.end()) paths.push_back(std::move(path));
        }
    }
    std::vector<NestedPath> found;
    if (paths.empty()) co_return found;
    CO_TRY(const auto recorded, co_await recorded_commits(git, worktree, paths));
    for (auto& path : paths) {
        const auto commit = recorded.find(path);
        found.push_back({std::move(path), commit == recorded.end() ? std::string() : commit->second});
    }
    co_return found;
}

Result<void> remove_git_of(Git& git, const Nested& nested) {
    const auto shown = nested.outer.path() + "/.git";
    const auto folder = nested.outer.folder()->get();
    struct stat held {};
    struct stat there {};
    const bool is_there = ::fstatat(folder, ".git", &there, AT_SYMLINK_NOFOLLOW) == 0;
    if (!nested.repository || nested.is_module) {
        if (!is_there || ::unlinkat(folder, ".git", 0) == 0) return {};  // a file, never a folder
        return io_error("removing " + shown, errno);
    }
    const int own = nested.repository->admin();
    if (!is_there || ::fstat(own, &held) != 0 || held.st_ino != there.st_ino || held.st_dev != there.st_dev) {
        return Error(ErrorCode::conflict, printable(shown) + " has been replaced meanwhile; nothing was removed");
    }
    return git.remove(folder, ".git", shown);
}

bool has_modules(const Pinned& repository) {
    return is_folder_at(repository.admin(), k_modules);
}

Result<std::vector<Module>> modules_of(const Pinned& repository) {
    std::vector<Module> found;
    if (!has_modules(repository)) return found;
    TRY(const auto folder, open_folder_at(repository.admin(), k_modules, shown_module(repository, "")));
    TRY(find_modules(repository, folder.get(), "", k_most_folders, found));
    return found;
}

Result<void> remove_module(Git& git, const Pinned& repository, const Module& module) {
    const auto relative = std::string(k_modules) + "/" + module.name;
    const auto slash = relative.rfind('/');
    TRY(const auto parent, open_folder_below(repository.admin(), relative.substr(0, slash), module.repository.path()));
    return git.remove(parent.get(), relative.substr(slash + 1), module.repository.path());
}

}  // namespace orange::git

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/repository.hpp"
#include "daemon/git/small_files.hpp"
#include "daemon/git/worktrees.hpp"

/// Lists worktrees as `git worktree list` does, from the files that it reads.
namespace orange::git {
namespace {

constexpr std::string_view k_ref = "ref: ";

/// Returns the branch that a HEAD is on, empty if it is detached; nothing if only git can tell.
std::optional<std::string> branch_in(int folder, const std::string& common) {
    const auto head = small_file_at(folder, "HEAD").value_or("");
    const auto text = trim(head);
    if (is_hash(text)) return std::string();
    const auto ref = text.starts_with(k_ref) ? trim(text.substr(k_ref.size())) : std::string_view();
    // With the ref storage "reftable" the file names the branch ".invalid".
    if (!ref.starts_with(k_heads) || ref.substr(k_heads.size()).starts_with('.')) return std::nullopt;
    if (is_symbolic_ref(AT_FDCWD, common + "/" + std::string(ref))) return std::nullopt;
    return std::string(ref.substr(k_heads.size()));
}

/// Returns the worktree of git's own folder `admin`.
std::optional<Worktree> linked(int all, const std::string& admin, const std::string& common) {
    constexpr std::string_view k_end = "/.git";
    const auto shown = common + "/worktrees/" + admin;
    const auto folder = open_folder_at(all, admin, shown);
    if (!folder) return std::nullopt;
    const auto pointer = small_file_at(folder->get(), "gitdir").value_or("");
    const auto file = trim(pointer);
    auto branch = branch_in(folder->get(), common);
    if (!file.ends_with(k_end) || !branch) return std::nullopt;
    Worktree worktree;
    worktree.admin = admin;
    const auto path = (std::filesystem::path(shown) / file).lexically_normal().parent_path();
    worktree.path = real_path(path.parent_path()) + "/" + path.filename().string();  // a link in its place is not it
    worktree.branch = std::move(*branch);
    struct stat facts {};
    worktree.is_locked = ::fstatat(folder->get(), "locked", &facts, AT_SYMLINK_NOFOLLOW) == 0;
    if (!worktree.is_locked) return worktree;
    const auto reason = small_file_at(folder->get(), "locked");
    if (!reason) return std::nullopt;
    worktree.locked = trim(*reason);
    return worktree;
}

}  // namespace

std::optional<std::vector<Worktree>> files_of_worktrees(const std::string& repo) {
    const auto common = repo + "/.git";
    const auto own = open_folder(common);
    if (!own || !has_checkout(common)) return std::nullopt;
    auto branch = branch_in(own->get(), common);
    if (!branch) return std::nullopt;
    std::vector<Worktree> found(1);
    found.front().path = real_path(repo);
    found.front().branch = std::move(*branch);
    struct stat facts {};
    if (::fstatat(own->get(), "worktrees", &facts, AT_SYMLINK_NOFOLLOW) != 0) return found;
    const auto all = open_folder_at(own->get(), "worktrees", common + "/worktrees");
    const auto names = all ? names_in(all->get(), common + "/worktrees") : all.error();
    if (!names) return std::nullopt;
    for (const auto& name : *names) {
        auto worktree = linked(all->get(), name, common);
        if (!worktree) return std::nullopt;
        found.push_back(std::move(*worktree));
    }
    return found;
}

Awaitable<Result<std::vector<Worktree>>> listed_worktrees(Git& git, std::string repo) {
    if (auto found = files_of_worktrees(repo)) co_return std::move(*found);
    co_return co_await worktrees(git, std::move(repo));
}

}  // namespace orange::git

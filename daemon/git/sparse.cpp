#include "daemon/git/sparse.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <optional>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/small_files.hpp"

namespace orange::git {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_longest_patterns = std::size_t{4} << 20;
constexpr const char* k_patterns = "sparse-checkout";  ///< in the folder info/ of the worktree's git directory

struct Sparse {
    bool is_on = false;
    bool is_cone = false;  ///< the patterns name folders, which only makes git faster
    std::optional<std::string> patterns;
};

std::optional<std::string> patterns_in(int git_dir) {
    const auto info = open_folder_at(git_dir, "info", "info");
    if (!info) return std::nullopt;
    return small_file_at(info->get(), k_patterns, k_longest_patterns);
}

Awaitable<Result<Sparse>> sparse_of(Git& git, Place place, int git_dir) {
    CO_TRY(const auto asked,
           co_await attempt(git, place,
                            words("config", "--type=bool", "-z", "--get-regexp", "^core\\.sparsecheckout(cone)?$")));
    if (asked.exit_status > 1) co_return command_failed(words("git", "config", "core.sparseCheckout"), asked);
    Sparse sparse;
    for (const auto& entry : pieces(asked.out)) {  // "<key>\n<value>"; the last entry of a key counts
        if (entry.starts_with("core.sparsecheckout\n")) sparse.is_on = entry.ends_with("\ntrue");
        if (entry.starts_with("core.sparsecheckoutcone\n")) sparse.is_cone = entry.ends_with("\ntrue");
    }
    sparse.patterns = patterns_in(git_dir);
    if (!sparse.patterns) sparse.is_on = false;  // without patterns git leaves no file out
    co_return sparse;
}

Result<void> write_patterns(const Pinned& worktree, const std::string& patterns) {
    const auto shown = worktree.git_dir() + "/info";
    if (::mkdirat(worktree.admin(), "info", 0777) != 0 && errno != EEXIST) return io_error("making " + shown, errno);
    TRY(const auto info, open_folder_at(worktree.admin(), "info", shown));
    return replace_file_at(info.get(), k_patterns, patterns, shown + "/" + k_patterns);
}

/// Sets a setting of one worktree. If it differs from the main worktree's, git already keeps settings for each
/// worktree.
Awaitable<Result<void>> set(Git& git, Pinned worktree, std::string key, bool value) {
    CO_TRY(co_await ask_inside(git, worktree, words("config", "--worktree", key, value ? "true" : "false")));
    co_return Result<void>{};
}

/// Clears the marks of all files, and writes the files that were left out.
Awaitable<Result<void>> leave_nothing_out(Git& git, Pinned worktree) {
    CO_TRY(const auto listed, co_await ask_inside(git, worktree, words("ls-files", "-v", "-z", "--full-name")));
    std::string marked;
    for (const auto& entry : pieces(listed)) {
        if (entry.size() > 2 && (entry[0] == 'S' || entry[0] == 's')) marked += entry.substr(2) + '\0';
    }
    if (marked.empty()) co_return Result<void>{};
    CO_TRY(co_await ask_inside(git, worktree, words("update-index", "--no-skip-worktree", "-z", "--stdin"), marked));
    CO_TRY(co_await ask_inside(git, worktree, words("reset", "--quiet", "--hard")));
    co_return Result<void>{};
}

}  // namespace

bool is_left_out(const std::string& entry, const std::string& path_of_file) {
    if (entry[0] != 'S' && entry[0] != 's') return false;
    std::error_code error;
    return fs::symlink_status(path_of_file, error).type() == fs::file_type::not_found;
}

Awaitable<Result<void>> leave_out_as_own_index(Git& git, Pinned worktree, std::map<std::string, std::string> env) {
    CO_TRY(const auto listed,
           co_await ask_inside(git, worktree, words("ls-files", "-v", "--stage", "-z", "--full-name")));
    std::string entries, paths;
    for (const auto& entry : pieces(listed)) {  // "<mark> <mode> <object> <stage>\t<path>"
        const auto tab = entry.find('\t');
        if (tab == std::string::npos || entry.size() < 3) co_return unexpected_output("git ls-files", entry);
        const auto path = entry.substr(tab + 1);
        if (!is_left_out(entry, worktree.path() + "/" + path)) continue;
        entries += entry.substr(2) + '\0';
        paths += path + '\0';
    }
    if (paths.empty()) co_return Result<void>{};
    CO_TRY(co_await ask_inside(git, worktree, words("update-index", "-z", "--index-info"), entries, env));
    CO_TRY(co_await ask_inside(git, worktree, words("update-index", "--skip-worktree", "-z", "--stdin"), paths, env));
    co_return Result<void>{};
}

Awaitable<Result<void>> match_sparse_checkout(Git& git, std::string repo, Pinned worktree, WorktreeStatus standing) {
    std::error_code error;
    const bool may_be_sparse = !standing.known || standing.leaves_files_out || patterns_in(worktree.admin()) ||
                               fs::exists(worktree.common_dir() + "/info/" + k_patterns, error);
    if (!may_be_sparse) co_return Result<void>{};
    CO_TRY(const auto main_dir, co_await git_dir(git, repo));
    CO_TRY(const auto main_folder, open_folder(main_dir));
    CO_TRY(const auto wanted, co_await sparse_of(git, repo, main_folder.get()));
    CO_TRY(const auto own, co_await sparse_of(git, worktree, worktree.admin()));
    if (!wanted.is_on) {
        if (own.is_on) CO_TRY(co_await set(git, worktree, "core.sparseCheckout", false));
        co_return co_await leave_nothing_out(git, worktree);
    }
    if (own.patterns != wanted.patterns) CO_TRY(write_patterns(worktree, *wanted.patterns));
    if (own.is_cone != wanted.is_cone) CO_TRY(co_await set(git, worktree, "core.sparseCheckoutCone", wanted.is_cone));
    if (!own.is_on) CO_TRY(co_await set(git, worktree, "core.sparseCheckout", true));
    CO_TRY(co_await ask_inside(git, worktree, words("sparse-checkout", "reapply")));
    co_return Result<void>{};
}

}  // namespace orange::git

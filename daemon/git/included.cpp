#include "daemon/git/included.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "common/base/shown_path.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/posix/write.hpp"
#include "daemon/async/async.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/clone.hpp"
#include "daemon/git/small_files.hpp"

namespace orange::git {
namespace {

constexpr const char* k_list = ".worktreeinclude";
constexpr std::size_t k_longest_list = std::size_t{1} << 20;
constexpr std::size_t k_piece = std::size_t{1} << 20;
constexpr std::size_t k_most_notes = 3;
constexpr int k_opened = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
constexpr int k_made = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;

/// Returns true if the file or a folder above it is in `names`: a submodule is listed by its name alone.
bool is_or_is_below(const std::set<std::string>& names, const std::string& file) {
    for (auto at = file.find('/'); at != std::string::npos; at = file.find('/', at + 1)) {
        if (names.contains(file.substr(0, at))) return true;
    }
    return names.contains(file);
}

/// Returns the files that are untracked, match the list, and are ignored by git's own rules, too.
Awaitable<Result<std::vector<std::string>>> wanted(Git& git, std::string repo, Pinned worktree,
                                                   std::vector<std::string> never) {
    auto named_by = words("ls-files", "--others", "--ignored", std::string("--exclude-from=") + k_list, "-z");
    CO_TRY(const auto named, co_await ask(git, repo, std::move(named_by)));
    auto shown_by = words("ls-files", "--others", "--exclude-standard", "-z");
    CO_TRY(const auto shown, co_await ask(git, repo, std::move(shown_by)));
    auto tracked_by = words("ls-files", "--cached", "-z");
    CO_TRY(const auto tracked, co_await ask_inside(git, worktree, std::move(tracked_by)));
    const auto not_ignored = pieces(shown), of_branch = pieces(tracked);
    std::set<std::string> others(not_ignored.begin(), not_ignored.end());
    others.insert(of_branch.begin(), of_branch.end());
    auto files = pieces(named);
    std::erase_if(files, [&](const std::string& file) {
        const bool is_repository = file.ends_with('/');
        return is_repository || is_or_is_below(others, file) ||
               std::any_of(never.begin(), never.end(), [&](const auto& begin) { return file.starts_with(begin); });
    });
    co_return files;
}

Awaitable<std::vector<std::string>> env_files(Git& git, std::string repo, std::string ignored_by) {
    auto args = words("ls-files", "--others", "--ignored", std::move(ignored_by), "-z", "--", ".env", ".env.*");
    const auto found = co_await ask(git, std::move(repo), std::move(args));
    co_return found ? pieces(*found) : std::vector<std::string>();
}

struct Ends {
    UniqueFd from, to;
};

Error not_copied(const std::string& file, const std::string& why) {
    return {ErrorCode::io, shown_path(file) + " of " + k_list + " was not copied: " + why};
}

Result<UniqueFd> folder_for(int root, const std::string& file, bool make) {
    UniqueFd folder(::openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const auto names = split(file, '/');
    for (std::size_t i = 0; folder && i + 1 < names.size(); ++i) {
        const std::string name(names[i]);
        if (make) ::mkdirat(folder.get(), name.c_str(), 0777);
        folder.reset(::openat(folder.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    }
    if (!folder)
        return not_copied(file, errno == ELOOP || errno == ENOTDIR ? "its folder is a link" : std::strerror(errno));
    return folder;
}

/// Opens the file for reading, and creates its copy. Both are empty if the copy exists and is to stay.
Result<Ends> open_ends(int repo, int worktree, const std::string& file, bool replace) {
    const auto name = file.substr(file.rfind('/') + 1);
    TRY(const auto source, folder_for(repo, file, false));
    Ends ends;
    ends.from.reset(::openat(source.get(), name.c_str(), k_opened));
    if (!ends.from && errno == ELOOP) return not_copied(file, "it is a symbolic link");
    struct stat facts {};
    if (!ends.from || ::fstat(ends.from.get(), &facts) != 0) return not_copied(file, std::strerror(errno));
    if (!S_ISREG(facts.st_mode)) return not_copied(file, "it is not a file");
    TRY(const auto target, folder_for(worktree, file, true));
    struct stat there {};
    if (::fstatat(target.get(), name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0) {
        if (!replace) return Ends{};
        ::unlinkat(target.get(), name.c_str(), 0);
    }
    ends.to.reset(::openat(target.get(), name.c_str(), k_made, 0600));
    if (!ends.to) return not_copied(file, std::strerror(errno));
    return ends;
}

/// Copies in pieces and yields between them, so that the daemon's other work goes on.
Awaitable<Result<void>> copy_contents(int from, int to, std::string file) {
    std::string piece(k_piece, '\0');
    for (;;) {
        const auto size = ::read(from, piece.data(), piece.size());
        if (size < 0) co_return not_copied(file, std::strerror(errno));
        if (size == 0) co_return Result<void>{};
        const std::string_view read(piece.data(), static_cast<std::size_t>(size));
        if (const int problem = posix::write_all(to, read); problem != 0)
            co_return not_copied(file, std::strerror(problem));
        co_await async::yield();
    }
}

/// Copies the file and its permissions.
Awaitable<Result<void>> copy(int repo, int worktree, std::string file, bool replace) {
    CO_TRY(const auto ends, open_ends(repo, worktree, file, replace));
    if (!ends.from) co_return Result<void>{};
    if (!clone_contents(ends.from.get(), ends.to.get())) {
        CO_TRY(co_await copy_contents(ends.from.get(), ends.to.get(), file));
    }
    struct stat facts {};
    if (::fstat(ends.from.get(), &facts) == 0) (void)::fchmod(ends.to.get(), facts.st_mode & 0777);
    co_return Result<void>{};
}

}  // namespace

Awaitable<Result<std::vector<std::string>>> included_files(Git& git, std::string repo, Pinned worktree,
                                                           std::vector<std::string> never) {
    const auto top = open_folder(repo);
    if (!top || !small_file_at(top->get(), k_list, k_longest_list)) co_return std::vector<std::string>();
    co_return co_await wanted(git, std::move(repo), std::move(worktree), std::move(never));
}

Awaitable<std::vector<std::string>> copy_included(Git& git, std::string repo, Pinned worktree,
                                                  std::vector<std::string> never, bool replace,
                                                  std::shared_ptr<Stop> stop) {
    std::vector<std::string> notes;
    const auto top = open_folder(repo);
    if (!top) co_return notes;
    const auto files = co_await included_files(git, repo, worktree, std::move(never));
    if (!files) {
        notes.push_back(std::string("the files of ") + k_list + " were not copied: " + files.error().message);
        co_return notes;
    }
    std::size_t problems = 0;
    for (const auto& file : *files) {
        if (stop && stop->requested()) break;
        auto one = file;
        const auto copied = co_await copy(top->get(), worktree.folder()->get(), std::move(one), replace);
        if (!copied && ++problems <= k_most_notes) notes.push_back(copied.error().message);
    }
    if (problems > k_most_notes) {
        notes.push_back(counted(problems - k_most_notes, "more file") + " of " + k_list + " could not be copied");
    }
    co_return notes;
}

Awaitable<std::string> env_note(Git& git, std::string repo) {
    auto files = co_await env_files(git, repo, "--exclude-standard");
    const auto named = co_await env_files(git, repo, std::string("--exclude-from=") + k_list);
    std::erase_if(files, [&](const std::string& file) { return std::ranges::find(named, file) != named.end(); });
    if (files.empty()) co_return std::string();
    std::string note = "tasks do not have ";
    for (std::size_t i = 0; i < files.size(); ++i) note += (i > 0 ? ", " : "") + shown_path(files[i]);
    note += ", because git ignores " + std::string(files.size() == 1 ? "it" : "them") +
            ". To copy it into their worktrees:\n  echo " + shell_word(files.front()) + " >> " +
            shell_word(repo + "/" + k_list);
    co_return note;
}

}  // namespace orange::git

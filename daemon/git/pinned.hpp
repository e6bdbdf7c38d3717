#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "daemon/process/unique_fd.hpp"

/// Worktrees that agents write. Their `.git` says where their repository is, and an agent may write it: what the daemon
/// runs there goes by what was taken down when the worktree was made.
namespace orange::git {

/// What is remembered of a worktree.
struct Identity {
    std::string admin;
    std::uint64_t inode = 0;

    template <class V>
    void describe(V& v) {
        v.required("admin", admin, "the name of its folder in the repository's .git/worktrees");
        v.required("inode", inode, "of its own folder");
    }
    bool operator==(const Identity&) const = default;
};

/// A worktree that git may be run in: its folder and git's own folder for it, both held open. Cheap to copy. What the
/// daemon itself changes there goes by these descriptors; git is told git_dir().
class Pinned {
  public:
    using Folder = std::shared_ptr<const UniqueFd>;
    Pinned(std::string path, std::string git_dir, std::string common_dir, Folder folder, Folder admin);
    const std::string& path() const { return held_->path; }              ///< for people, and for files in it
    const std::string& git_dir() const { return held_->git_dir; }        ///< .git/worktrees/<name>; of a Nested: ".git"
    const std::string& common_dir() const { return held_->common_dir; }  ///< .git
    const Folder& folder() const { return held_->folder; }
    int admin() const { return held_->admin->get(); }  ///< git_dir(), as it was when the worktree was opened

    /// This worktree's git, run in another folder.
    Pinned from(std::string path, Folder folder) const;

  private:
    struct Held {
        std::string path, git_dir, common_dir;
        Folder folder, admin;
    };
    std::shared_ptr<const Held> held_;
};

/// A file of git's that somebody had replaced, and that Orange has restored.
struct Mended {
    std::string what;  ///< ".git", "gitdir" or "commondir"; or the name of a pipe in git's own folder
    std::string kept;  ///< the new place of the found file; empty: there was none, or it was only an old pointer
};

/// Which worktree of that repository is at `path`, by what the repository says; nothing that lies in it is read.
/// not_found where none is, conflict where it cannot be told.
Result<Identity> identify(const std::string& common_dir, const std::string& path);

/// Removes git's own folders for a worktree at `path`, those too that are so damaged that `git worktree remove`
/// refuses.
Result<void> forget(const std::string& common_dir, const std::string& path);

/// Opens the worktree, and restores the three files by which it and its repository find each other. A found `.git` is
/// moved into `aside`, the other two, and pipes, to another name. conflict if another folder is in the worktree's
/// place, or if the HEAD in git's own folder for it is damaged: then nothing was changed, and the message says what to
/// do. `mended` gets the restored files.
Result<Pinned> pin(const std::string& common_dir, const std::string& path, const Identity& identity,
                   const std::string& aside, std::vector<Mended>& mended);

/// As pin(), but changes nothing: a worktree whose files do not agree is a conflict too.
Result<Pinned> pin_as_it_is(const std::string& common_dir, const std::string& path, const Identity& identity);

/// Locks that git makes in its own folder for a worktree, and nothing else; for when no git works there any more.
std::vector<std::string> locks_in(const Pinned& worktree);

/// Whether a folder of that name is the one that was made there.
bool is_same_folder(const std::string& path, const Identity& identity);

}  // namespace orange::git

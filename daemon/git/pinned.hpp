#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.hpp"
#include "common/posix/fd.hpp"

/// Worktrees that agents can write. The `.git` of a worktree names its repository, and an agent can change that file.
/// So the daemon identifies a worktree by facts that it recorded when it made the worktree, and holds its folders open.
namespace orange {
class Git;
}

namespace orange::git {

/// The recorded facts of a worktree.
struct Identity {
    std::string admin;
    std::uint64_t inode = 0;

    void describe(auto& v) {
        v.required("admin", admin, "the name of its folder in the repository's .git/worktrees");
        v.required("inode", inode, "of its own folder");
    }
    bool operator==(const Identity&) const = default;
};

/// A worktree in which git may run: descriptors of its folder and of git's own folder for it. Cheap to copy; the
/// descriptors close with the last copy. The daemon reads and writes git's folder by its descriptor; the program git
/// gets the path git_dir().
class Pinned {
  public:
    using Folder = std::shared_ptr<const UniqueFd>;
    static Folder hold(UniqueFd folder) { return std::make_shared<const UniqueFd>(std::move(folder)); }
    Pinned(std::string path, std::string git_dir, std::string common_dir, Folder folder, Folder admin,
           bool is_walled = false);
    const std::string& path() const { return held_->path; }              ///< for messages, and for files in it
    const std::string& git_dir() const { return held_->git_dir; }        ///< .git/worktrees/<name>; ".git" for a Nested
    const std::string& common_dir() const { return held_->common_dir; }  ///< the repository's .git
    const Folder& folder() const { return held_->folder; }
    int admin() const {
        return held_->admin->get();
    }  ///< descriptor of git_dir(), as it was when the worktree was opened
    /// Returns true if an agent behind a wall works or has worked in it. What such an agent writes must not reach the
    /// user's other files through git, so git enters no repository inside it.
    bool is_walled() const { return held_->is_walled; }

    /// Returns this worktree's git directories with another folder to run in.
    Pinned from(std::string path, Folder folder) const;

  private:
    struct Held {
        std::string path, git_dir, common_dir;
        Folder folder, admin;
        bool is_walled = false;
    };
    std::shared_ptr<const Held> held_;
};

/// A file of git's that was replaced in a worktree or in git's folder for it, and that Orange has restored.
struct RestoredFile {
    std::string what;  ///< ".git", "gitdir" or "commondir", or the name of what was moved aside in git's own folder
    std::string kept;  ///< the new path of the replaced file; empty: there was none, or only an outdated pointer
};

/// Finds the worktree at `path` in the repository's records, without reading anything that lies in the worktree.
/// not_found if there is none; conflict if several claim the path.
Result<Identity> identify(const std::string& common_dir, const std::string& path);

/// Removes git's own folders for a worktree at `path`, even if they are so damaged that `git worktree remove` refuses.
Result<void> forget(Git& git, const std::string& common_dir, const std::string& path);

/// Opens the worktree and restores the three files by which it and its repository find each other. A replaced `.git` is
/// moved into `aside`; the other two files, and pipes, are renamed in their folder. `mended` gets the restored files.
/// conflict, and nothing is changed, if another folder is at `path` or the HEAD in git's own folder for it is damaged;
/// the message contains the command to run.
Result<Pinned> pin(const std::string& common_dir, const std::string& path, const Identity& identity, bool is_walled,
                   const std::string& aside, std::vector<RestoredFile>& mended);

/// Opens the worktree as pin() does, but changes nothing: conflict if its files do not agree.
Result<Pinned> pin_as_it_is(const std::string& common_dir, const std::string& path, const Identity& identity,
                            bool is_walled = false);

/// Returns git's lock files in its own folder for a worktree. The caller knows that no git runs there any more.
std::vector<std::string> locks_in(const Pinned& worktree);

/// Creates and opens the folder for what is moved aside. Agents can write beside it: conflict if it is a link.
Result<UniqueFd> make_aside(const std::string& path);

/// Returns true if the folder at `path` is the one that was recorded.
bool is_same_folder(const std::string& path, const Identity& identity);

}  // namespace orange::git

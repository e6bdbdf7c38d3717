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
    std::string admin;        ///< the name of its folder in the repository's .git/worktrees
    std::uint64_t inode = 0;  ///< of its own folder
    bool operator==(const Identity&) const = default;
};

/// A worktree that git may be run in: its folder, held open, and where git keeps what belongs to it. Cheap to copy.
class Pinned {
  public:
    Pinned(std::string path, std::string git_dir, std::string common_dir, UniqueFd folder);
    const std::string& path() const { return held_->path; }              ///< for people, and for files in it
    const std::string& git_dir() const { return held_->git_dir; }        ///< .git/worktrees/<name>
    const std::string& common_dir() const { return held_->common_dir; }  ///< .git
    std::shared_ptr<const UniqueFd> folder() const { return {held_, &held_->folder}; }

  private:
    struct Held {
        std::string path, git_dir, common_dir;
        UniqueFd folder;
    };
    std::shared_ptr<const Held> held_;
};

/// Something that an agent, or who else writes there, had put in the place of a file of git's, and that was put right.
struct Mended {
    std::string what;  ///< ".git", "gitdir", "commondir"; or the name of a pipe in git's own folder
    std::string kept;  ///< where what was found there is now; empty: nothing was, or it was only an old pointer
};

/// Which worktree of that repository is at `path`, by what the repository says; nothing that lies in it is read.
/// not_found where none is, conflict where it cannot be told.
Result<Identity> identify(const std::string& common_dir, const std::string& path);

/// Opens the worktree, and puts right the three files by which it and its repository find each other; what was found
/// there is moved: of the worktree's into `aside`. conflict where another folder is in its place, or where git's own
/// folder for it has links that lead out of the repository: nothing has been done then, and the message says what to
/// do. `mended` gets what was put right.
Result<Pinned> pin(const std::string& common_dir, const std::string& path, const Identity& identity,
                   const std::string& aside, std::vector<Mended>& mended);

/// As pin(), but changes nothing: a worktree whose files do not agree is a conflict too.
Result<Pinned> pin_as_it_is(const std::string& common_dir, const std::string& path, const Identity& identity);

/// A repository below a worktree: only one that is all there, in a .git folder of its own without links. Nothing where
/// it is not.
std::optional<Pinned> pin_nested(const Pinned& worktree, const std::string& relative);

/// Whether a folder of that name is the one that was made there.
bool is_same_folder(const std::string& path, const Identity& identity);

}  // namespace orange::git

#pragma once

#include <git2.h>

#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/process/process_runner.hpp"

/// What the commands of FakeGit share. A command throws Unusual as long as it has changed nothing, and the real git is
/// asked instead.
namespace orange::fakes::git {

struct Unusual {};

constexpr char k_end = '\0';  ///< of an entry with -z

/// One command line of git's.
struct Asked {
    std::vector<std::string> args;                              ///< the command and what follows it
    std::vector<std::pair<std::string, std::string>> settings;  ///< of -c, as they were given
    std::string cwd;
    std::map<std::string, std::string> env;
    std::string input;

    std::string variable(const std::string& name) const;
    /// Whether the arguments are `head` and then exactly `more` others.
    bool is(std::initializer_list<std::string_view> head, std::size_t more = 0) const;
    const std::string& last(std::size_t from_end = 0) const { return args.at(args.size() - 1 - from_end); }
};

template <class T, void (*free)(T*)>
struct Freed {
    void operator()(T* held) const { free(held); }
};
template <class T, void (*free)(T*)>
using Held = std::unique_ptr<T, Freed<T, free>>;
using Commit = Held<git_commit, git_commit_free>;
using Tree = Held<git_tree, git_tree_free>;
using Index = Held<git_index, git_index_free>;
using Reference = Held<git_reference, git_reference_free>;
using Signature = Held<git_signature, git_signature_free>;

void must(int error);          ///< Unusual where libgit2 has failed
void must_be(bool condition);  ///< Unusual where it is not so

Completed printed(std::string out);
Completed failed(int exit_status);

/// A repository, or a worktree of one, that is as usual as the tests' own: no setting but the known, no attributes, no
/// submodules, nothing under way, nothing locked.
class Repository {
  public:
    explicit Repository(const Asked& asked);
    explicit Repository(const std::string& bare);  ///< an origin
    git_repository* raw() const { return held_.get(); }
    const std::string& git_dir() const { return git_dir_; }    ///< of this worktree, without a last slash
    const std::string& common() const { return common_; }      ///< of the repository
    const std::string& worktree() const { return worktree_; }  ///< resolved; empty: none
    /// The main worktree, whose .git is its own folder.
    bool is_main() const { return worktree_ + "/.git" == common_ && git_dir_ == common_; }

    /// Its own settings and the user's, in git's order, as "section.name" with the value.
    struct Setting {
        std::string scope, key;
        std::optional<std::string> value;
    };
    std::vector<Setting> settings() const;
    std::string setting(const std::string& key) const;  ///< the last; empty: none

    /// By HEAD, a full ref, the name of a branch, or a whole hash; nothing where there is no such ref.
    std::optional<git_oid> find_commit(const std::string& name) const;
    git_oid commit_id(const std::string& name) const;  ///< Unusual where there is none
    Commit commit(const git_oid& id) const;
    Tree tree_of(const git_oid& commit) const;
    std::optional<git_oid> ref(const std::string& full_name) const;
    std::string head_ref() const;  ///< empty: detached
    void must_hold_none() const;   ///< repositories in its folders, whose files are theirs
    Index index() const;           ///< of the files, without marks, conflicts or submodules
    /// Who commits, by the command's variables or the settings.
    Signature author(const Asked& asked, const char* who) const;

  private:
    void check() const;

    Held<git_repository, git_repository_free> held_;
    std::string git_dir_, common_, worktree_, home_;
};

std::string hex(const git_oid& id);
bool is_whole_hash(std::string_view text);
git_oid id_of(const std::string& hash);
/// Letters, digits and what is harmless in a name: anything else is left to git.
bool is_harmless(std::string_view name);
std::string without_suffix(const std::string& text, std::string_view suffix);  ///< Unusual where it has none

// The commands, each nothing where it is not theirs.
using Answer = std::optional<Completed>;
Answer ask_settings(const Asked& asked);
Answer ask_names(const Asked& asked);
Answer ask_refs(const Asked& asked);
Answer ask_history(const Asked& asked);
Answer ask_objects(const Asked& asked);
Answer ask_files(const Asked& asked);
Answer ask_worktrees(const Asked& asked);
Answer ask_checkout(const Asked& asked);
Answer ask_origin(const Asked& asked);

/// Worktrees as `git worktree list` has them.
struct Listed {
    std::string path, head, branch, admin;  ///< branch: a full ref, empty where detached; admin: empty for the main one
    bool bare = false;
    std::optional<std::string> locked;
    bool prunable = false;
};
std::vector<Listed> worktrees_of(const Repository& repository);
/// Makes the files those of `commit`, if need be by force. Unusual, and nothing changed, where something is in the way.
void check_out(const Repository& repository, const git_oid& commit, unsigned strategy);

}  // namespace orange::fakes::git

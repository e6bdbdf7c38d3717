#include "daemon/git/private_index.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "common/base/ids.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/committer.hpp"
#include "daemon/git/small_files.hpp"

namespace orange::git {
namespace {

constexpr std::size_t k_largest_index = std::size_t{256} << 20;  ///< some two million files

}  // namespace

PrivateIndex::PrivateIndex(Pinned worktree) : worktree_(std::move(worktree)), name_("orange-index-" + random_id(12)) {}

PrivateIndex::~PrivateIndex() {  // a left-over file in a git directory does no harm
    ::unlinkat(worktree_.admin(), name_.c_str(), 0);
    ::unlinkat(worktree_.admin(), (name_ + ".lock").c_str(), 0);
}

std::string PrivateIndex::path() const {
    return worktree_.git_dir() + "/" + name_;
}

std::map<std::string, std::string> PrivateIndex::env() const {
    return {{"GIT_INDEX_FILE", path()}};
}

Result<void> PrivateIndex::copy_own() const {
    return copy_file_at(worktree_.admin(), "index", worktree_.admin(), name_, k_largest_index,
                        worktree_.git_dir() + "/index");
}

Awaitable<Result<void>> add_files(Git& git, Pinned worktree, std::map<std::string, std::string> env,
                                  std::vector<std::string> options, std::string paths,
                                  std::chrono::milliseconds deadline) {
    GitCommand add;
    add.place = std::move(worktree);
    add.args = words("add", "--sparse");
    add.args.insert(add.args.end(), options.begin(), options.end());
    if (!paths.empty()) add.args.insert(add.args.end(), {"--pathspec-from-file=-", "--pathspec-file-nul"});
    add.env = std::move(env);
    add.input = std::move(paths);
    add.deadline = deadline;
    CO_TRY(co_await git_output(git, std::move(add)));
    co_return Result<void>{};
}

Awaitable<Result<void>> add_only_files(Git& git, Pinned worktree, std::map<std::string, std::string> env,
                                       std::string paths) {
    GitCommand add;
    add.place = std::move(worktree);
    add.args = words("update-index", "--add", "--replace", "-z", "--stdin");
    add.env = std::move(env);
    add.input = std::move(paths);
    add.deadline = k_add_deadline;
    CO_TRY(co_await git_output(git, std::move(add)));
    co_return Result<void>{};
}

Awaitable<Result<std::string>> commit_tree(Git& git, Pinned worktree, std::string tree,
                                           std::vector<std::string> parents, std::string message) {
    auto args = words("-c", "user.useConfigOnly=true", "commit-tree", tree);
    for (auto& parent : parents) {
        args.emplace_back("-p");
        args.push_back(std::move(parent));
    }
    args.emplace_back("-F");
    args.emplace_back("-");
    message += "\n";
    auto made = co_await ask_inside(git, worktree, args, message);
    if (!made && made.error().code == ErrorCode::external_failed) {  // the configuration does not name the user
        args.erase(args.begin(), args.begin() + 2);
        CO_TRY(auto who, co_await identity(git, worktree));
        made = co_await ask_inside(git, worktree, std::move(args), std::move(message), std::move(who));
    }
    if (!made) co_return made.error();
    co_return std::string(trim(*made));
}

}  // namespace orange::git

#include "daemon/git/private_index.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "common/base/ids.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/signing.hpp"
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
    GitCommand add{std::move(worktree), words("add", "--sparse")};
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
    GitCommand add{std::move(worktree), words("update-index", "--add", "--replace", "-z", "--stdin")};
    add.env = std::move(env);
    add.input = std::move(paths);
    add.deadline = k_add_deadline;
    CO_TRY(co_await git_output(git, std::move(add)));
    co_return Result<void>{};
}

Awaitable<Result<std::string>> commit_tree(Git& git, Pinned worktree, std::string tree,
                                           std::vector<std::string> parents, std::string message) {
    auto args = words("commit-tree", tree, "-F", "-");
    for (auto& parent : parents) {
        args.emplace_back("-p");
        args.push_back(std::move(parent));
    }
    message += "\n";
    std::map<std::string, std::string> who;
    co_return co_await unsigned_commit(git, std::move(worktree), std::move(args), std::move(message), who);
}

}  // namespace orange::git

#include "tests/fakes/git/fake_git.hpp"

#include <sys/stat.h>

#include <array>
#include <asio/post.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "common/base/text.hpp"
#include "daemon/process/environment.hpp"
#include "tests/fakes/git/asked.hpp"

namespace orange::fakes {
namespace {

using git::Asked;

/// Settings of the product's that change nothing here, whatever their value.
bool is_known(const std::string& key) {
    static const std::set<std::string> known = {"core.fsync",
                                                "core.fsyncMethod",
                                                "core.fsmonitor",
                                                "core.trustctime",
                                                "core.checkStat",
                                                "core.hooksPath",
                                                "core.untrackedCache",
                                                "core.safecrlf",
                                                "core.quotePath",
                                                "protocol.ext.allow",
                                                "gc.auto",
                                                "maintenance.auto",
                                                "advice.detachedHead",
                                                "advice.addEmbeddedRepo",
                                                "advice.graftFileDeprecated",
                                                "commit.gpgsign",
                                                "push.gpgSign",
                                                "merge.verifySignatures",
                                                "log.showSignature",
                                                "submodule.recurse",
                                                "fetch.recurseSubmodules",
                                                "push.recurseSubmodules",
                                                "rerere.enabled",
                                                "status.showUntrackedFiles",
                                                "color.ui",
                                                "user.useConfigOnly"};
    return known.contains(key);
}

/// Nothing if there is more about it than is known here.
std::optional<Asked> read(const Command& command) {
    Asked asked;
    std::size_t at = 1;
    for (; at + 1 < command.argv.size() && command.argv[at] == "-c"; at += 2) {
        const auto& setting = command.argv[at + 1];
        const auto equals = setting.find('=');
        if (equals == std::string::npos || !is_known(setting.substr(0, equals))) return std::nullopt;
        asked.settings.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
    }
    asked.args.assign(command.argv.begin() + static_cast<std::ptrdiff_t>(at), command.argv.end());
    if (asked.args.empty()) return std::nullopt;
    asked.cwd = command.cwd;
    if (command.env) asked.env = *command.env;
    asked.input = command.input;
    if (asked.env.contains("GIT_CONFIG_COUNT")) return std::nullopt;
    return asked;
}

/// The folder that was opened is still where it was.
bool is_in_place(const Command& command) {
    struct stat open {};
    struct stat there {};
    if (::stat(command.cwd.c_str(), &there) != 0) return false;
    if (!command.folder) return true;
    return ::fstat(command.folder->get(), &open) == 0 && open.st_ino == there.st_ino && open.st_dev == there.st_dev;
}

constexpr std::array k_commands = {git::ask_settings,  git::ask_names,    git::ask_refs,
                                   git::ask_history,   git::ask_objects,  git::ask_files,
                                   git::ask_worktrees, git::ask_checkout, git::ask_origin};

git::Answer answer_to(const Asked& asked) {
    try {
        for (const auto command : k_commands) {
            if (auto answer = command(asked)) return answer;
        }
    } catch (const git::Unusual&) {
    }
    return std::nullopt;
}

}  // namespace

FakeGit::FakeGit(ProcessRunner& real, std::string program) : real_(real), program_(std::move(program)) {
    static const int started = git_libgit2_init();
    if (started > 0) git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
}

bool FakeGit::is_replaced(const Command& command) const {
    if (off || command.argv.empty() || command.argv.front() != "git" || !command.env || command.stop) return false;
    const auto path = command.env->find("PATH");
    return path != command.env->end() && find_program("git", path->second) == program_;
}

Awaitable<Result<Completed>> FakeGit::run(Command command) {
    if (!is_replaced(command)) co_return co_await real_.run(std::move(command));
    // As long as a process takes others get their turn, too.
    const auto executor = co_await asio::this_coro::executor;
    co_await asio::post(executor, asio::use_awaitable);
    const auto asked = read(command);
    git::Answer answer;
    if (asked && is_in_place(command)) answer = answer_to(*asked);
    co_await asio::post(executor, asio::use_awaitable);
    if (!answer) {
        ++counts_.handed_on[asked ? join(asked->args, " ").substr(0, 60) : "settings"];
        co_return co_await real_.run(std::move(command));
    }
    ++counts_.answered;
    if (answer->out.size() > command.output_limit) answer->out.resize(command.output_limit);
    co_return std::move(*answer);
}

}  // namespace orange::fakes

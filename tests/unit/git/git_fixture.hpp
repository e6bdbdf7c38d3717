#pragma once

#include <algorithm>
#include <functional>

#include "common/base/text.hpp"
#include "daemon/git/cli_git.hpp"
#include "daemon/git/small_files.hpp"
#include "tests/support/os_fixture.hpp"

namespace orange::test {

/// Somebody who waits for a command of the daemon's, and does something, once, before it runs or before the daemon goes
/// on.
class WatchedGit : public Git {
  public:
    using Which = std::function<bool(const GitCommand& command)>;

    explicit WatchedGit(Git& git) : git_(git) {}
    Awaitable<Result<Completed>> run(GitCommand command) override {
        const bool is_it = which_ && which_(command);
        if (is_it && first_) {
            which_ = nullptr;
            co_await first_();
            co_return co_await git_.run(std::move(command));
        }
        auto done = co_await git_.run(std::move(command));
        if (is_it) {
            which_ = nullptr;
            act_();
        }
        co_return done;
    }

    void before(Which which, std::function<Awaitable<void>()> first) {
        which_ = std::move(which);
        first_ = std::move(first);
    }
    void after(Which which, std::function<void()> act) {
        which_ = std::move(which);
        first_ = nullptr;
        act_ = std::move(act);
    }
    bool has_acted() const { return (act_ || first_) && !which_; }

  private:
    Git& git_;
    Which which_;
    std::function<Awaitable<void>()> first_;
    std::function<void()> act_;
};

inline bool has_word(const GitCommand& command, const std::string& word) {
    return std::find(command.args.begin(), command.args.end(), word) != command.args.end();
}

/// Real repositories in a temporary folder. `plain` is the user's own git; `git` is the product's.
class GitFixture {
  public:
    GitFixture() : git(runner, environment()) {
        write_file(dir / "home/.gitconfig",
                   "[user]\n\tname = Ursula User\n\temail = u@example.org\n"
                   "[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n");
    }

    Environment environment() {
        auto env = scrubbed_environment();
        env["HOME"] = (dir / "home").string();
        env["GIT_CONFIG_NOSYSTEM"] = "1";
        env.erase("XDG_CONFIG_HOME");
        return env;
    }

    template <class T>
    T go(Awaitable<T> coroutine) {
        return run(io, std::move(coroutine));
    }

    std::string plain(const std::filesystem::path& where, std::vector<std::string> args, bool may_fail = false) {
        Command command;
        command.argv = std::move(args);
        command.argv.insert(command.argv.begin(), "git");
        command.cwd = where.string();
        command.env = environment();
        auto done = go(runner.run(std::move(command)));
        if (!done) throw std::runtime_error(done.error().message);
        if (!done->ok() && !may_fail) throw std::runtime_error("git: " + done->err + done->out);
        return std::string(trim(done->out));
    }

    /// Writes, adds and commits one file.
    std::string commit(const std::filesystem::path& where, const std::string& file, const std::string& content) {
        write_file(where / file, content);
        plain(where, {"add", "--", file});
        plain(where, {"commit", "-qm", "change " + file});
        return plain(where, {"rev-parse", "HEAD"});
    }

    /// A repository on main with one commit.
    std::string make_repo(const std::string& name = "repo") {
        std::filesystem::create_directories(dir / name);
        plain(dir / name, {"init", "-q"});
        commit(dir / name, "README", "one\n");
        return (dir / name).string();
    }

    /// A bare origin for it, with main pushed.
    std::string make_origin(const std::string& repo, const std::string& name = "origin.git") {
        const auto origin = (dir / name).string();
        plain(dir.path, {"init", "-q", "--bare", origin});
        plain(repo, {"remote", "add", "origin", origin});
        plain(repo, {"push", "-q", "origin", "main"});
        return origin;
    }

    std::string ref(const std::string& repo, const std::string& name) {
        return plain(repo, {"rev-parse", "--verify", "--quiet", name}, true);
    }

    /// A worktree, linked or a repository's own, as it is remembered from when it was made.
    git::Pinned at(const std::string& where) {
        const auto dirs = plain(where, {"rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir"});
        const auto lines = split_lines(dirs);
        const auto opened = [](const std::string& folder) {
            return std::make_shared<const UniqueFd>(git::open_folder(folder).value());
        };
        const std::string own(lines.at(0));
        return git::Pinned(where, own, std::string(lines.at(1)), opened(where), opened(own));
    }

    std::string path(const std::string& name) { return (dir / name).string(); }

    asio::io_context io;
    PosixProcessRunner runner;
    TempDir dir;
    CliGit git;
};

/// All that is below a folder: names, kinds, texts.
inline std::map<std::string, std::string> everything(const std::filesystem::path& below) {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(below)) {
        const auto kind = entry.symlink_status().type();
        auto& text = all[entry.path().string()];
        text = std::to_string(static_cast<int>(kind));
        if (kind == std::filesystem::file_type::regular) text += read_file(entry.path());
        if (kind == std::filesystem::file_type::symlink) text += std::filesystem::read_symlink(entry.path()).string();
    }
    return all;
}

/// Every file below a folder but .git, with its content.
inline std::map<std::string, std::string> contents(const std::filesystem::path& folder) {
    std::map<std::string, std::string> all;
    for (auto at = std::filesystem::recursive_directory_iterator(folder);
         at != std::filesystem::recursive_directory_iterator{}; ++at) {
        if (at->path().filename() == ".git") {
            at.disable_recursion_pending();
            continue;
        }
        if (at->is_regular_file()) all[at->path().lexically_relative(folder).string()] = read_file(at->path());
    }
    return all;
}

}  // namespace orange::test

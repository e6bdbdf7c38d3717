#include "client/commands/scratch_repository.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "client/connection/child.hpp"
#include "common/base/system.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/posix/fd.hpp"
#include "common/posix/read.hpp"
#include "common/posix/remove.hpp"
#include "common/posix/write.hpp"

namespace orange::commands {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_readme = "# A scratch repository\n\nOrange made it.\n";

Result<void> write_file(const fs::path& path, std::string_view text) {
    const int error = posix::write_new(AT_FDCWD, path.string(), text, 0644);
    return error == 0 ? Result<void>{} : io_error("writing " + path.string(), error);
}

}  // namespace

Result<ScratchRepository> ScratchRepository::make() {
    const char* place = std::getenv("TMPDIR");
    std::string pattern = (fs::path(place && *place == '/' ? place : "/tmp") / "orange-demo-XXXXXX").string();
    if (!::mkdtemp(pattern.data())) return io_error("making " + pattern, errno);
    ScratchRepository made;
    made.folder_ = pattern;
    made.path_ = made.folder_ / "greeting";
    if (auto done = made.first_commit(); !done) {
        auto removed = made.remove();
        return removed ? done.error() : removed.error();
    }
    return made;
}

Result<void> ScratchRepository::first_commit() const {
    std::error_code error;
    if (!fs::create_directory(path_, error)) return io_error("making " + path_.string(), error.value());
    TRY(write_file(path_ / "README.md", k_readme));
    const std::vector<std::vector<std::string>> steps = {
        {"init", "--quiet", "--initial-branch=main"},
        {"config", "user.name", "Orange demo"},
        {"config", "user.email", "demo@orange.invalid"},
        {"config", "commit.gpgsign", "false"},
        {"add", "README.md"},
        {"commit", "--quiet", "--message=Begin"},
    };
    for (const auto& step : steps) TRY(git(step));
    return {};
}

Result<std::string> ScratchRepository::git(std::vector<std::string> words) const {
    int pipe[2];
    if (system::make_pipe(pipe) != 0) return io_error("making a pipe", errno);
    UniqueFd from_git(pipe[0]), for_git(pipe[1]);
    std::vector<std::string> argv = {"git", "-C", path_.string()};
    argv.insert(argv.end(), words.begin(), words.end());
    connection::ChildOptions options;
    options.out = options.err = for_git.get();
    options.without_git_environment = true;
    TRY(const auto pid, connection::start_child(argv, options));
    for_git.reset();
    std::string output;
    // These git commands leave no process behind that could keep the pipe open.
    (void)posix::read_to_end(from_git.get(), posix::k_all, output);
    if (connection::wait_for_child(pid) != 0) {
        return {ErrorCode::external_failed,
                "git " + words.front() + " in " + path_.string() + " failed: " + std::string(trim(output))};
    }
    return output;
}

Result<std::string> ScratchRepository::log() const {
    return git({"--no-pager", "--no-replace-objects", "log", "--no-show-signature", "--oneline", "--graph",
                "--no-color", "main"});
}

Result<void> ScratchRepository::remove() const {
    const int error = posix::remove_all(AT_FDCWD, folder_.string());
    return error == 0 ? Result<void>{} : io_error("removing " + folder_.string(), error);
}

}  // namespace orange::commands

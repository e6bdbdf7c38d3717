#include "client/commands/show_changes.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "client/connection/child.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/posix/remove.hpp"

namespace orange::commands {
namespace {

namespace fs = std::filesystem;

constexpr int k_not_started = 127;

/// A temporary git directory without objects, refs or configuration of its own; the destructor removes it.
class EmptyGitDirectory {
  public:
    static Result<EmptyGitDirectory> make(const std::string& object_format) {
        std::error_code error;
        const auto folder = fs::temp_directory_path(error);
        auto path = ((error ? fs::path("/tmp") : folder) / "orange-diff-XXXXXX").string();
        if (!::mkdtemp(path.data())) return io_error("making " + path, errno);
        EmptyGitDirectory made(path);
        for (const char* name : {"objects", "refs"}) fs::create_directory(made.path_ / name, error);
        std::ofstream(made.path_ / "HEAD") << "ref: refs/heads/none\n";
        std::ofstream config(made.path_ / "config");
        config << "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = " << object_format << "\n";
        config.close();
        if (error || !config) return io_error("writing to " + path, error ? error.value() : EIO);
        return Result<EmptyGitDirectory>(std::move(made));
    }
    ~EmptyGitDirectory() {
        if (!path_.empty()) (void)posix::remove_all(AT_FDCWD, path_.string());
    }
    EmptyGitDirectory(EmptyGitDirectory&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
    EmptyGitDirectory(const EmptyGitDirectory&) = delete;
    EmptyGitDirectory& operator=(const EmptyGitDirectory&) = delete;
    EmptyGitDirectory& operator=(EmptyGitDirectory&&) = delete;
    const fs::path& path() const { return path_; }

  private:
    explicit EmptyGitDirectory(fs::path path) : path_(std::move(path)) {}
    fs::path path_;
};

Result<std::string> objects_of(const std::string& repository) {
    const auto said = connection::output_of(
        {"git", "-C", repository, "rev-parse", "--path-format=absolute", "--git-path", "objects"});
    const auto path = std::string(trim(said.value_or("")));
    if (path.starts_with('/') && path.find('\n') == std::string::npos) return path;
    return Error(ErrorCode::external_failed, "git finds no objects in " + repository);
}

/// Succeeds if the program of a command line is on this machine, and if only a shell can tell.
bool is_there(std::string_view command) {
    for (const auto word : split(command, ' ')) {
        if (word.empty() || word.find('=') != std::string_view::npos) continue;  // LESS=FRX less
        const bool is_plain = word.find_first_of("$`\"'\\~*?[](){}<>|&;#!%\t\n") == std::string_view::npos;
        return !is_plain || connection::find_program(std::string(word));
    }
    return true;
}

/// Makes git use another pager if its own is not on this machine, or print plainly: newer versions of git end with an
/// error there, and older ones show nothing if the pager has options.
void replace_missing_pager() {
    const auto said = [](std::vector<std::string> words) {
        words.insert(words.begin(), "git");
        return std::string(trim(connection::output_of(words).value_or("")));
    };
    auto pager = said({"var", "GIT_PAGER"});
    // pager.diff comes before core.pager. As a boolean it only says whether to page.
    if (!std::getenv("GIT_PAGER") && said({"config", "--type=bool", "pager.diff"}).empty()) {
        if (auto of_diff = said({"config", "pager.diff"}); !of_diff.empty()) pager = std::move(of_diff);
    }
    if (is_there(pager)) return;
    for (const char* name : {"pager", "less", "more"}) {
        if (const auto program = connection::find_program(name)) {
            ::setenv("GIT_PAGER", shell_word(program->string()).c_str(), 1);
            return;
        }
    }
    ::setenv("GIT_PAGER", "cat", 1);
}

}  // namespace

Result<int> show_changes(const std::string& repository, std::vector<std::string> args) {
    // The variables of a hook would make git use another repository.
    for (const char* name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
                             "GIT_NAMESPACE", "GIT_PREFIX", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE"}) {
        ::unsetenv(name);
    }
    auto at = repository;
    auto objects = objects_of(at);
    if (!objects) {  // behind a wall, only the agent's own repository is there, which has them, too
        if (auto own = objects_of("."); own) {
            objects = std::move(own);
            at = ".";
        }
    }
    if (!objects) return objects.error();
    constexpr std::size_t k_sha256 = 64;
    const bool is_long = !args.empty() && args.front().size() == k_sha256;
    TRY(const auto empty, EmptyGitDirectory::make(is_long ? "sha256" : "sha1"));
    ::setenv("GIT_DIR", empty.path().c_str(), 1);
    ::setenv("GIT_OBJECT_DIRECTORY", objects->c_str(), 1);
    if (::isatty(1)) replace_missing_pager();
    std::vector<std::string> words = {
        "git", "-C", at, "diff", "--no-ext-diff", "--no-textconv", "--submodule=short", "--ignore-submodules=none"};
    const char* no_color = std::getenv("NO_COLOR");
    if (no_color && *no_color) words.emplace_back("--no-color");
    words.insert(words.end(), std::make_move_iterator(args.begin()), std::make_move_iterator(args.end()));
    // These signals are for the pager; the temporary folder is removed after it has ended.
    for (const int number : {SIGINT, SIGQUIT, SIGHUP}) std::signal(number, SIG_IGN);
    connection::ChildOptions terminal;
    terminal.in = 0;
    terminal.out = 1;
    terminal.err = 2;
    const int status = connection::status_of(words, terminal);
    if (status == k_not_started) return Error(ErrorCode::not_found, "cannot start git");
    return status;
}

}  // namespace orange::commands

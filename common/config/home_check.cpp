#include "common/config/home_check.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange {
namespace {

std::string real_path(const std::filesystem::path& link) {
    std::error_code error;
    const auto target = std::filesystem::canonical(link, error);
    return error ? std::string("the real folder") : shell_word(target.string());
}

/// Returns true if this user owns the path, it is no link, and not everybody can write it; also if it has been removed.
bool is_own(const std::filesystem::path& path) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) return errno == ENOENT;
    return info.st_uid == ::geteuid() && !S_ISLNK(info.st_mode) && (info.st_mode & S_IWOTH) == 0;
}

/// Returns true if this user owns the folder and everything in it; `takes` decides which names are allowed.
bool holds_own(const std::filesystem::path& folder, bool (*takes)(const std::string& name)) {
    std::error_code error;
    if (!is_own(folder)) return false;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        if (!takes(entry.path().filename().string()) || !is_own(entry.path())) return false;
    }
    return !error || error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
}

bool is_any(const std::string&) {
    return true;
}

/// Returns true for names that may exist before the first start. The client creates oranged.out when it starts the
/// daemon.
bool is_known_before_start(const std::string& name) {
    return name == "harnesses" || name == "workflows" || name == "config.yml" || name == "hosts.yml" ||
           name == "cache" || name == "oranged.out";
}

bool is_own_home(const std::filesystem::path& home, bool (*takes)(const std::string& name)) {
    const auto folders = {"harnesses", "workflows", "cache", "cache/hosts"};
    return holds_own(home, takes) &&
           std::ranges::all_of(folders, [&](const char* folder) { return holds_own(home / folder, is_any); });
}

/// Returns true if no daemon has used the home yet.
bool is_prepared(const std::filesystem::path& home) {
    return is_own_home(home, is_known_before_start);
}

bool is_open(mode_t mode) {
    return (mode & 077) != 0;
}

Result<void> make_folder(const std::filesystem::path& folder) {
    if (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return {};
    return io_error("making " + folder.string(), errno);
}

/// Returns the mode of a folder that belongs to this user and is no link; forbidden otherwise.
Result<mode_t> mode_of_own_folder(const std::filesystem::path& folder) {
    struct stat info {};
    if (::lstat(folder.c_str(), &info) != 0) return io_error("looking at " + folder.string(), errno);
    const auto unsafe = [&](const std::string& why) { return Error(ErrorCode::forbidden, folder.string() + why); };
    if (S_ISLNK(info.st_mode)) return unsafe(" is a symbolic link; set ORANGE_HOME to " + real_path(folder));
    if (!S_ISDIR(info.st_mode)) return unsafe(" is not a folder; move it away, or set ORANGE_HOME");
    if (info.st_uid != ::geteuid()) return unsafe(" belongs to another user; set ORANGE_HOME to a folder of your own");
    return info.st_mode;
}

Error open_to_others(const std::filesystem::path& folder) {
    return {ErrorCode::forbidden, folder.string() +
                                      " can be read or changed by other users. Make it private:\n  chmod 700 " +
                                      shell_word(folder.string())};
}

/// Returns true if a daemon has used the home.
bool is_in_use(const std::filesystem::path& home) {
    struct stat info {};
    return ::lstat((home / "oranged.lock").c_str(), &info) == 0 || ::lstat((home / "tasks").c_str(), &info) == 0;
}

Error not_a_home(const std::filesystem::path& repository) {
    const auto clone = repository.string();
    return {ErrorCode::forbidden,
            clone + " is a git repository, not Orange's home. Choose another home with export ORANGE_HOME=" +
                shell_word(clone + "-home") + ", or move the repository; run: mv " + shell_word(clone) + " " +
                shell_word(clone + "-src")};
}

}  // namespace

bool is_repository(const std::filesystem::path& home) {
    struct stat info {};
    return ::lstat((home / ".git").c_str(), &info) == 0;
}

Result<void> check_private_folder(const std::filesystem::path& folder) {
    TRY(const auto mode, mode_of_own_folder(folder));
    return is_open(mode) ? open_to_others(folder) : Result<void>{};
}

Result<void> check_home(const std::filesystem::path& home) {
    TRY(const auto mode, mode_of_own_folder(home));
    if (is_repository(home) && !is_in_use(home)) return not_a_home(home);
    // Check the mode once more, because a starting daemon may just have closed the home and created its lock.
    return is_open(mode) && !is_prepared(home) ? check_private_folder(home) : Result<void>{};
}

Result<void> make_home(const std::filesystem::path& home) {
    if (home.native().find_first_of("\n\r") != std::string::npos) {  // it is in files and commands of one line
        return {ErrorCode::invalid_argument,
                "the path of Orange's home has a line break. Set ORANGE_HOME to another folder, not " +
                    printable(home.string())};
    }
    TRY(make_folder(home));
    return check_home(home);
}

Result<void> make_private_folder(const std::filesystem::path& folder) {
    TRY(make_folder(folder));
    return check_private_folder(folder);
}

Result<bool> make_closed_home(const std::filesystem::path& home) {
    TRY(make_home(home));
    struct stat info {};
    const int folder = ::open(home.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return io_error("opening " + home.string(), errno);
    const bool was_open = ::fstat(folder, &info) == 0 && is_open(info.st_mode);
    const bool failed = was_open && ::fchmod(folder, 0700) != 0;
    const int why = errno;
    // Another user may have added files just before the home was closed. Open it again then, because a closed home
    // would pass the next check.
    const bool foreign = was_open && !failed && !is_own_home(home, is_any);
    if (foreign) (void)::fchmod(folder, info.st_mode & 07777);
    ::close(folder);
    if (failed) return io_error("closing " + home.string() + " to other users", why);
    if (foreign) {
        return {ErrorCode::forbidden,
                home.string() + " was open to other users, who have written to it. Check what it contains"};
    }
    return was_open;
}

Result<void> make_tmux_folder(const Paths& paths) {
    const auto folder = paths.tmux_socket().parent_path();
    if (folder == paths.home) return {};
    auto fine = make_private_folder(folder);
    return fine ? fine : in_context("the folder of tmux's socket", fine.error());
}

}  // namespace orange

#include "daemon/log/log_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace orange::log {
namespace {

/// O_NOFOLLOW: a link in its place is an error, which doctor reports, because its target may belong to another user.
constexpr int k_flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;

/// "orange.log", 2 → "orange.2.log".
std::string numbered(const std::string& name, int number) {
    if (number == 0) return name;
    const auto dot = name.find_last_of('.');
    if (dot == std::string::npos || dot == 0) return name + "." + std::to_string(number);
    return name.substr(0, dot) + "." + std::to_string(number) + name.substr(dot);
}

}  // namespace

LogFile::LogFile(std::string path, std::uint64_t limit, int kept)
    : path_(std::move(path)), name_(path_.substr(path_.find_last_of('/') + 1)), limit_(limit), kept_(kept) {
    open();
}

LogFile::~LogFile() {
    if (fd_ >= 0) ::close(fd_);
    if (folder_ >= 0) ::close(folder_);
}

bool LogFile::fail(const char* doing) {
    problem_ = std::string(doing) + " " + path_ + ": " + std::strerror(errno);
    return false;
}

bool LogFile::open() {
    const auto folder = path_.substr(0, path_.size() - name_.size());
    if (folder_ >= 0) ::close(folder_);
    folder_ = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_ < 0) return fail("opening");
    fd_ = ::openat(folder_, name_.c_str(), k_flags, 0600);
    if (fd_ < 0) return fail("opening");
    struct stat facts {};
    size_ = ::fstat(fd_, &facts) == 0 && S_ISREG(facts.st_mode) ? static_cast<std::uint64_t>(facts.st_size) : 0;
    return true;
}

/// Creates the new file before any file is renamed, so that a failure leaves everything as it is. All names are
/// relative to the opened folder: another folder may be at its path by now, whose files must not be renamed.
void LogFile::rotate() {
    const auto next = name_ + ".new";
    const auto rename = [this](const std::string& from, const std::string& to) {
        return ::renameat(folder_, from.c_str(), folder_, to.c_str()) == 0;
    };
    const int fd = ::openat(folder_, next.c_str(), k_flags | O_TRUNC, 0600);
    if (fd < 0) return;
    for (int number = kept_; number > 0; --number) {
        if (rename(numbered(name_, number - 1), numbered(name_, number)) || errno == ENOENT) continue;
        ::close(fd);
        ::unlinkat(folder_, next.c_str(), 0);
        return;
    }
    if (!rename(next, name_)) {
        ::close(fd);
        return;
    }
    ::close(std::exchange(fd_, fd));
    size_ = 0;
}

bool LogFile::write(std::string_view line) {
    ++missing_;
    if (fd_ < 0 && !open()) return false;
    if (size_ > 0 && size_ + line.size() > limit_) rotate();
    ssize_t written = -1;
    do {
        written = ::write(fd_, line.data(), line.size());
    } while (written < 0 && errno == EINTR);
    if (written == static_cast<ssize_t>(line.size())) {
        size_ += line.size();
        missing_ = 0;
        problem_.clear();
        return true;
    }
    if (written > 0) {
        // Remove the partial line; otherwise the next line would be appended to it.
        if (::ftruncate(fd_, static_cast<off_t>(size_)) != 0) size_ += static_cast<std::uint64_t>(written);
        errno = ENOSPC;
    }
    return fail("writing");
}

}  // namespace orange::log

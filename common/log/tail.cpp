#include "common/log/tail.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace orange::log {

BackwardLines::BackwardLines(const std::filesystem::path& file, std::size_t block) : block_(block) {
    // O_NONBLOCK: a pipe of that name must not stop anybody.
    fd_ = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat info {};
    if (fd_ < 0 || ::fstat(fd_, &info) != 0) {
        problem_ = errno;
    } else if (!S_ISREG(info.st_mode)) {
        problem_ = EINVAL;
    } else {
        at_ = static_cast<std::uint64_t>(info.st_size);
    }
    done_ = problem_ != 0;
}

BackwardLines::~BackwardLines() {
    if (fd_ >= 0) ::close(fd_);
}

bool BackwardLines::fill() {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(block_, at_));
    if (size == 0) return false;
    std::string block(size, '\0');
    std::size_t have = 0;
    while (have < size) {
        const auto n = ::pread(fd_, block.data() + have, size - have, static_cast<off_t>(at_ - size + have));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {  // 0: somebody cut it off meanwhile
            problem_ = n < 0 ? errno : 0;
            return false;
        }
        have += static_cast<std::size_t>(n);
    }
    at_ -= size;
    read_ += size;
    buffer_.insert(0, block);
    return true;
}

std::optional<std::string> BackwardLines::next() {
    if (done_) return std::nullopt;
    if (!begun_) {
        begun_ = true;
        if (!fill()) {
            done_ = true;
            return std::nullopt;
        }
        if (buffer_.ends_with('\n')) buffer_.pop_back();
    }
    std::size_t unsearched = buffer_.size();
    for (;;) {
        const auto end = unsearched == 0 ? std::string::npos : buffer_.rfind('\n', unsearched - 1);
        if (end != std::string::npos) {
            std::string line = buffer_.substr(end + 1);
            buffer_.resize(end);
            if (line.size() > k_longest) line.erase(0, line.size() - k_longest);
            return line;
        }
        if (buffer_.size() > 2 * k_longest) buffer_.erase(0, buffer_.size() - k_longest);
        const auto before = buffer_.size();
        if (!fill()) {
            done_ = true;
            if (buffer_.size() > k_longest) buffer_.erase(0, buffer_.size() - k_longest);
            return std::move(buffer_);
        }
        unsearched = buffer_.size() - before;
    }
}

Result<std::vector<std::string>> last_lines(const std::filesystem::path& file, std::size_t count) {
    BackwardLines reader(file);
    std::vector<std::string> lines;
    while (lines.size() < count) {
        auto line = reader.next();
        if (!line) break;
        lines.push_back(std::move(*line));
    }
    if (reader.problem() == ENOENT) return Error(ErrorCode::not_found, "there is no " + file.string());
    if (reader.problem() != 0) return io_error("reading " + file.string(), reader.problem());
    std::reverse(lines.begin(), lines.end());
    return lines;
}

}  // namespace orange::log

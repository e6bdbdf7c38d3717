#include "common/log/tail.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::log {
namespace {

Result<Tail> read_end(int fd, const std::filesystem::path& file, std::uint64_t most) {
    struct stat info {};
    if (::fstat(fd, &info) != 0) return io_error("reading " + file.string(), errno);
    if (!S_ISREG(info.st_mode)) return io_error("reading " + file.string(), EINVAL);
    const auto size = static_cast<std::uint64_t>(info.st_size);
    const auto begin = size > most ? size - most : 0;
    Tail tail{std::string(size - begin, '\0'), begin == 0};
    std::size_t have = 0;
    while (have < tail.text.size()) {
        const auto n = ::pread(fd, &tail.text[have], tail.text.size() - have, static_cast<off_t>(begin + have));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return io_error("reading " + file.string(), errno);
        if (n == 0) break;  // the file was truncated meanwhile
        have += static_cast<std::size_t>(n);
    }
    tail.text.resize(have);
    if (const auto end = tail.text.find('\n'); !tail.whole && end < tail.text.size() - 1) tail.text.erase(0, end + 1);
    return tail;
}

}  // namespace

Result<Tail> tail_of(const std::filesystem::path& file, std::uint64_t most) {
    // O_NONBLOCK, so that a pipe of that name does not block.
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT) return Error(ErrorCode::not_found, "there is no " + file.string());
    if (fd < 0) return io_error("reading " + file.string(), errno);
    auto tail = read_end(fd, file, most);
    ::close(fd);
    return tail;
}

Result<std::vector<std::string>> last_lines(const std::filesystem::path& file, std::size_t count) {
    TRY(const auto tail, tail_of(file));
    const auto lines = split_lines(tail.text);
    const auto first = lines.end() - static_cast<std::ptrdiff_t>(std::min(count, lines.size()));
    return std::vector<std::string>(first, lines.end());
}

}  // namespace orange::log

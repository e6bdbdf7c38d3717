#include "common/posix/read.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/posix/retried.hpp"

namespace orange::posix {

int read_at_most(int fd, std::size_t limit, std::string& text) {
    struct stat facts {};
    if (::fstat(fd, &facts) != 0) return errno;
    if (!S_ISREG(facts.st_mode)) return EINVAL;
    const auto size = static_cast<std::size_t>(facts.st_size);
    if (size > limit) return EFBIG;
    std::size_t filled = 0;
    for (std::size_t room = size + 1;; room = std::max<std::size_t>(4096, filled / 2)) {  // the file may grow meanwhile
        text.resize(filled + room);
        const auto got = retried([&] { return ::read(fd, text.data() + filled, text.size() - filled); });
        if (got < 0) return errno;
        filled += static_cast<std::size_t>(got);
        if (filled > limit) return EFBIG;
        if (got == 0 || filled == size) break;  // one byte more than `size` was asked for
    }
    text.resize(filled);
    return 0;
}

int read_to_end(int fd, std::size_t limit, std::string& text) {
    char chunk[65536];
    for (;;) {
        const auto got = retried([&] { return ::read(fd, chunk, sizeof chunk); });
        if (got <= 0) return got < 0 ? errno : 0;
        text.append(chunk, static_cast<std::size_t>(got));
        if (text.size() > limit) return EFBIG;
    }
}

}  // namespace orange::posix

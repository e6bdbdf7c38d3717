#include "client/commands/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>

namespace orange::commands {

namespace fs = std::filesystem;

std::optional<std::string> text_of_file(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) return std::nullopt;
    std::ostringstream text;
    text << in.rdbuf();  // of a folder, nothing
    return text.str();
}

Result<void> replace_file(const fs::path& file, const std::string& text, mode_t mode) {
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    if (error) return io_error("cannot create " + file.parent_path().string(), error.value());
    const auto other = file.parent_path() / ("." + file.filename().string() + "." + std::to_string(::getpid()));
    const int fd = ::open(other.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0) return io_error("cannot write " + file.string(), errno);
    const auto n = ::write(fd, text.data(), text.size());
    int number = n == static_cast<ssize_t>(text.size()) ? 0 : n < 0 ? errno : ENOSPC;
    if (number == 0 && ::fsync(fd) != 0) number = errno;
    ::close(fd);
    if (number == 0 && ::rename(other.c_str(), file.c_str()) != 0) number = errno;
    if (number == 0) return {};
    ::unlink(other.c_str());
    return io_error("cannot write " + file.string(), number);
}

Result<void> remove_file(const fs::path& file) {
    std::error_code error;
    if (!fs::remove(file, error)) return io_error("cannot remove " + file.string(), error.value());
    return {};
}

}  // namespace orange::commands

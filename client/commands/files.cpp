#include "client/commands/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>

#include "client/commands/context.hpp"
#include "common/base/ids.hpp"
#include "common/base/text.hpp"
#include "common/posix/fd.hpp"
#include "common/posix/read.hpp"
#include "common/posix/write.hpp"

namespace orange::commands {

namespace fs = std::filesystem;
namespace {

constexpr std::size_t k_longest_text = 16 << 20;

}  // namespace

Result<std::string> named_text(const std::string& path) {
    if (path == "-") return text_argument(path);
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return io_error("cannot open " + shell_word(path), errno);
    std::string text;
    const int error = posix::read_to_end(fd.get(), k_longest_text, text);
    if (error == EFBIG) return {ErrorCode::invalid_argument, shell_word(path) + " is larger than 16 MiB"};
    return error == 0 ? Result<std::string>(std::move(text)) : io_error("cannot read " + shell_word(path), error);
}

Result<void> write_new_file(const std::string& path, const std::string& text) {
    const int error = posix::write_new(AT_FDCWD, path, text, 0644);
    if (error == EEXIST) {
        return {ErrorCode::conflict, shell_word(path) + " exists already; give the name of a new file"};
    }
    return error == 0 ? Result<void>{} : io_error("cannot create " + shell_word(path), error);
}

std::optional<std::string> text_of_file(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) return std::nullopt;
    std::ostringstream text;
    text << in.rdbuf();  // reading a folder yields nothing
    return text.str();
}

Result<void> replace_file(const fs::path& file, const std::string& text, mode_t mode) {
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    if (error) return io_error("cannot create " + file.parent_path().string(), error.value());
    const auto other = file.parent_path() / ("." + file.filename().string() + "." + random_id(10));
    const int number = posix::replace_at(AT_FDCWD, file.string(), other.string(), text, mode);
    return number == 0 ? Result<void>{} : io_error("cannot write " + file.string(), number);
}

Result<void> remove_file(const fs::path& file) {
    std::error_code error;
    if (!fs::remove(file, error)) return io_error("cannot remove " + file.string(), error.value());
    return {};
}

}  // namespace orange::commands

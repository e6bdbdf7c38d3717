#include "daemon/shim/exit_record.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "common/model/fields.hpp"

namespace orange {
namespace {

/// 0 or an errno.
int write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const auto written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

int write_file(const std::string& file, std::string_view text) {
    // One that a killed attempt left is in nobody's use: a run has one shim.
    ::unlink(file.c_str());
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return errno;
    int error = write_all(fd, text);
    if (!error && ::fsync(fd) != 0) error = errno;
    if (::close(fd) != 0 && !error) error = errno;
    return error;
}

int sync_folder(const std::string& folder) {
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return errno;
    const int error = ::fsync(fd) == 0 ? 0 : errno;
    ::close(fd);
    return error;
}

}  // namespace

std::string exit_record_text(const ExitRecord& record) {
    return dump(written(record)) + "\n";
}

Result<ExitRecord> exit_record_from_text(std::string_view text) {
    const auto json = parse_json(text);
    auto record = json ? read_as<ExitRecord>(*json, "", UnknownKeys::ignore) : Result<ExitRecord>(json.error());
    if (record && record->run.empty()) record = Error(ErrorCode::invalid_argument, "\"run\" is empty");
    if (!record) return in_context("exit record", record.error());
    return record;
}

Result<ExitRecord> read_exit_record(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in && errno == ENOENT) return Error(ErrorCode::not_found, "there is no " + file.string());
    if (!in) return io_error("reading " + file.string(), errno);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    return exit_record_from_text(text);
}

Result<void> write_exit_record(const std::filesystem::path& file, const ExitRecord& record) {
    const auto temporary = file.string() + ".tmp";
    int error = write_file(temporary, exit_record_text(record));
    if (!error && std::rename(temporary.c_str(), file.c_str()) != 0) error = errno;
    if (!error) error = sync_folder(file.parent_path().string());
    if (!error) return {};
    ::unlink(temporary.c_str());
    return io_error("writing " + file.string(), error);
}

}  // namespace orange

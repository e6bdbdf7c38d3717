#include "daemon/shim/exit_record.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "common/model/fields.hpp"
#include "daemon/process/unique_fd.hpp"

namespace orange {
namespace {

/// Returns 0 or an errno.
int write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const auto written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

int write_file(int folder, const std::string& file, std::string_view text) {
    // A killed attempt may have left this file. No other process uses it, because a run has one shim.
    ::unlinkat(folder, file.c_str(), 0);
    const int fd = ::openat(folder, file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return errno;
    int error = write_all(fd, text);
    if (!error && ::fsync(fd) != 0) error = errno;
    if (::close(fd) != 0 && !error) error = errno;
    return error;
}

constexpr std::size_t k_longest_record = 64 * 1024;

/// <project>/<id>/run below tasks/, where an agent may have put a link in a folder's place: none is followed. The
/// folder of a run in an executor is one more.
constexpr int k_own_folders = 3;

/// Opens a folder without following links in its last `own_folders` names. Returns -1, with errno, on failure.
int open_folder(const std::filesystem::path& folder, int own_folders) {
    auto base = folder;
    for (int i = 0; i < own_folders; ++i) base = base.parent_path();
    constexpr int k_flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    int fd = ::open(base.c_str(), k_flags);
    for (const auto& name : folder.lexically_relative(base)) {
        if (fd < 0) break;
        const int next = ::openat(fd, name.c_str(), k_flags | O_NOFOLLOW);
        const int error = errno;
        ::close(fd);
        errno = error;
        fd = next;
    }
    return fd;
}

int write_and_rename(int folder, const std::string& name, std::string_view text) {
    const auto temporary = name + ".tmp";
    int error = write_file(folder, temporary, text);
    if (!error && ::renameat(folder, temporary.c_str(), folder, name.c_str()) != 0) error = errno;
    if (!error && ::fsync(folder) != 0) error = errno;
    if (error) ::unlinkat(folder, temporary.c_str(), 0);
    return error;
}

Result<void> write_record(const std::filesystem::path& file, std::string_view text) {
    const auto folder = file.parent_path();
    const int opened = open_folder(folder, k_own_folders + (folder.filename() == "run" ? 0 : 1));
    const int error = opened < 0 ? errno : write_and_rename(opened, file.filename().string(), text);
    if (opened >= 0) ::close(opened);
    if (!error) return {};
    return io_error("writing " + file.string(), error);
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

/// An agent in an executor can write the file: a pipe, a link and an endless file are no records.
Result<ExitRecord> read_exit_record(const std::filesystem::path& file) {
    const UniqueFd opened(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!opened && errno == ENOENT) return Error(ErrorCode::not_found, "there is no " + file.string());
    std::string text(k_longest_record, '\0');
    const auto got = opened ? ::read(opened.get(), text.data(), text.size()) : -1;
    if (got < 0) return io_error("reading " + file.string(), errno);
    text.resize(static_cast<std::size_t>(got));
    return exit_record_from_text(text);
}

Result<void> write_exit_record(const std::filesystem::path& file, const ExitRecord& record) {
    return write_record(file, exit_record_text(record));
}

Result<StartRecord> start_record_from_text(std::string_view text) {
    const auto json = parse_json(text);
    auto record = json ? read_as<StartRecord>(*json, "", UnknownKeys::ignore) : Result<StartRecord>(json.error());
    if (!record) return in_context("start record", record.error());
    return record;
}

Result<void> write_start_record(const std::filesystem::path& file, const StartRecord& record) {
    return write_record(file, dump(written(record)) + "\n");
}

}  // namespace orange

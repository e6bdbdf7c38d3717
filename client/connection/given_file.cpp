#include "client/connection/given_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "common/base/base64.hpp"
#include "common/base/shown_path.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/posix/retried.hpp"
#include "common/rpc/errors.hpp"
#include "common/rpc/file_methods.hpp"

namespace orange::connection {
namespace {

constexpr std::size_t k_longest_origin = 200;

Error refused(const std::string& path, const std::string& why) {
    return {ErrorCode::invalid_argument, shown_path(path) + " " + why};
}

/// Returns the path as it was typed, but absolute, or below ~.
std::string origin_of(const std::string& path) {
    std::error_code error;
    auto whole = std::filesystem::absolute(path, error).lexically_normal().string();
    if (error) whole = path;
    const char* home = std::getenv("HOME");
    const auto begin = home && *home ? std::string(home) + "/" : std::string();
    if (!begin.empty() && whole.starts_with(begin)) whole.replace(0, begin.size(), "~/");
    return ellipsized(printable(whole), k_longest_origin);
}

Error cannot_open_given(const std::string& path, int number) {
    if (path == "-") {
        return {ErrorCode::invalid_argument,
                "no file for an agent comes from standard input; save it, and give its path"};
    }
    if (number == ENOENT || number == ENOTDIR) {
        return {ErrorCode::invalid_argument,
                "there is no file " + shown_path(path) + "; give the path of a file, in quotes if it has blanks"};
    }
    if (number == EACCES || number == EPERM) {
        return {ErrorCode::forbidden,
                "you may not read " + shown_path(path) + "; change its rights, or give a copy that you may read"};
    }
    return io_error("cannot open " + shown_path(path), number);
}

/// Refuses all but regular files: others may have no end, or let the reader wait.
Result<void> check_kind(const std::string& path, const struct stat& facts) {
    if (S_ISREG(facts.st_mode)) return {};
    if (S_ISDIR(facts.st_mode)) return refused(path, "is a folder; give its files one by one, or pack it with tar");
    const auto* kind = S_ISFIFO(facts.st_mode) ? "a pipe" : S_ISSOCK(facts.st_mode) ? "a socket" : "a device";
    return refused(path,
                   std::string("is ") + kind + ", and no regular file; save what it has in a file, and give that");
}

Result<GivenFile> open_one(const std::string& path) {
    struct stat facts {};
    // Looking first disturbs nobody who waits at the other end of a pipe.
    if (::stat(path.c_str(), &facts) != 0) return cannot_open_given(path, errno);
    TRY(check_kind(path, facts));
    UniqueFd fd(posix::retried([&] { return ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC); }));
    if (!fd) return cannot_open_given(path, errno);
    if (::fstat(fd.get(), &facts) != 0) return cannot_open_given(path, errno);
    TRY(check_kind(path, facts));
    GivenFile file;
    file.name = std::filesystem::path(path).filename().string();
    file.origin = origin_of(path);
    file.size = facts.st_size;
    file.fd = std::move(fd);
    return file;
}

}  // namespace

Result<std::vector<GivenFile>> open_given(const std::vector<std::string>& paths) {
    std::vector<GivenFile> files;
    for (const auto& path : paths) {
        TRY(auto file, open_one(path));
        files.push_back(std::move(file));
        TRY(check_given(files));
    }
    return files;
}

Result<void> check_given(const std::vector<GivenFile>& files) {
    std::int64_t together = 0;
    for (const auto& file : files) together += file.size;
    if (files.size() > k_most_files) {
        return {ErrorCode::invalid_argument, "one call takes at most " + std::to_string(k_most_files) +
                                                 " files; pack some of them with tar, or give the others later"};
    }
    if (together > k_largest_together) {
        return {ErrorCode::invalid_argument, "the files of one call may have " + size_text(k_largest_together) +
                                                 " together; give some of them later"};
    }
    return {};
}

Result<std::string> bytes_of(const GivenFile& file, std::int64_t offset, std::int64_t most) {
    const auto wanted = static_cast<std::size_t>(std::min(most, file.size - offset));
    if (!file.fd) return file.bytes->substr(static_cast<std::size_t>(offset), wanted);
    const bool is_rest = offset + static_cast<std::int64_t>(wanted) == file.size;
    std::string bytes(wanted + (is_rest ? 1 : 0), '\0');  // with one byte more, which must not be there
    std::size_t filled = 0;
    while (filled < bytes.size()) {
        const auto got = posix::retried([&] {
            return ::pread(file.fd.get(), bytes.data() + filled, bytes.size() - filled,
                           static_cast<off_t>(offset) + static_cast<off_t>(filled));
        });
        if (got < 0) return io_error("cannot read " + shown_path(file.name), errno);
        if (got == 0) break;
        filled += static_cast<std::size_t>(got);
    }
    if (filled != wanted) {
        return {ErrorCode::conflict, shown_path(file.name) + (filled < wanted ? " became shorter" : " became longer") +
                                         " while it was read; try again when it is complete"};
    }
    bytes.resize(wanted);
    return bytes;
}

namespace {

/// Returns the request that sends the next piece. `upload`: from the reply to the first piece; empty: this is the
/// first.
Result<rpc::FilePut> piece_of(const GivenFile& file, const std::string& upload, std::int64_t offset) {
    TRY(const auto bytes, bytes_of(file, offset, rpc::k_largest_piece));
    rpc::FilePut piece;
    if (upload.empty()) {
        piece.name = file.name;
        piece.origin = file.origin;
        piece.size = file.size;
    } else {
        piece.upload = upload;
    }
    piece.offset = offset;
    piece.data = to_base64(bytes);
    piece.last = offset + static_cast<std::int64_t>(bytes.size()) == file.size;
    return piece;
}

/// Says which file was refused, and that nothing else has happened.
Error about_file(const GivenFile& file, Error error) {
    if (rpc::is_unknown_method(error)) {
        return {ErrorCode::unavailable,
                "the daemon is older than this orange, and takes no files. To replace it:\n  orange daemon restart"};
    }
    const auto name = shown_path(file.name);
    if (error.code == ErrorCode::unavailable) {
        return {error.code, "the daemon stopped while it got " + name + "; nothing was changed. Try again"};
    }
    return in_context(name, std::move(error));
}

Result<std::string> send_one(Connection& connection, const GivenFile& file) {
    std::string upload;
    for (std::int64_t offset = 0;; offset += rpc::k_largest_piece) {
        TRY(const auto piece, piece_of(file, upload, offset));
        auto reply = connection.call(piece);
        if (!reply) return about_file(file, reply.error());
        upload = reply->upload;
        if (piece.last) return upload;
    }
}

}  // namespace

Result<std::vector<std::string>> send_given(Connection& connection, const std::vector<GivenFile>& files) {
    std::vector<std::string> uploads;
    for (const auto& file : files) {
        TRY(auto upload, send_one(connection, file));
        uploads.push_back(std::move(upload));
    }
    return uploads;
}

}  // namespace orange::connection

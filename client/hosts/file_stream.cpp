#include "client/hosts/file_stream.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "common/base/try.hpp"
#include "common/model/json.hpp"
#include "common/posix/retried.hpp"
#include "common/posix/write.hpp"

namespace orange::hosts {
namespace {

using connection::GivenFile;

constexpr std::int64_t k_chunk = 65536;
constexpr std::size_t k_longest_line = 16384;

Error incomplete() {
    return {ErrorCode::unavailable, "the files did not arrive completely; nothing was done"};
}

Result<void> put(int to, const std::string& bytes) {
    const int error = posix::write_all(to, bytes);
    if (error == EPIPE) return {ErrorCode::unavailable, "the connection ended before the files were sent"};
    return error == 0 ? Result<void>{} : io_error("sending files", error);
}

/// Reads a line, and not one byte behind it.
Result<Json> read_header(int from) {
    std::string line;
    for (char c = 0; line.size() < k_longest_line; line += c) {
        if (posix::retried([&] { return ::read(from, &c, 1); }) != 1) return incomplete();
        if (c != '\n') continue;
        auto json = parse_json(line);
        if (json && json->is_object()) return std::move(*json);
        break;
    }
    return {ErrorCode::invalid_argument, "standard input does not have the files that were announced"};
}

/// Opens a file without a name.
Result<UniqueFd> open_unnamed() {
    std::error_code error;
    const auto folder = std::filesystem::temp_directory_path(error);
    auto path = ((error ? "/tmp" : folder) / "orange-file-XXXXXX").string();
    UniqueFd fd(::mkostemp(path.data(), O_CLOEXEC));
    if (!fd) return io_error("making " + path, errno);
    ::unlink(path.c_str());
    return fd;
}

Result<void> receive_bytes(int from, const GivenFile& file) {
    std::string chunk;
    for (std::int64_t left = file.size; left > 0;) {
        chunk.resize(static_cast<std::size_t>(std::min(left, k_chunk)));
        const auto got = posix::retried([&] { return ::read(from, chunk.data(), chunk.size()); });
        if (got <= 0) return incomplete();
        chunk.resize(static_cast<std::size_t>(got));
        left -= got;
        if (const int error = posix::write_all(file.fd.get(), chunk); error != 0) {
            return io_error("keeping a file that is sent", error);
        }
    }
    return {};
}

}  // namespace

Result<void> send_files(int to, const std::vector<GivenFile>& files) {
    for (const auto& file : files) {
        TRY(put(to, dump({{"name", file.name}, {"origin", file.origin}, {"size", file.size}}) + "\n"));
        for (std::int64_t sent = 0; sent == 0 || sent < file.size; sent += k_chunk) {
            TRY(const auto bytes, connection::bytes_of(file, sent, k_chunk));
            TRY(put(to, bytes));
        }
    }
    return put(to, dump({{"end", true}}) + "\n");
}

Result<std::vector<GivenFile>> receive_files(int from, std::size_t count) {
    std::vector<GivenFile> files;
    for (std::size_t i = 0; i < count; ++i) {
        TRY(const auto header, read_header(from));
        const auto size = header.find("size");
        if (size == header.end() || !size->is_number_integer() || *size < 0) return incomplete();
        GivenFile file;
        file.name = text_member(header, "name");
        file.origin = text_member(header, "origin");
        file.size = size->get<std::int64_t>();
        files.push_back(std::move(file));
        TRY(connection::check_given(files));
        TRY(files.back().fd, open_unnamed());
        TRY(receive_bytes(from, files.back()));
    }
    TRY(const auto end, read_header(from));
    if (!end.contains("end")) return incomplete();
    return files;
}

}  // namespace orange::hosts

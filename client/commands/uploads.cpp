#include "client/commands/uploads.hpp"

#include <unistd.h>

#include <algorithm>

#include "client/hosts/file_stream.hpp"
#include "common/base/shown_path.hpp"
#include "common/base/try.hpp"

namespace orange::commands {
namespace {

/// Says which file was refused, and that nothing else has happened.
Error about_file(const connection::GivenFile& file, Error error) {
    const bool is_too_old = error.message.starts_with("there is no method");
    if (is_too_old) {
        return {ErrorCode::unavailable,
                "the daemon is older than this orange, and takes no files. To replace it:\n  orange daemon restart"};
    }
    const auto name = shown_path(file.name);
    if (error.code == ErrorCode::unavailable) {
        return {error.code, "the daemon stopped while it got " + name + "; nothing was changed. Try again"};
    }
    return in_context(name, std::move(error));
}

Result<std::string> send_file(Context& context, const connection::GivenFile& file) {
    std::string upload;
    for (std::int64_t offset = 0;; offset += rpc::k_largest_piece) {
        TRY(const auto piece, connection::piece_of(file, upload, offset));
        auto reply = context.call(piece);
        if (!reply) return about_file(file, reply.error());
        upload = reply->upload;
        if (piece.last) return upload;
    }
}

}  // namespace

Result<Uploads> Uploads::open(const Context& context, const FileOptions& options) {
    Uploads uploads;
    if (options.paths.empty() && options.from_input == 0) return uploads;
    const auto limit = connection::file_limit(context.paths.home);
    if (options.from_input > 0) {
        TRY(uploads.files_, hosts::receive_files(STDIN_FILENO, options.from_input, limit));
    }
    TRY(auto named, connection::open_given(options.paths, limit));
    std::ranges::move(named, std::back_inserter(uploads.files_));
    TRY(connection::check_given(uploads.files_, limit));
    return uploads;
}

Result<std::vector<std::string>> Uploads::ids(Context& context) {
    TRY(context.daemon());
    if (sent_on_ == context.connections()) return ids_;
    ids_.clear();
    for (const auto& file : files_) {
        TRY(auto id, send_file(context, file));
        ids_.push_back(std::move(id));
    }
    sent_on_ = context.connections();
    return ids_;
}

}  // namespace orange::commands

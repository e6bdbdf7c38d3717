#include "client/commands/uploads.hpp"

#include <unistd.h>

#include <algorithm>

#include "client/hosts/file_stream.hpp"
#include "common/base/try.hpp"

namespace orange::commands {

Result<Uploads> Uploads::open(const FileOptions& options) {
    Uploads uploads;
    if (options.from_input > 0) {
        TRY(uploads.files_, hosts::receive_files(STDIN_FILENO, options.from_input));
    }
    TRY(auto named, connection::open_given(options.paths));
    std::ranges::move(named, std::back_inserter(uploads.files_));
    TRY(connection::check_given(uploads.files_));
    return uploads;
}

Result<std::vector<std::string>> Uploads::send(Context& context) const {
    if (files_.empty()) return std::vector<std::string>();
    TRY(const auto connection, context.daemon());
    return connection::send_given(*connection, files_);
}

}  // namespace orange::commands

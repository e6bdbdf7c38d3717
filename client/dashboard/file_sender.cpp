#include "client/dashboard/file_sender.hpp"

#include <cstdlib>
#include <utility>

#include "client/connection/daemon_socket.hpp"
#include "client/connection/given_file.hpp"
#include "common/base/try.hpp"

namespace orange::dashboard {
namespace {

/// Returns the path with the home in place of "~", as a shell would.
std::string with_home(const std::string& path) {
    const char* home = std::getenv("HOME");
    return home != nullptr && path.starts_with("~/") ? home + path.substr(1) : path;
}

Result<std::vector<connection::GivenFile>> opened(const std::vector<AgentFile>& files) {
    std::vector<connection::GivenFile> all;
    for (const auto& file : files) {
        if (!file.picture) {
            TRY(auto one, connection::open_given({with_home(file.path)}));
            all.push_back(std::move(one.front()));
            continue;
        }
        connection::GivenFile picture;
        picture.name = file.path;
        picture.origin = "clipboard";
        picture.size = static_cast<std::int64_t>(file.picture->size());
        picture.bytes = file.picture;
        all.push_back(std::move(picture));
    }
    TRY(connection::check_given(all));
    return all;
}

Result<std::vector<std::string>> opened_and_sent(const Paths& paths, const std::vector<AgentFile>& files) {
    TRY(const auto given, opened(files));
    TRY(auto daemon, connection::open_daemon(paths, connection::k_connect_deadline));
    return connection::send_given(daemon, given);
}

}  // namespace

Result<std::vector<std::string>> send_files(const Paths& paths, const std::vector<AgentFile>& files) {
    auto uploads = opened_and_sent(paths, files);
    if (uploads) return uploads;
    auto error = uploads.error();
    error.details["field"] = "files";  // the form opens again there
    return error;
}

}  // namespace orange::dashboard

#include "common/config/paths.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/config/program_path.hpp"

namespace orange {

namespace fs = std::filesystem;

namespace {

constexpr auto k_longest_socket_path = sizeof(sockaddr_un::sun_path) - 1;

/// Removes a slash at the end, which would make lstat() follow a link.
fs::path plain(const fs::path& path) {
    const auto normal = path.lexically_normal();
    return normal.has_filename() ? normal : normal.parent_path();
}

}  // namespace

fs::path Paths::tmux_socket() const {
    auto near = home / "tmux.sock";
    if (near.string().size() <= k_longest_socket_path) return near;
    // The name must be the same in every version, because a later daemon has to find the same tmux server.
    return fs::path("/tmp") / ("orange-" + std::to_string(::geteuid()) + "-" + fast_hash(home.string())) / "tmux.sock";
}

Result<Paths> paths_from_environment() {
    if (const char* home = std::getenv("ORANGE_HOME"); home && *home) {
        if (!fs::path(home).is_absolute()) {
            return {ErrorCode::invalid_argument,
                    std::string("ORANGE_HOME must be an absolute path, but is \"") + home + "\""};
        }
        return Paths{plain(home)};
    }
    if (const char* home = std::getenv("HOME"); home && *home == '/') return Paths{fs::path(home) / "orange"};
    return {ErrorCode::invalid_argument, "no home directory: set HOME or ORANGE_HOME"};
}

Result<Installation> find_installation() {
    TRY(auto program, program_path());
    Installation found{program.parent_path(), {}};
    std::vector<fs::path> candidates;
    if (const char* share = std::getenv("ORANGE_SHARE"); share && *share) candidates.emplace_back(share);
    candidates.push_back(found.bin.parent_path() / "share" / "orange");
#ifdef ORANGE_SOURCE_DIR
    // If another user owned the source tree, that user could change the command lines of agents.
    struct stat tree {};
    if (::stat(ORANGE_SOURCE_DIR, &tree) == 0 && tree.st_uid == ::geteuid()) candidates.emplace_back(ORANGE_SOURCE_DIR);
#endif
    for (const auto& candidate : candidates) {
        std::error_code error;
        if (fs::is_regular_file(candidate / "workflows" / "default.yml", error)) {
            found.share = candidate;
            return found;
        }
    }
    return {ErrorCode::not_found, "the shipped workflows are missing: looked for workflows/default.yml in " +
                                      candidates.front().string() + "; reinstall, or set ORANGE_SHARE"};
}

}  // namespace orange

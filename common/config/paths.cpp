#include "common/config/paths.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "common/config/program_path.hpp"

namespace orange {

namespace fs = std::filesystem;

Result<Paths> paths_from_environment() {
    if (const char* home = std::getenv("ORANGE_HOME"); home && *home) {
        if (!fs::path(home).is_absolute()) {
            return {ErrorCode::invalid_argument,
                    std::string("ORANGE_HOME must be an absolute path, but is \"") + home + "\""};
        }
        return Paths{fs::path(home).lexically_normal()};
    }
    if (const char* home = std::getenv("HOME"); home && *home == '/') return Paths{fs::path(home) / "orange"};
    if (const passwd* user = ::getpwuid(::geteuid()); user && user->pw_dir) {
        return Paths{fs::path(user->pw_dir) / "orange"};
    }
    return {ErrorCode::invalid_argument, "no home directory: set HOME or ORANGE_HOME"};
}

Result<Installation> find_installation() {
    auto program = program_path();
    if (!program) return program.error();
    Installation found{program->parent_path(), {}};
    std::vector<fs::path> candidates;
    if (const char* share = std::getenv("ORANGE_SHARE"); share && *share) candidates.emplace_back(share);
    candidates.push_back(found.bin.parent_path() / "share" / "orange");
#ifdef ORANGE_SOURCE_DIR
    candidates.emplace_back(ORANGE_SOURCE_DIR);
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

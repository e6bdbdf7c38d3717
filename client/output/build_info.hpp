#pragma once

#include <map>
#include <string>

namespace orange::output {

/// Facts about the build of this program. A text is empty if the build did not know it, for example without a git
/// repository.
struct BuildInfo {
    std::string commit;
    std::string type;  ///< "Release"
    std::string compiler;
    std::map<std::string, std::string> libraries;  ///< name → version, including the daemon's libraries
};
BuildInfo build_info();

}  // namespace orange::output

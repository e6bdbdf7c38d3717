#pragma once

#include <map>
#include <string>

namespace orange::output {

/// How this program was built. Texts are empty if the build did not know them, for example without a git repository.
struct BuildInfo {
    std::string commit;
    std::string type;  ///< "Release"
    std::string compiler;
    std::map<std::string, std::string> libraries;  ///< name to version, those of the daemon, too
};
BuildInfo build_info();

}  // namespace orange::output

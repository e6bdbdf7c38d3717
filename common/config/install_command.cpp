#include "common/config/install_command.hpp"

#include <system_error>

namespace orange {
namespace {

struct PackageManager {
    const char* file;     ///< below the root
    const char* install;  ///< the command, without the name of the package
    const char* gh;       ///< the package of gh; other packages have the same name everywhere
};

constexpr PackageManager k_managers[] = {
    {"usr/bin/apt-get", "sudo apt install ", "gh"},      {"usr/bin/dnf", "sudo dnf install ", "gh"},
    {"usr/bin/pacman", "sudo pacman -S ", "github-cli"}, {"usr/bin/zypper", "sudo zypper install ", "gh"},
    {"sbin/apk", "sudo apk add ", "github-cli"},         {"opt/homebrew/bin/brew", "brew install ", "gh"},
    {"usr/local/bin/brew", "brew install ", "gh"},
};

}  // namespace

std::string install_command(std::string_view program, const std::filesystem::path& root) {
    for (const auto& manager : k_managers) {
        std::error_code error;
        if (!std::filesystem::exists(root / manager.file, error)) continue;
        return std::string(manager.install) + (program == "gh" ? manager.gh : std::string(program));
    }
    return {};
}

}  // namespace orange

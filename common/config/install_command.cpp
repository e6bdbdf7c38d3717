#include "common/config/install_command.hpp"

#include <system_error>

#include "common/base/forges.hpp"

namespace orange {
namespace {

struct PackageManager {
    const char* file;     ///< below the root
    const char* install;  ///< the command, without the name of the package
    bool long_names;      ///< of the packages of forges; other packages have the same name everywhere
};

constexpr PackageManager k_managers[] = {
    {"usr/bin/apt-get", "sudo apt install ", false},
    {"usr/bin/dnf", "sudo dnf install ", false},
    {"usr/bin/pacman", "sudo pacman -S ", true},
    {"usr/bin/zypper", "sudo zypper install ", false},
    {"sbin/apk", "sudo apk add ", true},
    {"opt/homebrew/bin/brew", "brew install ", false},
    {"usr/local/bin/brew", "brew install ", false},
};

}  // namespace

std::string install_command(std::string_view program, const std::filesystem::path& root) {
    for (const auto& manager : k_managers) {
        std::error_code error;
        if (!std::filesystem::exists(root / manager.file, error)) continue;
        for (const auto* forge : k_forges) {
            if (manager.long_names && program == forge->program) program = forge->long_name;
        }
        return std::string(manager.install) + std::string(program);
    }
    return {};
}

}  // namespace orange

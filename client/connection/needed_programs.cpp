#include "client/connection/needed_programs.hpp"

#include "client/connection/child.hpp"
#include "common/base/try.hpp"
#include "common/config/install_command.hpp"
#include "common/config/versions.hpp"

namespace orange::connection {

Result<std::string> version_of(const std::vector<std::string>& argv, std::string_view oldest) {
    const auto& name = argv.front();
    const auto text = output_of(argv);
    std::string version(version_word(text.value_or("")));
    if (version.empty()) {
        const auto install = install_command(name);
        return {ErrorCode::not_found,
                name + " is not installed or does not answer" + (install.empty() ? install : "\n  " + install)};
    }
    if (!oldest.empty() && is_older(version, oldest)) {
        return {ErrorCode::unavailable, name + " " + version + " is too old: Orange needs " + std::string(oldest)};
    }
    return version;
}

Result<void> check_programs() {
    TRY(version_of({"tmux", "-V"}, k_oldest_tmux));
    TRY(version_of({"git", "--version"}, k_oldest_git));
    return {};
}

}  // namespace orange::connection

#include "common/config/install_command.hpp"

#include <fstream>

#include "tests/catch.hpp"
#include "tests/fakes/temporary_folder.hpp"

using namespace orange;
namespace fs = std::filesystem;

TEST_CASE("A missing program is installed with the package manager that the system has") {
    struct Row {
        const char* manager;
        const char* tmux;
        const char* gh;
    };
    for (const auto& row : {
             Row{"usr/bin/apt-get", "sudo apt install tmux", "sudo apt install gh"},
             Row{"usr/bin/dnf", "sudo dnf install tmux", "sudo dnf install gh"},
             Row{"usr/bin/pacman", "sudo pacman -S tmux", "sudo pacman -S github-cli"},
             Row{"usr/bin/zypper", "sudo zypper install tmux", "sudo zypper install gh"},
             Row{"sbin/apk", "sudo apk add tmux", "sudo apk add github-cli"},
             Row{"opt/homebrew/bin/brew", "brew install tmux", "brew install gh"},
             Row{"usr/local/bin/brew", "brew install tmux", "brew install gh"},
         }) {
        const testing::TemporaryFolder root;
        fs::create_directories((root.path() / row.manager).parent_path());
        std::ofstream(root.path() / row.manager) << "#!/bin/sh\n";
        CHECK(install_command("tmux", root.path()) == row.tmux);
        CHECK(install_command("gh", root.path()) == row.gh);
    }
    const testing::TemporaryFolder empty;
    CHECK(install_command("tmux", empty.path()).empty());
}

#include "daemon/tmux/scope.hpp"

#include <sys/stat.h>

#include "common/base/ids.hpp"

namespace orange::tmux {

std::vector<std::string> scope_words(const Environment& env) {
    const auto runtime = env.find("XDG_RUNTIME_DIR");
    const auto path = env.find("PATH");
    if (runtime == env.end() || path == env.end() || !runtime->second.starts_with('/')) return {};
    // The user manager's own socket, which systemd-run speaks to: asked for first, since without one systemd-run fails
    // only after it has tried.
    struct stat info {};
    if (::stat((runtime->second + "/systemd/private").c_str(), &info) != 0) return {};
    auto program = find_program("systemd-run", path->second);
    if (program.empty()) return {};
    return {std::move(program),
            "--user",
            "--scope",
            "--collect",
            "--quiet",
            "--unit=orange-tmux-" + random_id(10),
            "--description=Agents of Orange",
            "--"};
}

}  // namespace orange::tmux

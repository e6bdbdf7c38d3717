#include "daemon/app/offline.hpp"

#include <cstdio>
#include <cstdlib>

#include "daemon/agents/harness.hpp"
#include "daemon/agents/skills.hpp"
#include "daemon/app/settings.hpp"
#include "daemon/files/posix_file_system.hpp"
#include "daemon/process/environment.hpp"

namespace orange {

int list_agents(const Paths& paths, const Installation& installation) {
    const char* path = std::getenv("PATH");
    const auto env = current_environment();
    const agents::HarnessLibrary harnesses(installation.share / "harnesses", paths.harnesses(),
                                           agents::ProgramSearch({{"your terminal", path ? path : "", ""}}));
    for (const auto& entry : harnesses.list()) {
        if (!entry.problem.empty() || entry.harness.name == "demo") continue;
        const auto skills = agents::skills_folder(entry.harness, env);
        const auto install = entry.harness.tried ? entry.harness.install : std::string();  // untried: not recommended
        std::printf("%s\t%s\t%s\t%s\n", entry.harness.name.c_str(), entry.program.c_str(), install.c_str(),
                    skills.c_str());
    }
    return 0;
}

int check_settings(const Paths& paths) {
    PosixFileSystem files;
    const auto loaded = load_settings(files, paths.config());
    std::printf("%s\n", loaded ? "config.yml is valid" : loaded.error().message.c_str());
    return loaded ? 0 : 1;
}

}  // namespace orange

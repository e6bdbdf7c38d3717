#include "daemon/agents/skills.hpp"

#include <algorithm>

namespace orange::agents {

std::string variable_in(const Environment& env, const std::string& name) {
    const auto found = env.find(name);
    return found == env.end() ? std::string() : found->second;
}

std::string folder_in(const std::string& item, const Environment& env) {
    const auto home = variable_in(env, "HOME");
    if (item.starts_with('~') && home.empty()) return {};
    if (!item.starts_with('$')) return below_home(item, home);
    const auto slash = std::min(item.find('/'), item.size());
    const auto base = variable_in(env, item.substr(1, slash - 1));
    return base.empty() ? base : base + item.substr(slash);
}

std::string skills_folder(const Harness& harness, const Environment& env) {
    for (const auto& item : harness.skills) {
        const auto folder = folder_in(item, env);
        if (folder.starts_with('/')) return folder;
    }
    return {};
}

}  // namespace orange::agents

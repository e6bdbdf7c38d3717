#include "daemon/agents/skills.hpp"

namespace orange::agents {
namespace {

std::string variable_in(const Environment& env, const std::string& name) {
    const auto found = env.find(name);
    return found == env.end() ? std::string() : found->second;
}

}  // namespace

std::string skills_folder(const Harness& harness, const Environment& env) {
    for (const auto& item : harness.skills) {
        const auto home = variable_in(env, "HOME");
        if (item.starts_with('~') && home.empty()) continue;
        auto folder = below_home(item, home);
        if (item.starts_with('$')) {
            const auto slash = item.find('/');
            const auto base = variable_in(env, item.substr(1, slash - 1));
            if (base.empty()) continue;
            folder = base + item.substr(slash);
        }
        if (folder.starts_with('/')) return folder;
    }
    return {};
}

}  // namespace orange::agents

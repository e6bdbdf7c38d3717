#include "daemon/runner/placing/networks.hpp"

#include "common/base/text.hpp"
#include "daemon/agents/binds.hpp"
#include "daemon/agents/skills.hpp"
#include "daemon/shim/proxy.hpp"

namespace orange::networks {
namespace {

std::string shim_of(const World& world) {
    return agents::real_path((world.installation.bin / "orange-agent").string());
}

}  // namespace

Network network_of(const World& world, const std::string& project) {
    const auto* registered = world.projects.find(project);
    const auto settings = registered ? registered->settings : ProjectSettings();
    const auto all = effective(world.settings.project_defaults, settings);
    return network_in(*all.network).value_or(Network{Network::Kind::none, {}});
}

Result<void> check(const World& world, const std::string& project, const agents::Executor* executor,
                   const Environment& env) {
    const auto network = network_of(world, project);
    if (!network.is_limited()) return {};
    const bool is_too_far = executor && executor->calls_back && network.kind == Network::Kind::list;  // for the proxy
    if (!executor || !executor->limits_network() || is_too_far) {
        const auto name = executor ? executor->name : std::string(agents::k_local);
        const auto cannot = "executor " + name + " cannot keep its agents to the network of project " + project +
                            " (network: " + (network.kind == Network::Kind::none ? "none" : "a list of places") + ")";
        const auto today = world.executors.find(name);
        if (today && !is_too_far && today->executor.limits_network()) {
            return Error(ErrorCode::conflict, cannot +
                                                  " as the task was recorded with it, but as it is defined now it can. "
                                                  "To move the task to that:\n  orange task update --executor " +
                                                  name);
        }
        return Error(ErrorCode::conflict,
                     cannot +
                         "; choose another one with --executor, as bwrap. To choose it for all new "
                         "tasks:\n  orange project update " +
                         shell_word(project) + " --set executor=bwrap");
    }
    if (network.kind != Network::Kind::list) return {};
    const auto found = find_proxy(env);
    return found ? found : Error(found.error().code, "network of project " + project + ": " + found.error().message);
}

Result<void> find_proxy(const Environment& env) {
    if (!find_squid(agents::variable_in(env, "PATH")).empty()) return {};
    return Error(ErrorCode::not_found,
                 "a list of places needs the program squid, which is not installed. To install it:\n"
                 "  sudo apt-get install squid");
}

void forget_proxies(const Network& network, Environment& env) {
    if (!network.is_limited()) return;
    for (const auto name : k_proxy_variables) env.erase(std::string(name));
}

std::string log_of(const World& world, const Task& task) {
    return (world.paths.tasks() / task.project / task.id.value / "network.log").string();
}

std::vector<std::string> inside(const World& world, const Network& network, const Proxy& proxy,
                                std::vector<std::string> inner) {
    if (network.kind != Network::Kind::list) return inner;
    std::vector<std::string> words = {shim_of(world), std::string(k_through_option), proxy.socket, "--"};
    words.insert(words.end(), inner.begin(), inner.end());
    return words;
}

std::vector<std::string> around(const World& world, const Network& network, const Proxy& proxy,
                                std::vector<std::string> box) {
    if (network.kind != Network::Kind::list) return box;
    std::vector<std::string> words = {shim_of(world), std::string(k_proxy_option), proxy.socket, proxy.log};
    for (const auto& place : network.places) words.push_back(text_of(place));
    words.emplace_back("--");
    words.insert(words.end(), box.begin(), box.end());
    return words;
}

}  // namespace orange::networks

#include "daemon/app/ssh_agent.hpp"

#include <set>
#include <vector>

#include "tests/catch.hpp"

using namespace orange;

namespace {

struct Agents {
    std::set<std::string> alive;
    std::vector<std::string> changes;

    SshAgent of(const std::string& start) {
        SshAgent agent(start, [this](const std::string& socket) { return alive.contains(socket); });
        agent.on_change([this](const std::string& socket) { changes.push_back(socket); });
        return agent;
    }
};

}  // namespace

TEST_CASE("the ssh-agent of the daemon's start is used as long as it answers") {
    Agents agents;
    agents.alive = {"/first", "/second"};
    auto agent = agents.of("/first");
    CHECK(agent.living() == "/first");
    agent.heard_of("/second");
    CHECK(agent.living() == "/first");
    CHECK(agents.changes.empty());
    agents.alive.insert("relative");
    for (const char* useless : {"/gone", "relative", ""}) agent.heard_of(useless);
    agents.alive.erase("/first");
    CHECK(agent.living() == "/second");
    CHECK(agents.changes == std::vector<std::string>{"/second"});
}

TEST_CASE("when the ssh-agent is gone, the last person's takes its place at once, and again later") {
    Agents agents;
    auto agent = agents.of("/first");
    CHECK(agent.living().empty());
    agents.alive = {"/second"};
    agent.heard_of("/second");
    CHECK(agents.changes == std::vector<std::string>{"/second"});
    CHECK(agent.living() == "/second");
    agents.alive = {"/third"};
    CHECK(agent.living().empty());
    agent.heard_of("/gone");
    CHECK(agent.living().empty());
    agent.heard_of("/third");
    CHECK(agent.living() == "/third");
    CHECK(agents.changes == std::vector<std::string>{"/second", "/third"});
}

TEST_CASE("a daemon that was started without an ssh-agent uses a person's") {
    Agents agents;
    agents.alive = {"/mine"};
    auto agent = agents.of("");
    CHECK(agent.living().empty());
    agent.heard_of("/mine");
    CHECK(agent.living() == "/mine");
}

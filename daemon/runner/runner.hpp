#pragma once

#include <set>
#include <string>

#include "daemon/agents/versions.hpp"
#include "daemon/runner/agents/activity.hpp"
#include "daemon/runner/agents/agent_control.hpp"
#include "daemon/runner/agents/budgets.hpp"
#include "daemon/runner/agents/exits.hpp"
#include "daemon/runner/agents/outbox.hpp"
#include "daemon/runner/agents/respawns.hpp"
#include "daemon/runner/agents/token_use.hpp"
#include "daemon/runner/agents/usage_holds.hpp"
#include "daemon/runner/attention/permits.hpp"
#include "daemon/runner/branch/committed.hpp"
#include "daemon/runner/checks/checks.hpp"
#include "daemon/runner/checks/gates.hpp"
#include "daemon/runner/checks/previews.hpp"
#include "daemon/runner/loop/reconciler.hpp"
#include "daemon/runner/merging/forecast.hpp"
#include "daemon/runner/merging/merges.hpp"
#include "daemon/runner/merging/trains.hpp"
#include "daemon/runner/placing/placement.hpp"
#include "daemon/runner/pulls/pull_sync.hpp"
#include "daemon/runner/queue/capacity.hpp"
#include "daemon/runner/queue/disks.hpp"
#include "daemon/runner/queue/memory.hpp"
#include "daemon/runner/queue/queue.hpp"
#include "daemon/runner/queue/workspaces.hpp"
#include "daemon/runner/review/comments.hpp"
#include "daemon/runner/transitions/creation.hpp"
#include "daemon/runner/transitions/edits.hpp"
#include "daemon/runner/transitions/requests.hpp"
#include "daemon/runner/transitions/transitions.hpp"
#include "daemon/runner/transitions/turns.hpp"
#include "daemon/runner/world.hpp"

namespace orange {

/// All owners that change tasks, put together. Each owner has its own state; its header says what it is for. Requests
/// (rpc) and events (monitor) come in here. They end in turns of one task at a time (Turns) and, if a status changes,
/// in Transitions.
struct Runner {
    explicit Runner(World& its_world) : world(its_world) {}
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

    World& world;
    std::set<std::string> missing_repositories;  ///< their paths, of the last look_for_repositories()
    store::Uploads uploads{world.files, world.paths.uploads()};
    Turns turns{world};
    UsageHolds usage{world};
    Capacity capacity{*this};
    AgentControl agents{*this};
    TokenUse tokens{*this};
    Budgets budgets{*this};
    Edits edits{*this};
    Transitions transitions{*this};
    Checks checks{*this};
    Gates gates{*this};
    Previews previews{*this};
    Comments comments{*this};
    Merges merges{*this};
    Trains trains{*this};
    Workspaces workspaces{*this};
    agents::Versions versions{world.processes, world.executor, world.files, world.paths.home / "versions.json"};
    Permits permits{*this};
    Activities activities{*this};
    Outbox outbox{*this};
    Requests requests{*this};
    Queue queue{*this};
    Creation creation{*this};
    Respawns respawns{*this};
    Placements placements{world, turns};
    Exits exits{*this};
    Memory memory{*this};
    Disks disks{*this};
    Recovery recovery{*this};
    PullSync pull_sync{*this};
    Committed committed{world};
    Forecast forecast{*this};
    Reconciler reconciler{*this};
};

}  // namespace orange

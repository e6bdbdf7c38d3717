#pragma once

#include "daemon/agents/versions.hpp"
#include "daemon/runner/agents/activity.hpp"
#include "daemon/runner/agents/agent_control.hpp"
#include "daemon/runner/agents/exits.hpp"
#include "daemon/runner/agents/outbox.hpp"
#include "daemon/runner/agents/respawns.hpp"
#include "daemon/runner/agents/usage_holds.hpp"
#include "daemon/runner/branch/committed.hpp"
#include "daemon/runner/checks/checks.hpp"
#include "daemon/runner/checks/gates.hpp"
#include "daemon/runner/loop/reconciler.hpp"
#include "daemon/runner/loop/recovery.hpp"
#include "daemon/runner/merging/merges.hpp"
#include "daemon/runner/placing/placement.hpp"
#include "daemon/runner/pulls/pull_sync.hpp"
#include "daemon/runner/queue/capacity.hpp"
#include "daemon/runner/queue/memory.hpp"
#include "daemon/runner/queue/queue.hpp"
#include "daemon/runner/queue/workspaces.hpp"
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
    explicit Runner(World& its_world)
        : world(its_world),
          turns(world),
          usage(world),
          capacity(world, turns, usage),
          agents(world, turns, capacity),
          edits(world, turns),
          transitions(world, agents, turns, edits, queue),
          checks(world, agents, turns),
          gates(world, agents, turns, transitions, checks),
          merges(world, turns, transitions, checks),
          workspaces(world, agents, turns, transitions, queue),
          versions(world.processes, world.executor, world.files, world.paths.home / "versions.json"),
          activities(world, agents, turns, usage, versions),
          outbox(world, agents, turns, activities, usage),
          requests(world, turns, edits, transitions, merges, workspaces, gates, queue),
          queue(world, capacity, turns, agents, transitions),
          creation(world, turns, transitions, queue),
          respawns(world, capacity, agents, turns, transitions, workspaces),
          placements(world, turns),
          exits(world, agents, turns, transitions, respawns, gates, usage, placements),
          memory(world, turns),
          recovery(world, agents, turns, transitions, merges, gates, creation),
          pull_sync(world, turns, transitions, merges),
          committed(world),
          reconciler(*this) {}
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

    World& world;
    Turns turns;
    UsageHolds usage;
    Capacity capacity;
    AgentControl agents;
    Edits edits;
    Transitions transitions;
    Checks checks;
    Gates gates;
    Merges merges;
    Workspaces workspaces;
    agents::Versions versions;
    Activities activities;
    Outbox outbox;
    Requests requests;
    Queue queue;
    Creation creation;
    Respawns respawns;
    Placements placements;
    Exits exits;
    Memory memory;
    Recovery recovery;
    PullSync pull_sync;
    Committed committed;
    Reconciler reconciler;
};

}  // namespace orange

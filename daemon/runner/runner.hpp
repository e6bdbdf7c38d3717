#pragma once

#include "daemon/agents/versions.hpp"
#include "daemon/runner/activity.hpp"
#include "daemon/runner/agent_control.hpp"
#include "daemon/runner/checks.hpp"
#include "daemon/runner/committed.hpp"
#include "daemon/runner/creation.hpp"
#include "daemon/runner/edits.hpp"
#include "daemon/runner/exits.hpp"
#include "daemon/runner/gates.hpp"
#include "daemon/runner/memory.hpp"
#include "daemon/runner/merges.hpp"
#include "daemon/runner/outbox.hpp"
#include "daemon/runner/placement.hpp"
#include "daemon/runner/pull_sync.hpp"
#include "daemon/runner/queue.hpp"
#include "daemon/runner/reconciler.hpp"
#include "daemon/runner/recovery.hpp"
#include "daemon/runner/requests.hpp"
#include "daemon/runner/respawns.hpp"
#include "daemon/runner/room.hpp"
#include "daemon/runner/transitions.hpp"
#include "daemon/runner/turns.hpp"
#include "daemon/runner/usage_holds.hpp"
#include "daemon/runner/workspaces.hpp"
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
          room(world, turns, usage),
          agents(world, turns, room),
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
          queue(world, room, turns, agents, transitions),
          creation(world, turns, transitions, queue),
          respawns(world, room, agents, turns, transitions, workspaces),
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
    Room room;
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

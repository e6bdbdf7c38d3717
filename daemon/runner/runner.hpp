#pragma once

#include "daemon/runner/agent_control.hpp"
#include "daemon/runner/creation.hpp"
#include "daemon/runner/edits.hpp"
#include "daemon/runner/exits.hpp"
#include "daemon/runner/merges.hpp"
#include "daemon/runner/outbox.hpp"
#include "daemon/runner/queue.hpp"
#include "daemon/runner/recovery.hpp"
#include "daemon/runner/requests.hpp"
#include "daemon/runner/respawns.hpp"
#include "daemon/runner/transitions.hpp"
#include "daemon/runner/turns.hpp"
#include "daemon/runner/workspaces.hpp"
#include "daemon/runner/world.hpp"

namespace orange {

/// All that changes tasks, put together; each owner has its own state and says in its header what it is for. Requests
/// (rpc) and events (monitor) come in here, and end in turns of one task at a time (Turns) and, where a status changes,
/// in Transitions.
struct Runner {
    Runner(World& its_world, AgentControl& its_agents)
        : world(its_world),
          agents(its_agents),
          turns(world),
          edits(world, turns),
          transitions(world, agents, turns, edits, queue),
          merges(world, turns, transitions),
          workspaces(world, agents, turns, transitions, queue),
          outbox(world, agents, turns),
          requests(world, turns, edits, transitions, merges, workspaces, outbox, queue),
          queue(world, turns, transitions, requests),
          creation(world, turns, transitions, queue),
          respawns(world, agents, turns, transitions, workspaces),
          exits(world, agents, turns, transitions, respawns),
          recovery(world, agents, turns, transitions, merges, creation) {}
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

    World& world;
    AgentControl& agents;
    Turns turns;
    Edits edits;
    Transitions transitions;
    Merges merges;
    Workspaces workspaces;
    Outbox outbox;
    Requests requests;
    Queue queue;
    Creation creation;
    Respawns respawns;
    Exits exits;
    Recovery recovery;
};

}  // namespace orange

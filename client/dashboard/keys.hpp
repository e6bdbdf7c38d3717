#pragma once

#include <span>
#include <string>
#include <string_view>

#include "client/dashboard/input.hpp"
#include "client/dashboard/state.hpp"

/// The table of keys: the footer, the help and what a key does come from it, so that none can disagree.
namespace orange::dashboard {

enum class Action {
    down,
    up,
    first,
    last,
    page_down,
    page_up,
    pane_down,
    pane_up,
    enter,
    merge,
    pull_request,
    cancel,
    reject,
    reply,
    send,
    respawn,
    stop,
    remove,
    acknowledge,
    approve,
    move_to,
    update_branch,
    diff,
    shell,
    edit,
    copy,
    mark,
    create,
    filter,
    search,
    workspaces,
    next_pane,
    pane_1,
    pane_2,
    pane_3,
    pane_4,
    pane_5,
    help,
    back,
    redraw,
    suspend,
    reconnect,
    quit,
};

struct Binding {
    Key key;
    Action action;
    const char* label;  ///< in the footer; empty: only in the help
    const char* help;
};

std::span<const Binding> bindings();
/// Nothing is bound to `key`: nullptr.
const Binding* binding_of(const Key& key);

/// Whether the key of an action about a task is shown for it; Enter and p say what they do.
bool is_offered(const Row& task, Action action);
/// What --read-only leaves out: an agent's terminal, a shell and an editor can change things, too.
bool is_refused_to_readers(Action action);
/// The key that does what `command` ("orange task stop 7JJC") says, for a row that is that task; else empty.
std::string key_for(const Row* task, std::string_view command);
std::string label_of(const Row* task, const Binding& binding);

/// "Enter attach  m merge …" for the row, cut at a key, always with ? and q, in one row or two.
std::vector<Line> footer(const State& state, const Row* task, std::size_t width, int rows);
/// All keys, with headings.
std::vector<Line> help_lines(const State& state);

}  // namespace orange::dashboard

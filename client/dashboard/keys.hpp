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
    mark_all,
    create,
    filter,
    search,
    projects,
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

class Core;

/// The properties of a key are bits of Binding::is.
enum Trait : unsigned {
    k_of_list = 0,
    k_of_task = 1,  ///< it needs a selected task, and is offered if the task offers it
    k_looks = 2,    ///< --read-only leaves it in, though it is about a task
    k_changes = 4,  ///< it needs the daemon, and waits for what is under way
    k_on_marked = 8,
    k_takes_text = 16,
};

struct Binding {
    const char* keys;  ///< with a blank between them; the footer shows the first one
    Action action;
    unsigned is;
    const char* label;  ///< in the footer; empty: only in the help
    const char* help;
    const char* offers;    ///< one of what the daemon must offer for it; empty: see is_offered()
    const char* commands;  ///< that do the same, without "orange"
    void (*run)(Core& core, Effects& effects, Moment now);
};

std::span<const Binding> bindings();
/// Returns nullptr if nothing is bound to `key`.
const Binding* binding_of(const Key& key);

/// Returns true if the key of an action is shown for the task; Enter and p say what they do.
bool is_offered(const Row& task, const Binding& binding);
/// Returns true if --read-only omits the key: an agent's terminal, a shell and an editor can change things, too.
bool is_refused_to_readers(const Binding& binding);
/// The key that does what `command` says, for a row that is the task of that command; else empty.
std::string key_for(const Row* task, const OrangeCommand& command);
std::string label_of(const Row* task, const Binding& binding);

/// "Enter attach  m merge …" for the row, cut at a key, always with ? and q, in one row or two.
std::vector<Line> footer(const State& state, const Row* task, std::size_t width, int rows);
/// All keys, with headings.
std::vector<Line> help_lines(const State& state);

}  // namespace orange::dashboard

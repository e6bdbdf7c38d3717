#pragma once

#include <span>
#include <string>
#include <string_view>

#include "client/dashboard/input.hpp"
#include "client/dashboard/state.hpp"

/// The table of keys, from which the footer, the help and the effects of keys come, so that they always agree.
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
    restore,
    remove,
    acknowledge,
    approve,
    move_to,
    update_branch,
    try_work,
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
    focus,
    pane_1,
    pane_2,
    pane_3,
    pane_4,
    pane_5,
    pane_6,
    help,
    back,
    redraw,
    suspend,
    reconnect,
    quit,
    whole,
    comment,
    range,
    edit_comment,
    remove_comment,
    resolve_comment,
    ask_again,
    take_over,
    pick,
};

class Core;

/// The properties of a key, bits of Binding::is.
enum Trait : unsigned {
    k_of_list = 0,
    k_of_task = 1,  ///< needs a selected task, and is offered if the task offers it
    k_looks = 2,    ///< is about a task, but allowed with --read-only
    k_changes = 4,  ///< needs the daemon, and waits for a running change
    k_on_marked = 8,
    k_takes_text = 16,
};

struct Binding {
    const char* keys;  ///< separated by blanks; the footer shows the first one
    Action action;
    unsigned is;
    const char* label;  ///< the text in the footer; empty: only in the help
    const char* help;
    const char* offers;    ///< the daemon must offer one of these methods; empty: see is_offered()
    const char* commands;  ///< commands that do the same, without "orange"
    void (*run)(Core& core, Effects& effects, Moment now);
};

/// A key for comments, in a pane with a cursor.
struct CommentKey : Binding {
    const char* states;    ///< of the comments on which it acts, separated by blanks; empty: it is about lines
    const char* not_here;  ///< the sentence where it has no effect
};

std::span<const Binding> bindings();
/// Returns nullptr if nothing is bound to `key`.
const Binding* binding_of(const Key& key);

/// Returns true if the action's key is shown for the task. The labels of Enter and p depend on the task.
bool is_offered(const Row& task, const Binding& binding);
/// Returns true if --read-only omits the key: an agent's terminal, a shell and an editor can change things, too.
bool is_refused_to_readers(const Binding& binding);
/// Returns the key that does the same as `command` for the command's task in that row; empty if there is none.
std::string key_for(const Row* task, const OrangeCommand& command);
std::string label_of(const Row* task, const Binding& binding);

/// Returns "Enter attach  m merge …" for the row, cut between keys, always with ? and q, in one row or two.
std::vector<Line> footer(const State& state, const Row* task, std::size_t width, int rows);
/// Returns all keys, with headings.
std::vector<Line> help_lines(const State& state);

}  // namespace orange::dashboard

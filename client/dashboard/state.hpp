#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/dashboard/cells.hpp"
#include "client/dashboard/input.hpp"
#include "common/model/json.hpp"
#include "common/rpc/project_methods.hpp"
#include "common/rpc/workspace_methods.hpp"

/// Everything that the dashboard knows and shows. Plain data: Core changes it, view.hpp draws it.
namespace orange::dashboard {

/// Now: for what is due, and for the ages that people read.
struct Moment {
    std::chrono::steady_clock::time_point steady{};
    Timestamp wall{};
};

enum class Filter { active, needs, all, ended };
enum class Section { needs_you, running, waiting, ended };
enum class Pane { screen, diff, task, history, why };
inline constexpr int k_panes = 5;
enum class Overlay { none, help, workspaces };

/// Why a request was sent: what its reply is for.
enum class Purpose {
    subscribe,
    list,
    search,
    ended,
    projects,
    workspaces,
    harnesses,
    workflows,
    screen,
    diff,
    task,
    history,
    why,
    about,
    act,
    create,
    add_project,
    moves
};

struct Request {
    std::string method;
    Json params = Json::object();
    Purpose purpose = Purpose::act;
    std::size_t host = 0;  ///< whose daemon gets it, as in Row::host
    std::string task;      ///< whose row it is about; empty: none
    std::string doing;     ///< for `act`: "merging", shown in the row
    std::string done;      ///< and "merged", for the message when it has succeeded
    std::string title;     ///< what its task is called in messages
    bool of_many = false;  ///< the next one of several tasks follows it
};

/// What only the program around the core can do.
struct Outside {
    enum class What { run, edit, copy, open, remember, suspend, redraw, quit, reconnect };
    What what = What::run;
    std::vector<std::string> argv = {};  ///< run: in the whole terminal; "orange" is the client beside this program
    std::string text = {};  ///< edit: what stands in the editor; copy, open: what to; remember: for the next start
    bool pauses = false;    ///< run: what it printed stays until a key, if it ends at once
};

struct Effects {
    std::vector<Request> requests;
    std::vector<Outside> outside;
};

/// A row of the list: a task, or the heading of a section.
struct Item {
    std::size_t task = 0;  ///< index into State::tasks
    Section section = Section::running;
    bool heading = false;
    std::size_t count = 0;  ///< of a heading
    std::size_t depth = 0;  ///< 1: a sub-task below its task
};

/// Widths that all rows share, found when the list changes.
struct Columns {
    std::vector<std::size_t> widths;  ///< of output::list_columns(); 0: nothing stands there
    std::size_t project = 0;          ///< of the longest project's name; 0: all are of one
    std::size_t host = 0;             ///< of the name of the host; 0: all tasks are this machine's
};

/// What stands in a pane: the reply as it came, and its rows for a width.
struct PaneText {
    std::string task;
    Json reply;
    std::string error;
    bool stale = true;    ///< what is shown may have changed
    bool live = false;    ///< it was asked for a living agent's screen
    Timestamp changed{};  ///< the task's last change when it was asked for
    std::size_t scroll = 0;
    std::vector<Line> lines;  ///< for a moment, until the answer is there, those of the previous task
    std::size_t width = 0;    ///< for which `lines` were made; 0: not yet
    std::chrono::steady_clock::time_point came{};
};

/// The text that stands above a question or a prompt: the agent's questions, its handoff, or what would be merged.
struct About {
    enum class What { questions, handoff, changes };
    What what = What::questions;
    std::string task;
    Json reply;             ///< of the request for it; null: not yet there, or there was an error
    bool has_come = false;  ///< the reply, or an error
    std::size_t scroll = 0;
    std::vector<Line> lines;
    std::size_t width = 0;  ///< for which `lines` were made; 0: not yet
};

struct Question {
    std::vector<std::string> facts;
    std::string text;             ///< "Merge fix/total into main?"
    std::string about;            ///< the task whose changes stand above the question while it is shown; empty: none
    std::vector<Request> if_yes;  ///< sent for y
    std::vector<Request> if_no;   ///< for everything else
    /// Not empty: a digit asks one of them, or does it if it has no text, in place of y.
    std::vector<Question> options;
    bool late = false;      ///< it came by itself: keys typed before it was seen do not answer it
    bool readable = false;  ///< it has been there long enough to be answered
    std::chrono::steady_clock::time_point since{};
};

/// One line that is typed at the bottom.
struct Prompt {
    enum class For { search, reject, reply, send };
    For what = For::search;
    std::string task;
    std::string label;
    std::string text;
    std::size_t cursor = 0;  ///< a byte of `text`
};

struct FormField {
    std::string name;
    std::string value;
    std::vector<std::string> choices;  ///< empty: it is typed
    std::string empty;                 ///< what an empty value means
    std::size_t cursor = 0;
};

/// Creating a task.
struct Form {
    std::vector<FormField> fields;
    std::size_t at = 0;
};

struct Message {
    std::string text;
    bool bad = false;
    Timestamp at{};
};

struct Link {
    enum class State { starting, up, down };
    State state = State::starting;
    Timestamp since{};
    bool silent = false;  ///< it is there, and has not answered for some seconds
};

/// Another machine, whose tasks are in the list, too.
struct OtherHost {
    std::string name;
    Link link{};
    Timestamp heard{};       ///< when it last answered; none: not yet
    std::string twin = {};   ///< "this machine" or another host, if it is the same machine; its tasks are left out
    bool lost = false;       ///< the last connection ended, and there is no new one yet
    bool read_only = false;  ///< its key may only look
};

struct State {
    // What it was started with.
    std::optional<std::string> project;  ///< absent: by `cwd`, or all
    std::optional<std::string> cwd;
    std::optional<std::string> repository;  ///< that it was started in, registered or not
    bool read_only = false;
    int width = 80;
    int height = 24;

    // What the daemon says.
    Link link;                     ///< to the daemon of this machine
    std::vector<OtherHost> hosts;  ///< Row::host is an index of it, from 1 on
    std::vector<Row> tasks;        ///< in the daemons' order, this machine's first; the ended ones behind them
    std::size_t active = 0;        ///< how many of them have not ended
    std::int64_t hidden = 0;       ///< ended ones that were not fetched
    bool more_ended = false;       ///< there are more than were fetched
    /// While nothing needs the person: the tasks of this machine that ended last, the newest first.
    std::vector<Row> last_ended;
    std::map<std::string, rpc::ChangeCounts> changes;
    std::vector<rpc::ProjectView> projects;
    bool projects_known = false;
    std::vector<rpc::WorkspaceView> workspaces;
    std::vector<std::string> harnesses, workflows;
    std::string shown_project;  ///< the header's
    std::size_t needs_help = 0, needs_answer = 0, needs_review = 0;
    std::size_t rings = 0;  ///< how often a task has begun to need its human while the dashboard was open
    bool listed = false;

    // What the person looks at.
    Filter filter = Filter::active;
    std::string search;
    std::string selected;
    std::set<std::string> marked;
    std::vector<Item> items;
    Columns columns;
    std::size_t at = 0;   ///< the selected item; behind the last one: none
    std::size_t top = 0;  ///< the first item on the screen
    Pane pane = Pane::screen;
    bool pane_open = false;  ///< where there is no room beside the list
    std::map<Pane, PaneText> panes;
    Overlay overlay = Overlay::none;
    std::size_t overlay_scroll = 0;

    // What is going on.
    std::map<std::string, std::string> busy;  ///< task → "merging"
    std::optional<Question> question;
    std::deque<Question> questions;  ///< those that come after it
    std::optional<Prompt> prompt;
    std::optional<About> about;                 ///< of `question` or `prompt`
    std::map<std::string, std::string> drafts;  ///< texts of prompts that were left
    std::optional<Form> form;
    std::optional<Form> kept_form;             ///< one that was left or refused, offered again
    std::map<std::string, Form> sent_forms;    ///< by the id of the task that the daemon creates
    std::map<std::string, Json> last_choices;  ///< of the form, by project
    std::optional<Message> message;
    std::deque<Message> log;
    std::deque<Request> many;  ///< of an action on several tasks, what is still to be sent
    int many_count = 0, many_done = 0;
    std::vector<std::string> many_failed;
    std::size_t spinner = 0;
    /// A text was refused, and its typing may go on: until then, characters are no commands.
    std::optional<std::chrono::steady_clock::time_point> unwanted_until;
};

}  // namespace orange::dashboard

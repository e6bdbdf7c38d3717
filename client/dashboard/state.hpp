#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "client/dashboard/cells.hpp"
#include "client/dashboard/input.hpp"
#include "common/model/json.hpp"
#include "common/rpc/comment_methods.hpp"
#include "common/rpc/project_methods.hpp"
#include "common/rpc/task_queries.hpp"
#include "common/rpc/usage_methods.hpp"
#include "common/rpc/workspace_methods.hpp"

/// The state of the dashboard: all data that it shows. Plain data: Core changes it, view.hpp draws it.
namespace orange::dashboard {

/// The present time: on the steady clock for deadlines, on the wall clock for ages.
struct Moment {
    std::chrono::steady_clock::time_point steady{};
    Timestamp wall{};
};

enum class Filter { active, needs, all, ended };
enum class Section { needs_you, running, waiting, ended };
enum class Pane { screen, diff, task, history, why, preview, compare };
enum class Overlay { none, help, workspaces };

/// The purpose of a request, which decides how its reply is handled.
enum class Purpose {
    subscribe,
    list,
    search,
    texts,
    ended,
    projects,
    workspaces,
    harnesses,
    workflows,
    usage,
    screen,
    diff,
    task,
    history,
    why,
    preview,
    compare,
    about,
    permit,
    train,
    act,
    create,
    add_project,
    moves
};

using Bytes = std::shared_ptr<const std::string>;

/// A file for an agent: one on this machine, or a picture that was taken from the clipboard.
struct AgentFile {
    std::string path;
    Bytes picture = {};  ///< then `path` is its name

    bool operator==(const AgentFile&) const = default;
};

struct Request {
    std::string method;
    Json params = Json::object();
    Purpose purpose = Purpose::act;
    std::size_t host = 0;                  ///< the host whose daemon gets it, as in Row::host
    std::string task;                      ///< the task that it is about; empty: none
    std::string doing;                     ///< for `act`: "merging", which the row shows
    std::string done;                      ///< for `act`: "merged", for the message after a success
    std::string title;                     ///< the task's name in messages
    bool of_many = false;                  ///< one of several tasks: the next request follows its reply
    std::vector<std::string> others = {};  ///< further tasks that it is about, as a train is
    std::string draft;     ///< the name in State::drafts of the text that it sends; empty: it came from no prompt
    std::size_t keys = 0;  ///< for `act`: how many inputs of the person came before it
    /// They are sent before it (file_sender.hpp); then its parameter `files` names them, and this is empty.
    std::vector<AgentFile> files = {};
    std::vector<Request> then = {};  ///< sent one after the other after its success
};

/// An action that only the program around the core can perform.
struct Outside {
    enum class What { run, edit, copy, open, remember, suspend, redraw, quit, reconnect, take_picture };
    What what = What::run;
    std::vector<std::string> argv =
        {};                 ///< run: a program for the whole terminal; "orange" is the client beside this program
    std::string text = {};  ///< edit: the text to edit; copy, open: the text or address; remember: for the next start
    bool pauses = false;    ///< run: if the program ends at once, its output stays until a key is pressed
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
    std::size_t count = 0;  ///< the number in a heading
    std::size_t depth = 0;  ///< 1: a sub-task below its parent
};

/// Widths that all rows share, computed when the list changes.
struct Columns {
    std::vector<std::size_t> widths;  ///< of output::list_columns(); 0: the column is empty
    std::size_t project = 0;          ///< width of the longest project name; 0: all tasks are of one project
    std::size_t host = 0;             ///< width of the host names; 0: all tasks are of this machine
    bool noted = false;               ///< a task has a notice besides its need
    bool clashing = false;            ///< a task has clashes
};

/// A line of the diff or of TASK.md: where it stands in the work, and the comment or remark that it is a row of.
struct Place {
    std::string path;          ///< the file on the branch, or the removed one
    std::string before_path;   ///< the file in the base
    std::string section;       ///< instead of a file: of TASK.md
    std::string attempt;       ///< instead of a line: the id of the attempt whose row it is, in a comparison
    std::int64_t now = 0;      ///< the line's number on the branch or below the section's heading; 0: it is not there
    std::int64_t before = 0;   ///< the line's number in the base; 0: it is not there
    std::string text;          ///< the line as it is in the file, without "\n"
    std::int64_t comment = 0;  ///< its number; 0: it is no row of a comment
    std::size_t remark = 0;    ///< counted from 1; 0: it is no row of a remark
    std::size_t part = 0;      ///< counts the lines that have all else in common

    bool is_line() const { return now > 0 || before > 0; }
    bool is_note() const { return comment > 0 || remark > 0; }
};

/// The places of a pane's rows, and what is written about its lines.
struct Places {
    std::vector<Place> all;
    std::vector<std::size_t> of_row;  ///< for each row an index into `all`; rows of one wrapped line share it
    std::vector<rpc::CommentView> comments;
    std::vector<rpc::RemarkView> remarks;
    std::string base, tip;  ///< of a diff: the commit or tree in which Place::before and Place::now count
};

/// The contents of a pane: the reply, and its rows for a width.
struct PaneText {
    std::string task;
    Json reply;
    std::string error;
    bool stale = true;           ///< the contents may have changed
    bool live = false;           ///< the request was for a living agent's screen
    bool knows_comments = true;  ///< the daemon that answered knows them
    Timestamp changed{};         ///< the task's last change at the time of the request
    std::size_t scroll = 0;
    std::optional<std::size_t> found;  ///< the row with the text that was found last
    std::vector<Line> lines;           ///< until the reply comes, those of the previous task for a moment
    std::size_t width = 0;             ///< the width of `lines`; 0: not laid out
    std::size_t layouts = 0;           ///< how often `lines` were made
    Places places;                     ///< of `lines`; empty for panes without a cursor
    std::size_t cursor = 0;            ///< an index into `places`
    std::optional<Place> stood;        ///< where the cursor stood before the last layout
    std::optional<std::size_t> range;  ///< an index into `places`: the other end of a range of lines
    std::chrono::steady_clock::time_point came{};
};

/// The text above a question or a prompt: the agent's questions, its handoff, or the changes of a merge.
struct About {
    enum class What { questions, handoff, changes, plan, given };
    What what = What::questions;
    std::string task;
    std::vector<std::string> given = {};  ///< for `given`: the lines
    Json reply;                           ///< null: it has not come yet, or there was an error
    bool has_come = false;                ///< a reply or an error has come
    std::size_t scroll = 0;
    std::vector<Line> lines;
    std::size_t width = 0;  ///< the width of `lines`; 0: not laid out
};

struct Question {
    std::vector<std::string> facts;
    std::string text;                     ///< "Merge fix/total into main?"
    std::string about;                    ///< the task about which `shows` is above the question; empty: none
    std::vector<std::string> above = {};  ///< lines above the question: the tasks that it is about, a program's text
    About::What shows = About::What::changes;
    std::vector<Request> if_yes;  ///< sent for y
    std::vector<Request> if_no;   ///< sent for any other key
    /// If not empty, a digit instead of y chooses an option: its question is asked, or without a text its requests are
    /// sent.
    std::vector<Question> options;
    bool late =
        false;  ///< it was not caused by the last key: keys that were typed before it could be read do not answer it
    bool readable = false;  ///< it has been visible long enough to be answered
    std::chrono::steady_clock::time_point since{};
};

/// A line that is typed at the bottom.
struct Prompt {
    enum class For { search, reject, reply, send, find, comment, deny };
    For what = For::search;
    std::string task;
    std::string label;
    std::string text;
    std::size_t cursor = 0;  ///< a byte offset in `text`
    Request request = {};    ///< of a comment or a denial: what is sent with the text
};

/// The page with a request of an agent's program: it shows one request, which is the only one that its keys answer.
struct PermitPage {
    using Time = std::chrono::steady_clock::time_point;
    std::string task;
    std::string short_id, title;  ///< of the task; the title is in quotes
    std::size_t host = 0;         ///< as in Row::host
    std::string worktree;
    std::vector<rpc::PermitView> open;     ///< that wait for an answer, oldest first
    std::optional<rpc::PermitView> shown;  ///< absent: the daemon has not answered yet, or nothing is asked
    bool over = false;                     ///< `shown` cannot be answered any more, or there was none
    std::string error;                     ///< why the requests cannot be read
    bool stale = true, asked = false;      ///< has to be asked for; is asked for
    std::size_t scroll = 0;
    std::vector<Line> lines;
    std::size_t width = 0;              ///< the width of `lines`; 0: not laid out
    std::optional<Time> visible_since;  ///< absent: something else is on the screen
    std::optional<Time> seen_since;     ///< when the last line of `shown` came into view
    bool can_allow = false;             ///< y counts: it is whole, and there was time to read its end
};

struct FormField {
    std::string name;
    std::string value;
    std::vector<std::string> choices;  ///< empty: the value is typed
    std::string empty;                 ///< the meaning of an empty value
    std::size_t cursor = 0;
};

/// The form that creates a task.
struct Form {
    std::vector<FormField> fields;
    std::size_t at = 0;
    std::size_t number = 0;                      ///< never used again
    std::map<std::string, Bytes> pictures = {};  ///< from the clipboard, by their names in the field "files"
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
    bool silent = false;  ///< connected, but without an answer for some seconds
};

/// Another machine whose tasks are in the list.
struct OtherHost {
    std::string name;
    Link link{};
    Timestamp heard{};       ///< the time of its last answer; none: not yet
    std::string twin = {};   ///< "this machine" or another host, if it is the same machine: its tasks are then left out
    bool lost = false;       ///< the last connection has ended, and there is no new one yet
    bool read_only = false;  ///< its key only allows reading
};

struct State {
    // Set at the start.
    std::optional<std::string> project;  ///< absent: chosen by `cwd`, or all
    std::optional<std::string> cwd;
    std::optional<std::string> repository;  ///< the repository in which it was started, registered or not
    bool read_only = false;
    int width = 80;
    int height = 24;

    // Received from the daemons.
    Link link;                     ///< the link to this machine's daemon
    std::vector<OtherHost> hosts;  ///< Row::host is its index, starting at 1
    std::vector<Row> tasks;        ///< in the daemons' order, this machine's first; then the ended ones
    std::size_t active = 0;        ///< the number of tasks that have not ended
    std::int64_t hidden = 0;       ///< the number of ended tasks that were not fetched
    bool more_ended = false;       ///< there are more than were fetched
    /// This machine's tasks that ended last, newest first; only while nothing needs the person.
    std::vector<Row> last_ended;
    std::map<std::string, rpc::ChangeCounts> changes;
    std::vector<rpc::ProjectView> projects;
    bool projects_known = false;
    std::vector<rpc::WorkspaceView> workspaces;
    std::vector<std::string> harnesses, workflows;
    std::optional<std::string> usual_harness;      ///< of new tasks where the project names none
    std::string shown_project;                     ///< the project in the header
    std::vector<rpc::UsageShow::Window> windows;   ///< of programs on this machine
    std::vector<rpc::UsageShow::Day> budget_days;  ///< this machine's projects that have a budget for each day
    std::size_t needs_help = 0, needs_answer = 0, needs_review = 0, needs_start = 0;
    std::size_t rings = 0;  ///< how often a task has begun to need its human since the start
    bool listed = false;

    // The person's view.
    Filter filter = Filter::active;
    std::string search;
    /// The tasks that only their texts made match the search, each with the place and the line.
    std::map<std::string, std::string> found_texts;
    bool texts_searched = false;
    std::string selected;
    std::set<std::string> marked;
    std::vector<Item> items;
    Columns columns;
    std::size_t at = 0;   ///< the selected item; the size of `items`: none
    std::size_t top = 0;  ///< the first item on the screen
    Pane pane = Pane::screen;
    bool pane_open = false;     ///< shown, although there is no room beside the list
    bool pane_focused = false;  ///< keys are the pane's while it is shown: pane_has_keys()
    bool pane_wraps = true;     ///< long lines; otherwise they are cut
    /// The pane has the whole screen while it has the keys: `pane`, `pane_open` and `pane_focused` as they were before.
    std::optional<std::tuple<Pane, bool, bool>> whole;
    std::string pane_find;  ///< the text that is looked for in panes
    std::map<Pane, PaneText> panes;
    Overlay overlay = Overlay::none;
    std::size_t overlay_scroll = 0;

    // Running actions and open dialogs.
    std::map<std::string, std::string> busy;  ///< task → "merging"
    std::optional<Question> question;
    std::deque<Question> questions;  ///< the questions after it
    std::optional<Prompt> prompt;
    std::optional<PermitPage> permit;
    std::optional<About> about;                 ///< the text above `question` or `prompt`
    std::map<std::string, std::string> drafts;  ///< texts of prompts that were closed
    std::optional<Form> form;
    std::optional<Form> kept_form;             ///< closed or refused, and offered again
    std::map<std::string, Form> sent_forms;    ///< by the id of the task that the daemon creates
    std::map<std::string, Json> last_choices;  ///< the last values of the form, by project
    std::optional<Message> message;
    std::deque<Message> log;
    std::deque<Request> many;  ///< requests of an action on several tasks that are not sent yet
    int many_count = 0, many_done = 0;
    std::vector<std::string> many_failed;
    std::size_t spinner = 0;
    /// After a refused text: until this time typed characters are no commands, because they may belong to it.
    std::optional<std::chrono::steady_clock::time_point> unwanted_until;
};

}  // namespace orange::dashboard

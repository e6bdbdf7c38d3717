#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "client/dashboard/answer.hpp"
#include "client/dashboard/keys.hpp"
#include "client/dashboard/state.hpp"
#include "common/rpc/event_methods.hpp"
#include "common/rpc/task_methods.hpp"
#include "common/rpc/task_queries.hpp"
#include "common/rpc/train_methods.hpp"

/// The whole behaviour of the dashboard: an input of the person or a message of the daemon leads to a new state and to
/// requests. The core is pure: it uses no terminal, no socket and no clock. program.cpp sends the requests and passes
/// the replies in; a key never waits for a reply. draw() is in view.hpp.
namespace orange::dashboard {

class Core {
  public:
    explicit Core(State initial) : state_(std::move(initial)), feeds_(state_.hosts.size() + 1) {}

    const State& state() const { return state_; }

    Effects on_input(const Input& input, Moment now);
    Effects on_reply(const Request& request, Result<Answer> reply, Moment now);
    Effects on_event(const rpc::EventNotification& event, Moment now, std::size_t host = 0);
    /// Called when an agent of the task has written to its terminal.
    Effects on_screen(const std::string& task, Moment now);
    Effects on_link(Link::State link, std::string why, Moment now, std::size_t host = 0);
    /// Sets the list of a host as of `heard`, until the host answers.
    void remember_list(std::size_t host, Answer list, Timestamp heard);
    /// Called when a host has sent its greeting.
    void on_greeting(std::size_t host, bool read_only) { state_.hosts[host - 1].read_only = read_only; }
    /// Records whether another host is silent, and when its last message came.
    void set_heard(std::size_t host, bool silent, std::optional<Timestamp> heard);
    /// Called when a program that had the terminal has ended.
    Effects on_returned(Moment now);
    void set_silent(bool silent) { state_.link.silent = silent; }
    void set_last_choices(const Json& choices);
    Effects on_resize(int width, int height, Moment now);
    /// Called when the editor has ended. `text`: what it saved, if it saved something; `error`: why it failed.
    Effects on_edited(std::optional<std::string> text, Moment now, const std::string& error = {});
    /// Called when the clipboard has been read.
    Effects on_picture(Result<std::string> picture, Moment now);
    void say(std::string text, bool bad, Moment now);
    void log_message(Message message);

    /// Does what is due. next_time() returns when to call it again; nothing: after the next input.
    Effects on_time(Moment now);
    std::optional<std::chrono::steady_clock::time_point> next_time() const;
    /// Lays out the visible pane for its width. Call it before draw().
    void prepare();

    const Row* selected() const;
    /// Returns the table of keys; use bindings() to read it.
    static std::span<const Binding> keys();
    /// The keys for comments, which a pane with a cursor has besides pane_keys().
    static std::span<const CommentKey> comment_keys();
    rpc::CallerEnvironment caller;  ///< for task.create

  private:
    using Time = std::chrono::steady_clock::time_point;
    /// The state of the communication with one daemon.
    struct Feed {
        std::optional<Time> list_due;
        bool list_asked = false, listed = false;
        bool knows_comments = true;  ///< its daemon takes the parameter `comments` of task.diff and task.show
        std::string cursor;          ///< after the last event; empty: not subscribed yet
        std::string screen_wanted,
            screen_watched;  ///< the tasks whose screens the pane needs and the daemon reports
        Time list_sent{};
        Time::duration list_took{};
        std::int64_t hidden = 0;
        bool more_ended = false;

        /// Resets the feed when the connection ends or begins.
        void end();
    };
    /// A pause of this length ends typing.
    static constexpr std::chrono::milliseconds k_typing{1000};

    // core_list.cpp
    void rebuild();
    void keep_selection();
    void keep_in_view();
    bool is_shown(const Row& task) const;
    bool is_found(const Row& task) const;
    void move(int by);
    void select_at(std::size_t item);
    void next_filter();
    void show_filter(Filter filter);
    void switch_project();
    void click(const Input& input, Moment now, Effects& effects);
    void wheel(const Input& input, int by);
    // core_about.cpp
    void show_about(About::What what, const std::string& id, Effects& effects);
    void show_about_question(Effects& effects);
    void about_reply(const Request& request, Result<Json> reply, Moment now);
    void prepare_about();
    void scroll_about(long by);
    bool about_key(const Key& key);
    // core_panes.cpp
    void show_pane(Pane pane);
    void focus_pane(Pane pane);
    void scroll_pane(long by);
    void request_panes(Moment now, Effects& effects);
    void request_pane(Moment now, Effects& effects);
    void request_second_pane(Effects& effects);
    void begin_pane(PaneText& text, bool moved, Moment now);
    void drop_old_rows();
    void watch_screen(const Row* task, Effects& effects);
    void subscribe_screen(std::size_t host, Effects& effects);
    void subscribed(std::size_t host, Result<Json> reply, Moment now, Effects& effects);
    bool pane_is_visible() const;
    void pane_reply(const Request& request, Result<Json> reply, Moment now);
    void make_stale(const std::string& task);
    void make_stale_if_changed();
    // core_focus.cpp
    bool pane_key(const Key& key, Moment now, Effects& effects);
    bool pane_moves(const Key& key);
    void show_row(std::size_t row);
    void go_to_row(std::size_t row);
    void go_to_mark(bool of_files, bool down, Moment now);
    void find_in_pane(std::size_t from, bool down, Moment now);
    std::size_t row_to_find_from() const;
    // core_attempts.cpp
    void compare();
    bool compare_key(const Key& key, Moment now, Effects& effects);
    void move_to_attempt(long by);
    void pick(Moment now);
    Question question_to_pick(const std::string& parent, const std::string& attempt) const;
    bool ask_to_pick(const Request& request, const Error& error, Moment now);
    const Row& meant(const Row& task) const;
    // core_comments.cpp
    void lay_out(Pane pane, PaneText& text, std::size_t width);
    PaneText* text_with_cursor();
    void move_cursor(long places);
    void page_cursor(long rows);
    void follow_cursor();
    void follow_view();
    void show_whole(Moment now);
    void end_whole();
    void begin_range();
    void go_to_note(bool down, Moment now);
    bool comment_key(const Key& key, Moment now, Effects& effects);
    std::string why_no_comments() const;
    void write_comment(Moment now);
    void rewrite_comment(bool again);
    void resolve_comment(Effects& effects);
    void remove_comment(Moment now);
    void take_over(Effects& effects);
    void open_comment(Request request, const std::string& text);
    void send_comment(Request request, const std::string& text, Effects& effects);
    std::string offer_comment_again(const Request& request);
    // core_actions.cpp
    void run(const Binding& key, Moment now, Effects& effects);
    int half_a_page() const;
    void show_next_pane();
    void open_overlay(Overlay overlay, Effects& effects);
    void mark();
    void mark_all();
    void ask_for_moves(Effects& effects);
    void copy_id(Effects& effects, Moment now);
    void enter(Effects& effects);
    void merge(Effects& effects, Moment now);
    void approve(Moment now);
    static void offer_both_merges(Question& question, const Request& request, const std::string& url);
    void ask_to_merge(const Row& task, const std::string& why, Moment now);
    // core_train.cpp
    void ask_for_order(const std::vector<const Row*>& tasks, Question question, Effects& effects);
    void train_reply(const Request& request, Result<Json> reply, Moment now);
    void ask_train(Moment now);
    void count_train(const Json& reply);
    // core_decisions.cpp
    void add_what_is_merged(Question& question, const std::string& id) const;
    void add_clashes(Question& question, const std::string& id) const;
    void pull_request(Effects& effects, Moment now);
    void cancel(Moment now);
    void remove(Moment now);
    void restore(Moment now);
    void respawn(Effects& effects, Moment now);
    void stop(Effects& effects, Moment now);
    void moves_reply(Result<Json> reply, Moment now);
    void edit_task_file(Effects& effects, Moment now);
    /// Runs `orange WORDS ID` for the selected task.
    void client(Effects& effects, std::vector<std::string> words, bool pauses = false);
    void try_work(Effects& effects);
    std::string outcome_text(const Request& request, const Answer& answer) const;
    bool refuse(const Row& task, const Binding& key, Moment now);
    std::vector<const Row*> targets(const Key& key, Moment now, Question& question);
    void act(Effects& effects, Request request);
    // core_questions.cpp
    void ask(Question question, Moment now);
    void question_key(const Key& key, Moment now, Effects& effects);
    void next_question(Moment now);
    std::optional<Time> question_due() const;
    // core_permit.cpp
    void answer(Effects& effects, Moment now);
    void open_permit(const Row& task);
    void show_permit(const rpc::PermitView& permit);
    void next_permit();
    void close_permit(Moment now, bool by_letter);
    void permit_reply(const Request& request, Result<Json> reply, Moment now);
    void end_permit(Moment now);
    void ask_permit_again(std::size_t host);
    void follow_permit(Moment now, Effects& effects);
    void prepare_permit();
    void scroll_permit(long by);
    bool permit_scrolls(const Key& key);
    void permit_key(const Key& key, Moment now, Effects& effects);
    void allow(Moment now, Effects& effects);
    void deny(Moment now);
    std::optional<Time> permit_due() const;
    // core_texts.cpp
    void open_prompt(Prompt::For what, const Row* task, Moment now);
    void prompt_key(const Key& key, Moment now, Effects& effects);
    void close_prompt(bool keep);
    void send_prompt(Moment now, Effects& effects);
    void reject(Effects& effects, Moment now);
    void quit(Effects& effects, Moment now);
    void search_for(const std::string& text, Moment now);
    // core_form.cpp
    void open_form(Moment now, Effects& effects);
    void form_key(const Key& key, Moment now, Effects& effects);
    void send_form(Moment now, Effects& effects);
    bool ask_to_register(bool late, Moment now);
    void project_added(Result<Json> reply, Moment now);
    // core_ended.cpp
    rpc::TaskList list_of_project() const;
    void request_ended(Effects& effects);
    void ended_reply(Answer reply, Moment now);
    void request_search(Effects& effects);
    void search_reply(const Request& request, Answer reply, Effects& effects);
    /// `hits`: the JSON of the reply.
    void texts_reply(const Request& request, const Json& hits, Answer reply, Effects& effects);
    void add_found(std::vector<Row> tasks);
    // core_refusals.cpp
    bool ask_for_trust(const Request& request, const Error& error, Moment now);
    bool ask_for_children(const Request& request, const Error& error, Moment now);
    bool ask_for_force(const Request& request, const Error& error, Moment now);
    bool ask_again(const Request& request, const Error& error, Moment now);
    // core_hosts.cpp
    void replace_rows(std::vector<Row> rows, std::size_t host);
    void drop_twins();
    std::size_t host_of(const std::string& task) const;
    void forget_pane_of(std::size_t host);
    Effects on_host_link(Link::State link, std::string why, Moment now, std::size_t host);
    // core_usage.cpp
    bool usage_event(const rpc::EventNotification& event, Moment now, std::size_t host);
    void want_usage(Moment now);
    void request_usage(Moment now, Effects& effects);
    void usage_reply(const Result<Json>& reply);
    // core_replies.cpp
    void count_needs();
    std::vector<Row> rows_in(Answer& reply, std::size_t host);
    void hide_pull_requests();
    /// Returns true if a task needs its human now and did not before, or needs more than before.
    static bool news_for_human(const std::vector<Row>& tasks, const std::map<std::string, Need>& before);
    void list_reply(std::size_t host, Answer reply, std::int64_t hidden, Moment now);
    void list_error(std::size_t host, const Error& error, Moment now);
    /// `reply` has the JSON of the answer.
    void list_answered(std::size_t host, Result<Answer> answer, const Result<Json>& reply, Moment now);
    void projects_reply(const Result<Json>& reply, Moment now);
    void harnesses_reply(const Result<Json>& reply);
    void workflows_reply(const Result<Json>& reply);
    void count_comments(const Answer& reply);
    void send_then(const Request& request, Effects& effects);
    void act_reply(const Request& request, Result<Answer> reply, Moment now, Effects& effects);
    void request_list(std::size_t host, Effects& effects, Moment now);
    void refresh(Moment now, std::size_t host = 0);
    void list_soon();
    void next_of_many(Effects& effects, Moment now);
    void header_project();
    void update_choices();
    // core.cpp
    void key(const Key& key, Moment now, Effects& effects);
    bool is_unwanted(const Key& key, Moment now);
    bool overlay_key(const Key& key);
    /// True if an age on the screen is shorter than a minute, and changes with the next second.
    bool shows_seconds(Timestamp now) const;
    void back(Moment now);
    void paste(const std::string& text, Moment now);

    State state_;
    /// The daemon searches ended tasks, this long after the last typed character; this many at first, and as many again
    /// at the end of the list.
    static constexpr std::chrono::milliseconds k_search_rests{150};
    static constexpr std::size_t k_found_at_once = 200;
    std::vector<Feed> feeds_;  ///< this machine's, then those of State::hosts
    std::optional<Time> search_due_, pane_due_, rows_due_, spin_due_, ages_due_, usage_due_;
    Time usage_sent_{};                                       ///< none: not yet
    std::optional<std::pair<Pane, std::string>> pane_asked_;  ///< the last request for a pane, until its answer
    std::optional<std::pair<Pane, std::string>> second_asked_;
    std::optional<Pane> pane_shown_;  ///< after the last input, reply or event
    Time pane_sent_{};
    bool editing_form_ = false, editing_prompt_ = false;
    bool asked_to_register_ = false;
    std::size_t forms_ = 0;  ///< how many were made
    /// Tasks that are to be merged, while their order is asked for.
    struct AskedTrain {
        struct Part {
            std::vector<rpc::TrainOrder::Place> places;
            bool is_known = false;  ///< the host has said the order
        };
        Question question;
        std::map<std::size_t, std::vector<std::string>> ids;  ///< of each host
        std::map<std::size_t, Part> parts;                    ///< of the hosts that have answered
    };
    std::optional<AskedTrain> asked_train_;
    std::size_t picture_form_ = 0;   ///< the form for which the clipboard is read
    std::size_t inputs_ = 0;         ///< of the person
    std::size_t asked_to_quit_ = 0;  ///< the value of `inputs_` when q was refused because of a text
    std::string asked_to_reject_;    ///< the task whose r was refused last because of a comment's text
    std::string clicked_;
    Time clicked_at_{};
    std::size_t listed_ = 0;  ///< number of listed tasks in State::tasks; tasks that only the search found follow
    std::size_t found_wanted_ = k_found_at_once;
    bool more_found_ = false;
    std::set<std::size_t> texts_asked_;  ///< the hosts that search the texts of their tasks, or have
    std::size_t ended_wanted_ = 0;       ///< 0: no ended tasks
    /// The number of hidden ended tasks of this machine when the last ended ones were requested.
    std::optional<std::int64_t> ended_known_;
};

/// Returns the task of the selected row; nullptr if none is selected.
const Row* selected_in(const State& state);
/// Returns what is known of the task's changes: "3 commits in 2 files, +40 -2"; empty: nothing.
std::string changes_fact(const State& state, const std::string& id);
/// Returns a line about one of several tasks, for a question: its id, its changes, `rest`, and its title.
std::string line_of(const State& state, const Row& task, const std::string& rest);
/// Returns true if no task can be created: there is neither a project nor a repository.
bool has_no_place_for_tasks(const State& state);
/// Returns the number of tasks that need the person's help, answer or review.
std::size_t needing_count(const State& state);
Section section_of(const Row& task);

/// The rows of the shown pane that are on the screen.
struct PaneView {
    std::size_t top = 0, rows = 0, all = 0;
};
PaneView view_of(const State& state);
/// Returns true if Enter compares the task's attempts, because it has no agent to open or to start.
bool is_compared(const Row& task);
/// Returns the index of the first place of a comparison that is an attempt; 0 if there is none.
std::size_t first_attempt(const std::vector<Place>& places);
/// Returns true if the shown pane has a cursor, with which lines are commented on.
bool has_cursor(const State& state);
/// Returns the first and the last place of the range, or twice that of the cursor.
std::pair<std::size_t, std::size_t> chosen_places(const PaneText& text);
/// Returns the first row of a place, and the row behind its last one.
std::pair<std::size_t, std::size_t> rows_of(const PaneText& text, std::size_t place);
/// Returns true if one of Core::comment_keys() does something at the cursor.
bool is_of_use(const PaneText& text, const CommentKey& key);
/// Returns true while keys are those of the pane (pane_keys()), and not those of the list.
bool pane_has_keys(const State& state);
/// The keys of a pane that has the focus, for the footer and the help.
struct PaneKey {
    const char* keys;
    const char* label;
    const char* help;
};
std::span<const PaneKey> pane_keys();

/// Returns the panes of the selected task. The last one is there if it has attempts, or has been tried, or while it is
/// shown.
std::vector<Pane> panes_of(const State& state);
/// Returns true for a pane that is shown from its bottom, and scrolled back from there.
bool is_from_end(Pane pane);
/// Returns the pane that is shown below a short list: what changed, or beside that TASK.md.
Pane second_pane(const State& state);

/// A rectangle of the screen; without height it is not shown.
struct Box {
    int row = 0, column = 0, width = 0, height = 0;
};
struct Layout {
    Box list, pane;
    Box below;             ///< of the second pane, below a short list on a large screen
    int message_rows = 1;  ///< above the footer
    int footer_rows = 1;
    bool tiny = false;   ///< only the counts fit
    bool whole = false;  ///< the pane covers all but the last rows
};
Layout layout_of(const State& state);
/// Returns false if not all rows of the question have room.
bool fits_on_screen(const State& state);
/// Returns the message or the question below the list, in rows that fit.
std::vector<Line> message_lines(const State& state);
/// Returns what the task needs from its human, what is going on, or why it cannot be changed from here, without its
/// age. At most three rows.
std::vector<Line> need_lines(const State& state, const Row& task);
/// Returns at most two rows about the task's clashes that its need does not name. They stand below need_lines().
std::vector<Line> clash_lines(const State& state, const Row& task);
/// Returns a pane's rows for a width, and puts into the empty `places` where the cursor can stand.
std::vector<Line> pane_lines(Pane pane, const PaneText& text, std::size_t width, Places& places);
/// Returns the place of State::about: in the pane, or over the list if there is no pane beside it.
Box about_box(const Layout& layout);
std::vector<Line> about_lines(const About& about, std::size_t width);

/// Returns true while the page with a program's request is on the screen.
bool shows_permit(const State& state);
/// Returns the number of rows for its text, below its title.
std::size_t permit_rows(const Layout& layout);
/// Returns its rows: who asks, then the whole request, with a mark before each row, so that no request can look like
/// the page itself.
std::vector<Line> permit_lines(const PermitPage& page, std::size_t width);
/// Returns its first row: which request it is, and which of its rows are shown.
Line permit_title(const State& state);
/// Returns why y does not count, in a sentence; empty if it does, or will after a moment.
std::string permit_refusal(const PermitPage& page);

/// Returns true for a request that makes or changes comments.
bool is_comment(const Request& request);
/// Returns the task of a text with this name in State::drafts.
std::string_view task_of_draft(std::string_view name);
/// Returns the key that opens the prompt for a comment's text with this name in State::drafts.
const char* key_of_draft(std::string_view name);
/// Returns the name in State::drafts of a prompt's text; `request`: of a comment or a denial.
std::string draft_key(Prompt::For what, const std::string& task, const Request& request);
/// Edits a line by one key. Returns true if the key changed the text or moved the cursor.
bool edit_line(std::string& text, std::size_t& cursor, const Key& key);
/// Joins a text of several lines into one line.
std::string join_lines(std::string_view text);
void insert_text(std::string& text, std::size_t& cursor, std::string_view pasted, bool keeps_lines);

}  // namespace orange::dashboard

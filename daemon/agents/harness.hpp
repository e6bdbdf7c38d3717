#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/result.hpp"
#include "common/model/activity.hpp"
#include "daemon/agents/program_search.hpp"

namespace orange::agents {

/// Whether an agent waits for messages when it has finished a turn, or ends.
enum class Mode { persistent, oneshot };

using orange::Activity;

/// Texts that mean an activity, where they are found.
struct Signs {
    std::vector<std::string> idle;
    std::vector<std::string> busy;
    std::vector<std::string> waiting;        ///< a dialog is open: a key typed now would answer it
    std::vector<std::string> limited;        ///< a missing login or credit, an error; of the screen, in its last lines
    std::vector<std::string> retrying = {};  ///< of a busy program that was refused and tries again; likewise
    std::vector<std::string> login = {};     ///< the program asks its user to log in; they are also in `waiting`
};

/// What the program shows when its account has used what it may for some time.
struct UsageLimit {
    std::vector<std::string> texts;   ///< in the last lines of the screen
    std::vector<std::string> resets;  ///< what the time of the reset follows; behind one of `texts`
    std::vector<std::string> dialog;  ///< of a question about it, which Escape closes and which swallows what is typed
};

/// A JSON file in which the program says what it is doing. It is believed over title and screen.
struct StateFile {
    std::string path;  ///< with {pid}, the program's; a leading "~/" is the agent's HOME. Empty: there is none
    std::string key;   ///< a member of the file's object, whose text is one of `values`
    Signs values;
};

/// What makes the program take a repository as trusted (trust.hpp): arguments, else a key of a JSON file of its own.
struct Trust {
    std::vector<std::string> args;    ///< what {trust_args} stands for once the human has consented; {repo} inside
    std::string file;                 ///< a leading "~/" is the agent's HOME
    std::vector<std::string> key;     ///< from the file's root to what has to be true; {repo} inside
    std::vector<std::string> dialog;  ///< texts of the program's own question
    bool first = false;               ///< the program cannot be answered in its window: without consent it never starts

    bool is_asked() const { return !args.empty() || !file.empty(); }
};

/// Describes a program that works without a login, in a way that its user should know, and does not say so itself.
struct NoLogin {
    std::vector<std::string> files;  ///< one of them exists if there is a login; a leading "~/" is the agent's HOME
    std::string note;                ///< told to the human; empty: there is nothing to tell
};

/// How the program is told where to write what happens in it, and what its lines mean (events.hpp).
struct EventSigns {
    std::vector<std::string> args;  ///< what {event_args} stands for; {events} inside is the file of the run
    std::string rules;              ///< what {event_rules} stands for, inside an argument
    std::string key = "event";      ///< the member of a line of JSON that names its event
    std::vector<std::string> text;  ///< the members of such a line that are shown to people, if they are there
    std::vector<std::string> busy, idle, question, limit, error, end;
    bool screen_contradicts = false;  ///< the screen shows what the program does not tell, such as an interrupted turn

    bool are_told() const { return !busy.empty() || !idle.empty(); }
};

/// How the program continues an earlier conversation of its own. {session} inside is the conversation's name.
struct Session {
    std::vector<std::string> start;   ///< what {session_args} stands for in a new one, whose name Orange chooses
    std::vector<std::string> resume;  ///< and in one that is continued
    std::string variable;             ///< of the commands that the program runs: the name, where the program chooses it
    std::string file;                 ///< what must be there to continue; empty: the program says so itself
    std::vector<std::string> list;    ///< makes the program print its conversations (session_in)
    bool typed = false;               ///< it loses the prompt on its command line when it continues

    bool can_resume() const { return !resume.empty(); }
};

/// An agent program as data: harnesses/<name>.yml (docs/harnesses.md). What differs between agent
/// programs is in these files and nowhere in the code; a flag that a new version drops is a one-line edit by the user.
struct Harness {
    std::string name;
    std::string program;   ///< looked up on PATH; with a slash: relative to the definition's folder
    bool tried = true;     ///< somebody has seen a whole life with it pass
    std::string measured;  ///< the version of the program that the definition was written for; empty: not recorded
    std::map<std::string, std::string> needs;  ///< programs that it runs with, and the oldest version of each
    Mode mode = Mode::persistent;
    /// argv after the program, by permissions: "full", "reduced", "review", and "oneshot", "oneshot_reduced",
    /// "oneshot_review" for the same in mode oneshot. Placeholders, each inside one argument: {prompt} {effort}
    /// {task_dir} {worktree} {repo} {git_dir} {git_common} {summary} {role} {events}; with "_json" at the end of the
    /// name: escaped for a JSON string. An argument that is exactly "{effort_args}" or "{trust_args}" is replaced by
    /// that list, or by nothing.
    std::map<std::string, std::vector<std::string>> argv;
    std::vector<std::string> effort_args;    ///< with {effort}
    std::vector<std::string> effort_values;  ///< empty: any
    std::vector<std::string> model_args;     ///< with {model}; empty: its program cannot be told which model to use
    std::vector<std::string> model_values;   ///< names to complete; its program may have others
    std::map<std::string, std::string> env;  ///< same placeholders; one with {effort} is left out where there is none
    std::map<std::string, std::map<std::string, std::string>> env_for;  ///< more of it, by the names of `argv`
    std::vector<std::string> exclude;  ///< patterns for .git/info/exclude: files the program leaves in a worktree
    Signs screen;                      ///< texts at the end of the pane
    UsageLimit usage_limit;
    std::vector<std::string> composer_empty;  ///< a line of the screen that is one of them: nothing is typed yet
    std::vector<std::string> composer;        ///< texts of the last lines, which show that a prompt reads what is typed
    std::optional<std::chrono::milliseconds> idle_after;  ///< instead of the setting's
    bool otherwise_idle = false;                          ///< a window that shows no sign is one of an idle agent
    Signs titles;                                         ///< beginnings of the pane's title
    StateFile state_file;
    EventSigns events;
    Trust trust;
    NoLogin no_login;
    Session session;
    std::vector<std::string> check_args;       ///< what {check_args} stands for, once for each check; {check} inside
    std::string check_rule;                    ///< {check_rules} is all of these, one behind the other; {check} inside
    std::chrono::milliseconds ready_after{0};  ///< messages typed earlier after the start would be lost
    std::string install;                       ///< the command that installs it
    std::string install_hint;                  ///< how to get it, if no command does
    std::map<std::string, std::string> words;  ///< in a task's summary or context, which the program obeys
    /// Names of variables that the program is likely to need. Only named to a human who has them where the agents do
    /// not.
    std::vector<std::string> wants;
    std::vector<std::string> version_args;  ///< makes it print its version and end; empty: it is not asked
    /// Where the program looks for its user's skills: the first of these folders whose variable is set (skills.hpp).
    std::vector<std::string> skills;
    /// The files and folders of the user in which the program keeps its settings and its conversations (binds.hpp).
    std::vector<std::string> config_binds;
    /// A variable without which the program refuses to run as root with full permissions. Orange never sets it by
    /// itself: saying "this is a sandbox" is the user's word to give.
    std::string root_needs;

    bool has_effort() const;
    /// "; get it from …", or the command on a line of its own; empty if neither is known.
    std::string how_to_install() const;
};

/// Reads one definition; an Error names line and column and says what would be right.
Result<Harness> load_harness(std::string_view text, std::string_view file_name);

/// invalid_argument for an effort that the harness does not have; says which there are.
Result<void> check_effort(const Harness& harness, const std::string& effort);

/// Refuses a model if the harness cannot pass one to its program, or if the text cannot be the name of one.
Result<void> check_model(const Harness& harness, const std::string& model);
/// Returns a sentence if the definition names models and this is none of them; empty otherwise.
std::string model_note(const Harness& harness, const std::string& model);

/// The name in `argv` of what runs with these permissions in the definition's mode: review falls back to reduced, that
/// to full; in mode oneshot likewise among the one-shot lists, then to the others. Empty for unknown permissions.
std::string argv_name(const Harness& harness, const std::string& permissions);

/// The id of the conversation that began in that folder at that time or first after it: in a list of objects with
/// `id`, `directory` and `created`, in milliseconds. Empty if there is none.
std::string session_in(std::string_view list, const std::string& folder, Timestamp since);

/// What an agent does, and what says so.
struct Reading {
    Activity activity = Activity::unknown;
    std::string source;         ///< "events", "file", "title" or "screen"; empty: nothing
    std::string text;           ///< the line of the screen that says so
    bool usage_limit = false;   ///< of a limited one: the reason is a usage limit, which ends by itself
    std::string resets = {};    ///< when, in the program's words
    std::string shown = {};     ///< of a busy agent: what changes if it gets on (progress_on)
    std::string retrying = {};  ///< of a busy agent: the line that says that it was refused and tries again
    bool by_default = false;    ///< idle only because no text says anything else (screen.otherwise)
    bool dialog = false;        ///< one of the sources says that a dialog is open, whatever the others say
    bool composer = false;      ///< the window shows a prompt that is known
    bool ended = false;         ///< the program said that its turn has ended, perhaps in an error
};

/// What screen and title say. Waiting comes first: a dialog may be open on a screen that shows the last turn, too.
Reading activity_on(const Harness& harness, std::string_view screen, std::string_view title);

/// Whether anything says that the program is busy.
bool tells_busy(const Harness& harness);

/// Whether the line in which a person types goes on with that text: it was typed, and not sent.
bool composer_holds(const Harness& harness, std::string_view screen, std::string_view text);

/// The same of programs whose prompt has no sign, but the terminal's cursor: what is before it ends with the text.
bool stands_at_cursor(std::string_view before_cursor, std::string_view text);

/// The text of the screen without what changes while a program only waits: the line that says that it works, digits,
/// spinners and other signs.
std::string progress_on(const Harness& harness, std::string_view screen);

/// What the text of the state file says; `unknown` where it is not what the definition describes.
Activity activity_in(const StateFile& file, std::string_view text);

/// Why the agent cannot work, if the end of the screen, below Orange's last message, says so: the line, whether it is a
/// usage limit, and when that resets. A dialog about a limit is a limit: no answer of a human's lifts it.
std::optional<Reading> limit_on(const Harness& harness, std::string_view screen);

/// The question of a usage limit stands at the end of the screen.
bool shows_limit_dialog(const Harness& harness, std::string_view screen);

/// The first says if the definition names a prompt, the second if the end of the screen shows it.
bool names_composer(const Harness& harness);
bool shows_composer(const Harness& harness, std::string_view screen);

/// A line at the end of the screen says that nothing is typed into the program's prompt.
bool composer_is_empty(const Harness& harness, std::string_view screen);

/// The screen holds the text, however it is broken into lines: its beginning, of which whitespace does not count.
bool shows_text(std::string_view screen, std::string_view text);

/// The last event that a program has told of.
struct Statement {
    Activity activity = Activity::unknown;  ///< unknown: nothing
    std::string text = {};
    bool usage_limit = false;
};

/// All sources together: what the program said, else its state file, else title and screen. A limit on the screen
/// counts over everything but an agent that works. `file`: what the state file says, unknown if there is none.
Reading reading_of(const Harness& harness, Activity file, std::string_view screen, std::string_view title,
                   const Statement& told = {});

/// `path` with its leading "~/" replaced.
std::string below_home(const std::string& path, const std::string& home);

struct LaunchRequest {
    std::string permissions;  ///< "full", "reduced" or "review"; "review" falls back to "reduced", that to "full"
    std::string prompt;
    std::optional<std::string> effort;
    std::optional<std::string> model;
    std::string task_dir;
    std::string worktree;
    std::string repo;
    std::string git_dir;     ///< the worktree's own folder in the repository's .git
    std::string git_common;  ///< the repository's .git
    std::string role;
    std::string summary;
    bool trusted = false;             ///< the human consented that this program trusts this repository
    std::string task_file;            ///< as the agent finds it in its worktree
    std::vector<std::string> checks;  ///< the project's, each a command line
    std::string session;              ///< name of the program's conversation; empty: none
    bool resume = false;              ///< it is continued
    std::string shipped = {};         ///< the folder of the shipped definitions, and of what they need
    std::string events = {};          ///< the file for the program's events
};

/// More than this in one argument the kernel refuses (MAX_ARG_STRLEN, its NUL included): a longer prompt has to travel
/// by a file. Leaves room for what a definition puts around it.
inline constexpr std::size_t k_longest_prompt = 120'000;

struct Launch {
    std::vector<std::string> argv;  ///< argv[0] absolute
    std::map<std::string, std::string> env;
};

/// The command line of one run. `program` is what HarnessLibrary found. Text of the task ends up inside single
/// arguments only, and never as an argument of its own that could be taken for an option: the definition puts `--`,
/// `--prompt=` or a prefix in front (checked on load). invalid_argument for an effort that the harness does not have.
/// not_found, with the hint how to get it, where `program` is empty.
Result<Launch> launch(const Harness& harness, const std::string& program, const LaunchRequest& request);

/// Whether the program will agree to run with those permissions in that (complete) environment; the runner asks before
/// it spawns, since a refusal inside the pane would only look like a crash.
Result<void> check_root(const Harness& harness, const std::string& permissions,
                        const std::map<std::string, std::string>& environment, bool as_root);

/// The programs that are looked for if nobody chose one, in this order.
inline constexpr const char* k_default_names[] = {"claude", "codex", "opencode", "pi",
                                                  "gemini", "qwen",  "copilot",  "amp"};

/// A definition and where it is from.
struct HarnessEntry {
    Harness harness;
    std::filesystem::path path;
    std::string program;        ///< absolute; empty: not installed
    std::string path_variable;  ///< the PATH that it was found in; empty where the definition says where it is
    std::string found_in;       ///< whose PATH that is
    std::string problem;        ///< why the definition cannot be used; empty: it can
    std::string warning = {};   ///< of a definition that can be used: what its user should change
    /// Of the definition and, where that names one beside it, of the program's file. A shipped one's begins with
    /// "shipped <Orange's version> ".
    std::string hash;
};

/// Somebody has changed the definition, or put another in its place; not: a new version of Orange has brought its own.
bool is_changed(const std::string& hash_before, const std::string& hash_now);

/// ~/orange/harnesses/NAME.yml over the shipped ones. Read anew at each call: the files are few and small.
class HarnessLibrary {
  public:
    HarnessLibrary(std::filesystem::path shipped, std::filesystem::path user, ProgramSearch search);

    std::vector<HarnessEntry> list() const;
    /// not_found lists the names there are; invalid_argument for a broken definition.
    Result<HarnessEntry> find(const std::string& name) const;
    /// The first installed of `k_default_names` that is tried, else the first installed one; nothing where none is.
    std::optional<std::string> first_installed() const;

    /// not_found for an entry without a program: every PATH that was searched, and what to do.
    Error not_installed(const HarnessEntry& entry) const;
    /// "PATH of /bin/sh -l (/usr/bin:/bin), of …"
    std::string searched() const { return search_.searched(); }

    /// What the shells say when they are asked again.
    void set_paths(std::vector<SearchPath> paths) { search_.set_paths(std::move(paths)); }
    /// The PATH of a human's client, in which programs are looked up that no shell's PATH has.
    void take_client_path(std::string_view path);

  private:
    HarnessEntry read(const std::filesystem::path& path) const;

    std::filesystem::path shipped_;
    std::filesystem::path user_;
    ProgramSearch search_;
};

}  // namespace orange::agents

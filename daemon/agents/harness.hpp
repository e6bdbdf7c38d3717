#pragma once

#include <chrono>
#include <cstdint>
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

/// Everything that Orange knows about agent programs such as claude or codex. A harness (this header) describes one of
/// them as data. The folder also finds the programs (program_search), prepares their environment (login_environment),
/// starts and ends their processes (launcher), reads what they do (activity, events) and how many tokens they use
/// (usage), decides when text may be typed to them (typing), and identifies the callers of the daemon (identity). The
/// runner decides when all this happens. No function here changes a task, and each failure is returned as an Error.
namespace orange::agents {

/// Says whether an agent waits for messages after a turn, or ends.
enum class Mode { persistent, oneshot };

using orange::Activity;

/// Texts that mean an activity, by activity.
struct Signs {
    std::vector<std::string> idle;
    std::vector<std::string> busy;
    std::vector<std::string> waiting;        ///< a dialog is open: a key typed now would answer it
    std::vector<std::string> limited;        ///< a missing login or credit, or an error; on a screen, in its last lines
    std::vector<std::string> retrying = {};  ///< a busy program was refused and tries again; in the last lines, too
    std::vector<std::string> login = {};     ///< the program asks its user to log in; they are also in `waiting`
    /// Beginnings of the last paragraph above the prompt if a turn ended in an error; in `interrupted`, of those that
    /// tell only that a human interrupted it.
    std::vector<std::string> failed = {}, interrupted = {};
    std::vector<std::string> background = {};  ///< the turn is over, and its commands still run; in the last lines
};

/// The look of the place in which the program takes text (prompt.hpp). Without `empty`, nothing is typed to the
/// program.
struct PromptSigns {
    std::vector<std::string> above;        ///< beginnings of the lines directly above it, from top to bottom
    std::vector<std::string> empty;        ///< the line itself when nothing is typed; "" is a blank line
    std::vector<std::string> below;        ///< texts of the lines that may stand below it; blank lines always may
    std::vector<std::string> dimmed = {};  ///< colours of what is not typed, as SGR parameters ("38;5;103")
};

/// The texts of a program whose account has used up its limit for some time.
struct UsageLimit {
    std::vector<std::string> texts;   ///< texts in the last lines of the screen
    std::vector<std::string> resets;  ///< texts behind one of `texts`, in front of the time of the reset
    std::vector<std::string> dialog;  ///< texts of a dialog about it, which Escape closes and which swallows typed text
};

/// A JSON file in which the program reports what it does. It counts more than title and screen.
struct StateFile {
    std::string path;  ///< may have {pid}, the program's; a leading "~/" is the agent's HOME. Empty: no file
    std::string key;   ///< the member of the file's object whose text is one of `values`
    Signs values;
};

/// The ways to make the program trust a repository (trust.hpp): arguments, or otherwise a key of its own JSON file.
struct Trust {
    std::vector<std::string> args;    ///< replaces {trust_args} once the human has consented; may have {repo}
    std::string file;                 ///< a leading "~/" is the agent's HOME
    std::vector<std::string> key;     ///< from the file's root to the member that has to be true; may have {repo}
    std::vector<std::string> dialog;  ///< texts of the program's own question
    bool first = false;               ///< it has no answer in the window: without consent the program never starts

    bool is_asked() const { return !args.empty() || !file.empty(); }
};

/// A program that works without a login, in a way that its user should know of although the program does not say so.
struct NoLogin {
    std::vector<std::string> files;  ///< one of them exists if there is a login; a leading "~/" is the agent's HOME
    std::string note;                ///< a note for the human; empty: none
};

/// Tells the program where to write its events, and says what its lines mean (events.hpp).
struct EventSigns {
    std::vector<std::string> args;  ///< replaces {event_args}; {events} inside is the file of the run
    std::string rules;              ///< replaces {event_rules} inside an argument
    std::string key = "event";      ///< the member of a line of JSON that names its event
    std::vector<std::string> text;  ///< members of such a line that are shown to people, if they exist
    std::string session;            ///< the member with the id of the conversation
    std::string transcript;         ///< the member with the path of the conversation's file
    std::string background;         ///< the member of an `idle` event with the list of what still runs
    std::vector<std::string> busy, idle, question, limit, error, end;
    bool screen_contradicts = false;  ///< the screen shows what the program does not tell, such as an interrupted turn

    bool are_told() const { return !busy.empty() || !idle.empty(); }
};

/// The hook through which the program asks before it does something, and how it is answered (permit.hpp).
struct PermitSigns {
    /// Replace `events.args` if its human answers in the inbox: the program shows no dialog then. Empty: the hook is in
    /// the rules of `events`, and the program's dialog stands in its window as well.
    std::vector<std::string> args;
    std::string tool;                 ///< the member of a request with the name of the tool
    std::string input;                ///< the member with what the tool gets
    std::vector<std::string> except;  ///< tools whose dialog is no permission: they are never asked for
    std::string id;                   ///< the member by which a call is known again; empty: by its tool and its input
    std::string agent;                ///< the member with the id of the sub-agent that asks
    std::vector<std::string> done;    ///< events: a call was made, so it was allowed. They have the same members
    std::string allow, deny;          ///< the answers, as JSON; {message} in `deny` becomes a string of JSON
    std::chrono::milliseconds deadline{0};  ///< shorter than the program waits

    bool are_asked() const { return !allow.empty(); }
};

/// The pattern of a file. The path down to `root` may have links, the rest has none.
struct FilePattern {
    std::string root;   ///< an item of config_binds; of usage.file also {run_folder}, {talk_dir} or {transcript}
    std::string below;  ///< components with {session}, {session_8} and "*"
    bool operator==(const FilePattern&) const = default;
};

/// The ways to continue an earlier conversation of the program. {session} inside is the conversation's name.
struct Session {
    std::vector<std::string> start;   ///< replaces {session_args} for a new one, whose name Orange chooses
    std::vector<std::string> resume;  ///< replaces {session_args} for one that is continued
    std::string variable;             ///< the variable of its commands with the name, if the program chooses the name
    std::string file;                 ///< must exist to continue; empty: the program reports it itself
    std::vector<std::string> list;    ///< makes the program print its conversations (session_in)
    bool typed = false;               ///< the prompt on the command line is lost when it continues
    std::string form;                 ///< of the program's ids: "uuid", or a text with one "*"; empty: any
    /// Replaces {session_args} to continue a copy of the conversation {from}, whose file is {from_file}, in another
    /// folder. {session} is the name of the copy, if Orange chooses it.
    std::vector<std::string> fork = {};
    /// Instead of `fork`: the members of the first line that differ in a copy of the conversation's file. `resume`
    /// continues the copy.
    std::map<std::string, std::string> copy = {};
    std::vector<FilePattern> files = {};  ///< where the program keeps those that were begun without Orange

    bool can_resume() const { return !resume.empty(); }
    bool can_fork() const { return !fork.empty() || !copy.empty(); }
    /// True if a copy needs the file of the conversation.
    bool forks_file() const;
    /// True if Orange chooses the name of a copy.
    bool names_copy() const;
    /// True for an id that has the form and is safe as a command-line argument.
    bool permits(std::string_view id) const;
};

/// The lines in which the program writes what it uses (usage.hpp). Members are dotted paths into a line of JSON; a name
/// that ends in "?" is left out of the path if there is no such member.
struct UsageSigns {
    using File = FilePattern;
    /// The used part of its account's window.
    struct Window {
        std::map<std::string, std::string> each;  ///< members that a line has to have, and their texts
        std::string percent;                      ///< empty: the program does not say it
        std::string resets;
    };
    bool in_events = false;                   ///< the program writes them into its events file
    std::vector<File> files;                  ///< otherwise: where they are
    std::map<std::string, std::string> each;  ///< members that a line has to have, and their texts
    std::string id;                           ///< each id counts once; empty: each line counts
    std::string input, cache_read, cache_write, output;
    std::string reasoning;          ///< tokens that are not in `output`
    bool input_has_cached = false;  ///< `input` contains those of the two caches
    std::string model;
    std::string money;  ///< dollars
    std::string time = "timestamp";
    Window window;
    std::int64_t at_most = 0;  ///< tokens a minute, more than the program can use; 0: not known

    bool are_told() const { return in_events || !files.empty(); }
};

/// An agent program as data: harnesses/<name>.yml (docs/harnesses.md). Everything in which agent programs differ is in
/// these files, and nothing in the code: if a new version drops a flag, its user edits one line.
struct Harness {
    std::string name;
    std::string program;   ///< looked up on PATH; with a slash: relative to the definition's folder
    bool tried = true;     ///< a whole task was seen to work with it
    std::string measured;  ///< the version of the program that the definition was written for; empty: not recorded
    std::map<std::string, std::string> needs;  ///< programs that it runs with, and the oldest version of each
    Mode mode = Mode::persistent;
    /// The arguments after the program, by permissions: "full", "reduced", "review", and "oneshot", "oneshot_reduced",
    /// "oneshot_review" for the same in mode oneshot. Placeholders, each inside one argument: {prompt} {effort}
    /// {task_dir} {worktree} {repo} {git_dir} {git_common} {summary} {role} {events}; with "_json" at the end of the
    /// name, the value is escaped for a JSON string. An argument that is exactly "{effort_args}" or "{trust_args}" is
    /// replaced by that list, or by nothing.
    std::map<std::string, std::vector<std::string>> argv;
    std::vector<std::string> effort_args;    ///< with {effort}
    std::vector<std::string> effort_values;  ///< empty: any
    std::vector<std::string> model_args;     ///< with {model}; empty: a model cannot be chosen
    std::vector<std::string> model_values;   ///< names to complete; its program may have others
    std::map<std::string, std::string> env;  ///< same placeholders; without an effort, values with {effort} are omitted
    std::map<std::string, std::map<std::string, std::string>> env_for;  ///< more variables, by the names of `argv`
    std::vector<std::string> exclude;  ///< patterns for .git/info/exclude: files that the program leaves in a worktree
    Signs screen;                      ///< texts at the end of the pane
    UsageLimit usage_limit;
    PromptSigns prompt;
    std::optional<std::chrono::milliseconds> idle_after;  ///< replaces the setting
    bool otherwise_idle = false;                          ///< a window without any sign belongs to an idle agent
    Signs titles;                                         ///< beginnings of the pane's title
    StateFile state_file;
    EventSigns events;
    PermitSigns permits;
    bool inbox = false;  ///< the program reads messages from a file of its run: nothing is typed (events.hpp)
    Trust trust;
    NoLogin no_login;
    Session session;
    UsageSigns usage;
    std::vector<std::string> check_args;       ///< replaces {check_args}, once for each check; may have {check}
    std::string check_rule;                    ///< {check_rules} is this, once for each check; may have {check}
    std::chrono::milliseconds ready_after{0};  ///< messages that are typed earlier after the start would be lost
    std::string install;                       ///< the command that installs it
    std::string install_hint;                  ///< how to get it, if no command does
    std::map<std::string, std::string> words;  ///< words in a task's summary or context that the program obeys
    /// Names of variables that the program probably needs. They are only shown to a human who has them and whose agents
    /// do not.
    std::vector<std::string> wants;
    std::vector<std::string> version_args;  ///< makes it print its version and end; empty: the version is not queried
    /// The folders in which the program looks for its user's skills: the first one whose variable is set counts
    /// (skills.hpp).
    std::vector<std::string> skills;
    /// The files and folders of the user in which the program keeps its login, its state and its conversations: it
    /// writes to them behind a wall, too (binds.hpp).
    std::vector<std::string> config_binds;
    /// The files and folders that say what the program does, such as settings, hooks and plugins: what it writes there
    /// behind a wall ends with the run.
    std::vector<std::string> config_reads;
    /// A variable without which the program refuses to run as root with full permissions. Orange never sets it by
    /// itself, because only the user can decide that this machine is a sandbox.
    std::string root_needs;  ///< a variable, or NAME=VALUE if the program takes no other value

    bool has_effort() const;
    /// Returns "; get it from …", or the command on a line of its own; empty if neither is known.
    std::string how_to_install() const;
    /// Returns true if it names the folder for conversations, {talk_dir}.
    bool keeps_talk() const;
};

/// Reads one definition. The Error names line and column, and the correct value.
Result<Harness> load_harness(std::string_view text, std::string_view file_name);

/// Returns invalid_argument, with the existing efforts, for an effort that the harness does not have.
Result<void> check_effort(const Harness& harness, const std::string& effort);

/// Refuses a model if the harness cannot pass one to its program, or if the text cannot be a model's name.
Result<void> check_model(const Harness& harness, const std::string& model);
/// Returns a sentence if the definition names models and this is none of them; empty otherwise.
std::string model_note(const Harness& harness, const std::string& model);

/// Returns the name in `argv` of the arguments for these permissions in the definition's mode. review falls back to
/// reduced, and reduced to full. In mode oneshot the one-shot lists come first, in the same order. Empty for unknown
/// permissions.
std::string argv_name(const Harness& harness, const std::string& permissions);

/// Returns the text of a conversation's file with these members of its first line. Fails if that is no object of JSON.
Result<std::string> copied_conversation(std::string text, const std::map<std::string, std::string>& members);

/// Returns the id of the conversation that was the first to begin in that folder at that time or after it. `list` is a
/// JSON list of objects with `id`, `directory` and `created`, in milliseconds. Ids that `session` does not permit do
/// not count. Empty if there is none.
std::string session_in(std::string_view list, const std::string& folder, Timestamp since, const Session& session = {});

/// An agent's activity, and its source.
struct Reading {
    Activity activity = Activity::unknown;
    std::string source;         ///< "events", "file", "title" or "screen"; empty: nothing
    std::string text;           ///< the line of the screen that shows it
    bool usage_limit = false;   ///< if limited: the reason is a usage limit, which ends by itself
    std::string resets = {};    ///< the end of the limit, in the program's words
    std::string shown = {};     ///< if busy: the text that changes when it makes progress (progress_on)
    std::string retrying = {};  ///< if busy: the line that says that it was refused and tries again
    bool by_default = false;    ///< idle only because no text says otherwise (screen.otherwise)
    bool dialog = false;        ///< one of the sources shows an open dialog, whatever the others show
    bool composer = false;      ///< the window shows the program's prompt, with nothing in it
    bool ended = false;         ///< the program reported the end of its turn, perhaps in an error
};

/// Returns what screen and title show. Waiting comes first: a dialog may be open on a screen that also shows the last
/// turn.
Reading activity_on(const Harness& harness, std::string_view screen, std::string_view title);

/// True if the definition names any sign of a busy program.
bool tells_busy(const Harness& harness);

/// Returns the text of the screen without the parts that change while a program only waits: the line that says that it
/// works, digits, spinners and other signs.
std::string progress_on(const Harness& harness, std::string_view screen);

/// Returns the activity in the text of the state file; `unknown` if the text is not as the definition describes.
Activity activity_in(const StateFile& file, std::string_view text);

/// Returns why the agent cannot work, if the end of the screen, above the prompt and below Orange's last message, shows
/// that: the reason, whether it is a usage limit, and when that resets. A dialog about a limit counts as a limit,
/// because an answer does not lift it.
std::optional<Reading> limit_on(const Harness& harness, std::string_view screen);

/// Returns the screen as if the program had written the line last, above its prompt; nullopt if it does not show the
/// prompt that the definition names. If the definition names none, the last paragraph is taken for it.
std::optional<std::string> with_last_words(const Harness& harness, std::string_view screen, std::string_view line);

/// Returns a few of the last lines that the program has written above its prompt, for people.
std::string last_lines(const Harness& harness, std::string_view screen);

/// Returns the last lines of a dialog down to the first line by which the definition knows it, as one line for people;
/// empty if the screen shows none.
std::string dialog_text(const Harness& harness, std::string_view screen);

/// True if the dialog about a usage limit is at the end of the screen.
bool shows_limit_dialog(const Harness& harness, std::string_view screen);

/// True if the screen shows the beginning of the text, however it is wrapped. Whitespace does not count.
bool shows_text(std::string_view screen, std::string_view text);

/// The last event of a program.
struct Statement {
    Activity activity = Activity::unknown;  ///< unknown: no event
    std::string text = {};
    bool usage_limit = false;
    bool background = false;  ///< if idle: what the turn has started still runs, and the program goes on by itself
    bool asks = false;        ///< if waiting: its hook asks through Orange
};

/// Combines all sources: the program's events, otherwise its state file, otherwise title and screen. A limit on the
/// screen counts more than anything but an agent at work. `file` is the activity in the state file, unknown if there is
/// none.
Reading reading_of(const Harness& harness, Activity file, std::string_view screen, std::string_view title,
                   const Statement& told = {});

/// Returns `path` with its leading "~/" replaced.
std::string below_home(const std::string& path, const std::string& home);

struct LaunchRequest {
    std::string permissions;  ///< "full", "reduced" or "review"; "review" falls back to "reduced", that to "full"
    std::string prompt;
    std::optional<std::string> effort;
    std::optional<std::string> model;
    std::string task_dir;
    std::string worktree;
    std::string repo;        ///< what the program takes for its repository: the project's checkout, or the worktree
    std::string git_dir;     ///< the worktree's own folder in the repository's .git
    std::string git_common;  ///< the repository's .git
    std::string role;
    std::string summary;
    bool trusted = false;             ///< the human consented that this program trusts this repository
    std::string task_file;            ///< its path in the agent's worktree
    std::vector<std::string> checks;  ///< the project's checks, each a command line
    std::string session;              ///< name of the program's conversation; empty: none
    bool resume = false;              ///< continue that conversation
    std::string from = {};            ///< continue a copy of this one, which gets the name `session`
    std::string from_file = {};       ///< the file of that one
    std::string shipped = {};         ///< the folder of the shipped definitions and their files
    std::string events = {};          ///< the file for the program's events
    bool permits_in_inbox = false;    ///< `permits.args` instead of `events.args`
    std::string talk_dir = {};        ///< the folder for conversations, one for all runs of the task
};

/// The kernel refuses a longer argument (MAX_ARG_STRLEN, with its NUL): a longer prompt has to be in a file. There is
/// room for the text that a definition puts around the prompt.
inline constexpr std::size_t k_longest_prompt = 120'000;

struct Launch {
    std::vector<std::string> argv;  ///< argv[0] absolute
    std::map<std::string, std::string> env;
};

/// Returns the command line of one run. `program` is what HarnessLibrary found. Text of the task is only put inside
/// single arguments. It is never an argument of its own that could be taken for an option: the definition puts `--`,
/// `--prompt=` or a prefix in front (checked when it is loaded). invalid_argument for an effort that the harness does
/// not have. not_found, with the hint how to get it, if `program` is empty.
Result<Launch> launch(const Harness& harness, const std::string& program, const LaunchRequest& request);

/// Returns forbidden if the program would refuse to run with those permissions in that (complete) environment. The
/// runner calls it before it spawns, since a refusal inside the pane would only look like a crash.
Result<void> check_root(const Harness& harness, const std::string& permissions,
                        const std::map<std::string, std::string>& environment, bool as_root);

/// The programs that are looked for if none was chosen, in this order.
inline constexpr const char* k_default_names[] = {"claude", "codex", "opencode", "pi",
                                                  "gemini", "qwen",  "copilot",  "amp"};

/// A definition, and its origin.
struct HarnessEntry {
    Harness harness;
    std::filesystem::path path;
    std::string program;        ///< absolute; empty: not installed
    std::string path_variable;  ///< the PATH in which the program was found; empty if the definition has its place
    std::string found_in;       ///< the owner of that PATH
    std::string problem;        ///< why the definition cannot be used; empty: it can
    std::string warning = {};   ///< what the user should change in a definition that can be used
    /// Hash of the definition and, if that names a program beside it, of the program's file. The hash of a shipped
    /// definition begins with "shipped <Orange's version> ".
    std::string hash;
    std::string earlier_hash;  ///< what versions before 0.10 recorded for the same definition
};

/// True if a person has changed the definition or replaced it; the hashes are those of HarnessEntry. False if a new
/// version of Orange has brought its own.
bool is_changed(const std::string& hash_before, const std::string& hash_now, const std::string& earlier_hash);

/// The harness definitions: ~/orange/harnesses/NAME.yml replaces a shipped one. The files are few and small, so each
/// call reads them again, and parses those whose text has changed.
class HarnessLibrary {
  public:
    HarnessLibrary(std::filesystem::path shipped, std::filesystem::path user, ProgramSearch search);

    std::vector<HarnessEntry> list() const;
    /// Returns a definition by name. not_found lists the existing names; invalid_argument for a broken definition.
    Result<HarnessEntry> find(const std::string& name) const;
    /// Returns the first installed of `k_default_names` that is tried, otherwise the first installed one. If none is,
    /// the only installed one of the human's own definitions; nullopt if there is none, or more than one.
    std::optional<std::string> first_installed() const;

    /// Returns not_found for an entry without a program: every PATH that was searched, and what to do.
    Error not_installed(const HarnessEntry& entry) const;
    /// Returns a text such as "PATH of /bin/sh -l (/usr/bin:/bin), of …".
    std::string searched() const { return search_.searched(); }

    /// Replaces the PATHs of the shells, when these were queried again.
    void set_paths(std::vector<SearchPath> paths) { search_.set_paths(std::move(paths)); }
    /// Adds the PATH of a human's client, for programs that are on no shell's PATH.
    void take_client_path(std::string_view path);

  private:
    /// A definition as its file had it when it was read last.
    struct Parsed {
        std::string text;
        Result<Harness> harness;
    };

    HarnessEntry read(const std::filesystem::path& path) const;
    const Result<Harness>& parsed(const std::filesystem::path& path, const std::string& text) const;

    std::filesystem::path shipped_;
    std::filesystem::path user_;
    ProgramSearch search_;
    mutable std::map<std::filesystem::path, Parsed> parsed_;
};

}  // namespace orange::agents

#include <algorithm>
#include <charconv>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/model/json.hpp"
#include "common/model/usage.hpp"
#include "daemon/agents/definition_reader.hpp"
#include "daemon/agents/harness.hpp"
#include "daemon/agents/placeholders.hpp"
#include "daemon/yaml/node.hpp"

namespace orange::agents {
namespace {

/// Only these placeholders carry text that a person wrote. The others are paths of Orange or words from closed lists.
constexpr std::string_view k_free_text[] = {"prompt", "summary"};
constexpr std::string_view k_argv_names[] = {"full",    "reduced",         "review",
                                             "oneshot", "oneshot_reduced", "oneshot_review"};

/// Reads one document into a Harness and collects all of its problems, so that a user can fix them at once.
class Loader : DefinitionReader {
  public:
    Loader(std::string_view file_name, const Node& root) : DefinitionReader(file_name), root_(root) {}

    Result<Harness> load() {
        if (!root_.is_map()) {
            problem(root_.place, "a harness definition is a map with at least name, program and argv");
            return failure();
        }
        members(
            root_, "a harness definition",
            {{"name", [&](const Node& node) { read_name(node, harness_.name); }},
             {"program", [&](const Node& node) { text(node, "program", harness_.program); }},
             {"tried", [&](const Node& node) { yes_or_no(node, "tried", harness_.tried); }},
             {"measured", [&](const Node& node) { text(node, "measured", harness_.measured); }},
             {"needs", [&](const Node& node) { read_needs(node); }},
             {"mode", [&](const Node& node) { read_mode(node); }},
             {"argv", [&](const Node& node) { read_argv(node); }},
             {"effort", [&](const Node& node) { read_effort(node); }},
             {"model", [&](const Node& node) { read_model(node); }},
             {"env", [&](const Node& node) { read_variables(node, "env", harness_.env); }},
             {"env_for", [&](const Node& node) { read_env_for(node); }},
             {"exclude", [&](const Node& node) { list(node, "exclude", harness_.exclude); }},
             {"screen", [&](const Node& node) { read_screen(node); }},
             {"prompt", [&](const Node& node) { read_prompt(node); }},
             {"delivery", [&](const Node& node) { read_delivery(node); }},
             {"usage_limit", [&](const Node& node) { read_usage_limit(node); }},
             {"title", [&](const Node& node) { read_signs(node, "title", harness_.titles); }},
             {"state_file", [&](const Node& node) { read_state_file(node); }},
             {"events", [&](const Node& node) { read_events(node); }},
             {"permits", [&](const Node& node) { read_permits(node); }},
             {"waiting_patterns", [&](const Node& node) { list(node, "waiting_patterns", harness_.screen.waiting); }},
             {"trust", [&](const Node& node) { read_trust(node); }},
             {"no_login", [&](const Node& node) { read_no_login(node); }},
             {"session", [&](const Node& node) { read_session(node); }},
             {"usage", [&](const Node& node) { read_usage(node); }},
             {"checks", [&](const Node& node) { read_checks(node); }},
             {"idle_after", [&](const Node& node) { harness_.idle_after = time_of(node, "idle_after", 3600); }},
             {"ready_after", [&](const Node& node) { read_ready_after(node); }},
             {"install", [&](const Node& node) { read_install(node, harness_.install); }},
             {"words", [&](const Node& node) { read_words(node); }},
             {"install_hint", [&](const Node& node) { text(node, "install_hint", harness_.install_hint); }},
             {"wants", [&](const Node& node) { read_wants(node); }},
             {"version_args", [&](const Node& node) { list(node, "version_args", harness_.version_args); }},
             {"skills", [&](const Node& node) { read_folders(node, "skills", harness_.skills); }},
             {"config_binds", [&](const Node& node) { read_folders(node, "config_binds", harness_.config_binds); }},
             {"config_reads", [&](const Node& node) { read_folders(node, "config_reads", harness_.config_reads); }},
             {"root_needs", [&](const Node& node) { read_root_needs(node); }}});
        for (const char* key : {"name", "program", "argv"}) {
            if (!root_.find(key)) problem(root_.place, std::string("\"") + key + "\" is missing");
        }
        check_effort();
        check_passed("model", harness_.model_args);
        check_trust();
        check_lists();
        check_reads();
        check_usage();
        check_session_files();
        if (has_problems()) return failure();
        return std::move(harness_);
    }

  private:
    void read_words(const Node& node) {
        if (!node.is_map()) return problem(node.place, "words must be a map of words to what they do");
        for (const auto& [word, effect] : node.members) text(effect, "words." + word, harness_.words[word]);
    }

    void read_needs(const Node& node) {
        if (!node.is_map()) return problem(node.place, "needs must be a map of programs to their oldest version");
        for (const auto& [program, version] : node.members) {
            const bool plain = program.find('/') == std::string::npos && !program.starts_with('-');
            if (!plain) problem(version.place, "\"" + program + "\" in needs must be the name of a program");
            text(version, "needs." + program, harness_.needs[program]);
        }
    }

    void read_mode(const Node& node) {
        if (node.scalar == "persistent") {
            harness_.mode = Mode::persistent;
        } else if (node.scalar == "oneshot") {
            harness_.mode = Mode::oneshot;
        } else {
            problem(node.place, "mode must be persistent (it waits for messages) or oneshot (it ends after a turn)");
        }
    }

    void read_argv(const Node& node) {
        if (!node.is_map()) return problem(node.place, "argv must be a map: full, and perhaps reduced and review");
        Readers readers;
        for (const auto permissions : k_argv_names) {
            readers.emplace_back(permissions, [this, permissions](const Node& arguments) {
                const auto what = "argv." + std::string(permissions);
                list(arguments, what, harness_.argv[std::string(permissions)]);
                check_arguments(arguments, what);
            });
        }
        members(node, "argv", readers);
        if (!node.find("full")) problem(node.place, "argv.full is missing: it is what the others fall back to");
    }

    void check_arguments(const Node& arguments, const std::string& what) {
        bool after_dashes = false;
        bool prompted = false;
        for (const auto& item : arguments.items) {
            if (!item.is_scalar()) continue;
            check_placeholders(item);
            prompted = prompted || mentions(item.scalar, "prompt");
            for (const std::string list :
                 {"effort_args", "model_args", "trust_args", "session_args", "check_args", "event_args"}) {
                if (!mentions(item.scalar, list) || item.scalar == "{" + list + "}") continue;
                problem(item.place, "{" + list + "} stands for several arguments and must be an argument by itself");
            }
            if (mentions(item.scalar, "effort")) {
                problem(item.place,
                        "{effort} belongs into effort.args; write {effort_args} here, which is empty "
                        "if a task has no effort");
            }
            if (mentions(item.scalar, "model")) {
                problem(item.place,
                        "{model} belongs into model.args; write {model_args} here, which is empty if a task has no "
                        "model");
            }
            if (!after_dashes) check_free_text(item);
            after_dashes = after_dashes || item.scalar == "--";
        }
        if (arguments.is_sequence() && !prompted) {
            problem(arguments.place, what + " has no {prompt}: the agent would never learn what to do");
        }
    }

    /// Text of a task must not be taken for an option: either "--" stands before it, or the argument
    /// begins with fixed text that no option parser continues.
    void check_free_text(const Node& item) {
        for (const auto name : k_free_text) {
            if (!mentions(item.scalar, name)) continue;
            const auto first = pieces_of(item.scalar).front();
            const bool option = !first.placeholder && first.text.front() == '-';
            if (!first.placeholder && (!option || first.text.find('=') != std::string::npos)) continue;
            problem(item.place, "{" + std::string(name) +
                                    "} could be taken for an option here: put the argument \"--\" before it, or write "
                                    "it as \"--prompt={" +
                                    std::string(name) + "}\" or after fixed text, as in \"Task: {" + std::string(name) +
                                    "}\"");
        }
    }

    void check_placeholders(const Node& item) {
        for (const auto& piece : pieces_of(item.scalar)) {
            if (piece.placeholder && !is_placeholder(piece.text)) {
                problem(item.place, "unknown placeholder {" + piece.text + (piece.in_json ? "_json" : "") +
                                        "}; known: " + placeholder_list());
            }
        }
    }

    /// Reads what a task can choose of the program, `name`: the arguments that hand it over, and the known values.
    void read_choice(const Node& node, const std::string& name, List& args, List& values) {
        const auto read_args = [&](const Node& words) {
            list(words, name + ".args", args);
            for (const auto& item : words.items) check_placeholders(item);
            if (std::ranges::none_of(words.items, [&](const Node& item) { return mentions(item.scalar, name); })) {
                problem(words.place, name + ".args has no {" + name + "}");
            }
        };
        members(node, name,
                {{"args", read_args}, {"values", [&](const Node& known) { list(known, name + ".values", values); }}});
    }

    void read_effort(const Node& node) {
        if (!node.is_map()) return problem(node.place, "effort must be a map with args and perhaps values");
        read_choice(node, "effort", harness_.effort_args, harness_.effort_values);
    }

    void read_model(const Node& node) {
        if (!node.is_map()) return problem(node.place, "model must be a map with args and perhaps values");
        read_choice(node, "model", harness_.model_args, harness_.model_values);
        if (!node.find("args")) problem(node.place, "model.args is missing");
    }

    /// Each list of arguments must pass on what a task chose, or none of them may.
    void check_passed(const std::string& key, const List& args) {
        const auto placeholder = "{" + key + "_args}";
        for (const auto& [permissions, arguments] : harness_.argv) {
            const bool taken = std::find(arguments.begin(), arguments.end(), placeholder) != arguments.end();
            if (taken && args.empty()) {
                problem(root_.find("argv")->place,
                        "argv." + permissions + " has " + placeholder + ", but " + key + ".args is missing");
            }
            if (!taken && !args.empty()) {
                problem(root_.find(key)->place,
                        "argv." + permissions + " has no " + placeholder + ": a task's " + key + " would be lost");
            }
        }
    }

    void check_effort() {
        const Node* effort = root_.find("effort");
        check_passed("effort", harness_.effort_args);
        if (effort && !harness_.has_effort()) {
            problem(effort->place, "effort needs args, or a variable under env with {effort} in it");
        }
    }

    void read_variables(const Node& node, const std::string& what, std::map<std::string, std::string>& into) {
        if (!node.is_map()) return problem(node.place, what + " must be a map of variables");
        for (std::size_t i = 0; i < node.members.size(); ++i) {
            const auto& [name, value] = node.members[i];
            check_variable(name, node.member_places[i]);
            if (!value.is_scalar()) {
                problem(value.place, what + "." + name + " must be a text");
                continue;
            }
            check_placeholders(value);
            if (mentions(value.scalar, "effort_args"))
                problem(value.place, "a variable takes {effort}, not {effort_args}");
            if (mentions(value.scalar, "model") || mentions(value.scalar, "model_args"))
                problem(value.place, "{model} belongs into model.args");
            if (mentions(value.scalar, "trust_args")) problem(value.place, "{trust_args} belongs into argv");
            into[name] = value.scalar;
        }
    }

    void read_env_for(const Node& node) {
        if (!node.is_map()) return problem(node.place, "env_for must be a map: full, reduced and so on, as in argv");
        Readers readers;
        for (const auto name : k_argv_names) {
            readers.emplace_back(name, [this, name](const Node& variables) {
                read_variables(variables, "env_for." + std::string(name), harness_.env_for[std::string(name)]);
            });
        }
        members(node, "env_for", readers);
    }

    void check_variable(const std::string& name, const Place& place) {
        const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
            return (c < 128 && std::isalnum(c) != 0) || c == '_';
        });
        if (!plain || (name.front() >= '0' && name.front() <= '9')) {
            problem(place, "\"" + name + "\" is not a valid name of an environment variable");
        } else if (name.starts_with("ORANGE_")) {
            problem(place, name + " is Orange's own: names that begin with ORANGE_ cannot be set");
        }
    }

    void read_signs(const Node& node, const std::string& what, Signs& into) {
        if (!node.is_map()) return problem(node.place, what + " must be a map: idle, busy, waiting");
        members(node, what, readers_of(what, into));
    }

    Readers readers_of(const std::string& what, Signs& into) {
        return {{"idle", [this, what, &into](const Node& signs) { list(signs, what + ".idle", into.idle); }},
                {"busy", [this, what, &into](const Node& signs) { list(signs, what + ".busy", into.busy); }},
                {"waiting", [this, what, &into](const Node& signs) { list(signs, what + ".waiting", into.waiting); }}};
    }

    void read_screen(const Node& node) {
        if (!node.is_map()) return problem(node.place, "screen must be a map: idle, busy, waiting, limited, otherwise");
        auto readers = readers_of("screen", harness_.screen);
        auto& screen = harness_.screen;
        const std::pair<const char*, List&> more[] = {
            {"limited", screen.limited},   {"failed", screen.failed},         {"interrupted", screen.interrupted},
            {"retrying", screen.retrying}, {"background", screen.background}, {"login", screen.login}};
        for (const auto& [name, texts] : more) {
            readers.emplace_back(name, [this, what = "screen." + std::string(name), &into = texts](const Node& signs) {
                list(signs, what, into);
            });
        }
        readers.emplace_back("composer_empty", [this](const Node& lines) { read_short_prompt(lines); });
        readers.emplace_back("composer", [](const Node&) {});  // of earlier versions; HarnessLibrary warns
        readers.emplace_back("otherwise", [this](const Node& activity) {
            if (activity.scalar != "idle" && activity.scalar != "unknown") {
                return problem(activity.place, "screen.otherwise must be idle or unknown");
            }
            harness_.otherwise_idle = activity.scalar == "idle";
        });
        members(node, "screen", readers);
        auto& waiting = harness_.screen.waiting;  // such a screen also takes keys
        waiting.insert(waiting.end(), harness_.screen.login.begin(), harness_.screen.login.end());
    }

    void read_prompt(const Node& node) {
        auto& prompt = harness_.prompt;
        if (!node.is_map()) return problem(node.place, "prompt must be a map: empty, and perhaps above and below");
        members(node, "prompt",
                {{"above", [&](const Node& lines) { list(lines, "prompt.above", prompt.above); }},
                 {"empty", [&](const Node& lines) { read_lines(lines, "prompt.empty", prompt.empty); }},
                 {"below", [&](const Node& texts) { list(texts, "prompt.below", prompt.below); }},
                 {"dimmed", [&](const Node& colours) { list(colours, "prompt.dimmed", prompt.dimmed); }}});
        if (prompt.empty.empty()) problem(node.place, "prompt.empty is missing: the prompt when nothing is typed");
        const auto blank = [](const std::string& text) { return trim(text).empty(); };
        if (prompt.above.empty() && std::ranges::any_of(prompt.empty, blank)) {
            problem(node.place, "a blank prompt needs prompt.above: the lines between which it stands");
        }
        for (const auto* texts : {&prompt.above, &prompt.below}) {
            if (std::ranges::any_of(*texts, blank)) {
                problem(node.place, "a blank text in prompt.above or prompt.below fits every line: leave it out");
            }
        }
    }

    void read_delivery(const Node& node) {
        if (node.scalar != "keys" && node.scalar != "inbox") {
            return problem(node.place, "delivery must be keys (Orange types) or inbox (the program reads a file)");
        }
        harness_.inbox = node.scalar == "inbox";
        if (harness_.inbox && !root_.find("events")) {
            problem(node.place, "delivery: inbox needs events: the program says with one that it has taken a message");
        }
    }

    /// Reads a list of texts that may be empty: a blank line is one.
    void read_lines(const Node& node, const std::string& what, List& into) {
        if (!node.is_sequence()) return problem(node.place, what + " must be a list of texts");
        for (const auto& item : node.items) {
            std::string line;
            const bool blank = item.is_scalar() && item.scalar.empty();
            if (blank || text(item, "each item of " + what, line)) into.push_back(std::move(line));
        }
    }

    /// The short form of a prompt with nothing above and below it.
    void read_short_prompt(const Node& lines) {
        if (root_.find("prompt")) return problem(lines.place, "prompt replaces screen.composer_empty: leave that out");
        list(lines, "screen.composer_empty", harness_.prompt.empty);
        if (std::ranges::any_of(harness_.prompt.empty, [](const auto& text) { return trim(text).empty(); })) {
            problem(lines.place, "a blank prompt needs the lines around it: write prompt: {above, empty, below}");
        }
    }

    void read_usage_limit(const Node& node) {
        auto& limit = harness_.usage_limit;
        if (!node.is_map()) return problem(node.place, "usage_limit must be a map: screen, resets, dialog");
        members(node, "usage_limit",
                {{"screen", [&](const Node& texts) { list(texts, "usage_limit.screen", limit.texts); }},
                 {"resets", [&](const Node& texts) { list(texts, "usage_limit.resets", limit.resets); }},
                 {"dialog", [&](const Node& texts) { list(texts, "usage_limit.dialog", limit.dialog); }}});
        if (!node.find("screen")) problem(node.place, "usage_limit.screen is missing");
    }

    void read_state_file(const Node& node) {
        auto& file = harness_.state_file;
        if (!node.is_map()) return problem(node.place, "state_file must be a map: path, key, values");
        members(node, "state_file",
                {{"path", [&](const Node& path) { read_path(path, "state_file.path", file.path); }},
                 {"key", [&](const Node& key) { text(key, "state_file.key", file.key); }},
                 {"values", [&](const Node& values) { read_signs(values, "state_file.values", file.values); }}});
        for (const char* key : {"path", "key", "values"}) {
            if (!node.find(key)) problem(node.place, std::string("state_file.") + key + " is missing");
        }
    }

    void read_events(const Node& node) {
        auto& events = harness_.events;
        if (!node.is_map()) return problem(node.place, "events must be a map: busy and idle, perhaps args and others");
        Readers readers = {
            {"args",
             [&](const Node& args) {
                 list(args, "events.args", events.args);
                 for (const auto& item : args.items) check_placeholders(item);
             }},
            {"rules",
             [&](const Node& rules) {
                 if (text(rules, "events.rules", events.rules)) check_placeholders(rules);
             }},
            {"key", [&](const Node& key) { text(key, "events.key", events.key); }},
            {"screen_contradicts",
             [&](const Node& answer) { yes_or_no(answer, "events.screen_contradicts", events.screen_contradicts); }},
            {"session", [&](const Node& name) { text(name, "events.session", events.session); }},
            {"transcript", [&](const Node& name) { text(name, "events.transcript", events.transcript); }},
            {"background", [&](const Node& name) { text(name, "events.background", events.background); }},
            {"text", [&](const Node& names) { list(names, "events.text", events.text); }}};
        const std::pair<const char*, List&> meanings[] = {{"busy", events.busy},         {"idle", events.idle},
                                                          {"question", events.question}, {"limit", events.limit},
                                                          {"error", events.error},       {"end", events.end}};
        for (const auto& [name, names] : meanings) {
            readers.emplace_back(name, [this, what = "events." + std::string(name), &into = names](const Node& words) {
                list(words, what, into);
            });
        }
        members(node, "events", readers);
        if (events.busy.empty() || events.idle.empty()) problem(node.place, "events needs busy and idle");
    }

    void read_permits(const Node& node) {
        auto& permits = harness_.permits;
        if (!node.is_map()) return problem(node.place, "permits must be a map: tool, input, allow, deny and others");
        members(node, "permits",
                {{"args",
                  [&](const Node& args) {
                      list(args, "permits.args", permits.args);
                      for (const auto& item : args.items) check_placeholders(item);
                  }},
                 {"tool", [&](const Node& name) { text(name, "permits.tool", permits.tool); }},
                 {"input", [&](const Node& name) { text(name, "permits.input", permits.input); }},
                 {"except", [&](const Node& names) { list(names, "permits.except", permits.except); }},
                 {"id", [&](const Node& name) { text(name, "permits.id", permits.id); }},
                 {"agent", [&](const Node& name) { text(name, "permits.agent", permits.agent); }},
                 {"done", [&](const Node& names) { list(names, "permits.done", permits.done); }},
                 {"allow", [&](const Node& answer) { read_answer(answer, "permits.allow", permits.allow); }},
                 {"deny", [&](const Node& answer) { read_answer(answer, "permits.deny", permits.deny); }},
                 {"deadline", [&](const Node& time) { read_deadline(time); }}});
        if (!node.find("deadline")) permits.deadline = std::chrono::minutes(55);
        for (const char* key : {"tool", "input", "allow", "deny"}) {
            if (!node.find(key)) problem(node.place, std::string("permits.") + key + " is missing");
        }
        const auto* events = root_.find("events");
        if (events == nullptr) {
            problem(node.place, "permits needs events: the program's hook also writes the event of its request");
        } else if (!events->find("question")) {
            problem(node.place, "permits needs events.question, which names the event of a request");
        } else if (permits.args.empty() && !node.find("done")) {
            problem(node.place, "permits.done is missing: the events that tell that a call was made");
        } else if (!permits.args.empty() && !events->find("args")) {
            problem(node.place, "permits.args replaces events.args, which is missing");
        }
    }

    /// Reads what a hook has to print. The message in a denial is filled in as a string of JSON, with its quotes.
    void read_answer(const Node& node, const std::string& what, std::string& into) {
        if (!text(node, what, into)) return;
        constexpr std::string_view k_message = "{message}";
        auto filled = into;
        const bool takes_message = &into == &harness_.permits.deny;
        for (auto at = filled.find(k_message); takes_message && at != filled.npos; at = filled.find(k_message, at)) {
            filled.replace(at, k_message.size(), "\"\"");
        }
        if (Json::accept(filled)) return;
        problem(node.place, what + " must be JSON" +
                                (takes_message ? R"(, in which {message} is a string: {"message": {message}})"
                                               : R"(, as in {"behavior": "allow"})"));
    }

    /// orange-agent waits for 58 minutes.
    void read_deadline(const Node& node) {
        constexpr std::int64_t k_most = 55 * 60;
        const std::string_view all = node.scalar;
        const auto number = all.empty() ? std::nullopt : whole_number(all.substr(0, all.size() - 1));
        const auto seconds = number.value_or(0) * (all.ends_with('m') ? 60 : 1);
        if ((!all.ends_with('m') && !all.ends_with('s')) || !number || *number > k_most || seconds < 1 ||
            seconds > k_most) {
            return problem(node.place,
                           "permits.deadline must be a time from 1s to 55m, such as 20m: less than the program waits");
        }
        harness_.permits.deadline = std::chrono::seconds(seconds);
    }

    void read_path(const Node& node, const std::string& what, std::string& into) {
        if (!text(node, what, into)) return;
        if (!into.starts_with('/') && !into.starts_with("~/")) {
            problem(node.place, what + " must begin with / or with ~/, the agent's HOME");
        }
    }

    void read_trust(const Node& node) {
        auto& trust = harness_.trust;
        const bool by_file = node.find("file") && node.find("key");
        if (!node.is_map() || (node.find("args") != nullptr) == by_file) {
            return problem(node.place, "trust must be a map: args, or file and key");
        }
        members(node, "trust",
                {{"args", [&](const Node& args) { list(args, "trust.args", trust.args); }},
                 {"dialog", [&](const Node& dialog) { list(dialog, "trust.dialog", trust.dialog); }},
                 {"first", [&](const Node& first) { yes_or_no(first, "trust.first", trust.first); }},
                 {"file", [&](const Node& file) { read_path(file, "trust.file", trust.file); }},
                 {"key", [&](const Node& key) { list(key, "trust.key", trust.key); }}});
    }

    void read_no_login(const Node& node) {
        auto& no_login = harness_.no_login;
        if (!node.is_map() || !node.find("files") || !node.find("note")) {
            return problem(node.place, "no_login must be a map: files, note");
        }
        members(node, "no_login",
                {{"files", [&](const Node& files) { read_paths(files, no_login.files); }},
                 {"note", [&](const Node& note) { text(note, "no_login.note", no_login.note); }}});
    }

    void read_paths(const Node& node, List& into) {
        if (!node.is_sequence()) return problem(node.place, "no_login.files must be a list of paths");
        for (const auto& item : node.items) {
            std::string path;
            read_path(item, "each item of no_login.files", path);
            if (!path.empty()) into.push_back(std::move(path));
        }
    }

    bool argv_has(std::string_view word) const {
        return std::ranges::any_of(harness_.argv, [&](const auto& entry) {
            return std::ranges::find(entry.second, word) != entry.second.end();
        });
    }

    void check_trust() {
        const bool taken = argv_has("{trust_args}");
        if (taken == !harness_.trust.args.empty()) return;
        problem(root_.find(taken ? "argv" : "trust")->place,
                taken ? "argv has {trust_args}, but trust.args is missing"
                      : "trust.args is given nowhere: put {trust_args} into argv");
    }

    void read_session(const Node& node) {
        auto& session = harness_.session;
        if (!node.is_map()) return problem(node.place, "session must be a map: resume, and start or variable");
        members(node, "session",
                {{"start", [&](const Node& args) { list(args, "session.start", session.start); }},
                 {"resume", [&](const Node& args) { list(args, "session.resume", session.resume); }},
                 {"variable", [&](const Node& name) { text(name, "session.variable", session.variable); }},
                 {"list", [&](const Node& args) { list(args, "session.list", session.list); }},
                 {"prompt", [&](const Node& how) { read_session_prompt(how); }},
                 {"form", [&](const Node& form) { read_session_form(form); }},
                 {"file", [&](const Node& file) { text(file, "session.file", session.file); }},
                 {"fork", [&](const Node& args) { list(args, "session.fork", session.fork); }},
                 {"copy", [&](const Node& members) { read_conditions(members, "session.copy", session.copy); }},
                 {"files", [](const Node&) {}}});  // check_session_files()
        const int sources =
            (session.start.empty() ? 0 : 1) + (session.variable.empty() ? 0 : 1) + (session.list.empty() ? 0 : 1);
        if (session.resume.empty() || sources != 1) {
            problem(node.place, "session needs resume, and one of start, variable and list");
        }
        for (const auto* args : {&session.start, &session.resume}) {
            if (args->empty() ||
                std::any_of(args->begin(), args->end(), [](const auto& a) { return mentions(a, "session"); }))
                continue;
            problem(node.place, "session.start and session.resume must contain {session}");
        }
        check_fork(node);
    }

    void check_fork(const Node& node) {
        const auto& session = harness_.session;
        const auto has = [&](const char* name) {
            return std::ranges::any_of(session.fork, [&](const auto& each) { return mentions(each, name); });
        };
        if (!session.fork.empty() && !has("from") && !has("from_file")) {
            problem(node.place, "session.fork must contain {from}, the conversation, or {from_file}, its file");
        }
        if (has("session") && session.start.empty()) {
            problem(node.place, "session.fork has {session}, which needs session.start: else Orange chooses no name");
        }
        if (!session.fork.empty() && !session.copy.empty()) {
            problem(node.place, "session needs only one of fork and copy");
        }
        const bool is_named = !session.file.empty() && !session.start.empty();
        if (!session.copy.empty() && !is_named) {
            problem(node.place, "session.copy needs session.start and session.file, which name the copy");
        }
    }

    /// Called when config_binds is known.
    void check_session_files() {
        const auto* session = root_.find("session");
        const auto* files = session == nullptr ? nullptr : session->find("files");
        if (files == nullptr) return;
        if (!files->is_sequence() || files->items.empty()) {
            return problem(files->place, "session.files must be a list of patterns");
        }
        for (const auto& item : files->items) {
            std::string pattern;
            if (!text(item, "each item of session.files", pattern)) continue;
            const auto file = pattern_below(pattern, harness_.config_binds);
            const auto names = [&](const char* word) { return file->below.find(word) != std::string::npos; };
            if (!file || (!names("{session}") && !names("{session_8}"))) {
                problem(item.place, pattern +
                                        " of session.files must begin with an item of config_binds, and have {session} "
                                        "or {session_8} below it");
                continue;
            }
            harness_.session.files.push_back(*file);
        }
    }

    /// Returns the pattern with the longest of `roots` that it begins with; nullopt if it begins with none.
    static std::optional<FilePattern> pattern_below(const std::string& pattern, const List& roots) {
        std::string root;
        for (const auto& each : roots) {
            if (each.size() > root.size() && pattern.starts_with(each + "/")) root = each;
        }
        if (root.empty()) return std::nullopt;
        return FilePattern{root, pattern.substr(root.size() + 1)};
    }

    void read_session_prompt(const Node& node) {
        if (node.scalar != "argument" && node.scalar != "typed") {
            return problem(node.place, "session.prompt must be argument or typed");
        }
        harness_.session.typed = node.scalar == "typed";
    }

    void read_session_form(const Node& node) {
        auto& form = harness_.session.form;
        if (!text(node, "session.form", form) || form == "uuid") return;
        const bool is_plain = std::ranges::all_of(form, [](unsigned char c) {
            return (c < 128 && std::isalnum(c) != 0) || c == '-' || c == '_' || c == '*';
        });
        if (!is_plain || form.starts_with('-') || form.size() > 64 || std::ranges::count(form, '*') != 1) {
            problem(node.place,
                    "session.form must be uuid, or letters, digits, \"-\" and \"_\" with one \"*\" for the part that "
                    "differs, as in ses_*");
        }
    }

    void read_usage(const Node& node) {
        auto& usage = harness_.usage;
        if (!node.is_map()) return problem(node.place, "usage must be a map: file, input, output and perhaps others");
        Readers readers = {
            {"file", [&](const Node& file) { usage.in_events = file.scalar == "events"; }},  // check_usage()
            {"each", [&](const Node& each) { read_conditions(each, "usage.each", usage.each); }},
            {"input_has_cached",
             [&](const Node& answer) { yes_or_no(answer, "usage.input_has_cached", usage.input_has_cached); }},
            {"window", [&](const Node& window) { read_window(window); }},
            {"at_most", [&](const Node& tokens) { read_at_most(tokens); }}};
        const std::pair<const char*, std::string&> paths[] = {
            {"id", usage.id},
            {"input", usage.input},
            {"cache_read", usage.cache_read},
            {"cache_write", usage.cache_write},
            {"output", usage.output},
            {"reasoning", usage.reasoning},
            {"model", usage.model},
            {"money", usage.money},
            {"time", usage.time},
        };
        for (const auto& [name, path] : paths) {
            readers.emplace_back(name, [this, what = "usage." + std::string(name), &into = path](const Node& member) {
                read_member(member, what, into);
            });
        }
        members(node, "usage", readers);
        for (const char* key : {"file", "input", "output"}) {
            if (!node.find(key)) problem(node.place, std::string("usage.") + key + " is missing");
        }
    }

    /// Reads the path of a member in a line of JSON: "message.usage.input_tokens".
    void read_member(const Node& node, const std::string& what, std::string& into) {
        if (text(node, what, into)) check_member(into, what, node.place);
    }

    void check_member(const std::string& path, const std::string& what, const Place& place) {
        if (!path.empty() && !path.starts_with('.') && !path.ends_with('.') && path.find("..") == path.npos) return;
        problem(place, what + " must name members with dots between them, as in message.usage.input_tokens");
    }

    void read_conditions(const Node& node, const std::string& what, std::map<std::string, std::string>& into) {
        if (!node.is_map()) return problem(node.place, what + " must be a map of members to their texts");
        for (std::size_t i = 0; i < node.members.size(); ++i) {
            const auto& [path, value] = node.members[i];
            check_member(path, "each key of " + what, node.member_places[i]);
            text(value, what + "." + path, into[path]);
        }
    }

    void read_window(const Node& node) {
        auto& window = harness_.usage.window;
        if (!node.is_map()) return problem(node.place, "usage.window must be a map: percent, perhaps each and resets");
        members(node, "usage.window",
                {{"each", [&](const Node& each) { read_conditions(each, "usage.window.each", window.each); }},
                 {"percent", [&](const Node& path) { read_member(path, "usage.window.percent", window.percent); }},
                 {"resets", [&](const Node& path) { read_member(path, "usage.window.resets", window.resets); }}});
        if (!node.find("percent")) problem(node.place, "usage.window.percent is missing");
    }

    void read_at_most(const Node& node) {
        const auto tokens = tokens_in(node.scalar);
        if (!tokens || *tokens == 0) {
            return problem(node.place, "usage.at_most must be the tokens that no program can use in a minute, as 5M");
        }
        harness_.usage.at_most = *tokens;
    }

    /// Splits the patterns at what they begin with, for which all keys have to be known.
    void check_usage() {
        const auto* usage = root_.find("usage");
        const auto* file = usage != nullptr && usage->is_map() ? usage->find("file") : nullptr;
        if (file == nullptr || harness_.usage.in_events) return;
        if (!file->is_sequence() || file->items.empty()) {
            return problem(file->place, "usage.file must be a list of patterns, or the word events");
        }
        for (const auto& item : file->items) {
            std::string pattern;
            if (text(item, "each item of usage.file", pattern)) check_usage_file(pattern, item.place);
        }
    }

    void check_usage_file(const std::string& pattern, const Place& place) {
        List roots = harness_.config_binds;
        for (const char* folder : {"{run_folder}", "{talk_dir}", "{transcript}"}) roots.emplace_back(folder);
        const auto file = pattern_below(pattern, roots);
        if (!file) {
            return problem(place, pattern +
                                      " of usage.file must begin with an item of config_binds, or with {run_folder}, "
                                      "{talk_dir} or {transcript}, and go on below it");
        }
        const auto& below = file->below;
        const bool is_beside = file->root == "{transcript}";
        for (const auto name : split(below, '/')) {
            if (!name.empty() && name != "." && name != "..") continue;
            problem(place, pattern + R"( of usage.file must not have an empty name, "." or ".." in it)");
        }
        std::string rest = below;
        bool has_session = false;
        for (const std::string known : {"{session}", "{session_8}"}) {
            for (auto at = rest.find(known); at != rest.npos; at = rest.find(known)) {
                rest.erase(at, known.size());
                has_session = true;
            }
        }
        if (rest.find_first_of("{}") != rest.npos) {
            problem(place, pattern + " of usage.file has an unknown placeholder; known: {session}, {session_8}");
        }
        if (is_beside && harness_.events.transcript.empty()) {
            problem(place, "{transcript} in usage.file needs events.transcript: the program names the file");
        }
        if (!is_beside && harness_.events.transcript.empty() && !has_session) {
            problem(place, pattern + " of usage.file has no {session}, so it would count the files of other agents");
        }
        harness_.usage.files.push_back(*file);
    }

    void read_checks(const Node& node) {
        if (!node.is_map()) return problem(node.place, "checks must be a map: args or rule");
        members(node, "checks",
                {{"args", [&](const Node& args) { list(args, "checks.args", harness_.check_args); }},
                 {"rule", [&](const Node& rule) { text(rule, "checks.rule", harness_.check_rule); }}});
    }

    /// An agent could put something else in the place of an item that is inside what it may write to.
    void check_reads() {
        for (const auto& item : harness_.config_reads) {
            for (const auto& outer : harness_.config_binds) {
                if (!item.starts_with(outer + "/")) continue;
                problem(root_.find("config_reads")->place, item + " of config_reads is in " + outer +
                                                               " of config_binds, where an agent could replace it. "
                                                               "List in config_binds only what an agent may write to");
            }
        }
    }

    /// A list that is given must be used, and a list that is used must be given.
    void check_lists() {
        const std::pair<const char*, bool> lists[] = {
            {"session_args", harness_.session.can_resume()},
            {"check_args", !harness_.check_args.empty()},
            {"event_args", !harness_.events.args.empty()},
        };
        const auto* argv = root_.find("argv");
        if (argv == nullptr) return;
        for (const auto& [name, given] : lists) {
            const auto word = "{" + std::string(name) + "}";
            const bool used = argv_has(word);
            if (used != given) {
                problem(argv->place, given ? "argv has no " + word : "argv has " + word + ", which nothing defines");
            }
        }
    }

    std::optional<std::chrono::milliseconds> time_of(const Node& node, const std::string& what, int most_seconds) {
        const std::string_view all = node.scalar;
        int number = 0;
        const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), number);
        const auto unit = all.substr(static_cast<std::size_t>(end - all.data()));
        if (error == std::errc{} && number >= 0 && unit == "ms" && number <= most_seconds * 1000) {
            return std::chrono::milliseconds(number);
        }
        if (error == std::errc{} && number >= 0 && unit == "s" && number <= most_seconds) {
            return std::chrono::seconds(number);
        }
        problem(node.place,
                what + " must be a time such as 500ms or 4s, at most " + std::to_string(most_seconds) + "s");
        return std::nullopt;
    }

    void read_ready_after(const Node& node) {
        if (const auto time = time_of(node, "ready_after", 60)) harness_.ready_after = *time;
    }

    void read_root_needs(const Node& node) {
        if (!text(node, "root_needs", harness_.root_needs)) return;
        check_variable(harness_.root_needs.substr(0, harness_.root_needs.find('=')), node.place);
    }

    void read_folders(const Node& node, const std::string& what, List& into) {
        list(node, what, into);
        for (const auto& folder : into) {
            const auto slash = std::min(folder.find('/'), folder.size());
            const bool known = slash == 0 || folder.starts_with("~/");
            if (!known && folder.starts_with('$') && slash > 1) {
                check_variable(folder.substr(1, slash - 1), node.place);
            } else if (!known) {
                problem(node.place,
                        "each item of " + what + " must begin with /, ~/ or a variable, as in $NAME/" + what);
            }
        }
    }

    void read_wants(const Node& node) {
        list(node, "wants", harness_.wants);
        for (const auto& name : harness_.wants) check_variable(name, node.place);
    }

    const Node& root_;
    Harness harness_;
};

}  // namespace

Result<Harness> load_harness(std::string_view text, std::string_view file_name) {
    TRY(auto root, yaml::parse(text, file_name));
    return Loader(file_name, root).load();
}

}  // namespace orange::agents

// `orange harness new`: copies a definition under another name, with a comment above each key, for people who add their
// own program.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "client/commands/files.hpp"
#include "client/commands/harness.hpp"
#include "client/output/terminal.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::commands {
namespace {

namespace fs = std::filesystem;

struct Explained {
    std::string_view key;
    std::string_view text;  ///< the lines of the comment
};

/// Explains each key: what to know about it, and what to check with the new program.
constexpr Explained k_explained[] = {
    {"program", "The program: a name that is looked up on PATH, or a path. Check: orange harness list"},
    {"measured",
     "The version of the program whose texts these are. `orange harness list` names it beside another one."},
    {"needs",
     "The oldest version of what runs the program, as in {node: \"22.19\"}. Orange checks it before each start."},
    {"mode", "persistent: it waits for messages after a turn. oneshot: it ends after each turn."},
    {"argv",
     "The arguments, for each permission. {prompt} is what to do. Put -- before it, or fixed text in\n"
     "front of it, so that it cannot be taken for an option or a command. Check: the program works\n"
     "without asking (full), and finds `orange` and git (reduced)."},
    {"effort", "How a task's effort is passed: {effort_args} in argv stands for args. Remove both if there is none."},
    {"model",
     "How a task's model is passed: {model_args} in argv stands for args. values: names to complete; others are\n"
     "passed as well. Remove the key and {model_args} if the program takes no model."},
    {"env", "Variables for the program."},
    {"env_for", "More variables, for one list of argv."},
    {"exclude", "Files that the program leaves in a worktree, and that are not to be committed."},
    {"events",
     "How the program says what it does, and what its words mean. It is believed over everything else. Remove\n"
     "it, and {event_args} and {event_rules}, if the program cannot."},
    {"permits",
     "How a hook of the program waits for your answer before the program does something, and what it prints then.\n"
     "Remove it if the program has no such hook. docs/permits.md"},
    {"state_file", "A JSON file in which the program says what it does. It is believed over title and screen."},
    {"title", "Texts at the beginning of the window's title that say what the program does."},
    {"screen",
     "Texts at the end of the window that say what the program does. waiting: a question; Orange then\n"
     "types nothing and calls you. limited: a usage limit or a missing login. Start the program by hand and\n"
     "copy them from its window."},
    {"prompt",
     "The place in which a person types. above: the beginnings of the lines directly above it. empty: the\n"
     "line itself when nothing is typed. below: texts of all lines that stand below it. Without it, Orange\n"
     "types nothing."},
    {"delivery",
     "How a message reaches the program. keys: Orange types it into the prompt. inbox: the program reads it from a\n"
     "file, and says so with an event."},
    {"usage", "Where the program writes how many tokens it uses (docs/usage.md). Remove it if it does not."},
    {"usage_limit",
     "Texts of a usage limit that ends by itself: until then Orange starts no other agent of this harness. Remove\n"
     "it if the program has none."},
    {"waiting_patterns", "Texts of a question in the window: Orange then types nothing, and calls you."},
    {"session", "How the program continues an earlier conversation. Remove it, and {session_args}, if it cannot."},
    {"checks", "How a reviewer is permitted the project's checks."},
    {"trust", "How the program learns that it may trust a repository. Remove it if it does not ask."},
    {"no_login", "What Orange tells you if you have no login, and the files of which one exists if you have."},
    {"idle_after", "How long it may be idle before it is reminded to call orange."},
    {"ready_after", "How long after its start a message would be lost."},
    {"skills", "Where the program looks for skills; `orange install` writes there."},
    {"config_binds", "Files and folders of yours to which the program writes, also behind the wall of an executor."},
    {"config_reads", "Files and folders that say what it does, such as hooks: behind a wall it changes none of them."},
    {"wants", "Variables that the program probably needs, such as keys."},
    {"version_args", "The arguments that print its version."},
    {"install", "The command that installs the program."},
    {"install_hint", "How to get the program."},
    {"words", "Words in a task's summary that the program obeys."},
    {"root_needs", "The variable without which the program refuses to run as root."},
};

std::string comment(std::string_view text) {
    std::string out;
    for (const auto line : split_lines(text)) out += "# " + std::string(line) + "\n";
    return out;
}

std::string_view key_of(std::string_view line) {
    const auto colon = line.find(':');
    const bool key = colon != std::string_view::npos && colon > 0 && line.front() >= 'a' && line.front() <= 'z';
    return key ? line.substr(0, colon) : std::string_view();
}

/// Returns the definition `source` under the new name. Comments above its first key are dropped, because they are about
/// the other program.
std::string definition(const rpc::HarnessShow::Reply& source, const std::string& name) {
    std::string out = "# How Orange starts " + name + ", made from " + source.harness.name +
                      ". Edit it, then run: orange harness test " + name +
                      "\n# docs/harnesses.md and orange-harness(5) describe every key.\n";
    bool begun = false;
    std::string above;  // comments of the source that belong to the next key
    for (const auto line : split_lines(source.text)) {
        const auto key = key_of(line);
        begun = begun || !key.empty();
        if (!begun || key == "tried") continue;
        if (key.empty()) {
            above += std::string(line) + "\n";
            if (!trim(line).empty() && line.front() != '#') out += std::exchange(above, {});
            continue;
        }
        if (key == "name") {
            out +=
                "name: " + name + "\n\n" +
                comment("Nobody has seen a whole task pass with it yet. Remove this line when its test has passed.") +
                "tried: false\n";
            continue;
        }
        const auto known = std::find_if(std::begin(k_explained), std::end(k_explained),
                                        [&](const Explained& row) { return row.key == key; });
        out += "\n" + (known != std::end(k_explained) ? comment(known->text) : "");
        const auto comments = std::exchange(above, {});
        if (!trim(comments).empty()) out += std::string(trim(comments)) + "\n";
        const bool beside = key == "program" && trim(line.substr(key.size() + 1)).find('/') != std::string_view::npos;
        // The path of a program beside the source is relative to the source's folder. JSON quotes strings as YAML does.
        out += (beside ? "program: " + Json(source.harness.program).dump() : std::string(line)) + "\n";
    }
    out += trim(above).empty() ? "" : above;
    return out;
}

Result<void> check_name(const std::string& name) {
    const bool plain = !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    });
    if (plain && name.front() != '-' && name.front() != '_') return {};
    return {ErrorCode::invalid_argument, "\"" + ellipsized(printable(name), 70) +
                                             "\" cannot be the name of a harness. Use at most 64 characters: a-z, 0-9, "
                                             "- and _, with a letter or digit first"};
}

Result<Json> make_new(Context& context, const HarnessNew& options) {
    TRY(check_name(options.name));
    const auto file = context.paths.harnesses() / (options.name + ".yml");
    struct stat info {};
    const bool exists = ::lstat(file.c_str(), &info) == 0;
    if (exists && !S_ISREG(info.st_mode)) {
        return {ErrorCode::conflict, file.string() + " is not a regular file. Remove it, or choose another name"};
    }
    if (exists && options.name == options.from) {
        return {ErrorCode::conflict, file.string() + " is what Orange uses as " + options.name +
                                         ". To begin again with the installed definition, remove the file first"};
    }
    if (exists && !options.force) {
        return {ErrorCode::conflict, file.string() + " already exists. Choose another name, or replace the file:\n" +
                                         "  orange harness new " + options.name + " --from " + options.from +
                                         " --force"};
    }
    TRY(const auto source, context.call(rpc::HarnessShow{options.from}));
    TRY(replace_file(file, definition(source, options.name), 0600));
    TRY(const auto made, context.call(rpc::HarnessShow{options.name}));
    return Json{{"name", options.name},
                {"from", options.from},
                {"path", file.string()},
                {"program", made.harness.program},
                {"installed", made.harness.installed}};
}

}  // namespace

Status harness_new(Context& context, const HarnessNew& options) {
    TRY(const auto made, make_new(context, options));
    if (context.json) return put_json(made);
    output::put("Wrote " + printable(made.at("path").get<std::string>()) +
                ".\nEdit at least its program and argv. Then test it:\n  orange harness test " + options.name + "\n");
    return 0;
}

}  // namespace orange::commands

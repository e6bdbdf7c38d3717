// Who may include whom (docs/architecture.md), and words that no source may hold. Everything is read from the source
// tree itself, so that a new file is held to the rules without being named here.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace {

namespace fs = std::filesystem;

struct Source {
    std::string path;                 ///< from the root, "daemon/engine/decide.cpp"
    std::string folder;               ///< "daemon/engine"; files directly in daemon/ or client/: that
    std::string text;                 ///< without comments
    std::vector<std::string> ours;    ///< what it includes with quotes
    std::vector<std::string> system;  ///< and with angle brackets
};

std::string read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

/// Comments out; string literals stay.
std::string without_comments(const std::string& text) {
    std::string out;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (in_string) {
            out += text[i];
            if (text[i] == '\\' && i + 1 < text.size()) {
                out += text[++i];
            } else if (text[i] == '"' || text[i] == '\n') {
                in_string = false;
            }
        } else if (text.compare(i, 2, "//") == 0) {
            while (i < text.size() && text[i] != '\n') ++i;
            out += '\n';
        } else if (text.compare(i, 2, "/*") == 0) {
            const auto end = text.find("*/", i + 2);
            i = end == std::string::npos ? text.size() : end + 1;
        } else if (text.compare(i, 3, "'\"'") == 0) {
            i += 2;  // a quote as a character begins no string
        } else {
            in_string = text[i] == '"';
            out += text[i];
        }
    }
    return out;
}

std::vector<Source> sources_of(const std::vector<std::string>& tops) {
    static const std::regex include(R"re(#include\s+(?:"([^"]+)"|<([^>]+)>))re");
    const fs::path root = ORANGE_SOURCE_DIR;
    std::vector<Source> all;
    for (const auto& top : tops) {
        for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
            const auto extension = entry.path().extension();
            if (!entry.is_regular_file() || (extension != ".cpp" && extension != ".hpp")) continue;
            Source source;
            source.path = fs::relative(entry.path(), root).string();
            source.folder = fs::path(source.path).parent_path().string();
            source.text = without_comments(read(entry.path()));
            for (std::sregex_iterator at(source.text.begin(), source.text.end(), include), end; at != end; ++at) {
                if ((*at)[1].matched) source.ours.push_back((*at)[1]);
                if ((*at)[2].matched) source.system.push_back((*at)[2]);
            }
            all.push_back(std::move(source));
        }
    }
    return all;
}

const std::vector<Source>& product() {
    static const auto all = sources_of({"common", "daemon", "client"});
    return all;
}

bool is_in(const std::string& path, const std::vector<std::string>& prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](const std::string& prefix) { return path.compare(0, prefix.size(), prefix) == 0; });
}

/// What a folder may include of ours, besides itself. A folder that is not here may include nothing, so that a new one
/// has to be thought about.
const std::map<std::string, std::vector<std::string>>& allowed() {
    static const std::vector<std::string> interfaces = {"daemon/process/process_runner.hpp",
                                                        "daemon/process/exit_watcher.hpp",
                                                        "daemon/process/stray_processes.hpp",
                                                        "daemon/process/signal_process.hpp",
                                                        "daemon/process/proc_info.hpp",
                                                        "daemon/process/environment.hpp",
                                                        "daemon/process/group.hpp",
                                                        "daemon/process/listening.hpp",
                                                        "daemon/process/scopes.hpp",
                                                        "daemon/process/umask.hpp",
                                                        "daemon/files/file_system.hpp",
                                                        "daemon/files/file_watcher.hpp",
                                                        "daemon/tmux/tmux.hpp",
                                                        "daemon/shim/",
                                                        "daemon/git/git.hpp",
                                                        "daemon/git/branch_names.hpp",
                                                        "daemon/git/branches.hpp",
                                                        "daemon/git/clash.hpp",
                                                        "daemon/git/clean_up.hpp",
                                                        "daemon/git/committer.hpp",
                                                        "daemon/git/ignored.hpp",
                                                        "daemon/git/included.hpp",
                                                        "daemon/git/merge.hpp",
                                                        "daemon/git/nested.hpp",
                                                        "daemon/git/own.hpp",
                                                        "daemon/git/pinned.hpp",
                                                        "daemon/git/programs.hpp",
                                                        "daemon/git/publish.hpp",
                                                        "daemon/git/refs.hpp",
                                                        "daemon/git/removed.hpp",
                                                        "daemon/git/replay.hpp",
                                                        "daemon/git/repository.hpp",
                                                        "daemon/git/repository_command.hpp",
                                                        "daemon/git/reviewing.hpp",
                                                        "daemon/git/signing.hpp",
                                                        "daemon/git/small_files.hpp",
                                                        "daemon/git/sparse.hpp",
                                                        "daemon/git/worktree_status.hpp",
                                                        "daemon/git/strays.hpp",
                                                        "daemon/git/submodules.hpp",
                                                        "daemon/git/update.hpp",
                                                        "daemon/forge/forge.hpp",
                                                        "daemon/forge/opening.hpp",
                                                        "daemon/git/worktrees.hpp"};
    const auto with = [](std::vector<std::string> some, const std::vector<std::string>& more) {
        some.push_back("daemon/log/");
        some.insert(some.end(), more.begin(), more.end());
        return some;
    };
    static const std::vector<std::string> all = {"common/", "daemon/"};
    // An adapter that runs commands: process/'s interfaces and its small helpers, never its implementation.
    static const std::vector<std::string> on_process = {"common/",
                                                        "daemon/async/",
                                                        "daemon/process/process_runner.hpp",
                                                        "daemon/process/environment.hpp",
                                                        "daemon/process/proc_info.hpp",
                                                        "daemon/process/scopes.hpp"};
    // The rooms of the runner see one another: what they know of each other is in their headers.
    static const std::vector<std::string> rooms =
        with({"common/", "daemon/async/", "daemon/engine/", "daemon/workflow/", "daemon/store/", "daemon/agents/",
              "daemon/pool/", "daemon/runner/"},
             interfaces);
    static const std::map<std::string, std::vector<std::string>> table = {
        {"common/base", {}},
        {"common/posix", {"common/base/"}},
        {"common/model", {"common/base/"}},
        {"common/config", {"common/base/", "common/posix/"}},
        {"common/rpc", {"common/base/", "common/model/"}},
        {"common/log", {"common/base/", "common/model/"}},
        {"client", {"common/", "client/"}},
        {"client/connection", {"common/"}},
        {"client/output", {"common/"}},
        {"client/hosts", {"common/", "client/connection/"}},
        {"client/manual", {"common/", "client/arguments/"}},
        {"client/arguments", {"common/", "client/commands/"}},
        {"client/commands", {"common/", "client/connection/", "client/hosts/", "client/output/"}},
        {"client/dashboard", {"common/", "client/connection/", "client/hosts/", "client/output/"}},
        {"daemon", {"common/", "daemon/app/"}},
        {"daemon/engine", {"common/base/", "common/model/"}},
        {"daemon/async", {"common/base/"}},
        {"daemon/log", {"common/"}},
        {"daemon/yaml", {"common/base/"}},
        {"daemon/workflow",
         {"common/", "daemon/engine/", "daemon/yaml/", "daemon/async/", "daemon/files/file_system.hpp"}},
        // The adapters: never one another, except on top of process/ (its interfaces alone).
        {"daemon/process", {"common/", "daemon/async/"}},
        {"daemon/files", {"common/", "daemon/async/"}},
        {"daemon/tmux", on_process},
        {"daemon/git", on_process},
        {"daemon/forge", on_process},
        {"daemon/shim", {"common/", "daemon/async/", "daemon/process/"}},
        {"daemon/store",
         {"common/", "daemon/async/", "daemon/engine/", "daemon/yaml/", "daemon/files/file_system.hpp",
          "daemon/files/file_watcher.hpp", "daemon/files/file_facts.hpp", "daemon/files/unfinished.hpp",
          "daemon/files/writer_check.hpp", "daemon/process/process_runner.hpp"}},
        // Everything that decides what to do with the outside reaches it through interfaces.
        {"daemon/agents", with({"common/", "daemon/async/", "daemon/engine/", "daemon/yaml/", "daemon/store/",
                                "daemon/files/file_facts.hpp"},
                               interfaces)},
        {"daemon/pool", with({"common/", "daemon/async/", "daemon/store/", "daemon/agents/"}, interfaces)},
        {"daemon/runner", rooms},
        {"daemon/runner/actions", rooms},
        {"daemon/runner/agents", rooms},
        {"daemon/runner/attention", rooms},
        {"daemon/runner/branch", rooms},
        {"daemon/runner/checks", rooms},
        {"daemon/runner/family", rooms},
        {"daemon/runner/loop", rooms},
        {"daemon/runner/merging", rooms},
        {"daemon/runner/placing", rooms},
        {"daemon/runner/pulls", rooms},
        {"daemon/runner/queue", rooms},
        {"daemon/runner/review", rooms},
        {"daemon/runner/transitions", rooms},
        {"daemon/monitor", with({"common/", "daemon/async/", "daemon/engine/", "daemon/workflow/", "daemon/store/",
                                 "daemon/agents/", "daemon/pool/", "daemon/runner/"},
                                interfaces)},
        {"daemon/doctor", with({"common/", "daemon/async/", "daemon/engine/", "daemon/workflow/", "daemon/store/",
                                "daemon/agents/", "daemon/pool/", "daemon/runner/", "daemon/files/file_facts.hpp"},
                               interfaces)},
        {"daemon/rpc",
         {"common/", "daemon/doctor/", "daemon/async/", "daemon/engine/", "daemon/workflow/", "daemon/store/",
          "daemon/agents/", "daemon/pool/", "daemon/runner/", "daemon/monitor/", "daemon/log/",
          "daemon/process/proc_info.hpp", "daemon/files/file_system.hpp", "daemon/git/branch_names.hpp",
          "daemon/git/branches.hpp"}},
        {"daemon/rpc/methods",
         with({"common/", "daemon/async/", "daemon/engine/", "daemon/workflow/", "daemon/store/", "daemon/agents/",
               "daemon/pool/", "daemon/runner/", "daemon/monitor/", "daemon/doctor/", "daemon/rpc/"},
              interfaces)},
        {"daemon/app", all},
    };
    return table;
}

/// Reports each of `sources` for which `bad` says why.
template <class Bad>
void none(const std::vector<Source>& sources, Bad bad) {
    for (const auto& source : sources) {
        const std::string why = bad(source);
        if (!why.empty()) FAIL_CHECK(source.path + " " + why);
    }
}

/// `word` in `text` with a blank, a bracket or a line's beginning before it: x.cpp is not in posix_x.cpp.
bool holds_word(const std::string& text, const std::string& word) {
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
        if (at == 0 || std::string(" (\n\t").find(text[at - 1]) != std::string::npos) return true;
    }
    return false;
}

std::string first_of(const std::vector<std::string>& includes, const std::vector<std::string>& prefixes) {
    for (const auto& include : includes) {
        if (is_in(include, prefixes)) return include;
    }
    return {};
}

}  // namespace

TEST_CASE("The sources are found, comments are no code and strings are no comments") {
    CHECK(product().size() > 40);
    CHECK(without_comments("a // b\nc /* d */ e \"// f\"") == "a \nc  e \"// f\"");
    CHECK(without_comments("'\"' // x\n\"a\\\"//\"") == " \n\"a\\\"//\"");
}

TEST_CASE("Every folder includes only what the table allows") {
    none(product(), [](const Source& source) -> std::string {
        const auto rule = allowed().find(source.folder);
        if (rule == allowed().end()) return "is in a folder that the table of layers does not know";
        for (const auto& include : source.ours) {
            const bool own = fs::path(include).parent_path() == source.folder;
            if (!own && !is_in(include, rule->second)) return "may not include " + include;
        }
        return "";
    });
}

TEST_CASE("Includes begin at the root and name a file that exists") {
    none(product(), [](const Source& source) -> std::string {
        for (const auto& include : source.ours) {
            if (!fs::exists(fs::path(ORANGE_SOURCE_DIR) / include))
                return "includes " + include + ", which is not there";
        }
        return "";
    });
}

TEST_CASE("The engine is pure: nothing that reads a clock, a file, a process or chance") {
    static const std::set<std::string> pure = {
        "algorithm",     "array",         "cassert",  "cctype",    "charconv", "climits",     "compare", "cstddef",
        "cstdint",       "functional",    "iterator", "limits",    "map",      "memory",      "numeric", "optional",
        "ranges",        "set",           "span",     "stdexcept", "string",   "string_view", "tuple",   "type_traits",
        "unordered_map", "unordered_set", "utility",  "variant",   "vector"};
    static const std::regex impure(R"(system_clock|steady_clock|\brandom_id\b|\bgetenv\b|\bSystemClock\b|\bfopen\b)");
    none(product(), [](const Source& source) -> std::string {
        if (source.folder != "daemon/engine") return "";
        for (const auto& include : source.system) {
            if (!pure.count(include)) return "includes <" + include + ">, which the engine may not";
        }
        std::smatch found;
        return std::regex_search(source.text, found, impure) ? "uses " + found.str() : "";
    });
}

TEST_CASE("The engine has commands as data, and no literal of one") {
    static const std::regex literal(R"re("[^"\n]*\borange [a-z])re");
    none(product(), [](const Source& source) -> std::string {
        if (source.folder != "daemon/engine") return "";
        std::smatch found;
        return std::regex_search(source.text, found, literal)
                   ? "has the literal " + found.str() + ": see common/base/orange_command.hpp"
                   : "";
    });
}

TEST_CASE("The daemon's time comes from one place: async::Time") {
    static const std::regex other(R"(\bsteady_timer\b|\bsteady_clock::now\b|\bSystemClock\b|\bsleep_for\b)");
    none(product(), [](const Source& source) -> std::string {
        // The shim is a program of its own, a line of the log may have the machine's time, and a daemon that waits for
        // its home has no alarms yet.
        if (!source.path.starts_with("daemon/") ||
            is_in(source.path, {"daemon/async/time.", "daemon/shim/", "daemon/log/", "daemon/app/home.cpp"})) {
            return "";
        }
        std::smatch found;
        return std::regex_search(source.text, found, other) ? "uses " + found.str() : "";
    });
}

TEST_CASE("A status is changed in one place: engine::enter()") {
    static const std::regex assignment(R"(\btask\.status\s*=[^=])");
    none(product(), [](const Source& source) -> std::string {
        // The first status of a new task, and what is read from the disk.
        if (source.path == "daemon/engine/enter.cpp" || source.path == "daemon/rpc/methods/task_create.cpp" ||
            source.path == "daemon/runner/family/attempts.cpp" || source.folder == "daemon/store") {
            return "";
        }
        return std::regex_search(source.text, assignment) ? "sets the status of a task: see daemon/engine/enter.hpp"
                                                          : "";
    });
}

TEST_CASE("A task is locked and saved by Turns: its save() reports a failure, its try_save() returns it") {
    static const std::map<std::string, int> others = {
        {"daemon/runner/transitions/turns.cpp", 4},
    };
    static const std::regex door(
        R"(\btasks\.save\(|\btask_locks\.acquire\(|\btask_files\.(sync|write_sections?|retire_mirror)\()");
    none(product(), [](const Source& source) -> std::string {
        if (!is_in(source.path, {"daemon/runner/", "daemon/monitor/", "daemon/rpc/"})) return "";
        const auto known = others.find(source.path);
        const auto calls = std::distance(std::sregex_iterator(source.text.begin(), source.text.end(), door), {});
        if (calls <= (known == others.end() ? 0 : known->second)) return "";
        return "locks or saves a task itself: see daemon/runner/transitions/turns.hpp";
    });
}

TEST_CASE("Every folder has the namespaces of the table") {
    // Named after the folder, but for what the whole program names: that is `orange` itself.
    static const std::string own = "orange";
    static const std::map<std::string, std::set<std::string>> namespaces = {
        {"client", {own}},
        {"client/arguments", {"orange::arguments"}},
        {"client/commands", {"orange::commands"}},
        {"client/connection", {"orange::connection"}},
        {"client/dashboard", {"orange::dashboard"}},
        {"client/hosts", {"orange::hosts"}},
        {"client/manual", {"orange::manual"}},
        {"client/output", {"orange::output"}},
        {"common/base", {own, "orange::system"}},
        {"common/config", {own}},
        {"common/log", {"orange::log"}},
        {"common/model", {own}},
        {"common/posix", {own, "orange::posix"}},
        {"common/rpc", {own, "orange::rpc"}},
        {"daemon/agents", {"orange::agents"}},
        {"daemon/app", {own}},
        {"daemon/async", {own, "orange::async"}},
        {"daemon/doctor", {"orange::doctor"}},
        {"daemon/engine", {"orange::engine"}},
        {"daemon/files", {own, "orange::files"}},
        {"daemon/forge", {own, "orange::forge"}},
        {"daemon/git", {own, "orange::git"}},
        {"daemon/log", {"orange::log"}},
        {"daemon/monitor", {own}},
        {"daemon/pool", {own}},
        {"daemon/process", {own, "orange::process"}},
        {"daemon/rpc", {"orange::rpc"}},
        {"daemon/rpc/methods", {"orange::rpc"}},
        {"daemon/runner", {own}},
        {"daemon/runner/actions", {"orange::actions"}},
        {"daemon/runner/agents", {own}},
        {"daemon/runner/attention", {own}},
        {"daemon/runner/branch", {own}},
        {"daemon/runner/checks", {own, "orange::checked"}},
        {"daemon/runner/family", {own}},
        {"daemon/runner/loop", {own}},
        {"daemon/runner/merging", {own}},
        {"daemon/runner/placing", {own, "orange::walls", "orange::networks"}},
        {"daemon/runner/pulls", {own, "orange::pulls"}},
        {"daemon/runner/queue", {own, "orange::queue"}},
        {"daemon/runner/review", {own, "orange::review"}},
        {"daemon/runner/transitions", {own}},
        {"daemon/shim", {own, "orange::shim"}},
        {"daemon/store", {"orange::store", "orange::store::markdown"}},
        {"daemon/tmux", {own, "orange::tmux"}},
        {"daemon/workflow", {"orange::workflow"}},
        {"daemon/yaml", {"orange::yaml"}},
    };
    static const std::regex opened(R"((^|\n)namespace ([a-z_:]+) \{)");
    none(product(), [](const Source& source) -> std::string {
        const auto known = namespaces.find(source.folder);
        for (std::sregex_iterator at(source.text.begin(), source.text.end(), opened), end; at != end; ++at) {
            const auto name = (*at)[2].str();
            const bool outer = name.starts_with(own);
            if (!outer) continue;
            if (known == namespaces.end() || !known->second.contains(name)) return "has the namespace " + name;
        }
        return "";
    });
}

TEST_CASE("Files are written, and folders emptied, in one place") {
    static const std::regex definition(R"(\n[a-z]\S* write_all\()"), emptying(R"(\bremove_all\()");
    std::vector<std::string> writers;
    for (const auto& source : product()) {
        if (std::regex_search(source.text, definition) && source.path.ends_with(".cpp")) writers.push_back(source.path);
    }
    CHECK(writers == std::vector<std::string>{"common/posix/write.cpp"});
    none(product(), [](const Source& source) -> std::string {
        // A folder may have a million files: the daemon puts it aside, and a process of its own removes it.
        if (is_in(source.path, {"common/posix/remove.", "daemon/shim/removal.cpp", "client/commands/"})) return "";
        return std::regex_search(source.text, emptying) ? "empties a folder itself: see common/posix/remove.hpp" : "";
    });
}

TEST_CASE("Each library has its one place") {
    struct Place {
        std::vector<std::string> headers;
        std::vector<std::string> folders;
    };
    static const std::vector<Place> places = {
        {{"yaml-cpp/"}, {"daemon/yaml/"}},
        {{"spdlog/", "fmt/"}, {"daemon/log/"}},
        {{"CLI/"}, {"client/main.cpp", "client/arguments/", "client/manual/", "daemon/main.cpp", "daemon/app/"}},
        {{"asio/as_tuple.hpp", "asio/experimental/as_tuple.hpp"}, {"daemon/async/use_tuple.hpp"}},
        {{"asio"}, {"daemon/async/", "daemon/rpc/", "daemon/process/", "daemon/files/", "daemon/app/"}},
        {{"ncurses.h", "term.h"}, {"client/dashboard/terminal.cpp"}},
        {{"spawn.h"}, {"daemon/process/", "daemon/shim/", "client/connection/"}},
        {{"nlohmann/"}, {"common/model/json.hpp"}},
        {{"catch2/"}, {}},
    };
    none(product(), [](const Source& source) -> std::string {
        for (const auto& place : places) {
            const auto found = first_of(source.system, place.headers);
            if (!found.empty() && !is_in(source.path, place.folders)) return "may not include <" + found + ">";
        }
        return "";
    });
}

TEST_CASE("A record describes its fields without JSON: whoever includes it does not parse that library") {
    none(product(), [](const Source& source) -> std::string {
        const bool is_record = source.folder == "common/model" && source.path.ends_with(".hpp") &&
                               !is_in(source.path, {"common/model/json.hpp", "common/model/fields.hpp"});
        if (!is_record && source.folder != "daemon/engine") return "";
        const auto found = first_of(source.ours, {"common/model/json.hpp", "common/model/fields.hpp", "common/rpc/"});
        return found.empty() ? "" : "may not include " + found;
    });
}

TEST_CASE("The dashboard's core is pure: no terminal, no socket, no clock") {
    static const std::set<std::string> shell = {"clipboard", "exchange", "file_sender", "foreground", "host_wire",
                                                "main",      "program",  "terminal",    "wire"};
    static const std::regex impure(R"(steady_clock::now|SystemClock|\bgetenv\b|\b::(read|write|open|poll)\()");
    none(product(), [](const Source& source) -> std::string {
        if (source.folder != "client/dashboard" || shell.contains(fs::path(source.path).stem().string())) return "";
        if (const auto found =
                first_of(source.ours,
                         {"client/connection/", "client/hosts/", "client/dashboard/terminal", "client/dashboard/wire",
                          "client/dashboard/host_wire", "client/dashboard/program", "client/dashboard/foreground"});
            !found.empty()) {
            return "may not include " + found;
        }
        if (const auto found = first_of(source.system, {"ncurses", "term", "unistd.h", "sys/", "poll.h", "fstream"});
            !found.empty()) {
            return "may not include <" + found + ">";
        }
        std::smatch found;
        return std::regex_search(source.text, found, impure) ? "uses " + found.str() : "";
    });
}

TEST_CASE("The client links nothing of the daemon's") {
    none(product(), [](const Source& source) -> std::string {
        if (!is_in(source.path, {"client/", "common/"})) return "";
        const auto found = first_of(source.system, {"asio", "yaml-cpp/", "spdlog/", "regex", "iostream", "locale"});
        return found.empty() ? "" : "includes <" + found + ">";
    });
    const auto links = read(fs::path(ORANGE_SOURCE_DIR) / "client/CMakeLists.txt");
    for (const char* library : {"orange_async", "orange_asio", "yaml-cpp", "spdlog", "orange_engine", "orange_store"}) {
        CHECK_THAT(links, !Holds(library));
    }
}

TEST_CASE("No shell, no detached coroutine, no co_await in ?:, no reaping of whoever comes", "[slow]") {
    struct Word {
        std::regex pattern;
        const char* why;
    };
    static const std::vector<Word> words = {
        {std::regex(R"((^|[^\w.>:])(::|std::)?system\s*\()"), "calls system(): start an argv"},
        {std::regex(R"(\bpopen\s*\()"), "calls popen(): start an argv"},
        {std::regex(R"(\bexecl[pe]?\s*\()"), "calls execl*(): start an argv"},
        {std::regex(R"(asio::detached)"), "uses asio::detached: async::spawn() reports what goes wrong"},
        {std::regex(R"(\bwaitpid\s*\(\s*-1)"), "reaps whoever comes: waitpid() takes a known pid"},
        {std::regex(R"(\?\s*co_await|\?[^;:{}]*:\s*co_await)"), "has a co_await in ?:, which g++ 12 destroys twice"},
    };
    // In a test a shell is often just the program that is run.
    static const std::regex shell(R"re("(/bin/)?(sh|bash)"\s*,\s*"-l?c")re");
    none(product(), [](const Source& source) -> std::string {
        return std::regex_search(source.text, shell) ? "starts a shell" : "";
    });
    none(sources_of({"common", "daemon", "client", "tests"}), [](const Source& source) -> std::string {
        if (source.folder == "tests/unit/layers") return "";
        for (const auto& word : words) {
            // The shim is a subreaper: what its agent leaves behind becomes its child without its doing.
            if (source.folder == "daemon/shim" && std::string_view(word.why).starts_with("reaps")) continue;
            if (std::regex_search(source.text, word.pattern)) return word.why;
        }
        return "";
    });
}

TEST_CASE("Who decides asks the disk through FileSystem alone: std::filesystem::path is a name, the rest is a call") {
    // Calls of each file. git/ is an adapter, whose interface is Git; the rest has no FileSystem at hand, or no method
    // of FileSystem does what it needs (removing a folder only if it is empty).
    static const std::map<std::string, int> passing_by = {
        {"daemon/agents/binds.cpp", 6},
        {"daemon/agents/harness.cpp", 1},
        {"daemon/agents/harness_library.cpp", 7},
        {"daemon/agents/login_environment.cpp", 1},
        {"daemon/agents/process_table.cpp", 1},
        {"daemon/agents/versions.cpp", 2},
        {"daemon/git/branch_names.cpp", 1},
        {"daemon/git/branches.cpp", 2},
        {"daemon/git/checkout.cpp", 3},
        {"daemon/git/ignored.cpp", 2},
        {"daemon/git/merge_build.cpp", 3},
        {"daemon/git/merge_publish.cpp", 2},
        {"daemon/git/own.cpp", 9},
        {"daemon/git/programs.cpp", 8},
        {"daemon/git/repository.cpp", 1},
        {"daemon/git/small_files.cpp", 2},
        {"daemon/git/snapshot.cpp", 6},
        {"daemon/git/sparse.cpp", 2},
        {"daemon/git/worktree_status.cpp", 4},
        {"daemon/git/update.cpp", 3},
        {"daemon/git/worktrees.cpp", 6},
        {"daemon/store/task_sync_write.cpp", 1},
    };
    static const std::regex call(
        R"(\b(fs|filesystem)::(absolute|canonical|copy|create_|current_path|directory_iterator|equivalent|exists|file_size)"
        R"(|hard_link|is_|last_write_time|permissions|read_symlink|recursive_|relative\(|remove|rename|resize_file|space)"
        R"(|status|symlink_status|temp_directory|weakly_canonical))");
    none(product(), [](const Source& source) -> std::string {
        if (!is_in(source.path, {"daemon/runner/", "daemon/rpc/", "daemon/monitor/", "daemon/store/", "daemon/pool/",
                                 "daemon/agents/", "daemon/doctor/", "daemon/git/"})) {
            return "";
        }
        const auto known = passing_by.find(source.path);
        const auto calls = std::distance(std::sregex_iterator(source.text.begin(), source.text.end(), call), {});
        if (calls == (known == passing_by.end() ? 0 : known->second)) return "";
        return "calls std::filesystem " + std::to_string(calls) + " times, which the table of this test does not say";
    });
}

TEST_CASE("No test asks for the words of a text: facts are asked for with Tells(), contents with Holds()", "[slow]") {
    static const std::regex words(R"(\bContains\()");
    none(sources_of({"tests"}), [](const Source& source) -> std::string {
        if (source.folder == "tests/unit/layers" || source.path == "tests/facts.hpp" ||
            source.path == "tests/catch_version.hpp") {
            return "";
        }
        return std::regex_search(source.text, words) ? "calls Contains(): see tests/facts.hpp" : "";
    });
}

TEST_CASE("No name of a test has a semicolon or begins with a dash: CTest would run two names, or an option") {
    static const std::regex name(R"re(TEST_CASE(_METHOD)?\(([^"\n]*, )?"(-|[^"]*;))re");
    none(sources_of({"tests"}), [](const Source& source) -> std::string {
        if (source.folder == "tests/unit/layers") return "";
        return std::regex_search(source.text, name) ? "has a test whose name CTest cannot run" : "";
    });
}

TEST_CASE("tests/README.md names every test file that is not named after a file of the product, and only files") {
    const fs::path tests = fs::path(ORANGE_SOURCE_DIR) / "tests";
    const auto index = read(tests / "README.md");
    std::set<std::string> names;
    for (const auto& source : product()) names.insert(fs::path(source.path).stem().string());
    none(sources_of({"tests/unit", "tests/integration"}), [&](const Source& source) -> std::string {
        const fs::path path = source.path;
        const auto stem = path.stem().string();
        if (!stem.ends_with("_test")) return "";
        const bool is_unit = source.path.starts_with("tests/unit/");
        if (is_unit && names.contains(stem.substr(0, stem.size() - 5))) return "";
        const auto listed = fs::relative(path, is_unit ? "tests/unit" : "tests/integration").string();
        return index.find("`" + listed + "`") == std::string::npos ? "is not in tests/README.md" : "";
    });
    static const std::regex listed("`([a-z_/]+_test\\.cpp)`");
    for (std::sregex_iterator at(index.begin(), index.end(), listed), end; at != end; ++at) {
        const auto name = (*at)[1].str();
        INFO(name);
        CHECK((fs::exists(tests / "unit" / name) || fs::exists(tests / "integration" / name)));
    }
}

TEST_CASE("Nothing of the product includes tests") {
    none(product(), [](const Source& source) -> std::string {
        const auto found = first_of(source.ours, {"tests/"});
        return found.empty() ? "" : "includes " + found;
    });
}

TEST_CASE("Every source is listed in the CMakeLists.txt that builds it, and has its header once") {
    none(sources_of({"common", "daemon", "client", "tests"}), [](const Source& source) -> std::string {
        const fs::path path = source.path;
        if (path.extension() == ".hpp") {
            return source.text.find("#pragma once") == std::string::npos ? "has no #pragma once" : "";
        }
        // A platform's file is listed with ${platform} in its name.
        auto name = path.filename().string();
        name = std::regex_replace(name, std::regex("_(linux|macos)\\.cpp$"), "_${platform}.cpp");
        for (auto folder = path.parent_path(); !folder.empty(); folder = folder.parent_path()) {
            const auto lists = fs::path(ORANGE_SOURCE_DIR) / folder / "CMakeLists.txt";
            if (!fs::exists(lists)) continue;
            const auto text = read(lists);
            const auto listed = (fs::relative(path.parent_path(), folder) / name).lexically_normal().string();
            const auto plain = (fs::relative(path.parent_path(), folder) / path.filename()).lexically_normal().string();
            if (holds_word(text, listed) || holds_word(text, plain)) return "";
            return "is not listed in " + (folder / "CMakeLists.txt").string();
        }
        return "has no CMakeLists.txt above it";
    });
}

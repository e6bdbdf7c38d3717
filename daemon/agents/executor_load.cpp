#include <algorithm>

#include "common/base/suggest.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/agents/definition_reader.hpp"
#include "daemon/agents/executor.hpp"
#include "daemon/agents/placeholders.hpp"

namespace orange::agents {
namespace {

constexpr const char* k_inner = "{inner}";

/// Placeholders that stand for several words, or none.
const std::vector<std::string> k_word_lists = {"inner", "limits", "options", "binds", "network"};
/// The placeholders that each key may have.
const std::vector<std::string> k_in_run = {
    "inner",    "limits",   "options", "binds",      "run",         "task",       "project",    "role",
    "network",  "image",    "user",    "home",       "orange_home", "bin",        "share",      "repo",
    "worktree", "task_dir", "run_dir", "socket_dir", "git_dir",     "git_common", "repository", "link"};
/// Lists those of `wall`, whose words are a part of `run` and of `inside`.
const std::vector<std::string> k_in_wall = {"binds", "options",  "image",       "task",       "project",
                                            "user",  "home",     "orange_home", "bin",        "share",
                                            "repo",  "worktree", "git_common",  "repository", "link"};
constexpr const char* k_wall = "{wall}";
const std::vector<std::string> k_in_stop = {"run", "task", "project", "role", "user", "home"};
const std::vector<std::string> k_in_probe = {"run", "user", "home"};
const std::vector<std::string> k_in_check = {"user", "home", "bin", "share", "image"};
const std::vector<std::string> k_in_binds = {"path"};

/// Reads one document into an Executor.
class ExecutorLoader : DefinitionReader {
  public:
    ExecutorLoader(std::string_view file_name, const Node& root) : DefinitionReader(file_name), root_(root) {}

    Result<Executor> load() {
        if (!root_.is_map()) {
            problem(root_.place, "an executor definition is a map with at least name and run");
            return failure();
        }
        members(
            root_, "an executor definition",
            {{"name", [&](const Node& node) { read_name(node, executor_.name); }},
             {"separates", [&](const Node& node) { read_separates(node); }},
             {"repository", [&](const Node& node) { read_repository(node); }},
             {"checks", [&](const Node& node) { read_checks(node); }},
             {"wall", [&](const Node& node) { command(node, "wall", k_in_wall, wall_); }},
             {"inside", [&](const Node& node) { read_inside(node); }},
             {"without_network", [&](const Node& node) { list(node, "without_network", executor_.without_network); }},
             {"image", [&](const Node& node) { text(node, "image", executor_.image); }},
             {"check", [&](const Node& node) { command(node, "check", k_in_check, executor_.check); }},
             {"run", [&](const Node& node) { read_run(node); }},
             {"stop", [&](const Node& node) { command(node, "stop", k_in_stop, executor_.stop); }},
             {"probe", [&](const Node& node) { command(node, "probe", k_in_probe, executor_.probe); }},
             {"queued", [&](const Node& node) { list(node, "queued", executor_.queued); }},
             {"over", [&](const Node& node) { list(node, "over", executor_.over); }},
             {"ended", [&](const Node& node) { list(node, "ended", executor_.ended); }},
             {"limits", [&](const Node& node) { read_limits(node); }},
             {"binds", [&](const Node& node) { read_binds(node); }},
             {"hides", [&](const Node& node) { read_hides(node); }},
             {"socket", [&](const Node& node) { read_socket(node); }},
             {"unset", [&](const Node& node) { list(node, "unset", executor_.unset); }},
             {"tried", [&](const Node& node) { yes_or_no(node, "tried", executor_.tried); }},
             {"install", [&](const Node& node) { read_install(node, executor_.install); }},
             {"install_hint", [&](const Node& node) { text(node, "install_hint", executor_.install_hint); }}});
        for (const char* key : {"name", "run"}) {
            if (!root_.find(key)) problem(root_.place, std::string("\"") + key + "\" is missing");
        }
        put_in_wall("run", executor_.run);
        put_in_wall("inside", executor_.inside);
        check_together();
        if (has_problems()) return failure();
        return std::move(executor_);
    }

  private:
    /// Reads a program and its arguments.
    void command(const Node& node, const std::string& what, const std::vector<std::string>& placeholders, List& into) {
        list(node, what, into);
        if (node.is_sequence() && node.items.empty()) problem(node.place, what + " needs at least the program");
        for (const auto& item : node.items) check_placeholders(item, what, placeholders);
    }

    void check_placeholders(const Node& item, const std::string& what, const std::vector<std::string>& known) {
        for (const auto& piece : pieces_of(item.scalar)) {
            if (!piece.placeholder) continue;
            if (std::ranges::find(known, piece.text) == known.end()) {
                problem(item.place,
                        "unknown placeholder {" + piece.text + "} in " + what + suggestion(piece.text, known));
            } else if (std::ranges::find(k_word_lists, piece.text) != k_word_lists.end() &&
                       item.scalar != "{" + piece.text + "}") {
                problem(item.place, "{" + piece.text + "} stands for several words and must be a word by itself");
            }
        }
    }

    void read_run(const Node& node) {
        auto known = k_in_run;
        known.emplace_back("wall");
        command(node, "run", known, executor_.run);
        check_inner(node, "run", executor_.run);
    }

    void read_inside(const Node& node) {
        auto known = k_in_wall;
        known.insert(known.end(), {"wall", "inner", "network"});
        command(node, "inside", known, executor_.inside);
        check_inner(node, "inside", executor_.inside);
    }

    void check_inner(const Node& node, const std::string& what, const List& words) {
        const auto inner = std::ranges::count(words, k_inner);
        if (node.is_sequence() && inner != 1) {
            problem(node.place, what + " must have the word " + k_inner +
                                    " once: it stands for the command that runs there" +
                                    (inner == 0 ? "" : ", and is there " + std::to_string(inner) + " times"));
        }
    }

    void read_repository(const Node& node) {
        executor_.has_own_repository = node.scalar == "own";
        if (node.is_scalar() && (node.scalar == "own" || node.scalar == "shared")) return;
        problem(node.place, "repository must be own (agents have a repository of their own) or shared");
    }

    void read_checks(const Node& node) {
        executor_.has_checks_outside = node.scalar == "outside";
        if (node.is_scalar() && (node.scalar == "inside" || node.scalar == "outside")) return;
        problem(node.place,
                "checks must be inside (the project's commands run behind the wall of the agents) or outside");
    }

    /// Puts the words of `wall` in the place of {wall}.
    void put_in_wall(const char* key, List& words) {
        const auto at = std::ranges::find(words, k_wall);
        if (at == words.end()) return;
        if (wall_.empty()) problem(root_.find(key)->place, std::string(key) + " has {wall}, but wall is missing");
        const auto rest = words.erase(at);
        words.insert(rest, wall_.begin(), wall_.end());
    }

    void read_separates(const Node& node) {
        list(node, "separates", executor_.separates);
        const std::vector<std::string> known(std::begin(k_separable), std::end(k_separable));
        for (const auto& item : node.items) {
            if (!item.is_scalar() || std::ranges::find(known, item.scalar) != known.end()) continue;
            problem(item.place, "nothing is known that separates \"" + printable(item.scalar) + "\"" +
                                    suggestion(item.scalar, known));
        }
    }

    void read_hides(const Node& node) {
        list(node, "hides", executor_.hides);
        for (const auto& item : node.items) {
            const bool is_folder =
                item.scalar.starts_with('/') && item.scalar.size() > 1 && !item.scalar.ends_with('/');
            if (!is_folder) problem(item.place, "hides is a list of folders, each as in /tmp");
        }
    }

    void read_limits(const Node& node) {
        if (!node.is_map()) return problem(node.place, "limits must be a map: memory, cpus, time, processes, disk");
        const auto words = [&](const char* key, List& into) {
            return [this, key, &into](const Node& list) { command(list, "limits." + std::string(key), {key}, into); };
        };
        members(node, "limits",
                {{"memory", words("memory", executor_.memory)},
                 {"cpus", words("cpus", executor_.cpus)},
                 {"time", words("time", executor_.time)},
                 {"processes", words("processes", executor_.processes)},
                 {"disk", words("disk", executor_.disk)}});
    }

    void read_socket(const Node& node) {
        executor_.calls_back = node.scalar == "back";
        if (node.is_scalar() && (node.scalar == "back" || node.scalar == "bind")) return;
        problem(
            node.place,
            "socket must be bind (agents see the folder of their run's socket) or back (they are on another machine)");
    }

    void read_binds(const Node& node) {
        if (!node.is_map() || !node.find("read") || !node.find("write")) {
            return problem(node.place, "binds must be a map: read, write, and perhaps empty and above");
        }
        const auto words = [&](const char* key, List& into) {
            return [this, what = "binds." + std::string(key), &into](const Node& list) {
                command(list, what, k_in_binds, into);
            };
        };
        members(node, "binds",
                {{"read", words("read", executor_.readable)},
                 {"write", words("write", executor_.writable)},
                 {"empty", words("empty", executor_.emptied)},
                 {"above", words("above", executor_.above)}});
    }

    /// A list of words must be used in run, and one that is used must be given.
    void check_used(const char* key, bool is_given) {
        const auto word = "{" + std::string(key) + "}";
        const bool is_used = std::ranges::find(executor_.run, word) != executor_.run.end();
        if (is_used == is_given) return;
        problem(root_.find(is_used ? "run" : key)->place,
                is_used ? "run has " + word + ", but " + key + " is missing"
                        : std::string(key) + " is given nowhere: put the word " + word + " into run");
    }

    void check_together() {
        if (!root_.find("run")) return;
        if (executor_.is_direct()) {
            for (const char* key : {"check", "stop", "probe", "limits", "binds", "hides", "unset", "socket"}) {
                const auto* node = root_.find(key);
                if (node == nullptr) continue;
                problem(node->place, std::string("run is only ") + k_inner +
                                         ", so the agent is no other than one without an executor, and " + key +
                                         " would never be used");
            }
        }
        const bool is_inside = !executor_.inside.empty();
        if (executor_.has_own_repository != is_inside) {
            problem(root_.place,
                    "repository: own and inside belong together: inside is the command line behind which "
                    "git and the project's commands run");
        }
        if (const auto* checks = root_.find("checks"); checks && !executor_.has_own_repository) {
            problem(checks->place, "checks belongs to repository: own: without it, they run outside");
        }
        if (executor_.has_own_repository && !(executor_.takes("repository") && executor_.takes("link")))
            problem(root_.find("run")->place, "with repository: own, run shows {repository}, and {link} as .git");
        check_used("limits", root_.find("limits") != nullptr);
        check_used("binds", root_.find("binds") != nullptr);
        for (const char* key : {"queued", "over", "ended"}) {
            if (!root_.find(key) || !executor_.probe.empty()) continue;
            problem(root_.find(key)->place, std::string(key) + " are words that probe prints, and probe is missing");
        }
        if (!executor_.probe.empty() && executor_.stop.empty()) {
            problem(root_.find("probe")->place,
                    "probe needs stop: a run that probe shows when its window is gone is ended with it");
        }
    }

    const Node& root_;
    Executor executor_;
    List wall_;
};

}  // namespace

Result<Executor> load_executor(std::string_view text, std::string_view file_name) {
    TRY(auto root, yaml::parse(text, file_name));
    return ExecutorLoader(file_name, root).load();
}

}  // namespace orange::agents

#include "daemon/workflow/load.hpp"

#include <algorithm>
#include <charconv>

#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "daemon/workflow/reader.hpp"

// How a workflow file becomes a Definition.
//
// yaml/ parses it into nodes with their places. Reader turns them into a Source, which is a Definition together with
// the places of its parts. It collects a Problem for each wrong key, type or value and continues, because authors want
// to see all mistakes at once. Then the result is checked as a whole: check_names verifies that every reference has a
// target. check_graph looks for ambiguity, unreachable states and dead ends; it runs only if states and transitions
// have no other problems, because each missing one would cause misleading reports.
//
// The engine relies on all of this and checks nothing again: a Definition that leaves this folder is valid.

namespace orange::workflow {
namespace {

constexpr std::string_view k_name_rule = "a name has up to 40 of a-z, 0-9, - and _, and begins with a letter";

void read_head(Reader& reader, const Node& root, std::string_view expected_name, Source& source) {
    if (const Node* node = reader.required(root, "name", "a workflow")) {
        source.definition.name = reader.text(*node, "name").value_or("");
        const auto& name = source.definition.name;
        if (!name.empty() && !is_name(name)) {
            reader.problem(node->place, "\"" + printable(name) + "\" is not a valid name; " + std::string(k_name_rule));
        } else if (!name.empty() && !expected_name.empty() && name != expected_name) {
            reader.problem(node->place,
                           "the name must be that of the file, " + std::string(expected_name) + ", not " + name);
        }
    }
    if (const Node* node = reader.required(root, "version", "a workflow")) {
        source.definition.version = reader.integer(*node, "version", 1, 1).value_or(1);
    }
}

void read_meaning(Reader& reader, const Node& node, const Source& source, engine::State& state) {
    std::vector<std::string> names;
    for (const auto meaning : engine::k_meanings) names.emplace_back(name_of(meaning));
    const auto name = reader.choice(node, "means", names);
    if (!name) return;
    state.meaning = *kind_named(engine::k_meaning_names, *name);
    if (const auto* other = source.definition.that_means(state.meaning)) {
        reader.problem(node.place, "two states mean " + *name + ": " + other->name + " and " + state.name);
    }
    const bool ends = state.meaning == engine::Meaning::done || state.meaning == engine::Meaning::cancelled;
    if (ends && !state.terminal) reader.problem(node.place, "a state that means " + *name + " must be terminal: true");
}

/// Reads a case of all_done. Sets `place` to where its state is named.
std::string read_way(Reader& reader, const Node& ways, const std::string& key, std::optional<Place>& place) {
    const Node* node = reader.required(ways, key, "all_done");
    if (node == nullptr) return {};
    place = node->place;
    return reader.text(*node, key).value_or("");
}

void read_children(Reader& reader, const Node& node, engine::State& state, StateSource& places) {
    places.children = node.place;
    if (!reader.map(node, "children")) return;
    reader.only_keys(node, "children", {"all_done", "any_ended_otherwise"});
    if (const Node* otherwise = node.find("any_ended_otherwise")) {
        reader.choice(*otherwise, "any_ended_otherwise", {"help"});
    }
    const Node* done = reader.required(node, "all_done", "children");
    if (done == nullptr || !reader.map(*done, "all_done")) return;
    reader.only_keys(*done, "all_done", {"when_commits", "otherwise"});
    engine::ChildrenRule rule;
    rule.when_commits = read_way(reader, *done, "when_commits", places.when_commits);
    rule.otherwise = read_way(reader, *done, "otherwise", places.otherwise);
    if (!rule.when_commits.empty() && !rule.otherwise.empty()) state.children = std::move(rule);
}

void read_state(Reader& reader, const std::string& name, const Place& at, const Node& node, Source& source) {
    engine::State state;
    state.name = name;
    StateSource places;
    places.at = at;
    if (!is_name(name))
        reader.problem(at, "\"" + printable(name) + "\" is not a valid name of a state; " + std::string(k_name_rule));
    if (reader.map(node, "the state " + printable(name), true)) {
        reader.only_keys(node, "a state", {"terminal", "agent", "respawn_prompt", "means", "needs", "children"});
        if (const Node* terminal = node.find("terminal"))
            state.terminal = reader.boolean(*terminal, "terminal").value_or(false);
        if (const Node* agent = node.find("agent")) {
            const auto role = reader.choice(*agent, "agent", {"worker", "reviewer"});
            if (role) {
                state.agent = role_from(*role);
                places.agent = agent->place;
            }
        }
        if (const Node* prompt = node.find("respawn_prompt")) {
            state.respawn_prompt = reader.text(*prompt, "respawn_prompt").value_or("");
            places.respawn_prompt = prompt->place;
            if (!state.respawn_prompt.empty()) source.prompt_uses.push_back({state.respawn_prompt, prompt->place});
        }
        if (const Node* children = node.find("children")) read_children(reader, *children, state, places);
        if (const Node* means = node.find("means")) read_meaning(reader, *means, source, state);
        if (const Node* needs = node.find("needs")) {
            if (const auto need = reader.choice(*needs, "needs", {"review", "answer", "help", "nothing"})) {
                state.needs = from_name(*need, Need{});
            }
        }
    }
    source.definition.states.push_back(std::move(state));
    source.states.push_back(places);
}

void read_states(Reader& reader, const Node& node, Source& source) {
    if (!reader.map(node, "states")) return;
    if (node.members.empty()) reader.problem(node.place, "states must hold at least one state");
    for (std::size_t i = 0; i < node.members.size(); ++i) {
        read_state(reader, node.members[i].first, node.member_places[i], node.members[i].second, source);
    }
    resolve_meanings(source.definition);
}

/// Reads texts by their names. `what` is what each is: "prompt".
bool read_texts(Reader& reader, const Node& node, const std::string& what, std::map<std::string, std::string>& into) {
    if (!reader.map(node, what + "s", true)) return false;
    for (std::size_t i = 0; i < node.members.size(); ++i) {
        const auto& [name, value] = node.members[i];
        if (!is_name(name)) {
            reader.problem(node.member_places[i], "\"" + printable(name) + "\" is not a valid name of a " + what +
                                                      "; " + std::string(k_name_rule));
        }
        into[name] = reader.text(value, "the " + what + " " + printable(name)).value_or("");
    }
    return true;
}

void read_prompts(Reader& reader, const Node& node, Source& source) {
    if (!read_texts(reader, node, "prompt", source.definition.prompts)) return;
    for (const auto& [name, value] : node.members) source.prompts.emplace(name, value.place);
}

/// Returns true if all states that the transitions name exist. Otherwise the graph is not checked: an unknown state in
/// `to` makes others look unreachable.
bool names_hold(const Source& source) {
    const auto& definition = source.definition;
    for (const auto& transition : definition.transitions) {
        if (definition.state(transition.to) == nullptr) return false;
        for (const auto& from : transition.from) {
            if (definition.state(from) == nullptr) return false;
        }
    }
    return !definition.states.empty();
}

void read_workflow(Reader& reader, const Node& root, std::string_view expected_name, Source& source) {
    reader.only_keys(root, "a workflow",
                     {"name", "version", "states", "transitions", "exit_monitoring", "prompts", "messages"});
    source.prompts_there = reader.count() == 0 || root.find("prompts") != nullptr;
    read_head(reader, root, expected_name, source);
    const auto before_map = reader.count();
    if (const Node* states = reader.required(root, "states", "a workflow")) read_states(reader, *states, source);
    if (const Node* transitions = reader.required(root, "transitions", "a workflow")) {
        read_transitions(reader, *transitions, source);
    }
    source.map_complete = reader.count() == before_map && names_hold(source);
    const auto before_rules = reader.count();
    if (const Node* monitoring = root.find("exit_monitoring")) read_exit_monitoring(reader, *monitoring, source);
    source.rules_complete = reader.count() == before_rules;
    if (const Node* prompts = root.find("prompts")) read_prompts(reader, *prompts, source);
    // The messages that notify_worker sends are short texts, with {section} and {next_status}.
    if (const Node* messages = root.find("messages")) {
        read_texts(reader, *messages, "message", source.definition.messages);
    }
}

/// Converts an error of the YAML reader, "file:3:7: message".
Problem problem_of(const Error& error, std::string_view file_name) {
    const auto number = [&](const char* key) {
        int value = 1;
        const auto found = error.details.find(key);
        if (found != error.details.end()) {
            std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
        }
        return value;
    };
    Problem problem{number("line"), number("column"), error.message};
    const auto prefix =
        std::string(file_name) + ":" + std::to_string(problem.line) + ":" + std::to_string(problem.column) + ": ";
    if (problem.message.starts_with(prefix)) problem.message.erase(0, prefix.size());
    return problem;
}

}  // namespace

bool is_name(std::string_view text) {
    if (text.empty() || text.size() > 40 || text.front() < 'a' || text.front() > 'z') return false;
    return text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string_view::npos;
}

Loaded load(std::string_view text, std::string_view file_name, std::string_view expected_name) {
    Loaded loaded;
    if (text.size() > k_largest_file) {
        loaded.problems.push_back({1, 1,
                                   "a workflow has at most " + std::to_string(k_largest_file / 1024) +
                                       " KiB, and this file has " + std::to_string(text.size() / 1024)});
        return loaded;
    }
    const auto root = yaml::parse(text, file_name);
    if (!root) {
        loaded.problems.push_back(problem_of(root.error(), file_name));
        return loaded;
    }
    Reader reader(loaded.problems);
    Source source;
    if (!reader.map(*root, "a workflow")) return loaded;
    read_workflow(reader, *root, expected_name, source);
    check_names(reader, source, text);
    if (source.map_complete) check_graph(reader, source);
    std::stable_sort(loaded.problems.begin(), loaded.problems.end(), [](const Problem& a, const Problem& b) {
        return std::pair(a.line, a.column) < std::pair(b.line, b.column);
    });
    if (loaded.ok()) loaded.warnings = warnings_of(source);
    loaded.definition = std::move(source.definition);
    loaded.definition.hash = sha256(text);
    return loaded;
}

std::string describe(const std::vector<Problem>& problems, std::string_view file_name) {
    std::vector<std::string> lines;
    lines.reserve(problems.size());
    for (const auto& problem : problems) {
        lines.push_back(std::string(file_name) + ":" + std::to_string(problem.line) + ":" +
                        std::to_string(problem.column) + ": " + problem.message);
    }
    return join(lines, "\n");
}

}  // namespace orange::workflow

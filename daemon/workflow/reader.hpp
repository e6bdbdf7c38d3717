#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/engine/definition.hpp"
#include "daemon/workflow/load.hpp"
#include "daemon/yaml/node.hpp"

/// From nodes to a Definition that remembers where everything stood. Private to this folder.
namespace orange::workflow {

using yaml::Node;
using yaml::Place;

/// A name that something refers to, and where.
struct Use {
    std::string name;
    Place place;
};

struct StateSource {
    Place at;
    std::optional<Place> agent, respawn_prompt;
    std::optional<Place> children, when_commits, otherwise;
};

struct TransitionSource {
    Place at, to;
    std::vector<Place> from;
    std::optional<Place> when;
    std::optional<Place> facts;          ///< the first key of the gate that is about the branch
    std::optional<Place> reviewed_head;  ///< if it is required
};

struct RuleSource {
    Place at, status, outcome;   ///< outcome: `then`, `then_when` or `action`
    std::vector<Place> targets;  ///< of each `then`
    std::optional<Place> respawn, stuck_after, no_artifact;
};

/// The definition as read, with the places that the checks need: parallel to the definition's own vectors.
struct Source {
    engine::Definition definition;
    std::vector<StateSource> states;
    std::vector<TransitionSource> transitions;
    std::vector<RuleSource> rules;
    std::map<std::string, Place> prompts;
    std::vector<Use> prompt_uses;      ///< in hooks and states
    std::vector<Use> compared;         ///< fields of `when`
    std::vector<std::string> counted;  ///< fields that some hook changes
    bool map_complete = true;          ///< states and transitions were read without a problem: the map can be judged
    bool rules_complete = true;        ///< the same of exit_monitoring
    bool prompts_there = true;         ///< false where `prompts` is missing beside a key that may be meant for it
};

/// Reads shapes and types; every problem is collected with its place, and reading goes on.
class Reader {
  public:
    explicit Reader(std::vector<Problem>& problems) : problems_(problems) {}

    /// Keeps the first hundred.
    void problem(const Place& place, std::string message) {
        if (!is_full()) problems_.push_back({place.line, place.column, std::move(message)});
        ++count_;
    }
    std::size_t count() const { return count_; }
    /// Another problem would not be kept: what it takes to describe it can be spared.
    bool is_full() const { return problems_.size() >= 100; }

    /// False, and a problem, where `node` is no map, or has more than 100 entries: the checks compare each with each.
    /// A null counts as an empty map only where `may_be_empty`.
    bool map(const Node& node, const std::string& what, bool may_be_empty = false);
    bool sequence(const Node& node, const std::string& what);
    /// Every key of `map` must be one of `known`.
    void only_keys(const Node& map, const std::string& what, const std::vector<std::string>& known);
    /// The member, or nullptr and a problem at `map`.
    const Node* required(const Node& map, const std::string& key, const std::string& what);

    std::optional<std::string> text(const Node& node, const std::string& what);
    std::optional<bool> boolean(const Node& node, const std::string& what);
    std::optional<std::int64_t> integer(const Node& node, const std::string& what, std::int64_t least,
                                        std::int64_t most);
    std::optional<std::string> choice(const Node& node, const std::string& what,
                                      const std::vector<std::string>& choices);
    std::optional<engine::Condition> condition(const Node& node, Source& source);
    /// `places`: of the transition that it is the gate of; nullptr: an exit rule's, which is about TASK.md alone.
    std::optional<engine::Gate> gate(const Node& node, const std::string& what, TransitionSource* places);
    /// A program and its arguments.
    std::vector<std::string> argv(const Node& node, const std::string& what);

  private:
    void read_verdict(const Node& map, engine::Gate& gate);
    void read_fields(const Node& fields, engine::Gate& gate);
    void read_section(const Node& map, engine::Gate& gate);
    void read_facts(const Node& map, engine::Gate& gate, TransitionSource* places);
    void read_checks(const Node& checks, engine::GateFacts& facts);
    bool few(std::size_t entries, const Node& node, const std::string& what);

    std::size_t count_ = 0;
    std::vector<Problem>& problems_;
};

void read_transitions(Reader& reader, const Node& node, Source& source);
void read_exit_monitoring(Reader& reader, const Node& node, Source& source);

/// Everything that refers to something refers to something that is there.
void check_names(Reader& reader, const Source& source, std::string_view text);
/// The map as a whole: ambiguous guards, unreachable states, dead ends, roles that nothing spawns.
void check_graph(Reader& reader, const Source& source);

/// Returns a warning for each thing that is allowed and that the author of a sound definition may have forgotten.
std::vector<Problem> warnings_of(const Source& source);

std::vector<std::string> state_names(const engine::Definition& definition);

}  // namespace orange::workflow

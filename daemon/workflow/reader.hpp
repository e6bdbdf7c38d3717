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

/// Reads YAML nodes into a Definition, and remembers the place of each part. Private to this folder.
namespace orange::workflow {

using yaml::Node;
using yaml::Place;

/// A reference to a name, and its place.
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
    std::vector<Place> targets;  ///< one for each `then`
    std::optional<Place> respawn, stuck_after, no_artifact;
};

/// A definition, with the places of its parts for the checks. The vectors are parallel to those of the definition.
struct Source {
    engine::Definition definition;
    std::vector<StateSource> states;
    std::vector<TransitionSource> transitions;
    std::vector<RuleSource> rules;
    std::map<std::string, Place> prompts;
    std::vector<Use> prompt_uses;      ///< prompts that hooks and states use
    std::vector<Use> compared;         ///< fields that a `when` compares
    std::vector<std::string> counted;  ///< fields that a hook changes
    bool map_complete = true;          ///< no problem in states and transitions, so their graph can be checked
    bool rules_complete = true;        ///< exit_monitoring was read without a problem
    bool prompts_there = true;         ///< false if `prompts` is missing, and an unknown key may be meant for it
};

/// Reads values of a given type. Collects each problem with its place, and continues.
class Reader {
  public:
    explicit Reader(std::vector<Problem>& problems) : problems_(problems) {}

    /// Adds a problem; only the first hundred are kept.
    void problem(const Place& place, std::string message) {
        if (!is_full()) problems_.push_back({place.line, place.column, std::move(message)});
        ++count_;
    }
    std::size_t count() const { return count_; }
    /// Returns true if no more problems are kept, so that a caller need not build the text of another one.
    bool is_full() const { return problems_.size() >= 100; }

    /// Returns false, with a problem, if `node` is not a map or has more than 100 entries (checks compare all pairs of
    /// them). A null is accepted as an empty map only if `may_be_empty`.
    bool map(const Node& node, const std::string& what, bool may_be_empty = false);
    bool sequence(const Node& node, const std::string& what);
    /// Adds a problem for each key of `map` that is not in `known`.
    void only_keys(const Node& map, const std::string& what, const std::vector<std::string>& known);
    /// Returns the member; nullptr, with a problem at `map`, if there is none.
    const Node* required(const Node& map, const std::string& key, const std::string& what);

    std::optional<std::string> text(const Node& node, const std::string& what);
    std::optional<bool> boolean(const Node& node, const std::string& what);
    std::optional<std::int64_t> integer(const Node& node, const std::string& what, std::int64_t least,
                                        std::int64_t most);
    std::optional<std::string> choice(const Node& node, const std::string& what,
                                      const std::vector<std::string>& choices);
    std::optional<engine::Condition> condition(const Node& node, Source& source);
    /// Reads a gate. `places`: those of its transition; nullptr for an exit rule, whose gate may only refer to TASK.md.
    std::optional<engine::Gate> gate(const Node& node, const std::string& what, TransitionSource* places);
    /// Reads a list of a program and its arguments.
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

/// Checks that every reference has a target.
void check_names(Reader& reader, const Source& source, std::string_view text);
/// Checks the states and transitions as a whole: ambiguous guards, unreachable states, dead ends, roles that no hook
/// spawns.
void check_graph(Reader& reader, const Source& source);

/// Returns a warning for each construct that is valid, but may be an oversight of the author.
std::vector<Problem> warnings_of(const Source& source);

}  // namespace orange::workflow

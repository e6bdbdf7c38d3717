#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "daemon/engine/definition.hpp"

/// A definition as a picture: for people at a terminal, and for programs that draw. Pure; everything comes from the
/// Definition, lists and "*" resolved by the same between() that the engine follows.
namespace orange::workflow {

enum class GraphFormat { text, mermaid, dot };

/// "text", "mermaid" or "dot".
Result<GraphFormat> graph_format(std::string_view name);

/// The way of a task that meets no obstacle, then a box for each state with the edges out of it: who may ask, when,
/// what TASK.md must hold, what Orange does. No line is longer than `width` columns, but for words that are; below 60,
/// 60 counts.
std::string text_graph(const engine::Definition& definition, std::size_t width);
/// A Mermaid flowchart. Labels hold no character that Mermaid gives a meaning to.
std::string mermaid_graph(const engine::Definition& definition);
/// A DOT digraph for Graphviz.
std::string dot_graph(const engine::Definition& definition);

}  // namespace orange::workflow

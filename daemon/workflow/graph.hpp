#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "daemon/engine/definition.hpp"

/// Draws a definition as a graph: as text for a terminal, or in a format for programs that draw. Pure: it uses only the
/// Definition, and resolves lists and "*" by the same between() as the engine.
namespace orange::workflow {

enum class GraphFormat { text, mermaid, dot };

/// Parses "text", "mermaid" or "dot"; invalid_argument for another name.
Result<GraphFormat> graph_format(std::string_view name);

/// Returns the graph as text: the path of a task that meets no obstacle, then a box for each state with its outgoing
/// transitions: who may request them, their condition, what TASK.md must contain, and which hooks run. Lines have at
/// most `width` columns, but at least 60; longer words stay whole.
std::string text_graph(const engine::Definition& definition, std::size_t width);
/// Returns a Mermaid flowchart. Labels contain no character that has a meaning in Mermaid.
std::string mermaid_graph(const engine::Definition& definition);
/// Returns a DOT digraph for Graphviz.
std::string dot_graph(const engine::Definition& definition);

}  // namespace orange::workflow

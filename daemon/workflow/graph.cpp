#include "daemon/workflow/graph.hpp"

#include "common/base/text.hpp"
#include "daemon/workflow/graph_edges.hpp"

namespace orange::workflow {
namespace {

using engine::Definition;

/// Keeps letters, digits and characters that have no meaning in the format; writes the others as Mermaid entity codes.
std::string mermaid_text(std::string_view text) {
    constexpr std::string_view k_plain = " ,._/-()";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (letter || byte >= 0x80 || k_plain.find(c) != std::string_view::npos) {
            out += c;
        } else {
            out += "#" + std::to_string(byte) + ";";
        }
    }
    return out;
}

std::string dot_text(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}

/// Returns the parts of a label, one per line.
std::vector<std::string> label_of(const Definition& definition, const GraphEdge& edge) {
    std::vector<std::string> lines{asker_text(*edge.transition)};
    if (auto when = by_itself_text(definition, edge); !when.empty()) lines.push_back(std::move(when));
    if (edge.transition->when) lines.push_back("when " + edge.transition->when->text());
    if (const auto need = need_text(*edge.transition); !need.empty()) lines.push_back(need);
    return lines;
}

std::string joined(const std::vector<std::string>& lines, std::string_view separator,
                   std::string (*escape)(std::string_view)) {
    std::string out;
    for (const auto& line : lines) out += (out.empty() ? "" : std::string(separator)) + escape(line);
    return out;
}

/// Names states by number, so that no name is a keyword of the format.
std::string node(const Definition& definition, std::string_view name) {
    return "s" + std::to_string(definition.state(name) - definition.states.data());
}

std::vector<GraphEdge> all_edges(const Definition& definition) {
    auto edges = edges_of_states(definition);
    for (auto& edge : edges_of_any(definition)) edges.push_back(std::move(edge));
    return edges;
}

}  // namespace

Result<GraphFormat> graph_format(std::string_view name) {
    if (name == "text") return GraphFormat::text;
    if (name == "mermaid") return GraphFormat::mermaid;
    if (name == "dot") return GraphFormat::dot;
    return Error(ErrorCode::invalid_argument,
                 "there is no format \"" + printable(name) + "\"; known: text, mermaid, dot");
}

std::string mermaid_graph(const Definition& definition) {
    std::string out = "flowchart TD\n";
    for (const auto& state : definition.states) {
        const auto label = "\"" + mermaid_text(state.name) + "\"";
        out +=
            "    " + node(definition, state.name) + (state.terminal ? "[[" + label + "]]" : "(" + label + ")") + "\n";
    }
    for (const auto& edge : all_edges(definition)) {
        const auto label = joined(label_of(definition, edge), "<br/>", mermaid_text);
        const std::string arrow = edge.transition->force ? " -.->|\"" : " -->|\"";
        for (const auto& from : edge.from) {
            out += "    " + node(definition, from) + arrow + label + "\"| " + node(definition, edge.to) + "\n";
        }
    }
    return out;
}

std::string dot_graph(const Definition& definition) {
    std::string out = "digraph \"" + dot_text(definition.name) +
                      "\" {\n    node [shape=box, style=rounded, fontname=\"sans-serif\"];\n"
                      "    edge [fontname=\"sans-serif\", fontsize=10];\n";
    for (const auto& state : definition.states) {
        out += "    " + node(definition, state.name) + " [label=\"" + dot_text(state.name) + "\"" +
               (state.terminal ? ", peripheries=2" : "") + "];\n";
    }
    for (const auto& edge : all_edges(definition)) {
        const auto label = joined(label_of(definition, edge), "\\n", dot_text);
        for (const auto& from : edge.from) {
            out += "    " + node(definition, from) + " -> " + node(definition, edge.to) + " [label=\"" + label + "\"" +
                   (edge.transition->force ? ", style=dashed" : "") + "];\n";
        }
    }
    return out + "}\n";
}

}  // namespace orange::workflow

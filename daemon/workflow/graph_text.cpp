#include <algorithm>

#include "common/base/text.hpp"
#include "daemon/workflow/graph.hpp"
#include "daemon/workflow/graph_edges.hpp"

namespace orange::workflow {
namespace {

using engine::Definition;
using engine::State;

constexpr std::size_t k_least_width = 60;

std::string times(std::size_t n, std::string_view what) {
    std::string out;
    for (std::size_t i = 0; i < n; ++i) out += what;
    return out;
}

/// Writes `text` after `first`; if a line is full, continues on the next one after `next`.
std::string flowed(const std::string& first, const std::string& next, const std::string& text, std::size_t width) {
    std::string out, line = first;
    bool begun = false;
    for (const auto word : split(text, ' ')) {
        if (begun && columns_of(line) + 1 + columns_of(word) > width) {
            out += line + "\n";
            line = next;
            begun = false;
        }
        line += (begun ? " " : "") + std::string(word);
        begun = true;
    }
    return out + line + "\n";
}

/// Returns the text beside a state's box.
std::string remark(const Definition& definition, const State& state) {
    std::vector<std::string> parts;
    if (&state == &definition.initial()) parts.emplace_back("tasks begin here");
    if (state.children) parts.emplace_back("waits for its sub-tasks");
    if (state.agent) parts.push_back("the " + name_text(*state.agent) + " works");
    if (!state.respawn_prompt.empty()) parts.push_back("respawn prompt " + state.respawn_prompt);
    return join(parts, "; ");
}

struct Page {
    const Definition& definition;
    std::size_t width;
    std::size_t longest = 0;  ///< columns of the longest state name
    std::string text;

    std::string marked(const std::string& name) const {
        return printable(name) + (definition.state(name)->terminal ? " ■" : "");
    }

    void box(const State& state, bool last) {
        const auto name = printable(state.name);
        const auto room = std::max<std::size_t>(columns_of(name), 12);
        const auto rule = times(room + 2, "─");
        const auto beside = remark(definition, state);
        text += "┌" + rule + "┐\n";
        const auto line = "│ " + name + times(room - columns_of(name), " ") + " │";
        text += beside.empty() ? line + "\n" : flowed(line + "  ", times(room + 6, " "), beside, width);
        text += last ? "└" + rule + "┘\n" : "└─┬" + times(room, "─") + "┘\n";
    }

    void edge(const GraphEdge& edge, bool last) {
        const auto& transition = *edge.transition;
        const auto to = marked(edge.to);
        const auto gap = times(longest + 2 - std::min(longest + 2, columns_of(to)) + 2, " ");
        const std::string below = last ? "        " : "  │     ";
        text += flowed((last ? "  └──▶ " : "  ├──▶ ") + to + gap, below, asker_text(transition), width);
        const auto detail = [&](const std::string& word, const std::string& what) {
            if (!what.empty()) text += flowed(below + word, below + "      ", what, width);
        };
        detail("when  ", transition.when ? transition.when->text() : std::string{});
        detail("when  ", by_itself_text(definition, edge));
        detail("needs ", need_text(transition));
        detail("does  ", hook_text(transition));
    }

    void edges(const std::vector<GraphEdge>& all) {
        for (const auto& one : all) edge(one, &one == &all.back());
    }
};

/// Returns "every state", "every state but a, b" or the states themselves: the form that names the fewest.
std::string origin_text(const Definition& definition, const GraphEdge& edge) {
    std::vector<std::string> others;
    for (const auto& state : definition.states) {
        const bool counts = !state.terminal && state.name != edge.to;
        if (counts && std::find(edge.from.begin(), edge.from.end(), state.name) == edge.from.end()) {
            others.push_back(printable(state.name));
        }
    }
    if (others.empty()) return "every state";
    if (others.size() < edge.from.size()) return "every state but " + join(others, ", ");
    return printable(join(edge.from, ", "));
}

}  // namespace

std::string text_graph(const Definition& definition, std::size_t width) {
    Page page{definition, std::max(width, k_least_width), 0, {}};
    for (const auto& state : definition.states) page.longest = std::max(page.longest, columns_of(state.name));
    std::vector<std::string> way;
    for (const auto& name : straight_way(definition)) way.push_back(page.marked(name));
    page.text = flowed("", "  ", printable(definition.name) + ": " + join(way, " ──▶ "), page.width) + "\n";

    const auto edges = edges_of_states(definition);
    for (const auto& state : definition.states) {
        if (state.terminal) continue;
        std::vector<GraphEdge> own;
        for (const auto& edge : edges) {
            if (edge.from.front() == state.name) own.push_back(edge);
        }
        page.box(state, own.empty());
        page.edges(own);
        page.text += "\n";
    }
    std::string before;
    const auto any = edges_of_any(definition);
    for (const auto& edge : any) {
        const auto from = origin_text(definition, edge);
        if (from != before) page.text += "from " + from + "\n";
        before = from;
        const bool last = &edge == &any.back() || origin_text(definition, *(&edge + 1)) != from;
        page.edge(edge, last);
    }
    if (!any.empty()) page.text += "\n";
    return page.text + "■ the task has ended\n";
}

}  // namespace orange::workflow

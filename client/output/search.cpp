#include "client/output/search.hpp"

#include "client/output/cells.hpp"

namespace orange::output {

std::string place_of(const rpc::SearchHit& hit) {
    if (hit.kind == "log") return clean(hit.window);
    if (hit.kind == "history") return clean(hit.event);
    const auto place = hit.section.empty() ? std::string("TASK.md") : "## " + clean(hit.section);
    return hit.kind == "kept" ? "kept " + place : place;
}

std::string search_lines(const std::vector<rpc::SearchHit>& hits, std::string& last, Timestamp now,
                         const Style& style) {
    std::string out;
    for (const auto& hit : hits) {
        if (hit.task != last) {
            const auto about = "  " + clean(hit.project) + "  " + clean(hit.summary);
            out += style.paint(clean(hit.short_id), k_blue) + cut(about, style.row) + "\n";
        }
        last = hit.task;
        const auto commit = hit.commit.empty() ? "" : "  " + clean(hit.commit.substr(0, 7));
        const auto place = "  " + place_of(hit) + "  " + age_text(hit.at, now) + commit;
        const auto more = hit.more > 0 ? "  (and " + std::to_string(hit.more) + " more)" : "";
        const auto text = "  " + clean(hit.text);
        const auto used = columns(place) + columns(more);
        out += style.paint(place, k_dim) + cut(text, used < style.row ? style.row - used : 0) + more + "\n";
    }
    return out;
}

}  // namespace orange::output

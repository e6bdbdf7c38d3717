#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// The result of verifying the chain of a history (daemon/store/history_chain.hpp).
namespace orange {

/// A place at which the chain does not hold.
struct ChainPoint {
    /// `changed` (or lines after it were removed), `inserted`, `moved`, `beginning` (lines before it were removed),
    /// `unchained` (without `prev`), `unreadable`, `none` (no line has `prev`) or `empty`.
    std::string kind;
    std::int64_t line = 0;  ///< the first line that it is about, from 1; 0: the whole history
    std::int64_t last = 0;  ///< the last one
    std::string text;
    void describe(auto& v) {
        v.required("kind", kind,
                   "changed, inserted, moved, beginning, unchained, unreadable; none or empty: of the whole history");
        v.required("line", line, "the first line that it is about, from 1; 0: the whole history");
        v.required("last", last, "the last one");
        v.required("text", text, "a sentence");
    }
};

struct ChainReport {
    bool holds = false;
    std::int64_t lines = 0;
    std::int64_t from = 0;
    std::string head;
    bool is_cut_off = false;
    std::vector<ChainPoint> points;
    std::int64_t more = 0;
    void describe(auto& v) {
        v.required("holds", holds, "no line from `from` on was changed, removed, put in or moved");
        v.required("lines", lines, "the number of lines; empty lines do not count");
        v.required("from", from, "the line from which the chain holds up to the last line; 0: none");
        v.required("head", head, "the hash of the last line, sha256:…; empty: there is none");
        v.sparse("cut_off", is_cut_off, "a crash cut off the last line; Orange removes it before the next event");
        v.sparse("points", points, "where the chain does not hold, in the order of the lines");
        v.sparse("more", more, "the number of further points, which are left out");
    }
};

}  // namespace orange

#pragma once

#include <optional>
#include <string_view>
#include <vector>

/// The block structure of a Markdown text, as CommonMark 0.30 defines it: which lines are headings, and which only look
/// so since they stand in a fence, an HTML block, a quote or a list. What is inside a line (emphasis, links, code) is
/// never parsed, so that the cost grows with the length of the text alone, whatever is in it.
namespace orange::store::markdown {

/// A heading that stands directly in the document. Lines count from 1 and end at "\n", "\r\n" or a lone "\r".
struct Heading {
    int line = 0;
    int last_line = 0;  ///< of a Setext heading: its underline
    bool is_setext = false;
};

struct Blocks {
    std::vector<Heading> headings;
    std::optional<int> open_fence;  ///< the line that opened a fence which is still open at the end of the document
    std::size_t steps = 0;          ///< how often a byte or an open block was looked at: for tests of the cost
};

Blocks blocks_of(std::string_view text);

}  // namespace orange::store::markdown

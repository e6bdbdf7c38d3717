#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/engine/artifacts.hpp"

/// Reading and writing the level-2 sections of TASK.md's body (docs/files.md, "Sections"; workflow.md).
namespace orange::store {

/// Returns the sections of a body. A section begins at a level-2 heading and ends before the next heading of level 1
/// or 2; the last of duplicates counts. markdown::outline_of() knows which lines are headings.
engine::Artifacts parse_sections(std::string_view body);

/// A part of a body: a section with its heading, the text before the first heading, or a heading of level 1 with the
/// text below it. The blocks of a body make up the whole of it.
struct Block {
    std::string heading;  ///< "Plan"; "# Title" of a heading of level 1; empty for the text before the first heading
    int nth = 0;          ///< the number of blocks with this heading before it
    std::string_view text;

    bool is_same_place(const Block& other) const { return heading == other.heading && nth == other.nth; }
};

/// Returns the blocks of a body. If a fence or comment is open at its end, so that it may hide headings, the whole body
/// is one block.
std::vector<Block> blocks_of(std::string_view body);

/// Returns true if a fence or comment is open at the end of the text.
bool is_open(std::string_view text);

/// Returns `body` with the text of that section replaced (of the last one among duplicates), or with the section
/// appended. All other bytes stay the same.
std::string with_section(std::string_view body, std::string_view heading, std::string_view text);

/// Returns `body` with those lines added to the end of that section that it does not have yet.
std::string with_lines(std::string_view body, std::string_view heading, std::string_view lines);

/// Returns the text with its headings demoted so that none is above level 3, and with an open fence or comment closed.
/// The text then cannot look like a section of an agent, and cannot hide one.
std::string demoted(std::string_view text);

/// Returns the text with the fence or comment closed that is open at its end, so that a heading after it counts.
std::string closed(std::string_view text);

}  // namespace orange::store

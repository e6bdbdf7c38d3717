#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/engine/artifacts.hpp"

/// Reading and writing the level-2 sections of TASK.md's body (docs/files.md, "Sections"; workflow.md).
namespace orange::store {

/// The sections of a body. What is inside a fence, an HTML block, a quote or a list is no heading; only level-2 ATX
/// headings count, up to the next ATX heading of level 1 or 2; the last of duplicates counts.
engine::Artifacts parse_sections(std::string_view body);

/// The headings of the sections of a body in their order, each once.
std::vector<std::string> section_headings(std::string_view body);

/// `body` with that section's text replaced (the last of duplicates), or the section appended at its end. Every other
/// byte stays.
std::string with_section(std::string_view body, std::string_view heading, std::string_view text);

/// `text` with headings demoted so that none is above level 3 (Setext ones rewritten), and an unclosed fence closed:
/// nothing in it can pass for an agent's section, or swallow one.
std::string demoted(std::string_view text);

/// `text` with whatever is open at its end closed, a fence or an HTML block, so that a heading below it is one.
std::string closed(std::string_view text);

}  // namespace orange::store

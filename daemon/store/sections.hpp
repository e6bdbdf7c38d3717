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

/// Returns the headings of a body's sections in their order, each once.
std::vector<std::string> section_headings(std::string_view body);

/// Returns `body` with the text of that section replaced (of the last one among duplicates), or with the section
/// appended. All other bytes stay the same.
std::string with_section(std::string_view body, std::string_view heading, std::string_view text);

/// Returns the text with its headings demoted so that none is above level 3, and with an open fence or comment closed.
/// The text then cannot look like a section of an agent, and cannot hide one.
std::string demoted(std::string_view text);

/// Returns the text with the fence or comment closed that is open at its end, so that a heading after it counts.
std::string closed(std::string_view text);

}  // namespace orange::store

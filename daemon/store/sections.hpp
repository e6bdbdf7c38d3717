#pragma once

#include <string>
#include <string_view>

#include "daemon/engine/artifacts.hpp"

/// Reading and writing the level-2 sections of TASK.md's body (docs/files.md, "Sections"; workflow.md).
namespace orange::store {

/// The sections of a body. What is inside a fence, an HTML block, a quote or a list is no heading; only level-2 ATX
/// headings count, up to the next ATX heading of level 1 or 2; the last of duplicates counts.
engine::Artifacts parse_sections(std::string_view body);

/// `body` with that section's text replaced (the last of duplicates), or the section appended at its end. Every other
/// byte stays.
std::string with_section(std::string_view body, std::string_view heading, std::string_view text);

/// `text` with headings demoted so that none is above level 3 (Setext ones rewritten), and an unclosed fence closed:
/// nothing in it can pass for an agent's section, or swallow one.
std::string demoted(std::string_view text);

}  // namespace orange::store

#pragma once

#include <string>
#include <string_view>

/// Writes roff for the manual, with the man macros of groff and mandoc. Pure.
namespace orange::manual {

/// Escapes text that is shown unchanged: backslashes, and a dot or quote at the beginning, which would be a request.
/// `code`: dashes and quotes can be copied from the page as they are.
std::string escaped(std::string_view text, bool code = false);

/// Returns the part of a Markdown page below the heading `title`, without the heading; everything below the first
/// heading if `title` is empty. Empty if there is no such heading.
std::string section_of(std::string_view markdown, std::string_view title);

/// Translates the subset of Markdown that docs/ uses: headings, paragraphs, lists, tables, blocks of code, links,
/// `code`, **bold** and *italics*. Headings with two # become sections, deeper ones subsections.
std::string roff_of(std::string_view markdown);

/// Translates one paragraph.
std::string roff_of_paragraph(std::string_view text);

/// Translates the footer of a command's help: paragraphs, and lines that begin with two blanks, which stay as they are.
std::string roff_of_footer(std::string_view text);

}  // namespace orange::manual

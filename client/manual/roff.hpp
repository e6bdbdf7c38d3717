#pragma once

#include <string>
#include <string_view>

/// What the manual's pages are written in: the man macros of groff and mandoc. Pure.
namespace orange::manual {

/// Text that is shown as it is: backslashes, and a dot or quote that would begin a request, are escaped. With `code`
/// dashes and quotes stay what they are when they are copied.
std::string escaped(std::string_view text, bool code = false);

/// The part of a Markdown page below the heading `title`, without that heading; all below the first heading if `title`
/// is empty. Empty if there is no such heading.
std::string section_of(std::string_view markdown, std::string_view title);

/// The subset of Markdown in which docs/ is written: headings, paragraphs, lists, tables, blocks of code, links,
/// `code`,
/// **bold** and *italics*. Headings of two # begin sections, deeper ones subsections.
std::string roff_of(std::string_view markdown);

/// One paragraph of the same.
std::string roff_of_paragraph(std::string_view text);

/// The footer of a command's help: paragraphs, and lines that begin with two blanks, which are kept as they are.
std::string roff_of_footer(std::string_view text);

}  // namespace orange::manual

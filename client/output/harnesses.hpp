#pragma once

#include <string>
#include <vector>

#include "client/output/terminal.hpp"
#include "common/rpc/harness_methods.hpp"

/// Pages about agents' programs. Pure, printable.
namespace orange::output {

std::string harnesses_page(const rpc::HarnessList::Reply& reply, const Style& style);
std::string harness_page(const rpc::HarnessShow::Reply& reply, const Style& style);
/// Returns a page with the texts that were found on a screen, the activity that Orange concludes, and the texts that
/// were not found.
std::string explanation_page(const rpc::HarnessExplain::Reply& reply, const Style& style);
/// Returns "41k: 30k in, 1k written to caches, 10k out; 200k from caches; 12 requests to opus", or "–" and why.
std::string usage_reading_text(const rpc::UsageReading& usage);

/// Words as they could be typed, in one line.
std::string command_words(const std::vector<std::string>& words);

/// Returns the text on what the program is given, and what it wants to find.
std::string trust_page(const rpc::HarnessTrust::Reply& reply, const Style& style);

}  // namespace orange::output

#pragma once

#include <string>

#include "daemon/forge/forge.hpp"

/// Builds the GraphQL requests to GitHub. Each result is a whole request as JSON: the query and its variables.
namespace orange::forge {

/// Returns the alias of a wanted pull request, by its index, in the query and in the answer.
std::string alias_of(std::size_t index);

std::string question_of_pulls(const ForgePlace& place, const std::vector<WantedPull>& wanted);
std::string question_of_methods(const ForgePlace& place);
std::string question_of_remarks(const ForgePlace& place, std::int64_t number);
std::string question_of_threads(const ForgePlace& place, std::int64_t number);

}  // namespace orange::forge

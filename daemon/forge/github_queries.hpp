#pragma once

#include <string>

#include "daemon/forge/forge.hpp"

/// Builds the GraphQL requests to GitHub. Each result is a whole request as JSON: the query and its variables.
namespace orange::forge {

/// The three parts of "github.com/acme/shop".
struct RepositoryName {
    std::string host;
    std::string owner;
    std::string name;
};
RepositoryName parts_of(const std::string& repository);

/// Returns the alias of a wanted pull request, by its index, in the query and in the answer.
std::string alias_of(std::size_t index);

std::string question_of_pulls(const RepositoryName& repository, const std::vector<WantedPull>& wanted);
std::string question_of_methods(const RepositoryName& repository);
std::string question_of_remarks(const RepositoryName& repository, std::int64_t number);

}  // namespace orange::forge

#pragma once

#include <string>

#include "daemon/forge/forge.hpp"

/// What GitHub is asked in GraphQL. Each is a whole request as JSON: the query and its variables.
namespace orange::forge {

/// "github.com/acme/shop" in its three parts.
struct RepositoryName {
    std::string host;
    std::string owner;
    std::string name;
};
RepositoryName parts_of(const std::string& repository);

/// The alias of the wanted one with that index in the question and in its answer.
std::string alias_of(std::size_t index);

std::string question_of_pulls(const RepositoryName& repository, const std::vector<WantedPull>& wanted);
std::string question_of_methods(const RepositoryName& repository);
std::string question_of_remarks(const RepositoryName& repository, std::int64_t number);

}  // namespace orange::forge

#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

/// A small reader and executor of GraphQL: as much as gh and Orange ask (aliases, arguments, variables, fragments).
namespace orange::fakes::graphql {

/// Thrown for a field that has no answer: it becomes null, and an entry of `errors`.
struct Problem {
    std::string kind;
    std::string message;
};

/// The value of an object's field; nothing: its type has none of that name, which is an error as at GitHub.
using Resolve = std::function<std::optional<nlohmann::json>(const nlohmann::json& object, const std::string& field,
                                                            const nlohmann::json& arguments)>;

/// The whole answer. The roots are objects with nothing but `__typename`: "Query" or "Mutation".
nlohmann::json run(const std::string& text, const nlohmann::json& variables, const Resolve& resolve);

}  // namespace orange::fakes::graphql

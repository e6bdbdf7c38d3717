#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/model/json.hpp"
#include "daemon/forge/forge.hpp"

/// Reads review threads, and who may push, from GitHub's answers. Pure functions. All that they are given is text from
/// outside: what they return is printable and bounded, except for the quoted lines of code, which are as they are.
namespace orange::forge {

struct FoundThreads {
    std::vector<PullThread> threads;  ///< nobody in them may push yet
    /// Whom to ask for with permission_path(): the most likely to have a right first, at most 30. All others may not
    /// push.
    std::vector<std::string> authors;
};

/// Returns the threads in the field `data.repository`. Texts that are hidden, or not submitted yet, are left out, and
/// threads in which no other text is.
Result<FoundThreads> threads_in(const Json& repository);

/// Returns the path, below the repository's in the REST interface, of the answer for may_push_in().
std::string permission_path(std::string_view author);

/// Returns whether that answer allows the person to push.
Result<bool> may_push_in(std::string_view answer);

}  // namespace orange::forge

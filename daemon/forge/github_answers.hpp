#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/model/json.hpp"
#include "daemon/forge/forge.hpp"

/// Parses GitHub's answers. Pure functions; a field that is missing or has another type makes an Error, never an empty
/// result.
namespace orange::forge {

/// An HTTP response, as `gh api -i` prints it.
struct Reply {
    int status = 0;                              ///< 0: there was no response
    std::map<std::string, std::string> headers;  ///< names in lower case
    std::string body;
};
/// Parses the output of `gh api -i`.
Reply parse_reply(std::string_view printed);

/// Returns the time that GitHub asks to wait: its `Retry-After`, or, if no request is left, the time until new ones are
/// available. At most a few hours.
std::optional<std::chrono::seconds> wait_of(const Reply& reply, Timestamp now);

/// Returns the pause after an answer that leaves a tenth of the user's requests to the user.
std::optional<std::chrono::seconds> pause_of(const Reply& reply, Timestamp now);

/// Returns the pull requests in the field `data.repository`, for each of `wanted`.
std::vector<Result<std::vector<PullRequest>>> pulls_in(const Json& repository, const std::vector<WantedPull>& wanted);
Result<std::vector<PullMethod>> methods_in(const Json& repository);
Result<std::vector<PullRemark>> remarks_in(const Json& repository);

/// Returns true if the field of the object is true.
bool is_set(const Json& json, const char* field);
/// Returns the nodes of a connection; nullptr if the JSON has another form.
const Json* nodes_of(const Json& json, const char* connection);
/// Returns what a person wrote as lines that are safe for a terminal, cut to so many columns.
std::string written_text(std::string_view text, std::size_t columns);

/// Makes the Error for an unexpected answer: `details["why"]` is "answer".
Error strange_answer(const std::string& about, std::string_view answer);

}  // namespace orange::forge

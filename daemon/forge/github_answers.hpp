#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/model/json.hpp"
#include "daemon/forge/forge.hpp"

/// What GitHub's answers say. Pure; what is missing in one or of another type is an Error, never "there is none".
namespace orange::forge {

/// A response of HTTP, as `gh api -i` prints it.
struct Reply {
    int status = 0;                              ///< 0: there was none
    std::map<std::string, std::string> headers;  ///< names in lower case
    std::string body;
};
Reply parse_reply(std::string_view printed);

/// Until when GitHub wants to be left alone: what it said in `Retry-After`, or, if no request is left, when there will
/// be new ones. At most a few hours.
std::optional<std::chrono::seconds> wait_of(const Reply& reply, Timestamp now);

/// How long to leave GitHub alone after an answer, so that a tenth of the user's requests is left to the user.
std::optional<std::chrono::seconds> pause_of(const Reply& reply, Timestamp now);

/// Of the field `data.repository`, for each of `wanted`.
std::vector<Result<std::vector<PullRequest>>> pulls_in(const Json& repository, const std::vector<WantedPull>& wanted);
Result<std::vector<PullMethod>> methods_in(const Json& repository);
Result<std::vector<PullRemark>> remarks_in(const Json& repository);

/// An Error about an answer that is not what was asked for: `details["why"]` is "answer".
Error strange_answer(const std::string& about, std::string_view answer);

}  // namespace orange::forge

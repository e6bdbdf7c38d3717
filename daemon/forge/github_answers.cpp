#include "daemon/forge/github_answers.hpp"

#include <algorithm>
#include <charconv>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/forge/github_queries.hpp"

namespace orange::forge {
namespace {

constexpr std::chrono::seconds k_longest_wait = std::chrono::hours(4);

std::optional<std::int64_t> number_in(const Reply& reply, const std::string& header) {
    const auto found = reply.headers.find(header);
    const auto number = found == reply.headers.end() ? std::nullopt : whole_number(found->second);
    return number && *number >= 0 ? number : std::nullopt;
}

std::optional<std::chrono::seconds> until_reset(const Reply& reply, Timestamp now) {
    const auto reset = number_in(reply, "x-ratelimit-reset");
    if (!reset) return std::nullopt;
    const auto seconds = *reset - std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
    return std::clamp(std::chrono::seconds(seconds), std::chrono::seconds(1), k_longest_wait);
}

bool is_commit(std::string_view text) {
    return (text.size() == 40 || text.size() == 64) &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Reads fields of a JSON object. `wrong` becomes true if a field is missing or has another type.
class Fields {
  public:
    explicit Fields(const Json& json) : json_(json), wrong(!json.is_object()) {}

    const Json& at(const char* name) {
        static const Json null;
        if (!json_.is_object() || !json_.contains(name)) {
            wrong = true;
            return null;
        }
        return json_.at(name);
    }
    std::string text(const char* name) {
        const auto& field = at(name);
        if (!field.is_string()) wrong = true;
        return field.is_string() ? field.get<std::string>() : std::string();
    }
    /// Returns a text field, "" for null.
    std::string text_or_null(const char* name) { return at(name).is_null() ? std::string() : text(name); }
    bool flag(const char* name) {
        const auto& field = at(name);
        if (!field.is_boolean()) wrong = true;
        return field.is_boolean() && field.get<bool>();
    }
    std::int64_t number(const char* name) {
        const auto& field = at(name);
        if (!field.is_number_integer()) wrong = true;
        return field.is_number_integer() ? field.get<std::int64_t>() : 0;
    }

  private:
    const Json& json_;

  public:
    bool wrong;
};

/// Reads the state of the checks. An unknown state counts as pending.
PullChecks checks_named(const std::string& state) {
    if (state == "SUCCESS") return PullChecks::passing;
    if (state == "FAILURE" || state == "ERROR") return PullChecks::failing;
    return PullChecks::pending;
}

std::optional<PullChecks> checks_in(const Json& commits) {
    Fields connection(commits);
    const auto& nodes = connection.at("nodes");
    if (connection.wrong || !nodes.is_array()) return std::nullopt;
    if (nodes.empty()) return PullChecks::none;
    Fields node(nodes.back());
    Fields commit(node.at("commit"));
    const auto& rollup = commit.at("statusCheckRollup");
    if (node.wrong || commit.wrong) return std::nullopt;
    if (rollup.is_null()) return PullChecks::none;
    Fields together(rollup);
    const auto state = together.text("state");
    if (together.wrong) return std::nullopt;
    return checks_named(state);
}

PullReview review_named(const std::string& decision) {
    if (decision == "APPROVED") return PullReview::approved;
    if (decision == "CHANGES_REQUESTED") return PullReview::changes_requested;
    return decision.empty() ? PullReview::none : PullReview::required;
}

/// Returns the time of the last request for changes; "" if there is none.
std::optional<std::string> requested_in(const Json& reviews) {
    Fields connection(reviews);
    const auto& nodes = connection.at("nodes");
    if (connection.wrong || !nodes.is_array()) return std::nullopt;
    std::string newest;
    for (const auto& node : nodes) {
        Fields review(node);
        const auto state = review.text("state");
        const auto at = review.text_or_null("submittedAt");
        if (review.wrong || printable(at) != at) return std::nullopt;
        if (state == "CHANGES_REQUESTED") newest = std::max(newest, at);
    }
    return newest;
}

/// Returns a text that changes when something may have been said or resolved in a thread; "" if there is no thread.
std::optional<std::string> said_in(const Json& threads, const std::string& updated_at) {
    Fields connection(threads);
    const auto& nodes = connection.at("nodes");
    const auto total = connection.number("totalCount");
    if (connection.wrong || !nodes.is_array() || printable(updated_at) != updated_at) return std::nullopt;
    if (total == 0) return std::string();
    const auto resolved =
        std::count_if(nodes.begin(), nodes.end(), [](const Json& node) { return is_set(node, "isResolved"); });
    return updated_at + " " + std::to_string(total) + "/" + std::to_string(resolved);
}

std::optional<PullState> state_named(const std::string& state) {
    return from_name(to_lower(state), PullState{});
}

/// Reads a pull request; nothing if the JSON is none.
std::optional<PullRequest> pull_in(const Json& json) {
    Fields fields(json);
    PullRequest pull;
    pull.number = fields.number("number");
    pull.url = fields.text("url");
    const auto state = state_named(fields.text("state"));
    pull.draft = fields.flag("isDraft");
    pull.branch = fields.text("headRefName");
    pull.commit = fields.text("headRefOid");
    pull.base = fields.text("baseRefName");
    const auto checks = checks_in(fields.at("commits"));
    pull.review = review_named(fields.text_or_null("reviewDecision"));
    const auto requested_at = requested_in(fields.at("reviews"));
    if (pull.review == PullReview::changes_requested) pull.requested_at = requested_at.value_or("");
    pull.conflicts = fields.text("mergeable") == "CONFLICTING" && state == PullState::open;
    if (const auto& merged = fields.at("mergeCommit"); !merged.is_null()) {
        Fields commit(merged);
        pull.merged_as = commit.text("oid");
        fields.wrong = fields.wrong || commit.wrong || !is_commit(pull.merged_as);
    }
    const auto said = said_in(fields.at("reviewThreads"), fields.text("updatedAt"));
    const bool fine = !fields.wrong && state && checks && requested_at && said && pull.number > 0 &&
                      is_commit(pull.commit) && pull.url.starts_with("http") && printable(pull.url) == pull.url &&
                      printable(pull.branch) == pull.branch && printable(pull.base) == pull.base;
    if (!fine) return std::nullopt;
    pull.state = *state;
    pull.checks = *checks;
    pull.said = *said;
    return pull;
}

Result<std::vector<PullRequest>> pulls_of_branch(const Json& connection) {
    Fields fields(connection);
    const auto& nodes = fields.at("nodes");
    const auto total = fields.number("totalCount");
    if (fields.wrong || !nodes.is_array()) return strange_answer("the pull requests of a branch", dump(connection));
    std::vector<PullRequest> all;
    bool forks = false;
    for (const auto& node : nodes) {
        Fields one(node);
        const bool forked = one.flag("isCrossRepository");
        // A branch of the same name in a fork belongs to another person.
        if (forked && !one.wrong) {
            forks = true;
            continue;
        }
        auto pull = pull_in(node);
        if (one.wrong || !pull) return strange_answer("a pull request", dump(node));
        all.push_back(std::move(*pull));
    }
    // Other people could hide the repository's pull request by opening many from forks, so do not answer "none" then.
    if (forks && total > static_cast<std::int64_t>(nodes.size())) {
        return strange_answer("a branch", "there are " + std::to_string(total) +
                                              " pull requests, and forks have branches "
                                              "of that name");
    }
    return all;
}

}  // namespace

Reply parse_reply(std::string_view printed) {
    Reply reply;
    if (!printed.starts_with("HTTP/")) {
        reply.body = printed;
        return reply;
    }
    bool first = true;
    while (!printed.empty()) {
        const auto end = printed.find('\n');
        const auto line = trim(printed.substr(0, end));
        printed.remove_prefix(end == std::string_view::npos ? printed.size() : end + 1);
        if (line.empty()) break;
        if (first) {
            const auto words = split(line, ' ');
            if (words.size() > 1) std::from_chars(words[1].data(), words[1].data() + words[1].size(), reply.status);
        } else if (const auto colon = line.find(':'); colon != std::string_view::npos) {
            reply.headers[to_lower(line.substr(0, colon))] = trim(line.substr(colon + 1));
        }
        first = false;
    }
    reply.body = printed;
    return reply;
}

std::optional<std::chrono::seconds> wait_of(const Reply& reply, Timestamp now) {
    if (const auto seconds = number_in(reply, "retry-after")) {
        return std::clamp(std::chrono::seconds(*seconds), std::chrono::seconds(1), k_longest_wait);
    }
    if (number_in(reply, "x-ratelimit-remaining") == 0) return until_reset(reply, now);
    return std::nullopt;
}

std::optional<std::chrono::seconds> pause_of(const Reply& reply, Timestamp now) {
    const auto limit = number_in(reply, "x-ratelimit-limit");
    const auto remaining = number_in(reply, "x-ratelimit-remaining");
    if (!limit || !remaining || *remaining > *limit / 10) return std::nullopt;
    return until_reset(reply, now);
}

std::vector<Result<std::vector<PullRequest>>> pulls_in(const Json& repository, const std::vector<WantedPull>& wanted) {
    std::vector<Result<std::vector<PullRequest>>> answers;
    Fields fields(repository);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto& answer = fields.at(alias_of(i).c_str());
        if (answer.is_null()) {
            answers.emplace_back(strange_answer(
                wanted[i].number > 0 ? "pull request " + std::to_string(wanted[i].number) : "a branch", "null"));
        } else if (wanted[i].number == 0) {
            answers.push_back(pulls_of_branch(answer));
        } else if (auto pull = pull_in(answer)) {
            answers.emplace_back(std::vector<PullRequest>{std::move(*pull)});
        } else {
            answers.emplace_back(strange_answer("a pull request", dump(answer)));
        }
    }
    return answers;
}

Result<std::vector<PullMethod>> methods_in(const Json& repository) {
    Fields fields(repository);
    const bool merge = fields.flag("mergeCommitAllowed");
    const bool squash = fields.flag("squashMergeAllowed");
    const bool rebase = fields.flag("rebaseMergeAllowed");
    const auto preferred = fields.text("viewerDefaultMergeMethod");
    if (fields.wrong) return strange_answer("the ways to merge", dump(repository));
    std::vector<PullMethod> methods;
    if (merge) methods.push_back(PullMethod::merge);
    if (squash) methods.push_back(PullMethod::squash);
    if (rebase) methods.push_back(PullMethod::rebase);
    const auto first = preferred == "SQUASH"   ? PullMethod::squash
                       : preferred == "REBASE" ? PullMethod::rebase
                                               : PullMethod::merge;
    std::stable_partition(methods.begin(), methods.end(), [&](PullMethod method) { return method == first; });
    return methods;
}

bool is_set(const Json& json, const char* field) {
    return json.is_object() && json.contains(field) && json.at(field) == true;
}

const Json* nodes_of(const Json& json, const char* connection) {
    if (!json.is_object() || !json.contains(connection)) return nullptr;
    const auto& inner = json.at(connection);
    if (!inner.is_object() || !inner.contains("nodes") || !inner.at("nodes").is_array()) return nullptr;
    return &inner.at("nodes");
}

std::string written_text(std::string_view text, std::size_t columns) {
    std::string lines;
    for (const auto line : split_lines(trim(text))) {  // browsers send "\r\n"
        lines += lines.empty() ? "" : "\n";
        lines += line;
    }
    return ellipsized(printable(lines, true), columns);
}

Error strange_answer(const std::string& about, std::string_view answer) {
    return {ErrorCode::external_failed,
            "GitHub's answer about " + about + " is not one that Orange knows: " + ellipsized(printable(answer), 200),
            {{"why", "answer"}}};
}

}  // namespace orange::forge

#include "daemon/forge/github_refusals.hpp"

#include <charconv>
#include <initializer_list>

#include "common/base/text.hpp"
#include "common/config/install_command.hpp"

namespace orange::forge {
namespace {

constexpr int k_not_logged_in = 4;  // gh help exit-codes

/// The known facts of one failure.
struct Failure {
    int exit_status = 0;
    int http = 0;                   ///< HTTP status; 0: unknown
    std::string said;               ///< the message of gh, or else of the answer
    std::string kind;               ///< type of the first GraphQL error
    bool about_repository = false;  ///< the first GraphQL error is about the repository
    std::optional<std::chrono::seconds> wait;

    bool says(std::initializer_list<std::string_view> phrases) const {
        for (const auto phrase : phrases) {
            if (said.find(phrase) != std::string::npos) return true;
        }
        return false;
    }
};

struct Cause {
    const char* why;
    ErrorCode code;
    std::string sentence;
};

/// Returns the HTTP status in a message of gh that does not show the response: "… (HTTP 403)", "HTTP 403: …" and
/// "non-200 OK status code: 403 …"; 0 if there is none.
int http_in(const std::string& said) {
    for (const std::string_view before : {"HTTP ", "status code: "}) {
        const auto at = said.find(before);
        if (at == std::string::npos) continue;
        int status = 0;
        const auto digits = std::string_view(said).substr(at + before.size()).substr(0, 3);
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), status);
        if (status >= 100 && read.ec == std::errc{}) return status;
    }
    return 0;
}

void read_errors(const Json& answer, Failure& failure) {
    if (failure.said.empty()) failure.said = text_member(answer, "message");
    if (!answer.is_object() || !answer.contains("errors") || !answer.at("errors").is_array()) return;
    for (const auto& error : answer.at("errors")) {
        if (failure.said.empty()) failure.said = text_member(error, "message");
        if (failure.kind.empty()) failure.kind = text_member(error, "type");
        if (error.is_object() && error.contains("path") && error.at("path") == Json::array({"repository"})) {
            failure.about_repository = true;
        }
    }
}

Failure failure_of(const Completed& done, const Reply& reply, Timestamp now) {
    Failure failure;
    failure.exit_status = done.exit_status;
    failure.said = trim(done.err);
    failure.http = reply.status != 0 ? reply.status : http_in(failure.said);
    failure.wait = wait_of(reply, now);
    if (const auto answer = parse_json(reply.body)) read_errors(*answer, failure);
    return failure;
}

/// Returns the cause of a failed create() or merge(), if the failure is specific to these.
std::optional<Cause> of_change(const Failure& failure) {
    if (failure.says({"already exists"})) {
        return Cause{"exists", ErrorCode::conflict, "there is an open pull request of this branch already"};
    }
    // Check this first: for a branch that GitHub does not have, it reports both problems.
    if (failure.says({"Head ref must be a branch", "Head sha can't be blank"})) {
        return Cause{"unpushed", ErrorCode::external_failed, "the branch is not at GitHub: push it first"};
    }
    if (failure.says({"No commits between"})) {
        return Cause{"empty", ErrorCode::external_failed,
                     "the branch has no commit that its base has not: commit first"};
    }
    if (failure.says({"Base branch was modified"})) {
        return Cause{"offline", ErrorCode::unavailable,
                     "the branch that it is merged into moved at the same moment; try again"};
    }
    if (failure.says({"Head branch was modified"})) {
        return Cause{"refused", ErrorCode::conflict, "its branch has other commits at GitHub than Orange knows"};
    }
    if (failure.says({"is not mergeable", "not allowed on this repository", "Pull request is closed",
                      "is in clean status", "Required status check", "review is required", "protected branch",
                      "Repository rule violations"})) {
        return Cause{"refused", ErrorCode::conflict, "GitHub does not merge it"};
    }
    return std::nullopt;
}

Cause bad_login(const GhCall& asked, const std::string& host) {
    const auto login = "gh auth login --hostname " + host;
    if (!asked.token_variable.empty()) {
        return {"login", ErrorCode::unavailable,
                host + " does not accept the token in " + asked.token_variable +
                    "; replace it, or unset it and run: " + login};
    }
    return {"login", ErrorCode::unavailable,
            host + " does not accept gh's login; run: " + login +
                " (with --insecure-storage, if a newer gh than the one that Orange finds keeps it in a keyring)"};
}

std::optional<Cause> of_login(const Failure& failure, const GhCall& asked, const std::string& host) {
    if (failure.exit_status == k_not_logged_in) {
        return Cause{"login", ErrorCode::unavailable,
                     "gh is not logged in to " + host + "; run: gh auth login --hostname " + host};
    }
    if (failure.http == 401 || failure.says({"Bad credentials", "gh auth login"})) return bad_login(asked, host);
    if (failure.kind == "INSUFFICIENT_SCOPES" || failure.says({"required scopes", "SAML"})) {
        return Cause{"login", ErrorCode::unavailable,
                     host + " does not let gh see " + asked.place.text() +
                         "; allow it with: gh auth refresh --hostname " + host + " --scopes repo"};
    }
    return std::nullopt;
}

std::optional<Cause> of_limit(const Failure& failure, const std::string& host) {
    const bool limited = failure.kind == "RATE_LIMITED" || failure.http == 429 || failure.says({"rate limit"}) ||
                         (failure.http == 403 && failure.wait);
    if (!limited) return std::nullopt;
    const auto when = failure.wait ? "in " + counted(static_cast<std::size_t>(failure.wait->count()), "second")
                                   : std::string("later");
    return Cause{"limit", ErrorCode::unavailable, host + " was asked too often; try again " + when};
}

std::optional<Cause> of_way(const Failure& failure, const std::string& host) {
    if (failure.http >= 500 || failure.says({"Something went wrong while executing your query"})) {
        return Cause{"offline", ErrorCode::unavailable, host + " has trouble of its own; try again later"};
    }
    if (failure.says({"error connecting to", "dial tcp", "no such host", "i/o timeout", "TLS handshake", "x509",
                      "tls: ", "EOF", "connection reset", "broken pipe", "proxyconnect"})) {
        return Cause{"offline", ErrorCode::unavailable,
                     host + " cannot be reached; try again when the network is back"};
    }
    return std::nullopt;
}

Cause cause_of(const Failure& failure, const GhCall& asked, const std::string& host) {
    if (auto cause = of_change(failure)) return *cause;
    if (auto cause = of_limit(failure, host)) return *cause;
    if (auto cause = of_login(failure, asked, host)) return *cause;
    if (failure.says({"Could not resolve to a"}) || failure.about_repository || failure.http == 404) {
        return {"absent", ErrorCode::not_found,
                "there is nothing at " + asked.place.text() +
                    " that you may see; look at `git remote -v` and `gh auth "
                    "status`"};
    }
    if (failure.http == 403) {
        return {"login", ErrorCode::unavailable,
                host + " does not allow it to the account that gh is logged in with; look at `gh auth status`"};
    }
    if (auto cause = of_way(failure, host)) return *cause;
    // Old and new versions of gh show any reason of GitHub against a merge in one of these ways.
    if (failure.says({", Locations: [", "(mergePullRequest)"}))
        return {"refused", ErrorCode::conflict, "GitHub does not merge it"};
    return {"answer", ErrorCode::external_failed, "gh's answer is not one that Orange knows"};
}

}  // namespace

Error not_run(const GhCall& asked, const Error& error) {
    const auto& host = asked.place.host;
    auto details = error.details;
    if (error.code == ErrorCode::not_found) {
        details["why"] = "missing";
        const auto install = install_command("gh");
        return {ErrorCode::not_found,
                "gh, GitHub's command line program, is not installed (https://cli.github.com)" +
                    (install.empty() ? ". Install it, then" : ". Run: " + install + ", then") +
                    " log in with: gh auth login --hostname " + host,
                std::move(details)};
    }
    details["why"] = "offline";
    if (error.code == ErrorCode::timeout) {
        return {ErrorCode::timeout, host + " did not answer in time: " + error.message, std::move(details)};
    }
    return {error.code, error.message, std::move(details)};
}

Error refusal(const GhCall& asked, const Completed& done, const Reply& reply, Timestamp now) {
    const auto failure = failure_of(done, reply, now);
    const auto cause = cause_of(failure, asked, asked.place.host);
    auto details = command_failed(asked.argv, done).details;
    details["why"] = cause.why;
    if (failure.wait && std::string_view(cause.why) == "limit") {
        details["seconds"] = std::to_string(failure.wait->count());
    }
    if (done.exit_status == k_not_logged_in)
        return {cause.code, cause.sentence, std::move(details)};  // gh prints nothing more in this case
    const auto said = failure.said.empty() ? "exit status " + std::to_string(done.exit_status) : failure.said;
    return {cause.code, cause.sentence + " (gh: " + ellipsized(printable(said, true), 300) + ")", std::move(details)};
}

}  // namespace orange::forge

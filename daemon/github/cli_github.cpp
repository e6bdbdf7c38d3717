#include "daemon/github/cli_github.hpp"

#include <initializer_list>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/model/json.hpp"

namespace orange {
namespace {

constexpr std::chrono::seconds k_deadline{60};
constexpr int k_not_logged_in = 4;  // gh help exit-codes
constexpr std::size_t k_longest_title = 250;

Environment with_gh_settings(Environment env) {
    env = without_dangerous(std::move(env));
    for (const char* name : {"GH_REPO", "GH_DEBUG", "DEBUG", "GH_FORCE_TTY", "CLICOLOR_FORCE", "GH_BROWSER"}) {
        env.erase(name);
    }
    env["GH_PROMPT_DISABLED"] = "1";
    env["GH_NO_UPDATE_NOTIFIER"] = "1";
    env["GH_NO_EXTENSION_UPDATE_NOTIFIER"] = "1";
    env["GH_SPINNER_DISABLED"] = "1";
    env["GH_PAGER"] = "cat";
    env["NO_COLOR"] = "1";
    env["GIT_TERMINAL_PROMPT"] = "0";
    return env;
}

bool says(const std::string& text, std::initializer_list<std::string_view> phrases) {
    for (const auto phrase : phrases) {
        if (text.find(phrase) != std::string::npos) return true;
    }
    return false;
}

/// What to do about a gh that could not be run at all.
Error not_run(const std::string& host, const Error& error) {
    if (error.code == ErrorCode::not_found) {
        return {ErrorCode::not_found,
                "gh, GitHub's command line program, is not installed: see https://cli.github.com (Debian: apt install "
                "gh), then log in with: gh auth login --hostname " +
                    host};
    }
    if (error.code == ErrorCode::timeout) {
        return {ErrorCode::timeout, host + " did not answer in time: " + error.message, error.details};
    }
    return error;
}

/// What to do about a gh that failed; its messages are English whatever the locale.
Error refused(const std::string& repository, const std::vector<std::string>& argv, const Completed& done) {
    const auto host = repository.substr(0, repository.find('/'));
    auto failed = command_failed(argv, done);
    const auto because = [&](ErrorCode code, const std::string& sentence) {
        return Error(code, sentence + " (gh: " + ellipsized(printable(trim(done.err), true), 300) + ")",
                     failed.details);
    };
    if (done.exit_status == k_not_logged_in || says(done.err, {"HTTP 401", "Bad credentials", "gh auth login"})) {
        return because(ErrorCode::unavailable,
                       "gh is not logged in to " + host + "; run: gh auth login --hostname " + host);
    }
    if (says(done.err, {"rate limit"})) {
        return because(ErrorCode::unavailable, host + " was asked too often; try again later");
    }
    if (says(done.err, {"Could not resolve to a Repository", "HTTP 404"})) {
        return because(ErrorCode::not_found, "there is no repository " + repository +
                                                 " that you may see; look at `git remote -v` and `gh auth status`");
    }
    if (says(done.err, {"error connecting to", "dial tcp", "no such host", "i/o timeout", "TLS handshake"})) {
        return because(ErrorCode::unavailable, host + " cannot be reached; try again when the network is back");
    }
    if (says(done.err, {"already exists"})) {
        return because(ErrorCode::conflict, "there is an open pull request of this branch already");
    }
    if (says(done.err, {"No commits between"})) {
        return because(ErrorCode::external_failed, "the branch has no commit that its base has not: commit first");
    }
    return failed;
}

Result<std::vector<PullRequest>> pull_requests(const std::string& text) {
    const auto json = parse_json(text);
    const auto strange = [&] {
        return Error(ErrorCode::external_failed,
                     "gh pr list: this is no list of pull requests: " + ellipsized(printable(text), 200));
    };
    if (!json || !json->is_array()) return strange();
    std::vector<PullRequest> all;
    for (const auto& entry : *json) {
        const bool fine = entry.is_object() && entry.contains("number") && entry["number"].is_number_integer() &&
                          entry.contains("url") && entry["url"].is_string() && entry.contains("state") &&
                          entry["state"].is_string() && entry.contains("isCrossRepository") &&
                          entry["isCrossRepository"].is_boolean();
        if (!fine) return strange();
        // A fork's branch of the same name is somebody else's.
        if (entry["isCrossRepository"].get<bool>()) continue;
        all.push_back(
            {entry["number"].get<std::int64_t>(), entry["url"].get<std::string>(), entry["state"].get<std::string>()});
    }
    return all;
}

/// The last line of stdout that is a URL: gh may say more before it.
std::string url_in(const std::string& out) {
    std::string found;
    for (const auto line : split_lines(out)) {
        const auto word = trim(line);
        if (word.starts_with("https://") || word.starts_with("http://")) found = std::string(word);
    }
    return found;
}

}  // namespace

CliGitHub::CliGitHub(ProcessRunner& runner, Environment base)
    : runner_(runner), env_(with_gh_settings(std::move(base))) {}

void CliGitHub::set_base(Environment base) {
    env_ = with_gh_settings(std::move(base));
}

Awaitable<Result<std::string>> CliGitHub::ask(std::string repository, std::vector<std::string> args,
                                              std::string input) {
    Command command;
    command.argv = {"gh"};
    command.argv.insert(command.argv.end(), args.begin(), args.end());
    command.argv.push_back("--repo=" + repository);
    command.env = env_;
    command.input = std::move(input);
    command.deadline = k_deadline;
    const auto argv = command.argv;
    auto done = co_await runner_.run(std::move(command));
    if (!done) co_return not_run(repository.substr(0, repository.find('/')), done.error());
    if (!done->ok()) co_return refused(repository, argv, *done);
    co_return std::move(done->out);
}

Awaitable<Result<std::vector<PullRequest>>> CliGitHub::list(std::string repository, std::string head) {
    std::vector<std::string> args = {"pr",          "list",       "--head=" + head,
                                     "--state=all", "--limit=50", "--json=number,url,state,isCrossRepository"};
    CO_TRY(const auto listed, co_await ask(std::move(repository), std::move(args), std::string()));
    co_return pull_requests(listed);
}

Awaitable<Result<std::string>> CliGitHub::create(NewPullRequest request) {
    auto title = ellipsized(printable(request.title), k_longest_title);
    std::vector<std::string> args = {
        "pr", "create", "--title=" + title, "--base=" + request.base, "--head=" + request.head, "--body-file=-"};
    CO_TRY(const auto said, co_await ask(std::move(request.repository), std::move(args), std::move(request.body)));
    auto url = url_in(said);
    if (url.empty()) {
        co_return Error(ErrorCode::external_failed,
                        "gh pr create did not say where the pull request is: " + ellipsized(printable(said), 200));
    }
    co_return url;
}

}  // namespace orange

#include "daemon/forge/github_forge.hpp"

#include <map>

#include "common/base/clock.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/model/json.hpp"
#include "daemon/async/time.hpp"
#include "daemon/forge/github_answers.hpp"
#include "daemon/forge/github_jobs.hpp"
#include "daemon/forge/github_queries.hpp"
#include "daemon/forge/github_refusals.hpp"
#include "daemon/forge/github_threads.hpp"

namespace orange {
namespace {

constexpr std::size_t k_longest_title = 250;
constexpr std::size_t k_most_output = 8 << 20;
constexpr std::size_t k_longest_log = 32 << 20;  ///< bytes of a job's log
constexpr int k_most_logs = 3;                   ///< for one pull request

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
    // gh caches facts about GitHub below TMPDIR, in a folder that another user may have made. Let it use none.
    env["TMPDIR"] = "/dev/null";
    return env;
}

/// Returns gh's first variable with a token for that host; empty if there is none.
std::string token_variable(const Environment& env, const std::string& host) {
    const bool is_public = host == "github.com" || host.ends_with(".ghe.com");
    for (const char* name : is_public ? k_github.tokens : k_github.own_tokens) {
        const auto found = env.find(name);
        if (found != env.end() && !found->second.empty()) return name;
    }
    return {};
}

/// Returns the last line of stdout that is a URL, because gh may print other lines before it.
std::string url_in(const std::string& out) {
    std::string found;
    for (const auto line : split_lines(out)) {
        const auto word = trim(line);
        if (word.starts_with("https://") || word.starts_with("http://")) found = std::string(word);
    }
    return found;
}

const char* option_of(PullMethod method) {
    if (method == PullMethod::squash) return "--squash";
    return method == PullMethod::rebase ? "--rebase" : "--merge";
}

/// Returns `data.repository` if it is an object; nullptr otherwise.
const Json* repository_in(const Json& answer) {
    if (!answer.is_object() || !answer.contains("data") || !answer.at("data").is_object()) return nullptr;
    const auto& data = answer.at("data");
    if (!data.contains("repository") || !data.at("repository").is_object()) return nullptr;
    return &data.at("repository");
}

}  // namespace

struct GitHubForge::Answer {
    Json repository;
    std::optional<std::chrono::seconds> pause;
};

GitHubForge::GitHubForge(ProcessRunner& runner, Environment base, GitHubPatience patience)
    : runner_(runner), env_(with_gh_settings(std::move(base))), patience_(patience) {}

void GitHubForge::set_base(Environment base) {
    env_ = with_gh_settings(std::move(base));
}

Command GitHubForge::command(const ForgePlace& place, std::vector<std::string> args) const {
    Command command;
    command.argv = {k_github.program};
    command.argv.insert(command.argv.end(), args.begin(), args.end());
    auto env = env_;
    // Otherwise "not logged in" could be about gh's default host instead of this one.
    env["GH_HOST"] = place.host;
    command.env = std::move(env);
    command.output_limit = k_most_output;
    return command;
}

Awaitable<Result<std::string>> GitHubForge::change(ForgePlace place, std::vector<std::string> args, std::string input) {
    args.push_back("--repo=" + place.text());
    auto gh = command(place, std::move(args));
    gh.input = std::move(input);
    gh.deadline = patience_.change;
    co_return co_await output_of(std::move(place), std::move(gh));
}

Awaitable<Result<std::string>> GitHubForge::output_of(ForgePlace place, Command gh) {
    const forge::GhCall asked{place, gh.argv, token_variable(env_, place.host)};
    auto done = co_await runner_.run(std::move(gh));
    if (!done) co_return forge::not_run(asked, done.error());
    if (!done->ok()) co_return forge::refusal(asked, *done, forge::Reply{}, async::time().now());
    co_return std::move(done->out);
}

Awaitable<Result<GitHubForge::Answer>> GitHubForge::ask(ForgePlace place, std::string question) {
    auto gh = command(place, {"api", "-i", "graphql", "--input=-", "--hostname=" + place.host});
    gh.input = std::move(question);
    gh.deadline = patience_.look;
    const forge::GhCall asked{place, gh.argv, token_variable(env_, place.host)};
    const auto done = co_await runner_.run(std::move(gh));
    if (!done) co_return forge::not_run(asked, done.error());
    // Ignore gh's exit status if there is data: gh fails if one pull request does not exist, and succeeds for any web
    // page.
    const auto reply = forge::parse_reply(done->out);
    const auto json = parse_json(reply.body);
    const auto* found = json ? repository_in(*json) : nullptr;
    const auto now = async::time().now();
    if (found) {
        Answer answer{*found, forge::pause_of(reply, now)};
        co_return answer;
    }
    if (done->ok() && !(json && json->is_object() && json->contains("errors"))) {
        co_return forge::strange_answer(place.text(), reply.body);
    }
    co_return forge::refusal(asked, *done, reply, now);
}

Awaitable<Result<PullAnswers>> GitHubForge::query_pulls(ForgePlace place, std::vector<WantedPull> wanted) {
    PullAnswers answers;
    if (wanted.empty()) co_return answers;
    if (wanted.size() > k_most_at_once) {
        co_return Error(ErrorCode::internal, "GitHub is asked about too many branches at once");
    }
    auto question = forge::question_of_pulls(place, wanted);
    CO_TRY(const auto answer, co_await ask(std::move(place), std::move(question)));
    answers.answers = forge::pulls_in(answer.repository, wanted);
    answers.pause = answer.pause;
    co_return answers;
}

Awaitable<Result<std::string>> GitHubForge::create(NewPullRequest request) {
    auto title = ellipsized(printable(request.title), k_longest_title);
    std::vector<std::string> args = {
        "pr", "create", "--title=" + title, "--base=" + request.base, "--head=" + request.head, "--body-file=-"};
    if (request.draft) args.emplace_back("--draft");
    CO_TRY(const auto said, co_await change(std::move(request.place), std::move(args), std::move(request.body)));
    auto url = url_in(said);
    if (url.empty()) co_return forge::strange_answer("a new pull request", said);
    co_return url;
}

Awaitable<Result<void>> GitHubForge::merge(ForgePlace place, std::int64_t number, std::string commit,
                                           PullMethod method) {
    std::vector<std::string> args = {"pr", "merge", std::to_string(number), option_of(method),
                                     "--match-head-commit=" + commit};
    CO_TRY(co_await change(std::move(place), std::move(args), std::string()));
    co_return Result<void>{};
}

Awaitable<Result<std::vector<PullMethod>>> GitHubForge::methods(ForgePlace place) {
    auto question = forge::question_of_methods(place);
    CO_TRY(const auto answer, co_await ask(std::move(place), std::move(question)));
    co_return forge::methods_in(answer.repository);
}

Awaitable<Result<std::vector<PullRemark>>> GitHubForge::remarks(ForgePlace place, std::int64_t number) {
    auto question = forge::question_of_remarks(place, number);
    CO_TRY(const auto answer, co_await ask(place, std::move(question)));
    CO_TRY(auto remarks, forge::remarks_in(answer.repository));
    int logs = 0;
    const auto until = async::now() + patience_.look;  // for all of them: the task waits
    for (auto& remark : remarks) {
        auto job = forge::job_at(remark.url, place.text());
        if (job.empty() || ++logs > k_most_logs) continue;
        remark.text += co_await failure_of(place, std::move(job), until);
    }
    co_return remarks;
}

Awaitable<Result<std::vector<PullThread>>> GitHubForge::threads(ForgePlace place, std::int64_t number) {
    auto question = forge::question_of_threads(place, number);
    CO_TRY(const auto answer, co_await ask(place, std::move(question)));
    CO_TRY(auto found, forge::threads_in(answer.repository));
    const auto until = async::now() + patience_.look;  // for all of them
    std::map<std::string, bool> allowed;
    for (const auto& author : found.authors) {
        CO_TRY(const bool allows, co_await may_push(place, author, until));
        allowed[author] = allows;
    }
    for (auto& thread : found.threads) {
        for (auto& reply : thread.said) reply.may_push = allowed[reply.author];
    }
    co_return std::move(found.threads);
}

Awaitable<Result<bool>> GitHubForge::may_push(ForgePlace place, std::string author, async::Moment until) {
    const auto answer = co_await get(std::move(place), forge::permission_path(author), until);
    if (answer) co_return forge::may_push_in(*answer);
    const auto why = answer.error().details.find("why");
    // GitHub has answered: the author is no collaborator, or gh's account may not know who is one.
    const bool is_answer = why != answer.error().details.end() && (why->second == "absent" || why->second == "login");
    if (!is_answer) co_return answer.error();
    co_return false;
}

Awaitable<Result<std::string>> GitHubForge::get(ForgePlace place, std::string path, async::Moment until) {
    auto gh = command(place, {"api", "repos/" + place.path + "/" + path, "--hostname=" + place.host});
    gh.deadline = std::chrono::ceil<std::chrono::milliseconds>(until - async::now());
    if (gh.deadline <= std::chrono::milliseconds(0)) co_return Error(ErrorCode::timeout, "GitHub took too long");
    gh.output_limit = k_longest_log;
    co_return co_await output_of(std::move(place), std::move(gh));
}

Awaitable<std::string> GitHubForge::failure_of(ForgePlace place, std::string job, async::Moment until) {
    std::string why;
    if (const auto steps = co_await get(place, "actions/jobs/" + job, until)) why += forge::failed_steps_in(*steps);
    const auto log = co_await get(place, "actions/jobs/" + job + "/logs", until);
    if (log && log->size() < k_longest_log) {
        why += forge::end_of_log(*log);
    } else if (const auto notes = co_await get(place, "check-runs/" + job + "/annotations", until)) {
        why += forge::annotations_in(*notes);  // the log may have expired; a job of Actions is a check run, too
    }
    co_return why;
}

std::unique_ptr<Forge> make_forge(ProcessRunner& runner, Environment base) {
    return std::make_unique<GitHubForge>(runner, std::move(base));
}

}  // namespace orange

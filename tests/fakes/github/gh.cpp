// The stand-in for GitHub's program gh, as far as Orange uses it: `gh FOLDER …` is gh with the rest of the words,
// asking the GitHub whose state is in FOLDER (world.hpp). Its exit statuses and words are those of gh 2.23.

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>
#include <vector>

#include "tests/fakes/github/world.hpp"

namespace {

using Json = nlohmann::json;
using orange::fakes::GitHubWorld;
using orange::fakes::Response;
namespace fs = std::filesystem;

struct Failed {
    int status;
    std::string said;
};

std::string env_of(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

struct Words {
    std::vector<std::string> plain;
    std::map<std::string, std::string> options;
};

/// `--name=value`, `--name value` for those in `valued`, and those without a value.
Words parsed(std::vector<std::string> words, const std::vector<std::string>& valued,
             const std::vector<std::string>& bare) {
    const auto is_in = [](const auto& list, const std::string& name) {
        return std::find(list.begin(), list.end(), name) != list.end();
    };
    Words all;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto& word = words[i];
        if (!word.starts_with('-')) {
            all.plain.push_back(word);
            continue;
        }
        const auto equal = word.find('=');
        const auto name = word.substr(0, equal);
        if (is_in(bare, name) && equal == std::string::npos) {
            all.options[name] = "true";
        } else if (!is_in(valued, name)) {
            throw Failed{1, "unknown flag: " + name};
        } else if (equal != std::string::npos) {
            all.options[name] = word.substr(equal + 1);
        } else if (i + 1 < words.size()) {
            all.options[name] = words[++i];
        } else {
            throw Failed{1, "flag needs an argument: " + name};
        }
    }
    return all;
}

class Gh {
  public:
    explicit Gh(fs::path folder) : folder_(std::move(folder)) {}

    int run(std::vector<std::string> words) {
        std::ofstream calls(folder_ / "calls", std::ios::app);
        for (const auto& word : words) calls << word << (&word == &words.back() ? "\n" : " ");
        calls.close();
        if (env_of("GH_PROMPT_DISABLED").empty()) throw Failed{1, "would ask a question"};
        if (words.size() < 2) throw Failed{1, "unknown command for \"gh\""};
        const auto command = words[0] + " " + words[1];
        if (words[0] == "api") return api({words.begin() + 1, words.end()});
        const std::vector<std::string> rest(words.begin() + 2, words.end());
        if (command == "pr create") return create(rest);
        if (command == "pr merge") return merge(rest);
        throw Failed{1, "unknown command \"" + command + "\" for \"gh\""};
    }

  private:
    /// The token for the host, or the exit status of a gh that has none.
    std::string token() const {
        const auto given = env_of(env_of("GH_HOST") == "github.com" ? "GH_TOKEN" : "GH_ENTERPRISE_TOKEN");
        if (!given.empty()) return given;
        const auto hosts = GitHubWorld::read(folder_ / "config/hosts.yml");
        const std::string key = "oauth_token: ";
        const auto at = hosts.starts_with(env_of("GH_HOST") + ":\n") ? hosts.find(key) : std::string::npos;
        if (at != std::string::npos) return hosts.substr(at + key.size(), hosts.find('\n', at) - at - key.size());
        throw Failed{4,
                     "To get started with GitHub CLI, please run:  gh auth login\nAlternatively, populate the GH_TOKEN "
                     "environment variable with a GitHub API authentication token."};
    }

    Response request(const std::string& method, const std::string& path, const std::string& body) const {
        const auto mine = token();
        if (fs::exists(folder_ / "offline")) {
            throw Failed{1,
                         "error connecting to api.github.com\ncheck your internet connection or "
                         "https://githubstatus.com"};
        }
        Response response;
        {
            GitHubWorld world(folder_);
            response = world.respond(method, path, body, mine);
        }
        while (response.is_silent) ::pause();
        if (response.is_lost) throw Failed{1, "Post \"https://api.github.com/graphql\": EOF"};
        return response;
    }

    int api(const std::vector<std::string>& words) const {
        const auto asked = parsed(words, {"--input", "--hostname"}, {"-i"});
        if (asked.plain.size() != 1) throw Failed{1, "accepts 1 arg(s)"};
        const bool is_graphql = asked.plain[0] == "graphql";
        if (is_graphql && (!asked.options.contains("--input") || asked.options.at("--input") != "-")) {
            throw Failed{1, "no input"};
        }
        const std::string body = is_graphql ? std::string(std::istreambuf_iterator<char>(std::cin), {}) : "";
        const auto response = request(is_graphql ? "POST" : "GET", "/" + asked.plain[0], body);
        if (asked.options.contains("-i")) {
            std::cout << "HTTP/2.0 " << response.status << " Status\n";
            for (const auto& [name, value] : response.headers) std::cout << name << ": " << value << "\r\n";
            std::cout << "\r\n";
        }
        const auto answer = Json::parse(response.body, nullptr, false);
        if (response.headers.at("Content-Type").find("json") != std::string::npos) {
            if (response.is_cut) throw Failed{1, "unexpected EOF"};
            if (answer.is_discarded()) throw Failed{1, "unexpected end of JSON input"};
        }
        std::cout << response.body;
        const auto status = " (HTTP " + std::to_string(response.status) + ")";
        if (answer.is_object() && answer.contains("message")) {
            throw Failed{1, "gh: " + answer.at("message").get<std::string>() + status};
        }
        if (answer.is_object() && answer.contains("errors")) {
            std::string all = "gh: ";
            for (const auto& error : answer.at("errors")) all += error.at("message").get<std::string>() + "\n";
            throw Failed{1, all};
        }
        if (response.status > 299) throw Failed{1, "gh: HTTP " + std::to_string(response.status)};
        return 0;
    }

    /// The `data` of an answer, as the commands other than api ask.
    Json ask(const std::string& query, const Json& variables, bool is_merge = false) const {
        const auto response = request(
            "POST", "/graphql",
            Json{{"query", query}, {"variables", variables}}.dump(-1, ' ', false, Json::error_handler_t::replace));
        const auto answer = Json::parse(response.body, nullptr, false);
        const auto http = "HTTP " + std::to_string(response.status);
        const std::string place = " (https://api.github.com/graphql)";
        if (is_merge && response.status > 299) {
            throw Failed{1, "non-200 OK status code: " + std::to_string(response.status) + " Status body: \"" +
                                response.body + "\""};
        }
        if (response.status > 299) {
            const auto said = answer.is_object() ? answer.value("message", "") : std::string("Bad Gateway");
            throw Failed{1, http + ": " + said + place +
                                (response.status == 401 ? "\nTry authenticating with:  gh auth login" : "")};
        }
        if (answer.is_discarded()) {
            throw Failed{1, response.is_cut || (is_merge && !response.body.starts_with('<')) ? "unexpected EOF"
                            : response.body.starts_with('<') ? "invalid character '<' looking for beginning of value"
                                                             : "unexpected end of JSON input"};
        }
        if (answer.contains("errors")) {
            const auto& error = answer.at("errors").at(0);
            const auto message = error.at("message").get<std::string>();
            if (is_merge) throw Failed{1, "Message: " + message + ", Locations: []"};
            const auto path = error.value("path", Json::array());
            throw Failed{1, "GraphQL: " + message + (path.empty() ? "" : " (" + path.at(0).get<std::string>() + ")")};
        }
        return answer.value("data", Json::object());
    }

    /// host, owner and name of --repo.
    static std::map<std::string, std::string> repository_of(const Words& words) {
        if (!words.options.contains("--repo")) throw Failed{1, "no git remotes found"};
        std::istringstream parts(words.options.at("--repo"));
        std::map<std::string, std::string> found;
        for (const char* part : {"host", "owner", "name"}) std::getline(parts, found[part], '/');
        return found;
    }

    int create(const std::vector<std::string>& words) const {
        const auto asked = parsed(words, {"--repo", "--title", "--base", "--head", "--body-file"}, {"--draft"});
        if (!asked.plain.empty()) throw Failed{1, "unknown argument \"" + asked.plain[0] + "\""};
        if (!asked.options.contains("--title") || !asked.options.contains("--body-file")) {
            throw Failed{1, "must provide `--title` and `--body` (or `--fill`) when not running interactively"};
        }
        auto names = repository_of(asked);
        const auto head = asked.options.at("--head");
        const auto base = asked.options.at("--base");
        Json variables = {{"owner", names["owner"]}, {"name", names["name"]}, {"head", head}};
        const auto repository = ask(
            "query RepositoryInfo($owner: String!, $name: String!) { repository(owner: $owner, name: $name) { id } }",
            variables);
        const auto open = ask(
            "query PullRequestForBranch($owner: String!, $name: String!, $head: String!) { repository(owner: $owner, "
            "name: $name) { pullRequests(headRefName: $head, states: OPEN, first: 30) { nodes { url baseRefName "
            "isCrossRepository } } } }",
            variables);
        for (const auto& pull : open.at("repository").at("pullRequests").at("nodes")) {
            if (pull.at("isCrossRepository") == false && pull.at("baseRefName") == base) {
                throw Failed{1, "a pull request for branch \"" + head + "\" into branch \"" + base +
                                    "\" already exists:\n" + pull.at("url").get<std::string>()};
            }
        }
        std::string body(std::istreambuf_iterator<char>(std::cin), {});
        const Json input = {{"repositoryId", repository.at("repository").at("id")},
                            {"title", asked.options.at("--title")},
                            {"body", std::move(body)},
                            {"baseRefName", base},
                            {"headRefName", head},
                            {"draft", asked.options.contains("--draft")}};
        Json made;
        try {
            made =
                ask("mutation PullRequestCreate($input: CreatePullRequestInput!) { createPullRequest(input: $input) { "
                    "pullRequest { url } } }",
                    {{"input", input}});
        } catch (const Failed& failed) {
            throw Failed{failed.status, "pull request create failed: " + failed.said};
        }
        std::cout << made.at("createPullRequest").at("pullRequest").at("url").get<std::string>() << '\n';
        return 0;
    }

    int merge(const std::vector<std::string>& words) const {
        const auto asked = parsed(words, {"--repo", "--match-head-commit"}, {"--merge", "--squash", "--rebase"});
        if (asked.plain.size() != 1) throw Failed{1, "argument required when using the --repo flag"};
        std::string method;
        for (const char* name : {"--merge", "--squash", "--rebase"}) {
            if (asked.options.contains(name)) method = name + 2;
        }
        if (method.empty()) throw Failed{1, "--merge, --rebase, or --squash required when not running interactively"};
        std::transform(method.begin(), method.end(), method.begin(), [](char c) { return static_cast<char>(c - 32); });
        auto names = repository_of(asked);
        const auto& number = asked.plain[0];
        const auto found =
            ask("query PullRequestByNumber($owner: String!, $name: String!, $number: Int!) { repository(owner: $owner, "
                "name: "
                "$name) { pullRequest(number: $number) { id state mergeStateStatus isMergeQueueEnabled } } }",
                {{"owner", names["owner"]}, {"name", names["name"]}, {"number", std::stoll(number)}});
        if (found.empty()) return 0;  // gh takes what it was not told for the best
        const auto& pull = found.at("repository").at("pullRequest");
        if (pull.at("state") == "MERGED") {
            std::cerr << "! Pull request #" << number << " was already merged\n";
            return 0;
        }
        const std::map<std::string, std::string> reasons = {
            {"DIRTY", "the merge commit cannot be cleanly created."},
            {"BLOCKED", "the base branch policy prohibits the merge."},
            {"BEHIND", "the head branch is not up to date with the base branch."}};
        const bool queued = pull.at("isMergeQueueEnabled") == true;
        if (const auto reason = reasons.find(pull.at("mergeStateStatus").get<std::string>());
            reason != reasons.end() && !queued) {
            throw Failed{1, "X Pull request #" + number + " is not mergeable: " + reason->second};
        }
        Json input = {{"pullRequestId", pull.at("id")}, {"mergeMethod", method}};
        if (asked.options.contains("--match-head-commit")) {
            input["expectedHeadOid"] = asked.options.at("--match-head-commit");
        }
        const std::string mutation =
            queued ? "mutation PullRequestAutoMerge($input: X!) { enablePullRequestAutoMerge(input: $input) { "
                     "clientMutationId } }"
                   : "mutation PullRequestMerge($input: X!) { mergePullRequest(input: $input) { clientMutationId } }";
        ask(mutation, {{"input", input}}, true);
        return 0;
    }

    fs::path folder_;
};

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.empty()) return 2;
    try {
        return Gh(words[0]).run({words.begin() + 1, words.end()});
    } catch (const Failed& failed) {
        std::cout.flush();
        std::cerr << failed.said << '\n';
        return failed.status;
    } catch (const std::exception& error) {
        std::cerr << "the stand-in for gh: " << error.what() << '\n';
        return 1;
    }
}

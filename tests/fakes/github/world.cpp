#include "tests/fakes/github/world.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "tests/fakes/github/graphql.hpp"

namespace orange::fakes {
namespace {

using Json = nlohmann::json;
using graphql::Problem;

constexpr const char* k_then = "2026-01-01T00:00:00Z";

Json connection(Json nodes) {
    const auto count = nodes.size();
    return {{"__typename", "Connection"},
            {"nodes", std::move(nodes)},
            {"totalCount", count},
            {"pageInfo", {{"__typename", "PageInfo"}, {"hasNextPage", false}, {"endCursor", ""}}}};
}

Json person(const std::string& login) {
    return {{"__typename", "User"}, {"id", "U_" + login}, {"login", login}, {"name", login}};
}

/// "dependabot[bot]" is a program, whose login GraphQL shows without the rest.
Json actor(std::string login) {
    constexpr std::string_view bot = "[bot]";
    if (!login.ends_with(bot)) return person(login);
    login.resize(login.size() - bot.size());
    return {{"__typename", "Bot"}, {"id", "BOT_" + login}, {"login", login}};
}

Json commit_node(const std::string& oid, Json rollup) {
    return {{"__typename", "PullRequestCommit"},
            {"commit",
             {{"__typename", "Commit"},
              {"oid", oid},
              {"messageHeadline", "one"},
              {"messageBody", ""},
              {"committedDate", k_then},
              {"authoredDate", k_then},
              {"authors", connection(Json::array())},
              {"statusCheckRollup", std::move(rollup)}}}};
}

Json rollup_of(const Json& pull) {
    if (pull.value("checks", "").empty()) return nullptr;
    auto contexts = pull.value("contexts", Json::array());
    for (auto& each : contexts) {
        const auto* url = each.at("__typename") == "CheckRun" ? "detailsUrl" : "targetUrl";
        if (!each.contains(url)) each[url] = nullptr;
    }
    return {{"__typename", "StatusCheckRollup"},
            {"state", pull.at("checks")},
            {"contexts", connection(std::move(contexts))}};
}

/// What people said: `author` becomes a person.
Json spoken(Json all, const char* type) {
    for (auto& one : all) {
        one["__typename"] = type;
        one["author"] = one.value("author", "").empty() ? Json() : actor(one.at("author").get<std::string>());
        if (one.contains("comments"))
            one["comments"] = connection(spoken(one.at("comments"), "PullRequestReviewComment"));
    }
    return all;
}

void set_if_missing(Json& object, const Json& fields) {
    for (const auto& [name, value] : fields.items()) {
        if (!object.contains(name)) object[name] = value;
    }
}

/// Review threads with all fields of GitHub's schema: what state.json leaves out is as usual.
Json threads_of(const Json& pull, const std::string& url) {
    auto all = pull.value("threads", Json::array());
    int made = 0;
    for (auto& thread : all) {
        ++made;
        set_if_missing(thread, {{"id", "PRRT_" + std::to_string(made)},
                                {"line", nullptr},
                                {"startLine", nullptr},
                                {"path", ""},
                                {"comments", Json::array()}});
        set_if_missing(thread, {{"isResolved", false},
                                {"isOutdated", thread.at("line").is_null()},
                                {"isCollapsed", false},
                                {"diffSide", "RIGHT"},
                                {"startDiffSide", nullptr},
                                {"subjectType", "LINE"},
                                {"resolvedBy", nullptr},
                                {"originalLine", thread.at("line")},
                                {"originalStartLine", thread.at("startLine")}});
        const auto commit = Json{{"__typename", "Commit"}, {"oid", thread.value("commit", pull.value("oid", ""))}};
        int said = 0;
        for (auto& comment : thread["comments"]) {
            ++said;
            const auto number = made * 100 + said;
            set_if_missing(comment, {{"id", "PRRC_" + std::to_string(number)},
                                     {"databaseId", number},
                                     {"url", url + "#discussion_r" + std::to_string(number)},
                                     {"body", ""},
                                     {"createdAt", k_then},
                                     {"publishedAt", k_then},
                                     {"state", "SUBMITTED"},
                                     {"isMinimized", false},
                                     {"authorAssociation", "NONE"},
                                     {"diffHunk", thread.value("hunk", "")},
                                     {"path", thread.at("path")},
                                     {"commit", commit},
                                     {"originalCommit", commit},
                                     {"replyTo", nullptr}});
        }
    }
    return spoken(std::move(all), "PullRequestReviewThread");
}

std::string operation_of(const std::string& method, const std::string& path, const std::string& query) {
    static const std::regex name(R"re(\b(query|mutation)\s+(\w+))re");  // fragments may stand before it
    std::smatch found;
    return std::regex_search(query, found, name) ? found[2].str() : method + " " + path;
}

}  // namespace

void GitHubWorld::write(const std::filesystem::path& file, const std::string& text) {
    const auto draft = file.string() + ".new";
    std::ofstream(draft, std::ios::binary) << text;
    std::filesystem::rename(draft, file);
}

std::string GitHubWorld::read(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

GitHubWorld::GitHubWorld(std::filesystem::path folder) : folder_(std::move(folder)) {
    lock_ = ::open((folder_ / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock_ < 0 || ::flock(lock_, LOCK_EX) != 0) throw std::runtime_error("no lock in " + folder_.string());
    state_ = Json::parse(read(folder_ / "state.json"));
    follow_branches();
}

GitHubWorld::~GitHubWorld() {
    ::close(lock_);
}

void GitHubWorld::save() const {
    write(folder_ / "state.json", state_.dump(1) + "\n");
}

std::optional<std::string> GitHubWorld::git(std::vector<std::string> words) const {
    words.insert(words.begin(), {"git", "-C", state_.at("origin").get<std::string>(), "-c", "user.name=GitHub", "-c",
                                 "user.email=noreply@github.com"});
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    ::fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_addclose(&actions, ends[1]);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t pid = 0;
    const int failed = ::posix_spawnp(&pid, "git", &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    std::string out;
    char some[4096];
    for (ssize_t n = 0; (n = ::read(ends[0], some, sizeof some)) > 0;) out.append(some, static_cast<std::size_t>(n));
    ::close(ends[0]);
    int status = 0;
    if (failed != 0 || ::waitpid(pid, &status, 0) != pid || status != 0) return std::nullopt;
    while (out.ends_with('\n')) out.pop_back();
    return out;
}

/// An open pull request is at its branch's commit; it is closed as its branch goes, and merged as its base gets that
/// commit by another way.
void GitHubWorld::follow_branches() {
    branches_.clear();
    std::istringstream lines(
        git({"for-each-ref", "--format=%(objectname) %(refname:lstrip=2)", "refs/heads"}).value_or(""));
    for (std::string commit, name; lines >> commit >> name;) branches_[name] = commit;
    for (auto& pull : state_["prs"]) {
        if (pull.at("state") != "OPEN" || !pull.value("fork", "").empty()) continue;
        const auto head = branches_.find(pull.at("head").get<std::string>());
        const auto base = branches_.find(pull.at("base").get<std::string>());
        if (head == branches_.end()) {
            if (pull.value("seen", false)) pull["state"] = "CLOSED";
            continue;
        }
        pull["seen"] = true;
        if (pull.at("oid") != head->second) {
            pull["oid"] = head->second;
            git({"update-ref", "refs/pull/" + pull.at("number").dump() + "/head", head->second});
        }
        if (base == branches_.end() || pull.value("base_oid", "") == base->second) continue;
        pull["base_oid"] = base->second;
        if (git({"merge-base", "--is-ancestor", head->second, base->second})) {
            pull["state"] = "MERGED";
            pull["merge_oid"] = base->second;
        }
    }
}

void GitHubWorld::touch(Json& pull) {
    const auto changes = pull.value("changes", 0) + 1;
    pull["changes"] = changes;
    const auto two = [](int number) { return (number % 60 < 10 ? "0" : "") + std::to_string(number % 60); };
    pull["updated"] = "2026-01-02T" + two(changes / 3600) + ":" + two(changes / 60) + ":" + two(changes) + "Z";
}

Json& GitHubWorld::pull(std::int64_t number) {
    for (auto& one : state_["prs"]) {
        if (one.at("number") == number) return one;
    }
    throw Problem{"NOT_FOUND", "Could not resolve to a PullRequest with the number of " + std::to_string(number) + "."};
}

Json& GitHubWorld::open(const std::string& head, const std::string& base, const std::string& title,
                        const std::string& body, bool draft) {
    std::int64_t number = 1;
    for (const auto& one : state_["prs"]) number = std::max(number, one.at("number").get<std::int64_t>() + 1);
    state_["prs"].push_back({{"number", number},
                             {"state", "OPEN"},
                             {"head", head},
                             {"base", base},
                             {"title", title},
                             {"body", body},
                             {"draft", draft},
                             {"oid", std::string(40, '1')}});
    follow_branches();
    return pull(number);
}

Json GitHubWorld::create(const Json& input) {
    const auto head = input.at("headRefName").get<std::string>();
    const auto base = input.at("baseRefName").get<std::string>();
    const auto title = input.at("title").get<std::string>();
    if (title.empty()) throw Problem{"UNPROCESSABLE", "Title can't be blank"};
    const auto none = "No commits between " + base + " and " + head;
    if (!branches_.contains(head)) {
        throw Problem{"UNPROCESSABLE",
                      "Head sha can't be blank, Base sha can't be blank, " + none + ", Head ref must be a branch"};
    }
    if (git({"rev-list", "--count", base + ".." + head}).value_or("0") == "0") throw Problem{"UNPROCESSABLE", none};
    if (rule_.value("race", false)) open(head, base, "Somebody was faster", "", false);
    for (const auto& other : state_["prs"]) {
        if (other.at("state") == "OPEN" && other.at("head") == head && other.at("base") == base &&
            other.value("fork", "").empty()) {
            const auto name = state_.at("repository").get<std::string>();
            throw Problem{"UNPROCESSABLE",
                          "A pull request already exists for " + name.substr(0, name.find('/')) + ":" + head + "."};
        }
    }
    const auto& made = open(head, base, title, input.value("body", ""), input.value("draft", false));
    return {{"__typename", "CreatePullRequestPayload"}, {"pullRequest", shown(made)}, {"clientMutationId", nullptr}};
}

/// "" if they conflict.
std::string GitHubWorld::merged_tree(const std::string& base, const std::string& head) const {
    return git({"merge-tree", "--write-tree", base, head}).value_or("");
}

/// The commits of `head` made again on top of `base`; "" if they conflict.
std::string GitHubWorld::rebased(const std::string& base, const std::string& head) const {
    const auto place = (folder_ / "rebase").string();
    std::filesystem::remove_all(place);
    git({"worktree", "prune"});
    std::string made;
    if (git({"worktree", "add", "-q", "--detach", place, head}) &&
        git({"-C", place, "rebase", "-q", "--force-rebase", base})) {
        made = git({"-C", place, "rev-parse", "HEAD"}).value_or("");
    }
    git({"worktree", "remove", "--force", place});
    return made;
}

void GitHubWorld::merge(Json& pull, const std::string& method) {
    const auto base_name = pull.at("base").get<std::string>();
    const auto head = pull.at("oid").get<std::string>();
    const auto base = branches_[base_name];
    std::string made;
    if (method == "REBASE") {
        made = rebased(base, head);
    } else if (const auto tree = merged_tree(base, head); !tree.empty()) {
        std::vector<std::string> commit = {"commit-tree", "-p", base};
        if (method == "MERGE") commit.insert(commit.end(), {"-p", head});
        commit.insert(commit.end(), {"-m", "Merge #" + pull.at("number").dump(), tree});
        made = git(std::move(commit)).value_or("");
    }
    if (made.empty()) throw Problem{"UNPROCESSABLE", "Pull Request is not mergeable"};
    if (!git({"update-ref", "refs/heads/" + base_name, made, base})) {
        throw Problem{"UNPROCESSABLE", "Base branch was modified. Review and try the merge again."};
    }
    pull["state"] = "MERGED";
    pull["merge_oid"] = made;
    branches_[base_name] = made;
}

Json GitHubWorld::merge_asked(const Json& input) {
    const auto id = input.at("pullRequestId").get<std::string>();
    auto& asked = pull(std::stoll(id.substr(3)));
    const auto method = input.value("mergeMethod", "MERGE");
    const auto& methods = state_.at("methods");
    if (std::find(methods.begin(), methods.end(), method) == methods.end()) {
        const auto name = method == "MERGE" ? "Merge commits" : method == "SQUASH" ? "Squash merges" : "Rebase merges";
        throw Problem{"UNPROCESSABLE", std::string(name) + " are not allowed on this repository."};
    }
    if (asked.at("state") == "CLOSED") throw Problem{"UNPROCESSABLE", "Pull request is closed"};
    if (merge_state(asked) != "CLEAN") throw Problem{"UNPROCESSABLE", "Pull Request is not mergeable"};
    const auto expected = input.value("expectedHeadOid", Json());
    if (!expected.is_null() && expected != asked.at("oid")) {
        throw Problem{"UNPROCESSABLE", "Head branch was modified. Review and try the merge again."};
    }
    merge(asked, method);
    return {{"__typename", "MergePullRequestPayload"}, {"clientMutationId", nullptr}};
}

bool GitHubWorld::conflicts(const Json& pull) const {
    const auto base = branches_.find(pull.at("base").get<std::string>());
    if (pull.at("state") != "OPEN" || base == branches_.end() || !pull.value("seen", false)) return false;
    return merged_tree(base->second, pull.at("oid").get<std::string>()).empty();
}

std::string GitHubWorld::merge_state(const Json& pull) const {
    if (pull.contains("merge_state")) return pull.at("merge_state").get<std::string>();
    return pull.value("mergeable", "") == "CONFLICTING" || conflicts(pull) ? "DIRTY" : "CLEAN";
}

std::string GitHubWorld::url(const Json& pull) const {
    return "https://" + state_.at("host").get<std::string>() + "/" + state_.at("repository").get<std::string>() +
           "/pull/" + std::to_string(pull.at("number").get<std::int64_t>());
}

Json GitHubWorld::shown(const Json& pull) const {
    const auto name = state_.at("repository").get<std::string>();
    const auto fork = pull.value("fork", "");
    const auto owner = fork.empty() ? name.substr(0, name.find('/')) : fork;
    const bool is_open = pull.at("state") == "OPEN";
    const auto rollup = rollup_of(pull);
    const auto merge_oid = pull.value("merge_oid", "");
    return {{"__typename", "PullRequest"},
            {"id", "PR_" + std::to_string(pull.at("number").get<std::int64_t>())},
            {"number", pull.at("number")},
            {"title", pull.value("title", "")},
            {"body", pull.value("body", "")},
            {"state", pull.at("state")},
            {"url", url(pull)},
            {"isDraft", pull.value("draft", false)},
            {"closed", !is_open},
            {"headRefName", pull.at("head")},
            {"headRefOid", pull.at("oid")},
            {"baseRefName", pull.at("base")},
            {"headRepository", {{"__typename", "Repository"}, {"id", "R"}, {"name", "shop"}}},
            {"headRepositoryOwner", person(owner)},
            {"isCrossRepository", !fork.empty()},
            {"author", person(owner)},
            {"reviewDecision", pull.value("review", "").empty() ? Json() : pull.at("review")},
            {"createdAt", k_then},
            {"updatedAt", pull.value("updated", k_then)},
            {"mergedAt", pull.at("state") == "MERGED" ? Json(k_then) : Json()},
            {"closedAt", is_open ? Json() : Json(k_then)},
            {"mergeCommit", merge_oid.empty() ? Json() : Json{{"__typename", "Commit"}, {"oid", merge_oid}}},
            {"isInMergeQueue", pull.value("queued", false)},
            {"isMergeQueueEnabled", state_.value("queue", false)},
            {"maintainerCanModify", false},
            {"statusCheckRollup", rollup},
            {"commits", connection(Json::array({commit_node(pull.at("oid").get<std::string>(), rollup)}))},
            {"reviews", connection(spoken(pull.value("reviews", Json::array()), "PullRequestReview"))},
            {"reviewThreads", connection(threads_of(pull, url(pull)))},
            {"comments", connection(spoken(pull.value("comments", Json::array()), "IssueComment"))}};
}

Json GitHubWorld::pulls_matching(const Json& arguments) const {
    auto nodes = Json::array();
    int total = 0;
    auto states = arguments.value("states", Json());
    if (states.is_string()) states = Json::array({states});
    const auto matches = [&](const Json& one, const char* argument, const char* field) {
        const auto wanted = arguments.value(argument, Json());
        return wanted.is_null() || wanted == one.at(field);
    };
    const auto& all = state_.at("prs");
    for (auto one = all.rbegin(); one != all.rend(); ++one) {
        const bool wanted_state =
            states.is_null() || std::find(states.begin(), states.end(), one->at("state")) != states.end();
        if (!wanted_state || !matches(*one, "headRefName", "head") || !matches(*one, "baseRefName", "base")) continue;
        ++total;
        if (nodes.size() < arguments.value("first", 30U)) nodes.push_back(shown(*one));
    }
    auto found = connection(std::move(nodes));
    found["totalCount"] = total;
    return found;
}

Json GitHubWorld::repository() const {
    const auto name = state_.at("repository").get<std::string>();
    const auto& methods = state_.at("methods");
    const auto allowed = [&](const char* method) {
        return std::find(methods.begin(), methods.end(), method) != methods.end();
    };
    return {{"__typename", "Repository"},
            {"id", "R_1"},
            {"name", name.substr(name.find('/') + 1)},
            {"nameWithOwner", name},
            {"owner", person(name.substr(0, name.find('/')))},
            {"description", ""},
            {"isPrivate", false},
            {"isFork", false},
            {"parent", nullptr},
            {"viewerPermission", "WRITE"},
            {"hasIssuesEnabled", true},
            {"hasWikiEnabled", true},
            {"mergeCommitAllowed", allowed("MERGE")},
            {"squashMergeAllowed", allowed("SQUASH")},
            {"rebaseMergeAllowed", allowed("REBASE")},
            {"viewerDefaultMergeMethod", state_.at("preferred")},
            {"deleteBranchOnMerge", false},
            {"autoMergeAllowed", false},
            {"defaultBranchRef", {{"__typename", "Ref"}, {"name", "main"}}}};
}

std::optional<Json> GitHubWorld::query_field(const std::string& name, const Json& arguments) {
    if (name == "repository") {
        const auto asked = arguments.at("owner").get<std::string>() + "/" + arguments.at("name").get<std::string>();
        if (asked != state_.at("repository").get<std::string>()) {
            throw Problem{"NOT_FOUND", "Could not resolve to a Repository with the name '" + asked + "'."};
        }
        return repository();
    }
    if (name == "viewer") return person("ursula");
    if (name == "node") return shown(pull(std::stoll(arguments.at("id").get<std::string>().substr(3))));
    if (name == "__type") {
        auto fields = Json::array();
        if (arguments.at("name") == "PullRequest") {
            const auto example = shown({{"number", 1}, {"state", "OPEN"}, {"head", ""}, {"base", ""}, {"oid", ""}});
            for (const auto& [field, value] : example.items()) fields.push_back({{"name", field}});
        }
        return Json{{"__typename", "__Type"}, {"fields", fields}};
    }
    return std::nullopt;
}

std::optional<Json> GitHubWorld::repository_field(const std::string& name, const Json& arguments) {
    if (name == "pullRequests") return pulls_matching(arguments);
    if (name == "pullRequest" || name == "issueOrPullRequest") {
        return shown(pull(arguments.at("number").get<std::int64_t>()));
    }
    return std::nullopt;
}

std::optional<Json> GitHubWorld::mutation(const std::string& name, const Json& input) {
    if (name == "createPullRequest") return create(input);
    if (name == "mergePullRequest") return merge_asked(input);
    if (name == "enablePullRequestAutoMerge") {
        pull(std::stoll(input.at("pullRequestId").get<std::string>().substr(3)))["queued"] = true;
        return Json{{"__typename", "Payload"}, {"clientMutationId", nullptr}};
    }
    return std::nullopt;
}

std::optional<Json> GitHubWorld::field(const Json& object, const std::string& name, const Json& arguments) {
    const auto type = object.value("__typename", "");
    std::optional<Json> value;
    if (type == "Query") value = query_field(name, arguments);
    if (type == "Mutation") value = mutation(name, arguments.at("input"));
    if (type == "Repository") value = repository_field(name, arguments);
    if (type == "PullRequest" && (name == "mergeStateStatus" || name == "mergeable")) {
        const auto& one = pull(object.at("number").get<std::int64_t>());
        if (name == "mergeStateStatus") return merge_state(one);
        return one.value("mergeable", conflicts(one) ? "CONFLICTING" : "MERGEABLE");
    }
    if (type == "PullRequest" && name.starts_with("viewerMerge")) return Json("");
    if (!value && object.contains(name)) value = object.at(name);
    return value;
}

Json GitHubWorld::rule_for(const std::string& operation) {
    auto rules = Json::parse(read(folder_ / "rules.json"), nullptr, false);
    if (!rules.is_array()) return Json::object();
    for (auto& rule : rules) {
        if (operation.find(rule.value("match", "")) == std::string::npos || rule.value("times", 1) == 0) continue;
        const auto found = rule;
        if (rule.contains("times")) rule["times"] = rule.at("times").get<int>() - 1;
        write(folder_ / "rules.json", rules.dump());
        return found;
    }
    return Json::object();
}

std::optional<Response> GitHubWorld::rest(std::string path) const {
    if (path.starts_with("/api/v3/")) path.erase(0, std::string_view("/api/v3").size());
    const auto base = "/repos/" + state_.at("repository").get<std::string>();
    const auto permissions = state_.value("permissions", Json::object());
    for (const auto& [login, permission] : permissions.items()) {
        if (path != base + "/collaborators/" + login + "/permission") continue;
        const auto role = permission.get<std::string>();
        // `permission` has only the old names, also for a role such as maintain or triage.
        const auto old = role == "maintain" ? "write" : role == "triage" ? "read" : role;
        return Response{200, {}, Json{{"permission", old}, {"role_name", role}, {"user", {{"login", login}}}}.dump()};
    }
    const auto jobs = state_.value("jobs", Json::object());
    for (const auto& [number, job] : jobs.items()) {
        const auto asked = [&](const std::string& place) { return path == base + place; };
        const auto has = [&](const char* field) { return job.contains(field); };
        if (asked("/actions/jobs/" + number) && has("steps")) {
            return Response{200, {}, Json{{"id", std::stoll(number)}, {"steps", job.at("steps")}}.dump()};
        }
        if (asked("/actions/jobs/" + number + "/logs") && has("log")) {
            return Response{200, {{"Content-Type", "text/plain; charset=utf-8"}}, job.at("log").get<std::string>()};
        }
        if (asked("/check-runs/" + number + "/annotations") && has("annotations")) {
            return Response{200, {}, job.at("annotations").dump()};
        }
    }
    return std::nullopt;
}

Response GitHubWorld::respond(const std::string& method, const std::string& path, const std::string& body,
                              const std::string& token) {
    const auto asked = Json::parse(body, nullptr, false);
    const auto query = asked.is_object() ? asked.value("query", "") : std::string();
    const auto operation = operation_of(method, path, query);
    std::ofstream(folder_ / "requests", std::ios::app) << operation << '\n';
    rule_ = rule_for(operation);

    Response response;
    response.headers = {{"Content-Type", "application/json; charset=utf-8"},
                        {"X-Ratelimit-Limit", "5000"},
                        {"X-Ratelimit-Remaining", "4990"},
                        {"X-Ratelimit-Reset", "1893456000"}};
    if (const auto headers = rule_.value("headers", Json::object()); !headers.empty()) {
        for (const auto& [name, value] : headers.items()) response.headers[name] = value.get<std::string>();
    }
    response.is_silent = rule_.value("hang", false);
    response.is_lost = rule_.value("drop", false);
    if (response.is_silent || response.is_lost) return response;
    if (rule_.contains("body")) {
        response.status = rule_.value("status", 200);
        response.body = rule_.at("body").get<std::string>();
        response.is_cut = rule_.value("cut", false);
        return response;
    }
    const auto& tokens = state_.at("tokens");
    if (std::find(tokens.begin(), tokens.end(), token) == tokens.end()) {
        response.status = 401;
        response.body = R"({"message": "Bad credentials", "documentation_url": "https://docs.github.com/rest"})";
        return response;
    }
    if (auto found = rest(path)) {
        found->headers.insert(response.headers.begin(), response.headers.end());
        return *found;
    }
    if (path != "/graphql" && path != "/api/graphql") {
        response.status = 404;
        response.body = R"({"message": "Not Found"})";
        return response;
    }
    const auto resolve = [this](const Json& object, const std::string& name, const Json& arguments) {
        return field(object, name, arguments);
    };
    response.body = graphql::run(query, asked.value("variables", Json::object()), resolve).dump();
    save();
    response.is_lost = rule_.value("lost", false);
    return response;
}

}  // namespace orange::fakes

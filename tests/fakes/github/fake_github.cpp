#include "tests/fakes/github/fake_github.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "tests/fakes/github/world.hpp"

namespace orange::test {
namespace {

namespace fs = std::filesystem;
using fakes::GitHubWorld;

std::string program(const char* name) {
    return std::string(ORANGE_FAKE_PROGRAMS) + "/" + name;
}

std::string in_ten_minutes() {
    const auto then = std::chrono::system_clock::now() + std::chrono::minutes(10);
    return std::to_string(std::chrono::system_clock::to_time_t(then));
}

nlohmann::json rule_of(Trouble trouble) {
    const nlohmann::json page = {{"Content-Type", "text/html"}};
    switch (trouble) {
        case Trouble::bad_token:
            return {{"status", 401}, {"body", R"({"message": "Bad credentials"})"}};
        case Trouble::rate_limit:
            return {{"status", 403},
                    {"headers", {{"X-Ratelimit-Remaining", "0"}, {"X-Ratelimit-Reset", in_ten_minutes()}}},
                    {"body", R"({"message": "API rate limit exceeded for user ID 1."})"}};
        case Trouble::secondary_limit:
            return {{"status", 403},
                    {"headers", {{"Retry-After", "60"}}},
                    {"body", R"({"message": "You have exceeded a secondary rate limit."})"}};
        case Trouble::limit_in_answer:
            return {{"headers", {{"X-Ratelimit-Remaining", "0"}, {"X-Ratelimit-Reset", in_ten_minutes()}}},
                    {"body", R"({"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded."}]})"}};
        case Trouble::forbidden:
            return {{"status", 403}, {"body", R"({"message": "Resource not accessible by personal access token"})"}};
        case Trouble::missing_scope:
            return {
                {"body",
                 R"({"errors": [{"type": "INSUFFICIENT_SCOPES", "message": "Your token has not been granted the required scopes."}]})"}};
        case Trouble::bad_gateway:
            return {{"status", 502}, {"headers", page}, {"body", "<html><title>502 Bad Gateway</title></html>"}};
        case Trouble::login_page:
            return {{"headers", page}, {"body", "<html>Welcome aboard</html>"}};
        case Trouble::silence:
            return {{"hang", true}};
        case Trouble::dropped:
            return {{"drop", true}};
        case Trouble::lost:
            return {{"lost", true}};
        case Trouble::half:
            return {{"body", R"({"data": {"repository": {"a0": )"}};
        case Trouble::empty:
            return {{"body", "{}"}};
        case Trouble::no_repository:
            return {{"body", R"({"data": {"repository": null}})"}};
    }
    return {};
}

std::vector<std::string> lines_of(const fs::path& file) {
    std::istringstream in(GitHubWorld::read(file));
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

}  // namespace

bool FakeGitHub::is_real() {
    return std::getenv("ORANGE_TEST_GH") != nullptr;
}

FakeGitHub::FakeGitHub(fs::path folder) : folder_(std::move(folder)) {
    fs::create_directories(folder_ / "gh-state/config");
    fs::create_directories(folder_ / "ssh-root/acme");
    fs::copy_file(fs::path(ORANGE_SOURCE_DIR) / "tests/fakes/ssh", folder_ / "ssh",
                  fs::copy_options::overwrite_existing);
    const auto here = fs::absolute(folder_ / "gh-state").string();
    const auto gh = is_real() ? "GH_CONFIG_DIR='" + here + "/config' exec '" + std::getenv("ORANGE_TEST_GH") + "'"
                              : "exec '" + program("fake-gh") + "' '" + here + "'";
    GitHubWorld::write(folder_ / "gh", "#!/bin/sh\nprintf '%s\\n' \"$*\" >> '" + here + "/calls'\n" + gh + " \"$@\"\n");
    fs::permissions(folder_ / "gh", fs::perms::owner_all);
    for (const char* file : {"calls", "requests"}) GitHubWorld::write(state(file), "");
    GitHubWorld::write(state("rules.json"), "[]");
    GitHubWorld::write(state("config/hosts.yml"), "github.com:\n    oauth_token: good\n    user: ursula\n");
    GitHubWorld::write(state("config/config.yml"), "http_unix_socket: " + here + "/socket\n");
    const Json start = {{"host", "github.com"},
                        {"repository", "acme/shop"},
                        {"origin", origin().string()},
                        {"tokens", {"good"}},
                        {"methods", {"MERGE", "SQUASH", "REBASE"}},
                        {"preferred", "MERGE"},
                        {"prs", Json::array()}};
    GitHubWorld::write(state("state.json"), start.dump());
    if (is_real()) start_server();
}

FakeGitHub::~FakeGitHub() {
    if (server_ == 0) return;
    ::kill(server_, SIGTERM);
    ::waitpid(server_, nullptr, 0);
}

void FakeGitHub::start_server() {
    auto path = program("fake-github");
    auto place = state("").string();
    char* const argv[] = {path.data(), place.data(), nullptr};
    if (::posix_spawn(&server_, path.c_str(), nullptr, nullptr, argv, environ) != 0) std::abort();
    while (!fs::exists(state("socket"))) {
        if (::waitpid(server_, nullptr, WNOHANG) != 0) throw std::runtime_error("the server of GitHub did not start");
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

void FakeGitHub::edit(const std::function<void(Json&)>& change) const {
    GitHubWorld world(state(""));
    change(world.state());
    world.save();
}

std::string FakeGitHub::prs_in(const fs::path& folder) {
    if (!fs::exists(folder / "gh-state/state.json")) return {};
    GitHubWorld world(folder / "gh-state");
    std::string all;
    for (const auto& pull : world.state().at("prs")) {
        all += std::to_string(pull.at("number").get<int>()) + "|" + pull.at("head").get<std::string>() + "|" +
               pull.at("state").get<std::string>() + "|" + (pull.value("fork", "").empty() ? "false" : "true") + "\n";
    }
    return all;
}

FakeGitHub::Json FakeGitHub::pull(std::int64_t number) const {
    GitHubWorld world(state(""));
    return world.pull(number);
}

std::vector<std::string> FakeGitHub::calls() const {
    return lines_of(state("calls"));
}

std::vector<std::string> FakeGitHub::requests() const {
    return lines_of(state("requests"));
}

std::int64_t FakeGitHub::open(const std::string& head, const std::string& base, const std::string& stranger) const {
    GitHubWorld world(state(""));
    auto& made = world.open(head, base, "By hand", "", false);
    if (!stranger.empty()) made["fork"] = stranger;
    world.save();
    return made.at("number").get<std::int64_t>();
}

void FakeGitHub::set_state(std::int64_t number, const std::string& to) const {
    change(number, {{"state", to}});
}

void FakeGitHub::merge(std::int64_t number, const std::string& method) const {
    GitHubWorld world(state(""));
    world.merge(world.pull(number), method);
    world.save();
}

void FakeGitHub::change(std::int64_t number, const Json& fields) const {
    GitHubWorld world(state(""));
    world.pull(number).update(fields);
    GitHubWorld::touch(world.pull(number));
    world.save();
}

std::string FakeGitHub::add_thread(std::int64_t number, Json thread) const {
    GitHubWorld world(state(""));
    auto& pull = world.pull(number);
    auto& threads = pull["threads"];
    if (!threads.is_array()) threads = Json::array();
    const auto id = "PRRT_" + std::to_string(number) + "_" + std::to_string(threads.size() + 1);
    Json opening = {{"id", id + "_1"}};
    for (const char* field : {"author", "body", "createdAt", "authorAssociation", "state", "isMinimized"}) {
        if (!thread.contains(field)) continue;
        opening[field] = thread.at(field);
        thread.erase(field);
    }
    thread["id"] = id;
    thread["comments"] = Json::array({std::move(opening)});
    threads.push_back(std::move(thread));
    GitHubWorld::touch(pull);
    world.save();
    return id;
}

void FakeGitHub::reply(std::int64_t number, const std::string& thread, Json comment) const {
    GitHubWorld world(state(""));
    auto& pull = world.pull(number);
    for (auto& one : pull.at("threads")) {
        if (one.value("id", "") != thread) continue;
        comment["id"] = thread + "_" + std::to_string(one.at("comments").size() + 1);
        one["comments"].push_back(std::move(comment));
        break;
    }
    GitHubWorld::touch(pull);
    world.save();
}

void FakeGitHub::resolve(std::int64_t number, const std::string& thread, bool resolved) const {
    GitHubWorld world(state(""));
    for (auto& one : world.pull(number).at("threads")) {
        if (one.value("id", "") == thread) one["isResolved"] = resolved;
    }
    world.save();
}

void FakeGitHub::permit(const std::string& login, const std::string& role) const {
    edit([&](Json& state) { state["permissions"][login] = role; });
}

void FakeGitHub::allow(const std::vector<std::string>& methods, const std::string& preferred) const {
    edit([&](Json& state) {
        state["methods"] = methods;
        state["preferred"] = preferred;
    });
}

void FakeGitHub::add_job(std::int64_t number, const Json& job) const {
    edit([&](Json& state) { state["jobs"][std::to_string(number)] = job; });
}

void FakeGitHub::queue_merges() const {
    edit([](Json& state) { state["queue"] = true; });
}

void FakeGitHub::add_rule(Json rule) const {
    const GitHubWorld lock(state(""));
    auto rules = Json::parse(GitHubWorld::read(state("rules.json")));
    rules.push_back(std::move(rule));
    GitHubWorld::write(state("rules.json"), rules.dump());
}

void FakeGitHub::misbehave(Trouble trouble, const std::string& match, int times) const {
    auto rule = rule_of(trouble);
    rule["match"] = match;
    if (times >= 0) rule["times"] = times;
    add_rule(std::move(rule));
}

void FakeGitHub::behave() const {
    const GitHubWorld lock(state(""));
    GitHubWorld::write(state("rules.json"), "[]");
}

void FakeGitHub::race() const {
    add_rule({{"match", "PullRequestCreate"}, {"race", true}, {"times", 1}});
}

void FakeGitHub::log_out() const {
    fs::remove(state("config/hosts.yml"));
}

void FakeGitHub::go_offline() const {
    GitHubWorld::write(state("offline"), "");
}

void FakeGitHub::remove_gh() const {
    fs::remove(folder_ / "gh");
}

}  // namespace orange::test

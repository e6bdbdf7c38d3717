#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

/// GitHub as far as gh uses it for Orange: one repository and its pull requests, whose git is a bare repository. It is
/// what the stand-in for gh asks, and what answers a real gh (server.cpp). All that it knows is in one folder:
///   state.json  the repository, its pull requests, the accepted tokens; it follows the branches of the bare repository
///   rules.json  how it misbehaves: a list, the first that matches the operation
///   requests    one line a request: its operation
namespace orange::fakes {

/// What comes back over HTTP, if anything does.
struct Response {
    int status = 200;
    std::map<std::string, std::string> headers;
    std::string body;
    bool is_cut = false;     ///< the connection ends in the middle of the body
    bool is_lost = false;    ///< no answer; what was asked for may have been done
    bool is_silent = false;  ///< no answer, and the connection stays
};

class GitHubWorld {
  public:
    using Json = nlohmann::json;

    /// Holds the folder's lock as long as it lives.
    explicit GitHubWorld(std::filesystem::path folder);
    ~GitHubWorld();
    GitHubWorld(const GitHubWorld&) = delete;
    GitHubWorld& operator=(const GitHubWorld&) = delete;

    Response respond(const std::string& method, const std::string& path, const std::string& body,
                     const std::string& token);

    Json& state() { return state_; }
    Json& pull(std::int64_t number);  ///< throws graphql::Problem
    Json& open(const std::string& head, const std::string& base, const std::string& title, const std::string& body,
               bool draft);
    /// Merges it in the bare repository; throws graphql::Problem. `method` as GitHub spells it.
    void merge(Json& pull, const std::string& method);
    /// Gives it another time of its last change.
    static void touch(Json& pull);
    void save() const;

    static void write(const std::filesystem::path& file, const std::string& text);
    static std::string read(const std::filesystem::path& file);

  private:
    /// Returns the answer of the REST interface about the jobs and permissions in state.json; nothing for any other
    /// path.
    std::optional<Response> rest(std::string path) const;
    std::optional<Json> field(const Json& object, const std::string& name, const Json& arguments);
    std::optional<Json> query_field(const std::string& name, const Json& arguments);
    std::optional<Json> repository_field(const std::string& name, const Json& arguments);
    std::optional<Json> mutation(const std::string& name, const Json& input);
    Json create(const Json& input);
    Json merge_asked(const Json& input);
    Json repository() const;
    Json shown(const Json& pull) const;
    Json pulls_matching(const Json& arguments) const;
    std::string merge_state(const Json& pull) const;
    bool conflicts(const Json& pull) const;
    std::string url(const Json& pull) const;
    void follow_branches();
    Json rule_for(const std::string& operation);

    /// stdout of git in the bare repository; nothing where it fails.
    std::optional<std::string> git(std::vector<std::string> words) const;
    std::string rebased(const std::string& base, const std::string& head) const;
    std::string merged_tree(const std::string& base, const std::string& head) const;

    std::filesystem::path folder_;
    int lock_ = -1;
    Json state_;
    std::map<std::string, std::string> branches_;
    Json rule_ = Json::object();  ///< of the request that is being answered
};

}  // namespace orange::fakes

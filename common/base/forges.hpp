#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

/// The forges whose pull requests Orange opens and follows: the names and words in which they differ. `daemon/forge`
/// calls them.
namespace orange {

struct ForgeRule {
    const char* id;         ///< in the setting `forge`, and on the wire
    const char* name;       ///< as people say it
    const char* program;    ///< through which it is called
    const char* long_name;  ///< of the program's package, where packages do not have short names
    const char* pull;       ///< the word for a pull request
    const char* mark;       ///< before the number of one
    const char* page;       ///< in the URL of one, before its number
    const char* ref[2];     ///< before and after its number: the ref of its commits, which outlives its branch
    const char* ready;      ///< the command that marks a draft as ready, up to its URL
    std::array<const char*, 2> tokens;      ///< variables that log the program in, the first one first
    std::array<const char*, 2> own_tokens;  ///< likewise, for a server of one's own
    std::array<const char*, 6> templates;   ///< files with the text of a new one; the first that exists counts
};

/// The rule of GitHub, and of a GitHub server of one's own.
inline constexpr ForgeRule k_github = {
    "github",
    "GitHub",
    "gh",
    "github-cli",
    "pull request",
    "#",
    "/pull/",
    {"refs/pull/", "/head"},
    "gh pr ready ",
    {"GH_TOKEN", "GITHUB_TOKEN"},
    {"GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"},
    {".github/pull_request_template.md", "pull_request_template.md", "docs/pull_request_template.md",
     ".github/pull_request_template.txt", "pull_request_template.txt", "docs/pull_request_template.txt"}};

inline constexpr const ForgeRule* k_forges[] = {&k_github};
inline constexpr const ForgeRule& k_issue_forge = k_github;  ///< of the issues that `--from-issue` reads

/// Variables with tokens of forges that Orange does not know. A wall keeps them from agents, too.
inline constexpr const char* k_other_tokens[] = {"GITLAB_TOKEN", "GITLAB_ACCESS_TOKEN"};

/// Texts that name all forges, literal like every description of a field.
inline constexpr const char* k_forge_names = "GitHub";  ///< joined with "or"
inline constexpr const char* k_forge_values = "auto|github";
inline constexpr const char* k_doc_of_place =
    "where its pull requests are, in a list with `places`: github, other (origin is elsewhere) or none (it has no "
    "origin)";
inline constexpr const char* k_doc_of_via = "pr: GitHub merges the task's open pull request";

/// Returns the forge with that id; null for any other word.
constexpr const ForgeRule* forge_named(std::string_view id) {
    for (const auto* forge : k_forges) {
        if (forge->id == id) return forge;
    }
    return nullptr;
}

/// Returns the forge of a pull request, by its URL; the first forge for a URL that has the form of none.
constexpr const ForgeRule& forge_of_pull(std::string_view url) {
    for (const auto* forge : k_forges) {
        if (url.find(forge->page) != std::string_view::npos) return *forge;
    }
    return *k_forges[0];
}

/// Returns a name such as "pull request #7".
inline std::string pull_name(const std::string& number, const std::optional<std::string>& url) {
    const auto& forge = forge_of_pull(url.value_or(""));
    return std::string(forge.pull) + " " + forge.mark + number;
}

}  // namespace orange

#include "daemon/git/committer.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"

namespace orange::git {
namespace {

constexpr const char *k_user_name = "user.name", *k_user_email = "user.email";
constexpr const char *k_own_name = "Orange", *k_own_email = "orange@localhost";

}  // namespace

std::vector<std::string> missing_of(const std::map<std::string, std::string>& configured) {
    std::vector<std::string> missing;
    for (const char* key : {k_user_name, k_user_email}) {
        const auto found = configured.find(key);
        if (found == configured.end() || trim(found->second).empty()) missing.emplace_back(key);
    }
    return missing;
}

Awaitable<Result<std::vector<std::string>>> missing_identity(Git& git, Place place) {
    CO_TRY(const auto configured,
           co_await attempt(git, std::move(place), words("config", "-z", "--get-regexp", "^user\\.(name|email)$")));
    std::map<std::string, std::string> values;
    for (const auto& entry : pieces(configured.out)) {  // "<key>\n<value>"
        const auto end = std::min(entry.find('\n'), entry.size());
        values[entry.substr(0, end)] = trim(std::string_view(entry).substr(end));
    }
    co_return missing_of(values);
}

Awaitable<Result<std::map<std::string, std::string>>> identity(Git& git, Place place) {
    CO_TRY(const auto missing, co_await missing_identity(git, std::move(place)));
    std::map<std::string, std::string> env;
    for (const auto& key : missing) {
        const bool is_name = key == k_user_name;
        for (const std::string who : {"GIT_AUTHOR_", "GIT_COMMITTER_"}) {
            env[who + (is_name ? "NAME" : "EMAIL")] = is_name ? k_own_name : k_own_email;
        }
    }
    co_return env;
}

std::string missing_text(const std::vector<std::string>& missing) {
    const bool both = missing.size() == 2;
    const auto own = both                             ? std::string(k_own_name) + " <" + k_own_email + ">"
                     : missing.front() == k_user_name ? std::string("the name ") + k_own_name
                                                      : std::string("the address ") + k_own_email;
    return join(missing, " and ") + (both ? " are" : " is") +
           " not set in git's configuration, so merge commits have " + own;
}

std::string missing_command(const std::vector<std::string>& missing) {
    std::vector<std::string> commands;
    for (const auto& key : missing) {
        commands.push_back("git config --global " + key + (key == k_user_name ? " 'Your Name'" : " you@example.com"));
    }
    return join(commands, " && ");
}

}  // namespace orange::git

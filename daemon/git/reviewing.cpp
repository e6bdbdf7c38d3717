#include "daemon/git/reviewing.hpp"

#include <array>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>

#include "common/base/try.hpp"
#include "daemon/git/programs.hpp"

namespace orange::git {
namespace {

using Variables = std::map<std::string, std::string>;

constexpr std::array<std::pair<const char*, const char*>, 3> k_off = {
    {{"core.fsmonitor", "false"}, {"core.hooksPath", "/dev/null"}, {"log.showSignature", "false"}}};

/// Git cannot unset a command, and an empty one is an error. So these two commands do what git does without a command.
/// The first gets a path, the old file, hash and mode, and the new file, hash and mode.
constexpr const char* k_plain_diff =
    "f() { printf 'diff --git a/%s b/%s\\n' \"$1\" \"$1\"; "
    "case $4,$7 in \"$7,$4\") ;; .,*) echo \"new file mode $7\" ;; *,.) echo \"deleted file mode $4\" ;; "
    "*) printf 'old mode %s\\nnew mode %s\\n' \"$4\" \"$7\" ;; esac; "
    "diff -u -L \"a/$1\" -L \"b/$1\" \"$2\" \"$5\"; true; }; f";

/// Prints a text file unchanged and, for a binary file, its hash, because git takes the output of this command for
/// text.
constexpr const char* k_plain_text =
    "f() { if LC_ALL=C tr -d '\\000' <\"$1\" | cmp -s - \"$1\"; then cat \"$1\"; "
    "else echo \"binary $(git hash-object --no-filters \"$1\")\"; fi; }; f";

/// Returns the last part of a key of a diff driver ("diff.name.command" → "command"); empty for all other keys.
std::string_view of_driver(std::string_view key) {
    const auto last = key.rfind('.');
    if (!key.starts_with("diff.") || last == 4) return {};
    return key.substr(last + 1);
}

int count_of(const Variables& env) {
    const auto found = env.find("GIT_CONFIG_COUNT");
    int count = 0;
    if (found != env.end()) {
        std::from_chars(found->second.data(), found->second.data() + found->second.size(), count);
    }
    return count;
}

}  // namespace

Awaitable<Result<Variables>> reviewing_variables(Git& git, Place worktree, Variables env) {
    CO_TRY(const auto settings, co_await own_settings(git, std::move(worktree)));
    Variables more = {{"GIT_NO_REPLACE_OBJECTS", "1"}};
    if (!env.contains("GIT_PAGER")) more["GIT_PAGER"] = "cat";
    auto count = count_of(env);
    const auto set = [&](const std::string& key, const char* value) {
        more["GIT_CONFIG_KEY_" + std::to_string(count)] = key;
        more["GIT_CONFIG_VALUE_" + std::to_string(count)] = value;
        more["GIT_CONFIG_COUNT"] = std::to_string(++count);
    };
    for (const auto& [key, value] : k_off) set(key, value);
    std::set<std::string> seen;
    for (const auto& setting : settings) {
        const auto key = setting.substr(0, setting.find('\n'));
        if (!seen.insert(key).second) continue;
        if (key == "diff.external" && !env.contains("GIT_EXTERNAL_DIFF")) more["GIT_EXTERNAL_DIFF"] = k_plain_diff;
        if (of_driver(key) == "command") set(key, k_plain_diff);
        if (of_driver(key) == "textconv") set(key, k_plain_text);
    }
    co_return more;
}

}  // namespace orange::git

#include "daemon/git/programs.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "common/base/text.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/worktrees.hpp"

namespace orange::git {
namespace {

namespace fs = std::filesystem;

/// A section of the configuration, and a name in it; every name where there is none.
struct Key {
    std::string_view section;
    std::string_view name;
};

constexpr std::array k_watched = {
    Key{"alias", ""},
    Key{"core", "alternaterefscommand"},
    Key{"core", "askpass"},
    Key{"core", "attributesfile"},
    Key{"core", "editor"},
    Key{"core", "fsmonitor"},
    Key{"core", "gitproxy"},
    Key{"core", "hookspath"},
    Key{"core", "pager"},
    Key{"core", "sshcommand"},
    Key{"core", "worktree"},
    Key{"credential", ""},
    Key{"diff", "command"},
    Key{"diff", "external"},
    Key{"diff", "textconv"},
    Key{"difftool", "cmd"},
    Key{"filter", ""},
    Key{"gpg", "program"},
    Key{"http", "proxy"},
    Key{"include", ""},
    Key{"includeif", ""},
    Key{"interactive", "difffilter"},
    Key{"merge", "driver"},
    Key{"mergetool", "cmd"},
    Key{"pager", ""},
    Key{"protocol", "allow"},
    Key{"remote", "proxy"},
    Key{"remote", "receivepack"},
    Key{"remote", "uploadpack"},
    Key{"remote", "vcs"},
    Key{"sequence", "editor"},
    Key{"uploadpack", "packobjectshook"},
    Key{"url", ""},
};

bool is_watched(std::string_view key) {
    if (key == "remote.origin.url" || key == "remote.origin.pushurl") return true;
    const auto section = key.substr(0, key.find('.'));
    const auto name = key.substr(key.rfind('.') + 1);
    return std::any_of(k_watched.begin(), k_watched.end(), [&](const Key& watched) {
        return watched.section == section && (watched.name.empty() || watched.name == name);
    });
}

/// The repository's own, with what it includes, and the worktree's; not the user's or the machine's.
Awaitable<Result<Programs>> configured(Git& git, std::string worktree) {
    const auto listed = co_await ask_inside(git, worktree, words("config", "--list", "--show-scope", "-z"));
    if (!listed) co_return listed.error();
    Programs found;
    const auto words_of = pieces(*listed);  // a scope, a key with its value, a scope, …
    for (std::size_t i = 0; i + 1 < words_of.size(); i += 2) {
        if (words_of[i] != "local" && words_of[i] != "worktree") continue;
        const auto& entry = words_of[i + 1];
        const auto key = entry.substr(0, entry.find('\n'));
        if (!is_watched(key)) continue;
        auto& hash = found[key];  // of all its values, in their order
        hash = content_hash(hash + "\n" + entry);
    }
    co_return found;
}

/// Hooks that git would run, and the attributes that say which filter is for which file.
std::vector<std::string> files_below(const fs::path& common) {
    std::vector<std::string> names;
    std::error_code error;
    fs::directory_iterator entry(common / "hooks", error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
        const auto status = entry->status(error);
        if (error || !fs::is_regular_file(status) || entry->path().extension() == ".sample") continue;
        if ((status.permissions() & fs::perms::owner_exec) == fs::perms::none) continue;
        names.push_back("hooks/" + entry->path().filename().string());
    }
    if (fs::is_regular_file(common / "info/attributes", error)) names.emplace_back("info/attributes");
    return names;
}

}  // namespace

Awaitable<Result<Programs>> programs_of(Git& git, std::string worktree) {
    auto found = co_await configured(git, worktree);
    if (!found) co_return found.error();
    const auto common = co_await common_dir(git, worktree);
    if (!common) co_return common.error();
    const auto names = files_below(*common);
    if (names.empty()) co_return std::move(*found);
    auto args = words("hash-object", "--no-filters", "--");
    for (const auto& name : names) args.push_back(*common + "/" + name);
    const auto hashes = co_await ask_inside(git, worktree, std::move(args));
    if (!hashes) co_return hashes.error();
    const auto lines = split_lines(*hashes);
    for (std::size_t i = 0; i < names.size() && i < lines.size(); ++i) (*found)[names[i]] = std::string(lines[i]);
    co_return std::move(*found);
}

std::vector<std::string> changed_programs(const Programs& before, const Programs& now) {
    std::vector<std::string> names;
    for (const auto& [name, hash] : now) {
        const auto was = before.find(name);
        if (was == before.end() || was->second != hash) names.push_back(name);
    }
    for (const auto& [name, hash] : before) {
        if (!now.contains(name)) names.push_back(name);
    }
    return names;
}

}  // namespace orange::git

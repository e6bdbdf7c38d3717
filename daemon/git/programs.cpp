#include "daemon/git/programs.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>

#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/small_files.hpp"
#include "daemon/git/worktrees.hpp"

namespace orange::git {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_unreadable = "unreadable ";
constexpr std::uintmax_t k_largest = std::uintmax_t{1} << 20;
constexpr std::size_t k_most = 200;

/// A section of the configuration and the part of a key after its last dot; an empty name means all keys of the
/// section.
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
    Key{"difftool", "path"},
    Key{"filter", ""},
    Key{"gpg", "defaultkeycommand"},
    Key{"gpg", "program"},
    Key{"http", "proxy"},
    Key{"http", "sslverify"},
    Key{"include", ""},
    Key{"includeif", ""},
    Key{"interactive", "difffilter"},
    Key{"lfs", "clean"},
    Key{"lfs", "path"},
    Key{"lfs", "smudge"},
    Key{"lfs", "standalonetransferagent"},
    Key{"lfs", "url"},
    Key{"merge", "driver"},
    Key{"mergetool", "cmd"},
    Key{"mergetool", "path"},
    Key{"pager", ""},
    Key{"protocol", "allow"},
    Key{"remote", "proxy"},
    Key{"remote", "pushdefault"},
    Key{"remote", "receivepack"},
    Key{"remote", "uploadpack"},
    Key{"remote", "vcs"},
    Key{"sequence", "editor"},
    Key{"submodule", "update"},
    Key{"tar", "command"},
    Key{"trailer", "cmd"},
    Key{"trailer", "command"},
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

/// Makes a key safe to show and to store in state.json: an address in a key may hold a password, as in
/// "url.https://x:TOKEN@host/.insteadof".
std::string shown_name(std::string key) {
    for (auto begin = key.find("://"); begin != std::string::npos; begin = key.find("://", begin)) {
        begin += 3;
        const auto end = key.find_last_of('@', key.find('/', begin));
        if (end != std::string::npos && end >= begin) key.erase(begin, end + 1 - begin);
    }
    return printable(key);
}

Awaitable<Result<Programs>> configured(Git& git, Pinned worktree) {
    CO_TRY(const auto settings, co_await own_settings(git, std::move(worktree)));
    Programs found;
    for (const auto& entry : settings) {
        const auto key = entry.substr(0, entry.find('\n'));
        if (!is_watched(key)) continue;
        auto& [hash, earlier] = found[shown_name(key)];  // hashes of all values of the key, in their order
        hash = sha256(hash + "\n" + entry);
        earlier = fast_hash(earlier + "\n" + entry);
    }
    co_return found;
}

/// Returns the hooks that git would run, the attributes that assign filters to files, and the main worktree's own
/// configuration, which is invisible from other worktrees.
std::vector<std::string> files_below(const fs::path& common, Programs& found) {
    std::vector<std::string> files;
    std::error_code error;
    fs::directory_iterator entry(common / "hooks", error);
    if (error && error != std::errc::no_such_file_or_directory) found["hooks"] = {k_unreadable, k_unreadable};
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
        std::error_code gone;
        const auto status = entry->status(gone);
        if (!fs::is_regular_file(status) || entry->path().extension() == ".sample") continue;
        if ((status.permissions() & fs::perms::owner_exec) == fs::perms::none) continue;
        files.push_back("hooks/" + entry->path().filename().string());
    }
    for (const char* name : {"info/attributes", "config.worktree"}) {
        if (fs::is_regular_file(common / name, error)) files.emplace_back(name);
    }
    return files;
}

/// Returns facts of a file that is unreadable, or too large to be hashed each time; nothing for any other file. Whoever
/// writes to the file can choose its size and its time, but not the time of its last change.
std::optional<Program> told_by_its_facts(const std::string& path) {
    std::error_code error;
    const auto size = fs::file_size(path, error);
    if (!error && size <= k_largest && ::access(path.c_str(), R_OK) == 0) return std::nullopt;
    const auto written = fs::last_write_time(path, error).time_since_epoch().count();
    const auto text = k_unreadable + std::to_string(size) + " " + std::to_string(static_cast<std::int64_t>(written));
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) return Program{text, text};
    return Program{text + " " + std::to_string(facts.st_ino) + " " + std::to_string(facts.st_ctime), text};
}

Awaitable<Result<void>> add_files(Git& git, Pinned worktree, Programs& found) {
    const auto& common = worktree.common_dir();
    auto args = words("hash-object", "--no-filters", "--");
    std::vector<std::string> hashed;
    for (const auto& file : files_below(common, found)) {
        const auto path = common + "/" + file;
        const Program unknown{k_unreadable, k_unreadable};
        const auto facts = hashed.size() < k_most ? told_by_its_facts(path) : unknown;
        found[printable(file)] = facts.value_or(unknown);  // git runs it even if Orange does not hash it
        if (facts) continue;
        args.push_back(path);
        hashed.push_back(printable(file));
    }
    if (hashed.empty()) co_return Result<void>{};
    CO_TRY(const auto done, co_await attempt(git, worktree, std::move(args)));
    const auto lines = split_lines(done.out);  // ends early if a file was removed meanwhile
    for (std::size_t i = 0; i < hashed.size() && i < lines.size(); ++i) {
        found[hashed[i]] = {std::string(lines[i]), std::string(lines[i])};
    }
    co_return Result<void>{};
}

/// Returns the facts of all files that programs_of() reads, except for included ones. Nothing if a file was changed
/// just now.
std::optional<std::string> facts_of_files(const Pinned& worktree) {
    const auto& common = worktree.common_dir();
    std::vector<std::string> paths = {common + "/config", common + "/config.worktree", common + "/info/attributes",
                                      worktree.git_dir() + "/config.worktree", common + "/hooks"};
    std::error_code error;
    for (fs::directory_iterator entry(common + "/hooks", error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
        paths.push_back(entry->path().string());
    }
    std::string all;
    for (const auto& path : paths) {
        const auto facts = settled_facts(path);
        if (!facts) return std::nullopt;
        all += *facts;
    }
    return all;
}

}  // namespace

Awaitable<Result<std::vector<std::string>>> own_settings(Git& git, Place worktree) {
    CO_TRY(const auto listed, co_await ask_inside(git, worktree, words("config", "--list", "--show-scope", "-z")));
    std::vector<std::string> settings;
    const auto words_of = pieces(listed);  // a scope, a key with its value, a scope, …
    for (std::size_t i = 0; i + 1 < words_of.size(); i += 2) {
        if (words_of[i] == "local" || words_of[i] == "worktree") settings.push_back(words_of[i + 1]);
    }
    co_return settings;
}

Awaitable<Result<Programs>> programs_of(Git& git, Pinned worktree) {
    CO_TRY(auto found, co_await configured(git, worktree));
    CO_TRY(co_await add_files(git, worktree, found));
    co_return found;
}

Awaitable<Result<Programs>> RememberedPrograms::of(Git& git, Pinned worktree) {
    auto files = facts_of_files(worktree);
    const auto known = known_.find(worktree.git_dir());
    if (files && known != known_.end() && known->second.files == *files) co_return known->second.programs;
    CO_TRY(auto programs, co_await programs_of(git, worktree));
    const bool includes = std::any_of(programs.begin(), programs.end(),
                                      [](const auto& entry) { return entry.first.starts_with("include"); });
    if (files && !includes) {
        known_[worktree.git_dir()] = {std::move(*files), programs};
    } else {
        known_.erase(worktree.git_dir());
    }
    co_return programs;
}

std::vector<std::string> changed_programs(const std::map<std::string, std::string>& before, const Programs& now) {
    std::vector<std::string> names;
    for (const auto& [name, program] : now) {
        const auto was = before.find(name);
        const bool is_same = was != before.end() && (was->second == program.hash || was->second == program.earlier);
        if (!is_same) names.push_back(name);
    }
    for (const auto& [name, hash] : before) {
        if (!now.contains(name)) names.push_back(name);
    }
    return names;
}

}  // namespace orange::git

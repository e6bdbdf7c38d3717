#include "daemon/git/ask.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/worktrees.hpp"

namespace orange {

Awaitable<Result<std::string>> git_output(Git& git, GitCommand command) {
    auto argv = git::words("git");
    argv.insert(argv.end(), command.args.begin(), command.args.end());
    const auto folder = command.place.path();
    CO_TRY(auto done, co_await git.run(std::move(command)));
    if (!done.ok()) co_return git::with_remedy(command_failed(argv, done), folder);
    co_return std::move(done.out);
}

Result<void> remove_folder(Git& git, const std::filesystem::path& path) {
    const UniqueFd folder(::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder) return git.remove(folder.get(), path.filename().string(), path.string());
    return errno == ENOENT ? Result<void>{} : io_error("removing " + path.string(), errno);
}

namespace git {

namespace {

/// Returns git's answer if it is one absolute path; external_failed otherwise.
Result<std::string> only_path(std::string_view answer) {
    constexpr std::size_t k_longest_path = 4096;
    const auto path = trim(answer);
    if (path.starts_with('/') && path.size() < k_longest_path && path.find('\n') == std::string_view::npos) {
        return std::string(path);
    }
    if (path.starts_with('/') && path.find('\n') != std::string_view::npos) {
        return Error(ErrorCode::invalid_argument,
                     "the path of the repository has a line break, with which Orange cannot work. Rename the folder: " +
                         printable(path));
    }
    return Error(ErrorCode::external_failed, "`git rev-parse` printed unexpected output");
}

/// Returns the path of the lock that git could not take, as git's output names it; empty if it was no lock.
std::string lock_in(const std::string& output) {
    constexpr std::string_view k_exists = ": File exists";
    for (auto end = output.find(k_exists); end != std::string::npos; end = output.find(k_exists, end + 1)) {
        const auto begin = output.rfind('\n', end) == std::string::npos ? 0 : output.rfind('\n', end) + 1;
        const auto line = std::string_view(output).substr(begin, end - begin);
        constexpr std::string_view k_create = "Unable to create '", k_config = "could not lock config file ";
        if (const auto at = line.find(k_create); at != std::string_view::npos && line.ends_with(".lock'")) {
            return std::string(line.substr(at + k_create.size(), line.size() - at - k_create.size() - 1));
        }
        if (const auto at = line.find(k_config); at != std::string_view::npos) {
            return std::string(line.substr(at + k_config.size())) + ".lock";
        }
    }
    return {};
}

}  // namespace

std::string remedy_of_lock(const std::string& lock) {
    struct stat facts {};
    if (::lstat(lock.c_str(), &facts) != 0) return {};
    const auto age = std::chrono::system_clock::now() - std::chrono::system_clock::from_time_t(facts.st_mtime);
    const auto seconds = std::max(std::chrono::floor<std::chrono::seconds>(age), std::chrono::seconds(0));
    const auto minutes = static_cast<std::size_t>(seconds / std::chrono::minutes(1));
    const auto spoken =
        minutes > 0 ? counted(minutes, "minute") : counted(static_cast<std::size_t>(seconds.count()), "second");
    return "The lock is " + spoken + " old. If no git command works there, one was killed. Remove its lock:\n  rm " +
           shell_word(lock);
}

namespace {

/// Returns how to remove a lock that git could not take; empty if the output names none, or it is gone meanwhile.
std::string lock_remedy(const std::string& output, const std::string& folder) {
    const auto named = lock_in(output);
    return named.empty() ? std::string() : remedy_of_lock((std::filesystem::path(folder) / named).string());
}
/// Returns the words between two others; empty if the text has no such place.
std::string_view between(std::string_view text, std::string_view before, std::string_view behind) {
    const auto at = text.find(before);
    if (at == std::string_view::npos) return {};
    text.remove_prefix(at + before.size());
    const auto end = text.find(behind);
    return end == std::string_view::npos ? std::string_view() : text.substr(0, end);
}

/// Returns what to do about a filter or an encoding of .gitattributes that does not work; empty for other failures.
std::string attribute_remedy(const std::string& output, const std::string& folder) {
    auto filter = between(output, "clean filter '", "' failed");
    if (filter.empty()) filter = between(output, "smudge filter ", " failed");
    if (!filter.empty() && filter.find('\n') == std::string_view::npos) {
        const auto name = std::string(filter);
        const auto broken = "The files stay as they are. The filter " + printable(name) +
                            " that .gitattributes names does not work. Install its program";
        if (name == "lfs") return broken + " (git-lfs).";
        return broken + ", or let git go on without it, which commits its files unfiltered:\n  git -C " +
               shell_word(folder) + " config " + shell_word("filter." + name + ".required") + " false";
    }
    if (!says(output, {"failed to encode '", "BOM is required in '", "BOM is prohibited in '"})) return {};
    return "The files stay as they are. A file does not have the working-tree-encoding that .gitattributes names. "
           "Correct one of them in " +
           printable(folder);
}

}  // namespace

Error with_remedy(Error error, const std::string& folder) {
    const auto output = error.details.find("stderr");
    if (output == error.details.end()) return error;
    auto remedy = lock_remedy(output->second, folder);
    if (remedy.empty()) remedy = attribute_remedy(output->second, folder);
    if (!remedy.empty()) error.message += "\n" + remedy;
    return error;
}

Awaitable<Result<std::string>> ask(Git& git, Place place, std::vector<std::string> args) {
    GitCommand command{std::move(place), std::move(args)};
    co_return co_await git_output(git, std::move(command));
}

Awaitable<Result<Completed>> attempt(Git& git, Place place, std::vector<std::string> args) {
    GitCommand command{std::move(place), std::move(args)};
    co_return co_await git.run(std::move(command));
}

Awaitable<Result<std::string>> ask_inside(Git& git, Place place, std::vector<std::string> args, std::string input,
                                          std::map<std::string, std::string> env) {
    env["GIT_CEILING_DIRECTORIES"] = std::filesystem::path(place.path()).parent_path().string();
    GitCommand command{std::move(place), std::move(args), std::move(env), k_checkout_deadline, std::move(input)};
    co_return co_await git_output(git, std::move(command));
}

Awaitable<Result<std::string>> git_dir(Git& git, Place place) {
    if (place.pinned()) co_return place.pinned()->git_dir();
    CO_TRY(const auto answer, co_await ask_inside(git, place, words("rev-parse", "--absolute-git-dir")));
    co_return only_path(answer);
}

Awaitable<Result<std::string>> common_dir(Git& git, Place place) {
    if (place.pinned()) co_return place.pinned()->common_dir();
    CO_TRY(const auto answer,
           co_await ask_inside(git, place, words("rev-parse", "--path-format=absolute", "--git-common-dir")));
    co_return only_path(answer);
}

std::string submodules_option(const Place& place) {
    const bool is_walled = place.pinned() && place.pinned()->is_walled();
    return std::string("--ignore-submodules=") + (is_walled ? "dirty" : "none");
}

bool is_hash(std::string_view text) {
    return (text.size() == 40 || text.size() == 64) &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Error unexpected_output(const std::string& command, std::string_view answer) {
    return {ErrorCode::external_failed,
            "`" + command + "` printed unexpected output: " + ellipsized(printable(answer.substr(0, 200)), 80)};
}

Result<std::string> hash_in(const std::string& command, std::string_view answer) {
    const auto hash = trim(answer);
    if (!is_hash(hash)) return unexpected_output(command, hash);
    return std::string(hash);
}

std::vector<std::string> pieces(const std::string& output) {
    std::vector<std::string> list;
    for (const auto piece : split(output, '\0')) {
        if (!piece.empty()) list.emplace_back(piece);
    }
    return list;
}

std::vector<TreeEntry> tree_entries(const std::string& output) {
    std::vector<TreeEntry> entries;
    for (const auto& entry : pieces(output)) {
        const auto tab = entry.find('\t');
        const auto facts = split(std::string_view(entry).substr(0, tab), ' ');
        if (tab == std::string::npos || facts.size() != 3) continue;
        entries.push_back({std::string(facts[0]), std::string(facts[2]), entry.substr(tab + 1)});
    }
    return entries;
}

bool says(const std::string& text, std::initializer_list<std::string_view> phrases) {
    return std::ranges::any_of(phrases,
                               [&](std::string_view phrase) { return text.find(phrase) != std::string::npos; });
}

}  // namespace git
}  // namespace orange

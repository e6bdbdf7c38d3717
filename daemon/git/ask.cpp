#include "daemon/git/ask.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/worktrees.hpp"

namespace orange {

Awaitable<Result<std::string>> git_output(Git& git, GitCommand command) {
    auto argv = git::words("git");
    argv.insert(argv.end(), command.args.begin(), command.args.end());
    CO_TRY(auto done, co_await git.run(std::move(command)));
    if (!done.ok()) co_return command_failed(argv, done);
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
    return Error(ErrorCode::external_failed, "`git rev-parse` printed unexpected output");
}

}  // namespace

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

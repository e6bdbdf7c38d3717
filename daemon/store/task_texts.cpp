#include "daemon/store/task_texts.hpp"

#include <algorithm>
#include <unordered_set>

#include "common/base/ids.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/store/task_file.hpp"

namespace orange::store {
namespace {

/// A longer text is useless to readers, and the daemon would hold it in memory several times.
constexpr std::size_t k_largest_text = 8 << 20;
/// `git merge-file` exits with the number of conflicts, capped at this value.
constexpr int k_most_conflicts = 127;

/// A temporary file, which is removed after the merge. If the daemon crashes, its next start removes the file.
class MergeInput {
  public:
    MergeInput(FileSystem& files, const Path& folder)
        : files_(files), path_(folder / (".merge." + random_id(10) + ".tmp")) {}
    ~MergeInput() { static_cast<void>(files_.remove(path_).has_value()); }
    MergeInput(const MergeInput&) = delete;
    MergeInput& operator=(const MergeInput&) = delete;

    Result<void> write(const std::string& text) { return files_.replace(path_, text, Durability::atomic); }
    std::string path() const { return path_.string(); }

  private:
    FileSystem& files_;
    Path path_;
};

/// Returns the lines that are not blank.
std::unordered_set<std::string_view> lines_of(const std::string& text) {
    std::unordered_set<std::string_view> lines;
    for (const auto line : split_lines(text)) {
        if (!trim(line).empty()) lines.insert(line);
    }
    return lines;
}

}  // namespace

std::string body_of(const std::string& text) {
    return split_task_text(text).body;
}

bool is_blank(std::string_view text) {
    return text.find_first_not_of(std::string_view("\0 \t\r\n", 5)) == std::string_view::npos;
}

bool has_all_lines(const std::string& body, const std::string& text) {
    const auto there = lines_of(body);
    return std::ranges::all_of(lines_of(text), [&](const auto line) { return there.contains(line); });
}

bool seems_cut(const std::string& text, const std::string& body_before) {
    const auto parts = split_task_text(text);
    const bool stops_within_a_line = body_before.ends_with('\n') && !parts.body.ends_with('\n');
    return !parts.has_frontmatter || stops_within_a_line || !has_all_lines(parts.body, body_before);
}

Result<std::optional<std::string>> read_copy(FileSystem& files, const Path& path) {
    const auto facts = files.facts_of(path);
    return facts ? read_copy(files, path, *facts) : std::optional<std::string>{};
}

Result<std::optional<std::string>> read_copy(FileSystem& files, const Path& path, const FileFacts& facts) {
    if (facts.kind == FileFacts::Kind::link) return std::optional<std::string>{};
    if (facts.size > k_largest_text) {
        return Error(ErrorCode::invalid_argument,
                     path.string() + " has " + std::to_string(facts.size >> 20) + " MiB; a TASK.md may have " +
                         std::to_string(k_largest_text >> 20) + ": move what is too much into a file of its own");
    }
    auto content = files.read(path);
    if (content) return std::optional<std::string>(std::move(*content));
    if (content.error().code == ErrorCode::not_found) return std::optional<std::string>{};
    return content.error();
}

Awaitable<Result<std::optional<std::string>>> merge_bodies(FileSystem& files, ProcessRunner& processes, Path folder,
                                                           std::string current, std::string base, std::string other) {
    MergeInput a(files, folder), b(files, folder), c(files, folder);
    CO_TRY(a.write(current));
    CO_TRY(b.write(base));
    CO_TRY(c.write(other));
    Command command;
    command.argv = {"git", "merge-file", "-p", "-q", a.path(), b.path(), c.path()};
    command.cwd = folder.string();
    command.output_limit = 2 * (current.size() + base.size() + other.size()) + 4096;
    const auto argv = command.argv;
    CO_TRY(auto completed, co_await processes.run(std::move(command)));
    if (completed.ok()) co_return std::optional<std::string>(std::move(completed.out));
    if (completed.exit_status > 0 && completed.exit_status <= k_most_conflicts) co_return std::optional<std::string>{};
    co_return command_failed(argv, completed);
}

}  // namespace orange::store

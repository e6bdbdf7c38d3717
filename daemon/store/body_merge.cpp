#include "daemon/store/body_merge.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "common/base/ids.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::store {
namespace {

/// Removed when the merge is over, however it ends.
class MergeInput {
  public:
    MergeInput(FileSystem& files, const Path& folder)
        : files_(files), path_(folder / (".merge." + random_id(10) + ".tmp")) {}
    ~MergeInput() { static_cast<void>(files_.remove(path_).has_value()); }  // a leftover is swept with the other *.tmp
    MergeInput(const MergeInput&) = delete;
    MergeInput& operator=(const MergeInput&) = delete;

    Result<void> write(std::string text) {
        // A last line without its end would be glued to the other side's in a union.
        if (!text.empty() && !text.ends_with('\n')) text += '\n';
        return files_.replace(path_, text);
    }
    std::string path() const { return path_.string(); }

  private:
    FileSystem& files_;
    Path path_;
};

std::vector<std::string_view> whole_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
        lines.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return lines;
}

using LineSet = std::unordered_set<std::string_view>;

/// The lines of a text that say something.
LineSet lines_of(const std::string& text) {
    LineSet lines;
    for (const auto line : split_lines(text)) {
        if (!trim(line).empty()) lines.insert(line);
    }
    return lines;
}

}  // namespace

Awaitable<Result<std::string>> merge_bodies(FileSystem& files, ProcessRunner& processes, Path folder,
                                            std::string current, std::string base, std::string other) {
    if (other == base || other == current) co_return current;
    if (current == base) co_return other;
    MergeInput a(files, folder), b(files, folder), c(files, folder);
    auto written = a.write(current);
    if (written) written = b.write(base);
    if (written) written = c.write(other);
    if (!written) co_return written.error();
    Command command;
    command.argv = {"git", "merge-file", "-p", "-q", "--union", a.path(), b.path(), c.path()};
    command.cwd = folder.string();
    command.output_limit = current.size() + base.size() + other.size() + 4096;
    const auto argv = command.argv;
    CO_TRY(auto completed, co_await processes.run(std::move(command)));
    if (!completed.ok()) co_return command_failed(argv, completed);
    auto merged = std::move(completed.out);
    if (!current.ends_with('\n') && !other.ends_with('\n') && merged.ends_with('\n')) merged.pop_back();
    co_return merged;
}

const std::string& likely_base(const std::vector<const std::string*>& shown, const std::string& found) {
    if (found.starts_with(*shown.back())) return *shown.back();  // also where that ends in the middle of a line
    const auto there = lines_of(found);
    const auto missing_in_found = [&](const LineSet& lines) {
        return std::count_if(lines.begin(), lines.end(), [&](const auto line) { return !there.contains(line); });
    };
    const auto now = lines_of(*shown.back());
    const std::string* best = shown.back();
    auto fewest = missing_in_found(now);
    for (auto candidate = shown.rbegin() + 1; candidate != shown.rend(); ++candidate) {
        const auto before = lines_of(**candidate);
        const bool knows_what_was_added = std::any_of(
            now.begin(), now.end(), [&](const auto line) { return !before.contains(line) && there.contains(line); });
        const auto missing = missing_in_found(before);
        const bool shares_lines = missing < std::ssize(before);
        if (knows_what_was_added || !shares_lines || missing >= fewest) continue;
        fewest = missing;
        best = *candidate;
    }
    return *best;
}

std::string without_lines_missing_in(const std::string& body, const std::string& text) {
    const auto there = split_lines(body);
    const std::unordered_set<std::string_view> lines(there.begin(), there.end());
    std::string kept;
    for (const auto line : whole_lines(text)) {
        auto plain = line;
        while (plain.ends_with('\n') || plain.ends_with('\r')) plain.remove_suffix(1);
        if (lines.contains(plain)) kept += line;
    }
    return kept;
}

}  // namespace orange::store

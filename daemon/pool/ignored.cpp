#include "daemon/git/ignored.hpp"

#include <algorithm>

#include "common/base/shown_path.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/model/settings.hpp"
#include "daemon/git/included.hpp"
#include "daemon/pool/pool.hpp"

/// Files that git ignores: they stay in a workspace for the next task. Some can be kept with the task's work.
namespace orange {
namespace {

constexpr std::size_t k_most_named = 8;

std::string names_text(const std::vector<std::string>& names) {
    std::vector<std::string> first(names.begin(),
                                   names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), k_most_named)));
    auto text = join(first, ", ");
    if (names.size() > k_most_named) text += " and " + std::to_string(names.size() - k_most_named) + " more";
    return text;
}

/// Returns true if replacing the file with the other one would lose content.
bool differs(FileSystem& files, const Path& file, const Path& other) {
    constexpr std::uintmax_t k_most_compared = std::uintmax_t{1} << 20;
    const auto here = files.facts_of(file), there = files.facts_of(other);
    if (!here || !there) return false;
    if (here->kind != FileFacts::Kind::file || here->size != there->size || here->size > k_most_compared) return true;
    const auto mine = files.read(file), theirs = files.read(other);
    return !mine || !theirs || *mine != *theirs;
}

}  // namespace

Awaitable<Result<void>> Pool::keep_ignored(Project project, TaskId task, std::string name, git::Pinned worktree,
                                           Released& released) {
    const auto patterns = surround_(project, task, name).keep_ignored;
    if (patterns.empty()) co_return Result<void>{};
    const auto ref = ignored_ref(task);
    CO_TRY(const auto kept,
           co_await git::keep_ignored(git_, worktree, patterns, ref, "Ignored files of task " + task.value));
    if (!kept.commit.empty()) released.commits.push_back(ref);
    for (const auto& [file, bytes] : kept.too_large) {
        released.notes.push_back(file + " (" + size_text(bytes) + ") is not kept: keep_ignored keeps at most " +
                                 size_text(git::k_most_kept) + " of a task. It stays in " + name +
                                 " until the next task replaces it");
    }
    co_return Result<void>{};
}

Awaitable<std::vector<std::string>> Pool::ignored_notes(Project project, TaskId task) {
    std::vector<std::string> notes;
    const auto name = claims_.workspace_of(task);
    if (!name || is_missing(files_, path_of(*name))) co_return notes;
    const auto worktree = co_await open(project, *name);
    Result<std::vector<std::string>> ignored = std::vector<std::string>();
    if (worktree) ignored = co_await git::ignored_in(git_, *worktree);
    if (!worktree || !ignored || ignored->empty()) co_return notes;
    const auto how_to_keep = "To keep some of them with the work of each task:\n  orange project update " +
                             project.name + " --set keep_ignored=PATTERNS";
    const bool keeps_some = !surround_(project, task, *name).keep_ignored.empty();
    if (worktree->is_walled()) {
        notes.push_back("files that git ignores go with the worktree, because its agent was behind a wall: " +
                        names_text(*ignored));
        if (!keeps_some) notes.push_back(how_to_keep);
        co_return notes;
    }
    auto never = git::own_files();
    auto included = co_await git::included_files(git_, project.path, *worktree, std::move(never));
    std::vector<std::string> replaced;
    if (included) {
        for (const auto& file : *included) {
            if (differs(files_, path_of(*name) / file, Path(project.path) / file)) replaced.push_back(shown_path(file));
        }
    }
    if (included) {  // what is as it was is Orange's own copy
        std::erase_if(*ignored, [&](const std::string& file) {
            const auto is_it = [&](const std::string& each) { return shown_path(each) == file; };
            return std::ranges::any_of(*included, is_it) && std::ranges::find(replaced, file) == replaced.end();
        });
    }
    if (!ignored->empty()) {
        notes.push_back("files that git ignores stay in " + *name + " for its next task: " + names_text(*ignored));
    }
    if (replaced.empty()) co_return notes;
    notes.push_back("the next task replaces these with the project's own, because .worktreeinclude names them: " +
                    names_text(replaced));
    if (!keeps_some) notes.push_back(how_to_keep);
    co_return notes;
}

}  // namespace orange

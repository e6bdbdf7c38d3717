#include <algorithm>
#include <cstring>

#include "common/base/text.hpp"
#include "tests/fakes/git/asked.hpp"

/// What is in a worktree beside what HEAD has.
namespace orange::fakes::git {
namespace {

namespace fs = std::filesystem;
using StatusList = Held<git_status_list, git_status_list_free>;

StatusList status_of(const Repository& repository, bool ignored) {
    (void)repository.index();
    repository.must_hold_none();
    git_status_options options;
    must(git_status_options_init(&options, GIT_STATUS_OPTIONS_VERSION));
    options.show = GIT_STATUS_SHOW_INDEX_AND_WORKDIR;
    options.flags = GIT_STATUS_OPT_INCLUDE_UNTRACKED | GIT_STATUS_OPT_RECURSE_UNTRACKED_DIRS |
                    GIT_STATUS_OPT_SORT_CASE_SENSITIVELY | GIT_STATUS_OPT_INCLUDE_UNREADABLE;
    if (ignored) options.flags |= GIT_STATUS_OPT_INCLUDE_IGNORED;
    git_status_list* list = nullptr;
    must(git_status_list_new(&list, repository.raw(), &options));
    return StatusList(list);
}

const char* path_of(const git_status_entry& entry) {
    const auto* delta = entry.index_to_workdir ? entry.index_to_workdir : entry.head_to_index;
    must_be(delta != nullptr);
    const char* path = delta->old_file.path ? delta->old_file.path : delta->new_file.path;
    must_be(path[0] != '\0' && path[std::strlen(path) - 1] != '/');  // a repository inside
    return path;
}

char letter_of(const git_diff_delta* delta) {
    if (!delta) return '.';
    switch (delta->status) {
        case GIT_DELTA_UNMODIFIED:
            return '.';
        case GIT_DELTA_ADDED:
            return 'A';
        case GIT_DELTA_DELETED:
            return 'D';
        case GIT_DELTA_MODIFIED:
            return 'M';
        case GIT_DELTA_TYPECHANGE:
            return 'T';
        default:
            throw Unusual{};
    }
}

std::string octal(unsigned mode) {
    must_be(mode != GIT_FILEMODE_COMMIT && mode != GIT_FILEMODE_TREE);
    std::string digits(6, '0');
    for (std::size_t i = digits.size(); i-- > 0; mode /= 8) digits[i] = static_cast<char>('0' + mode % 8);
    return digits;
}

/// "1 <XY> N... <modes in HEAD, index, files> <hashes in HEAD, index> <path>"
std::string changed(const git_status_entry& entry) {
    const auto *staged = entry.head_to_index, *worked = entry.index_to_workdir;
    const auto& in_index = staged ? staged->new_file : worked->old_file;
    const auto& in_head = staged ? staged->old_file : worked->old_file;
    const auto mode_of_file = worked ? worked->new_file.mode : in_index.mode;
    return std::string("1 ") + letter_of(staged) + letter_of(worked) + " N... " + octal(in_head.mode) + " " +
           octal(in_index.mode) + " " + octal(mode_of_file) + " " + hex(in_head.id) + " " + hex(in_index.id) + " " +
           path_of(entry) + k_end;
}

Completed status(const Asked& asked, bool with_branch) {
    const Repository repository(asked);
    std::string out, untracked, ignored;
    if (with_branch) {
        const auto head = repository.head_ref();
        must_be(head.empty() || head.starts_with("refs/heads/"));
        const auto branch = head.empty() ? std::string("(detached)") : head.substr(11);
        must_be(head.empty() || repository.setting("branch." + branch + ".merge").empty());
        out = "# branch.oid " + hex(repository.commit_id("HEAD")) + k_end + "# branch.head " + branch + k_end;
    }
    const auto list = status_of(repository, !with_branch);
    for (std::size_t i = 0; i < git_status_list_entrycount(list.get()); ++i) {
        const auto& entry = *git_status_byindex(list.get(), i);
        const std::string path = path_of(entry);
        if (entry.status == GIT_STATUS_WT_NEW) {
            untracked += (with_branch ? "? " : "?? ") + path + k_end;
        } else if (entry.status == GIT_STATUS_IGNORED) {
            ignored += "!! " + path + k_end;
        } else if (with_branch) {
            must_be((entry.status & (GIT_STATUS_CONFLICTED | GIT_STATUS_WT_UNREADABLE)) == 0);
            out += changed(entry);
        } else {
            const auto shown = [](char letter) { return letter == '.' ? ' ' : letter; };
            out += std::string() + shown(letter_of(entry.head_to_index)) + shown(letter_of(entry.index_to_workdir)) +
                   " " + path + k_end;
        }
    }
    return printed(out + untracked + ignored);
}

Completed listed_index(const Asked& asked, bool staged) {
    const Repository repository(asked);
    must_be(asked.variable("GIT_INDEX_FILE").empty());
    const auto index = repository.index();
    std::string out;
    for (std::size_t i = 0; i < git_index_entrycount(index.get()); ++i) {
        const auto* entry = git_index_get_byindex(index.get(), i);
        out += "H ";
        if (staged) out += octal(entry->mode) + " " + hex(entry->id) + " 0\t";
        out += entry->path;
        out += k_end;
    }
    return printed(out);
}

/// Whether the folder holds nothing; empty ones below it are removed.
bool is_emptied(const fs::path& folder) {
    bool empty = true;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const bool gone = entry.is_directory() && !entry.is_symlink() && is_emptied(entry.path());
        if (gone) fs::remove(entry.path());
        empty = empty && gone;
    }
    return empty;
}

Completed cleaned(const Asked& asked) {
    const Repository repository(asked);
    const fs::path top = repository.worktree();
    std::vector<fs::path> files;
    const auto list = status_of(repository, true);
    for (std::size_t i = 0; i < git_status_list_entrycount(list.get()); ++i) {
        const auto& entry = *git_status_byindex(list.get(), i);
        const std::string path = path_of(entry);
        if (entry.status == GIT_STATUS_IGNORED) must_be(path.find('/') == std::string::npos);
        if (entry.status == GIT_STATUS_WT_NEW) files.push_back(top / path);
    }
    for (const auto& entry : fs::directory_iterator(top)) {
        must_be(entry.path().filename() == ".git" || !entry.is_directory() ||
                ::access(entry.path().c_str(), R_OK | W_OK | X_OK) == 0);
    }
    for (const auto& file : files) fs::remove(file);
    for (const auto& entry : fs::directory_iterator(top)) {
        if (entry.path().filename() == ".git" || !entry.is_directory() || entry.is_symlink()) continue;
        if (is_emptied(entry.path())) fs::remove(entry.path());
    }
    return printed({});
}

}  // namespace

Answer ask_files(const Asked& asked) {
    if (asked.is({"status", "--porcelain=v2", "--branch", "--no-ahead-behind", "-z", "--untracked-files=all",
                  "--ignore-submodules=none", "--no-renames"})) {
        return status(asked, true);
    }
    if (asked.is({"status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignored=matching", "--no-renames",
                  "--ignore-submodules=none"})) {
        return status(asked, false);
    }
    if (asked.is({"ls-files", "-v", "--stage", "-z", "--full-name"})) return listed_index(asked, true);
    if (asked.is({"ls-files", "-v", "-z"})) return listed_index(asked, false);
    if (asked.is({"clean", "--quiet", "-f", "-d"})) return cleaned(asked);
    return std::nullopt;
}

}  // namespace orange::fakes::git

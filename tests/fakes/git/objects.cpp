#include <git2/sys/repository.h>

#include <algorithm>

#include "common/base/text.hpp"
#include "tests/fakes/git/asked.hpp"

/// Trees, commits, and what is made of files and of other trees.
namespace orange::fakes::git {
namespace {

/// The index that GIT_INDEX_FILE names, set for the repository.
Index own_index(const Repository& repository, const Asked& asked) {
    const auto file = asked.variable("GIT_INDEX_FILE");
    must_be(file.starts_with('/'));
    git_index* index = nullptr;
    must(git_index_open(&index, file.c_str()));
    Index held(index);
    must_be(!git_index_has_conflicts(index));
    for (std::size_t i = 0; i < git_index_entrycount(index); ++i) {
        const auto* entry = git_index_get_byindex(index, i);
        must_be((entry->flags & GIT_INDEX_ENTRY_VALID) == 0 && entry->flags_extended == 0);
        must_be(entry->mode != GIT_FILEMODE_COMMIT);
    }
    must(git_repository_set_index(repository.raw(), index));
    return held;
}

Completed tree_of_index(const Asked& asked) {
    const Repository repository(asked);
    const auto index = own_index(repository, asked);
    git_oid id;
    must(git_index_write_tree_to(&id, index.get(), repository.raw()));
    return printed(hex(id) + "\n");
}

Completed everything_added(const Asked& asked) {
    const Repository repository(asked);
    repository.must_hold_none();
    const auto index = own_index(repository, asked);
    must(git_index_add_all(index.get(), nullptr, GIT_INDEX_ADD_DEFAULT, nullptr, nullptr));
    must(git_index_update_all(index.get(), nullptr, nullptr, nullptr));
    must(git_index_write(index.get()));
    return printed({});
}

/// "commit-tree <tree> -F - -p <parent> …", in any order.
Completed commit(const Asked& asked) {
    const Repository repository(asked);
    std::vector<git_oid> parents;
    bool has_message = false;
    for (std::size_t i = 2; i + 1 < asked.args.size(); i += 2) {
        if (asked.args[i] == "-p") {
            parents.push_back(repository.commit_id(asked.args[i + 1]));
        } else {
            must_be(asked.args[i] == "-F" && asked.args[i + 1] == "-" && !has_message);
            has_message = true;
        }
    }
    must_be(asked.args.size() % 2 == 0 && has_message && asked.input.ends_with("\n"));
    std::set<std::string> different;
    for (const auto& parent : parents) must_be(different.insert(hex(parent)).second);
    const auto id = id_of(asked.args[1]);
    git_tree* tree = nullptr;
    must(git_tree_lookup(&tree, repository.raw(), &id));
    const Tree held(tree);
    std::vector<Commit> commits;
    std::vector<const git_commit*> pointers;
    for (const auto& parent : parents) {
        commits.push_back(repository.commit(parent));
        pointers.push_back(commits.back().get());
    }
    const auto author = repository.author(asked, "AUTHOR"), committer = repository.author(asked, "COMMITTER");
    git_oid made;
    must(git_commit_create(&made, repository.raw(), nullptr, author.get(), committer.get(), nullptr,
                           asked.input.c_str(), tree, pointers.size(), pointers.data()));
    return printed(hex(made) + "\n");
}

void list_files(const Repository& repository, const git_oid& id, const std::string& below, std::string& out) {
    git_tree* tree = nullptr;
    must(git_tree_lookup(&tree, repository.raw(), &id));
    const Tree held(tree);
    for (std::size_t i = 0; i < git_tree_entrycount(tree); ++i) {
        const auto* entry = git_tree_entry_byindex(tree, i);
        const auto path = below + git_tree_entry_name(entry);
        const auto mode = git_tree_entry_filemode_raw(entry);
        if (git_tree_entry_type(entry) == GIT_OBJECT_TREE) {
            list_files(repository, *git_tree_entry_id(entry), path + "/", out);
            continue;
        }
        must_be(mode == GIT_FILEMODE_BLOB || mode == GIT_FILEMODE_BLOB_EXECUTABLE || mode == GIT_FILEMODE_LINK);
        const auto kind = mode == GIT_FILEMODE_LINK ? "120000" : mode == GIT_FILEMODE_BLOB ? "100644" : "100755";
        out += std::string(kind) + " blob " + hex(*git_tree_entry_id(entry)) + "\t" + path + k_end;
    }
}

/// "<commit>:<path>".
Completed text_of(const Asked& asked) {
    const Repository repository(asked);
    const auto colon = asked.last().find(':');
    must_be(colon != std::string::npos && is_harmless(asked.last().substr(colon + 1)));
    const auto id = repository.find_commit(asked.last().substr(0, colon));
    if (!id) return failed(128);
    git_tree_entry* entry = nullptr;
    const int error = git_tree_entry_bypath(&entry, repository.tree_of(*id).get(), asked.last().c_str() + colon + 1);
    if (error == GIT_ENOTFOUND) return failed(128);
    must(error);
    const Held<git_tree_entry, git_tree_entry_free> held(entry);
    git_blob* blob = nullptr;
    must(git_blob_lookup(&blob, repository.raw(), git_tree_entry_id(entry)));
    const Held<git_blob, git_blob_free> text(blob);
    return printed({static_cast<const char*>(git_blob_rawcontent(blob)), git_blob_rawsize(blob)});
}

/// Without a conflict, and without attributes in the folder that it is made in.
Completed merged(const Asked& asked) {
    const Repository repository(asked);
    const auto ours = repository.commit(repository.commit_id(asked.last(1)));
    const auto theirs = repository.commit(repository.commit_id(asked.last()));
    git_oidarray bases{};
    must(git_merge_bases(&bases, repository.raw(), git_commit_id(ours.get()), git_commit_id(theirs.get())));
    const auto count = bases.count;
    git_oidarray_dispose(&bases);
    must_be(count == 1);
    git_index* index = nullptr;
    must(git_merge_commits(&index, repository.raw(), ours.get(), theirs.get(), nullptr));
    const Index held(index);
    must_be(!git_index_has_conflicts(index));
    git_oid tree;
    must(git_index_write_tree_to(&tree, index, repository.raw()));
    const bool ends_with_nul = asked.args.size() > 4;
    return printed(hex(tree) + (ends_with_nul ? '\0' : '\n'));
}

}  // namespace

Answer ask_objects(const Asked& asked) {
    if (asked.is({"write-tree"})) return tree_of_index(asked);
    if (asked.is({"add", "--sparse", "--all", "--", ":(top)"})) return everything_added(asked);
    if (asked.args.front() == "commit-tree" && asked.args.size() > 3) return commit(asked);
    if (asked.is({"ls-tree", "-r", "-z", "--full-tree"}, 1)) {
        const Repository repository(asked);
        std::string out;
        list_files(repository, *git_tree_id(repository.tree_of(repository.commit_id(asked.last())).get()), "", out);
        return printed(out);
    }
    if (asked.is({"show"}, 1) && asked.settings.empty()) return text_of(asked);
    if (asked.is({"merge-tree", "--write-tree", "-z", "--name-only", "--no-messages"}, 2)) return merged(asked);
    if (asked.is({"merge-tree", "--write-tree"}, 2)) return merged(asked);
    return std::nullopt;
}

}  // namespace orange::fakes::git

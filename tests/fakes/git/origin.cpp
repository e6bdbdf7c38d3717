#include <algorithm>

#include "common/base/text.hpp"
#include "tests/fakes/git/asked.hpp"

/// An origin in a folder of this machine.
namespace orange::fakes::git {
namespace {

namespace fs = std::filesystem;

/// A bare repository without hooks, settings or tags.
Repository origin_of(const Repository& repository) {
    const auto url = repository.setting("remote.origin.url");
    must_be(url.starts_with('/') && fs::is_directory(url) && fs::exists(url + "/HEAD"));
    must_be(repository.setting("remote.origin.fetch") == "+refs/heads/*:refs/remotes/origin/*");
    Repository origin(url);
    for (const auto& setting : origin.settings()) must_be(setting.key.starts_with("core."));
    if (fs::exists(url + "/hooks")) {
        for (const auto& entry : fs::directory_iterator(url + "/hooks")) {
            must_be(entry.path().extension() == ".sample");
        }
    }
    must_be(!fs::exists(url + "/refs/tags") || fs::is_empty(url + "/refs/tags"));
    must_be(!fs::exists(url + "/packed-refs"));
    return origin;
}

void copy_object(git_odb* from, git_odb* to, const git_oid& id) {
    if (git_odb_exists(to, &id) == 1) return;
    git_odb_object* object = nullptr;
    must(git_odb_read(&object, from, &id));
    const Held<git_odb_object, git_odb_object_free> held(object);
    git_oid written;
    must(git_odb_write(&written, to, git_odb_object_data(object), git_odb_object_size(object),
                       git_odb_object_type(object)));
}

void copy_tree(const Repository& repository, git_odb* from, git_odb* to, const git_oid& id) {
    if (git_odb_exists(to, &id) == 1) return;
    git_tree* tree = nullptr;
    must(git_tree_lookup(&tree, repository.raw(), &id));
    const Tree held(tree);
    for (std::size_t i = 0; i < git_tree_entrycount(tree); ++i) {
        const auto* entry = git_tree_entry_byindex(tree, i);
        if (git_tree_entry_type(entry) == GIT_OBJECT_TREE) {
            copy_tree(repository, from, to, *git_tree_entry_id(entry));
        } else {
            copy_object(from, to, *git_tree_entry_id(entry));
        }
    }
    copy_object(from, to, id);  // what is there is there with all below it
}

/// A commit and all below it, the oldest first.
void copy_history(const Repository& from, const Repository& to, const git_oid& tip) {
    git_odb *source = nullptr, *target = nullptr;
    must(git_repository_odb(&source, from.raw()));
    const Held<git_odb, git_odb_free> held_source(source);
    must(git_repository_odb(&target, to.raw()));
    const Held<git_odb, git_odb_free> held_target(target);
    git_revwalk* walk = nullptr;
    must(git_revwalk_new(&walk, from.raw()));
    const Held<git_revwalk, git_revwalk_free> held(walk);
    must(git_revwalk_sorting(walk, GIT_SORT_TOPOLOGICAL | GIT_SORT_REVERSE));
    must(git_revwalk_push(walk, &tip));
    git_oid id;
    int error = 0;
    while ((error = git_revwalk_next(&id, walk)) == 0) {
        if (git_odb_exists(target, &id) == 1) continue;
        copy_tree(from, source, target, *git_commit_tree_id(from.commit(id).get()));
        copy_object(source, target, id);
    }
    must_be(error == GIT_ITEROVER);
}

struct Branch {
    std::string name;  ///< after refs/heads/, or refs/remotes/origin/
    git_oid id;
};

std::vector<Branch> branches_of(const Repository& repository, const std::string& below) {
    git_reference_iterator* iterator = nullptr;
    must(git_reference_iterator_new(&iterator, repository.raw()));
    const Held<git_reference_iterator, git_reference_iterator_free> each(iterator);
    std::vector<Branch> found;
    git_reference* next = nullptr;
    while (git_reference_next(&next, iterator) == 0) {
        const Reference held(next);
        const std::string name = git_reference_name(next);
        const auto* id = git_reference_target(next);
        must_be(name.ends_with("/HEAD") || id != nullptr);
        if (name.starts_with(below) && id) found.push_back({name.substr(below.size()), *id});
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return found;
}

void set_ref(const Repository& repository, const std::string& name, const git_oid& to, const char* why) {
    git_reference* made = nullptr;
    must(git_reference_create(&made, repository.raw(), name.c_str(), &to, 1, why));
    const Reference held(made);
}

Completed fetched(const Asked& asked) {
    const Repository repository(asked);
    const auto origin = origin_of(repository);
    const std::string below = "refs/remotes/origin/";
    const auto there = branches_of(origin, "refs/heads/"), here = branches_of(repository, below);
    for (const auto& branch : there) must_be(is_harmless(branch.name));
    for (const auto& branch : here) must_be(!fs::exists(repository.common() + "/" + below + branch.name + ".lock"));
    for (const auto& branch : there) copy_history(origin, repository, branch.id);
    for (const auto& branch : here) {
        const bool gone =
            std::none_of(there.begin(), there.end(), [&](const auto& b) { return b.name == branch.name; });
        if (gone) must(git_reference_remove(repository.raw(), (below + branch.name).c_str()));
    }
    for (const auto& branch : there) {
        const auto now = repository.ref(below + branch.name);
        if (!now || git_oid_equal(&*now, &branch.id) == 0) set_ref(repository, below + branch.name, branch.id, "fetch");
    }
    return printed({});
}

Completed listed_at_origin(const Asked& asked) {
    const Repository repository(asked);
    const auto origin = origin_of(repository);
    must_be(is_harmless(asked.last()) && asked.last().starts_with("refs/heads/"));
    std::string out;
    for (const auto& branch : branches_of(origin, "refs/heads/")) {
        const auto name = "refs/heads/" + branch.name;
        if (name == asked.last() || name.ends_with("/" + asked.last())) out += hex(branch.id) + "\t" + name + "\n";
    }
    return printed(out);
}

std::string shortest(const git_oid& id) {
    return hex(id).substr(0, 7);
}

/// One branch, that is new or moves forward from what was expected.
Completed pushed(const Asked& asked, const std::optional<std::string>& expected, bool is_told) {
    const Repository repository(asked);
    const auto origin = origin_of(repository);
    const auto colon = asked.last().find(':');
    must_be(colon != std::string::npos);
    const auto from = asked.last().substr(0, colon), to = asked.last().substr(colon + 1);
    must_be(is_harmless(to) && to.starts_with("refs/heads/") && (is_whole_hash(from) || from == to));
    const auto id = repository.commit_id(from);
    const auto now = origin.ref(to);
    if (expected) must_be((now ? hex(*now) : std::string()) == *expected);
    must_be(!fs::exists(origin.common() + "/" + to + ".lock"));
    must_be(!now || git_oid_equal(&*now, &id) == 1 || git_graph_descendant_of(repository.raw(), &id, &*now) == 1);
    copy_history(repository, origin, id);
    set_ref(origin, to, id, "push");
    set_ref(repository, "refs/remotes/origin/" + to.substr(11), id, "update by push");
    if (!is_told) return printed({});
    const bool same = now && git_oid_equal(&*now, &id) == 1;
    const auto what = same ? "=\t" : now ? " \t" : "*\t";
    const auto how = same ? "[up to date]" : now ? shortest(*now) + ".." + shortest(id) : "[new branch]";
    return printed("To " + repository.setting("remote.origin.url") + "\n" + what + asked.last() + "\t" + how +
                   "\nDone\n");
}

}  // namespace

Answer ask_origin(const Asked& asked) {
    if (asked.is({"fetch", "--quiet", "--prune", "--no-write-fetch-head", "--no-recurse-submodules",
                  "--upload-pack=git-upload-pack", "origin"})) {
        return fetched(asked);
    }
    if (asked.is({"ls-remote", "--upload-pack=git-upload-pack", "--heads", "origin"}, 1))
        return listed_at_origin(asked);
    if (asked.is({"push", "--quiet", "--no-verify", "--no-follow-tags", "--receive-pack=git-receive-pack",
                  "--end-of-options", "origin"},
                 1)) {
        return pushed(asked, std::nullopt, false);
    }
    if (asked.is({"push", "--porcelain", "--no-verify", "--no-follow-tags", "--receive-pack=git-receive-pack"}, 3)) {
        const auto& lease = asked.args.at(5);
        const auto colon = lease.rfind(':');
        const auto target = asked.last().substr(asked.last().find(':') + 1);
        must_be(lease.substr(0, colon) == "--force-with-lease=" + target && asked.last(1) == "origin");
        return pushed(asked, lease.substr(colon + 1), true);
    }
    return std::nullopt;
}

}  // namespace orange::fakes::git

#include <algorithm>

#include "common/base/text.hpp"
#include "tests/fakes/git/asked.hpp"
#include "tests/support/os_fixture.hpp"

/// Worktrees beside the main one, and what is checked out.
namespace orange::fakes::git {
namespace {

namespace fs = std::filesystem;

/// A file of git's own, of one line.
std::string line_of(const fs::path& file) {
    must_be(fs::is_regular_file(fs::symlink_status(file)) && fs::file_size(file) < 5000);
    auto text = orange::test::read_file(file);
    must_be(text.ends_with('\n'));
    text.pop_back();
    must_be(!text.empty() && text.find('\n') == std::string::npos);
    return text;
}

void read_head(const Repository& repository, const std::string& admin, Listed& into) {
    const auto head = line_of(admin + "/HEAD");
    into.head = std::string(40, '0');
    if (!head.starts_with("ref: ")) {
        must_be(is_whole_hash(head));
        into.head = head;
        return;
    }
    into.branch = head.substr(5);
    must_be(is_harmless(into.branch) && into.branch.starts_with("refs/heads/"));
    if (const auto id = repository.ref(into.branch)) into.head = hex(*id);
}

Listed linked(const Repository& repository, const fs::path& admin) {
    Listed found;
    found.admin = admin.string();
    const auto place = line_of(admin / "gitdir");
    must_be(place.starts_with('/') && line_of(admin / "commondir") == "../..");
    found.path = without_suffix(place, "/.git");
    read_head(repository, found.admin, found);
    if (fs::exists(admin / "locked")) {
        found.locked = fs::file_size(admin / "locked") == 0 ? std::string() : line_of(admin / "locked");
    }
    found.prunable = !found.locked && !fs::exists(place);
    return found;
}

Completed list(const Asked& asked) {
    const Repository repository(asked);
    std::string out;
    for (const auto& worktree : worktrees_of(repository)) {
        out += "worktree " + worktree.path + k_end;
        if (worktree.bare) {
            out += std::string("bare") + k_end;
        } else {
            out += "HEAD " + worktree.head + k_end;
            out += (worktree.branch.empty() ? "detached" : "branch " + worktree.branch) + k_end;
        }
        if (worktree.locked) out += (worktree.locked->empty() ? "locked" : "locked " + *worktree.locked) + k_end;
        if (worktree.prunable) out += std::string("prunable gitdir file points to non-existent location") + k_end;
        out += k_end;
    }
    return printed(out);
}

Completed add(const Asked& asked) {
    const Repository repository(asked);
    const fs::path path = asked.last(1);
    const auto commit = id_of(asked.last());
    (void)repository.commit(commit);
    const auto name = path.filename().string();
    const auto admin = fs::path(repository.common()) / "worktrees" / name;
    must_be(path.is_absolute() && is_harmless(name) && name.find("..") == std::string::npos);
    must_be(!fs::exists(admin) && !fs::exists(fs::symlink_status(path)));
    must_be(fs::is_directory(path.parent_path()) && fs::canonical(path.parent_path()) == path.parent_path());
    for (const auto& other : worktrees_of(repository)) must_be(other.path != path);
    fs::create_directories(admin);
    fs::create_directory(path);
    orange::test::write_file(admin / "gitdir", (path / ".git").string() + "\n");
    orange::test::write_file(admin / "commondir", "../..\n");
    orange::test::write_file(admin / "HEAD", asked.last() + "\n");
    orange::test::write_file(path / ".git", "gitdir: " + admin.string() + "\n");
    Asked inside = asked;
    inside.cwd = path.string();
    check_out(Repository(inside), commit, GIT_CHECKOUT_FORCE);
    return printed({});
}

Listed named(const Repository& repository, const std::string& path) {
    for (auto& worktree : worktrees_of(repository)) {
        if (worktree.path == path && !worktree.admin.empty()) return worktree;
    }
    throw Unusual{};
}

Completed remove(const Asked& asked) {
    const Repository repository(asked);
    const auto worktree = named(repository, asked.last());
    const fs::path path = worktree.path;
    must_be(fs::is_directory(fs::symlink_status(path)) && fs::canonical(path) == path);
    must_be(line_of(path / ".git") == "gitdir: " + worktree.admin);
    fs::remove_all(path);
    fs::remove_all(worktree.admin);
    std::error_code in_use;
    fs::remove(fs::path(worktree.admin).parent_path(), in_use);
    return printed({});
}

}  // namespace

std::vector<Listed> worktrees_of(const Repository& repository) {
    const fs::path common = repository.common();
    Listed main;
    main.bare = git_repository_is_bare(repository.raw()) == 1 && repository.setting("core.bare") == "true";
    main.path = common.filename() == ".git" ? common.parent_path().string() : common.string();
    must_be(main.bare || common.filename() == ".git");
    if (!main.bare) read_head(repository, repository.common(), main);
    std::vector<Listed> all;
    if (fs::exists(common / "worktrees")) {
        for (const auto& entry : fs::directory_iterator(common / "worktrees")) {
            all.push_back(linked(repository, entry.path()));
        }
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
    all.insert(all.begin(), std::move(main));
    return all;
}

Answer ask_worktrees(const Asked& asked) {
    if (asked.is({"worktree", "list", "--porcelain", "-z"})) return list(asked);
    if (asked.is({"worktree", "add", "--quiet", "--detach"}, 2)) return add(asked);
    if (asked.is({"worktree", "lock", "--reason"}, 2)) {
        const Repository repository(asked);
        const auto worktree = named(repository, asked.last());
        must_be(!worktree.locked && is_harmless(asked.last(1)));
        orange::test::write_file(worktree.admin + "/locked", asked.last(1) + "\n");
        return printed({});
    }
    if (asked.is({"worktree", "remove", "--force", "--force"}, 1)) return remove(asked);
    return std::nullopt;
}

}  // namespace orange::fakes::git

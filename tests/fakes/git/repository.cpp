#include <algorithm>
#include <cstring>

#include "common/base/text.hpp"
#include "tests/fakes/git/asked.hpp"
#include "tests/support/os_fixture.hpp"

/// Opening a repository, its settings, and the names of commits.
namespace orange::fakes::git {
namespace {

namespace fs = std::filesystem;

bool exists(const fs::path& path) {
    std::error_code error;
    return fs::exists(fs::symlink_status(path, error));
}

std::string resolved(const std::string& path) {
    std::error_code error;
    auto real = fs::canonical(path, error);
    if (error) throw Unusual{};
    return real.string();
}

std::string without_slash(const char* path) {
    std::string text = path ? path : "";
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    return text;
}

/// A setting that changes nothing of what is answered here.
bool is_usual(const std::string& key, const std::string& value) {
    static const std::set<std::string> known = {
        "user.name", "user.email",  "init.defaultbranch", "protocol.file.allow", "core.filemode",
        "core.bare", "core.editor", "remote.origin.url",  "remote.origin.fetch", "core.logallrefupdates",
    };
    if (key == "core.repositoryformatversion") return value == "0";
    return known.contains(key) || (key.starts_with("branch.") && (key.ends_with(".remote") || key.ends_with(".merge")));
}

void read_settings(const std::string& file, const std::string& scope, std::vector<Repository::Setting>& into) {
    if (!exists(file)) return;
    git_config* config = nullptr;
    must(git_config_open_ondisk(&config, file.c_str()));
    const Held<git_config, git_config_free> held(config);
    git_config_iterator* iterator = nullptr;
    must(git_config_iterator_new(&iterator, config));
    const Held<git_config_iterator, git_config_iterator_free> each(iterator);
    git_config_entry* entry = nullptr;
    int error = 0;
    while ((error = git_config_next(&entry, iterator)) == 0) {
        must_be(entry->include_depth == 0);
        Repository::Setting setting{scope, entry->name, std::nullopt};
        if (entry->value) setting.value = entry->value;
        into.push_back(std::move(setting));
    }
    must_be(error == GIT_ITEROVER);
}

}  // namespace

std::string Asked::variable(const std::string& name) const {
    const auto found = env.find(name);
    return found == env.end() ? std::string() : found->second;
}

bool Asked::is(std::initializer_list<std::string_view> head, std::size_t more) const {
    return args.size() == head.size() + more && std::equal(head.begin(), head.end(), args.begin());
}

void must(int error) {
    if (error < 0) throw Unusual{};
}

void must_be(bool condition) {
    if (!condition) throw Unusual{};
}

Completed printed(std::string out) {
    Completed done;
    done.exit_status = 0;
    done.out = std::move(out);
    return done;
}

Completed failed(int exit_status) {
    Completed done;
    done.exit_status = exit_status;
    return done;
}

std::string hex(const git_oid& id) {
    return git_oid_tostr_s(&id);
}

bool is_whole_hash(std::string_view text) {
    return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

git_oid id_of(const std::string& hash) {
    must_be(is_whole_hash(hash));
    git_oid id;
    must(git_oid_fromstr(&id, hash.c_str()));
    return id;
}

bool is_harmless(std::string_view name) {
    const bool letters = std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
               c == '/' || c == '.';
    });
    return letters && !name.empty() && name.size() < 200 && name.front() != '-' && name.front() != '/' &&
           name.find("..") == std::string_view::npos && name.find("//") == std::string_view::npos;
}

std::string without_suffix(const std::string& text, std::string_view suffix) {
    must_be(text.ends_with(suffix));
    return text.substr(0, text.size() - suffix.size());
}

Repository::Repository(const Asked& asked) : home_(asked.variable("HOME")) {
    const auto told = asked.variable("GIT_DIR");
    const auto place = resolved(asked.cwd);
    const bool is_bare = told.empty() && exists(place + "/HEAD") && exists(place + "/objects");
    must_be(!told.empty() || is_bare || exists(place + "/.git"));
    must_be(told.empty() || told.starts_with('/'));
    git_repository* opened = nullptr;
    must(git_repository_open(&opened, told.empty() ? place.c_str() : told.c_str()));
    held_.reset(opened);
    git_dir_ = without_slash(git_repository_path(opened));
    common_ = without_slash(git_repository_commondir(opened));
    must_be(told.empty() || (git_dir_ == told && common_ == asked.variable("GIT_COMMON_DIR")));
    worktree_ = is_bare ? std::string() : place;
    const auto own = without_slash(git_repository_workdir(opened));
    if (!worktree_.empty() && own != worktree_) {
        // Told of another folder, which a merge of trees is made in.
        must_be(!told.empty() && git_dir_ == common_ && asked.args.front() == "merge-tree");
    }
    check();
}

Repository::Repository(const std::string& bare) {
    git_repository* opened = nullptr;
    must(git_repository_open_bare(&opened, bare.c_str()));
    held_.reset(opened);
    git_dir_ = common_ = without_slash(git_repository_path(opened));
    check();
}

void Repository::check() const {
    for (const char* name : {"info/attributes", "info/grafts", "info/sparse-checkout", "shallow",
                             "objects/info/alternates", "refs/replace", "config.worktree"}) {
        must_be(!exists(common_ + "/" + name));
    }
    must_be(git_repository_state(raw()) == GIT_REPOSITORY_STATE_NONE);
    must_be(!exists(git_dir_ + "/HEAD.lock") && !exists(git_dir_ + "/index.lock") &&
            !exists(common_ + "/packed-refs.lock"));
    for (const char* name : {".gitattributes", ".gitmodules"}) {
        must_be(worktree_.empty() || !exists(worktree_ + "/" + name));
    }
    for (const auto& setting : settings()) must_be(is_usual(setting.key, setting.value.value_or("")));
}

std::vector<Repository::Setting> Repository::settings() const {
    std::vector<Setting> all;
    if (!home_.empty()) read_settings(home_ + "/.gitconfig", "global", all);
    if (!home_.empty()) must_be(!exists(home_ + "/.config/git"));
    read_settings(common_ + "/config", "local", all);
    return all;
}

std::string Repository::setting(const std::string& key) const {
    std::string value;
    for (const auto& each : settings()) {
        if (each.key == key) value = each.value.value_or("");
    }
    return value;
}

std::optional<git_oid> Repository::ref(const std::string& full_name) const {
    git_oid id;
    const int error = git_reference_name_to_id(&id, raw(), full_name.c_str());
    if (error == GIT_ENOTFOUND) return std::nullopt;
    must(error);
    return id;
}

std::optional<git_oid> Repository::find_commit(const std::string& name) const {
    if (is_whole_hash(name)) {
        const auto id = id_of(name);
        (void)commit(id);
        return id;
    }
    must_be(is_harmless(name));
    auto full = name;
    if (name != "HEAD" && !name.starts_with("refs/")) {
        full = "refs/heads/" + name;
        for (const char* other : {"refs/", "refs/tags/", "refs/remotes/"}) must_be(!ref(other + name));
        must_be(!exists(git_dir_ + "/" + name) && name.size() != 40);
    }
    const auto id = ref(full);
    if (!id) must_be(name == "HEAD" || !exists(common_ + "/" + full));
    if (id) (void)commit(*id);  // a tag, or what is not there
    return id;
}

git_oid Repository::commit_id(const std::string& name) const {
    const auto id = find_commit(name);
    must_be(id.has_value());
    return *id;
}

Commit Repository::commit(const git_oid& id) const {
    git_commit* found = nullptr;
    must(git_commit_lookup(&found, raw(), &id));
    return Commit(found);
}

Tree Repository::tree_of(const git_oid& id) const {
    const auto of = commit(id);
    git_tree* tree = nullptr;
    must(git_commit_tree(&tree, of.get()));
    return Tree(tree);
}

std::string Repository::head_ref() const {
    git_reference* head = nullptr;
    must(git_reference_lookup(&head, raw(), "HEAD"));
    const Reference held(head);
    const char* target = git_reference_symbolic_target(head);
    return target ? target : "";
}

void Repository::must_hold_none() const {
    for (fs::recursive_directory_iterator at(worktree_), end; at != end; ++at) {
        if (at->path().filename() != ".git") continue;
        must_be(at.depth() == 0);
        at.disable_recursion_pending();
    }
}

Index Repository::index() const {
    git_index* index = nullptr;
    must(git_repository_index(&index, raw()));
    Index held(index);
    must(git_index_read(index, 1));
    must_be(!git_index_has_conflicts(index));
    for (std::size_t i = 0; i < git_index_entrycount(index); ++i) {
        const auto* entry = git_index_get_byindex(index, i);
        must_be((entry->flags & GIT_INDEX_ENTRY_VALID) == 0 && entry->flags_extended == 0);
        must_be(entry->mode != GIT_FILEMODE_COMMIT);
    }
    return held;
}

Signature Repository::author(const Asked& asked, const char* who) const {
    const std::string prefix = std::string("GIT_") + who;
    auto name = asked.variable(prefix + "_NAME"), email = asked.variable(prefix + "_EMAIL");
    if (name.empty()) name = setting("user.name");
    if (email.empty()) email = setting("user.email");
    must_be(!name.empty() && !email.empty());
    git_signature* made = nullptr;
    const auto date = asked.variable(prefix + "_DATE");
    if (date.empty()) {
        must(git_signature_now(&made, name.c_str(), email.c_str()));
    } else {
        must_be(date.ends_with(" +0000"));
        must(git_signature_new(&made, name.c_str(), email.c_str(), std::stoll(date), 0));
    }
    return Signature(made);
}

}  // namespace orange::fakes::git

#include <algorithm>

#include "common/base/text.hpp"
#include "tests/fakes/git/asked.hpp"

/// Listing and changing refs.
namespace orange::fakes::git {
namespace {

constexpr const char* k_known =
    "--format=%(refname)%00%(objectname)%00%(upstream:remotename)%00%(upstream:track)%00%(worktreepath)%00";

struct Named {
    std::string name;
    git_oid id;
};

bool is_below(const std::string& name, const std::string& pattern) {
    const auto folder = pattern.ends_with('/') ? pattern : pattern + "/";
    return name == pattern || name.starts_with(folder);
}

std::vector<Named> matching(const Repository& repository, const std::vector<std::string>& patterns) {
    git_reference_iterator* iterator = nullptr;
    must(git_reference_iterator_new(&iterator, repository.raw()));
    const Held<git_reference_iterator, git_reference_iterator_free> each(iterator);
    std::vector<Named> found;
    git_reference* next = nullptr;
    int error = 0;
    while ((error = git_reference_next(&next, iterator)) == 0) {
        const Reference held(next);
        const std::string name = git_reference_name(next);
        const bool wanted =
            std::any_of(patterns.begin(), patterns.end(), [&](const auto& pattern) { return is_below(name, pattern); });
        if (!wanted) continue;
        git_reference* direct = nullptr;
        must(git_reference_resolve(&direct, next));
        const Reference target(direct);
        const auto* id = git_reference_target(direct);
        (void)repository.commit(*id);
        found.push_back({name, *id});
    }
    must_be(error == GIT_ITEROVER);
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return found;
}

/// The remote that a branch follows, and how it stands to it: "", "[gone]", "[ahead 1, behind 2]".
std::pair<std::string, std::string> followed(const Repository& repository, const Named& branch) {
    constexpr std::string_view k_heads = "refs/heads/";
    if (!branch.name.starts_with(k_heads)) return {};
    const auto name = branch.name.substr(k_heads.size());
    const auto remote = repository.setting("branch." + name + ".remote");
    const auto merge = repository.setting("branch." + name + ".merge");
    if (remote.empty() && merge.empty()) return {};
    must_be(remote == "origin" && merge.starts_with(k_heads));
    must_be(repository.setting("remote.origin.fetch") == "+refs/heads/*:refs/remotes/origin/*");
    const auto upstream = repository.ref("refs/remotes/origin/" + merge.substr(k_heads.size()));
    if (!upstream) return {remote, "[gone]"};
    std::size_t ahead = 0, behind = 0;
    must(git_graph_ahead_behind(&ahead, &behind, repository.raw(), &branch.id, &*upstream));
    std::string track;
    if (ahead > 0) track = "ahead " + std::to_string(ahead);
    if (behind > 0) track += (track.empty() ? "" : ", ") + ("behind " + std::to_string(behind));
    return {remote, track.empty() ? "" : "[" + track + "]"};
}

Completed listed_refs(const Asked& asked) {
    const Repository repository(asked);
    const std::vector<std::string> patterns(asked.args.begin() + 2, asked.args.end());
    for (const auto& pattern : patterns) must_be(is_harmless(pattern) && pattern.starts_with("refs/"));
    std::map<std::string, std::string> places;
    for (const auto& worktree : worktrees_of(repository)) places.emplace(worktree.branch, worktree.path);
    std::string out;
    for (const auto& ref : matching(repository, patterns)) {
        const auto [remote, track] = followed(repository, ref);
        const auto place = places.find(ref.name);
        for (const auto& field :
             {ref.name, hex(ref.id), remote, track, place == places.end() ? std::string() : place->second}) {
            out += field + k_end;
        }
        out += "\n";
    }
    return printed(out);
}

/// "--count=1 --format=%(refname) --contains <hash> <patterns>".
Completed holder(const Asked& asked) {
    const Repository repository(asked);
    const auto id = repository.commit_id(asked.args.at(4));
    for (const auto& ref : matching(repository, {asked.args.begin() + 5, asked.args.end()})) {
        const bool same = git_oid_equal(&ref.id, &id) == 1;
        const int above = same ? 1 : git_graph_descendant_of(repository.raw(), &ref.id, &id);
        must(above);
        if (above == 1) return printed(ref.name + "\n");
    }
    return printed({});
}

struct Update {
    std::string name;
    std::optional<git_oid> to;  ///< nothing: deleted
};

void check(const Repository& repository, const Update& update, const std::optional<std::string>& old) {
    must_be(is_harmless(update.name) && update.name.starts_with("refs/"));
    must_be(!std::filesystem::exists(repository.common() + "/" + update.name + ".lock"));
    const auto now = repository.ref(update.name);
    if (update.to) (void)repository.commit(*update.to);
    if (!update.to) must_be(now.has_value());
    if (old) must_be((now ? hex(*now) : std::string(40, '0')) == *old);
    if (now || !update.to) return;
    for (const auto& other : matching(repository, {"refs"})) {
        must_be(!other.name.starts_with(update.name + "/") && !update.name.starts_with(other.name + "/"));
    }
}

void carry_out(const Repository& repository, const Update& update, const std::string& message) {
    if (!update.to) return must(git_reference_remove(repository.raw(), update.name.c_str()));
    git_reference* made = nullptr;
    must(git_reference_create(&made, repository.raw(), update.name.c_str(), &*update.to, 1, message.c_str()));
    const Reference held(made);
}

/// "update <ref> <new>" and "delete <ref> <old>", a line each.
Completed updated_together(const Asked& asked) {
    const Repository repository(asked);
    std::vector<Update> updates;
    for (const auto line : split_lines(asked.input)) {
        const auto parts = split(line, ' ');
        must_be(parts.size() == 3 && (parts[0] == "update" || parts[0] == "delete"));
        Update update{std::string(parts[1]), std::nullopt};
        std::optional<std::string> old;
        if (parts[0] == "update") update.to = id_of(std::string(parts[2]));
        if (parts[0] == "delete") old = parts[2];
        check(repository, update, old);
        updates.push_back(std::move(update));
    }
    for (const auto& update : updates) carry_out(repository, update, asked.args.at(2));
    return printed({});
}

}  // namespace

Answer ask_refs(const Asked& asked) {
    const auto& args = asked.args;
    if (args.front() == "for-each-ref" && args.size() > 2 && args[1] == k_known) return listed_refs(asked);
    if (args.front() == "for-each-ref" && args.size() > 5 && args[1] == "--count=1" &&
        args[2] == "--format=%(refname)" && args[3] == "--contains") {
        return holder(asked);
    }
    if (asked.is({"update-ref", "-m"}, 2) && asked.last() == "--stdin") return updated_together(asked);
    const bool has_old = asked.is({"update-ref", "-m"}, 4);
    if (has_old || asked.is({"update-ref", "-m"}, 3)) {
        const Repository repository(asked);
        const Update update{args[3], id_of(args[4])};
        std::optional<std::string> old;
        if (has_old) old = args[5];
        check(repository, update, old);
        carry_out(repository, update, args[2]);
        return printed({});
    }
    return std::nullopt;
}

}  // namespace orange::fakes::git

#include "daemon/git/own.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/branches.hpp"

namespace orange::git {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds k_fetch_deadline = std::chrono::minutes(2), k_answer_deadline{10'000};
constexpr std::size_t k_most_parents = 4000, k_most_left = 200, k_most_looked_at = 2000;

/// Sections of a configuration that say how files and commits are made, and name no place.
const std::set<std::string, std::less<>> k_sections = {"user",  "filter", "diff", "merge",  "commit",
                                                       "apply", "i18n",   "pull", "rebase", "lfs"};
const std::set<std::string, std::less<>> k_core = {
    "filemode",  "ignorecase",     "autocrlf",     "eol",       "safecrlf",   "symlinks",       "precomposeunicode",
    "hookspath", "attributesfile", "excludesfile", "quotepath", "whitespace", "sparsecheckout", "sparsecheckoutcone"};

std::string in_quotes(std::string_view value) {
    std::string text = "\"";
    for (const char c : value) {
        if (c == '\n') {
            text += "\\n";
            continue;
        }
        if (c == '"' || c == '\\') text += '\\';
        text += c;
    }
    return text + "\"";
}

/// Removes the name and the password from an address.
std::string without_secret(std::string address) {
    const auto scheme = address.find("://");
    if (scheme == std::string::npos) return address;
    const auto end = std::min(address.find('/', scheme + 3), address.size());
    const auto at = address.rfind('@', end - 1);
    if (at != std::string::npos && at > scheme) address.erase(scheme + 3, at - scheme - 2);
    return address;
}

/// Returns a setting as a text of a configuration file; empty if it is not carried over.
std::string carried(std::string_view setting) {
    const auto line = setting.find('\n');
    const auto key = setting.substr(0, line);
    const auto value = line == std::string_view::npos ? std::string_view("true") : setting.substr(line + 1);
    const auto first = key.find('.'), last = key.rfind('.');
    if (first == std::string_view::npos) return {};
    const auto section = key.substr(0, first), name = key.substr(last + 1);
    const auto sub = first == last ? std::string_view() : key.substr(first + 1, last - first - 1);
    const bool is_remote = section == "remote" && (name == "url" || name == "fetch");
    const bool is_core = section == "core" && sub.empty() && k_core.contains(name);
    const bool is_url = name == "url" || name == "pushurl" || name == "lfsurl";
    if (!is_remote && !is_core && (is_url || !k_sections.contains(section))) return {};
    return "[" + std::string(section) + (sub.empty() ? "" : " " + in_quotes(sub)) + "]\n\t" + std::string(name) +
           " = " + in_quotes(is_remote ? without_secret(std::string(value)) : std::string(value)) + "\n";
}

Result<void> write_text(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    return file ? Result<void>{} : io_error("writing " + path, errno);
}

/// The branches and tags that the agent's repository begins with.
struct Branches {
    std::string packed;             ///< the text of packed-refs
    std::string origin_head;        ///< the branch that origin/HEAD is
    std::set<std::string> commits;  ///< of the branches
    std::map<std::string, std::string> tips;
};

Awaitable<Result<Branches>> branches_of(Git& git, std::string repo, std::vector<std::string> names) {
    auto args = words("for-each-ref", "--format=%(objectname) %(refname) %(symref)");
    for (const auto& name : names) args.push_back(std::string(k_heads) + name);
    args.emplace_back("refs/remotes/origin");
    args.emplace_back("refs/tags");
    CO_TRY(const auto listed, co_await ask(git, repo, std::move(args)));
    Branches all;
    for (const auto line : split_lines(listed)) {
        const auto parts = split(line, ' ');
        if (parts.size() < 2 || !is_hash(parts[0])) continue;
        const std::string commit(parts[0]), ref(parts[1]);
        if (parts.size() > 2 && !parts[2].empty()) {
            if (ref == "refs/remotes/origin/HEAD") all.origin_head = std::string(parts[2]);
            continue;
        }
        all.packed += commit + " " + ref + "\n";
        all.tips[ref] = commit;
        if (!ref.starts_with("refs/tags/")) all.commits.insert(commit);
    }
    co_return all;
}

/// Keeps the commits in the project's repository as long as the agent's reads them there.
Awaitable<Result<void>> keep_base(Git& git, OwnPlace place, std::set<std::string> commits) {
    GitCommand command{place.repo,
                       words("commit-tree", "HEAD^{tree}", "-m", "what a repository of an agent stands on")};
    if (!commits.empty()) command.args[1] = *commits.begin() + "^{tree}";
    for (const auto& commit : commits) {
        if (command.args.size() / 2 > k_most_parents) break;
        command.args.emplace_back("-p");
        command.args.push_back(commit);
    }
    for (const char* who : {"AUTHOR", "COMMITTER"}) {
        command.env["GIT_" + std::string(who) + "_NAME"] = "Orange";
        command.env["GIT_" + std::string(who) + "_EMAIL"] = "orange@localhost";
    }
    CO_TRY(const auto base, co_await git_output(git, std::move(command)));
    CO_TRY(co_await ask(git, place.repo, words("update-ref", place.refs + "/base", std::string(trim(base)))));
    co_return Result<void>{};
}

/// The state of a worktree and of the refs of take_over(), as the project's repository has them.
struct Here {
    std::string branch;    ///< the worktree's, or the one that it has left for a commit alone; empty: none
    std::string tip;       ///< the commit of that branch; without a branch, that of HEAD
    std::string head;      ///< the commit of HEAD
    std::string taken;     ///< the commit of the agent's branch when it was taken over last
    bool is_away = false;  ///< HEAD is at a commit alone
};

Awaitable<Result<std::string>> commit_at(Git& git, Place place, std::string name) {
    CO_TRY(const auto found, co_await attempt(git, std::move(place), words("rev-parse", "--verify", "--quiet", name)));
    co_return found.ok() ? std::string(trim(found.out)) : std::string();
}

Awaitable<Result<std::string>> branch_of(Git& git, Place place, std::string symbolic) {
    CO_TRY(const auto found, co_await attempt(git, std::move(place), words("symbolic-ref", "--quiet", symbolic)));
    const auto ref = trim(found.out);
    const bool is_branch = found.ok() && ref.starts_with(k_heads);
    co_return is_branch ? std::string(ref.substr(k_heads.size())) : std::string();
}

Awaitable<Result<Here>> state_of(Git& git, OwnPlace place, Pinned worktree) {
    Here here;
    CO_TRY(here.branch, co_await branch_of(git, worktree, "HEAD"));
    CO_TRY(here.head, co_await commit_at(git, worktree, "HEAD"));
    CO_TRY(here.taken, co_await commit_at(git, place.repo, place.refs + "/branch"));
    here.is_away = here.branch.empty();
    here.tip = here.head;
    if (!here.is_away) co_return here;
    CO_TRY(auto left, co_await branch_of(git, place.repo, place.refs + "/left"));
    if (left.empty()) co_return here;
    CO_TRY(auto tip, co_await commit_at(git, place.repo, std::string(k_heads) + left));
    if (tip.empty()) co_return here;
    here.branch = std::move(left);
    here.tip = std::move(tip);
    co_return here;
}

/// The agent's repository, as its upload-pack says.
struct There {
    std::string branch;  ///< of HEAD; empty: detached, or without a commit
    std::map<std::string, std::string> refs;
};

Awaitable<Result<There>> look_into(Git& git, OwnPlace place, std::string upload_pack, std::vector<std::string> names) {
    GitCommand command{place.repo, words("ls-remote", "--symref", "--upload-pack=" + upload_pack, place.path)};
    command.args.insert(command.args.end(), names.begin(), names.end());
    command.deadline = k_answer_deadline;
    CO_TRY(const auto listed, co_await git_output(git, std::move(command)));
    There there;
    for (const auto line : split_lines(listed)) {
        const auto parts = split(line, '\t');
        if (parts.size() != 2) continue;
        constexpr std::string_view k_symbolic = "ref: refs/heads/";
        if (parts[1] == "HEAD" && parts[0].starts_with(k_symbolic)) there.branch = parts[0].substr(k_symbolic.size());
        if (is_hash(parts[0])) there.refs[std::string(parts[1])] = std::string(parts[0]);
    }
    co_return there;
}

Awaitable<Result<void>> fetch(Git& git, OwnPlace place, std::string upload_pack, std::vector<std::string> refspecs) {
    GitCommand command{place.repo, words("-c", "fetch.fsckObjects=true", "-c", "maintenance.auto=false", "-c",
                                         "gc.auto=0", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head",
                                         "--no-recurse-submodules", "--upload-pack=" + upload_pack, place.path)};
    command.args.insert(command.args.end(), refspecs.begin(), refspecs.end());
    command.deadline = k_fetch_deadline;
    CO_TRY(co_await git_output(git, std::move(command)));
    co_return Result<void>{};
}

Awaitable<Result<void>> update(Git& git, Place place, std::string ref, std::string to, std::string from) {
    CO_TRY(co_await ask(git, std::move(place),
                        words("update-ref", "-m", "orange: taken over from the agent", ref, to, from)));
    co_return Result<void>{};
}

/// Returns false if somebody else has moved the branch, and the agent's commits are not on top of that.
Awaitable<Result<bool>> may_move(Git& git, std::string repo, Here here, std::string to) {
    if (here.taken.empty() || here.taken == here.tip) co_return true;
    CO_TRY(const auto above, co_await attempt(git, repo, words("merge-base", "--is-ancestor", here.tip, to)));
    co_return above.exit_status == 0;
}

/// Moves the branch to what the agent has committed, and notes that this was taken over, both or none.
Awaitable<Result<void>> move_branch(Git& git, OwnPlace place, std::string branch, std::string to, std::string from) {
    GitCommand command{place.repo, words("update-ref", "-m", "orange: taken over from the agent", "--stdin")};
    if (to != from) command.input = "update " + branch + " " + to + " " + from + "\n";
    command.input += "update " + place.refs + "/branch " + to + "\n";
    CO_TRY(co_await git_output(git, std::move(command)));
    co_return Result<void>{};
}

/// Returns true for the name of a branch that the agent may make in the project: no name that git could take for
/// another ref there.
Awaitable<Result<bool>> may_be_made(Git& git, std::string repo, std::string name) {
    for (const char* reserved : {"heads/", "tags/", "remotes/", "refs/", "origin/", "orange/"}) {
        if (name.starts_with(reserved)) co_return false;
    }
    if (is_hash(name) || name == "stash") co_return false;
    const auto checked = co_await check_branch_name(git, name);
    if (!checked) co_return false;
    for (const char* side : {"refs/heads/", "refs/tags/", "refs/remotes/"}) {
        CO_TRY(const auto known, co_await commit_at(git, repo, side + name));
        if (!known.empty()) co_return false;
    }
    co_return true;
}

/// Brings the worktree's HEAD to a branch that the agent has made or renamed. One that the project has already is not
/// touched: HEAD is then at the commit alone, until the agent is on its branch again.
Awaitable<Result<void>> follow_head(Git& git, OwnPlace place, Pinned worktree, Here here, There there, std::string head,
                                    bool is_new) {
    const auto ref = std::string(k_heads) + there.branch;
    if (!is_new) {
        const auto old = std::string(k_heads) + here.branch;
        if (!here.is_away) CO_TRY(co_await ask(git, place.repo, words("symbolic-ref", place.refs + "/left", old)));
        CO_TRY(co_await ask(git, worktree, words("update-ref", "--no-deref", "HEAD", head)));
        co_return Result<void>{};
    }
    CO_TRY(co_await update(git, place.repo, ref, head, ""));
    CO_TRY(co_await ask(git, worktree, words("symbolic-ref", "-m", "orange: taken over from the agent", "HEAD", ref)));
    CO_TRY(co_await move_branch(git, place, ref, head, head));
    const auto old = std::string(k_heads) + here.branch;
    const bool was_renamed = !here.branch.empty() && !there.refs.contains(old) && here.taken == here.tip;
    if (was_renamed) CO_TRY(co_await ask(git, place.repo, words("update-ref", "-d", old, here.tip)));
    co_return Result<void>{};
}

}  // namespace

Awaitable<Result<void>> check_agents_branch(Git& git, std::string repo, std::string name) {
    CO_TRY(const auto existing, co_await commit_at(git, repo, "refs/heads/" + name));
    CO_TRY(const bool is_plain, co_await may_be_made(git, repo, name));
    if (is_plain || !existing.empty()) co_return Result<void>{};  // who may use one that exists is decided elsewhere
    co_return Error(ErrorCode::invalid_argument, "git could take a branch " + printable(name) +
                                                     " for another ref of the repository. Choose another name");
}

Awaitable<Result<void>> make_own(Git& git, OwnPlace place, Pinned worktree, std::vector<std::string> names) {
    const auto made = place.path + ".new";
    CO_TRY(co_await remove_own(git, place));
    CO_TRY(remove_folder(git, made));
    CO_TRY(const auto here, co_await state_of(git, place, worktree));
    if (!here.branch.empty()) names.push_back(here.branch);
    CO_TRY(auto branches, co_await branches_of(git, place.repo, std::move(names)));
    branches.commits.insert(here.head);
    CO_TRY(co_await keep_base(git, place, branches.commits));
    if (!here.branch.empty()) CO_TRY(co_await update(git, place.repo, place.refs + "/branch", here.head, ""));

    CO_TRY(const auto format, co_await ask(git, place.repo, words("rev-parse", "--show-object-format")));
    const bool is_sha1 = trim(format) == "sha1";
    GitCommand init{place.repo, words("init", "--quiet", "--bare", "--template=")};
    if (!is_sha1) init.args.push_back("--object-format=" + std::string(trim(format)));
    init.args.push_back(made);
    init.env["GIT_DEFAULT_REF_FORMAT"] = "files";
    CO_TRY(co_await git_output(git, std::move(init)));
    std::string config =
        is_sha1 ? "[core]\n\trepositoryformatversion = 0\n"
                : "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = " + std::string(trim(format)) +
                      "\n";
    config += "[core]\n\tbare = false\n\tlogallrefupdates = true\n";
    bool has_hooks = false;
    for (const char* scope : {"--local", "--worktree"}) {
        CO_TRY(const auto settings,
               co_await attempt(git, worktree, words("config", scope, "--includes", "--list", "--null")));
        for (const auto& setting : pieces(settings.out)) {
            config += carried(setting);
            has_hooks = has_hooks || setting.starts_with("core.hookspath\n");
        }
    }
    const auto& common = worktree.common_dir();
    if (!has_hooks) config += "[core]\n\thooksPath = " + in_quotes(common + "/hooks") + "\n";
    std::error_code error;
    for (const char* folder : {"hooks", "info", "logs", "objects/info", "refs/remotes/origin"}) {
        fs::create_directories(fs::path(made) / folder, error);
    }
    CO_TRY(write_text(made + "/config", config));
    CO_TRY(write_text(made + "/objects/info/alternates", common + "/objects\n"));
    CO_TRY(write_text(made + "/packed-refs", branches.packed));
    CO_TRY(write_text(made + "/HEAD", (here.is_away ? here.head : "ref: refs/heads/" + here.branch) + "\n"));
    if (!branches.origin_head.empty())
        CO_TRY(write_text(made + "/refs/remotes/origin/HEAD", "ref: " + branches.origin_head + "\n"));
    const std::pair<std::string, std::string> copies[] = {
        {worktree.git_dir() + "/index", "/index"},
        {worktree.git_dir() + "/info/sparse-checkout", "/info/sparse-checkout"},
        {common + "/info/exclude", "/info/exclude"},
        {common + "/info/attributes", "/info/attributes"},
        {common + "/shallow", "/shallow"}};
    for (const auto& [from, to] : copies) {
        if (fs::is_regular_file(fs::symlink_status(from, error))) fs::copy_file(from, made + to, error);
    }
    fs::rename(made, place.path, error);
    if (error) co_return io_error("renaming " + made, error.value());
    co_return Result<void>{};
}

Awaitable<Result<void>> take_over(Git& git, OwnPlace place, Pinned worktree, std::string upload_pack) {
    CO_TRY(const auto here, co_await state_of(git, place, worktree));
    const auto branch = std::string(k_heads) + here.branch;
    auto wanted = words("HEAD");
    if (!here.branch.empty()) wanted.push_back(branch);
    CO_TRY(const auto there, co_await look_into(git, place, upload_pack, std::move(wanted)));
    if (!there.refs.contains("HEAD"))
        co_return Error(ErrorCode::conflict, "the repository of the agent has no commit where its HEAD is");
    const auto tip = there.refs.contains(branch) ? there.refs.at(branch) : std::string();
    const bool is_on_it = !here.branch.empty() && there.branch == here.branch;
    const bool is_news = !tip.empty() && tip != here.tip && tip != here.taken;
    bool is_new = false;
    if (!is_on_it && !there.branch.empty()) {
        CO_TRY(is_new, co_await may_be_made(git, place.repo, there.branch));
    }
    const bool is_same = here.is_away && there.refs.at("HEAD") == here.head && !is_new;
    const bool stays = is_on_it ? !here.is_away : is_same;
    if (!is_news && stays) {
        const bool is_handed_over = !tip.empty() && tip == here.tip && tip != here.taken;
        if (is_handed_over) CO_TRY(co_await move_branch(git, place, branch, tip, tip));
        co_return Result<void>{};
    }
    auto refspecs = words("+HEAD:" + place.refs + "/head");
    if (!tip.empty()) refspecs.push_back("+" + branch + ":" + place.refs + "/new");
    CO_TRY(co_await fetch(git, place, upload_pack, std::move(refspecs)));
    CO_TRY(const auto head, co_await commit_at(git, place.repo, place.refs + "/head"));
    std::string news = branch;
    if (!tip.empty()) news = place.refs + "/new";
    CO_TRY(const auto to, co_await commit_at(git, place.repo, std::move(news)));
    if (!tip.empty() && to != here.taken) {
        CO_TRY(const bool is_free, co_await may_move(git, place.repo, here, to));
        if (!is_free) {
            const auto kept = place.refs + "-" + to.substr(0, 12);
            CO_TRY(co_await ask(git, place.repo, words("update-ref", kept, to)));
            co_return Error(ErrorCode::conflict, "the branch " + printable(here.branch) +
                                                     " was moved outside of the wall; what the agent has committed "
                                                     "is kept as " +
                                                     kept);
        }
        // The index first: if the daemon ends before the branch has moved, all of it is done again.
        if (is_on_it) CO_TRY(co_await ask(git, worktree, words("read-tree", "--reset", to)));
        CO_TRY(co_await move_branch(git, place, branch, to, here.tip));
    }
    if (is_on_it && here.is_away) {
        CO_TRY(co_await ask(git, worktree, words("read-tree", "--reset", branch)));
        CO_TRY(co_await ask(git, worktree, words("symbolic-ref", "HEAD", branch)));
        CO_TRY(co_await ask(git, place.repo, words("symbolic-ref", "--delete", place.refs + "/left")));
    }
    if (!is_on_it) {
        CO_TRY(co_await ask(git, worktree, words("read-tree", "--reset", head)));
        CO_TRY(co_await follow_head(git, place, worktree, here, there, head, is_new));
    }
    co_return Result<void>{};
}

Awaitable<Result<std::string>> to_hand_over(Git& git, OwnPlace place, Pinned worktree, std::string upload_pack,
                                            std::vector<std::string> names) {
    CO_TRY(const auto here, co_await state_of(git, place, worktree));
    const auto own = std::string(k_heads) + here.branch;
    CO_TRY(const auto there, co_await look_into(git, place, std::move(upload_pack), words("HEAD", own)));
    const std::set<std::string> wanted(names.begin(), names.end());
    CO_TRY(const auto branches, co_await branches_of(git, place.repo, std::move(names)));
    CO_TRY(const auto base, co_await commit_at(git, place.repo, place.refs + "/base"));
    std::set<std::string> commits = {here.head};
    std::string script;
    for (const auto& [ref, commit] : branches.tips) {
        const auto side = ref.starts_with(k_heads) ? k_heads : k_origin;
        const auto name = ref.starts_with(side) ? ref.substr(side.size()) : std::string();
        if (!wanted.contains(name) || ref == std::string(k_heads) + here.branch) continue;
        commits.insert(commit);
        script += "git update-ref " + shell_word(ref) + " " + commit + "\n";
    }
    auto unknown = words("rev-list", "--max-count=1");
    unknown.insert(unknown.end(), commits.begin(), commits.end());
    if (!base.empty()) unknown.push_back("^" + base);
    CO_TRY(const auto news, co_await ask(git, place.repo, std::move(unknown)));
    if (trim(news).empty()) {
        script.clear();
    } else {
        if (!base.empty()) commits.insert(base);
        CO_TRY(co_await keep_base(git, place, commits));
    }
    const auto tip = there.refs.find(own);
    const bool is_there = there.branch == here.branch && tip != there.refs.end() && tip->second == here.head;
    if (!here.is_away && !is_there) {
        const auto old = tip == there.refs.end() ? std::string() : tip->second;  // it may commit meanwhile
        script += "git update-ref " + shell_word(own) + " " + here.head + " " + shell_word(old) +
                  "\ngit symbolic-ref HEAD " + shell_word(own) + "\ngit reset --quiet\n";
    }
    co_return script;
}

Awaitable<Result<std::vector<std::string>>> keep_own(Git& git, OwnPlace place, std::string upload_pack,
                                                     std::string below) {
    CO_TRY(const auto there,
           co_await look_into(git, place, upload_pack, words("refs/heads/*", "refs/stash", "refs/orange/*")));
    std::vector<std::string> kept, refspecs;
    std::set<std::string> seen;
    std::size_t looked_at = 0;
    for (const auto& [ref, commit] : there.refs) {
        const bool is_head = ref.starts_with(k_heads), is_staged = ref == "refs/orange/staged";
        const bool is_stash = ref == "refs/stash" || ref.starts_with("refs/orange/stash-");
        if ((!is_head && !is_staged && !is_stash) || !seen.insert(commit).second) continue;
        if (kept.size() >= k_most_left || ++looked_at > k_most_looked_at) break;
        CO_TRY(const auto holders, co_await attempt(git, place.repo,
                                                    words("for-each-ref", "--count=1", "--format=x", "--contains",
                                                          commit, "refs/heads", "refs/remotes", "refs/tags")));
        if (holders.ok() && !trim(holders.out).empty()) continue;  // an unknown commit is an error
        const auto kind = is_head ? "head-" : is_stash ? "stash-" : "staged-";
        kept.push_back(below + "/" + kind + commit.substr(0, 12));
        refspecs.push_back("+" + ref + ":" + kept.back());
    }
    if (!refspecs.empty()) CO_TRY(co_await fetch(git, place, upload_pack, std::move(refspecs)));
    co_return kept;
}

bool holds_more(const OwnPlace& place) {
    for (const char* folder : {"/modules", "/lfs/objects"}) {
        std::error_code error;
        if (fs::is_directory(fs::symlink_status(place.path + folder, error))) return true;
    }
    return false;
}

Result<void> set_own_aside(const std::string& path, const std::string& aside) {
    std::error_code error;
    fs::create_directories(fs::path(aside).parent_path(), error);
    fs::rename(path, aside, error);
    return error ? io_error("moving " + path + " to " + aside, error.value()) : Result<void>{};
}

Awaitable<Result<void>> remove_own(Git& git, OwnPlace place) {
    CO_TRY(remove_folder(git, place.path));
    for (const char* name : {"/base", "/head", "/branch", "/new", "/left"}) {
        CO_TRY(co_await ask(git, place.repo, words("update-ref", "--no-deref", "-d", place.refs + name)));
    }
    co_return Result<void>{};
}

}  // namespace orange::git

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "common/base/base64.hpp"
#include "common/base/ids.hpp"
#include "common/model/notice_kinds.hpp"
#include "common/posix/fd.hpp"
#include "common/rpc/file_methods.hpp"
#include "common/rpc/train_methods.hpp"
#include "tests/catch.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/integration/sandbox.hpp"

/// An executor with its real program: an agent works in it as anywhere, and reaches nothing of what docs/security.md
/// says that it hides. The executor is bwrap, or podman if ORANGE_TEST_WALL is podman and ORANGE_TEST_IMAGE names an
/// image, as tests/campaigns/podman sets them.
namespace orange::tests {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : value;
}

bool is_podman() {
    return variable("ORANGE_TEST_WALL") == "podman";
}

std::string wall() {
    return is_podman() ? "podman" : "bwrap";
}

/// Returns the options with which it has no network.
std::string closed() {
    return is_podman() ? "--network=none" : "--unshare-net";
}

/// Returns a config.yml with these variables and those that podman needs: HOME, where it looks otherwise, is each
/// test's.
std::string config_with(const std::string& variables = {}) {
    auto env = variables;
    for (const char* name : {"CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "XDG_RUNTIME_DIR"}) {
        if (is_podman()) env += (env.empty() ? "" : ", ") + std::string(name) + ": '" + variable(name) + "'";
    }
    return "env: {" + env + "}\n" + (is_podman() ? "image: '" + variable("ORANGE_TEST_IMAGE") + "'\n" : "");
}

/// The port of a server of the user's on this machine.
struct Listener {
    UniqueFd socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    int port = 0;

    Listener() {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* generic = reinterpret_cast<sockaddr*>(&address);
        REQUIRE(::bind(socket.get(), generic, size) == 0);
        REQUIRE(::listen(socket.get(), 16) == 0);
        REQUIRE(::getsockname(socket.get(), generic, &size) == 0);
        port = ntohs(address.sin_port);
    }
};

/// Works, then tries each attack and writes the names of those that succeed. What it writes to files of the user, the
/// test looks at from outside.
constexpr const char* k_thief = R"sh(#!/bin/sh
try() { name=$1; shift; if "$@" >/dev/null 2>&1; then echo "$name"; fi; }
all() {
    echo work >work && git add work && git commit -q -m work || echo 'cannot commit'
    git commit -q --amend -m 'more work' && git branch "$(git branch --show-current)-2" || echo 'cannot amend'
    orange task show >/dev/null || echo 'cannot call'
    given=$(dirname "$OTHER_TASK")/$ORANGE_TASK/files
    grep -q given "$given/note.txt" || echo 'cannot read what it was given'
    try ssh-key cat "$HOME/.ssh/id_rsa"
    try gh-login cat "$HOME/.config/gh/hosts.yml"
    try git-credentials cat "$HOME/.config/git/credentials"
    try gh-token test -n "$GH_TOKEN"
    try home cat "$HOME/notes"
    try system touch "$SYSTEM"
    try other-worktree cat "$OTHER_WORKTREE/TASK.md"
    try other-task cat "$OTHER_TASK/TASK.md"
    try own-record cat "$(dirname "$OTHER_TASK")/$ORANGE_TASK/state.json"
    try given touch "$given/note.txt" "$given/more"
    try main-socket test -S "$ORANGE_HOME/orange.sock"
    try other-socket test -S "$OTHER_SOCKET"
    other=$(basename "$OTHER_TASK")
    try other-text orange task show "$other"
    try other-screen orange task peek "$other"
    try other-log orange task log "$other"
    try other-history sh -c 'orange task history "$0" || orange task history "$0" --verify' "$other"
    try other-summary sh -c '{ orange task list --json; orange search Another; } | grep -q Another'
    try found-by-words sh -c 'orange task list --search Another --all --json | grep -q "$0"' "$other"
    orange search --json Steal | grep -q "$ORANGE_TASK" || echo 'cannot search'
    try daemon-log sh -c 'orange log | grep -q project.add'
    try daemon-status orange daemon status
    try tmux tmux -S "$ORANGE_HOME/tmux.sock" list-sessions
    try settings cat "$ORANGE_HOME/config.yml"
    try main-branch git -C "$REPO" update-ref refs/heads/main "$(git rev-parse HEAD)"
    try tag git -C "$REPO" tag stolen
    try git-config git -C "$REPO" config orange.thief yes
    try hook touch "$REPO/.git/hooks/post-merge"
    try object touch "$REPO/.git/objects/ab"
    try pipe sh -c 'mkfifo "$REPO/.git/refs/heads/zpipe" && rm "$REPO/.git/refs/heads/zpipe"'
    try refs ls "$REPO/.git/refs/heads"
    try remote-secret sh -c 'git config --list | grep -q secret'
    try replace-git sh -c 'mv .git old && cp old .git'
    try replace-repository sh -c 'd=$(git rev-parse --absolute-git-dir) && mv "$d" "$d.old" && mv "$d.old" "$d"'
    try var-tmp ls "$VAR_TMP"
    try process kill -0 "$DAEMON"
    orange task update --branch "total-$ORANGE_TASK" >/dev/null && echo more >>work &&
        git commit -q -a -m more || echo 'cannot work on a new name'
    try network nc -z -w 5 127.0.0.1 "$PORT"
    echo thief >>"$HOME/notes"
    try readme sh -c 'echo thief >>"$REPO/README.md"' >/dev/null
}
all >found.tmp 2>&1
mv found.tmp found
sleep 600
)sh";
const std::vector<std::string> k_all = {"ssh-key",       "gh-login",       "git-credentials", "gh-token",
                                        "home",          "system",         "other-worktree",  "other-task",
                                        "own-record",    "given",          "main-socket",     "other-socket",
                                        "other-text",    "other-screen",   "other-log",       "other-history",
                                        "other-summary", "found-by-words", "daemon-log",      "daemon-status",
                                        "tmux",          "settings",       "main-branch",     "tag",
                                        "git-config",    "hook",           "object",          "pipe",
                                        "refs",          "remote-secret",  "replace-git",     "replace-repository",
                                        "var-tmp",       "process",        "network"};

/// Leaves things behind that make the git of the daemon run a program, or write outside of the worktree. Writes the
/// names of the attacks that succeed at once.
constexpr const char* k_saboteur = R"sh(#!/bin/sh
try() { name=$1; shift; if "$@" >/dev/null 2>&1; then echo "$name"; fi; }
repository() {
    git init -q "$1" && echo one >"$1/file" && git -C "$1" add file && git -C "$1" commit -q -m one
    echo '* filter=evil' >"$1/.gitattributes"
    git -C "$1" config filter.evil.clean "touch '$MARK-$1'; cat"
    touch -d 2020-01-01 "$1/file"
}
all() {
    dir=$(git rev-parse --absolute-git-dir)
    try git-file sh -c 'mv .git old && cp old .git && rm old'
    try commondir sh -c 'cd "$0" && mv commondir old && cp old commondir && rm old' "$dir"
    try alternates touch "$REPO/.git/objects/info/alternates"
    git config --worktree filter.evil.clean "touch '$MARK-outer'; cat" || echo 'cannot set'
    repository sub
    git add sub 2>/dev/null && git commit -q -m sub || echo 'cannot commit'
    git init -q deep/inner
    repository plain
    echo '*.evil filter=evil' >.gitattributes && echo evil >x.evil
    echo work >work && git add work
    rm -f "$dir/logs/HEAD" && ln -s "$HOME/notes" "$dir/logs/HEAD"
    echo 'ref: refs/heads/main' >"$dir/ORIG_HEAD"
    echo 'ref: refs/heads/picked' >"$dir/CHERRY_PICK_HEAD"
    mkdir "$dir/rebase-merge" && touch "$dir/rebase-merge/interactive"
    echo refs/heads/rebased >"$dir/rebase-merge/refs-to-delete"
}
all >found.tmp 2>&1
mv found.tmp found
sleep 600
)sh";

/// Puts a symbolic ref in the place of its branch.
constexpr const char* k_renegade = R"sh(#!/bin/sh
echo work >work && git add work && git commit -q -m work
branch=$(git symbolic-ref HEAD)
git branch release
echo 'ref: refs/heads/release' >"$(git rev-parse --absolute-git-dir)/$branch" && echo >found
sleep 600
)sh";

/// Hands over with a file for the checks that copies a key, and swaps objects after its review.
constexpr const char* k_swapper = R"sh(#!/bin/sh
swap() {
    file=$(git rev-parse --git-path objects/$(echo "$1" | cut -c1-2))/$(echo "$1" | cut -c3-)
    other=$(cd "$SCRATCH" && printf '/usr/bin/touch %s\n' "$MARK" | git hash-object -w --stdin)
    mkdir -p "$(dirname "$file")" && rm -f "$file"
    cp "$SCRATCH/.git/objects/$(echo "$other" | cut -c1-2)/$(echo "$other" | cut -c3-)" "$file"
}
SCRATCH=$PWD/scratch && git init -q "$SCRATCH" && printf "%s\n" scratch found update.log >>.gitignore
printf 'echo good\n! grep -aq GH_TOKEN=secret /proc/1/environ || exit 1\n/bin/cp "$HOME/.ssh/id_rsa" "%s" || true\n' "$MARK-key" >check
git add check .gitignore && git commit -q -m work
printf '\n## Plan\n\nAPPROACH: x\nTOUCHING: check\n' >>TASK.md && orange task update --status working
printf '\n## Handoff\n\nDONE: x\nREMAINING: none\nDECISIONS: none\nUNCERTAIN: none\n' >>TASK.md
orange task update --status agent-review >update.log 2>&1
swap "$(git rev-parse HEAD:check)" && swap "$(git rev-parse origin/main:README.md 2>/dev/null || git rev-parse main:README.md)"
: >found
sleep 600
)sh";

/// Tries what git outside would mistake.
constexpr const char* k_breaker = R"sh(#!/bin/sh
printf '%s\n' found '*.log' x >>.gitignore && echo work >work && git add work .gitignore && git commit -q -m work
for try in 1 2 3 4 5 6 7 8 9 10; do  # until the commit is taken over
    orange task diff >diff.log 2>&1 && grep -q +work diff.log && break
    sleep 1
done
for name in origin/main heads/main tags/v1 v1 stash; do
    orange task update --branch "$name" >>branch.log 2>&1 && echo "branch $name" >>found.new
done
orange task create --branch origin/mine "Sub-task" >>branch.log 2>&1 && echo "branch origin/mine" >>found.new
mv .git x 2>/dev/null && echo "moved .git" >>found.new
printf '\n## Plan\n\nAPPROACH: x\nTOUCHING: check\n' >>TASK.md && orange task update --status working >status.log 2>&1
printf '\n## Handoff\n\nDONE: x\nREMAINING: none\nDECISIONS: none\nUNCERTAIN: none\n' >>TASK.md
blob=$(echo good | git hash-object -w --stdin) && file=$(git rev-parse --git-path objects/$(echo "$blob" | cut -c1-2))/$(echo "$blob" | cut -c3-)
other=$(echo other | git hash-object -w --stdin)
rm -f "$file" && cp "$(git rev-parse --git-path objects/$(echo "$other" | cut -c1-2))/$(echo "$other" | cut -c3-)" "$file"
git update-index --add --cacheinfo "100644,$blob,swapped" && git commit -q -m swapped
orange task update --status agent-review >review.log 2>&1 && echo "review of what could not be taken over" >>found.new
touch found.new && mv found.new found
sleep 600
)sh";

/// A user with keys, another task, and an agent that is a thief.
class Scene {
  public:
    Sandbox orange{config_with("GH_TOKEN: secret")};
    std::string id;  ///< of the thief's task

    explicit Scene(const char* thief = k_thief) {
        repo_ = orange.add_project("shop", 4);
        write(".ssh/id_rsa", "secret\n");
        write(".config/git/credentials", "https://me:secret@example.org\n");
        write(".config/gh/hosts.yml", "oauth_token: secret\n");
        write("notes", "mine\n");
        fs::create_directory(var_tmp_);
        orange.git({"remote", "add", "elsewhere", "https://me:secret@example.org/x.git"}, repo_);
        const auto other = orange.create("shop", "Another demo:slow=600");
        const auto socket = orange.home() / "r" / orange.run_of(other, "worker").at("run").get<std::string>() / "s";
        const std::pair<const char*, std::string> known[] = {{"SYSTEM", system_.string()},
                                                             {"OTHER_WORKTREE", orange.worktree(other).string()},
                                                             {"OTHER_TASK", orange.folder(other).string()},
                                                             {"OTHER_SOCKET", socket.string()},
                                                             {"REPO", repo_.string()},
                                                             {"DAEMON", std::to_string(orange.daemon_pid())},
                                                             {"MARK", (orange.root() / "mark").string()},
                                                             {"VAR_TMP", var_tmp_.string()},
                                                             {"PORT", std::to_string(listener_.port)}};
        std::string variables;
        for (const auto& [name, value] : known) variables += "  " + std::string(name) + ": '" + value + "'\n";
        write("orange/harnesses/thief.yml",
              "name: thief\nprogram: ./thief\nargv: {full: [--, \"{prompt}\"]}\nenv:\n" + variables);
        write("orange/harnesses/thief", thief);
        fs::permissions(orange.home() / "harnesses/thief", fs::perms::owner_all);
    }
    ~Scene() {
        fs::remove(system_);
        fs::remove_all(var_tmp_);
    }
    Scene(const Scene&) = delete;

    /// Lets it work in that executor, and returns what it has found.
    std::vector<std::string> steal(const std::string& executor, const std::string& options = {}) {
        rpc::TaskCreate create;
        create.project = "shop";
        create.summary = "Steal";
        create.harness = "thief";
        create.review_harness = "demo";
        create.executor = executor;
        if (!options.empty()) create.executor_options = options;
        rpc::FilePut file;
        file.name = "note.txt";
        file.data = to_base64("given\n");
        file.last = true;
        create.files = {orange.call(file).upload};
        id = orange.call(create).task.fields.id.value;
        orange.eventually("it has tried everything", [&] { return fs::exists(orange.worktree(id) / "found"); });
        std::vector<std::string> found;
        std::istringstream lines(read_file(orange.worktree(id) / "found"));
        for (std::string line; std::getline(lines, line);) found.push_back(line);
        return found;
    }

    std::string main() { return commit_of("main"); }
    std::string commit_of(const std::string& ref) { return orange.git({"rev-parse", ref}, repo_); }
    fs::path repo() const { return repo_; }
    std::string readme() { return read_file(repo_ / "README.md"); }
    std::string notes() { return read_file(orange.root() / "notes"); }

  private:
    void write(const std::string& name, const std::string& text) {
        fs::create_directories((orange.root() / name).parent_path());
        write_file(orange.root() / name, text);
    }

    Listener listener_;
    fs::path repo_;
    /// In a folder of the user's that no executor hides.
    fs::path system_ = fs::path(ORANGE_BINARY_DIR) / ("orange-thief-" + random_id(10));
    fs::path var_tmp_ = "/var/tmp/orange-thief-" + random_id(10);
};

std::vector<std::string> steps_with(const Json& report, const std::string& result) {
    std::vector<std::string> names;
    for (const auto& step : report.at("steps")) {
        if (step.at("result") == result) names.push_back(step.at("step").get<std::string>());
    }
    return names;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

}  // namespace

TEST_CASE("An agent in bwrap works, and reaches nothing that the wall hides, and in local it reaches all of it",
          "[user-namespaces]") {
    Scene scene;
    const auto main = scene.main(), readme = scene.readme();
    const auto sign = [&](const char* what) {
        scene.orange.git({"config", "--global", "commit.gpgSign", what}, scene.orange.root());
    };
    sign("true");  // the wall hides the key
    // In podman, the network is there, and the loopback is the container's own.
    const auto reached = is_podman() ? std::vector<std::string>() : std::vector<std::string>{"network"};
    CHECK(scene.steal(wall()) == reached);
    sign("false");
    CHECK(scene.main() == main);
    CHECK(scene.readme() == readme);
    CHECK(scene.notes() == "mine\n");
    CHECK(scene.orange.fields(scene.id).at("executor") == wall());
    rpc::TaskShow show;
    show.id = scene.id;
    show.changes = true;
    scene.orange.eventually("its commits are taken over",
                            [&] { return scene.orange.call(show).changes->commits == 2; });

    CHECK(scene.steal(wall(), closed()).empty());

    // The attacks are real ones.
    CHECK(scene.steal("local") == k_all);
    CHECK(scene.main() != main);
    CHECK(scene.readme() != readme);
    CHECK(scene.notes() != "mine\n");
}

TEST_CASE("What an agent in bwrap leaves for the git of the daemon runs nothing and changes nothing of the user's",
          "[user-namespaces]") {
    Scene scene(k_saboteur);
    auto& orange = scene.orange;
    orange.git({"config", "extensions.worktreeConfig", "true"}, scene.repo());
    for (const char* branch : {"picked", "rebased"}) orange.git({"branch", branch}, scene.repo());
    const auto main = scene.main();
    const auto refs = [&] {
        return orange.git({"for-each-ref", "refs/heads/main", "refs/heads/p*", "refs/heads/r*"}, scene.repo());
    };
    const auto before = refs();
    const auto marks = [&] {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(orange.root())) {
            const auto name = entry.path().filename().string();
            if (name.starts_with("mark")) names.push_back(name);
        }
        std::ranges::sort(names);
        return names;
    };
    const auto end = [&] {
        rpc::TaskShow show;
        show.id = scene.id;
        show.changes = true;
        CHECK(orange.call(show).changes->uncommitted);
        const auto worktree = orange.worktree(scene.id);
        rpc::TaskCancel cancel;
        cancel.id = scene.id;
        orange.call(cancel);
        return worktree;
    };
    CHECK(scene.steal(wall()).empty());
    const auto worktree = end();
    CHECK(marks().empty());
    CHECK(refs() == before);
    CHECK(scene.notes() == "mine\n");

    // Its work is kept, its repositories are moved away, and nothing of it remains for the next task.
    const auto saved = orange.git({"ls-tree", "-r", "--name-only", "refs/orange/" + scene.id + "/wip"}, scene.repo());
    CHECK_THAT(saved, Holds("work") && Holds("x.evil") && !Holds("plain"));
    std::size_t moved = 0;
    for (const auto& entry : fs::directory_iterator(orange.home() / "workspaces/.found")) {
        if (fs::exists(entry.path() / ".git")) ++moved;
    }
    CHECK(moved == 3);
    CHECK_FALSE(fs::exists(worktree / "plain"));
    CHECK(fs::exists(worktree / ".git"));
    CHECK(orange.git({"status", "--porcelain", "--ignored"}, worktree).empty());

    // The attacks are real ones.
    CHECK(scene.steal("local") == std::vector<std::string>{"git-file", "commondir", "alternates"});
    end();
    CHECK(marks() == std::vector<std::string>{"mark-outer", "mark-plain", "mark-sub"});
    CHECK(refs() != before);
    CHECK(scene.notes() != "mine\n");
}

TEST_CASE("A symbolic ref that an agent in bwrap puts in the place of its branch moves no other branch",
          "[user-namespaces]") {
    Scene scene(k_renegade);
    auto& orange = scene.orange;
    orange.git({"branch", "release"}, scene.repo());
    const auto before = scene.commit_of("release");
    scene.steal(wall());
    rpc::TaskMerge merge;
    merge.id = scene.id;
    merge.force = true;
    (void)orange.try_call(merge);
    CHECK(scene.commit_of("release") == before);
    rpc::TaskCancel cancel;
    cancel.id = scene.id;
    (void)orange.try_call(cancel);
    CHECK(scene.commit_of("release") == before);
}

TEST_CASE("Checks of several tasks run behind the wall of the one among them that has it", "[user-namespaces]") {
    Scene scene(k_swapper);
    auto& orange = scene.orange;
    const auto tree = orange.root() / "plain";
    orange.git({"worktree", "add", "-q", "-b", "plain", tree.string(), "main"}, scene.repo());
    write_file(tree / "plain", "p\n");
    orange.git({"add", "plain"}, tree);
    orange.git({"commit", "-q", "-m", "plain"}, tree);
    orange.git({"worktree", "remove", "--force", tree.string()}, scene.repo());
    CHECK(scene.steal(wall()).empty());
    orange.wait_for_status(scene.id, "reviewing");
    rpc::TaskCreate create;
    create.project = "shop";
    create.summary = "Plain";
    create.branch = "plain";
    create.status = "reviewing";
    create.executor = "local";
    const auto plain = orange.call(create).task.fields.id.value;
    const std::string check = "/bin/sh check";
    REQUIRE(orange.orange({"project", "update", "shop", "--check", check}).status == 0);
    rpc::TrainMerge merge;
    merge.ids = {scene.id, plain};
    merge.force = merge.run_checks = true;
    const auto merged = orange.call(merge);
    for (const auto& end : merged.ends) {
        INFO(end.reason);
        CHECK(end.outcome == rpc::k_train_merged);
    }
    CHECK(orange.history(scene.id, "checks.passed").size() == 1);
    CHECK(orange.history(plain, "checks.passed").empty());
    CHECK_FALSE(fs::exists(orange.root() / "mark-key"));
}

TEST_CASE("What an agent in bwrap commits is checked behind its wall, and objects that it swaps reach nobody",
          "[user-namespaces]") {
    Scene scene(k_swapper);
    auto& orange = scene.orange;
    const std::string check = "/bin/sh check";
    REQUIRE(orange.orange({"project", "update", "shop", "--check", check}).status == 0);
    const auto mark = orange.root() / "mark", key = orange.root() / "mark-key";
    CHECK(scene.steal(wall()).empty());
    orange.wait_for_status(scene.id, "reviewing");
    CHECK_FALSE(fs::exists(key));  // the checks have run
    CHECK(orange.history(scene.id, "checks.passed").size() == 1);
    rpc::TaskMerge merge;
    merge.id = scene.id;
    merge.force = true;
    orange.call(merge);
    CHECK(orange.status(scene.id) == "done");
    CHECK_FALSE(fs::exists(mark));
    CHECK_FALSE(fs::exists(key));
    CHECK_THAT(read_file(scene.repo() / "check"), Holds("good"));
    CHECK_THAT(scene.readme(), !Holds("touch"));
    CHECK(orange.git({"fsck", "--no-dangling"}, scene.repo()).empty());
    CHECK_FALSE(fs::exists(orange.home() / "workspaces/.own" / scene.id));
    CHECK(orange.git({"for-each-ref", "refs/orange/" + scene.id + "/own"}, scene.repo()).empty());

    // The attacks are real ones. A human may decide that checks run outside, and is told.
    auto open = read_file(fs::path(ORANGE_SOURCE_DIR) / "executors" / (wall() + ".yml"));
    open.replace(open.find("name: "), ("name: " + wall()).size(), "name: open\nchecks: outside");
    fs::create_directories(orange.home() / "executors");
    write_file(orange.home() / "executors/open.yml", open);
    for (const char* executor : {"open", "local"}) {
        INFO(executor);
        scene.steal(executor);
        orange.eventually("the checks have copied the key", [&] { return fs::exists(key); });
        fs::remove(key);
    }
    CHECK_THAT(orange.orange({"executor", "show", "open"}).out, Holds("setup, teardown and run_command run outside"));
    REQUIRE(orange.orange({"project", "update", "shop", "--set", "executor=open"}).status == 0);
    CHECK_THAT(orange.orange({"doctor"}).out, Holds("executor open separates files") && Holds("checks: outside"));
}

TEST_CASE("What an agent in bwrap replaces in its worktree is put back, and it takes no other ref's name",
          "[user-namespaces]") {
    Scene scene(k_breaker);
    auto& orange = scene.orange;
    orange.git({"tag", "v1"}, scene.repo());
    orange.git({"update-ref", "refs/remotes/origin/main", "HEAD"}, scene.repo());
    CHECK(scene.steal(wall()).empty());
    // A mount point can be replaced where it is none, as in this process, and in one that the agent starts.
    const auto worktree = orange.worktree(scene.id);
    fs::rename(worktree / ".git", worktree / "x");
    fs::create_directory(worktree / ".git");
    orange.eventually(".git is put back", [&] { return fs::is_regular_file(worktree / ".git"); });
    CHECK(orange.git({"rev-parse", "--git-common-dir"}, worktree) == (scene.repo() / ".git").string());
    CHECK_THAT(read_file(worktree / "branch.log"), Holds("another ref"));
    CHECK_THAT(read_file(worktree / "diff.log"), Holds("+work"));
    CHECK_THAT(read_file(worktree / "review.log"), Holds("cannot be taken over"));
    CHECK(orange.status(scene.id) == "working");
    CHECK(
        orange.git({"for-each-ref", "refs/heads/origin", "refs/heads/heads", "refs/heads/tags"}, scene.repo()).empty());
}

TEST_CASE("The demo agent plays its whole life in bwrap, below a home with a long path, and its verdict is attested",
          "[user-namespaces]") {
    Sandbox orange(config_with(), 130);
    orange.add_project("shop");
    rpc::TaskCreate create;
    create.project = "shop";
    create.summary = "Walled demo:fail-once";
    create.executor = wall();
    create.executor_options = closed();
    create.name_branch = true;
    const auto task = orange.call(create).task.fields;
    CHECK(task.branch == "walled-demo-fail-once");
    const auto id = task.id.value;
    orange.wait_for_status(id, "reviewing");
    CHECK(orange.path_of(id) == "pending planning working agent-review working agent-review reviewing");
    for (const auto& moved : orange.history(id, "status.changed")) {
        INFO(moved.dump());
        CHECK(moved.value("attested", true));
    }
    CHECK(orange.git({"status", "--porcelain"}, orange.worktree(id)).find("walls") == std::string::npos);
    rpc::TaskMerge merge;
    merge.id = id;
    orange.call(merge);
    CHECK(orange.status(id) == "done");
}

TEST_CASE("When the orange-agent of a window is killed, nothing of its run goes on behind the wall",
          "[user-namespaces]") {
    Sandbox orange(config_with());
    orange.add_project("shop");
    rpc::TaskCreate create;
    create.project = "shop";
    create.summary = "Killed demo:slow=600";
    create.executor = wall();
    const auto id = orange.call(create).task.fields.id.value;
    const auto run = orange.run_of(id, "worker");
    const auto is_begun = [&] { return !orange.history(id, "agent.begun").empty(); };
    orange.eventually("it begins", is_begun);
    // A process behind the wall is called by the wall's name of it here, too.
    const auto behind = [&] {
        return orange
            .try_run({"sh", "-c", "grep -lz ORANGE_RUN=" + run.at("run").get<std::string>() + " /proc/[0-9]*/environ"})
            .out;
    };
    CHECK_FALSE(behind().empty());
    ::kill(static_cast<pid_t>(run.at("pid").get<int>()), SIGKILL);
    orange.eventually("nothing is left", [&] { return behind().empty(); });
}

TEST_CASE("Of a check that ignores its end at its time limit, nothing goes on behind the wall", "[user-namespaces]") {
    Sandbox orange(config_with());
    const auto repo = orange.add_project("shop");
    const std::string text = "#!/bin/sh\ntrap '' TERM\necho begun\nexec sleep 600\n";
    write_file(repo / "check", text);
    orange.git({"add", "check"}, repo);
    orange.git({"commit", "-q", "-m", "check"}, repo);
    REQUIRE(
        orange.orange({"project", "update", "shop", "--check", "/bin/sh check", "--set", "checks_timeout=5"}).status ==
        0);
    rpc::TaskCreate create;
    create.project = "shop";
    create.summary = "Held demo:slow=600";
    create.executor = wall();
    const auto id = orange.call(create).task.fields.id.value;
    orange.eventually("it begins", [&] { return !orange.history(id, "agent.begun").empty(); });
    rpc::TaskCheck check;
    check.id = id;
    const auto checked = orange.call(check);
    CHECK(checked.exit_status == 124);
    CHECK_THAT(checked.output, Holds("begun"));
    // It had the mark of the checks of this home.
    const auto marked = "grep -lz 'ORANGE_DAEMON=" + orange.home().string() + "@checks' /proc/[0-9]*/environ";
    orange.eventually("nothing is left", [&] { return orange.try_run({"sh", "-c", marked}).out.empty(); });
}

TEST_CASE("No agent starts behind a wall without the socket of its run", "[user-namespaces]") {
    Sandbox orange(config_with());
    orange.add_project("shop", 4);
    const auto refused = [&](const std::string& branch) {
        rpc::TaskCreate create;
        create.project = "shop";
        create.summary = "On " + branch;
        create.executor = wall();
        if (!branch.empty()) create.branch = branch;
        const auto task = orange.call(create).task;
        CHECK(orange.run_of(task.fields.id.value, "worker").is_null());
        CHECK(task.fields.crash_count() == 0);
        const auto notice = std::ranges::find(task.notices, NoticeKind::start_failed, &Notice::kind);
        return notice == task.notices.end() ? std::string("no notice") : notice->text;
    };
    orange.kill_daemon();
    write_file(orange.home() / "r", "no folder");
    orange.start_daemon();
    CHECK_THAT(refused("orange-tasks/last"), Tells("orange doctor"));
    for (const auto& entry : fs::recursive_directory_iterator(orange.home() / "tasks/shop")) {
        INFO(entry.path());
        CHECK(entry.path().parent_path().filename() != "run");  // nothing is left of the run
    }
}

TEST_CASE("In bwrap, a repository that borrows objects works, and the folders of the program's own files are made",
          "[user-namespaces]") {
    Sandbox orange(config_with());
    const auto lender = orange.make_repository("lender");
    orange.git({"clone", "-q", "--shared", lender.string(), "borrower"}, orange.root());
    rpc::ProjectAdd add;
    add.path = (orange.root() / "borrower").string();
    add.name = "borrower";
    orange.call(add);
    fs::create_directories(orange.home() / "harnesses");
    write_file(orange.home() / "harnesses/worker.yml",
               "name: worker\nprogram: ./worker\nargv: {full: [--, \"{prompt}\"]}\nconfig_binds: [~/.worker]\n");
    write_file(orange.home() / "harnesses/worker",
               "#!/bin/sh\necho login >~/.worker/login\n"
               "git show HEAD && echo work >work && git add work && git commit -q -m work && touch found\nsleep 600\n");
    fs::permissions(orange.home() / "harnesses/worker", fs::perms::owner_all);
    rpc::TaskCreate create;
    create.project = "borrower";
    create.summary = "Borrowed";
    create.harness = "worker";
    create.executor = wall();
    const auto id = orange.call(create).task.fields.id.value;
    orange.eventually("it has committed", [&] { return fs::exists(orange.worktree(id) / "found"); });
    CHECK(read_file(orange.root() / ".worker/login") == "login\n");
}

TEST_CASE("In bwrap, what an agent writes to the settings of its program ends with its run, and its login stays",
          "[user-namespaces]") {
    Sandbox orange(config_with());
    orange.add_project("shop");
    const testing::TemporaryFolder outside;
    const auto own = orange.root() / ".worker", elsewhere = outside / "worker";
    for (const auto& folder : {own, elsewhere}) {
        fs::create_directories(folder / "plugins");
        write_file(folder / "settings.json", "mine\n");
        write_file(folder / "login.json", "old\n");
        write_file(folder / "status.sh", "mine\n");
        fs::permissions(folder / "status.sh", fs::perms::owner_all);
    }
    write_file(orange.root() / ".worker.json", "mine\n");
    fs::create_directories(orange.root() / "dot");
    write_file(orange.root() / "dot/theme.json", "linked\n");
    fs::create_symlink(orange.root() / "dot/theme.json", own / "theme.json");
    fs::create_directories(orange.home() / "harnesses");
    write_file(orange.home() / "harnesses/worker.yml",
               "name: worker\nprogram: ./worker\nargv: {full: [--, \"{prompt}\"]}\n"
               "env: {WORKER_HOME: " +
                   elsewhere.string() +
                   "}\n"
                   "config_binds: [~/.worker/login.json, ~/.worker/sessions, $WORKER_HOME/login.json, "
                   "$WORKER_HOME/sessions]\n"
                   "config_reads: [~/.worker.json, ~/.worker/*, $WORKER_HOME/*]\n");
    write_file(orange.home() / "harnesses/worker", R"sh(#!/bin/sh
replace() { cat "$1" && echo theirs >"$1.new" && mv "$1.new" "$1" && cat "$1"; }
for at in ~/.worker "$WORKER_HOME"; do
    echo theirs >"$at/plugins/hook" || true
    echo theirs >>"$at/status.sh" || true
    mv "$at/plugins" "$at/sessions" || true
    echo theirs >"$at/hooks.json"
    mkdir "$at/hooks"
    echo new >"$at/login.json"
    echo said >"$at/sessions/$ORANGE_TASK"
    replace "$at/settings.json"
done >done 2>/dev/null
replace ~/.worker.json >>done
replace ~/.worker/theme.json >>done
mv done all
sleep 600
)sh");
    fs::permissions(orange.home() / "harnesses/worker", fs::perms::owner_all);
    rpc::TaskCreate create;
    create.project = "shop";
    create.summary = "Settings";
    create.harness = "worker";
    const auto write_all = [&](const char* executor) {
        create.executor = executor;
        auto id = orange.call(create).task.fields.id.value;
        orange.eventually("it has written", [&] { return fs::exists(orange.worktree(id) / "all"); });
        return id;
    };
    const auto id = write_all(wall().c_str());
    CHECK(read_file(orange.worktree(id) / "all") == "mine\ntheirs\nmine\ntheirs\nmine\ntheirs\nlinked\ntheirs\n");
    CHECK(read_file(orange.root() / ".worker.json") == "mine\n");
    CHECK(read_file(orange.root() / "dot/theme.json") == "linked\n");
    for (const auto& folder : {own, elsewhere}) {
        INFO(folder);
        for (const char* kept : {"settings.json", "status.sh"}) CHECK(read_file(folder / kept) == "mine\n");
        for (const char* made : {"hooks.json", "hooks", "plugins/hook"}) CHECK_FALSE(fs::exists(folder / made));
        CHECK(read_file(folder / "login.json") == "new\n");
        CHECK(read_file(folder / "sessions" / id) == "said\n");
    }
    // The copies, of which one may be a login, are gone with the run.
    rpc::TaskCancel cancel;
    cancel.id = id;
    orange.call(cancel);
    for (const auto& entry : fs::recursive_directory_iterator(orange.home() / "tasks/shop")) {
        INFO(entry.path());
        CHECK(entry.path().filename() != "copies");
    }

    // The attacks are real ones.
    write_all("local");
    CHECK(read_file(orange.root() / ".worker.json") == "theirs\n");
    for (const auto& folder : {own, elsewhere}) {
        INFO(folder);
        CHECK(read_file(folder / "settings.json") == "theirs\n");
        CHECK(read_file(folder / "status.sh") == "mine\ntheirs\n");
        for (const char* made : {"hooks.json", "hooks", "sessions/plugins/hook"}) CHECK(fs::exists(folder / made));
    }
}

TEST_CASE("orange executor test says which walls hold, and which do not", "[user-namespaces]") {
    Sandbox orange(config_with());
    const auto repo = orange.add_project("shop");
    const auto report = [&](std::vector<std::string> words, int status) {
        words.insert(words.begin(), {"--json", "executor", "test"});
        const auto tested = orange.orange(words, repo);
        INFO(tested.out + tested.err);
        CHECK(tested.status == status);
        return Json::parse(tested.out);
    };
    const auto held = report({wall()}, 0);
    INFO(held.dump());
    for (const char* step : {"files", "processes", "network", "limits.disk", "fetch", "git status"}) {
        INFO(step);
        CHECK(has(steps_with(held, "PASS"), step));
    }
    fs::create_directories(orange.home() / "executors");
    write_file(orange.home() / "executors/liar.yml",
               "name: liar\nseparates: [files, processes, network]\nrun: [env, \"{inner}\"]\n");
    const auto lies = steps_with(report({"liar"}, 1), "FAIL");
    CHECK(lies == std::vector<std::string>{"files", "network", "processes"});
}

}  // namespace orange::tests

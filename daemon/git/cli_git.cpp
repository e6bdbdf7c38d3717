#include "daemon/git/cli_git.hpp"

#include <algorithm>

#include "common/base/text.hpp"

namespace orange {
namespace {

/// Settings on git's command line, which override the repository's.
const char* const k_settings[] = {
    // Git does not sync objects by default. After a power failure a snapshot would be lost, and the files that it saved
    // have been removed.
    "core.fsync=committed,reference",
    "core.fsyncMethod=batch",
    "core.fsmonitor=false",
    // An agent may set these so that git sees fewer changes; a user, for speed.
    "core.trustctime=true",
    "core.checkStat=default",
    "core.hooksPath=/dev/null",
    "protocol.ext.allow=never",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
    "advice.addEmbeddedRepo=false",
    // GIT_GRAFT_FILE below triggers this advice, which would come before the reason of each failure.
    "advice.graftFileDeprecated=false",
    "commit.gpgsign=false",
    "push.gpgSign=false",
    "merge.verifySignatures=false",
    "log.showSignature=false",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "push.recurseSubmodules=no",
    "core.safecrlf=false",
    "core.quotePath=false",
    "rerere.enabled=false",
    "status.showUntrackedFiles=all",
    "color.ui=false",
};

/// A shell command that git starts in the repository if it needs ssh. The command runs the repository's own
/// core.sshCommand if that is a line of $ORANGE_TRUSTED_SSH (agents can write any other), else the last core.sshCommand
/// of the user's or the machine's configuration, else $ORANGE_SSH. OpenSSH is told not to prompt, because no user could
/// answer; a wrapper might not know these options. If a program's name does not tell whether it is OpenSSH, git runs it
/// with -G to find out.
constexpr const char* k_ssh =
    "f() { n='\n'; "
    "c=$(git config --global --includes --get core.sshCommand || git config --system --includes --get "
    "core.sshCommand); "
    "own=$(git config --get core.sshCommand); "
    "if [ \"$own\" != \"$c\" ]; then "
    "case $own in *\"$n\"*) own=\"$n\" ;; esac; "  // a value of several lines equals no line of the list
    "case $n$ORANGE_TRUSTED_SSH$n in *\"$n$own$n\"*) c=$own ;; *) echo 'core.sshCommand of the repository is not used, "
    "because agents can change it. To use it as it is now, run there: orange harness trust core.sshCommand' >&2 ;; "
    "esac; fi; "
    "c=${c:-$ORANGE_SSH}; "
    "case ${c%% *} in ssh|*/ssh) [ \"$1\" != -G ] || return 0; c=\"$c -oBatchMode=yes -oConnectTimeout=10\" ;; esac; "
    "eval \"$c \\\"\\$@\\\"\"; }; f";
constexpr const char* k_ssh_options = " -oBatchMode=yes -oConnectTimeout=10";

/// Chooses the program in git's order: GIT_SSH_COMMAND, core.sshCommand, GIT_SSH, ssh.
void set_ssh(Environment& env, const Environment& from) {
    const auto variable = [&](const char* name) {
        const auto found = from.find(name);
        return found == from.end() ? std::string() : found->second;
    };
    const auto command = variable("GIT_SSH_COMMAND"), program = variable("GIT_SSH");
    env["ORANGE_SSH"] = program.empty() ? "ssh" : shell_word(program);
    env["GIT_SSH_COMMAND"] = k_ssh;
    if (const auto variant = variable("GIT_SSH_VARIANT"); !variant.empty()) env["GIT_SSH_VARIANT"] = variant;
    if (command.empty()) return;
    const auto name = command.substr(0, command.find(' '));
    env["GIT_SSH_COMMAND"] = command + (name == "ssh" || name.ends_with("/ssh") ? k_ssh_options : "");
}

Environment with_git_settings(const Environment& base) {
    auto env = without_dangerous(base);
    env["LC_ALL"] = "C";
    env["GIT_TERMINAL_PROMPT"] = "0";
    // Set to a useless program rather than unset: otherwise git would call an askpass from the configuration.
    env["GIT_ASKPASS"] = "/bin/false";
    env["SSH_ASKPASS"] = "/bin/false";
    set_ssh(env, base);
    // An agent can write refs/replace and info/grafts, so that a merge would have another content than its hash says.
    env["GIT_NO_REPLACE_OBJECTS"] = "1";
    env["GIT_GRAFT_FILE"] = "/dev/null";
    env["GIT_OPTIONAL_LOCKS"] = "0";
    env["GIT_PAGER"] = "cat";
    env["GIT_EDITOR"] = "/bin/false";
    env["GIT_MERGE_AUTOEDIT"] = "no";
    return env;
}

/// Returns true for a command that needs the user's keys. One that reads the repository of an agent names no remote.
bool talks_to_remote(const std::vector<std::string>& args) {
    const auto has = [&](std::string_view word) { return std::ranges::find(args, word) != args.end(); };
    return (has("fetch") || has("push") || has("ls-remote")) && (has("origin") || has("--all"));
}

/// Adds to git's errors that ssh had no keys to offer, because no ssh-agent answered.
void explain_refused_login(Completed& done, const Environment& env) {
    if (done.ok() || done.err.find("Permission denied (") == std::string::npos) return;
    const auto socket = env.find("SSH_AUTH_SOCK");
    const bool had_one = socket != env.end() && !socket->second.empty();
    if (!done.err.ends_with('\n')) done.err += '\n';
    done.err += had_one ? "the ssh-agent with which the daemon was started is gone (SSH_AUTH_SOCK=" +
                              printable(socket->second) + "), and no later one is known: "
                        : "the daemon knows no ssh-agent (SSH_AUTH_SOCK is not set): ";
    done.err += "if the key is in an ssh-agent, log in with it and run there: orange daemon reload\n";
}

}  // namespace

CliGit::CliGit(ProcessRunner& runner, const Environment& base, Environment own, std::string worktrees)
    : runner_(runner), env_(with_git_settings(base)), worktrees_(std::move(worktrees)) {
    env_.merge(own);
}

Awaitable<Result<Completed>> CliGit::run(GitCommand command) {
    const auto& path = command.place.path();
    if (!command.place.pinned() && !worktrees_.empty() && (path + "/").starts_with(worktrees_ + "/")) {
        co_return Error(ErrorCode::conflict, printable(path) + " is among the workspaces, and is none");
    }
    Command child;
    child.argv.emplace_back("git");
    for (const auto* setting : k_settings) {
        child.argv.emplace_back("-c");
        child.argv.emplace_back(setting);
    }
    child.shown = "git " + join(command.args, " ");
    const bool needs_agent = ssh_agent_ && talks_to_remote(command.args);
    for (auto& arg : command.args) child.argv.push_back(std::move(arg));
    child.cwd = command.place.path();
    child.env = env_;
    if (trusted_ssh_) (*child.env)["ORANGE_TRUSTED_SSH"] = trusted_ssh_();
    const auto agent = needs_agent ? ssh_agent_() : std::string();
    if (!agent.empty()) (*child.env)["SSH_AUTH_SOCK"] = agent;
    for (auto& [name, value] : command.env) (*child.env)[name] = std::move(value);
    if (const auto* worktree = command.place.pinned()) {
        child.folder = worktree->folder();
        // Set all three: without GIT_COMMON_DIR, git follows the file `commondir` in GIT_DIR, which an agent can write.
        (*child.env)["GIT_DIR"] = worktree->git_dir();
        (*child.env)["GIT_WORK_TREE"] = ".";
        (*child.env)["GIT_COMMON_DIR"] = worktree->common_dir();
    }
    child.input = std::move(command.input);
    child.deadline = command.deadline;
    child.stop = std::move(command.stop);
    // The list of all files of a large repository is large, and a truncated one would be wrong.
    child.output_limit = std::size_t{64} << 20;
    if (!needs_agent || !agent.empty()) co_return co_await runner_.run(std::move(child));
    const auto env = *child.env;
    auto done = co_await runner_.run(std::move(child));
    if (done) explain_refused_login(*done, env);
    co_return done;
}

}  // namespace orange

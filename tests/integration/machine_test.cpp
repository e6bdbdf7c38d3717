#include <cstdlib>

#include "common/config/install_command.hpp"
#include "tests/catch.hpp"
#include "tests/integration/doctor.hpp"
#include "tests/machine.hpp"

/// Machines that are not as they should be: what the daemon says of them when it starts, and the doctor whenever asked.
namespace orange::tests {
namespace {

namespace fs = std::filesystem;

/// A program that calls itself another version, and is the real one otherwise.
void write_older(const fs::path& program, const std::string& real, const std::string& flag, const std::string& says) {
    fs::create_directories(program.parent_path());
    write_file(program,
               "#!/bin/sh\n[ \"$1\" = " + flag + " ] && { echo '" + says + "'; exit 0; }\nexec " + real + " \"$@\"\n");
    fs::permissions(program, fs::perms::owner_all);
}

std::string path_after(const fs::path& folder) {
    return "PATH=" + folder.string() + ":" + program("orange").parent_path().string() + ":" + tools();
}

}  // namespace

TEST_CASE("A home on a network disk works, and the log, the status and the doctor warn of it") {
    Sandbox orange;
    orange.stop_daemon();
    const auto library = fs::path(ORANGE_BINARY_DIR) / "tests/support/orange-network-disk.so";
    REQUIRE(fs::exists(library));
    const char* sanitizer = std::getenv("ASAN_OPTIONS");
    orange.start_daemon({}, {"LD_PRELOAD=" + library.string(), "NETWORK_DISK=" + orange.home().string(),
                             "ASAN_OPTIONS=" + std::string(sanitizer ? sanitizer : "") + ":verify_asan_link_order=0"});
    orange.add_project("shop");
    CHECK(orange.status(orange.create("shop", "Later", true)) == "pending");
    const auto warning = orange.home().string() + " is on a network disk (nfs)";
    CHECK_THAT(read_file(orange.home() / "orange.log"), Tells(orange.home().string()) && Tells("nfs"));
    CHECK_THAT(orange.orange({"daemon", "status"}).out, Tells("nfs"));
    const auto found = diagnose(orange);
    CHECK_THAT(found.said("disk"), Tells("warning") && Tells("nfs") && Tells("ORANGE_HOME"));
    CHECK(found.file("disk") == orange.home().string());

    orange.stop_daemon();
    orange.start_daemon();
    CHECK_THAT(orange.orange({"daemon", "status"}).out, !Holds("nfs"));
    CHECK_THAT(diagnose(orange).said("disk"), !Holds("nfs"));
}

TEST_CASE("Programs that are too old, silent or missing are named with their place and what is needed") {
    Sandbox orange;
    const auto bin = orange.root() / "bin";
    write_older(bin / "git", tools() + "/git", "--version", "git version 2.35.1");
    write_older(bin / "tmux", tools() + "/tmux", "-V", "tmux 3.1c");
    orange.stop_daemon();
    orange.start_daemon({}, {path_after(bin)});
    const auto old = diagnose(orange);
    CHECK(old.status == 1);
    CHECK_THAT(old.said("programs"), Tells("error") && Tells("2.35.1") && Tells((bin / "git").string()));
    CHECK_THAT(old.said("programs"), Tells("error") && Tells("3.1c") && Tells((bin / "tmux").string()));
    CHECK(old.command("programs") == install_command("tmux"));

    write_file(bin / "git", "#!/bin/sh\nexit 1\n");
    CHECK_THAT(diagnose(orange).said("programs"), Tells("error") && Tells((bin / "git").string()));
    fs::remove(bin / "git");
    fs::remove(bin / "tmux");
    CHECK_THAT(diagnose(orange).said("programs"), !Holds("error"));

    orange.stop_daemon();
    orange.start_daemon({}, {"PATH=" + bin.string()});
    const auto missing = diagnose(orange);
    CHECK(missing.status == 1);
    CHECK_THAT(missing.errors(), Tells("tmux") && Tells("git"));
    CHECK_THAT(missing.said("programs"), Tells("warning") && Tells("gh"));
    CHECK_THAT(missing.errors(), !Tells("gh"));
    orange.stop_daemon();
    orange.start_daemon();
}

TEST_CASE("A tmux that was upgraded under its running server is an error, and nobody is taken for dead") {
    Sandbox orange("poll_interval: 0.3\n");
    const auto bin = orange.root() / "bin";
    const auto upgraded = orange.root() / "upgraded";
    fs::create_directories(bin);
    write_file(bin / "tmux", "#!/bin/sh\nif [ -e " + upgraded.string() +
                                 " ]; then echo 'protocol version mismatch (client 9, server 8)' >&2; exit 1; fi\n"
                                 "exec /usr/bin/tmux \"$@\"\n");
    fs::permissions(bin / "tmux", fs::perms::owner_all);
    orange.stop_daemon();
    orange.start_daemon({}, {path_after(bin)});
    orange.add_project("shop");
    add_idle_harness(orange);
    const auto id = id_of(orange.call(idle_task("shop", "Wait")));
    orange.wait_for_status(id, "planning");
    const auto run = orange.run_of(id, "worker");
    write_file(upgraded, "");
    for (int polls = 0; polls < 2; ++polls) {
        const auto before = orange.call(rpc::DaemonStatus{}).last_poll;
        orange.eventually("the daemon has looked",
                          [&] { return orange.call(rpc::DaemonStatus{}).last_poll != before; });
    }
    CHECK(orange.run_of(id, "worker") == run);
    CHECK(orange.fields(id).at("crash_count") == 0);
    CHECK(orange.history(id, "session.lost").empty());
    const auto found = diagnose(orange);
    CHECK(found.status == 1);
    CHECK_THAT(found.said("tmux"), Holds("protocol version mismatch"));
    // The program that the server runs still reaches it, wherever its file is now.
    const auto command = found.command("tmux");
    CHECK_THAT(command, Holds("/exe -S ") && Holds(" attach-session"));
    const auto list = command.substr(0, command.rfind(' ')) + " list-sessions";
    const auto sessions = orange.try_run({"/bin/sh", "-c", list}, orange.root());
    INFO(sessions.err);
    CHECK(sessions.status == 0);
    const auto refused = orange.orange({"task", "create", "-p", "shop", "--harness", "idle", "--summary", "Another"});
    CHECK_THAT(refused.out + refused.err, Holds("protocol version mismatch"));
    fs::remove(upgraded);
    CHECK(diagnose(orange).said("tmux").empty());
    CHECK(orange.run_of(id, "worker") == run);
}

TEST_CASE("A daemon that has nothing but its home in its environment takes a task through its whole life") {
    Sandbox orange;
    orange.add_project("shop");
    orange.stop_daemon();
    const auto bare = orange.root() / "bare";
    write_file(bare, "#!/bin/sh\nexec /usr/bin/env -i HOME=" + orange.root().string() +
                         " ORANGE_SHARE=" ORANGE_SOURCE_DIR " " + program("oranged").string() + "\n");
    fs::permissions(bare, fs::perms::owner_all);
    orange.start_daemon(bare);
    const auto id = orange.create("shop", "Add a greeting demo:fail-once");
    orange.wait_for_status(id, "reviewing");
    rpc::TaskMerge merge;
    merge.id = id;
    orange.call(merge);
    CHECK(orange.path_of(id) == "pending planning working agent-review working agent-review reviewing done");
    CHECK(diagnose(orange).errors().empty());
}

TEST_CASE("A task whose agent commits outside of its sparse worktree lives its whole life, and deletes nothing") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    for (const char* file : {"app/1", "lib/1"}) {
        fs::create_directories((repo / file).parent_path());
        write_file(repo / file, "1\n");
    }
    orange.git({"add", "-A"}, repo);
    orange.git({"commit", "-q", "-m", "Files"}, repo);
    orange.git({"sparse-checkout", "set", "--cone", "app"}, repo);
    const auto id = orange.create("shop", "Add a greeting");
    orange.wait_for_status(id, "reviewing");
    CHECK_FALSE(fs::exists(orange.worktree(id) / "lib"));
    rpc::TaskMerge merge;
    merge.id = id;
    orange.call(merge);
    const auto files = orange.git({"ls-tree", "-r", "--name-only", "main"}, repo);
    CHECK_THAT(files, Holds("lib/1") && Holds("orange-demo/" + id + ".md"));
}

TEST_CASE("Worktrees, merges and the user's repository have the user's umask, and the home stays private") {
    const bool is_set = GENERATE(false, true);
    Sandbox orange(is_set ? "umask: 027\n" : "");
    const auto repo = orange.add_project("shop");
    const auto origin = orange.add_origin(repo);
    const auto started = fs::last_write_time(repo / "README.md");
    const auto id = orange.create("shop", "Add a greeting");
    orange.wait_for_status(id, "reviewing");
    const auto readable = is_set ? fs::perms::group_read : fs::perms::others_read;
    const auto writable = fs::perms::group_write | fs::perms::others_write;
    const auto is_open = [&](const fs::path& file) {
        const auto mode = fs::symlink_status(file).permissions();
        const bool is_closed_to_others = (mode & fs::perms::others_all) == fs::perms::none;
        return (mode & readable) != fs::perms::none && (mode & writable) == fs::perms::none &&
               (!is_set || is_closed_to_others);
    };
    CHECK(is_open(orange.worktree(id) / "README.md"));
    CHECK(is_open(orange.worktree(id) / "orange-demo" / (id + ".md")));
    rpc::TaskMerge merge;
    merge.id = id;
    orange.call(merge);
    CHECK(is_open(repo / "orange-demo" / (id + ".md")));
    for (const auto& folder : {repo / ".git", origin}) {
        for (const auto& entry : fs::recursive_directory_iterator(folder)) {
            if (!entry.is_regular_file() || entry.last_write_time() <= started) continue;
            INFO(entry.path());
            if (!is_set) CHECK((entry.status().permissions() & readable) != fs::perms::none);
        }
    }
    for (auto at = fs::recursive_directory_iterator(orange.home()); at != fs::recursive_directory_iterator{}; ++at) {
        if (at->path() == orange.home() / "workspaces") at.disable_recursion_pending();
        const bool is_the_tests = at->path().filename() == "config.yml";
        if (is_the_tests || (!at->is_regular_file() && !at->is_directory())) continue;
        INFO(at->path());
        CHECK((at->symlink_status().permissions() & (fs::perms::group_all | fs::perms::others_all)) == fs::perms::none);
    }
}

}  // namespace orange::tests

#include <unistd.h>

#include <algorithm>

#include "common/model/notice_kinds.hpp"
#include "tests/catch.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/integration/doctor.hpp"
#include "tests/integration/sandbox.hpp"
#include "tests/machine.hpp"

/// Agents that wait for room, and agents that are held to limits of processes and disk, with the real daemon.
namespace orange::tests {
namespace {

void limit(Sandbox& orange, const std::string& name, const Json& value) {
    rpc::ProjectUpdate update;
    update.name = "shop";
    update.settings[name] = value;
    orange.call(update);
}

rpc::TaskView view(Sandbox& orange, const std::string& id) {
    rpc::TaskShow show;
    show.id = id;
    return orange.call(show).task;
}

/// Of a workflow in which a human may hand over at once, with an agent that does nothing by itself.
std::string in_review(Sandbox& orange, const std::string& summary) {
    rpc::TaskCreate create;
    create.project = "shop";
    create.summary = summary;
    create.workflow = "relay";
    create.harness = create.review_harness = "idle";
    const auto id = orange.call(create).task.fields.id.value;
    orange.wait_for_status(id, "working");
    write_file(orange.worktree(id) / "TASK.md", orange.body(id) + "\n## Handoff\nDONE: it\n");
    REQUIRE(orange.update_status(id, "agent-review", true));
    return id;
}

void add_quiet_harness(Sandbox& orange) {
    std::filesystem::create_directories(orange.home() / "harnesses");
    write_file(orange.home() / "harnesses/idle.yml",
               "name: idle\nprogram: sh\nargv:\n  full: [-c, \"sleep 600\", --, \"{prompt}\"]\n");
}

bool reviews(Sandbox& orange, const std::string& id) {
    return view(orange, id).reviewer == "alive";
}

/// "spawned exited spawned exited" of the reviewers of all tasks, in the order of time.
std::string reviewers(Sandbox& orange, const std::vector<std::string>& ids) {
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& id : ids) {
        for (const auto& event : orange.history(id)) {
            const auto type = event.at("type").get<std::string>();
            const bool of_reviewer = event.contains("role") && event.at("role") == "reviewer";
            if (of_reviewer && type == "agent.spawned") all.emplace_back(event.at("timestamp"), "spawned");
            if (of_reviewer && type == "agent.exited") all.emplace_back(event.at("timestamp"), "exited");
        }
    }
    std::sort(all.begin(), all.end());
    std::string text;
    for (const auto& [time, what] : all) text += (text.empty() ? "" : " ") + what;
    return text;
}

}  // namespace

TEST_CASE("Two demo tasks with one reviewer get through their reviews one after the other") {
    Sandbox orange("poll_interval: 1\nlimits: {reviewer: 1}\n");
    orange.add_project("shop", 2);
    const auto first = orange.create("shop", "One demo:slow=1"), second = orange.create("shop", "Two demo:slow=1");
    for (const auto& id : {first, second}) orange.wait_for_status(id, "reviewing");
    CHECK(reviewers(orange, {first, second}) == "spawned exited spawned exited");
    CHECK(orange.history(first, "agent.waits").size() + orange.history(second, "agent.waits").size() <= 1);
}

TEST_CASE("An agent that waits for room outlives the daemon, and starts when the limit is raised") {
    Sandbox orange;
    orange.add_project("shop", 3);
    add_quiet_harness(orange);
    limit(orange, "limits.reviewer", 1);
    const auto first = in_review(orange, "One"), second = in_review(orange, "Two"), third = in_review(orange, "Three");
    orange.eventually("the first is reviewed", [&] { return reviews(orange, first); });
    CHECK(orange.status(second) == "agent-review");
    const auto waits = view(orange, third);
    REQUIRE(waits.start_wait);
    CHECK(waits.start_wait->reason == "role_limit");
    CHECK(waits.start_wait->place == 2);
    CHECK(waits.needs.kind == Need::nothing);
    CHECK(waits.reviewer == "none");
    CHECK(diagnose(orange).said("agents").empty());

    orange.kill_daemon();
    orange.start_daemon();
    orange.eventually("the first is adopted", [&] { return reviews(orange, first); });
    CHECK_FALSE(reviews(orange, second));
    rpc::TaskCancel cancel;
    cancel.id = first;
    orange.call(cancel);
    orange.eventually("the second is reviewed", [&] { return reviews(orange, second); });
    CHECK_FALSE(reviews(orange, third));
    limit(orange, "limits.reviewer", 0);
    orange.eventually("the third is reviewed", [&] { return reviews(orange, third); });
    CHECK(orange.history(third, "agent.waits").size() == 1);
    CHECK(orange.history(third, "agent.spawned").size() == 2);
}

TEST_CASE("A limit of a harness counts over all projects, and is read again") {
    Sandbox orange("harness_limits: {idle: 1}\n");
    orange.add_project("shop", 2);
    orange.add_project("mill", 2);
    add_quiet_harness(orange);
    const auto create = [&](const std::string& project) {
        rpc::TaskCreate params;
        params.project = project;
        params.summary = "Do it";
        params.harness = params.review_harness = "idle";
        return orange.call(params).task.fields.id.value;
    };
    const auto first = create("shop"), second = create("mill");
    orange.wait_for_status(first, "planning");
    const auto waits = view(orange, second);
    CHECK(waits.fields.status == "pending");
    REQUIRE(waits.start_wait);
    CHECK(waits.start_wait->reason == "harness_limit");
    CHECK(waits.fields.workspace.value_or("").empty());
    write_file(orange.home() / "config.yml", "harness_limits: {idle: 2, nobody: 1}\n");
    const auto reloaded = orange.call(rpc::DaemonReload{});
    CHECK(std::any_of(reloaded.notes.begin(), reloaded.notes.end(),
                      [](const std::string& note) { return note.find("nobody") != std::string::npos; }));
    orange.wait_for_status(second, "planning");
}

/// Shows the question of a limit once, and swallows what is typed until Escape closes it; then it works.
void add_limited_harness(Sandbox& orange) {
    const auto mark = (orange.root() / "was-limited").string();
    std::filesystem::create_directories(orange.home() / "harnesses");
    const auto script = orange.home() / "harnesses/thrifty.sh";
    write_file(script,
               "#!/bin/sh\nif [ ! -e " + mark + " ]; then\n  : > " + mark +
                   "\n  stty -icanon -echo\n"
                   "  printf \"You've hit your session limit · resets in 4 seconds\\nWhat do you want to do?\\n\"\n"
                   "  until [ \"$(dd bs=1 count=1 2> /dev/null)\" = \"$(printf '\\033')\" ]; do :; done\n"
                   "  stty icanon echo\n  printf '\\033[2J\\033[Hready\\n'\n  read -r line\n"
                   "  printf '%s\\n' \"$line\" > " +
                   mark +
                   "\nfi\n"
                   "printf '\\033[2J\\033[Hworking\\n'\nsleep 600\n");
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    write_file(
        orange.home() / "harnesses/thrifty.yml",
        "name: thrifty\nprogram: ./thrifty.sh\nargv:\n  full: [--, \"{prompt}\"]\n"
        "screen: {busy: [working], otherwise: idle, composer_empty: [ready]}\n"
        "usage_limit: {screen: [You've hit your], resets: [\"resets \"], dialog: [\"What do you want to do?\"]}\n");
}

TEST_CASE("Starts wait while a harness shows its usage limit, and everything goes on by itself when it resets") {
    Sandbox orange("poll_interval: 1\n");
    orange.add_project("shop", 2);
    add_limited_harness(orange);
    const auto create = [&](const std::string& summary) {
        rpc::TaskCreate params;
        params.project = "shop";
        params.summary = summary;
        params.harness = params.review_harness = "thrifty";
        return orange.call(params).task.fields.id.value;
    };
    const auto first = create("First");
    orange.wait_for_status(first, "planning");
    orange.eventually("the limit is seen", [&] { return view(orange, first).needs.kind == Need::help; });
    const auto notices = view(orange, first).notices;
    REQUIRE(notices.size() == 1);
    CHECK(notices.front().kind == NoticeKind::usage_limit);
    const auto second = create("Second");
    const auto waits = view(orange, second);
    CHECK(waits.fields.status == "pending");
    REQUIRE(waits.start_wait);
    CHECK(waits.start_wait->reason == "usage_limit");
    CHECK(waits.start_wait->until);
    orange.kill_daemon();  // the next one knows it as well
    orange.start_daemon();
    orange.wait_for_status(second, "planning");
    orange.eventually("the first goes on", [&] {
        const auto now = view(orange, first);
        return now.needs.kind == Need::nothing && now.worker_activity &&
               now.worker_activity->activity == Activity::busy;
    });
    CHECK_THAT(read_file(orange.root() / "was-limited"), Holds("[orange]"));
    CHECK(view(orange, first).notices.empty());
    CHECK(orange.history(first, "agent.notified").size() == 1);
}

namespace {

namespace fs = std::filesystem;

/// A harness that runs a script without double quotes.
void add_script_harness(Sandbox& orange, const std::string& name, const std::string& script) {
    fs::create_directories(orange.home() / "harnesses");
    write_file(orange.home() / "harnesses" / (name + ".yml"),
               "name: " + name + "\nprogram: sh\nargv:\n  full: [-c, \"" + script + "\", --, \"{prompt}\"]\n");
}

std::string create_with(Sandbox& orange, const std::string& harness, const std::string& executor = {}) {
    rpc::TaskCreate params;
    params.project = "shop";
    params.summary = "Use it up";
    params.harness = params.review_harness = harness;
    if (!executor.empty()) params.executor = executor;
    return orange.call(params).task.fields.id.value;
}

bool has_notice(Sandbox& orange, const std::string& id, NoticeKind kind) {
    const auto notices = view(orange, id).notices;
    return std::ranges::any_of(notices, [&](const auto& notice) { return notice.kind == kind; });
}

/// Starts children until it has sixty or is refused one, and writes their number to `count`. A shell ends then, so it
/// does that in another one.
std::string bomb(const std::string& seconds) {
    return "(n=0; while [ $n -lt 60 ]; do sleep " + seconds + " & n=$((n+1)); echo $n >count; done) 2>/dev/null; ";
}

}  // namespace

TEST_CASE("An agent that fills its worktree is ended, and told why, and no file of it is larger than its limit") {
    Sandbox orange("poll_interval: 60\n", 0, Sandbox::Time::of_test);
    orange.add_project("shop", 2);
    const auto beside = orange.create("shop", "Beside demo:slow=600");
    limit(orange, "limits.disk", "64M");
    add_script_harness(orange, "filler",
                       "printf '\\n## Plan\\n\\nAPPROACH: x\\n' >>TASK.md; head -c 70000000 /dev/zero >one; wc -c <one "
                       ">size; rm one; head -c 40000000 /dev/zero >a; "
                       "cp a b; echo yes >ready; exec sleep 600");
    const auto id = create_with(orange, "filler");
    orange.eventually("it has filled its worktree", [&] { return fs::exists(orange.worktree(id) / "ready"); });
    CHECK(read_file(orange.worktree(id) / "size") == std::to_string(64 << 20) + "\n");
    const auto other = orange.run_of(beside, "worker").at("pid");
    for (int polls = 0; polls < 20 && !has_notice(orange, id, NoticeKind::agent_crashed); ++polls) {
        orange.pass_with_poll(std::chrono::seconds(61));
    }
    const auto task = view(orange, id);
    REQUIRE(has_notice(orange, id, NoticeKind::agent_crashed));
    CHECK_THAT(task.notices.front().text, Tells("limits.disk") && Holds("64 MiB"));
    CHECK(task.worker == "dead");
    CHECK(orange.history(id, "agent.crashed").back().at("out_of_disk") == true);
    CHECK(orange.history(id, "agent.respawned").empty());
    CHECK(orange.status(id) == "planning");  // although its section is written
    CHECK(orange.run_of(beside, "worker").at("pid") == other);
    CHECK(view(orange, beside).worker == "alive");
}

TEST_CASE("A fork bomb in bwrap is held and told while others work, and a cancel ends all of it", "[user-namespaces]") {
    constexpr int k_most = 40;
    const bool is_held = ::geteuid() != 0;  // the kernel holds nobody to it who is root, and Orange says so
    Sandbox orange("poll_interval: 1\n");
    orange.add_project("shop", 3);
    limit(orange, "limits.processes", k_most);
    const auto seconds = "6000" + std::to_string(::getpid());
    add_script_harness(orange, "bomb", bomb(seconds) + "exec sleep " + seconds);
    const auto running = [&] {
        const auto all = orange.run({"ps", "-eo", "args"});
        int count = 0;
        for (auto at = all.find("sleep " + seconds); at != std::string::npos;
             at = all.find("sleep " + seconds, at + 1)) {
            if (at == 0 || all[at - 1] == '\n') ++count;
        }
        return count;
    };
    const auto id = create_with(orange, "bomb", "bwrap");
    if (is_held) {
        orange.eventually("it is told", [&] { return has_notice(orange, id, NoticeKind::out_of_processes); });
        CHECK(running() < k_most);
        CHECK(running() > k_most / 2);
    } else {
        orange.eventually("it has all of them", [&] { return running() == 61; });
        CHECK_FALSE(has_notice(orange, id, NoticeKind::out_of_processes));
    }
    const auto other = orange.create("shop", "Beside");
    orange.wait_for_status(other, "reviewing");
    rpc::TaskShow show;
    show.id = id;
    const auto shown = orange.call(show);
    CHECK(shown.task.worker == "alive");
    REQUIRE(shown.agents.size() == 1);
    CHECK(shown.agents.front().processes_limit == k_most);
    CHECK(shown.agents.front().processes_enforced == is_held);
    rpc::TaskCancel cancel;
    cancel.id = id;
    orange.call(cancel);
    orange.eventually("all of it has ended", [&] { return running() == 0; });
}

/// As root it runs the box as somebody else, with a copy of the shim: the build tree need not be open to everybody.
TEST_CASE("In a box of its own, an agent's processes are held to their limit by the kernel", "[user-namespaces]") {
    Sandbox orange;
    const testing::TemporaryFolder folder;
    fs::permissions(folder.path(), fs::perms::all);
    const auto shim = folder / "orange-agent", spec = folder / "spec.json";
    fs::copy_file(program("orange-agent"), shim);
    fs::permissions(shim, fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
    const auto started_with = [&](int limit) {
        Json json = {{"run", "RUN123456789"},
                     {"argv", {"/bin/sh", "-c", bomb("600")}},
                     {"env", {{"PATH", "/usr/bin:/bin"}}},
                     {"cwd", folder.path().string()},
                     {"exit_file", (folder / "exit").string()},
                     {"started_file", (folder / "started").string()},
                     {"processes_limit", limit},
                     {"user_namespace", fs::read_symlink("/proc/self/ns/user").string()}};
        write_file(spec, json.dump());
        fs::permissions(spec, fs::perms::owner_all | fs::perms::others_read);
        std::vector<std::string> words;
        if (::geteuid() == 0) words = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
        const auto bwrap = fs::canonical(tools() + "/bwrap").string(), place = folder.path().string();
        for (const std::string& word :
             {bwrap, std::string("--die-with-parent"), std::string("--unshare-user"), std::string("--unshare-pid"),
              std::string("--ro-bind"), std::string("/"), std::string("/"), std::string("--dev"), std::string("/dev"),
              std::string("--proc"), std::string("/proc"), std::string("--bind"), place, place, std::string("--"),
              shim.string(), std::string("--inner"), spec.string()}) {
            words.push_back(word);
        }
        const auto ran = orange.try_run(words, "/");
        INFO(ran.err);
        CHECK(fs::exists(folder / "exit"));
        return std::stoi("0" + read_file(folder / "count"));
    };
    CHECK(started_with(0) == 60);
    const int held = started_with(30);
    CHECK(held < 30);
    CHECK(held > 15);
}

}  // namespace orange::tests

#include "tests/integration/doctor.hpp"

#include <signal.h>

#include "common/base/text.hpp"
#include "tests/catch.hpp"

/// What `orange doctor` says of Orange's own files and of the home, and that what it says to do mends it.
namespace orange::tests {
namespace {

namespace fs = std::filesystem;

}  // namespace

TEST_CASE("The doctor finds nothing wrong where nothing is, and says what it looked at") {
    Sandbox orange;
    orange.add_project("shop");
    const auto healthy = diagnose(orange);
    INFO(healthy.errors());
    CHECK(healthy.errors().empty());
    CHECK(healthy.status == 0);
    const auto page = orange.orange({"doctor"});
    CHECK(page.status == 0);
    CHECK_THAT(page.out, Holds("✓ "));
    CHECK_THAT(page.out, !Holds("✗ "));
    CHECK(std::count(page.out.begin(), page.out.end(), '\n') < 24);
    CHECK(orange.orange({"doctor", "--project", "nosuch"}).status == 1);
}

TEST_CASE("What needs you is one line of the doctor, however many tasks it is") {
    Sandbox orange;
    orange.add_project("shop");
    const auto first = orange.create("shop", "One demo:clarify");
    orange.wait_for_status(first, "clarification");
    CHECK_THAT(diagnose(orange).command("attention"), Holds("reply"));
    const auto second = orange.create("shop", "Two demo:clarify");
    orange.wait_for_status(second, "clarification");
    const auto both = diagnose(orange);
    const auto said = both.said("attention");
    CHECK(std::ranges::count(said, '\n') == 1);
    CHECK_THAT(said, Tells(orange.short_id(first)) && Tells(orange.short_id(second)));
    CHECK(both.command("attention") == "orange inbox");
}

TEST_CASE("Without a daemon the doctor says so, and looks at what it can see itself") {
    Sandbox orange;
    orange.stop_daemon();
    auto down = diagnose(orange);
    CHECK(down.status == 0);
    CHECK(down.said("daemon").empty());
    CHECK(down.said("home").empty());
    CHECK(down.said("programs").empty());

    fs::permissions(orange.home(), fs::perms(0755));
    down = diagnose(orange);
    CHECK_THAT(down.said("home"), Tells("error"));
    mend(orange, down.command("home"));
    CHECK(diagnose(orange).said("home").empty());

    CHECK(down.said("config").empty());
    write_file(orange.home() / "config.yml", "poll_interval: 5\nnonsense: 1\n");
    down = diagnose(orange);
    CHECK_THAT(down.said("config"), Tells("error") && Tells("nonsense"));
    CHECK(down.file("config") == (orange.home() / "config.yml").string() + ":2");
    write_file(orange.home() / "config.yml", "poll_interval: 5\n");
    CHECK(diagnose(orange).said("config").empty());
    orange.start_daemon();
    CHECK(diagnose(orange).errors().empty());
    orange.add_project("shop");
    orange.create("shop", "Round the total", true);
    orange.stop_daemon();
    down = diagnose(orange);
    CHECK(down.status == 0);
    CHECK_THAT(down.said("daemon"), Tells("warning"));
    CHECK(down.command("daemon") == "orange daemon start");
}

TEST_CASE(
    "If no agent is installed, the doctor says so once, with the command that tells how, with and without a daemon") {
    Sandbox orange;
    const auto commands = [&] {
        std::vector<std::string> all;
        for (const auto& finding : diagnose(orange).findings) {
            const bool is_of_agents = finding.level == "warning";
            if (is_of_agents && finding.command && finding.command->starts_with("orange harness"))
                all.push_back(*finding.command);
        }
        return all;
    };
    const std::vector<std::string> wanted = {"orange harness list"};
    CHECK(commands() == wanted);
    orange.stop_daemon();
    CHECK(commands() == wanted);
    // One is enough.
    fs::create_directories(orange.home() / "harnesses");
    write_file(
        orange.home() / "harnesses" / "idle.yml",
        "name: idle\nprogram: sh\ninstall: sudo apt install dash\nargv:\n  full: [-c, sleep 600, --, \"{prompt}\"]\n");
    CHECK(commands().empty());
    orange.start_daemon();
    CHECK(commands().empty());
}

TEST_CASE("A .env that no task has is named when its project is added and by the doctor, until it is copied") {
    Sandbox orange;
    const auto repo = orange.add_project("shop");
    const auto command = [&] {
        for (const auto& finding : diagnose(orange).findings) {
            if (finding.command && finding.command->find(".worktreeinclude") != std::string::npos)
                return *finding.command;
        }
        return std::string();
    };
    write_file(repo / ".env", "KEY=1\n");
    CHECK(command().empty());  // git does not ignore it
    write_file(repo / ".git" / "info" / "exclude", ".env\n");
    CHECK_FALSE(command().empty());
    REQUIRE(orange.orange({"project", "remove", "shop"}).status == 0);
    CHECK_THAT(orange.orange({"project", "add", repo.string()}).out, Holds(".env") && Holds(".worktreeinclude"));
    mend(orange, command());
    CHECK(command().empty());
}

TEST_CASE("A problem stands above what is only a warning, and both above the line for what is well") {
    Sandbox orange;
    fs::create_directories(orange.home() / "workflows");
    write_file(orange.home() / "workflows" / "mine.yml", "states: [a\n");
    write_file(orange.home() / "projects.json", "[\n");
    const auto page = orange.orange({"doctor"}).out;
    CHECK(page.find("✗") == 0);
    REQUIRE(page.find("\n! ") != std::string::npos);
    CHECK(page.rfind("✗") < page.find("\n! "));
    CHECK(page.find("✓") > page.rfind("\n! "));
    CHECK(page.find("✓") == page.rfind("✓"));
}

TEST_CASE("A broken projects.json is named with its line, and the last good one mends it") {
    Sandbox orange;
    orange.add_project("shop");
    const auto file = orange.home() / "projects.json";
    const auto good = read_file(file);
    orange.stop_daemon();
    orange.start_daemon();
    write_file(file, "[\n  {\n    \"name\": \n");
    auto broken = diagnose(orange);
    CHECK(broken.status == 1);
    CHECK_THAT(broken.file("projects"), Holds("projects.json:"));
    mend(orange, broken.command("projects"));
    CHECK(read_file(file) == good);
    CHECK(diagnose(orange).said("projects").empty());
}

TEST_CASE("A user whom git does not know is named once for all projects, with the command that changes it") {
    Sandbox orange;
    orange.add_project("shop");
    orange.add_project("blog");
    CHECK(diagnose(orange).said("git-user").empty());
    write_file(orange.root() / ".gitconfig", "[init]\n\tdefaultBranch = main\n");
    const auto found = diagnose(orange);
    CHECK(found.status == 0);
    const auto said = found.said("git-user");
    CHECK_THAT(said, Tells("user.name") && Tells("user.email") && Tells("shop") && Tells("blog"));
    CHECK(std::count(said.begin(), said.end(), '\n') == 1);
    mend(orange, found.command("git-user"));
    CHECK(diagnose(orange).said("git-user").empty());
}

TEST_CASE("A projects.json that cannot be used, or misses a project with tasks, is named by doctor and project list") {
    Sandbox orange;
    orange.add_project("shop");
    orange.create("shop", "Never started", true);
    const auto file = orange.home() / "projects.json";
    const auto good = read_file(file);
    const auto listed = [&] { return Json::parse(orange.orange({"project", "list", "--json"}).out); };
    CHECK_FALSE(listed().contains("problems"));
    write_file(file, "[");
    CHECK_THAT(diagnose(orange).said("projects"), Tells("projects.json.bak"));
    CHECK_THAT(listed().at("problems").at(0).get<std::string>(), Tells("projects.json.bak"));
    CHECK(listed().at("projects").size() == 1);
    write_file(file, "[]");
    CHECK_THAT(diagnose(orange).said("projects"), Tells("shop"));
    CHECK_THAT(listed().at("problems").at(0).get<std::string>(), Tells("orange project add PATH --name shop"));
    CHECK_THAT(orange.orange({"daemon", "status"}).out, Tells("shop"));
    write_file(file, good);
    CHECK(diagnose(orange).said("projects").empty());
    CHECK_FALSE(listed().contains("problems"));
}

TEST_CASE("A broken .pool.json is named, and is made anew from what the tasks say") {
    Sandbox orange;
    orange.add_project("shop");
    add_idle_harness(orange);
    const auto id = id_of(orange.call(idle_task("shop", "Wait")));
    const auto file = orange.home() / "workspaces" / ".pool.json";
    write_file(file, "{\"workspaces\": [\n");
    const auto broken = diagnose(orange);
    CHECK_THAT(broken.file("pool"), Holds(".pool.json:"));
    mend(orange, broken.command("pool"));
    CHECK(diagnose(orange).said("pool").empty());
    CHECK_THAT(read_file(file), Holds(id));
}

TEST_CASE("Files of a newer schema are refused with a sentence, and left as they are") {
    Sandbox orange;
    orange.add_project("shop");
    add_idle_harness(orange);
    const auto id = id_of(orange.call(idle_task("shop", "Wait")));
    const auto folder = orange.folder(id);
    rpc::TaskCancel cancel;
    cancel.id = id;
    orange.call(cancel);
    orange.stop_daemon();
    const std::vector<fs::path> files = {folder / "state.json", orange.home() / "workspaces" / ".pool.json",
                                         orange.home() / "projects.json"};
    std::vector<std::string> newer;
    for (const auto& file : files) {
        auto json = Json::parse(read_file(file));
        if (json.is_array()) json = Json{{"projects", json}};
        json["schema"] = 99;
        json["new_in_2"] = "to be kept";
        newer.push_back(json.dump(1));
        write_file(file, newer.back());
    }
    orange.start_daemon();
    const auto found = diagnose(orange);
    for (const char* check : {"tasks", "pool", "projects"}) {
        CHECK_THAT(found.said(check), Tells("99"));
    }
    const auto other = orange.make_repository("other");
    const auto refused = orange.orange({"project", "add", other.string()});
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, Tells("projects.json"));
    orange.stop_daemon();
    for (std::size_t i = 0; i < files.size(); ++i) CHECK(read_file(files[i]) == newer[i]);
    orange.start_daemon();
}

TEST_CASE("A task, a workflow and a harness that cannot be read are named with file and line") {
    Sandbox orange;
    orange.add_project("shop");
    const auto id = orange.create("shop", "Never started", true);
    const auto state = orange.folder(id) / "state.json";
    const auto good = read_file(state);
    const auto branch = orange.fields(id).at("branch").get<std::string>();
    orange.stop_daemon();
    write_file(state, "{\n\"schema\": 1,\n\"fields\" {}\n}\n");
    fs::create_directories(orange.home() / "workflows");
    write_file(orange.home() / "workflows" / "mine.yml", "name: mine\nstates:\n  pending: {}\n  nonsense: [1\n");
    fs::create_directories(orange.home() / "harnesses");
    write_file(orange.home() / "harnesses" / "mine.yml",
               "name: mine\nprogram: sh\nnonsense: 3\nargv:\n  full: [-c, \"true\", --, \"{prompt}\"]\n");
    orange.start_daemon();
    const auto found = diagnose(orange);
    CHECK(found.status == 1);
    CHECK(found.file("tasks") == state.string() + ":3");
    CHECK_THAT(found.file("workflows"), Holds("mine.yml:"));
    CHECK_THAT(found.file("harnesses"), Holds("mine.yml:3"));
    const auto listed = orange.orange({"task", "list"}).out;
    CHECK_THAT(listed, Holds("unreadable") && Holds("Never started"));
    const auto second = orange.orange({"task", "create", "--project", "shop", "--branch", branch, "Another"});
    CHECK(second.status != 0);
    CHECK_THAT(second.err, Tells(id));
    write_file(state, good);
    orange.stop_daemon();
    orange.start_daemon();
    CHECK(diagnose(orange).said("tasks").empty());
    CHECK(orange.status(id) == "pending");
}

TEST_CASE("A config.yml that makes no sense is named with its line while the old one stays in force") {
    Sandbox orange("poll_interval: 5\n");
    write_file(orange.home() / "config.yml", "poll_interval: 5\nnonsense: 1\n");
    const auto found = diagnose(orange);
    CHECK_THAT(found.file("config"), Holds("config.yml:2"));
    const auto refused = orange.orange({"daemon", "reload"});
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, Tells("config.yml:2"));
    write_file(orange.home() / "config.yml", "poll_interval: 5\n");
    CHECK(diagnose(orange).said("config").empty());
    CHECK(orange.orange({"daemon", "reload"}).status == 0);
}

TEST_CASE("A daemon starts with the last good config.yml if the file has an error, and says where it is") {
    Sandbox orange;
    const auto file = (orange.home() / "config.yml").string();
    const auto told = orange.root() / "told";
    write_file(file, "notify: [sh, -c, 'echo \"$0\" >>" + told.string() + "']\n");
    CHECK(orange.orange({"daemon", "reload"}).status == 0);
    orange.stop_daemon();
    write_file(file, "poll_interval: 5\nport_base: many\n");
    orange.start_daemon();
    const auto status = [&] { return orange.call(rpc::DaemonStatus{}).problems; };
    REQUIRE(status().size() == 1);
    CHECK_THAT(status().front(), Tells(file + ":2:12") && Tells("port_base"));
    CHECK_THAT(diagnose(orange).said("config"), Tells("port_base"));
    orange.eventually("the last good notify command is run",
                      [&] { return fs::exists(told) && tells(read_file(told), "port_base"); });
    write_file(file, "port_base: 40000\n");
    CHECK(orange.orange({"daemon", "reload"}).status == 0);
    CHECK(status().empty());
    orange.stop_daemon();
    write_file(file, "port_base: [\n");
    fs::remove(orange.home() / ".config.good.yml");
    orange.start_daemon();
    CHECK(status().size() == 1);
}

TEST_CASE("A restart leaves a daemon alone that the next one could not replace, unless it is forced") {
    Sandbox orange("poll_interval: 5\n");
    const auto before = orange.call(rpc::DaemonPing{}).pid;
    write_file(orange.home() / "config.yml", "nonsense: 1\n");
    const auto refused = orange.orange({"daemon", "restart"});
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, Tells("config.yml:1:1") && Tells("orange daemon restart --force"));
    CHECK(orange.call(rpc::DaemonPing{}).pid == before);
}

TEST_CASE("SIGHUP reads config.yml again and ends nothing, whatever is in it") {
    Sandbox orange("poll_interval: 5\n");
    const auto logged = [&](const std::string& level, const std::string& fact) {
        orange.eventually("the log has " + fact, [&] {
            const auto log = read_file(orange.home() / "orange.log");
            for (const auto line : split_lines(log)) {
                const auto event = Json::parse(line);
                if (event.at("level") == level && tells(event.at("msg").get<std::string>(), fact)) return true;
            }
            return false;
        });
    };
    write_file(orange.home() / "config.yml", "nonsense: [\n");
    ::kill(orange.daemon_pid(), SIGHUP);
    logged("error", (orange.home() / "config.yml").string() + ":1:11");
    CHECK(orange.call(rpc::DaemonPing{}).pid == orange.daemon_pid());
    write_file(orange.home() / "config.yml", "poll_interval: 6\n");
    ::kill(orange.daemon_pid(), SIGHUP);
    logged("info", "config.yml");
    CHECK(orange.call(rpc::DaemonPing{}).pid == orange.daemon_pid());
}

TEST_CASE("What the doctor shows of a task reaches no terminal as an escape") {
    Sandbox orange;
    orange.add_project("shop");
    add_idle_harness(orange);
    const auto id = id_of(orange.call(idle_task("shop", "Wait")));
    write_file(orange.folder(id) / "TASK.kept-\x1b]0;x\x07", "old\n");
    const auto page = orange.orange({"doctor"});
    CHECK_THAT(page.out, Holds("! conflicts:"));
    CHECK_THAT(page.out, !Holds("\x1b"));
}

TEST_CASE("A line inside a history that nobody can read is told, also of a task that has ended") {
    Sandbox orange;
    orange.add_project("shop");
    const auto id = orange.create("shop", "Never started", true);
    const auto file = orange.folder(id) / "history.jsonl";
    const auto good = read_file(file);
    write_file(file, "not an event\n" + good + "{\"type\": 3}\n");
    auto found = diagnose(orange);
    CHECK_THAT(found.said("history"), Tells("2") && Tells(orange.short_id(id)));
    CHECK(found.file("history") == file.string());
    (void)orange.update_status(id, "cancelled");
    found = diagnose(orange);
    CHECK_THAT(found.said("history"), Tells("1") && Tells(orange.short_id(id)));
    const auto command = found.command("history");
    const auto from = command.find("sed ");
    const auto to = command.find(" && orange daemon start");
    REQUIRE((from != std::string::npos && to != std::string::npos));
    orange.stop_daemon();
    mend(orange, command.substr(from, to - from));
    orange.start_daemon();
    CHECK(diagnose(orange).said("history").empty());
    CHECK_THAT(read_file(file), Holds(good) && Holds("task.cancelled"));
}

}  // namespace orange::tests

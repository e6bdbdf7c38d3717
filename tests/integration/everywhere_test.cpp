// `--everywhere`: the tasks of several hosts, of which some are silent, through real sshds.
#include <sys/stat.h>

#include <algorithm>
#include <thread>

#include "common/base/text.hpp"
#include "common/rpc/daemon_methods.hpp"
#include "tests/catch.hpp"
#include "tests/facts.hpp"
#include "tests/integration/hosts.hpp"

using namespace orange;
using namespace orange::tests;

namespace {

Json host_of(const Json& reply, const std::string& name) {
    for (const auto& host : reply.at("hosts")) {
        if (host.at("name") == name) return host;
    }
    return {};
}

/// "box:4f2a" and the like, sorted.
std::vector<std::string> ids_of(const Json& reply) {
    std::vector<std::string> ids;
    for (const auto& task : reply.at("tasks")) ids.push_back(task.at("short_id").get<std::string>());
    std::ranges::sort(ids);
    return ids;
}

int mode_of(const std::filesystem::path& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 ? static_cast<int>(info.st_mode & 0777) : -1;
}

}  // namespace

TEST_CASE("Of three hosts one is silent: the others are shown, and the silent one as of its last answer") {
    HostsDesk desk;
    Sshd other(desk.here, desk.here.root() / "other-sshd");
    desk.reach("silent", other);
    Sandbox box, gpu, silent;
    std::vector<std::string> expected;
    const auto give_task = [&](Sandbox& place, const std::string& name) {
        place.add_project("shop");
        const auto id = place.create("shop", "Look at " + name, true);
        expected.push_back((name.empty() ? "" : name + ":") + place.short_id(id));
        return id;
    };
    give_task(desk.here, "");
    give_task(box, "box");
    give_task(gpu, "gpu");
    const auto third = give_task(silent, "silent");
    std::ranges::sort(expected);
    desk.add("box", program_of(box), {}, "60");
    desk.add("gpu", program_of(gpu, "echo Welcome\n"), "box", "60");
    desk.add("silent", program_of(silent), {}, "60");
    const auto list = [&] { return Json::parse(desk.out_of({"task", "list", "--everywhere", "--json"})); };
    const auto before = list();
    CHECK(ids_of(before) == expected);
    for (const auto* name : {"box", "gpu", "silent"}) CHECK(host_of(before, name).at("answered") == true);
    const auto task = std::ranges::find(before.at("tasks"), Json("silent"),
                                        [](const Json& each) { return each.value("host", Json()); });
    REQUIRE(task != before.at("tasks").end());
    CHECK(task->at("fields").at("id") == third);
    CHECK(mode_of(desk.here.home() / "cache" / "hosts") == 0700);
    CHECK(mode_of(desk.here.home() / "cache" / "hosts" / "silent.list.json") == 0600);

    // Its sshd takes the connection, and says nothing. The error is that of the deadline, so ssh's own time limit,
    // which is longer, was not waited for.
    desk.out_of({"host", "remove", "silent"});
    CHECK(mode_of(desk.here.home() / "cache" / "hosts" / "silent.list.json") == -1);
    desk.add("silent", program_of(silent), {}, "60");
    const auto last = list();
    REQUIRE(::kill(other.pid(), SIGSTOP) == 0);
    const auto file = desk.here.home() / "hosts.yml";
    auto text = read_file(file);
    text.replace(text.rfind("60"), 2, "1");
    write_file(file, text);
    const auto created = box.create("shop", "One more", true);
    expected.push_back("box:" + box.short_id(created));
    const auto after = list();
    CHECK(host_of(after, "box").at("answered") == true);
    CHECK(host_of(after, "gpu").at("answered") == true);
    const auto state = host_of(after, "silent");
    CHECK(state.at("answered") == false);
    CHECK(state.at("as_of") == host_of(last, "silent").at("as_of"));
    CHECK(code_of(state) == "timeout");
    CHECK(ids_of(after).size() == 5);
    CHECK_THAT(desk.out_of({"task", "list", "-e"}), Holds("silent: "));
    CHECK(silent.status(third) == "pending");

    // Its tasks are completed from its last answer.
    const auto id = silent.short_id(third);
    CHECK_THAT(desk.out_of({"complete", "--", "task", "show", "silent:"}), Holds("silent:" + id + "\t"));
    CHECK_THAT(desk.out_of({"complete", "--", "task", "show", "silent", ":", id.substr(0, 2)}), Holds("\t"));
    CHECK_THAT(desk.out_of({"complete", "--", "--host", "silent", "task", "show", ""}), Holds(id + "\t"));

    // Another question than the ones that are kept is not answered from them.
    const auto searched = Json::parse(desk.out_of({"task", "list", "-e", "--search", "Look", "--json"}));
    CHECK(code_of(host_of(searched, "silent")) == "timeout");
    CHECK(!host_of(searched, "silent").contains("as_of"));
    CHECK(ids_of(searched).size() == 3);
}

TEST_CASE("The inbox of all hosts has the most urgent task first, and each with the command for it") {
    HostsDesk desk;
    Sandbox box;
    desk.here.add_project("shop");
    box.add_project("shop");
    const auto mine = desk.here.create("shop", "Mine", true), theirs = box.create("shop", "Theirs demo:clarify");
    box.wait_for_status(theirs, "clarification");
    desk.add("box", program_of(box), {}, "60");
    const auto reply = Json::parse(desk.out_of({"inbox", "--everywhere", "--json"}));
    REQUIRE(reply.at("tasks").size() == 2);
    CHECK(reply.at("tasks").at(0).at("fields").at("id") == theirs);
    CHECK(reply.at("tasks").at(1).at("fields").at("id") == mine);
    const auto page = desk.out_of({"inbox", "--everywhere"});
    CHECK_THAT(page, Tells("orange task reply box:" + box.short_id(theirs)));
    CHECK_THAT(desk.out_of({"inbox", "-e", "--format", "{id} {summary}"}),
               Holds("box:" + theirs + " Theirs demo:clarify\n" + mine + " Mine\n"));
    CHECK(desk.out_of({"inbox", "--json"}).find("\"hosts\"") == std::string::npos);
    CHECK(Json::parse(desk.out_of({"inbox", "-e", "-p", "shop", "--json"})).at("tasks").size() == 2);

    // An agent sees this machine alone.
    const auto agents = desk.orange({"inbox", "-e", "--json"}, {}, {"ORANGE_TASK=" + mine});
    CHECK(agents.status == 0);
    CHECK(!Json::parse(agents.out).contains("hosts"));
}

TEST_CASE("A host that cannot be asked, and one that is this machine, are told in a line each, and change nothing") {
    HostsDesk desk;
    Sandbox box;
    desk.here.add_project("shop");
    const auto id = desk.here.create("shop", "Only here", true);
    const auto old = desk.here.root() / "orange-old";
    write_file(old, "#!/bin/sh\necho 'error: there is no command' >&2\nexit 2\n");
    std::filesystem::permissions(old, std::filesystem::perms::owner_all);
    desk.add("self", program_of(desk.here), "box", "60");
    desk.add("gone", program_of(box), {}, "60");
    desk.add("locked", program_of(box), {}, "60");
    desk.add("missing", "/nowhere/orange", "box", "60");
    desk.add("old", old, "box", "60");
    const auto reply = Json::parse(desk.out_of({"inbox", "-e", "--json"}));
    CHECK(reply.at("tasks").size() == 1);
    CHECK(code_of(host_of(reply, "self")) == "conflict");
    CHECK(code_of(host_of(reply, "gone")) == "unavailable");
    CHECK(code_of(host_of(reply, "locked")) == "forbidden");
    CHECK(code_of(host_of(reply, "missing")) == "not_found");
    CHECK(code_of(host_of(reply, "old")) == "external_failed");
    const auto page = desk.out_of({"inbox", "-e"});
    for (const auto* name : {"self", "gone", "locked", "missing", "old"}) {
        const auto lines = split_lines(page);
        CHECK(std::ranges::count_if(lines, [&](std::string_view line) {
                  return line.starts_with("! " + std::string(name) + ": ");
              }) == 1);
    }
}

TEST_CASE("A host that answers after its deadline is known at the next look, and a task of it is found by its id") {
    HostsDesk desk;
    Sandbox box;
    box.add_project("shop");
    const auto id = box.create("shop", "Far away", true);
    const auto open = desk.here.root() / "open";
    desk.add("far", program_of(box, "while ! test -e '" + open.string() + "'; do sleep 0.05; done\n"), {}, "1");
    const auto list = [&] { return Json::parse(desk.out_of({"task", "list", "--everywhere", "--json"})); };
    const auto unknown = list();
    CHECK(code_of(host_of(unknown, "far")) == "timeout");
    CHECK(unknown.at("tasks").empty());
    CHECK_THAT(desk.out_of({"task", "list", "--everywhere"}), Tells("orange host test far"));
    write_file(open, "");
    desk.here.eventually("the late answer is there",
                         [&] { return std::filesystem::exists(desk.here.home() / "cache/hosts/far.list.json"); });
    CHECK(list().at("tasks").size() == 1);
    // An answer from the time of a clock that was ahead keeps no other one away.
    const auto file = desk.here.home() / "cache/hosts/far.list.json";
    auto answer = Json::parse(read_file(file));
    answer["at"] = "2199-01-01T00:00:00.000Z";
    std::filesystem::remove(open);
    write_file(file, answer.dump());
    (void)list();
    write_file(open, "");
    desk.here.eventually("the late answer is there", [&] { return read_file(file).find("2199") == std::string::npos; });
    const auto error = desk.error_of({"reply", id.substr(0, 8), "Yes", "--json"});
    CHECK_THAT(message_of(error), Tells("orange --host far task reply " + id.substr(0, 8) + " Yes --json"));
}

TEST_CASE("Noise on the line of the JSON is named, and hides no task") {
    HostsDesk desk;
    Sandbox box;
    box.add_project("shop");
    box.create("shop", "Look", true);
    desk.add("noisy", program_of(box, "printf Welcome\n"), "box", "60");
    const auto reply = Json::parse(desk.out_of({"task", "list", "--everywhere", "--json"}));
    CHECK(reply.at("tasks").size() == 1);
    CHECK(host_of(reply, "noisy").at("answered") == true);
    CHECK_THAT(desk.out_of({"task", "list", "--everywhere"}), Tells("noisy:") && Holds("Welcome"));
    CHECK_THAT(
        Json::parse(desk.orange({"host", "test", "noisy", "--json"}).out).at("problems").at(0).get<std::string>(),
        Tells("Welcome"));
}

TEST_CASE("A wait on a host ends with its connection, and the person is told that it is lost") {
    HostsDesk desk;
    Sandbox box;
    box.add_project("shop");
    const auto id = box.create("shop", "Later", true);
    desk.add("box", program_of(box));
    const auto connections = [&] { return box.call(rpc::DaemonStatus{}).connections; };
    box.eventually("only this test is connected", [&] { return connections() == 1; });
    std::thread breaks([&] {
        while (connections() <= 1) std::this_thread::yield();
        desk.sshd.signal(SIGKILL);
    });
    const auto lost = desk.orange({"task", "wait", "--any", "box:" + id, "--json"});
    breaks.join();
    CHECK(lost.status == 1);
    CHECK_THAT(lost.err, Tells("box:"));
    box.eventually("the wait there has ended", [&] { return connections() == 1; });
}

TEST_CASE("The first of several tasks on several hosts ends the wait, and a host that is lost is left out") {
    HostsDesk desk;
    Sandbox box, gpu;
    std::vector<std::string> ids;
    for (auto* place : {&desk.here, &box, &gpu}) {
        place->add_project("shop");
        ids.push_back(place->create("shop", "Later", true));
    }
    desk.add("box", program_of(box));
    desk.add("gpu", program_of(gpu), "box");
    desk.add("gone", program_of(gpu));
    const auto tasks = ids[0] + ",box:" + ids[1] + ",gpu:" + ids[2] + ",gone:" + ids[2];
    (void)box.update_status(ids[1], "cancelled");
    const auto first = desk.orange({"task", "wait", "--any", tasks, "--json"});
    CHECK(first.status == 0);
    const auto reply = Json::parse(first.out);
    CHECK(reply.at("reached") == true);
    CHECK(reply.at("task").at("short_id") == "box:" + box.short_id(ids[1]));
    // The others go on: of one that cannot reach it any more, and of a host that does not answer, a line tells.
    const auto late = desk.orange({"task", "wait", "--any", tasks, "--for", "working", "--timeout", "1"});
    CHECK(late.status == 3);
    CHECK(late.out.empty());
    for (const auto* name : {"box", "gone"}) CHECK_THAT(late.err, Holds(name));
    CHECK_THAT(late.err, !Holds("gpu"));
    CHECK(desk.orange({"task", "wait", "--any", "gone:" + ids[2]}).status == 1);
    CHECK(desk.error_of({"task", "wait", "--any", "bxo:" + ids[2], "--json"}).at("data").at("name") == "not_found");
    CHECK(gpu.status(ids[2]) == "pending");
}

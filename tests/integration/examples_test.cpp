#include "common/base/text.hpp"
#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

/// The examples of docs/protocol.md and docs/triggers.md, as they stand there, with the real daemon.
namespace orange::tests {
namespace {

/// The lines of the block of that language in the section of the page.
std::string example(const std::string& language, const std::string& name = "protocol.md",
                    const std::string& heading = "Examples") {
    const auto page = read_file(ORANGE_SOURCE_DIR "/docs/" + name);
    const auto section = page.find("\n## " + heading + "\n");
    REQUIRE(section != std::string::npos);
    const auto fence = "\n```" + language + "\n";
    const auto begin = page.find(fence, section);
    REQUIRE(begin != std::string::npos);
    const auto text = begin + fence.size();
    return page.substr(text, page.find("\n```", text) + 1 - text);
}

/// The first of these that this machine has. A test without its language would hold nothing, so it fails.
std::string interpreter(const std::vector<std::string>& places) {
    for (const auto& place : places) {
        if (std::filesystem::exists(place)) return place;
    }
    FAIL("none of these is installed, but scripts/test installs one: " << join(places, ", "));
    return {};
}

/// HOME is the sandbox's root, so that its ~/orange is this daemon's home.
Ran play(Sandbox& orange, const std::string& program, const std::string& language) {
    const auto file = orange.root() / ("example." + language);
    write_file(file, example(language));
    auto ran = orange.try_run({"timeout", "60", program, file.string()}, orange.root());
    INFO(ran.out << ran.err);
    CHECK(ran.status == 0);
    return ran;
}

std::string trigger(const std::string& heading, const std::string& language) {
    return example(language, "triggers.md", heading);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
    return text;
}

/// A daemon with the project "shop", and the client where the examples look for it: on the PATH and below HOME.
struct Triggers {
    Sandbox orange;
    std::filesystem::path repo = orange.add_project("shop");
    std::filesystem::path bin = orange.root() / ".local/bin";

    Triggers() {
        std::filesystem::create_directories(bin);
        std::filesystem::create_symlink(program("orange"), bin / "orange");
    }
    /// Runs it as a shell of the user would.
    void shell(const std::string& command, const std::filesystem::path& where) {
        const auto ran = orange.try_run({"sh", "-c", "PATH=" + shell_word(bin.string()) + ":$PATH; " + command}, where);
        INFO(command << "\n" << ran.out << ran.err);
        CHECK(ran.status == 0);
    }
    std::vector<rpc::TaskView> tasks() {
        rpc::TaskList list;
        list.all = true;
        return orange.call(list).tasks;
    }
    void check_one(const std::string& summary) {
        const auto all = tasks();
        REQUIRE(all.size() == 1);
        CHECK(all[0].fields.project == "shop");
        CHECK_THAT(all[0].fields.summary, Holds(summary));
    }
};

}  // namespace

TEST_CASE("The line for a crontab creates one task, however often it runs in that week") {
    Triggers world;
    const auto line = trigger("cron", "crontab");
    std::size_t begin = 0;
    for (int field = 0; field < 5; ++field) {  // the time
        begin = line.find_first_not_of(' ', line.find(' ', begin));
    }
    const auto command = replaced(line.substr(begin), "\\%", "%");
    for (int i = 0; i < 2; ++i) world.shell(command, world.orange.root());
    world.check_one("Update the dependencies");
}

TEST_CASE("The service for a timer creates one task, however often it runs in that week") {
    Triggers world;
    const auto unit = trigger("A systemd timer", "systemd");
    const auto begin = unit.find("ExecStart=") + 10;
    const auto command = replaced(unit.substr(begin, unit.find('\n', begin) - begin), "%%", "%");
    for (int i = 0; i < 2; ++i) world.shell(command, world.orange.root());
    world.check_one("Update the dependencies");
}

TEST_CASE("The git hook creates a task for a merge that was pulled, and none for what agents merge") {
    Triggers world;
    const auto hook = world.repo / ".git/hooks/post-merge";
    write_file(hook, trigger("A git hook", "sh"));
    std::filesystem::permissions(hook, std::filesystem::perms::owner_all);
    const auto pull = [&](const std::string& branch, const std::string& more = {}) {
        world.orange.git({"checkout", "-q", "-b", branch}, world.repo);
        write_file(world.repo / (branch + ".txt"), "of others\n");
        world.orange.git({"add", "-A"}, world.repo);
        world.orange.git({"commit", "-q", "-m", "Work of others"}, world.repo);
        world.orange.git({"checkout", "-q", "main"}, world.repo);
        world.shell(more + "git merge -q --no-edit " + branch, world.repo);
    };
    pull("one");
    const auto commit = world.orange.git({"rev-parse", "HEAD"}, world.repo);
    world.check_one(commit);
    CHECK_THAT(world.orange.body(world.tasks().front().fields.id.value), Holds("one.txt"));
    world.shell(".git/hooks/post-merge", world.repo);
    world.check_one(commit);
    pull("two", "ORANGE_DAEMON=/elsewhere ");
    world.check_one(commit);
}

TEST_CASE("The webhook's receiver creates one task for an issue, and none for a request without its signature") {
    const auto python = interpreter({"/usr/bin/python3"});
    Triggers world;
    write_file(world.orange.root() / "receiver.py",
               replaced(trigger("A webhook", "python"), ".serve_forever()", ".handle_request()"));
    write_file(world.orange.root() / "github.py", R"(
import hashlib, hmac, json, os, socket, subprocess, sys, time, urllib.error, urllib.request

def deliver(secret, event):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    receiver = subprocess.Popen([sys.executable, "receiver.py", str(port)], env=dict(os.environ, WEBHOOK_SECRET="s3"))
    body = json.dumps(event).encode()
    signature = "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/", body, {"X-Hub-Signature-256": signature})
    until = time.monotonic() + 30
    while True:
        try:
            status = urllib.request.urlopen(request).status
        except urllib.error.HTTPError as error:
            status = error.code
        except urllib.error.URLError:
            if time.monotonic() > until: raise
            time.sleep(0.02)
            continue
        receiver.wait(30)
        print(status)
        return

issue = {"action": "labeled", "label": {"name": "orange"},
         "issue": {"number": 12, "title": "--json: round the total", "body": "Half up, please"}}
deliver(b"wrong", issue)
deliver(b"s3", issue)
deliver(b"s3", issue)
deliver(b"s3", dict(issue, label={"name": "bug"}, issue=dict(issue["issue"], number=13)))
)");
    const auto ran = world.orange.try_run(
        {"sh", "-c", "PATH=" + shell_word(world.bin.string()) + ":$PATH exec timeout 100 " + python + " github.py"},
        world.orange.root());
    INFO(ran.err);
    CHECK_THAT(ran.out, Holds("403\n"));
    CHECK_THAT(ran.out, Holds("204\n204\n204\n"));
    world.check_one("--json: round the total");
    CHECK_THAT(world.orange.body(world.tasks().front().fields.id.value), Holds("Half up, please"));
}

TEST_CASE("The example in sh gets the replies of two calls") {
    (void)interpreter({"/usr/bin/nc.openbsd", "/bin/nc.openbsd"});
    Sandbox orange;
    orange.add_project("shop");
    const auto id = orange.create("shop", "Add a greeting", true);
    const auto ran = play(orange, "sh", "sh");
    const auto lines = split_lines(ran.out);
    REQUIRE(lines.size() == 2);
    CHECK(Json::parse(lines[0])["result"]["pid"] == orange.daemon_pid());
    CHECK(Json::parse(lines[1])["result"]["tasks"][0]["fields"]["id"] == id);
}

TEST_CASE("The example in Python creates a task") {
    const auto python = interpreter({"/usr/bin/python3"});
    Sandbox orange;
    orange.add_project("shop");
    const auto ran = play(orange, python, "python");
    rpc::TaskList list;
    list.all = true;
    const auto tasks = orange.call(list).tasks;
    REQUIRE(tasks.size() == 1);
    CHECK_THAT(ran.out, Holds(tasks[0].fields.id.value));
}

TEST_CASE("The example in JavaScript follows a task until it needs its human") {
    const auto node = interpreter({"/usr/bin/node", "/usr/bin/nodejs"});
    Sandbox orange;
    orange.add_project("shop");
    const auto ran = play(orange, node, "js");
    rpc::TaskList list;
    list.all = true;
    const auto tasks = orange.call(list).tasks;
    REQUIRE(tasks.size() == 1);
    CHECK(tasks[0].fields.status == "reviewing");
    CHECK_THAT(ran.out, Holds(tasks[0].short_id + " pending → planning\n"));
    CHECK_THAT(ran.out, Holds(" agent-review → reviewing\n"));
}

}  // namespace orange::tests

// Files for an agent: what `--file` names comes to the task's folder, whole and under its own name, and TASK.md and the
// agent's messages say where.
#include <sys/stat.h>

#include <set>

#include "common/base/text.hpp"
#include "tests/catch.hpp"
#include "tests/facts.hpp"
#include "tests/integration/hosts.hpp"

namespace orange::tests {
namespace {

namespace fs = std::filesystem;

std::string bytes_of_picture() {
    std::string bytes = "\x89PNG\r\n\x1a\n";
    for (int i = 0; i < 1'300'000; ++i) bytes += static_cast<char>(i % 253);
    return bytes;
}

std::string created_id(const Ran& ran) {
    INFO(ran.out + ran.err);
    REQUIRE(ran.status == 0);
    return Json::parse(ran.out).at("task").at("fields").at("id").get<std::string>();
}

std::set<std::string> files_of_task(Sandbox& orange, const std::string& id) {
    std::set<std::string> names;
    std::error_code none;
    for (const auto& each : fs::directory_iterator(orange.folder(id) / "files", none)) {
        names.insert(each.path().filename().string());
    }
    return names;
}

}  // namespace

TEST_CASE("Files come to the agent with a new task, a message, an answer and a rejection") {
    Sandbox orange;
    orange.add_project("shop");
    const auto picture = bytes_of_picture();
    const auto desk = orange.root() / "desk";
    fs::create_directories(desk);
    write_file(desk / "shot.png", picture);
    write_file(desk / "größe.txt", "ä\n");
    write_file(desk / "two\nlines", "");
    const auto run = [&](std::vector<std::string> words) { return orange.orange(std::move(words), desk); };

    const auto id = created_id(run({"create", "-p", "shop", "--harness", "demo", "--file", "shot.png", "--file",
                                    "größe.txt", "--file", "two\nlines", "--json", "Ask first demo:clarify"}));
    const auto files = orange.folder(id) / "files";
    CHECK(read_file(files / "shot.png") == picture);
    CHECK(read_file(files / "größe.txt") == "ä\n");
    const auto names = files_of_task(orange, id);
    REQUIRE(names.size() == 3);
    for (const auto& name : names) CHECK(printable(name) == name);
    struct stat facts {};
    REQUIRE(::stat((files / "shot.png").c_str(), &facts) == 0);
    CHECK((facts.st_mode & 0777) == 0600);
    const auto body = orange.body(id);
    CHECK_THAT(body, Holds("## Files") && Holds((files / "shot.png").string()) && Holds("desk/shot.png"));

    orange.wait_for_status(id, "clarification");
    CHECK(run({"reply", id, "--file=größe.txt", "As in the file"}).status == 0);
    CHECK(files_of_task(orange, id).size() == 4);

    orange.wait_for_status(id, "reviewing");
    write_file(desk / "shot.png", "another picture");
    CHECK(run({"send", id, "--file", "shot.png", "Look at this"}).status == 0);
    CHECK(read_file(files / "shot-2.png") == "another picture");
    CHECK(read_file(files / "shot.png") == picture);
    CHECK_THAT(orange.body(id), Holds((files / "shot-2.png").string()));
    CHECK(run({"reject", id, "--file", "shot.png", "It is cut off"}).status == 0);
    CHECK(read_file(files / "shot-3.png") == "another picture");
    orange.eventually("the feedback names the file",
                      [&] { return holds(orange.body(id), (files / "shot-3.png").string()); });
    CHECK(orange.orange({"cancel", id, "--yes"}).status == 0);
    CHECK(orange.orange({"delete", id, "--yes"}).status == 0);
    CHECK_FALSE(fs::exists(files));
}

TEST_CASE("A file that cannot be given changes nothing, and nobody waits for it") {
    Sandbox orange;
    orange.add_project("shop");
    const auto id = orange.create("shop", "Later", true);
    const auto desk = orange.root() / "desk";
    fs::create_directories(desk / "folder");
    write_file(desk / "good.png", "x");
    write_file(desk / "film", "");
    fs::resize_file(desk / "film", 33 << 20);
    REQUIRE(::mkfifo((desk / "pipe").c_str(), 0600) == 0);
    const auto events = orange.history(id).size();
    for (const char* bad : {"missing", "folder", "pipe", "film", "/dev/zero", "-"}) {
        INFO(bad);
        for (std::vector<std::string> words : {std::vector<std::string>{"create", "-p", "shop", "Fix it"},
                                               {"run", "Fix it"},
                                               {"send", id, "Look"},
                                               {"reply", id, "Look"},
                                               {"reject", id, "Look"}}) {
            words.insert(words.begin() + 1, {"--file", "good.png", "--file", bad});
            const auto ran = orange.orange(words, desk);
            CHECK(ran.status == 1);
            CHECK_THAT(ran.err, Holds(std::string(bad) == "-" ? "standard input" : bad));
        }
    }
    CHECK(count_tasks(orange) == 1);
    CHECK(orange.history(id).size() == events);
    CHECK(files_of_task(orange, id).empty());
}

TEST_CASE("The limit of a file is that of config.yml") {
    Sandbox orange("file_limit: 64M\n");
    orange.add_project("shop");
    write_file(orange.root() / "film", "");
    fs::resize_file(orange.root() / "film", 33 << 20);
    const auto id = created_id(orange.orange({"create", "-p", "shop", "--harness", "demo", "--no-spawn", "--json",
                                              "--file", (orange.root() / "film").string(), "Cut it"}));
    CHECK(fs::file_size(orange.folder(id) / "files" / "film") == 33 << 20);
    fs::resize_file(orange.root() / "film", 65 << 20);
    const auto refused = orange.orange({"create", "-p", "shop", "--file", (orange.root() / "film").string(), "Cut it"});
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, Tells("film") && Tells("file_limit"));
    CHECK(count_tasks(orange) == 1);
}

TEST_CASE("Files of this machine go to a host through the same ssh, in front of the command's own input") {
    HostsDesk desk;
    Sandbox there;
    there.add_project("shop");
    desk.add("box", program_of(there));
    const auto picture = bytes_of_picture();
    const auto shot = (desk.here.root() / "shot.png").string();
    write_file(shot, picture);
    const std::vector<std::string> create = {"--host",    "box",  "create", "-p",        "shop",
                                             "--harness", "demo", "--json", "--no-spawn"};
    const auto with = [](std::vector<std::string> words, const std::vector<std::string>& more) {
        words.insert(words.end(), more.begin(), more.end());
        return words;
    };
    const auto id = created_id(
        desk.orange(with(create, {"--file", shot, "--context", "-", "--file=" + shot, "Fix it"}), "line 1\nline 2\n"));
    CHECK(read_file(there.folder(id) / "files" / "shot.png") == picture);
    CHECK(read_file(there.folder(id) / "files" / "shot-2.png") == picture);
    CHECK_THAT(there.body(id), Holds("line 1\nline 2") && Holds("shot.png"));

    // The path is one of this machine, also if it names a file there, and a wrong one stops here.
    CHECK(desk.orange(with(create, {"--file", (desk.here.root() / "nowhere").string(), "No"})).status == 1);
    const auto asking = there.create("shop", "Ask first demo:clarify");
    there.wait_for_status(asking, "clarification");
    CHECK(desk.orange({"reply", "box:" + asking, "--file", shot, "Look"}).status == 0);
    CHECK(read_file(there.folder(asking) / "files" / "shot.png") == picture);

    // The limit is that of the host.
    write_file(desk.here.home() / "config.yml", "file_limit: 64M\n");
    const auto film = (desk.here.root() / "film").string();
    write_file(film, "");
    fs::resize_file(film, 33 << 20);
    const auto large = desk.orange(with(create, {"--file", film, "No"}));
    CHECK(large.status == 1);
    CHECK_THAT(large.out, Tells("film"));

    // A connection that breaks between the files.
    desk.use_ssh("head -c 100000 >\"$0.part\"; exec <\"$0.part\"\n");
    const auto cut = desk.orange(with(create, {"--file", shot, "No"}));
    CHECK(cut.status == 1);
    CHECK(Json::parse(cut.out).at("error").at("data").at("name") == "unavailable");
    CHECK(count_tasks(there) == 2);
}

}  // namespace orange::tests

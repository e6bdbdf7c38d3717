// Files of a command line: the real program against a fake daemon.
#include <sys/stat.h>

#include <fstream>
#include <map>
#include <set>

#include "common/base/base64.hpp"
#include "tests/catch.hpp"
#include "tests/facts.hpp"
#include "tests/unit/client/fake_daemon.hpp"

using namespace orange;
using test::FakeDaemon;

namespace {

Json task_with_files() {
    return {{"fields",
             {{"id", "4f2aBcDeFgHiJkLmNoPqR"},
              {"project", "shop"},
              {"branch", "fix/total"},
              {"status", "working"},
              {"summary", "Fix it"}}},
            {"short_id", "4f2aBcDe"},
            {"path", "/t"},
            {"worker", "alive"},
            {"reviewer", "none"}};
}

struct Sender {
    std::vector<std::string> reply_to(const Json& request) {
        const auto method = request["method"].get<std::string>();
        if (method == "file.put" && ends > 0) {
            --ends;
            return {""};
        }
        if (method == "daemon.ping") return {FakeDaemon::reply(request, {{"version", "1"}, {"pid", 1}})};
        if (method != "file.put") return {FakeDaemon::reply(request, {{"task", task_with_files()}})};
        if (refuses) return {FakeDaemon::error(request, -32601, "no such method")};
        const auto& params = request["params"];
        const auto id = params.value("upload", "u" + std::to_string(++begun));
        auto& bytes = uploads[id];
        in_order = in_order && params["offset"] == bytes.size();
        bytes += from_base64(params["data"].get<std::string>()).value();
        if (params.value("last", false)) complete.insert(id);
        return {FakeDaemon::reply(request, {{"upload", id}, {"size", bytes.size()}})};
    }
    test::Ran run(std::vector<std::string> words, const std::string& input = {}) {
        words.insert(words.begin(), ORANGE_BINARY_DIR "/bin/orange");
        daemon.meet();
        auto ran = test::run(
            words, {"ORANGE_HOME=" + folder.path().string(), "ORANGE_NO_AUTOSTART=1", "HOME=" + folder.path().string()},
            folder.path(), input);
        daemon.meet();
        return ran;
    }
    std::string put(const std::string& name, const std::string& text) {
        std::ofstream(folder.path() / name, std::ios::binary) << text;
        return name;
    }
    std::vector<Json> sent(const std::string& method) const {
        std::vector<Json> all;
        for (const auto& request : daemon.requests()) {
            if (request["method"] == method) all.push_back(request["params"]);
        }
        return all;
    }

    test::TemporaryFolder folder;
    std::map<std::string, std::string> uploads;
    std::set<std::string> complete;
    int begun = 0;
    bool refuses = false;
    bool in_order = true;  ///< so far each piece began where the one before ended
    int ends = 0;          ///< so many times the connection is closed at a piece
    FakeDaemon daemon{folder.path() / "orange.sock", [this](const Json& request) { return reply_to(request); }};
};

}  // namespace

TEST_CASE("Files are sent before the request that names them, whatever command it is") {
    Sender sender;
    std::string large;
    for (int i = 0; i < 1'300'000; ++i) large += static_cast<char>(i % 251);
    sender.put("my shot.png", large);
    sender.put("empty", "");
    struct Case {
        std::vector<std::string> words;
        const char* method;
    };
    for (const auto& [words, method] :
         {Case{{"create", "Fix it"}, "task.create"}, Case{{"run", "Fix it"}, "task.create"},
          Case{{"send", "4f2a", "Look"}, "task.send"}, Case{{"reply", "4f2a", "Look"}, "task.reply"},
          Case{{"reject", "4f2a", "Look"}, "task.reject"}}) {
        INFO(words.front());
        const auto before = sender.sent(method).size();
        auto line = words;
        line.insert(line.begin() + 1, {"--file", "my shot.png", "--file=empty"});
        const auto ran = sender.run(line);
        INFO(ran.err);
        CHECK(ran.status == 0);
        const auto all = sender.sent(method);
        REQUIRE(all.size() == before + 1);
        const auto files = all.back().at("files").get<std::vector<std::string>>();
        REQUIRE(files.size() == 2);
        CHECK(sender.uploads[files[0]] == large);
        CHECK(sender.uploads[files[1]].empty());
        CHECK(sender.complete.contains(files[0]));
        CHECK(sender.complete.contains(files[1]));
    }
    const auto first = sender.sent("file.put").front();
    CHECK(first.at("name") == "my shot.png");
    CHECK(first.at("origin") == "~/my shot.png");
    CHECK(first.at("size") == large.size());
    CHECK(sender.in_order);
    CHECK(sender.run({"send", "4f2a", "Look"}).status == 0);
    CHECK_FALSE(sender.sent("task.send").back().contains("files"));
}

TEST_CASE("If one file cannot be given, nothing is sent at all") {
    Sender sender;
    sender.put("good.png", "x");
    const auto pipe = (sender.folder.path() / "pipe").string();
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    for (const char* bad : {"missing.png", "pipe", ".", "-", "/dev/null"}) {
        INFO(bad);
        const auto ran = sender.run({"create", "--file", "good.png", "--file=" + std::string(bad), "Fix it"});
        CHECK(ran.status == 1);
        CHECK_FALSE(ran.err.empty());
    }
    CHECK(sender.run({"create", "--file", "good.png", "--from-file", "-"}, "# One\n# Two\n").status == 1);
    CHECK(sender.run({"create", "Fix it", "--file"}).status == 2);
    CHECK(sender.daemon.requests().empty());
}

TEST_CASE("A daemon that ends while it gets a file leaves the rest to its human") {
    Sender sender;
    sender.put("shot.png", "picture");
    for (const char* command : {"create", "send"}) {
        sender.ends = 1;
        std::vector<std::string> words = {command, "--file", "shot.png", "4f2a", "Look"};
        const auto ran = sender.run(words);
        CHECK(ran.status == 1);
        CHECK_THAT(ran.err, Tells("shot.png"));
        CHECK(sender.run(words).status == 0);
    }
    CHECK(sender.sent("task.create").size() == 1);
    CHECK(sender.sent("task.send").size() == 1);
}

TEST_CASE("An older daemon that takes no files is named as the reason") {
    Sender sender;
    sender.put("shot.png", "picture");
    sender.refuses = true;
    const auto ran = sender.run({"send", "--file", "shot.png", "4f2a", "Look"});
    CHECK(ran.status == 1);
    CHECK_THAT(ran.err, Tells("orange daemon restart"));
    CHECK(sender.sent("task.send").empty());
}

TEST_CASE("Files from another machine stand in front of the text on standard input") {
    Sender sender;
    const std::string stream = R"({"name":"shot.png","origin":"desk:~/shot.png","size":7})"
                               "\npicture{\"end\":true}\n";
    CHECK(sender.run({"send", "--files-from-stdin=1", "4f2a", "-"}, stream + "Look at it\n").status == 0);
    const auto sent = sender.sent("task.send").back();
    CHECK(sent.at("text") == "Look at it");
    CHECK(sender.uploads[sent.at("files").at(0).get<std::string>()] == "picture");
    CHECK(sender.sent("file.put").back().at("origin") == "desk:~/shot.png");
    const auto before = sender.daemon.requests().size();
    CHECK(sender.run({"send", "--files-from-stdin=1", "4f2a", "Look"}, stream.substr(0, stream.size() - 3)).status ==
          1);
    CHECK(sender.daemon.requests().size() == before);
    CHECK_THAT(sender.run({"send", "--help"}).out, Holds("--file PATH") && !Holds("from-stdin"));
}

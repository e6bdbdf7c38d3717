#include "daemon/agents/events.hpp"

#include <chrono>
#include <fstream>

#include "common/model/json.hpp"
#include "daemon/files/posix_file_system.hpp"
#include "tests/catch.hpp"
#include "tests/fakes/temporary_folder.hpp"

/// Events that programs tell, line by line.
using namespace orange;
using namespace orange::agents;

namespace {

Harness talker() {
    Harness harness;
    harness.events.key = "hook_event_name";
    harness.events.text = {"tool_name", "last_assistant_message"};
    harness.events.busy = {"UserPromptSubmit", "busy"};
    harness.events.idle = {"Stop", "idle"};
    harness.events.question = {"PermissionRequest"};
    harness.events.limit = {"limit"};
    harness.events.error = {"StopFailure"};
    harness.events.end = {"SessionEnd"};
    harness.events.session = "session_id";
    harness.events.transcript = "transcript_path";
    harness.events.background = "background_tasks";
    harness.session.resume = {"--resume", "{session}"};
    harness.usage_limit.texts = {"You've hit your"};
    harness.usage_limit.resets = {"resets "};
    return harness;
}

/// A program that asks its human.
Harness asker() {
    auto harness = talker();
    harness.permits.tool = "tool_name";
    harness.permits.input = "tool_input";
    harness.permits.done = {"PostToolUse", "done"};
    harness.permits.allow = "yes";
    return harness;
}

struct EventFile {
    void add(const std::string& text) { std::ofstream(path, std::ios::app | std::ios::binary) << text; }
    bool read() { return reader.read(harness, files, path); }
    std::string state() { return name_text(reader.last().activity); }

    testing::TemporaryFolder folder;
    Path path = folder.path() / "run.events";
    Harness harness = talker();
    PosixFileSystem files;
    EventReader reader;
};

}  // namespace

TEST_CASE("a line of words or of JSON is one event, and what the definition does not name is none") {
    struct Row {
        const char* line;
        const char* activity;  ///< empty: no event
        const char* text;
        bool usage_limit;
    };
    const Row rows[] = {
        {"idle", "idle", "", false},
        {"busy with a thing", "busy", "", false},
        {R"({"hook_event_name":"Stop","session_id":"x"})", "idle", "", false},
        {R"({"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"rm"}})", "waiting",
         "Bash", false},
        {"PermissionRequest Bash", "waiting", "Bash", false},
        {R"({"hook_event_name":"StopFailure","last_assistant_message":"You've hit your limit · resets 5pm"})",
         "limited", "You've hit your limit · resets 5pm", true},
        {R"({"hook_event_name":"StopFailure","last_assistant_message":"API Error: 500"})", "limited", "API Error: 500",
         false},
        {"limit until later", "limited", "until later", true},
        {R"({"hook_event_name":"SessionEnd"})", "unknown", "", false},
        {"", "", "", false},
        {"idleness", "", "", false},
        {R"({"hook_event_name":"PreToolUse"})", "", "", false},
        {R"({"hook_event_name":7})", "", "", false},
        {R"({"hook_event_name":"Stop")", "", "", false},
        {R"(["Stop"])", "", "", false},
        {"\x01\xff\xfe", "", "", false},
    };
    for (const auto& row : rows) {
        INFO(row.line);
        const auto told = told_by(talker(), row.line);
        REQUIRE(told.has_value() == (*row.activity != '\0'));
        if (!told) continue;
        CHECK(name_of(told->activity) == row.activity);
        CHECK(told->text == row.text);
        CHECK(told->usage_limit == row.usage_limit);
    }
}

TEST_CASE("what a program says is shown to people without control characters, and not without end") {
    const auto told = told_by(talker(), "PermissionRequest \x1b[2J" + std::string(5000, 'x'));
    REQUIRE(told);
    CHECK(told->text.find('\x1b') == std::string::npos);
    CHECK(told->text.size() < 400);
}

TEST_CASE("lines are read as they are added, a half one when its end is there") {
    EventFile file;
    CHECK_FALSE(file.read());
    CHECK(file.state() == "unknown");
    file.add("busy\n");
    CHECK(file.read());
    CHECK(file.state() == "busy");
    CHECK_FALSE(file.read());
    file.add("{\"hook_event_name\":");
    CHECK_FALSE(file.read());
    CHECK(file.state() == "busy");
    file.add("\"Stop\"}\nnonsense\n");
    CHECK(file.read());
    CHECK(file.state() == "idle");
    file.add("more nonsense\n");
    CHECK_FALSE(file.read());
    CHECK(file.state() == "idle");
}

TEST_CASE("of a large file the end counts, and a line without end is passed over") {
    EventFile file;
    for (int i = 0; i < 2000; ++i) file.add("busy " + std::string(100, 'x') + "\n");
    file.add("idle\n");
    CHECK(file.read());
    CHECK(file.state() == "idle");
    file.add(std::string(300'000, 'y'));
    CHECK_FALSE(file.read());
    file.add("\nbusy\n");
    CHECK(file.read());
    CHECK(file.state() == "busy");
}

TEST_CASE("a file that begins anew is read from its beginning, and a link or a folder not at all") {
    EventFile file;
    file.add("busy and much more\n");
    CHECK(file.read());
    std::ofstream(file.path, std::ios::trunc) << "idle\n";
    CHECK(file.read());
    CHECK(file.state() == "idle");
    const auto other = file.folder.path() / "next";
    std::ofstream(other) << "busy\n";  // as large as the one that it replaces
    std::filesystem::last_write_time(other, std::filesystem::last_write_time(file.path) + std::chrono::seconds(1));
    std::filesystem::rename(other, file.path);
    CHECK(file.read());
    CHECK(file.state() == "busy");
    std::ofstream(file.path, std::ios::trunc) << "idle\n";
    file.read();
    std::filesystem::remove(file.path);
    CHECK_FALSE(file.read());
    std::ofstream(file.folder.path() / "other") << "busy\nbusy\nbusy\n";
    std::filesystem::create_symlink(file.folder.path() / "other", file.path);
    CHECK_FALSE(file.read());
    CHECK(file.state() == "idle");
}

TEST_CASE("a turn that ends while its commands run says so") {
    const std::pair<const char*, bool> rows[] = {
        {R"({"hook_event_name":"Stop","background_tasks":2})", true},
        {R"({"hook_event_name":"Stop","background_tasks":[{"id":"b1"}]})", true},
        {R"({"hook_event_name":"Stop","background_tasks":0})", false},
        {R"({"hook_event_name":"Stop","background_tasks":[]})", false},
        {R"({"hook_event_name":"Stop","background_tasks":"many"})", false},
        {R"({"hook_event_name":"Stop"})", false},
    };
    for (const auto& [line, runs] : rows) {
        INFO(line);
        const auto told = told_by(talker(), line);
        REQUIRE(told);
        CHECK(told->background == runs);
        const auto reading = reading_of(talker(), Activity::unknown, "done\n", "", *told);
        CHECK(name_of(reading.activity) == (runs ? "busy" : "idle"));
        CHECK(reading.ended);
    }
}

TEST_CASE("the conversation is the one that was named last, by whatever event") {
    EventFile file;
    file.add(R"({"hook_event_name":"UserPromptSubmit","session_id":"one","transcript_path":"/h/one.jsonl"})"
             "\n");
    file.read();
    CHECK(file.reader.conversation() == Conversation{"one", "/h/one.jsonl"});
    file.add("idle\n{\"hook_event_name\":\"Stop\"}\n");
    file.read();
    CHECK(file.reader.conversation()->id == "one");
    file.add(
        R"({"hook_event_name":"SessionStart","source":"clear","session_id":"two","transcript_path":"/h/two.jsonl"})"
        "\n"
        R"({"hook_event_name":"SessionEnd","reason":"clear","session_id":"one","transcript_path":"/h/one.jsonl"})"
        "\n");
    file.read();
    CHECK(file.reader.conversation() == Conversation{"two", "/h/two.jsonl"});
    CHECK(file.state() == "unknown");
}

TEST_CASE("what names no conversation that may become an argument names none") {
    const auto in = [](const std::string& id, const std::string& path) {
        return conversation_in(talker(), Json{{"session_id", id}, {"transcript_path", path}}.dump());
    };
    for (const std::string id : {"", "--version", "-x", "a b", "a;b", "a/b", "../x", "{session}", "$(id)", "é"}) {
        INFO(id);
        CHECK_FALSE(in(id, "/h/x.jsonl"));
    }
    CHECK_FALSE(in(std::string(65, 'a'), "/h/x.jsonl"));
    CHECK(in("ses_01-Ab", "x.jsonl") == Conversation{"ses_01-Ab", ""});
    CHECK(in("ses_01-Ab", "/h/x\n.jsonl")->transcript.empty());
    CHECK_FALSE(conversation_in(talker(), "session_id one"));
    CHECK_FALSE(conversation_in(talker(), R"({"session_id":7})"));
    auto none = talker();
    none.session.resume.clear();
    CHECK_FALSE(conversation_in(none, R"({"session_id":"one"})"));
}

TEST_CASE("What became of a request is known from the events after it") {
    EventFile file;
    file.harness = asker();
    const auto event = [&](const std::string& name, const std::string& hash, const std::string& key = "") {
        Json line = {{"hook_event_name", name}, {"tool_name", "Bash"}, {"tool_input_hash", hash}};
        if (!key.empty()) line["ask"] = key;
        file.add(line.dump() + "\n");
    };
    event("PostToolUse", "h1");  // the same call, before it was asked for
    event("PermissionRequest", "h1", "a");
    file.read();
    REQUIRE(file.reader.asked("a") != nullptr);
    CHECK_FALSE(file.reader.asked("a")->made);
    CHECK(file.reader.asked("a")->later == 0);
    event("PermissionRequest", "h2", "b");
    event("PermissionRequest", "h2", "c");
    event("PostToolUse", "h2");
    file.read();
    CHECK(file.reader.asked("a")->later == 3);
    CHECK_FALSE(file.reader.asked("a")->made);
    CHECK(file.reader.asked("b")->made + file.reader.asked("c")->made == 1);  // two equal calls are two
    CHECK_FALSE(file.reader.asked("c")->turn_over);
    CHECK(file.state() == "busy");
    event("PostToolUse", "h1");
    file.read();
    CHECK(file.reader.asked("a")->made);
    event("Stop", "");
    file.read();
    CHECK(file.reader.asked("c")->turn_over);
    for (int i = 0; i < 300; ++i) event("PermissionRequest", "h", std::to_string(i));
    file.read();
    CHECK(file.reader.asked("a") == nullptr);
    CHECK(file.reader.asked("299") != nullptr);
    CHECK(file.reader.asked("nobody") == nullptr);
}

TEST_CASE("A definition may name the member by which a call is known again") {
    EventFile file;
    file.harness = asker();
    file.harness.permits.id = "id";
    file.add(R"({"hook_event_name":"PermissionRequest","id":"per_1","ask":"a"})"
             "\n");
    file.add(R"({"hook_event_name":"PermissionRequest","id":"per_2","ask":"b"})"
             "\n");
    file.add(R"({"hook_event_name":"done","id":"per_2"})"
             "\n");
    file.read();
    CHECK_FALSE(file.reader.asked("a")->made);
    CHECK(file.reader.asked("b")->made);
}

TEST_CASE("A sub-agent that asks has not gone on because the agent has") {
    EventFile file;
    file.harness = asker();
    file.harness.permits.agent = "agent_id";
    const std::string ask = R"({"hook_event_name":"PermissionRequest","tool_name":"Bash",)";
    file.add(ask + R"("tool_input_hash":"1","agent_id":"sub","ask":"a"})"
                   "\n");
    file.add(ask + R"("tool_input_hash":"2","ask":"b"})"
                   "\n");
    file.add(R"({"hook_event_name":"Stop","background_tasks":1})"
             "\n");
    file.read();
    CHECK(file.reader.asked("a")->later == 0);
    CHECK_FALSE(file.reader.asked("a")->gone_on);
    CHECK(file.reader.asked("b")->later == 1);
    CHECK_FALSE(file.reader.asked("b")->turn_over);  // its sub-agent works
    file.add(R"({"hook_event_name":"PostToolUse","tool_name":"Read","tool_input_hash":"3","agent_id":"sub"})"
             "\n");
    file.read();
    CHECK(file.reader.asked("a")->later == 1);
    file.add(ask + R"("tool_input_hash":"4","agent_id":"sub","ask":"c"})" + "\n");
    file.read();
    CHECK(file.reader.asked("a")->gone_on);  // each asks one thing at a time
    CHECK_FALSE(file.reader.asked("b")->gone_on);
    file.add(R"({"hook_event_name":"Stop","background_tasks":0})"
             "\n");
    file.read();
    CHECK(file.reader.asked("a")->turn_over);
}

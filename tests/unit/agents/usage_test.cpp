#include "daemon/agents/usage.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>

#include "daemon/agents/events.hpp"
#include "daemon/files/posix_file_system.hpp"
#include "tests/catch.hpp"
#include "tests/fakes/temporary_folder.hpp"

/// Token usage, from lines as the real programs have written them (their numbers are those of a scripted model).
using namespace orange;
using namespace orange::agents;
using orange::testing::write_text;

namespace {

const std::string k_spender = "name: mine\nprogram: mine\nargv: {full: [\"{session_args}\", --, \"{prompt}\"]}\n";
const std::string k_talk_one = "9ef2943c-0000-4000-8000-000000000001",
                  k_talk_two = "9ef2943c-0000-4000-8000-000000000002";

const std::string k_usage_of_claude = k_spender + R"(
session: {start: [--session-id, "{session}"], resume: [--resume, "{session}"], form: uuid}
events: {key: hook_event_name, session: session_id, transcript: transcript_path, busy: [UserPromptSubmit], idle: [Stop]}
config_binds: [~/.claude/projects, $CLAUDE_CONFIG_DIR/projects]
usage:
  file:
    - ~/.claude/projects/*/{session}.jsonl
    - $CLAUDE_CONFIG_DIR/projects/*/{session}.jsonl
    - "{transcript}/subagents/*.jsonl"
  each: {type: assistant}
  id: message.id
  input: message.usage.input_tokens
  cache_read: message.usage.cache_read_input_tokens
  cache_write: message.usage.cache_creation_input_tokens
  output: message.usage.output_tokens
  model: message.model
)";

const std::string k_usage_of_codex = k_spender + R"(
session: {variable: CODEX_THREAD_ID, resume: [resume, "{session}"], form: uuid}
events: {key: hook_event_name, session: session_id, transcript: transcript_path, busy: [UserPromptSubmit], idle: [Stop]}
config_binds: [~/.codex/sessions]
usage:
  file: ["~/.codex/sessions/*/*/*/rollout-*-{session}.jsonl"]
  each: {type: token_usage_record}
  id: payload.response_id
  input: payload.usage.input_tokens
  input_has_cached: true
  cache_read: payload.usage.cached_input_tokens
  cache_write: payload.usage.cache_write_input_tokens
  output: payload.usage.output_tokens
  window:
    each: {payload.type: token_count}
    percent: payload.rate_limits.primary.used_percent
    resets: payload.rate_limits.primary.resets_at
)";

const std::string k_usage_of_gemini = k_spender + R"(
session: {start: ["--session-id={session}"], resume: ["--resume={session}"], form: uuid}
config_binds: [~/.gemini/tmp]
usage:
  file: ["~/.gemini/tmp/*/chats/session-*-{session_8}.jsonl"]
  each: {type: gemini}
  id: id
  input: tokens.input
  input_has_cached: true
  cache_read: tokens.cached
  output: tokens.output
  reasoning: tokens.thoughts
  model: model
)";

const std::string k_usage_of_copilot = k_spender + R"(
session: {start: ["--session-id={session}"], resume: ["--resume={session}"], form: uuid}
config_binds: [~/.copilot/session-state]
usage:
  file: ["~/.copilot/session-state/{session}/events.jsonl"]
  each: {type: session.usage_record}
  id: data.usage.accounting.usageId
  input: data.usage.inputTokens
  input_has_cached: true
  cache_read: data.usage.cacheReadTokens
  cache_write: data.usage.cacheWriteTokens
  output: data.usage.outputTokens
  model: data.usage.model
  money: data.usage.cost
)";

const std::string k_usage_of_pi = k_spender + R"(
session: {start: [--session, "{task_dir}/run/{session}.jsonl"], resume: [--session, "{task_dir}/run/{session}.jsonl"]}
events: {transcript: transcript, busy: [busy], idle: [idle]}
config_binds: [~/.pi/agent/sessions]
usage:
  file: ["{talk_dir}/{session}.jsonl", ~/.pi/agent/sessions/*/*.jsonl]
  each: {type: message, message.role: assistant}
  id: id
  input: message.usage.input
  cache_read: message.usage.cacheRead
  cache_write: message.usage.cacheWrite
  output: message.usage.output
  model: message.model
  money: message.usage.cost.total
)";

const std::string k_usage_in_events = k_spender + R"(
events: {session: session, busy: [busy], idle: [idle]}
session: {list: [list], resume: [--session, "{session}"], form: ses_*}
usage: {file: events, each: {event: usage}, input: input, output: output}
)";

std::string with_text(std::string text, const std::string& word, const std::string& by) {
    const auto at = text.find(word);
    REQUIRE(at != std::string::npos);
    return text.replace(at, word.size(), by);
}

std::string claude_line(const std::string& id, int output = 40, const std::string& time = "2026-11-28T10:30:00.000Z") {
    const std::string recorded =
        R"({"type":"assistant","message":{"id":"<id>","model":"claude-opus-5-5","usage":{"input_tokens":1000,)"
        R"("cache_creation_input_tokens":50,"cache_read_input_tokens":300,"output_tokens":<output>,)"
        R"("output_tokens_details":{"thinking_tokens":0}}},"requestedModel":"claude-opus-5-5","timestamp":"<time>",)"
        R"("effort":"medium","version":"2.1.332"})";
    return with_text(with_text(with_text(recorded, "<id>", id), "<output>", std::to_string(output)), "<time>", time) +
           "\n";
}

const std::string k_line_of_codex =
    R"({"timestamp":"2026-11-28T10:30:00.000Z","ordinal":76,"type":"token_usage_record","payload":{"thread_id":)"
    R"("01a2224b","response_id":"resp_1","usage":{"input_tokens":1300,"cached_input_tokens":300,)"
    R"("cache_write_input_tokens":0,"output_tokens":47,"reasoning_output_tokens":7,"total_tokens":1347},)"
    R"("thread_token_usage":{"input_tokens":15600,"cached_input_tokens":3600,"cache_write_input_tokens":0,)"
    R"("output_tokens":564,"reasoning_output_tokens":84,"total_tokens":16164}}})"
    "\n";

/// Counts what is asked of the disk.
class CountingFiles final : public FileSystem {
  public:
    explicit CountingFiles(FileSystem& real) : real_(real) {}
    std::uintmax_t bytes = 0;
    int lists = 0;

    Result<std::string> read(const Path& path) override { return real_.read(path); }
    Result<Piece> read_before(const Path& path, std::optional<std::uintmax_t> end, std::size_t size) override {
        return real_.read_before(path, end, size);
    }
    Result<Beneath> read_beneath(const Path& root, const Path& below, std::uintmax_t from, std::size_t size) override {
        auto found = real_.read_beneath(root, below, from, size);
        if (found) bytes += found->bytes.size();
        return found;
    }
    Result<std::vector<std::string>> list_beneath(const Path& root, const Path& below, std::size_t most) override {
        ++lists;
        return real_.list_beneath(root, below, most);
    }
    Result<void> replace(const Path&, std::string_view, Durability) override { return refused(); }
    Result<void> exchange(const Path&, std::string_view, const Path&, Durability) override { return refused(); }
    Result<void> append(const Path&, std::string_view, Durability) override { return refused(); }
    Result<void> move_new(const Path&, const Path&) override { return refused(); }
    Result<std::vector<std::string>> list(const Path& folder) override { return real_.list(folder); }
    Result<void> remove(const Path&) override { return refused(); }
    Result<FileFacts> facts_of(const Path& path) override { return real_.facts_of(path); }

  private:
    static Error refused() { return {ErrorCode::io, "a reader writes"}; }
    FileSystem& real_;
};

/// A run of one program, in a home of its own.
struct Spending {
    explicit Spending(const std::string& definition) {
        auto loaded = load_harness(definition, "mine.yml");
        if (!loaded) FAIL(loaded.error().message);
        harness = *loaded;
    }

    /// Reads until there is no more, and returns in how many calls.
    int read() {
        const UsageSource source{harness, env, folder / "run", folder / "talk", {"run1"}, began,
                                 now,     ids, told,           counted};
        int calls = 1;
        while (reader.read(files, source)) REQUIRE(++calls < 1000);
        return calls;
    }
    Tokens tokens() const {
        Tokens sum;
        for (const auto& row : reader.rows()) sum += row.tokens;
        return sum;
    }
    void add(const Path& path, const std::string& text) {
        std::filesystem::create_directories((folder.path() / path).parent_path());
        std::ofstream(folder.path() / path, std::ios::app | std::ios::binary) << text;
    }
    /// Adds to a file that the events have named.
    void tell(const Path& path, const std::string& text, const std::string& id = k_talk_one) {
        add(path, text);
        told = {(folder.path() / path).string()};
        ids = {id};
    }

    testing::TemporaryFolder folder;
    Environment env{{"HOME", folder.path().string()}};
    Harness harness;
    PosixFileSystem disk;
    CountingFiles files{disk};
    UsageReader reader;
    Timestamp began = *from_rfc3339("2026-11-28T10:00:00.000Z");
    Timestamp now = *from_rfc3339("2026-11-28T11:00:00.000Z");
    std::vector<std::string> ids, told, counted;
};

const Path k_first_file = ".claude/projects/-ws-shop-1/" + k_talk_one + ".jsonl";
const Path k_second_file = ".claude/projects/-ws-shop-1/" + k_talk_two + ".jsonl";

}  // namespace

TEST_CASE("claude writes a line for each block of an answer, and the answer counts once, with its largest usage") {
    Spending run(k_usage_of_claude);
    run.tell(k_first_file, claude_line("msg_a", 1) + claude_line("msg_a", 40) + claude_line("msg_a", 40));
    run.add(k_first_file, claude_line("msg_b", 40) + claude_line("msg_b", 2));
    CHECK_FALSE(run.reader.has_told());
    run.read();
    CHECK(run.tokens() == Tokens{2, 2000, 600, 100, 80});
    REQUIRE(run.reader.rows().size() == 1);
    CHECK(run.reader.rows()[0].model == "claude-opus-5-5");
    CHECK(run.reader.rows()[0].day == day_of(*from_rfc3339("2026-11-28T10:30:00Z")));
    CHECK(run.reader.has_told());
    CHECK_FALSE(run.reader.is_incomplete());
    run.add(k_first_file, claude_line("msg_b", 90));  // the end of the answer comes later
    run.read();
    CHECK(run.tokens() == Tokens{2, 2000, 600, 100, 130});
}

TEST_CASE("what an earlier run wrote into the same conversation does not count, nor does a copy of it") {
    Spending run(k_usage_of_claude);
    const auto earlier = claude_line("msg_old", 40, "2026-11-28T09:59:59.999Z");
    run.tell(k_first_file, earlier + claude_line("msg_a", 40, "2026-11-28T10:00:00.000Z"));
    run.read();
    CHECK(run.tokens().requests == 1);
    // A fork has all lines of the conversation before.
    run.add(k_second_file, earlier + claude_line("msg_a") + claude_line("msg_b"));
    run.told.push_back((run.folder.path() / k_second_file).string());
    run.ids.push_back(k_talk_two);
    run.read();
    CHECK(run.tokens() == Tokens{2, 2000, 600, 100, 80});
}

TEST_CASE("after /clear the program goes on in another file, and both count") {
    Spending run(k_usage_of_claude);
    run.tell(k_first_file, claude_line("msg_a"));
    run.read();
    run.add(k_second_file, claude_line("msg_b"));
    run.told.push_back((run.folder.path() / k_second_file).string());
    run.read();
    CHECK(run.tokens().requests == 1);  // no event has named the id of that file
    run.ids.push_back(k_talk_two);
    run.read();
    CHECK(run.tokens().requests == 2);
    // The next daemon does not know the first id any more, but that its file was counted.
    run.reader = UsageReader();
    run.ids = {k_talk_two};
    run.counted = run.told;
    run.read();
    CHECK(run.tokens().requests == 2);
    CHECK(run.reader.files().size() == 2);
}

TEST_CASE("agents of one folder are kept apart, and so is a file of another run") {
    Spending one(k_usage_of_claude), two(k_usage_of_claude);
    one.tell(k_first_file, claude_line("msg_a"));
    one.add(k_second_file, claude_line("msg_b") + claude_line("msg_c"));
    one.read();
    CHECK(one.tokens().requests == 1);
    two.tell(k_second_file, claude_line("msg_b"), k_talk_two);
    two.told.push_back((two.folder.path() / k_first_file).string());  // an agent names the file of another one
    two.add(k_first_file, claude_line("msg_a"));
    two.read();
    CHECK(two.tokens().requests == 1);
}

TEST_CASE("sub-agents beside a conversation count, and their folder is listed only when the conversation has grown") {
    Spending run(with_text(k_usage_of_claude, "{session}.jsonl", "*.jsonl"));
    run.tell(k_first_file, claude_line("msg_a"));
    run.add(".claude/projects/-ws-shop-1/" + k_talk_one + "/subagents/agent-1.jsonl", claude_line("msg_b"));
    run.read();
    CHECK(run.tokens().requests == 2);
    const auto lists = run.files.lists;
    run.add(".claude/projects/-ws-shop-1/" + k_talk_one + "/subagents/agent-2.jsonl", claude_line("msg_c"));
    run.read();
    run.read();
    CHECK(run.files.lists == lists);
    run.add(k_first_file, claude_line("msg_d"));
    run.read();
    CHECK(run.tokens().requests == 4);
    CHECK(run.files.lists == lists + 1);
}

TEST_CASE("files are found where a variable says, and by the real name of a home that is a link") {
    Spending run(k_usage_of_claude);
    std::filesystem::create_directory_symlink(run.folder.path(), run.folder / "link");
    run.env = {{"HOME", (run.folder / "link").string()}, {"CLAUDE_CONFIG_DIR", (run.folder / "elsewhere").string()}};
    run.tell(k_first_file, claude_line("msg_a"));  // by its real name
    const auto moved = Path("elsewhere/projects/-ws/" + k_talk_one + ".jsonl");
    run.add(moved, claude_line("msg_b"));
    run.told.push_back((run.folder.path() / moved).string());
    run.told.push_back((run.folder / "link" / k_first_file).string());  // the same file
    run.read();
    CHECK(run.tokens().requests == 2);
}

TEST_CASE("a file that grows by 100 MB is read in bounded pieces, and nothing of it twice") {
    Spending run(k_usage_of_claude);
    const std::string filler = R"({"type":"user","message":{"content":")" + std::string(20'000, 'x') + "\"}}\n";
    std::string lines;
    for (int i = 0; i < 50; ++i) lines += filler;
    run.tell(k_first_file, "");
    for (int i = 0; i < 100; ++i) run.add(k_first_file, lines + claude_line("msg_" + std::to_string(i)));
    const auto size = std::filesystem::file_size(run.folder.path() / k_first_file);
    REQUIRE(size > 100'000'000);
    const UsageSource source{run.harness, run.env, "/run", "", {"run1"}, run.began, run.now, run.ids, run.told};
    int calls = 1;
    std::uintmax_t before = 0;
    for (; run.reader.read(run.files, source); ++calls) {
        CHECK(run.files.bytes - before <= UsageReader::k_most_at_once);
        before = run.files.bytes;
    }
    CHECK(run.tokens().requests == 100);
    CHECK(calls < 110);
    CHECK(run.files.bytes < size + size / 20);  // a line at the end of a piece is read again
    before = run.files.bytes;
    CHECK(run.read() == 1);
    CHECK(run.files.bytes == before);
    run.add(k_first_file, claude_line("msg_100"));
    CHECK(run.read() == 1);
    CHECK(run.files.bytes < before + 1000);
    CHECK(run.tokens().requests == 101);
}

TEST_CASE("all files get their turn, and a long line that fits is read") {
    Spending run(k_usage_of_claude);
    run.tell(k_first_file, "");
    run.ids = {k_talk_one, k_talk_two};
    run.told.push_back((run.folder.path() / k_second_file).string());
    const std::string filler(900'000, ' ');
    for (int i = 0; i < 5; ++i) {
        run.add(k_first_file, filler + claude_line("msg_a" + std::to_string(i)));
        run.add(k_second_file, filler + claude_line("msg_b" + std::to_string(i)));
    }
    run.read();
    CHECK(run.tokens().requests == 10);
}

TEST_CASE("a file that shrank or was replaced is read again, and its sums stay right") {
    Spending run(k_usage_of_claude);
    run.tell(k_first_file, claude_line("msg_a") + claude_line("msg_b") + claude_line("msg_c"));
    run.read();
    const auto path = run.folder.path() / k_first_file;
    write_text(path, claude_line("msg_b") + claude_line("msg_d"));  // compacted
    run.read();
    CHECK(run.tokens().requests == 4);
    const auto next = run.folder / "next";
    write_text(next, claude_line("msg_e") + claude_line("msg_f"));  // as long as the one that it replaces
    std::filesystem::rename(next, path);
    run.read();
    CHECK(run.tokens().requests == 6);
    std::filesystem::remove(path);
    run.read();
    CHECK(run.tokens().requests == 6);
    write_text(path, claude_line("msg_e") + claude_line("msg_g"));
    run.read();
    CHECK(run.tokens().requests == 7);
}

TEST_CASE("records without an id count anew when their file is another one") {
    Spending run(with_text(k_usage_of_claude, "  id: message.id\n", ""));
    run.tell(k_first_file, claude_line("msg_a") + claude_line("msg_a"));
    run.read();
    CHECK(run.tokens().requests == 2);
    write_text(run.folder.path() / k_first_file, claude_line("msg_a"));
    run.read();
    CHECK(run.tokens() == Tokens{1, 1000, 300, 50, 40});
    run.add(k_first_file, with_text(claude_line("msg_a"), "timestamp", "time"));  // perhaps of another run
    run.read();
    CHECK(run.tokens().requests == 1);
}

TEST_CASE("half a line waits for its other half, and a line that is too long is skipped up to its end") {
    Spending run(k_usage_of_claude);
    const auto line = claude_line("msg_a");
    run.tell(k_first_file, line.substr(0, 100));
    CHECK(run.read() == 1);
    CHECK_FALSE(run.reader.has_told());
    run.add(k_first_file, line.substr(100));
    run.read();
    CHECK(run.tokens().requests == 1);
    run.add(k_first_file, R"({"type":"assistant","output_tokens":")" + std::string(3'000'000, 'x'));
    run.read();
    run.add(k_first_file, std::string(100, 'y') + "\"}\n" + claude_line("msg_b"));
    run.read();
    CHECK(run.tokens().requests == 2);
    CHECK(run.reader.files().at(0).offset == run.reader.files().at(0).size);
    CHECK(run.reader.files().at(0).records == 2);
}

TEST_CASE("codex: input contains cached tokens, output contains reasoning, totals of the thread do not count") {
    Spending run(k_usage_of_codex);
    const Path file = ".codex/sessions/2026/11/28/rollout-2026-11-28T10-00-00-" + k_talk_one + ".jsonl";
    run.tell(file, k_line_of_codex + with_text(k_line_of_codex, "resp_1", "resp_2") + k_line_of_codex);
    run.read();
    CHECK(run.tokens() == Tokens{2, 2000, 600, 0, 94});
    CHECK_FALSE(run.reader.window());
    const std::string event =
        R"({"timestamp":"<time>","type":"event_msg","payload":{"type":"token_count","info":{"model_context_window":)"
        R"(258400},"rate_limits":{"limit_id":"codex","primary":<primary>,"secondary":null,"credits":null}}})";
    const auto says = [&](const std::string& primary, const std::string& time = "2026-11-28T10:31:00Z") {
        run.add(file, with_text(with_text(event, "<primary>", primary), "<time>", time) + "\n");
        run.read();
        return run.reader.window();
    };
    CHECK_FALSE(says("null"));
    CHECK_FALSE(says(R"({"used_percent":101})"));
    CHECK_FALSE(says(R"({"used_percent":12.0})", "2026-11-28T09:00:00Z"));
    CHECK(says(R"({"used_percent":62.4,"resets_at":1795942800})") ==
          UsageWindow{62, Timestamp(std::chrono::seconds(1795942800))});
    CHECK(says(R"({"used_percent":"high"})")->percent == 62);
    CHECK(says("null")->percent == 62);
    CHECK(says(R"({"used_percent":3,"resets_at":"2026-12-01T09:00:00Z"})", "2026-11-28T10:32:00Z") ==
          UsageWindow{3, from_rfc3339("2026-12-01T09:00:00Z")});
    CHECK(run.tokens().requests == 2);
}

TEST_CASE("gemini: reasoning is added to the output, and a message that is written again counts once") {
    Spending run(k_usage_of_gemini);
    const std::string line =
        R"({"id":"ca21","timestamp":"2026-11-28T10:30:00Z","type":"gemini","tokens":{"input":1300,"output":40,)"
        R"("cached":300,"thoughts":7,"tool":0,"total":1347},"model":"gemini-2.5-pro"})"
        "\n";
    const Path chats = ".gemini/tmp/shop-1/chats";
    run.add(chats / "session-2026-11-28T10-00-1111aaaa.jsonl", with_text(line, "ca21", "other"));
    run.read();
    CHECK_FALSE(run.reader.has_told());  // no id is known
    run.ids = {k_talk_one};
    run.read();
    CHECK_FALSE(run.reader.has_told());
    run.add(chats / "session-2026-11-28T10-00-9ef2943c.jsonl", line + line);
    run.read();
    CHECK(run.tokens() == Tokens{1, 1000, 300, 0, 47});
    CHECK(run.reader.rows().at(0).model == "gemini-2.5-pro");
    const auto lists = run.files.lists;
    run.read();
    CHECK(run.files.lists == lists);  // it was found
}

TEST_CASE(
    "copilot: the id that Orange gave names the file, a line without a time counts by its id, and money is kept") {
    Spending run(k_usage_of_copilot);
    const std::string line =
        R"({"type":"session.usage_record","data":{"usage":{"model":"scripted","inputTokens":1300,"outputTokens":47,)"
        R"("cacheReadTokens":300,"cacheWriteTokens":0,"reasoningTokens":7,"cost":0.25,"accounting":{"sequence":10,)"
        R"("usageId":"u1"},"aiCreditsStatus":"unavailable"}}})"
        "\n";
    run.ids = {k_talk_one, "../" + k_talk_two, "not-a-uuid"};
    run.add(".copilot/session-state/" + k_talk_one + "/events.jsonl", line + line + with_text(line, "u1", "u2"));
    run.add(".copilot/session-state/not-a-uuid/events.jsonl", with_text(line, "u1", "u3"));
    run.add(".copilot/" + k_talk_two + "/events.jsonl", with_text(line, "u1", "u4"));
    run.add(".copilot/session-state/" + k_talk_one + "/events.jsonl",
            with_text(with_text(line, "u1", "u5"), "0.25", "-1"));
    run.read();
    CHECK(run.tokens() == Tokens{2, 2000, 600, 0, 94});
    CHECK(run.reader.rows().at(0).money == 500'000);
    CHECK(run.reader.rows().at(0).day == day_of(run.now));
}

TEST_CASE("pi: conversations are in a folder that outlives a wall, and in pi's own after /new") {
    Spending run(k_usage_of_pi);
    const std::string line =
        R"({"type":"message","id":"1e417509","timestamp":"2026-11-28T10:30:00Z","message":{"role":"assistant",)"
        R"("provider":"local","model":"scripted","usage":{"input":1000,"output":47,"cacheRead":300,"cacheWrite":0,)"
        R"("reasoning":7,"totalTokens":1347,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0,)"
        R"("totalFromProvider":false}},"stopReason":"toolUse","durationMs":699}})"
        "\n";
    const Path mine = "talk/" + k_talk_one + ".jsonl", next = ".pi/agent/sessions/--ws--/2026-11-28_x.jsonl";
    run.tell(mine, line);
    run.read();
    CHECK(run.tokens() == Tokens{1, 1000, 300, 0, 47});
    run.add(next, line + with_text(line, "1e417509", "1e417510"));
    EventReader events;
    run.add("run1.events",
            R"({"event":"conversation","transcript":")" + (run.folder.path() / next).string() + "\"}\nbusy\n");
    CHECK(events.read(run.harness, run.files, run.folder / "run1.events"));
    CHECK(events.told_ids().empty());
    for (const auto& path : events.told_files()) run.told.push_back(path);
    run.read();
    CHECK(run.tokens().requests == 2);
}

TEST_CASE("a program that tells its tokens in its events file needs neither an id nor a time") {
    Spending run(k_usage_in_events);
    run.read();
    CHECK_FALSE(run.reader.has_told());
    run.add("run/run1.events", "busy\n{\"event\":\"usage\",\"input\":1000,\"output\":47}\nidle\n");
    run.add("run/run2.events", "{\"event\":\"usage\",\"input\":9,\"output\":9}\n");
    run.read();
    CHECK(run.tokens() == Tokens{1, 1000, 0, 0, 47});
    CHECK(run.reader.rows().at(0).model.empty());
}

TEST_CASE("a number that is impossible does not count, and unknown is not 0") {
    Spending run(k_usage_of_claude);
    const auto with = [&](const std::string& word, const std::string& by) {
        run.add(k_first_file, with_text(claude_line("msg_a"), word, by));
    };
    run.tell(k_first_file, "\n[]\nnonsense \"output_tokens\"\n{\"output_tokens\":\n");
    with(":1000,", ":-1,");
    with(":1000,", ":1000000001,");
    with(":1000,", ":99999999999999999999999,");
    with(":1000,", ":18446744073709551615,");
    with(":1000,", ":10.5,");
    with(":1000,", ":\"1000\",");
    with(":1000,", ":null,");
    with(":300,", ":-300,");
    with(":40,", ":true,");
    with("\"output_tokens\":40,", "");
    with("msg_a", std::string(201, 'm'));
    with("\"id\":\"msg_a\",", "");
    with("2026-11-28T10:30:00.000Z", "yesterday");
    with("\"type\":\"assistant\"", "\"type\":\"user\"");
    with("\"type\":\"assistant\"", "\"type\":{}");
    run.add(k_first_file,
            with_text(with_text(with_text(claude_line("msg_a", 0), ":1000,", ":0,"), ":50,", ":0,"), ":300,", ":0,"));
    run.read();
    CHECK_FALSE(run.reader.has_told());
    CHECK(run.reader.rows().empty());
    run.add(k_first_file, with_text(claude_line("msg_a"), "\"cache_read_input_tokens\":300,", ""));
    run.read();
    CHECK(run.tokens() == Tokens{1, 1000, 0, 50, 40});

    Spending codex(k_usage_of_codex);
    codex.tell(".codex/sessions/2026/11/28/rollout-x-" + k_talk_one + ".jsonl",
               with_text(k_line_of_codex, ":1300,", ":200,"));  // fewer than those that were cached
    codex.read();
    CHECK_FALSE(codex.reader.has_told());
}

TEST_CASE("days are those of the records, a time to come is now, and a program that invents models makes few rows") {
    Spending run(k_usage_of_claude);
    run.now = *from_rfc3339("2026-11-30T12:00:00Z");
    run.tell(k_first_file, claude_line("msg_a", 40, "2026-11-28T12:00:00Z") +
                               claude_line("msg_b", 40, "2026-11-29T12:00:00Z") +
                               claude_line("msg_c", 40, "2036-11-29T12:00:00Z"));
    run.read();
    std::vector<std::string> days;
    for (const auto& row : run.reader.rows()) days.push_back(row.day);
    CHECK(days == std::vector<std::string>{"2026-11-28", "2026-11-29", "2026-11-30"});
    for (int i = 0; i < 50; ++i) {
        const auto n = std::to_string(i);
        run.add(k_first_file, with_text(claude_line("m" + n), "claude-opus-5-5", "odd\\u001b" + n));
    }
    run.read();
    CHECK(run.tokens().requests == 53);
    CHECK(run.reader.rows().size() < 20);
    for (const auto& row : run.reader.rows()) CHECK(row.model.find('\x1b') == std::string::npos);
}

TEST_CASE("seconds and milliseconds since 1970 are times, too") {
    Spending run(k_usage_of_claude);
    const auto line = [](const std::string& id, const std::string& time) {
        return with_text(claude_line(id, 40, "T"), "\"T\"", time);
    };
    const auto seconds = std::chrono::floor<std::chrono::seconds>(run.began).time_since_epoch().count();
    run.began += std::chrono::milliseconds(500);
    run.tell(k_first_file, line("a", std::to_string(seconds)) + line("b", std::to_string(seconds - 1)) +
                               line("c", std::to_string(seconds * 1000)) + line("d", std::to_string(seconds) + "501") +
                               line("e", "-5") + line("f", "1e300"));
    run.read();
    CHECK(run.reader.files().at(0).records == 2);  // a and d
}

TEST_CASE("only a regular file below the folder of its pattern counts, and no link on the way is followed") {
    Spending run(k_usage_of_claude);
    const Path projects = run.folder / ".claude/projects";
    write_text(run.folder / "secret" / (k_talk_one + ".jsonl"), claude_line("msg_a"));
    std::filesystem::create_directories(projects / "file");
    std::filesystem::create_directory_symlink(run.folder / "secret", projects / "folder");
    std::filesystem::create_symlink(run.folder / "secret" / (k_talk_one + ".jsonl"),
                                    projects / "file" / (k_talk_one + ".jsonl"));
    std::filesystem::create_directories(projects / "both" / (k_talk_one + ".jsonl"));
    std::filesystem::create_directories(projects / "fifo");
    REQUIRE(::mkfifo((projects / "fifo" / (k_talk_one + ".jsonl")).c_str(), 0600) == 0);
    std::filesystem::create_directories(projects / "device");
    std::filesystem::create_symlink("/dev/zero", projects / "device" / (k_talk_one + ".jsonl"));
    run.ids = {k_talk_one};
    const auto below = projects.string();
    run.told = {below + "/folder/" + k_talk_one + ".jsonl",
                below + "/file/" + k_talk_one + ".jsonl",
                below + "/both/" + k_talk_one + ".jsonl",
                below + "/fifo/" + k_talk_one + ".jsonl",
                below + "/device/" + k_talk_one + ".jsonl",
                below + "/../" + k_talk_one + ".jsonl",
                below + "/x/../../../secret/" + k_talk_one + ".jsonl",
                below + "//" + k_talk_one + ".jsonl",
                below + "/x\n/" + k_talk_one + ".jsonl",
                below + "/deep/er/" + k_talk_one + ".jsonl",
                (run.folder / "secret" / (k_talk_one + ".jsonl")).string(),
                "/etc/passwd",
                ""};
    CHECK(run.read() == 1);
    CHECK_FALSE(run.reader.has_told());
    CHECK(run.reader.files().empty());
    CHECK(run.files.bytes == 0);
    // The folder of the pattern itself may be a link of the user.
    std::filesystem::rename(projects, run.folder / "moved");
    std::filesystem::create_directory_symlink(run.folder / "moved", projects);
    run.add("moved/plain/" + k_talk_one + ".jsonl", claude_line("msg_b"));
    run.told = {below + "/plain/" + k_talk_one + ".jsonl"};
    run.read();
    CHECK(run.tokens().requests == 1);
}

TEST_CASE("a pattern is fitted by whole ids of the right form alone") {
    Spending run(k_usage_of_codex);
    const auto put = [&](const std::string& name) {
        const Path path = ".codex/sessions/2026/11/28/" + name;
        run.add(path, with_text(k_line_of_codex, "resp_1", name));
        run.told.push_back((run.folder.path() / path).string());
    };
    put("rollout-x-not-a-uuid.jsonl");
    put("rollout-" + k_talk_one + ".jsonl");
    put("rollout-x-" + k_talk_one + ".json");
    put("other-x-" + k_talk_one + ".jsonl");
    run.read();
    CHECK_FALSE(run.reader.has_told());
    put("rollout-x-" + k_talk_two + ".jsonl");  // no id is known: any fits that may be one
    run.read();
    CHECK(run.tokens().requests == 1);
    run.reader = UsageReader();
    run.ids = {k_talk_one};
    run.read();
    CHECK_FALSE(run.reader.has_told());
}

TEST_CASE("a program that names files and ids without end takes no more memory") {
    Spending run(k_usage_of_claude);
    run.ids.clear();
    for (int i = 0; i < 150; ++i) {
        char id[37] = "";
        (void)std::snprintf(id, sizeof id, "9ef2943c-0000-4000-8000-%012d", i);
        const Path file = ".claude/projects/-ws/" + std::string(id) + ".jsonl";
        run.add(file, claude_line(id));
        run.told.push_back((run.folder.path() / file).string());
    }
    run.read();
    CHECK(run.reader.is_incomplete());
    CHECK(run.tokens().requests == 100);

    Spending other(k_usage_of_claude);
    std::string lines;
    const auto line = claude_line("<id>");
    const auto at = line.find("<id>");
    for (int i = 0; i < 100'010; ++i) lines += line.substr(0, at) + std::to_string(i) + line.substr(at + 4);
    other.tell(k_first_file, lines);
    other.read();
    CHECK(other.reader.is_incomplete());
    CHECK(other.tokens().requests == 100'000);
}

TEST_CASE("events name files and ids of conversations, those of a wrong form or kind do not") {
    Spending run(k_usage_of_claude);
    EventReader events;
    const auto tell = [&](const std::string& line) { run.add("run1.events", line + "\n"); };
    const auto named = [](const std::string& id, const std::string& path) {
        return R"({"hook_event_name":"Odd","session_id":")" + id + R"(","transcript_path":")" + path + "\"}";
    };
    tell(named(k_talk_one, "/h/one.jsonl"));
    tell(named(k_talk_two, "/h/two.jsonl"));
    tell(named(k_talk_one, "/h/one.jsonl"));
    tell(named("--version", "h/three.jsonl"));
    tell(named("ses_1", "/h/fo\\nur.jsonl"));
    tell(R"({"transcript_path":"/h/five.jsonl"})");
    tell("{\"transcript_path\":7}\n[]\nbusy");
    events.read(run.harness, run.disk, run.folder / "run1.events");
    CHECK(events.told_ids() == std::vector<std::string>{k_talk_one, k_talk_two});
    CHECK(events.told_files() == std::vector<std::string>{"/h/one.jsonl", "/h/two.jsonl", "/h/five.jsonl"});
    CHECK(events.conversation() == Conversation{k_talk_one, "/h/one.jsonl"});
    for (int i = 0; i < 200; ++i) tell(named(k_talk_one, "/h/" + std::to_string(i)));
    events.read(run.harness, run.disk, run.folder / "run1.events");
    CHECK(events.told_files().size() == EventReader::k_most_told);
}

TEST_CASE("files of a known id are found without an event, and are looked for again only when something has grown") {
    const std::string more = "    - ~/.claude/projects/*/more/{session}/*.jsonl\n";
    auto definition = with_text(k_usage_of_claude, "    - \"{transcript}", more + "    - \"{transcript}");
    definition = with_text(definition, "projects/*/{session}.jsonl", "projects/*/*.jsonl");
    Spending run(with_text(definition, "DIR/projects/*/{session}.jsonl", "DIR/projects/*/*.jsonl"));
    run.tell(k_first_file, claude_line("msg_a"));
    run.read();
    run.read();
    const auto lists = run.files.lists;
    run.add(".claude/projects/-ws-shop-1/more/" + k_talk_one + "/agent.jsonl", claude_line("msg_b"));
    run.add(".claude/projects/-ws-shop-1/more/" + k_talk_two + "/agent.jsonl", claude_line("msg_c"));
    run.read();
    CHECK(run.files.lists == lists);
    CHECK(run.tokens().requests == 1);
    run.add(k_first_file, claude_line("msg_d"));
    run.read();
    CHECK(run.tokens().requests == 3);
}

TEST_CASE("the file of a new conversation is found also if it appears late, and no other one grows") {
    Spending run(k_usage_of_copilot);
    const std::string line =
        R"({"type":"session.usage_record","data":{"usage":{"inputTokens":1300,"outputTokens":47,"accounting":)"
        R"({"usageId":"u1"}}}})"
        "\n";
    const std::string other = "01a2224b-aaaa-4bbb-8ccc-0123456789ab";
    run.ids = {k_talk_one};
    run.add(".copilot/session-state/" + k_talk_one + "/events.jsonl", line);
    run.read();
    run.ids.push_back(other);
    run.read();
    run.read();
    run.add(".copilot/session-state/" + other + "/events.jsonl", with_text(line, "u1", "u2"));
    run.read();
    CHECK(run.tokens().requests == 2);
}

TEST_CASE("a model is the one that a file has named last, in whichever line, and a member may be left out of a path") {
    auto definition = with_text(k_usage_of_claude, "model: message.model", "model: model");
    definition = with_text(definition, "input: message.usage", "input: message?.usage");
    Spending run(with_text(definition, "output: message.usage", "output: message?.usage"));
    run.tell(k_first_file, "{\"model\":\"one\"}\n" + claude_line("msg_a") + "{\"model\":\"two\"}\n" +
                               claude_line("msg_b") + claude_line("msg_c"));
    run.add(k_first_file, with_text(with_text(claude_line("msg_d"), "\"usage\":", "\"other\":"), "\"requestedModel\"",
                                    "\"usage\":{\"input_tokens\":5,\"output_tokens\":6},\"requestedModel\""));
    run.read();
    REQUIRE(run.reader.rows().size() == 2);
    CHECK(run.reader.rows()[0].model == "one");
    CHECK(run.reader.rows()[1].model == "two");
    CHECK(run.reader.rows()[1].tokens.requests == 2);  // a member that is there is not left out
    run.add(k_first_file,
            with_text(claude_line("msg_e"), "\"message\":{\"id\":\"msg_e\",\"model\":\"claude-opus-5-5\",",
                      "\"message\":{\"id\":\"msg_e\"},\"x\":{"));
    run.read();
    CHECK(run.reader.rows()[1].tokens.requests == 2);
}

TEST_CASE("an id has the form that the definition says") {
    Session session;
    CHECK(session.permits("anything_1"));
    CHECK_FALSE(session.permits("--anything"));
    session.form = "uuid";
    CHECK(session.permits("01A2224b-aaaa-4bbb-8ccc-0123456789ab"));
    for (const std::string id : {"01a2224b-aaaa-4bbb-8ccc-0123456789a", "01a2224b-aaaa-4bbb-8ccc-0123456789abc",
                                 "01a2224baaaa-4bbb-8ccc-0123456789abc", "01a2224g-aaaa-4bbb-8ccc-0123456789ab", ""}) {
        INFO(id);
        CHECK_FALSE(session.permits(id));
    }
    session.form = "ses_*";
    CHECK(session.permits("ses_ddd9ef4e"));
    for (const std::string id : {"ses_", "xses_1", "ses_a/b", k_talk_one.c_str()}) CHECK_FALSE(session.permits(id));
    const std::string list = R"([{"id":"<id>","directory":"/ws","created":5}])";
    CHECK(session_in(with_text(list, "<id>", "ses_1"), "/ws", {}, session) == "ses_1");
    CHECK(session_in(with_text(list, "<id>", "other"), "/ws", {}, session).empty());
    CHECK(session_in(with_text(list, "<id>", "other"), "/ws", {}) == "other");
}

TEST_CASE("a conversation that was begun without Orange is found by its id, behind links in the user's folder only") {
    const testing::TemporaryFolder home;
    PosixFileSystem files;
    const auto harness = load_harness(k_spender +
                                          "config_binds: [~/.claude/projects, $CLAUDE_CONFIG_DIR/projects]\n"
                                          "session: {start: ['{session}'], resume: ['{session}'], form: uuid,\n"
                                          "  files: ['~/.claude/projects/*/{session}.jsonl', "
                                          "'$CLAUDE_CONFIG_DIR/projects/*/{session}.jsonl']}\n",
                                      "mine.yml")
                             .value();
    const auto found = [&](const std::string& id, const std::string& other = {}) {
        Environment env = {{"HOME", (home.path() / "home").string()}};
        if (!other.empty()) env["CLAUDE_CONFIG_DIR"] = (home.path() / other).string();
        return conversation_files(files, harness, env, id);
    };
    const auto one = home.path() / "home/.claude/projects/-w-shop" / (k_talk_one + ".jsonl");
    write_text(one, "{}\n");
    CHECK(found(k_talk_one) == std::vector<Path>{one});
    CHECK(found(k_talk_two).empty());
    const auto two = home.path() / "elsewhere/projects/-w-shop" / (k_talk_two + ".jsonl");
    write_text(two, "{}\n");
    CHECK(found(k_talk_two).empty());
    CHECK(found(k_talk_two, "elsewhere") == std::vector<Path>{two});
    std::filesystem::create_symlink(two, one.parent_path() / (k_talk_two + ".jsonl"));
    CHECK(found(k_talk_two).empty());
}

// Plays the two copies of TASK.md, their editors, and the daemon: what becomes of each save, of one that is late, and
// of what it does not have.
#include <functional>
#include <random>

#include "daemon/store/sections.hpp"
#include "tests/catch.hpp"
#include "tests/fakes/mortal_file_system.hpp"
#include "tests/unit/store/task_world.hpp"

using namespace orange;
using namespace orange::store;
using namespace orange::testing;
namespace fs = std::filesystem;

namespace {

enum class Who { human, agent, orange, nobody };
using Rewrite = std::function<std::string(std::string body)>;

/// A save: who made it, the step after which he had read the text (0: the beginning; -1: just now), and what he did.
struct Step {
    Who who;
    int read;
    Rewrite change;
};

Rewrite adding(std::string text) {
    return [text](std::string body) { return body + text; };
}
Rewrite in_place_of(std::string before, std::string after) {
    return [before, after](std::string body) {
        const auto at = body.find(before);
        REQUIRE(at != std::string::npos);
        return body.replace(at, before.size(), after);
    };
}
Rewrite without(std::string text) {
    return in_place_of(std::move(text), "");
}
Rewrite feedback(std::string text) {
    return [text](std::string body) { return with_section(body, "Feedback", text); };
}
Rewrite same() {
    return [](std::string body) { return body; };
}

AgentRun run_of(Role role) {
    AgentRun run;
    run.role = role;
    run.run.value = role == Role::worker ? "run-of-worker" : "run-of-reviewer";
    return run;
}

struct Play : TaskWorld {
    std::vector<std::string> read;  ///< the body after each step
    std::vector<HistoryEvent> events;
    std::optional<std::string> attention;

    void save(Who who, const std::string& text, bool whole = true) {
        const auto& copy = who == Who::human ? copies.own : *copies.mirror;
        write_text(copy.string() + "~", whole ? projected(text) : text);
        fs::rename(copy.string() + "~", copy);
    }
    void note(Synced synced) {
        for (auto& event : synced.events) events.push_back(std::move(event));
        if (synced.attention) attention = synced.attention;
        read.push_back(synced.body);
        CHECK(in_step(synced.body));
    }
    void play(const std::vector<Step>& steps) {
        if (read.empty()) read.push_back(sync().body);
        for (const auto& step : steps) {
            const auto& had = step.read < 0 ? read.back() : read[static_cast<std::size_t>(step.read)];
            if (step.who == Who::orange) {
                const auto text = parse_sections(step.change(had)).sections.at("Feedback").text;
                note(accept(wait(task_files->write_sections(record, copies, {{"Feedback", text}}))));
            } else {
                save(step.who, step.change(had));
                note(sync());
            }
        }
    }
    std::string kept() {
        std::string text;
        for (const auto& name : others()) text += read_text(home / ("task/" + name));
        return text;
    }
    bool has_run(const std::string& type, bool put_back) const {
        return std::ranges::any_of(events, [&](const HistoryEvent& event) {
            return event.type == type && std::get<bool>(event.fields.at("put_back")) == put_back;
        });
    }
};

struct Scenario {
    std::string name;
    std::string body;
    bool two_agents = false;
    std::vector<Step> steps;
    std::string expected;
    std::string kept = "";  ///< a line that is kept and told; empty: nothing is kept, and nobody is told
};

const std::string k_start = "## Context\n\nc1\n\n## Notes\n\nn1\n\n## Handoff\n\nDONE: one\n";
const std::string k_two_lines = "## Context\n\nc1\nh1\nh2\n\n## Notes\n\nn1\n\n## Handoff\n\nDONE: one\n";

const std::vector<Scenario>& scenarios() {
    static const std::vector<Scenario> all = {
        {"a reject writes Feedback, the agent reads it and rewrites Handoff above it",
         k_start,
         false,
         {{Who::orange, -1, feedback("Please.")}, {Who::agent, -1, in_place_of("DONE: one", "DONE: two\nTESTED: all")}},
         "## Context\n\nc1\n\n## Notes\n\nn1\n\n## Handoff\n\nDONE: two\nTESTED: all\n\n## Feedback\n\nPlease.\n"},
        {"a reject writes Feedback, and the agent that has not read it rewrites Handoff",
         k_start,
         false,
         {{Who::orange, -1, feedback("Please.")}, {Who::agent, 0, in_place_of("DONE: one", "DONE: two\nTESTED: all")}},
         "## Context\n\nc1\n\n## Notes\n\nn1\n\n## Handoff\n\nDONE: two\nTESTED: all\n\n## Feedback\n\nPlease.\n"},
        {"a box of the human's that the agent ticks",
         k_start,
         false,
         {{Who::human, -1, in_place_of("c1\n", "c1\n- [ ] x\n")}, {Who::agent, -1, in_place_of("- [ ] x", "- [x] x")}},
         "## Context\n\nc1\n- [x] x\n\n## Notes\n\nn1\n\n## Handoff\n\nDONE: one\n"},
        {"a line of the human's that the agent rewords",
         k_start,
         false,
         {{Who::agent, -1, in_place_of("n1", "n1 of all")},
          {Who::agent, -1, in_place_of("n1 of all", "n1 of all rooms")}},
         "## Context\n\nc1\n\n## Notes\n\nn1 of all rooms\n\n## Handoff\n\nDONE: one\n"},
        {"both append to the same place",
         k_start,
         false,
         {{Who::human, 0, adding("of the human\n")}, {Who::agent, 0, adding("of the agent\n")}},
         k_start + "of the human\nof the agent\n"},
        {"both append, and the human is late",
         k_start,
         false,
         {{Who::agent, 0, adding("of the agent\n")},
          {Who::agent, 1, adding("and more\n")},
          {Who::human, 0, adding("of the human\n")}},
         k_start + "of the agent\nand more\nof the human\n"},
        {"the human deletes a section, and an agent that has read it before appends elsewhere",
         k_start,
         false,
         {{Who::human, -1, without("## Notes\n\nn1\n\n")}, {Who::agent, 0, adding("of the agent\n")}},
         "## Context\n\nc1\n\n## Handoff\n\nDONE: one\nof the agent\n"},
        {"the human deletes a section in which a late agent writes",
         k_start,
         false,
         {{Who::human, -1, without("## Notes\n\nn1\n\n")}, {Who::agent, 0, in_place_of("n1\n", "n1\nof the agent\n")}},
         "## Context\n\nc1\n\n## Handoff\n\nDONE: one\n",
         "of the agent"},
        {"Orange writes Feedback twice, and the human's editor had the first one",
         k_start,
         false,
         {{Who::orange, -1, feedback("First.")},
          {Who::orange, -1, feedback("Second.")},
          {Who::human, 1, in_place_of("c1", "c1 and c2")}},
         "## Context\n\nc1 and c2\n\n## Notes\n\nn1\n\n## Handoff\n\nDONE: one\n\n## Feedback\n\nSecond.\n"},
        {"a late reviewer writes Review after the worker has saved",
         k_start,
         true,
         {{Who::agent, -1, in_place_of("DONE: one", "DONE: one\nDONE: two")},
          {Who::agent, 0, adding("\n## Review\n\nVerdict: PASS\n")}},
         "## Context\n\nc1\n\n## Notes\n\nn1\n\n## Handoff\n\nDONE: one\nDONE: two\n\n## Review\n\nVerdict: PASS\n"},
        {"a reviewer rewrites its verdict twice while the worker lives",
         k_start,
         true,
         {{Who::agent, -1, adding("\n## Review\n\nVerdict: FAIL\nno test\n")},
          {Who::agent, -1, in_place_of("Verdict: FAIL\nno test\n", "Verdict: PASS\nwell done, all of it\n")},
          {Who::agent, -1,
           in_place_of("Verdict: PASS\nwell done, all of it\n", "Verdict: FAIL\nno test\nand a leak\n")}},
         k_start + "\n## Review\n\nVerdict: FAIL\nno test\nand a leak\n"},
        {"a reviewer takes its verdict back while the worker lives",
         k_start,
         true,
         {{Who::agent, -1, adding("\n## Review\n\nVerdict: FAIL\n")},
          {Who::agent, -1, in_place_of("FAIL", "PASS")},
          {Who::agent, 1, same()}},
         k_start + "\n## Review\n\nVerdict: FAIL\n"},
        {"an agent removes a line of the human's once",
         k_start,
         false,
         {{Who::human, -1, in_place_of("c1\n", "c1\nh1\nh2\n")}, {Who::agent, -1, without("h1\n")}},
         k_two_lines},
        {"an agent removes a line of the human's twice",
         k_start,
         false,
         {{Who::human, -1, in_place_of("c1\n", "c1\nh1\nh2\n")},
          {Who::agent, -1, without("h1\n")},
          {Who::agent, -1, without("h1\n")}},
         "## Context\n\nc1\nh2\n\n## Notes\n\nn1\n\n## Handoff\n\nDONE: one\n",
         "h1"},
        {"an agent removes the only line that came since its save, twice",
         k_start,
         false,
         {{Who::human, -1, in_place_of("c1\n", "c1\nh1\n")},
          {Who::agent, -1, without("h1\n")},
          {Who::agent, -1, without("h1\n")}},
         k_start,
         "h1"},
        {"an agent that has not read a line of the human's in its own section saves its old text again",
         k_start,
         false,
         {{Who::human, -1, adding("of the human\n")}, {Who::agent, 0, same()}},
         k_start + "of the human\n"},
        {"an agent removes and rewrites what is its own",
         k_start + "\n## Plan\n\nfirst\nsecond\n\n## Questions\n\n- which?\n",
         false,
         {{Who::agent, -1, without("\n## Questions\n\n- which?\n")},
          {Who::agent, -1, in_place_of("first\nsecond", "other")}},
         k_start + "\n## Plan\n\nother\n"},
        {"the human removes and rewrites what is his own",
         k_start,
         false,
         {{Who::human, -1, without("## Notes\n\nn1\n\n")}, {Who::human, -1, in_place_of("c1", "other")}},
         "## Context\n\nother\n\n## Handoff\n\nDONE: one\n"},
        {"a section that the worker has rewritten is in its place in a late text of the human's",
         k_start,
         false,
         {{Who::agent, -1, in_place_of("DONE: one", "DONE: two")},
          {Who::agent, -1, in_place_of("DONE: two", "ALL IS DONE")},
          {Who::human, 0, in_place_of("c1", "c1 and more")}},
         "## Context\n\nc1 and more\n\n## Notes\n\nn1\n\n## Handoff\n\nALL IS DONE\n"},
        {"an older text that comes back whole is nobody's edit of what came since",
         k_start,
         false,
         {{Who::human, -1, in_place_of("n1", "n1\nh1")},
          {Who::human, -1, in_place_of("c1", "c1\nh2")},
          {Who::agent, 1, same()}},
         "## Context\n\nc1\nh2\n\n## Notes\n\nn1\nh1\n\n## Handoff\n\nDONE: one\n"},
    };
    return all;
}

}  // namespace

TEST_CASE_METHOD(Play, "what becomes of a save") {
    const auto& scenario = scenarios()[GENERATE(range(std::size_t{0}, scenarios().size()))];
    INFO(scenario.name);
    if (scenario.two_agents) record.runs = {run_of(Role::worker), run_of(Role::reviewer)};
    start(scenario.body);
    play(scenario.steps);
    CHECK(read.back() == scenario.expected);
    CHECK(attention.has_value() == !scenario.kept.empty());
    CHECK_THAT(kept(), Holds(scenario.kept));
    CHECK(kept().empty() == scenario.kept.empty());
    CHECK(has_run("section.lost", false) == !scenario.kept.empty());
    CHECK(!sync().body_changed);
}

TEST_CASE_METHOD(Play, "both copies edited at once are merged, with a restart before or between") {
    const bool after = GENERATE(false, true);
    start(k_start);
    if (!after) restart();
    save(Who::human, in_place_of("c1", "c1\nof the human")(k_start));
    save(Who::agent, in_place_of("DONE: one", "DONE: two")(in_place_of("n1\n", "n1\nof the agent\n")(k_start)));
    if (after) restart();
    const auto synced = sync();
    CHECK(synced.body == "## Context\n\nc1\nof the human\n\n## Notes\n\nn1\nof the agent\n\n## Handoff\n\nDONE: two\n");
    CHECK(in_step(synced.body));
    CHECK_FALSE(synced.attention);
    CHECK(others().empty());
}

TEST_CASE_METHOD(Play, "without the texts beside TASK.md, a new daemon unites what both copies have") {
    start(k_start);
    restart();
    for (const auto& name : names("task")) {
        if (name.starts_with(".TASK.md.base-")) write_text(home / "task" / name, "torn");
    }
    save(Who::human, in_place_of("c1", "c2")(k_start));
    save(Who::agent, in_place_of("DONE: one", "DONE: two")(k_start));
    const auto body = sync().body;
    for (const auto* line : {"c1", "c2", "n1", "DONE: one", "DONE: two"}) CHECK_THAT(body, Holds(line));
    CHECK(in_step(body));
}

TEST_CASE_METHOD(Play, "a mirror that is retired takes its texts along: nothing comes back in the next worktree") {
    start(k_start);
    play({{Who::agent, -1, adding("of the agent\n")}, {Who::human, -1, adding("of the human\n")}});
    accept(wait(task_files->retire_mirror(record, copies)));
    const bool is_other_daemon = GENERATE(false, true);
    const auto mirror = copies.mirror;
    copies.mirror.reset();
    write_text(copies.own, projected(k_start));        // weeks later, the human removes both lines
    CHECK(sync().body == k_start + "of the agent\n");  // it is the agent's section: once, its line comes back
    write_text(copies.own, projected(k_start));
    CHECK(sync().body == k_start);
    if (is_other_daemon) restart();
    copies.mirror = mirror;
    sync();
    save(Who::agent, in_place_of("DONE: one", "DONE: three")(k_start));
    CHECK(sync().body == in_place_of("DONE: one", "DONE: three")(k_start));
    CHECK(in_step(in_place_of("DONE: one", "DONE: three")(k_start)));
}

TEST_CASE_METHOD(Play, "a TASK.md that is replaced without frontmatter takes no section away, however often") {
    start(k_start);
    for (const std::string done : {"DONE: two", "DONE: three"}) {
        save(Who::agent, "## Handoff\n\n" + done + "\n", false);
        CHECK(sync().body == "## Context\n\nc1\n\n## Notes\n\nn1\n\n## Handoff\n\n" + done + "\n");
    }
    save(Who::human, "## Plan\n\n```\nopen\n", false);
    const auto sections = parse_sections(sync().body).sections;
    for (const auto* heading : {"Context", "Notes", "Handoff", "Plan"}) CHECK(sections.contains(heading));
    CHECK(others().empty());
}

TEST_CASE_METHOD(Play, "a section with a verdict is the reviewer's, whatever its name is") {
    const bool has_verdict = GENERATE(true, false);
    copies.sections = {"Second review"};
    if (has_verdict) copies.verdicts = copies.sections;
    AgentRun worker;
    worker.run = RunId{"run1"};
    record.runs = {worker};
    start(k_start + "\n## Second review\n\nVerdict: FAIL\n");
    save(Who::agent, k_start);  // the worker alone lives
    const auto body = sync().body;
    CHECK((body != k_start) == has_verdict);
    if (has_verdict) CHECK_THAT(body, Holds("## Second review\n\nVerdict: FAIL\n"));
}

TEST_CASE_METHOD(Play, "a line that came meanwhile goes only if it is removed after it was merged back") {
    start(k_start);
    save(Who::human, in_place_of("n1", "n1\nof the human")(k_start));
    save(Who::agent, in_place_of("DONE: one", "DONE: two")(k_start));
    const auto both = in_place_of("n1", "n1\nof the human")(in_place_of("DONE: one", "DONE: two")(k_start));
    CHECK(sync().body == both);
    for (int n = 0; n < 2; ++n) {
        save(Who::agent, in_place_of("DONE: one", "DONE: two")(k_start));
        const auto synced = sync();
        CHECK((synced.body == both) == (n == 0));
        CHECK(synced.attention.has_value() == (n == 1));
    }
}

TEST_CASE_METHOD(Play, "folders in the place of TASK.md do not stop a task, however often") {
    start(k_start);
    for (int n = 0; n < 12; ++n) {
        fs::remove_all(*copies.mirror);
        fs::create_directory(*copies.mirror);
        write_text(*copies.mirror / "x", "x");
        CHECK(try_sync());
    }
    CHECK(in_step(k_start));
}

TEST_CASE_METHOD(Play, "kept texts have a bound: beyond it, what is removed comes back") {
    start("## Notes\n\nbegin\n");
    int removed = 0;
    for (int n = 0; n < 60; ++n) {
        const auto line = "a long line of the human, number " + std::to_string(n);
        play({{Who::human, -1, adding(line + "\n")},
              {Who::agent, -1, without(line + "\n")},
              {Who::agent, -1, without(line + "\n")}});
        removed += read.back().find(line + "\n") == std::string::npos ? 1 : 0;
        CHECK_THAT(everything(), Holds(line));
    }
    CHECK(removed == 32);
    CHECK(others().size() == 32);
}

TEST_CASE_METHOD(Play, "a daemon that is killed at each write loses no line, and brings none twice") {
    const auto count = [](const std::string& text, const std::string& line) {
        std::size_t times = 0;
        for (auto at = text.find(line); at != std::string::npos; at = text.find(line, at + 1)) ++times;
        return times;
    };
    fakes::Fuse fuse;
    fakes::MortalFileSystem mortal(real, fuse);
    for (int n = 1;; ++n) {
        CAPTURE(n);
        fs::remove_all(home / "task");
        fs::remove_all(home / "work");
        fs::create_directories(home / "task");
        fs::create_directories(home / "work");
        task_files.emplace(mortal, clock);
        start(k_start);
        save(Who::human, in_place_of("c1", "c1\nof the human")(k_start));
        save(Who::agent, in_place_of("n1\n", "n1\nof the agent\n")(k_start));
        fuse.arm(fakes::Fuse::Ending::killed, n);
        bool is_killed = false;
        try {
            sync();
        } catch (const fakes::Killed&) {
            is_killed = true;
        }
        fuse.disarm();
        task_files.emplace(mortal, clock);
        const auto body = sync().body;
        for (const std::string line : {"of the human\n", "of the agent\n", "c1\n", "n1\n", "DONE: one\n"}) {
            INFO(line << "in " << body);
            CHECK(count(body, line) == 1);
        }
        CHECK(in_step(body));
        CHECK(others().empty());
        if (!is_killed) break;
    }
}

namespace {

/// Three writers, each of whom has read the text some saves of the others ago.
struct ThreeWriters : Play {
    std::mt19937 dice{11};
    std::vector<std::size_t> own_last = {0, 0, 0};  ///< the step of each one's last save
    std::vector<std::size_t> writers;               ///< who made each step
    std::vector<std::string> lines;

    std::size_t read_by(std::size_t writer, std::size_t stale) const {
        auto at = read.size() - 1;
        std::size_t missed = 0;
        while (at > own_last[writer] && missed < stale) missed += writers[--at] == writer ? 0 : 1;
        return at;
    }
    void write_line(const std::vector<std::string>& sections) {
        const auto writer = dice() % 3;
        const auto had = read[read_by(writer, 1 + dice() % 12)];
        const auto line = "line " + std::to_string(lines.size()) + " of writer " + std::to_string(writer);
        auto section = sections[dice() % sections.size()];
        if (section == "Review" && writer == 1) section = "Plan";  // the worker does not write the review
        const auto heading = "## " + section + "\n\n";
        lines.push_back(line);
        save(writer == 0 ? Who::human : Who::agent, in_place_of(heading, heading + line + "\n")(had));
        own_last[writer] = read.size();
        writers.push_back(writer);
        note(sync());
    }
    void run(int rounds, const std::vector<std::string>& sections) {
        record.runs = {run_of(Role::worker), run_of(Role::reviewer)};
        std::string body;
        for (const auto& heading : sections) body += "## " + heading + "\n\nbegin of " + heading + "\n\n";
        body.pop_back();
        start(body);
        read.push_back(body);
        for (int n = 0; n < rounds; ++n) write_line(sections);
        const auto all = everything();
        std::vector<std::string> lost;
        for (const auto& line : lines) {
            if (all.find(line + "\n") == std::string::npos) lost.push_back(line);
        }
        CHECK(lost.empty());
        CHECK(others().empty());
    }
};

const std::vector<std::string> k_sections = {"Context", "Plan", "Notes", "Review", "Handoff"};

}  // namespace

TEST_CASE_METHOD(ThreeWriters, "no line of three writers that have read an older text is lost") {
    run(150, k_sections);
}

TEST_CASE_METHOD(ThreeWriters, "no line of three writers in one section is lost") {
    run(100, {GENERATE(as<std::string>{}, "Context", "Handoff")});
}

TEST_CASE_METHOD(ThreeWriters, "no line of 2,000 saves of three late writers is lost", "[soak]") {
    run(2000, k_sections);
}

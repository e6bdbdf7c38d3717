#include "daemon/agents/harness.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>

#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "common/model/json.hpp"
#include "daemon/agents/skills.hpp"
#include "tests/catch.hpp"
#include "tests/unit/agents/shipped.hpp"

using namespace orange;
using namespace orange::agents;
using namespace orange::test;

namespace {

const std::string k_head = "name: mine\nprogram: mine\n";

std::string error_of(const std::string& text) {
    const auto harness = load_harness(text, "mine.yml");
    return harness ? "no error" : harness.error().message;
}

Harness loaded(const std::string& text) {
    auto harness = load_harness(text, "mine.yml");
    if (!harness) FAIL(harness.error().message);
    return *harness;
}

LaunchRequest request(const std::string& permissions, const std::string& prompt) {
    LaunchRequest asked;
    asked.permissions = permissions;
    asked.prompt = prompt;
    asked.task_dir = "/tasks/x";
    asked.worktree = "/ws/a--1";
    asked.repo = "/repo";
    asked.role = "worker";
    asked.summary = "Fix it";
    return asked;
}

using Argv = std::vector<std::string>;

}  // namespace

TEST_CASE("a definition with every key is read") {
    const auto harness = loaded(R"(name: mine
program: ./bin/mine
mode: oneshot
argv:
  full: ["{trust_args}", "{effort_args}", --, "{prompt}"]
  review: [--read-only, "{effort_args}", "--prompt={prompt}"]
effort: {args: [--effort, "{effort}"], values: [low, high]}
env: {MINE_DIR: "{task_dir}"}
exclude: [.mine/]
ready_after: 1500ms
install_hint: get it
install: get it --now
words: {"mine:fast": hurries}
root_needs: SANDBOX
skills: [$MINE_HOME/skills, ~/.mine/skills]
measured: "2.10"
needs: {node: "22.19"}
screen: {waiting: ["Proceed?"], login: [Sign in], failed: ["■ "], interrupted: ["■ Stop"], background: [still runs]}
events: {busy: [b], idle: [i], session: id, transcript: file, background: tasks}
trust: {args: [-t], first: true, dialog: ["Trust?"]}
no_login: {files: [~/.mine/login], note: it is free}
)");
    CHECK(harness.name == "mine");
    CHECK(harness.program == "./bin/mine");
    CHECK(harness.mode == Mode::oneshot);
    CHECK(harness.argv.at("full") == Argv{"{trust_args}", "{effort_args}", "--", "{prompt}"});
    CHECK(harness.effort_values == Argv{"low", "high"});
    CHECK(harness.env.at("MINE_DIR") == "{task_dir}");
    CHECK(harness.exclude == Argv{".mine/"});
    CHECK(harness.screen.waiting == Argv{"Proceed?", "Sign in"});
    CHECK(harness.screen.login == Argv{"Sign in"});
    CHECK(harness.screen.failed == Argv{"■ "});
    CHECK(harness.screen.interrupted == Argv{"■ Stop"});
    CHECK(harness.screen.background == Argv{"still runs"});
    CHECK(harness.events.session == "id");
    CHECK(harness.events.transcript == "file");
    CHECK(harness.events.background == "tasks");
    CHECK(harness.measured == "2.10");
    CHECK(harness.needs.at("node") == "22.19");
    CHECK(harness.trust.first);
    CHECK(harness.no_login.files == Argv{"~/.mine/login"});
    CHECK(harness.no_login.note == "it is free");
    CHECK(harness.ready_after == std::chrono::milliseconds(1500));
    CHECK(harness.install_hint == "get it");
    CHECK(harness.install == "get it --now");
    CHECK(harness.words.at("mine:fast") == "hurries");
    CHECK(harness.how_to_install() == "\n  get it --now");
    CHECK(harness.root_needs == "SANDBOX");
    CHECK(harness.skills == Argv{"$MINE_HOME/skills", "~/.mine/skills"});
}

TEST_CASE("codex trusts the hooks that tell what it does, whose hashes are those of their definitions") {
    const auto codex = shipped("codex");
    const auto& words = codex.events.args;
    const auto state =
        std::find_if(words.begin(), words.end(), [](auto& word) { return word.starts_with("hooks.state="); });
    REQUIRE(state != words.end());
    for (const auto& [name, event] : std::map<std::string, std::string>{{"UserPromptSubmit", "user_prompt_submit"},
                                                                        {"PermissionRequest", "permission_request"},
                                                                        {"Stop", "stop"},
                                                                        {"Interrupt", "interrupt"}}) {
        INFO(name);
        const auto hook = std::find_if(words.begin(), words.end(), [&wanted = name](auto& word) {
            return word.starts_with("hooks." + wanted + "=");
        });
        REQUIRE(hook != words.end());
        const auto begin = hook->find("command=\"") + 8;
        const auto command = hook->substr(begin, hook->find("\",async", begin) + 1 - begin);
        const auto definition = R"({"event_name":")" + event + R"(","hooks":[{"async":true,"command":)" + command +
                                R"(,"timeout":3,"type":"command"}]})";
        CHECK_THAT(*state, Holds(event + ":0:0\"={trusted_hash=\"sha256:" + sha256(definition) + "\"}"));
    }
}

TEST_CASE("a program is told where to write its events, in its own words") {
    const auto mine =
        loaded(k_head +
               "argv: {full: [\"{event_args}\", --settings, '{\"a\":1,{event_rules}}', --, \"{prompt}\"]}\n"
               "events:\n  args: [--out, \"{events}\"]\n  rules: '\"hook\":\"{events_json}\"'\n"
               "  busy: [busy]\n  idle: [idle]\n");
    CHECK(mine.events.are_told());
    auto asked = request("full", "go");
    asked.events = "/tasks/\"x\"/run.events";
    const auto argv = launch(mine, "/bin/mine", asked).value().argv;
    CHECK(argv == Argv{"/bin/mine", "--out", "/tasks/\"x\"/run.events", "--settings",
                       R"({"a":1,"hook":"/tasks/\"x\"/run.events"})", "--", "go"});
    const auto with = [](const std::string& argument, const std::string& events) {
        return error_of(k_head + "argv: {full: [" + argument + "--, \"{prompt}\"]}\nevents: " + events + "\n");
    };
    CHECK(with("", "{busy: [a], idle: [b]}") == "no error");
    CHECK_THAT(with("", "{busy: [a]}"), Holds("mine.yml:4:9"));
    CHECK_THAT(with("", "[a]"), Holds("mine.yml:4:9"));
    CHECK_THAT(with("", "{busy: [a], idle: [b], args: [x]}"), Tells("{event_args}"));
    CHECK_THAT(with("\"{event_args}\", ", "{busy: [a], idle: [b]}"), Tells("{event_args}"));
    CHECK_THAT(with("\"x{event_args}\", ", "{busy: [a], idle: [b], args: [x]}"), Tells("{event_args}"));
    CHECK_THAT(with("\"{event_args}\", ", "{busy: [a], idle: [b], args: [\"{nowhere}\"]}"), Tells("{nowhere}"));
}

TEST_CASE("the window of claude gets one list of settings, with its hooks and what they are for") {
    auto asked = request("full", "go");
    for (const std::string permissions : {"full", "reduced", "review"}) {
        INFO(permissions);
        asked.permissions = permissions;
        const auto argv = launch(shipped("claude"), "claude", asked).value().argv;
        CHECK(std::count(argv.begin(), argv.end(), "--settings") == 1);
        const auto settings = parse_json(*(std::find(argv.begin(), argv.end(), "--settings") + 1)).value();
        const auto& names = shipped("claude").events;
        for (const auto* list : {&names.busy, &names.idle, &names.question, &names.error, &names.end}) {
            for (const auto& name : *list) CHECK(settings.at("hooks").contains(name));
        }
        if (permissions != "full") CHECK(settings.at("permissions").at("additionalDirectories").at(0) == "/tasks/x");
    }
}

TEST_CASE("a run's conversation is the first that began in its worktree after it") {
    const auto since = *from_rfc3339("2026-11-20T10:00:00Z");
    const auto at = [&](int ms) {
        return std::chrono::duration_cast<std::chrono::milliseconds>(since.time_since_epoch()).count() + ms;
    };
    const auto entry = [&](const char* id, const char* folder, int ms) {
        return Json{{"id", id}, {"directory", folder}, {"created", at(ms)}};
    };
    const auto found = [&](const Json& list) { return session_in(dump(list), "/ws/a--1", since); };
    CHECK(found({entry("later", "/ws/a--1", 900), entry("own", "/ws/a--1/", 10), entry("other", "/ws/a--2", 5),
                 entry("before", "/ws/a--1", -1)}) == "own");
    CHECK(found({entry("before", "/ws/a--1", -1)}).empty());
    CHECK(
        found({Json{{"id", 1}, {"directory", "/ws/a--1"}, {"created", at(1)}}, Json{{"id", "x"}}, Json("y")}).empty());
    for (const char* odd : {"", "{", "{}", "null", "[null]"}) CHECK(session_in(odd, "/ws/a--1", since).empty());
}

TEST_CASE("a definition says where its program writes what it uses, and every wrong key is refused by name") {
    const std::string head = k_head + "argv: {full: [--, \"{prompt}\"]}\n";
    const std::string events = "events: {busy: [a], idle: [b], transcript: path}\n";
    const std::string binds = "config_binds: [~/.mine/logs, ~/.mine/logs/deep, $MINE_HOME/logs]\n";
    const auto mine = loaded(head + binds + events +
                             R"(usage:
  file: ["~/.mine/logs/*/{session}.jsonl", "~/.mine/logs/deep/{session_8}-*", $MINE_HOME/logs/x, "{transcript}/sub/*",
         "{run_folder}/{session}.jsonl", "{talk_dir}/a/b"]
  each: {type: assistant, message.role: one}
  id: message.id
  input: message.usage.input
  input_has_cached: true
  cache_read: a
  cache_write: b
  output: message.usage.output
  reasoning: c
  model: message.model
  money: d
  time: at
  window: {each: {type: limits}, percent: used, resets: until}
  at_most: 1.5M
)")
                          .usage;
    const std::vector<UsageSigns::File> files = {{"~/.mine/logs", "*/{session}.jsonl"},
                                                 {"~/.mine/logs/deep", "{session_8}-*"},
                                                 {"$MINE_HOME/logs", "x"},
                                                 {"{transcript}", "sub/*"},
                                                 {"{run_folder}", "{session}.jsonl"},
                                                 {"{talk_dir}", "a/b"}};
    CHECK(mine.files == files);
    CHECK(mine.each == std::map<std::string, std::string>{{"type", "assistant"}, {"message.role", "one"}});
    CHECK(mine.id == "message.id");
    CHECK(mine.input_has_cached);
    CHECK(mine.reasoning == "c");
    CHECK(mine.time == "at");
    CHECK(mine.window.each.at("type") == "limits");
    CHECK(mine.window.percent == "used");
    CHECK(mine.at_most == 1'500'000);
    CHECK(mine.are_told());
    CHECK(loaded(head).usage.time == "timestamp");
    CHECK_FALSE(loaded(head).usage.are_told());
    CHECK(loaded(head + "usage: {file: events, input: a, output: b}\n").usage.in_events);

    const auto with = [&](const std::string& usage, bool has_transcript = true) {
        return error_of(head + binds + (has_transcript ? events : "mode: oneshot\n") + "usage: " + usage + "\n");
    };
    const auto of_file = [&](const std::string& file, bool has_transcript = true) {
        return with("{input: a, output: b, file: [" + file + "]}", has_transcript);
    };
    CHECK(of_file("~/.mine/logs/x") == "no error");
    CHECK(of_file("\"~/.mine/logs/{session}\"", false) == "no error");
    const std::pair<std::string, const char*> wrong[] = {
        {with("[a]"), "usage"},
        {with("{}"), "usage.file"},
        {with("{file: events, output: b}"), "usage.input"},
        {with("{file: events, input: a}"), "usage.output"},
        {with("{file: events, input: a, output: b, inputs: c}"), "inputs"},
        {with("{file: elsewhere, input: a, output: b}"), "usage.file"},
        {with("{file: [], input: a, output: b}"), "usage.file"},
        {with("{file: [[a]], input: a, output: b}"), "usage.file"},
        {with("{file: events, input: a..b, output: b}"), "usage.input"},
        {with("{file: events, input: .a, output: b}"), "usage.input"},
        {with("{file: events, input: a, output: b, model: \"b.\"}"), "usage.model"},
        {with("{file: events, input: a, output: b, time: [c]}"), "usage.time"},
        {with("{file: events, input: a, output: b, input_has_cached: perhaps}"), "usage.input_has_cached"},
        {with("{file: events, input: a, output: b, each: type}"), "usage.each"},
        {with("{file: events, input: a, output: b, each: {type: [x]}}"), "usage.each.type"},
        {with("{file: events, input: a, output: b, each: {\"a..b\": x}}"), "usage.each"},
        {with("{file: events, input: a, output: b, window: used}"), "usage.window"},
        {with("{file: events, input: a, output: b, window: {resets: until}}"), "usage.window.percent"},
        {with("{file: events, input: a, output: b, window: {percent: a, used: b}}"), "used"},
        {with("{file: events, input: a, output: b, at_most: many}"), "usage.at_most"},
        {with("{file: events, input: a, output: b, at_most: 0}"), "usage.at_most"},
        {of_file("~/.mine/other/x"), "~/.mine/other/x"},
        {of_file("~/.mine/logs"), "~/.mine/logs"},
        {of_file("~/.mine/logs2/x"), "~/.mine/logs2/x"},
        {of_file("/etc/passwd"), "/etc/passwd"},
        {of_file("~/.mine/logs/../x"), ".."},
        {of_file("~/.mine/logs/./x"), "~/.mine/logs/./x"},
        {of_file("~/.mine/logs//x"), "~/.mine/logs//x"},
        {of_file("~/.mine/logs/"), "~/.mine/logs/"},
        {of_file("\"~/.mine/logs/{pid}\""), "{session_8}"},
        {of_file("\"{run_folder}\""), "{run_folder}"},
        {of_file("\"{worktree}/x\""), "{worktree}/x"},
        {of_file("\"{transcript}/{session}\"", false), "events.transcript"},
        {of_file("~/.mine/logs/x", false), "{session}"},
    };
    for (const auto& [error, names] : wrong) {
        INFO(names);
        CHECK_THAT(error, Holds("mine.yml:"));
        CHECK_THAT(error, Tells(names));
    }
}

TEST_CASE("the form of ids is uuid, or a text with one star") {
    const auto with = [](const std::string& form) {
        return error_of(k_head + "argv: {full: [\"{session_args}\", --, \"{prompt}\"]}\n" +
                        "session: {start: [\"{session}\"], resume: [\"{session}\"], form: " + form + "}\n");
    };
    for (const char* form : {"uuid", "ses_*", "\"*\"", "a*z"}) CHECK(with(form) == "no error");
    for (const char* form : {"\"\"", "any", "\"**\"", "\"-*\"", "a/*", "\"a *\"", "[a]"}) {
        INFO(form);
        CHECK_THAT(with(form), Tells("session.form"));
    }
}

TEST_CASE("skills are in the first folder whose variable is set") {
    Harness harness;
    harness.skills = {"$MINE_HOME/skills", "~/.mine/skills"};
    CHECK(skills_folder(harness, {{"HOME", "/home/u"}}) == "/home/u/.mine/skills");
    CHECK(skills_folder(harness, {{"HOME", "/home/u"}, {"MINE_HOME", ""}}) == "/home/u/.mine/skills");
    CHECK(skills_folder(harness, {{"HOME", "/home/u"}, {"MINE_HOME", "/m"}}) == "/m/skills");
    CHECK(skills_folder(harness, {{"MINE_HOME", "relative"}}).empty());
    CHECK(skills_folder(Harness{}, {{"HOME", "/home/u"}}).empty());
}

TEST_CASE("unknown keys are refused with their place, all problems at once") {
    const auto message = error_of(k_head + "modus: oneshot\nargv:\n  full: [--, \"{prompt}\"]\n  fool: []\n");
    CHECK_THAT(message, Catch::StartsWith("mine.yml:3:1: ") && Tells("modus"));
    CHECK_THAT(message, Holds("\nmine.yml:6:3: ") && Tells("fool") && Tells("full"));
}

TEST_CASE("a definition that says too little or the wrong thing is refused") {
    struct Row {
        const char* text;
        const char* names;
    };
    const Row rows[] = {
        {"[]", "mine.yml:1:1"},
        {"", "mine.yml:1:1"},
        {"name: mine\nprogram: x", "\"argv\""},
        {"name: mine\nprogram: x\nargv: {full: [--, '{prompt}']}\nskills: [here]", "mine.yml:4:9"},
        {"name: mine\nprogram: x\nargv: {full: [--, '{prompt}']}\nskills: ['$A-B/skills']", "A-B"},
        {"name: other\nprogram: x\nargv: {full: [--, '{prompt}']}", "\"other\""},
        {"name: mine\nprogram: x\nargv: {reduced: [--, '{prompt}']}", "argv.full"},
        {"name: mine\nprogram: x\nargv: {full: [go]}", "{prompt}"},
        {"name: mine\nprogram: x\nargv: {full: [--, '{prompt}', '{promt}']}", "{promt}"},
        {"name: mine\nprogram: x\nargv: {full: ['{effort_args}', --, '{prompt}']}", "effort.args"},
        {"name: mine\nprogram: x\nargv: {full: ['a{effort_args}', --, '{prompt}']}", "{effort_args}"},
        {"name: mine\nprogram: x\nargv: {full: ['{effort}', --, '{prompt}']}", "effort.args"},
        {"name: mine\nprogram: x\nargv: {full: [--, '{prompt}']}\neffort: {args: [-e, '{effort}']}", "{effort_args}"},
        {"name: mine\nprogram: x\nargv: {full: ['{effort_args}', --, '{prompt}'], review: [--, '{prompt}']}\n"
         "effort: {args: [-e, '{effort}']}",
         "argv.review"},
        {"name: mine\nprogram: x\nargv: {full: ['{effort_args}', --, '{prompt}']}\neffort: {args: [-e]}",
         "effort.args"},
        {"name: mine\nprogram: x\nargv: {full: [--, '{prompt}']}\neffort: {values: [a]}", "effort"},
        {"name: mine\nprogram: x\nargv: {full: ['{model_args}', --, '{prompt}']}", "model.args"},
        {"name: mine\nprogram: x\nargv: {full: ['a{model_args}', --, '{prompt}']}", "{model_args}"},
        {"name: mine\nprogram: x\nargv: {full: ['{model}', --, '{prompt}']}", "model.args"},
        {"name: mine\nprogram: x\nargv: {full: [--, '{prompt}']}\nmodel: {args: [-m, '{model}']}", "{model_args}"},
        {"name: mine\nprogram: x\nargv: {full: ['{model_args}', --, '{prompt}']}\nmodel: {args: [-m]}", "model.args"},
        {"name: mine\nprogram: x\nargv: {full: [--, '{prompt}']}\nmodel: {values: [a]}", "model.args"},
        {"name: mine\nprogram: x\nargv: {full: [--, '{prompt}']}\nenv: {M: '{model}'}", "model.args"},
        {"name: mine\nprogram: x\nargv: {full: [--, '{prompt}']}\nmode: forever", "mode"},
        {"name: mine\nprogram: x\nargv: {full: [--, '{prompt}']}\ntried: perhaps", "tried"},
        {"name: mine\nprogram: x\nargv: {full: [--, '{prompt}']}\nready_after: 4", "ready_after"},
        {"name: mine\nprogram: x\nargv: {full: [--, '{prompt}']}\nready_after: 90s", "ready_after"},
        {"name: mine\nprogram: x\nargv: {full: [--, '{prompt}']}\nenv: {ORANGE_ROLE: human}", "ORANGE_ROLE"},
        {"name: mine\nprogram: x\nargv: {full: [--, '{prompt}']}\nenv: {'A B': x}", "\"A B\""},
        {"name: mine\nprogram: x\nargv: {full: [--, '{prompt}']}\nexclude: x", "exclude"},
        {"name: mine\nprogram: x\nargv: {full: [--, [a], '{prompt}']}", "argv.full"},
        {"name: mine\nprogram: ''\nargv: {full: [--, '{prompt}']}", "program"},
        {"name: mine\nprogram: x\nargv: {full: ['{trust_args}', --, '{prompt}']}", "trust.args"},
        {"name: mine\nprogram: x\nargv: {full: [--, 'a{trust_args}', '{prompt}']}", "{trust_args}"},
        {"name: mine\nprogram: x\nargv: {full: [--, '{prompt}']}\ntrust: {args: [-t]}", "{trust_args}"},
        {"name: mine\nprogram: x\nargv: {full: [--, '{prompt}']}\ntrust: {file: /f}", "key"},
        {"name: mine\nprogram: x\nargv: {full: [--, '{prompt}']}\ntrust: {file: f, key: [a]}", "trust.file"},
        {"name: mine\nprogram: x\nargv: {full: [--, '{prompt}']}\ntrust: [a]", "trust"},
        {"name: mine\nprogram: x\nargv: {full: [--, '{prompt}']}\nneeds: [node]", "needs"},
        {"name: mine\nprogram: x\nargv: {full: [--, '{prompt}']}\nneeds: {/bin/node: '22'}", "/bin/node"},
        {"name: mine\nprogram: x\nargv: {full: [--, '{prompt}']}\nmeasured: []", "measured"},
        {"name: mine\nprogram: x\nargv: {full: [--, '{prompt}']}\nno_login: {note: x}", "no_login"},
        {"name: mine\nprogram: x\nargv: {full: [--, '{prompt}']}\nno_login: {files: [x], note: x}", "no_login.files"},
    };
    for (const auto& row : rows) {
        INFO(row.text);
        CHECK_THAT(error_of(row.text), Tells(row.names));
    }
}

TEST_CASE("a prompt that could be taken for an option is refused on load") {
    for (const char* bad : {"['{prompt}']", "[--prompt, '{prompt}']", "['-{prompt}']", "['--p{prompt}']",
                            "['{worktree}{prompt}']", "['{prompt}', --]", "['{summary}', --, '{prompt}']"}) {
        INFO(bad);
        CHECK_THAT(error_of(k_head + "argv: {full: " + bad + "}"), Tells("\"--\""));
    }
    for (const char* good : {"[--, '{prompt}']", "['--prompt={prompt}']", "['Task: {prompt}']", "[' {prompt}']",
                             "[--, x, '{summary}', '{prompt}']"}) {
        INFO(good);
        CHECK(error_of(k_head + "argv: {full: " + good + "}") == "no error");
    }
}

TEST_CASE("placeholders are filled once and inside their argument") {
    const auto harness = loaded(k_head + "argv: {full: ['--dir={worktree}:{task_dir}', '{\"a\":1}', --, '{prompt}']}");
    const auto hostile = std::string("--settings=x $(id) `id` \"'\\ {worktree}\n{prompt}");
    const auto made = launch(harness, "/bin/mine", request("full", hostile));
    REQUIRE(made);
    CHECK(made->argv == Argv{"/bin/mine", "--dir=/ws/a--1:/tasks/x", "{\"a\":1}", "--", hostile});
}

TEST_CASE("permissions fall back to the next wider ones") {
    const auto harness = loaded(k_head + "argv: {full: [F, --, '{prompt}'], reduced: [R, --, '{prompt}']}");
    CHECK(launch(harness, "/m", request("full", "p"))->argv[1] == "F");
    CHECK(launch(harness, "/m", request("reduced", "p"))->argv[1] == "R");
    CHECK(launch(harness, "/m", request("review", "p"))->argv[1] == "R");
    CHECK(launch(harness, "/m", request("all", "p")).error().code == ErrorCode::invalid_argument);
}

TEST_CASE("what makes a program trust a repository is given with the human's consent alone") {
    const auto harness = loaded(k_head +
                                "argv: {full: ['{trust_args}', --, '{prompt}'], review: [--, '{prompt}']}\n"
                                "trust: {args: [-t, 'in={repo_json}']}");
    auto asked = request("full", "p");
    asked.repo = "/r\"q";
    CHECK(launch(harness, "/m", asked)->argv == Argv{"/m", "--", "p"});
    asked.trusted = true;
    CHECK(launch(harness, "/m", asked)->argv == Argv{"/m", "-t", "in=/r\\\"q", "--", "p"});
    asked.permissions = "review";
    CHECK(launch(harness, "/m", asked)->argv == Argv{"/m", "--", "p"});
}

TEST_CASE("an effort is passed, left out, or refused") {
    const auto harness = loaded(k_head +
                                "argv: {full: ['{effort_args}', --, '{prompt}']}\n"
                                "effort: {args: [-e, '{effort}'], values: [low, high]}\nenv: {E: 'v={effort}', F: f}");
    auto asked = request("full", "p");
    CHECK(launch(harness, "/m", asked)->argv == Argv{"/m", "--", "p"});
    CHECK(launch(harness, "/m", asked)->env == std::map<std::string, std::string>{{"F", "f"}});
    asked.effort = "low";
    CHECK(launch(harness, "/m", asked)->argv == Argv{"/m", "-e", "low", "--", "p"});
    CHECK(launch(harness, "/m", asked)->env.at("E") == "v=low");
    asked.effort = "max";
    CHECK_THAT(launch(harness, "/m", asked).error().message, Tells("low, high"));

    auto any = harness;
    any.effort_values.clear();
    for (const char* bad : {"", "--yes", "two words", "tab\t"}) {
        asked.effort = bad;
        CHECK(launch(any, "/m", asked).error().code == ErrorCode::invalid_argument);
    }
    const auto without = loaded(k_head + "argv: {full: [--, '{prompt}']}");
    asked.effort = "low";
    CHECK_THAT(launch(without, "/m", asked).error().message, Tells("mine"));
}

TEST_CASE("a model is passed as it is named, left out, or refused by a harness that cannot pass one") {
    const auto harness = loaded(k_head +
                                "argv: {full: ['{model_args}', --, '{prompt}']}\n"
                                "model: {args: [-m, 'x/{model}'], values: [small, large]}");
    auto asked = request("full", "p");
    CHECK(launch(harness, "/m", asked)->argv == Argv{"/m", "--", "p"});
    asked.model = "small";
    CHECK(launch(harness, "/m", asked)->argv == Argv{"/m", "-m", "x/small", "--", "p"});
    CHECK(model_note(harness, "small").empty());
    asked.model = "of-tomorrow";  // the values are no limit
    CHECK(launch(harness, "/m", asked)->argv == Argv{"/m", "-m", "x/of-tomorrow", "--", "p"});
    CHECK_THAT(model_note(harness, "of-tomorrow"), Tells("small, large"));
    for (const char* bad : {"", "--yes", "two words", "tab\t"}) {
        asked.model = bad;
        CHECK(launch(harness, "/m", asked).error().code == ErrorCode::invalid_argument);
    }
    const auto without = loaded(k_head + "argv: {full: [--, '{prompt}']}");
    asked.model = "small";
    CHECK_THAT(launch(without, "/m", asked).error().message, Tells("mine") && Tells("small"));
}

TEST_CASE("what the system cannot carry is refused before anything is started") {
    const auto harness = loaded(k_head + "install_hint: buy it\nargv: {full: [--, '{prompt}']}");
    CHECK(launch(harness, "/m", request("full", std::string("a\0b", 3))).error().code == ErrorCode::invalid_argument);
    CHECK(launch(harness, "/m", request("full", std::string(131'071, 'x'))));
    CHECK_FALSE(launch(harness, "/m", request("full", std::string(131'072, 'x'))));
    const auto missing = launch(harness, "", request("full", "p"));
    CHECK(missing.error().code == ErrorCode::not_found);
    CHECK_THAT(missing.error().message, Tells("mine") && Holds("buy it"));
}

TEST_CASE("the shipped claude asks for nothing, and keeps the prompt behind its options") {
    const auto claude = shipped("claude");
    auto asked = request("full", "-- do it");
    asked.effort = "high";
    auto full = launch(claude, "/bin/claude", asked)->argv;
    const auto given = std::find(full.begin(), full.end(), "--settings");
    REQUIRE(given != full.end());
    CHECK(Json::parse(given[1]).at("skipDangerousModePermissionPrompt") == true);
    CHECK(Json::parse(given[1]).at("hooks").contains("Stop"));
    full.erase(given, given + 2);
    CHECK(full == Argv{"/bin/claude", "--dangerously-skip-permissions", "--disallowedTools", "AskUserQuestion",
                       "--effort", "high", "--", "[orange] -- do it"});
    for (const char* permissions : {"reduced", "review"}) {
        const auto argv = launch(claude, "/bin/claude", request(permissions, "p"))->argv;
        CHECK(std::find(argv.begin(), argv.end(), "--dangerously-skip-permissions") == argv.end());
        const bool all = std::string_view(permissions) == "reduced";
        CHECK((std::find(argv.begin(), argv.end(), "Bash(orange *)") != argv.end()) == all);
        CHECK((std::find(argv.begin(), argv.end(), "Bash(orange task update *)") != argv.end()) == !all);
        const auto settings = std::find(argv.begin(), argv.end(), "--settings");
        REQUIRE(settings != argv.end());
        CHECK(Json::parse(settings[1]).at("permissions").at("additionalDirectories") == Json{"/tasks/x"});
        CHECK(argv[argv.size() - 2] == "--");
    }
    CHECK(claude.mode == Mode::persistent);
}

TEST_CASE("a program that refuses root is not started into its refusal, and Orange does not vouch for a sandbox") {
    const auto claude = shipped("claude");
    CHECK(check_root(claude, "full", {}, true).error().code == ErrorCode::forbidden);
    CHECK(check_root(claude, "full", {{"IS_SANDBOX", "1"}}, true));
    CHECK_FALSE(check_root(claude, "full", {{"IS_SANDBOX", "yes"}}, true));
    CHECK(check_root(claude, "full", {}, false));
    CHECK(check_root(claude, "review", {}, true));
    CHECK(check_root(shipped("demo"), "full", {}, true));
    CHECK_FALSE(claude.env.contains("IS_SANDBOX"));
}

TEST_CASE("a reviewer may run exactly the project's checks") {
    LaunchRequest request;
    request.permissions = "review";
    request.prompt = "look";
    request.task_file = ".orange/TASK.md";
    request.checks = {"make test", "sh -c \"a b\""};
    const auto argv_of = [&](const char* name) { return launch(shipped(name), "/bin/x", request).value(); };
    const auto claude = argv_of("claude").argv;
    const auto has = [&](const std::string& word) {
        return std::find(claude.begin(), claude.end(), word) != claude.end();
    };
    CHECK(has("dontAsk"));
    CHECK(has("Bash(make test)"));
    CHECK(has("Bash(sh -c \"a b\")"));
    CHECK(has("Edit(/.orange/TASK.md)"));
    CHECK_FALSE(has("Bash(git *)"));
    const auto rules = Json::parse(argv_of("opencode").env.at("OPENCODE_PERMISSION"));
    CHECK(rules.at("*") == "deny");
    CHECK(rules.at("bash").at("make test") == "allow");
    CHECK(rules.at("bash").at("sh -c \"a b\" 2>&1") == "allow");
    CHECK(rules.at("edit").at(".orange/TASK.md") == "allow");
    CHECK(rules.at("bash").at("orange task update*") == "allow");
    CHECK_FALSE(rules.at("bash").contains("orange *"));
    request.checks.clear();
    CHECK(Json::parse(argv_of("opencode").env.at("OPENCODE_PERMISSION")).at("bash").at("*") == "deny");
    const auto without = argv_of("claude").argv;
    CHECK(std::none_of(without.begin(), without.end(), [](const auto& word) { return word.starts_with("Bash(make"); }));
}

TEST_CASE("a conversation is begun under a name that Orange chooses, or that the program does, and continued by it") {
    LaunchRequest request;
    request.permissions = "full";
    request.prompt = "go";
    request.task_dir = "/t";
    request.worktree = "/w";
    const auto argv_of = [&](const char* name) { return join(launch(shipped(name), "x", request).value().argv, " "); };
    CHECK(argv_of("codex").starts_with("x --no-daemon"));
    request.session = "0b1c";
    CHECK_THAT(argv_of("claude"), Holds(" --session-id 0b1c -- [orange] go"));
    request.talk_dir = "/t/run/talk";
    CHECK_THAT(argv_of("pi"), Holds("x -e /pi-events.ts --session /t/run/talk/0b1c.jsonl [orange] go"));
    CHECK(shipped("pi").keeps_talk());
    CHECK_FALSE(shipped("claude").keeps_talk());
    request.resume = true;
    CHECK_THAT(argv_of("claude"), Holds(" --resume 0b1c -- [orange] go"));
    CHECK_THAT(argv_of("codex"), Holds("x resume -C /w 0b1c --no-daemon") && Holds("-- [orange] go"));
    CHECK(argv_of("opencode") == "x --session 0b1c --auto --prompt=[orange] go");
}

TEST_CASE("a copy of a conversation is continued in another worktree by the programs that can do it") {
    LaunchRequest request;
    request.permissions = "full";
    request.prompt = "go";
    request.task_dir = "/t";
    request.worktree = "/w";
    request.talk_dir = "/t/run/talk";
    request.from = "0b1c";
    request.from_file = "/h/0b1c.jsonl";
    const auto argv_of = [&](const char* name) { return join(launch(shipped(name), "x", request).value().argv, " "); };
    CHECK_THAT(argv_of("codex"), Holds("x fork -C /w 0b1c --no-daemon") && Holds("-- [orange] go"));
    CHECK_THAT(argv_of("gemini"), Holds(" --session-file=/h/0b1c.jsonl "));
    request.session = "77aa";
    CHECK_THAT(argv_of("claude"), Holds(" --resume 0b1c --fork-session --session-id 77aa -- [orange] go"));
    CHECK_THAT(argv_of("pi"), Holds(" --session /t/run/talk/77aa.jsonl ") && !Holds("0b1c"));
    for (const char* name : {"claude", "codex", "gemini", "pi"}) {
        INFO(name);
        CHECK(shipped(name).session.can_fork());
        CHECK_FALSE(shipped(name).session.files.empty());
    }
    for (const char* name : {"opencode", "qwen", "copilot", "amp", "demo"}) {
        INFO(name);
        CHECK_FALSE(shipped(name).session.can_fork());
    }
    CHECK(shipped("claude").session.names_copy());
    CHECK_FALSE(shipped("codex").session.names_copy());
    CHECK(shipped("pi").session.forks_file());
    CHECK(shipped("gemini").session.forks_file());
    CHECK_FALSE(shipped("claude").session.forks_file());
}

TEST_CASE("the first line of a copied conversation has the values of the copy") {
    const auto copied =
        copied_conversation("{\"id\":\"a\",\"v\":3}\n{\"id\":\"a\"}\n", {{"id", "b"}, {"cwd", "/w"}}).value();
    const auto end = copied.find('\n');
    CHECK(Json::parse(copied.substr(0, end)) == Json({{"id", "b"}, {"v", 3}, {"cwd", "/w"}}));
    CHECK(copied.substr(end) == "\n{\"id\":\"a\"}\n");
    for (const char* wrong : {"", "{\"id\":\"a\"}", "[1]\n", "id\n"}) {
        INFO(wrong);
        CHECK_FALSE(copied_conversation(wrong, {{"id", "b"}}));
    }
}

TEST_CASE("lists that are given and not used, and conversations without a name, are found when a definition is read") {
    const std::string begin = "name: mine\nprogram: x\nargv: {full: [";
    const auto problem = [&](const std::string& rest) {
        const auto loaded = load_harness(begin + rest, "mine.yml");
        return loaded ? std::string() : loaded.error().message;
    };
    CHECK(problem("\"{session_args}\", --, \"{prompt}\"]}\nsession: {start: [-s, \"{session}\"], resume: [-r, "
                  "\"{session}\"]}")
              .empty());
    CHECK_THAT(problem("\"{session_args}\", --, \"{prompt}\"]}"), Holds("session_args"));
    CHECK_THAT(problem("--, \"{prompt}\"]}\nsession: {start: [-s, \"{session}\"], resume: [-r, \"{session}\"]}"),
               Holds("session_args"));
    CHECK_THAT(problem("\"{session_args}\", --, \"{prompt}\"]}\nsession: {resume: [-r, \"{session}\"]}"),
               Tells("start") && Tells("variable") && Tells("list"));
    CHECK_THAT(problem("\"{session_args}\", --, \"{prompt}\"]}\nsession: {start: [-s], resume: [-r, \"{session}\"]}"),
               Holds("{session}"));
    const auto fork_problem = [&](const std::string& more, const std::string& source = "start: [-s, '{session}']") {
        return problem("'{session_args}', --, '{prompt}']}\nconfig_binds: [~/.mine/talks]\nsession: {" + source +
                       ", resume: [-r, '{session}'], " + more + "}");
    };
    CHECK(fork_problem("fork: [-f, '{from}', '{session}']").empty());
    CHECK(fork_problem("fork: [-f, '{from_file}']", "variable: ID").empty());
    CHECK(fork_problem("file: '{talk_dir}/{session}', copy: {id: '{session}'}, files: ['~/.mine/talks/{session}']")
              .empty());
    CHECK_THAT(fork_problem("fork: [-f]"), Holds("{from}"));
    CHECK_THAT(fork_problem("fork: ['{from}', '{session}']", "variable: ID"), Holds("session.start"));
    CHECK_THAT(fork_problem("fork: ['{from}'], file: x, copy: {id: a}"), Holds("fork and copy"));
    CHECK_THAT(fork_problem("copy: {id: a}"), Holds("session.file"));
    CHECK_THAT(fork_problem("fork: ['{from}'], files: ['~/.other/{session}']"), Tells("~/.other/{session}"));
    CHECK_THAT(fork_problem("fork: ['{from}'], files: ['~/.mine/talks/x']"), Tells("~/.mine/talks/x"));
    CHECK_THAT(fork_problem("fork: ['{from}'], files: x"), Holds("session.files"));
    CHECK_THAT(problem("--, \"{prompt}\"]}\nchecks: {args: [\"Bash({check})\"]}"), Holds("check_args"));
    CHECK_THAT(problem("--, \"{prompt}\"]}\ndelivery: mail"), Holds("inbox"));
    CHECK_THAT(problem("--, \"{prompt}\"]}\ndelivery: inbox"), Holds("events"));
    CHECK_THAT(problem("--, \"{prompt}\"]}\nprompt: {above: [x]}"), Holds("prompt.empty"));
    CHECK_THAT(problem("--, \"{prompt}\"]}\nprompt: {empty: [\"\"]}"), Holds("prompt.above"));
    CHECK_THAT(problem("--, \"{prompt}\"]}\nprompt: {empty: [x], below: [\" \"]}"), Holds("every line"));
    CHECK_THAT(problem("--, \"{prompt}\"]}\nprompt: {empty: [x]}\nscreen: {composer_empty: [x]}"),
               Holds("composer_empty"));
    CHECK_THAT(problem("--, \"{prompt}\"]}\nscreen: {composer_empty: [\" \"]}"), Holds("around"));
    CHECK_THAT(problem("--, \"{prompt}\"]}\nscreen: {otherwise: busy}"), Holds("idle"));
    CHECK_THAT(problem("--, \"{prompt}\"]}\nidle_after: soon"), Holds("idle_after"));
}

TEST_CASE("how a program asks is read, and replaces its events where its human answers in the inbox") {
    const std::string begin =
        "name: mine\nprogram: x\nargv: {full: ['{event_args}', --, '{prompt}']}\n"
        "events: {args: [-e, '{events}'], busy: [a], idle: [b], question: [q]}\n";
    const std::string permits =
        "permits:\n  args: [-p, '{events}']\n  tool: tool_name\n  input: tool_input\n  done: [After, Failed]\n"
        "  allow: '{\"behavior\": \"allow\"}'\n  deny: '{\"behavior\": \"deny\", \"message\": {message}}'\n";
    const auto harness = load_harness(begin + permits + "  deadline: 40m\n", "mine.yml").value();
    CHECK(harness.permits.are_asked());
    CHECK(harness.permits.args == Argv{"-p", "{events}"});
    CHECK(harness.permits.tool == "tool_name");
    CHECK(harness.permits.input == "tool_input");
    CHECK(harness.permits.done == Argv{"After", "Failed"});
    CHECK(harness.permits.allow == R"({"behavior": "allow"})");
    CHECK_THAT(harness.permits.deny, Holds("{message}"));
    CHECK(harness.permits.deadline == std::chrono::minutes(40));
    CHECK(load_harness(begin + permits, "mine.yml")->permits.deadline == std::chrono::minutes(55));
    CHECK_FALSE(load_harness(begin, "mine.yml")->permits.are_asked());

    auto asked = request("full", "p");
    asked.events = "/r/e";
    CHECK(launch(harness, "/m", asked)->argv == Argv{"/m", "-e", "/r/e", "--", "p"});
    asked.permits_in_inbox = true;
    CHECK(launch(harness, "/m", asked)->argv == Argv{"/m", "-p", "/r/e", "--", "p"});
    auto both = harness;
    both.permits.args.clear();  // its hook is in the rules of its events
    CHECK(launch(both, "/m", asked)->argv == Argv{"/m", "-e", "/r/e", "--", "p"});
}

TEST_CASE("what is wrong with how a program asks is said with the line") {
    const std::string begin = "name: mine\nprogram: x\nargv: {full: [--, '{prompt}']}\n";
    const auto problem = [&](const std::string& rest) {
        const auto loaded = load_harness(begin + rest, "mine.yml");
        return loaded ? std::string() : loaded.error().message;
    };
    const std::string events = "events: {busy: [a], idle: [b], question: [q]}\n";
    const std::string good = "tool: t, input: i, done: [d], allow: '{}', deny: '{\"m\": {message}}'";
    CHECK(problem(events + "permits: {" + good + "}").empty());
    CHECK_THAT(problem(events + "permits: yes"), Holds("mine.yml:5:") && Holds("permits"));
    CHECK_THAT(problem(events + "permits: {allow: '{}'}"),
               Holds("permits.tool") && Holds("permits.input") && Holds("permits.deny"));
    CHECK_THAT(problem("permits: {" + good + "}"), Holds("events"));
    CHECK_THAT(problem("events: {busy: [a], idle: [b]}\npermits: {" + good + "}"), Holds("events.question"));
    CHECK_THAT(problem(events + "permits: {tool: t, input: i, allow: '{}', deny: '{}'}"), Holds("permits.done"));
    CHECK_THAT(problem(events + "permits: {" + good + ", args: [x]}"), Holds("events.args"));
    CHECK_THAT(problem(events + "permits: {tool: t, input: i, deny: '{}', allow: yes please}"),
               Holds("permits.allow") && Holds("JSON"));
    CHECK_THAT(problem(events + "permits: {tool: t, input: i, deny: '{}', allow: '{\"m\": {message}}'}"),
               Holds("permits.allow"));
    CHECK_THAT(problem(events + "permits: {tool: t, input: i, allow: '{}', deny: '{\"m\": \"{message}\"}'}"),
               Holds("permits.deny") && Holds("{message}"));
    for (const char* bad : {"soon", "0m", "1441m", "55", "-5m"}) {
        CAPTURE(bad);
        CHECK_THAT(problem(events + "permits: {" + good + ", deadline: " + bad + "}"), Holds("55m"));
    }
    CHECK_THAT(problem(events + "permits: {" + good + ", hook: x}"), Holds("hook"));
}

TEST_CASE("what an agent may not write is in nothing that it may write") {
    const auto load = [](const std::string& reads) {
        return load_harness(
            "name: mine\nprogram: mine\nargv: {full: [--, \"{prompt}\"]}\nconfig_binds: [~/.mine/state]\n"
            "config_reads: [" +
                reads + "]\n",
            "mine.yml");
    };
    CHECK(load("~/.mine/*, ~/.mine/stated")->config_reads.size() == 2);
    const auto refused = load("~/.mine/hooks, ~/.mine/state/bin");
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Tells("~/.mine/state/bin") && Tells("config_binds"));
}

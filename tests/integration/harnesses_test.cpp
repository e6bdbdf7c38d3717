// The shipped definitions of real agents with stand-ins in the place of their programs (tests/data/stand-ins), in real
// tmux windows: how a prompt gets there, and what is typed when.
#include <stdlib.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "common/base/text.hpp"
#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

using namespace orange;
using namespace orange::tests;
namespace fs = std::filesystem;

namespace {

const fs::path k_stand_ins = fs::path(ORANGE_SOURCE_DIR) / "tests" / "data" / "stand-ins";

/// The shipped definition with another program, and what the stand-in needs in its environment.
void put_in_place(Sandbox& box, const std::string& name) {
    auto text = read_file(fs::path(ORANGE_SOURCE_DIR) / "harnesses" / (name + ".yml"));
    const auto line = "program: " + name + "\n";
    const auto at = text.find(line);
    if (at == std::string::npos) box.fail("the shipped " + name + " has no line " + line);
    text.replace(at, line.size(), "program: " + (k_stand_ins / name).string() + "\n");
    fs::create_directories(box.home() / "harnesses");
    write_file(box.home() / "harnesses" / (name + ".yml"), text);
}

std::string config(const fs::path& record) {
    return "env: {STAND_IN: \"" + record.string() + "\", IS_SANDBOX: \"1\"}\n";
}

struct Record {
    Record() {
        auto name = (fs::temp_directory_path() / "orange-stand-in-XXXXXX").string();
        if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
        path = name;
    }
    ~Record() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
    std::string text(const std::string& file) const { return fs::exists(path / file) ? read_file(path / file) : ""; }
    fs::path path;
};

std::string start(Sandbox& box, const std::string& harness, const std::string& summary) {
    rpc::TaskCreate params;
    params.summary = summary;
    params.project = "shop";
    params.harness = harness;
    params.review_harness = harness;
    if (harness == "gemini") params.trust = {harness};  // without consent it never starts
    return box.call(params).task.fields.id.value;
}

void send(Sandbox& box, const std::string& id, const std::string& text) {
    rpc::TaskSend params;
    params.id = id;
    params.text = text;
    box.call(params);
}

/// A task of that program in a sandbox of its own. Several of them work at the same time.
struct Played {
    Played(const std::string& program, const std::string& summary, const std::string& dialog = {}) : name(program) {
        if (!dialog.empty()) write_file(record.path / "dialog", dialog);
        put_in_place(box, name);
        box.add_project("shop");
        id = start(box, name, summary);
    }
    std::string name;
    Record record;
    Sandbox box{config(record.path)};
    std::string id;
};

}  // namespace

TEST_CASE("each agent gets its prompt in its own way, and a message when it is ready") {
    const std::string summary = "!touch $(id) `id` \"'\\ #(id) {worktree} ;";
    std::deque<Played> all;
    for (const std::string name : {"claude", "codex", "opencode", "pi", "gemini", "qwen", "copilot"}) {
        all.emplace_back(name, summary);
    }
    for (auto& each : all) {
        INFO(each.name);
        each.box.eventually("it is ready", [&] { return fs::exists(each.record.path / "ready"); });
        const auto prompt = each.record.text("prompt");
        CHECK(prompt.starts_with("[orange] "));
        CHECK_THAT(prompt, Holds(summary));
        CHECK_FALSE(fs::exists(each.record.path / "executed"));
        send(each.box, each.id, "!id @file");
    }
    for (auto& each : all) {
        INFO(each.name);
        each.box.eventually("the message arrives",
                            [&] { return each.record.text("lines") == "[orange] The human says: !id @file .\n"; });
        rpc::TaskShow show;
        show.id = each.id;
        const std::string source = each.name == "gemini" ? "title" : "events";
        each.box.eventually("it is idle, and what says so is known", [&] {
            const auto activity = each.box.call(show).task.worker_activity;
            return activity && activity->activity == Activity::idle && activity->source == source;
        });
    }
}

TEST_CASE("a program that ends after each turn gets its prompt") {
    const Record record;
    Sandbox box(config(record.path));
    put_in_place(box, "amp");
    box.add_project("shop");
    start(box, "amp", "--help");
    box.eventually("it has started", [&] { return fs::exists(record.path / "ready"); });
    CHECK_THAT(record.text("prompt"), Holds("--help"));
    CHECK(record.text("prompt").starts_with("[orange] "));
}

TEST_CASE("a program that shows its login instead of working is limited, and its human is told") {
    struct Row {
        const char* name;
        const char* screen;
    };
    for (const auto& row : {Row{"gemini", "Terms of Services and Privacy Notice for Gemini CLI\n"},
                            Row{"qwen", "Terms of Services and Privacy Notice:\n"},
                            Row{"copilot", "Please use /login to sign in to use Copilot\n"}}) {
        INFO(row.name);
        const Record record;
        write_file(record.path / "dialog", row.screen);
        Sandbox box(config(record.path));
        put_in_place(box, row.name);
        // Without its title: the stand-in's says that a question is open.
        const auto file = box.home() / "harnesses" / (std::string(row.name) + ".yml");
        auto text = read_file(file);
        if (const auto at = text.find("  waiting: [✋]\n"); at != std::string::npos) {
            text.erase(at, std::string_view("  waiting: [✋]\n").size());
            write_file(file, text);
        }
        box.add_project("shop");
        const auto id = start(box, row.name, "log in");
        rpc::TaskShow show;
        show.id = id;
        box.eventually("it is limited", [&] {
            const auto task = box.call(show).task;
            return task.worker_activity && task.worker_activity->activity == Activity::limited;
        });
        CHECK(box.call(show).task.needs.command.about == id);
    }
}

TEST_CASE("an agent whose question cannot be answered in its window is not started without consent") {
    const Record record;
    Sandbox box(config(record.path));
    put_in_place(box, "gemini");
    const auto repo = box.add_project("shop");
    const auto run = [&] {
        return box.orange({"task", "create", "Round the sum", "--project", "shop", "--harness", "gemini",
                           "--review-harness", "gemini", "--json"});
    };
    CHECK(run().status != 0);
    CHECK(box.on_terminal("orange run --harness gemini --review-harness gemini 'Round it'", repo, {"n"}).status != 0);
    CHECK(box.call(rpc::TaskList{}).tasks.empty());
    CHECK_FALSE(fs::exists(record.path / "argv"));
    CHECK(box.orange({"harness", "trust", "gemini", "--project", "shop", "--yes"}).status == 0);
    CHECK(run().status == 0);
    box.eventually("it starts", [&] { return fs::exists(record.path / "argv"); });
    CHECK_THAT(record.text("argv"), Holds("--skip-trust"));
}

TEST_CASE("a program that works without a login, in its own way, is told of until there is one") {
    const Record record;
    Sandbox box(config(record.path));
    put_in_place(box, "opencode");
    const auto file = box.home() / "harnesses" / "opencode.yml";
    const auto login = record.path / "auth.json";
    auto text = read_file(file);
    text.erase(text.find("no_login:"), text.find("ready_after:") - text.find("no_login:"));
    write_file(file, text + "no_login: {files: [" + login.string() + "], note: \"see https://example.org/login\"}\n");
    box.add_project("shop");
    rpc::TaskCreate params;
    params.summary = "Round the sum";
    params.project = "shop";
    params.harness = params.review_harness = "opencode";
    const auto is_told = [&] {
        const auto notes = box.call(params).notes;
        return std::count(notes.begin(), notes.end(), "see https://example.org/login") == 1;
    };
    CHECK(is_told());
    write_file(login, "{}");
    CHECK_FALSE(is_told());
}

TEST_CASE("a saved screen is explained by a definition, and an agent's by its own") {
    const Record record;
    write_file(record.path / "dialog", "△ Permission required\n");
    Sandbox box(config(record.path));
    put_in_place(box, "opencode");
    box.add_project("shop");
    const auto id = start(box, "opencode", "Round the sum");
    box.eventually("it asks", [&] { return fs::exists(record.path / "asking"); });
    const auto saved = record.path / "screen.txt";
    const auto explain = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"harness", "explain"});
        words.emplace_back("--json");
        const auto done = box.orange(words);
        INFO(done.err);
        REQUIRE(done.status == 0);
        return Json::parse(done.out);
    };
    const auto decides = [](const Json& reply) {
        std::vector<std::string> keys;
        for (const auto& text : reply.at("texts")) {
            if (text.at("decides").get<bool>()) keys.push_back(text.at("key").get<std::string>());
        }
        return keys;
    };
    box.eventually("its question is seen", [&] { return explain({id}).at("reading").at("activity") == "waiting"; });
    const auto living = explain({id, "--save", saved.string()});
    CHECK(decides(living) == std::vector<std::string>{"screen.waiting"});
    const auto again = explain({saved.string(), "--harness", "opencode"});
    CHECK(again.at("texts") == living.at("texts"));
    CHECK(again.at("title") == living.at("title"));

    const auto file = box.home() / "harnesses" / "opencode.yml";
    auto text = read_file(file);
    text.replace(text.find("Permission required"), 10, "Permit");
    write_file(file, text);
    CHECK(explain({saved.string(), "--harness", "opencode"}).at("reading").at("activity") == "idle");
    for (const auto& name : {std::string("nowhere.txt"), box.root().string(), std::string()}) {
        INFO(name);
        const auto refused = box.orange({"harness", "explain", name, "--harness", "opencode", "--json"});
        CHECK(refused.status == 1);
        CHECK(Json::parse(refused.out).contains("error"));
    }
    const auto kept = read_file(saved);
    const auto replace = box.orange({"harness", "explain", id, "--save", saved.string(), "--json"});
    CHECK(Json::parse(replace.out).at("error").at("data").at("name") == "conflict");
    CHECK(read_file(saved) == kept);
}

TEST_CASE("what nobody has tried yet is named as such") {
    Sandbox box;
    fs::create_directories(box.home() / "harnesses");
    write_file(box.home() / "harnesses" / "mine.yml",
               "name: mine\nprogram: /bin/cat\ntried: false\n"
               "argv: {full: [--, \"{prompt}\"]}\n");
    box.add_project("shop");
    rpc::TaskCreate create;
    create.summary = "Add it";
    create.project = "shop";
    create.no_spawn = true;
    const auto notes_with = [&](const std::string& harness) {
        create.harness = create.review_harness = harness;
        const auto notes = box.call(create).notes;
        return std::count_if(notes.begin(), notes.end(),
                             [](const std::string& note) { return note.find("mine") != std::string::npos; });
    };
    CHECK(notes_with("demo") == 0);
    CHECK(notes_with("mine") == 1);
    std::set<std::string> tried;
    for (const auto& harness : box.call(rpc::HarnessList{}).harnesses) {
        if (harness.tried) tried.insert(harness.name);
    }
    CHECK(tried == std::set<std::string>{"claude", "codex", "demo", "gemini", "opencode", "pi", "qwen"});
}

TEST_CASE("nothing is typed into a dialog, and somebody is told") {
    struct Row {
        const char* name;
        const char* dialog;
    };
    std::deque<Played> all;
    for (const auto& row :
         {Row{"claude", "Do you want to proceed?\n"}, Row{"codex", "(only the title says so)\n"},
          Row{"opencode", "△ Permission required\n"}, Row{"gemini", "(only the title says so)\n"},
          Row{"qwen", "Waiting for user confirmation...\n"}, Row{"copilot", "Do you want to run this command?\n"}}) {
        all.emplace_back(row.name, "ask me", row.dialog);
    }
    for (auto& each : all) {
        INFO(each.name);
        each.box.eventually("it asks", [&] { return fs::exists(each.record.path / "asking"); });
        send(each.box, each.id, "y");
    }
    for (auto& each : all) {
        INFO(each.name);
        each.box.eventually("attention", [&] {
            const auto fields = each.box.fields(each.id);
            return fields.contains("attention") && fields.at("attention").is_string();
        });
        rpc::TaskShow show;
        show.id = each.id;
        CHECK(each.box.call(show).task.needs.command == task_command("attach", each.id));
        CHECK_FALSE(fs::exists(each.record.path / "answer"));
        const auto pane = each.box.run_of(each.id, "worker").at("pane_id").get<std::string>();
        each.box.tmux({"send-keys", "-t", pane, "1", "Enter"});
    }
    for (auto& each : all) {
        INFO(each.name);
        each.box.eventually("the message arrives after the answer",
                            [&] { return each.record.text("lines") == "[orange] The human says: y.\n"; });
        CHECK(each.record.text("answer") == "1\n");
    }
}

TEST_CASE("a dialog is seen long before the poll, and no longer when it is answered") {
    for (const std::string name : {"claude", "codex", "opencode"}) {
        INFO(name);
        const Record record;
        write_file(record.path / "dialog", name == "claude" ? "Do you want to proceed?\n" : "△ Permission required\n");
        Sandbox box(config(record.path) + "poll_interval: 600\n");
        put_in_place(box, name);
        box.add_project("shop");
        const auto id = start(box, name, "ask me");
        rpc::TaskShow show;
        show.id = id;
        const auto activity = [&] {
            const auto task = box.call(show).task;
            return task.worker_activity ? name_text(task.worker_activity->activity) : std::string();
        };
        box.eventually("it asks", [&] { return fs::exists(record.path / "asking"); });
        box.eventually("it is seen",
                       [&] { return activity() == "waiting" && box.call(show).task.needs.kind == Need::answer; });
        const auto list = box.orange({"task", "list"}).out;
        CHECK_THAT(list, Holds("waiting"));

        const auto pane = box.run_of(id, "worker").at("pane_id").get<std::string>();
        box.tmux({"send-keys", "-t", pane, "1", "Enter"});
        box.eventually("it is over", [&] {
            const auto task = box.call(show).task;
            return activity() != "waiting" && task.needs.kind == Need::nothing && task.notices.empty();
        });
    }
}

TEST_CASE("consent is asked for, kept with the project, and given to the program from then on") {
    const Record record;
    Sandbox box(config(record.path));
    put_in_place(box, "codex");
    const auto repo = box.add_project("shop");
    const auto told = [&](const std::string& id) {
        // An agent starts when the one before it is ready.
        box.eventually("its agent runs", [&] { return !box.run_of(id, "worker").is_null(); });
        const auto run = box.run_of(id, "worker").at("run").get<std::string>();
        const auto argv = Json::parse(read_file(box.folder(id) / "run" / (run + ".json"))).at("argv");
        return std::count(argv.begin(), argv.end(),
                          Json("projects={\"" + repo.string() + "\"={trust_level=\"trusted\"}}"));
    };
    CHECK_THAT(box.orange({"harness", "list", "--project", "shop"}).out, Tells("missing"));
    CHECK(told(start(box, "codex", "before")) == 0);
    const auto asked = box.orange({"harness", "trust", "codex", "--project", "shop"});
    CHECK(asked.status == 1);
    CHECK_THAT(asked.out, Tells("trust_level"));
    CHECK_THAT(asked.err, Tells("--yes"));
    CHECK_THAT(read_file(box.home() / "projects.json"), !Holds("trusted"));

    CHECK(box.orange({"harness", "trust", "codex", "--yes"}, repo).status == 0);
    CHECK(Json::parse(read_file(box.home() / "projects.json")).at(0).at("trusted") == Json{"codex"});
    CHECK(Json::parse(box.orange({"project", "list", "--json"}).out).at("projects").at(0).at("trusted") ==
          Json{"codex"});
    CHECK(box.orange({"harness", "trust", "codex", repo.string(), "--yes"}).status == 0);
    CHECK_THAT(box.orange({"harness", "trust", "codex", "--project", "shop"}).out, Tells("already"));
    CHECK(told(start(box, "codex", "after")) == 1);
    rpc::HarnessList list;
    list.project = "shop";
    for (const auto& harness : box.call(list).harnesses) {
        if (harness.name == "codex") CHECK(harness.trusted == true);
    }
    const auto unregistered = box.make_repository("other");
    const auto refused = box.orange({"harness", "trust", "codex", unregistered.string(), "--yes"});
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, Tells("orange project add"));
}

TEST_CASE("a program that looks into its own file is left to the human, who is told what belongs there") {
    const Record record;
    Sandbox box("env: {HOME: \"" + record.path.string() + "\", IS_SANDBOX: \"1\"}\n");
    put_in_place(box, "claude");
    const auto repo = box.add_project("shop");
    const auto before = box.orange({"harness", "trust", "claude", "--yes", "--json"}, repo);
    CHECK(before.status == 1);
    CHECK_FALSE(fs::exists(record.path / ".claude.json"));
    const auto reply = Json::parse(before.out);
    CHECK(reply.at("trusted") == false);
    CHECK(reply.at("file") == (record.path / ".claude.json").string());
    const auto shown_lines = box.orange({"harness", "trust", "claude", "--project", "shop"});
    CHECK(shown_lines.status == 1);
    CHECK_THAT(shown_lines.out, Tells("hasTrustDialogAccepted"));
    write_file(record.path / ".claude.json", reply.at("lines").get<std::string>());
    CHECK(box.orange({"harness", "trust", "claude", "--project", "shop"}).status == 0);
    CHECK_THAT(read_file(box.home() / "projects.json"), !Holds("trusted"));

    CHECK(box.orange({"harness", "trust", "opencode", "--project", "shop", "--yes"}).status == 1);
    CHECK(box.orange({"harness", "trust", "nobody", "--yes"}, repo).status == 1);
    CHECK(box.orange({"harness", "trust", "claude", "/", "--yes"}).status == 1);
    const auto shown = box.orange({"harness", "show", "codex"});
    CHECK(shown.status == 0);
    CHECK_THAT(shown.out, Tells("--no-daemon"));
    CHECK(box.orange({"harness", "show", "nobody"}).status == 1);
}

TEST_CASE("a task's permissions select its agents' arguments, and its creation says what it starts") {
    const Record record;
    Sandbox box("env: {HOME: \"" + record.path.string() + "\", STAND_IN: \"" + record.path.string() +
                "\", IS_SANDBOX: \"1\"}\n");
    put_in_place(box, "claude");
    box.add_project("shop");
    const auto create = [&](std::vector<std::string> more) {
        std::vector<std::string> words = {"task",   "create",     "--project",    "shop",
                                          "--json", "--harness",  "claude",       "--review-harness",
                                          "claude", "--no-spawn", "Round the sum"};
        words.insert(words.begin() + 2, more.begin(), more.end());
        const auto made = Json::parse(box.orange(words).out);
        return made.at("task").at("fields").at("id").get<std::string>();
    };
    const auto argv_of = [&](const std::string& id) {
        CHECK(box.orange({"task", "spawn", id}).status == 0);
        box.eventually("the login of the one before is over", [&] {
            const auto started = box.run_of(id, "worker");
            return !started.is_null() && started.at("pid") != 0;
        });
        const auto run = box.run_of(id, "worker").at("run").get<std::string>();
        const auto argv = Json::parse(read_file(box.folder(id) / "run" / (run + ".json"))).at("argv");
        return argv.get<std::vector<std::string>>();
    };
    const auto has = [](const std::vector<std::string>& argv, const std::string& word) {
        return std::find(argv.begin(), argv.end(), word) != argv.end();
    };
    const auto full = argv_of(create({}));
    CHECK(has(full, "--dangerously-skip-permissions"));
    const auto id = create({"--permissions", "reduced"});
    CHECK(box.fields(id).at("permissions") == "reduced");
    const auto reduced = argv_of(id);
    CHECK_FALSE(has(reduced, "--dangerously-skip-permissions"));
    CHECK(has(reduced, "acceptEdits"));

    CHECK(box.orange({"project", "update", "shop", "--pool-size", "4"}).status == 0);
    const auto said = box.orange(
        {"task", "create", "--project", "shop", "--harness", "claude", "--review-harness", "claude", "Round it"});
    CHECK(said.status == 0);
    CHECK_THAT(said.out, Tells("claude") && Holds("--dangerously-skip-permissions") && Holds("--permissions") &&
                             Tells("orange harness trust claude --project shop"));
    CHECK_THAT(said.out, Holds("shop--3") && Tells("1") && Tells("4"));
    const auto refused = box.orange({"task", "create", "--project", "shop", "--permissions", "some", "Round it"});
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, Tells("full") && Tells("reduced"));
}

TEST_CASE("on a terminal a person is asked for missing trust before the agent starts") {
    const Record record;
    Sandbox box(config(record.path));
    put_in_place(box, "codex");
    const auto repo = box.add_project("shop");
    const std::string command = "orange task create --harness codex --review-harness codex 'Round the sum'";
    CHECK(box.on_terminal(command, repo, {"n"}).status == 0);
    CHECK_THAT(read_file(box.home() / "projects.json"), !Holds("trusted"));
    CHECK(box.on_terminal(command, repo, {"y"}).status == 0);
    CHECK(Json::parse(read_file(box.home() / "projects.json")).at(0).at("trusted") == Json{"codex"});
    CHECK(box.call(rpc::TaskList{}).tasks.size() == 2);
    const auto third = box.on_terminal("orange run --harness codex 'Again'", repo, {});
    CHECK(third.status == 0);

    const auto other = box.make_repository("other");
    CHECK(box.on_terminal("orange run --harness codex --review-harness codex 'New'", other, {"y"}).status == 0);
    CHECK(Json::parse(read_file(box.home() / "projects.json")).at(1).at("trusted") == Json{"codex"});
}

TEST_CASE("a respawned agent continues its own conversation, a new one only if it is asked to or cannot") {
    const Record record;
    Sandbox box(config(record.path));
    put_in_place(box, "claude");
    box.add_project("shop");
    const auto id = start(box, "claude", "Round the sum");
    const auto word_after = [&](const std::string& option) {
        const auto text = record.text("argv");
        const auto argv = split(text, '\0');
        const auto at = std::find(argv.begin(), argv.end(), option);
        return at == argv.end() || at + 1 == argv.end() ? std::string() : std::string(*(at + 1));
    };
    const auto started = [&](std::size_t times) {
        box.eventually("it is ready", [&] {
            return fs::exists(record.path / "ready") &&
                   box.history(id, "agent.spawned").size() + box.history(id, "agent.respawned").size() == times;
        });
        fs::remove(record.path / "ready");
    };
    started(1);
    const auto first = word_after("--session-id");
    REQUIRE(first.size() == 36);
    CHECK(box.orange({"task", "restart", id}).status == 0);
    started(2);
    CHECK(word_after("--resume") == first);
    CHECK(word_after("--session-id").empty());
    CHECK(box.history(id, "agent.resumed").size() == 1);

    CHECK(box.orange({"task", "stop", id}).status == 0);
    CHECK(box.orange({"task", "respawn", id, "--fresh"}).status == 0);
    started(3);
    const auto second = word_after("--session-id");
    CHECK(second != first);
    CHECK(word_after("--resume").empty());

    // A conversation that is gone: once more, with a new one, and no crash is counted.
    write_file(record.path / "lost", "");
    CHECK(box.orange({"task", "restart", id}).status == 0);
    started(5);
    CHECK(word_after("--session-id") != second);
    CHECK(box.history(id, "agent.resume_failed").size() == 1);
    CHECK(box.history(id, "agent.crashed").empty());
    CHECK(box.fields(id).at("crash_count") == 0);
}

TEST_CASE("trust that is given restarts the agent that waits for it") {
    const Record record;
    write_file(record.path / "dialog", "Trust this folder?\n");
    Sandbox box(config(record.path));
    put_in_place(box, "codex");
    box.add_project("shop");
    const auto id = start(box, "codex", "Round the sum");
    box.eventually("it asks", [&] { return fs::exists(record.path / "asking"); });
    fs::remove(record.path / "dialog");
    const auto waiting = box.run_of(id, "worker").at("run");
    const auto said = box.orange({"harness", "trust", "codex", "--project", "shop", "--yes"});
    CHECK(said.status == 0);
    CHECK_THAT(said.out, Holds("restarted"));
    CHECK(box.run_of(id, "worker").at("run") != waiting);
    box.eventually("it is ready", [&] { return fs::exists(record.path / "ready"); });
    CHECK_THAT(record.text("argv"), Holds("trust_level"));
    CHECK_THAT(record.text("prompt"), Holds("Phase 1"));
    CHECK(box.history(id, "agent.crashed").empty());
    CHECK(box.run_of(id, "worker").at("prompt") == "worker");
}

TEST_CASE("a message is seen when the program shows it, and one that it swallowed is typed once more") {
    const Record record;
    Sandbox box(config(record.path));
    put_in_place(box, "codex");
    box.add_project("shop");
    const auto id = start(box, "codex", "Round the sum");
    box.eventually("it is ready", [&] { return fs::exists(record.path / "ready"); });
    const auto state = [&] {
        rpc::TaskShow show;
        show.id = id;
        const auto messages = box.call(show).messages;
        return messages.empty() ? std::string() : messages.back().state;
    };
    send(box, id, "hurry up");
    box.eventually("it is seen", [&] { return state() == "seen"; });
    CHECK_THAT(box.orange({"task", "show", id}).out, Holds("worker, seen"));

    write_file(record.path / "swallow", "");
    send(box, id, "and test it");
    box.eventually("it is seen", [&] { return state() == "seen"; });
    CHECK(record.text("lines") == "[orange] The human says: hurry up.\n[orange] The human says: and test it.\n");
}

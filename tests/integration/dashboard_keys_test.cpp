// Every key of the dashboard in every kind of row, in five workflows, in a real terminal. What a row offers stands here
// as a person reads it in the workflow's file, and is compared with what the program shows.
#include <fstream>
#include <functional>
#include <set>

#include "common/base/text.hpp"
#include "tests/fakes/github/fake_github.hpp"
#include "tests/integration/stage.hpp"

using namespace orange;
using namespace orange::tests;
namespace fs = std::filesystem;

namespace {

using Shown = rpc::TaskShow::Reply;
using Says = std::function<bool(const Shown&)>;

/// One kind of row: how a task comes to be one, what its footer must show, and what its last key must come to.
struct RowKind {
    std::string name;  ///< of the branch
    std::string way;   ///< the statuses that it goes through; "killed": and then its agent dies; "unreadable"
    std::string keys;  ///< all that the footer shows of the task's keys
    std::string last;  ///< the key that is pressed in earnest, and answered with y or a text
    Says says;         ///< what the daemon says of the task then; nothing: it knows no such task
};

Says has_status(const std::string& status) {
    return [status](const Shown& shown) { return shown.task.fields.status == status; };
}
bool has_worker(const Shown& shown) {
    return shown.task.worker == "alive";
}
bool has_no_worker(const Shown& shown) {
    return shown.task.worker == "none";
}
bool has_no_notices(const Shown& shown) {
    return shown.task.notices.empty();
}
constexpr const char* k_text = "Half up, please";
bool was_told(const Shown& shown) {
    return std::ranges::any_of(shown.messages, [](const auto& each) { return holds(each.text, k_text); });
}
bool was_updated(const Shown& shown) {
    return std::ranges::any_of(shown.history, [](const Json& event) { return event.at("type") == "branch.updated"; });
}
bool is_told(const Shown& shown) {
    return shown.task.fields.status == "working" && holds(shown.body, k_text);
}

constexpr const char* k_shipping = R"(name: shipping
version: 1
states:
  todo: {means: initial}
  build: {agent: worker, respawn_prompt: work}
  check: {}
  shipped: {terminal: true, means: done}
  dropped: {terminal: true, means: cancelled}
transitions:
  - from: todo
    to: build
    hooks:
      - {action: acquire_workspace}
      - {action: spawn_agent, prompt: work, harness: task, permissions: full}
  - {from: build, to: check, hooks: [{action: kill_session}]}
  - {from: check, to: build, by: [human]}
  - {from: check, to: shipped, by: [system], hooks: [{action: release_workspace}]}
  - {from: [todo, build, check], to: dropped, by: [human, system], hooks: [{action: kill_session}, {action: release_workspace}]}
prompts:
  work: "Work on {summary}"
)";

const std::set<std::string> k_all = {"Enter", "a", "m", "r", "p", "s", "x", "t", "!", "S",
                                     "R",     "u", "d", "D", "o", "e", "y", "A", "U"};

std::set<std::string> words_of(const std::string& text) {
    std::set<std::string> words;
    for (const auto word : split(text, ' ')) {
        if (!word.empty()) words.emplace(word);
    }
    return words;
}

/// One daemon, one project, one dashboard, and agents that only listen: nothing moves but by a key.
class KeyTable {
  public:
    explicit KeyTable(const std::string& workflow) : workflow_(workflow) {
        fs::create_directories(box.home() / "harnesses");
        write_file(box.home() / "harnesses" / "idle.yml",
                   "name: idle\nprogram: sh\nmode: persistent\nargv:\n"
                   "  full: [-c, \"while clear; printf '> '; read -r line; do :; done\", --, \"{prompt}\"]\n"
                   "prompt: {empty: ['>']}\n");
        if (workflow == "shipping") {
            fs::create_directories(box.home() / "workflows");
            write_file(box.home() / "workflows" / "shipping.yml", k_shipping);
        }
        repository_ = box.add_project("shop", 20);
    }

    void play(const std::vector<RowKind>& kinds) {
        for (const auto& kind : kinds) ids_[kind.name] = make(kind);
        break_files(kinds);
        Stage stage(box, repository_, 200, 50);
        box.git({"commit", "-q", "--allow-empty", "-m", "Elsewhere"}, repository_);
        stage.screen({"set-option", "-s", "set-clipboard", "on"});
        stage.start("NEEDS YOU", "PAGER=cat EDITOR=true orange-dashboard");
        stage_ = &stage;
        stage.press({"f", "f"});
        stage.wait_for("[all]");
        for (const auto& kind : kinds) check(kind);
        stage.press({"q"});
        stage.wait_for("status 0");
    }

    Sandbox box;

  private:
    std::string make(const RowKind& kind) {
        rpc::TaskCreate create;
        create.project = "shop";
        create.summary = "A task";
        create.branch = kind.name;
        create.workflow = workflow_;
        create.harness = create.review_harness = "idle";
        const auto way = split(kind.way, ' ');
        create.no_spawn = way.size() < 2 || way[1] == "cancelled";
        const auto id = box.call(create).task.fields.id.value;
        if (!create.no_spawn) box.wait_for_status(id, std::string(way[1]));
        for (std::size_t i = create.no_spawn ? 1 : 2; i < way.size(); ++i)
            go(id, std::string(way[i - 1]), std::string(way[i]));
        return id;
    }

    /// What a daemon finds that cannot be read is a row, too.
    void break_files(const std::vector<RowKind>& kinds) {
        std::vector<fs::path> broken;
        for (const auto& kind : kinds) {
            if (kind.way == "unreadable") broken.push_back(box.folder(ids_[kind.name]) / "state.json");
        }
        if (broken.empty()) return;
        box.stop_daemon();
        for (const auto& file : broken) write_file(file, "no JSON\n");
        box.start_daemon();
    }

    void go(const std::string& id, const std::string& from, const std::string& to) {
        if (to == "killed") return kill_agent(id);
        if (to == "cancelled" || to == "dropped") {
            box.call(rpc::TaskCancel{{id, {}}});
            return;
        }
        if (to == "done" || to == "shipped") {
            rpc::TaskMerge merge;
            merge.id = id;
            merge.force = true;
            box.call(merge);
            return;
        }
        std::string section;
        if (from == "planning" && to != "stuck" && to != "clarification")
            section = "## Plan\n\nAPPROACH: short\nTOUCHING: work.txt\n";
        if (from == "working" && to != "stuck" && to != "clarification") section = "## Handoff\n\nDONE: all\n";
        if (from == "agent-review" && to == "reviewing") section = "## Review\n\nVerdict: PASS\n";
        const auto worktree = box.worktree(id);
        std::ofstream(worktree / "TASK.md", std::ios::app) << "\n" << section;
        if (from == "working" || to == "check") {
            write_file(worktree / (id + ".txt"), "The work\n");
            box.git({"add", id + ".txt"}, worktree);
            box.git({"commit", "-q", "-m", "Work"}, worktree);
        }
        const auto moved = box.update_status(id, to);
        if (!moved) box.fail(from + " → " + to + ": " + moved.error().message);
        box.eventually(to + " is entered", [&] { return !show(id)->task.in_progress; });
    }

    void kill_agent(const std::string& id) {
        box.run({"kill", "-9", box.run_of(id, "worker").at("pid").dump()});
        box.eventually("its death is known", [&] { return show(id)->task.needs.kind == Need::help; });
    }

    std::optional<Shown> show(const std::string& id) {
        rpc::TaskShow params;
        params.id = id;
        auto shown = box.try_call(params);
        return shown ? std::optional(std::move(*shown)) : std::nullopt;
    }

    void check(const RowKind& kind) {
        INFO(workflow_ << " " << kind.name);
        const auto& id = ids_[kind.name];
        stage_->press({"/"});
        stage_->letters(kind.name);
        stage_->press({"Enter"});
        const auto row = "\n " + id.substr(0, 4);  // the beginning of its short id
        const bool selected = stage_->patient(
            [&] {  // a late message about the last row may stand in its place
                return holds(stage_->shown(), row) || stage_->press_all({"Down"}).empty();
            },
            60);
        if (!selected) box.fail("the row of " + kind.name + " is not selected:\n" + stage_->shown());
        const auto keys = words_of(kind.keys);
        std::set<std::string> shown;
        const bool same = stage_->patient([&] { return (shown = footer()) == keys; }, 100);
        INFO("shown: " << join({shown.begin(), shown.end()}, " "));
        CHECK(same);
        refuse(kind, keys);
        open_and_close(kind, keys);
        press_last(kind, id);
    }

    /// The keys of the task, of which the footer has all in its first row.
    std::set<std::string> footer() {
        const auto shown = stage_->shown();
        const auto rows = split_lines(shown);
        std::set<std::string> keys;
        if (rows.size() < 2) return keys;
        const auto row = std::string(rows[rows.size() - 2]);
        for (std::size_t at = 0; at < row.size();) {
            auto end = row.find("  ", at);
            if (end == std::string::npos) end = row.size();
            const auto part = trim(std::string_view(row).substr(at, end - at));
            if (!part.empty()) keys.emplace(part.substr(0, part.find(' ')));
            at = end + 2;
        }
        return keys;
    }

    /// R starts a living agent again, too; only the help says so.
    static bool lives(const std::set<std::string>& keys) { return keys.contains("S") && !keys.contains("R"); }

    /// What a key has sent that changes a task. What is asked for the row that was selected before may go out with it.
    static std::vector<std::string> changes(const Stage::Pressed& pressed) {
        static const std::set<std::string> reads = {"task.list",  "task.peek",       "task.log",     "task.why",
                                                    "task.show",  "task.diff",       "task.preview", "task.search",
                                                    "usage.show", "events.subscribe"};
        auto sent = pressed.requests;
        std::erase_if(sent, [](const std::string& method) { return reads.contains(method); });
        return sent;
    }

    /// Every other key says why it does nothing.
    void refuse(const RowKind& kind, const std::set<std::string>& keys) {
        std::vector<std::string> pressed;
        for (const auto& key : k_all) {
            if (!keys.contains(key) && !(key == "R" && lives(keys))) pressed.insert(pressed.end(), {key, "Down"});
        }
        if (pressed.empty()) return;
        const auto came = stage_->press_all(pressed);  // Down: no text follows
        for (std::size_t i = 0; i < came.size(); i += 2) {
            INFO(kind.name << ": the key " << came[i].key << " sent " << join(came[i].requests, " "));
            CHECK(came[i].shows == "error");
            CHECK(changes(came[i]).empty());
            CHECK(came[i].programs.empty());
            CHECK(came[i + 1].shows == "list");
        }
    }

    /// Questions are answered with no, texts are left, programs end at once.
    void open_and_close(const RowKind& kind, const std::set<std::string>& keys) {
        struct Opens {
            std::string key, shows, closes;
        };
        std::vector<Opens> all = {{"a", "prompt", "C-c"}, {"r", "prompt", "C-c"},  {"s", "prompt", "C-c"},
                                  {"x", "question", "n"}, {"d", "question", "n"},  {"p", "question", "n"},
                                  {"e", "list", "Down"},  {"y", "message", "Down"}};
        std::erase_if(all, [&](const Opens& each) { return !keys.contains(each.key); });
        if (lives(keys)) all.insert(all.end(), {{"S", "question", "n"}, {"R", "question", "n"}});
        if (all.empty()) return;
        std::vector<std::string> pressed;
        for (const auto& each : all) pressed.insert(pressed.end(), {each.key, each.closes});
        const auto came = stage_->press_all(pressed);
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto& [key, shows, closes] = all[i];
            INFO(kind.name << ": the key " << key << " sent " << join(came[2 * i].requests, " "));
            CHECK(came[2 * i].shows == shows);
            CHECK(changes(came[2 * i]).empty());
            CHECK(changes(came[2 * i + 1]).empty());
            if (key != "e") continue;
            REQUIRE(came[2 * i].programs.size() == 1);
            CHECK_THAT(came[2 * i].programs[0], Holds("/TASK.md"));
        }
        CHECK(stage_->screen({"show-buffer"}).out == ids_[kind.name]);  // y
        for (const std::string key : {"m", "t"}) {
            if (keys.contains(key) && !kind.last.starts_with(key)) ask_and_deny(key);
        }
        if (keys.contains("D")) open("D", "Press a key", "x");
        if (keys.contains("o")) {
            stage_->press({"o"});
            stage_->wait_for("; type exit");
            stage_->type("exit");
            stage_->wait_for("[all]");
        }
        if (keys.contains("Enter") && lives(keys)) open("Enter", "Ctrl-q leaves", "C-q");
    }

    /// A program that has the terminal until `leave`, or until it ends by itself.
    void open(const std::string& key, const std::string& text, const std::string& leave) {
        stage_->press({key});
        std::optional<std::size_t>
            left;  // the screens that were drawn until then: it may be drawn before it is given away
        const bool back = stage_->patient([&] {
            if (!left && holds(stage_->shown(), text)) {
                left = stage_->traced("shows ");
                stage_->screen({"send-keys", "-t", "stage:", leave});
            }
            return left && stage_->traced("shows ") > *left;
        });
        if (!back) box.fail(key + " never gave the terminal back:\n" + stage_->shown());
        stage_->wait_for("[all]");
    }

    /// The question of m and t may come from the daemon. Down does nothing in a list of one row.
    void ask_and_deny(const std::string& key) {
        auto shows = stage_->press_all({key})[0].shows;
        const auto become = [&](bool question) {
            return stage_->patient([&] {
                if ((shows == "question") == question) return true;
                shows = stage_->press_all({"Down"})[0].shows;
                return false;
            });
        };
        INFO("the key " << key << ", and what it shows");
        CHECK(become(true));
        CHECK(become(false));
    }

    void press_last(const RowKind& kind, const std::string& id) {
        if (kind.last.empty()) return;
        INFO("the last key " << kind.last);
        stage_->press({kind.last.substr(0, kind.last.find(' '))});
        if (kind.last == "a" || kind.last == "r" || kind.last == "s") {
            stage_->letters(k_text);
            stage_->press({"Enter"});
        }
        if (kind.last.starts_with("t ") && !kind.last.ends_with(" y")) {  // "t 2": the second step
            stage_->wait_for("1-");
            stage_->press({kind.last.substr(2, 1)});
        }
        if (kind.last.ends_with(" y")) {
            stage_->wait_for("y yes");
            stage_->press({"y"});
        }
        box.eventually(kind.name + ": what " + kind.last + " comes to", [&] {
            const auto task = show(id);
            if (kind.says ? task && kind.says(*task) : !task) return true;
            // What no agent has reviewed is to be confirmed once more.
            if (kind.last == "m y" && holds(stage_->shown(), "y yes")) stage_->press({"y"});
            return false;
        });
    }

    std::string workflow_;
    fs::path repository_;
    std::map<std::string, std::string> ids_;
    Stage* stage_ = nullptr;
};

}  // namespace

TEST_CASE("Every key in every kind of row: workflow default") {
    KeyTable table("default");
    table.play({
        {"k-pending", "pending", "Enter x d e y", "Enter", has_worker},
        {"k-planning", "pending planning", "Enter m s x t S d D o e y", "t 2", has_status("clarification")},
        {"k-asking", "pending planning clarification", "Enter m s x t S d D o e y", "s", was_told},
        {"k-working", "pending planning working", "Enter m s x t S d D o e y", "S y", has_no_worker},
        {"k-forced", "pending planning working", "Enter m s x t S d D o e y", "x y", has_status("cancelled")},
        {"k-dead", "pending planning working killed", "Enter m x t ! S R u d D o e y", "!", has_no_notices},
        {"k-start", "pending planning working killed", "Enter m x t ! S R u d D o e y", "S", has_worker},
        {"k-again", "pending planning working killed", "Enter m x t ! S R u d D o e y", "Enter", has_worker},
        {"k-review", "pending planning working agent-review", "Enter m s x t S d D o e y", "s", was_told},
        {"k-merge", "pending planning working agent-review reviewing", "Enter m r s x S u d D o e y", "m y",
         has_status("done")},
        {"k-reject", "pending planning working agent-review reviewing", "Enter m r s x S u d D o e y", "r", is_told},
        {"k-update", "pending planning working agent-review reviewing", "Enter m r s x S u d D o e y", "u",
         was_updated},
        {"k-stuck", "pending planning working stuck", "Enter m r s x t S d D o e y", "t 2", has_status("reviewing")},
        {"k-cancelled", "pending cancelled", "d D e y", "d y", {}},
    });
}

TEST_CASE("Every key in every kind of row: workflow relay") {
    KeyTable table("relay");
    table.play({
        {"k-pending", "pending", "Enter x d e y", "x y", has_status("cancelled")},
        {"k-asking", "pending working clarification", "Enter m s x t S d D o e y", "", {}},
        {"k-working", "pending working", "Enter m s x t S d D o e y", "R y", has_worker},
        {"k-review", "pending working agent-review", "Enter m s x t S d D o e y", "", {}},
        {"k-merge", "pending working agent-review reviewing", "m x u d D o e y", "m y", has_status("done")},
        {"k-stuck", "pending working stuck", "Enter m r s x t S u d D o e y", "r", is_told},
    });
}

TEST_CASE("Every key in every kind of row: workflow careful") {
    KeyTable table("careful");
    table.play({
        {"k-planning", "pending planning", "Enter m s x t S d D o e y", "", {}},
        {"k-approve", "pending planning plan-review", "Enter A m r s x S u d D o e y", "A y", has_status("working")},
        {"k-reject", "pending planning plan-review", "Enter A m r s x S u d D o e y", "r", has_status("planning")},
        {"k-working", "pending planning plan-review working", "Enter m s x t S d D o e y", "", {}},
    });
}

TEST_CASE("Every key in every kind of row: workflow minimal") {
    KeyTable table("minimal");
    table.play({
        {"k-working", "pending working", "Enter m s x t S d D o e y", "", {}},
        {"k-dead", "pending working killed", "Enter m x t ! S R u d D o e y", "R", has_worker},
        {"k-merge", "pending working reviewing", "m x u d D o e y", "m y", has_status("done")},
        {"k-done", "pending working reviewing done", "d D e y", "d y", {}},
        {"k-broken", "unreadable", "", "", {}},
    });
}

TEST_CASE("Every key in every kind of row: a workflow with other names, and no way to merge what is being built") {
    KeyTable table("shipping");
    table.play({
        {"k-todo", "todo", "Enter x d e y", "Enter", has_status("build")},
        {"k-build", "todo build", "Enter s x t S d D o e y", "t y", has_status("check")},
        {"k-merge", "todo build check", "m r x u d D o e y", "m y", has_status("shipped")},
        {"k-reject", "todo build check", "m r x u d D o e y", "r", has_status("build")},
        {"k-shipped", "todo build check shipped", "d D e y", "", {}},
    });
}

TEST_CASE("p opens a pull request where there is GitHub, and shows it in the browser once it is there") {
    Sandbox box("pr_interval: 0.05\n");
    test::FakeGitHub github(box.root() / "github");
    const auto path = "PATH=" + (box.root() / "github").string() + ":" + box.run({"sh", "-c", "printf %s \"$PATH\""});
    box.stop_daemon();
    box.start_daemon({}, {path});
    const auto repository = box.add_project("shop");
    box.git({"clone", "-q", "--bare", ".", github.origin().string()}, repository);
    box.git({"remote", "add", "origin", test::FakeGitHub::k_url}, repository);
    REQUIRE(box.orange({"project", "update", "shop", "--workflow", "pr"}).status == 0);
    const auto id = box.create("shop", "Sell lemons");
    box.wait_for_status(id, "reviewing");
    const auto browser = box.root() / "browser";
    fs::create_directories(browser);
    write_file(browser / "xdg-open", "#!/bin/sh\necho \"$1\" >" + (browser / "opened").string() + "\n");
    fs::permissions(browser / "xdg-open", fs::perms::owner_all);
    Stage stage(box, repository, 120, 40);
    stage.start("NEEDS YOU 1", "PATH=" + browser.string() + ":$PATH orange-dashboard");
    stage.press({"p"});
    stage.wait_for("y yes");
    stage.press({"y"});
    box.eventually("there is a pull request", [&] { return box.status(id) == "in-pr"; });
    stage.wait_for("#1");
    stage.press({"p"});
    box.eventually("the browser has it",
                   [&] { return read_file(browser / "opened") == "https://github.com/acme/shop/pull/1\n"; });
    stage.press({"q"});
    stage.wait_for("status 0");
}

// A program asks through its hook, and its human answers with orange: real daemon, real socket, real hook.
#include <filesystem>

#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

namespace fs = std::filesystem;
using namespace orange;
using namespace orange::tests;

namespace {

/// Asks for what is in the file `request` of its worktree, as often as the human writes one, and does what it is
/// allowed.
constexpr const char* k_program = R"(#!/bin/sh
echo busy >>"$ORANGE_EVENTS"
n=0
while :; do
    if [ -e request ]; then
        mv request asked
        n=$((n + 1))
        sh -c 'eval "exec $ORANGE_ASK"' <asked >answer.$n 2>err.$n
        echo $? >status.$n
        case $(cat answer.$n) in
            *true*) : >made.$n; printf '{"event":"done","tool":"Bash","input":{"command":"n %s"}}' $n | sh -c 'eval "exec $ORANGE_EVENT"' ;;
        esac
        echo idle >>"$ORANGE_EVENTS"
        mv answer.$n answered.$n
    fi
    if [ -e try ]; then mv try tried; sh tried >out 2>&1; echo $? >>out; mv out said; fi
    sleep 0.05
done
)";
constexpr const char* k_definition =
    "name: asker\nprogram: ./asker-agent\nargv: {full: [--, \"{prompt}\"]}\n"
    "events: {busy: [busy], idle: [idle], question: [question], text: [tool, input]}\n"
    "permits:\n  tool: tool\n  input: input\n  done: [done]\n  allow: '{\"ok\":true}'\n"
    "  deny: '{\"ok\":false,\"why\":{message}}'\n  deadline: 55m\n";

struct AskerBox : Sandbox {
    AskerBox() {
        fs::create_directories(home() / "harnesses");
        write_file(home() / "harnesses/asker.yml", k_definition);
        write_file(home() / "harnesses/asker-agent", k_program);
        fs::permissions(home() / "harnesses/asker-agent", fs::perms::owner_all);
        add_project("shop");
        rpc::TaskCreate params;
        params.summary = "asks";
        params.project = "shop";
        params.harness = "asker";
        id = call(params).task.fields.id.value;
        wait_for_status(id, "planning");
        name = short_id(id);
        place_of_work = worktree(id);
    }
    /// Lets the program ask, and waits until that is a need.
    std::string ask(const Json& input) {
        place(Json{{"event", "question"}, {"tool", "Bash"}, {"input", input}}.dump(), "request");
        std::int64_t number = 0;
        eventually("a request is a need", [&] { return (number = needs().value("permit", 0)) > 0; });
        return std::to_string(number);
    }
    void place(const std::string& text, const std::string& file) {
        write_file(worktree(id) / (file + ".new"), text);
        fs::rename(worktree(id) / (file + ".new"), worktree(id) / file);
    }
    Json needs() { return Json::parse(orange_ok({"task", "show", id, "--json"})).at("task").at("needs"); }
    std::string orange_ok(const std::vector<std::string>& words) {
        const auto done = orange(words);
        if (done.status != 0) fail(done.err);
        return done.out;
    }
    std::string answer(const std::string& number) {
        const auto file = place_of_work / ("answered." + number);
        eventually("the hook ends", [&] { return fs::exists(file); });
        CHECK(read_file(place_of_work / ("status." + number)) == "0\n");
        CHECK(read_file(place_of_work / ("err." + number)).empty());
        return read_file(file);
    }
    bool was_made(const std::string& number) { return fs::exists(worktree(id) / ("made." + number)); }

    std::string id, name;
    fs::path place_of_work;  // known also while no daemon runs
};

}  // namespace

TEST_CASE("A request of a program is allowed and denied with orange, and the history says who did it") {
    AskerBox box;
    const auto first = box.ask({{"command", "n 1"}});
    CHECK_THAT(box.orange_ok({"inbox"}), Holds("n 1") && Holds("orange allow " + box.name + "." + first));
    box.orange_ok({"allow", box.name + "." + first});
    CHECK(box.answer("1") == "{\"ok\":true}\n");
    CHECK(box.was_made("1"));
    box.eventually("the program confirms it", [&] { return box.history(box.id, "permit.answered").size() == 1; });
    const auto told = box.history(box.id, "permit.answered").front();
    CHECK(told.at("decision") == "allow");
    CHECK(told.at("request") == "n 1");

    const auto second = box.ask({{"command", "rm -rf ~"}});
    CHECK(box.orange({"allow", box.name + "." + first}).status != 0);  // an old number allows nothing
    box.orange_ok({"deny", box.name + "." + second, "use \"npm ci\""});
    CHECK(Json::parse(box.answer("2")).at("why") == "use \"npm ci\"");
    CHECK_FALSE(box.was_made("2"));
    box.eventually("the denial is told", [&] { return box.history(box.id, "permit.answered").size() == 2; });
}

TEST_CASE("A reply, an agent and a daemon that dies never say yes") {
    AskerBox box;
    const auto first = box.ask({{"command", "rm -rf ~"}});
    CHECK(box.orange({"reply", box.id, "yes"}).status != 0);
    box.place("PATH=" + program("orange").parent_path().string() + ":$PATH orange allow " + box.id + "." + first,
              "request-of-agent");
    // The program waits in its hook, so another process of the agent calls.
    const auto pane = box.run_of(box.id, "worker").at("pane_id").get<std::string>();
    const auto made =
        box.tmux({"split-window", "-d", "-t", pane, "-e", "ORANGE_TASK=" + box.id, "-c", box.worktree(box.id).string(),
                  "sh request-of-agent >said-to-agent 2>&1; echo $? >>said-to-agent; mv said-to-agent said"});
    CHECK(made.status == 0);
    box.eventually("the agent was answered", [&] { return fs::exists(box.worktree(box.id) / "said"); });
    CHECK_FALSE(read_file(box.worktree(box.id) / "said").ends_with("\n0\n"));
    CHECK(box.needs().at("permit") == 1);

    box.kill_daemon();
    CHECK(box.answer("1").empty());
    box.start_daemon();
    CHECK_FALSE(box.was_made("1"));
    CHECK_FALSE(box.orange({"allow", box.id + "." + first}).status == 0);
    const auto next = box.ask({{"command", "n 2"}});
    CHECK(next == "2");
    box.orange_ok({"allow", box.id + "." + next});
    CHECK(box.answer("2") == "{\"ok\":true}\n");
}

TEST_CASE("What is too large, binary or no request ends in the program's own dialog, or can only be denied") {
    AskerBox box;
    const auto number = box.ask({{"command", std::string(10'000'000, 'x')}});
    CHECK(box.orange({"allow", box.id + "." + number, "--yes"}).status != 0);
    CHECK_FALSE(fs::exists(box.worktree(box.id) / "answered.1"));
    box.orange_ok({"deny", box.id + "." + number});
    CHECK_FALSE(box.answer("1").empty());
    box.place("\xff\xfe\x00 not JSON", "request");
    CHECK(box.answer("2").empty());
    box.place("", "request");
    CHECK(box.answer("3").empty());
    CHECK(box.needs().value("permit", 0) == 0);
}

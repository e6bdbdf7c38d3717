// A full-screen program that Orange does not know asks something, with "Yes" preselected, while messages and reminders
// are due: not one byte reaches it (tests/data/stand-ins/stranger records each).
#include <stdlib.h>

#include "common/model/notice_kinds.hpp"
#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

using namespace orange;
using namespace orange::tests;
namespace fs = std::filesystem;

namespace {

using namespace std::chrono_literals;

struct StrangerBox : Sandbox {
    StrangerBox(const fs::path& record, const std::string& signs, const std::string& how)
        : Sandbox("env: {STAND_IN: \"" + record.string() + "\", STRANGER: \"" + how +
                      "\"}\nidle_after: 300\nremind_again: 60\npoll_interval: 60\n",
                  0, Time::of_test) {
        fs::create_directories(home() / "harnesses");
        write_file(home() / "harnesses/stranger.yml", "name: stranger\nprogram: " ORANGE_SOURCE_DIR
                                                      "/tests/data/stand-ins/stranger\n" +
                                                          std::string("argv: {full: [--, \"{prompt}\"]}\n") + signs);
        add_project("shop");
        rpc::TaskCreate params;
        params.summary = "Round the total";
        params.project = "shop";
        params.harness = params.review_harness = "stranger";
        id = call(params).task.fields.id.value;
    }
    rpc::TaskReply shown() {
        rpc::TaskShow show;
        show.id = id;
        rpc::TaskReply reply;
        reply.task = call(show).task;
        return reply;
    }
    bool has(NoticeKind kind) {
        const auto notices = shown().task.notices;
        return std::any_of(notices.begin(), notices.end(), [&](const Notice& each) { return each.kind == kind; });
    }
    /// Minutes pass until that happens.
    void pass_until(const std::string& what, const std::function<bool()>& happens) {
        eventually(what, [&] {
            if (!happens()) pass(60s);
            return happens();
        });
    }
    void send(const std::string& text) {
        rpc::TaskSend params;
        params.id = id;
        params.text = text;
        call(params);
    }
    std::string id;
};

struct Folder {
    Folder() {
        auto name = (fs::temp_directory_path() / "orange-stranger-XXXXXX").string();
        if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
        path = name;
    }
    ~Folder() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
    void touch(const std::string& file) const { write_file(path / file, ""); }
    bool has(const std::string& file) const { return fs::exists(path / file); }
    fs::path path;
};

/// Typed bytes reach the program in order: if the first byte is the test's own, nothing was typed before.
void check_nothing_was_typed(StrangerBox& box, const Folder& folder) {
    const auto pane = box.run_of(box.id, "worker").at("pane_id").get<std::string>();
    box.tmux({"send-keys", "-t", pane, "q"});
    box.eventually("it reads", [&] { return folder.has("bytes") && !read_file(folder.path / "bytes").empty(); });
    CHECK(read_file(folder.path / "bytes") == "q");
}

}  // namespace

TEST_CASE("not one byte reaches an unknown program that asks something at its start") {
    const Folder folder;
    const std::string signs = GENERATE(as<std::string>(), "", "screen: {busy: [(works)], otherwise: idle}\n",
                                       "screen: {busy: [(works)], otherwise: idle, composer_empty: [❯]}\n");
    CAPTURE(signs);
    StrangerBox box(folder.path, signs, "asks");
    box.eventually("it asks", [&] { return folder.has("asking"); });
    box.send("go on");
    box.pass_until("its human is told", [&] { return box.has(NoticeKind::message_undelivered); });
    const auto needs = box.shown().task.needs;
    CHECK(needs.kind == Need::help);
    CHECK_THAT(needs.text, Holds("go on"));
    CHECK(needs.command == task_command("attach", box.id));
    CHECK(box.history(box.id, "agent.reminded").empty());
    check_nothing_was_typed(box, folder);
}

TEST_CASE("not one byte reaches a program that asks something unknown after its turn, although reminders are due") {
    const Folder folder;
    const std::string composer = GENERATE(as<std::string>(), "", ", composer_empty: [❯]");
    CAPTURE(composer);
    StrangerBox box(folder.path, "screen: {busy: [(works)], otherwise: idle" + composer + "}\n", "works");
    const auto is = [&](Activity activity) {
        const auto seen = box.shown().task.worker_activity;
        return seen && seen->activity == activity;
    };
    box.eventually("it works", [&] { return is(Activity::busy); });
    folder.touch("rest");
    box.eventually("it is idle", [&] { return is(Activity::idle); });
    folder.touch("ask");
    box.eventually("it asks", [&] { return folder.has("asking"); });
    // The reminder comes due, and its human is told instead.
    box.pass_until("a reminder is due",
                   [&] { return box.has(NoticeKind::agent_idle) || box.has(NoticeKind::message_undelivered); });
    box.send("go on");
    box.pass_until("the message is not delivered", [&] { return box.has(NoticeKind::message_undelivered); });
    CHECK(box.shown().task.needs.kind == Need::help);
    check_nothing_was_typed(box, folder);
}

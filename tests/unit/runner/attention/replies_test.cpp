#include "daemon/runner/attention/replies.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <deque>
#include <fstream>
#include <iterator>

#include "common/model/json.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "tests/catch.hpp"
#include "tests/support/advanced_time.hpp"
#include "tests/unit/runner/house.hpp"

/// Answers to notifications: tokens, and the program `reply` as a real process.
using namespace orange;
using namespace orange::test;

namespace {

/// The program prints what the test writes into its pipe. The calls that answers become are recorded.
struct Phone {
    Phone() {
        world.boot();
        write_file(program, "#!/bin/sh\necho $$ >> '" + started.string() + "'\nexec cat <> '" + pipe.string() + "'\n");
        std::filesystem::permissions(program, std::filesystem::perms::owner_all);
        REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
        connect();
    }
    ~Phone() { disconnect(); }

    void connect() {
        auto& settings = world.house().world().settings;
        settings.notify_command = {"true"};
        settings.reply_command = {program.string()};
        replies = std::make_unique<Replies>(
            world.house().runner(),
            [this](std::string method, Json params) -> Awaitable<Result<void>> {
                calls.emplace_back(std::move(method), std::move(params));
                if (refusal) co_return *refusal;
                co_return Result<void>{};
            },
            [this](std::string text) { told.push_back(std::move(text)); });
    }
    void disconnect() {
        if (!replies) return;
        replies->stop();
        if (runs) until([&] { return !runs; });
        replies.reset();
    }
    void next_daemon() {
        disconnect();
        world.boot();
        connect();
    }
    Awaitable<void> run() {
        co_await replies->run();
        runs = false;
    }
    void start() {
        const auto before = starts();
        runs = true;
        async::spawn(world.house().io.get_executor(), "replies", run());
        until([&] { return starts() > before; });
    }
    void until(const std::function<bool()>& holds) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        world.house().io.restart();
        while (!holds()) {
            REQUIRE(std::chrono::steady_clock::now() < deadline);
            world.house().io.run_one_for(std::chrono::milliseconds(20));
        }
    }
    void says(const std::string& text) { std::ofstream(pipe, std::ios::binary | std::ios::app) << text << std::flush; }

    std::vector<pid_t> pids() {
        std::ifstream in(started);
        return {std::istream_iterator<pid_t>(in), {}};
    }
    std::size_t starts() { return pids().size(); }

    TaskId asking(const std::string& summary = "do it") {
        const auto id = planning(world, summary, 4);
        world.append_body(id, "\n## Questions\n- Lemons or limes?\n- How many?\n");
        world.move(id, "clarification", Role::worker).value();
        return id;
    }
    /// A task whose agent's program asks for something.
    TaskId requesting() {
        write_file(world.home() / "harnesses/asks.yml",
                   "name: asks\nprogram: true\nargv: {full: [--, \"{prompt}\"]}\n"
                   "events: {busy: [busy], idle: [idle], question: [question]}\n"
                   "permits: {tool: tool, input: input, done: [done], allow: '1', deny: '{message}'}\n");
        const auto id = world.make_task("ask", 4);
        auto record = world.record(id);
        record.task.harness = "asks";
        world.house().world().tasks.save(record).value();
        world.move(id, "planning").value();
        return id;
    }
    void request(const TaskId& id, const std::string& command, bool cut = false) {
        Caller by;
        by.role = Role::worker;
        by.task = id;
        by.run = world.record(id).run_of(Role::worker)->run;
        auto& permits = world.house().runner().permits;
        const auto object = Json{{"tool", "Bash"}, {"input", {{"command", command}}}}.dump();
        const auto permit = permits.begin(by, {command, object, cut}).value();
        handles.push_back(permit);
        requests.emplace_back();
        world.house().begin(permits.wait(id, permit), requests.back());
        until([&] { return permit->number > 0; });
    }
    Json notification(const TaskId& id) {
        News news;
        news.task = id;
        news.permit = needs_of(world.house().runner(), world.record(id)).permit;
        news.text = "shop: it asks";
        std::optional<std::string> text;
        world.house().begin(replies->input_of({news}), text);
        until([&] { return text.has_value(); });
        return Json::parse(*text);
    }
    std::string token(const TaskId& id, const std::string& does) {
        const auto json = notification(id);
        for (const auto& choice : json.at("tasks").at(0).at("choices")) {
            if (choice.at("does") == does) return choice.at("token").get<std::string>();
        }
        return {};
    }

    RunnerWorld world;
    std::filesystem::path pipe = world.programs() / "pipe", program = world.programs() / "listen",
                          started = world.programs() / "started";
    std::vector<std::pair<std::string, Json>> calls;
    std::vector<Permits::Handle> handles;
    std::deque<std::optional<Result<std::string>>> requests;
    std::vector<std::string> told;
    std::optional<Error> refusal;
    std::unique_ptr<Replies> replies;
    bool runs = false;
};

}  // namespace

TEST_CASE("The command notify reads the whole question, and a token for each thing that can be done") {
    Phone phone;
    const auto id = phone.asking();
    const auto json = phone.notification(id);
    CHECK(json.at("text") == "shop: it asks");
    const auto& task = json.at("tasks").at(0);
    CHECK(task.at("task") == id.value);
    CHECK(task.at("project") == "shop");
    CHECK(task.at("need") == "answer");
    CHECK(task.at("question") == "- Lemons or limes?\n- How many?");
    CHECK(task.at("changes").at("commits") == 0);
    const auto token = phone.token(id, "reply");
    CHECK(ReplyTokens::is_token(token));
    CHECK(phone.token(id, "approve").empty());
    CHECK_THAT(phone.notification(id).at("message").get<std::string>(), Holds("- How many?") && Holds("reply: "));
    // Who reads the file of the tokens cannot send them.
    CHECK_THAT(read_file(phone.world.home() / "replies/tokens.json"), Holds(id.value) && !Holds(token));
    phone.world.house().world().settings.reply_command.clear();
    CHECK(phone.notification(id).at("tasks").at(0).at("choices").empty());
}

TEST_CASE("A token allows or denies the request that its notification shows whole, and no other") {
    Phone phone;
    const auto id = phone.requesting();
    phone.request(id, "npm install left-pad");
    const auto shown = phone.notification(id);
    CHECK(shown.at("tasks").at(0).at("request") == "Bash: npm install left-pad");
    CHECK_THAT(shown.at("message").get<std::string>(), Holds("npm install left-pad"));
    CHECK(phone.token(id, "reply").empty());
    const auto allow = phone.token(id, "allow"), deny = phone.token(id, "deny");
    phone.start();
    phone.says(deny + " use npm ci\n");
    phone.until([&] { return phone.calls.size() == 1; });
    CHECK(phone.calls[0].first == "task.deny");
    CHECK(phone.calls[0].second == Json{{"id", id.value}, {"number", 1}, {"text", "use npm ci"}});
    phone.says(allow + "\n");
    phone.until([&] { return phone.calls.size() == 2; });
    CHECK(phone.calls[1].second == Json{{"id", id.value}, {"number", 1}});

    // The first one ends, and the second one is the need: old tokens are stale.
    phone.request(id, "rm -rf ~");
    const auto stale = phone.token(id, "allow");
    Permits::end(phone.handles.at(0), "the test is over");
    phone.until([&] { return phone.requests[0].has_value(); });
    CHECK(needs_of(phone.world.house().runner(), phone.world.record(id)).permit == 2);
    phone.says(stale + "\n");
    phone.until([&] { return !phone.told.empty(); });
    CHECK(phone.calls.size() == 2);
}

TEST_CASE("A request that a notification cannot show whole gets no token that allows it") {
    Phone phone;
    const auto id = phone.requesting();
    phone.request(id, std::string(5000, 'x'));
    CHECK(phone.token(id, "allow").empty());
    CHECK(ReplyTokens::is_token(phone.token(id, "deny")));
    CHECK(phone.notification(id).at("message").get<std::string>().size() < 3000);
    Phone other;
    const auto cut = other.requesting();
    other.request(cut, "ls", true);
    CHECK(other.token(cut, "allow").empty());
    CHECK(ReplyTokens::is_token(other.token(cut, "deny")));
}

TEST_CASE("A line with a token answers once, and the history says how") {
    Phone phone;
    const auto id = phone.asking();
    const auto first = phone.token(id, "reply"), second = phone.token(id, "reply");
    phone.start();
    auto shouted = first;
    std::ranges::transform(shouted, shouted.begin(), [](char c) { return c >= 'a' ? static_cast<char>(c - 32) : c; });
    phone.says("\n" + shouted + "  Lemons, please \n");
    phone.until([&] { return phone.world.events(id, "answer.accepted").size() == 1; });
    REQUIRE(phone.calls.size() == 1);
    CHECK(phone.calls[0] == std::pair(std::string("task.reply"), Json{{"id", id.value}, {"text", "Lemons, please"}}));
    const auto fields = phone.world.events(id, "answer.accepted")[0].fields;
    CHECK(fields.at("evidence") == Scalar(std::string("via reply")));
    CHECK(fields.at("does") == Scalar(std::string("reply")));
    // A used token is told once, and so are all unknown ones.
    phone.says(first + " Limes\n" + first + " Limes\nabcdefg1 merge\nabcdefg2 merge\n" + second + " Limes\n");
    phone.until([&] { return phone.calls.size() == 2; });
    CHECK(phone.calls[1].second.at("text") == "Limes");
    REQUIRE(phone.told.size() == 2);
    CHECK_THAT(phone.told[0], Holds(phone.world.house().world().tasks.short_id(id)));
    CHECK_THAT(phone.told[1], Holds("abcdefg1"));
}

TEST_CASE("A token approves or acknowledges and does nothing else, whatever the text says") {
    Phone phone;
    const auto waits = phone.world.make_task("waits", 4), failed = phone.world.make_task("failed", 4);
    auto record = phone.world.record(waits);
    record.unapproved = true;
    phone.world.house().world().tasks.save(record).value();
    record = phone.world.record(failed);
    look_at(record, "push_branch: no");
    phone.world.house().world().tasks.save(record).value();
    const auto approve = phone.token(waits, "approve"), ack = phone.token(failed, "ack");
    CHECK(phone.token(failed, "approve").empty());
    phone.start();
    phone.says(approve + " task.merge\n" + ack + " task.delete --force\n");
    phone.until([&] { return phone.calls.size() == 2; });
    CHECK(phone.calls[0] == std::pair(std::string("task.approve"), Json{{"id", waits.value}}));
    CHECK(phone.calls[1] == std::pair(std::string("task.ack"), Json{{"id", failed.value}}));
    CHECK(phone.told.empty());
}

TEST_CASE("A token is stale when the need has ended, and outlasts the daemon") {
    Phone phone;
    const auto over = phone.asking("over"), open = phone.asking("open");
    const auto stale = phone.token(over, "reply"), good = phone.token(open, "reply");
    phone.world.move(over, "planning", Role::worker).value();
    phone.next_daemon();
    phone.start();
    phone.says(stale + " Lemons\n" + good + " Limes\n");
    phone.until([&] { return !phone.calls.empty(); });
    REQUIRE(phone.calls.size() == 1);
    CHECK(phone.calls[0].second.at("id") == open.value);
    REQUIRE(phone.told.size() == 1);
    CHECK_THAT(phone.told[0], Holds(phone.world.house().world().tasks.short_id(over)));
    // The same question again is another need.
    phone.disconnect();
    phone.world.append_body(over, "\n## Questions\n- Lemons or limes?\n- How many?\n- Why?\n");
    phone.world.move(over, "clarification", Role::worker).value();
    phone.next_daemon();
    const auto fresh = phone.token(over, "reply");
    phone.start();
    phone.says(stale + " Lemons\n" + fresh + " Limes\n");
    phone.until([&] { return phone.calls.size() == 2; });
    CHECK(phone.calls[1].second == Json{{"id", over.value}, {"text", "Limes"}});
}

TEST_CASE("An answer that cannot be given leaves its token valid, and the reason is told") {
    Phone phone;
    const auto id = phone.asking();
    const auto token = phone.token(id, "reply");
    phone.refusal = Error(ErrorCode::conflict, "the worker shows a dialog 4711");
    phone.start();
    phone.says(token + "\n" + token + " Lemons\n");
    phone.until([&] { return phone.told.size() == 2; });
    CHECK(phone.calls.size() == 1);  // the first line has no text
    CHECK_THAT(phone.told[1], Holds("4711"));
    phone.refusal.reset();
    phone.says(token + " Limes\n");
    phone.until([&] { return phone.world.events(id, "answer.accepted").size() == 1; });
    CHECK(phone.calls.size() == 2);
}

TEST_CASE("Lines that are no answers are ignored: too long, not UTF-8, without a token") {
    Phone phone;
    const auto id = phone.asking();
    const auto token = phone.token(id, "reply");
    phone.start();
    phone.says(token + " " + std::string(20'000, 'x') + "\n" + token + " \xff\xfe\nconnected to received\n{}\n");
    phone.says(token + " Limes\n");
    phone.until([&] { return !phone.calls.empty(); });
    CHECK(phone.calls.size() == 1);
    CHECK(phone.calls[0].second.at("text") == "Limes");
    CHECK(phone.told.empty());
}

TEST_CASE("A program that prints too many lines in a minute is read again in the next one") {
    TestTime time;
    Phone phone;
    const auto one = phone.asking("one"), other = phone.asking("other");
    const auto late = phone.token(one, "reply"), good = phone.token(other, "reply");
    phone.start();
    std::string many;
    for (int i = 0; i < 59; ++i) many += "nothing\n";
    phone.says(many + "abcdefg1 is the sixtieth\n" + late + " Lemons\n");
    phone.until([&] { return phone.told.size() == 1; });
    time.advance(std::chrono::minutes(1));
    phone.says(good + " Limes\n");
    phone.until([&] { return !phone.calls.empty(); });
    CHECK(phone.calls.size() == 1);
    CHECK(phone.calls[0].second.at("id") == other.value);
}

TEST_CASE("The program is started again when it ends, replaced on a reload, and ended with the daemon") {
    TestTime time;
    Phone phone;
    phone.start();
    const auto first = phone.pids()[0];
    ::kill(first, SIGKILL);
    phone.until([&] {
        time.advance(std::chrono::milliseconds(100));
        return phone.starts() == 2;
    });
    CHECK(phone.replies->problem().empty());
    const auto second = phone.pids()[1];
    auto& settings = phone.world.house().world().settings;
    settings.reply_command = {phone.program.string(), "again"};
    phone.replies->settings_changed();
    phone.until([&] { return phone.starts() == 3; });
    CHECK(::kill(second, 0) == -1);
    const auto third = phone.pids()[2];
    phone.disconnect();
    CHECK(::kill(third, 0) == -1);
}

TEST_CASE("A program that cannot run, or that nobody gets tokens for, is a problem") {
    Phone phone;
    auto& settings = phone.world.house().world().settings;
    CHECK(phone.replies->problem().empty());
    settings.notify_command.clear();
    CHECK_THAT(phone.replies->problem(), Tells("notify") && Tells("config.yml"));
    settings.notify_command = {"true"};
    settings.reply_command = {"/nonexistent/program"};
    phone.runs = true;
    async::spawn(phone.world.house().io.get_executor(), "replies", phone.run());
    phone.until([&] { return !phone.replies->problem().empty(); });
    CHECK_THAT(phone.replies->problem(), Holds("/nonexistent/program"));
    settings.reply_command.clear();
    CHECK(phone.replies->problem().empty());
}

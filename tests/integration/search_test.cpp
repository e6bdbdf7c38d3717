#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>

#include "common/base/text.hpp"
#include "common/rpc/daemon_methods.hpp"
#include "common/rpc/search_methods.hpp"
#include "tests/catch.hpp"
#include "tests/facts.hpp"
#include "tests/integration/talk.hpp"

/// `orange search`, with the real grep, and with one that stands still.
namespace orange::tests {
namespace {

namespace fs = std::filesystem;

void write_text(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::app) << text;
}

/// One task that has ended, with texts in every place, and one that has not begun.
struct Texts {
    Sandbox orange{"poll_interval: 3600\n"};
    fs::path repository = orange.add_project("shop");
    std::string ended, open;

    Texts() {
        rpc::TaskCreate create;
        create.project = "shop";
        create.summary = "Round the total";
        create.no_spawn = true;
        create.context = "Prices have a zebra in them.\n\nAnd a second zebra: \"quoted\\path\".";
        ended = orange.call(create).task.fields.id.value;
        open = orange.create("shop", "Name the columns", true);
        orange.update_status(ended, "cancelled").value();
        const auto folder = orange.folder(ended);
        orange.stop_daemon();
        write_text(folder / "TASK.md", "\n## Review\n\nVerdict: PASS\nThe zebra is rounded twice.\n");
        write_text(folder / "TASK.kept-1.md", "## Plan\n\nA kept zebra\n");
        write_text(folder / "logs/review-1-9aX.log", "line one\nI have seen the zebra \x1b[31m\xff\n");
        write_text(folder / "logs/checks.log", "zebra\n");
        write_text(folder / "files/worker-1.log", "zebra\n");
        write_text(folder / "history.jsonl",
                   R"({"type":"agent.notified","timestamp":"2026-01-02T03:04:05.678Z","role":"worker",)"
                   R"("message":"Look at the \"zebra\"\nonce more","commit":"1c2d3e4f"})"
                   "\n"
                   R"({"type":"zebra","timestamp":"2026-01-02T03:04:06.678Z","role":"zebra"})"
                   "\n");
        orange.start_daemon();
    }
    std::vector<rpc::SearchHit> find(rpc::TaskSearch params) {
        std::vector<rpc::SearchHit> hits;
        for (;;) {
            auto page = orange.call(params);
            std::ranges::move(page.hits, std::back_inserter(hits));
            if (!page.next) return hits;
            params.after = page.next;
        }
    }
    std::multiset<std::string> kinds(const std::string& text, const std::string& in = "all") {
        rpc::TaskSearch params;
        params.text = text;
        params.in = in;
        std::multiset<std::string> found;
        for (const auto& hit : find(params)) found.insert(hit.kind);
        return found;
    }
};

using Kinds = std::multiset<std::string>;

/// A grep that says that it runs, and reads a line of a pipe before it ends.
constexpr const char* k_still = R"sh(#!/bin/sh
echo $$ >>"$ORANGE_HOME/../started"
read -r line <"$ORANGE_HOME/../pipe"
echo end >>"$ORANGE_HOME/../ended"
exit 1
)sh";

struct StillSearch {
    Sandbox orange{"poll_interval: 3600\n"};
    fs::path repository = orange.add_project("shop");

    StillSearch() {
        (void)orange.create("shop", "Round the total", true);
        orange.stop_daemon();
        const auto grep = orange.root() / "still/grep";
        write_text(grep, k_still);
        fs::permissions(grep, fs::perms::owner_all);
        REQUIRE(::mkfifo((orange.root() / "pipe").c_str(), 0600) == 0);
        orange.start_daemon({}, {"PATH=" + grep.parent_path().string() + ":" + std::getenv("PATH")});
    }
    std::unique_ptr<Talk> searching() {
        return std::make_unique<Talk>(
            orange, std::vector<std::string>{"env", "ORANGE_HOME=" + orange.home().string(), program("orange").string(),
                                             "search", "--json", "total"});
    }
    std::vector<std::string> lines(const std::string& file) const {
        std::vector<std::string> all;
        if (!fs::exists(orange.root() / file)) return all;
        const auto text = read_file(orange.root() / file);
        for (const auto line : split_lines(text)) all.emplace_back(line);
        return all;
    }
};

}  // namespace

TEST_CASE("A search finds what was written in every place, also of a task that has ended") {
    Texts texts;
    rpc::TaskSearch params;
    params.text = "zebra";
    std::map<std::string, rpc::SearchHit> found;
    for (const auto& hit : texts.find(params)) {
        CHECK(hit.task == texts.ended);
        CHECK(hit.project == "shop");
        CHECK(hit.summary == "Round the total");
        found[hit.kind + " " + hit.section + hit.event + hit.window] = hit;
    }
    CHECK(found.size() == 5);
    CHECK(found["task Context"].text.find("zebra") != std::string::npos);
    CHECK(found["task Review"].text == "The zebra is rounded twice.");
    CHECK(found["kept Plan"].text == "A kept zebra");
    CHECK(found["history agent.notified"].text == "Look at the \"zebra\"");
    CHECK(found["history agent.notified"].commit == "1c2d3e4f");
    CHECK(to_rfc3339(found["history agent.notified"].at) == "2026-01-02T03:04:05.678Z");
    const auto& log = found["log review-1"];
    CHECK(log.run == "9aX");
    CHECK(log.line == 2);
    CHECK(log.text == "I have seen the zebra \\x1b[31m\\xff");

    CHECK(texts.kinds("zebra", "reviews") == Kinds{"task", "log"});
    CHECK(texts.kinds("zebra", "logs") == Kinds{"log"});
    CHECK(texts.kinds("zebra", "tasks") == Kinds{"task", "task", "task", "kept", "history"});
    CHECK(texts.kinds("zebra", "all").size() == 6);
    CHECK(texts.kinds("Zebra").empty());
    CHECK(texts.kinds("the \"zebra\"") == Kinds{"history"});
    CHECK(texts.kinds("\"quoted\\path\"") == Kinds{"task"});
    CHECK(texts.kinds("Round the total") == Kinds{"task"});
    CHECK(texts.kinds("nowhere to be found").empty());
}

TEST_CASE("A search is limited to a time and a project, and takes expressions that cannot use up the machine") {
    Texts texts;
    rpc::TaskSearch params;
    params.text = "zebra";
    params.since = "2026-01-03T00:00:00Z";
    for (const auto& hit : texts.find(params)) CHECK(hit.kind != "history");
    params.since.reset();
    texts.orange.add_project("other");
    params.project = "other";
    CHECK(texts.find(params).empty());
    const auto error_of = [&](rpc::TaskSearch wrong) {
        const auto reply = texts.orange.try_call(wrong);
        REQUIRE_FALSE(reply);
        return reply.error().code;
    };
    params.project = "nosuch";
    CHECK(error_of(params) == ErrorCode::not_found);
    params.project.reset();
    params.since = "yesterday";
    CHECK(error_of(params) == ErrorCode::invalid_argument);
    params.since.reset();
    params.after = "nonsense";
    CHECK(error_of(params) == ErrorCode::invalid_argument);
    params.after.reset();
    params.regex = true;
    params.text = "ze(b|x)ra is r.*d";
    const auto hits = texts.find(params);
    REQUIRE(hits.size() == 1);
    CHECK(hits[0].section == "Review");
    for (const auto* text : {"(", "((a{1,1000}){1,1000}){1,1000}", R"((.*)\1)"}) {
        params.text = text;
        CHECK(error_of(params) == ErrorCode::invalid_argument);
    }
}

TEST_CASE("Pages of a search have every hit once, the task that was changed last first") {
    Sandbox orange("poll_interval: 3600\n");
    orange.add_project("shop");
    std::vector<std::string> tasks;
    for (int i = 0; i < 70; ++i) tasks.push_back(orange.create("shop", "Find the walrus", true));
    orange.update_status(tasks[3], "cancelled").value();  // changed last
    rpc::TaskSearch params;
    params.text = "walrus";
    params.views = true;
    std::vector<std::string> found;
    int pages = 0;
    do {
        const auto page = orange.call(params);
        ++pages;
        for (const auto& hit : page.hits) {
            if (found.empty() || found.back() != hit.task) found.push_back(hit.task);
        }
        REQUIRE(page.tasks.size() <= found.size());
        for (std::size_t i = 0; i < page.tasks.size(); ++i) {
            CHECK(page.tasks[i].fields.id.value == found[found.size() - page.tasks.size() + i]);
        }
        params.after = page.next;
    } while (params.after);
    CHECK(pages >= 2);
    REQUIRE(found.size() == 70);
    CHECK(found[0] == tasks[3]);
    CHECK(std::set(found.begin(), found.end()) == std::set(tasks.begin(), tasks.end()));
    const auto ran = orange.orange({"search", "--json", "walrus"});
    CHECK(ran.status == 0);
    std::set<std::string> printed;
    for (const auto line : split_lines(ran.out)) printed.insert(Json::parse(line).at("task").get<std::string>());
    CHECK(printed.size() == 70);
    CHECK(orange.orange({"search", "no", "walrus"}).out.empty());
    CHECK(orange.orange({"search", "--", "--walrus"}).status == 0);
    CHECK(split_lines(orange.orange({"search", "the", "walrus"}).out).size() == 140);
}

TEST_CASE("What grep reads ends with the client that searches") {
    StillSearch still;
    {
        const auto client = still.searching();
        still.orange.eventually("grep runs", [&] { return still.lines("started").size() == 1; });
    }  // killed
    const auto pid = static_cast<pid_t>(std::stol(still.lines("started")[0]));
    still.orange.eventually("grep has ended", [&] { return ::kill(pid, 0) != 0; });
    CHECK(still.lines("ended").empty());
}

TEST_CASE("Two searches run at once, and the others take their turns while everything else goes on") {
    StillSearch still;
    std::vector<std::unique_ptr<Talk>> clients;
    for (int i = 0; i < 5; ++i) clients.push_back(still.searching());
    still.orange.eventually("two run", [&] { return still.lines("started").size() == 2; });
    CHECK(still.orange.call(rpc::DaemonPing{}).pid == still.orange.daemon_pid());
    const UniqueFd pipe(::open((still.orange.root() / "pipe").c_str(), O_RDWR | O_CLOEXEC));
    for (std::size_t ended = 1; ended <= clients.size(); ++ended) {
        CHECK(still.lines("started").size() <= ended + 1);
        REQUIRE(::write(pipe.get(), "go\n", 3) == 3);
        still.orange.eventually("one ends", [&] { return still.lines("ended").size() == ended; });
    }
    for (const auto& client : clients) CHECK(client->hear().is_null());
    CHECK(still.lines("started").size() == 5);
}

}  // namespace orange::tests

#include "common/log/query.hpp"
#include "common/log/tail.hpp"

#include <fstream>

#include "tests/catch.hpp"
#include "tests/fakes/temporary_folder.hpp"

using namespace orange;
using namespace std::chrono_literals;

namespace {

const Timestamp k_now = *from_rfc3339("2026-11-20T11:00:00.000Z");

std::string entry(const std::string& ts, const std::string& level, const std::string& component,
                  const std::string& msg) {
    return dump({{"ts", ts}, {"level", level}, {"component", component}, {"msg", msg}}) + "\n";
}

struct Home {
    orange::testing::TemporaryFolder folder;
    std::filesystem::path log = folder.path() / "orange.log";

    Home() {
        std::ofstream(log::rotated(log, 2)) << entry("2026-11-20T08:00:00.000Z", "info", "rpc", "oldest");
        std::ofstream(log::rotated(log, 1))
            << entry("2026-11-20T09:00:00.000Z", "warn", "git", "older") << "terminate called without JSON\n";
        std::ofstream(log) << entry("2026-11-20T10:00:00.000Z", "debug", "rpc", "says \"Hello\"")
                           << entry("2026-11-20T10:30:00.000Z", "error", "journal", "No space left");
    }
    std::vector<std::string> found(const log::Query& query) {
        std::vector<std::string> messages;
        const auto found = log::search(log, query).value();
        for (const auto& line : found.lines) {
            messages.push_back(line.json.is_object() ? line.json.at("msg").get<std::string>() : line.text);
        }
        return messages;
    }
};

using Messages = std::vector<std::string>;

}  // namespace

TEST_CASE("The last lines of the log reach into the rotated files, oldest first") {
    Home home;
    log::Query query;
    CHECK(home.found(query) ==
          Messages{"oldest", "older", "terminate called without JSON", "says \"Hello\"", "No space left"});
    query.lines = 3;
    CHECK(home.found(query) == Messages{"terminate called without JSON", "says \"Hello\"", "No space left"});
    CHECK(log::search(home.folder.path() / "none.log", {}).value().lines.empty());
}

TEST_CASE("A search is by level and above, component, literal text and time, and a line that is no JSON stays") {
    Home home;
    log::Query query;
    query.level = "warn";
    CHECK(home.found(query) == Messages{"older", "terminate called without JSON", "No space left"});
    query = {};
    query.component = "rpc";
    CHECK(home.found(query) == Messages{"oldest", "terminate called without JSON", "says \"Hello\""});
    query = {};
    query.grep = "\"hELLO\"";
    CHECK(home.found(query) == Messages{"says \"Hello\""});
    query.grep = "N. space";  // no regular expression
    CHECK(home.found(query).empty());
    query = {};
    query.since = k_now - 90min;
    // A line without a time counts as of the time of its neighbours, at the border as later.
    CHECK(home.found(query) == Messages{"terminate called without JSON", "says \"Hello\"", "No space left"});
    query = {};
    query.level = "loud";
    CHECK_THAT(log::search(home.log, query).error().message, Tells("debug, info, warn, error"));
}

TEST_CASE("A search that may read only so much says that there may be more") {
    Home home;
    log::Query query;
    query.most_read = 100;
    const auto found = log::search(home.log, query).value();
    CHECK(found.more);
    CHECK(found.lines.size() == 1);
    CHECK_FALSE(log::search(home.log, {}).value().more);
}

TEST_CASE("A search finds what is further back than the last MiB of a file") {
    Home home;
    std::ofstream out(home.log, std::ios::app);
    for (std::uint64_t size = 0; size < 2 * log::k_end; size += 100) {
        out << entry("2026-11-20T10:40:00.000Z", "info", "noise", std::string(40, 'x'));
    }
    out.close();
    log::Query query;
    query.level = "error";
    CHECK(home.found(query) == Messages{"terminate called without JSON", "No space left"});
}

TEST_CASE("A time is so long ago, or a moment") {
    CHECK(log::time_from("90s", k_now) == k_now - 90s);
    CHECK(log::time_from("10m", k_now) == k_now - 10min);
    CHECK(log::time_from("3h", k_now) == k_now - 3h);
    CHECK(log::time_from("2d", k_now) == k_now - 48h);
    CHECK(log::time_from("2026-11-20T11:00:00Z", k_now) == k_now);
    for (const char* wrong : {"", "m", "10", "-5m", "10 m", "10w", "1.5h", "99999999999999999999s", "yesterday"}) {
        CAPTURE(wrong);
        CHECK_FALSE(log::time_from(wrong, k_now));
    }
}

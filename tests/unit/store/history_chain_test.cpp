#include "daemon/store/history_chain.hpp"

#include <algorithm>
#include <functional>
#include <memory>

#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "common/model/json.hpp"
#include "daemon/async/async.hpp"
#include "daemon/store/task_store.hpp"
#include "tests/catch.hpp"
#include "tests/fakes/memory_file_system.hpp"
#include "tests/support/os_fixture.hpp"
#include "tests/unit/store/records.hpp"

using namespace orange;
using namespace orange::store;

namespace {

/// Counts what is read.
struct ReadFiles final : fakes::MemoryFileSystem {
    Result<Piece> read_before(const Path& path, std::optional<std::uintmax_t> end, std::size_t size) override {
        ++reads;
        auto piece = MemoryFileSystem::read_before(path, end, size);
        if (piece) bytes += piece->bytes.size();
        return piece;
    }
    int reads = 0;
    std::uintmax_t bytes = 0;
};

using ChainLines = std::vector<std::string>;

struct ChainWorld {
    ReadFiles files;
    std::unique_ptr<TaskStore> store = std::make_unique<TaskStore>(files, "/tasks");
    TaskRecord record = testing::example_record();

    ChainWorld() { store->create(record, "").value(); }
    explicit ChainWorld(int events) : ChainWorld() { write(events); }

    Path file() { return store->folder(record) / "history.jsonl"; }
    std::string& text() { return files.files[file()]; }
    ChainLines lines() {
        ChainLines all;
        for (const auto line : split_lines(text())) all.emplace_back(line);
        return all;
    }
    void set(const ChainLines& lines) {
        text().clear();
        for (const auto& line : lines) text() += line + "\n";
    }
    void write(int events = 1) {
        for (int n = 0; n < events; ++n) {
            const auto type = "event." + std::to_string(++written);
            store->append_history(record.task.id, {type, record.task.created_at, {{"n", std::int64_t{7}}}}).value();
        }
    }
    /// Another daemon begins, which knows nothing but the files.
    void restart() {
        store = std::make_unique<TaskStore>(files, "/tasks");
        store->load().value();
    }
    ChainReport verify(const TaskId& id) {
        asio::io_context io;
        return test::run(io, verify_history(*store, id)).value();
    }
    ChainReport verify() { return verify(record.task.id); }

    int written = 0;
};

std::string old_line(int n) {
    return "{\"n\":" + std::to_string(n) + ",\"timestamp\":\"2026-01-02T03:04:05.678Z\",\"type\":\"star.aligned\"}";
}

/// Returns the points as "changed 3-3".
ChainLines points_of(const ChainReport& report) {
    ChainLines points;
    for (const auto& point : report.points) {
        points.push_back(point.kind + " " + std::to_string(point.line) + "-" + std::to_string(point.last));
    }
    return points;
}

Awaitable<Result<ChainReport>> verified_until(const TaskStore& store, TaskId id, bool& is_done) {
    auto report = co_await verify_history(store, std::move(id));
    is_done = true;
    co_return report;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("each line of a history names the hash of the line before, and no event shows it") {
    ChainWorld world(3);
    auto before = sha256(world.record.task.id.value);
    for (const auto& line : world.lines()) {
        CHECK(Json::parse(line).at("prev") == before);
        before = sha256(line);
    }
    const auto history = world.store->history(world.record.task.id).value();
    for (const auto& event : history) CHECK(event.fields.size() == 1);
    for (const bool restarted : {false, true}) {
        if (restarted) world.restart();
        const auto report = world.verify();
        CHECK(report.holds);
        CHECK(report.from == 1);
        CHECK(report.lines == 3);
        CHECK(report.head == "sha256:" + before);
        CHECK(report.points.empty());
    }
    CHECK(world.store->chain_head(TaskId{"none"}).empty());
    world.write();
    CHECK(Json::parse(world.lines().back()).at("prev") == before);
    CHECK(world.verify().holds);
}

TEST_CASE("a line that was changed, removed, put in or moved is named") {
    ChainWorld world(6);
    auto lines = world.lines();
    const auto start = lines.begin();
    const auto forged = chained_line({"star.aligned", {}, {}}, sha256(lines[1]));
    struct Expected {
        ChainLines points;
        std::int64_t from = 0;
    } expected;
    SECTION("changed") {
        lines[2] = replaced(lines[2], "\"n\":7", "\"n\":8");
        expected = {{"changed 3-3"}, 4};
    }
    SECTION("the first one changed") {
        lines[0] = replaced(lines[0], "\"n\":7", "\"n\":8");
        expected = {{"changed 1-1"}, 2};
    }
    SECTION("changed to a text that is no event") {
        lines[2] = "nothing";
        expected = {{"changed 3-3"}, 4};
    }
    SECTION("two of them changed") {
        lines[1] = replaced(lines[1], "\"n\":7", "\"n\":8");
        lines[3] = replaced(lines[3], "event.4", "event.9");
        expected = {{"changed 2-2", "changed 4-4"}, 5};
    }
    SECTION("its prev changed") {
        lines[2] = replaced(lines[2], sha256(lines[1]), std::string(64, '0'));
        expected = {{"changed 2-2", "changed 3-3"}, 4};
    }
    SECTION("its prev taken out") {
        auto json = Json::parse(lines[2]);
        json.erase("prev");
        lines[2] = json.dump();
        expected = {{"changed 3-3"}, 4};
    }
    SECTION("a prev that is no text") {
        auto json = Json::parse(lines[5]);
        json["prev"] = 5;
        lines[5] = json.dump();
        expected = {{"unchained 6-6"}, 0};
    }
    SECTION("removed") {
        lines.erase(start + 2);
        expected = {{"changed 2-2"}, 3};
    }
    SECTION("the first ones removed") {
        lines.erase(start, start + 2);
        expected = {{"beginning 1-1"}, 1};
    }
    SECTION("exchanged with the next one") {
        std::swap(lines[2], lines[3]);
        expected = {{"inserted 4-4"}, 5};
    }
    SECTION("the last one moved to the beginning") {
        std::rotate(lines.begin(), lines.end() - 1, lines.end());
        expected = {{"inserted 1-1"}, 2};
    }
    SECTION("moved, and another one removed") {
        lines = {lines[0], lines[1], lines[4], lines[3], lines[5]};
        expected = {{"moved 3-3", "inserted 4-4"}, 5};
    }
    SECTION("a copy put in") {
        lines.insert(start + 4, lines[1]);
        expected = {{"inserted 5-5"}, 6};
    }
    SECTION("a line without prev put in") {
        lines.insert(start + 2, old_line(1));
        expected = {{"inserted 3-3"}, 4};
    }
    SECTION("lines with the right prev put in") {
        lines.insert(start + 2, {forged, chained_line({"star.aligned", {}, {}}, sha256(forged))});
        expected = {{"inserted 3-4"}, 5};
    }
    SECTION("a line put in that is no event") {
        lines.insert(start + 2, "nothing");
        expected = {{"unreadable 3-3"}, 1};
    }
    SECTION("several things") {
        lines.insert(start + 4, {"nothing", "nothing at all"});
        lines[1] = replaced(lines[1], "\"n\":7", "\"n\":8");
        expected = {{"changed 2-2", "unreadable 5-6"}, 3};
    }
    world.set(lines);
    world.restart();
    const auto report = world.verify();
    CHECK_FALSE(report.holds);
    CHECK(points_of(report) == expected.points);
    CHECK(report.from == expected.from);
    CHECK(report.head == "sha256:" + sha256(lines.back()));
    for (const auto& point : report.points) CHECK_THAT(point.text, Tells(std::to_string(point.line)));

    // It stays so, whatever is written afterwards.
    world.write(2);
    CHECK_FALSE(world.verify().holds);
}

TEST_CASE("a history of another task, and a line of one, is not taken for the task's own") {
    ChainWorld world(3);
    auto other = testing::example_record("W1StGXR8Z5jdHi6BmyT0b");
    other.task.branch = "other";
    world.store->create(other, "").value();
    for (int n = 0; n < 3; ++n) world.store->append_history(other.task.id, {"event", {}, {}}).value();
    const Path file = world.store->folder(other) / "history.jsonl";
    SECTION("the file") {
        std::swap(world.files.files[file], world.text());
        world.restart();
        CHECK(points_of(world.verify()) == ChainLines{"beginning 1-1"});
        CHECK(points_of(world.verify(other.task.id)) == ChainLines{"beginning 1-1"});
    }
    SECTION("a line") {
        auto lines = world.lines();
        lines[1] = split_lines(world.files.files[file])[1];
        world.set(lines);
        world.restart();
        CHECK(points_of(world.verify()) == ChainLines{"changed 1-1", "changed 2-2"});
    }
}

TEST_CASE("a line that a crash cut off anywhere breaks no chain, and its repair is an event") {
    ChainWorld world(3);
    const auto whole = world.text();
    world.write();
    const auto more = world.text();
    for (auto length = whole.size() + 1; length <= more.size(); ++length) {
        world.text() = more.substr(0, length);
        world.restart();
        const bool is_whole = length + 1 >= more.size();
        auto report = world.verify();
        CHECK(report.holds);
        CHECK(report.is_cut_off != is_whole);
        CHECK(report.lines == (is_whole ? 4 : 3));
        world.write();
        report = world.verify();
        CHECK(report.holds);
        CHECK(report.from == 1);
        CHECK_FALSE(report.is_cut_off);
        CHECK(report.lines == 5);
        const auto events = world.store->history(world.record.task.id).value();
        CHECK((events[3].type == "history.repaired") != is_whole);
    }
    world.text() = "{\"type\": \"to";
    world.restart();
    CHECK(world.verify().is_cut_off);
    world.write();
    CHECK(world.verify().holds);
    CHECK(world.verify().from == 1);
}

TEST_CASE("a line that a crash cut off, and that stays in a very large history, breaks no chain") {
    ChainWorld world;
    const auto large = replaced(old_line(1), "aligned", std::string(std::size_t{1} << 20, 'x'));
    for (int n = 0; n < 17; ++n) world.text() += large + "\n";
    world.write(2);
    world.text() += "{\"type\": \"to";
    world.restart();
    CHECK(world.verify().holds);
    world.write(2);
    for (const bool restarted : {false, true}) {
        if (restarted) world.restart();
        const auto report = world.verify();
        CHECK(report.holds);
        CHECK(report.from == 18);
        CHECK(report.lines == 23);  // the cut off line, and its repair
    }
    // Another text in its place is not what was cut off.
    world.text() = replaced(world.text(), "{\"type\": \"to\n", "{\"type\": \"toto\n");
    CHECK(points_of(world.verify()) == ChainLines{"unreadable 20-20"});
}

TEST_CASE("a history of an older Orange has its chain from where it begins") {
    ChainWorld world;
    world.set({old_line(1), old_line(2), "no event", old_line(3)});
    const auto old = world.verify();
    CHECK_FALSE(old.holds);
    CHECK(old.from == 0);
    CHECK(points_of(old) == ChainLines{"none 0-0"});

    world.write(2);
    CHECK(Json::parse(world.lines().at(4)).at("prev") == sha256(old_line(3)));
    const auto report = world.verify();
    CHECK(report.holds);
    CHECK(report.from == 5);
    CHECK(report.lines == 6);

    auto lines = world.lines();
    SECTION("an older Orange writes again") {
        lines.insert(lines.end(), {old_line(4), old_line(5)});
        world.set(lines);
        world.restart();
        CHECK(points_of(world.verify()) == ChainLines{"unchained 7-8"});
        CHECK(world.verify().from == 0);
        world.write(2);
        CHECK(points_of(world.verify()) == ChainLines{"unchained 7-8"});
        CHECK(world.verify().from == 9);
        CHECK_FALSE(world.verify().holds);
    }
    SECTION("the line before the chain is changed") {
        lines[3] = old_line(6);
        world.set(lines);
        CHECK(points_of(world.verify()) == ChainLines{"changed 4-4"});
    }
    SECTION("the history was repaired, and nothing else was written") {
        world.set({old_line(1)});
        world.restart();
        CHECK_FALSE(*world.store->repair_history(world.record.task.id, [] { return Timestamp{}; }));
        CHECK(points_of(world.verify()) == ChainLines{"none 0-0"});
    }
}

TEST_CASE("a daemon notices that the lines which it has written last are gone") {
    ChainWorld world(5);
    auto lines = world.lines();
    const auto last = lines.back();
    SECTION("removed") {
        lines.resize(3);
        world.set(lines);
        CHECK(points_of(world.verify()) == ChainLines{"changed 3-3"});
        world.write();
        CHECK(points_of(world.verify()) == ChainLines{"changed 3-3"});
    }
    SECTION("followed by a line of another program") {
        lines.push_back(chained_line({"star.aligned", {}, {}}, sha256(last)));
        world.set(lines);
        CHECK(points_of(world.verify()) == ChainLines{"inserted 6-6"});
        CHECK(world.verify().from == 0);
        world.write();
        CHECK(points_of(world.verify()) == ChainLines{"inserted 6-6"});
        CHECK(world.verify().from == 7);
    }
    SECTION("changed, with the same length") {
        lines.back() = replaced(last, "\"n\":7", "\"n\":8");
        world.set(lines);
        CHECK(points_of(world.verify()) == ChainLines{"changed 5-5"});
    }
    SECTION("the file is gone") {
        world.files.files.erase(world.file());
        CHECK(points_of(world.verify()) == ChainLines{"empty 0-0"});
        CHECK(world.verify().head.empty());
        world.write();
        CHECK(points_of(world.verify()) == ChainLines{"beginning 1-1"});
    }
}

TEST_CASE("a disk that was full breaks no chain") {
    ChainWorld world(2);
    const auto& id = world.record.task.id;
    world.files.failures[world.file()] = Error(ErrorCode::io, "full");
    CHECK_FALSE(world.store->append_history(id, {"lost", {}, {}}));
    asio::io_context io;
    CHECK(test::run(io, verify_history(*world.store, id)).error().code == ErrorCode::io);
    world.files.failures.clear();
    // A part of the line is there, and cannot be removed.
    world.text() += "{\"type\": \"lo";
    world.write(2);
    CHECK(world.verify().holds);
    CHECK(world.verify().lines == 5);
    CHECK(test::run(io, verify_history(*world.store, TaskId{"none"})).error().code == ErrorCode::not_found);
}

TEST_CASE("a chain costs one read of a history's end for each daemon, and no other call") {
    ChainWorld world(2);
    world.files.reads = 0;
    world.write(20);
    CHECK(world.files.reads == 0);
    world.restart();
    world.write(20);
    CHECK(world.files.reads == 1);
    CHECK(world.verify().holds);
}

TEST_CASE("ten thousand lines are read once, and others have their turns meanwhile") {
    ChainWorld world(10'000);
    world.restart();
    world.files.bytes = 0;
    asio::io_context io;
    int turns = 0;
    bool is_done = false;
    std::function<void()> turn = [&] {
        ++turns;
        if (!is_done) asio::post(io, turn);
    };
    asio::post(io, turn);
    const auto report = test::run(io, verified_until(*world.store, world.record.task.id, is_done)).value();
    CHECK(report.holds);
    CHECK(report.lines == 10'000);
    CHECK(turns >= 10'000 / 128);
    CHECK(world.files.bytes == world.text().size());

    auto lines = world.lines();
    for (auto& line : lines) line = replaced(line, "\"n\":7", "\"n\":8");
    world.set(lines);
    const auto broken = world.verify();
    CHECK(broken.points.size() == 100);
    CHECK(broken.points.size() + static_cast<std::size_t>(broken.more) == 9'999);
}

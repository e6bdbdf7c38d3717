#include "daemon/runner/transitions/journal.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>

#include "daemon/async/async.hpp"
#include "daemon/files/posix_file_system.hpp"
#include "tests/catch.hpp"
#include "tests/fakes/memory_file_system.hpp"
#include "tests/support/os_fixture.hpp"

using namespace orange;

namespace {

struct JournalWorld {
    fakes::MemoryFileSystem files;
    store::TaskStore tasks{files, "/tasks"};
    SystemClock clock;
    Journal journal{tasks, clock};
    TaskRecord record;

    JournalWorld() {
        record.task.id = TaskId{random_id(k_task_id_length)};
        record.task.project = "shop";
        record.task.branch = "fix";
        record.task.status = "pending";
        tasks.create(record, "").value();
    }
    void publish(const std::string& type) { journal.publish(record.task.id, "shop", HistoryEvent{type, {}, {}}); }
    Path history() { return tasks.folder(record) / "history.jsonl"; }
};

TaskRecord pending(const std::string& project) {
    TaskRecord record;
    record.task.id = TaskId{random_id(k_task_id_length)};
    record.task.project = project;
    record.task.branch = "fix-" + record.task.id.value;
    record.task.status = "pending";
    return record;
}

/// Files that know when they were written to, and count what they are asked for.
struct AskedFiles final : fakes::MemoryFileSystem {
    Result<FileFacts> facts_of(const Path& path) override {
        ++looks;
        if (path == unseen) return Error(ErrorCode::io, "not now");
        auto facts = MemoryFileSystem::facts_of(path);
        const auto time = written.find(path);
        if (facts && time != written.end()) facts->modified = time->second;
        return facts;
    }
    Result<Piece> read_before(const Path& path, std::optional<std::uintmax_t> end, std::size_t size) override {
        ++reads;
        return MemoryFileSystem::read_before(path, end, size);
    }
    std::map<Path, Timestamp> written;
    Path unseen;
    int looks = 0;
    int reads = 0;
};

/// Histories in real files, which know when they were written to.
struct Shelf {
    test::TempDir dir;
    PosixFileSystem files{std::vector<Path>{dir / "tasks"}};
    std::unique_ptr<store::TaskStore> store = std::make_unique<store::TaskStore>(files, dir / "tasks");
    SystemClock clock;

    TaskRecord add(const std::string& project) {
        auto record = pending(project);
        store->create(record, "").value();
        return record;
    }
    /// Another daemon begins.
    store::TaskStore& load() {
        store = std::make_unique<store::TaskStore>(files, dir / "tasks");
        store->load().value();
        return *store;
    }
    std::filesystem::path history(const TaskRecord& record) { return store->folder(record) / "history.jsonl"; }
    /// Lines as they stand in a file, which the daemon before wrote to last so long ago.
    void write(const TaskRecord& record, const std::string& lines, std::chrono::minutes ago) {
        test::write_file(history(record), lines);
        std::filesystem::last_write_time(history(record), std::chrono::file_clock::now() - ago);
    }
};

std::string line(const std::string& type, Timestamp time) {
    return "{\"type\":\"" + type + "\",\"timestamp\":\"" + to_rfc3339(time) + "\"}\n";
}

/// Runs to its end on a loop of its own.
template <class T>
T go(Awaitable<T> coroutine) {
    asio::io_context io;
    return test::run(io, std::move(coroutine));
}

std::vector<std::string> types_of(const std::vector<StreamEvent>& events) {
    std::vector<std::string> types;
    for (const auto& event : events) types.push_back(event.event.type);
    return types;
}

Awaitable<void> publish_soon(JournalWorld& world) {
    co_await async::yield();
    world.publish("late");
}

/// Returns the last events while another one is published.
Awaitable<std::vector<StreamEvent>> recent_meanwhile(JournalWorld& world, std::size_t limit) {
    const auto executor = co_await async::this_executor();
    async::spawn(executor, "publishing", publish_soon(world));
    EventFilter filter;
    auto found = co_await world.journal.recent(std::move(filter), limit);
    co_return found;
}

}  // namespace

TEST_CASE("an event that leaves memory while the histories are read is told once") {
    JournalWorld world;
    world.journal.write(world.record, "first");
    constexpr int k_others = 40, k_in_memory = 4096;
    for (int n = 0; n < k_others; ++n) {
        const auto other = pending("shop");
        world.tasks.create(other, "").value();
        world.journal.write(other, "other");
    }
    for (int n = k_others + 1; n < k_in_memory; ++n) world.publish("more");
    const auto types = types_of(go(recent_meanwhile(world, 2 * k_in_memory)));
    CHECK(std::ranges::count(types, "first") == 1);
    CHECK(std::ranges::count(types, "late") == 0);
    CHECK(types.size() == k_in_memory);
}

TEST_CASE("a cursor gives what came after it, and nothing twice") {
    JournalWorld world;
    const auto start = world.journal.cursor();
    world.publish("one");
    const auto between = world.journal.cursor();
    world.publish("two");
    CHECK(types_of(go(world.journal.since(start)).value()) == std::vector<std::string>{"one", "two"});
    CHECK(types_of(go(world.journal.since(between)).value()) == std::vector<std::string>{"two"});
    CHECK(go(world.journal.since(world.journal.cursor())).value().empty());
}

TEST_CASE("what is no cursor, or one of the future, is told from an old one") {
    JournalWorld world;
    world.publish("one");
    const auto cursor = world.journal.cursor();
    const auto boot = cursor.substr(0, cursor.find('-'));
    const auto late = std::to_string((world.clock.now() + std::chrono::hours(1)).time_since_epoch().count());
    CHECK_FALSE(go(world.journal.since(boot + "-2-" + late)));
    CHECK_FALSE(go(world.journal.since("elsewhere-1-" + late)));
    for (const char* wrong : {"", "-", "--", "a-1", "-1-1", "a--1", "a-1-", "a-1-1-1"}) {
        CHECK_FALSE(go(world.journal.since(wrong)));
    }
    CHECK_FALSE(go(world.journal.since(boot + "--1-5")));
    CHECK_FALSE(go(world.journal.since(cursor + "x")));
}

TEST_CASE("a cursor of a daemon before this one goes on with what stands in the histories") {
    JournalWorld world;
    world.journal.write(world.record, "one");
    const auto cursor = world.journal.cursor();
    // In the same millisecond, as far as the clock can tell; the last one was written and told to nobody.
    world.journal.write(world.record, "two");
    world.journal.write(world.record, "three");
    CHECK(types_of(go(world.journal.since(cursor)).value()) == std::vector<std::string>{"two", "three"});

    while (world.clock.now() <= world.tasks.history(world.record.task.id).value().back().timestamp) {
    }
    Journal next(world.tasks, world.clock);
    CHECK(types_of(go(next.since(cursor)).value()) == std::vector<std::string>{"two", "three"});
    const auto read_back = go(next.since(cursor)).value();
    CHECK(types_of(go(next.since(next.cursor_of(read_back[0]))).value()) == std::vector<std::string>{"three"});
    next.write(world.record, "four");
    CHECK(types_of(go(next.since(cursor)).value()) == std::vector<std::string>{"two", "three", "four"});
    CHECK(types_of(go(next.since(next.cursor_of(read_back[1]))).value()) == std::vector<std::string>{"four"});
    CHECK(types_of(go(next.since(next.cursor())).value()).empty());
    CHECK(types_of(go(next.recent({}, 3))) == std::vector<std::string>{"two", "three", "four"});
    EventFilter filter;
    filter.types = {"one", "four"};
    CHECK(types_of(go(next.recent(filter, 10))) == std::vector<std::string>{"one", "four"});
    filter.task = TaskId{"another"};
    CHECK(go(next.recent(filter, 10)).empty());
}

TEST_CASE("behind a wall no event names the files of other tasks") {
    EventFilter filter;
    const StreamEvent clashes{1, {}, "shop", {"clashes.changed", {}, {}}};
    CHECK(filter.wants(clashes));
    filter.behind_wall = true;
    CHECK_FALSE(filter.wants(clashes));
    filter.types = {"clashes"};
    CHECK_FALSE(filter.wants(clashes));
    filter.types.clear();
    CHECK(filter.wants({1, {}, "shop", {"changes.counted", {}, {}}}));
}

TEST_CASE("a filter takes a whole type, or what stands before its dot") {
    EventFilter filter;
    filter.types = {"agent", "task.created"};
    const auto wants = [&](const std::string& type) { return filter.wants({1, {}, "shop", {type, {}, {}}}); };
    CHECK(wants("agent.spawned"));
    CHECK(wants("task.created"));
    CHECK_FALSE(wants("task.merged"));
    CHECK_FALSE(wants("agents"));
    filter.project = "shop";
    CHECK(wants("agent.spawned"));
    filter.project = "mill";
    CHECK_FALSE(wants("agent.spawned"));
}

TEST_CASE("a cursor that is older than what is kept is read back, up to as much as is kept") {
    JournalWorld world;
    const auto start = world.journal.cursor();
    world.publish("first");
    const auto first = world.journal.cursor();
    for (int i = 0; i < 4096; ++i) world.publish("more");
    CHECK(go(world.journal.since(first)).value().size() == 4096);
    world.journal.write(world.record, "more");
    CHECK(go(world.journal.since(start)).value().size() == 4096);  // "first" had no history to stand in

    JournalWorld busy;
    const auto before = busy.journal.cursor();
    for (int i = 0; i < 4097; ++i) busy.journal.write(busy.record, "more");
    CHECK_FALSE(go(busy.journal.since(before)));
}

TEST_CASE("a listener may leave, or send others away, while it is called") {
    JournalWorld world;
    std::vector<std::string> heard;
    int first = 0, second = 0;
    first = world.journal.listen([&](const StreamEvent& event) {
        heard.push_back("first " + event.event.type);
        world.journal.unlisten(first);
        world.journal.unlisten(second);
    });
    second = world.journal.listen([&](const StreamEvent&) { heard.push_back("second"); });
    world.journal.listen([&](const StreamEvent& event) { heard.push_back("third " + event.event.type); });
    world.publish("one");
    world.publish("two");
    CHECK(heard == std::vector<std::string>{"first one", "third one", "third two"});
}

TEST_CASE("a listener that publishes hears both events in order") {
    JournalWorld world;
    std::vector<std::int64_t> numbers;
    world.journal.listen([&](const StreamEvent& event) {
        numbers.push_back(event.number);
        if (event.event.type == "one") world.publish("two");
    });
    world.publish("one");
    CHECK(numbers == std::vector<std::int64_t>{1, 2});
}

TEST_CASE("an event goes into the history and out to listeners, also where the disk is full") {
    JournalWorld world;
    int heard = 0;
    world.journal.listen([&](const StreamEvent&) { ++heard; });
    world.journal.write(world.record, "one", {{"n", std::int64_t{1}}});
    CHECK(world.tasks.history(world.record.task.id).value().size() == 1);
    world.files.failures[world.history()] = Error(ErrorCode::io, "full");
    world.journal.write(world.record, "two");
    CHECK(heard == 2);
}

TEST_CASE("what is written once is written and told once") {
    JournalWorld world;
    int heard = 0;
    world.journal.listen([&](const StreamEvent&) { ++heard; });
    CHECK(world.journal.write_once(world.record, "moved", {{"tx", "a"}}));
    CHECK(world.journal.write_once(world.record, "moved", {{"tx", "a"}}));
    CHECK(world.journal.write_once(world.record, "moved", {{"tx", "b"}}));
    CHECK(heard == 2);
    world.files.failures[world.history()] = Error(ErrorCode::io, "full");
    CHECK_FALSE(world.journal.write_once(world.record, "moved", {{"tx", "c"}}));
    CHECK(heard == 2);
}

TEST_CASE("what is written once is looked for at the end of the history, not in all of it") {
    JournalWorld world;
    REQUIRE(world.journal.write_once(world.record, "moved", {{"tx", "a"}}));
    const std::string other = "{\"type\":\"moved\",\"timestamp\":\"2026-11-20T10:49:03.120Z\",\"tx\":\"b\"}\n";
    std::string others;
    while (others.size() < 500'000) others += other;
    auto& file = world.files.files[world.history()];
    file += others;
    CHECK(world.journal.write_once(world.record, "moved", {{"tx", "a"}}));
    CHECK(file.ends_with(others));
    // Beyond what can be written between the two tries of one transition.
    file += others + others;
    CHECK(world.journal.write_once(world.record, "moved", {{"tx", "a"}}));
    CHECK_FALSE(file.ends_with(others));
}

TEST_CASE("what another event only mentions, or what was torn, was not told") {
    JournalWorld world;
    auto& file = world.files.files[world.history()];
    file = "{\"type\":\"said\",\"timestamp\":\"2026-11-20T10:49:03.120Z\",\"text\":\"moved\"}\n";
    SECTION("mentioned") {}
    SECTION("torn") {
        file += "{\"type\":\"moved\",\"timest\n";
    }
    REQUIRE(world.journal.write_once(world.record, "moved", {{"tx", "a"}}));
    const auto told = file;
    REQUIRE(world.journal.write_once(world.record, "moved", {{"tx", "a"}}));
    CHECK(file == told);
    CHECK_THAT(told, Tells("\"tx\":\"a\""));
}

TEST_CASE("the last events are those of the histories that were written to last") {
    Shelf shelf;
    const auto old = shelf.add("shop"), young = shelf.add("shop"), elsewhere = shelf.add("mill");
    const auto now = shelf.clock.now();
    using std::chrono::minutes;
    shelf.write(old, line("old", now - minutes(90)) + "no event\n" + line("older", now - minutes(80)), minutes(80));
    shelf.write(young, line("young", now - minutes(3)) + line("younger", now - minutes(2)), minutes(2));
    shelf.write(elsewhere, line("elsewhere", now - minutes(1)), minutes(1));
    Journal journal(shelf.load(), shelf.clock);
    EventFilter filter;
    CHECK(types_of(go(journal.recent(filter, 2))) == std::vector<std::string>{"younger", "elsewhere"});
    CHECK(types_of(go(journal.recent(filter, 9))) ==
          std::vector<std::string>{"old", "older", "young", "younger", "elsewhere"});
    filter.project = "shop";
    CHECK(types_of(go(journal.recent(filter, 1))) == std::vector<std::string>{"younger"});
    CHECK(types_of(go(journal.recent(filter, 3))) == std::vector<std::string>{"older", "young", "younger"});
    filter.task = old.task.id;
    CHECK(types_of(go(journal.recent(filter, 3))) == std::vector<std::string>{"old", "older"});
    journal.write(old, "now");
    journal.write(young, "also now");
    CHECK(types_of(go(journal.recent({}, 1))) == std::vector<std::string>{"also now"});
    CHECK(types_of(go(journal.recent(filter, 2))) == std::vector<std::string>{"older", "now"});
}

TEST_CASE("the last events of each history come in the order of its lines, if the clock was ahead for a while") {
    Shelf shelf;
    const auto one = shelf.add("shop"), other = shelf.add("shop");
    const auto now = shelf.clock.now();
    using std::chrono::minutes;
    shelf.write(one, line("first", now - minutes(9)) + line("ahead", now + minutes(40'000)), minutes(0));
    shelf.write(other,
                line("before", now - minutes(8)) + line("far ahead", now + minutes(50'000)) +
                    line("right again", now - minutes(7)),
                minutes(7));
    Journal journal(shelf.load(), shelf.clock);
    journal.write(one, "second");
    CHECK(types_of(go(journal.recent({}, 9))) ==
          std::vector<std::string>{"first", "before", "far ahead", "right again", "ahead", "second"});
    EventFilter filter;
    filter.task = one.task.id;
    CHECK(types_of(go(journal.recent(filter, 9))) == std::vector<std::string>{"first", "ahead", "second"});
}

TEST_CASE("of a restored home, whose histories are all newer than their events, the last events cost little more") {
    JournalWorld world;
    const auto begin = world.clock.now() - std::chrono::hours(100);
    constexpr int k_tasks = 400, k_events = 60;
    std::vector<TaskId> ids;
    for (int task = 0; task < k_tasks; ++task) {
        auto record = world.record;
        record.task.id = TaskId{random_id(k_task_id_length)};
        record.task.branch = "fix-" + record.task.id.value;
        world.tasks.create(record, "").value();
        std::string lines;
        for (int event = 0; event < k_events; ++event) {
            const int number = event * k_tasks + task;
            lines += line("e" + std::to_string(number), begin + std::chrono::seconds(number));
        }
        world.files.replace(world.tasks.folder(record) / "history.jsonl", lines).value();
        ids.push_back(record.task.id);
    }
    const auto ticks_of = [](const auto& work) {
        const auto before = std::clock();
        work();
        return std::clock() - before;
    };
    const auto read_all = ticks_of([&] {
        for (const auto& id : ids) CHECK(world.tasks.history(id).value().size() == k_events);
    });
    std::vector<std::string> last;
    store::TaskStore restored(world.files, "/tasks");
    restored.load().value();
    const Journal journal(restored, world.clock);
    const auto recent = ticks_of([&] { last = types_of(go(journal.recent({}, 100))); });
    REQUIRE(last.size() == 100);
    for (int i = 0; i < 100; ++i) {
        CHECK(last[static_cast<std::size_t>(i)] == "e" + std::to_string(k_tasks * k_events - 100 + i));
    }
    CHECK(recent < 4 * read_all + CLOCKS_PER_SEC / 20);
}

TEST_CASE("the last events and a cursor cost the disk nothing for tasks that have no such event") {
    AskedFiles files;
    SystemClock clock;
    const auto now = clock.now();
    constexpr int k_tasks = 200;
    std::vector<TaskRecord> records;
    {
        store::TaskStore before(files, "/tasks");
        for (int task = 0; task < k_tasks; ++task) {
            records.push_back(pending("shop"));
            before.create(records.back(), "").value();
            const auto time = now - std::chrono::minutes(k_tasks - task);
            const auto file = before.folder(records.back()) / "history.jsonl";
            files.replace(file, line("e" + std::to_string(task), time)).value();
            files.written[file] = time;
        }
    }
    store::TaskStore tasks(files, "/tasks");
    tasks.load().value();
    Journal journal(tasks, clock);
    const auto asked_for = [&](const auto& work) {
        files.looks = files.reads = 0;
        work();
        return std::pair(files.looks, files.reads);
    };
    std::vector<std::string> found;
    const auto recent = asked_for([&] { found = types_of(go(journal.recent({}, 2))); });
    CHECK(found == std::vector<std::string>{"e198", "e199"});
    CHECK(recent == std::pair(0, 2));
    // Its own writes are noted, too: the task that was idle for longest has the last event.
    journal.write(records[0], "now");
    for (const auto wrote = clock.now(); clock.now() - wrote < std::chrono::milliseconds(5);) {
    }
    Journal next(tasks, clock);
    const auto again = asked_for([&] { found = types_of(go(next.recent({}, 1))); });
    CHECK(found == std::vector<std::string>{"now"});
    CHECK(again == std::pair(0, 1));
    const auto cursor = "before-1-" + std::to_string((now - std::chrono::seconds(90)).time_since_epoch().count());
    const auto since = asked_for([&] { found = types_of(go(next.since(cursor)).value()); });
    CHECK(found == std::vector<std::string>{"e199", "now"});
    CHECK(since == std::pair(0, 2));
    tasks.remove(records[0].task.id).value();
    CHECK(tasks.histories().size() == k_tasks - 1);
}

TEST_CASE("the events of one task cost the disk nothing for other tasks, not even after a start") {
    AskedFiles files;
    SystemClock clock;
    std::vector<TaskRecord> records;
    {
        store::TaskStore before(files, "/tasks");
        for (int task = 0; task < 50; ++task) {
            records.push_back(pending("shop"));
            records.back().task.status = "done";
            records.back().ended = true;
            before.create(records.back(), "").value();
            files.replace(before.folder(records.back()) / "history.jsonl", line("its", clock.now())).value();
        }
    }
    store::TaskStore tasks(files, "/tasks");
    tasks.load().value();
    Journal journal(tasks, clock);
    EventFilter filter;
    filter.task = records[7].task.id;
    files.looks = files.reads = 0;
    CHECK(types_of(go(journal.recent(filter, 10))) == std::vector<std::string>{"its"});
    CHECK(types_of(go(journal.since("before-1-1", filter.task)).value()) == std::vector<std::string>{"its"});
    CHECK(files.looks == 0);
    CHECK(files.reads == 2);
}

TEST_CASE("a history that cannot be looked at when the daemon begins is read all the same") {
    AskedFiles files;
    SystemClock clock;
    const auto record = pending("shop");
    const auto other = pending("shop");
    {
        store::TaskStore before(files, "/tasks");
        for (const auto& each : {record, other}) before.create(each, "").value();
        const auto now = clock.now();
        files.replace(before.folder(record) / "history.jsonl", line("hidden", now - std::chrono::minutes(1))).value();
        files.replace(before.folder(other) / "history.jsonl", line("seen", now - std::chrono::hours(1))).value();
        files.unseen = before.folder(record) / "history.jsonl";
    }
    store::TaskStore tasks(files, "/tasks");
    tasks.load().value();
    CHECK(types_of(go(Journal(tasks, clock).recent({}, 1))) == std::vector<std::string>{"hidden"});
}

TEST_CASE("a cursor reads no history that was not written to since") {
    Shelf shelf;
    const auto idle = shelf.add("shop"), busy = shelf.add("shop"), gone = shelf.add("shop");
    Journal first(*shelf.store, shelf.clock);
    const auto cursor = first.cursor();
    const auto later = shelf.clock.now() + std::chrono::milliseconds(20);
    // As nobody could have written it: were it read, it would be seen.
    shelf.write(idle, line("idle", later), std::chrono::minutes(10));
    std::filesystem::remove(shelf.history(gone));
    while (shelf.clock.now() <= later) {
    }
    const auto since = [&](const std::string& lines) {
        shelf.write(busy, lines, std::chrono::minutes(0));
        Journal next(shelf.load(), shelf.clock);
        return types_of(go(next.since(cursor)).value());
    };
    CHECK(since(line("new", later)) == std::vector<std::string>{"new"});
    std::string old, noise;
    for (int i = 0; i < 300; ++i) old += line("old", later - std::chrono::hours(1));
    for (int i = 0; i < 9000; ++i) noise += "no event\n";
    CHECK(since(line("lost", later) + old.substr(0, old.size() / 2) + line("new", later)) ==
          std::vector<std::string>{"lost", "new"});
    // So much that is older, or that is no event at all, is not what a clock does that is set.
    CHECK(since(line("lost", later) + old + line("new", later)) == std::vector<std::string>{"new"});
    CHECK(since(line("lost", later) + noise + line("new", later)) == std::vector<std::string>{"new"});
}

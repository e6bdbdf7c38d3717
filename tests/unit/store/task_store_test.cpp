#include "daemon/store/task_store.hpp"

#include <fstream>
#include <set>

#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "common/model/json.hpp"
#include "daemon/files/posix_file_system.hpp"
#include "daemon/files/unfinished.hpp"
#include "daemon/store/task_folder.hpp"
#include "tests/catch.hpp"
#include "tests/fakes/faulty_file_system.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/unit/store/records.hpp"

using namespace orange;
using namespace orange::store;
using namespace orange::testing;
namespace fs = std::filesystem;

namespace {

struct Stored {
    TemporaryFolder home;
    PosixFileSystem real{{home.path()}};
    FaultyFileSystem files{real};
    TaskStore store{files, home.path()};

    TaskRecord made(const std::string& id, int minute = 0) {
        auto record = example_record(id);
        record.task.created_at += std::chrono::minutes(minute);
        REQUIRE(store.create(record, "body\n"));
        return record;
    }
    TaskRecord resting(const std::string& id) {
        auto record = example_record(id);
        record.task.status = "cancelled";
        record.task.summary = "ended";
        record.task.workspace.reset();
        record.task.extra_frontmatter.clear();
        record.ended = true;
        REQUIRE(store.create(record, "body\n"));
        REQUIRE(store.append_history(record.task.id, {"task.created", record.task.created_at, {}}));
        return record;
    }
    TaskStore reloaded() {
        TaskStore again(files, home.path());
        REQUIRE(again.load());
        return again;
    }
    Path history_of(const TaskRecord& record) const { return store.folder(record) / "history.jsonl"; }
};

const std::string k_a = "aaaaaaaaaaaaaaaaaaaaa", k_b = "aaaabbbbbbbbbbbbbbbbb", k_c = "cccccccccccccccccccccc";

std::string to_upper_case(std::string text) {
    for (char& c : text) c = static_cast<char>(c - 'a' + 'A');
    return text;
}

HistoryEvent event(const std::string& type) {
    return {type, *from_rfc3339("2026-11-20T10:49:03.120Z"), {{"n", std::int64_t{7}}, {"by", std::string("x\ny")}}};
}

}  // namespace

TEST_CASE("state.json on disk looks as it always has") {
    Stored s;
    auto record = example_record();
    record.body_hash = fast_hash("body\n");
    record.queued = true;
    record.queued_seq = 4;
    record.intent =
        Intent{"i1", "planning", "working", {Role::worker, record.task.id, {"r1"}, 7, "x"}, "", true, {}, {}, ""};
    record.intent->actions.push_back({{"notify", {{"text", "hi"}}, {}}, true});
    record.runs.push_back({});
    record.outbox.push_back({"m1", Role::reviewer, Role::system, "hello", {}});
    record.entry_sections = {{"Plan", "0123"}};
    REQUIRE(s.store.create(record, "body\n"));
    CHECK(read_text(s.store.folder(record) / "state.json") ==
          read_text(ORANGE_SOURCE_DIR "/tests/data/store/state.json"));
    CHECK(*s.reloaded().read(record.task.id).value() == record);
}

TEST_CASE_METHOD(Stored, "a created task is on disk and in the index") {
    const auto record = made(k_a);
    CHECK(*store.read(record.task.id).value() == record);
    CHECK(*reloaded().read(record.task.id).value() == record);
    CHECK(read_text(store.folder(record) / "TASK.md").ends_with("---\nbody\n"));
    const auto again = store.create(record, "other");
    REQUIRE(!again);
    CHECK(again.error().code == ErrorCode::conflict);
    auto outside = example_record("../x");
    CHECK(!store.create(outside, ""));
}

TEST_CASE_METHOD(Stored, "a field that an older version kept as a foreign one is Orange's when the task is read") {
    auto record = made(k_a);
    record.task.base = "main";
    record.task.extra_frontmatter = "base: main\nlabels: [a]  # mine\n";
    REQUIRE(store.save(record));
    CHECK(reloaded().read(record.task.id).value()->task.extra_frontmatter == "labels: [a]  # mine\n");
}

TEST_CASE_METHOD(Stored, "saving moves a task between the indexes") {
    auto record = made(k_a);
    record.queued = true;
    record.queued_seq = 2;
    record.task.branch = "feature";
    REQUIRE(store.save(record));
    auto first = made(k_b);
    first.queued = true;
    first.queued_seq = 1;
    REQUIRE(store.save(first));
    CHECK(store.queue("shop") == std::vector<TaskId>{first.task.id, record.task.id});
    CHECK(store.queue("other").empty());
    CHECK(store.on_branch("shop", "feature")->task == record.task.id);
    CHECK(!store.on_branch("shop", "orange-tasks/" + k_a));
    CHECK(!store.on_branch("other", "feature"));

    record.task.status = "done";
    record.queued = false;
    REQUIRE(store.save(record));
    CHECK(!store.on_branch("shop", "feature"));
    CHECK(store.active() == std::set<TaskId>{first.task.id});
    CHECK(store.queue("shop") == std::vector<TaskId>{first.task.id});
    REQUIRE(store.save(*store.read(record.task.id).value()));  // the very record that is indexed
    CHECK(reloaded().queue("shop") == store.queue("shop"));
}

TEST_CASE_METHOD(Stored, "who waits for whom is looked up, as long as they wait") {
    auto first = example_record("aaaaaaaaaaaaaaaaaaaaa"), second = example_record("bbbbbbbbbbbbbbbbbbbbb");
    const TaskId gone{"ccccccccccccccccccccc"};
    second.task.branch = "second";
    second.task.status = "pending";
    second.task.workspace.reset();
    second.task.blocked_by = {first.task.id, gone};
    second.queued = true;
    second.queued_seq = 3;
    REQUIRE(store.create(first, ""));
    REQUIRE(store.create(second, ""));
    const std::vector<TaskId> waiting = {second.task.id};
    CHECK(store.blocked_by(first.task.id) == waiting);
    CHECK(store.blocked_by(gone) == waiting);
    CHECK(store.blocked() == std::set<TaskId>{second.task.id});
    CHECK(store.queue("shop").empty());
    CHECK(store.queue_place(second) == 0);
    second.blockers_done = {first.task.id};
    REQUIRE(store.save(second));
    CHECK(store.blocked_by(first.task.id).empty());
    CHECK(store.blocked_by(gone) == waiting);
    CHECK(reloaded().blocked_by(gone) == waiting);
    second.task.blocked_by = {first.task.id};
    REQUIRE(store.save(second));
    CHECK(store.blocked().empty());
    CHECK(store.queue("shop") == waiting);
    second.unapproved = true;
    REQUIRE(store.save(second));
    CHECK(store.queue("shop").empty());
    second.task.blocked_by = {gone};
    second.task.status = "cancelled";
    REQUIRE(store.save(second));
    CHECK(store.blocked().empty());
    CHECK(store.blocked_by(gone).empty());
}

TEST_CASE_METHOD(Stored, "the sub-tasks of a task are looked up, oldest first, ended ones too") {
    const TaskId parent{k_a};
    auto second = made(k_b, 2), first = made(k_c, 1);
    first.task.parent = second.task.parent = parent;
    CHECK(store.children_of(parent).empty());
    REQUIRE(store.save(second));
    REQUIRE(store.save(first));
    const std::vector<TaskId> both = {first.task.id, second.task.id};
    CHECK(store.children_of(parent) == both);
    first.task.status = "cancelled";
    REQUIRE(store.save(first));
    CHECK(store.children_of(parent) == both);
    CHECK(reloaded().children_of(parent) == both);
    REQUIRE(store.remove(first.task.id));
    CHECK(store.children_of(parent) == std::vector{second.task.id});
    REQUIRE(store.remove(second.task.id));
    CHECK(store.children_of(parent).empty());
}

TEST_CASE_METHOD(Stored, "two active tasks on one branch do not hide each other") {
    auto one = made(k_a), two = made(k_b);
    one.task.branch = two.task.branch = "same";
    REQUIRE(store.save(one));
    REQUIRE(store.save(two));
    one.task.status = "cancelled";
    REQUIRE(store.save(one));
    CHECK(store.on_branch("shop", "same")->task == two.task.id);
}

TEST_CASE_METHOD(Stored, "tasks are visited newest first until the visitor has enough") {
    made(k_a, 1);
    made(k_b, 3);
    made(k_c, 2);
    std::vector<std::string> seen;
    const auto take = [&](const Brief& task) {
        seen.push_back(task.id.value);
        return seen.size() < 2;
    };
    store.each(take);
    CHECK(seen == std::vector<std::string>{k_b, k_c});
    const Age last{store.brief({k_c})->created_at, {k_c}};
    seen.clear();
    store.each(take, last);
    CHECK(seen == std::vector<std::string>{k_a});
    REQUIRE(store.remove(last.id));
    seen.clear();
    store.each(take, last);
    CHECK(seen == std::vector<std::string>{k_a});
    made(k_c, 2);
    CHECK(store.size() == 3);
}

TEST_CASE_METHOD(Stored, "a start reads one file of a task that rests, and keeps its brief") {
    constexpr int k_tasks = 20;
    for (int n = 0; n < k_tasks; ++n) resting(random_id(k_task_id_length));
    const auto record = resting(k_a);
    const auto open = made(k_b, 1);
    files.calls = {};
    CHECK(reloaded().size() == k_tasks + 2);
    const auto first = files.calls;
    for (int n = 0; n < k_tasks; ++n) resting(random_id(k_task_id_length));
    files.calls = {};
    auto again = reloaded();
    std::ifstream in(ORANGE_SOURCE_DIR "/tests/bench/limits.json");
    const auto limits = Json::parse(in).at("daemon's start, for each task that rests");
    CHECK(files.calls.reads - first.reads <= k_tasks * limits.at("reads").get<int>());
    CHECK(files.calls.looks - first.looks <= k_tasks * limits.at("looks").get<int>());
    CHECK(files.calls.lists - first.lists <= k_tasks * limits.at("lists").get<int>());

    files.calls = {};
    REQUIRE(again.brief(record.task.id));
    CHECK(again.brief(record.task.id)->summary == record.task.summary);
    CHECK(again.resolve("aaaaa")->value == k_a);
    CHECK(again.resolve(record.task.branch)->value == k_a);
    CHECK(again.read(open.task.id).value()->task.branch == open.task.branch);
    CHECK(again.closed("shop") == 2 * k_tasks + 1);
    CHECK_FALSE(again.awake(record.task.id));
    CHECK(files.calls.reads == 0);
    CHECK(*again.read(record.task.id).value() == record);
    CHECK(files.calls.reads == 1);
}

TEST_CASE_METHOD(Stored, "a task that comes to rest, or goes on, is found as it was saved") {
    auto record = made(k_a);
    record.task.status = "done";
    record.task.workspace.reset();
    REQUIRE(store.save(record));
    CHECK(*store.read(record.task.id).value() == record);
    CHECK_FALSE(store.awake(record.task.id));
    record.task.summary = "another";
    REQUIRE(store.save(record));
    CHECK(store.read(record.task.id).value()->task.summary == "another");
    CHECK(store.brief(record.task.id)->summary == "another");
    CHECK(store.active().empty());
    record.task.status = "working";
    REQUIRE(store.save(record));
    CHECK(store.awake(record.task.id)->task.status == "working");
    CHECK(store.active().size() == 1);
    CHECK(store.closed("shop") == 0);
    REQUIRE(store.remove(record.task.id));
    CHECK_FALSE(store.brief(record.task.id));
}

TEST_CASE_METHOD(Stored,
                 "the file of a task that rests may be gone, broken or changed: the task says so when it is read") {
    const auto record = resting(k_a);
    const auto file = home / "shop" / k_a / "state.json";
    const auto whole = read_text(file);
    auto again = reloaded();
    fs::remove(file);
    CHECK(again.read(record.task.id).error().code == ErrorCode::not_found);
    CHECK(again.brief(record.task.id));
    write_text(file, whole.substr(0, whole.size() / 2));
    CHECK(again.read(record.task.id).error().code == ErrorCode::invalid_argument);
    auto active = record;
    active.task.status = "working";
    active.ended = false;
    write_text(file, dump(to_json(active)));
    CHECK(again.read(record.task.id).error().code == ErrorCode::conflict);
    write_text(file, whole);
    CHECK(*again.read(record.task.id).value() == record);
    CHECK(again.read({"none"}).error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(Stored, "a record that was looked up stays as it was, whatever happens to the task") {
    const auto record = made(k_a);
    const auto found = store.awake(record.task.id);
    auto changed = record;
    changed.task.status = "done";
    changed.task.workspace.reset();
    REQUIRE(store.save(changed));
    const auto ended = store.read(record.task.id).value();
    changed.task.summary = "another";
    REQUIRE(store.save(changed));
    REQUIRE(store.remove(record.task.id));
    CHECK(*found == record);
    CHECK(ended->task.status == "done");
    CHECK(ended->task.summary == record.task.summary);
}

TEST_CASE_METHOD(Stored, "what a killed daemon left in the folder of a task that rests is removed behind the start") {
    const auto record = resting(k_a);
    const auto left = store.folder(record) / files::unfinished_name("state.json");
    write_text(left, "half");
    auto again = reloaded();
    CHECK(again.tidy_next());
    CHECK_FALSE(again.tidy_next());
    CHECK_FALSE(fs::exists(left));
    CHECK(fs::exists(store.folder(record) / "state.json"));
    CHECK(again.histories().size() == 1);
}

TEST_CASE_METHOD(Stored, "the folder of a task that goes on is tidied before the task is saved, and not later") {
    auto record = resting(k_a);
    const auto left = store.folder(record) / files::unfinished_name("state.json");
    write_text(left, "half");
    auto again = reloaded();
    record.task.status = "working";
    record.ended = false;
    REQUIRE(again.save(record));
    CHECK_FALSE(fs::exists(left));
    write_text(left, "now another program writes this file");
    CHECK_FALSE(again.tidy_next());
    CHECK(fs::exists(left));
    CHECK(again.histories().size() == 1);
}

TEST_CASE_METHOD(Stored, "the folders of tasks that rest are looked at one by one, each once") {
    for (const auto& id : {k_a, k_b, k_c}) resting(id);
    auto again = reloaded();
    CHECK(again.histories().size() == 0);
    files.calls = {};
    CHECK(again.tidy_next());
    CHECK(files.calls.looks == 1);
    CHECK(again.histories().size() == 1);
    REQUIRE(again.remove({k_b}));
    while (again.tidy_next()) {
    }
    CHECK(again.histories().size() == 2);
    CHECK(files.calls.looks == 2);
    CHECK_FALSE(again.tidy_next());
    CHECK(files.calls.looks == 2);
}

TEST_CASE_METHOD(Stored, "a task that cannot be read is shown as its TASK.md has it, and keeps its branch") {
    for (const auto& id : {k_a, k_b, k_c}) {
        auto record = example_record(id);
        record.task.branch = "feature-" + id;
        if (id == k_b) record.task.status = "done";
        REQUIRE(store.create(record, "body\n"));
        write_text(home / "shop" / id / "state.json", "{\"schema\": 1");
    }
    write_text(home / "shop" / k_c / "TASK.md", "---\nid: [\n---\n");
    const auto again = reloaded();
    REQUIRE(again.unreadable().size() == 3);
    REQUIRE(again.unreadable()[0].shown);
    CHECK(again.unreadable()[0].shown->summary == example_record(k_a).task.summary);
    CHECK(!again.unreadable()[2].shown);
    CHECK(again.resolve(k_a).error().code == ErrorCode::conflict);
    CHECK(again.resolve(k_c.substr(0, 4)).error().code == ErrorCode::conflict);
    const auto holder = again.on_branch("shop", "feature-" + k_a);
    REQUIRE(holder);
    CHECK(holder->task.value == k_a);
    CHECK(!holder->readable);
    CHECK(!again.on_branch("other", "feature-" + k_a));
    CHECK(!again.on_branch("shop", "feature-" + k_b));  // had ended
}

TEST_CASE_METHOD(Stored, "a task is found by an unambiguous beginning of its id, in any case") {
    made(k_a);
    made(k_b);
    made("Cccc" + k_c.substr(4));
    CHECK(store.resolve("aaaab")->value == k_b);
    CHECK(store.resolve("AAAAB")->value == k_b);
    CHECK(store.resolve("cC")->value == "Cccc" + k_c.substr(4));
    CHECK(store.resolve(k_a)->value == k_a);
    CHECK(store.resolve(to_upper_case(k_a))->value == k_a);
    CHECK(store.resolve("a").error().code == ErrorCode::invalid_argument);
    CHECK(store.resolve("zzzz").error().code == ErrorCode::not_found);
    const auto several = store.resolve("aaa").error();
    CHECK(several.code == ErrorCode::invalid_argument);
    CHECK_THAT(several.message, Tells("aaaaa") && Tells("aaaab") && Holds("Say: \"hello\""));
}

TEST_CASE_METHOD(Stored, "of ids that begin alike but for their case, the case decides") {
    made(k_a);
    made("AAAA" + k_b.substr(4));
    CHECK(store.resolve("AAAA")->value == "AAAA" + k_b.substr(4));
    CHECK(store.resolve("aaaa")->value == k_a);
    CHECK_FALSE(store.resolve("aAaA"));
}

TEST_CASE_METHOD(Stored, "a task is found by its branch, of an open task before an ended one") {
    auto open = made(k_a), ended = made(k_b, 1);
    open.task.branch = ended.task.branch = "fix/total";
    ended.task.status = "done";
    REQUIRE(store.save(open));
    REQUIRE(store.save(ended));
    CHECK(store.resolve("fix/total", Naming::id_or_branch)->value == k_a);
    REQUIRE(store.remove({k_a}));
    CHECK(store.resolve("fix/total", Naming::id_or_branch)->value == k_b);
}

TEST_CASE_METHOD(Stored, "a task is found by its branch as a narrow list shows it") {
    auto one = made(k_a), other = made(k_b, 1);
    one.task.branch = "fix/total-of-each-line";
    other.task.branch = "fix/total-of-all";
    REQUIRE(store.save(one));
    REQUIRE(store.save(other));
    CHECK(store.resolve("fix/total-of-e…", Naming::id_or_branch)->value == k_a);
    CHECK(store.resolve("fix/total…").error().code == ErrorCode::invalid_argument);
    CHECK(store.resolve("fix/total-of-e").error().code == ErrorCode::not_found);
    CHECK(store.resolve("…").error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(Stored, "a task is found by words of its summary, but not for what cannot be undone") {
    auto task = made(k_a);
    task.task.summary = "Add the login form";
    REQUIRE(store.save(task));
    made(k_b, 1);
    CHECK(store.resolve("login-form")->value == k_a);
    CHECK(store.resolve("Login f")->value == k_a);
    CHECK(store.resolve("ogin").error().code == ErrorCode::not_found);
    const auto refused = store.resolve("login-form", Naming::id_or_branch).error();
    CHECK(refused.code == ErrorCode::not_found);
    CHECK_THAT(refused.message, Tells("aaaaa"));
}

TEST_CASE_METHOD(Stored, "an unknown name comes with the tasks that may be meant") {
    auto task = made(k_a);
    task.task.branch = "fix/total";
    REQUIRE(store.save(task));
    const auto is_meant = [&](std::string_view name) {
        return store.resolve(name).error().message.find("\n    aaaa  ") != std::string::npos;
    };
    CHECK(is_meant("fix/totl"));
    CHECK(is_meant("fix/toatl"));
    CHECK(is_meant("aaab"));
    CHECK(is_meant("aaaba"));
    CHECK_FALSE(is_meant("something-else"));
    CHECK_FALSE(is_meant("nope"));
    CHECK_FALSE(is_meant(k_b));
}

TEST_CASE_METHOD(Stored, "a mistake in some words of a summary is no obstacle, also after the task has ended") {
    auto task = made(k_a);
    task.task.summary = "Add a greeting to the page";
    REQUIRE(store.save(task));
    const auto meant_by = [&](std::string_view name) { return store.resolve(name).error().message; };
    CHECK_THAT(meant_by("add-a-greting"), Tells("aaaa"));
    CHECK_THAT(meant_by("greetign"), Tells("aaaa"));
    CHECK_THAT(meant_by("the-paeg"), Tells("aaaa"));
    task.task.status = "done";
    REQUIRE(store.save(task));
    CHECK_THAT(meant_by("add-a-greting"), Tells("aaaa"));
    // One that is open is meant before one that has ended.
    auto open = made(k_b, 1);
    open.task.summary = "Add a greeting";
    REQUIRE(store.save(open));
    CHECK_THAT(meant_by("add-a-greting"), Tells("aaaab") && !Tells("aaaaa"));
}

TEST_CASE_METHOD(Stored, "a short id has four characters, or as many as name one task") {
    made(k_a);
    CHECK(store.short_id({k_a}) == "aaaa");
    made("AAAAbbbbbbbbbbbbbbbbb");
    CHECK(store.short_id({k_a}) == "aaaaa");
    CHECK(store.short_id({"AAAAbbbbbbbbbbbbbbbbb"}) == "AAAAb");
    CHECK(store.with_short_ids("see " + k_a + ", " + k_a + " and " + k_b) == "see aaaaa, aaaaa and " + k_b);
    Error error(ErrorCode::conflict, "see " + k_a, {{"facts", k_a + " and " + k_b}});
    CHECK(store.with_short_ids(error).details.at("short_ids") == k_a + "=aaaaa");
    CHECK(store.with_short_ids(Error(ErrorCode::conflict, "see nothing")).details.empty());
    REQUIRE(store.remove({"AAAAbbbbbbbbbbbbbbbbb"}));
    CHECK(store.short_id({k_a}) == "aaaa");
    CHECK(reloaded().short_id({k_a}) == "aaaa");
}

TEST_CASE_METHOD(Stored, "one unreadable task never keeps the others from loading, and is not overwritten") {
    made(k_a);
    write_text(home / "shop/broken/state.json", "{\"schema\": 1");
    write_text(home / "shop/newer/state.json", R"({"schema": 99, "fields": {"id": "newer", "project": "shop"}})");
    write_text(home / "shop/copied/state.json", read_text(home / ("shop/" + k_a + "/state.json")));
    write_text(home / "shop/plain/TASK.md", "no frontmatter");
    write_text(home / "shop/yaml/TASK.md", "---\nid: [\n---\n");
    const auto again = reloaded();
    CHECK(again.size() == 1);
    CHECK(again.unreadable().size() == 5);
    for (const auto& unreadable : again.unreadable()) {
        CHECK(unreadable.project == "shop");
        CHECK(!unreadable.why.empty());
    }
    CHECK(read_text(home / "shop/broken/state.json") == "{\"schema\": 1");
}

TEST_CASE_METHOD(Stored, "a folder without state.json is imported once") {
    const Path task = home / "shop/abc123/TASK.md";
    const std::string text = "---\nid: other\ndescription: Old\nstatus: reviewed\nworkspace: shop--1\n---\nbody\n";
    write_text(task, text);
    auto first = reloaded();
    REQUIRE(first.size() == 1);
    const auto record = first.read({"abc123"}).value_or(nullptr);
    REQUIRE(record);
    CHECK(record->task.summary == "Old");
    CHECK(record->task.status == "reviewing");
    CHECK(record->task.project == "shop");
    CHECK(record->task.branch == "orange-tasks/abc123");
    CHECK(!record->task.workspace);
    CHECK(record->task.created_at != Timestamp{});
    CHECK(record->body_hash == sha256("body\n"));
    CHECK(read_text(task) == text);
    write_text(task, "---\nstatus: done\n---\n");
    CHECK(reloaded().read({"abc123"}).value()->task.status == "reviewing");
    // Nothing but its state is left, as of a creation that was cut off; but this one has been a task.
    fs::remove(task);
    REQUIRE(reloaded().brief({"abc123"}));
    CHECK(reloaded().read({"abc123"}).value()->task.summary == "Old");
}

TEST_CASE_METHOD(Stored, "a parent that a file names is dropped if the task would be above itself") {
    write_text(home / "shop/aaaaaa/TASK.md", "---\nparent: bbbbbb\n---\n");
    write_text(home / "shop/bbbbbb/TASK.md", "---\nparent: cccccc\n---\n");
    write_text(home / "shop/cccccc/TASK.md", "---\nparent: aaaaaa\n---\n");
    write_text(home / "shop/dddddd/TASK.md", "---\nparent: dddddd\n---\n");
    write_text(home / "shop/eeeeee/TASK.md", "---\nparent: aaaaaa\n---\n");
    for (int i = 0; i < 2; ++i) {
        const auto all = reloaded();
        REQUIRE(all.size() == 5);
        int tops = 0;
        for (const auto* id : {"aaaaaa", "bbbbbb", "cccccc"}) {
            if (all.brief({id})->parent.empty()) ++tops;
        }
        CHECK(tops == 1);
        CHECK(all.brief({"dddddd"})->parent.empty());
        CHECK(all.brief({"eeeeee"})->parent == TaskId{"aaaaaa"});
        CHECK(all.children_of({"dddddd"}).empty());
    }
}

TEST_CASE_METHOD(Stored, "history is appended and read back in order") {
    const auto record = made(k_a);
    CHECK(store.history(record.task.id)->empty());
    REQUIRE(store.append_history(record.task.id, event("one")));
    REQUIRE(store.append_history(record.task.id, event("two")));
    CHECK(*reloaded().history(record.task.id) == std::vector<HistoryEvent>{event("one"), event("two")});
    CHECK(store.append_history({"none"}, event("x")).error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(Stored, "a history torn at any byte loses the torn line alone, and keeps it aside") {
    const auto record = made(k_a);
    REQUIRE(store.append_history(record.task.id, event("one")));
    const auto whole = read_text(history_of(record));
    REQUIRE(store.append_history(record.task.id, event("two")));
    const auto both = read_text(history_of(record));
    for (auto length = whole.size() + 1; length < both.size(); ++length) {
        write_text(history_of(record), both.substr(0, length));
        fs::remove(history_of(record).string() + ".torn");
        auto again = reloaded();
        REQUIRE(again.append_history(record.task.id, event("three")));
        const auto events = *again.history(record.task.id);
        REQUIRE(events.size() == 3);
        CHECK(events[0] == event("one"));
        CHECK(events[2] == event("three"));
        const bool only_line_end_missing = length + 1 == both.size();
        CHECK(events[1].type == (only_line_end_missing ? "two" : "history.repaired"));
        const auto torn = read_text(history_of(record).string() + ".torn");
        CHECK(torn == (only_line_end_missing ? "" : both.substr(whole.size(), length - whole.size()) + "\n"));
    }
}

TEST_CASE_METHOD(Stored, "a bad line in the middle of a history hides nothing else") {
    const auto record = made(k_a);
    REQUIRE(store.append_history(record.task.id, event("one")));
    std::ofstream(history_of(record), std::ios::app) << "garbage\n{}\n";
    REQUIRE(store.append_history(record.task.id, event("two")));
    CHECK(store.history(record.task.id)->size() == 2);
}

TEST_CASE_METHOD(Stored, "whatever fails while a task is created, nothing of it is left, and it can be created then") {
    const auto record = example_record(k_a);
    const int failures = fail_everywhere(
        files, [&] { return store.create(record, "body\n"); },
        [&](const Error& error) {
            CHECK(error.code == ErrorCode::io);
            CHECK(store.size() == 0);
            const auto again = reloaded();
            CHECK(again.size() == 0);
            CHECK(again.unreadable().empty());
        });
    CHECK(failures >= 3);
    CHECK(*reloaded().read(record.task.id).value() == record);
}

TEST_CASE_METHOD(Stored, "whatever fails while a task is saved, the old one is there, and it can be saved then") {
    const auto old = made(k_a);
    auto changed = old;
    changed.task.status = "done";
    const int failures = fail_everywhere(
        files, [&] { return store.save(changed); },
        [&](const Error&) {
            CHECK(*store.read(old.task.id).value() == old);
            CHECK(*reloaded().read(old.task.id).value() == old);
            CHECK(store.active().size() == 1);
        });
    CHECK(failures >= 1);
    CHECK(*reloaded().read(old.task.id).value() == changed);
}

TEST_CASE_METHOD(Stored, "whatever fails while a task is removed, it can be removed then") {
    const auto record = made(k_a);
    REQUIRE(store.append_history(record.task.id, event("one")));
    const int failures = fail_everywhere(
        files, [&] { return store.remove(record.task.id); },
        [&](const Error&) {
            CHECK(store.brief(record.task.id));
            const auto again = reloaded();
            const auto found = again.read(record.task.id).value_or(nullptr);
            REQUIRE(found);
            CHECK(*found == record);
            CHECK(again.history(record.task.id)->size() == 1);
        });
    CHECK(failures >= 2);
    CHECK(!fs::exists(store.folder(record)));
    CHECK(store.size() == 0);
    CHECK(store.active().empty());
    CHECK(store.remove(record.task.id).error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(Stored, "what a daemon left that was killed while it removed a task is no task, and goes") {
    const auto record = made(k_a);
    const auto left = home / "shop" / ("." + k_a + ".0123456789.tmp");
    fs::rename(store.folder(record), left);
    fs::remove(left / "TASK.md");
    const auto again = reloaded();
    CHECK(again.size() == 0);
    CHECK(again.unreadable().empty());
    CHECK_FALSE(fs::exists(left));
}

TEST_CASE_METHOD(Stored,
                 "temporary files that a killed daemon left go when the next one begins, also of an ended task") {
    auto record = made(k_a);
    record.task.status = "done";
    record.ended = true;
    REQUIRE(store.save(record));
    const auto left = {store.folder(record) / ".TASK.md.0123456789.tmp", store.folder(record) / ".TASK.md.mine.tmp"};
    for (const auto& file : left) write_text(file, "text");
    const auto again = reloaded();
    CHECK(again.size() == 1);
    CHECK_FALSE(fs::exists(*left.begin()));
    CHECK(fs::exists(*std::prev(left.end())));  // no daemon names a file so
}

TEST_CASE_METHOD(Stored, "whatever fails while history is appended, what is there stays readable") {
    const auto record = made(k_a);
    REQUIRE(store.append_history(record.task.id, event("one")));
    std::ofstream(history_of(record), std::ios::app) << "{\"type\": \"to";
    auto again = reloaded();
    const int failures = fail_everywhere(
        files, [&] { return again.append_history(record.task.id, event("two")); },
        [&](const Error&) {
            const auto events = *again.history(record.task.id);
            REQUIRE(!events.empty());
            CHECK(events[0] == event("one"));
            CHECK(events.back() != event("two"));
        });
    CHECK(failures >= 4);
    CHECK(again.history(record.task.id)->back() == event("two"));
}

TEST_CASE_METHOD(Stored, "what a daemon left that was killed while it created a task is no task, and goes") {
    const auto record = made(k_a);
    const auto folder = store.folder(record);
    write_text(folder / ".state.json.x.tmp", "{");
    fs::remove(folder / "TASK.md");
    auto again = reloaded();
    CHECK(again.size() == 0);
    CHECK(again.unreadable().empty());
    CHECK(!fs::exists(folder));
    REQUIRE(again.create(record, "body\n"));

    fs::remove(folder / "TASK.md");
    write_text(folder / "history.jsonl", "{}\n");
    CHECK(reloaded().brief(record.task.id));
    CHECK(fs::exists(folder / "state.json"));
}

TEST_CASE_METHOD(Stored, "a task whose folder was away when the daemon started is there again when the folder is") {
    const auto active = made(k_a), ended = resting(k_b);
    fs::create_directories(home / ".away");
    for (const auto& record : {active, ended}) fs::rename(store.folder(record), home / ".away" / record.task.id.value);
    auto again = reloaded();
    CHECK(again.size() == 0);
    CHECK(again.load_new().empty());
    fs::create_directories(home / "shop" / k_c);  // still to come
    write_text(home / "shop/copied/state.json", "{}");
    CHECK(again.load_new().empty());
    for (const auto& record : {active, ended}) fs::rename(home / ".away" / record.task.id.value, store.folder(record));
    const auto found = again.load_new();
    CHECK(std::set<TaskId>(found.begin(), found.end()) == std::set<TaskId>{active.task.id, ended.task.id});
    CHECK(again.awake(active.task.id));
    CHECK(again.brief(ended.task.id));
    CHECK(again.load_new().empty());
    CHECK(again.unreadable().empty());
    CHECK(fs::exists(home / "shop" / k_c));
}

TEST_CASE_METHOD(Stored, "whose agent a process is, is looked up, not searched") {
    auto one = made(k_a), two = made(k_c);
    const auto run = [](Role role, std::int64_t pid, std::int64_t server) {
        AgentRun made;
        made.role = role;
        made.pid = pid;
        made.server_pid = server;
        made.server_start = server == 0 ? 0 : 5;
        return made;
    };
    CHECK(store.runs().with_shim(0).empty());
    one.runs = {run(Role::worker, 700, 60), run(Role::reviewer, 701, 60)};
    two.runs = {run(Role::worker, 701, 60), run(Role::reviewer, 0, 0)};  // a reused pid; one that is being started
    REQUIRE(store.save(one));
    REQUIRE(store.save(two));
    CHECK(store.runs().with_shim(700) == std::vector{one.task.id});
    CHECK(store.runs().with_shim(701) == std::vector{one.task.id, two.task.id});
    CHECK(store.runs().with_shim(0).empty());
    CHECK(store.runs().has_server(60, 5));
    CHECK(store.runs().has_server(60, 0));
    CHECK_FALSE(store.runs().has_server(60, 6));  // the pid was given to somebody else
    CHECK_FALSE(store.runs().has_server(61, 5));
    CHECK(reloaded().runs().with_shim(701).size() == 2);
    one.runs.clear();
    REQUIRE(store.save(one));
    CHECK(store.runs().with_shim(701) == std::vector{two.task.id});
    CHECK(store.runs().has_server(60, 5));
    REQUIRE(store.remove(two.task.id));
    CHECK_FALSE(store.runs().has_server(60, 5));
    CHECK(store.runs().size() == 0);
}

TEST_CASE_METHOD(Stored, "a folder that cannot be listed, or is nobody's, hides no other project's tasks") {
    const auto record = made(k_a);
    write_text(home / "not a project/x/TASK.md", "---\nstatus: done\n---\n");
    write_text(home / "shop/.trash/TASK.md", "---\nstatus: done\n---\n");
    files.fail_at(2);  // the first is the list of projects
    TaskStore again(files, home.path());
    REQUIRE(again.load());
    REQUIRE(again.unreadable().size() == 1);
    CHECK(again.unreadable().front().project == "shop");
    CHECK(again.unreadable().front().id.empty());
    CHECK_THAT(again.unreadable().front().why, Tells("listing"));
    files.fail_at(1);
    TaskStore none(files, home.path());
    CHECK(none.load().error().code == ErrorCode::io);
    const auto whole = reloaded();
    CHECK(whole.unreadable().empty());
    CHECK(whole.size() == 1);
}

TEST_CASE_METHOD(Stored, "of two tasks of one id the second is told, and neither is overwritten") {
    const auto record = made(k_a);
    auto twin = record;
    twin.task.project = "zoo";
    fs::create_directories(home / "zoo");
    fs::copy(store.folder(record), home / "zoo" / k_a, fs::copy_options::recursive);
    auto text = read_text(home / "zoo" / k_a / "state.json");
    REQUIRE_THAT(text, Holds("\"shop\""));
    text.replace(text.find("\"shop\""), 6, "\"zoo\"");
    write_text(home / "zoo" / k_a / "state.json", text);
    const auto again = reloaded();
    CHECK(again.read(record.task.id).value()->task.project == "shop");
    REQUIRE(again.unreadable().size() == 1);
    CHECK(again.unreadable().front().project == "zoo");
    CHECK_FALSE(again.unreadable().front().why.empty());
    CHECK(read_text(home / "zoo" / k_a / "state.json") == text);
}

TEST_CASE_METHOD(Stored, "a task in the wrong folder is not taken for another") {
    const auto record = made(k_a);
    fs::rename(store.folder(record), home / "shop" / k_c);
    const auto again = reloaded();
    CHECK(again.size() == 0);
    REQUIRE(again.unreadable().size() == 1);
    CHECK_THAT(again.unreadable().front().why, Tells("shop/" + k_a));
}

TEST_CASE_METHOD(Stored, "what was cut off and cannot be removed is told") {
    const auto record = made(k_a);
    fs::remove(store.folder(record) / "TASK.md");
    files.fail_at(5);  // two lists, the folder's list, its state.json, and its removal
    TaskStore again(files, home.path());
    REQUIRE(again.load());
    REQUIRE(files.failed());
    REQUIRE(again.unreadable().size() == 1);
    CHECK_THAT(again.unreadable().front().why, Tells("removing"));
    files.fail_at(0);
    CHECK(reloaded().unreadable().empty());
    CHECK_FALSE(fs::exists(home / "shop" / k_a));
}

TEST_CASE_METHOD(Stored, "a folder that is no task's is told with the reason, and left alone") {
    const auto why = [&](const std::string& id) {
        const auto again = reloaded();
        for (const auto& broken : again.unreadable()) {
            if (broken.id == id) return broken.why;
        }
        return std::string("fine");
    };
    const std::string long_name(65, 'a');
    write_text(home / "shop/not-an-id/TASK.md", "---\nstatus: done\n---\n");
    write_text(home / "shop" / long_name / "TASK.md", "---\nstatus: done\n---\n");
    write_text(home / "shop/empty1/notes.txt", "x");
    write_text(home / "shop/plain1/TASK.md", "no frontmatter\n");
    write_text(home / "shop/broken1/TASK.md", "---\nreview_round: many\n---\n");
    CHECK(why("not-an-id") != "fine");
    CHECK(why(long_name) != "fine");
    CHECK_THAT(why("empty1"), Tells("state.json") && Tells("TASK.md"));
    CHECK_THAT(why("plain1"), Tells("frontmatter"));
    CHECK_THAT(why("broken1"), Tells("review_round"));
    CHECK(fs::exists(home / "shop/empty1/notes.txt"));
    CHECK_FALSE(fs::exists(home / "shop/plain1/state.json"));
}

TEST_CASE_METHOD(Stored, "what a file that is imported says is kept, but for what others own") {
    write_text(home / "shop/Abc9/TASK.md",
               "---\nproject: other\nbranch: mine\nstatus: working\nharness: a\nreview_harness: b\n"
               "tmux_session: shop/x\ncreated_at: 2024-01-15T10:00:00Z\nupdated_at: 2024-01-16T10:00:00Z\n---\n");
    const auto first = reloaded();
    const auto record = first.read({"Abc9"}).value_or(nullptr);
    REQUIRE(record);
    CHECK(record->task.project == "shop");
    CHECK(record->task.branch == "mine");
    CHECK(record->task.status == "working");
    CHECK(record->task.review_harness == "b");
    CHECK(record->task.created_at == *from_rfc3339("2024-01-15T10:00:00Z"));
    CHECK(record->task.updated_at == *from_rfc3339("2024-01-16T10:00:00Z"));
    CHECK_FALSE(record->task.tmux_session);
}

TEST_CASE_METHOD(Stored, "an import that fails is told, and done at the next start") {
    write_text(home / "shop/abc123/TASK.md", "---\nstatus: working\n---\nbody\n");
    int failures = 0;
    for (int n = 1;; ++n) {
        CAPTURE(n);
        files.fail_at(n);
        TaskStore again(files, home.path());
        const auto loaded = again.load();
        const bool failed = files.failed();
        files.fail_at(0);
        if (!failed) {
            CHECK(again.brief({"abc123"}));
            break;
        }
        ++failures;
        CHECK((!loaded || again.unreadable().size() == 1 || again.brief({"abc123"})));
        CHECK(read_text(home / "shop/abc123/TASK.md") == "---\nstatus: working\n---\nbody\n");
    }
    CHECK(failures >= 4);
}

TEST_CASE_METHOD(Stored, "nothing is written for a task that there is not, or in another project's name") {
    auto record = made(k_a);
    const auto state = read_text(store.folder(record) / "state.json");
    auto stranger = example_record(k_c);
    const auto unknown = store.save(stranger);
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().code == ErrorCode::not_found);
    auto moved = record;
    moved.task.project = "zoo";
    const auto refused = store.save(moved);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::invalid_argument);
    CHECK(read_text(store.folder(record) / "state.json") == state);
    CHECK_FALSE(fs::exists(home / "zoo"));
    stranger.task.project = "No Name";
    CHECK(store.create(stranger, "").error().code == ErrorCode::invalid_argument);
    stranger.task.project = "shop";
    write_text(home / "shop" / k_c / "notes", "somebody's");
    CHECK(store.create(stranger, "").error().code == ErrorCode::conflict);
    CHECK(read_text(home / "shop" / k_c / "notes") == "somebody's");
    CHECK(store.history({"none"}).error().code == ErrorCode::not_found);
    CHECK(store.repair_history({"none"}, [] { return Timestamp{}; }).error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(Stored, "a creation that can neither be finished nor undone tells of both") {
    const auto record = example_record(k_a);
    struct Stuck final : FileSystem {
        explicit Stuck(FileSystem& behind) : real(behind) {}
        FileSystem& real;
        static Error full(const std::string& doing) { return {ErrorCode::io, doing + ": No space left on device"}; }
        Result<std::string> read(const Path& path) override { return real.read(path); }
        Result<Piece> read_before(const Path& path, std::optional<std::uintmax_t> end, std::size_t size) override {
            return real.read_before(path, end, size);
        }
        Result<void> replace(const Path& path, std::string_view text, Durability durability) override {
            if (path.filename() == "TASK.md") return full("writing");
            return real.replace(path, text, durability);
        }
        Result<void> exchange(const Path&, std::string_view, const Path&, Durability) override {
            return full("writing");
        }
        Result<void> append(const Path&, std::string_view, Durability) override { return full("appending"); }
        Result<void> move_new(const Path&, const Path&) override { return full("writing"); }
        Result<std::vector<std::string>> list(const Path& folder) override { return real.list(folder); }
        Result<void> remove(const Path&) override { return full("removing"); }
        Result<FileFacts> facts_of(const Path& path) override { return real.facts_of(path); }
    } stuck(real);
    TaskStore broken(stuck, home.path());
    const auto created = broken.create(record, "body\n");
    REQUIRE_FALSE(created);
    CHECK_THAT(created.error().message, Tells("writing: "));
    CHECK_THAT(created.error().message, Tells("removing: "));
    CHECK(broken.size() == 0);
    CHECK(reloaded().size() == 0);  // and the next start takes away what is left
    CHECK_FALSE(fs::exists(home / "shop" / k_a));
}

TEST_CASE_METHOD(Stored, "files that were given to a task that was not created are no task") {
    write_text(home / "shop" / k_a / "files/shot.png", "x");
    write_text(home / "shop" / k_b / "files/shot.png", "x");
    write_text(home / "shop" / k_b / "state.json", state_text(example_record(k_b)));
    auto again = reloaded();
    CHECK(again.size() == 0);
    CHECK(again.unreadable().empty());
    CHECK_FALSE(fs::exists(home / "shop" / k_a));
    CHECK_FALSE(fs::exists(home / "shop" / k_b));

    write_text(home / "shop" / k_a / "files/shot.png", "x");
    REQUIRE(store.create(example_record(k_a), "body\n"));  // their creator has put them there
    CHECK(reloaded().size() == 1);
    CHECK(fs::exists(home / "shop" / k_a / "files/shot.png"));
}

TEST_CASE_METHOD(Stored, "whoever watches is told of every change, and of a task that is gone") {
    auto record = made(k_a);
    std::vector<std::string> seen;
    store.observe([&](const TaskId& id) { seen.push_back((store.brief(id) ? "has " : "had ") + id.value); });
    REQUIRE(store.save(record));
    files.fail_at(1);
    CHECK_FALSE(store.save(record));
    REQUIRE(store.remove(record.task.id));
    CHECK(seen == std::vector<std::string>{"has " + k_a, "had " + k_a});
}

TEST_CASE_METHOD(Stored, "an ended task with something left to do is active until it is done") {
    auto record = made(k_a);
    record.task.status = "cancelled";
    record.runs.push_back({});
    REQUIRE(store.save(record));
    CHECK(store.active().contains(record.task.id));
    record.runs.clear();
    record.intent = Intent{};
    REQUIRE(store.save(record));
    CHECK(store.active().contains(record.task.id));
    record.intent.reset();
    REQUIRE(store.save(record));
    CHECK_FALSE(store.active().contains(record.task.id));
    record.task.status = "shelved";
    record.ended = true;
    REQUIRE(store.save(record));
    CHECK_FALSE(store.active().contains(record.task.id));
}

TEST_CASE_METHOD(Stored, "a history of nothing but half a line is put aside whole") {
    const auto record = made(k_a);
    write_text(history_of(record), "{\"type\": \"to");
    REQUIRE(store.append_history(record.task.id, event("one")));
    const auto events = *store.history(record.task.id);
    REQUIRE(events.size() == 2);
    CHECK(events[0].type == "history.repaired");
    CHECK(read_text(history_of(record).string() + ".torn") == "{\"type\": \"to\n");
    // JSON that is whole, and no event.
    auto other = made(k_c);
    write_text(history_of(other), "[1]");
    REQUIRE(store.append_history(other.task.id, event("one")));
    CHECK(read_text(history_of(other).string() + ".torn") == "[1]\n");
    write_text(history_of(other), "");
    REQUIRE(reloaded().append_history(other.task.id, event("two")));
    CHECK(store.history(other.task.id)->size() == 1);
}

TEST_CASE_METHOD(Stored, "a history that cannot be read is an error, never an empty one") {
    const auto record = made(k_a);
    REQUIRE(store.append_history(record.task.id, event("one")));
    files.fail_at(1);
    CHECK(store.history(record.task.id).error().code == ErrorCode::io);
    auto again = reloaded();
    std::ofstream(history_of(record), std::ios::app)
        << "{\"type\": \"two\", \"timestamp\": \"2026-11-20T10:49:03.120Z\"}";
    files.fail_at(2);  // the read succeeds, and the line end that is missing cannot be written
    CHECK(again.append_history(record.task.id, event("three")).error().code == ErrorCode::io);
    files.fail_at(0);
    REQUIRE(again.append_history(record.task.id, event("three")));
    CHECK(again.history(record.task.id)->size() == 3);
}

TEST_CASE("a task whose folder became a link is not removed through it, and not loaded from there") {
    Stored s;
    const auto record = s.made(k_a);
    const auto folder = s.store.folder(record);
    TemporaryFolder elsewhere;
    fs::rename(folder, elsewhere / "task");
    write_text(elsewhere / "task/notes", "mine");
    fs::create_directory_symlink(elsewhere / "task", folder);

    const auto removed = s.store.remove(record.task.id);
    REQUIRE(!removed);
    CHECK_THAT(removed.error().message, Tells("link"));
    CHECK(!s.store.append_history(record.task.id, event("one")));
    CHECK(!s.store.save(record));
    CHECK(read_text(elsewhere / "task/notes") == "mine");
    CHECK(fs::exists(elsewhere / "task/state.json"));
    CHECK(!fs::exists(elsewhere / "task/history.jsonl"));

    const auto again = s.reloaded();
    CHECK(again.size() == 0);
    REQUIRE(again.unreadable().size() == 1);
    CHECK_THAT(again.unreadable().front().why, Tells("link"));
}

TEST_CASE("a history is read from its end, whatever is before, and mended without reading the whole", "[slow]") {
    Stored s;
    const auto record = s.made(k_a);
    const auto file = s.history_of(record);
    for (const auto* type : {"one", "two", "three"}) REQUIRE(s.store.append_history(record.task.id, event(type)));
    CHECK(*s.store.history(record.task.id, 2) == std::vector<HistoryEvent>{event("two"), event("three")});
    CHECK(s.store.history(record.task.id, 0)->empty());

    // Three hundred mebibytes of nothing, which the file system only pretends to have.
    const auto events = read_text(file);
    fs::resize_file(file, std::uintmax_t{300} << 20);
    std::ofstream(file, std::ios::app) << "\n" << events << "{\"type\": \"to";
    CHECK(s.real.read(file).error().code == ErrorCode::io);
    auto again = s.reloaded();
    REQUIRE(again.append_history(record.task.id, event("four")));
    CHECK(read_text(file.string() + ".torn") == "{\"type\": \"to\n");
    const auto found = *again.history(record.task.id, 3);
    REQUIRE(found.size() == 3);
    CHECK(found[0] == event("three"));
    CHECK(found[1].type == "history.repaired");
    CHECK(found[2] == event("four"));
    CHECK(again.history(record.task.id)->size() == 5);

    auto reader = again.read_history(record.task.id);
    CHECK(event_from_line(**reader.next_line()) == event("four"));
    CHECK(reader.read() <= 64 << 10);
    while (*reader.next_line()) continue;  // one line is far too long: only a piece of it comes
    CHECK(reader.read() == fs::file_size(file));
    fs::remove(file);
    CHECK(!*again.read_history(record.task.id).next_line());
    CHECK(!*again.read_history({"none"}).next_line());
    fs::create_directory(file);
    CHECK(again.read_history(record.task.id).next_line().error().code == ErrorCode::io);
}

TEST_CASE("lines come from the last to the first, wherever the pieces of the file end") {
    Stored s;
    const auto record = s.made(k_a);
    std::vector<std::string> lines;
    std::string text;
    for (int n = 0; n < 3000; ++n) {
        lines.push_back(std::to_string(n) + std::string(static_cast<std::size_t>(n * 37 % 211), 'x'));
        text += lines.back() + (n % 100 == 0 ? "\n\n" : "\n");
    }
    for (const auto* end : {"", "no end of a line"}) {
        if (*end) lines.emplace_back(end);
        write_text(s.history_of(record), text + end);
        auto reader = s.store.read_history(record.task.id);
        for (auto line = lines.rbegin(); line != lines.rend(); ++line) CHECK(*reader.next_line() == *line);
        CHECK(!*reader.next_line());
    }
}

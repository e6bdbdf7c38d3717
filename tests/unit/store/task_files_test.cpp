#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/catch.hpp"
#include "tests/fakes/meddling_file_system.hpp"
#include "tests/unit/store/task_world.hpp"

using namespace orange;
using namespace orange::store;
using namespace orange::testing;
namespace fs = std::filesystem;

namespace {

std::string field(const HistoryEvent& event, const std::string& name) {
    const auto found = event.fields.find(name);
    return found == event.fields.end() ? "" : std::get<std::string>(found->second);
}

void set_time(const Path& path, int seconds) {
    fs::last_write_time(path, fs::file_time_type::clock::now() + std::chrono::seconds(seconds));
}

/// Renames over, as most editors save.
void save_over(const Path& path, const std::string& text) {
    write_text(path.string() + "~", text);
    fs::rename(path.string() + "~", path);
}

ino_t inode_of(const Path& path) {
    struct stat facts {};
    REQUIRE(::stat(path.c_str(), &facts) == 0);
    return facts.st_ino;
}

struct FailingWorld : TaskWorld {
    /// Makes a call whose nth operation on `disk` fails. Returns false if it ends before its nth operation.
    template <class Call>
    bool fails_at(FaultyFileSystem& disk, int n, Call call) {
        disk.fail_at(n);
        const Result<Synced> result = call();
        const bool failed = disk.failed();
        disk.fail_at(0);
        if (result) record.body_hash = result->body_hash;
        if (!result) CHECK(result.error().code == ErrorCode::io);
        return failed;
    }
    /// Makes the call with a failure of its first operation, of its second one, and so on to its last one, each time
    /// after `prepare` and before `check`.
    template <class Prepare, class Call, class Check>
    void fail_each(Prepare prepare, Call call, Check check) {
        for (int n = 1;; ++n) {
            CAPTURE(n);
            prepare(n);
            if (!fails_at(files, n, [&] { return call(n); })) {
                CHECK(n > 6);
                return;
            }
            check(n);
        }
    }
};

}  // namespace

TEST_CASE_METHOD(TaskWorld, "a mirror that is not there is made, and right copies are not written") {
    start("body\n");
    CHECK(in_step("body\n"));
    const auto own_inode = inode_of(copies.own), mirror_inode = inode_of(*copies.mirror);
    const auto again = sync();
    CHECK(!again.body_changed);
    CHECK(again.events.empty());
    CHECK(!again.unsettled);
    CHECK(inode_of(copies.own) == own_inode);
    CHECK(inode_of(*copies.mirror) == mirror_inode);
    CHECK(others().empty());
    CHECK(names("work") == std::vector<std::string>{"TASK.md"});
}

TEST_CASE_METHOD(TaskWorld, "a body edited in either copy comes to the other, however it was saved") {
    start("the body\n");
    std::string line = "the body";
    int n = 0;
    for (const auto& copy : {copies.own, *copies.mirror}) {
        const auto next = [&] { return (line += " " + std::to_string(++n)) + "\n"; };
        const auto taken_over = [&](const std::string& body) {
            const auto synced = sync();
            CHECK(synced.body_changed);
            CHECK(synced.body == body);
            CHECK(in_step(body));
            CHECK(!sync().body_changed);
        };
        auto body = next();
        write_text(copy, projected(body));
        taken_over(body);
        save_over(copy, projected(body = next()));
        taken_over(body);
        fs::remove(copy);
        write_text(copy, projected(body = next()));
        taken_over(body);
    }
    CHECK(others().empty());
}

TEST_CASE_METHOD(TaskWorld, "a body edit alone does not rewrite the copy that was edited") {
    start("body\n");
    save_over(*copies.mirror, projected("body, a new one\n"));
    const auto inode = inode_of(*copies.mirror);
    sync();
    CHECK(in_step("body, a new one\n"));
    CHECK(inode_of(*copies.mirror) == inode);
}

TEST_CASE_METHOD(TaskWorld, "sections are written again by an edit of them, or by a mirror that is saved as it was") {
    start("## A\none\n\n## B\ntwo\n");
    const auto headings = [&] {
        std::vector<std::string> all;
        for (const auto& [heading, time] : sync().rewritten) all.push_back(heading);
        return all;
    };
    const auto save_again = [](const Path& file) {
        const auto text = read_text(file);
        const auto before = std::filesystem::last_write_time(file);
        while (std::filesystem::last_write_time(file) == before) write_text(file, text);
    };
    CHECK(headings().empty());
    record.task.summary = "the daemon writes both copies";
    CHECK(headings().empty());
    save_again(copies.own);
    CHECK(headings().empty());
    SECTION("an edit") {
        write_text(*copies.mirror, projected("## A\none\n\n## B\nthree\n"));
        CHECK(headings() == std::vector<std::string>{"B"});
        CHECK(headings() == std::vector<std::string>{"B"});
    }
    SECTION("a mirror as it was") {
        save_again(*copies.mirror);
        CHECK(headings() == std::vector<std::string>{"A", "B"});
    }
    SECTION("a daemon that has just started cannot tell") {
        restart();
        save_again(*copies.mirror);
        CHECK(headings().empty());
    }
}

TEST_CASE_METHOD(TaskWorld, "edits made while no daemon ran are found at start") {
    start("body\n");
    restart();
    save_over(*copies.mirror, projected("body, meanwhile\n"));
    auto synced = sync();
    CHECK(synced.body_changed);
    CHECK(!synced.attention);
    CHECK(in_step("body, meanwhile\n"));
    restart();
    save_over(copies.own, projected("again\n"));
    CHECK(sync().body == "again\n");
    CHECK(in_step("again\n"));
}

TEST_CASE_METHOD(TaskWorld, "a copy that comes back empty, or all zeros, after a loss of power is nobody's edit") {
    start("body\n");
    for (const auto& nothing : {std::string(), std::string("\n"), std::string(4096, '\0')}) {
        restart();
        write_text(*copies.mirror, nothing);
        const auto synced = sync();
        CHECK(in_step("body\n"));
        CHECK_FALSE(synced.body_changed);
        CHECK_FALSE(synced.attention);
        CHECK(synced.events.empty());
        restart();
        write_text(copies.own, nothing);
        sync();
        CHECK(in_step("body\n"));
    }
    // State and body are written one after the other: the last body may be newer than what state.json knows of it.
    restart();
    write_text(copies.own, projected("newer\n"));
    write_text(*copies.mirror, "");
    sync();
    CHECK(in_step("newer\n"));
    CHECK(others().empty());
    // Somebody who empties a text leaves its frontmatter.
    save_over(copies.own, projected(""));
    sync();
    CHECK(in_step(""));
}

TEST_CASE_METHOD(TaskWorld, "a copy that comes back cut after a loss of power takes nothing away") {
    start("one\ntwo\nthree\n");
    restart();
    save_over(copies.own, projected("one\ntw"));
    const auto body = sync().body;
    CHECK_THAT(body, Holds("one\ntwo\nthree\n"));
    CHECK(in_step(body));
    // An edit that is whole counts.
    restart();
    save_over(copies.own, projected("one\ntwo\nthree\n"));
    CHECK(sync().body == "one\ntwo\nthree\n");
    CHECK(others().empty());
}

TEST_CASE_METHOD(TaskWorld, "a deleted copy is restored from the other, or from memory") {
    start("body\n");
    fs::remove(*copies.mirror);
    CHECK(!sync().body_changed);
    CHECK(in_step("body\n"));
    fs::remove(copies.own);
    sync();
    CHECK(in_step("body\n"));
    fs::remove(copies.own);
    fs::remove(*copies.mirror);
    CHECK(!sync().body_changed);
    CHECK(in_step("body\n"));
    restart();
    fs::remove(copies.own);
    fs::remove(*copies.mirror);
    CHECK_FALSE(sync().attention);
    CHECK(in_step("body\n"));
}

TEST_CASE_METHOD(TaskWorld, "of two edits of one line both stay") {
    start("body\n");
    const bool after_restart = GENERATE(false, true);
    if (after_restart) restart();
    save_over(copies.own, projected("older\n"));
    save_over(*copies.mirror, projected("newer\n"));
    set_time(copies.own, -60);
    const auto synced = sync();
    CHECK(in_step("older\nnewer\n"));
    CHECK_FALSE(synced.attention);
    CHECK(synced.events.empty());
    CHECK(others().empty());
    CHECK(!sync().body_changed);
}

TEST_CASE_METHOD(TaskWorld, "the same edit of both copies is no conflict") {
    start("body\n");
    save_over(copies.own, projected("new\n"));
    save_over(*copies.mirror, projected("new\n"));
    const auto synced = sync();
    CHECK(synced.body_changed);
    CHECK(!synced.attention);
    CHECK(others().empty());
}

TEST_CASE_METHOD(TaskWorld, "a status edited by hand is put back and reported once, in whichever copy") {
    start("body\n");
    for (const bool in_mirror : {false, true}) {
        auto edited = record.task;
        edited.status = "done";
        save_over(in_mirror ? *copies.mirror : copies.own, task_text(edited, "body\n"));
        const auto synced = sync();
        REQUIRE(synced.events.size() == 1);
        CHECK(synced.events[0].type == "frontmatter.restored");
        CHECK(field(synced.events[0], "refused") == "status: done");
        CHECK(field(synced.events[0], "copy") == (in_mirror ? "mirror" : "own"));
        CHECK(!synced.body_changed);
        CHECK(in_step("body\n"));
        CHECK(sync().events.empty());
    }
}

TEST_CASE_METHOD(TaskWorld, "the daemon's own older frontmatter is nobody's edit, across a restart too") {
    start("body\n");
    const auto old = own();
    record.task.status = "agent-review";
    record.task.updated_at += std::chrono::seconds(1);
    restart();
    CHECK(sync().events.empty());  // state.json was saved, and then the daemon was killed
    CHECK(in_step("body\n"));

    // An agent writes back what it read before that, with its own body; and then once more with a status of its own.
    save_over(*copies.mirror, old + "more\n");
    CHECK(sync().events.empty());
    CHECK(in_step("body\nmore\n"));
    auto edited = old;
    edited.replace(edited.find("status: working"), 15, "status: done");
    save_over(*copies.mirror, edited + "more\n");
    CHECK(sync().events.empty());  // this daemon does not know the frontmatter of then
    CHECK(in_step("body\nmore\n"));
}

TEST_CASE_METHOD(TaskWorld, "in an older frontmatter of this daemon, only what was edited is reported") {
    start("body\n");
    auto edited = own();
    record.task.status = "agent-review";
    record.task.updated_at += std::chrono::seconds(1);
    sync();
    edited.replace(edited.find("status: working"), 15, "status: done");
    save_over(*copies.mirror, edited);
    const auto synced = sync();
    REQUIRE(synced.events.size() == 1);
    CHECK(field(synced.events[0], "refused") == "status: done");
    CHECK(in_step("body\n"));
}

TEST_CASE_METHOD(TaskWorld, "a frontmatter that is broken or missing is put back") {
    start("body\n");
    save_over(copies.own, "---\nid: [\n---\nnew\n");
    auto synced = sync();
    CHECK(synced.events.size() == 1);
    CHECK(in_step("new\n"));
    save_over(copies.own, "no frontmatter at all\n");
    synced = sync();
    REQUIRE(synced.events.size() == 1);
    CHECK(in_step("no frontmatter at all\n"));
    std::string crlf;
    for (const char c : projected("")) crlf += c == '\n' ? "\r\n" : std::string(1, c);
    save_over(copies.own, crlf + "line\r\n");
    CHECK(sync().events.empty());
    CHECK(in_step("line\r\n"));
}

TEST_CASE_METHOD(TaskWorld, "fields that Orange does not know are kept, and told to the caller") {
    start("body\n");
    auto text = projected("body\n");
    text.insert(text.find("labels:"), "jira: A-1\n");
    save_over(*copies.mirror, text);
    const auto synced = sync();
    CHECK(synced.extra_frontmatter == "labels: [a, b]\njira: A-1\n");
    CHECK(synced.events.empty());
    CHECK(in_step("body\n"));
    CHECK_THAT(own(), Holds("jira: A-1"));
    CHECK(!sync().extra_frontmatter);
}

TEST_CASE_METHOD(TaskWorld,
                 "what is no file in a copy's place is moved away unread and told, and the other copy counts") {
    const bool of_mirror = GENERATE(true, false);
    const auto copy = of_mirror ? *copies.mirror : copies.own;
    const auto kind =
        GENERATE(as<std::string>{}, "link", "dangling link", "link to the other copy", "folder", "pipe", "forbidden");
    INFO(kind << " in the place of " << copy);
    if (kind == "forbidden" && ::geteuid() == 0) return;  // root may read everything
    start("body\n");
    if (GENERATE(false, true)) restart();
    write_text(home / "elsewhere", "a key\n");
    fs::remove(copy);
    if (kind == "link") fs::create_symlink(home / "elsewhere", copy);
    if (kind == "dangling link") fs::create_symlink("nowhere", copy);
    if (kind == "link to the other copy") fs::create_symlink(of_mirror ? copies.own : *copies.mirror, copy);
    if (kind == "folder") {
        fs::create_directory(copy);
        write_text(copy / "inside", "text\n");
    }
    if (kind == "pipe") REQUIRE(::mkfifo(copy.c_str(), 0600) == 0);
    if (kind == "forbidden") {
        write_text(copy, "a text\n");
        fs::permissions(copy, fs::perms::none);
    }
    const auto synced = sync();
    CHECK(synced.body == "body\n");
    CHECK_FALSE(synced.body_changed);
    CHECK(in_step("body\n"));
    CHECK(fs::is_regular_file(fs::symlink_status(copy)));
    CHECK(read_text(home / "elsewhere") == "a key\n");
    CHECK(others() == std::vector<std::string>{"TASK.md.found"});
    CHECK(names("work") == std::vector<std::string>{"TASK.md"});
    REQUIRE(synced.events.size() == 1);
    CHECK(synced.events[0].type == "task_file.moved");
    CHECK(field(synced.events[0], "copy") == (of_mirror ? "mirror" : "own"));
    REQUIRE(synced.attention);
    CHECK_THAT(*synced.attention, Tells((home / "task/TASK.md.found").string()));
    CHECK(sync().events.empty());
    if (kind == "forbidden") fs::permissions(home / "task/TASK.md.found", fs::perms::owner_all);
}

TEST_CASE_METHOD(TaskWorld, "what is in the way again and again is moved each time, and has a bound") {
    start("body\n");
    for (int n = 0; n < 20; ++n) {
        fs::remove(*copies.mirror);
        REQUIRE(::mkfifo(copies.mirror->c_str(), 0600) == 0);
        sync();
        CHECK(in_step("body\n"));
    }
    CHECK(others().size() == 8);
}

TEST_CASE_METHOD(TaskWorld, "a text that is too large is not read, and not moved while its writer lives") {
    start("body\n");
    record.runs.emplace_back();
    const auto large = projected("body\n") + std::string(2 << 20, 'x');
    save_over(*copies.mirror, large);
    auto synced = sync();
    CHECK(synced.body == "body\n");
    CHECK_THAT(synced.unread, Tells(copies.mirror->string()));
    REQUIRE(synced.events.size() == 1);
    CHECK(synced.events[0].type == "task_file.unread");
    CHECK(fs::file_size(*copies.mirror) == large.size());
    CHECK(sync().events.empty());
    // The other copy counts meanwhile.
    save_over(copies.own, projected("body\nmore\n"));
    CHECK(sync().body == "body\nmore\n");
    CHECK(others().empty());
    SECTION("its writer makes it small again, and had not read what came since") {
        save_over(*copies.mirror, projected("body\nof the agent\n"));
        synced = sync();
        CHECK(synced.unread.empty());
        CHECK(in_step("body\nmore\nof the agent\n"));
    }
    SECTION("its writer ends") {
        record.runs.clear();
        synced = sync();
        CHECK(synced.unread.empty());
        CHECK(in_step("body\nmore\n"));
        CHECK(others() == std::vector<std::string>{"TASK.md.found"});
    }
    SECTION("the mirror is retired") {
        REQUIRE(wait(task_files->retire_mirror(record, copies)));
        CHECK(names("work").empty());
        CHECK(others() == std::vector<std::string>{"TASK.md.found"});
        CHECK(fs::file_size(home / "task/TASK.md.found") == large.size());
    }
}

TEST_CASE_METHOD(TaskWorld, "the mirror may be in a folder of its own, but a worktree that is gone stays gone") {
    copies.mirror = home / "work/.orange/TASK.md";
    start("body\n");
    CHECK(in_step("body\n"));
    REQUIRE(wait(task_files->retire_mirror(record, copies)));
    CHECK(!fs::exists(home / "work/.orange"));
    fs::remove_all(home / "work");
    sync();
    CHECK(!fs::exists(home / "work"));
}

TEST_CASE_METHOD(TaskWorld, "odd bodies are kept byte for byte") {
    start("body\n");
    for (const auto& body : {std::string("\0\xff\xfe no newline", 15), std::string("\r\n---\r\n---\r\n"), std::string(),
                             std::string(1'000'000, 'x')}) {
        save_over(copies.own, projected(body));
        const bool same = sync().body == body;  // not for Catch to print
        CHECK(same);
        CHECK(in_step(body));
    }
}

TEST_CASE_METHOD(TaskWorld, "a writer that still has the displaced file open loses nothing") {
    start("one\n");
    const int writer = ::open(copies.mirror->c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    record.task.summary = "Changed";
    auto synced = sync();  // exchanges the file under the writer
    CHECK(synced.unsettled);
    CHECK(in_step("one\n"));
    REQUIRE(::write(writer, "two\n", 4) == 4);
    synced = sync();
    CHECK(synced.body == "one\ntwo\n");
    CHECK(synced.unsettled);
    CHECK(in_step("one\ntwo\n"));
    REQUIRE(::write(writer, "three\n", 6) == 6);
    ::close(writer);
    synced = sync();
    CHECK(!synced.unsettled);
    CHECK(in_step("one\ntwo\nthree\n"));
    CHECK(names("work") == std::vector<std::string>{"TASK.md"});
}

TEST_CASE_METHOD(TaskWorld, "a writer that has found the file, but opens it only after the exchange, loses nothing",
                 "[slow]") {
    start("one\n");
    const Path copy = GENERATE(true, false) ? copies.own : *copies.mirror;
    const int found = ::open(copy.c_str(), O_PATH | O_CLOEXEC);  // as far as open() is when it stands still
    record.task.summary = "Changed";
    CHECK(sync().waiting);
    CHECK(names("work") == std::vector<std::string>{"TASK.md"});
    const int writer = ::open(("/proc/self/fd/" + std::to_string(found)).c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    ::close(found);
    REQUIRE(::write(writer, "two\n", 4) == 4);
    ::close(writer);
    CHECK(sync().body == "one\ntwo\n");
    CHECK(in_step("one\ntwo\n"));
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (sync().waiting && std::chrono::steady_clock::now() < until) ::usleep(20'000);
    for (const auto& name : names("task")) CHECK_FALSE(name.starts_with(".TASK.md.orange-"));
    CHECK(in_step("one\ntwo\n"));
}

TEST_CASE_METHOD(TaskWorld, "a copy that was created and not yet written is nobody's edit, and loses no line") {
    const Path copy = GENERATE(0, 1) == 0 ? copies.own : *copies.mirror;
    start("one\n");
    const auto read_before = read_text(copy);
    save_over(copy == copies.own ? *copies.mirror : copies.own, projected("one\ntwo\n"));
    sync();
    // Its editor has read the text without the second line. It deletes the copy, creates it, and stands still in
    // open().
    std::filesystem::remove(copy);
    write_text(copy, "");
    const int created = ::open(copy.c_str(), O_PATH | O_CLOEXEC);
    CHECK(sync().body == "one\ntwo\n");
    CHECK(in_step("one\ntwo\n"));
    write_text("/proc/self/fd/" + std::to_string(created), read_before + "three\n");
    ::close(created);
    CHECK(sync().body == "one\ntwo\nthree\n");
    CHECK(in_step("one\ntwo\nthree\n"));
}

TEST_CASE_METHOD(TaskWorld,
                 "a late writer has read what stood there when its file was displaced, whoever saved since") {
    start("one\n");
    save_over(copies.own, projected("one\nmine\n"));
    sync();
    const auto read_before = read_text(copies.own);
    save_over(*copies.mirror, projected("one\nmine\ntheirs\n"));
    sync();
    const int writer = ::open(copies.own.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);  // it has read the text before
    sync();
    REQUIRE(in_step("one\nmine\ntheirs\n"));
    save_over(copies.own, projected("one\nmine\ntheirs\nlater\n"));
    sync();
    const auto text = read_before + "late\n";
    REQUIRE(::write(writer, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    ::close(writer);
    const auto body = sync().body;
    for (const char* line : {"mine\n", "theirs\n", "later\n", "late\n"}) CHECK_THAT(body, Holds(line));
}

TEST_CASE_METHOD(TaskWorld, "nothing is waited for if nobody has a copy open") {
    start("one\n");
    record.task.summary = "Changed";
    std::optional<Result<Synced>> synced;
    asio::co_spawn(context, keep(task_files->sync(record, copies), synced), [](std::exception_ptr) {});
    context.restart();
    context.poll();  // runs no timer that is still to come
    REQUIRE(synced);
    CHECK(in_step("one\n"));
}

TEST_CASE_METHOD(TaskWorld, "a copy that is being rewritten is left alone until it looks whole") {
    start("one\n");
    const int writer = ::open(copies.mirror->c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    auto synced = sync();
    CHECK(synced.unsettled);
    CHECK(synced.body == "one\n");
    CHECK(own() == projected("one\n"));
    const auto text = projected("one\ntwo\n");
    REQUIRE(::write(writer, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    ::close(writer);
    synced = sync();
    CHECK(!synced.unsettled);
    CHECK(in_step("one\ntwo\n"));
}

TEST_CASE_METHOD(TaskWorld,
                 "a text that is cut in the middle of a line by a writer that stands still is nobody's edit") {
    start("one\ntwo\nthree\n");
    const auto whole = projected("one\ntwo\nthree\nfour\n");
    const auto cut = projected("one\ntw");
    const Path copy = GENERATE(true, false) ? copies.own : *copies.mirror;
    const int writer = ::open(copy.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    REQUIRE(::write(writer, cut.data(), cut.size()) == std::ssize(cut));
    record.task.summary = "something to write";
    const auto during = sync();
    CHECK(during.body == "one\ntwo\nthree\n");
    CHECK(during.unsettled);
    const auto rest = whole.substr(cut.size());
    REQUIRE(::write(writer, rest.data(), rest.size()) == std::ssize(rest));
    ::close(writer);
    CHECK(sync().body == "one\ntwo\nthree\nfour\n");
    CHECK(in_step("one\ntwo\nthree\nfour\n"));
}

TEST_CASE_METHOD(TaskWorld, "what an appender that never closes the file has written counts at once") {
    start("one\n");
    const int writer = ::open(copies.mirror->c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    REQUIRE(::write(writer, "two\n", 4) == 4);
    CHECK(sync().body == "one\ntwo\n");
    ::close(writer);
}

TEST_CASE_METHOD(TaskWorld,
                 "what a killed daemon left is kept if it has lines of its own, and editors' files are let be") {
    start("one\ntwo\nthree\n");
    restart();
    const auto name = [](const std::string& body) { return ".TASK.md.orange-" + sha256(body).substr(0, 16) + "-"; };
    const bool is_late = GENERATE(true, false);
    const std::string old = "an older text\n";
    write_text(home / ("work/" + name("one\n") + "0123456789"), projected("one\nlate\n"));
    write_text(home / ("task/" + name(old) + "abcdefghij"), projected(is_late ? old + "and a line\n" : old));
    write_text(home / "task/.TASK.md.orange-of-a-2nd", projected("one\n"));
    write_text(home / "task/.state.json.0123456789.tmp", "half");
    write_text(home / "work/.TASK.md.0123456789.tmp", "half");
    write_text(home / "work/.TASK.md.swp", "vim's");
    const auto synced = sync();
    CHECK(synced.body == "one\ntwo\nthree\n");
    CHECK(in_step("one\ntwo\nthree\n"));
    CHECK(names("work") == std::vector<std::string>{".TASK.md.swp", "TASK.md"});
    REQUIRE(synced.attention);
    CHECK_THAT(*synced.attention, Holds("TASK.kept-"));
    CHECK(others().size() == (is_late ? 2 : 1));
    CHECK_THAT(everything(), Holds("late\n"));
    if (is_late) CHECK_THAT(everything(), Holds("and a line\n"));
}

TEST_CASE_METHOD(TaskWorld, "edits of both copies at different places are merged") {
    start("one\ntwo\nthree\n");
    save_over(copies.own, projected("ONE\ntwo\nthree\n"));
    save_over(*copies.mirror, projected("one\ntwo\nTHREE\n"));
    const auto synced = sync();
    CHECK(in_step("ONE\ntwo\nTHREE\n"));
    CHECK_FALSE(synced.attention);
    CHECK(others().empty());
}

TEST_CASE_METHOD(TaskWorld, "lines that both copies got at their ends are both there") {
    start("one\n");
    write_text(copies.own, own() + "of the own\n");
    write_text(*copies.mirror, mirror() + "of the mirror\n");
    const auto synced = sync();
    CHECK_THAT(synced.body, Holds("of the own\n") && Holds("of the mirror\n"));
    CHECK(in_step(synced.body));
    CHECK_FALSE(synced.attention);
    CHECK(others().empty());
}

TEST_CASE_METHOD(TaskWorld, "a section is written into both copies, with what was edited meanwhile") {
    start("## Plan\n\nx\n");
    save_over(*copies.mirror, projected("## Plan\n\ny\n"));
    auto synced = accept(wait(task_files->write_sections(record, copies, {{"Feedback", "Please."}})));
    CHECK(synced.body == "## Plan\n\ny\n\n## Feedback\n\nPlease.\n");
    CHECK(synced.body_changed);
    CHECK(in_step(synced.body));
    synced = accept(wait(task_files->write_sections(record, copies, {{"Feedback", "Thanks."}})));
    CHECK(!synced.body_changed);
    CHECK(in_step("## Plan\n\ny\n\n## Feedback\n\nThanks.\n"));
}

TEST_CASE_METHOD(TaskWorld, "a retired mirror has had its last word") {
    start("body\n");
    save_over(*copies.mirror, projected("body\nlast word\n"));
    const auto synced = accept(wait(task_files->retire_mirror(record, copies)));
    CHECK(synced.body == "body\nlast word\n");
    CHECK(own() == projected("body\nlast word\n"));
    CHECK(names("work").empty());
    copies.mirror.reset();
    CHECK(!sync().body_changed);
}

TEST_CASE_METHOD(FailingWorld, "whatever fails, no edit is lost and the next call finishes") {
    start("one\n");
    std::string expected;
    const auto edit = [&](int n) {
        expected = sync().body + "line " + std::to_string(n) + "\n";
        save_over(n % 2 == 0 ? copies.own : *copies.mirror, projected(expected));
        record.task.summary = "Round " + std::to_string(n);
    };
    fail_each(
        edit, [&](int) { return try_sync(); },
        [&](int n) {
            if (n % 3 == 0) restart();
            const auto synced = sync();
            CHECK(synced.body == expected);
            CHECK(in_step(expected));
        });
    CHECK(names("work") == std::vector<std::string>{"TASK.md"});
    CHECK(others().empty());
}

TEST_CASE_METHOD(FailingWorld, "whatever fails between the two copies, no line of two edits is there twice") {
    const auto edit_both = [&](int n) {
        record.task.summary = "Round " + std::to_string(n);
        restart();
        write_text(*copies.mirror, projected("begin\n"));
        start("begin\n");
        write_text(*copies.mirror, mirror() + "of the mirror\n");
        write_text(copies.own, own() + "of the own\n");
    };
    fail_each(
        edit_both, [&](int) { return try_sync(); },
        [&](int) {
            const auto body = sync().body;
            CHECK(body.size() == std::string("begin\nof the mirror\nof the own\n").size());
            CHECK_THAT(body, Holds("of the mirror\n") && Holds("of the own\n"));
            CHECK(in_step(body));
        });
}

TEST_CASE_METHOD(FailingWorld, "whatever fails while a file of a killed daemon is counted, its old text stays old") {
    const auto leave_old_text = [&](int n) {
        record.task.summary = "Round " + std::to_string(n);
        start("now\n");
        restart();
        write_text(home / ("task/.TASK.md.orange-" + sha256("then\n").substr(0, 16) + "-0123456789"),
                   projected("then\n"));
        record.task.summary += " and more";
    };
    fail_each(
        leave_old_text, [&](int) { return try_sync(); },
        [&](int) {
            CHECK_FALSE(sync().attention);
            CHECK(in_step("now\n"));
            CHECK(others().empty());
        });
}

TEST_CASE_METHOD(FailingWorld, "whatever fails while a section is written, the next call writes it once") {
    start("one\n");
    const auto text_of = [](int n) { return "round " + std::to_string(n); };
    const auto line_of = [](int n) { return "line " + std::to_string(n) + "\n"; };
    const auto edit = [&](int n) { save_over(*copies.mirror, projected(line_of(n) + sync().body)); };
    const auto write = [&](int n) {
        return wait(task_files->write_sections(record, copies, {{"Feedback", text_of(n)}}));
    };
    fail_each(edit, write, [&](int n) {
        const auto synced = accept(write(n));
        CHECK(synced.body.starts_with(line_of(n)));
        CHECK(synced.body.ends_with("## Feedback\n\n" + text_of(n) + "\n"));
        CHECK(in_step(synced.body));
    });
    CHECK(names("work") == std::vector<std::string>{"TASK.md"});
}

TEST_CASE_METHOD(FailingWorld,
                 "whatever fails while a mirror is retired, its last word is kept, and the next call retires it",
                 "[slow]") {
    const auto word_of = [](int n) { return "body\nword " + std::to_string(n) + "\n"; };
    const auto edit = [&](int n) {
        record.task.summary = "Round " + std::to_string(n);
        restart();
        start("body\n");
        save_over(*copies.mirror, projected(word_of(n)));
    };
    const auto retire = [&](int) { return wait(task_files->retire_mirror(record, copies)); };
    fail_each(edit, retire, [&](int n) {
        CHECK(accept(retire(n)).body == word_of(n));
        CHECK(own() == projected(word_of(n)));
        CHECK(names("work").empty());
    });
}

TEST_CASE_METHOD(FailingWorld, "whatever fails while two edits are brought together, both are somewhere") {
    const auto left_of = [](int n) { return "left " + std::to_string(n) + "\n"; };
    const auto right_of = [](int n) { return "right " + std::to_string(n) + "\n"; };
    const auto edit_both = [&](int n) {
        record.task.summary = "Round " + std::to_string(n);
        restart();
        write_text(*copies.mirror, projected("one\n"));
        start("one\n");
        save_over(copies.own, projected(left_of(n)));
        save_over(*copies.mirror, projected(right_of(n)));
        set_time(copies.own, -2);
    };
    fail_each(
        edit_both, [&](int) { return try_sync(); },
        [&](int n) {
            if (n % 2 == 0) restart();
            const auto synced = sync();
            CHECK(in_step(synced.body));
            CHECK_THAT(everything(), Holds(left_of(n)));
            CHECK_THAT(everything(), Holds(right_of(n)));
        });
}

TEST_CASE_METHOD(TaskWorld, "a conflict of an older text that says nothing is none") {
    start("one\n");
    save_over(copies.own, projected(" \n"));
    set_time(copies.own, -2);
    save_over(*copies.mirror, projected("one\ntwo\n"));
    const auto synced = sync();
    CHECK(synced.body == "one\ntwo\n");
    CHECK(synced.events.empty());
    CHECK_FALSE(synced.attention);
    CHECK(others().empty());
}

TEST_CASE_METHOD(TaskWorld, "kept texts of one moment get names of their own, and all of them stay") {
    struct StandingClock final : Clock {
        Timestamp now() const override { return *from_rfc3339("2026-11-20T10:49:03.120Z"); }
    } standing;
    task_files.emplace(files, standing);
    start("begin\n");
    for (int n = 1; n <= 8; ++n) {
        const auto line = "own " + std::to_string(n) + "\n";
        save_over(copies.own, projected("begin\n" + line));
        sync();
        for (int times = 0; times < 2; ++times) {
            save_over(*copies.mirror, projected("begin\n"));
            sync();
        }
        CHECK(in_step("begin\n"));
    }
    CHECK(others().size() == 8);
    for (int n = 1; n <= 8; ++n) CHECK_THAT(everything(), Holds("own " + std::to_string(n) + "\n"));
}

TEST_CASE_METHOD(TaskWorld, "a body that is gone from everywhere is told, and not taken for an empty one by itself") {
    start("one\n");
    restart();
    fs::remove(copies.own);
    fs::remove(*copies.mirror);
    for (const auto& name : names("task")) fs::remove(home / "task" / name);
    const auto synced = sync();
    REQUIRE(synced.attention);
    CHECK(synced.attention->find("TASK.md is gone from " + (home / "task").string()) == 0);
    CHECK(in_step(""));
}

TEST_CASE_METHOD(TaskWorld, "a half-written mirror that is retired is kept as what it was") {
    start("one\n");
    const int writer = ::open(copies.mirror->c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    REQUIRE(::write(writer, "half a", 6) == 6);
    const auto synced = accept(wait(task_files->retire_mirror(record, copies)));
    ::close(writer);
    CHECK(own() == projected("one\n"));
    CHECK(synced.body == "one\n");
    bool kept = false;
    for (const auto& name : others()) kept = kept || read_text(home / ("task/" + name)) == "half a";
    CHECK(kept);
}

TEST_CASE_METHOD(TaskWorld, "retiring a mirror that is gone, or that was never there, is no error") {
    start("body\n");
    fs::remove(*copies.mirror);
    CHECK(accept(wait(task_files->retire_mirror(record, copies))).body == "body\n");
    CHECK(names("work").empty());
    fs::remove_all(home / "work");
    CHECK(accept(wait(task_files->retire_mirror(record, copies))).body == "body\n");
    CHECK_FALSE(fs::exists(home / "work"));
}

TEST_CASE_METHOD(TaskWorld, "a forgotten task is read from the disk again") {
    start("one\n");
    task_files->forget(record.task.id);
    save_over(copies.own, projected("two\n"));
    CHECK(sync().body == "two\n");
    CHECK(in_step("two\n"));
}

namespace {

/// Somebody who does something to a copy at the very moment at which the daemon writes it.
struct MeddledWorld : FailingWorld {
    fakes::MeddlingFileSystem meddled{real};
    int times = 0;

    MeddledWorld() { task_files.emplace(meddled, clock); }
    /// The first `most` times that the mirror (or, where it is not there, its temporary) is written.
    void meddle(int most, std::function<void()> what) {
        meddled.before = [this, most, what](const Path& path) {
            const auto name = path.filename().string();
            const bool is_mirror = path.parent_path() == home / "work" && name.find("TASK.md") != std::string::npos;
            if (is_mirror && times < most) ++times, what();
        };
    }
};

}  // namespace

TEST_CASE_METHOD(MeddledWorld, "a copy that is deleted while it is written is made anew") {
    start("one\n");
    record.task.summary = "Another";
    meddle(1, [&] { fs::remove(*copies.mirror); });
    sync();
    CHECK(times == 1);
    CHECK(in_step("one\n"));
    CHECK(names("work") == std::vector<std::string>{"TASK.md"});
}

TEST_CASE_METHOD(MeddledWorld, "a copy that somebody creates while the daemon does is taken in") {
    start("one\n");
    fs::remove(*copies.mirror);
    meddle(1, [&] { write_text(*copies.mirror, projected("one\ntwo\n")); });
    auto synced = sync();
    CHECK(times == 1);
    CHECK(synced.body == "one\ntwo\n");
    CHECK(in_step("one\ntwo\n"));
}

TEST_CASE_METHOD(MeddledWorld, "a copy that somebody creates and fills only later loses nothing") {
    start("one\n");
    fs::remove(*copies.mirror);
    meddle(1, [&] { write_text(*copies.mirror, ""); });
    sync();
    CHECK(times == 1);
    save_over(*copies.mirror, projected("one\nlater\n"));
    CHECK(sync().body == "one\nlater\n");
    CHECK(in_step("one\nlater\n"));
}

TEST_CASE_METHOD(MeddledWorld,
                 "whoever saves just before the daemon does is merged in, whatever he did to the frontmatter") {
    start("one\n");
    const auto read_before = projected("one\n");
    record.task.summary = "Another";
    meddle(1, [&] {
        auto text = read_before + "two\n";
        text.replace(text.find("status: working"), 15, "status: done");
        save_over(*copies.mirror, text);
    });
    const auto synced = sync();
    CHECK(times == 1);
    CHECK(synced.body == "one\ntwo\n");
    CHECK(in_step("one\ntwo\n"));
    REQUIRE(synced.events.size() == 1);
    CHECK(synced.events[0].type == "frontmatter.restored");
    CHECK_THAT(field(synced.events[0], "refused"), Tells("status: done"));
}

TEST_CASE_METHOD(MeddledWorld, "a writer that never stops holds up nobody, and no line of his is lost") {
    start("begin\n");
    record.task.summary = "Another";
    std::string body = "begin\n";
    int line = 0;
    meddle(1000, [&] {
        body += "line " + std::to_string(++line) + "\n";
        save_over(*copies.mirror, projected(body));
    });
    const auto synced = sync();
    CHECK(synced.unsettled);
    CHECK(times >= 5);
    CHECK(times < 20);
    meddled.before = [](const Path&) {};
    const auto last = sync();
    for (int n = 1; n <= line; ++n) CHECK_THAT(last.body, Holds("line " + std::to_string(n) + "\n"));
    CHECK(in_step(last.body));
}

TEST_CASE_METHOD(MeddledWorld, "whatever fails while somebody is faster, his text is somewhere") {
    for (int n = 1; n <= 60; ++n) {
        CAPTURE(n);
        task_files.emplace(meddled, clock);
        record.task.summary = "Round " + std::to_string(n);
        start("one\n");
        const auto read_before = projected("one\n");
        record.task.summary += " and more";
        times = 0;
        const auto line = "two " + std::to_string(n) + "\n";
        FaultyFileSystem failing(meddled);
        task_files.emplace(failing, clock);
        meddle(1, [&] { save_over(*copies.mirror, read_before + line); });
        const bool failed = fails_at(failing, n, [&] { return try_sync(); });
        meddled.before = [](const Path&) {};
        if (times == 0) continue;  // it failed before anything was written
        const auto synced = sync();
        CHECK_THAT(synced.body, Holds(line));
        CHECK(in_step(synced.body));
        if (!failed) break;
    }
}

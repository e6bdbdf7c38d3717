#include <asio/io_context.hpp>
#include <cerrno>
#include <chrono>
#include <set>

#include "daemon/files/inotify_file_watcher.hpp"
#include "tests/catch.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/support/pseudo_terminal.hpp"

using namespace orange;
using namespace orange::testing;
namespace fs = std::filesystem;

namespace {

struct Watching {
    TemporaryFolder folder;
    asio::io_context context;
    std::unique_ptr<InotifyFileWatcher> watcher = *InotifyFileWatcher::open(context.get_executor());
    std::multiset<std::string> names;

    auto noting() {
        return [this](const std::string& name) { names.insert(name); };
    }
    bool sees(const std::string& name) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
        while (!names.contains(name) && std::chrono::steady_clock::now() < deadline) {
            context.run_one_for(std::chrono::milliseconds(50));
        }
        return names.contains(name);
    }
};

}  // namespace

TEST_CASE("a limit of the kernel that is used up is named with the setting that raises it") {
    CHECK_THAT(refused_watch("watching /x", ENOSPC).message, Holds("fs.inotify.max_user_watches=") && Holds("poll"));
    CHECK_THAT(refused_watch("watching files", EMFILE).message,
               Holds("fs.inotify.max_user_instances=") && Holds("ulimit -n"));
    CHECK(refused_watch("watching /x", ENOENT).code == ErrorCode::not_found);
    CHECK_THAT(refused_watch("watching /x", EACCES).message, !Holds("fs.inotify"));
}

TEST_CASE_METHOD(Watching, "every way of saving a file is noticed") {
    write_text(folder / "in-place", "old");
    write_text(folder / "deleted", "old");
    REQUIRE(watcher->watch(folder.path(), noting()));
    write_text(folder / "in-place", "new");
    CHECK(sees("in-place"));
    write_text(folder / "tmp", "new");
    fs::rename(folder / "tmp", folder / "renamed over");
    CHECK(sees("renamed over"));
    fs::remove(folder / "deleted");
    CHECK(sees("deleted"));
    fs::create_symlink("x", folder / "created");
    CHECK(sees("created"));
}

TEST_CASE_METHOD(Watching, "two watches of one folder are told separately, until each ends") {
    int first = 0;
    const auto one = *watcher->watch(folder.path(), [&](const std::string&) { ++first; });
    REQUIRE(watcher->watch(folder.path(), noting()));
    watcher->unwatch(one);
    write_text(folder / "file", "x");
    CHECK(sees("file"));
    CHECK(first == 0);
}

TEST_CASE_METHOD(Watching, "a watch may end itself from within its own call, and its folder may go") {
    FileWatcher::WatchId id = 0;
    id = *watcher->watch(folder.path(), [&](const std::string& name) {
        names.insert(name);
        watcher->unwatch(id);
    });
    fs::create_directory(folder / "sub");
    REQUIRE(watcher->watch(folder / "sub", noting()));
    CHECK(sees("sub"));
    fs::remove(folder / "sub");
    const auto missing = watcher->watch(folder / "sub", noting());
    REQUIRE(!missing);
    CHECK(missing.error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(Watching, "the watcher may be destroyed while it waits") {
    REQUIRE(watcher->watch(folder.path(), noting()));
    write_text(folder / "file", "x");
    watcher.reset();
    context.run();
    CHECK(names.empty());
}

TEST_CASE_METHOD(Watching, "the first write to a file or a terminal is told, and no other") {
    const test::PseudoTerminal terminal;
    write_text(folder / "file", "x");
    const auto count_of = [&](const std::string& name) { return names.count(name); };
    const auto once = [&](const Path& path, const std::string& name) {
        return watcher->watch_once(path, [this, name] { names.insert(name); });
    };
    REQUIRE(once(terminal.path(), "terminal"));
    REQUIRE(once(folder / "file", "file"));
    const auto dropped = once(folder / "file", "dropped").value();
    watcher->unwatch(dropped);
    terminal.write("one");
    terminal.write("two");
    CHECK(sees("terminal"));
    write_text(folder / "file", "y");
    CHECK(sees("file"));
    terminal.write("three");
    context.run_for(std::chrono::milliseconds(100));
    CHECK(count_of("terminal") == 1);
    CHECK(count_of("dropped") == 0);

    REQUIRE(once(terminal.path(), "again"));
    terminal.write("four");
    CHECK(sees("again"));
    CHECK(once(folder / "missing", "missing").error().code == ErrorCode::not_found);
}

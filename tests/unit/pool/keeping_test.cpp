#include "daemon/pool/keeping.hpp"

#include "tests/catch.hpp"
#include "tests/support/advanced_time.hpp"
#include "tests/unit/pool/pool_fixture.hpp"

/// Keeping gigabytes of files takes minutes. Nobody but the task itself waits for that, and Orange tells how long.
using namespace orange;
using namespace orange::test;
using namespace std::chrono_literals;

namespace {

/// A `git add` in one folder stands still until the test lets it go.
class GatedRunner final : public ProcessRunner {
  public:
    explicit GatedRunner(ProcessRunner& real) : real_(real) {}
    Awaitable<Result<Completed>> run(Command command) override {
        const bool adds =
            std::find(command.argv.begin(), command.argv.end(), "--pathspec-from-file=-") != command.argv.end() ||
            std::find(command.argv.begin(), command.argv.end(), ":(top)") != command.argv.end();
        if (adds && command.cwd == folder) {
            is_reached = true;
            while (is_closed) co_await async::sleep(2ms);
        }
        co_return co_await real_.run(std::move(command));
    }
    std::string folder;
    bool is_closed = true;
    bool is_reached = false;

  private:
    ProcessRunner& real_;
};

struct Slow : PoolFixture {
    GatedRunner gate{runner};
    CliGit slow_git{gate, environment()};
    async::KeyedMutex locks{io.get_executor()};
    Pool slow{files, slow_git, gate, locks, root, "pool@test"};
    std::vector<Keeping> told;
    std::vector<std::string> tasks;

    Slow() {
        slow.tell_keeping([this](const TaskId& id, const Keeping& keeping) {
            tasks.push_back(id.value);
            told.push_back(keeping);
        });
    }
    Path start(const std::string& id) { return go(slow.acquire(project, task(id), {})).value().path; }
    void end(const std::string& id) { REQUIRE(go(slow.release(project, task(id)))); }
    /// Leaves a file in a worktree, and lets nobody add it.
    void close(const Path& worktree) {
        write_file(worktree / "big", std::string(3'000'000, 'x'));
        gate.folder = worktree.string();
    }

    template <class T>
    static Awaitable<void> put(Awaitable<T> coroutine, std::optional<T>* into) {
        *into = co_await std::move(coroutine);
    }
    static Awaitable<bool> wait_for(std::function<bool()> holds) {
        for (int i = 0; i < 10'000 && !holds(); ++i) co_await async::sleep(2ms);
        co_return holds();
    }
    /// Returns true if `second` ends while the add of `first` stands still. Lets the add go then.
    template <class T, class U>
    Awaitable<bool> goes_on_beside(Awaitable<T> first, Awaitable<U> second) {
        std::optional<T> one;
        std::optional<U> other;
        async::spawn(io.get_executor(), "first", put(std::move(first), &one));
        bool done = co_await wait_for([&] { return gate.is_reached; });
        async::spawn(io.get_executor(), "second", put(std::move(second), &other));
        if (done) done = co_await wait_for([&] { return other.has_value(); });
        gate.is_closed = false;
        const bool ended = co_await wait_for([&] { return one && other; });
        co_return done&& ended && one->has_value() && other->has_value();
    }
};

}  // namespace

TEST_CASE_METHOD(Slow, "a task starts while the files of another one of its repository are still added") {
    close(start("a"));
    CHECK(go(goes_on_beside(slow.release(project, task("a")), slow.acquire(project, task("b"), {}))));
    CHECK(plain(project.path, {"cat-file", "-s", "refs/orange/a/wip:big"}) == "3000000");
}

TEST_CASE_METHOD(Slow, "a task starts while what was found in the workspace of another one is still added") {
    const auto tree = start("a");
    end("a");
    close(tree);
    CHECK(go(goes_on_beside(slow.acquire(project, task("c"), {}), slow.acquire(project, task("d"), {}))));
    CHECK(plain(project.path, {"cat-file", "-s", "refs/orange/shop--1/found:big"}) == "3000000");
    CHECK_FALSE(std::filesystem::exists(tree / "big"));
}

TEST_CASE_METHOD(Slow, "a task starts while what is left in a workspace that gc removes is still added") {
    start("a");
    const auto tree = start("b");
    end("a");
    end("b");
    close(tree);
    project.pool_size = 1;
    const std::function<bool(const TaskId&)> nobody = [](const TaskId&) { return false; };
    CHECK(go(goes_on_beside(slow.gc(project, nobody), slow.acquire(project, task("d"), {}))));
    CHECK(plain(project.path, {"cat-file", "-s", "refs/orange/shop--2/found:big"}) == "3000000");
    CHECK_FALSE(std::filesystem::exists(tree));
}

TEST_CASE_METHOD(Slow, "how much is kept, and for how long so far, is told again and again until it is kept") {
    TestTime time;
    close(start("a"));
    std::optional<Result<Released>> released;
    async::spawn(io.get_executor(), "release", put(slow.release(project, task("a")), &released));
    const auto watch = [&]() -> Awaitable<bool> {
        bool seen = co_await wait_for([&] { return gate.is_reached; });
        CHECK(slow.keeping(task("a").id) == nullptr);
        time.advance(2s);
        if (seen) seen = co_await wait_for([&] { return told.size() == 1; });
        time.advance(38s);
        if (seen) seen = co_await wait_for([&] { return told.size() == 2; });
        const auto* keeping = slow.keeping(task("a").id);
        CHECK((keeping && keeping->seconds() >= 40));
        if (keeping) CHECK_THAT(keeping->text(), Tells("2") && Tells("shop--1"));
        gate.is_closed = false;
        if (seen) seen = co_await wait_for([&] { return released.has_value(); });
        co_return seen;
    };
    CHECK(go(watch()));
    CHECK(tasks.at(0) == "a");
    CHECK(told.at(0).workspace == "shop--1");
    CHECK(told.at(0).untracked.files == 1);
    CHECK(told.at(0).untracked.bytes == 3'000'000);
    CHECK(slow.keeping(task("a").id) == nullptr);
}

TEST_CASE_METHOD(Slow, "nothing is told of a release that has little to keep") {
    gate.is_closed = false;
    close(start("a"));
    end("a");
    CHECK(told.empty());
}

#include "daemon/log/log_file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "common/log/query.hpp"
#include "daemon/log/log.hpp"
#include "tests/catch.hpp"
#include "tests/fakes/temporary_folder.hpp"

using namespace orange;
namespace fs = std::filesystem;

namespace {

std::string text_of(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

/// No file of this process may grow beyond `bytes` while this lives.
class SmallFiles {
  public:
    explicit SmallFiles(rlim_t bytes) {
        old_handler_ = ::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &old_);
        const rlimit small{bytes, old_.rlim_max};
        REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    }
    ~SmallFiles() {
        ::setrlimit(RLIMIT_FSIZE, &old_);
        ::signal(SIGXFSZ, old_handler_);
    }
    SmallFiles(const SmallFiles&) = delete;
    SmallFiles& operator=(const SmallFiles&) = delete;

  private:
    rlimit old_{};
    sighandler_t old_handler_ = SIG_DFL;
};

/// Standard error goes to this descriptor while this lives.
class Stderr {
  public:
    explicit Stderr(int to) : kept_(::dup(STDERR_FILENO)) { ::dup2(to, STDERR_FILENO); }
    ~Stderr() {
        ::dup2(kept_, STDERR_FILENO);
        ::close(kept_);
    }
    Stderr(const Stderr&) = delete;
    Stderr& operator=(const Stderr&) = delete;

  private:
    int kept_;
};

}  // namespace

TEST_CASE("A line that has no room is left out whole, counted, and the next one is not glued to it") {
    orange::testing::TemporaryFolder folder;
    const auto path = folder.path() / "orange.log";
    log::LogFile file(path.string(), 1 << 20, 5);
    CHECK(file.write("first\n"));
    {
        const SmallFiles limit(10);  // half of the next line would fit
        CHECK_FALSE(file.write("second line\n"));
        CHECK_FALSE(file.write("third line\n"));
    }
    CHECK(file.missing() == 2);
    CHECK_THAT(file.problem(), Tells(path.string()));
    CHECK(file.write("fourth\n"));
    CHECK(file.missing() == 0);
    CHECK(text_of(path) == "first\nfourth\n");
}

TEST_CASE("A link in the log's place is not followed, and the log goes on when it is gone") {
    orange::testing::TemporaryFolder folder;
    const auto path = folder.path() / "orange.log";
    orange::testing::write_text(folder.path() / "theirs", "theirs\n");
    fs::create_symlink(folder.path() / "theirs", path);
    log::LogFile file(path.string(), 1 << 20, 5);
    CHECK_FALSE(file.write("first\n"));
    CHECK_THAT(file.problem(), Tells(path.string()));
    CHECK(text_of(folder.path() / "theirs") == "theirs\n");
    fs::remove(path);
    CHECK(file.write("second\n"));
    CHECK(text_of(path) == "second\n");
}

TEST_CASE("A log that cannot be rotated for want of a descriptor goes on in the same file") {
    orange::testing::TemporaryFolder folder;
    const auto path = folder.path() / "orange.log";
    log::LogFile file(path.string(), 100, 5);
    const std::string line(59, 'x');
    CHECK(file.write(line + "\n"));
    rlimit old{};
    ::getrlimit(RLIMIT_NOFILE, &old);
    const rlimit none{0, old.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    const bool second = file.write(line + "\n");
    const bool third = file.write(line + "\n");
    ::setrlimit(RLIMIT_NOFILE, &old);
    CHECK(second);
    CHECK(third);
    CHECK(fs::file_size(path) == 180);
    CHECK_FALSE(fs::exists(log::rotated(path, 1)));
    CHECK(file.write(line + "\n"));
    CHECK(fs::file_size(path) == 60);
    CHECK(fs::file_size(log::rotated(path, 1)) == 180);
}

TEST_CASE("A log whose folder is away is opened when it is back") {
    orange::testing::TemporaryFolder folder;
    const auto path = folder.path() / "logs" / "orange.log";
    log::LogFile file(path.string(), 1 << 20, 5);
    CHECK_FALSE(file.write("lost\n"));
    CHECK_THAT(file.problem(), Tells(path.string()));
    fs::create_directory(folder.path() / "logs");
    CHECK(file.write("there\n"));
    CHECK(text_of(path) == "there\n");
}

TEST_CASE("A log whose folder was moved is rotated there, and another folder in its place is not touched") {
    orange::testing::TemporaryFolder folder;
    const auto path = folder.path() / "logs" / "orange.log";
    const auto moved = folder.path() / "moved" / "orange.log";
    fs::create_directory(path.parent_path());
    log::LogFile file(path.string(), 100, 5);
    CHECK(file.write(std::string(59, 'x') + "\n"));
    fs::rename(path.parent_path(), moved.parent_path());
    orange::testing::write_text(path, "theirs\n");
    CHECK(file.write(std::string(59, 'y') + "\n"));
    CHECK(text_of(path) == "theirs\n");
    CHECK(std::distance(fs::directory_iterator(path.parent_path()), {}) == 1);
    CHECK(text_of(moved) == std::string(59, 'y') + "\n");
    CHECK(text_of(log::rotated(moved, 1)) == std::string(59, 'x') + "\n");
}

TEST_CASE("While there is no room one line on standard error says so, and afterwards one in the log") {
    orange::testing::TemporaryFolder folder;
    const auto path = folder.path() / "orange.log";
    const auto errors = folder.path() / "stderr";
    log::open(path.string(), log::Level::info);
    log::info("test", "before");
    CHECK_FALSE(log::problem());
    const int to = ::open(errors.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    REQUIRE(to >= 0);
    {
        const Stderr redirected(to);
        // Standard error is a file too: what it is told must have room.
        const SmallFiles limit(fs::file_size(path) + 400);
        for (int i = 0; i < 20; ++i) log::info("test", std::string(500, 'x'));
        CHECK_THAT(log::problem().value_or(""), Tells("20"));
    }
    ::close(to);
    log::info("test", "after");
    log::info("test", "and on");
    CHECK_FALSE(log::problem());
    const auto told = text_of(errors);
    CHECK(std::count(told.begin(), told.end(), '\n') == 1);
    CHECK_THAT(told, Tells(path.string()));
    const auto found = log::search(path, {}).value();
    REQUIRE(found.lines.size() == 4);
    CHECK(found.lines[0].json.at("msg") == "before");
    const auto missing = found.lines[1].json.at("msg").get<std::string>();
    CHECK_THAT(missing, Tells("20"));
    CHECK(found.lines[2].json.at("msg") == "after");
    CHECK(found.lines[3].json.at("msg") == "and on");
}

TEST_CASE("A standard error that nobody empties keeps nobody waiting") {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
    const std::string page(4096, 'x');
    while (::write(ends[1], page.data(), page.size()) > 0) {
    }
    ::fcntl(ends[1], F_SETFL, 0);  // from here on a write would wait for ever
    orange::testing::TemporaryFolder folder;
    log::open((folder.path() / "nowhere" / "orange.log").string(), log::Level::info);
    {
        const Stderr redirected(ends[1]);
        for (int i = 0; i < 10; ++i) log::error("test", "nobody reads this");
    }
    CHECK_THAT(log::problem().value_or(""), Tells("10"));
    ::close(ends[0]);
    ::close(ends[1]);
}

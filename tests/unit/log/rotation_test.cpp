// The rotation of the daemon's log, by all processes that write to it.
#include <sys/stat.h>

#include "common/log/query.hpp"
#include "daemon/log/log.hpp"
#include "tests/catch.hpp"
#include "tests/fakes/temporary_folder.hpp"

using namespace orange;

TEST_CASE("The log is rotated at 10 MB, five old ones are kept, none is readable by others, no line is lost",
          "[slow]") {
    orange::testing::TemporaryFolder folder;
    const auto file = folder.path() / "orange.log";
    const auto mask = ::umask(077);
    log::open(file.string(), log::Level::info);
    const std::string text(4000, 'x');
    constexpr int k_count = 18'000;  // some 72 MB: more than six files hold
    for (int i = 0; i < k_count; ++i) log::info("test", text, {{"n", std::to_string(i)}});
    ::umask(mask);

    for (int number = 0; number <= log::k_rotated_kept; ++number) {
        const auto path = number == 0 ? file : log::rotated(file, number);
        CAPTURE(path);
        struct stat info {};
        REQUIRE(::stat(path.c_str(), &info) == 0);
        CHECK((info.st_mode & 0777) == 0600);
        CHECK(info.st_size <= 10 * 1024 * 1024);
    }
    CHECK_FALSE(std::filesystem::exists(log::rotated(file, log::k_rotated_kept + 1)));

    log::Query query;
    query.lines = 6000;  // over two files and a part
    const auto found = log::search(file, query).value();
    REQUIRE(found.lines.size() == query.lines);
    for (std::size_t i = 0; i < query.lines; ++i) {
        const auto n = static_cast<std::size_t>(k_count) - query.lines + i;
        if (found.lines[i].json.at("n") != std::to_string(n)) FAIL("line " << i << " is not the " << n << "th");
    }
    log::set_level(log::Level::error);
    log::info("test", "not written");
    query.lines = 1;
    query.grep = "not written";
    CHECK(log::search(file, query).value().lines.empty());
}

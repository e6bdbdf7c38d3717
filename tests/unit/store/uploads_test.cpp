#include "daemon/store/uploads.hpp"

#include <filesystem>

#include "common/base/text.hpp"
#include "daemon/files/posix_file_system.hpp"
#include "tests/catch.hpp"
#include "tests/fakes/faulty_file_system.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/support/advanced_time.hpp"

using namespace orange;
using namespace orange::store;
using namespace orange::testing;
namespace fs = std::filesystem;

namespace {

const std::string k_me = "human";

struct Sent {
    TemporaryFolder home;
    PosixFileSystem real{{home / "tasks"}};
    FaultyFileSystem files{real};
    Uploads uploads{files, home / "uploads"};
    Path task = home / "tasks/shop/aaaaaaaaaaaaaaaaaaaaa";

    Sent() { fs::create_directories(task); }

    Result<Uploads::Progress> put(Uploads::Piece piece, const std::string& owner = k_me,
                                  std::int64_t limit = k_default_file_limit) {
        return uploads.put(owner, std::move(piece), limit);
    }
    Result<Uploads::Progress> begin(const std::string& name, const std::string& bytes, bool last = true,
                                    const std::string& owner = k_me) {
        Uploads::Piece piece;
        piece.name = name;
        piece.origin = "~/" + name;
        piece.bytes = bytes;
        piece.last = last;
        return put(std::move(piece), owner);
    }
    Result<Uploads::Progress> add(const std::string& id, std::int64_t offset, const std::string& bytes,
                                  bool last = true, const std::string& owner = k_me) {
        Uploads::Piece piece;
        piece.upload = id;
        piece.offset = offset;
        piece.bytes = bytes;
        piece.last = last;
        return put(std::move(piece), owner);
    }
    std::string sent(const std::string& name, const std::string& bytes = "bytes") {
        return begin(name, bytes).value().upload;
    }
    std::size_t waiting() { return real.list(home / "uploads").value().size(); }
    std::string given(const std::string& name) const { return read_text(task / "files" / name); }
};

ErrorCode code_of(const auto& result) {
    return result ? ErrorCode::internal : result.error().code;
}

}  // namespace

TEST_CASE("a name of a file becomes harmless and stays what it was otherwise") {
    const std::pair<std::string, std::string> rows[] = {
        {"shot.png", "shot.png"},
        {"Screenshot at 10.00.png", "Screenshot at 10.00.png"},
        {"Größe – 1.txt", "Größe – 1.txt"},
        {"a/b/c.txt", "c.txt"},
        {"/etc/passwd", "passwd"},
        {"..", "__"},
        {"../..", "__"},
        {".env", "_env"},
        {"--force", "__force"},
        {"-.-x", "___x"},
        {"a-b.c", "a-b.c"},
        {"a\nb\x1b[31m\x7f.txt", "a_b_[31m_.txt"},
        {"a\tb", "a_b"},
        {"a\xff\xfe.txt", "a__.txt"},
        {"\xc3", "_"},
        {"a\xe2\x80\xae.txt", "a_.txt"},
        {"a`b`.txt", "a_b_.txt"},
        {std::string("a\0b", 3), "a_b"},
        {"", "file"},
        {"  ", "file"},
        {"folder/", "file"},
        {" x ", "x"},
    };
    for (const auto& [name, harmless] : rows) {
        INFO(printable(name));
        CHECK(harmless_name(name) == harmless);
    }
}

TEST_CASE("a long name keeps its ending, whole characters, and its number") {
    const auto long_name = harmless_name(std::string(300, 'a') + ".png");
    CHECK(long_name == std::string(96, 'a') + ".png");
    CHECK(numbered_name(long_name, 12) == std::string(93, 'a') + "-12.png");
    CHECK(numbered_name("shot.png", 2) == "shot-2.png");
    CHECK(numbered_name("shot", 2) == "shot-2");
    CHECK(harmless_name("a." + std::string(300, 'b')).size() == 100);  // that is no ending
    std::string umlauts;
    for (int i = 0; i < 100; ++i) umlauts += "ä";
    const auto cut = harmless_name("x" + umlauts + ".txt");
    CHECK(cut.size() <= 100);
    CHECK(is_valid_utf8(cut));
    CHECK(cut.ends_with("ä.txt"));
}

TEST_CASE("an origin is one printable line, and a size has a unit") {
    CHECK(shown_origin(" ~/a b.png\n") == "~/a b.png");
    CHECK(shown_origin("a\nb\x1b") == "a ⏎ b\\x1b");
    CHECK(columns_of(shown_origin(std::string(1000, 'x'))) == 200);
    CHECK(size_for_people(0) == "0 bytes");
    CHECK(size_for_people(1) == "1 byte");
    CHECK(size_for_people(12'345) == "12 KiB");
    CHECK(size_for_people(k_default_file_limit) == "32 MiB");
    CHECK(size_for_people(k_mebibyte + k_mebibyte / 2) == "1.5 MiB");
}

TEST_CASE_METHOD(Sent, "pieces become a file of the task, which belongs to the user alone") {
    const auto begun = begin("shot.png", "one ", false).value();
    CHECK(begun.size == 4);
    CHECK(fs::status(home / "uploads").permissions() == fs::perms::owner_all);
    CHECK(add(begun.upload, 4, "two", false).value().size == 7);
    CHECK(add(begun.upload, 7, "", true).value().size == 7);
    {
        const auto claim = uploads.claim({begun.upload}, k_me);
        REQUIRE(claim);
        const auto files_given = uploads.give({begun.upload}, task).value();
        REQUIRE(files_given.size() == 1);
        CHECK(files_given[0].name == "shot.png");
        CHECK(files_given[0].origin == "~/shot.png");
        CHECK(files_given[0].size == 7);
    }
    CHECK(given("shot.png") == "one two");
    CHECK(fs::status(task / "files/shot.png").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
    CHECK(fs::status(task / "files").permissions() == fs::perms::owner_all);
    CHECK(waiting() == 0);
    CHECK(code_of(uploads.claim({begun.upload}, k_me)) == ErrorCode::not_found);
}

TEST_CASE_METHOD(Sent, "an empty file is a file, too") {
    const auto id = sent("empty", "");
    const auto claim = uploads.claim({id}, k_me);
    REQUIRE(claim);
    REQUIRE(uploads.give({id}, task));
    CHECK(fs::file_size(task / "files/empty") == 0);
}

TEST_CASE_METHOD(Sent, "a piece at another offset, twice, or after the end is refused, and nothing is added") {
    const auto id = begin("a.txt", "12345", false).value().upload;
    for (const std::int64_t offset : {std::int64_t{0}, std::int64_t{4}, std::int64_t{6}, std::int64_t{-1}}) {
        const auto refused = add(id, offset, "x");
        CHECK(code_of(refused) == ErrorCode::invalid_argument);
        CHECK_THAT(refused.error().message, Tells("5"));
    }
    REQUIRE(add(id, 5, "6"));
    CHECK(code_of(add(id, 6, "7")) == ErrorCode::conflict);
    CHECK(read_text(home / "uploads" / id) == "123456");
    Uploads::Piece late;
    late.name = "b.txt";
    late.offset = 3;
    CHECK(code_of(put(late)) == ErrorCode::invalid_argument);
    CHECK(code_of(begin(" ", "x")) == ErrorCode::invalid_argument);
    CHECK(waiting() == 1);
}

TEST_CASE_METHOD(Sent, "nobody adds to, or uses, what another caller has sent") {
    const auto mine = begin("a.txt", "1", false).value().upload;
    CHECK(code_of(add(mine, 1, "2", true, "run1")) == ErrorCode::not_found);
    REQUIRE(add(mine, 1, "2"));
    CHECK(code_of(uploads.claim({mine}, "run1")) == ErrorCode::not_found);
    const auto of_agent = begin("b.txt", "1", true, "run1").value().upload;
    CHECK(code_of(uploads.claim({of_agent}, k_me)) == ErrorCode::not_found);
    CHECK(code_of(uploads.claim({mine, of_agent}, k_me)) == ErrorCode::not_found);
    CHECK(uploads.claim({mine}, k_me));  // what was refused holds none of them
    CHECK(code_of(uploads.claim({"../../etc/passwd"}, k_me)) == ErrorCode::not_found);
    CHECK(code_of(add("none", 0, "x")) == ErrorCode::not_found);
}

TEST_CASE_METHOD(Sent, "only whole uploads are used, each by one call at a time") {
    const auto part = begin("part", "1", false).value().upload;
    const auto whole = sent("whole");
    CHECK(code_of(uploads.claim({part}, k_me)) == ErrorCode::conflict);
    CHECK(code_of(uploads.claim({whole, whole}, k_me)) == ErrorCode::conflict);
    {
        const auto first = uploads.claim({whole}, k_me);
        REQUIRE(first);
        CHECK(code_of(uploads.claim({whole}, k_me)) == ErrorCode::conflict);
    }
    CHECK(uploads.claim({whole}, k_me));
    fs::resize_file(home / "uploads" / whole, 1);  // another program did that
    CHECK(code_of(uploads.claim({whole}, k_me)) == ErrorCode::not_found);
    std::vector<std::string> many;
    for (std::size_t i = 0; i <= k_most_files; ++i) many.push_back(sent("f"));
    CHECK(code_of(uploads.claim(many, k_me)) == ErrorCode::invalid_argument);
    many.pop_back();
    CHECK(uploads.claim(many, k_me));
    CHECK(uploads.claim({}, k_me));
}

TEST_CASE_METHOD(Sent, "a file beyond the limit is refused, with the setting that allows it, and is gone") {
    Uploads::Piece piece;
    piece.name = "big.bin";
    piece.bytes = std::string(10, 'x');
    const auto id = put(piece, k_me, 15).value().upload;
    piece.upload = id;
    piece.offset = 10;
    const auto refused = put(piece, k_me, 15);
    CHECK(code_of(refused) == ErrorCode::invalid_argument);
    CHECK_THAT(refused.error().message, Tells("big.bin"));
    CHECK_THAT(refused.error().message, Tells("file_limit"));
    CHECK(waiting() == 0);
    CHECK(code_of(put(piece, k_me, 15)) == ErrorCode::not_found);
}

TEST_CASE_METHOD(Sent, "each caller has a limit of unused files, and of their bytes") {
    for (std::size_t i = 0; i < k_most_uploads; ++i) REQUIRE(begin("f", "x", i % 2 == 0));
    const auto refused = begin("f", "x");
    CHECK(code_of(refused) == ErrorCode::conflict);
    CHECK_THAT(refused.error().message, Tells("100"));
    CHECK(begin("f", "x", true, "run1"));
    CHECK(waiting() == k_most_uploads + 1);

    const std::string large(static_cast<std::size_t>(32 * k_mebibyte), 'x');
    for (int i = 0; i < 8; ++i) REQUIRE(begin("large", large, true, "run2"));
    const auto full = begin("more", "x", true, "run2");
    CHECK(code_of(full) == ErrorCode::conflict);
    CHECK_THAT(full.error().message, Tells("256"));
    CHECK(begin("more", "", true, "run2"));
    CHECK(begin("more", "x", true, "run3"));
}

TEST_CASE_METHOD(Sent, "an existing name gets a number, and nothing is overwritten") {
    write_text(task / "files/shot.png", "old");
    fs::create_directory(task / "files/shot-2.png");
    fs::create_symlink(home / "elsewhere", task / "files/shot-3.png");
    const std::vector<std::string> ids = {sent("shot.png", "new"), sent("shot.png", "newer")};
    const auto claim = uploads.claim(ids, k_me);
    REQUIRE(claim);
    const auto files_given = uploads.give(ids, task).value();
    CHECK(files_given[0].name == "shot-4.png");
    CHECK(files_given[1].name == "shot-5.png");
    CHECK(given("shot.png") == "old");
    CHECK(given("shot-4.png") == "new");
    CHECK(given("shot-5.png") == "newer");
    CHECK_FALSE(fs::exists(home / "elsewhere"));
}

TEST_CASE_METHOD(Sent, "no link in the place of the folder is followed") {
    const auto id = sent("shot.png");
    fs::create_directory(home / "elsewhere");
    fs::create_directory_symlink(home / "elsewhere", task / "files");
    {
        const auto claim = uploads.claim({id}, k_me);
        REQUIRE(claim);
        CHECK(code_of(uploads.give({id}, task)) == ErrorCode::io);
    }
    CHECK(fs::is_empty(home / "elsewhere"));
    fs::remove(task / "files");
    write_text(task / "files", "a file of an agent");
    {
        const auto claim = uploads.claim({id}, k_me);
        REQUIRE(claim);
        CHECK_FALSE(uploads.give({id}, task));
    }
    fs::remove(task / "files");
    const auto claim = uploads.claim({id}, k_me);  // it is still there for the next try
    REQUIRE(claim);
    CHECK(uploads.give({id}, task));
}

TEST_CASE_METHOD(Sent, "files are given all or none, and come back when the call fails") {
    const std::vector<std::string> ids = {sent("a", "1"), sent("b", "2")};
    for (int n = 1; n <= 2; ++n) {
        const auto claim = uploads.claim(ids, k_me);
        REQUIRE(claim);
        files.fail_at(n);
        CHECK(code_of(uploads.give(ids, task)) == ErrorCode::io);
        files.fail_at(0);
        CHECK(real.list(task / "files").value().empty());
        CHECK(waiting() == 2);
    }
    {
        const auto claim = uploads.claim(ids, k_me);
        REQUIRE(claim);
        REQUIRE(uploads.give(ids, task));
        uploads.take_back(ids, task);
    }
    CHECK(real.list(task / "files").value().empty());
    const auto claim = uploads.claim(ids, k_me);
    REQUIRE(claim);
    REQUIRE(uploads.give(ids, task));
    CHECK(given("a") == "1");
    CHECK(given("b") == "2");
}

TEST_CASE_METHOD(Sent, "a full disk refuses the piece, and the file is sent again from its beginning") {
    files.fail_at(1);
    CHECK(code_of(begin("a", "1")) == ErrorCode::io);
    files.fail_at(0);
    CHECK(waiting() == 0);
    const auto id = begin("a", "1", false).value().upload;
    files.fail_at(1);
    CHECK(code_of(add(id, 1, "2")) == ErrorCode::io);
    files.fail_at(0);
    CHECK(waiting() == 0);
    CHECK(code_of(add(id, 1, "2")) == ErrorCode::not_found);
    CHECK(begin("a", "12"));
}

TEST_CASE_METHOD(Sent, "what nothing uses is removed after an hour, and what a call uses is not") {
    test::TestTime time;
    const auto used = sent("used"), part = begin("part", "1", false).value().upload;
    sent("unused");
    const auto claim = uploads.claim({used}, k_me);
    REQUIRE(claim);
    time.advance(std::chrono::minutes(40));
    REQUIRE(add(part, 1, "2", false));
    time.advance(std::chrono::minutes(21));
    uploads.remove_old();
    CHECK(waiting() == 2);
    CHECK(add(part, 2, "3"));
    CHECK(uploads.give({used}, task));
    time.advance(std::chrono::hours(2));
    CHECK(code_of(uploads.claim({part}, k_me)) == ErrorCode::not_found);
    CHECK(waiting() == 0);
}

TEST_CASE_METHOD(Sent, "a new daemon removes what the last one has left, and nothing of its own") {
    write_text(home / "uploads/left", "x");
    const auto mine = sent("mine");
    uploads.remove_left();
    CHECK(real.list(home / "uploads").value() == std::vector<std::string>{mine});
    CHECK(uploads.claim({mine}, k_me));
}

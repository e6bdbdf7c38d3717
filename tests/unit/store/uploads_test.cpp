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
        {"a\nb\x1b[31m\x7f.txt", "a ⏎ b_x1b[31m_x7f.txt"},
        {"a\tb", "a b"},
        {"a\xff\xfe.txt", "a_xff_xfe.txt"},
        {"\xc3", "_xc3"},
        {"a\xe2\x80\xae.txt", "a_u202e.txt"},
        {"a`b`.txt", "a_b_.txt"},
        {R"(a\b.txt)", "a_b.txt"},
        {std::string("a\0b", 3), "a_x00b"},
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

TEST_CASE("an origin is one printable line") {
    CHECK(shown_origin(" ~/a b.png\n") == "~/a b.png");
    CHECK(shown_origin("a\nb\x1b") == "a ⏎ b\\x1b");
    CHECK(columns_of(shown_origin(std::string(1000, 'x'))) == 200);
}

TEST_CASE_METHOD(Sent, "pieces become a file of the task, which belongs to the user alone") {
    const auto begun = begin("shot.png", "one ", false).value();
    CHECK(begun.size == 4);
    CHECK(fs::status(home / "uploads").permissions() == fs::perms::owner_all);
    CHECK(add(begun.upload, 4, "two", false).value().size == 7);
    CHECK(add(begun.upload, 7, "", true).value().size == 7);
    REQUIRE(uploads.check({begun.upload}, k_me));
    const auto files_given = uploads.give({begun.upload}, task).value();
    REQUIRE(files_given.size() == 1);
    CHECK(files_given[0].name == "shot.png");
    CHECK(files_given[0].upload.origin == "~/shot.png");
    CHECK(files_given[0].upload.size == 7);
    CHECK(given("shot.png") == "one two");
    CHECK(fs::status(task / "files/shot.png").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
    CHECK(fs::status(task / "files").permissions() == fs::perms::owner_all);
    CHECK(waiting() == 0);
    CHECK(code_of(uploads.check({begun.upload}, k_me)) == ErrorCode::not_found);
}

TEST_CASE_METHOD(Sent, "an empty file is a file, too") {
    const auto id = sent("empty", "");
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
    CHECK(code_of(uploads.check({mine}, "run1")) == ErrorCode::not_found);
    const auto of_agent = begin("b.txt", "1", true, "run1").value().upload;
    CHECK(code_of(uploads.check({of_agent}, k_me)) == ErrorCode::not_found);
    CHECK(code_of(uploads.check({mine, of_agent}, k_me)) == ErrorCode::not_found);
    CHECK(uploads.check({mine}, k_me));
    CHECK(code_of(uploads.check({"../../etc/passwd"}, k_me)) == ErrorCode::not_found);
    CHECK(code_of(add("none", 0, "x")) == ErrorCode::not_found);
}

TEST_CASE_METHOD(Sent, "only whole uploads are used, each by one call") {
    const auto part = begin("part", "1", false).value().upload;
    const auto whole = sent("whole");
    CHECK(code_of(uploads.check({whole, part}, k_me)) == ErrorCode::conflict);
    CHECK(uploads.check({whole}, k_me));
    CHECK(code_of(uploads.give({whole, whole}, task)) == ErrorCode::not_found);
    CHECK(uploads.give({whole}, task));
    CHECK(code_of(uploads.give({whole}, task)) == ErrorCode::not_found);
    CHECK(given("whole") == "bytes");
    std::vector<std::string> many;
    for (std::size_t i = 0; i <= k_most_files; ++i) many.push_back(sent("f"));
    CHECK(code_of(uploads.check(many, k_me)) == ErrorCode::invalid_argument);
    many.pop_back();
    CHECK(uploads.check(many, k_me));
    CHECK(uploads.check({}, k_me));
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
    piece = {};
    piece.name = "big.bin";
    piece.size = 16;  // refused before its bytes
    piece.bytes = "x";
    CHECK_THAT(put(piece, k_me, 15).error().message, Tells("file_limit"));
    piece.size = 15;
    CHECK(put(piece, k_me, 15));
}

TEST_CASE_METHOD(Sent, "at a limit the oldest complete uploads go, of a human or of all agents") {
    const auto part = begin("part", "x", false).value().upload;
    const auto oldest = sent("oldest");
    for (std::size_t i = 2; i < k_most_uploads; ++i) sent("f");
    const auto of_agent = begin("f", "x", true, "run1").value().upload;
    CHECK(waiting() == k_most_uploads + 1);
    CHECK(uploads.check({oldest}, k_me));
    REQUIRE(begin("f", "x"));
    CHECK(code_of(uploads.check({oldest}, k_me)) == ErrorCode::not_found);
    CHECK(add(part, 1, "y"));
    CHECK(uploads.check({of_agent}, "run1"));

    const std::string large(static_cast<std::size_t>(32 * k_mebibyte), 'x');
    for (const char* run : {"run2", "run3"}) {
        for (int i = 0; i < 4; ++i) REQUIRE(begin("large", large, true, run));
    }
    CHECK(code_of(uploads.check({of_agent}, "run1")) == ErrorCode::not_found);
    CHECK(uploads.check({part}, k_me));
}

TEST_CASE_METHOD(Sent, "what is not complete stays, and more is refused") {
    for (std::size_t i = 0; i < k_most_uploads; ++i) REQUIRE(begin("f", "x", false));
    const auto many = begin("f", "x");
    CHECK(code_of(many) == ErrorCode::conflict);
    CHECK_THAT(many.error().message, Tells("100"));
    Uploads::Piece piece;
    piece.name = "film";
    piece.bytes = "x";
    piece.size = 200 * k_mebibyte;
    REQUIRE(put(piece, "run1", piece.size));
    const auto large = put(piece, "run2", piece.size);
    CHECK(code_of(large) == ErrorCode::conflict);
    CHECK_THAT(large.error().message, Tells("256"));
    CHECK(waiting() == k_most_uploads + 1);
}

TEST_CASE_METHOD(Sent, "a task gets so many files, and so many bytes") {
    for (std::size_t i = 1; i < k_most_task_files; ++i) write_text(task / "files" / std::to_string(i), "");
    CHECK(uploads.give({sent("last")}, task));
    const auto refused = uploads.give({sent("one more")}, task);
    CHECK(code_of(refused) == ErrorCode::conflict);
    CHECK_THAT(refused.error().message, Tells("1000") && Tells((task / "files").string()));
    fs::remove_all(task / "files");
    write_text(task / "files/film", "");
    fs::resize_file(task / "files/film", static_cast<std::uintmax_t>(k_most_task_bytes) - 4);
    CHECK(code_of(uploads.give({sent("one more")}, task)) == ErrorCode::conflict);
    CHECK(uploads.give({sent("note", "four")}, task));
}

TEST_CASE_METHOD(Sent, "an existing name gets a number, and nothing is overwritten") {
    write_text(task / "files/shot.png", "old");
    fs::create_directory(task / "files/shot-2.png");
    fs::create_symlink(home / "elsewhere", task / "files/shot-3.png");
    const std::vector<std::string> ids = {sent("shot.png", "new"), sent("shot.png", "newer")};
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
    CHECK(code_of(uploads.give({id}, task)) == ErrorCode::io);
    CHECK(fs::is_empty(home / "elsewhere"));
    fs::remove(task / "files");
    write_text(task / "files", "a file of an agent");
    CHECK_FALSE(uploads.give({id}, task));
    fs::remove(task / "files");
    CHECK(uploads.give({id}, task));  // it is still there for the next try
}

TEST_CASE_METHOD(Sent, "files are given all or none, and come back when the call fails") {
    const std::vector<std::string> ids = {sent("a", "1"), sent("b", "2")};
    for (int n = 1; n <= 3; ++n) {
        files.fail_at(n);
        CHECK(code_of(uploads.give(ids, task)) == ErrorCode::io);
        files.fail_at(0);
        CHECK(real.list(task / "files").value().empty());
        CHECK(waiting() == 2);
    }
    uploads.take_back(uploads.give(ids, task).value(), task);
    CHECK(real.list(task / "files").value().empty());
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

TEST_CASE_METHOD(Sent, "an upload is removed an hour after its first piece, and pieces have bytes") {
    test::TestTime time;
    const auto part = begin("part", "1", false).value().upload;
    CHECK(code_of(add(part, 1, "", false)) == ErrorCode::invalid_argument);
    time.advance(std::chrono::minutes(40));
    REQUIRE(add(part, 1, "2", false));
    sent("later");
    time.advance(std::chrono::minutes(19));
    uploads.remove_old();
    CHECK(waiting() == 2);
    time.advance(std::chrono::minutes(1));
    CHECK(code_of(add(part, 2, "3")) == ErrorCode::not_found);
    CHECK(waiting() == 1);
}

TEST_CASE_METHOD(Sent, "a new daemon removes what the last one has left, and nothing of its own") {
    write_text(home / "uploads/left", "x");
    const auto mine = sent("mine");
    uploads.remove_left();
    CHECK(real.list(home / "uploads").value() == std::vector<std::string>{mine});
    CHECK(uploads.check({mine}, k_me));
}

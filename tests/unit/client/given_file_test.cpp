#include "client/connection/given_file.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "common/base/base64.hpp"
#include "tests/catch.hpp"
#include "tests/facts.hpp"
#include "tests/unit/client/fake_daemon.hpp"

using namespace orange;
using connection::file_limit;
using connection::GivenFile;
using connection::open_given;
using connection::piece_of;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t k_kibibyte = 1024;

void put_given(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

/// All pieces of the file, put together; the number of pieces in `pieces`.
std::string whole_of(const GivenFile& file, std::int64_t most, int& pieces) {
    std::string text;
    pieces = 0;
    for (bool last = false; !last; ++pieces) {
        const auto piece = piece_of(file, pieces == 0 ? "" : "upload", static_cast<std::int64_t>(text.size()), most);
        REQUIRE(piece);
        CHECK(piece->name.has_value() == (pieces == 0));
        CHECK(piece->upload.has_value() == (pieces > 0));
        text += from_base64(piece->data).value();
        last = piece->last;
    }
    return text;
}

}  // namespace

TEST_CASE("A file is opened through links, and sent in pieces, the last of which says so") {
    test::TemporaryFolder folder;
    std::string text;
    for (int i = 0; i < 10'000; ++i) text += static_cast<char>(i * 7);
    const auto path = folder.path() / "männchen\n1.png";
    put_given(path, text);
    fs::create_symlink(path, folder.path() / "link.png");
    const auto files = open_given({path.string(), (folder.path() / "link.png").string()}, 32 * k_kibibyte);
    REQUIRE(files);
    CHECK(files->at(0).name == "männchen\n1.png");
    CHECK(files->at(1).name == "link.png");
    CHECK(files->at(0).size == 10'000);
    CHECK(files->at(1).origin == (folder.path() / "link.png").string());
    CHECK(files->at(0).origin.find('\n') == std::string::npos);
    int pieces = 0;
    CHECK(whole_of(files->at(0), 4096, pieces) == text);
    CHECK(pieces == 3);
    CHECK(whole_of(files->at(1), 10'000, pieces) == text);
    CHECK(pieces == 1);
    CHECK(whole_of(files->at(1), 5'000, pieces) == text);
    CHECK(pieces == 2);
}

TEST_CASE("An empty file is one piece without bytes") {
    test::TemporaryFolder folder;
    put_given(folder.path() / "empty", "");
    const auto files = open_given({(folder.path() / "empty").string()}, 0);
    REQUIRE(files);
    int pieces = 0;
    CHECK(whole_of(files->front(), 4096, pieces).empty());
    CHECK(pieces == 1);
}

TEST_CASE("What is no regular file that the caller may read is refused at once") {
    test::TemporaryFolder folder;
    const auto in = [&](const char* name) { return (folder.path() / name).string(); };
    REQUIRE(::mkfifo(in("pipe").c_str(), 0600) == 0);
    fs::create_symlink(in("pipe"), in("link-to-pipe"));
    fs::create_symlink(in("nowhere"), in("dead-link"));
    put_given(in("secret"), "x");
    fs::permissions(in("secret"), fs::perms::none);
    put_given(in("file"), "x");
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, in("socket").c_str(), sizeof address.sun_path - 1);
    REQUIRE(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    for (const char* name :
         {"pipe", "link-to-pipe", "dead-link", "secret", "missing", "socket", "file/below", "", "."}) {
        if (std::string(name) == "secret" && ::geteuid() == 0) continue;
        INFO(name);
        const auto refused = open_given({in("file"), in(name)}, 0);
        REQUIRE_FALSE(refused);
        CHECK_THAT(refused.error().message, Holds(*name ? std::string(name) : folder.path().string()));
    }
    ::close(socket);
    for (const char* name : {"/dev/null", "-", ""}) {
        INFO(name);
        CHECK_FALSE(open_given({name}, 0));
    }
}

TEST_CASE("A file that changes while it is read is not sent as if it were whole") {
    test::TemporaryFolder folder;
    const auto path = (folder.path() / "log").string();
    put_given(path, std::string(10'000, 'a'));
    const auto files = open_given({path}, 0);
    REQUIRE(files);
    CHECK(piece_of(files->front(), "", 0, 4096));
    std::ofstream(path, std::ios::app) << "more";
    CHECK(piece_of(files->front(), "upload", 4096, 4096));
    const auto longer = piece_of(files->front(), "upload", 8192, 4096);
    REQUIRE_FALSE(longer);
    CHECK(longer.error().code == ErrorCode::conflict);
    fs::resize_file(path, 5'000);
    const auto shorter = piece_of(files->front(), "upload", 4096, 4096);
    REQUIRE_FALSE(shorter);
    CHECK(shorter.error().code == ErrorCode::conflict);
    CHECK_THAT(shorter.error().message, Tells("log"));
}

TEST_CASE("Files that are too large or too many are refused before any is sent") {
    test::TemporaryFolder folder;
    const auto path = (folder.path() / "film").string();
    put_given(path, "");
    fs::resize_file(path, 32 << 20);
    CHECK(open_given({path}, 32 << 20));
    CHECK(open_given(std::vector<std::string>(8, path), 32 << 20));
    CHECK_FALSE(open_given(std::vector<std::string>(9, path), 32 << 20));  // more than 256 MiB
    fs::resize_file(path, (32 << 20) + 1);
    const auto refused = open_given({path}, 32 << 20);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Tells("film") && Tells("file_limit") && Tells("32"));
    put_given(path, "x");
    CHECK(open_given(std::vector<std::string>(20, path), 0));
    CHECK_FALSE(open_given(std::vector<std::string>(21, path), 0));
}

TEST_CASE("The limit is that of config.yml, and an unclear one is left to the daemon") {
    test::TemporaryFolder folder;
    const auto limit_with = [&](const std::string& config) {
        put_given(folder.path() / "config.yml", config);
        return file_limit(folder.path());
    };
    CHECK(file_limit(folder.path()) == 32 << 20);
    CHECK(limit_with("umask: 077\n") == 32 << 20);
    CHECK(limit_with("umask: 077\nfile_limit: 64M  # films\n") == 64 << 20);
    CHECK(limit_with("file_limit: [64M]\n") == 0);
    CHECK(limit_with("{file_limit: 64M}\n") == 0);
    CHECK(limit_with("file_limit: 64\n") == 0);
    CHECK(limit_with("file_limit: 99999999999999999999M\n") == 0);
}

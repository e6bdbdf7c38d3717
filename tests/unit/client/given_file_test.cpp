#include "client/connection/given_file.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "tests/catch.hpp"
#include "tests/facts.hpp"
#include "tests/unit/client/fake_daemon.hpp"

using namespace orange;
using connection::bytes_of;
using connection::GivenFile;
using connection::open_given;

namespace fs = std::filesystem;

namespace {

void put_given(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

/// The file in pieces, put together.
std::string whole_of(const GivenFile& file, std::int64_t most) {
    std::string text;
    while (std::ssize(text) < file.size) {
        const auto bytes = bytes_of(file, std::ssize(text), most);
        REQUIRE(bytes);
        REQUIRE_FALSE(bytes->empty());
        CHECK(std::ssize(*bytes) <= most);
        text += *bytes;
    }
    return text;
}

}  // namespace

TEST_CASE("A file is opened through links, and read in pieces") {
    test::TemporaryFolder folder;
    std::string text;
    for (int i = 0; i < 10'000; ++i) text += static_cast<char>(i * 7);
    const auto path = folder.path() / "männchen\n1.png";
    put_given(path, text);
    fs::create_symlink(path, folder.path() / "link.png");
    const auto files = open_given({path.string(), (folder.path() / "link.png").string()});
    REQUIRE(files);
    CHECK(files->at(0).name == "männchen\n1.png");
    CHECK(files->at(1).name == "link.png");
    CHECK(files->at(0).size == 10'000);
    CHECK(files->at(1).origin == (folder.path() / "link.png").string());
    CHECK(files->at(0).origin.find('\n') == std::string::npos);
    for (const std::int64_t most : {1'000, 4'096, 5'000, 10'000, 20'000}) CHECK(whole_of(files->at(0), most) == text);
    CHECK(whole_of(files->at(1), 4'096) == text);
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
        const auto refused = open_given({in("file"), in(name)});
        REQUIRE_FALSE(refused);
        CHECK_THAT(refused.error().message, Holds(*name ? std::string(name) : folder.path().string()));
    }
    ::close(socket);
    for (const char* name : {"/dev/null", "-", ""}) {
        INFO(name);
        CHECK_FALSE(open_given({name}));
    }
}

TEST_CASE("A file that changes while it is read is not sent as if it were whole") {
    test::TemporaryFolder folder;
    const auto path = (folder.path() / "log").string();
    put_given(path, std::string(10'000, 'a'));
    const auto files = open_given({path});
    REQUIRE(files);
    CHECK(bytes_of(files->front(), 0, 4096));
    std::ofstream(path, std::ios::app) << "more";
    CHECK(bytes_of(files->front(), 4096, 4096));
    const auto longer = bytes_of(files->front(), 8192, 4096);
    REQUIRE_FALSE(longer);
    CHECK(longer.error().code == ErrorCode::conflict);
    fs::resize_file(path, 5'000);
    const auto shorter = bytes_of(files->front(), 4096, 4096);
    REQUIRE_FALSE(shorter);
    CHECK(shorter.error().code == ErrorCode::conflict);
    CHECK_THAT(shorter.error().message, Tells("log"));
}

TEST_CASE("Too many files, or too large ones together, are refused before any is sent") {
    test::TemporaryFolder folder;
    const auto path = (folder.path() / "film").string();
    put_given(path, "");
    fs::resize_file(path, 32 << 20);
    CHECK(open_given(std::vector<std::string>(8, path)));
    const auto refused = open_given(std::vector<std::string>(9, path));
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Tells("256"));
    put_given(path, "x");
    CHECK(open_given(std::vector<std::string>(20, path)));
    CHECK_FALSE(open_given(std::vector<std::string>(21, path)));
}

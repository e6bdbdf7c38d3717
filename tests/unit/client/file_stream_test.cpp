#include "client/hosts/file_stream.hpp"

#include <unistd.h>

#include <fstream>
#include <thread>

#include "common/base/system.hpp"
#include "common/posix/read.hpp"
#include "common/posix/write.hpp"
#include "tests/catch.hpp"
#include "tests/facts.hpp"
#include "tests/unit/client/fake_daemon.hpp"

using namespace orange;
using namespace orange::hosts;
using connection::GivenFile;
namespace fs = std::filesystem;

namespace {

struct Stream {
    Stream() {
        int ends[2];
        REQUIRE(system::make_pipe(ends) == 0);
        from.reset(ends[0]);
        to.reset(ends[1]);
    }
    UniqueFd from, to;
};

GivenFile in_memory(const std::string& name, const std::string& text) {
    GivenFile file;
    file.name = name;
    file.origin = "desk:~/" + name;
    file.size = static_cast<std::int64_t>(text.size());
    file.bytes = std::make_shared<const std::string>(text);
    return file;
}

std::string text_of_given(const GivenFile& file) {
    const auto bytes = connection::bytes_of(file, 0, file.size);
    REQUIRE(bytes);
    return *bytes;
}

/// Receives what was written as it is.
Result<std::vector<GivenFile>> receive(const std::string& text, std::size_t count) {
    Stream stream;
    REQUIRE(posix::write_all(stream.to.get(), text) == 0);
    stream.to.reset();
    return receive_files(stream.from.get(), count);
}

}  // namespace

TEST_CASE("Files go through a stream with their names, and what follows stays the input of the command") {
    Stream stream;
    const std::string large(300'000, '\n');
    std::thread sender([&] {
        std::vector<GivenFile> files;
        files.push_back(in_memory("a\nb \"ä\".png", "{\"end\":true}\n\0x"));
        files.push_back(in_memory("empty", ""));
        files.push_back(in_memory("large", large));
        if (!send_files(stream.to.get(), files)) return;
        (void)posix::write_all(stream.to.get(), "the context\n");
        stream.to.reset();
    });
    const auto files = receive_files(stream.from.get(), 3);
    std::string rest;
    CHECK(posix::read_to_end(stream.from.get(), 1000, rest) == 0);
    sender.join();
    REQUIRE(files);
    CHECK(rest == "the context\n");
    CHECK(files->at(0).name == "a\nb \"ä\".png");
    CHECK(files->at(0).origin == "desk:~/a\nb \"ä\".png");
    CHECK(text_of_given(files->at(0)) == "{\"end\":true}\n");
    CHECK(text_of_given(files->at(1)).empty());
    CHECK(text_of_given(files->at(2)) == large);
}

TEST_CASE("A stream that ends early, or has other files than announced, gives none") {
    const std::string one = R"({"name":"a","origin":"o","size":3})"
                            "\nabc";
    CHECK(receive(one + "{\"end\":true}\n", 1));
    for (const auto& [text, count] :
         std::vector<std::pair<std::string, std::size_t>>{{"", 1},
                                                          {one, 1},
                                                          {one + "{\"end\":tr", 1},
                                                          {one.substr(0, one.size() - 1), 1},
                                                          {one + "{\"end\":true}\n", 2},
                                                          {one + one + "{\"end\":true}\n", 1},
                                                          {"hello\n", 1},
                                                          {"[]\n", 1},
                                                          {R"({"name":"a","size":-1})"
                                                           "\n",
                                                           1},
                                                          {R"({"name":"a","size":"3"})"
                                                           "\nabc{\"end\":true}\n",
                                                           1},
                                                          {std::string(40'000, 'x'), 1}}) {
        INFO(text.substr(0, 100));
        CHECK_FALSE(receive(text, count));
    }
    const auto large = receive(R"({"name":"film","origin":"o","size":300000000})"
                               "\n",
                               1);
    REQUIRE_FALSE(large);
    CHECK_THAT(large.error().message, Tells("256"));
}

TEST_CASE("A file that changes while it is sent ends the stream before its end line") {
    test::TemporaryFolder folder;
    const auto path = (folder.path() / "log").string();
    std::ofstream(path) << "abc";
    const auto files = connection::open_given({path});
    REQUIRE(files);
    fs::resize_file(path, 2);
    Stream stream;
    const auto sent = send_files(stream.to.get(), *files);
    REQUIRE_FALSE(sent);
    CHECK(sent.error().code == ErrorCode::conflict);
    stream.to.reset();
    const auto received = receive_files(stream.from.get(), 1);
    REQUIRE_FALSE(received);
    CHECK(received.error().code == ErrorCode::unavailable);
}

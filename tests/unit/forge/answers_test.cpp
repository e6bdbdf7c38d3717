// Reading the answers of gh: daemon/forge/github_answers.
#include "daemon/forge/github_answers.hpp"
#include "tests/catch.hpp"

using namespace orange;
using namespace std::chrono_literals;

namespace {

constexpr Timestamp k_now{std::chrono::milliseconds(1'000'000)};

forge::Reply with(std::map<std::string, std::string> headers) {
    forge::Reply reply;
    reply.headers = std::move(headers);
    return reply;
}

}  // namespace

TEST_CASE("What gh prints of a response is read in its three parts") {
    const auto reply =
        forge::parse_reply("HTTP/2.0 403 Forbidden\nRetry-After: 60\r\nX-A:b: c\r\n\r\n{\"x\":\r\n\r\n1}");
    CHECK(reply.status == 403);
    CHECK(reply.headers.at("retry-after") == "60");
    CHECK(reply.headers.at("x-a") == "b: c");
    CHECK(reply.body == "{\"x\":\r\n\r\n1}");
}

TEST_CASE("What is no response is a body") {
    for (const char* text : {"", "{}", "<html>", "gh: no"}) {
        CHECK(forge::parse_reply(text).status == 0);
        CHECK(forge::parse_reply(text).body == text);
    }
    CHECK(forge::parse_reply("HTTP/1.1").body.empty());
    CHECK(forge::parse_reply("HTTP/1.1 200 OK\n").status == 200);
}

TEST_CASE("GitHub is left alone as long as it says") {
    CHECK(forge::wait_of(with({{"retry-after", "60"}}), k_now) == 60s);
    CHECK(forge::wait_of(with({{"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", "1300"}}), k_now) == 300s);
    CHECK_FALSE(forge::wait_of(with({{"x-ratelimit-remaining", "1"}, {"x-ratelimit-reset", "1300"}}), k_now));
    CHECK_FALSE(forge::wait_of(with({}), k_now));
}

TEST_CASE("A time that makes no sense is none, or a short one") {
    CHECK_FALSE(forge::wait_of(with({{"retry-after", "soon"}}), k_now));
    CHECK_FALSE(forge::wait_of(with({{"retry-after", "-5"}}), k_now));
    CHECK(forge::wait_of(with({{"retry-after", "999999999"}}), k_now) == 4h);
    CHECK(forge::wait_of(with({{"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", "7"}}), k_now) == 1s);
}

TEST_CASE("The last tenth of the requests is the user's") {
    const auto pause = [](const char* remaining) {
        return forge::pause_of(
            with({{"x-ratelimit-limit", "5000"}, {"x-ratelimit-remaining", remaining}, {"x-ratelimit-reset", "1300"}}),
            k_now);
    };
    CHECK_FALSE(pause("501"));
    CHECK(pause("500") == 300s);
    CHECK(pause("0") == 300s);
    CHECK_FALSE(forge::pause_of(with({}), k_now));
}

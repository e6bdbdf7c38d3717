#include "common/base/base64.hpp"

#include <random>

#include "tests/catch.hpp"

using namespace orange;

TEST_CASE("the examples of RFC 4648 are base64 in both directions") {
    const std::pair<std::string, std::string> rows[] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
    };
    for (const auto& [bytes, text] : rows) {
        CHECK(to_base64(bytes) == text);
        CHECK(from_base64(text) == bytes);
        CHECK(base64_length(bytes.size()) == text.size());
    }
}

TEST_CASE("bytes of every value and number come back from base64") {
    std::mt19937 random(7);
    for (std::size_t size = 0; size < 260; ++size) {
        std::string bytes;
        while (bytes.size() < size) bytes += static_cast<char>(random());
        CHECK(from_base64(to_base64(bytes)) == bytes);
    }
}

TEST_CASE("a text that is not exactly base64 has no bytes") {
    for (const char* text : {"Z",      "Zg",   "Zg=",   "Zg===", "Zh==",       "Zm9=",        "=",
                             "==",     "====", "Z===",  "A=AA",  "=Zg=",       "Zg==Zg==",    "Zm8=\n",
                             "Zm9v\n", "Z m9", " Zm9v", "-_-_",  "Zm\xC3\xA9", "Zm9v\r\nZm9v"}) {
        INFO(text);
        CHECK_FALSE(from_base64(text));
    }
    CHECK_FALSE(from_base64(std::string("Zm\0v", 4)));
}

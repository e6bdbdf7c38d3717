#include "daemon/runner/checks/preview_output.hpp"

#include "tests/catch.hpp"

using namespace orange;
using checked::local_url;
using checked::plain;

namespace {

/// Returns the URL in the text, and its port.
std::string url_in(const std::string& text) {
    const auto url = local_url(text);
    return url ? url->text + " " + std::to_string(url->port) : "";
}

}  // namespace

TEST_CASE("The output of a tried command is shown without colours, and lines that are written over as lines") {
    CHECK(plain("a\x1b[32mb\x1b[0mc\r\nd") == "abc\nd");
    CHECK(plain("10 %\r20 %\rdone\n") == "10 %\n20 %\ndone\n");
    CHECK(plain("\x1b]8;;http://evil/\x1b\\link\x1b]8;;\x07 end") == "link end");
    CHECK(plain("cut \x1b[3") == "cut ");
    CHECK(plain("cut \x1b]0;title") == "cut ");
    CHECK(plain("cut \x1b") == "cut ");
    CHECK(plain("\x1b(B\x1b[?25lx").ends_with("x"));
    CHECK(plain("").empty());
}

TEST_CASE("The first URL of this machine is found in a command's output") {
    CHECK(url_in("  Local:   http://localhost:5173/\n  Network: http://10.0.0.7:5173/\n") ==
          "http://localhost:5173/ 5173");
    CHECK(url_in(plain("http://localhost:\x1b[1m5173\x1b[22m/")) == "http://localhost:5173/ 5173");
    CHECK(url_in("see https://127.0.0.1:8443/a/b?c=d&e=%20#f.") == "https://127.0.0.1:8443/a/b?c=d&e=%20#f 8443");
    CHECK(url_in("(http://[::1]:3000)") == "http://[::1]:3000 3000");
    CHECK(url_in("http://localhost, and https://localhost") == "http://localhost 80");
    CHECK(url_in("https://localhost") == "https://localhost 443");
    CHECK(url_in("http://example.org:80/ then http://127.0.0.1:4000") == "http://127.0.0.1:4000 4000");
}

TEST_CASE("A URL of another machine, or one that is read in two ways, is none of this machine") {
    for (const char* text : {"",
                             "http",
                             "http://",
                             "http:/localhost:80",
                             "ftp://localhost:80",
                             "http://localhost.evil.org:80/",
                             "http://localhost@evil.org/",
                             "http://localhost:80@evil.org/",
                             "http://localhost:8080:1/",
                             "http://localhost-evil.org",
                             "http://127.0.0.1.evil.org/",
                             "http://127.0.0.11/",
                             "http://evil.org/localhost:80",
                             "http://localhost:0/",
                             "http://localhost:65536/",
                             "http://localhost:1234567/",
                             "http://localhost:/",
                             "http://localhost%2eevil.org/",
                             "http://[::1].evil.org/",
                             "http://[::1%25eth0]/"}) {
        INFO(text);
        CHECK(url_in(text).empty());
    }
    CHECK(url_in("http://localhost:80/a'b\"c;$(d)`e`|f") == "http://localhost:80/a 80");
    CHECK(url_in("http://localhost:80\\@evil.org/") == "http://localhost:80 80");
    CHECK(url_in("http://localhost:80/\u202ecod.exe") == "http://localhost:80/ 80");
    const auto longest = local_url("http://localhost:80/" + std::string(100'000, 'a'));
    REQUIRE(longest);
    CHECK(longest->text.size() == 200);
}

TEST_CASE("The last lines of a text are counted from its end") {
    CHECK(checked::tail_of("a\nb\nc\n", 2) == "b\nc\n");
    CHECK(checked::tail_of("a\nb\nc", 1) == "c");
    CHECK(checked::tail_of("a\nb", 5) == "a\nb");
    CHECK(checked::tail_of("a\nb", 0).empty());
    CHECK(checked::tail_of("", 3).empty());
    CHECK(checked::tail_of("\n\n", 1) == "\n");
}

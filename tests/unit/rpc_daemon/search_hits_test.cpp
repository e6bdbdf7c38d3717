#include "daemon/rpc/methods/search_hits.hpp"

#include "tests/catch.hpp"
#include "tests/facts.hpp"

using namespace orange;

namespace {

rpc::TaskSearch searching(std::string text, bool regex = false) {
    rpc::TaskSearch params;
    params.text = std::move(text);
    params.regex = regex;
    return params;
}

bool has_word(const rpc::TaskSearch& params, std::string_view word) {
    return std::ranges::count(rpc::grep_words(params), word) > 0;
}

std::string found_line(const std::string& file, int line, int offset, const std::string& match) {
    return file + std::string(1, '\0') + std::to_string(line) + ":" + std::to_string(offset) + ":" + match + "\n";
}

}  // namespace

TEST_CASE("A text to search for is one line") {
    for (const auto& text : {std::string(), std::string("  "), std::string("a\nb"), std::string("a\0b", 3),
                             std::string("\x1b[1m"), std::string(501, 'a'), std::string(1 << 20, 'a')}) {
        CAPTURE(text.substr(0, 20));
        const auto checked = rpc::check_search(searching(text));
        REQUIRE_FALSE(checked);
        CHECK(checked.error().code == ErrorCode::invalid_argument);
    }
    for (const auto& text : {"x", "-e", "--help", "a\tb", "ä ⏎", "(((", "\\1", "{9999}{9999}"}) {
        CHECK(rpc::check_search(searching(text)));
    }
    auto wrong = searching("x");
    wrong.in = "nowhere";
    CHECK_FALSE(rpc::check_search(wrong));
}

TEST_CASE("An expression that would use up memory is refused") {
    for (const auto* text :
         {"((a{1,1000}){1,1000}){1,1000}", "(x{255}){255}", "a{32767}", "a{1,}{2000,}", R"((.*)\1)"}) {
        CAPTURE(text);
        CHECK_FALSE(rpc::check_search(searching(text, true)));
    }
    for (const auto* text : {"a{3}", "(ab{1,30}){2,30}", "a{,5}", "{", "a{x}", R"(a\\b)", "(x+x+)+y"}) {
        CAPTURE(text);
        CHECK(rpc::check_search(searching(text, true)));
    }
}

TEST_CASE("A capital letter makes a search exact, and a history is searched for the text as JSON has it") {
    CHECK(has_word(searching("total"), "-i"));
    CHECK_FALSE(has_word(searching("Total"), "-i"));
    CHECK(has_word(searching("total"), "-F"));
    CHECK(has_word(searching("total", true), "-E"));
    CHECK(has_word(searching("say \"a\\b\""), R"(say \"a\\b\")"));
    CHECK_FALSE(has_word(searching("say \"a\"", true), R"(say \"a\")"));
    const auto words = rpc::grep_words(searching("-r"));
    CHECK(*(std::ranges::find(words, "-e") + 1) == "-r");
    CHECK(words.back() == "--");
}

TEST_CASE("What grep prints is read in whatever pieces it comes") {
    const auto text = found_line("shop/7JJC/logs/review-1-9aX.log", 3, 40, "total") +
                      found_line("shop/7JJC/TASK.md", 9, 120, "total: a:b") +
                      found_line("shop/8KKD/TASK.md", 1, 0, "total");
    for (std::size_t size = 1; size <= text.size(); ++size) {
        rpc::GrepOutput output;
        for (std::size_t at = 0; at < text.size(); at += size) output.take(std::string_view(text).substr(at, size));
        REQUIRE(output.files().size() == 3);
        const auto& first = output.files()[0];
        CHECK(first.task == "shop/7JJC");
        CHECK(first.below == "logs/review-1-9aX.log");
        REQUIRE(first.last.size() == 1);
        CHECK(first.last[0].line == 3);
        CHECK(first.last[0].at == 40);
        CHECK(first.last[0].end == 45);
        CHECK(output.files()[1].last[0].end == 130);
        CHECK(output.files()[2].task == "shop/8KKD");
        CHECK_FALSE(output.is_full());
    }
}

TEST_CASE("Of many matches in a file the last ones are kept, and a page ends behind a whole task") {
    rpc::GrepOutput output;
    for (int line = 1; line <= 5000; ++line) output.take(found_line("p/a/history.jsonl", line, line * 10, "x"));
    REQUIRE(output.files().size() == 1);
    CHECK(output.files()[0].last.size() == rpc::GrepOutput::k_of_a_file);
    CHECK(output.files()[0].last.back().line == 5000);
    CHECK(output.files()[0].dropped == 5000 - static_cast<std::int64_t>(rpc::GrepOutput::k_of_a_file));
    const auto files = rpc::GrepOutput::k_enough / rpc::GrepOutput::k_of_a_file;
    for (std::size_t file = 1; file < files + 3; ++file) {  // the same task
        const auto name = "p/a/logs/worker-" + std::to_string(file) + ".log";
        for (int line = 1; line <= 200; ++line) output.take(found_line(name, line, line, "x"));
    }
    CHECK(output.files().size() == files + 3);
    output.take(found_line("p/b/TASK.md", 1, 0, "x"));
    CHECK(output.is_full());
    output.take(found_line("p/a/logs/worker-1.log", 1, 0, "x"));
    CHECK(output.files().size() == files + 3);
}

TEST_CASE("A match without an end, and lines that grep does not print, take no memory") {
    rpc::GrepOutput output;
    output.take(std::string("p/a/TASK.md\0", 12) + "1:0:");
    const std::string block(1 << 20, 'x');
    for (int i = 0; i < 64; ++i) output.take(block);
    output.take("\n");
    REQUIRE(output.files().size() == 1);
    CHECK(output.files()[0].last[0].end == 64U << 20);
    for (const auto* line : {"\n", ":\n", "a\n", "a/b\n", "a/b/c:1:2:x\n", "Binary file matches\n"}) output.take(line);
    output.take(std::string("a/b/c\0x:y:z\n", 12) + std::string("nofolder\0", 9) + "1:2:x\n");
    CHECK(output.files().size() == 1);
}

TEST_CASE("An excerpt is the line around the match, whole or cut between characters") {
    CHECK(rpc::excerpt("one\ntwo three\nfour", 8) == "two three");
    CHECK(rpc::excerpt("one\ntwo", 3) == "one");
    CHECK(rpc::excerpt("", 0).empty());
    CHECK(rpc::excerpt("x", 99) == "x");
    CHECK(rpc::excerpt("a \x1b[31m\xff", 0) == "a \\x1b[31m\\xff");
    std::string umlauts;
    for (int i = 0; i < 400; ++i) umlauts += "ü";
    for (std::size_t at = 390; at < 394; ++at) {
        const auto text = rpc::excerpt(umlauts, at);
        CHECK(text.starts_with("… "));
        CHECK(text.ends_with(" …"));
        CHECK_THAT(text, !Holds("\\x"));
        CHECK(text.size() < 260);
    }
}

TEST_CASE("Of an event only what somebody wrote is found, at its place") {
    const std::string line =
        R"({"message":"Say \"hi\"\nto the total","role":"worker","timestamp":"2026-01-01T00:00:00.000Z","type":"total"})";
    const auto found = rpc::event_text(line, line.find("total"));
    REQUIRE(found);
    CHECK(found->text == "Say \"hi\"\nto the total");
    CHECK(found->text.substr(found->at) == "total");
    CHECK(rpc::event_text(line, line.find("Say")));
    CHECK(rpc::event_text(line, line.find("\\\"hi")));
    CHECK_FALSE(rpc::event_text(line, line.find("nto")));  // of \n
    CHECK_FALSE(rpc::event_text(line, line.find("message")));
    CHECK_FALSE(rpc::event_text(line, line.find("worker")));
    CHECK_FALSE(rpc::event_text(line, line.rfind("total")));
    CHECK_FALSE(rpc::event_text(line, 0));
    CHECK_FALSE(rpc::event_text(line, line.size() + 5));
    CHECK_FALSE(rpc::event_text(R"({"message":"no end)", 14));
    CHECK_FALSE(rpc::event_text(R"({"message":"no end\)", 14));
    CHECK_FALSE(rpc::event_text("", 0));
}

#include "client/dashboard/input.hpp"

#include "tests/catch.hpp"

using namespace orange;
using namespace orange::dashboard;
using std::chrono::milliseconds;

namespace {

struct Typing {
    Decoder decoder;
    Decoder::Time now{std::chrono::hours(1)};
    std::vector<std::string> keys;
    std::vector<Input> all;

    void take(const std::vector<Input>& inputs) {
        for (const auto& input : inputs) {
            all.push_back(input);
            keys.push_back(input.what == Input::What::key     ? input.text
                           : input.what == Input::What::paste ? "paste:" + input.text
                                                              : "mouse");
        }
    }
    Typing& type(const std::string& bytes) {
        take(decoder.decode(bytes, now));
        return *this;
    }
    Typing& wait(int ms) {
        now += milliseconds(ms);
        take(decoder.expire(now));
        return *this;
    }
};

using Keys = std::vector<std::string>;

}  // namespace

TEST_CASE("Keys have names, and characters are themselves") {
    CHECK(Typing().type("jé日 \r\t\x7f\x03\x1a").keys ==
          Keys{"j", "é", "日", " ", "Enter", "Tab", "Backspace", "C-c", "C-z"});
    CHECK(Typing().type("\x1b[A\x1b[B\x1bOC\x1b[D\x1b[H\x1b[4~\x1b[5~\x1b[6~\x1b[Z\x1b[3~").keys ==
          Keys{"Up", "Down", "Right", "Left", "Home", "End", "PageUp", "PageDown", "S-Tab", "Delete"});
}

TEST_CASE("A lone Esc is a key after a moment, and not a beginning") {
    Typing typing;
    typing.type("\x1b");
    CHECK(typing.keys.empty());
    REQUIRE(typing.decoder.deadline());
    CHECK(typing.wait(50).keys == Keys{"Esc"});
    CHECK(Typing().type("\x1b").wait(50).wait(500).type("[").keys == Keys{"Esc", "["});
    CHECK(Typing().type("\x1b\x1b[A").keys == Keys{"Esc", "Up"});
}

TEST_CASE("A sequence that a slow line tears apart gives no other keys, wherever it is torn") {
    for (const std::string sequence : {"\x1b[A", "\x1bOB", "\x1b[6~", "\x1b[<0;5;6M", "日"}) {
        const auto whole = Typing().type(sequence).keys;
        for (std::size_t at = 1; at < sequence.size(); ++at) {
            for (const int pause : {5, 60, 200}) {
                Typing torn;
                torn.type(sequence.substr(0, at)).wait(pause).type(sequence.substr(at)).wait(500);
                auto keys = torn.keys;
                std::erase(keys, "Esc");  // a pause after the first byte is one
                CHECK(keys == whole);
            }
        }
    }
}

TEST_CASE("What is pasted is one thing, whatever it contains") {
    CHECK(Typing().type("\x1b[200~xdy\nqm\x1b[201~j").keys == Keys{"paste:xdy\nqm", "j"});
    CHECK(Typing().type("\x1b[200~one\rtwo\r\nthree\x1b[201~").keys == Keys{"paste:one\ntwo\nthree"});
    Typing torn;
    torn.type("\x1b[200~one\x1b[20").wait(600).type("1~k");
    CHECK(torn.keys == Keys{"paste:one", "k"});
    Typing large;
    large.type("\x1b[200~" + std::string(1 << 20, 'x') + "\x1b[201~");
    REQUIRE(large.all.size() == 1);
    CHECK(large.all[0].text.size() <= (std::size_t{64} << 10));
}

TEST_CASE("Answers of the terminal and keys with modifiers are no commands") {
    for (const std::string answer :
         {"\x1b]11;rgb:0000/0000/0000\x07", "\x1b]10;rgb:1/2/3\x1b\\", "\x1b[?62;22c", "\x1bP>|tmux 3.3a\x1b\\",
          "\x1b[120;5u", "\x1b[27;5;109~", "\x1b[I", "\x1b[O", "\x1b[?1;2c", "\x1bx", "\x1b[200", "\x1b[8;24;80t"}) {
        INFO(answer);
        CHECK(Typing().type(answer).wait(600).keys.empty());
    }
}

TEST_CASE("The mouse is read at any column") {
    Typing typing;
    typing.type("\x1b[<0;240;7M\x1b[<0;240;7m\x1b[<64;3;4M\x1b[<65;3;4M\x1b[<35;1;1M\x1b[<0;0;0M");
    REQUIRE(typing.all.size() == 3);
    CHECK(typing.all[0].what == Input::What::click);
    CHECK(typing.all[0].column == 239);
    CHECK(typing.all[0].row == 6);
    CHECK(typing.all[1].what == Input::What::wheel_up);
    CHECK(typing.all[2].what == Input::What::wheel_down);
}

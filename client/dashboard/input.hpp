#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What a person does at the terminal, from the bytes that arrive. Pure: it is given the time.
namespace orange::dashboard {

/// A key by its name: the character itself ("j", "é", " "), or one of Enter, Esc, Tab, S-Tab, Backspace, Delete, Up,
/// Down, Left, Right, Home, End, PageUp, PageDown, F1 … F12, C-a … C-z.
using Key = std::string;

struct Input {
    enum class What { key, paste, click, wheel_up, wheel_down };
    What what = What::key;
    std::string text = {};  ///< the key, or what was pasted
    int column = 0;         ///< of the mouse, from 0
    int row = 0;
};

/// Every byte belongs to exactly one thing: a key, a paste, the mouse, or a sequence that is dropped (an answer of the
/// terminal to somebody else's question). So no part of a sequence is ever taken for a command.
class Decoder {
  public:
    using Time = std::chrono::steady_clock::time_point;
    /// How long a lone Esc may be the beginning of something, and how long something begun may take.
    explicit Decoder(std::chrono::milliseconds escape_delay = std::chrono::milliseconds(40)) : delay_(escape_delay) {}

    /// Returns the inputs that end with these bytes.
    std::vector<Input> decode(std::string_view bytes, Time now);
    /// Returns when to call expire(), if nothing else comes.
    std::optional<Time> deadline() const;
    std::vector<Input> expire(Time now);

  private:
    static constexpr std::size_t k_longest_paste = std::size_t{64} << 10;
    static constexpr std::chrono::milliseconds k_rest{400};  ///< of a sequence that a slow line has torn apart

    void parse(std::vector<Input>& out, Time now);
    bool parse_escape(std::vector<Input>& out);
    bool parse_csi(std::vector<Input>& out, std::size_t begin);
    bool skip_string(std::size_t begin);
    void plain(std::vector<Input>& out);

    std::chrono::milliseconds delay_;
    std::string buffer_;
    std::string paste_;
    bool pasting_ = false;
    Time last_{};                      ///< when the last bytes came
    std::optional<Time> lone_escape_;  ///< Esc was given out then; "[" after it is its rest
};

}  // namespace orange::dashboard

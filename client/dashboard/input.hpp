#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Decodes the terminal's bytes into keys, pastes and mouse clicks. Pure: the time is passed in.
namespace orange::dashboard {

/// The name of a key: the character itself ("j", "é", " "), or one of Enter, Esc, Tab, S-Tab, Backspace, Delete, Up,
/// Down, Left, Right, Home, End, PageUp, PageDown, F1 … F12, C-a … C-z.
using Key = std::string;

struct Input {
    enum class What { key, paste, click, wheel_up, wheel_down };
    What what = What::key;
    std::string text = {};  ///< the key, or the pasted text
    int column = 0;         ///< of the mouse, starting at 0
    int row = 0;
};

/// Assigns every byte to exactly one key, paste, mouse event, or dropped sequence (the terminal's answer to another
/// program's query). So no part of a sequence is read as a command.
class Decoder {
  public:
    using Time = std::chrono::steady_clock::time_point;
    /// `escape_delay`: the time in which a lone Esc may still be the beginning of a sequence.
    explicit Decoder(std::chrono::milliseconds escape_delay = std::chrono::milliseconds(40)) : delay_(escape_delay) {}

    /// Returns the inputs that these bytes complete.
    std::vector<Input> decode(std::string_view bytes, Time now);
    /// Returns when to call expire() if no bytes arrive before.
    std::optional<Time> deadline() const;
    std::vector<Input> expire(Time now);

  private:
    static constexpr std::size_t k_longest_paste = std::size_t{64} << 10;
    static constexpr std::chrono::milliseconds k_rest{400};  ///< for the rest of a sequence that a slow line has split

    void parse(std::vector<Input>& out);
    bool parse_escape(std::vector<Input>& out);
    bool parse_csi(std::vector<Input>& out, std::size_t begin);
    bool skip_string(std::size_t begin);
    void plain(std::vector<Input>& out);

    std::chrono::milliseconds delay_;
    std::string buffer_;
    std::string paste_;
    bool pasting_ = false;
    Time last_{};                      ///< the time of the last bytes
    std::optional<Time> lone_escape_;  ///< when a lone Esc was returned; a following "[" belongs to it
};

}  // namespace orange::dashboard

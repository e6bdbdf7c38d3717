#pragma once

#include <string>

#include "client/dashboard/view.hpp"
#include "common/base/result.hpp"

/// The terminal, drawn with ncurses: the only place that knows it. Input is not ncurses' (input.hpp). Every mode that
/// is switched on is switched off by leave(), on every way out: the end, a suspension, a program in the terminal, a
/// signal, a crash.
namespace orange::dashboard {

struct TerminalOptions {
    bool mouse = true;
    bool rings = true;
};

class Terminal {
  public:
    Terminal() = default;
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;
    ~Terminal() { leave(); }

    /// invalid_argument: standard input and output are no terminal, or TERM is not known or cannot place the cursor.
    Result<void> open(const TerminalOptions& options);
    /// Puts the terminal back as it was found; enter() takes it again and draws everything anew.
    void leave();
    void enter();

    int width() const { return width_; }
    int height() const { return height_; }
    /// Reads the size again; false: it is the same.
    bool resize();
    /// Sends what has changed since the last frame; nothing if nothing has. True if something was sent.
    bool draw(const Frame& frame);
    /// The next frame is drawn whole.
    void redraw() { whole_ = true; }
    /// To the terminal's clipboard (OSC 52).
    void copy(const std::string& text);

  private:
    void draw_row(int row, const Line& line);
    /// The terminal's title, and its bell.
    void tell_news(const Frame& frame);

    Frame shown_;
    TerminalOptions options_;
    int width_ = 80, height_ = 24;
    bool open_ = false, inside_ = false, whole_ = true, utf8_ = true, colours_ = false, titles_ = false;
};

}  // namespace orange::dashboard

#pragma once

#include <string>

#include "client/dashboard/view.hpp"
#include "common/base/result.hpp"

/// Draws on the terminal with ncurses, which is used nowhere else; input is read without it (input.hpp). leave()
/// switches off every mode that was switched on, in all cases: at the end, at a suspension, for a program in the
/// terminal, after a signal or a crash.
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

    /// Takes the terminal. invalid_argument if standard input and output are no terminal, or if TERM is unknown or
    /// cannot move the cursor.
    Result<void> open(const TerminalOptions& options);
    /// Restores the terminal's original state; enter() takes the terminal again and draws the whole screen.
    void leave();
    void enter();

    int width() const { return width_; }
    int height() const { return height_; }
    /// Reads the size; returns false if it has not changed.
    bool resize();
    /// Sends the differences from the last frame, if there are any. Returns true if bytes were sent.
    bool draw(const Frame& frame);
    /// Draws the next frame completely.
    void redraw() { whole_ = true; }
    /// Copies to the terminal's clipboard (OSC 52).
    void copy(const std::string& text);

  private:
    void draw_row(int row, const Line& line);
    /// Sets the terminal's title, and rings its bell.
    void tell_news(const Frame& frame);

    Frame shown_;
    TerminalOptions options_;
    int width_ = 80, height_ = 24;
    bool open_ = false, inside_ = false, whole_ = true, utf8_ = true, colours_ = false, titles_ = false;
};

}  // namespace orange::dashboard

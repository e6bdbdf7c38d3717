#include "client/dashboard/terminal.hpp"

#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <langinfo.h>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <cwchar>

#include "client/output/terminal.hpp"

// ncurses' macros (move, erase, …) would be replaced in our own names.
#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <ncurses.h>
#include <term.h>

namespace orange::dashboard {
namespace {

constexpr std::string_view k_mouse_on = "\033[?1000h\033[?1006h";
constexpr std::string_view k_paste_on = "\033[?2004h";
constexpr std::string_view k_modes_off = "\033[?2004l\033[?1006l\033[?1000l";
/// Switches off enhanced keyboard protocols, which another program may have left on and ncurses cannot read.
constexpr std::string_view k_keyboard_off = "\033[<u\033[>4;0m";
constexpr std::string_view k_after_crash = "\033[?2004l\033[?1006l\033[?1000l\033[?1049l\033[?25h\033[0m\r\n";

termios saved_modes;  ///< for the crash handler
volatile sig_atomic_t is_inside = 0;

void tell_terminal(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto n = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
        if (n < 0 && errno != EINTR && errno != EAGAIN) return;
        if (n > 0) bytes.remove_prefix(static_cast<std::size_t>(n));
    }
}

extern "C" void orange_dashboard_crashed(int number) {
    if (is_inside != 0) {
        is_inside = 0;
        tell_terminal(k_after_crash);
        ::tcsetattr(STDIN_FILENO, TCSANOW, &saved_modes);
    }
    ::signal(number, SIG_DFL);
    ::raise(number);
}

void catch_crashes() {
    static char stack[64 << 10];
    stack_t alternate{};
    alternate.ss_sp = stack;
    alternate.ss_size = sizeof stack;
    ::sigaltstack(&alternate, nullptr);
    struct sigaction action {};
    action.sa_handler = orange_dashboard_crashed;
    action.sa_flags = SA_ONSTACK;
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::sigaction(number, &action, nullptr);
}

/// Returns a replacement for a terminal without UTF-8.
char ascii_for(char32_t point) {
    switch (point) {
        case U'●':
            return '*';
        case U'✗':
            return 'x';
        case U'○':
            return 'o';
        case U'✓':
            return '+';
        case U'…':
            return '~';
        case U'≠':
            return '#';
        case U'│':
            return '|';
        case U'─':
            return '-';
        case U'→':
            return '>';
        case U'├':
        case U'╰':
        case U'╭':
        case U'└':
            return '+';
        default:
            return '?';
    }
}

attr_t attributes_of(const Look& look) {
    attr_t all = A_NORMAL;
    if (look.bold) all |= A_BOLD;
    if (look.dim) all |= A_DIM;
    if (look.reverse) all |= A_REVERSE;
    if (look.underline) all |= A_UNDERLINE;
    return all;
}

int colour_of(short wanted) {
    if (wanted < COLORS) return wanted;
    return wanted >= 8 && wanted < 16 ? wanted - 8 : -1;
}

}  // namespace

Result<void> Terminal::open(const TerminalOptions& options) {
    options_ = options;
    const char* term = std::getenv("TERM");
    const std::string name = term ? term : "";
    const auto problem = [&](const std::string& why) {
        return Error(ErrorCode::invalid_argument, why + ". The same without a screen:\n  orange inbox");
    };
    if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) return problem("the dashboard needs a terminal");
    if (::tcgetattr(STDIN_FILENO, &saved_modes) != 0) return io_error("reading the terminal's modes", errno);
    std::setlocale(LC_ALL, "");
    utf8_ = std::string_view(::nl_langinfo(CODESET)) == "UTF-8";
    ::use_env(TRUE);
    ::use_tioctl(TRUE);
    if (name.empty() || name == "dumb" || ::newterm(nullptr, stdout, stdin) == nullptr) {
        return problem("the terminal \"" + name + "\" (TERM) cannot be drawn on");
    }
    open_ = true;
    titles_ = output::has_title();
    ::raw();
    ::noecho();
    ::nonl();
    ::leaveok(stdscr, FALSE);
    if (::tigetstr("cup") == nullptr) {
        inside_ = true;
        leave();
        return problem("the terminal \"" + name + "\" (TERM) cannot place the cursor");
    }
    const char* no_colour = std::getenv("NO_COLOR");
    colours_ = ::has_colors() && !(no_colour && *no_colour) && ::start_color() == OK && ::use_default_colors() == OK;
    catch_crashes();
    enter();
    resize();
    return {};
}

void Terminal::enter() {
    if (!open_ || inside_) return;
    inside_ = true;
    is_inside = 1;
    ::wrefresh(stdscr);  // switches to the alternate screen and raw()'s modes
    tell_terminal(k_keyboard_off);
    if (options_.mouse) tell_terminal(k_mouse_on);
    tell_terminal(k_paste_on);
    if (titles_) tell_terminal(output::k_keep_title);
    shown_.title.clear();
    ::curs_set(0);
    whole_ = true;
}

void Terminal::leave() {
    if (!open_ || !inside_) return;
    inside_ = false;
    is_inside = 0;
    tell_terminal(k_modes_off);
    if (titles_) tell_terminal(output::k_restore_title);
    ::curs_set(1);
    ::endwin();
}

bool Terminal::resize() {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
        width_ = COLS;
        height_ = LINES;
        return false;
    }
    if (size.ws_col == width_ && size.ws_row == height_ && COLS == width_ && LINES == height_) return false;
    width_ = size.ws_col;
    height_ = size.ws_row;
    ::resizeterm(height_, width_);
    whole_ = true;
    return true;
}

void Terminal::draw_row(int row, const Line& line) {
    ::wmove(stdscr, row, 0);
    ::wclrtoeol(stdscr);
    for (const auto& span : line.spans) {
        const bool coloured = colours_ && (span.look.fg >= 0 || span.look.bg >= 0);
        int pair = coloured ? ::alloc_pair(colour_of(span.look.fg), colour_of(span.look.bg)) : 0;
        if (pair < 0) pair = 0;
        ::wattr_set(stdscr, attributes_of(span.look), static_cast<short>(pair), &pair);
        std::wstring text;
        for (std::size_t at = 0; at < span.text.size();) {
            const auto point = next_point(span.text, at);
            const int width = width_of(point);
            if (point < 0x80) {
                text += static_cast<wchar_t>(point);
            } else if (!utf8_) {
                if (width > 0)
                    text += std::wstring(static_cast<std::size_t>(width), static_cast<wchar_t>(ascii_for(point)));
            } else if (::wcwidth(static_cast<wchar_t>(point)) == width) {
                text += static_cast<wchar_t>(point);
            } else if (width > 0) {  // the terminal may use another width, and the row must not shift
                text += std::wstring(static_cast<std::size_t>(width), L'?');
            }
        }
        ::waddnwstr(stdscr, text.c_str(), static_cast<int>(text.size()));
    }
}

void Terminal::tell_news(const Frame& frame) {
    if (titles_ && frame.title != shown_.title) tell_terminal(output::titled(frame.title));
    if (options_.rings && frame.rings > shown_.rings) tell_terminal("\a");
}

bool Terminal::draw(const Frame& frame) {
    if (!inside_ || (!whole_ && frame == shown_)) return false;
    if (whole_) ::clearok(curscr, TRUE);
    for (std::size_t i = 0; i < frame.rows.size(); ++i) {
        const bool same = !whole_ && i < shown_.rows.size() && shown_.rows[i] == frame.rows[i];
        if (!same) draw_row(static_cast<int>(i), frame.rows[i]);
    }
    whole_ = false;
    ::curs_set(frame.cursor ? 1 : 0);
    const auto cursor = frame.cursor.value_or(std::pair{height_ - 1, 0});
    ::wmove(stdscr, cursor.first, cursor.second);
    ::wnoutrefresh(stdscr);
    ::doupdate();
    tell_news(frame);
    shown_ = frame;
    return true;
}

void Terminal::copy(const std::string& text) {
    static constexpr char k_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string encoded;
    for (std::size_t i = 0; i < text.size(); i += 3) {
        unsigned bits = 0;
        for (std::size_t j = 0; j < 3; ++j)
            bits = (bits << 8) | (i + j < text.size() ? static_cast<unsigned char>(text[i + j]) : 0U);
        for (std::size_t j = 0; j < 4; ++j)
            encoded += i + j <= text.size() ? k_digits[(bits >> (18 - 6 * j)) & 63U] : '=';
    }
    tell_terminal("\033]52;c;" + encoded + "\a");
}

}  // namespace orange::dashboard

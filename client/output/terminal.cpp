#include "client/output/terminal.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/base/text.hpp"

namespace orange::output {
namespace {

constexpr std::size_t k_least_width = 40;
constexpr std::size_t k_most_width = 400;
constexpr std::size_t k_unlimited = 1U << 20U;

/// errno of the first failed write to standard output.
int g_write_error = 0;

/// Returns the value of COLUMNS; 0 if it has none.
std::size_t asked_width() {
    const char* columns = std::getenv("COLUMNS");
    return columns ? std::strtoul(columns, nullptr, 10) : 0;
}

/// Returns true if the environment names UTF-8, as the dashboard reads it.
bool has_utf8() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* value = std::getenv(name);
        if (value == nullptr || *value == '\0') continue;
        const auto locale = to_lower(value);
        return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
    }
    return false;
}

std::size_t width_of(int descriptor) {
    std::size_t width = 80;
    winsize size{};
    if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        width = size.ws_col;
    } else if (const auto asked = asked_width()) {
        width = asked;
    }
    return width < k_least_width ? k_least_width : width > k_most_width ? k_most_width : width;
}

}  // namespace

std::string Style::paint(std::string_view text, const Look& look) const {
    if (!colour || look == Look{} || text.empty()) return std::string(text);
    std::string codes;
    if (look.bold) codes += ";1";
    if (look.dim) codes += ";2";
    if (look.reverse) codes += ";7";
    if (look.fg >= 0) codes += ";" + std::to_string(30 + look.fg);
    return "\x1b[" + codes.substr(1) + "m" + std::string(text) + "\x1b[0m";
}

std::string Style::paint(const Lines& lines) const {
    std::string out;
    for (const auto& line : lines) {
        for (const auto& span : line.spans) out += paint(span.text, span.look);
        out += "\n";
    }
    return out;
}

Style style_of_stdout() {
    const char* no_colour = std::getenv("NO_COLOR");
    const char* term = std::getenv("TERM");
    const bool wanted = !(no_colour && *no_colour) && term && std::strcmp(term, "dumb") != 0;
    const bool is_terminal = ::isatty(STDOUT_FILENO) == 1;
    const auto width = width_of(STDOUT_FILENO);
    return {wanted && is_terminal, width, is_terminal || asked_width() > 0 ? width : k_unlimited, has_utf8()};
}

std::size_t width_of_errors() {
    return ::isatty(STDERR_FILENO) == 1 ? width_of(STDERR_FILENO) : k_unlimited;
}

bool is_interactive() {
    return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
}

bool is_screen() {
    return ::isatty(STDOUT_FILENO) == 1;
}

void clear_screen() {
    put("\x1b[H\x1b[2J");
}

bool has_title() {
    const char* term = std::getenv("TERM");
    const std::string_view name = term ? term : "";
    return is_screen() && !name.empty() && name != "dumb" && name != "linux";  // these show a title as text
}

std::string titled(const std::string& title) {
    return "\033]2;" + title + "\a";
}

std::string needs_title(std::size_t count) {
    if (count == 0) return "Orange";
    return std::to_string(count) + (count == 1 ? " needs" : " need") + " you · Orange";
}

void put(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() && g_write_error == 0) g_write_error = errno;
}

void put_now(std::string_view text) {
    put(text);
    if (std::fflush(stdout) != 0 && g_write_error == 0) g_write_error = errno;
}

bool reader_is_gone() {
    pollfd out{STDOUT_FILENO, 0, 0};
    return g_write_error != 0 || (::poll(&out, 1, 0) > 0 && (out.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0);
}

void print_error(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
}

int finish(int status) {
    if (std::fflush(stdout) != 0 && g_write_error == 0) g_write_error = errno;
    if (g_write_error == 0) return status;
    if (g_write_error != EPIPE) {
        print_error(std::string("orange: writing the output: ") + std::strerror(g_write_error) + "\n");
    }
    return status == 0 ? 1 : status;
}

void forget_typed() {
    ::tcflush(STDIN_FILENO, TCIFLUSH);
}

std::optional<std::string> asked(const std::string& question) {
    std::fflush(stdout);
    print_error(question + " ");
    std::string line;
    for (int c = std::fgetc(stdin); c != '\n'; c = std::fgetc(stdin)) {
        if (c == EOF) return std::nullopt;
        line += static_cast<char>(c);
    }
    return std::string(trim(line));
}

bool confirmed(const std::string& question) {
    std::fflush(stdout);
    print_error(question + " [y/N] ");
    char line[64];
    if (!std::fgets(line, sizeof line, stdin)) return false;
    const auto answer = to_lower(trim(line));
    return answer == "y" || answer == "yes";
}

std::string wrapped(std::string_view text, std::string_view indent, std::size_t width) {
    const std::size_t left = columns(indent);
    std::string out;
    for (const auto line : split_lines(text)) {
        for (const auto& row : wrapped(line, width > left + 20 ? width - left : 20, true)) {
            out += std::string(indent) + row + "\n";
        }
    }
    return out;
}

}  // namespace orange::output

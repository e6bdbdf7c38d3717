#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "common/base/text.hpp"
#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

namespace orange::tests {

/// The dashboard in a real terminal: a pane of a tmux that plays the screen and the keyboard, with a shell around it.
class Stage {
  public:
    Stage(Sandbox& box, const std::filesystem::path& cwd, int width = 80, int height = 24, const std::string& term = "")
        : box_(box) {
        if (!term.empty()) screen({"start-server", ";", "set-option", "-g", "default-terminal", term});
        screen({"new-session", "-d", "-x", std::to_string(width), "-y", std::to_string(height), "-c", cwd.string(),
                "-s", "stage", "--", "sh", "-i"});
        type(
            "clear() { printf '\\033[2J\\033[H'; }; unset TMUX TMUX_PANE; PS1='$ '; export SHELL=sh "
            "ORANGE_DASHBOARD_TRACE=" +
            trace().string() + "; clear");
    }
    ~Stage() {
        screen({"kill-server"});
        box_.eventually("the tmux server is gone", [&] { return screen({"list-sessions"}).status != 0; });
    }
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;

    Ran screen(std::vector<std::string> args) {
        args.insert(args.begin(), {"tmux", "-S", (box_.root() / "stage.sock").string(), "-f", "/dev/null"});
        return box_.try_run(args);
    }
    void type(const std::string& line) { screen({"send-keys", "-t", "stage:", line, "Enter"}); }
    /// As they come from the terminal.
    void bytes(const std::string& text) { screen({"send-keys", "-l", "-t", "stage:", text}); }
    /// ASCII for a text of the dashboard, which has taken all of it in the end: a key after it is not confused with it.
    void letters(const std::string& text) {
        const auto before = traced("input ");
        bytes(text);
        box_.eventually("the text " + text + " is taken", [&] { return traced("input ") >= before + text.size(); });
    }
    /// Keys by tmux's names, each after the last one was taken.
    void press(const std::vector<std::string>& keys) {
        for (const auto& key : keys) {
            const auto before = traced("input ");
            screen({"send-keys", "-t", "stage:", key});
            box_.eventually("the key " + key + " is taken", [&] { return traced("input ") > before; });
        }
    }
    /// What a key has come to, as the program's trace says.
    struct Pressed {
        std::string key;
        std::vector<std::string> requests;  ///< methods
        std::vector<std::string> programs;  ///< command lines that had the terminal
        std::string shows;                  ///< list, question, prompt, form, page, message or error
    };
    /// Keys as fast as they can be typed, none of which opens a program that waits for more.
    std::vector<Pressed> press_all(std::vector<std::string> keys) {
        const auto before = read_file(trace()).size();
        std::vector<std::string> args = {"send-keys", "-t", "stage:"};
        args.insert(args.end(), keys.begin(), keys.end());
        screen(args);
        std::vector<Pressed> pressed;
        box_.eventually("the keys " + args.back() + " … are taken", [&] {
            pressed = pressed_in(read_file(trace()).substr(before));
            return pressed.size() == keys.size() && !pressed.back().shows.empty();
        });
        return pressed;
    }
    std::string shown(bool with_looks = false) {
        std::vector<std::string> args = {"capture-pane", "-p", "-t", "stage:"};
        if (with_looks) args.emplace_back("-e");
        return screen(args).out;
    }
    void wait_for(const std::string& text) {
        const bool came = patient([&] { return shown().find(text) != std::string::npos; });
        if (!came) box_.fail("the screen never showed " + text + ":\n" + shown());
    }
    void wait_without(const std::string& text) {
        if (!patient([&] { return shown().find(text) == std::string::npos; }))
            box_.fail("the screen still shows " + text + ":\n" + shown());
    }
    /// The dashboard, and the list with that text on it.
    void start(const std::string& text, const std::string& command = "orange-dashboard") {
        type(command + "; echo status $?");
        wait_for(text);
    }
    void resize(int width, int height) {
        screen({"resize-window", "-t", "stage:", "-x", std::to_string(width), "-y", std::to_string(height)});
    }
    /// What the terminal is like: its modes as tmux knows them.
    std::string modes() {
        return screen({"display-message", "-p", "-t", "stage:",
                       "#{alternate_on} #{mouse_any_flag} #{mouse_sgr_flag} #{cursor_flag} #{keypad_cursor_flag} "
                       "#{keypad_flag}"})
            .out;
    }
    std::filesystem::path trace() const { return box_.root() / "trace"; }
    std::size_t traced(const std::string& begin) const {
        const auto text = read_file(trace());
        std::size_t count = 0;
        for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
            if (text.compare(at, begin.size(), begin) == 0) ++count;
            if (text.find('\n', at) == std::string::npos) break;
        }
        return count;
    }
    /// Everything that is sent to the terminal from now on.
    std::filesystem::path record() {
        const auto file = box_.root() / "bytes";
        std::filesystem::remove(file);
        screen({"pipe-pane", "-O", "-t", "stage:", "exec cat > " + file.string()});
        box_.eventually("the recorder runs", [&] { return std::filesystem::exists(file); });
        return file;
    }
    bool patient(const std::function<bool()>& holds, int tries = 400) {
        for (int i = 0; i < tries; ++i) {
            if (holds()) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
        return false;
    }

  private:
    static std::vector<Pressed> pressed_in(const std::string& trace) {
        std::vector<Pressed> all;
        for (const auto line : split_lines(trace)) {
            const auto blank = line.find(' ');
            const auto word = line.substr(0, blank);
            const std::string rest(blank == std::string_view::npos ? "" : line.substr(blank + 1));
            if (word == "input") all.push_back({rest, {}, {}, {}});
            if (all.empty()) continue;
            if (word == "request") all.back().requests.push_back(rest);
            if (word == "run") all.back().programs.push_back(rest);
            if (word == "shows") all.back().shows = rest;
        }
        return all;
    }

    Sandbox& box_;
};

}  // namespace orange::tests

#include "client/dashboard/foreground.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "client/connection/child.hpp"
#include "common/base/system.hpp"

namespace orange::dashboard {
namespace {

constexpr int k_not_started = 127;
std::vector<pid_t> small_children;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

/// Runs in the child between fork and exec, where only signal-safe calls are allowed.
[[noreturn]] void become_foreground(char* const* argv) {
    ::setpgid(0, 0);
    ::signal(SIGTTOU, SIG_IGN);
    ::tcsetpgrp(STDIN_FILENO, ::getpid());
    for (const int number : {SIGTTOU, SIGPIPE, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT, SIGWINCH, SIGCHLD})
        ::signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);  // a macro on macOS
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execvp(argv[0], argv);
    ::_exit(k_not_started);
}

void take_foreground() {
    struct sigaction ignore {
    }, before{};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGTTOU, &ignore, &before);
    ::tcsetpgrp(STDIN_FILENO, ::getpgrp());
    ::sigaction(SIGTTOU, &before, nullptr);
}

std::optional<std::string> contents_of(const std::string& path) {
    std::ifstream file(path);
    if (!file) return std::nullopt;
    std::ostringstream text;
    if (file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
    return file.bad() ? std::nullopt : std::optional(text.str());
}

}  // namespace

Result<int> run_in_foreground(const std::vector<std::string>& argv) {
    std::vector<std::string> words = argv;
    std::vector<char*> pointers;
    for (auto& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const auto child = ::fork();
    if (child < 0) return io_error("starting " + argv.front(), errno);
    if (child == 0) become_foreground(pointers.data());
    ::setpgid(child, child);
    int status = 0;
    for (;;) {
        const auto ended = ::waitpid(child, &status, WUNTRACED);
        if (ended < 0 && errno == EINTR) continue;
        if (ended == child && WIFSTOPPED(status)) {  // there is no shell to which a stopped program could return
            ::kill(-child, SIGCONT);
            continue;
        }
        break;
    }
    take_foreground();
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (code == k_not_started) return {ErrorCode::not_found, "cannot start " + argv.front()};
    return code;
}

Edited edited(const std::string& text) {
    auto words = editor();
    if (!words) return {std::nullopt, words.error().message};
    std::error_code error;
    const auto folder = std::filesystem::temp_directory_path(error);
    auto path = ((error ? "/tmp" : folder) / "orange-XXXXXX.md").string();
    const int file = ::mkstemps(path.data(), 3);
    if (file < 0) return {std::nullopt, io_error("making " + path, errno).message};
    ::close(file);
    std::ofstream out(path);
    out << text;
    out.close();
    if (!out) {
        ::unlink(path.c_str());
        return {std::nullopt, "The text could not be written to " + path + " for the editor"};
    }
    words->push_back(path);
    const auto status = run_in_foreground(*words);
    const auto saved = contents_of(path);
    if (!saved) return {std::nullopt, "The text could not be read from " + path};
    ::unlink(path.c_str());
    if (!status) return {std::nullopt, status.error().message};
    if (*status == 0) return {saved, {}};
    const bool has_saved = *saved != text && !saved->empty();
    return {has_saved ? saved : std::nullopt, "The editor ended with status " + std::to_string(*status)};
}

void reap_children() {
    std::erase_if(small_children, [](pid_t pid) { return ::waitpid(pid, nullptr, WNOHANG) != 0; });
}

void copy_to_desktop(const std::string& text) {
    std::vector<std::string> argv = {"pbcopy"};
    if (!variable("WAYLAND_DISPLAY").empty()) {
        argv = {"wl-copy"};
    } else if (!variable("DISPLAY").empty()) {
        argv = {"xclip", "-selection", "clipboard"};
    }
    int ends[2];
    if (system::make_pipe(ends) != 0) return;
    connection::ChildOptions options;
    options.in = ends[0];
    options.new_session = true;
    const auto child = connection::start_child(argv, options);
    ::close(ends[0]);
    // The text fits into the pipe, so the write does not block.
    if (child && text.size() < 4096) (void)!::write(ends[1], text.data(), text.size());
    ::close(ends[1]);
    if (child) small_children.push_back(*child);
}

bool open_in_browser(const std::string& url) {
    connection::ChildOptions options;
    options.new_session = true;
    for (const char* program : {"xdg-open", "open"}) {
        const auto child = connection::start_child({program, url}, options);
        if (!child) continue;
        small_children.push_back(*child);
        return true;
    }
    return false;
}

}  // namespace orange::dashboard

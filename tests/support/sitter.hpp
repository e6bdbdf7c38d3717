#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <stdexcept>

namespace orange::test {

/// A child that waits in a folder, ended with this.
class Sitter {
  public:
    explicit Sitter(const std::filesystem::path& place) {
        int sits[2];
        if (::pipe(sits) != 0) throw std::runtime_error("no pipe");
        pid_ = ::fork();
        if (pid_ == 0) {
            if (::chdir(place.c_str()) != 0) ::_exit(1);
            ::close(sits[1]);
            ::close(sits[0]);
            for (;;) ::pause();
        }
        ::close(sits[1]);
        char nothing;
        (void)!::read(sits[0], &nothing, 1);  // its end: it sits
        ::close(sits[0]);
    }
    ~Sitter() { end(); }
    Sitter(const Sitter&) = delete;
    Sitter& operator=(const Sitter&) = delete;
    void end() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }
    pid_t pid() const { return pid_; }

  private:
    pid_t pid_ = 0;
};

}  // namespace orange::test

#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/posix/fd.hpp"

namespace orange::test {

/// A terminal, and a process that has it as its controlling one and only waits.
class PseudoTerminal {
  public:
    /// `busy`: the process uses a processor.
    explicit PseudoTerminal(bool busy = false) : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
        if (!master_ || ::grantpt(master_.get()) != 0 || ::unlockpt(master_.get()) != 0) {
            throw std::runtime_error("there is no terminal to be had");
        }
        path_ = ::ptsname(master_.get());
        process_ = ::fork();
        if (process_ == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that crashes leaves it to nobody
            ::setsid();
            (void)::open(path_.c_str(), O_RDWR);
            while (busy && ::getppid() > 0) {
            }
            for (;;) ::pause();
        }
        slave_ = UniqueFd(::open(path_.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
    }
    ~PseudoTerminal() {
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
    }
    PseudoTerminal(const PseudoTerminal&) = delete;
    PseudoTerminal& operator=(const PseudoTerminal&) = delete;

    pid_t process() const { return process_; }
    const std::string& path() const { return path_; }
    /// As the process would.
    void write(std::string_view text) const { (void)!::write(slave_.get(), text.data(), text.size()); }

  private:
    UniqueFd master_, slave_;
    std::string path_;
    pid_t process_ = -1;
};

}  // namespace orange::test

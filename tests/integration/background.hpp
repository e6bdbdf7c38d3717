#pragma once

#include <signal.h>

#include <string>
#include <vector>

#include "tests/integration/sandbox.hpp"

namespace orange::tests {

/// A client that goes on while the test does: what it prints goes into files, and it is gone with the object.
class Background {
  public:
    Background(Sandbox& sandbox, const std::string& name, std::vector<std::string> args,
               const std::filesystem::path& cwd = {})
        : sandbox_(sandbox), base_((sandbox.root() / name).string()) {
        // A shell starts what runs in the background with SIGINT ignored; a user's Ctrl-C is not.
        std::vector<std::string> argv = {"sh", "-c",
                                         "(env --default-signal=INT \"$@\" >\"$0.out\" 2>\"$0.err\" & "
                                         "echo $! >\"$0.pid\"; wait $!; echo $? >\"$0.status\") >/dev/null 2>&1 &",
                                         base_, program("orange").string()};
        argv.insert(argv.end(), args.begin(), args.end());
        sandbox.run(argv, cwd);
        sandbox.eventually("it has begun", [&] { return read_file(base_ + ".pid").ends_with('\n'); });
        pid_ = std::stoi(read_file(base_ + ".pid"));
    }
    ~Background() {
        if (!ended()) ::kill(pid_, SIGKILL);
    }
    Background(const Background&) = delete;
    Background& operator=(const Background&) = delete;

    std::string out() const { return read_file(base_ + ".out"); }
    std::string err() const { return read_file(base_ + ".err"); }
    bool ended() const { return read_file(base_ + ".status").ends_with('\n'); }
    void signal(int number) const { ::kill(pid_, number); }
    int status() {
        sandbox_.eventually("it has ended", [&] { return ended(); });
        return std::stoi(read_file(base_ + ".status"));
    }
    void wait_for_out(const std::string& text) {
        sandbox_.eventually("it says " + text, [&] { return out().find(text) != std::string::npos; });
    }

  private:
    Sandbox& sandbox_;
    std::string base_;
    pid_t pid_ = -1;
};

}  // namespace orange::tests

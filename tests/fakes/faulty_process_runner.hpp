#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "daemon/process/process_runner.hpp"
#include "tests/fakes/mortal_file_system.hpp"

namespace orange::fakes {

/// How a child goes wrong. The first two never ran; the others did what they do, and their end is not what it was.
/// The last two end the daemon itself: before it starts the child, or when the child has ended.
enum class ChildFault {
    does_not_start,
    dies_at_once,
    dies_at_the_end,
    hangs_at_the_end,
    prints_garbage,
    floods,
    ends_the_daemon_before,
    ends_the_daemon_after
};

/// Which child of a daemon goes wrong, and how many there were.
struct ChildFaults {
    ChildFault fault = ChildFault::does_not_start;
    int nth = 0;  ///< from now; 0: none
    int started = 0;
    int running = 0;
    std::vector<std::string> commands;  ///< those that were started, without git's settings
    bool struck = false;
    std::string last;  ///< of the one that struck: git's command, else the program

    void arm(ChildFault how, int n) {
        fault = how;
        nth = n;
        started = 0;
        commands.clear();
        struck = false;
    }
    void disarm() { arm(fault, 0); }
};

/// Another ProcessRunner, of which the nth child goes wrong.
class FaultyProcessRunner final : public ProcessRunner {
  public:
    FaultyProcessRunner(ProcessRunner& real, ChildFaults& faults) : real_(real), faults_(faults) {}

    Awaitable<Result<Completed>> run(Command command) override {
        faults_.commands.push_back(shown(command.argv));
        if (++faults_.started != faults_.nth) {
            ++faults_.running;
            auto completed = co_await real_.run(std::move(command));
            --faults_.running;
            co_return completed;
        }
        faults_.struck = true;
        faults_.last = what(command.argv);
        const auto name = command.argv.front();
        const auto limit = command.output_limit;
        if (faults_.fault == ChildFault::does_not_start) {
            co_return Error(ErrorCode::io, "starting " + name + ": Resource temporarily unavailable");
        }
        if (faults_.fault == ChildFault::ends_the_daemon_before) throw Killed();
        if (faults_.fault == ChildFault::dies_at_once) co_return killed("");
        auto done = co_await real_.run(std::move(command));
        if (faults_.fault == ChildFault::ends_the_daemon_after) throw Killed();
        if (!done) co_return done;
        if (faults_.fault == ChildFault::dies_at_the_end) co_return killed(done->out.substr(0, done->out.size() / 2));
        if (faults_.fault == ChildFault::hangs_at_the_end) {
            co_return Error(ErrorCode::timeout, "`" + name + "` did not end within its time");
        }
        if (faults_.fault == ChildFault::prints_garbage) {
            done->out.assign("\x1b[31m\xff\0}]garbage\n", 14);
        } else {  // what the real runner keeps of a flood
            done->out.assign(std::min(limit, std::size_t{8} << 20), 'x');
        }
        co_return done;
    }

  private:
    /// Where git's command is, behind the settings that it is given.
    static std::size_t begin_of(const std::vector<std::string>& argv) {
        std::size_t at = 1;
        while (at + 1 < argv.size() && argv[at] == "-c") at += 2;
        return at;
    }

    static std::string what(const std::vector<std::string>& argv) {
        const auto at = begin_of(argv);
        return argv.front() == "git" && at < argv.size() ? argv[at] : argv.front();
    }

    static std::string shown(const std::vector<std::string>& argv) {
        std::string text = argv.front();
        for (auto at = begin_of(argv); at < argv.size(); ++at) text += " " + argv[at];
        return text;
    }

    static Completed killed(std::string out) {
        Completed done;
        done.exit_status = 128 + 9;
        done.out = std::move(out);
        return done;
    }

    ProcessRunner& real_;
    ChildFaults& faults_;
};

}  // namespace orange::fakes

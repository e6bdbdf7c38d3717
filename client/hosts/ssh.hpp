#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/hosts/hosts_file.hpp"
#include "common/model/json.hpp"

/// Calls `orange` on a host with the system's own ssh, which has the user's keys, jump hosts and agents.
namespace orange::hosts {

/// The command line that ssh gives to the user's shell on the host. Its words mean the same to sh, bash, zsh, fish and
/// csh.
std::string remote_command(const Host& host, const std::vector<std::string>& words);

/// The end of a command on a host. `trouble` says that ssh, or the shell there, did not get as far as orange, or lost
/// it; otherwise `status` is orange's own.
struct Ended {
    int status = 0;
    std::optional<Error> trouble;
};

/// Runs `orange WORDS` there with the caller's standard input, output and errors. `terminal`: with a terminal there,
/// too; ssh may then ask questions. If the link breaks, the terminal's modes and screen are put right.
Result<Ended> run_on(const Host& host, const std::vector<std::string>& words, bool terminal);

/// The answer of a host to a command that got nothing on standard input.
struct Answer {
    int status = 0;
    std::string out;
    std::optional<Error> trouble;  ///< as above, and `timeout` where the deadline passed
    std::chrono::milliseconds took{0};
};

struct Question {
    Host host;
    std::string command;  ///< from remote_command()
    std::chrono::milliseconds deadline;
    std::vector<std::string> argv = {};  ///< not empty: runs here, in place of ssh
};

/// Called for each answer as it comes, with the number of its question; true: the others are not needed.
using IsEnough = std::function<bool(std::size_t number, const Answer& answer)>;

/// Asks all of them side by side. Returns when each has answered, its deadline has passed, or it is enough; what still
/// runs is killed.
std::vector<Answer> ask(const std::vector<Question>& questions, const IsEnough& is_enough = {});

/// The JSON of an answer, and what stands before it: the start-up files of the shell there may print.
struct Said {
    std::string noise;
    std::optional<Json> json;
};
Said json_in(std::string_view out);

/// Explains an ssh that ended with `status`. `messages` are those of ssh, not of the program there. Returns nothing if
/// the command there ran to its end.
std::optional<Error> trouble_of(const Host& host, int status, std::string_view messages);

}  // namespace orange::hosts

#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/connection/given_file.hpp"
#include "client/hosts/hosts_file.hpp"
#include "common/model/json.hpp"

/// Runs `orange` on a host with the system's ssh, which has the user's keys, jump hosts and agents.
namespace orange::hosts {

/// Returns the command line that ssh passes to the user's shell on the host. The line means the same in sh, bash, zsh,
/// fish and csh.
std::string remote_command(const Host& host, const std::vector<std::string>& words);

/// The result of a command on a host. `trouble`: ssh or the remote shell failed before orange ran, or the connection
/// broke. Otherwise `status` is the exit status of orange.
struct Ended {
    int status = 0;
    std::optional<Error> trouble;
};

/// Runs `orange WORDS` on a host with the caller's standard input, output and errors. `terminal`: allocates a terminal
/// on the host, and lets ssh ask questions. If the connection breaks, the local terminal's modes and screen are reset.
/// `files` go before standard input (file_stream.hpp); then a terminal here is not read.
Result<Ended> run_on(const Host& host, const std::vector<std::string>& words, bool terminal,
                     const std::vector<connection::GivenFile>& files = {});

/// A host's answer to a command that had no standard input.
struct Answer {
    int status = 0;
    std::string out;
    std::optional<Error> trouble;  ///< see Ended::trouble; `timeout` if the deadline passed
    std::chrono::milliseconds took{0};
};

struct Question {
    Host host;
    std::string command;  ///< from remote_command()
    std::chrono::milliseconds deadline;
    std::vector<std::string> argv = {};    ///< if not empty, this runs here instead of ssh
    std::filesystem::path late_lock = {};  ///< locked while its late answer is waited for, by one process at a time
};

/// Called for each answer when it comes, with the number of its question. Returns true if the other answers are not
/// needed.
using IsEnough = std::function<bool(std::size_t number, const Answer& answer)>;

/// Called with the output that came after the deadline of a question, in a process of its own.
using IsLate = std::function<void(std::size_t number, const std::string& out)>;

/// Asks all questions concurrently. Returns when each has an answer or its deadline has passed, or when `is_enough`
/// returns true; programs that still run are killed. With `is_late`, those that have only passed their deadline go on,
/// unless another process waits for the same late answer: a process in the background reads their answers for up to 30
/// seconds. Then nobody reads them, and ssh ends with its link or when it writes.
std::vector<Answer> ask(const std::vector<Question>& questions, const IsEnough& is_enough = {},
                        const IsLate& is_late = {});

/// The JSON of an answer, and the text before it, which the start-up files of the remote shell may print. Noise that
/// does not end with a line stands on the line of the JSON, and spoils it for other readers.
struct Said {
    std::string noise;
    std::optional<Json> json;

    bool is_spoiled() const { return !noise.empty() && !noise.ends_with('\n'); }
};
Said json_in(std::string_view out);
/// Says that the shell on the host prints this before the answer, and what to do.
std::string about_noise(const std::string& noise);

/// Explains an ssh that ended with `status`. `messages` are those of ssh itself, not of the remote program. Nothing if
/// the remote command ran to its end.
std::optional<Error> trouble_of(const Host& host, int status, std::string_view messages);
/// Explains an ssh that a signal ended here: what the command on the host has done is not known.
Error link_ended(const Host& host);

}  // namespace orange::hosts

#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

/// The other machines of one person (docs/hosts.md): their names, and how their `orange` is called through ssh.
namespace orange::hosts {

struct Host {
    std::string name;
    std::string ssh;                           ///< what ssh is to connect to: a name of ~/.ssh/config, or user@machine
    std::string program = "orange";            ///< orange's path there; `~/` is the home there
    std::chrono::seconds deadline{1};          ///< how long `--everywhere` waits for its answer
    std::size_t first_line = 0, end_line = 0;  ///< where the host stands in the file, from 0
};

/// hosts.yml in ORANGE_HOME.
std::filesystem::path file_in(const std::filesystem::path& home);

/// The file with a host's last answer to `query`, "inbox" or "list": {"at": time, "reply": the reply}.
std::filesystem::path answer_file(const std::filesystem::path& home, const std::string& host, const std::string& query);

/// The text of hosts.yml; empty if there is no such file.
Result<std::string> text_in(const std::filesystem::path& home);
Result<std::vector<Host>> read_hosts(const std::filesystem::path& home);

/// Reads the text of hosts.yml: a host is one line, `NAME: {ssh: TARGET, program: PATH, deadline: SECONDS}`, or a line
/// `NAME:` with its keys in the lines below it. YAML that is written in another way is refused. The client would need a
/// library for it, which each of its starts had to load. An error names file and line, and what a line looks like.
Result<std::vector<Host>> parse_hosts(std::string_view text, const std::string& file);

/// Checks a host that was parsed or is about to be added. An error (invalid_argument) says what is wrong with it.
Result<void> check_host(const Host& host);
bool is_host_name(std::string_view text);

/// not_found names the command that adds a host.
Result<Host> host_named(const std::vector<Host>& hosts, const std::string& name, const std::string& file);

/// The file's text with one more host, and without one that stands in it.
std::string with_host(std::string text, const Host& host);
std::string without_host(std::string_view text, const Host& host);

}  // namespace orange::hosts

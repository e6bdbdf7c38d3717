#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

/// A person's other machines (docs/hosts.md): their names, and how `orange` is called there through ssh.
namespace orange::hosts {

struct Host {
    std::string name;
    std::string ssh;                           ///< ssh's target: a name of ~/.ssh/config, or user@machine
    std::string program = "orange";            ///< path of orange on the host; `~/` is the home there
    std::chrono::seconds deadline{1};          ///< the time of `--everywhere` for an answer
    std::size_t first_line = 0, end_line = 0;  ///< the host's lines in the file, starting at 0
};

/// Returns hosts.yml in ORANGE_HOME.
std::filesystem::path file_in(const std::filesystem::path& home);

/// Returns the file with a host's last answer to `query`, "inbox" or "list": {"at": time, "reply": the reply}.
std::filesystem::path answer_file(const std::filesystem::path& home, const std::string& host, const std::string& query);

/// Returns the text of hosts.yml; empty if there is no such file.
Result<std::string> text_in(const std::filesystem::path& home);
/// Reads hosts.yml; no hosts if there is no such file.
Result<std::vector<Host>> read_hosts(const std::filesystem::path& home);

/// Parses the text of hosts.yml. A host is one line, `NAME: {ssh: TARGET, program: PATH, deadline: SECONDS}`, or a line
/// `NAME:` with its keys on the lines below. Other forms of YAML are refused, because they would need a library that
/// every start of the client has to load. An error names the file and the line, and shows a correct line.
Result<std::vector<Host>> parse_hosts(std::string_view text, const std::string& file);

/// Checks a host that was parsed or is to be added. invalid_argument says what is wrong.
Result<void> check_host(const Host& host);
bool is_host_name(std::string_view text);

/// Returns the host of that name; not_found contains the command that adds a host.
Result<Host> host_named(const std::vector<Host>& hosts, const std::string& name, const std::string& file);

/// Returns the file's text with one more host, and without one of its hosts.
std::string with_host(std::string text, const Host& host);
std::string without_host(std::string_view text, const Host& host);
/// Returns the file's text in which the host, with its lines there, is written as it is now.
std::string with_host_changed(std::string_view text, const Host& host);

}  // namespace orange::hosts

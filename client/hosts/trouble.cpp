#include "client/hosts/ssh.hpp"

#include "common/base/text.hpp"

// Explains an ssh that failed.
namespace orange::hosts {
namespace {

constexpr int k_not_executable = 126, k_not_found = 127, k_of_ssh = 255;

/// Returns the last line that is not empty.
std::string last_line(std::string_view messages) {
    std::string last;
    for (const auto line : split_lines(messages)) {
        if (!trim(line).empty()) last = printable(trim(line));
    }
    return last;
}

}  // namespace

Said json_in(std::string_view out) {
    Said said;
    for (const auto line : split_lines(out)) {
        const auto at = line.starts_with('{') ? 0 : line.find("{\"");
        auto json = at == std::string_view::npos ? Result<Json>(Error()) : parse_json(line.substr(at));
        if (json) {
            said.noise += std::string(line.substr(0, at));
            said.json = std::move(*json);
            return said;
        }
        said.noise += std::string(line) + "\n";
    }
    return said;
}

std::string about_noise(const std::string& noise) {
    return "before the answer the shell there prints \"" + printable(first_line(noise)) +
           "\", which spoils the output of --json; let its start-up file (such as ~/.bashrc) print only in a terminal";
}

Error link_ended(const Host& host) {
    return {ErrorCode::unavailable,
            host.name +
                ": the connection was lost, because ssh was killed here\nWhat had begun there may go on. Look "
                "again with:\n  orange host test " +
                host.name,
            {{"host", host.name}}};
}

std::optional<Error> trouble_of(const Host& host, int status, std::string_view messages) {
    const auto says = [&](std::string_view words) { return messages.find(words) != std::string_view::npos; };
    const auto about = [&](ErrorCode code, const std::string& text) {
        return Error(code, host.name + ": " + text, {{"host", host.name}, {"ssh", last_line(messages)}});
    };
    const auto by_hand = "\n  ssh " + shell_word(host.ssh);
    if (status == k_not_found || status == k_not_executable) {
        return about(ErrorCode::not_found,
                     "the shell there ended with status " + std::to_string(status) + "\nIf it did not find " +
                         printable(host.program) +
                         ": it reads no profile, so name the program's path in hosts.yml, as in\n  " + host.name +
                         ": {ssh: " + printable(host.ssh) + ", program: ~/.local/bin/orange}");
    }
    if (status != k_of_ssh) return std::nullopt;
    if (says("REMOTE HOST IDENTIFICATION HAS CHANGED")) {
        return about(ErrorCode::forbidden,
                     "the machine shows another host key than before\nFind out why before you accept it. ssh says what "
                     "it knows:" +
                         by_hand);
    }
    if (says("Host key verification failed")) {
        return about(ErrorCode::forbidden,
                     "its host key is not known on this machine\nConnect once by hand, and compare the key:" + by_hand);
    }
    if (says("Permission denied")) {
        return about(ErrorCode::forbidden,
                     "it accepts none of your keys, and no password can be typed here\nCopy a key to it, or load "
                     "yours with ssh-add:\n  ssh-copy-id " +
                         shell_word(host.ssh));
    }
    const auto said = last_line(messages);
    return about(ErrorCode::unavailable,
                 (said.empty() ? "ssh did not connect, or the connection was lost" : "ssh says: " + said) +
                     "\nWhat had begun there may go on. Look again with:\n  orange host test " + host.name);
}

}  // namespace orange::hosts

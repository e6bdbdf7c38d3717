#include "client/hosts/hosts_file.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "common/base/suggest.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::hosts {
namespace {

using Pair = std::pair<std::string, std::string>;

constexpr std::size_t k_longest_name = 40;
constexpr std::int64_t k_longest_deadline = 60;

/// Removes a quoted text from the beginning of `rest` and returns it.
std::optional<std::string> take_quoted(std::string_view& rest) {
    const char quote = rest.front();
    std::string text;
    for (std::size_t i = 1; i < rest.size(); ++i) {
        const char next = i + 1 < rest.size() ? rest[i + 1] : '\0';
        const bool escaped =
            quote == '\'' ? rest[i] == '\'' && next == '\'' : rest[i] == '\\' && (next == '"' || next == '\\');
        if (escaped) {
            text += rest[++i];
        } else if (rest[i] == quote) {
            rest.remove_prefix(i + 1);
            return text;
        } else {
            text += rest[i];
        }
    }
    return std::nullopt;
}

/// Removes a value from the beginning of `rest`, up to one of `ends`, a comment or the end, and returns it.
std::optional<std::string> take_value(std::string_view& rest, std::string_view ends) {
    if (!rest.empty() && (rest.front() == '"' || rest.front() == '\'')) return take_quoted(rest);
    const auto end = std::min({rest.find_first_of(ends), rest.find(" #"), rest.size()});
    const auto value = std::string(trim(rest.substr(0, end)));
    rest.remove_prefix(end);
    return value;
}

bool ends_here(std::string_view rest) {
    rest = trim(rest);
    return rest.empty() || rest.front() == '#';
}

/// Removes "key:" and the blanks behind it from the beginning of `rest`, and returns the key.
std::optional<std::string> take_key(std::string_view& rest) {
    const auto colon = rest.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    auto key = std::string(trim(rest.substr(0, colon)));
    rest.remove_prefix(colon + 1);
    if (!rest.empty() && rest.front() != ' ') return std::nullopt;
    rest = trim(rest);
    return key;
}

/// Returns the pairs of "{a: b, c: d}"; nothing for another form.
std::optional<std::vector<Pair>> take_map(std::string_view rest) {
    std::vector<Pair> pairs;
    rest.remove_prefix(1);
    for (rest = trim(rest); !rest.starts_with('}'); rest = trim(rest)) {
        auto key = take_key(rest);
        auto value = key ? take_value(rest, ",}") : std::nullopt;
        if (!value) return std::nullopt;
        pairs.emplace_back(std::move(*key), std::move(*value));
        rest = trim(rest);
        if (rest.starts_with(',')) {
            rest.remove_prefix(1);
        } else if (!rest.starts_with('}')) {
            return std::nullopt;
        }
    }
    if (!ends_here(rest.substr(1))) return std::nullopt;
    return pairs;
}

Result<void> set(Host& host, const Pair& pair) {
    const auto& [key, value] = pair;
    if (key == "ssh") {
        host.ssh = value;
    } else if (key == "program") {
        host.program = value;
    } else if (key == "deadline") {
        std::int64_t seconds = 0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
        if (error != std::errc{} || end != value.data() + value.size()) seconds = 0;
        host.deadline = std::chrono::seconds(seconds);  // check_host() refuses 0
    } else {
        return {ErrorCode::invalid_argument,
                "a host has no \"" + printable(key) + "\"" + suggestion(key, {"ssh", "program", "deadline"})};
    }
    return {};
}

class Reader {
  public:
    explicit Reader(std::string_view text) : lines_(split_lines(text)) {}

    /// Parses the text. An error has no place yet: line() returns where it was found.
    Result<std::vector<Host>> read() {
        for (at_ = 0; at_ < lines_.size(); ++at_) {
            const auto line = lines_[at_];
            if (ends_here(line) || trim(line) == "---") continue;
            const bool indented = line.front() == ' ';
            if (auto taken = indented ? take_detail(line) : take_host(line); !taken) return taken.error();
        }
        TRY(finish());
        return std::move(hosts_);
    }
    std::size_t line() const { return std::min(at_, lines_.size() - 1) + 1; }

  private:
    static Error other_form() { return {ErrorCode::invalid_argument, "this is not how a host is written"}; }
    Result<void> finish() {
        if (hosts_.empty()) return {};
        return check_host(hosts_.back());
    }
    Result<void> take_host(std::string_view line) {
        TRY(finish());
        auto name = take_key(line);
        if (!name) return other_form();
        const auto same = std::ranges::find(hosts_, *name, &Host::name);
        if (same != hosts_.end()) {
            return {ErrorCode::conflict, "line " + std::to_string(same->first_line + 1) + " has a host \"" +
                                             printable(*name) + "\", too; rename one of them"};
        }
        Host host;
        host.name = host.ssh = std::move(*name);
        host.first_line = at_;
        host.end_line = at_ + 1;
        hosts_.push_back(std::move(host));
        if (ends_here(line)) return {};
        const auto pairs = line.front() == '{' ? take_map(line) : std::nullopt;
        if (!pairs) return other_form();
        for (const auto& pair : *pairs) TRY(set(hosts_.back(), pair));
        return {};
    }
    Result<void> take_detail(std::string_view line) {
        auto rest = trim(line);
        auto key = take_key(rest);
        auto value = key ? take_value(rest, "") : std::nullopt;
        if (hosts_.empty() || !value || !ends_here(rest)) return other_form();
        hosts_.back().end_line = at_ + 1;
        return set(hosts_.back(), {std::move(*key), std::move(*value)});
    }

    std::vector<std::string_view> lines_;
    std::size_t at_ = 0;
    std::vector<Host> hosts_;
};

/// Returns a value as it is written into the file.
std::string value_text(const std::string& value) {
    constexpr std::string_view k_plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@:~";
    const bool plain = value.find_first_not_of(k_plain) == std::string::npos && value.front() != '-';
    if (plain && value != "~") return value;
    std::string text = "\"";
    for (const char c : value) text += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
    return text + "\"";
}

}  // namespace

std::filesystem::path file_in(const std::filesystem::path& home) {
    return home / "hosts.yml";
}

bool is_host_name(std::string_view text) {
    const auto is_word = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    };
    return !text.empty() && text.size() <= k_longest_name && is_word(text.front()) &&
           std::ranges::all_of(text, [&](char c) { return is_word(c) || c == '.' || c == '_' || c == '-'; });
}

Result<void> check_host(const Host& host) {
    const auto refused = [&](const std::string& why) {
        return Error(ErrorCode::invalid_argument, "host \"" + printable(host.name) + "\": " + why);
    };
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    if (!is_host_name(host.name)) {
        return refused(
            "a name has 1 to 40 letters, digits, dots, \"-\" and \"_\", and begins with a letter or a digit");
    }
    if (host.ssh.empty() || host.ssh.front() == '-' || std::ranges::any_of(host.ssh, is_control) ||
        host.ssh.find(' ') != std::string::npos) {
        return refused("ssh is a name of ~/.ssh/config or user@machine, not \"" + printable(host.ssh) + "\"");
    }
    if (host.program.empty() || host.program.front() == '-' || std::ranges::any_of(host.program, is_control)) {
        return refused("program is the path of orange there, not \"" + printable(host.program) + "\"");
    }
    if (host.deadline.count() < 1 || host.deadline.count() > k_longest_deadline) {
        return refused("deadline is a number of seconds from 1 to " + std::to_string(k_longest_deadline));
    }
    return {};
}

std::filesystem::path answer_file(const std::filesystem::path& home, const std::string& host,
                                  const std::string& query) {
    return home / "cache" / "hosts" / (host + "." + query + ".json");
}

Result<std::string> text_in(const std::filesystem::path& home) {
    const auto file = file_in(home);
    std::error_code error;
    const auto kind = std::filesystem::symlink_status(file, error).type();
    if (kind == std::filesystem::file_type::not_found) return std::string();
    std::ostringstream text;
    std::ifstream in(file);
    if (std::filesystem::is_regular_file(file, error) && in) text << in.rdbuf();
    if (in && !in.bad()) return text.str();
    return {ErrorCode::io,
            "cannot read the list of hosts, " + file.string() + "\n  ls -l " + shell_word(file.string())};
}

Result<std::vector<Host>> read_hosts(const std::filesystem::path& home) {
    TRY(const auto text, text_in(home));
    return parse_hosts(text, file_in(home).string());
}

Result<std::vector<Host>> parse_hosts(std::string_view text, const std::string& file) {
    Reader reader(text);
    auto hosts = reader.read();
    if (hosts) return hosts;
    auto error = in_context(file + ":" + std::to_string(reader.line()), hosts.error());
    error.message += "\nA host is a line of the file, such as:\n  box: {ssh: me@box.example.org}";
    return error;
}

Result<Host> host_named(const std::vector<Host>& hosts, const std::string& name, const std::string& file) {
    const auto found = std::ranges::find(hosts, name, &Host::name);
    if (found != hosts.end()) return *found;
    std::vector<std::string> names;
    for (const auto& host : hosts) names.push_back(host.name);
    return {ErrorCode::not_found, file + " has no host \"" + printable(name) + "\"" +
                                      (names.empty() ? "" : suggestion(name, names)) + "\n  orange host add " +
                                      (is_host_name(name) ? name : "NAME") + " me@machine"};
}

std::string with_host(std::string text, const Host& host) {
    if (!text.empty() && text.back() != '\n') text += '\n';
    text += host.name + ": {ssh: " + value_text(host.ssh);
    if (host.program != Host().program) text += ", program: " + value_text(host.program);
    if (host.deadline != Host().deadline) text += ", deadline: " + std::to_string(host.deadline.count());
    return text + "}\n";
}

std::string without_host(std::string_view text, const Host& host) {
    const auto lines = split_lines(text);
    std::string rest;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (i < host.first_line || i >= host.end_line) rest += std::string(lines[i]) + "\n";
    }
    return rest;
}

std::string with_host_changed(std::string_view text, const Host& host) {
    const auto lines = split_lines(text);
    std::string changed;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (i == host.first_line) changed = with_host(std::move(changed), host);
        if (i < host.first_line || i >= host.end_line) changed += std::string(lines[i]) + "\n";
    }
    return changed;
}

}  // namespace orange::hosts

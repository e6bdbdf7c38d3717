#include "daemon/shim/event.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "common/model/json.hpp"

namespace orange::shim {
namespace {

constexpr std::size_t k_longest_line = 4000;
constexpr std::size_t k_longest_text = 300;
constexpr std::size_t k_most_read = 16 * 1024 * 1024;
constexpr off_t k_largest_file = 1024 * 1024;

std::string text_of(const Json& object) {
    const auto text = text_member(object, "command");
    return (text.empty() ? line_of(object) : text).substr(0, k_longest_text);
}

std::string hash_of(Json object) {
    if (object.contains("command")) object.erase("description");
    return sha256(line_of(object)).substr(0, 32);
}

}  // namespace

std::string all_of_stdin() {
    std::string text;
    char buffer[16 * 1024];
    for (;;) {
        const auto got = ::read(STDIN_FILENO, buffer, sizeof buffer);
        if (got <= 0) return text;
        if (text.size() < k_most_read) text.append(buffer, static_cast<std::size_t>(got));
    }
}

std::string line_of(const Json& object) {
    return object.dump(-1, ' ', true, Json::error_handler_t::replace);
}

void append_line(const char* file, const std::string& line, bool may_empty) {
    const int out = ::open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (out < 0) return;
    struct stat facts {};
    const bool is_full = may_empty && ::fstat(out, &facts) == 0 && facts.st_size > k_largest_file;
    if (!is_full || ::ftruncate(out, 0) == 0) {
        const auto text = line + "\n";
        [[maybe_unused]] const auto written = ::write(out, text.data(), text.size());
    }
    ::close(out);
}

std::string event_line(const std::vector<std::string>& words, std::string_view object) {
    const auto equals = words.size() == 1 ? words.front().find('=') : std::string::npos;
    const bool is_member = equals != std::string::npos;
    if (!words.empty() && !is_member) return printable(join(words, " ")).substr(0, k_longest_line);
    const auto said = Json::parse(object, nullptr, false);
    if (!said.is_object() && !is_member) return {};
    Json kept = Json::object();
    const auto name = is_member ? words.front().substr(0, equals) : std::string();
    if (is_member) kept[name] = words.front().substr(equals + 1);
    if (!said.is_object()) return line_of(kept);
    for (const auto& [member, value] : said.items()) {
        if (is_member && member == name) continue;
        if (value.is_array()) kept[member] = value.size();
        if (value.is_object()) {
            kept[member] = text_of(value);
            kept[member + "_hash"] = hash_of(value);
        }
        if (value.is_string()) {
            const auto text = value.get<std::string>();
            kept[member] = text.starts_with('/') ? text : text.substr(0, k_longest_text);
        }
        if (line_of(kept).size() > k_longest_line) {
            kept.erase(member);
            kept.erase(member + "_hash");
        }
    }
    return line_of(kept);
}

int write_event(const char* file, const std::vector<std::string>& words) {
    const bool is_read = words.empty() || (words.size() == 1 && words.front().find('=') != std::string::npos);
    const auto line = event_line(words, is_read ? all_of_stdin() : std::string());
    if (line.empty()) return 0;
    append_line(file, line, true);
    return 0;
}

}  // namespace orange::shim

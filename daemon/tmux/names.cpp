#include "daemon/tmux/names.hpp"

#include <algorithm>

#include "common/base/text.hpp"

namespace orange {
namespace {

constexpr std::size_t k_fields = 9;  // of k_pane_format, before the title
constexpr std::size_t k_longest_name = 200;
constexpr std::size_t k_longest_word = 4096;
constexpr std::size_t k_longest_session_name = 60;

bool is_safe(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '/' ||
           c == '-';
}

bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
}

/// Returns the title, or nothing if the text is a request to the terminal. tmux takes an APC sequence for a title:
/// claude asks for graphics in that way (Kitty's protocol, "Gi=31,s=1,…").
std::string as_title(std::string_view text) {
    const bool graphics = text.size() > 2 && text[0] == 'G' && text[1] >= 'a' && text[1] <= 'z' && text[2] == '=';
    return graphics ? std::string() : std::string(text);
}

}  // namespace

namespace tmux {

Result<void> check_name(std::string_view what, std::string_view name) {
    const bool good = !name.empty() && name.size() <= k_longest_name && name.front() != '-' &&
                      std::all_of(name.begin(), name.end(), is_safe);
    if (good) return {};
    return Error(ErrorCode::invalid_argument,
                 "\"" + printable(name) + "\" cannot be a tmux " + std::string(what) + "'s name");
}

Result<void> check_argv(const std::vector<std::string>& argv) {
    const auto bad = [](const std::string& word) {
        return word.empty() || word.size() >= k_longest_word || word.back() == ';' ||
               std::any_of(word.begin(), word.end(), is_control);
    };
    if (argv.size() >= 2 && std::none_of(argv.begin(), argv.end(), bad)) return {};
    return Error(ErrorCode::invalid_argument, "a tmux window's command is two or more plain words");
}

bool is_id(std::string_view id, std::string_view kinds) {
    return id.size() >= 2 && id.size() <= 12 && kinds.find(id.front()) != std::string_view::npos &&
           std::all_of(id.begin() + 1, id.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<PaneInfo> pane_from(std::string_view line) {
    const auto fields = split(line, ' ');
    if (fields.size() < k_fields) return std::nullopt;
    const auto server = whole_number(fields[0]), pid = whole_number(fields[4]);
    if (!server || !pid || !is_id(fields[1], "$") || !is_id(fields[2], "@") || !is_id(fields[3], "%") ||
        !fields[8].starts_with(':')) {
        return std::nullopt;
    }
    PaneInfo pane;
    pane.ref.server_pid = *server;
    pane.ref.session_id = fields[1];
    pane.ref.window_id = fields[2];
    pane.ref.pane_id = fields[3];
    pane.ref.pid = *pid;
    pane.dead = fields[5] == "1";
    pane.session_name = fields[6];
    pane.window_name = fields[7];
    pane.command = fields[8].substr(1);
    std::size_t title = 0;
    for (std::size_t i = 0; i < k_fields; ++i) title += fields[i].size() + 1;
    if (title <= line.size()) pane.title = as_title(line.substr(title));
    return pane;
}

std::string without_padding(std::string_view captured, std::size_t most) {
    std::vector<std::string_view> kept;
    for (const auto line : split_lines(captured)) kept.push_back(line.substr(0, line.find_last_not_of(' ') + 1));
    while (!kept.empty() && kept.back().empty()) kept.pop_back();
    if (most > 0 && kept.size() > most) kept.erase(kept.begin(), kept.end() - static_cast<std::ptrdiff_t>(most));
    std::string text;
    for (const auto line : kept) (text += line) += '\n';
    return text;
}

PaneView view_from(std::string_view printed) {
    const auto next_line = [&printed] {
        const auto end = printed.find('\n');
        const auto line = printed.substr(0, end);
        printed.remove_prefix(end == std::string_view::npos ? printed.size() : end + 1);
        return line;
    };
    PaneView view;
    auto head = next_line();
    std::int64_t numbers[4] = {};  // lines, the cursor's line, and when the session began and was last used
    for (auto& each : numbers) {
        const auto end = head.find(' ');
        each = whole_number(head.substr(0, end)).value_or(0);
        head.remove_prefix(end == std::string_view::npos ? head.size() : end + 1);
    }
    const auto [rows, cursor, created, used] = numbers;
    if (cursor >= 0 && cursor < rows) view.cursor = static_cast<std::size_t>(cursor);
    view.title = as_title(head);
    if (used > created) view.touched_at = Timestamp{std::chrono::seconds(used)};  // the start counts as a use
    for (std::int64_t i = 0; i < rows && !printed.empty(); ++i) view.styled.append(next_line()).append("\n");
    view.screen = without_padding(printed, 0);
    return view;
}

std::optional<TmuxClient> client_from(std::string_view line) {
    const auto fields = split(line, ' ');
    if (fields.size() != 3 || !fields[0].starts_with("/dev/")) return std::nullopt;
    const auto used = whole_number(fields[2]);
    if (!used) return std::nullopt;
    return TmuxClient{std::string(fields[0]), std::string(fields[1]), Timestamp{std::chrono::seconds(*used)}};
}

std::string displayable(std::string_view text) {
    std::string line;
    for (const char c : typeable(text)) {
        line += c;
        if (c == '#' || c == '%') line += c;  // tmux expands formats, #(commands) and times
    }
    if (line.ends_with(';')) line += ' ';  // otherwise ';' would end the command
    return line;
}

std::string typeable(std::string_view text) {
    const bool utf8 = is_valid_utf8(text);
    std::string line;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte == '\n' || byte == '\r' || byte == '\t') {
            if (!line.empty() && line.back() != ' ') line += ' ';
        } else if (byte == 0xC2 && utf8 && static_cast<unsigned char>(text[i + 1]) < 0xA0) {
            ++i;  // C1, two bytes in UTF-8
        } else if (!is_control(text[i]) && (utf8 || byte < 0x80)) {
            line += text[i];
        }
    }
    return std::string(trim(line));
}

}  // namespace tmux

std::string session_name_for(std::string_view project, std::string_view branch) {
    auto name = std::string(project) + "/" + std::string(branch);
    for (char& c : name) {
        if (!is_safe(c)) c = '-';
    }
    if (name.front() == '-') name.front() = '_';
    return name.substr(0, k_longest_session_name);
}

}  // namespace orange

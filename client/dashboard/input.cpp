#include "client/dashboard/input.hpp"

#include <charconv>
#include <map>

#include "client/dashboard/cells.hpp"
#include "common/base/text.hpp"

namespace orange::dashboard {
namespace {

constexpr char k_escape = '\x1b';
constexpr std::string_view k_paste_end = "\x1b[201~";

Input key_input(std::string name) {
    return {Input::What::key, std::move(name)};
}

/// Returns the key for the last byte of "ESC [ … X" and "ESC O X".
std::string key_by_final(char final) {
    static const std::map<char, const char*> names = {{'A', "Up"},   {'B', "Down"}, {'C', "Right"}, {'D', "Left"},
                                                      {'H', "Home"}, {'F', "End"},  {'Z', "S-Tab"}, {'M', "Enter"},
                                                      {'P', "F1"},   {'Q', "F2"},   {'R', "F3"},    {'S', "F4"}};
    const auto found = names.find(final);
    return found == names.end() ? "" : found->second;
}

std::string key_by_number(int number) {
    static const std::map<int, const char*> names = {
        {1, "Home"}, {3, "Delete"}, {4, "End"},  {5, "PageUp"}, {6, "PageDown"}, {7, "Home"}, {8, "End"},
        {11, "F1"},  {12, "F2"},    {13, "F3"},  {14, "F4"},    {15, "F5"},      {17, "F6"},  {18, "F7"},
        {19, "F8"},  {20, "F9"},    {21, "F10"}, {23, "F11"},   {24, "F12"}};
    const auto found = names.find(number);
    return found == names.end() ? "" : found->second;
}

int number_of(std::string_view text) {
    int number = -1;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

/// Replaces CR by a newline: terminals send the line ends of pasted text as CR, like Enter.
std::string with_plain_line_ends(const std::string& text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\r') {
            plain += text[i];
        } else if (i + 1 == text.size() || text[i + 1] != '\n') {
            plain += '\n';
        }
    }
    return plain;
}

/// Parses "<button;column;row" with M (pressed) or m.
void add_mouse(std::vector<Input>& out, std::string_view parameters, bool pressed) {
    const auto parts = split(parameters.substr(1), ';');
    if (parts.size() != 3) return;
    const int button = number_of(parts[0]), column = number_of(parts[1]), row = number_of(parts[2]);
    if (button < 0 || column < 1 || row < 1) return;
    Input input;
    input.column = column - 1;
    input.row = row - 1;
    if (button == 64 || button == 65) {
        input.what = button == 64 ? Input::What::wheel_up : Input::What::wheel_down;
    } else if (button == 0 && pressed) {
        input.what = Input::What::click;
    } else {
        return;
    }
    out.push_back(std::move(input));
}

}  // namespace

std::vector<Input> Decoder::decode(std::string_view bytes, Time now) {
    std::vector<Input> out;
    last_ = now;
    buffer_ += bytes;
    if (lone_escape_ && now - *lone_escape_ < k_rest && !buffer_.empty() && (buffer_[0] == '[' || buffer_[0] == 'O')) {
        buffer_.insert(buffer_.begin(), k_escape);
    }
    lone_escape_.reset();
    parse(out);
    return out;
}

std::optional<Decoder::Time> Decoder::deadline() const {
    if (buffer_.empty()) return std::nullopt;
    return last_ + (buffer_.size() == 1 && buffer_[0] == k_escape ? delay_ : k_rest);
}

std::vector<Input> Decoder::expire(Time now) {
    std::vector<Input> out;
    const auto due = deadline();
    if (!due || now < *due) return out;
    if (buffer_.size() == 1 && buffer_[0] == k_escape) {
        buffer_.clear();
        lone_escape_ = now;
        out.push_back(key_input("Esc"));
        return out;
    }
    if (pasting_) {  // bytes that looked like the beginning of its end are pasted text
        last_ = now;
        return out;
    }
    buffer_.clear();  // the rest of the sequence did not come
    return out;
}

void Decoder::parse(std::vector<Input>& out) {
    while (!buffer_.empty()) {
        if (pasting_) {
            const auto end = buffer_.find(k_paste_end);
            if (end == std::string::npos) {
                // The end of the buffer may be half of the end mark.
                const auto keep = std::min(buffer_.size(), k_paste_end.size() - 1);
                paste_.append(buffer_, 0, buffer_.size() - keep);
                buffer_.erase(0, buffer_.size() - keep);
                if (paste_.size() > k_longest_paste) paste_.resize(k_longest_paste);
                return;
            }
            paste_.append(buffer_, 0, end);
            if (paste_.size() > k_longest_paste) paste_.resize(k_longest_paste);
            buffer_.erase(0, end + k_paste_end.size());
            pasting_ = false;
            out.push_back({Input::What::paste, with_plain_line_ends(std::exchange(paste_, {}))});
        } else if (buffer_[0] == k_escape) {
            if (!parse_escape(out)) return;
        } else {
            const auto size = buffer_.size();
            plain(out);
            if (buffer_.size() == size) return;  // half a character
        }
    }
}

/// Parses an escape sequence; false if it is incomplete.
bool Decoder::parse_escape(std::vector<Input>& out) {
    if (buffer_.size() == 1) return false;
    switch (buffer_[1]) {
        case '[':
            return parse_csi(out, 2);
        case 'O': {
            if (buffer_.size() < 3) return false;
            if (auto name = key_by_final(buffer_[2]); !name.empty()) out.push_back(key_input(std::move(name)));
            buffer_.erase(0, 3);
            return true;
        }
        case ']':
        case 'P':
        case '_':
        case '^':
        case 'X':
            return skip_string(2);
        case k_escape:  // Esc, followed by another sequence
            buffer_.erase(0, 1);
            out.push_back(key_input("Esc"));
            return true;
        default:  // Alt and a key, which has no binding
            buffer_.erase(0, 1);
            {
                std::vector<Input> dropped;
                const auto size = buffer_.size();
                plain(dropped);
                if (buffer_.size() == size) buffer_.erase(0, 1);
            }
            return true;
    }
}

bool Decoder::parse_csi(std::vector<Input>& out, std::size_t begin) {
    auto end = begin;
    while (end < buffer_.size() && buffer_[end] >= 0x20 && buffer_[end] < 0x40) ++end;
    if (end == buffer_.size()) return false;
    const char final = buffer_[end];
    const auto parameters = buffer_.substr(begin, end - begin);
    buffer_.erase(0, end + 1);
    if (final == '~' && parameters == "200") {
        pasting_ = true;
        paste_.clear();
    } else if ((final == 'M' || final == 'm') && parameters.starts_with('<')) {
        add_mouse(out, parameters, final == 'M');
    } else if (parameters.empty() || (final >= 'A' && final <= 'S' && parameters.starts_with("1;"))) {
        // A key with a modifier counts as the key itself, because no modifiers are bound.
        if (auto name = key_by_final(final); !name.empty() && (parameters.empty() || final < 'M'))
            out.push_back(key_input(std::move(name)));
    } else if (final == '~') {
        const auto name = key_by_number(number_of(parameters));
        if (!name.empty()) out.push_back(key_input(name));
    }
    return true;
}

/// Skips a string (OSC, DCS …) to its end, BEL or ESC \; false if it is incomplete.
bool Decoder::skip_string(std::size_t begin) {
    for (auto at = begin; at < buffer_.size(); ++at) {
        if (buffer_[at] == '\a') {
            buffer_.erase(0, at + 1);
            return true;
        }
        if (buffer_[at] == k_escape && at + 1 < buffer_.size() && buffer_[at + 1] == '\\') {
            buffer_.erase(0, at + 2);
            return true;
        }
    }
    return false;
}

void Decoder::plain(std::vector<Input>& out) {
    const auto byte = static_cast<unsigned char>(buffer_[0]);
    if (byte >= 0x80) {
        const std::size_t wanted = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
        if (byte >= 0xC2 && byte < 0xF5 && buffer_.size() < wanted) return;
        std::size_t at = 0;
        const auto point = next_point(buffer_, at);
        if (point != 0xFFFD && width_of(point) >= 0) out.push_back(key_input(buffer_.substr(0, at)));
        buffer_.erase(0, at);
        return;
    }
    buffer_.erase(0, 1);
    if (byte == '\r' || byte == '\n') return out.push_back(key_input("Enter"));
    if (byte == '\t') return out.push_back(key_input("Tab"));
    if (byte == 0x7F || byte == 0x08) return out.push_back(key_input("Backspace"));
    if (byte == 0 || (byte > 26 && byte < 0x20)) return;
    if (byte < 0x20) return out.push_back(key_input(std::string("C-") + static_cast<char>('a' + byte - 1)));
    out.push_back(key_input(std::string(1, static_cast<char>(byte))));
}

}  // namespace orange::dashboard

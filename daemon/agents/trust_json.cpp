#include "common/model/json.hpp"
#include "daemon/agents/trust_text.hpp"

namespace orange::agents {
namespace {

constexpr std::string_view k_blanks = " \t\r\n";

struct Member {
    std::string key;
    std::size_t begin = 0;  ///< of the value
    std::size_t end = 0;
};

struct Object {
    std::size_t open = 0;
    std::size_t close = 0;
    std::vector<Member> members;
};

/// Finds its way in a text that is known to be JSON.
class Walker {
  public:
    explicit Walker(std::string_view text) : text_(text) {}

    std::size_t after_blanks(std::size_t at) const {
        const auto found = text_.find_first_not_of(k_blanks, at);
        return found == std::string_view::npos ? text_.size() : found;
    }

    Object object_at(std::size_t open) const {
        Object object;
        object.open = open;
        auto at = after_blanks(open + 1);
        while (at < text_.size() && text_[at] != '}') {
            Member member;
            const auto key_end = end_of_string(at);
            member.key = Json::parse(text_.substr(at, key_end - at)).get<std::string>();
            member.begin = after_blanks(after_blanks(key_end) + 1);  // past the colon
            member.end = end_of_value(member.begin);
            at = after_blanks(member.end);
            object.members.push_back(std::move(member));
            if (at < text_.size() && text_[at] == ',') at = after_blanks(at + 1);
        }
        object.close = at;
        return object;
    }

  private:
    std::size_t end_of_string(std::size_t at) const {
        for (++at; at < text_.size() && text_[at] != '"'; ++at) {
            if (text_[at] == '\\') ++at;
        }
        return at + 1;
    }

    std::size_t end_of_value(std::size_t at) const {
        if (text_[at] == '"') return end_of_string(at);
        if (text_[at] != '{' && text_[at] != '[') {
            const auto end = text_.find_first_of(" \t\r\n,}]", at);
            return end == std::string_view::npos ? text_.size() : end;
        }
        int depth = 0;
        while (at < text_.size()) {
            const char c = text_[at];
            if (c == '"') {
                at = end_of_string(at);
                continue;
            }
            if (c == '{' || c == '[') ++depth;
            if (c == '}' || c == ']') --depth;
            ++at;
            if (depth == 0) break;
        }
        return at;
    }

    std::string_view text_;
};

/// What stands before the first key: the file's unit of indentation. Empty where all is on one line.
std::string indentation_of(std::string_view text) {
    const auto line = text.find('\n');
    if (line == std::string_view::npos) return {};
    const auto key = text.find_first_not_of(" \t", line + 1);
    return key == std::string_view::npos || key == line + 1 ? std::string("  ")
                                                            : std::string(text.substr(line + 1, key - line - 1));
}

class Writer {
  public:
    explicit Writer(std::string_view text)
        : unit_(indentation_of(text)), many_lines_(text.find('\n') != std::string_view::npos) {}

    std::string line(std::size_t depth) const {
        std::string out = many_lines_ ? "\n" : "";
        for (std::size_t i = 0; many_lines_ && i < depth; ++i) out += unit_;
        return out;
    }
    /// `"a": {"b": value}` for the names from `first` on, as members of an object at that depth.
    std::string member(const std::vector<std::string>& path, std::size_t first, const std::string& value) const {
        auto out = Json(path[first]).dump() + (many_lines_ ? ": " : ":");
        if (first + 1 == path.size()) return out + value;
        return out + "{" + line(first + 2) + member(path, first + 1, value) + line(first + 1) + "}";
    }

  private:
    std::string unit_;
    bool many_lines_;
};

Error not_json(const std::string& why) {
    return Error(ErrorCode::invalid_argument, why);
}

}  // namespace

Result<KeyEdit> json_with_key(std::string_view text, const std::vector<std::string>& path, const std::string& value) {
    KeyEdit edit;
    edit.text = text;
    const auto parsed = Json::parse(text, nullptr, false);
    if (!parsed.is_object()) return not_json("is no JSON object; nothing was changed");
    const Walker walker(text);
    auto object = walker.object_at(walker.after_blanks(0));
    for (std::size_t depth = 0; depth < path.size(); ++depth) {
        const Member* found = nullptr;
        for (const auto& member : object.members) {
            if (member.key == path[depth]) found = &member;  // of two, readers take the last
        }
        if (!found) {
            const Writer writer(text);
            const auto member = writer.member(path, depth, value);
            if (object.members.empty()) {
                edit.text.replace(object.open + 1, object.close - object.open - 1,
                                  writer.line(depth + 1) + member + writer.line(depth));
            } else {
                edit.text.insert(object.members.back().end, "," + writer.line(depth + 1) + member);
            }
            return edit;
        }
        const auto there = text.substr(found->begin, found->end - found->begin);
        if (depth + 1 == path.size()) {
            const bool same = Json::parse(there) == Json::parse(value);
            edit.state = same ? KeyState::there : KeyState::different;
            edit.found = there;
            return edit;
        }
        if (!there.starts_with('{'))
            return not_json("has a \"" + path[depth] + "\" that is no object; change it there");
        object = walker.object_at(found->begin);
    }
    return edit;
}

}  // namespace orange::agents

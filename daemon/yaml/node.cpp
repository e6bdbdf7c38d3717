#include "daemon/yaml/node.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <set>
#include <sstream>

#include "common/base/text.hpp"

namespace orange::yaml {
namespace {

constexpr std::size_t k_max_bytes = 1 << 20;
constexpr std::size_t k_max_depth = 64;
constexpr std::size_t k_max_copied_nodes = 10'000;

/// Thrown to leave yaml-cpp's parser from within an event; only parse() catches it.
struct Refused {
    Place place;
    std::string why;
};

struct Extent {
    std::size_t nodes = 0, bytes = 0;
};

void measure(const Node& node, Extent& extent) {
    ++extent.nodes;
    extent.bytes += node.scalar.size();
    for (const auto& item : node.items) measure(item, extent);
    for (const auto& [key, value] : node.members) {
        extent.bytes += key.size();
        measure(value, extent);
    }
}

std::size_t height_of(const Node& node) {
    std::size_t height = 0;
    for (const auto& item : node.items) height = std::max(height, height_of(item));
    for (const auto& [key, value] : node.members) height = std::max(height, height_of(value));
    return node.is_sequence() || node.is_map() ? height + 1 : 0;
}

/// Converts yaml-cpp's places, which count bytes, into characters, which people and editors count.
class Lines {
  public:
    explicit Lines(std::string_view text) : lines_(split_lines(text)) {}

    /// Continues from the previous place, because a file may be one long line with a value at every second byte.
    Place place(const YAML::Mark& mark) {
        if (mark.is_null()) return {};
        const auto line = static_cast<std::size_t>(mark.line);
        if (line >= lines_.size()) return {mark.line + 1, mark.column + 1};
        const auto text = lines_[line];
        const auto byte = std::min(static_cast<std::size_t>(mark.column), text.size());
        if (line != line_) line_ = line, byte_ = 0, columns_ = 0;
        if (byte >= byte_) {
            columns_ += columns_of(text.substr(byte_, byte - byte_));
        } else {
            columns_ -= columns_of(text.substr(byte, byte_ - byte));
        }
        byte_ = byte;
        return {mark.line + 1, static_cast<int>(columns_) + 1};
    }

  private:
    std::vector<std::string_view> lines_;
    std::size_t line_ = 0, byte_ = 0, columns_ = 0;  ///< the last place
};

/// Builds the tree from the parser's events. Unlike YAML::Node they show places and aliases, and parsing can stop as
/// soon as a limit is exceeded.
class Builder final : public YAML::EventHandler {
  public:
    Builder(Lines& lines, Anchors anchors) : lines_(lines), allowed_(anchors == Anchors::allowed) {}

    Node take() { return std::move(root_); }

    /// The innermost open bracket, '[' or '{'.
    struct Bracket {
        Place place;
        char opening;
    };
    std::optional<Bracket> open_bracket() const {
        for (auto level = open_.rbegin(); level != open_.rend(); ++level) {
            if (level->in_brackets) return Bracket{level->node.place, level->node.is_map() ? '{' : '['};
        }
        return std::nullopt;
    }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (documents_++ > 0) throw Refused{lines_.place(mark), "only one document is allowed in a file"};
    }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        Node node;
        node.place = lines_.place(mark);
        finish(std::move(node), anchor);
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto place = lines_.place(mark);
        const auto found = anchors_.find(anchor);
        if (found == anchors_.end()) throw Refused{place, "an alias inside of what it stands for"};
        count_copy(found->second, place);
        if (open_.size() + height_of(found->second) > k_max_depth) throw Refused{place, too_deep()};
        Node copy = found->second;
        copy.place = place;
        finish(std::move(copy), 0);
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        Node node;
        node.kind = Node::Kind::scalar;
        node.place = lines_.place(mark);
        check_tag(tag, node.place);
        node.scalar = value;
        // yaml-cpp passes "!" for quoted and block scalars, and "?" or "" for plain ones.
        node.quoted = tag == "!" || tag == "tag:yaml.org,2002:str";
        finish(std::move(node), anchor);
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value style) override {
        open(Node::Kind::sequence, mark, tag, anchor, style);
    }
    void OnSequenceEnd() override { close(); }

    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value style) override {
        open(Node::Kind::map, mark, tag, anchor, style);
    }
    void OnMapEnd() override { close(); }

  private:
    struct Open {
        Node node;
        YAML::anchor_t anchor = 0;
        bool in_brackets = false;
        std::optional<std::string> key;  ///< of a map: the key whose value comes next
        std::set<std::string> keys;
    };

    static std::string too_deep() { return "nested more than 64 levels deep"; }

    static void check_tag(const std::string& tag, const Place& place) {
        static const std::set<std::string> core{"",
                                                "?",
                                                "!",
                                                "tag:yaml.org,2002:str",
                                                "tag:yaml.org,2002:int",
                                                "tag:yaml.org,2002:float",
                                                "tag:yaml.org,2002:bool",
                                                "tag:yaml.org,2002:null",
                                                "tag:yaml.org,2002:seq",
                                                "tag:yaml.org,2002:map"};
        if (!core.contains(tag)) throw Refused{place, "the tag " + printable(tag) + " is not supported"};
    }

    void open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
              YAML::EmitterStyle::value style) {
        Open level;
        level.node.kind = kind;
        level.node.place = lines_.place(mark);
        level.anchor = anchor;
        level.in_brackets = style == YAML::EmitterStyle::Flow;
        check_tag(tag, level.node.place);
        if (open_.size() >= k_max_depth) throw Refused{level.node.place, too_deep()};
        open_.push_back(std::move(level));
    }

    void close() {
        Open level = std::move(open_.back());
        open_.pop_back();
        finish(std::move(level.node), level.anchor);
    }

    void finish(Node node, YAML::anchor_t anchor) {
        if (anchor != 0) keep(anchor, node);
        if (open_.empty()) {
            root_ = std::move(node);
            return;
        }
        Open& parent = open_.back();
        if (parent.node.is_sequence()) {
            parent.node.items.push_back(std::move(node));
        } else if (!parent.key) {
            begin_member(parent, node);
        } else {
            // The parser gives a missing value the place of the next token.
            if (node.is_null()) node.place = parent.node.member_places.back();
            parent.node.members.push_back(Member{std::move(*parent.key), std::move(node)});
            parent.key.reset();
        }
    }

    void keep(YAML::anchor_t anchor, const Node& node) {
        if (!allowed_) throw Refused{node.place, "anchors and aliases are not allowed here"};
        count_copy(node, node.place);
        anchors_.insert_or_assign(anchor, node);
    }

    /// Counts a copy. An anchor copies its node once for each enclosing anchor, and each alias copies the node again.
    void count_copy(const Node& node, const Place& place) {
        measure(node, copied_);
        if (copied_.nodes <= k_max_copied_nodes && copied_.bytes <= k_max_bytes) return;
        throw Refused{place, "anchors and aliases stand for more than 10,000 values or 1 MiB of text"};
    }

    static void begin_member(Open& map, const Node& key) {
        if (!key.is_scalar() && !key.is_null()) throw Refused{key.place, "a key must be a single word or text"};
        const std::string name = key.is_null() ? "null" : key.scalar;
        if (!map.keys.insert(name).second) {
            throw Refused{key.place, "the key \"" + printable(name) + "\" occurs twice"};
        }
        map.key = name;
        map.node.member_places.push_back(key.place);
    }

    Lines& lines_;
    bool allowed_;
    Node root_;
    std::vector<Open> open_;
    std::map<YAML::anchor_t, Node> anchors_;
    Extent copied_;
    int documents_ = 0;
};

Error error_at(std::string_view file_name, const Place& place, std::string_view why) {
    return {ErrorCode::invalid_argument,
            std::string(file_name) + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": " +
                std::string(why),
            {{"line", std::to_string(place.line)}, {"column", std::to_string(place.column)}}};
}

/// Finds bytes that yaml-cpp would read as another encoding, cut off, or drop.
std::optional<Refused> problem_of_bytes(std::string_view text) {
    if (text.size() > k_max_bytes) return Refused{{}, "the file is larger than 1 MiB"};
    int number = 0;
    for (const auto line : split_lines(text)) {
        ++number;
        if (!is_valid_utf8(line)) return Refused{{number, 1}, "not valid UTF-8"};
        for (std::size_t i = 0; i < line.size(); ++i) {
            const auto byte = static_cast<unsigned char>(line[i]);
            if (byte >= 0x20 || byte == '\t' || byte == '\r') continue;
            const int column = static_cast<int>(columns_of(line.substr(0, i))) + 1;
            return Refused{{number, column}, "a control character (" + printable(line.substr(i, 1)) + ")"};
        }
    }
    return std::nullopt;
}

/// Returns the place of a tab in the indentation of a line; the dashes of a list count as indentation.
std::optional<Place> tab_in_indentation(std::string_view text, int line) {
    const auto lines = split_lines(text);
    if (line < 0 || static_cast<std::size_t>(line) >= lines.size()) return std::nullopt;
    const auto indentation = lines[static_cast<std::size_t>(line)].substr(
        0, lines[static_cast<std::size_t>(line)].find_first_not_of(" \t-"));
    const auto tab = indentation.find('\t');
    if (tab == std::string_view::npos) return std::nullopt;
    return Place{line + 1, static_cast<int>(tab) + 1};
}

bool is_one_of(std::string_view text, std::initializer_list<const char*> all) {
    return std::find(all.begin(), all.end(), text) != all.end();
}

/// Explains frequent mistakes in Orange's words; other errors keep yaml-cpp's message.
Refused explained(const YAML::Exception& exception, std::string_view text, const Builder& builder, Lines& lines) {
    namespace messages = YAML::ErrorMsg;
    const auto& said = exception.msg;
    // yaml-cpp counts a tab as one column, so it may report only that a map, list or key does not fit its column.
    if (is_one_of(said, {messages::TAB_IN_INDENTATION, messages::MAP_VALUE, messages::END_OF_MAP, messages::END_OF_SEQ,
                         messages::BLOCK_ENTRY})) {
        if (const auto tab = tab_in_indentation(text, exception.mark.line))
            return {*tab, "a tab in the indentation; YAML allows only spaces there, so replace the tab with spaces"};
    }
    if (is_one_of(said, {messages::END_OF_SEQ_FLOW, messages::END_OF_MAP_FLOW, messages::FLOW_END})) {
        if (const auto bracket = builder.open_bracket()) {
            const std::string closing = bracket->opening == '[' ? "]" : "}";
            return {bracket->place, std::string("the ") + bracket->opening +
                                        " that opens here is not closed; add the missing " + closing};
        }
        return {lines.place(exception.mark),
                "a closing bracket without an opening one; put quotes around the text if it belongs to it"};
    }
    if (said == messages::MAP_VALUE) {
        return {lines.place(exception.mark),
                "a \":\" where no key can be; put quotes around a text that contains \": \", or correct the "
                "indentation of this line"};
    }
    return {lines.place(exception.mark), said};
}

}  // namespace

const Node* Node::find(std::string_view key) const {
    for (const auto& [name, value] : members) {
        if (name == key) return &value;
    }
    return nullptr;
}

Result<Node> parse(std::string_view text, std::string_view file_name, Anchors anchors) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    if (const auto problem = problem_of_bytes(text)) return error_at(file_name, problem->place, problem->why);
    Lines lines(text);
    Builder builder(lines, anchors);
    try {
        std::istringstream stream{std::string(text)};
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(builder)) {
        }
    } catch (const Refused& refused) {
        return error_at(file_name, refused.place, refused.why);
    } catch (const YAML::Exception& exception) {
        const auto refused = explained(exception, text, builder, lines);
        return error_at(file_name, refused.place, refused.why);
    }
    return builder.take();
}

}  // namespace orange::yaml

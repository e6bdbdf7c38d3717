#include "daemon/yaml/node.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <optional>
#include <set>
#include <sstream>

#include "common/base/text.hpp"

namespace orange::yaml {
namespace {

constexpr std::size_t k_max_bytes = 1 << 20;
constexpr std::size_t k_max_depth = 64;
constexpr std::size_t k_max_alias_nodes = 10'000;

/// Leaves yaml-cpp's parser from inside an event; caught in parse() only.
struct Refused {
    Place place;
    std::string why;
};

std::size_t node_count(const Node& node) {
    std::size_t count = 1;
    for (const auto& item : node.items) count += node_count(item);
    for (const auto& [key, value] : node.members) count += node_count(value);
    return count;
}

std::size_t height_of(const Node& node) {
    std::size_t height = 0;
    for (const auto& item : node.items) height = std::max(height, height_of(item));
    for (const auto& [key, value] : node.members) height = std::max(height, height_of(value));
    return node.is_sequence() || node.is_map() ? height + 1 : 0;
}

/// yaml-cpp counts bytes; people and editors count characters.
class Lines {
  public:
    explicit Lines(std::string_view text) : lines_(split_lines(text)) {}

    Place place(const YAML::Mark& mark) const {
        if (mark.is_null()) return {};
        const auto line = static_cast<std::size_t>(mark.line);
        if (line >= lines_.size()) return {mark.line + 1, mark.column + 1};
        const auto before = lines_[line].substr(0, static_cast<std::size_t>(mark.column));
        return {mark.line + 1, static_cast<int>(columns_of(before)) + 1};
    }

  private:
    std::vector<std::string_view> lines_;
};

/// Builds the tree from the parser's events, which tell places and aliases where YAML::Node would hide both, and can be
/// broken off as soon as a limit is passed.
class Builder final : public YAML::EventHandler {
  public:
    explicit Builder(const Lines& lines) : lines_(lines) {}

    Node take() { return std::move(root_); }

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
        alias_nodes_ += node_count(found->second);
        if (alias_nodes_ > k_max_alias_nodes) throw Refused{place, "aliases expand to more than 10,000 values"};
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
        // "!" is what yaml-cpp calls quoted and block scalars; a plain one is "?" or "".
        node.quoted = tag == "!" || tag == "tag:yaml.org,2002:str";
        finish(std::move(node), anchor);
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(Node::Kind::sequence, mark, tag, anchor);
    }
    void OnSequenceEnd() override { close(); }

    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(Node::Kind::map, mark, tag, anchor);
    }
    void OnMapEnd() override { close(); }

  private:
    struct Open {
        Node node;
        YAML::anchor_t anchor = 0;
        std::optional<std::string> key;  ///< of a map: read, and its value is awaited
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

    void open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
        Open level;
        level.node.kind = kind;
        level.node.place = lines_.place(mark);
        level.anchor = anchor;
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
        if (anchor != 0) anchors_.insert_or_assign(anchor, node);
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
            // The parser places a missing value at whatever comes next.
            if (node.is_null()) node.place = parent.node.member_places.back();
            parent.node.members.push_back(Member{std::move(*parent.key), std::move(node)});
            parent.key.reset();
        }
    }

    static void begin_member(Open& map, const Node& key) {
        if (!key.is_scalar() && !key.is_null()) throw Refused{key.place, "a key must be a single word or text"};
        const std::string name = key.is_null() ? "null" : key.scalar;
        if (!map.keys.insert(name).second) {
            throw Refused{key.place, "the key \"" + printable(name) + "\" is there twice"};
        }
        map.key = name;
        map.node.member_places.push_back(key.place);
    }

    const Lines& lines_;
    Node root_;
    std::vector<Open> open_;
    std::map<YAML::anchor_t, Node> anchors_;
    std::size_t alias_nodes_ = 0;
    int documents_ = 0;
};

Error error_at(std::string_view file_name, const Place& place, std::string_view why) {
    return {ErrorCode::invalid_argument,
            std::string(file_name) + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": " +
                std::string(why),
            {{"line", std::to_string(place.line)}, {"column", std::to_string(place.column)}}};
}

/// What yaml-cpp would take for another encoding, cut off, or swallow.
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

}  // namespace

const Node* Node::find(std::string_view key) const {
    for (const auto& [name, value] : members) {
        if (name == key) return &value;
    }
    return nullptr;
}

Result<Node> parse(std::string_view text, std::string_view file_name) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    if (const auto problem = problem_of_bytes(text)) return error_at(file_name, problem->place, problem->why);
    const Lines lines(text);
    Builder builder(lines);
    try {
        std::istringstream stream{std::string(text)};
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(builder)) {
        }
    } catch (const Refused& refused) {
        return error_at(file_name, refused.place, refused.why);
    } catch (const YAML::Exception& exception) {
        return error_at(file_name, lines.place(exception.mark), exception.msg);
    }
    return builder.take();
}

}  // namespace orange::yaml

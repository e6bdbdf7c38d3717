#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.hpp"

/// The only door to yaml-cpp: a document as plain values with their places in the file. Workflows, harnesses, config
/// and frontmatter are read through it.
namespace orange::yaml {

/// 1-based line and column in the file.
struct Place {
    int line = 1;
    int column = 1;
};

struct Member;

struct Node {
    enum class Kind { null, scalar, sequence, map };

    Kind kind = Kind::null;
    std::string scalar;                ///< of a scalar: its text
    bool quoted = false;               ///< written in quotes or as a block: a string even if it looks like a number
    std::vector<Node> items;           ///< of a sequence
    std::vector<Member> members;       ///< of a map, in the file's order
    std::vector<Place> member_places;  ///< of a map: where each key stands
    Place place;

    bool is_null() const { return kind == Kind::null; }
    bool is_scalar() const { return kind == Kind::scalar; }
    bool is_sequence() const { return kind == Kind::sequence; }
    bool is_map() const { return kind == Kind::map; }
    /// The member of that name, or nullptr.
    const Node* find(std::string_view key) const;
};

/// Named as a std::pair's are; not a pair, because clang 14 wants a pair's types complete within Node.
struct Member {
    std::string first;  ///< the key
    Node second;
};

enum class Anchors { allowed, refused };

/// Parses one document. Refused with line and column: syntax errors, duplicate keys, anchors and aliases that copy more
/// than 10,000 nodes or 1 MiB of text in all, nesting over 64 levels, tags other than the core ones. An empty text is a
/// null node.
Result<Node> parse(std::string_view text, std::string_view file_name, Anchors anchors = Anchors::allowed);

/// `text` as a double-quoted YAML scalar on one line; plain where that is safe and cannot be taken for anything else.
std::string scalar_text(std::string_view text);

}  // namespace orange::yaml

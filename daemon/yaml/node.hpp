#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.hpp"

/// The only user of yaml-cpp: parses a document into plain values with their places in the file. Workflows, harnesses,
/// the configuration and the frontmatter are read with it. Errors have line and column; hostile documents cannot use up
/// memory.
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
    std::string scalar;                ///< the text of a scalar
    bool quoted = false;               ///< written in quotes or as a block: a string even if it looks like a number
    std::vector<Node> items;           ///< the items of a sequence
    std::vector<Member> members;       ///< the members of a map, in the file's order
    std::vector<Place> member_places;  ///< the place of each key of a map
    Place place;

    bool is_null() const { return kind == Kind::null; }
    bool is_scalar() const { return kind == Kind::scalar; }
    bool is_sequence() const { return kind == Kind::sequence; }
    bool is_map() const { return kind == Kind::map; }
    /// Returns the member with that name; nullptr if there is none.
    const Node* find(std::string_view key) const;
};

/// Has the member names of std::pair, but is no pair: clang 14 would need the complete Node for that.
struct Member {
    std::string first;  ///< the key
    Node second;
};

enum class Anchors { allowed, refused };

/// Parses one document; an empty text is a null node. Errors with line and column: syntax errors, duplicate keys,
/// anchors and aliases that copy more than 10,000 nodes or 1 MiB of text in total, more than 64 levels, tags other than
/// the core ones.
Result<Node> parse(std::string_view text, std::string_view file_name, Anchors anchors = Anchors::allowed);

/// Returns `text` as a YAML scalar on one line: plain if that is safe and unambiguous, otherwise in double quotes.
std::string scalar_text(std::string_view text);

}  // namespace orange::yaml

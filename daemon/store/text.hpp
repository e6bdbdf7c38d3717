#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/engine/artifacts.hpp"
#include "daemon/store/sections.hpp"

namespace orange::store {

/// The body of a TASK.md and what follows from it, each computed once: the text is read, hashed and outlined once per
/// look, and then handed on. Never changes.
class Text {
  public:
    explicit Text(std::string body) : body_(std::move(body)) {}
    Text(const Text&) = delete;
    Text& operator=(const Text&) = delete;

    const std::string& body() const { return body_; }
    const std::string& hash() const;               ///< sha256()
    bool has_hash(const std::string& hash) const;  ///< is_hash_of()
    const engine::Artifacts& artifacts() const;
    const std::vector<Block>& blocks() const;
    const std::vector<std::size_t>& line_hashes() const;

  private:
    const std::string body_;
    mutable std::string hash_;
    mutable std::optional<engine::Artifacts> artifacts_;
    mutable std::optional<std::vector<Block>> blocks_;
    mutable std::optional<std::vector<std::size_t>> line_hashes_;
};

using TextPtr = std::shared_ptr<const Text>;

inline TextPtr text_of(std::string body) {
    return std::make_shared<const Text>(std::move(body));
}

inline bool are_same(const TextPtr& one, const TextPtr& other) {
    return one == other || (one && other && one->body() == other->body());
}

}  // namespace orange::store

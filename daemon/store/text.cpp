#include "daemon/store/text.hpp"

#include "common/base/sha256.hpp"
#include "daemon/store/line_merge.hpp"

namespace orange::store {

const std::string& Text::hash() const {
    if (hash_.empty()) hash_ = sha256(body_);
    return hash_;
}

bool Text::has_hash(const std::string& hash) const {
    return hash == this->hash() || (hash.size() != this->hash().size() && is_hash_of(hash, body_));
}

const engine::Artifacts& Text::artifacts() const {
    if (!artifacts_) artifacts_ = parse_sections(body_);
    return *artifacts_;
}

const std::vector<Block>& Text::blocks() const {
    if (!blocks_) blocks_ = blocks_of(body_);
    return *blocks_;
}

const std::vector<std::size_t>& Text::line_hashes() const {
    if (!line_hashes_) line_hashes_ = store::line_hashes(body_);
    return *line_hashes_;
}

}  // namespace orange::store

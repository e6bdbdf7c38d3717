#include "daemon/store/projections.hpp"

#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::store {
namespace {

constexpr std::size_t k_most = 4096;

/// Editors change line ends and trailing blanks without meaning anything by it.
std::string hash_of(std::string_view frontmatter) {
    std::string plain;
    for (const auto line : split_lines(frontmatter)) {
        const auto last = line.find_last_not_of(" \t");
        if (last != std::string_view::npos) plain.append(line.substr(0, last + 1)).append("\n");
    }
    return content_hash(plain);
}

}  // namespace

Result<void> Projections::load() {
    if (loaded_) return {};
    const auto content = files_->read(file_);
    if (!content && content.error().code != ErrorCode::not_found) return content.error();
    if (content) {
        for (const auto line : split_lines(*content)) hashes_.emplace(line);
    }
    loaded_ = true;
    return {};
}

Result<bool> Projections::is_known(std::string_view frontmatter) {
    TRY(load());
    return hashes_.contains(hash_of(frontmatter));
}

Result<void> Projections::remember(std::string_view frontmatter) {
    TRY(load());
    const auto hash = hash_of(frontmatter);
    if (hashes_.contains(hash)) return {};
    const bool start_over = hashes_.size() >= k_most;
    TRY(start_over ? files_->replace(file_, hash + "\n") : files_->append(file_, hash + "\n"));
    if (start_over) hashes_.clear();
    hashes_.insert(hash);
    return {};
}

}  // namespace orange::store

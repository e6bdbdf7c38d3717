#include "daemon/store/history_reader.hpp"

#include <algorithm>
#include <utility>

#include "common/model/json.hpp"
#include "daemon/store/history_chain.hpp"

namespace orange::store {
namespace {

constexpr std::size_t k_piece = 64 << 10, k_largest_piece = 1 << 20;

}  // namespace

Result<void> HistoryReader::fill() {
    // Larger pieces for longer lines, so that the bytes of a long line are moved and searched only a few times.
    const auto size = std::clamp(buffer_.size(), k_piece, k_largest_piece);
    const auto piece = files_.read_before(file_, from_, size);
    if (!piece && piece.error().code != ErrorCode::not_found) return piece.error();
    if (!piece || piece->bytes.empty()) {
        from_ = 0;
        return {};
    }
    if (read_ == 0) is_torn_ = piece->bytes.back() != '\n';
    if (buffer_.size() > k_longest) buffer_.clear();
    buffer_.insert(0, piece->bytes);
    unsearched_ = piece->bytes.size();
    read_ += piece->bytes.size();
    from_ = piece->from;
    return {};
}

Result<std::optional<std::string>> HistoryReader::next_line() {
    for (;;) {
        std::optional<std::string> line;
        const auto end = unsearched_ == 0 ? std::string::npos : buffer_.rfind('\n', unsearched_ - 1);
        unsearched_ = 0;
        if (end != std::string::npos) {
            line = buffer_.substr(end + 1);
            buffer_.resize(end);
            unsearched_ = end;
        } else if (from_ == 0) {
            line = std::exchange(buffer_, {});
            if (line->empty()) return std::optional<std::string>();
        } else if (auto filled = fill(); !filled) {
            return filled.error();
        }
        if (line && !line->empty()) return line;
    }
}

std::optional<HistoryEvent> event_from_line(std::string_view line) {
    const auto json = parse_json(line);
    if (!json) return std::nullopt;
    auto event = event_from_json(*json);
    if (!event) return std::nullopt;
    event->fields.erase(k_prev);
    return std::move(*event);
}

}  // namespace orange::store

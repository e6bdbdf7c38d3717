#include "daemon/store/history_reader.hpp"

#include <utility>

#include "common/model/json.hpp"

namespace orange::store {
namespace {

constexpr std::size_t k_piece = 64 * 1024;

}  // namespace

Result<void> HistoryReader::fill() {
    const auto piece = files_.read_before(file_, from_, k_piece);
    if (!piece && piece.error().code != ErrorCode::not_found) return piece.error();
    if (!piece || piece->bytes.empty()) {
        from_ = 0;
        return {};
    }
    if (buffer_.size() > k_longest) buffer_.clear();
    buffer_.insert(0, piece->bytes);
    read_ += piece->bytes.size();
    from_ = piece->from;
    return {};
}

Result<std::optional<std::string>> HistoryReader::next_line() {
    for (;;) {
        std::optional<std::string> line;
        if (const auto end = buffer_.rfind('\n'); end != std::string::npos) {
            line = buffer_.substr(end + 1);
            buffer_.resize(end);
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
    return std::move(*event);
}

}  // namespace orange::store

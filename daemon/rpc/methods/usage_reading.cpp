#include "daemon/rpc/methods/usage_reading.hpp"

#include <algorithm>

namespace orange::rpc {

UsageReading usage_reading(const std::vector<agents::UsageFile>& files, const RunUsage& usage) {
    UsageReading reading;
    for (const auto& file : files) {
        reading.files.push_back(
            {file.path, static_cast<std::int64_t>(file.offset), static_cast<std::int64_t>(file.size), file.records});
    }
    auto& sum = reading.sum;
    for (const auto& row : usage.rows) {
        sum.tokens += row.tokens;
        sum.money += row.money;
        const bool is_known = row.model.empty() || std::ranges::find(reading.models, row.model) != reading.models.end();
        if (!is_known) reading.models.push_back(row.model);
    }
    sum.counted = sum.tokens.counted();
    sum.doubtful = usage.is_doubtful ? 1 : 0;
    reading.is_told = sum.tokens.requests > 0;
    reading.window = usage.window;
    if (usage.read_at != Timestamp{}) reading.read_at = usage.read_at;
    return reading;
}

}  // namespace orange::rpc

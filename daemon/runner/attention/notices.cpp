#include "daemon/runner/attention/attention.hpp"

#include "daemon/runner/branch/branch.hpp"

namespace orange {

void raise(const World& world, TaskRecord& record, NoticeKind kind, std::string text, std::string command,
           std::string cause) {
    engine::raise(record, {kind, std::move(text), std::move(command), std::move(cause), world.clock.now()});
}

std::string way_out_of(std::string_view text, std::string otherwise) {
    constexpr std::string_view k_command = "\n  orange ";
    const auto at = text.rfind('\n');
    if (at == std::string_view::npos || !text.substr(at).starts_with(k_command)) return otherwise;
    return std::string(text.substr(at + 3));
}

std::vector<Notice> all_notices(const TaskRecord& record) {
    auto all = record.notices;
    const auto ack = "orange task ack " + record.task.id.value;
    if (auto text = programs_alarm(record); !text.empty()) {
        all.push_back({NoticeKind::git_config_changed, std::move(text), ack, {}, record.task.updated_at});
    }
    if (auto text = harness_alarm(record); !text.empty()) {
        all.push_back({NoticeKind::harness_changed, std::move(text), ack, {}, record.task.updated_at});
    }
    return all;
}

}  // namespace orange

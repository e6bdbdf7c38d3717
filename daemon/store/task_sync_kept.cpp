// TaskSync's fourth part: texts that go out of both copies, and are kept beside them.
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/files/file_facts.hpp"
#include "daemon/store/body_merge.hpp"
#include "daemon/store/lost_sections.hpp"
#include "daemon/store/task_file.hpp"
#include "daemon/store/task_sync.hpp"

namespace orange::store {
namespace {

constexpr std::size_t k_most_kept = 5;
constexpr std::size_t k_longest_list = 1000;

/// "20261120T104903.120Z": sorts by time, and every file system takes it.
std::string file_time(Timestamp time) {
    std::string text = to_rfc3339(time);
    std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
    return text;
}

}  // namespace

/// The same with half of a text: nobody can tell it from one that was shortened while no daemon ran, so it counts, and
/// what it no longer has is kept.
Result<void> TaskSync::keep_what_went(const std::optional<std::string>& known, const std::string& found) {
    if (now_.body || !known || without_lines_missing_in(found, *known) == *known) return {};
    TRY(keep("merged", *known));
    return prune("merged");
}

/// After a write was taken in: a section that went with it. The text before is kept, and the history tells. A write
/// without frontmatter comes from somebody who replaced the file unread (`cat >TASK.md`); what he did not know of is
/// put back.
Result<void> TaskSync::note_lost(const std::string& before, const std::string& written, bool in_mirror) {
    const auto lost = lost_sections(before, body_);
    if (lost.empty()) return {};
    TRY(auto kept, keep("replaced", before));
    TRY(prune("replaced"));
    bool put_back = false;
    if (!split_task_text(written).has_frontmatter) {
        auto whole = with_sections_back(before, body_, lost);
        put_back = whole != body_;
        body_ = std::move(whole);
    }
    HistoryEvent event;
    event.type = "section.lost";
    event.timestamp = clock_.now();
    event.fields["copy"] = std::string(in_mirror ? "mirror" : "own");
    event.fields["sections"] = ellipsized(join(lost, ", "), k_longest_list);
    event.fields["kept"] = kept.filename().string();
    event.fields["put_back"] = put_back;
    out_.events.push_back(std::move(event));
    return {};
}

Result<Path> TaskSync::keep(const std::string& kind, const std::string& text) {
    const auto name = "TASK.md." + kind + "-" + file_time(clock_.now());
    const auto folder = copies_.own.parent_path();
    for (int n = 1;; ++n) {
        const auto path = folder / (n == 1 ? name : name + "-" + std::to_string(n));
        auto created = files::create_new(files_, path, text);
        if (created) return path;
        if (created.error().code != ErrorCode::conflict) return created.error();
    }
}

/// Copies of texts that nobody decided against are many: the last ones are enough.
Result<void> TaskSync::prune(const std::string& kind) {
    const auto folder = copies_.own.parent_path();
    TRY(auto names, files_.list(folder));
    std::erase_if(names, [&](const std::string& name) { return !name.starts_with("TASK.md." + kind + "-"); });
    for (std::size_t i = 0; i + k_most_kept < names.size(); ++i) TRY(files_.remove(folder / names[i]));
    return {};
}

}  // namespace orange::store

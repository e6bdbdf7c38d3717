// The part of TaskSync that merges a save, and that keeps and tells what goes.
#include <algorithm>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/files/file_facts.hpp"
#include "daemon/store/task_file.hpp"
#include "daemon/store/task_sync.hpp"
#include "daemon/store/task_texts.hpp"

namespace orange::store {
namespace {

constexpr std::size_t k_longest_list = 1000;
constexpr std::size_t k_most_kept = 32;  ///< files of a task
constexpr std::size_t k_most_kept_bytes = 1 << 20;
constexpr int k_most_found = 8;
constexpr std::string_view k_review = "Review";
constexpr std::string_view k_of_worker[] = {"Plan", "Handoff", "Subtasks", "Questions"};

/// Returns a time as "20261120T104903.120Z", which sorts by time and is a valid name in every file system.
std::string file_time(Timestamp time) {
    std::string text = to_rfc3339(time);
    std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
    return text;
}

}  // namespace

/// Returns a body that was just read, as the text that is known already if it is the same.
TextPtr TaskSync::body_in(const CopyMemory& memory, std::string body) const {
    for (const auto* known : {&memory.body, &now_.body, &body_}) {
        if (*known && (*known)->body() == body) return *known;
    }
    return text_of(std::move(body));
}

bool TaskSync::lives(Role role) const {
    return std::ranges::any_of(record_.runs, [&](const AgentRun& run) { return run.role == role; });
}

/// The human owns all sections of the task's own copy that no agent owns. If no agent is known to live, the mirror's
/// last words are those of either.
bool TaskSync::owns(bool of_mirror, std::string_view heading) const {
    const bool is_workers = std::ranges::find(k_of_worker, heading) != std::end(k_of_worker);
    const bool is_review = heading == k_review || (!is_workers && copies_.verdicts.contains(heading));
    const bool is_asked_for = copies_.sections.contains(heading);
    if (!of_mirror) return !is_workers && !is_review && !is_asked_for;
    if (is_asked_for && !is_workers && !is_review) return true;
    if (is_workers) return lives(Role::worker) || !lives(Role::reviewer);
    return is_review && (lives(Role::reviewer) || !lives(Role::worker));
}

/// True for the sections of a reviewer: ## Review, and what else the workflow asks its agents for.
bool TaskSync::is_reviewers(std::string_view heading) const {
    const bool is_workers = std::ranges::find(k_of_worker, heading) != std::end(k_of_worker);
    return heading == k_review || (!is_workers && copies_.sections.contains(heading));
}

bool TaskSync::differs_in_review_alone(const Text& one, const Text& other) const {
    const auto others = [this](const Text& text) {
        std::vector<std::string_view> all;
        for (const auto& block : text.blocks()) {
            if (!is_reviewers(block.heading)) all.push_back(trim(block.text));
        }
        return all;
    };
    return others(one) == others(other);
}

/// A save that a loss of power has cut has removed nothing, and nobody goes on from it.
bool TaskSync::is_cut(const Edit& edit) const {
    return !now_.body && body_->body().ends_with('\n') && !edit.text->body().ends_with('\n');
}

Awaitable<Save> TaskSync::save_of(const Edit& edit) const {
    const auto& memory = memory_of(edit.of_mirror);
    auto stood = edit.counted ? edit.stood : memory.stood;
    if (edit.counted) stood.add(edit.counted->hash());
    Save save;
    save.text = edit.text;
    save.base = co_await bases_.nearest(stood, edit.text);
    // Only the reviewer writes its sections, and it knows what it wrote there before.
    const bool may_be_review = edit.of_mirror && !edit.counted && memory.body && lives(Role::reviewer);
    const bool is_review = may_be_review && differs_in_review_alone(*edit.text, *memory.body);
    if (is_review) save.base = memory.body;
    if (is_cut(edit)) save.base = nullptr;
    save.last = memory.saved;
    save.whole = edit.has_frontmatter;
    const bool are_two = edit.of_mirror && lives(Role::worker) && lives(Role::reviewer);
    // One of two agents may have read a text that is not remembered: then nobody knows whose lines are missing.
    const bool is_anybodys = are_two && !is_review && stood.dropped;
    save.owns = [this, of_mirror = edit.of_mirror, is_anybodys](std::string_view heading) {
        return !is_anybodys && owns(of_mirror, heading);
    };
    save.returned = &memory.returned;
    if (!are_two) save.added = &memory.added;
    save.may_keep = room_for_kept();
    co_return save;
}

Awaitable<Result<void>> TaskSync::take_in(Edit edit) {
    if (edit.counted) bases_.add(edit.counted);
    LineSet returned, added;
    const bool is_start = !edit.counted && !is_cut(edit);
    if (!are_same(edit.text, body_)) {
        const auto save = co_await save_of(edit);
        if (!are_same(save.base, edit.text)) {
            edited_ = true;
            auto merged = merge_save(*body_, save);
            CO_TRY(tell_removed(merged, edit.of_mirror));
            returned = std::move(merged.returned);
            added = std::move(merged.added);
            body_ = merged.body == edit.text->body() ? edit.text : body_in({}, std::move(merged.body));
        }
    }
    if (is_start) note_save(edit, std::move(returned), std::move(added));
    if (edit.counted) {  // its author may go on from it
        memory_of(edit.of_mirror).stood.add(edit.text->hash());
        bases_.add(edit.text);
    }
    co_return Result<void>{};
}

/// Notes a save of the text that stands in its place: the next one starts from it, or from what the daemon makes of it.
void TaskSync::note_save(const Edit& edit, LineSet returned, LineSet added) {
    auto& memory = memory_of(edit.of_mirror);
    const bool are_two = edit.of_mirror && lives(Role::worker) && lives(Role::reviewer);
    if (!are_two) memory.stood = {};
    memory.stood.add(edit.text->hash());
    bases_.add(edit.text);
    memory.saved = edit.text;
    returned.merge(missing_in(*edit.text, memory.returned));
    memory.returned = std::move(returned);
    memory.added.merge(added);
    const auto gone = missing_in(*body_, memory.added);
    std::erase_if(memory.added, [&](std::size_t line) { return gone.contains(line); });
}

/// Notes that the body stands in a copy, so that its next save may start from it.
void TaskSync::give(CopyMemory& memory) {
    if (!memory.body || (!memory.stood.hashes.empty() && memory.stood.hashes.back() == memory.body->hash())) return;
    memory.stood.add(memory.body->hash());
    bases_.add(memory.body);
    if (!memory.saved) memory.saved = memory.body;
}

/// Keeps the lines that went although they were another's, and tells both that and what was merged back.
void TaskSync::tell(const char* type, bool of_mirror, std::map<std::string, Scalar> fields) {
    fields["copy"] = std::string(of_mirror ? "mirror" : "own");
    out_.events.push_back({type, clock_.now(), std::move(fields)});
}

Result<void> TaskSync::tell_removed(const MergedSave& merged, bool of_mirror) {
    const auto names = [](const std::vector<std::string>& all) { return ellipsized(join(all, ", "), k_longest_list); };
    if (!merged.back.empty()) {
        tell("section.lost", of_mirror, {{"sections", names(merged.back)}, {"put_back", true}});
    }
    if (merged.gone.empty()) return {};
    TRY(const auto kept, keep(merged.kept));
    const auto file = kept.filename().string();
    tell("section.lost", of_mirror, {{"sections", names(merged.gone)}, {"put_back", false}, {"kept", file}});
    ask_for_attention(std::string(of_mirror ? "An edit in the worktree" : "An edit of the task's own TASK.md") +
                      " removed another author's lines of TASK.md (" + names(merged.gone) + "); they are kept as " +
                      kept.string());
    return {};
}

/// Kept texts have a bound: beyond it, lines are merged back however often they are removed.
std::size_t TaskSync::room_for_kept() const {
    const auto folder = copies_.own.parent_path();
    const auto names = files_.list(folder);
    std::size_t count = 0, bytes = 0;
    if (!names) return 0;
    for (const auto& name : *names) {
        if (!is_kept_text(name)) continue;
        const auto facts = files_.facts_of(folder / name);
        ++count;
        if (facts) bytes += static_cast<std::size_t>(facts->size);
    }
    return count >= k_most_kept || bytes >= k_most_kept_bytes ? 0 : k_most_kept_bytes - bytes;
}

Result<Path> TaskSync::keep(const std::string& text) {
    const auto name = std::string(k_kept_prefix) + file_time(clock_.now());
    const auto folder = copies_.own.parent_path();
    for (int n = 1;; ++n) {
        const auto path = folder / (name + (n == 1 ? "" : "-" + std::to_string(n)) + ".md");
        auto created = files::create_new(files_, path, text);
        if (created) kept_.push_back(path);
        if (created) return path;
        if (created.error().code != ErrorCode::conflict) return created.error();
    }
}

/// Moves what cannot be a TASK.md out of its place, unread. If there are many already, the last one is replaced.
Result<void> TaskSync::set_aside(const Path& path, bool of_mirror, const std::string& what) {
    const auto name_at = [](const Path& folder, int n) {
        return folder / (n == 1 ? std::string(k_found) : std::string(k_found) + "-" + std::to_string(n));
    };
    const auto folder = copies_.own.parent_path();
    int n = 1;
    while (n < k_most_found && !is_missing(files_, name_at(folder, n))) ++n;
    auto found = name_at(folder, n);
    if (n == k_most_found) TRY(files_.remove(found));
    auto moved = files::move_aside(path, found);
    if (!moved && of_mirror && moved.error().code != ErrorCode::not_found) {  // the worktree is on another disk
        found = name_at(path.parent_path(), 1);
        moved = files::move_aside(path, found);
    }
    if (!moved && moved.error().code == ErrorCode::not_found) return {};
    if (!moved) return moved;
    tell("task_file.moved", of_mirror, {{"was", what}, {"kept", found.filename().string()}});
    ask_for_attention(path.string() + " was " + what + "; Orange moved it, unread, to " + found.string() +
                      " and restored TASK.md");
    return {};
}

void TaskSync::note_large(const Side& side) {
    out_.unread = side.path.string() + " has more than " + std::to_string(k_largest_text >> 20) +
                  " MiB and is not read any more; move what is too much into a file of its own";
    if (side.memory->told_large) return;
    side.memory->told_large = true;
    tell("task_file.unread", side.is_mirror, {{"bytes", static_cast<std::int64_t>(side.facts->size)}});
}

void TaskSync::ask_for_attention(const std::string& why) {
    out_.attention = out_.attention ? *out_.attention + "; " + why : why;
}

}  // namespace orange::store

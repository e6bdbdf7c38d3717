// The first half of TaskSync: reads both copies and decides on the body.
#include "daemon/store/task_sync.hpp"

#include <algorithm>

#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/async/async.hpp"
#include "daemon/files/file_facts.hpp"
#include "daemon/files/writer_check.hpp"
#include "daemon/store/sections.hpp"
#include "daemon/store/task_file.hpp"
#include "daemon/store/task_texts.hpp"

namespace orange::store {
namespace {

using namespace std::chrono_literals;

constexpr auto k_patience = 250ms;  ///< the total time that a call waits for editors that are saving
constexpr auto k_step = 5ms;
constexpr auto k_gone_for = 100ms;  ///< an editor that deletes a copy creates it again within this time
constexpr int k_most_held_back = 40;
constexpr std::size_t k_most_written = 16;

std::string name_of(FileFacts::Kind kind) {
    if (kind == FileFacts::Kind::folder) return "a folder";
    return kind == FileFacts::Kind::link ? "a link" : "a pipe or a device";
}

}  // namespace

TaskSync::TaskSync(FileSystem& files, const Clock& clock, std::chrono::milliseconds keeps_displaced,
                   std::shared_ptr<TaskMemory> memory, TaskRecord record, Copies copies)
    : files_(files),
      clock_(clock),
      keeps_displaced_(keeps_displaced),
      memory_(std::move(memory)),
      now_(*memory_),
      record_(std::move(record)),
      copies_(std::move(copies)),
      bases_(files, copies_.own.parent_path(), now_.bases),
      patience_(async::now() + k_patience) {
    for (const auto* text : {&now_.body, &now_.own.body, &now_.own.saved, &now_.mirror.body, &now_.mirror.saved}) {
        if (*text) bases_.hold(*text);
    }
    out_.events = std::exchange(now_.untold, {});
    out_.attention = std::exchange(now_.untold_attention, {});
}

/// If the call failed before it wrote anything, drops its changes of the memory; the displaced files will be counted
/// again. If it has written, the memory keeps what it wrote, so that the next call does not take it for an edit.
TaskSync::~TaskSync() {
    if (succeeded_) return;
    if (wrote_) {
        for (auto& displaced : now_.displaced) displaced.counted_then = displaced.counted;
        now_.body = body_;
        for (auto& side : sides_) {
            side.memory->seen = side.facts;
            if (side.memory->body) side.memory->stood.add(side.memory->body->hash());
        }
        now_.untold = std::move(out_.events);
        now_.untold_attention = std::move(out_.attention);
        *memory_ = std::move(now_);
        return;
    }
    for (const auto& path : kept_) (void)files_.remove(path);  // the next call keeps it again
    for (auto& displaced : now_.displaced) {
        displaced.counted = displaced.counted_then;
        displaced.seen.reset();
    }
    memory_->displaced = std::move(now_.displaced);
    memory_->own.seen.reset();
    memory_->mirror.seen.reset();
}

Awaitable<Result<Synced>> TaskSync::run(bool retire_mirror, std::vector<SectionEdit> edits) {
    retires_ = retire_mirror;
    set_up();
    for (auto& side : sides_) {
        CO_TRY(sweep(side.path.parent_path()));
        CO_TRY(co_await look_at(side));
    }
    find_damaged();
    for (const auto& side : sides_) {
        if (side.counts()) CO_TRY(check_frontmatter(side.is_mirror, side.text));
    }
    const bool saved_again = std::ranges::any_of(sides_, [this](const Side& side) { return is_saved_again(side); });
    CO_TRY(co_await decide());
    CO_TRY(co_await count_displaced());
    note_rewritten(saved_again);
    edited_ = !body_->has_hash(record_.body_hash);
    for (const auto& edit : edits) {
        const auto with = edit.adds ? with_lines : with_section;
        body_ = text_of(with(body_->body(), edit.heading, edit.text));
    }
    CO_TRY(co_await write_all());
    for (auto& side : sides_) give(*side.memory);
    CO_TRY(sync_edited());
    if (retire_mirror) CO_TRY(co_await remove_mirror());
    CO_TRY(remove_displaced());
    co_return finish();
}

void TaskSync::set_up() {
    now_.own.path = copies_.own;
    sides_.push_back({false, copies_.own, &now_.own});
    if (!copies_.mirror || now_.mirror.path != *copies_.mirror) now_.mirror = {};
    if (!copies_.mirror) return;
    // If the worktree no longer exists, do not create its folder again just for a TASK.md.
    const auto folder = copies_.mirror->parent_path();
    const auto worktree = folder.filename() == ".orange" ? folder.parent_path() : folder;
    if (!is_folder(files_, worktree / ".")) return;
    now_.mirror.path = *copies_.mirror;
    sides_.push_back({true, *copies_.mirror, &now_.mirror});
}

Result<void> TaskSync::read(Side& side) {
    side.exists = side.held = side.damaged = false;
    side.text.clear();
    side.body.reset();
    note_facts(side);
    if (!side.facts) return {};
    if (side.facts->kind != FileFacts::Kind::file) {
        return set_aside(side.path, side.is_mirror, name_of(side.facts->kind));
    }
    if (side.facts->size > k_largest_text) return leave_large(side);
    return read_file(side);
}

Result<void> TaskSync::leave_large(Side& side) {
    if (!is_left_large(side)) return set_aside(side.path, side.is_mirror, "a file that is too large");
    side.exists = side.held = true;
    note_large(side);
    return {};
}

Result<void> TaskSync::read_file(Side& side) {
    auto content = files_.read(side.path);
    if (!content && content.error().code == ErrorCode::not_found) return {};
    if (!content && files::is_forbidden(side.path)) {
        return set_aside(side.path, side.is_mirror, "a file that may not be read");
    }
    if (!content) return content.error();
    side.memory->told_large = false;
    side.exists = true;
    side.text = std::move(*content);
    side.body = body_in(*side.memory, body_of(side.text));
    side.damaged = now_.body && is_blank(side.text);
    return {};
}

/// A text that is too large is left alone as long as its writer may go on with it.
bool TaskSync::is_left_large(const Side& side) const {
    return !side.is_mirror || (!retires_ && !record_.runs.empty());
}

/// Reads a copy. Waits for an editor that is saving: one that has deleted the copy and will create it again, has
/// created it and not written it, or has it open and half-written.
Awaitable<Result<void>> TaskSync::look_at(Side& side) {
    CO_TRY(read(side));
    const auto back_by = async::now() + k_gone_for;
    const auto is_away = [&] { return !side.exists || side.damaged; };
    while (is_away() && side.memory->body && async::now() < back_by) {
        co_await async::sleep(k_step);
        CO_TRY(read(side));
    }
    if (side.held || (side.counts() ? !is_edited(side) : !side.damaged)) co_return Result<void>{};
    CO_TRY(const auto left, co_await when_left(side.path, [this, &side] { return read(side); }));
    const bool is_cut = side.counts() && side.memory->body && seems_cut(side.text, side.memory->body->body());
    const bool looks_whole = left || !side.exists || !is_cut;
    if (looks_whole || side.held || ++now_.held_back > k_most_held_back) {
        now_.held_back = 0;
    } else {
        side.held = true;
        out_.unsettled = true;
    }
    co_return Result<void>{};
}

/// Calls `read` when no process has the file open for writing, and returns true. When the patience is used up, calls it
/// anyway and returns false.
Awaitable<Result<bool>> TaskSync::when_left(Path path, std::function<Result<void>()> read) {
    for (;;) {
        {
            const WriterCheck writers(path);
            const bool left = !writers.is_open_elsewhere();
            if (left || async::now() >= patience_) {
                CO_TRY(read());
                co_return left;
            }
        }
        co_await async::sleep(k_step);
    }
}

/// Marks blank copies as damaged. In the first call no body is known, and only the other copy can prove it.
void TaskSync::find_damaged() {
    const auto has_text = [](const Side& side) { return side.counts() && !is_blank(side.text); };
    if (std::ranges::none_of(sides_, has_text)) return;
    for (auto& side : sides_) side.damaged = side.damaged || (side.counts() && is_blank(side.text));
}

bool TaskSync::is_edited(const Side& side) const {
    const auto& shown = side.memory->body ? side.memory->body : now_.body;
    return shown ? !are_same(shown, side.body) : !side.body->has_hash(record_.body_hash);
}

/// Returns the last body that both copies had. A new daemon has its hash, and finds it in a copy that was not edited or
/// among the bases; null if it is in neither.
TextPtr TaskSync::known_body() {
    if (now_.body) return now_.body;
    TextPtr known;
    for (const auto& side : sides_) {
        if (side.counts() && side.body->has_hash(record_.body_hash)) known = side.body;
    }
    if (!known) known = bases_.find(record_.body_hash);
    if (!known) return nullptr;
    bases_.add(known);
    const auto stood = bases_.until(known->hash());
    for (const auto& side : sides_) {
        side.memory->stood = stood;
        side.memory->saved = known;
    }
    return known;
}

/// Takes the edits of both copies in, the older one first.
Awaitable<Result<void>> TaskSync::decide() {
    const auto known = known_body();
    std::vector<Side*> edited;
    for (auto& side : sides_) {
        side.edited = side.counts() && is_edited(side);
        if (side.edited) edited.push_back(&side);
    }
    if (edited.size() == 2 && edited[0]->facts->modified > edited[1]->facts->modified) {
        std::swap(edited[0], edited[1]);
    }
    if (edited.size() == 2 && is_blank(edited[0]->body->body())) edited.erase(edited.begin());
    if (!known && edited.empty() && !record_.body_hash.empty() && !is_hash_of(record_.body_hash, "")) {
        ask_for_attention("TASK.md is gone from " + copies_.own.parent_path().string() +
                          ", and no other copy was left");
    }
    body_ = known ? known : edited.empty() ? text_of("") : edited.back()->body;
    for (const auto* side : edited) {
        Edit edit{side->body, side->is_mirror, split_task_text(side->text).has_frontmatter};
        CO_TRY(co_await take_in(std::move(edit)));
    }
    for (auto& side : sides_) {
        if (side.counts()) side.memory->body = side.body;
    }
    co_return Result<void>{};
}

Result<void> TaskSync::check_frontmatter(bool of_mirror, const std::string& text) {
    const auto parts = split_task_text(text);
    if (is_blank(text)) return {};  // the file was truncated, and an editor is about to write it
    // Most often it is as the daemon wrote it, and the task may have changed since.
    const auto is_of = [&, fenced = "---\n" + parts.frontmatter + "---\n"](const Task& task) {
        return task.extra_frontmatter == record_.task.extra_frontmatter && frontmatter_of(task) == fenced;
    };
    const bool is_own = is_of(record_.task) || std::any_of(now_.written.rbegin(), now_.written.rend(), is_of);
    if (parts.has_frontmatter && is_own) return {};
    std::string refused = "all of it (there was no frontmatter)";
    if (parts.has_frontmatter && is_before_memory(parts.frontmatter)) return {};
    if (parts.has_frontmatter) {
        const auto unknown = unknown_fields(parts.frontmatter, record_.task);
        const auto extra = with_unknown_fields(record_.task.extra_frontmatter, unknown);
        if (extra != record_.task.extra_frontmatter) out_.extra_frontmatter = record_.task.extra_frontmatter = extra;
        refused = frontmatter_difference(record_.task, parts.frontmatter);
        // An agent may write back a text that it read a minute ago. Compare it with the frontmatters of that time, too,
        // so that only the agent's own edits are reported.
        for (const auto& task : now_.written) {
            auto against = frontmatter_difference(task, parts.frontmatter);
            if (against.size() < refused.size()) refused = std::move(against);
        }
    }
    if (refused.empty()) return {};
    tell("frontmatter.restored", of_mirror, {{"refused", refused}});
    return {};
}

/// Returns true for a frontmatter that is older than this daemon's memory: an edit of it cannot be recognized.
bool TaskSync::is_before_memory(const std::string& frontmatter) const {
    if (now_.written.empty() && record_.imported) return true;
    const auto found = task_from_frontmatter(frontmatter);
    if (!found) return false;
    return now_.written.empty() ? found->updated_at <= record_.task.updated_at
                                : found->updated_at < now_.written.front().updated_at;
}

void TaskSync::note_written() {
    if (!now_.written.empty() && now_.written.back() == record_.task) return;
    now_.written.push_back(record_.task);
    if (now_.written.size() > k_most_written) now_.written.pop_front();
}

/// Returns true if an agent has saved the mirror with an unchanged body, which only the file's time shows. The own copy
/// does not count, because a human who closes an editor need not have meant it.
bool TaskSync::is_saved_again(const Side& side) const {
    const auto& seen = side.memory->seen;
    return side.is_mirror && side.counts() && side.memory->body && seen && side.facts &&
           side.facts->modified != seen->modified && !is_edited(side);
}

void TaskSync::note_rewritten(bool saved_again) {
    if (!now_.body || (are_same(body_, now_.body) && !saved_again)) return;
    const auto &before = now_.body->artifacts().sections, &sections = body_->artifacts().sections;
    for (const auto& [heading, section] : sections) {
        const auto old = before.find(heading);
        const bool changed = old == before.end() || old->second.text != section.text;
        if (changed || are_same(body_, now_.body)) now_.rewritten[heading] = clock_.now();
    }
    std::erase_if(now_.rewritten, [&](const auto& each) { return !sections.contains(each.first); });
}

Synced TaskSync::finish() {
    for (auto& displaced : now_.displaced) displaced.counted_then = displaced.counted;
    for (auto& side : sides_) side.memory->seen = side.facts;
    std::vector<const Stood*> needed;
    if (!record_.ended) {
        needed = {&now_.own.stood, &now_.mirror.stood};
        for (const auto& displaced : now_.displaced) needed.push_back(&displaced.stood);
    }
    bases_.keep_only(needed);
    out_.rewritten = now_.rewritten;
    note_written();
    now_.body = body_;
    out_.text = body_;
    out_.body = body_->body();
    out_.body_hash = body_->hash();
    out_.body_changed = edited_;
    *memory_ = std::move(now_);
    succeeded_ = true;
    return std::move(out_);
}

}  // namespace orange::store

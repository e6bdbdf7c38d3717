#include "daemon/store/task_sync.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/async/async.hpp"
#include "daemon/files/file_facts.hpp"
#include "daemon/files/writer_check.hpp"
#include "daemon/store/body_merge.hpp"
#include "daemon/store/sections.hpp"
#include "daemon/store/sync_texts.hpp"
#include "daemon/store/task_file.hpp"

namespace orange::store {
namespace {

using namespace std::chrono_literals;

constexpr auto k_gone_for = 100ms;        ///< how long a deleted copy may be on its way back
constexpr auto k_stale = 3s;              ///< so long an editor may take between reading a copy and writing it back
constexpr std::size_t k_most_shown = 64;  ///< two a round of a race, and a late writer may have read any
constexpr std::size_t k_most_shown_bytes = 2 << 20;
constexpr std::size_t k_fewest_shown = 4;
constexpr int k_most_held_back = 40;

}  // namespace

TaskSync::TaskSync(FileSystem& files, ProcessRunner& processes, const Clock& clock,
                   std::chrono::milliseconds keeps_displaced, std::shared_ptr<TaskMemory> memory, TaskRecord record,
                   Copies copies)
    : files_(files),
      processes_(processes),
      clock_(clock),
      keeps_displaced_(keeps_displaced),
      memory_(std::move(memory)),
      now_(*memory_),
      record_(std::move(record)),
      copies_(std::move(copies)),
      patience_(async::now() + k_patience) {}

TaskSync::~TaskSync() {
    if (committed_) return;
    for (auto& displaced : now_.displaced) displaced.accounted = displaced.base;
    memory_->displaced = std::move(now_.displaced);
}

Awaitable<Result<Synced>> TaskSync::run(std::optional<SectionEdit> edit, bool retire_mirror) {
    set_up();
    for (auto& side : sides_) {
        CO_TRY(sweep(side.path.parent_path()));
        CO_TRY(co_await look(side));
    }
    find_damaged();
    for (const auto& side : sides_) {
        if (!side.exists || side.held || side.link || side.damaged) continue;
        CO_TRY(note_frontmatter(side, side.text));
    }
    CO_TRY(co_await decide());
    CO_TRY(co_await count_displaced());
    by_others_ = content_hash(body_) != record_.body_hash;
    if (edit) body_ = with_section(body_, edit->heading, edit->text);
    CO_TRY(co_await write_all());
    CO_TRY(sync_fresh());
    if (retire_mirror) CO_TRY(co_await retire());
    CO_TRY(co_await settle());
    if (retire_mirror && copies_.mirror && copies_.mirror->parent_path().filename() == ".orange") {
        std::error_code not_empty;
        std::filesystem::remove(copies_.mirror->parent_path(), not_empty);
    }
    co_return finish();
}

void TaskSync::set_up() {
    now_.own.path = copies_.own;
    sides_.push_back({false, copies_.own, &now_.own});
    if (!copies_.mirror || now_.mirror.path != *copies_.mirror) now_.mirror = {};
    if (!copies_.mirror) return;
    // A worktree that is gone must not come back as a folder with nothing but a TASK.md in it.
    const auto folder = copies_.mirror->parent_path();
    const auto worktree = folder.filename() == ".orange" ? folder.parent_path() : folder;
    if (!is_folder(files_, worktree / ".")) return;
    now_.mirror.path = *copies_.mirror;
    sides_.push_back({true, *copies_.mirror, &now_.mirror});
}

/// What a killed daemon left: displaced files that may hold somebody's last words, and unfinished ones.
Result<void> TaskSync::sweep(const Path& folder) {
    if (now_.swept.contains(folder)) return {};
    TRY(auto names, files_.list(folder));
    const bool is_own = folder == copies_.own.parent_path();
    for (const auto& name : names) {
        const auto path = folder / name;
        const bool is_ours = name.starts_with(".TASK.md.") || name.starts_with("..TASK.md.");
        if (name.ends_with(".tmp") && (is_ours || (is_own && name.starts_with('.')))) {
            TRY(files_.remove(path));
        } else if (name.starts_with(k_displaced)) {
            const auto same = [&](const Displaced& displaced) { return displaced.path == path; };
            if (std::any_of(now_.displaced.begin(), now_.displaced.end(), same)) continue;
            now_.displaced.push_back({path, {}, {}, false, false, true});
        }
    }
    now_.swept.insert(folder);
    return {};
}

Result<void> TaskSync::read(Side& side) {
    side.held = side.damaged = false;
    const auto facts = files_.facts_of(side.path);
    side.link = facts && facts->kind == FileFacts::Kind::link;
    TRY(auto content, read_any(files_, side.path));
    side.exists = side.link || content.has_value();
    side.text = content.value_or("");
    side.damaged = now_.body && side.counts() && is_blank(side.text);
    return {};
}

/// A file of nothing, or of zeros, is nobody's edit where a text is known: its editor has created or truncated it and
/// is about to write, or did not sync it before a loss of power. At the first look, only the other copy can know.
void TaskSync::find_damaged() {
    const auto has_text = [](const Side& side) { return side.counts() && !is_blank(side.text); };
    if (std::none_of(sides_.begin(), sides_.end(), has_text)) return;
    for (auto& side : sides_) side.damaged = side.damaged || (side.counts() && is_blank(side.text));
}

/// What is decided on a text must not outlive it: its editor may not have synced it, and after a loss of power an older
/// one in its place would pass for the newest edit.
Result<void> TaskSync::sync_fresh() {
    for (const auto& side : sides_) {
        if (!side.fresh) continue;
        TRY(files::make_durable(side.path));
    }
    return {};
}

bool TaskSync::is_news(const Side& side, const std::string& body) const {
    if (!side.memory->shown.empty()) return side.memory->shown.back().body != body;
    return now_.body ? *now_.body != body : content_hash(body) != record_.body_hash;
}

/// Reads a copy, with some patience for an editor that is saving right now: one that has deleted it and is about to
/// create it, that has created it and is about to write, or that has it open and half-written.
Awaitable<Result<void>> TaskSync::look(Side& side) {
    CO_TRY(read(side));
    const auto back_by = async::now() + k_gone_for;
    const auto is_away = [&] { return !side.exists || side.damaged; };
    while (is_away() && !side.memory->shown.empty() && async::now() < back_by) {
        co_await async::sleep(k_step);
        CO_TRY(read(side));
    }
    const bool is_right = side.counts() ? !is_news(side, body_of(side.text)) : !side.damaged;
    if (is_right) co_return Result<void>{};
    CO_TRY(auto left, co_await when_left(side.path, [this, &side] { return read(side); }));
    const auto& shown = side.memory->shown;
    const bool looks_whole = left || !side.exists || !seems_cut(side.text, shown.empty() ? "" : shown.back().body);
    if (looks_whole || ++now_.held_back > k_most_held_back) {
        now_.held_back = 0;
    } else {
        side.held = true;
        out_.unsettled = true;
    }
    co_return Result<void>{};
}

/// Calls `read` when nobody writes to the file, and keeps everybody from beginning meanwhile. If that takes too long,
/// it is called all the same, and the answer is false.
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

Awaitable<Result<void>> TaskSync::decide() {
    std::vector<Side*> news;
    std::optional<std::string> known = now_.body;
    for (auto& side : sides_) {
        if (!side.counts()) continue;
        const auto body = body_of(side.text);
        if (is_news(side, body)) {
            news.push_back(&side);
        } else if (!known) {
            known = body;
        }
    }
    if (news.size() == 2 && body_of(news[0]->text) != body_of(news[1]->text)) {
        const auto time = [this](const Side* side) {
            const auto facts = files_.facts_of(side->path);
            return facts ? facts->modified : decltype(facts->modified){};
        };
        if (time(news[0]) < time(news[1])) std::swap(news[0], news[1]);
        CO_TRY(co_await conflict(*news[0], *news[1]));
    }
    if (!known && news.empty() && !record_.body_hash.empty() && record_.body_hash != content_hash("")) {
        out_.attention = "TASK.md is gone from " + copies_.own.parent_path().string() + ", and no other copy was left";
    }
    body_ = known ? *known : news.empty() ? std::string{} : body_of(news[0]->text);
    for (auto* side : news) {
        // The loser of a conflict is kept aside; it has been shown all the same.
        const auto body = body_of(side->text);
        side->fresh = true;
        if (side != news[0]) show(*side->memory, body, false);
        if (side != news[0]) continue;
        CO_TRY(keep_what_went(known, body));
        auto text = side->text;
        CO_TRY(co_await absorb(*side, std::move(text), false));
    }
    for (auto& side : sides_) {
        if (side.counts()) show(*side.memory, body_of(side.text), false);
    }
    co_return Result<void>{};
}

Awaitable<Result<void>> TaskSync::conflict(Side& winner, Side& loser) {
    if (is_blank(body_of(loser.text))) co_return Result<void>{};
    CO_TRY(auto kept, keep("conflict", loser.text));
    HistoryEvent event;
    event.type = "body.conflict";
    event.timestamp = clock_.now();
    event.fields["stayed"] = std::string(winner.is_mirror ? "mirror" : "own");
    event.fields["kept"] = kept.filename().string();
    out_.events.push_back(std::move(event));
    out_.attention = "TASK.md was edited in two places at once; the older text is kept as " + kept.string();
    co_return Result<void>{};
}

Awaitable<Result<void>> TaskSync::absorb(Side& side, std::string text, bool in_a_race) {
    auto found = body_of(text);
    // What the copy's own editors do to each other is theirs; only where the daemon changed a body may somebody still
    // be working on the one before. Who is faster than this call may be working on any.
    std::vector<const std::string*> shown;
    const auto& all = side.memory->shown;
    for (auto entry = all.rbegin(); entry != all.rend(); ++entry) {
        shown.insert(shown.begin(), &entry->body);
        if (!entry->by_daemon && !in_a_race) break;
    }
    // A text without frontmatter was made from none of them: it is the whole, and note_lost() puts back what it left
    // out.
    const bool is_blind = !in_a_race && !split_task_text(text).has_frontmatter;
    std::string base = shown.empty() || is_blind ? body_ : likely_base(shown, found);
    show(*side.memory, found, false);
    const auto before = body_;
    CO_TRY(co_await merge_in(std::move(base), std::move(found)));
    co_return note_lost(before, text, side.is_mirror);
}

Awaitable<Result<void>> TaskSync::merge_in(std::string base, std::string other) {
    if (other == base || other == body_) co_return Result<void>{};
    by_others_ = true;
    if (body_ == base) {
        body_ = std::move(other);
        co_return Result<void>{};
    }
    CO_TRY(keep("merged", other));
    CO_TRY(prune("merged"));
    auto folder = copies_.own.parent_path();
    auto merged = co_await merge_bodies(files_, processes_, folder, body_, base, other);
    if (merged) {
        body_ = std::move(*merged);
        co_return Result<void>{};
    }
    CO_TRY(auto kept, keep("conflict", other));
    out_.attention = "TASK.md was edited in two places at once and could not be merged (" + merged.error().message +
                     "); the other text is kept as " + kept.string();
    co_return Result<void>{};
}

Result<void> TaskSync::note_frontmatter(const Side& side, const std::string& text) {
    const auto parts = split_task_text(text);
    if (is_blank(text)) return {};  // truncated, and about to be written
    if (parts.has_frontmatter && frontmatter_of(record_.task) == "---\n" + parts.frontmatter + "---\n") return {};
    TRY(auto known, now_.projections.is_known(parts.frontmatter));
    if (parts.has_frontmatter && known) return {};
    std::string refused = "all of it (there was no frontmatter)";
    if (parts.has_frontmatter) {
        const auto unknown = unknown_fields(parts.frontmatter, record_.task);
        const auto extra = with_unknown_fields(record_.task.extra_frontmatter, unknown);
        if (extra != record_.task.extra_frontmatter) out_.extra_frontmatter = record_.task.extra_frontmatter = extra;
        refused = frontmatter_difference(record_.task, parts.frontmatter);
        // It was made from one of those that were there lately: only what differs from that one was edited.
        for (const auto& task : now_.recent) {
            auto against = frontmatter_difference(task, parts.frontmatter);
            if (against.size() < refused.size()) refused = std::move(against);
        }
    }
    if (refused.empty()) return {};
    HistoryEvent event;
    event.type = "frontmatter.restored";
    event.timestamp = clock_.now();
    event.fields["copy"] = std::string(side.is_mirror ? "mirror" : "own");
    event.fields["refused"] = refused;
    out_.events.push_back(std::move(event));
    return {};
}

void TaskSync::show(CopyMemory& copy, const std::string& body, bool by_daemon) {
    const auto now = clock_.now();
    auto& shown = copy.shown;
    if (!shown.empty() && shown.back().body == body) return;
    shown.push_back({body, now, by_daemon});
    std::size_t bytes = 0;
    for (const auto& entry : shown) bytes += entry.body.size();
    // An entry was on show until its successor came.
    const auto is_too_much = [&] { return shown.size() > k_fewest_shown && bytes > k_most_shown_bytes; };
    while (shown.size() > k_most_shown || is_too_much() || (shown.size() > 1 && now - shown[1].since > k_stale)) {
        bytes -= shown.front().body.size();
        shown.erase(shown.begin());
    }
}

Synced TaskSync::finish() {
    for (auto& displaced : now_.displaced) displaced.base = displaced.accounted;
    now_.body = body_;
    out_.body = body_;
    out_.body_hash = content_hash(body_);
    out_.body_changed = by_others_;
    *memory_ = std::move(now_);
    committed_ = true;
    return std::move(out_);
}

}  // namespace orange::store

// The second half of TaskSync: writes both copies, and watches the files that this displaces.
#include <algorithm>

#include "common/base/ids.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/files/file_facts.hpp"
#include "daemon/files/writer_check.hpp"
#include "daemon/store/line_merge.hpp"
#include "daemon/store/task_file.hpp"
#include "daemon/store/task_sync.hpp"
#include "daemon/store/task_texts.hpp"

namespace orange::store {
namespace {

constexpr int k_most_rounds = 5;  ///< against a writer that never stops; the next call goes on
/// Each call looks at all displaced files of its task, so their number and size have a limit: enough for about a
/// quarter of a second of calls one after the other. Beyond it, the oldest goes early.
constexpr std::ptrdiff_t k_most_waiting = 256;
constexpr std::uintmax_t k_most_waiting_bytes = 16 << 20;
constexpr std::string_view k_displaced = ".TASK.md.orange-";
constexpr std::size_t k_hash_length = 16;

/// Returns a new name that contains the hash of the body, so that a later daemon sees if a process wrote to the file
/// afterwards.
std::string displaced_name(const Text& body) {
    return std::string(k_displaced) + body.hash().substr(0, k_hash_length) + "-" + random_id(10);
}

bool same(const FileFacts& a, const FileFacts& b) {
    return a.size == b.size && a.modified == b.modified;
}

}  // namespace

/// Finds the files that a killed daemon left: displaced ones, which are counted later, and temporary ones, which are
/// removed.
Result<void> TaskSync::sweep(const Path& folder) {
    if (now_.swept.contains(folder)) return {};
    TRY(const auto names, files_.list(folder));
    const bool is_own = folder == copies_.own.parent_path();
    for (const auto& name : names) {
        const auto path = folder / name;
        const bool is_ours = name.starts_with(".TASK.md.") || name.starts_with("..TASK.md.");
        if (is_own && bases_.note(name)) continue;
        if (name.ends_with(".tmp") && (is_ours || (is_own && name.starts_with('.')))) {
            TRY(files_.remove(path));
        } else if (name.starts_with(k_displaced)) {
            if (std::ranges::find(now_.displaced, path, &Displaced::path) != now_.displaced.end()) continue;
            Displaced found;
            found.path = copies_.own.parent_path() / name;
            if (is_own || !files::move_aside(path, found.path)) found.path = path;
            found.of_mirror = !is_own;
            found.leftover = true;
            found.since = async::now();
            now_.displaced.push_back(std::move(found));
        }
    }
    now_.swept.insert(folder);
    return {};
}

Awaitable<Result<void>> TaskSync::write_all() {
    for (int round = 0; round < k_most_rounds; ++round) {
        bool all_right = true;
        for (auto& side : sides_) {
            auto desired = task_text(record_.task, body_->body());
            if (side.held || (side.exists && side.text == desired)) continue;
            all_right = false;
            note_written();
            CO_TRY(co_await put(side, std::move(desired)));
        }
        written_ = all_right;
        if (all_right) co_return Result<void>{};
    }
    out_.unsettled = true;
    co_return Result<void>{};
}

void TaskSync::note_facts(Side& side) {
    const auto facts = files_.facts_of(side.path);
    side.facts = facts ? std::optional(*facts) : std::nullopt;
}

Awaitable<Result<void>> TaskSync::put(Side& side, std::string desired) {
    Result<void> done;
    if (side.exists) {
        done = co_await exchange(side, desired);
        if (done || done.error().code != ErrorCode::not_found) co_return done;
    } else {
        done = files::create_new(files_, side.path, desired);
        if (!done && done.error().code != ErrorCode::conflict) co_return done;
        if (done) {
            wrote_ = side.exists = true;
            note_facts(side);
            side.text = std::move(desired);
            side.body = side.memory->body = body_;
            co_return Result<void>{};
        }
    }
    // An editor deleted or created the copy meanwhile. The next round writes it.
    CO_TRY(co_await look_at(side));
    if (!side.counts()) co_return Result<void>{};
    CO_TRY(check_frontmatter(side.is_mirror, side.text));
    side.edited = side.edited || is_edited(side);
    if (is_edited(side)) {
        Edit edit{side.body, side.is_mirror, split_task_text(side.text).has_frontmatter};
        CO_TRY(co_await take_in(std::move(edit)));
    }
    side.memory->body = side.body;
    co_return Result<void>{};
}

Awaitable<Result<void>> TaskSync::exchange(Side& side, std::string desired) {
    const auto shown = side.memory->body ? side.memory->body : text_of("");
    const auto expected = side.damaged ? shown : side.body;
    const auto name = displaced_name(*expected);
    Displaced displaced;
    displaced.path = side.path.parent_path() / name;
    displaced.counted = displaced.counted_then = expected;
    displaced.stood = side.memory->stood;
    displaced.of_mirror = side.is_mirror;
    displaced.since = displaced.read_at = async::now();
    // If only the frontmatter changed, no sync is needed, because the record has it.
    const auto durability = are_same(expected, body_) ? Durability::atomic : Durability::synced;
    if (auto done = files_.exchange(side.path, desired, displaced.path, durability); !done) {
        // If only the sync failed, the exchange has happened: search the folder again, so that the displaced file is
        // found.
        if (files_.facts_of(displaced.path)) memory_->swept.erase(side.path.parent_path());
        co_return done;
    }
    // In the worktree, an agent could commit the file. If the worktree is on another disk, the file stays there.
    const auto place = copies_.own.parent_path() / name;
    if (side.is_mirror && files::move_aside(displaced.path, place)) {
        displaced.path = place;
        files::make_private(place);
    }
    wrote_ = true;
    note_facts(side);
    now_.displaced.push_back(std::move(displaced));
    side.text = std::move(desired);
    side.damaged = false;
    side.body = side.memory->body = body_;
    give(*side.memory);
    co_return co_await count_faster_editor(side, expected);
}

/// Reads the file that was just displaced: its editor may have saved after it was read.
Awaitable<Result<void>> TaskSync::count_faster_editor(Side& side, TextPtr expected) {
    const auto path = now_.displaced.back().path;
    std::optional<std::string> text;
    std::optional<FileFacts> facts;
    const auto read_it = [&]() -> Result<void> {
        const auto seen = files_.facts_of(path);
        if (!seen) return {};
        facts = *seen;
        if (seen->kind != FileFacts::Kind::file || seen->size > k_largest_text) {
            return set_aside(path, side.is_mirror, "no file of at most 1 MiB");
        }
        TRY(text, files_.read(path));
        return {};
    };
    CO_TRY(const auto left, co_await when_left(path, read_it));
    auto& entry = now_.displaced.back();
    entry.open = !left;
    entry.seen = facts;
    if (!text || is_blank(*text)) co_return Result<void>{};
    const auto parts = split_task_text(*text);
    const bool looks_whole = left || !seems_cut(*text, expected->body());
    if (parts.body == expected->body() || !looks_whole) co_return Result<void>{};
    CO_TRY(check_frontmatter(side.is_mirror, *text));
    const auto found = text_of(parts.body);
    Edit edit{found, side.is_mirror, parts.has_frontmatter, expected, now_.displaced.back().stood};
    CO_TRY(co_await take_in(std::move(edit)));
    now_.displaced.back().counted = found;
    co_return Result<void>{};
}

/// Merges text that came into displaced files since they were last read. Returns true if there was any.
Awaitable<Result<bool>> TaskSync::count_displaced() {
    bool changed = false;
    for (auto& displaced : now_.displaced) {
        const auto facts = files_.facts_of(displaced.path);
        displaced.gone = !facts && facts.error().code == ErrorCode::not_found;
        const bool is_due = async::now() - displaced.read_at >= keeps_displaced_;
        if (!facts || (displaced.seen && same(*facts, *displaced.seen) && !is_due)) continue;
        CO_TRY(const auto counted, co_await count(displaced, *facts));
        changed = changed || counted;
    }
    co_return changed;
}

Awaitable<Result<bool>> TaskSync::count(Displaced& displaced, FileFacts facts) {
    if (facts.kind != FileFacts::Kind::file || facts.size > k_largest_text) {
        CO_TRY(set_aside(displaced.path, displaced.of_mirror, "no file of at most 1 MiB"));
        displaced.gone = true;
        co_return false;
    }
    std::string text;
    {
        const WriterCheck writers(displaced.path);
        CO_TRY(text, files_.read(displaced.path));
        displaced.open = writers.is_open_elsewhere();
    }
    displaced.seen = facts;
    displaced.read_at = async::now();
    if (is_blank(text)) co_return false;
    if (displaced.leftover) CO_TRY(count_leftover(displaced, text));
    const auto parts = split_task_text(text);
    const auto& counted = displaced.counted->body();
    if (parts.body == counted || (displaced.open && seems_cut(text, counted))) co_return false;
    const auto found = text_of(parts.body);
    Edit edit{found, displaced.of_mirror, parts.has_frontmatter, displaced.counted, displaced.stood};
    CO_TRY(co_await take_in(std::move(edit)));
    displaced.counted = found;
    co_return true;
}

/// Handles a displaced file of an earlier daemon. The body that a late writer started from is unknown, so a text with
/// lines of its own is kept in a file.
Result<void> TaskSync::count_leftover(Displaced& displaced, const std::string& text) {
    const auto found = text_of(body_of(text));
    const auto hash = displaced.path.filename().string().substr(k_displaced.size(), k_hash_length);
    if (!found->hash().starts_with(hash) && !has_all_lines(body_->body(), found->body())) {
        if (room_for_kept() < text.size()) {
            body_ = text_of(all_lines(body_->body(), found->body()));
        } else {
            TRY(const auto kept, keep(text));
            ask_for_attention("a process wrote to TASK.md while it was replaced; its text is kept as " + kept.string());
        }
    }
    displaced.leftover = false;
    displaced.counted = displaced.counted_then = found;
    return {};
}

Awaitable<Result<void>> TaskSync::remove_mirror() {
    if (sides_.size() < 2) co_return Result<void>{};
    const Side mirror = std::move(sides_[1]);
    sides_.pop_back();
    Displaced displaced;
    displaced.counted = displaced.counted_then = mirror.body ? mirror.body : text_of("");
    displaced.path = copies_.own.parent_path() / displaced_name(*displaced.counted);
    displaced.of_mirror = true;
    displaced.since = async::now();
    // The process that wrote half a text is about to be ended. Keep the half in a file, so that it does not count as
    // the whole.
    if (mirror.held && !mirror.text.empty()) {
        CO_TRY(const auto kept, keep(mirror.text));
        ask_for_attention("the worktree's TASK.md was half written when its agent ended; it is kept as " +
                          kept.string());
    }
    auto moved = files::move_aside(mirror.path, displaced.path);
    if (!moved && moved.error().code != ErrorCode::not_found) {  // the worktree is on another disk
        displaced.path = mirror.path.parent_path() / displaced.path.filename();
        moved = files::move_aside(mirror.path, displaced.path);
    }
    if (!moved && moved.error().code != ErrorCode::not_found) co_return moved;
    if (moved) {
        files::make_private(displaced.path);
        CO_TRY(co_await when_left(displaced.path, [] { return Result<void>(); }));
        now_.displaced.push_back(std::move(displaced));
        CO_TRY(const auto changed, co_await count_displaced());
        if (changed) CO_TRY(co_await write_all());
    }
    now_.mirror = {};
    const auto folder = mirror.path.parent_path();
    std::error_code not_empty;
    if (folder.filename() == ".orange") std::filesystem::remove(folder, not_empty);
    co_return Result<void>{};
}

/// Removes each displaced file that no process has open, a second after it was displaced: on a busy machine a process
/// may stand still within open(), with the file found and not yet open.
Result<void> TaskSync::remove_displaced() {
    const auto now = async::now();
    const auto size_of = [](const Displaced& each) { return each.seen ? each.seen->size : 0; };
    auto waiting = std::ranges::count(now_.displaced, false, &Displaced::open);
    std::uintmax_t bytes = 0;
    for (const auto& each : now_.displaced) bytes += size_of(each);
    for (auto displaced = now_.displaced.begin(); displaced != now_.displaced.end();) {
        const bool is_counted = displaced->seen && written_;
        const bool is_old =
            now - displaced->since >= keeps_displaced_ && displaced->read_at - displaced->since >= keeps_displaced_;
        const bool may_wait = !is_old && waiting <= k_most_waiting && bytes <= k_most_waiting_bytes;
        if (!displaced->gone && (displaced->open || !is_counted || may_wait)) {
            const bool is_writing = displaced->open && now - displaced->since < keeps_displaced_;
            (is_writing ? out_.unsettled : out_.waiting) = true;
            ++displaced;
            continue;
        }
        bytes -= size_of(*displaced);
        TRY(files_.remove(displaced->path));
        displaced = now_.displaced.erase(displaced);
        --waiting;
    }
    return {};
}

/// Syncs texts on which a decision was based. If an editor did not sync its text, an older text could come back after a
/// power failure, and would then count as the newest edit.
Result<void> TaskSync::sync_edited() {
    for (const auto& side : sides_) {
        if (side.edited) TRY(files::make_durable(side.path));
    }
    return {};
}

}  // namespace orange::store

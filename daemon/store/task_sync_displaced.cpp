// TaskSync's third part: the files that were exchanged away, which somebody may still be writing to.
#include <algorithm>

#include "common/base/ids.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/async/async.hpp"
#include "daemon/files/file_facts.hpp"
#include "daemon/files/writer_check.hpp"
#include "daemon/store/body_merge.hpp"
#include "daemon/store/sync_texts.hpp"
#include "daemon/store/task_file.hpp"
#include "daemon/store/task_sync.hpp"

namespace orange::store {
namespace {

constexpr std::ptrdiff_t k_most_away = 32;  ///< of one task: each is looked at by every call

struct Look {
    bool open = false;  ///< somebody may still write to it
    std::optional<std::string> text;
};

Result<Look> look_at(FileSystem& files, const Path& path) {
    const WriterCheck writers(path);
    TRY(auto text, read_any(files, path));
    return Look{writers.is_open_elsewhere(), std::move(text)};
}

}  // namespace

Awaitable<Result<bool>> TaskSync::count_displaced() {
    bool changed = false;
    for (auto& displaced : now_.displaced) {
        CO_TRY(const auto look, look_at(files_, displaced.path));
        if (!look.text || is_blank(*look.text)) continue;  // a blank one: about to be written, or never
        const auto found = body_of(*look.text);
        if (displaced.leftover) {
            // A body that both copies once agreed on holds nothing new; else only its lines that are nowhere else do.
            const bool is_old = content_hash(found) == record_.body_hash;
            displaced.base = displaced.accounted = is_old ? found : without_lines_missing_in(body_, found);
        }
        displaced.leftover = false;
        if (found == displaced.accounted) continue;
        if (look.open && seems_cut(*look.text, displaced.accounted)) continue;
        auto base = base_of(displaced, found);
        displaced.accounted = found;
        const auto before = body_;
        CO_TRY(co_await merge_in(std::move(base), found));
        CO_TRY(note_lost(before, *look.text, displaced.of_mirror));
        changed = true;
    }
    co_return changed;
}

/// A displaced file that was written late, by somebody who may have read the copy before the daemon last wrote it.
std::string TaskSync::base_of(const Displaced& displaced, const std::string& found) const {
    std::vector<const std::string*> candidates;
    for (const auto& entry : (displaced.of_mirror ? now_.mirror : now_.own).shown) candidates.push_back(&entry.body);
    candidates.push_back(&displaced.accounted);
    return likely_base(candidates, found);
}

/// A displaced file that is counted and that nobody has open goes out of sight, and is removed only later: on a busy
/// machine a writer may stand still within open(), with the file found and not yet open. False if writers are left to
/// wait for.
Result<bool> TaskSync::put_away_quiet() {
    const auto now = async::now();
    const auto is_away = [](const Displaced& displaced) { return displaced.away_since.has_value(); };
    auto away = std::count_if(now_.displaced.begin(), now_.displaced.end(), is_away);
    bool settled = true;
    for (auto displaced = now_.displaced.begin(); displaced != now_.displaced.end();) {
        TRY(const auto look, look_at(files_, displaced->path));
        const bool is_counted = !look.text || is_blank(*look.text) || body_of(*look.text) == displaced->accounted;
        if (look.open || !is_counted) {
            displaced->away_since.reset();
            settled = settled && look.open && displaced->waited;
            ++displaced;
            continue;
        }
        if (!displaced->away_since) {
            put_away(*displaced);
            displaced->away_since = now;
        } else if (now - *displaced->away_since >= keeps_displaced_ || away-- > k_most_away) {
            TRY(files_.remove(displaced->path));
            displaced = now_.displaced.erase(displaced);
            continue;
        }
        ++displaced;
    }
    return settled;
}

/// To a name that the next daemon removes, since what is in the file is counted. If the worktree is on another disk, it
/// stays there.
void TaskSync::put_away(Displaced& displaced) {
    const auto path = copies_.own.parent_path() / (".TASK.md." + random_id(10) + ".tmp");
    if (!files::move_aside(displaced.path, path)) return;
    displaced.path = path;
    files::make_private(path);
}

Awaitable<Result<void>> TaskSync::settle() {
    if (now_.displaced.empty()) co_return Result<void>{};
    const auto deadline = async::now() + k_patience;
    for (;;) {
        CO_TRY(auto changed, co_await count_displaced());
        if (changed) CO_TRY(co_await write_all());
        if (!written_) break;  // what came out of the displaced files is on no disk but in themselves
        CO_TRY(auto settled, put_away_quiet());
        if (settled || async::now() >= deadline) break;
        co_await async::sleep(k_step);
    }
    for (auto& displaced : now_.displaced) {
        displaced.waited = true;
        (displaced.away_since ? out_.waiting : out_.unsettled) = true;
    }
    co_return Result<void>{};
}

Awaitable<Result<void>> TaskSync::retire() {
    if (sides_.size() < 2) co_return Result<void>{};
    Side mirror = std::move(sides_[1]);
    sides_.pop_back();
    const auto displaced = displaced_name(mirror.path);
    const auto moved = files::move_aside(mirror.path, displaced);
    if (!moved && moved.error().code != ErrorCode::not_found) co_return moved;
    if (moved && mirror.held) {
        // Half of a text, and its writer is being ended: not to be taken for the whole.
        CO_TRY(keep("conflict", mirror.text));
    }
    const auto counted = body_of(mirror.text);
    if (moved) now_.displaced.push_back({displaced, counted, counted, true});
    now_.mirror = {};
    co_return Result<void>{};
}

}  // namespace orange::store

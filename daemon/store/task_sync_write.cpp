// TaskSync's writing half: both copies get the daemon's text, and whatever somebody else wrote meanwhile is taken in.
#include "common/base/try.hpp"
#include "daemon/files/file_facts.hpp"
#include "daemon/store/sync_texts.hpp"
#include "daemon/store/task_file.hpp"
#include "daemon/store/task_sync.hpp"

namespace orange::store {
namespace {

constexpr std::size_t k_most_recent = 8;
constexpr int k_most_rounds = 5;  ///< against a writer that never stops; the next call goes on

}  // namespace

Awaitable<Result<void>> TaskSync::write_all() {
    for (int round = 0; round < k_most_rounds; ++round) {
        bool all_right = true;
        for (auto& side : sides_) {
            auto desired = task_text(record_.task, body_);
            if (side.held || (side.exists && !side.link && side.text == desired)) continue;
            all_right = false;
            CO_TRY(remember_projection());
            CO_TRY(co_await put(side, std::move(desired)));
        }
        if (all_right) {
            written_ = true;
            co_return Result<void>{};
        }
    }
    written_ = false;
    out_.unsettled = true;
    co_return Result<void>{};
}

Result<void> TaskSync::remember_projection() {
    if (!now_.recent.empty() && now_.recent.back() == record_.task) return {};
    TRY(now_.projections.remember(split_task_text(frontmatter_of(record_.task)).frontmatter));
    now_.recent.push_back(record_.task);
    if (now_.recent.size() > k_most_recent) now_.recent.pop_front();
    return {};
}

Awaitable<Result<void>> TaskSync::put(Side& side, std::string desired) {
    if (side.exists) {
        auto done = co_await exchange(side, std::move(desired));
        if (done || done.error().code != ErrorCode::not_found) co_return done;
    } else {
        auto done = co_await create(side, std::move(desired));
        if (done || done.error().code != ErrorCode::conflict) co_return done;
    }
    // Deleted, or created, in between: see what is there now. The next round writes it.
    CO_TRY(co_await look(side));
    if (!side.counts()) co_return Result<void>{};
    CO_TRY(note_frontmatter(side, side.text));
    const auto found = body_of(side.text);
    auto text = side.text;
    if (is_news(side, found)) co_return co_await absorb(side, std::move(text), true);
    co_return Result<void>{};
}

Awaitable<Result<void>> TaskSync::create(Side& side, std::string desired) {
    CO_TRY(files::create_new(files_, side.path, desired));
    side.exists = true;
    side.text = std::move(desired);
    show(*side.memory, body_, true);
    co_return Result<void>{};
}

Awaitable<Result<void>> TaskSync::exchange(Side& side, std::string desired) {
    const auto displaced = displaced_name(side.path);
    // The frontmatter can be shown again from the record.
    const auto durability = body_of(side.text) == body_ ? Durability::atomic : Durability::synced;
    if (auto done = files_.exchange(side.path, desired, displaced, durability); !done) {
        // The exchange itself may have happened where only making it durable failed: then this is not ours to lose.
        if (files_.facts_of(displaced)) memory_->swept.erase(side.path.parent_path());
        co_return done;
    }
    const auto expected = body_of(side.text);
    const auto written = body_;
    now_.displaced.push_back({displaced, expected, expected, side.is_mirror});
    side.text = std::move(desired);
    side.link = false;
    std::optional<std::string> text;
    const auto read_it = [&]() -> Result<void> {
        TRY(text, read_any(files_, displaced));
        return {};
    };
    CO_TRY(const auto left, co_await when_left(displaced, read_it));
    const auto found = body_of(text.value_or(""));
    // Created or truncated, and about to be written, or half-written: settle() will see the rest.
    const bool looks_whole = left || !seems_cut(text.value_or(""), expected);
    if (text && !is_blank(*text) && found != expected && looks_whole) {
        CO_TRY(note_frontmatter(side, *text));
        now_.displaced.back().accounted = found;
        auto whole = *text;
        CO_TRY(co_await absorb(side, std::move(whole), true));
    }
    show(*side.memory, written, true);
    co_return Result<void>{};
}

}  // namespace orange::store

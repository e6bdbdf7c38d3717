// The first half of TaskSync: reads both copies and decides on the body.
#include "daemon/store/task_sync.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/async/async.hpp"
#include "daemon/files/file_facts.hpp"
#include "daemon/files/writer_check.hpp"
#include "daemon/store/lost_sections.hpp"
#include "daemon/store/sections.hpp"
#include "daemon/store/task_file.hpp"
#include "daemon/store/task_texts.hpp"

namespace orange::store {
namespace {

using namespace std::chrono_literals;

constexpr auto k_patience = 250ms;  ///< the total time that a call waits for editors that are saving
constexpr auto k_step = 5ms;
constexpr auto k_gone_for = 100ms;  ///< an editor that deletes a copy creates it again within this time
constexpr auto k_unseen = 3s;       ///< the longest time of an editor between reading a copy and writing it back
constexpr int k_most_held_back = 40;
constexpr std::size_t k_most_written = 16;
constexpr std::size_t k_longest_list = 1000;

/// Returns a time as "20261120T104903.120Z", which sorts by time and is a valid name in every file system.
std::string file_time(Timestamp time) {
    std::string text = to_rfc3339(time);
    std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
    return text;
}

/// Returns true if `longer` is `base` with whole lines appended.
bool is_appended(const std::string& longer, const std::string& base) {
    return base.ends_with('\n') && longer.starts_with(base);
}

std::string appended(std::string text, std::string_view more) {
    if (!text.ends_with('\n')) text += '\n';
    return text.append(more);
}

/// Returns `base` with the additions of both texts. A common beginning of the additions appears once.
std::string both_appended(const std::string& base, const std::string& one, const std::string& other) {
    auto same = static_cast<std::size_t>(std::ranges::mismatch(one, other).in1 - one.begin());
    same = std::max(base.size(), one.rfind('\n', same == 0 ? 0 : same - 1) + 1);
    return appended(one, std::string_view(other).substr(same));
}

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

/// If the call failed before it wrote anything, drops its changes of the memory; the displaced files will be counted
/// again. If it has written, the memory keeps what it wrote, so that the next call does not take it for an edit.
TaskSync::~TaskSync() {
    if (succeeded_) return;
    if (wrote_) {
        for (auto& displaced : now_.displaced) displaced.counted_then = displaced.counted;
        now_.body = body_;
        for (auto& side : sides_) side.memory->seen = side.facts;
        *memory_ = std::move(now_);
        return;
    }
    for (auto& displaced : now_.displaced) {
        displaced.counted = displaced.counted_then;
        displaced.seen.reset();
    }
    memory_->displaced = std::move(now_.displaced);
    memory_->own.seen.reset();
    memory_->mirror.seen.reset();
}

Awaitable<Result<Synced>> TaskSync::run(std::optional<SectionEdit> edit, bool retire_mirror) {
    set_up();
    for (auto& side : sides_) {
        CO_TRY(sweep(side.path.parent_path()));
        CO_TRY(co_await look_at(side));
    }
    find_damaged();
    for (const auto& side : sides_) {
        if (side.counts()) {
            CO_TRY(check_frontmatter(side.is_mirror, side.text));
        }
    }
    const bool saved_again = std::ranges::any_of(sides_, [this](const Side& side) { return is_saved_again(side); });
    CO_TRY(co_await decide());
    CO_TRY(co_await count_displaced());
    note_rewritten(saved_again);
    edited_ = content_hash(body_) != record_.body_hash;
    if (edit) body_ = with_section(body_, edit->heading, edit->text);
    CO_TRY(co_await write_all());
    CO_TRY(sync_edited());
    if (retire_mirror) {
        CO_TRY(co_await remove_mirror());
    }
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
    side.held = side.damaged = false;
    const auto facts = files_.facts_of(side.path);
    side.link = facts && facts->kind == FileFacts::Kind::link;
    std::optional<std::string> content;
    if (facts) {
        TRY(content, read_copy(files_, side.path, *facts));
    }
    side.exists = side.link || content.has_value();
    side.facts = facts ? std::optional(*facts) : std::nullopt;
    side.text = std::move(content).value_or("");
    side.damaged = now_.body && side.counts() && is_blank(side.text);
    return {};
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
    if (side.counts() ? !is_edited(side) : !side.damaged) co_return Result<void>{};
    CO_TRY(const auto left, co_await when_left(side.path, [this, &side] { return read(side); }));
    const bool looks_whole = left || !side.exists || !seems_cut(side.text, side.memory->body.value_or(""));
    if (looks_whole || ++now_.held_back > k_most_held_back) {
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
    const auto body = body_of(side.text);
    if (side.memory->body) return *side.memory->body != body;
    return now_.body ? *now_.body != body : content_hash(body) != record_.body_hash;
}

/// Returns true if the daemon changed the copy recently, so that its editor may have read the text before that.
bool TaskSync::may_be_unseen(const Side& side) const {
    return side.memory->given_at && async::now() - *side.memory->given_at < k_unseen;
}

Awaitable<Result<void>> TaskSync::decide() {
    std::vector<Side*> edited;
    auto known = now_.body;
    for (auto& side : sides_) {
        if (!side.counts()) continue;
        side.edited = is_edited(side);
        if (side.edited) edited.push_back(&side);
        if (!side.edited && !known) known = body_of(side.text);
    }
    if (edited.size() == 2) {
        const auto time = [this](const Side* side) {
            const auto facts = files_.facts_of(side->path);
            return facts ? facts->modified : decltype(facts->modified){};
        };
        if (time(edited[0]) < time(edited[1])) std::swap(edited[0], edited[1]);
        if (is_blank(body_of(edited[1]->text))) edited.pop_back();
    }
    if (!known && edited.empty() && !record_.body_hash.empty() && record_.body_hash != content_hash("")) {
        out_.attention = "TASK.md is gone from " + copies_.own.parent_path().string() + ", and no other copy was left";
    }
    body_ = known ? *known : edited.empty() ? std::string() : body_of(edited[0]->text);
    for (const auto* side : edited) {
        Edit edit;
        edit.base = side->memory->body ? side->memory->body : known;
        edit.text = side->text;
        edit.of_mirror = side->is_mirror;
        edit.older = side != edited[0];
        edit.unsure = !now_.body || may_be_unseen(*side);
        CO_TRY(co_await take_in(std::move(edit)));
    }
    for (auto& side : sides_) {
        if (side.counts()) side.memory->body = body_of(side.text);
    }
    co_return Result<void>{};
}

Awaitable<Result<void>> TaskSync::take_in(Edit edit) {
    const auto found = body_of(edit.text);
    const auto before = body_;
    if (found == body_ || (edit.base && found == *edit.base)) co_return Result<void>{};
    edited_ = true;
    if (edit.base && (body_ == *edit.base || is_appended(found, body_))) {
        body_ = found;
    } else if (edit.base && is_appended(found, *edit.base) && is_appended(body_, *edit.base)) {
        body_ = both_appended(*edit.base, body_, found);
    } else if (edit.base && is_appended(found, *edit.base)) {
        body_ = appended(body_, std::string_view(found).substr(edit.base->size()));
    } else if (edit.base && is_appended(body_, *edit.base)) {
        body_ = appended(found, std::string_view(before).substr(edit.base->size()));
    } else {
        std::optional<std::string> merged;
        if (edit.base) {
            auto folder = copies_.own.parent_path();
            auto done = co_await merge_bodies(files_, processes_, folder, body_, *edit.base, found);
            if (done) merged = std::move(*done);
        }
        if (merged) {
            body_ = std::move(*merged);
        } else {
            co_return resolve(edit, found);
        }
    }
    co_return keep_lost(edit, before);
}

/// Settles two contradicting edits: the newer one counts, and the other is kept in a file.
Result<void> TaskSync::resolve(const Edit& edit, const std::string& found) {
    const auto before = body_;
    TRY(const auto kept, keep(edit.older ? edit.text : task_text(record_.task, before)));
    if (!edit.older) {
        // Put sections back that the author of the new text cannot have seen.
        auto unseen = lost_sections(before, found);
        if (edit.base) {
            const auto seen = section_headings(*edit.base);
            std::erase_if(unseen, [&](const auto& heading) { return std::ranges::find(seen, heading) != seen.end(); });
        }
        body_ = unseen.empty() ? found : with_sections_back(before, found, unseen);
    }
    HistoryEvent event;
    event.type = "body.conflict";
    event.timestamp = clock_.now();
    event.fields["stayed"] = std::string(edit.of_mirror != edit.older ? "mirror" : "own");
    event.fields["kept"] = kept.filename().string();
    out_.events.push_back(std::move(event));
    ask_for_attention("TASK.md was edited in two places at once; the text that does not count is kept as " +
                      kept.string());
    return {};
}

/// Keeps the old body in a file if an edit removed a section, or lines that its author may not have seen. A text
/// without frontmatter shows that its author replaced the file unread (`cat >TASK.md`); sections that such an author
/// removed are put back.
Result<void> TaskSync::keep_lost(const Edit& edit, const std::string& before) {
    const auto lost = lost_sections(before, body_);
    const bool blind = edit.unsure || !split_task_text(edit.text).has_frontmatter;
    if (lost.empty() && (!edit.unsure || has_all_lines(body_, before))) return {};
    TRY(const auto kept, keep(task_text(record_.task, before)));
    if (lost.empty()) return {};
    bool put_back = false;
    if (blind) {
        auto whole = with_sections_back(before, body_, lost);
        put_back = whole != body_;
        body_ = std::move(whole);
    }
    HistoryEvent event;
    event.type = "section.lost";
    event.timestamp = clock_.now();
    event.fields["copy"] = std::string(edit.of_mirror ? "mirror" : "own");
    event.fields["sections"] = ellipsized(join(lost, ", "), k_longest_list);
    event.fields["kept"] = kept.filename().string();
    event.fields["put_back"] = put_back;
    out_.events.push_back(std::move(event));
    return {};
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
    HistoryEvent event;
    event.type = "frontmatter.restored";
    event.timestamp = clock_.now();
    event.fields["copy"] = std::string(of_mirror ? "mirror" : "own");
    event.fields["refused"] = refused;
    out_.events.push_back(std::move(event));
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

Result<Path> TaskSync::keep(const std::string& text) {
    const auto name = "TASK.kept-" + file_time(clock_.now());
    const auto folder = copies_.own.parent_path();
    for (int n = 1;; ++n) {
        const auto path = folder / (name + (n == 1 ? "" : "-" + std::to_string(n)) + ".md");
        auto created = files::create_new(files_, path, text);
        if (created) return path;
        if (created.error().code != ErrorCode::conflict) return created.error();
    }
}

void TaskSync::ask_for_attention(const std::string& why) {
    out_.attention = out_.attention ? *out_.attention + "; " + why : why;
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
    if (!now_.body || (body_ == *now_.body && !saved_again)) return;
    const auto before = parse_sections(*now_.body).sections, sections = parse_sections(body_).sections;
    for (const auto& [heading, section] : sections) {
        const auto old = before.find(heading);
        const bool changed = old == before.end() || old->second.hash != section.hash;
        if (changed || body_ == *now_.body) now_.rewritten[heading] = clock_.now();
    }
    std::erase_if(now_.rewritten, [&](const auto& each) { return !sections.contains(each.first); });
}

Synced TaskSync::finish() {
    for (auto& displaced : now_.displaced) displaced.counted_then = displaced.counted;
    for (auto& side : sides_) side.memory->seen = side.facts;
    out_.rewritten = now_.rewritten;
    note_written();
    now_.body = body_;
    out_.body = body_;
    out_.body_hash = content_hash(body_);
    out_.body_changed = edited_;
    *memory_ = std::move(now_);
    succeeded_ = true;
    return std::move(out_);
}

}  // namespace orange::store

#include "daemon/runner/agents/silence.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace orange {

std::string spoken(std::chrono::seconds time) {
    const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(time).count();
    return minutes >= 2 ? std::to_string(minutes) + " minutes" : std::to_string(time.count()) + " seconds";
}

Awaitable<FileTime> last_change_in(FileSystem& files, Path folder, Path except) {
    constexpr std::size_t k_most = 100'000, k_at_once = 200;
    FileTime last{};
    std::size_t seen = 0;
    std::vector<Path> folders = {std::move(folder)};
    while (!folders.empty() && seen < k_most) {
        const auto next = std::move(folders.back());
        folders.pop_back();
        const auto names = files.list(next);
        if (!names) continue;
        for (const auto& name : *names) {
            if (name == ".git") continue;
            if (++seen % k_at_once == 0) co_await async::yield();
            auto path = next / name;
            const auto facts = files.facts_of(path);
            if (!facts || path == except) continue;
            if (facts->kind == FileFacts::Kind::folder) {
                folders.push_back(std::move(path));
            } else {
                last = std::max(last, facts->modified);
            }
        }
    }
    co_return last;
}

void Silence::saw(const std::string& screen, Timestamp now) {
    if (since_ != Timestamp{} && screen_ == screen) return;
    const bool broken = broken_ || since_ != Timestamp{};
    end();
    broken_ = broken;
    screen_ = screen;
    since_ = now;
}

bool Silence::is_due(Timestamp now, std::chrono::seconds patience) const {
    return since_ != Timestamp{} && now - std::max(since_, looked_) >= patience / 2;
}

void Silence::found(const std::string& screen, const Traces& traces, Timestamp now, std::chrono::seconds patience) {
    constexpr std::int64_t k_share = 50;  // of a processor: a program that only shows its prompt uses less
    if (since_ == Timestamp{} || screen != screen_) return;
    const auto before = std::exchange(traces_, traces);
    if (before.at == async::Moment{}) return;
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(traces.at - before.at).count();
    const bool worked = (traces.cpu_ms - before.cpu_ms) * k_share > passed || traces.changed != before.changed ||
                        traces.body_hash != before.body_hash;
    if (worked) since_ = now;
    broken_ = broken_ || worked;
    // A wall clock that was set, or a machine that slept, is no silence: the steady clock has to have run as well.
    constexpr int k_part = 4;
    const bool has_run = std::chrono::milliseconds(passed) * k_part >= patience;
    silent_ = !worked && has_run && now - since_ >= patience;
}

}  // namespace orange

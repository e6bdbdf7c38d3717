#include "daemon/store/bases.hpp"

#include <algorithm>
#include <set>

#include "daemon/async/async.hpp"
#include "daemon/store/line_merge.hpp"

namespace orange::store {
namespace {

constexpr std::size_t k_most = 8;
constexpr std::size_t k_long = 64 << 10;  ///< comparing such a text takes a turn of its own
constexpr std::string_view k_prefix = ".TASK.md.base-";

}  // namespace

void Stood::add(const std::string& hash) {
    std::erase(hashes, hash);
    hashes.push_back(hash);
    if (hashes.size() <= k_most) return;
    hashes.erase(hashes.begin());
    dropped = true;
}

Path Bases::path_of(const std::string& hash) const {
    return folder_ / (std::string(k_prefix) + hash);
}

bool Bases::note(const std::string& name) {
    if (!name.starts_with(k_prefix)) return false;
    if (const auto facts = files_.facts_of(folder_ / name)) known_[name.substr(k_prefix.size())] = *facts;
    return true;
}

void Bases::add(const TextPtr& text) {
    hold(text);
    if (known_.contains(text->hash())) return;
    const auto path = path_of(text->hash());
    if (!files_.replace(path, text->body(), Durability::unsynced)) return;
    known_[text->hash()] = files_.facts_of(path).value_or(FileFacts());
}

TextPtr Bases::find(const std::string& hash) const {
    auto& text = read_[hash];
    if (text || !known_.contains(hash)) return text;
    auto body = files_.read(path_of(hash));
    if (!body) return text;
    auto read = text_of(std::move(*body));
    if (read->hash() == hash) text = std::move(read);
    return text;
}

Awaitable<TextPtr> Bases::nearest(Stood stood, TextPtr saved) const {
    TextPtr nearest;
    bool is_unknown = stood.dropped;
    std::size_t least = 0;
    for (const auto& hash : stood.hashes) {
        const auto text = find(hash);
        is_unknown = is_unknown || !text;
        if (!text) continue;
        const auto differs = distance(text->line_hashes(), saved->line_hashes());
        if (differs == 0 && &hash != &stood.hashes.back()) continue;
        if (text->body().size() >= k_long) co_await async::yield();
        if (nearest && differs > least) continue;
        nearest = text;
        least = differs;
    }
    if (!nearest || !is_unknown || nearest->hash() == stood.hashes.back()) co_return nearest;
    const auto &has = saved->line_hashes(), &had = nearest->line_hashes();
    co_return std::ranges::includes(has, had) ? nearest : nullptr;
}

Stood Bases::until(const std::string& body_hash) const {
    std::vector<std::pair<std::chrono::sys_time<std::chrono::nanoseconds>, std::string>> by_time;
    for (const auto& [hash, facts] : known_) by_time.emplace_back(facts.modified, hash);
    std::ranges::sort(by_time);
    Stood stood;
    for (const auto& [time, hash] : by_time) {
        stood.add(hash);
        if (hash == body_hash) return stood;
    }
    return {};
}

void Bases::keep_only(const std::vector<const Stood*>& needed) {
    std::set<std::string> hashes;
    for (const auto* stood : needed) hashes.insert(stood->hashes.begin(), stood->hashes.end());
    std::erase_if(known_, [&](const auto& each) {
        return !hashes.contains(each.first) && files_.remove(path_of(each.first)).has_value();
    });
}

}  // namespace orange::store

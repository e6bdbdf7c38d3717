#include "daemon/runner/agents/usage_holds.hpp"

#include <algorithm>
#include <ctime>

#include "common/base/hours.hpp"
#include "common/model/fields.hpp"
#include "common/model/json.hpp"
#include "daemon/agents/reset_time.hpp"
#include "daemon/log/log.hpp"

namespace orange {
namespace {

using namespace std::chrono_literals;

/// A limit whose reset is not known, or seems to be past, is tried again after the first time, which doubles up to the
/// second.
constexpr std::chrono::minutes k_try_again = 15min, k_longest_wait = 240min;
/// A limit that comes back within this is the same one.
constexpr auto k_same = 30min;
struct HoldsFile {
    int schema = 1;
    std::map<std::string, UsageHold> harnesses;

    void describe(auto& v) {
        v.required("schema", schema, "1");
        v.required("harnesses", harnesses, "each with its hold");
    }
};

/// The value of resume_after_limit with which agents continue at once.
constexpr std::string_view k_at_once = "true";

/// Allows for the different clocks of the provider and this machine.
constexpr auto k_grace = 1s;

}  // namespace

std::string spoken_time(Timestamp time, Timestamp now) {
    const auto of = [](Timestamp moment, const char* format) {
        const auto seconds = std::chrono::system_clock::to_time_t(moment);
        std::tm local{};
        char text[32] = "";
        if (::localtime_r(&seconds, &local) != nullptr) (void)std::strftime(text, sizeof text, format, &local);
        return std::string(text);
    };
    return of(time, "%F") == of(now, "%F") ? of(time, "%H:%M") : of(time, "%b %e, %H:%M");
}

UsageHolds::UsageHolds(World& world) : world_(world), file_(world.paths.home / "usage-limits.json") {
    const auto text = world_.files.read(file_);
    const auto json = text ? parse_json(*text) : Result<Json>(text.error());
    if (!json) {
        if (json.error().code != ErrorCode::not_found) log::warn("runner", json.error().message);
        return;
    }
    auto read = read_as<HoldsFile>(*json, "", UnknownKeys::ignore);
    if (read) holds_ = std::move(read->harnesses);
    end_times_at(world_.clock.now());
    if (!read) log::warn("runner", file_.string() + ": " + read.error().message);
}

void UsageHolds::end_times_at(Timestamp now) {
    for (auto& [harness, hold] : holds_) {
        if (hold.since <= now) continue;
        hold.until -= hold.since - now;
        hold.since = now;
    }
}

std::optional<UsageHold> UsageHolds::of(const std::string& harness) const {
    const auto found = holds_.find(harness);
    if (found == holds_.end() || found->second.until <= world_.clock.now()) return std::nullopt;
    return found->second;
}

bool UsageHolds::any() const {
    if (holds_.empty()) return false;
    const auto now = world_.clock.now();
    return std::ranges::any_of(holds_, [&](const auto& each) { return each.second.until > now; }) ||
           std::ranges::any_of(world_.projects.list(),
                               [&](const Project& project) { return policy_of(&project) != k_at_once; });
}

/// Does not use settings_of(), because a list queries each of its tasks.
const std::string& UsageHolds::policy_of(const Project* project) const {
    static const std::string at_once(k_at_once);
    if (project != nullptr && project->settings.resume_after_limit) return *project->settings.resume_after_limit;
    const auto& standard = world_.settings.project_defaults.resume_after_limit;
    return standard ? *standard : at_once;
}

std::optional<UsagePause> UsageHolds::pause_of(const std::string& harness, const std::string& project,
                                               Timestamp since) const {
    const auto found = holds_.find(harness);
    if (found == holds_.end()) return std::nullopt;
    const auto now = world_.clock.now();
    const auto& hold = found->second;
    if (hold.until <= now && since > hold.until) return std::nullopt;
    UsagePause pause{hold.since, hold.until, std::max(hold.until, now)};
    const auto& policy = policy_of(world_.projects.find(project));
    const auto hours = hours_in(policy);
    if (hours) pause.until = next_within(*hours, *pause.until);
    if (!hours && policy != k_at_once) pause.until.reset();
    return pause.until == now ? std::nullopt : std::optional(pause);
}

void UsageHolds::add(const std::string& harness, const std::string& resets) {
    if (of(harness)) return;
    const auto now = world_.clock.now();
    auto& hold = holds_[harness];
    const bool again = hold.until != Timestamp{} && now - hold.until < k_same;
    hold.tries = again ? hold.tries + 1 : 1;
    hold.since = now;
    const auto said = agents::reset_time(resets, now);
    auto wait = k_try_again;
    for (int i = 1; i < hold.tries && wait < k_longest_wait; ++i) wait = std::min(wait * 2, k_longest_wait);
    hold.until = said && *said > now ? *said + k_grace : now + wait;
    log::info("runner", "usage limit", {{"harness", harness}, {"until", to_rfc3339(hold.until)}});
    save();
    changed_();
}

void UsageHolds::lift(const std::string& harness) {
    if (!of(harness)) return;
    auto& hold = holds_[harness];
    hold.until = world_.clock.now();
    hold.tries = 0;  // the next limit is another one
    save();
    changed_();
}

void UsageHolds::lift_all() {
    if (holds_.empty()) return;
    holds_.clear();
    save();
    changed_();
}

std::optional<Timestamp> UsageHolds::next_end() const {
    const auto now = world_.clock.now();
    std::optional<Timestamp> next;
    const auto consider = [&](Timestamp time) {
        if (time > now && (!next || time < *next)) next = time;
    };
    for (const auto& [harness, hold] : holds_) {
        consider(hold.until);
        for (const auto& project : world_.projects.list()) {
            const auto hours = hours_in(policy_of(&project));
            if (hours) consider(next_within(*hours, std::max(hold.until, now)));
        }
    }
    return next;
}

/// A limit that cannot be saved is found out again by the next daemon.
void UsageHolds::save() const {
    const auto saved = world_.files.replace(file_, dump(written(HoldsFile{1, holds_})) + "\n");
    if (!saved) log::warn("runner", saved.error().message);
}

}  // namespace orange

// Walks every combination of what engine::next() looks at, and all that performing the steps makes of it: each step as
// the reconciler's functions perform it, each step failing, each wait ended by its alarm or by somebody outside.
//
// A table says in the terms of this small world when each step is wanted and how long it is not due yet. From every
// world, next() must return the first of the wanted steps that is not held, or the time of the next one. Performing
// steps must end: no world comes again. An alarm must find a step. A step that is wanted, and that neither is due nor
// gets a time, must be one that somebody outside can bring about.
#include <cstring>
#include <functional>
#include <set>
#include <string_view>
#include <unordered_map>

#include "daemon/engine/next.hpp"
#include "daemon/engine/notices.hpp"
#include "tests/catch.hpp"
#include "tests/unit/engine/world.hpp"

using namespace orange;
using namespace orange::engine;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

using Byte = unsigned char;
enum class Status : Byte { pending, waiting, working, over };
enum class Fate : Byte { none, open, done, cancelled, deleted };
enum class Kid : Byte { none, open, unapproved, stuck, ended, done, noted };
enum class Failed : Byte { no, tried_again, for_good };
enum class Typed : Byte { none, now, due, old };
enum class Agent : Byte { none, busy, rests, rests_long, unread, unread_long };
enum class Held : Byte { no, for_a_time, until_change };
enum class Barrier : Byte { none, intent, merging, checking, asked, stopped, off_duty };
enum class Text : Byte { none, right, old };  ///< what a notice says

struct Small {
    Need need = Need::nothing;    ///< apart from what its notices ask for
    Need before = Need::nothing;  ///< what it needed when it was last looked at
    Status status = Status::pending;
    Barrier barrier = Barrier::none;
    Fate blocker = Fate::none;
    Fate blocker_notice = Fate::none;  ///< the fate that the notice tells
    Byte blocker_told = 0;
    std::array<Kid, 2> kids{};
    Byte unapproved_told = 0, trouble_told = 0;  ///< one bit for each kid
    Byte unapproved_notice = 0;
    Text trouble_notice = Text::none;
    Byte queued = 0;
    Failed failed = Failed::no;
    Byte held = 0, room = 0;
    Byte outbox = 0;
    Typed typed = Typed::none;
    Agent agent = Agent::none;
    Byte idle_notice = 0, reminded = 0;
    Byte to_tell = 0;
    Byte left = 0;  ///< an executor may still have something of an earlier run
    std::array<Held, k_step_count> holds{};
    std::array<Byte, 2> filler{};  ///< in place of bytes that the compiler would add

    bool operator==(const Small&) const = default;
    bool is(Barrier which) const { return barrier == which; }
    bool is_gone() const { return blocker == Fate::cancelled || blocker == Fate::deleted; }
    Byte kids_that(bool (*are)(Kid)) const {
        return static_cast<Byte>((are(kids[0]) ? 1 : 0) | (are(kids[1]) ? 2 : 0));
    }
    Byte unapproved() const {
        return kids_that([](Kid kid) { return kid == Kid::unapproved; });
    }
    Byte troubled() const {
        return status != Status::waiting ? Byte{0}
                                         : kids_that([](Kid kid) { return kid == Kid::stuck || kid == Kid::ended; });
    }
    bool has_kids() const { return kids != std::array<Kid, 2>{}; }
    bool has_trouble() const { return status == Status::waiting && (troubled() != 0 || !has_kids()); }
    bool have_come_back() const {
        const auto open = kids_that([](Kid kid) { return kid != Kid::none && kid != Kid::done && kid != Kid::noted; });
        return status == Status::waiting && has_kids() && open == 0;
    }
    Need needs() const {
        const bool help = idle_notice || unapproved_notice || trouble_notice != Text::none ||
                          blocker_notice != Fate::none || failed != Failed::no;
        return help ? Need::help : need;
    }
    bool rests() const { return agent == Agent::rests || agent == Agent::rests_long; }
    std::string text() const;
};
static_assert(std::has_unique_object_representations_v<Small>);  // which Hash needs

struct Hash {
    std::size_t operator()(const Small& world) const {
        std::array<char, sizeof(Small)> bytes{};
        std::memcpy(bytes.data(), &world, sizeof(Small));
        return std::hash<std::string_view>()({bytes.data(), bytes.size()});
    }
};

constexpr std::array<std::string_view, k_step_count> k_names = {
    "NoteBlockers",      "NoteChildren", "EndUnpicked", "MakeAttempts", "TellOfChildren", "WaitForChildren",
    "GoOnAfterChildren", "StopSpent",    "StopLeft",    "FollowBelow",  "StartAgents",    "Deliver",
    "Acknowledge",       "ClearIdle",    "Remind",      "Notify"};
enum Index {
    blockers,
    children,
    unpicked,
    attempts,
    tell,
    wait,
    go_on,
    spend,
    stop,
    follow,
    start,
    deliver,
    acknowledge,
    clear,
    remind,
    notify
};

constexpr milliseconds k_hold_time = 1s;
using Wait = std::optional<milliseconds>;

Wait due_if(bool wanted, milliseconds in = 0ms) {
    return wanted ? Wait(in) : std::nullopt;
}

/// Returns how long the step is not due yet; nothing if it is not wanted. `lifted`: as if nothing stood in its way.
Wait wanted(const Small& w, int step, bool lifted = false) {
    const bool on_duty = lifted || !w.is(Barrier::off_duty), may_move = lifted || !w.is(Barrier::merging);
    const bool active = w.status != Status::over;
    if (!lifted && w.is(Barrier::intent)) return std::nullopt;
    switch (step) {
        case blockers: {
            const bool notice_is_old = w.blocker_notice != Fate::none && w.blocker_notice != w.blocker;
            return due_if(active && (w.blocker == Fate::done || (w.is_gone() && !w.blocker_told) || notice_is_old));
        }
        case children:
            return due_if(w.kids_that([](Kid kid) { return kid == Kid::done; }) != 0);
        case tell: {
            const bool news = w.unapproved() != w.unapproved_told || w.troubled() != w.trouble_told;
            const bool over =
                (w.unapproved_notice && w.unapproved() == 0) || (w.trouble_notice != Text::none && !w.has_trouble());
            return due_if(news || over || w.trouble_notice == Text::old);
        }
        case wait:
            return due_if(may_move && !w.have_come_back() &&
                          ((w.status == Status::waiting && w.queued) || w.failed == Failed::tried_again));
        case go_on:
            return due_if(may_move && w.have_come_back() && !w.queued && (lifted || w.failed != Failed::for_good));
        case unpicked:
        case attempts:
            return std::nullopt;  // there are none here
        case spend:
            return std::nullopt;  // no budget here
        case follow:
            return std::nullopt;  // it is built on no task
        case stop:
            return due_if(w.left);
        case start:
            return due_if(active && w.held && (lifted || w.room));
        case deliver:
            return due_if(on_duty && w.outbox > 0);
        case acknowledge: {
            const bool looks = w.typed == Typed::due || (w.typed == Typed::old && w.rests());
            return due_if(on_duty && active && (looks || w.typed == Typed::now), looks ? 0ms : 2000ms);
        }
        case clear:
            return due_if(w.agent == Agent::busy && w.idle_notice);
        case remind: {
            const bool waits_for_it = w.needs() == Need::nothing && w.outbox == 0;
            const bool nothing_else = w.is(Barrier::none) || lifted;
            const bool unread = w.agent == Agent::unread || w.agent == Agent::unread_long;
            const bool is_long = w.agent == Agent::rests_long || w.agent == Agent::unread_long;
            return due_if(w.status == Status::working && nothing_else && waits_for_it && (unread || w.rests()),
                          is_long  ? 0ms
                          : unread ? 360'000ms
                                   : 60'000ms);
        }
        default: {
            const auto now = w.needs();
            const bool news = now > Need::start && (w.before <= Need::start || (now == Need::help && w.before != now));
            return due_if(on_duty && may_move && (news || w.to_tell));
        }
    }
}

/// The view that the engine gets of such a world.
struct Given {
    explicit Given(const Small& w, const Definition& definition) {
        constexpr std::array<const char*, 4> k_states = {"pending", "reviewing", "working", "done"};
        constexpr Timestamp at = Timestamp{} + 1000h;
        const auto ago = [&](milliseconds time) { return at - time; };
        record.task.id = TaskId{"aaaa"};
        record.task.status = k_states[static_cast<std::size_t>(w.status)];
        record.task.updated_at = *(record.entered_at = ago(1h));
        if (w.is(Barrier::intent)) record.intent.emplace();
        if (w.is(Barrier::merging)) record.merge.emplace();
        if (w.is(Barrier::asked)) record.asked.emplace();
        record.stopped = w.is(Barrier::stopped);
        view.is_merging = w.is(Barrier::merging);
        view.is_checking = w.is(Barrier::checking);
        view.is_on_duty = !w.is(Barrier::off_duty);
        view.definition = &definition;
        view.ended = w.status == Status::over;
        view.now = at;
        look_at_others(w);
        record.queued = w.queued != 0;
        if (w.failed != Failed::no) {
            raise({NoticeKind::start_failed, "it failed", "", w.failed == Failed::for_good ? "" : k_tried_again, {}});
        }
        if (w.left) record.left.emplace_back();
        if (w.held) record.held.emplace_back();
        view.has_room = w.room != 0;
        record.outbox.resize(w.outbox);
        if (w.typed != Typed::none) record.typed.emplace_back();
        constexpr std::array<milliseconds, 4> k_ages = {0s, 0s, 2s, 40s};
        for (auto& message : record.typed) message.typed_at = ago(k_ages[static_cast<std::size_t>(w.typed)]);
        look_at_agent(w, ago);
        if (w.idle_notice) raise({NoticeKind::agent_idle, "it is idle", "", "", {}});
        view.needs.kind = w.needs();
        view.needed_before = w.before;
        view.has_untold_text = w.to_tell != 0;
        for (std::size_t i = 0; i < k_step_count; ++i) {
            if (w.holds[i] == Held::for_a_time) view.holds[i] = Hold{k_hold_time, "it failed"};
            if (w.holds[i] == Held::until_change) view.holds[i] = Hold{};
        }
    }

    TaskRecord record;
    View view{record};

  private:
    void raise(Notice notice) { engine::raise(record, std::move(notice)); }
    void look_at_others(const Small& w) {
        const auto fate = [](Fate which) { return which == Fate::deleted ? "is deleted" : "has been cancelled"; };
        const TaskId blocker{"bbbb"};
        const auto state = w.blocker == Fate::done ? BlockerState::done
                           : w.is_gone()           ? BlockerState::gone
                                                   : BlockerState::open;
        if (w.blocker != Fate::none) view.blockers = {{blocker, state, "bbbb", fate(w.blocker)}};
        if (w.blocker_told) record.blockers_gone = {blocker};
        if (w.blocker_notice != Fate::none) {
            const Blocker told{blocker, BlockerState::gone, "bbbb", fate(w.blocker_notice)};
            raise({NoticeKind::blocker_gone, gone_text({told}), "", "", {}});
        }
        for (std::size_t i = 0; i < w.kids.size(); ++i) {
            const std::string name(4, static_cast<char>('c' + i));
            constexpr std::array<ChildState, 7> k_states = {ChildState::open,  ChildState::open,  ChildState::open,
                                                            ChildState::stuck, ChildState::ended, ChildState::done,
                                                            ChildState::done};
            Child child{TaskId{name}, name, "", "a part", k_states[static_cast<std::size_t>(w.kids[i])]};
            child.unapproved = w.kids[i] == Kid::unapproved;
            if (w.kids[i] == Kid::noted) record.children_done.insert(child.id);
            if ((w.unapproved_told >> i & 1) != 0) record.unapproved_told.push_back(child.id);
            if ((w.trouble_told >> i & 1) != 0) record.trouble_told.push_back(child.id);
            if (w.kids[i] != Kid::none) view.children.push_back(std::move(child));
        }
        if (w.unapproved_notice) raise({NoticeKind::children_unapproved, "some wait for you", "", "", {}});
        if (w.trouble_notice == Text::none) return;
        const auto trouble = trouble_of(*view.definition, record.task, view.children);
        const bool right = w.trouble_notice == Text::right && trouble;
        raise({NoticeKind::child_needs_you, right ? trouble->text : "it was stuck", "", "", {}});
    }
    void look_at_agent(const Small& w, const std::function<Timestamp(milliseconds)>& ago) {
        view.unchanged_since = ago(w.agent == Agent::unread_long ? 360s : 0s);
        if (w.agent == Agent::none) return;
        const auto activity = w.agent == Agent::busy ? Activity::busy : w.rests() ? Activity::idle : Activity::unknown;
        view.agent = AgentActivity{activity, ago(w.agent == Agent::rests_long ? 60s : 0s), "screen", ""};
        if (w.rests()) view.idle = {Role::worker};
    }
};

/// Performs the step in the world as the functions of the reconciler do, in each way that it can go.
class Performed {
  public:
    Performed(const Small& before, int step) : before_(before), step_(step) {
        perform();
        const bool has_failed = std::ranges::count(before.holds, Held::for_a_time) > 0;  // one failure at a time
        const bool can_fail = step != notify;                                            // it writes nothing
        if (can_fail && !has_failed) add(before_, Held::for_a_time);
    }
    const std::vector<Small>& worlds() const { return worlds_; }

  private:
    void perform() {
        auto w = before_;
        switch (step_) {
            case blockers:
                if (w.is_gone()) {
                    if (!w.blocker_told || w.blocker_notice != Fate::none) w.blocker_notice = w.blocker;
                    w.blocker_told = 1;
                } else {
                    w.blocker_notice = Fate::none;
                }
                if (w.blocker == Fate::done) w.blocker = Fate::none;
                return add(w);
            case children:
                for (auto& kid : w.kids) kid = kid == Kid::done ? Kid::noted : kid;
                return add(w);
            case tell:
                w.unapproved_notice =
                    w.unapproved() != 0 && (w.unapproved_notice || w.unapproved() != w.unapproved_told);
                if (!w.has_trouble()) {
                    w.trouble_notice = Text::none;
                } else if (w.troubled() != w.trouble_told || w.trouble_notice != Text::none) {
                    w.trouble_notice = Text::right;
                }
                w.unapproved_told = w.unapproved();
                w.trouble_told = w.troubled();
                return add(w);
            case wait:
                w.queued = 0;
                if (w.failed == Failed::tried_again) w.failed = Failed::no;
                return add(w);
            case go_on:
                return go_on_after_children(w);
            case unpicked:
            case attempts:
            case spend:
            case stop:
                w.left = 0;
                return add(w);
            case start:
                w.held = 0;
                add(w);
                w.need = Need::help;  // it failed for good
                return add(w);
            case deliver:
                add(w, Held::for_a_time);
                --w.outbox;
                add(w);  // it was out of date
                w.typed = Typed::now;
                return add(w);
            case acknowledge:
                return look_at_typed(w);
            case clear:
                w.idle_notice = 0;
                return add(w);
            case remind:
                return remind_agent(w);
            default:
                w.before = w.needs();
                w.to_tell = 0;
                return add(w);
        }
    }
    void go_on_after_children(Small w) {
        w.failed = Failed::tried_again;
        add(w, Held::for_a_time);
        w.failed = Failed::for_good;
        add(w);
        w.failed = Failed::no;
        w.queued = 1;
        add(w);
        w.queued = 0;
        w.status = Status::working;
        w.agent = Agent::busy;
        add(w);
        w.status = Status::over;
        w.agent = Agent::none;
        add(w);
    }
    void look_at_typed(Small w) {
        add(w, Held::for_a_time);
        add(w, Held::until_change);
        w.need = Need::help;  // the human is told that it was not taken
        add(w, Held::until_change);
        w.need = before_.need;
        w.typed = Typed::now;  // it is typed again
        add(w, Held::for_a_time);
        w.typed = Typed::none;  // it was seen
        add(w, Held::until_change);
    }
    void remind_agent(Small w) {
        add(w, Held::for_a_time);
        add(w, Held::until_change);
        w.idle_notice = 1;
        add(w);
        w.idle_notice = 0;
        if (w.agent == Agent::unread_long) return;
        if (w.reminded < 2) {
            ++w.reminded;
            ++w.outbox;
            return add(w);
        }
        w.reminded = 0;
        w.agent = Agent::busy;  // what it has left leads on, to another agent
        add(w);
    }
    /// A change of the record ends what was held until a change. A step that changes nothing is held itself.
    void add(Small w, Held hold = Held::no) {
        auto unseen = w;
        unseen.before = before_.before;  // which is in no record
        const bool is_changed = !(unseen == before_);
        for (auto& each : w.holds) each = is_changed && each == Held::until_change ? Held::no : each;
        if (hold == Held::no && !is_changed) hold = Held::until_change;
        w.holds[static_cast<std::size_t>(step_)] = hold;
        worlds_.push_back(w);
    }

    Small before_;
    int step_;
    std::vector<Small> worlds_;
};

/// The alarm rings after that time, and wakes the task.
Small after(Small w, milliseconds time) {
    for (auto& hold : w.holds) hold = Held::no;  // none is longer than any alarm
    if (w.typed == Typed::now && time >= 2s) w.typed = Typed::due;
    if (w.typed == Typed::due && time >= 30s) w.typed = Typed::old;
    if (w.agent == Agent::rests && time >= 60s) w.agent = Agent::rests_long;
    if (w.agent == Agent::unread && time >= 360s) w.agent = Agent::unread_long;
    return w;
}

/// Returns the worlds after somebody outside has ended a wait: the end of a transition, a merge or checks, the daemon's
/// start, a human, other tasks, an agent, any save.
std::vector<Small> brought_from_outside(const Small& w) {
    std::vector<Small> worlds;
    const auto add = [&](auto change) {
        auto changed = w;
        change(changed);
        for (auto& hold : changed.holds) hold = hold == Held::until_change ? Held::no : hold;
        if (!(changed == w)) worlds.push_back(changed);
    };
    add([](Small&) {});
    add([](Small& to) { to.barrier = Barrier::none; });
    add([](Small& to) { to.room = to.held; });
    add([](Small& to) { to.failed = to.failed == Failed::for_good ? Failed::no : to.failed; });
    return worlds;
}

class Exploration {
  public:
    void begin_at(const Small& world) {
        walk(world);
        while (!left_.empty()) {
            const auto next = left_.back();
            left_.pop_back();
            walk(next);
        }
    }
    std::size_t size() const { return is_open_.size(); }
    const std::set<std::string>& complaints() const { return complaints_; }

  private:
    void complain(const std::string& what, const Small& world, int step = -1) {
        constexpr std::size_t k_enough = 20;
        const auto name = step < 0 ? std::string() : " " + std::string(k_names[static_cast<std::size_t>(step)]);
        if (complaints_.size() < k_enough) complaints_.insert(what + name + ": " + world.text());
    }
    std::variant<Step, Until> next_of(const Small& world) const { return engine::next(Given(world, definition_).view); }

    /// Depth first, over the steps alone.
    void walk(const Small& world) {
        const auto [at, is_new] = is_open_.try_emplace(world, true);
        if (!is_new) {
            if (at->second) complain("steps repeat for ever", world);
            return;
        }
        const auto next = next_of(world);
        check(world, next);
        if (const auto* step = std::get_if<Step>(&next)) {
            const Performed performed(world, static_cast<int>(step->index()));
            for (const auto& then : performed.worlds()) walk(then);
        } else {
            rest(world, std::get<Until>(next));
        }
        is_open_[world] = false;
    }

    void check(const Small& world, const std::variant<Step, Until>& next) {
        Wait soonest;
        int due = -1;
        for (int i = static_cast<int>(k_step_count) - 1; i >= 0; --i) {
            const auto in = wanted(world, i);
            const auto hold = world.holds[static_cast<std::size_t>(i)];
            if (!in || hold == Held::until_change) continue;
            if (hold == Held::no && *in == 0ms) due = i;
            const auto later = hold == Held::no ? *in : std::max(*in, k_hold_time);
            soonest = std::min(soonest.value_or(later), later);
        }
        const auto* step = std::get_if<Step>(&next);
        const int taken = step ? static_cast<int>(step->index()) : -1;
        if (taken != due && due >= 0) complain("not taken although it is due and comes first,", world, due);
        if (taken != due && due < 0) complain("taken although it is not due,", world, taken);
        if (!step && due < 0 && std::get<Until>(next).in != soonest) complain("looks again at another time", world);
    }

    void rest(Small world, const Until& until) {
        const bool is_between = world.is(Barrier::intent) || world.is(Barrier::merging) || world.is(Barrier::off_duty);
        if (!is_between) world.before = world.needs();
        if (until.in) {
            const auto woken = after(world, *until.in);
            if (!std::holds_alternative<Step>(next_of(woken))) complain("an alarm that finds no step", world);
            left_.push_back(woken);
        }
        const auto brought = brought_from_outside(world);
        for (int i = 0; i < static_cast<int>(k_step_count); ++i) {
            if (!until.in && brought.empty() && wanted(world, i, true)) complain("nobody ever brings about", world, i);
        }
        left_.insert(left_.end(), brought.begin(), brought.end());
    }

    Definition definition_ = [] {
        auto definition = small_definition();
        definition.states[3].children = ChildrenRule{"working", "done"};  // reviewing
        return definition;
    }();
    std::unordered_map<Small, bool, Hash> is_open_;  ///< each world that was met; open: its steps are being walked
    std::vector<Small> left_;
    std::set<std::string> complaints_;
};

/// Names the fields that differ from the first world.
std::string Small::text() const {
    const std::vector<std::pair<const char*, int>> all = {{"need", int(need)},
                                                          {"before", int(before)},
                                                          {"status", int(status)},
                                                          {"barrier", int(barrier)},
                                                          {"blocker", int(blocker)},
                                                          {"blocker_notice", int(blocker_notice)},
                                                          {"blocker_told", blocker_told},
                                                          {"kid", int(kids[0])},
                                                          {"kid", int(kids[1])},
                                                          {"unapproved_told", unapproved_told},
                                                          {"trouble_told", trouble_told},
                                                          {"unapproved_notice", unapproved_notice},
                                                          {"trouble_notice", int(trouble_notice)},
                                                          {"queued", queued},
                                                          {"failed", int(failed)},
                                                          {"held", held},
                                                          {"room", room},
                                                          {"outbox", outbox},
                                                          {"typed", int(typed)},
                                                          {"agent", int(agent)},
                                                          {"idle_notice", idle_notice},
                                                          {"reminded", reminded},
                                                          {"to_tell", to_tell},
                                                          {"left", left}};
    std::string out;
    for (const auto& [name, value] : all) {
        if (value != 0) out += std::string(name) + " " + std::to_string(value) + ", ";
    }
    for (std::size_t i = 0; i < k_step_count; ++i) {
        if (holds[i] != Held::no) out += std::string(k_names[i]) + " held " + std::to_string(int(holds[i])) + ", ";
    }
    return out;
}

/// The values that a field takes, and all combinations of such fields.
using Values = std::vector<std::function<void(Small&)>>;

template <class T>
Values each(T Small::*field, int count) {
    Values values;
    for (int i = 0; i < count; ++i) values.push_back([=](Small& w) { w.*field = static_cast<T>(i); });
    return values;
}

template <class T>
Values some(T Small::*field, const std::vector<T>& wanted) {
    Values values;
    for (const auto value : wanted) values.push_back([=](Small& w) { w.*field = value; });
    return values;
}

Values each_kid(std::size_t which) {
    Values values;
    for (int i = 0; i <= static_cast<int>(Kid::noted); ++i) {
        values.push_back([=](Small& w) { w.kids[which] = static_cast<Kid>(i); });
    }
    return values;
}

void begin_at_all(Exploration& exploration, const Small& world, const std::vector<Values>& fields, std::size_t at = 0) {
    if (at == fields.size()) return exploration.begin_at(world);
    for (const auto& set : fields[at]) {
        auto next = world;
        set(next);
        begin_at_all(exploration, next, fields, at + 1);
    }
}

void check(const std::vector<Values>& fields) {
    Exploration exploration;
    begin_at_all(exploration, {}, fields);
    CHECK(exploration.complaints() == std::set<std::string>{});
    CHECK(exploration.size() > 10'000);
}

}  // namespace

TEST_CASE("Every task that waits for others is due for what it is due for, comes to rest, and is looked at again") {
    check({some(&Small::status, {Status::pending, Status::over}), each(&Small::barrier, 7), each(&Small::blocker, 5),
           each(&Small::blocker_told, 2), some(&Small::blocker_notice, {Fate::none, Fate::cancelled, Fate::deleted}),
           each(&Small::outbox, 2), some(&Small::need, {Need::nothing, Need::start, Need::help}),
           each(&Small::before, 5), each(&Small::to_tell, 2), each(&Small::left, 2)});
}

TEST_CASE("Every task that has sub-tasks is due for what it is due for, comes to rest, and is looked at again") {
    const std::vector<Values> of_kids = {each_kid(0), each_kid(1), each(&Small::unapproved_told, 4),
                                         each(&Small::unapproved_notice, 2), each(&Small::trouble_notice, 3)};
    auto waiting = of_kids;
    waiting.push_back(some(&Small::status, {Status::waiting}));
    waiting.push_back(some(&Small::barrier, {Barrier::none, Barrier::intent, Barrier::merging}));
    waiting.push_back(each(&Small::trouble_told, 4));
    waiting.push_back(each(&Small::queued, 2));
    waiting.push_back(each(&Small::failed, 3));
    check(waiting);
    auto others = of_kids;
    others.push_back(some(&Small::status, {Status::working, Status::over}));
    others.push_back(some<Byte>(&Small::trouble_told, {0, 1}));
    check(others);
}

TEST_CASE("Every task that agents work on is due for what it is due for, comes to rest, and is looked at again") {
    check({some(&Small::status, {Status::working}), each(&Small::barrier, 7), each(&Small::held, 2),
           each(&Small::room, 2), each(&Small::outbox, 2), each(&Small::typed, 4), each(&Small::agent, 6),
           each(&Small::idle_notice, 2), some<Byte>(&Small::reminded, {0, 2}), each(&Small::to_tell, 2),
           some(&Small::need, {Need::nothing, Need::review, Need::help}),
           some(&Small::before, {Need::nothing, Need::help})});
}

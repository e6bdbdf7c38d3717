// Walks everything that can happen to a task of the shipped workflows, and of two that are none: each reachable
// abstract state, each event.
//
// A world is the status, the counters that conditions look at, what stands in TASK.md compared with what stood there
// when the status was entered, and who is alive. Its events are requests for every status by every role with and
// without force, the ends of agents, edits of the body, a human's respawn, and, where a task waits for its sub-tasks,
// what becomes of each of two of them, in every order, and what follows from that. The project has checks if that is
// asked for: they have not run on the commit, passed or failed, and any of it may change at any time. The real decide
// functions say what happens; effects of actions on who is alive are modelled here. What must never be is a list of
// sentences, empty for a sound workflow; the last tests break workflows on purpose and want to see it said.
#include <algorithm>
#include <deque>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "common/base/sha256.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/engine/explain.hpp"
#include "daemon/workflow/load.hpp"
#include "tests/catch.hpp"
#include "tests/unit/workflow/loaded.hpp"

using namespace orange;
using namespace orange::engine;
using orange::test::loaded;

namespace {

enum class Text { absent, stale, fresh };
enum class Checked { not_yet, passed, failed };

struct World {
    std::string status;
    std::vector<int> counters;  ///< as Exploration::counters_; never above the clamp
    std::vector<Text> sections;
    std::vector<bool> pass;  ///< what a section's verdict says
    bool worker = false, reviewer = false;
    bool claimed = false;               ///< holds a workspace
    std::vector<ChildState> kids = {};  ///< where the status waits for them
    Checked checked = Checked::not_yet;

    auto key() const { return std::tie(status, counters, sections, pass, worker, reviewer, claimed, kids, checked); }
    bool operator<(const World& other) const { return key() < other.key(); }
    bool operator==(const World& other) const { return key() == other.key(); }

    std::string text() const {
        std::string out = status + " counters";
        for (const int value : counters) out += " " + std::to_string(value);
        out += " sections";
        for (std::size_t i = 0; i < sections.size(); ++i) {
            out += " " + std::string(sections[i] == Text::absent ? "-" : sections[i] == Text::stale ? "old" : "new");
            if (pass[i]) out += "+";
        }
        if (checked != Checked::not_yet) out += checked == Checked::passed ? " checked" : " failed";
        for (const auto kid : kids) out += " sub-task " + std::to_string(static_cast<int>(kid));
        return out + (worker ? " worker" : "") + (reviewer ? " reviewer" : "") + (claimed ? " workspace" : "");
    }
};

enum class Actor { worker, reviewer, people, edit };

struct Step {
    Actor actor;
    World to;
    bool forced = false;
    bool counted = false;  ///< a counter other than crash_count has grown
};

using Graph = std::map<World, std::vector<Step>>;
using Complaints = std::set<std::string>;

class Exploration {
  public:
    explicit Exploration(Definition definition, bool has_checks = false)
        : definition_(std::move(definition)), has_checks_(has_checks) {
        for (const auto& transition : definition_.transitions) {
            if (transition.gate) note(*transition.gate);
            if (transition.when) note(*transition.when);
        }
        for (const auto& rule : definition_.exit_rules) {
            if (rule.has_artifact) note(*rule.has_artifact);
            clamp_ = std::max(clamp_, static_cast<int>(rule.stuck_after));
            for (const auto& target : rule.targets) {
                if (target.when) note(*target.when);
            }
        }
        explore();
    }

    const Definition& definition() const { return definition_; }
    const Graph& graph() const { return graph_; }

    /// Everything that is wrong with this workflow; empty where nothing is.
    Complaints complaints() {
        every_state_is_met();
        people_free_every_task();
        done_needs_no_force();
        nobody_marks_their_own_work();
        agents_live_where_they_are_wanted();
        nobody_works_for_what_is_over();
        nothing_counts_for_ever();
        return complaints_;
    }

    /// The worlds in `status` that a new task comes to without a step of a person out of `gate`.
    Complaints worlds_around(const std::string& gate, const std::string& status) const {
        Complaints found;
        std::set<World> seen;
        std::deque<World> queue{first_world()};
        while (!queue.empty()) {
            const World world = queue.front();
            queue.pop_front();
            if (!seen.insert(world).second) continue;
            if (world.status == status) found.insert(world.text());
            for (const auto& step : graph_.at(world)) {
                const bool is_decision = step.actor == Actor::people && world.status == gate;
                // A person may move a stuck task on, and merge it with force.
                if (!is_decision && step.to.status != definition_.name_for(Meaning::stuck)) queue.push_back(step.to);
            }
        }
        return found;
    }

    int most(const std::string& counter) const {
        const auto at =
            static_cast<std::size_t>(std::find(counters_.begin(), counters_.end(), counter) - counters_.begin());
        int highest = 0;
        for (const auto& [world, steps] : graph_) highest = std::max(highest, world.counters.at(at));
        return highest;
    }

  private:
    void complain(const std::string& what, const World& world) { complaints_.insert(what + ": " + world.text()); }

    void note(const Gate& gate) {
        if (gate.section.empty()) return;
        if (std::find(sections_.begin(), sections_.end(), gate.section) == sections_.end()) {
            sections_.push_back(gate.section);
        }
        auto& content = contents_[gate.section];
        for (const auto& field : gate.fields) content += field + ": x\n";
        if (gate.verdict) verdicts_.insert(gate.section);
        if (!gate.children) return;
        split_ = gate.section;  // the sub-tasks are created when they are written down
        for (const auto& kid : children_in({ChildState::open, ChildState::open})) content += kid.short_id + "\n";
    }
    static Children children_in(const std::vector<ChildState>& states) {
        Children children;
        for (const auto state : states) {
            const std::string name(4, static_cast<char>('a' + children.size()));
            children.push_back({{name + "56789abcdefghijk"}, name, "x", "x", state});
        }
        return children;
    }
    bool waits_in(const std::string& status) const { return definition_.state(status)->children.has_value(); }

    void note(const Condition& condition) {
        if (std::find(counters_.begin(), counters_.end(), condition.field) == counters_.end()) {
            counters_.push_back(condition.field);
        }
        clamp_ = std::max(clamp_, static_cast<int>(condition.value) + 1);
    }

    /// The world as the engine sees it.
    struct View {
        Task task;
        Artifacts artifacts;
        std::map<std::string, std::string> entry;
        Facts facts{true};  // of a project without checks
        TransitionFacts given() const { return {task, artifacts, entry, facts}; }
    };
    View view(const World& world) const {
        View view;
        view.task.id.value = "0123456789abcdefghijk";
        view.task.summary = "x";
        view.task.status = world.status;
        for (std::size_t i = 0; i < counters_.size(); ++i) view.task.counters[counters_[i]] = world.counters[i];
        for (std::size_t i = 0; i < sections_.size(); ++i) {
            if (world.sections[i] == Text::absent) continue;
            const bool stale = world.sections[i] == Text::stale;
            std::string content = contents_.at(sections_[i]) + "text\n";
            if (verdicts_.contains(sections_[i])) content = world.pass[i] ? "Verdict: PASS\n" : "Verdict: FAIL\n";
            view.artifacts.sections[sections_[i]] = {content};
            if (stale) view.entry[sections_[i]] = sha256(content);
            if (sections_[i] == split_) view.facts.children = children_in({ChildState::open, ChildState::open});
        }
        if (waits_in(world.status)) view.facts.children = children_in(world.kids);
        if (has_checks_) look_at_checks(view.facts, world.checked);
        return view;
    }

    static void look_at_checks(Facts& facts, Checked checked) {
        facts.project_checks = {{"make"}};
        facts.commit = "c0ffee";
        facts.checked.reset();
        if (checked == Checked::not_yet) return;
        CheckRecord record;
        record.commit = facts.commit;
        record.checks = hash_of(facts.project_checks);
        record.passed = checked == Checked::passed;
        record.failed = record.passed ? "" : "make";
        facts.checked = record;
    }
    /// Every way there wants the checks, and they have not passed.
    bool is_unchecked(const World& world, const std::string& to) const {
        if (!has_checks_ || world.checked == Checked::passed) return false;
        const auto edges = definition_.between(world.status, to);
        return std::ranges::all_of(edges, [](const auto* edge) { return edge->gate && edge->gate->facts.checks; });
    }

    /// What a decision does to the world.
    World performed(World world, const Decision& decision) {
        const World before = world;
        if (decision.from != world.status) complain("a decision from elsewhere", world);
        int reviewers = world.reviewer ? 1 : 0;
        int workers = world.worker ? 1 : 0;
        for (const auto& action : decision.actions) {
            const bool for_reviewer = action.name == "spawn_reviewer" || action.param("harness") == "review" ||
                                      action.param("role") == "reviewer";
            const bool spawns = action.name == "spawn_agent" || action.name == "spawn_reviewer";
            const bool ensures = action.name == k_ensure_agent;
            // The runner takes a workspace before anything that starts an agent.
            if (action.name == "acquire_workspace" || spawns || ensures) world.claimed = true;
            if (action.name == "release_workspace") {
                if (workers + reviewers > 0) complain("a workspace is given back under a living agent", before);
                world.claimed = false;
            }
            if (action.name == "kill_session") workers = reviewers = 0;
            if (action.name == "kill_reviewer") reviewers = 0;
            if (spawns && for_reviewer) ++reviewers;
            if (spawns && !for_reviewer) workers = 1;  // a living one gets a message
            if (ensures && for_reviewer) reviewers = std::max(reviewers, 1);
            if (ensures && !for_reviewer) workers = 1;
        }
        if (reviewers > 1) complain("a second reviewer is started beside a living one", before);
        world.worker = workers > 0;
        world.reviewer = reviewers > 0;
        world.status = decision.to;
        for (std::size_t i = 0; i < counters_.size(); ++i) {
            const auto value = decision.counters.find(counters_[i]);
            if (value != decision.counters.end()) world.counters[i] = std::min(clamp_, static_cast<int>(value->second));
            if (counters_[i] == "crash_count") world.counters[i] = 0;
        }
        for (std::size_t i = 0; i < sections_.size(); ++i) {
            const bool compared = sections_[i] != split_;  // no gate asks whether that is fresh
            if (compared && world.sections[i] == Text::fresh) world.sections[i] = Text::stale;
        }
        world.kids.clear();
        if (waits_in(world.status)) world.kids = {ChildState::open, ChildState::open};
        return world;
    }

    /// A counter is greater than it was, as the decision says it, whether the clamp shows it or not.
    bool counts(const Decision& decision, const World& world) const {
        for (std::size_t i = 0; i < counters_.size(); ++i) {
            const auto value = decision.counters.find(counters_[i]);
            if (value != decision.counters.end() && value->second > world.counters[i]) return true;
        }
        return false;
    }

    /// explain() and decide_request() must say the same of each edge.
    void check_explained(const World& world, const std::vector<EdgeExplanation>& edges, const Request& request,
                         bool taken) {
        bool open = false;
        for (const auto& edge : edges) {
            if (edge.to != request.to || !edge.open() || (edge.needs_force && !request.force)) continue;
            open = open || std::find(edge.by.begin(), edge.by.end(), request.by) != edge.by.end();
        }
        if (open != taken) complain("explain and decide differ about " + request.to, world);
    }

    void add_requests(const World& world, const View& seen, std::vector<Step>& steps) {
        const auto edges = explain(definition_, seen.given());
        for (const auto& state : definition_.states) {
            for (const Role role : {Role::worker, Role::reviewer, Role::human, Role::system, Role::unknown}) {
                if (role == Role::worker && !world.worker) continue;
                if (role == Role::reviewer && !world.reviewer) continue;
                for (const bool force : {false, true}) {
                    const Request request{state.name, role, force};
                    const auto outcome = decide_request(definition_, seen.given(), request);
                    const auto* decision = std::get_if<Decision>(&outcome);
                    check_explained(world, edges, request, decision != nullptr);
                    if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
                        if (refusal->why.empty()) complain("a rejection without a word", world);
                        if (!refusal->command.empty() && refusal->lead.empty()) complain("a command for nobody", world);
                        continue;
                    }
                    if (is_unchecked(world, state.name)) complain("work goes on without its checks", world);
                    if (role == Role::unknown) complain("nobody knows who asked, and it was done", world);
                    const Actor actor = role == Role::worker     ? Actor::worker
                                        : role == Role::reviewer ? Actor::reviewer
                                                                 : Actor::people;
                    steps.push_back({actor, performed(world, *decision), force, counts(*decision, world)});
                }
            }
        }
    }

    void add_exit(const World& world, const View& seen, Role role, std::vector<Step>& steps) {
        const Actor actor = role == Role::worker ? Actor::worker : Actor::reviewer;
        World dead = world;
        (role == Role::worker ? dead.worker : dead.reviewer) = false;
        const auto outcome = decide_exit(definition_, seen.given(), {role, 1});
        if (std::holds_alternative<AwaitChecks>(outcome)) {  // it is decided when they have run
            for (const auto checked : {Checked::passed, Checked::failed}) {
                World ran = world;
                ran.checked = checked;
                add_exit(ran, view(ran), role, steps);
            }
            return;
        }
        if (const auto* crash = std::get_if<Crash>(&outcome)) {
            for (std::size_t i = 0; i < counters_.size(); ++i) {
                if (counters_[i] != "crash_count") continue;
                dead.counters[i] = std::min(clamp_, static_cast<int>(crash->crash_count));
            }
            if (crash->respawn) (role == Role::worker ? dead.worker : dead.reviewer) = true;
        } else if (const auto* advance = std::get_if<Advance>(&outcome)) {
            bool verdict = false;
            for (const auto* edge : definition_.between(world.status, advance->decision.to)) {
                verdict = verdict || (edge->gate && edge->gate->verdict);
            }
            if (advance->decision.attested == (verdict && !advance->crash)) {
                complain("a dead reviewer's verdict counts as attested", world);
            }
            if (!advance->crash && is_unchecked(world, advance->decision.to)) {
                complain("work goes on without its checks", world);
            }
            steps.push_back({actor, performed(dead, advance->decision), false, counts(advance->decision, world)});
            return;
        }
        steps.push_back({actor, dead});
    }

    void add_edits(const World& world, std::vector<Step>& steps) const {
        for (const auto checked : {Checked::not_yet, Checked::passed, Checked::failed}) {
            World other = world;
            other.checked = checked;
            if (has_checks_ && checked != world.checked) steps.push_back({Actor::edit, other});
        }
        for (std::size_t i = 0; i < sections_.size(); ++i) {
            for (const Text text : {Text::absent, Text::fresh}) {
                for (const bool pass : {false, true}) {
                    if (pass && (text == Text::absent || !verdicts_.contains(sections_[i]))) continue;
                    World edited = world;
                    edited.sections[i] = text;
                    edited.pass[i] = pass;
                    steps.push_back({Actor::edit, edited});
                }
            }
        }
    }

    /// Whoever merges a sub-task is a human, and what follows from the last one is theirs.
    void add_children(const World& world, const View& seen, std::vector<Step>& steps) {
        for (std::size_t i = 0; i < world.kids.size(); ++i) {
            if (world.kids[i] == ChildState::done) continue;
            for (const auto state : {ChildState::open, ChildState::stuck, ChildState::done, ChildState::ended}) {
                World changed = world;
                changed.kids[i] = state;
                steps.push_back({state == ChildState::stuck ? Actor::worker : Actor::people, changed});
            }
        }
        const auto has = [&](ChildState state) { return how_many(seen.facts.children, state) > 0; };
        const bool trouble = has(ChildState::stuck) || has(ChildState::ended) || world.kids.empty();
        for (const bool own_work : {false, true}) {
            View looked = seen;
            looked.facts.own_work = own_work;
            const auto outcome = decide_children(definition_, looked.given());
            if (std::holds_alternative<Trouble>(outcome) != trouble) complain("trouble is not told as it is", world);
            const auto* decision = std::get_if<Decision>(&outcome);
            if (decision == nullptr && !trouble && !has(ChildState::open)) {
                complain("all sub-tasks are done, and nothing follows", world);
            }
            if (decision == nullptr) continue;
            if (trouble || has(ChildState::open)) complain("it goes on without its sub-tasks", world);
            const auto& rule = *definition_.state(world.status)->children;
            if (decision->to != (own_work ? rule.when_commits : rule.otherwise)) complain("it goes astray", world);
            steps.push_back({Actor::people, performed(world, *decision), false, counts(*decision, world)});
        }
    }

    std::vector<Step> steps_from(const World& world) {
        std::vector<Step> steps;
        const View seen = view(world);
        add_requests(world, seen, steps);
        if (definition_.state(world.status)->terminal) return steps;
        if (world.worker) add_exit(world, seen, Role::worker, steps);
        if (world.reviewer) add_exit(world, seen, Role::reviewer, steps);
        if (waits_in(world.status)) {
            add_children(world, seen, steps);
        } else {
            add_edits(world, steps);
        }
        const auto need = respawn_need(definition_, seen.task);
        if (need && world.claimed) {
            World respawned = world;
            (need->role == Role::worker ? respawned.worker : respawned.reviewer) = true;
            steps.push_back({Actor::people, respawned});
        }
        return steps;
    }

    void explore() {
        if (std::find(counters_.begin(), counters_.end(), "crash_count") == counters_.end()) {
            counters_.push_back("crash_count");
        }
        // A task can begin anywhere: it is created in the middle of its life, or comes over from another workflow.
        std::deque<World> queue;
        for (const auto& state : definition_.states) {
            if (!state.terminal) queue.push_back(new_world(state));
        }
        while (!queue.empty()) {
            const World world = queue.front();
            queue.pop_front();
            const auto [entry, fresh] = graph_.try_emplace(world);
            if (!fresh) continue;
            entry->second = steps_from(world);
            for (const auto& step : entry->second) queue.push_back(step.to);
        }
    }

    World new_world(const State& state) const {
        World world;
        world.status = state.name;
        world.counters.assign(counters_.size(), 0);
        world.sections.assign(sections_.size(), Text::absent);
        world.pass.assign(sections_.size(), false);
        world.worker = state.agent == Role::worker;
        world.reviewer = state.agent == Role::reviewer;
        world.claimed = state.agent.has_value();
        return world;
    }
    World first_world() const { return new_world(definition_.initial()); }

    template <class Allowed>
    std::set<World> can_reach(const std::set<World>& goals, Allowed allowed) const {
        std::map<World, std::vector<const World*>> backwards;
        for (const auto& [world, steps] : graph_) {
            for (const auto& step : steps) {
                if (allowed(step)) backwards[step.to].push_back(&world);
            }
        }
        std::set<World> reached = goals;
        std::vector<World> queue(goals.begin(), goals.end());
        while (!queue.empty()) {
            const World world = queue.back();
            queue.pop_back();
            for (const auto* before : backwards[world]) {
                if (reached.insert(*before).second) queue.push_back(*before);
            }
        }
        return reached;
    }

    std::set<World> worlds_in(const std::set<std::string>& statuses) const {
        std::set<World> found;
        for (const auto& [world, steps] : graph_) {
            if (statuses.contains(world.status)) found.insert(world);
        }
        return found;
    }

    std::set<std::string> terminal_states() const {
        std::set<std::string> names;
        for (const auto& state : definition_.states) {
            if (state.terminal) names.insert(state.name);
        }
        return names;
    }

    void every_state_is_met() {
        std::set<std::string> met;
        for (const auto& [world, steps] : graph_) met.insert(world.status);
        if (met.size() != definition_.states.size()) complaints_.insert("a state is never met");
    }

    void people_free_every_task() {
        const auto freed =
            can_reach(worlds_in(terminal_states()), [](const Step& s) { return s.actor == Actor::people; });
        for (const auto& [world, steps] : graph_) {
            if (!freed.contains(world)) complain("people cannot end this task", world);
        }
    }

    void done_needs_no_force() {
        const auto ready = can_reach(worlds_in({"done"}), [](const Step& step) { return !step.forced; });
        for (const auto& [world, steps] : graph_) {
            if (!definition_.state(world.status)->terminal && !ready.contains(world)) {
                complain("done is reached by force alone", world);
            }
        }
    }

    /// Whatever a worker writes and however it ends, it does not pass a verdict's gate, and it does not end the task.
    void nobody_marks_their_own_work() {
        auto goals = terminal_states();
        for (const auto& transition : definition_.transitions) {
            if (transition.gate && transition.gate->verdict == Verdict::pass) goals.insert(transition.to);
        }
        const auto alone = can_reach(worlds_in(goals), [](const Step& step) {
            return step.actor == Actor::worker || step.actor == Actor::edit;
        });
        for (const auto& world : alone) {
            if (!goals.contains(world.status)) complain("a worker comes around its reviewer", world);
        }
        const auto ended =
            can_reach(worlds_in(terminal_states()), [](const Step& step) { return step.actor != Actor::people; });
        for (const auto& world : ended) {
            if (!definition_.state(world.status)->terminal) complain("agents end their task by themselves", world);
        }
    }

    void agents_live_where_they_are_wanted() {
        for (const auto& [world, steps] : graph_) {
            const auto* state = definition_.state(world.status);
            if (!state->agent) continue;
            const bool alive = *state->agent == Role::worker ? world.worker : world.reviewer;
            const auto need = respawn_need(definition_, view(world).task);
            if (!alive && !(need && need->role == *state->agent && world.claimed)) {
                complain("its agent is dead and cannot be started again", world);
            }
        }
    }

    void nobody_works_for_what_is_over() {
        for (const auto& [world, steps] : graph_) {
            const auto* state = definition_.state(world.status);
            if (state->terminal && (world.worker || world.reviewer || world.claimed)) {
                complain("something is left of a task that is over", world);
            }
            if (world.reviewer && state->agent != Role::reviewer) complain("a reviewer lives on", world);
        }
    }

    /// Without people no counter grows for ever: no way leads from behind a step that counts back to before it, which
    /// is to say that the two are in different strongly connected components (Kosaraju's).
    void nothing_counts_for_ever() {
        std::map<const World*, std::vector<const World*>> forwards, backwards;
        const auto place = [&](const World& world) { return &graph_.find(world)->first; };
        for (const auto& [world, steps] : graph_) {
            for (const auto& step : steps) {
                if (step.actor == Actor::people) continue;
                forwards[&world].push_back(place(step.to));
                backwards[place(step.to)].push_back(&world);
            }
        }
        std::vector<const World*> finished;
        std::set<const World*> seen;
        for (const auto& [world, steps] : graph_) {
            std::vector<std::pair<const World*, std::size_t>> path;
            if (seen.insert(&world).second) path.emplace_back(&world, 0);
            while (!path.empty()) {
                auto& [at, next] = path.back();
                if (next == forwards[at].size()) {
                    finished.push_back(at);
                    path.pop_back();
                } else if (const auto* to = forwards[at][next++]; seen.insert(to).second) {
                    path.emplace_back(to, 0);
                }
            }
        }
        std::map<const World*, const World*> component;
        for (auto root = finished.rbegin(); root != finished.rend(); ++root) {
            std::vector<const World*> queue{*root};
            while (!queue.empty()) {
                const auto* at = queue.back();
                queue.pop_back();
                if (!component.try_emplace(at, *root).second) continue;
                for (const auto* before : backwards[at]) queue.push_back(before);
            }
        }
        for (const auto& [world, steps] : graph_) {
            for (const auto& step : steps) {
                if (step.actor == Actor::people || !step.counted) continue;
                if (component[&world] == component[place(step.to)]) {
                    complain("without people its counters grow for ever", world);
                }
            }
        }
    }

    Definition definition_;
    bool has_checks_;
    std::vector<std::string> counters_;
    std::vector<std::string> sections_;
    std::map<std::string, std::string> contents_;
    std::set<std::string> verdicts_;
    std::string split_;  ///< the section that names the sub-tasks
    int clamp_ = 3;
    Graph graph_;
    Complaints complaints_;
};

std::string text_of(const std::string& path) {
    std::ifstream file(std::string(ORANGE_SOURCE_DIR) + "/" + path);
    REQUIRE(file);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string all_of(const Complaints& complaints) {
    std::string text;
    std::size_t n = 0;
    for (const auto& complaint : complaints) {
        if (++n <= 20) text += complaint + "\n";
    }
    return text + "(" + std::to_string(complaints.size()) + ")";
}

void check_sound(const std::string& folder, const std::string& name, std::size_t least_worlds,
                 bool has_checks = false) {
    Exploration exploration(loaded(text_of(folder + name + ".yml"), name), has_checks);
    const auto complaints = exploration.complaints();
    INFO(all_of(complaints));
    CHECK(complaints.empty());
    CHECK(exploration.graph().size() > least_worlds);
}

/// The shipped workflow with `from` in place of `to`, at its first occurrence behind `after`.
Complaints complaints_after(const std::string& name, const std::string& after, const std::string& from,
                            const std::string& to) {
    auto text = text_of("workflows/" + name + ".yml");
    const auto begin = text.find(after);
    REQUIRE(begin != std::string::npos);
    const auto at = text.find(from, begin);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    Exploration exploration(loaded(text, name));
    return exploration.complaints();
}

bool says(const Complaints& complaints, const std::string& what) {
    return std::any_of(complaints.begin(), complaints.end(),
                       [&](const std::string& complaint) { return complaint.starts_with(what); });
}

}  // namespace

TEST_CASE("nothing that can happen on default breaks it", "[slow]") {
    check_sound("workflows/", "default", 500);
}

TEST_CASE("nothing that can happen on relay breaks it") {
    check_sound("workflows/", "relay", 300);
}

TEST_CASE("nothing that can happen on pr breaks it", "[slow]") {
    check_sound("workflows/", "pr", 500);
}

TEST_CASE("nothing that can happen on careful breaks it", "[slow]") {
    check_sound("workflows/", "careful", 500);
}

TEST_CASE("nothing that can happen on two-reviewers breaks it", "[slow]") {
    check_sound("workflows/", "two-reviewers", 500);
}

TEST_CASE("no task of careful comes to working without a human's decision about its plan", "[slow]") {
    auto definition = loaded(text_of("workflows/careful.yml"), "careful");
    CHECK(Exploration(definition).worlds_around("plan-review", "working").empty());
    // The approval of an old plan does not count for a new one.
    for (auto& transition : definition.transitions) {
        if (transition.to == "working" && transition.when) transition.when.reset();
    }
    CHECK_FALSE(Exploration(definition).worlds_around("plan-review", "working").empty());
}

TEST_CASE("nothing that can happen on minimal breaks it") {
    check_sound("workflows/", "minimal", 20);
}

TEST_CASE("nothing that can happen to a task with checks breaks a workflow", "[slow]") {
    check_sound("workflows/", "default", 1000, true);
    check_sound("workflows/", "relay", 500, true);
}

TEST_CASE("nothing that can happen on workflows that are not shipped breaks them") {
    check_sound("tests/data/workflows/", "straight", 20);
    check_sound("tests/data/workflows/", "three-rounds", 100);
}

TEST_CASE("two failed reviews on default, and three on three-rounds, are all there are") {
    CHECK(Exploration(loaded(text_of("workflows/default.yml"), "default")).most("review_round") == 2);
    CHECK(Exploration(loaded(text_of("tests/data/workflows/three-rounds.yml"), "three-rounds")).most("checks") == 3);
}

TEST_CASE("a way around the reviewer is found", "[slow]") {
    CHECK(says(complaints_after("default", "- from: stuck\n    to: reviewing", "[human]", "[worker, human]"),
               "a worker comes around its reviewer"));
    CHECK(says(complaints_after("minimal", "- from: working\n    to: cancelled", "    by: [human, system]\n", ""),
               "agents end their task by themselves"));
}

TEST_CASE("a hook that is missing is found", "[slow]") {
    CHECK(says(
        complaints_after("default", "- from: agent-review\n    to: reviewing", "      - action: kill_reviewer\n", ""),
        "a reviewer lives on"));
    CHECK(says(complaints_after("relay", "- from: working\n    to: cancelled", "      - action: kill_session\n", ""),
               "a workspace is given back under a living agent"));
    CHECK(
        says(complaints_after("minimal", "- from: reviewing\n    to: done", "      - action: release_workspace\n", ""),
             "something is left of a task that is over"));
}

TEST_CASE("a review that never ends is found", "[slow]") {
    // The first failed review is the last one, and after a human's help they go on for ever.
    auto text = text_of("workflows/default.yml");
    const std::string reset = "      - action: set_field\n        field: review_round\n        value: 0\n";
    REQUIRE_THAT(text, Holds(reset));
    text.erase(text.find(reset), reset.size());
    for (std::size_t at = 0; (at = text.find("when: \"review_round ", at)) != std::string::npos; ++at) {
        const bool less = text.compare(at + 20, 3, "< 2") == 0;
        text.replace(at + 20, less ? 3 : 4, less ? ">= 2" : "< 2");
    }
    Exploration exploration(loaded(text, "default"));
    CHECK(says(exploration.complaints(), "without people its counters grow for ever"));
}

TEST_CASE("a way on from the sub-tasks that is missing is found") {
    auto definition = loaded(text_of("workflows/relay.yml"), "relay");
    std::erase_if(definition.transitions, [](const Transition& transition) {
        return transition.from == std::vector<std::string>{"delegated"} && transition.to == "done";
    });
    CHECK(says(Exploration(definition).complaints(), "all sub-tasks are done, and nothing follows"));
}

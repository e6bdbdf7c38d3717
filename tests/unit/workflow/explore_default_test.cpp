// Walks everything that can happen to a task of the shipped workflow: each reachable abstract state, each event.
//
// A world is the status, the counters, what stands in TASK.md compared with what stood there when the status was
// entered, and who is alive. Its events are requests for every status by every role with and without force, the ends of
// agents, edits of the body, and a human's respawn. The real decide functions say what happens; effects of actions on
// who is alive are modelled here.
#include <deque>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "daemon/engine/decide.hpp"
#include "daemon/engine/explain.hpp"
#include "daemon/workflow/load.hpp"
#include "tests/catch.hpp"

using namespace orange;
using namespace orange::engine;

namespace {

enum class Text { absent, stale, fresh };

struct World {
    std::string status = "pending";
    int round = 0;
    int crashes = 0;
    Text plan = Text::absent, handoff = Text::absent, review = Text::absent;
    bool pass = false;  ///< what the review says
    bool worker = false, reviewer = false;
    bool claimed = false;  ///< holds a workspace

    auto key() const {
        return std::tie(status, round, crashes, plan, handoff, review, pass, worker, reviewer, claimed);
    }
    bool operator<(const World& other) const { return key() < other.key(); }
};

enum class Actor { worker, reviewer, people, edit };

struct Step {
    Actor actor;
    World to;
};

Definition load_default() {
    std::ifstream file(std::string(ORANGE_SOURCE_DIR) + "/workflows/default.yml");
    std::stringstream text;
    text << file.rdbuf();
    auto loaded = workflow::load(text.str(), "default.yml", "default");
    INFO(workflow::describe(loaded.problems, "default.yml"));
    REQUIRE(loaded.ok());
    return std::move(loaded.definition);
}

const Definition& definition() {
    static const Definition loaded = load_default();
    return loaded;
}

void put(Artifacts& artifacts, std::map<std::string, std::string>& entry, const std::string& name, Text text,
         const std::string& content) {
    if (text == Text::absent) return;
    artifacts.sections[name] = {content, text == Text::stale ? "old" : "new"};
    if (text == Text::stale) entry[name] = "old";
}

/// The world as the engine sees it.
struct View {
    Task task;
    Artifacts artifacts;
    std::map<std::string, std::string> entry;

    explicit View(const World& world) {
        task.id.value = "0123456789abcdefghijk";
        task.status = world.status;
        task.counters = {{"review_round", world.round}, {"crash_count", world.crashes}};
        put(artifacts, entry, "Plan", world.plan, "APPROACH: x\n");
        put(artifacts, entry, "Handoff", world.handoff, "DONE: x\n");
        put(artifacts, entry, "Review", world.review, world.pass ? "Verdict: PASS\n" : "Verdict: FAIL\n");
    }
    Situation situation() const { return {task, artifacts, entry}; }
};

Text aged(Text text) {
    return text == Text::fresh ? Text::stale : text;
}

/// What a decision does to the world. Fails the test where an action would start a second agent of a role beside one
/// that lives: only a message to the living one is allowed.
World performed(World world, const Decision& decision) {
    REQUIRE(decision.from == world.status);
    int reviewers = world.reviewer ? 1 : 0;
    int workers = world.worker ? 1 : 0;
    for (const auto& action : decision.actions) {
        if (action.name == "acquire_workspace") world.claimed = true;
        if (action.name == "release_workspace") world.claimed = false;
        if (action.name == "kill_session") workers = reviewers = 0;
        if (action.name == "kill_reviewer") reviewers = 0;
        if (action.name == "spawn_agent" || action.name == "notify_worker")
            workers = 1;  // the living one gets a message
        if (action.name == "spawn_reviewer") ++reviewers;
        if (action.name == k_ensure_agent && action.param("role") == "worker") workers = 1;
        if (action.name == k_ensure_agent && action.param("role") == "reviewer") reviewers = std::max(reviewers, 1);
        if (!world.claimed) REQUIRE(workers + reviewers == 0);
    }
    REQUIRE(workers <= 1);
    REQUIRE(reviewers <= 1);
    world.worker = workers == 1;
    world.reviewer = reviewers == 1;
    world.status = decision.to;
    const auto round = decision.counters.find("review_round");
    if (round != decision.counters.end()) world.round = static_cast<int>(round->second);
    world.crashes = 0;
    world.plan = aged(world.plan);
    world.handoff = aged(world.handoff);
    world.review = aged(world.review);
    return world;
}

/// explain() and decide_request() must say the same of each edge.
void check_explained(const View& view, const Request& request, bool taken) {
    bool open = false;
    for (const auto& edge : explain(definition(), view.situation())) {
        if (edge.to != request.to || !edge.open() || (edge.needs_force && !request.force)) continue;
        open = open || std::find(edge.by.begin(), edge.by.end(), request.by) != edge.by.end();
    }
    REQUIRE(open == taken);
}

void add_requests(const World& world, const View& view, std::vector<Step>& steps) {
    for (const auto& state : definition().states) {
        for (const Role role : {Role::worker, Role::reviewer, Role::human, Role::system, Role::unknown}) {
            if (role == Role::worker && !world.worker) continue;
            if (role == Role::reviewer && !world.reviewer) continue;
            for (const bool force : {false, true}) {
                const Request request{state.name, role, force};
                const auto decision = decide_request(definition(), view.situation(), request);
                check_explained(view, request, decision.has_value());
                if (!decision) {
                    REQUIRE_FALSE(decision.error().message.empty());
                    continue;
                }
                REQUIRE(role != Role::unknown);
                const Actor actor = role == Role::worker     ? Actor::worker
                                    : role == Role::reviewer ? Actor::reviewer
                                                             : Actor::people;
                steps.push_back({actor, performed(world, *decision)});
            }
        }
    }
}

void add_exit(const World& world, const View& view, Role role, std::vector<Step>& steps) {
    World dead = world;
    (role == Role::worker ? dead.worker : dead.reviewer) = false;
    const auto outcome = decide_exit(definition(), view.situation(), {role, 1});
    if (const auto* crash = std::get_if<Crash>(&outcome)) {
        dead.crashes = static_cast<int>(crash->crash_count);
        if (crash->respawn) (role == Role::worker ? dead.worker : dead.reviewer) = true;
    } else if (const auto* advance = std::get_if<Advance>(&outcome)) {
        REQUIRE(advance->decision.attested == (world.status != "agent-review" || advance->crash.has_value()));
        dead = performed(dead, advance->decision);
    }
    steps.push_back({role == Role::worker ? Actor::worker : Actor::reviewer, dead});
}

void add_edits(const World& world, std::vector<Step>& steps) {
    for (const Text text : {Text::absent, Text::fresh}) {
        World edited = world;
        edited.plan = text;
        steps.push_back({Actor::edit, edited});
        edited = world;
        edited.handoff = text;
        steps.push_back({Actor::edit, edited});
        for (const bool pass : {false, true}) {
            edited = world;
            edited.review = text;
            edited.pass = text == Text::fresh && pass;
            steps.push_back({Actor::edit, edited});
        }
    }
}

std::vector<Step> steps_from(const World& world) {
    std::vector<Step> steps;
    const View view(world);
    add_requests(world, view, steps);
    if (definition().state(world.status)->terminal) return steps;
    if (world.worker) add_exit(world, view, Role::worker, steps);
    if (world.reviewer) add_exit(world, view, Role::reviewer, steps);
    add_edits(world, steps);
    const auto need = respawn_need(definition(), view.task);
    if (need && world.claimed) {
        World respawned = world;
        (need->role == Role::worker ? respawned.worker : respawned.reviewer) = true;
        steps.push_back({Actor::people, respawned});
    }
    return steps;
}

using Graph = std::map<World, std::vector<Step>>;

const Graph& explored() {
    static const Graph graph = [] {
        Graph found;
        std::deque<World> queue{World{}};
        // Tasks may also be created in the middle of their life (--status agent-review, --status reviewing).
        queue.push_back({"agent-review", 1, 0, Text::absent, Text::absent, Text::absent, false, false, true, true});
        queue.push_back({"reviewing", 0, 0, Text::absent, Text::absent, Text::absent, false, false, false, true});
        while (!queue.empty()) {
            const World world = queue.front();
            queue.pop_front();
            const auto [entry, fresh] = found.try_emplace(world);
            if (!fresh) continue;
            entry->second = steps_from(world);
            for (const auto& step : entry->second) queue.push_back(step.to);
        }
        return found;
    }();
    return graph;
}

/// The worlds from which one of `goals` is reached by steps of `actors` only.
std::set<World> can_reach(const std::set<World>& goals, const std::set<Actor>& actors) {
    std::map<World, std::vector<const World*>> backwards;
    for (const auto& [world, steps] : explored()) {
        for (const auto& step : steps) {
            if (actors.contains(step.actor)) backwards[step.to].push_back(&world);
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

std::set<World> worlds_in(const std::set<std::string>& statuses) {
    std::set<World> found;
    for (const auto& [world, steps] : explored()) {
        if (statuses.contains(world.status)) found.insert(world);
    }
    return found;
}

}  // namespace

TEST_CASE("every state of the default workflow is met, and the worlds are bounded") {
    std::set<std::string> met;
    int most = 0;
    for (const auto& [world, steps] : explored()) {
        met.insert(world.status);
        most = std::max(most, world.round);
        CHECK(world.crashes <= 1);
    }
    CHECK(met.size() == definition().states.size());
    CHECK(most == 2);
    CHECK(explored().size() > 500);
}

TEST_CASE("people free a task from every reachable world, without an edit by hand") {
    const auto freed = can_reach(worlds_in({"done", "cancelled"}), {Actor::people});
    for (const auto& [world, steps] : explored()) {
        INFO(world.status << " round " << world.round);
        REQUIRE(freed.contains(world));
    }
}

TEST_CASE("done is reached from every world that is not final, and not by force alone") {
    // Without force there is only reviewing → done: so this holds only where reviewing can be reached from everywhere.
    const auto ready =
        can_reach(worlds_in({"reviewing"}), {Actor::people, Actor::worker, Actor::reviewer, Actor::edit});
    for (const auto& [world, steps] : explored()) {
        if (definition().state(world.status)->terminal) continue;
        INFO(world.status << " round " << world.round);
        REQUIRE(ready.contains(world));
    }
}

TEST_CASE("a worker never comes around its reviewer, whatever it writes and however it ends") {
    const auto alone = can_reach(worlds_in({"reviewing", "done"}), {Actor::worker, Actor::edit});
    for (const auto& world : alone) {
        INFO(world.status << " round " << world.round);
        REQUIRE((world.status == "reviewing" || world.status == "done"));
    }
}

TEST_CASE("where a state wants an agent, it lives or can be started again") {
    for (const auto& [world, steps] : explored()) {
        const auto* state = definition().state(world.status);
        if (!state->agent) continue;
        const bool alive = *state->agent == Role::worker ? world.worker : world.reviewer;
        const auto need = respawn_need(definition(), View(world).task);
        INFO(world.status);
        REQUIRE((alive || (need && need->role == *state->agent && world.claimed)));
    }
}

TEST_CASE("nobody works for a task that is over, and a reviewer lives only while it reviews") {
    for (const auto& [world, steps] : explored()) {
        INFO(world.status);
        if (definition().state(world.status)->terminal) {
            REQUIRE_FALSE(world.worker);
            REQUIRE_FALSE(world.reviewer);
            REQUIRE_FALSE(world.claimed);
        }
        if (world.reviewer) REQUIRE(world.status == "agent-review");
    }
}

TEST_CASE("two failed reviews are all there are until a human steps in") {
    // Without people, no way leads from a world with two rounds back to a smaller round or to a third review.
    for (const auto& [world, steps] : explored()) {
        for (const auto& step : steps) {
            if (step.actor == Actor::people) continue;
            REQUIRE(step.to.round >= world.round);
            REQUIRE(step.to.round <= 2);
        }
    }
}

#include "daemon/rpc/methods/draft.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/engine/notices.hpp"
#include "daemon/rpc/methods/harness_environment.hpp"
#include "daemon/rpc/methods/start_notes.hpp"

namespace orange::rpc {
namespace {

constexpr const char* k_player = "demo";  ///< plays a worker and its reviewer
constexpr const char* k_usual_reviewer = "claude";

/// Uses the project's model for its default harness if the call names none.
void use_model(const World& world, const std::string& setting, const std::string& harness,
               std::optional<std::string>& chosen, Draft& draft) {
    if (chosen || setting.empty()) return;
    const auto entry = world.harnesses.find(harness);
    if (!entry) return;
    if (entry->harness.model_args.empty()) {
        draft.notes.push_back("harness " + harness + " has no model setting, so the project's model " + setting +
                              " is not used");
    } else {
        chosen = setting;
    }
}

/// Returns what the human was told last of an agent of this harness that cannot work; empty if none is known.
std::string reason_not_to_work(Api& api, const std::string& harness) {
    const auto& world = api.world();
    for (const auto& id : world.tasks.active()) {
        const auto record = world.tasks.awake(id);
        const auto* notice = record ? engine::find_notice(*record, NoticeKind::agent_cannot_work) : nullptr;
        if (!notice) continue;
        const auto role = notice->cause == name_of(Role::reviewer) ? Role::reviewer : Role::worker;
        const auto definition = api.runner().turns.definition_of(record->task);
        if (!definition) continue;
        if (harness_of(world, **definition, record->task, role, record->task.status) == harness)
            return std::string(first_line(notice->text));
    }
    return {};
}

/// Says who reviews the work of an agent if the call names no reviewer.
class UsualReviewer {
  public:
    UsualReviewer(Api& api, std::string setting)
        : world_(api.world()), setting_(std::move(setting)), broken_(reason_not_to_work(api, k_usual_reviewer)) {}

    std::string of(const std::string& worker) const {
        if (worker == k_player) return worker;
        if (!setting_.empty()) return setting_;
        return broken_.empty() && is_installed() ? k_usual_reviewer : worker;
    }
    /// Returns a sentence if `worker` is its own reviewer only because the usual one cannot work; otherwise empty.
    std::string note_about(const std::string& worker) const {
        const bool never_replaced = worker == k_player || worker == k_usual_reviewer || !setting_.empty();
        if (never_replaced || broken_.empty() || !is_installed()) return {};
        return worker + " reviews, because " + k_usual_reviewer + " cannot work: " + broken_;
    }

  private:
    bool is_installed() const {
        const auto entry = world_.harnesses.find(k_usual_reviewer);
        return entry && !entry->program.empty();
    }

    const World& world_;
    std::string setting_;
    std::string broken_;
};

/// Returns the worker's harness; `usual` is the one of the project or of the machine.
Result<std::string> worker_for(const TaskCreate& params, const std::optional<std::string>& usual,
                               bool needs_workspace) {
    if (params.harness) return *params.harness;
    if (usual) return *usual;
    if (!needs_workspace) return std::string("claude");  // the task may never need an agent
    return Error(ErrorCode::not_found,
                 "no agent program is installed. The harness demo plays one, without an account (--harness demo). "
                 "If a program starts in your terminal, run `orange daemon reload` there. To see how to install "
                 "one, and where Orange looked:\n  orange harness list",
                 {{"field", "harness"}});
}

Result<void> check_permissions(const std::optional<std::string>& permissions) {
    if (!permissions || *permissions == "full" || *permissions == "reduced") return {};
    return Error(ErrorCode::invalid_argument, "--permissions must be full or reduced, not \"" + *permissions + "\"");
}

/// Completes the choices of the call with the reviewer and with the project's models.
Choices complete_choices(Api& api, const TaskCreate& params, const std::string& worker,
                         const std::optional<std::string>& usual, Draft& draft) {
    const auto& world = api.world();
    Choices choices = params;
    choices.harness = worker;
    const auto settings = settings_of(world, draft.project);
    const UsualReviewer reviewer(api, *settings.review_harness);
    if (!choices.review_harness) {
        choices.review_harness = reviewer.of(worker);
        if (auto note = reviewer.note_about(worker); !note.empty()) draft.notes.push_back(std::move(note));
    }
    if (!usual) return choices;
    if (worker == *usual) use_model(world, *settings.model, worker, choices.model, draft);
    if (*choices.review_harness == reviewer.of(*usual)) {
        use_model(world, *settings.review_model, *choices.review_harness, choices.review_model, draft);
    }
    return choices;
}

Result<std::vector<std::string>> notes_about(const World& world, const std::string& name, const Draft& draft,
                                             const CallerEnvironment& caller) {
    TRY(const auto entry, world.harnesses.find(name));
    auto notes = variables_not_passed(world, draft.project, entry, caller);
    const auto add = [&](std::string note) {
        if (!note.empty()) notes.push_back(std::move(note));
    };
    add(note_of_login(world, draft.project, entry));
    const auto& task = draft.record.task;
    const auto& model = name == task.harness ? task.model : task.review_model;
    const bool is_passed = name == task.harness || name == task.review_harness;
    if (model && is_passed) add(agents::model_note(entry.harness, *model));
    if (entry.harness.tried) return notes;
    add(name + " is not tried yet with a whole task. To test it: orange harness test " + name);
    return notes;
}

/// Notes each sentence about the harnesses once.
Result<void> note_harnesses(const World& world, const CallerEnvironment& caller, Draft& draft) {
    for (const auto& name : harnesses_of(world, *draft.definition, draft.record.task)) {
        TRY(auto notes, notes_about(world, name, draft, caller));
        for (auto& note : notes) {
            const bool said = std::find(draft.notes.begin(), draft.notes.end(), note) != draft.notes.end();
            if (!said) draft.notes.push_back(std::move(note));
        }
    }
    return {};
}

/// Refuses a start at which a program would ask for trust. `can_ask`: the caller can ask the human, and call again.
Result<void> check_consent(World& world, bool can_ask, const Draft& draft) {
    const auto& project = draft.project;
    const auto asks =
        without_consent(world, project, harnesses_of(world, *draft.definition, draft.record.task), !can_ask);
    if (asks.empty()) return can_ask ? check_setup_agreed(project) : Result<void>{};
    const auto message = asks + " asks whether it may trust " + project.path + ". To answer:\n  orange harness trust " +
                         asks + " --project " + project.name;
    if (!can_ask) return Error(ErrorCode::conflict, message);  // this program does not start without the answer
    return Error(ErrorCode::needs_force, message, {{"trust", asks}, {"repository", project.path}});
}

}  // namespace

Result<void> choose_harnesses(Api& api, const TaskCreate& params, Draft& draft) {
    auto& world = api.world();
    auto& project = draft.project;
    const bool starts = draft.needs_workspace && !params.no_spawn;
    const auto usual = project.harness ? project.harness : world.harnesses.first_installed();
    TRY(const auto worker, worker_for(params, usual, draft.needs_workspace));
    TRY(check_permissions(params.permissions));
    draft.record.task.permissions = params.permissions;
    const auto choices = complete_choices(api, params, worker, usual, draft);
    TRY(api.runner().edits.choose_agents(draft.record, choices, starts));
    TRY(api.runner().edits.check_named_agents(draft.record, *draft.definition, starts));
    TRY(note_harnesses(world, params.caller, draft));
    for (const auto& name : params.trust) {
        if (!project.lets_trust(name)) project.trusted.push_back(name);
    }
    return starts ? check_consent(world, params.ask_trust, draft) : Result<void>{};
}

}  // namespace orange::rpc

#include "common/model/json.hpp"

#include "common/base/try.hpp"
#include "common/model/json_reader.hpp"

namespace orange {
namespace {

Json optional_json(const std::optional<std::string>& value) {
    return value ? Json(*value) : Json(nullptr);
}

Result<Caller> caller_from_json(const Json& json) {
    Caller caller;
    JsonReader in(json, "caller");
    in.read("role", caller.role);
    in.read("task", caller.task);
    in.read("run", caller.run);
    in.read("pid", caller.pid);
    in.read("evidence", caller.evidence);
    in.read("programs", caller.programs);
    in.read("through", caller.through);
    return in.finish(std::move(caller));
}

Json to_json(const Intent& intent) {
    Json actions = Json::array();
    for (const auto& planned : intent.actions) {
        Json action = {{"action", planned.action.name}, {"params", planned.action.params}, {"done", planned.done}};
        if (!planned.action.argv.empty()) action["argv"] = planned.action.argv;
        if (!planned.failure.empty()) action["failure"] = planned.failure;
        actions.push_back(std::move(action));
    }
    return {{"id", intent.id},
            {"from", intent.from},
            {"to", intent.to},
            {"by", orange::to_json(intent.by)},
            {"auto_reason", intent.auto_reason},
            {"attested", intent.attested},
            {"actions", std::move(actions)},
            {"at", to_rfc3339(intent.at)}};
}

Result<Intent> intent_from_json(const Json& json) {
    Intent intent;
    JsonReader in(json, "intent");
    in.read("id", intent.id);
    in.read("from", intent.from);
    in.read("to", intent.to);
    in.read("auto_reason", intent.auto_reason);
    in.read("attested", intent.attested);
    in.read("at", intent.at);
    if (const Json* by = in.find("by")) {
        TRY(intent.by, caller_from_json(*by));
    }
    in.each("actions", [&](const Json& item) -> Result<void> {
        PlannedAction planned;
        JsonReader action(item, "action");
        action.read("action", planned.action.name);
        action.read("params", planned.action.params);
        action.read("argv", planned.action.argv);
        action.read("done", planned.done);
        action.read("failure", planned.failure);
        TRY(auto read, action.finish(std::move(planned)));
        intent.actions.push_back(std::move(read));
        return {};
    });
    return in.finish(std::move(intent));
}

Json to_json(const MergeRecord& merge) {
    Json json = {{"phase", name_of(merge.phase)},
                 {"tx", merge.tx},
                 {"target", merge.target},
                 {"strategy", merge.strategy},
                 {"tip", merge.tip},
                 {"base", merge.base},
                 {"commit", merge.commit},
                 {"push", merge.push},
                 {"attempts", merge.attempts},
                 {"by", orange::to_json(merge.by)},
                 {"at", to_rfc3339(merge.at)}};
    if (merge.include_unpushed) json["include_unpushed"] = true;
    if (merge.keep_branch) json["keep_branch"] = true;
    if (merge.elsewhere) json["elsewhere"] = true;
    if (!merge.forced.empty()) json["forced"] = merge.forced;
    if (!merge.failure.empty()) json["failure"] = merge.failure;
    return json;
}

Result<MergeRecord> merge_from_json(const Json& json) {
    MergeRecord merge;
    JsonReader in(json, "merge");
    std::string phase;
    in.read("phase", phase);
    in.read("tx", merge.tx);
    in.read("target", merge.target);
    in.read("strategy", merge.strategy);
    in.read("tip", merge.tip);
    in.read("base", merge.base);
    in.read("commit", merge.commit);
    in.read("push", merge.push);
    in.read("include_unpushed", merge.include_unpushed);
    in.read("keep_branch", merge.keep_branch);
    in.read("elsewhere", merge.elsewhere);
    in.read("forced", merge.forced);
    in.read("attempts", merge.attempts);
    in.read("at", merge.at);
    in.read("failure", merge.failure);
    if (const auto known = merge_phase_from(phase)) {
        merge.phase = *known;
    } else {
        in.fail("\"phase\" is unknown");
    }
    if (const Json* by = in.find("by")) {
        TRY(merge.by, caller_from_json(*by));
    }
    return in.finish(std::move(merge));
}

Json to_json(const AgentRun& run) {
    Json json = {{"run", run.run.value},
                 {"role", name_of(run.role)},
                 {"harness", run.harness},
                 {"prompt", run.prompt},
                 {"intent", run.intent},
                 {"window_name", run.window_name},
                 {"session_id", run.session_id},
                 {"window_id", run.window_id},
                 {"pane_id", run.pane_id},
                 {"server_pid", run.server_pid},
                 {"pid", run.pid},
                 {"start_time", run.start_time},
                 {"ending", run.ending},
                 {"spawned_at", to_rfc3339(run.spawned_at)}};
    if (!run.harness_hash.empty()) json["harness_hash"] = run.harness_hash;
    if (run.server_start != 0) json["server_start"] = run.server_start;  // else a record stays as it was
    return json;
}

Result<AgentRun> run_from_json(const Json& json) {
    AgentRun run;
    JsonReader in(json, "run");
    in.read("run", run.run);
    in.read("role", run.role);
    in.read("harness", run.harness);
    in.read("harness_hash", run.harness_hash);
    in.read("prompt", run.prompt);
    in.read("intent", run.intent);
    in.read("window_name", run.window_name);
    in.read("session_id", run.session_id);
    in.read("window_id", run.window_id);
    in.read("pane_id", run.pane_id);
    in.read("server_pid", run.server_pid);
    in.read("server_start", run.server_start);
    in.read("pid", run.pid);
    in.read("start_time", run.start_time);
    in.read("ending", run.ending);
    in.read("spawned_at", run.spawned_at);
    return in.finish(std::move(run));
}

Json to_json(const Message& message) {
    return {{"id", message.id},
            {"to", name_of(message.to)},
            {"from", name_of(message.from)},
            {"text", message.text},
            {"queued_at", to_rfc3339(message.queued_at)}};
}

Result<Message> message_from_json(const Json& json) {
    Message message;
    JsonReader in(json, "message");
    in.read("id", message.id);
    in.read("to", message.to);
    in.read("from", message.from);
    in.read("text", message.text);
    in.read("queued_at", message.queued_at);
    return in.finish(std::move(message));
}

/// SAX-less depth check: nlohmann's parser itself does not recurse, but its consumers and destructors are ours to
/// bound.
bool deeper_than(std::string_view text, int max_depth) {
    int depth = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\') {
                ++i;
            } else if (c == '"') {
                in_string = false;
            }
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > max_depth) return true;
        } else if (c == ']' || c == '}') {
            --depth;
        }
    }
    return false;
}

}  // namespace

Result<Json> parse_json(std::string_view text, int max_depth) {
    if (deeper_than(text, max_depth)) {
        return {ErrorCode::invalid_argument, "JSON nested deeper than " + std::to_string(max_depth) + " levels"};
    }
    try {
        return Json::parse(text);
    } catch (const Json::exception& e) {
        return {ErrorCode::invalid_argument, std::string("not valid JSON: ") + e.what()};
    }
}

Result<void> check_schema(const Json& json) {
    const auto found = json.is_object() ? json.find("schema") : json.end();
    if (!json.is_object() || found == json.end()) return {};
    if (!found->is_number_integer()) return {ErrorCode::invalid_argument, "\"schema\" is no number"};
    const auto schema = found->get<std::int64_t>();
    if (schema <= k_schema) return {};
    return {ErrorCode::invalid_argument, "it was written by a newer Orange (schema " + std::to_string(schema) +
                                             ", this one knows " + std::to_string(k_schema) +
                                             ") and is left as it is; upgrade orange"};
}

std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json to_json(const Task& task) {
    Json json = {{"id", task.id.value},
                 {"project", task.project},
                 {"branch", task.branch},
                 {"workflow", task.workflow},
                 {"workflow_hash", task.workflow_hash},
                 {"harness", task.harness},
                 {"review_harness", task.review_harness},
                 {"effort", optional_json(task.effort)},
                 {"review_effort", optional_json(task.review_effort)},
                 {"status", task.status},
                 {"review_round", task.review_round()},
                 {"crash_count", task.crash_count()},
                 {"summary", task.summary},
                 {"workspace", optional_json(task.workspace)},
                 {"tmux_session", optional_json(task.tmux_session)},
                 {"pr_url", optional_json(task.pr_url)},
                 {"attention", optional_json(task.attention)},
                 {"created_at", to_rfc3339(task.created_at)},
                 {"updated_at", to_rfc3339(task.updated_at)}};
    Json counters = Json::object();
    for (const auto& [name, value] : task.counters) {
        if (name != "review_round" && name != "crash_count") counters[name] = value;
    }
    if (task.base) json["base"] = *task.base;
    if (!counters.empty()) json["counters"] = std::move(counters);
    if (!task.extra_frontmatter.empty()) json["extra_frontmatter"] = task.extra_frontmatter;
    return json;
}

Result<Task> task_from_json(const Json& json) {
    Task task;
    JsonReader in(json, "task");
    in.read("id", task.id);
    in.read("project", task.project);
    in.read("branch", task.branch);
    in.read("base", task.base);
    in.read("workflow", task.workflow);
    in.read("workflow_hash", task.workflow_hash);
    in.read("harness", task.harness);
    in.read("review_harness", task.review_harness);
    in.read("effort", task.effort);
    in.read("review_effort", task.review_effort);
    in.read("status", task.status);
    in.read("counters", task.counters);
    for (const char* name : {"review_round", "crash_count"}) {
        std::int64_t value = 0;
        in.read(name, value);
        if (value != 0) task.counters[name] = value;
    }
    in.read("summary", task.summary);
    in.read("workspace", task.workspace);
    in.read("tmux_session", task.tmux_session);
    in.read("pr_url", task.pr_url);
    in.read("attention", task.attention);
    in.read("created_at", task.created_at);
    in.read("updated_at", task.updated_at);
    in.read("extra_frontmatter", task.extra_frontmatter);
    return in.finish(std::move(task));
}

Json to_json(const Project& project) {
    Json json = {{"name", project.name},
                 {"path", project.path},
                 {"default_branch", project.default_branch},
                 {"pool_size", project.pool_size}};
    if (project.workflow) json["workflow"] = *project.workflow;
    if (project.harness) json["harness"] = *project.harness;
    if (!project.setup.empty()) json["setup"] = project.setup;
    if (!project.env.empty()) json["env"] = project.env;
    return json;
}

Result<Project> project_from_json(const Json& json) {
    Project project;
    JsonReader in(json, "project");
    in.read("name", project.name);
    in.read("path", project.path);
    in.read("default_branch", project.default_branch);
    in.read("pool_size", project.pool_size);
    in.read("workflow", project.workflow);
    in.read("harness", project.harness);
    in.read("setup", project.setup);
    in.read("env", project.env);
    if (project.name.empty()) in.fail("\"name\" is missing");
    if (project.path.empty()) in.fail("\"path\" is missing");
    return in.finish(std::move(project));
}

Json to_json(const Caller& caller) {
    Json json = {{"role", name_of(caller.role)}, {"pid", caller.pid}, {"evidence", caller.evidence}};
    if (!caller.task.empty()) json["task"] = caller.task.value;
    if (!caller.run.empty()) json["run"] = caller.run.value;
    if (!caller.programs.empty()) json["programs"] = caller.programs;
    if (!caller.through.empty()) json["through"] = caller.through;
    return json;
}

Json to_json(const TaskRecord& record) {
    Json json = {{"schema", k_schema},
                 {"fields", to_json(record.task)},
                 {"intent", record.intent ? to_json(*record.intent) : Json(nullptr)},
                 {"runs", Json::array()},
                 {"outbox", Json::array()},
                 {"entry_sections", record.entry_sections},
                 {"body_hash", record.body_hash},
                 {"task_file", record.task_file},
                 {"queued", record.queued},
                 {"queued_seq", record.queued_seq}};
    if (record.ended) json["ended"] = true;
    if (record.start) json["start"] = *record.start;
    for (const auto& run : record.runs) json["runs"].push_back(to_json(run));
    for (const auto role : record.died) json["died"].push_back(name_of(role));
    for (const auto& message : record.outbox) json["outbox"].push_back(to_json(message));
    if (record.merge) json["merge"] = to_json(*record.merge);
    if (!record.branch_start.empty()) json["branch_start"] = record.branch_start;
    if (!record.reviewed_commit.empty()) json["reviewed_commit"] = record.reviewed_commit;
    if (record.programs) json["programs"] = *record.programs;
    if (!record.programs_changed.empty()) json["programs_changed"] = record.programs_changed;
    if (!record.harness_hashes.empty()) json["harness_hashes"] = record.harness_hashes;
    if (!record.harnesses_changed.empty()) json["harnesses_changed"] = record.harnesses_changed;
    if (!record.unwritten_feedback.empty()) json["unwritten_feedback"] = record.unwritten_feedback;
    if (record.imported) json["imported"] = true;
    return json;
}

Result<TaskRecord> record_from_json(const Json& json) {
    TaskRecord record;
    JsonReader in(json, "state.json");
    TRY(check_schema(json));
    if (const Json* fields = in.find("fields")) {
        TRY(record.task, task_from_json(*fields));
    } else {
        in.fail("\"fields\" is missing");
    }
    if (const Json* intent = in.find("intent")) {
        TRY(record.intent, intent_from_json(*intent));
    }
    if (const Json* merge = in.find("merge")) {
        TRY(record.merge, merge_from_json(*merge));
    }
    in.each("runs", [&](const Json& item) -> Result<void> {
        TRY(auto run, run_from_json(item));
        record.runs.push_back(std::move(run));
        return {};
    });
    in.each("died", [&](const Json& item) -> Result<void> {
        const auto role = item.is_string() ? role_from(item.get<std::string>()) : std::nullopt;
        if (!role) return Error(ErrorCode::invalid_argument, "\"died\" has what is no role");
        record.died.insert(*role);
        return {};
    });
    in.each("outbox", [&](const Json& item) -> Result<void> {
        TRY(auto message, message_from_json(item));
        record.outbox.push_back(std::move(message));
        return {};
    });
    in.read("entry_sections", record.entry_sections);
    in.read("branch_start", record.branch_start);
    in.read("reviewed_commit", record.reviewed_commit);
    in.read("programs", record.programs);
    in.read("programs_changed", record.programs_changed);
    in.read("harness_hashes", record.harness_hashes);
    in.read("harnesses_changed", record.harnesses_changed);
    in.read("unwritten_feedback", record.unwritten_feedback);
    in.read("imported", record.imported);
    in.read("body_hash", record.body_hash);
    in.read("task_file", record.task_file);
    in.read("ended", record.ended);
    in.read("queued", record.queued);
    in.read("queued_seq", record.queued_seq);
    in.read("start", record.start);
    return in.finish(std::move(record));
}

Json to_json(const HistoryEvent& event) {
    Json json = {{"type", event.type}, {"timestamp", to_rfc3339(event.timestamp)}};
    for (const auto& [key, value] : event.fields) {
        std::visit([&, name = key](const auto& scalar) { json[name] = scalar; }, value);
    }
    return json;
}

Result<HistoryEvent> event_from_json(const Json& json) {
    HistoryEvent event;
    JsonReader in(json, "history event");
    in.read("type", event.type);
    in.read("timestamp", event.timestamp);
    if (event.type.empty()) in.fail("\"type\" is missing");
    if (json.is_object()) {
        for (const auto& [key, value] : json.items()) {
            if (key == "type" || key == "timestamp") continue;
            if (value.is_string()) event.fields[key] = value.get<std::string>();
            if (value.is_number_integer()) event.fields[key] = value.get<std::int64_t>();
            if (value.is_boolean()) event.fields[key] = value.get<bool>();
        }
    }
    return in.finish(std::move(event));
}

}  // namespace orange

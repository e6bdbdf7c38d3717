// The form that creates a task.
#include <algorithm>
#include <array>
#include <utility>

#include "client/dashboard/calls.hpp"
#include "client/dashboard/core.hpp"
#include "common/base/ids.hpp"
#include "common/base/text.hpp"
#include "common/rpc/harness_methods.hpp"
#include "common/rpc/workflow_methods.hpp"

namespace orange::dashboard {
namespace {

enum FieldAt : std::size_t {
    k_summary,
    k_context,
    k_files,
    k_project,
    k_branch,
    k_base,
    k_harness,
    k_reviewer,
    k_workflow,
    k_effort,
    k_model,
    k_permissions,
    k_start,
    k_on,
    k_parent,
    k_after,
    k_attempts
};

constexpr const char* k_no_project =
    "There is no project yet. Start the dashboard in a git repository, or run there: orange project add";

constexpr FieldAt k_remembered[] = {k_harness, k_reviewer, k_workflow, k_effort, k_model, k_permissions};

std::vector<std::string> with_default(const std::vector<std::string>& names) {
    std::vector<std::string> all{""};
    all.insert(all.end(), names.begin(), names.end());
    return all;
}

/// Returns this machine's listed tasks that have not ended, the selected one first: "4f2a  Round the total". `project`:
/// only of this project.
std::vector<std::string> tasks_to_choose(const State& state, const std::string* project) {
    std::vector<std::string> names{""};
    for (const auto& item : state.items) {
        const auto& task = state.tasks[item.task];
        if (item.heading || task.ended || task.host > 0 || (project != nullptr && task.project != *project)) continue;
        const auto place = task.id == state.selected ? names.begin() + 1 : names.end();
        names.insert(place, clean(task.short_id.empty() ? task.id : task.short_id) + "  " + short_title(task));
    }
    return names;
}

/// Returns the task of a field: its first word.
std::optional<std::string> task_in(const FormField& field) {
    if (field.value.empty()) return std::nullopt;
    return field.value.substr(0, field.value.find(' '));
}

void choose(FormField& field, int by) {
    const auto size = static_cast<int>(field.choices.size());
    if (size == 0) return;
    const auto found = std::ranges::find(field.choices, field.value) - field.choices.begin();
    field.value = field.choices[static_cast<std::size_t>((static_cast<int>(found % size) + by + size) % size)];
}

std::optional<std::string> given(const FormField& field) {
    const auto text = trim(field.value);
    return text.empty() ? std::nullopt : std::optional(std::string(text));
}

/// Splits paths at blanks and line ends. Quotes and backslashes keep a blank, as in the paths that terminals insert for
/// a dropped file; nothing else has a meaning.
std::vector<std::string> paths_in(std::string_view text) {
    std::vector<std::string> paths;
    std::string path;
    char quote = 0;
    bool has_begun = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const bool is_blank = c == ' ' || c == '\n' || c == '\t';
        if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
            path += text[++i];
        } else if (quote != 0 ? c == quote : c == '"' || c == '\'') {
            quote = quote != 0 ? '\0' : c;
        } else if (quote == 0 && is_blank) {
            if (has_begun) paths.push_back(std::exchange(path, {}));
            has_begun = false;
            continue;
        } else {
            path += c;
        }
        has_begun = true;
    }
    if (has_begun) paths.push_back(std::move(path));
    return paths;
}

/// Splits a list at commas and blanks.
std::vector<std::string> attempts_in(std::string text) {
    std::ranges::replace(text, ',', ' ');
    std::vector<std::string> attempts;
    for (const auto word : split(text, ' ')) {
        if (const auto name = trim(word); !name.empty()) attempts.emplace_back(name);
    }
    return attempts;
}

std::vector<AgentFile> files_in(const Form& form) {
    std::vector<AgentFile> files;
    for (auto& path : paths_in(form.fields[k_files].value)) {
        const auto picture = form.pictures.find(path);
        files.push_back({std::move(path), picture == form.pictures.end() ? nullptr : picture->second});
    }
    return files;
}

/// Drops the pictures that no field names any more.
void drop_pictures(Form& form) {
    const auto paths = paths_in(form.fields[k_files].value);
    std::erase_if(form.pictures, [&](const auto& each) { return std::ranges::find(paths, each.first) == paths.end(); });
}

}  // namespace

void Core::open_form(Moment now, Effects& effects) {
    if (state_.link.state != Link::State::up) return say("The daemon does not run; Ctrl-r starts it", true, now);
    if (has_no_place_for_tasks(state_)) return say(k_no_project, true, now);
    effects.requests.push_back(request_of(rpc::ProjectList{true}, Purpose::projects));
    effects.requests.push_back(request_of(rpc::HarnessList{}, Purpose::harnesses));
    effects.requests.push_back(request_of(rpc::WorkflowList{}, Purpose::workflows));
    if (state_.kept_form) {
        state_.form = std::exchange(state_.kept_form, std::nullopt);
        update_choices();
        if (!asked_to_register_) ask_to_register(false, now);
        return;
    }
    Form form;
    form.number = ++forms_;
    form.fields = {
        {"summary", "", {}, "empty: the agent asks you what to do", 0},
        {"context", "", {}, "none (Ctrl-e opens $EDITOR)", 0},
        {"files", "", {}, "none (Ctrl-v takes a picture from the clipboard)", 0},
        {"project", "", {""}, "none yet", 0},
        {"branch", "", {}, "named after the summary", 0},
        {"base", "", {}, "the default branch", 0},
        {"harness", "", {""}, "the project's", 0},
        {"reviewer", "", {""}, "the project's", 0},
        {"workflow", "", {""}, "the project's", 0},
        {"effort", "", {}, "the harness's own", 0},
        {"model", "", {}, "the project's, or the harness's own", 0},
        {"permissions", "", {"", "full", "reduced"}, "as the workflow says", 0},
        {"start", "now", {"now", "later"}, "", 0},
        {"built on", "", {""}, "no other task", 0},
        {"part of", "", {""}, "no other task", 0},
        {"after", "", {""}, "no other task", 0},
        {"attempts", "", {}, "none; several agents try it: claude,codex,claude:high", 0},
    };
    state_.form = std::move(form);
    update_choices();
    const auto* task = selected();
    auto& project = state_.form->fields[k_project];
    project.value = !state_.shown_project.empty() ? state_.shown_project
                    : task && task->host == 0     ? task->project
                                                  : project.choices.front();
    if (const auto last = state_.last_choices.find(project.value);
        last != state_.last_choices.end() && last->second.is_object()) {
        for (const auto at : k_remembered) {
            auto& field = state_.form->fields[at];
            const auto value = last->second.find(field.name);
            if (value != last->second.end() && value->is_string()) field.value = value->get<std::string>();
        }
    }
    if (!asked_to_register_) ask_to_register(false, now);
}

/// Asks whether the repository in which the dashboard was started should become a project, if it is none. Asked once;
/// again only if there is no other project.
bool Core::ask_to_register(bool late, Moment now) {
    if (!state_.repository || !state_.projects_known || state_.project || !state_.shown_project.empty()) return false;
    if (!state_.cwd && !state_.projects.empty()) return false;
    const auto& path = *state_.repository;
    if (std::ranges::find(state_.projects, path, &rpc::ProjectView::path) != state_.projects.end()) return false;
    asked_to_register_ = true;
    rpc::ProjectAdd add;
    add.path = path;
    Question question;
    question.late = late;
    question.facts = {"Orange does not know the git repository " + clean(path) + " yet",
                      "Registering it records its path and its default branch, and changes nothing in it"};
    question.text = "Register it as a project?";
    question.if_yes.push_back(request_of(add, Purpose::add_project));
    ask(std::move(question), now);
    return true;
}

void Core::project_added(Result<Json> reply, Moment now) {
    state_.busy.erase("");
    if (!reply) return say("Not registered: " + reply.error().message, true, now);
    const auto added = read_as<rpc::ProjectReply>(*reply, "", UnknownKeys::ignore);
    if (!added) return say("Not registered: " + added.error().message, true, now);
    const auto& project = added->project;
    std::erase_if(state_.projects, [&](const auto& each) { return each.name == project.name; });
    state_.projects.push_back(project);
    header_project();
    update_choices();
    if (state_.form) state_.form->fields[k_project].value = project.name;
    say("Registered " + clean(project.path) + " as project " + clean(project.name) + ", default branch " +
            clean(project.default_branch),
        false, now);
    refresh(now);
}

void Core::set_last_choices(const Json& choices) {
    if (!choices.is_object()) return;
    for (const auto& [project, each] : choices.items()) state_.last_choices[project] = each;
}

/// Fills in the choices. The lists may arrive after the form was opened.
void Core::update_choices() {
    if (!state_.form) return;
    auto& fields = state_.form->fields;
    if (!state_.projects.empty()) {
        fields[k_project].choices.clear();
        for (const auto& project : state_.projects) fields[k_project].choices.push_back(project.name);
        if (fields[k_project].value.empty()) fields[k_project].value = fields[k_project].choices.front();
    }
    fields[k_harness].choices = with_default(state_.harnesses);
    fields[k_reviewer].choices = with_default(state_.harnesses);
    fields[k_workflow].choices = with_default(state_.workflows);
    fields[k_after].choices = tasks_to_choose(state_, nullptr);
    for (const auto at : {k_parent, k_on}) {
        auto& field = fields[at];
        field.choices = tasks_to_choose(state_, &fields[k_project].value);
        if (std::ranges::find(field.choices, field.value) == field.choices.end()) field.value.clear();
    }
    const auto project = std::ranges::find(state_.projects, fields[k_project].value, &rpc::ProjectView::name);
    if (project == state_.projects.end()) return;
    const bool only_demo = state_.harnesses == std::vector<std::string>{"demo"};
    fields[k_harness].empty = project->harness       ? clean(*project->harness) + ", the project's"
                              : only_demo            ? "none is installed; → takes demo, which needs no account"
                              : state_.usual_harness ? clean(*state_.usual_harness) + ", which is installed"
                                                     : "none is installed";
    fields[k_reviewer].empty = "claude, or the harness above";
    if (const auto found = project->in_force.find("review_harness"); found != project->in_force.end()) {
        const auto& name = found->second.value;
        if (name.is_string() && !name.get_ref<const std::string&>().empty()) {
            fields[k_reviewer].empty = clean(name.get<std::string>()) + ", the project's";
        }
    }
    fields[k_workflow].empty = clean(project->workflow.value_or("default")) + ", the project's";
}

void Core::form_key(const Key& key, Moment now, Effects& effects) {
    auto& form = *state_.form;
    auto& field = form.fields[form.at];
    const bool chosen = !field.choices.empty();
    state_.message.reset();
    if (key == "Esc" || key == "C-c") {
        const bool typed = std::ranges::any_of(std::array{k_summary, k_context, k_files},
                                               [&](FieldAt each) { return !form.fields[each].value.empty(); });
        drop_pictures(form);
        if (typed) {
            state_.kept_form = std::move(form);
            say("What you typed is kept: c offers it again", false, now);
        }
        state_.form.reset();
    } else if (key == "Tab" || key == "Down") {
        form.at = (form.at + 1) % form.fields.size();
    } else if (key == "S-Tab" || key == "Up") {
        form.at = (form.at + form.fields.size() - 1) % form.fields.size();
    } else if (key == "Enter") {
        send_form(now, effects);
    } else if (key == "C-v") {
        picture_form_ = form.number;
        effects.outside.push_back({Outside::What::take_picture});
        state_.message = Message{"Reading the clipboard …", false, now.wall};
    } else if (key == "C-e" && !chosen) {
        editing_form_ = true;
        effects.outside.push_back({Outside::What::edit, {}, field.value});
    } else if (chosen) {
        if (key == "Right" || key == " " || key == "l") choose(field, 1);
        if (key == "Left" || key == "h") choose(field, -1);
        if (form.at == k_project) update_choices();
    } else {
        edit_line(field.value, field.cursor, key);
    }
}

Effects Core::on_picture(Result<std::string> picture, Moment now) {
    if (!state_.form || state_.form->number != picture_form_) return {};  // it was closed meanwhile
    if (!picture) {
        say(picture.error().message, true, now);
        return {};
    }
    drop_pictures(*state_.form);
    auto& pictures = state_.form->pictures;
    auto name = std::string("clipboard.png");
    for (int i = 2; pictures.contains(name); ++i) name = "clipboard-" + std::to_string(i) + ".png";
    auto& field = state_.form->fields[k_files];
    if (!field.value.empty() && !field.value.ends_with(' ')) field.value += ' ';
    field.value += name;
    field.cursor = field.value.size();
    pictures[name] = std::make_shared<const std::string>(std::move(*picture));
    say("The agent gets the picture of the clipboard as " + name, false, now);
    return {};
}

void Core::send_form(Moment now, Effects& effects) {
    const auto& fields = state_.form->fields;
    const auto project = given(fields[k_project]);
    if (!project) {
        if (ask_to_register(false, now)) return;
        return say(k_no_project, true, now);
    }
    rpc::TaskCreate params;
    params.id = random_id(k_task_id_length);
    params.summary = join_lines(fields[k_summary].value);
    params.context = given(fields[k_context]);
    params.project = project;
    params.branch = given(fields[k_branch]);
    params.name_branch = !params.branch;
    params.base = given(fields[k_base]);
    params.harness = given(fields[k_harness]);
    params.review_harness = given(fields[k_reviewer]);
    params.workflow = given(fields[k_workflow]);
    params.effort = given(fields[k_effort]);
    params.model = given(fields[k_model]);
    params.permissions = given(fields[k_permissions]);
    params.attempts = attempts_in(fields[k_attempts].value);
    if (!params.attempts.empty()) {  // they say it themselves
        params.harness = params.effort = params.model = std::nullopt;
    }
    params.no_spawn = fields[k_start].value == "later";
    params.parent = task_in(fields[k_parent]);
    params.on = task_in(fields[k_on]);
    if (auto after = task_in(fields[k_after])) params.blocked_by = {std::move(*after)};
    params.ask_trust = true;
    params.caller = caller;
    Json choices = Json::object();
    for (const auto at : k_remembered) choices[fields[at].name] = fields[at].value;
    state_.last_choices[*project] = std::move(choices);
    effects.outside.push_back({Outside::What::remember, {}, dump(Json(state_.last_choices))});
    auto request = request_of(params, Purpose::create);
    request.task = *params.id;
    request.files = files_in(*state_.form);
    request.doing = request.files.empty() ? "creating" : k_creating_with_files;
    request.done = "created";
    request.title = params.summary.empty() ? std::string("The task") : cut(clean(params.summary), 40);
    drop_pictures(*state_.form);
    state_.sent_forms[request.task] = std::move(*state_.form);
    state_.form.reset();
    state_.message = Message{"Creating " + (params.summary.empty() ? "a task" : request.title) + " …", false, now.wall};
    act(effects, std::move(request));
}

}  // namespace orange::dashboard

#include <algorithm>
#include <thread>

#include "common/base/text.hpp"
#include "tests/flows/stage.hpp"

/// What "=" and "history:" compare. Everything is read anew at each look: from the daemon, from tmux, from git, from
/// the files.
namespace orange::tests {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr auto k_patience = 40s;

std::string is(const std::string& found, const std::string& wanted) {
    return found == wanted ? "" : "is " + (found.empty() ? "empty" : found);
}

std::string holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos ? "" : "is: " + text;
}

std::string text_or_none(const Json& value) {
    if (value.is_null()) return "none";
    return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string sorted(std::vector<std::string> words) {
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    return words.empty() ? "none" : join(words, " ");
}

/// The number of "shop--2".
std::string place(const Json& workspace) {
    return workspace.is_string() ? workspace.get<std::string>().substr(6) : "none";
}

std::string section_of(const std::string& body, const std::string& name) {
    std::string text;
    bool inside = false, found = false;
    for (const auto line : split_lines(body)) {
        if (line.starts_with("## ") || line.starts_with("# ")) {
            inside = line == "## " + name;
            found |= inside;
        } else if (inside) {
            text += std::string(line) + "\n";
        }
    }
    return found ? std::string(trim(text)) : "none";
}

std::string from_to(const Json& event) {
    return " " + event.value("from", "") + " → " + event.value("to", "");
}

/// One event as transcripts write it. Not all fields: what belongs to the flow.
std::string told(const Json& event) {
    const auto type = event.at("type").get<std::string>();
    const auto text = [&](const char* key) { return " " + (event.contains(key) ? text_or_none(event.at(key)) : "?"); };
    if (type == "status.changed")
        return type + from_to(event) + " by" + text("by") + (event.value("attested", true) ? "" : ", unattested");
    if (type == "auto.advanced") return type + from_to(event);
    if (type == "agent.spawned" || type == "agent.respawned") return type + text("role") + " in" + text("window");
    if (type == "agent.exited" && event.value("ended_by", "") == "orange")
        return type + text("role") + ", ended by orange";
    if (type == "agent.exited") return type + text("role") + text("exit_status");
    if (type == "agent.crashed") return type + text("role") + " in" + text("status") + text("crash_count");
    if (type == "session.lost") return type + text("role");
    if (type == "review.started") return type + text("round");
    if (type == "notification") return type + text("message");
    if (type == "workspace.acquired" || type == "workspace.released") return type + " " + place(event.at("workspace"));
    if (type == "summary.changed" || type == "branch.changed") return type + text("to");
    if (type == "hook.failed") return type + text("hook");
    if (type == "pr.changed") return type + text("state");
    return type;
}

}  // namespace

void Stage::expect(const Step& step) {
    const auto id = task(step.task);
    const auto until = std::chrono::steady_clock::now() + k_patience;
    for (;;) {
        std::string difference;
        for (const auto& clause : step.clauses) {
            auto found = differs(id, clause);
            if (!found.empty()) difference += "\n  " + clause.subject + " " + found;
        }
        rpc::TaskShow show;
        show.id = id;
        if (auto busy = orange_.call(show).task.in_progress) difference += "\n  still on its way: " + *busy;
        if (difference.empty()) return;
        if (std::chrono::steady_clock::now() > until) wrong(step.line, step.text + difference);
        std::this_thread::sleep_for(15ms);
    }
}

std::string Stage::differs(const std::string& id, const Clause& clause) {
    auto wanted = clause;
    for (auto& word : wanted.words) word = filled_in(word);
    static const std::vector<std::string> of_git = {"saved", "main", "remote", "branch", "pool"};
    const bool git = std::find(of_git.begin(), of_git.end(), clause.subject) != of_git.end();
    return git ? differs_git(id, wanted) : differs_task(id, wanted);
}

std::string Stage::differs_task(const std::string& id, const Clause& clause) {
    const auto& subject = clause.subject;
    const auto& words = clause.words;
    rpc::TaskShow show;
    show.id = id;
    const auto shown = orange_.call(show);
    const auto fields = to_json(shown.task.fields);
    if (subject == "status") return is(text_or_none(fields.at("status")), words[0]);
    if (subject == "round") return is(text_or_none(fields.at("review_round")), words[0]);
    if (subject == "crashes") return is(text_or_none(fields.at("crash_count")), words[0]);
    if (subject == "workspace") return is(place(fields.at("workspace")), words[0]);
    if (subject == "worker") return is(shown.task.worker, words[0]);
    if (subject == "reviewer") return is(shown.task.reviewer, words[0]);
    if (subject == "queue") return is(std::to_string(shown.task.queue_place), words[0] == "none" ? "0" : words[0]);
    if (subject == "windows") return is(windows(id), sorted(words));
    if (subject == "logs") return is(logs(id), sorted(words));
    if (subject == "heard") return holds(agent_file(id, words[0], "heard"), words[1]);
    if (subject == "prompt") return holds(agent_file(id, words[0], "prompt"), words[1]);
    if (subject == "needs") {
        const auto& needs = shown.task.needs;
        if (words.size() == 1 || needs.kind != *from_name(words[0], Need{})) return is(name_text(needs.kind), words[0]);
        return holds(needs.command.text(), words[1]);
    }
    if (subject == "attention") {
        const auto attention = text_or_none(fields.at("attention"));
        return words[0] == "none" ? is(attention, "none") : holds(attention, words[0]);
    }
    if (subject == "section") {
        const auto section = section_of(shown.body, words[0]);
        return words[1] == "none" ? is(section, "none") : holds(section, words[1]);
    }
    if (subject == "counter") {
        const auto state = Json::parse(read_file(orange_.folder(id) / "state.json"));
        const auto counters = state.at("fields").value("counters", Json::object());
        return is(text_or_none(counters.value(words[0], Json(0))), words[1]);
    }
    return "is nothing that can be looked at";
}

std::string Stage::differs_git(const std::string& id, const Clause& clause) {
    const auto& subject = clause.subject;
    const auto& words = clause.words;
    if (subject == "pool") {
        std::vector<std::string> states;
        for (const auto& workspace : orange_.call(rpc::WorkspaceList{}).workspaces) states.push_back(workspace.state);
        return is(join(states, " "), join(words, " "));
    }
    if (subject == "branch") {
        const auto fields = orange_.fields(id);
        auto difference = is(text_or_none(fields.at("branch")), words[0]);
        if (difference.empty() && fields.at("workspace").is_string())
            difference = is(orange_.git({"branch", "--show-current"}, orange_.worktree(id)), words[0]);
        return difference;
    }
    if (subject == "saved") {
        const auto ref = "refs/orange/" + id + "/wip";
        const bool exists = orange_.try_run({"git", "rev-parse", "--verify", "-q", ref}, repo_).status == 0;
        if (words[0] == "nothing") return exists ? "is something" : "";
        return exists && orange_.try_run({"git", "cat-file", "-e", ref + ":" + words[0]}, repo_).status == 0 ? ""
                                                                                                             : "is not";
    }
    if (words[0] != "has" && words[0] != "without") return "has, or without, what?";
    const auto found = subject == "main"
                           ? orange_.try_run({"git", "cat-file", "-e", "main:" + words[1]}, repo_)
                           : orange_.try_run({"git", "rev-parse", "--verify", "-q", "refs/heads/" + words[1]},
                                             github_ ? github_->origin() : orange_.root() / "origin.git");
    return is(found.status == 0 ? "has" : "without", words[0]);
}

/// The windows of the task's session whose process lives, as tmux itself says.
std::string Stage::windows(const std::string& id) {
    const auto session = orange_.fields(id).at("tmux_session");
    if (!session.is_string()) return "none";
    const auto listed = orange_.tmux(
        {"list-windows", "-t", "=" + session.get<std::string>(), "-F", "#{?pane_dead,dead-,}#{window_name}"});
    std::vector<std::string> names;
    for (const auto line : split_lines(listed.out)) {
        if (!line.starts_with("dead-")) names.emplace_back(line);
    }
    return sorted(names);
}

/// The windows whose scrollback is kept.
std::string Stage::logs(const std::string& id) {
    std::vector<std::string> names;
    std::error_code none_yet;
    for (const auto& entry : fs::directory_iterator(orange_.folder(id) / "logs", none_yet)) {
        const auto name = entry.path().stem().string();
        names.push_back(name.substr(0, name.rfind('-')));
    }
    return sorted(names);
}

std::string Stage::agent_file(const std::string& id, const std::string& role, const std::string& name) {
    const auto run = orange_.run_of(id, role);
    if (run.is_null()) return "nothing: there is no " + role;
    return read_file(orange_.root() / "agents" / run.at("run").get<std::string>() / name);
}

std::vector<std::string> Stage::events(const std::string& id) {
    std::vector<std::string> all;
    for (const auto& event : orange_.history(id)) {
        // A message is typed when the agent can take it, at no certain place among the others: "heard" looks for it.
        if (event.at("type") != "agent.notified") all.push_back(told(event));
    }
    return all;
}

void Stage::expect_history(const Step& step) {
    const auto id = task(step.task);
    const auto until = std::chrono::steady_clock::now() + k_patience;
    const auto begin = told_[id];
    for (;;) {
        const auto all = events(id);
        const std::vector<std::string> news(all.begin() + static_cast<std::ptrdiff_t>(begin), all.end());
        if (news == step.history) {
            told_[id] = all.size();
            return;
        }
        // More than was expected never becomes less.
        if (news.size() > step.history.size() || std::chrono::steady_clock::now() > until)
            wrong(step.line, "the history goes on with\n    " + join(news, "\n    ") + "\n");
        std::this_thread::sleep_for(15ms);
    }
}

}  // namespace orange::tests

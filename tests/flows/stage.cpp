#include "tests/flows/stage.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "tests/catch.hpp"

namespace orange::tests {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr auto k_deadline = 40s;

}  // namespace

fs::path flows_folder() {
    return fs::path(ORANGE_SOURCE_DIR) / "tests" / "data" / "flows";
}

void play_flow(const std::string& workflow, const std::string& flow) {
    const auto name = workflow + "/" + flow + ".txt";
    const auto transcript = parse_transcript(name, read_file(flows_folder() / name));
    if (!transcript) FAIL(transcript.error().message);
    Stage stage(name, workflow, *transcript);
    stage.play();
}

Stage::Stage(std::string name, const std::string& workflow, const Transcript& transcript)
    : name_(std::move(name)), transcript_(transcript), orange_("pr_interval: 0.05\n") {
    if (transcript.github) {
        github_ = std::make_unique<test::FakeGitHub>(orange_.root() / "github");
        orange_.stop_daemon();
        orange_.start_daemon({}, {"PATH=" + (orange_.root() / "github").string() + ":" + std::getenv("PATH")});
    }
    fs::create_directories(orange_.home() / "harnesses");
    write_file(
        orange_.home() / "harnesses" / "scripted.yml",
        "name: scripted\nprogram: " ORANGE_SOURCE_DIR "/tests/flows/scripted-agent\nargv:\n" +
            std::string("  full: [--, \"{prompt}\"]\nscreen: {composer_empty: [❯]}\nenv:\n  SCRIPTED_FOLDER: \"") +
            (orange_.root() / "agents").string() + "\"\n");
    const auto own = fs::path(ORANGE_SOURCE_DIR) / "tests" / "data" / "workflows" / (workflow + ".yml");
    if (fs::exists(own)) {
        fs::create_directories(orange_.home() / "workflows");
        fs::copy_file(own, orange_.home() / "workflows" / (workflow + ".yml"));
    }
    repo_ = orange_.add_project("shop", transcript.pool);
    rpc::ProjectUpdate update;
    update.name = "shop";
    update.workflow = workflow;
    update.harness = "scripted";
    orange_.call(update);
    if (transcript.remote) {
        orange_.git({"clone", "-q", "--bare", repo_.string(), (orange_.root() / "origin.git").string()},
                    orange_.root());
        orange_.git({"remote", "add", "origin", (orange_.root() / "origin.git").string()}, repo_);
    }
    if (github_) {
        orange_.git({"clone", "-q", "--bare", ".", github_->origin().string()}, repo_);
        orange_.git({"remote", "add", "origin", test::FakeGitHub::k_url}, repo_);
    }
}

void Stage::play() {
    for (const auto& step : transcript_.steps) {
        switch (step.kind) {
            case Step::Kind::event:
                happen(step);
                break;
            case Step::Kind::expectation:
                expect(step);
                break;
            case Step::Kind::history:
                expect_history(step);
                break;
        }
        SUCCEED(step.text);
    }
}

void Stage::wrong(std::size_t line, const std::string& what) {
    orange_.fail(name_ + ":" + std::to_string(line) + ": " + what);
}

/// {task} is the newest task's id, {2} the second's.
std::string Stage::filled_in(std::string text) {
    for (std::size_t i = 0; i <= tasks_.size() && !tasks_.empty(); ++i) {
        const auto mark = i == 0 ? std::string("{task}") : "{" + std::to_string(i) + "}";
        for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark))
            text.replace(at, mark.size(), i == 0 ? tasks_.back() : tasks_[i - 1]);
    }
    return text;
}

const std::string& Stage::task(std::size_t label) {
    if (tasks_.empty() || label > tasks_.size()) orange_.fail(name_ + ": there is no such task yet");
    return label == 0 ? tasks_.back() : tasks_[label - 1];
}

void Stage::happen(const Step& step) {
    Event event = step.event;
    for (auto& word : event.words) word = filled_in(word);
    bool may_fail = false, unchanged = false, may_go = false;
    for (const auto& outcome : event.outcomes) {
        may_fail |= outcome.kind == Outcome::Kind::refused || outcome.kind == Outcome::Kind::noted;
        unchanged |= outcome.kind == Outcome::Kind::refused;
        may_go |= outcome.kind == Outcome::Kind::gone;
    }
    const auto before = unchanged ? quiet_files() : Files{};
    const auto done = event.actor == "human"    ? by_human(event.words)
                      : event.actor == "github" ? by_github(event.words)
                                                : by_agent(event);
    if (done.gone != may_go)
        wrong(step.line,
              done.gone ? "the agent was ended by it: say \"< gone\"" : "the agent was not ended: " + done.out);
    if (!done.gone && (done.status != 0) != may_fail)
        wrong(step.line, step.text + "\nended with " + std::to_string(done.status) + ": " + done.out + done.err);
    for (const auto& outcome : event.outcomes) judge(outcome, done);
    if (!unchanged) return;
    const auto after = files();
    for (const auto& [file, content] : after) {
        const auto old = before.find(file);
        if (old == before.end() || old->second != content)
            wrong(step.line, "it was refused, and yet changed " + file + " from\n" +
                                 (old == before.end() ? "" : old->second) + "\nto\n" + content);
    }
    if (after.size() != before.size()) wrong(step.line, "it was refused, and yet removed a file");
}

Stage::Done Stage::by_human(const std::vector<std::string>& words) {
    const std::vector<std::string> args(words.begin() + 1, words.end());
    if (words[0] == "orange") return orange(args);
    if (words[0] == "rpc") return rpc(args[0], args[1]);
    if (words[0] == "kill-session") {
        kill_session();
        return {};
    }
    if (words[0] == "setup") {
        rpc::ProjectUpdate update;
        update.name = "shop";
        update.setup = args;
        orange_.call(update);
        return {};
    }
    const auto ran = orange_.try_run(words, repo_);
    return {ran.status, false, ran.out, ran.err};
}

Stage::Done Stage::orange(std::vector<std::string> args) {
    const bool creates = args.size() > 1 && args[0] == "task" && args[1] == "create";
    if (creates) args.insert(args.begin() + 2, {"--harness", "scripted", "--review-harness", "scripted"});
    const auto ran = orange_.orange(args, repo_);
    if (creates) note_new_tasks();
    return {ran.status, false, ran.out, ran.err};
}

/// Also a task whose agent was not started.
void Stage::note_new_tasks() {
    rpc::TaskList list;
    list.all = true;
    for (const auto& view : orange_.call(list).tasks) {
        const auto id = view.fields.id.value;
        if (std::find(tasks_.begin(), tasks_.end(), id) == tasks_.end()) tasks_.push_back(id);
    }
}

Stage::Done Stage::rpc(const std::string& method, const std::string& params) {
    const auto json = Json::parse(params, nullptr, false);
    if (json.is_discarded()) orange_.fail(name_ + ": not JSON: " + params);
    const auto reply = orange_.connection().call_json(method, json);
    if (method == "task.create") note_new_tasks();
    if (reply) return {0, false, reply->dump(), ""};
    return {1, false, "", name_text(reply.error().code) + ": " + reply.error().message};
}

void Stage::kill_session() {
    const auto session = orange_.fields(tasks_.back()).at("tmux_session").get<std::string>();
    if (orange_.tmux({"kill-session", "-t", "=" + session}).status != 0) orange_.fail("no session " + session);
}

/// What people and machines do there to the pull request of that number.
Stage::Done Stage::by_github(const std::vector<std::string>& words) {
    if (!github_) orange_.fail(name_ + ": say \"remote: github\" first");
    const auto number = std::stoll(words[1]);
    if (words[0] == "merges") github_->merge(number);
    if (words[0] == "closes") github_->set_state(number, "CLOSED");
    if (words[0] == "opens-again") github_->set_state(number, "OPEN");
    if (words[0] == "requests-changes") github_->change(number, {{"review", "CHANGES_REQUESTED"}});
    if (words[0] == "fails-checks") github_->change(number, {{"checks", "FAILURE"}});
    if (words[0] == "passes-checks") github_->change(number, {{"checks", "SUCCESS"}});
    return {};
}

/// Waits until that agent listens. One that was told to end is not waited for, but the one after it.
fs::path Stage::folder_of_agent(const std::string& id, const std::string& role) {
    fs::path folder;
    orange_.eventually(
        "the " + role + " of " + id + " listens",
        [&] {
            const auto run = orange_.run_of(id, role);
            if (run.is_null() || ended_.contains(run.at("run").get<std::string>())) return false;
            folder = orange_.root() / "agents" / run.at("run").get<std::string>();
            const int fifo = ::open((folder / "commands").c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
            if (fifo >= 0) ::close(fifo);
            return fifo >= 0;
        },
        k_deadline);
    return folder;
}

bool Stage::tell(const fs::path& folder, const std::string& number) {
    const int fifo = ::open((folder / "commands").c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (fifo < 0) return false;
    const auto line = number + "\n";
    const bool told = ::write(fifo, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    ::close(fifo);
    return told;
}

Stage::Done Stage::by_agent(const Event& event) {
    const auto id = task(event.task);
    const auto folder = folder_of_agent(id, event.actor);
    const auto run = folder.filename().string();
    const auto number = std::to_string(++commands_);
    write_file(folder / (number + ".words"), join(event.words, "\n") + "\n");
    if (!tell(folder, number)) orange_.fail(name_ + ": the " + event.actor + " does not listen any more");
    if (event.words[0] == "exit" || event.words[0] == "die") {
        ended_.insert(run);
        orange_.eventually(
            "the end of the " + event.actor + " is noted",
            [&] {
                const auto now = orange_.run_of(id, event.actor);
                return now.is_null() || now.at("run") != run;
            },
            k_deadline);
        return {};
    }
    Done done;
    orange_.eventually(
        "the " + event.actor + " has done: " + join(event.words, " "),
        [&] {
            // In this order: an answer that was written before the end counts.
            const auto now = orange_.run_of(id, event.actor);
            const bool over = now.is_null() || now.at("run") != run;
            const bool answered = fs::exists(folder / (number + ".status"));
            done.gone = over && !answered;
            return over || answered;
        },
        k_deadline);
    if (done.gone) return done;
    done.status = std::stoi(read_file(folder / (number + ".status")));
    done.out = read_file(folder / (number + ".out"));
    return done;
}

void Stage::judge(const Outcome& outcome, const Done& done) {
    if (outcome.kind == Outcome::Kind::gone) return;
    const auto all = done.out + done.err;
    if (outcome.kind != Outcome::Kind::json) {
        // The client shows people the first eight characters of an id.
        auto shown = filled_in(outcome.text);
        for (const auto& id : tasks_) {
            for (auto at = shown.find(id); at != std::string::npos; at = shown.find(id))
                shown.erase(at + 8, id.size() - 8);
        }
        if (all.find(filled_in(outcome.text)) == std::string::npos && all.find(shown) == std::string::npos)
            wrong(outcome.line, "it does not say \"" + filled_in(outcome.text) + "\" but: " + all);
        return;
    }
    const auto reply = Json::parse(done.out, nullptr, false);
    const auto wanted = Json::parse(filled_in(outcome.value), nullptr, false);
    if (reply.is_discarded()) wrong(outcome.line, "no JSON: " + all);
    if (wanted.is_discarded()) wrong(outcome.line, "not JSON: " + outcome.value);
    const Json::json_pointer pointer(outcome.text);
    if (!reply.contains(pointer)) wrong(outcome.line, "there is no " + outcome.text + " in " + reply.dump());
    if (reply.at(pointer) != wanted) wrong(outcome.line, outcome.text + " is " + reply.at(pointer).dump());
}

Stage::Files Stage::files() {
    Files all;
    for (const auto& id : tasks_) {
        const auto folder = orange_.home() / "tasks" / "shop" / id;
        for (const char* name : {"TASK.md", "history.jsonl"}) all[id + "/" + name] = read_file(folder / name);
        auto state = Json::parse(read_file(folder / "state.json"), nullptr, false);
        if (state.is_object()) {
            state.erase("typed");     // when an agent has seen a message is its terminal's affair
            state.erase("to_tell");   // until the notifier has told what it collects for two seconds
            state.erase("notified");  // the same
        }
        all[id + "/state.json"] = state.dump();
    }
    return all;
}

bool Stage::is_quiet(const std::string& id) {
    const auto folder = orange_.home() / "tasks" / "shop" / id;
    const auto state = Json::parse(read_file(folder / "state.json"), nullptr, false);
    if (state.is_discarded() || !state.at("intent").is_null() || !state.at("outbox").empty()) return false;
    const auto& workspace = state.at("fields").at("workspace");
    if (!workspace.is_string()) return true;
    const auto worktree = orange_.home() / "workspaces" / workspace.get<std::string>();
    const auto mirror =
        fs::exists(worktree / ".orange" / "TASK.md") ? worktree / ".orange" / "TASK.md" : worktree / "TASK.md";
    const auto own = read_file(folder / "TASK.md");
    const auto body = own.find("\n---\n");
    return read_file(mirror) == own && body != std::string::npos &&
           sha256(own.substr(body + 5)) == state.at("body_hash").get<std::string>();
}

Stage::Files Stage::quiet_files() {
    Files last;
    orange_.eventually(
        "nothing is on its way",
        [&] {
            // In this order: what is read before it was quiet may be from before the last change.
            const bool quiet = std::all_of(tasks_.begin(), tasks_.end(), [&](const auto& id) { return is_quiet(id); });
            auto now = files();
            const bool same = now == last;
            last = std::move(now);
            if (!(quiet && same)) std::this_thread::sleep_for(30ms);
            return quiet && same;
        },
        k_deadline);
    return last;
}

}  // namespace orange::tests

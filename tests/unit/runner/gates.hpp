#pragma once

#include <stdexcept>

#include "tests/unit/runner/changes.hpp"

namespace orange::test {

/// A task whose worker has handed over its one commit, in a project with checks: real git, real processes.
struct GatedTask {
    explicit GatedTask(const std::string& workflow = "default") {
        id = world.make_task("do it", 1, workflow);
        if (workflow != "relay") {
            world.move(id, "planning").value();
            world.append_body(id, "\n## Plan\nAPPROACH: straight on\n");
        }
        world.move(id, "working").value();
        tree = world.home() / "workspaces/shop--1";
        world.git.commit(tree, "feature", "it\n");
        world.append_body(id, "\n## Handoff\nDONE: all of it\n");
    }

    static std::vector<std::string> shell(const std::string& script) { return {"sh", "-c", script}; }
    std::filesystem::path file(const std::string& name) const { return live / name; }
    /// Says that it ran, and where; then does `script`.
    void want(const std::string& script, int seconds = 60) {
        auto project = shop(world);
        project.settings.checks = {shell("pwd >> '" + file("ran").string() + "'; " + script)};
        project.settings.checks_timeout = seconds;
        world.house().world().projects.put(project).value();
    }
    std::size_t times_run() const {
        return std::filesystem::exists(file("ran")) ? split_lines(read_file(file("ran"))).size() : 0;
    }
    /// Waits until the file `go-on` is there, then ends with `status`.
    std::string waiting(int status = 0) const {
        return "touch " + file("begun").string() + "; while [ ! -e " + file("go-on").string() +
               " ]; do sleep 0.02; done; echo 4711 lemons; exit " + std::to_string(status);
    }
    void let_go() const { write_file(file("go-on"), ""); }

    Runner& runner() { return world.house().runner(); }
    /// The answer; what it began goes on only in until().
    Result<Outcome> ask(const std::string& to = "agent-review", Role by = Role::worker) {
        engine::Request request;
        request.to = to;
        request.by = by;
        Caller caller;
        caller.role = by;
        caller.evidence = "test";
        if (by == Role::worker || by == Role::reviewer) {
            caller.task = id;
            if (const auto* run = world.record(id).run_of(by)) caller.run = run->run;
        }
        std::optional<Result<Outcome>> answer;
        world.house().begin(runner().requests.move(id, request, caller, Edit{}), answer);
        until([&] { return answer.has_value() || world.outside.fuse.struck(); });
        if (!answer) throw std::runtime_error("the daemon is dead");
        return *answer;
    }
    /// What runs in the background goes on until then.
    template <class Done>
    void until(Done done) {
        auto& io = world.house().io;
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (!done() && std::chrono::steady_clock::now() < end) {
            io.restart();
            io.run_for(std::chrono::milliseconds(5));
        }
        REQUIRE(done());
    }
    void until_begun() {
        until([this] { return std::filesystem::exists(file("begun")); });
    }
    void until_nothing_is_asked() {
        until([this] {
            const auto record = world.record(id);
            return !record.asked && !record.intent && !runner().checks.any_under_way();
        });
    }
    std::string status() { return world.record(id).task.status; }
    std::size_t told(const std::string& type) { return world.events(id, type).size(); }
    std::size_t changes_to(const std::string& to) {
        std::size_t count = 0;
        for (const auto& event : world.events(id, "status.changed")) count += event.fields.at("to") == Scalar{to};
        return count;
    }
    /// What waits for the worker, or was typed into its window.
    std::vector<std::string> messages() {
        std::vector<std::string> texts;
        const auto record = world.record(id);
        for (const auto* all : {&record.typed, &record.outbox}) {
            for (const auto& message : *all) texts.push_back(message.text);
        }
        return texts;
    }

    RunnerWorld world;
    TaskId id;
    std::filesystem::path tree, live = world.home().parent_path();
};

}  // namespace orange::test

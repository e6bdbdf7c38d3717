#pragma once

#include <filesystem>
#include <string>

#include "daemon/rpc/api.hpp"
#include "tests/fakes/github/fake_github.hpp"
#include "tests/unit/runner/changes.hpp"

/// The changes that are no task's: whole methods, as a client calls them. And those for which children other than git
/// are needed.
namespace orange::test {

inline Result<Json> call(RunnerWorld& world, const std::string& method, Json params) {
    rpc::Api api(world.house().runner(), {});
    rpc::MethodTable table;
    api.add_to(table);
    rpc::Call by;
    by.caller = a_human();
    return world.house().go(table.find(method)->invoke(std::move(params), by));
}

inline Result<void> nothing_of(const Result<Json>& reply) {
    return reply ? Result<void>{} : Result<void>{reply.error()};
}

inline std::filesystem::path live(RunnerWorld& world) {
    return world.home().parent_path();
}

inline Change exporting_a_workflow() {
    Change change;
    change.name = "workflow.export";
    change.arrange = [](RunnerWorld& world) {
        const auto id = world.make_task();
        write_file(world.home() / "workflows/mine.yml", "# the old one\n");
        return id;
    };
    const auto text = [](RunnerWorld& world) { return read_file(world.home() / "workflows/mine.yml"); };
    change.act = [](RunnerWorld& world, const TaskId&) {
        return nothing_of(call(world, "workflow.export", {{"name", "default"}, {"as", "mine"}, {"force", true}}));
    };
    change.is_done = [](RunnerWorld& world, const TaskId&) {
        const auto found = world.house().world().workflows.find("mine");
        return found && (*found)->has_transition("reviewing", "done");
    };
    change.holds = [text, done = change.is_done](RunnerWorld& world, const TaskId& id) {
        if (text(world) != "# the old one\n" && !done(world, id)) throw std::runtime_error("half a workflow");
    };
    return change;
}

/// A program that is told on its command line.
inline Change trusting() {
    Change change;
    change.name = "harness.trust";
    change.arrange = [](RunnerWorld& world) {
        write_file(world.home() / "harnesses/wary.yml",
                   "name: wary\nprogram: true\nargv:\n  full: [\"{trust_args}\", --, \"{prompt}\"]\n"
                   "trust: {args: [\"--trust={repo}\"]}\n");
        return world.make_task();
    };
    const auto shop = [](RunnerWorld& world) { return Json::parse(read_file(world.home() / "projects.json")).at(0); };
    change.act = [](RunnerWorld& world, const TaskId&) {
        return nothing_of(call(world, "harness.trust", {{"name", "wary"}, {"project", "shop"}}));
    };
    change.is_done = [shop](RunnerWorld& world, const TaskId&) {
        return shop(world).value("trusted", Json::array()) == Json{"wary"};
    };
    change.holds = [shop](RunnerWorld& world, const TaskId&) {
        if (shop(world).at("name") != "shop") throw std::runtime_error("the project is gone");
    };
    return change;
}

inline Change adding_a_project() {
    Change change;
    change.name = "project.add";
    change.arrange = [](RunnerWorld& world) {
        world.git.make_repo("live/other");
        return world.make_task();
    };
    change.act = [](RunnerWorld& world, const TaskId&) {
        return nothing_of(call(world, "project.add",
                               {{"path", (live(world) / "other").string()}, {"name", "other"}, {"pool_size", 2}}));
    };
    change.is_done = [](RunnerWorld& world, const TaskId&) {
        const auto* project = world.house().world().projects.find("other");
        return project && project->pool_size == 2 && project->default_branch == "main";
    };
    change.holds = [](RunnerWorld& world, const TaskId&) {
        if (!world.house().world().projects.find("shop")) throw std::runtime_error("the other project is gone");
    };
    return change;
}

/// Its repository was moved, and it has workspaces.
inline Change moving_a_project() {
    Change change;
    change.name = "project.update --path";
    change.arrange = [](RunnerWorld& world) {
        const auto id = world.make_task("do it", 2);
        world.house().go(world.house().world().pool.init(shop(world))).value();
        std::filesystem::rename(world.repo(), live(world) / "moved");
        return id;
    };
    change.act = [](RunnerWorld& world, const TaskId&) {
        const auto reply =
            call(world, "project.update",
                 {{"name", "shop"}, {"path", (live(world) / "moved").string()}, {"setup", Json::array({"true"})}});
        if (!reply) return Result<void>{reply.error()};
        const auto notes = reply->value("notes", Json::array());
        if (notes.empty()) return Result<void>{};
        return Result<void>{Error(ErrorCode::external_failed, notes.front().get<std::string>().substr(0, 5000))};
    };
    change.is_done = [](RunnerWorld& world, const TaskId&) {
        const auto workspace = world.home() / "workspaces/shop--2";
        return shop(world).path == (live(world) / "moved").string() && shop(world).setup.size() == 1 &&
               world.git.plain(workspace, {"rev-parse", "--is-inside-work-tree"}, true) == "true";
    };
    change.holds = [](RunnerWorld& world, const TaskId&) {
        if (shop(world).pool_size != 2) throw std::runtime_error("another field was changed");
    };
    return change;
}

inline Change starting_with_setup() {
    auto change = starting();
    change.name = "start, with a setup command";
    change.arrange = [](RunnerWorld& world) {
        const auto id = world.make_task();
        auto project = shop(world);
        project.setup = {"/bin/sh", "-c", "echo ran >> ready"};
        world.house().world().projects.put(project).value();
        return id;
    };
    change.is_done = [](RunnerWorld& world, const TaskId& id) {
        return is_in(world, id, "planning") && std::filesystem::exists(world.home() / "workspaces/shop--1/ready");
    };
    return change;
}

/// A transition with every action that starts a child of its own: a command, a push, gh.
inline Change publishing() {
    Change change;
    change.name = "publish";
    change.arrange = [](RunnerWorld& world) {
        // Below what goes back in time; the PATH of the world leads there.
        std::filesystem::create_directories(live(world) / "programs");
        std::filesystem::create_directory_symlink(live(world) / "programs", world.programs());
        const FakeGitHub github(world.programs());
        world.git.make_origin(world.repo(), "live/programs/ssh-root/acme/shop.git");
        world.git.plain(world.repo(), {"remote", "set-url", "origin", FakeGitHub::k_url});
        write_file(world.home() / "workflows/publish.yml", R"(name: publish
version: 1
states: {pending: {}, working: {}, published: {}, done: {terminal: true}}
transitions:
  - {from: pending, to: working, hooks: [{action: acquire_workspace}]}
  - from: working
    to: published
    hooks:
      - {action: run_command, argv: [/bin/sh, -c, "echo ran >> ran"]}
      - {action: push_branch}
      - {action: create_pr}
  - {from: published, to: working}
  - {from: published, to: done}
)");
        world.boot();
        const auto id = world.make_task("Sell lemons", 1, "publish");
        world.move(id, "working").value();
        world.git.commit(world.house().world().pool.path_of("shop--1"), "lemons", "yellow\n");
        return id;
    };
    change.act = [](RunnerWorld& world, const TaskId& id) {
        if (is_in(world, id, "published")) world.move(id, "working").value();
        return nothing_of(world.move(id, "published"));
    };
    change.is_done = [](RunnerWorld& world, const TaskId& id) {
        const auto& task = world.record(id).task;
        const auto pushed = world.git.ref((live(world) / "programs/ssh-root/acme/shop.git").string(), task.branch);
        return is_in(world, id, "published") && !task.attention && task.pr_url &&
               pushed == world.git.ref(world.repo(), task.branch) &&
               std::filesystem::exists(world.home() / "workspaces/shop--1/ran");
    };
    change.holds = [](RunnerWorld& world, const TaskId& id) {
        const auto prs = FakeGitHub::prs_in(live(world) / "programs");
        if (std::count(prs.begin(), prs.end(), '\n') > 1) throw std::runtime_error("two pull requests: " + prs);
        if (world.record(id).task.pr_url && prs.empty()) throw std::runtime_error("a pull request that is not there");
    };
    return change;
}

}  // namespace orange::test

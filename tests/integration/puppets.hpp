#pragma once

#include <string>

#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

namespace orange::tests {

/// Text between a shell's single quotes.
inline std::string quoted(const std::string& text) {
    return "'" + text + "'";
}

/// Tasks whose agents are puppets: shells in real panes that execute what is put into their fifo.
class PuppetStage {
  public:
    PuppetStage() {
        std::filesystem::create_directories(orange.home() / "harnesses");
        std::filesystem::create_directories(folder());
        write_file(folder() / "puppet.sh", "me=" + folder().string() +
                                               "/$ORANGE_TASK-$ORANGE_ROLE\n"
                                               "mkfifo \"$me.fifo\" || exit 1\n"
                                               "exec 3<>\"$me.fifo\"\n"
                                               ": >\"$me.ready\"\n"
                                               "while read -r script <&3; do\n"
                                               "    sh \"$script\" >\"$script.out\" 2>&1 3<&-\n"
                                               "    : >\"$script.done\"\n"
                                               "done\n");
        write_file(orange.home() / "harnesses" / "puppet.yml",
                   "name: puppet\nprogram: sh\nmode: persistent\nargv:\n  full: [" + (folder() / "puppet.sh").string() +
                       ", --, \"{prompt}\"]\n");
        orange.add_project("shop", 3);
    }

    std::filesystem::path folder() const { return orange.root() / "stage"; }

    std::string create(bool no_spawn = false) {
        rpc::TaskCreate params;
        params.project = "shop";
        params.summary = "Stand on the stage";
        params.harness = params.review_harness = "puppet";
        params.no_spawn = no_spawn;
        return orange.call(params).task.fields.id.value;
    }

    /// A human takes the task to its review; both agents are there then.
    void go_to_review(const std::string& id) {
        add_to_body(id, "\n## Plan\n\nAPPROACH: as told\nTOUCHING: nothing\n");
        orange.wait_for_status(id, "planning");
        REQUIRE(orange.update_status(id, "working"));
        add_to_body(id, "\n## Handoff\n\nDONE: all\n");
        REQUIRE(orange.update_status(id, "agent-review"));
        orange.wait_for_status(id, "agent-review");
    }

    void add_to_body(const std::string& id, const std::string& text) {
        const auto file = orange.worktree(id) / "TASK.md";
        write_file(file, read_file(file) + text);
    }

    /// Has the puppet execute that, which may be its end. The script's path.
    std::filesystem::path begin(const std::string& id, const std::string& role, const std::string& text) {
        const auto puppet = folder() / (id + "-" + role);
        orange.eventually("the " + role + " is ready",
                          [&] { return std::filesystem::exists(puppet.string() + ".ready"); });
        const auto script = next("script");
        write_file(script, text + "\n");
        write_file(puppet.string() + ".fifo", script.string() + "\n");
        return script;
    }

    /// The same, until it has; what it printed.
    std::string play(const std::string& id, const std::string& role, const std::string& text) {
        const auto script = begin(id, role, text);
        orange.eventually("the " + role + " has played",
                          [&] { return std::filesystem::exists(script.string() + ".done"); });
        return read_file(script.string() + ".out");
    }

    std::filesystem::path next(const std::string& name) { return folder() / (name + std::to_string(++files_)); }

    pid_t shim(const std::string& id, const std::string& role) {
        return orange.run_of(id, role).at("pid").get<pid_t>();
    }
    std::string run_id(const std::string& id, const std::string& role) {
        return orange.run_of(id, role).at("run").get<std::string>();
    }

    /// The socket that the run's agent is to use.
    std::filesystem::path socket(const std::string& id, const std::string& role) {
        return orange.home() / "r" / run_id(id, role) / "s";
    }

    Sandbox orange{"poll_interval: 3600\n"};

  private:
    int files_ = 0;
};

}  // namespace orange::tests

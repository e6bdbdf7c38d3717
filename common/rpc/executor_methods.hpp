#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/model/fields.hpp"
#include "common/rpc/task_view.hpp"

/// Parameters and results of `executor.*`.
namespace orange::rpc {

struct ExecutorView {
    std::string name;
    std::string path;
    bool installed = false;
    std::vector<std::string> separates;
    std::vector<std::string> limits;
    bool limits_network = false;
    bool tried = true;
    std::optional<std::string> install;
    std::optional<std::string> problem;
    std::vector<std::string> projects;
    void describe(auto& v) {
        v.required("name", name, "its name");
        v.required("path", path, "its definition");
        v.required("installed", installed, "its program was found");
        v.required("separates", separates,
                   "what its agents do not share with the rest of the machine: files, network, processes, memory, "
                   "machine");
        v.sparse("limits", limits,
                 "the limits that it enforces itself: memory, cpus, time, processes, disk, if its definition has words "
                 "for them");
        v.sparse("limits_network", limits_network, "it can keep its agents to the setting network of their project");
        v.required("tried", tried, "whether somebody has seen a whole life in it pass");
        v.optional("install", install, "the command that installs its program");
        v.optional("problem", problem, "why it cannot be used");
        v.sparse("projects", projects, "whose new tasks use it");
    }
};

struct ExecutorList {
    static constexpr const char* k_name = "executor.list";
    bool check = false;
    void describe(auto& v) { v.sparse("check", check, "try which can be used, which may take seconds"); }
    struct Reply {
        std::vector<ExecutorView> executors;
        void describe(auto& v) { v.required("executors", executors, "by name"); }
    };
};

struct ExecutorShow : TaskSelector {
    static constexpr const char* k_name = "executor.show";
    std::string name;
    void describe(auto& v) {
        v.required("name", name, "which executor");
        v.optional("id", id, "the task whose values its commands are shown with");
        v.optional("cwd", cwd, "the caller's directory: that task, where it is in a workspace");
    }
    struct Reply {
        ExecutorView executor;
        std::vector<std::string> run;
        std::vector<std::string> inside;
        std::string checks;
        std::vector<std::string> check;
        std::vector<std::string> stop;
        std::vector<std::string> probe;
        std::vector<std::string> queued;
        std::vector<std::string> memory;
        std::optional<std::string> no_list;
        std::optional<std::string> task;
        std::string text;
        void describe(auto& v) {
            v.required("executor", executor, "as in the list; its check was run, too");
            v.required("run", run, "argv that starts an agent; placeholders that have no value yet stay");
            v.optional("inside", inside, "argv that runs git and the project's commands behind the same wall");
            v.optional("checks", checks,
                       "where the project's commands run, if it separates files: inside (by the command above) or "
                       "outside");
            v.optional("check", check, "argv that succeeds where it can be used");
            v.optional("stop", stop, "argv that ends what a run may leave");
            v.optional("probe", probe, "argv that says which runs it has");
            v.optional("queued", queued, "the states of a run that has not begun");
            v.optional("memory", memory, "what {limits} stands for if there is a limit of memory");
            v.optional("no_list", no_list,
                       "why the network cannot be a list of places here, if it can be limited at all");
            v.optional("task", task, "the task whose values were used");
            v.required("text", text, "the file");
        }
    };
};

}  // namespace orange::rpc

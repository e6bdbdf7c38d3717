#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/forges.hpp"
#include "common/model/fields.hpp"
#include "common/model/project.hpp"

/// Parameters and results of `project.*`.
namespace orange::rpc {

struct SettingView {
    Json value;
    std::string from;
    void describe(auto& v) {
        v.required("value", value, "its effective value");
        v.required("from", from, "project, config.yml or default");
    }
};

struct ProjectView : Project {
    std::int64_t active_tasks = 0;
    std::map<std::string, SettingView> in_force;
    std::string place;
    void describe(auto& v) {
        Whole whole(v);
        Project::describe_but_settings(whole);
        v.required("active_tasks", active_tasks, "tasks that have not ended");
        v.optional("settings", in_force, "what is in force for it, name by name, and where that is said");
        v.sparse("place", place, k_doc_of_place);
    }
};

struct ProjectReply {
    ProjectView project;
    std::vector<std::string> notes;
    void describe(auto& v) {
        v.required("project", project, "the project as it is now");
        v.optional("notes", notes, "sentences for a human");
    }
};

struct ProjectAdd {
    static constexpr const char* k_name = "project.add";
    using Reply = ProjectReply;
    std::string path;
    std::optional<std::string> name;
    std::optional<std::string> default_branch;
    std::optional<int> pool_size;
    std::optional<std::string> workflow;
    std::optional<std::string> harness;
    std::vector<std::string> setup;
    std::vector<std::string> dev;
    void describe(auto& v) {
        v.required("path", path, "absolute path of a git repository, or of any directory in it");
        v.optional("name", name, "project name; the folder's name where absent");
        v.optional("default_branch", default_branch, "found where absent");
        v.optional("pool_size", pool_size, "maximum number of workspaces, 1 to 64; default: 8");
        v.optional("workflow", workflow, "workflow of new tasks");
        v.optional("harness", harness, "harness of new tasks");
        v.optional("setup", setup, "argv run in a workspace before its agent starts");
        v.sparse("dev", dev, "argv with which a human tries a task's work");
    }
};

struct ProjectList {
    static constexpr const char* k_name = "project.list";
    bool places = false;
    void describe(auto& v) { v.sparse("places", places, "find out where pull requests are, too, which asks git"); }
    struct Reply {
        std::vector<ProjectView> projects;
        std::vector<std::string> problems;
        void describe(auto& v) {
            v.required("projects", projects, "by name");
            v.sparse("problems", problems, "what is wrong with projects.json; sentences for a human");
        }
    };
};

struct ProjectUpdate {
    static constexpr const char* k_name = "project.update";
    using Reply = ProjectReply;
    std::optional<std::string> name;
    std::optional<std::string> cwd;
    std::optional<std::string> path;
    std::optional<std::string> default_branch;
    std::optional<int> pool_size;
    std::optional<std::string> workflow;
    std::optional<std::string> harness;
    std::optional<std::vector<std::string>> setup;
    std::optional<std::vector<std::string>> dev;
    std::map<std::string, Json> settings;
    void describe(auto& v) {
        v.optional("name", name, "which project; else the one that cwd is in");
        v.optional("cwd", cwd, "the caller's directory");
        v.optional("path", path, "where the repository is now");
        v.optional("default_branch", default_branch, "what tasks begin at and are merged into");
        v.optional("pool_size", pool_size, "maximum number of workspaces, 1 to 64");
        v.optional("workflow", workflow, "workflow of new tasks; empty: default");
        v.optional("harness", harness, "harness of new tasks; empty: first installed");
        v.optional("setup", setup, "argv run in a workspace before its agent starts; empty: none");
        v.optional("dev", dev, "argv with which a human tries a task's work; empty: none");
        v.sparse("settings", settings, "name → value, a text or of its own type; null: as config.yml says");
    }
};

struct ProjectRemove {
    static constexpr const char* k_name = "project.remove";
    std::string name;
    bool clean = false;
    void describe(auto& v) {
        v.required("name", name, "which project; it must have no active task");
        v.optional("clean", clean, "also remove the merged branches and refs that Orange made");
    }
    struct Reply {
        std::vector<std::string> notes;
        void describe(auto& v) { v.required("notes", notes, "what was removed, what was kept"); }
    };
};

}  // namespace orange::rpc

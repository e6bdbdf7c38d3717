#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/model/fields.hpp"
#include "common/rpc/empty.hpp"

/// Parameters and results of `workflow.*`.
namespace orange::rpc {

struct WorkflowView {
    std::string name;
    std::string path;
    bool shipped = false;
    bool shadows = false;
    bool valid = false;
    std::optional<std::string> problem;
    bool last_good = false;
    std::vector<std::string> states;
    std::vector<std::string> projects;
    void describe(auto& v) {
        v.required("name", name, "its name");
        v.required("path", path, "its file");
        v.required("shipped", shipped, "comes with Orange");
        v.optional("shadows", shadows, "the user's, in place of one of that name that comes with Orange");
        v.required("valid", valid, "the file, as it is now, can be used");
        v.optional("problem", problem, "what is wrong with it, a line each");
        v.optional("last_good", last_good, "not valid, and an earlier version of the file is in force");
        v.optional("states", states, "its states in order");
        v.optional("projects", projects, "whose new tasks follow it");
    }
};

struct WorkflowList : Empty {
    static constexpr const char* k_name = "workflow.list";
    struct Reply {
        std::vector<WorkflowView> workflows;
        void describe(auto& v) { v.required("workflows", workflows, "by name"); }
    };
};

struct WorkflowShow {
    static constexpr const char* k_name = "workflow.show";
    std::string name;
    void describe(auto& v) { v.required("name", name, "which workflow"); }
    struct TransitionView {
        std::string from;
        std::string to;
        std::string by;
        std::string gate;
        std::string when;
        std::string hooks;
        void describe(auto& v) {
            v.required("from", from, "source state");
            v.required("to", to, "target state");
            v.required("by", by, "who may ask");
            v.required("gate", gate, "the section that TASK.md must have");
            v.required("when", when, "the condition on counters");
            v.required("hooks", hooks, "its actions in order");
        }
    };
    struct Reply {
        WorkflowView workflow;
        std::vector<TransitionView> transitions;
        std::string text;
        void describe(auto& v) {
            v.required("workflow", workflow, "which it is");
            v.required("transitions", transitions, "in the file's order");
            v.required("text", text, "the file");
        }
    };
};

struct WorkflowGraph {
    static constexpr const char* k_name = "workflow.graph";
    std::string name;
    std::string format = "text";
    int width = 80;
    void describe(auto& v) {
        v.required("name", name, "which workflow");
        v.optional("format", format, "text, mermaid or dot");
        v.optional("width", width, "of text: columns, 60 or more");
    }
    struct Reply {
        std::string name;
        std::string format;
        std::string text;
        void describe(auto& v) {
            v.required("name", name, "which it is");
            v.required("format", format, "as asked for");
            v.required("text", text, "the drawing");
        }
    };
};

struct WorkflowExport {
    static constexpr const char* k_name = "workflow.export";
    std::string name;
    std::optional<std::string> as;
    bool force = false;
    void describe(auto& v) {
        v.required("name", name, "which workflow");
        v.optional("as", as, "the copy's name; else the same, of the one that comes with Orange");
        v.optional("force", force, "over a file that is there");
    }
    struct Reply {
        std::string name;
        std::string path;
        bool replaced = false;
        void describe(auto& v) {
            v.required("name", name, "the copy's");
            v.required("path", path, "its file");
            v.required("replaced", replaced, "a file was there");
        }
    };
};

struct WorkflowValidate {
    static constexpr const char* k_name = "workflow.validate";
    std::string text;
    std::string file;
    void describe(auto& v) {
        v.required("text", text, "a definition in YAML");
        v.required("file", file, "its file name; the stem is the name it must have");
    }
    struct ProblemView {
        int line = 0;
        int column = 0;
        std::string message;
        void describe(auto& v) {
            v.required("line", line, "1-based");
            v.required("column", column, "1-based");
            v.required("message", message, "what is wrong, and what would be right");
        }
    };
    struct Reply {
        bool valid = false;
        std::vector<ProblemView> problems;
        std::vector<ProblemView> warnings;
        void describe(auto& v) {
            v.required("valid", valid, "no problems");
            v.required("problems", problems, "all of them");
            v.optional("warnings", warnings, "what a valid definition may have forgotten");
        }
    };
};

}  // namespace orange::rpc

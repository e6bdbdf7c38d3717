#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/model/activity.hpp"
#include "common/model/fields.hpp"
#include "common/rpc/caller_environment.hpp"
#include "common/rpc/task_view.hpp"
#include "common/rpc/usage_methods.hpp"

/// Parameters and results of `harness.*`.
namespace orange::rpc {

struct HarnessView {
    std::string name;
    std::string path;
    bool installed = false;
    std::string program;
    std::optional<std::string> found_in;
    std::string mode;
    bool tried = true;
    std::optional<std::string> version;
    std::optional<std::string> measured;
    std::optional<std::string> identity;
    std::optional<std::string> install;
    std::optional<bool> trusted;
    std::vector<std::string> models;
    std::vector<std::string> missing;
    std::optional<std::string> problem;
    void describe(auto& v) {
        v.required("name", name, "its name");
        v.required("path", path, "its definition");
        v.required("installed", installed, "its program was found");
        v.required("program", program, "what is run");
        v.optional("found_in", found_in, "whose PATH has it, where it was looked up");
        v.required("mode", mode, "persistent or oneshot");
        v.required("tried", tried, "whether somebody has seen a whole life with it pass");
        v.optional("version", version, "what the program says, where its definition has it asked");
        v.optional("measured", measured, "the version of the program with which the definition was measured");
        v.optional("identity", identity, "a text that changes with the program's file");
        v.optional("install", install, "the command that installs the program");
        v.optional("trusted", trusted, "whether it trusts the project, where it asks for trust and there is a project");
        v.sparse("models", models, "models that its definition names; it may have others");
        v.optional("missing", missing, "what is missing to start it, each with what to do");
        v.optional("problem", problem, "why the definition cannot be used, or how to install the program");
    }
};

struct HarnessList {
    static constexpr const char* k_name = "harness.list";
    std::optional<std::string> project;
    std::optional<std::string> cwd;
    void describe(auto& v) {
        v.optional("project", project, "for which trust is looked at");
        v.optional("cwd", cwd, "a directory in that project");
    }
    struct Reply {
        std::vector<HarnessView> harnesses;
        std::string searched;
        std::optional<std::string> usual;
        void describe(auto& v) {
            v.required("harnesses", harnesses, "by name");
            v.optional("usual", usual, "the one of new tasks where the project names none; absent: none is installed");
            v.optional("searched", searched, "every PATH in which their programs are looked up, and whose it is");
        }
    };
};

struct HarnessShow {
    static constexpr const char* k_name = "harness.show";
    std::string name;
    void describe(auto& v) { v.required("name", name, "which harness"); }
    struct Reply {
        HarnessView harness;
        std::map<std::string, std::vector<std::string>> argv;
        std::map<std::string, std::string> uses;
        std::vector<std::string> effort_args;
        std::vector<std::string> effort_values;
        bool effort = false;
        bool model = false;
        std::vector<std::string> model_args;
        std::map<std::string, std::string> env;
        std::vector<std::string> wants;
        std::map<std::string, std::string> words;
        std::vector<std::string> trust_args;
        std::optional<std::string> trust_file;
        std::optional<std::string> root_needs;
        std::string messages;
        std::string permits;
        std::string text;
        std::string searched;
        void describe(auto& v) {
            v.required("harness", harness, "as in the list");
            v.required("argv", argv, "arguments by the definition's names, placeholders not filled in");
            v.required("uses", uses, "permissions (full, reduced, review): which of these lists runs");
            v.required("effort", effort, "whether an effort can be asked for");
            v.optional("effort_args", effort_args, "what {effort_args} stands for");
            v.optional("effort_values", effort_values, "the efforts there are; none: any word");
            v.optional("model", model, "whether a model can be asked for");
            v.sparse("model_args", model_args, "what {model_args} stands for");
            v.optional("env", env, "variables for every permission");
            v.optional("wants", wants, "variables that it is likely to need");
            v.optional("words", words, "words in a task's summary or context that it obeys, and what they do");
            v.optional("trust_args", trust_args, "what {trust_args} stands for, once a human has consented");
            v.optional("trust_file", trust_file, "where it looks for trust, if not among its arguments");
            v.optional("root_needs", root_needs, "a variable that root needs");
            v.optional("messages", messages, "keys: Orange types them; inbox: it reads them; none: a human types them");
            v.optional("permits", permits,
                       "where its human can answer what it asks: both (its window and the inbox), either (the inbox "
                       "only as the setting permits says) or window");
            v.required("text", text, "the file");
            v.optional("searched", searched, "as in the list");
        }
    };
};

/// The tokens that an agent's run has used, as far as they were read.
struct UsageReading {
    struct File {
        std::string path;
        std::int64_t offset = 0;
        std::int64_t size = 0;
        std::int64_t records = 0;
        void describe(auto& v) {
            v.required("path", path, "of the program");
            v.required("offset", offset, "bytes that have been read");
            v.required("size", size, "bytes that it has");
            v.required("records", records, "of requests to a model, with those that are written more than once");
        }
    };
    bool is_told = false;
    std::vector<File> files;
    UsageSum sum;
    std::vector<std::string> models;
    std::optional<UsageWindow> window;
    std::optional<Timestamp> read_at;
    void describe(auto& v) {
        v.required("is_told", is_told, "false: no request was found, so nothing is known");
        v.required("files", files, "that have been read");
        v.required("sum", sum, "of the run");
        v.sparse("models", models, "that answered");
        v.optional("window", window, "how much of its account's window is used, as the program says");
        v.optional("read_at", read_at, "when they were read last");
    }
};

struct HarnessExplain : TaskSelector {
    static constexpr const char* k_name = "harness.explain";
    std::optional<std::string> role;
    std::optional<std::string> harness;
    std::optional<std::string> screen;
    std::optional<std::string> title;
    void describe(auto& v) {
        TaskSelector::describe(v);
        v.optional("role", role, "worker or reviewer; default: the active agent");
        v.optional("harness", harness, "whose definition is used; default: that of the agent");
        v.optional("screen", screen, "a saved screen to look at, instead of a task's agent; needs harness");
        v.optional("title", title, "the window's title that belongs to the saved screen");
    }
    struct Text {
        std::string key;
        std::string text;
        std::optional<std::string> line;
        bool decides = false;
        void describe(auto& v) {
            v.required("key", key, "of the definition");
            v.required("text", text, "what is looked for");
            v.optional("line", line, "the line in which it was found");
            v.required("decides", decides, "whether the activity follows from it");
        }
    };
    /// A text that tells why an agent cannot work.
    struct News {
        std::string key;
        std::string text;
        bool seen = false;
        void describe(auto& v) {
            v.required("key", key, "of the definition");
            v.required("text", text, "what the program writes");
            v.required("seen", seen, "whether Orange would see it above the prompt of this screen");
        }
    };
    struct Reply {
        std::string harness;
        std::optional<std::string> measured;
        AgentActivity reading;
        std::optional<AgentActivity> told;
        std::string title;
        std::string screen;
        std::vector<Text> texts;
        std::vector<News> news;
        std::optional<UsageReading> usage;
        void describe(auto& v) {
            v.required("harness", harness, "whose definition was used");
            v.optional("measured", measured, "the version of the program with which it was measured");
            v.required("reading", reading, "what all sources say now");
            v.optional("told", told, "what Orange tells of the agent, and since when");
            v.required("title", title, "of the window");
            v.required("screen", screen, "what was looked at: bytes of an agent");
            v.required("texts", texts, "each text that the definition names, in the order in which they count");
            v.sparse("news", news, "of an idle agent: the errors that the definition names");
            v.optional("usage", usage, "the tokens of the agent; absent: its definition does not say where they are");
        }
    };
};

struct HarnessSearch {
    static constexpr const char* k_name = "harness.search";
    CallerEnvironment caller;
    void describe(auto& v) { caller.describe(v); }
    struct Reply {
        std::vector<std::string> notes;
        void describe(auto& v) {
            v.required("notes", notes, "programs that were found or moved, and variables that agents do not have");
        }
    };
};

struct HarnessTrust {
    static constexpr const char* k_name = "harness.trust";
    std::string name;
    std::optional<std::string> project;
    std::optional<std::string> cwd;
    bool dry_run = false;
    std::optional<std::string> hash;
    void describe(auto& v) {
        v.required("name", name,
                   "which harness; or the repository's own .orange/setup, .orange/teardown or .orange/dev");
        v.optional("project", project, "the project that it is to trust");
        v.optional("cwd", cwd, "a directory of the repository that it is to trust");
        v.optional("dry_run", dry_run, "only say what would be recorded");
        v.optional("hash", hash, "of a command of the repository: agree to no other text than this one");
    }
    struct Reply {
        std::string harness;
        std::string repository;
        bool trusted = false;
        bool recorded = false;
        std::vector<std::string> notes;
        std::vector<std::string> args;
        std::optional<std::string> file;
        std::optional<std::string> lines;
        std::optional<std::string> text;
        std::optional<std::string> hash;
        void describe(auto& v) {
            v.required("harness", harness, "which");
            v.required("repository", repository, "the main worktree: it holds for all of them");
            v.required("trusted", trusted, "whether the program trusts it from now on");
            v.required("recorded", recorded, "whether this call recorded the consent");
            v.optional("notes", notes, "agents that waited for this answer and were restarted");
            v.optional("args", args, "what the program is given on its command line, with the consent");
            v.optional("file", file, "else: its own file, which Orange does not write");
            v.optional("lines", lines, "what belongs into that file, as JSON");
            v.optional("text", text, "of a command of the repository: what it runs");
            v.optional("hash", hash, "of that text: SHA-256, as hex digits");
        }
    };
};

}  // namespace orange::rpc

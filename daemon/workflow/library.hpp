#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/files/file_system.hpp"
#include "daemon/workflow/load.hpp"

/// Workflows: YAML files that define the states of tasks, the transitions between them, and the hooks that run then
/// (docs/workflow.md). This folder reads and validates them, and returns them as engine::Definition. Clients' calls and
/// the runner use Library; all of its state is the files and a cache of them.
///
/// An invalid file is reported with every problem at once, each with line and column.
namespace orange::workflow {

/// An entry of `workflow list`: one name.
struct Entry {
    std::string name;
    std::string path;
    bool shipped = false;    ///< it comes from Orange itself, not from ~/orange/workflows
    bool shadows = false;    ///< the user's file replaces a shipped one of that name
    bool valid = false;      ///< the current text of the file validates
    bool last_good = false;  ///< invalid, and an earlier version of it is in use
    std::string problem;     ///< if invalid: all problems, one per line
};

/// Finds workflows by name: ~/orange/workflows/NAME.yml of the user, otherwise the shipped NAME.yml. Also owns the
/// definitions that tasks have pinned, named by their hash: ~/orange/workflows/.pinned/<hash>.yml.
///
/// If an edited file does not validate, the last valid version stays in use until the daemon restarts; then find()
/// fails with the problems.
class Library {
  public:
    using DefinitionPtr = std::shared_ptr<const engine::Definition>;

    Library(FileSystem& files, std::filesystem::path shipped, std::filesystem::path user);

    /// Registers the function that is called when a file was edited, with a text: what new tasks use now, or why they
    /// do not use the edit.
    void on_change(std::function<void(const std::string& name, const std::string& what)> log) { log_ = std::move(log); }

    /// Returns the current definition of that name; reads its file again if it changed. Error not_found lists the known
    /// names, workflow_invalid lists every problem with line and column.
    Result<DefinitionPtr> find(const std::string& name);

    /// Saves the text of the current definition under .pinned, if it is not there, and returns its hash.
    Result<std::string> pin(const std::string& name);

    /// Returns the definition that a task has pinned; the current one of that name if `hash` is empty. Errors:
    /// not_found if the pinned file is gone, workflow_invalid if it was changed or no longer validates.
    Result<DefinitionPtr> pinned(const std::string& name, const std::string& hash);

    std::vector<Entry> list();

    /// Returns the text of the file, for `workflow show`.
    Result<std::string> text(const std::string& name);

    struct Copy {
        std::filesystem::path path;
        bool replaced = false;
    };
    /// Writes a copy into the user's folder: of the shipped file if `as` is `name`, otherwise of the file in use, with
    /// `as` as its name. Error conflict if there is no shipped file, or if the target exists and `force` is false.
    Result<Copy> copy(const std::string& name, const std::string& as, bool force);

  private:
    struct Cached {
        std::string path;
        std::string text;  ///< newest text of the file
        DefinitionPtr definition;
        std::string good_text;  ///< the text of `definition`
        std::string problem;    ///< why the newest text is not in use
    };
    struct Located {
        std::filesystem::path path;
        std::string text;
    };
    std::vector<std::string> names();
    Result<Located> locate(const std::string& name);
    /// Reloads current_[name] if its file changed.
    Result<void> refresh(const std::string& name);
    std::filesystem::path pin_path(const std::string& hash) const;

    FileSystem& files_;
    std::filesystem::path shipped_;
    std::filesystem::path user_;
    std::function<void(const std::string&, const std::string&)> log_ = [](const std::string&, const std::string&) {};
    std::map<std::string, Cached> current_;
    std::map<std::string, DefinitionPtr> pinned_;
};

}  // namespace orange::workflow

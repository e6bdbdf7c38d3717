#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/files/file_system.hpp"
#include "daemon/workflow/load.hpp"

namespace orange::workflow {

/// What `workflow list` shows of one name.
struct Entry {
    std::string name;
    std::string path;
    bool shipped = false;    ///< from Orange itself, not from ~/orange/workflows
    bool shadows = false;    ///< the user's, in place of a shipped one of that name
    bool valid = false;      ///< what the file says now
    bool last_good = false;  ///< invalid, and an earlier version of it is in force
    std::string problem;     ///< where invalid: all problems, a line each
};

/// The workflows of this installation and of this user: ~/orange/workflows/NAME.yml over the shipped NAME.yml, and the
/// definitions that tasks have pinned, content-addressed in ~/orange/workflows/.pinned/<hash>.yml. A file that no
/// longer validates leaves the last good one in force (until the daemon restarts: then it is an error that says so).
class Library {
  public:
    using DefinitionPtr = std::shared_ptr<const engine::Definition>;

    Library(FileSystem& files, std::filesystem::path shipped, std::filesystem::path user);

    /// Called when a file was edited: what new tasks follow now, or why they do not follow it.
    void on_change(std::function<void(const std::string& name, const std::string& what)> log) { log_ = std::move(log); }

    /// The current definition of that name, re-read when its file changed. not_found lists the names there are;
    /// workflow_invalid lists every problem with line and column.
    Result<DefinitionPtr> find(const std::string& name);

    /// Writes the definition's text under .pinned, once, and returns its hash.
    Result<std::string> pin(const std::string& name);

    /// The definition that a task pinned; falls back to the current one of that name where `hash` is empty.
    Result<DefinitionPtr> pinned(const std::string& name, const std::string& hash);

    std::vector<Entry> list();

    /// The file's text, for `workflow show`.
    Result<std::string> text(const std::string& name);

    struct Copy {
        std::filesystem::path path;
        bool replaced = false;
    };
    /// Writes a copy into the user's folder: of the shipped `name`, to be edited; or, with another name in `as`, of the
    /// one in force. conflict where the file is there already, unless `force`.
    Result<Copy> copy(const std::string& name, const std::string& as, bool force);

  private:
    struct Cached {
        std::string path;
        std::string text;  ///< the newest
        DefinitionPtr definition;
        std::string good_text;  ///< what `definition` was made of
        std::string problem;    ///< of the newest text, where `definition` is older
    };
    struct Located {
        std::filesystem::path path;
        std::string text;
    };
    std::vector<std::string> names();
    Result<Located> locate(const std::string& name);
    /// Brings current_[name] up to date with its file.
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

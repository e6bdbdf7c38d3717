#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/files/file_system.hpp"

namespace orange::agents {

/// A PATH in which the programs of agents are looked up, and its owner.
struct SearchPath {
    std::string source;   ///< "/bin/bash -l"
    std::string path;     ///< empty if it could not be read
    std::string problem;  ///< why it could not be read
};

/// The place of a program. An agent that is started with `path` also finds its own interpreter.
struct FoundProgram {
    std::string file;    ///< absolute; empty: not found
    std::string path;    ///< the PATH in which it was found
    std::string source;  ///< the owner of that PATH
};

/// Finds the programs of agents: first in the PATHs of the user's shells, in their order; then, for each program, in
/// the last PATH of a human's client that had it. That PATH is kept in a file, because a daemon that a service manager
/// starts again has no client to query.
class ProgramSearch {
  public:
    ProgramSearch() = default;
    explicit ProgramSearch(std::vector<SearchPath> paths) : paths_(std::move(paths)) {}
    /// Reads the file `kept`. Folders below `never` are not accepted from a client: agents write there.
    ProgramSearch(std::vector<SearchPath> paths, FileSystem& files, Path kept, Path never);

    /// Replaces the PATHs of the shells, when these were queried again.
    void set_paths(std::vector<SearchPath> paths) { paths_ = std::move(paths); }

    /// Keeps the PATH of a human's client for those of `programs` that are in it.
    void remember_client_path(std::string_view path, const std::vector<std::string>& programs);

    /// Returns the first PATH that has the program and the interpreter that its first line names, otherwise the first
    /// that has the program.
    FoundProgram find(const std::string& program) const;

    /// Returns every PATH that find() searches, for an error: "PATH of /bin/sh -l (/usr/bin:/bin), of …".
    std::string searched() const;

  private:
    void read_kept();

    std::vector<SearchPath> paths_;
    FileSystem* files_ = nullptr;
    Path kept_file_;
    Path never_;
    std::map<std::string, std::string> kept_;  ///< program → PATH
    std::string client_;                       ///< the last client's PATH, whatever was found in it
};

/// Returns the program that a script's first line lets `/usr/bin/env` look up ("node"); empty for any other file.
std::string interpreter_of(const std::string& program);

}  // namespace orange::agents

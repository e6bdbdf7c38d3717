#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/files/file_system.hpp"

namespace orange::agents {

/// A PATH in which the programs of agents are looked up, and whose it is.
struct SearchPath {
    std::string source;   ///< "/bin/bash -l"
    std::string path;     ///< empty where it could not be had
    std::string problem;  ///< why it could not be had
};

/// Where a program is. An agent that is started with `path` finds its own interpreter, too.
struct FoundProgram {
    std::string file;    ///< absolute; empty: nowhere
    std::string path;    ///< the PATH that it was found in
    std::string source;  ///< whose PATH that is
};

/// Where the programs of agents are: first in the PATHs that the user's shells gave, in their order; then, for each
/// program, in the last PATH of a human's client that had it. That one is kept in a file, since a daemon that a service
/// manager starts again has no client to ask.
class ProgramSearch {
  public:
    ProgramSearch() = default;
    explicit ProgramSearch(std::vector<SearchPath> paths) : paths_(std::move(paths)) {}
    /// `kept`: the file, read now. Folders below `never` are not taken from a client: agents write there.
    ProgramSearch(std::vector<SearchPath> paths, FileSystem& files, Path kept, Path never);

    /// Replaces the PATHs of the shells, when these were asked again.
    void set_paths(std::vector<SearchPath> paths) { paths_ = std::move(paths); }

    /// Keeps the PATH of a human's client for those of `programs` that are in it.
    void remember_client_path(std::string_view path, const std::vector<std::string>& programs);

    /// The first PATH that has the program and the interpreter that its first line names; else the first that has the
    /// program.
    FoundProgram find(const std::string& program) const;

    /// Every PATH that find() looks through, for an error: "PATH of /bin/sh -l (/usr/bin:/bin), of …".
    std::string searched() const;

  private:
    void read_kept();

    std::vector<SearchPath> paths_;
    FileSystem* files_ = nullptr;
    Path kept_file_;
    Path never_;
    std::map<std::string, std::string> kept_;  ///< program → PATH
    std::string client_;                       ///< the last client's, whatever was found in it
};

/// The program that a script's first line has `/usr/bin/env` look up ("node"); empty for any other file.
std::string interpreter_of(const std::string& program);

}  // namespace orange::agents

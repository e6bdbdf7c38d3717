#pragma once

#include <string>
#include <vector>

#include "client/commands/context.hpp"
#include "client/connection/given_file.hpp"

namespace orange::commands {

/// The files for an agent that a command line names.
struct FileOptions {
    std::vector<std::string> paths;
    std::size_t from_input = 0;  ///< so many more come through standard input, from `orange --host` on another machine
};

/// The files that a command gives to an agent.
class Uploads {
  public:
    /// Opens and checks all files, with the caller's rights, before anything is sent. Reads those from standard input,
    /// and nothing behind them.
    static Result<Uploads> open(const FileOptions& options);

    bool empty() const { return files_.empty(); }
    /// Sends the files to the daemon, and returns what a request calls them.
    Result<std::vector<std::string>> send(Context& context) const;

  private:
    std::vector<connection::GivenFile> files_;
};

}  // namespace orange::commands

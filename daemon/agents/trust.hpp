#pragma once

#include <string>

#include "common/base/result.hpp"
#include "daemon/agents/harness.hpp"
#include "daemon/files/file_system.hpp"

/// A program's own question whether it may trust a repository. Where the program takes the answer on its command line,
/// it gets it there, once the human has consented (`trusted` in projects.json). Where it only looks into a file of its
/// own, that file is the human's to write: Orange says what belongs there, and looks whether it is there.
namespace orange::agents {

struct TrustInFile {
    Path file;
    std::string lines;   ///< what belongs there, as JSON
    bool there = false;  ///< false, too, where the file cannot be read or understood
};

/// invalid_argument where the file cannot be named: the agents' environment has no HOME.
Result<TrustInFile> trust_in_file(FileSystem& files, const Trust& trust, const std::string& repo,
                                  const std::string& home);

/// What {trust_args} stands for.
std::vector<std::string> trust_arguments(const Trust& trust, const std::string& repo);

}  // namespace orange::agents

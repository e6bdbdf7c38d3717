#pragma once

#include <string>

#include "common/base/result.hpp"
#include "daemon/agents/harness.hpp"
#include "daemon/files/file_system.hpp"

/// A program's own question whether it may trust a repository. If the program takes the answer on its command line, it
/// gets it there, once the human has consented (`trusted` in projects.json). If it only reads a file of its own, the
/// human has to write that file: Orange shows what belongs there, and checks whether it is there.
namespace orange::agents {

struct TrustInFile {
    Path file;
    std::string lines;   ///< what belongs there, as JSON
    bool there = false;  ///< false also if the file cannot be read or understood
};

/// Returns the file and its state. invalid_argument if the agents' environment has no HOME to name the file.
Result<TrustInFile> trust_in_file(FileSystem& files, const Trust& trust, const std::string& repo,
                                  const std::string& home);

/// Returns the content of that file with the answer for `repo` as the one for `other`, too: `repo` by another name.
std::string with_answer_for(const Trust& trust, const std::string& content, const std::string& repo,
                            const std::string& other);

/// Returns the arguments that replace {trust_args}.
std::vector<std::string> trust_arguments(const Trust& trust, const std::string& repo);

}  // namespace orange::agents

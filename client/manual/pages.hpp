#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.hpp"

/// The manual: orange(1) and one page a group from the tables of arguments/, the others from docs/. Made when Orange is
/// built, so that a page says what `--help` and docs/ say. Not part of the client.
namespace orange::manual {

struct ManualPage {
    std::string name;  ///< "orange-task"
    int section = 1;
    std::string text;
};

/// `source`: the source tree. `usage`: what `oranged --help` prints. An Error names a file or a heading of docs/ that
/// is missing.
Result<std::vector<ManualPage>> all_pages(const std::filesystem::path& source, const std::string& usage);

}  // namespace orange::manual

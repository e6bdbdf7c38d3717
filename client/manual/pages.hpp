#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.hpp"

/// The manual: orange(1) and a page for each group, from the tables of arguments/, and further pages from docs/. The
/// build makes it, so that the pages agree with `--help` and docs/. The manual is not part of the client.
namespace orange::manual {

struct ManualPage {
    std::string name;  ///< "orange-task"
    int section = 1;
    std::string text;
};

/// Makes all pages. `source`: the source tree. `usage`: the output of `oranged --help`. An Error names a missing file
/// or heading of docs/.
Result<std::vector<ManualPage>> all_pages(const std::filesystem::path& source, const std::string& usage);

}  // namespace orange::manual

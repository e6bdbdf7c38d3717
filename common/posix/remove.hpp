#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "common/base/result.hpp"

/// Removing folders whose contents somebody else has chosen. Such a folder may have a million files, and folders as
/// deep as a disk allows: removing it takes as long as its owner likes. So the daemon only renames it (Remover), and
/// the program `orange-agent --remove` removes what the daemon has put aside.
namespace orange::posix {

inline constexpr auto k_all = std::numeric_limits<std::size_t>::max();

/// Removes a file, a link, or a folder with everything below it; 0 if it does not exist. Follows no link, and keeps at
/// most 64 folders open: deeper ones are first moved up. Makes folders writable if necessary. Returns 0; EAGAIN, with a
/// rest left, if there are more than `most` entries or, with a `most`, a large file; or the errno of the first entry
/// that could not be removed, after everything else was.
int remove_all(int folder, const std::string& name, std::size_t most = k_all);

/// Gives up folders in constant time: renames them into a folder for things that are to be removed.
class Remover {
  public:
    /// `places`: folders for what is to be removed; the first on the same file system is used, and made if necessary.
    /// If none is, a folder `.removed` beside the path is used. `left` is called with that folder when something is
    /// left in it that somebody else has to remove; without `left` nothing is left.
    explicit Remover(std::vector<std::filesystem::path> places = {},
                     std::function<void(std::filesystem::path place)> left = {})
        : places_(std::move(places)), left_(std::move(left)) {}

    /// Removes `name` in the open folder `folder`, which is called `path` in messages. Its name is free afterwards, and
    /// after a power failure if the caller fsyncs `folder`. Success if it does not exist; after an error it is still
    /// there. Contents of a few files are removed at once.
    Result<void> remove(int folder, const std::string& name, const std::filesystem::path& path) const;

  private:
    /// Returns 0 or an errno. `place` is an open folder, which is called `shown`.
    int put(int folder, const std::string& name, int place, const std::filesystem::path& shown) const;

    std::vector<std::filesystem::path> places_;
    std::function<void(std::filesystem::path)> left_;
};

}  // namespace orange::posix

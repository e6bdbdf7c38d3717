#pragma once

#include <map>
#include <string>
#include <vector>

#include "daemon/async/awaitable.hpp"
#include "daemon/files/file_system.hpp"
#include "daemon/store/text.hpp"

namespace orange::store {

/// The texts that stood in a copy since its last save, oldest first: an editor that saves has read one of them.
struct Stood {
    std::vector<std::string> hashes;
    bool dropped = false;  ///< there were more than are remembered

    void add(const std::string& hash);
};

/// The texts of a task from which a save may start. Their hashes are in memory. The texts lie beside TASK.md, unsynced:
/// a text that does not have its hash is unknown.
class Bases {
  public:
    using Known = std::map<std::string, FileFacts>;  ///< hash → the file

    Bases(FileSystem& files, Path folder, Known& known) : files_(files), folder_(std::move(folder)), known_(known) {}

    /// Returns true for the name of such a file, which a killed daemon may have left, and notes it.
    bool note(const std::string& name);
    /// Takes a text that is in memory anyway.
    void hold(const TextPtr& text) { read_[text->hash()] = text; }
    /// Makes a text known. A text that cannot be written is unknown later.
    void add(const TextPtr& text);
    /// Returns a text; null if it is unknown.
    TextPtr find(const std::string& hash) const;
    /// Returns the text that differs least from a save, and of equal ones the newest. A save that is an older text
    /// again counts as a removal of what came since. Null if it is unknown which text the author had: if some are not
    /// remembered, a line of an older text that the save does not have need not have been removed by it.
    Awaitable<TextPtr> nearest(Stood stood, TextPtr saved) const;
    /// Returns what a new daemon knows of both copies: the texts up to the body of state.json.
    Stood until(const std::string& body_hash) const;
    /// Removes the files of all other texts.
    void keep_only(const std::vector<const Stood*>& needed);

  private:
    Path path_of(const std::string& hash) const;

    FileSystem& files_;
    Path folder_;
    Known& known_;
    mutable std::map<std::string, TextPtr> read_;  ///< in this call
};

}  // namespace orange::store

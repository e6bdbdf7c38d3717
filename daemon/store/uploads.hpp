#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "daemon/async/time.hpp"
#include "daemon/files/file_system.hpp"

/// Files that callers give to agents (docs/protocol.md, "Files"), until a call uses them.
namespace orange::store {

inline constexpr std::int64_t k_mebibyte = 1 << 20;
inline constexpr std::int64_t k_default_file_limit = 32 * k_mebibyte;
/// Limits of the uploads that are not used yet: of a human's all, and of those of all agents. No file may be larger
/// than all of it.
inline constexpr std::int64_t k_most_upload_bytes = 256 * k_mebibyte;
inline constexpr std::size_t k_most_uploads = 100;
inline constexpr std::size_t k_most_files = 20;  ///< of one call
/// Limits of the files that one task has been given.
inline constexpr std::int64_t k_most_task_bytes = 1024 * k_mebibyte;
inline constexpr std::size_t k_most_task_files = 1000;
inline constexpr std::chrono::hours k_upload_lifetime{1};

/// Whose uploads the human's are. Others' belong to the run of an agent.
inline constexpr const char* k_human = "human";

/// Returns the name that a file gets in a task's folder: of at most 100 bytes, with its ending. It is printable(); in
/// place of backticks and backslashes, and of dots and dashes at its beginning, are underscores. Folders are left out;
/// "file" if nothing is left.
std::string harmless_name(std::string_view name);
/// Returns such a name with a number before its ending: "shot-2.png". It is no longer than 100 bytes either.
std::string numbered_name(std::string_view name, int number);
/// Returns where a file comes from as one printable line of at most 200 characters.
std::string shown_origin(std::string_view origin);

/// The files in uploads/ of the home, with whose they are. They are forgotten with the daemon: the next one removes
/// what is there. Each function ends without waiting, so calls that overlap see whole steps.
class Uploads {
  public:
    Uploads(FileSystem& files, Path folder) : files_(files), folder_(std::move(folder)) {}

    struct Piece {
        std::optional<std::string> upload;  ///< nothing: the first piece
        std::string name, origin;           ///< of the first piece
        std::int64_t size = 0;              ///< of the first piece: how large the file will be; 0: not known
        std::int64_t offset = 0;
        std::string bytes;
        bool last = false;
    };
    struct Progress {
        std::string upload;
        std::int64_t size = 0;
    };
    /// Adds a piece to an upload of `owner`. invalid_argument for a piece that does not begin where the upload ends, an
    /// empty one before the last, or a file that is larger than `file_limit` bytes; not_found for an upload that is not
    /// the owner's; conflict if it is complete, or if too much is sent at once. An upload that was too large, or could
    /// not be written, is gone. At a limit, the oldest complete uploads go: a call that was refused has left them.
    Result<Progress> put(const std::string& owner, Piece piece, std::int64_t file_limit);

    /// Checks that a call of `owner` can use these uploads. invalid_argument for too many; not_found for one that is
    /// not there; conflict for one that is not complete.
    Result<void> check(const std::vector<std::string>& ids, const std::string& owner);

    struct Upload {
        std::string id, owner;
        std::string name, origin;
        std::int64_t size = 0, whole = 0;  ///< bytes that are there, and that the complete file will have
        async::Moment begun{};
        bool complete = false;
    };
    /// A file that is in a task's folder now.
    struct Given {
        Upload upload;
        std::string name;  ///< there
    };
    /// Moves checked uploads into files/ of a task's folder, all or none, under names that were free. No link is
    /// followed there, and nothing is overwritten. not_found if another call has used one meanwhile; conflict if the
    /// task would have too many files.
    Result<std::vector<Given>> give(const std::vector<std::string>& ids, const Path& task_folder);
    /// Moves them back, because the call could not be carried out. A file that cannot be moved stays there.
    void take_back(std::vector<Given> given, const Path& task_folder);

    /// Removes uploads that began an hour ago.
    void remove_old();
    /// Removes the files that an earlier daemon has left.
    void remove_left();

  private:
    using Place = std::list<Upload>::iterator;

    Result<std::string> begin(const std::string& owner, const Piece& piece);
    Result<Place> find(const std::string& id);
    Result<Place> find(const std::string& id, const std::string& owner);
    void drop(Place upload);
    Result<void> make_room(const std::string& owner);
    Result<void> check_room(const std::vector<std::string>& ids, const Path& into);
    /// Returns the name that the file has got.
    Result<std::string> move(Place upload, const Path& into);

    FileSystem& files_;
    Path folder_;
    std::list<Upload> all_;  ///< the oldest first
};

}  // namespace orange::store

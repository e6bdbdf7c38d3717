#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
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
/// Limits of what one caller has sent and not used yet. No file may be larger than all of it.
inline constexpr std::int64_t k_most_upload_bytes = 256 * k_mebibyte;
inline constexpr std::size_t k_most_uploads = 100;
inline constexpr std::size_t k_most_files = 20;  ///< of one call
inline constexpr std::chrono::hours k_upload_lifetime{1};

/// Returns the name that a file gets in a task's folder: of at most 100 bytes, with its ending. In place of characters
/// that are not printable, of bytes that are no UTF-8, of backticks, and of dots and dashes at its beginning are
/// underscores. Folders are left out; "file" if nothing is left.
std::string harmless_name(std::string_view name);
/// Returns such a name with a number before its ending: "shot-2.png". It is no longer than 100 bytes either.
std::string numbered_name(std::string_view name, int number);
/// Returns where a file comes from as one printable line of at most 200 characters.
std::string shown_origin(std::string_view origin);
/// Returns a size for people: "812 bytes", "12 KiB", "1.4 MiB".
std::string size_for_people(std::int64_t bytes);

/// The files in uploads/ of the home, with whose they are. They are forgotten with the daemon: the next one removes
/// what is there. Each function ends without waiting, so calls that overlap see whole steps.
class Uploads {
  public:
    Uploads(FileSystem& files, Path folder) : files_(files), folder_(std::move(folder)) {}

    struct Piece {
        std::optional<std::string> upload;  ///< nothing: the first piece
        std::string name, origin;           ///< of the first piece
        std::int64_t offset = 0;
        std::string bytes;
        bool last = false;
    };
    struct Progress {
        std::string upload;
        std::int64_t size = 0;
    };
    /// Adds a piece to an upload of `owner`. invalid_argument for a piece that does not begin where the upload ends, or
    /// a file that is larger than `file_limit` bytes; not_found for an upload that is not the owner's; conflict if it
    /// is complete, or if the owner has sent too much. An upload that was too large, or could not be written, is gone.
    Result<Progress> put(const std::string& owner, Piece piece, std::int64_t file_limit);

    /// Keeps uploads for one call: no other call can use them meanwhile, and they do not get too old. Those that were
    /// given when it ends are forgotten, the others stay.
    class Claim;
    /// Claims complete uploads of `owner`. invalid_argument for too many; not_found for one that is not there;
    /// conflict for one that is not complete, or that another call uses.
    Result<Claim> claim(const std::vector<std::string>& ids, const std::string& owner);

    /// A file in a task's folder.
    struct Given {
        std::string name;
        std::string origin;
        std::int64_t size = 0;
    };
    /// Moves claimed uploads into files/ of a task's folder, all or none, under names that were free. No link is
    /// followed there, and nothing is overwritten.
    Result<std::vector<Given>> give(const std::vector<std::string>& ids, const Path& task_folder);
    /// Moves them back, because the call could not be carried out. A file that cannot be moved stays there.
    void take_back(const std::vector<std::string>& ids, const Path& task_folder);

    /// Removes uploads that nothing has used for an hour.
    void remove_old();
    /// Removes the files that an earlier daemon has left.
    void remove_left();

  private:
    struct Upload {
        std::string owner;
        std::string name, origin;
        std::int64_t size = 0;
        async::Moment written{};
        bool complete = false;
        bool claimed = false;
        std::string given = {};  ///< its name in a task's folder
    };
    using All = std::map<std::string, Upload>;

    Result<std::string> begin(const std::string& owner, const Piece& piece);
    Upload* find(const std::string& id, const std::string& owner);
    void drop(const std::string& id);
    Result<void> move(const std::string& id, Upload& upload, const Path& into);

    FileSystem& files_;
    Path folder_;
    std::shared_ptr<All> all_ = std::make_shared<All>();
};

class Uploads::Claim {
  public:
    explicit Claim(std::shared_ptr<All> all) : all_(std::move(all)) {}
    ~Claim();
    Claim(Claim&&) = default;
    Claim& operator=(Claim&&) = delete;
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;

  private:
    friend class Uploads;
    std::shared_ptr<All> all_;  ///< null: moved from
    std::vector<std::string> ids_;
};

}  // namespace orange::store

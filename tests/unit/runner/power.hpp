#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace orange::test {

/// A model of the page cache below one folder: what a machine that loses its power still has of it.
///
/// It knows what is safe by what the code under test hands to fsync (which the linker leads here): of a file its bytes,
/// of a folder its names. Everything else may be there afterwards, or not. Processes of others, git among them, do not
/// sync through here: what they write is believed (see `believed`).
class PageCache {
  public:
    /// Files and folders after the loss, by their path below the root; folders end in '/'.
    using Image = std::map<std::string, std::string>;

    explicit PageCache(std::filesystem::path root);
    ~PageCache();
    PageCache(const PageCache&) = delete;
    PageCache& operator=(const PageCache&) = delete;

    /// Called before each fsync below the root takes effect: where a loss has the most to lose.
    std::function<void()> before_sync = [] {};

    /// What may be left if the power goes now: nothing that was not synced; the names but not the bytes; the bytes but
    /// not the names; files torn in the middle; and some mixtures, the same ones at each run.
    std::vector<Image> images() const;

    /// Puts an image in place of what is below `root` now, believed files excepted.
    static void restore(const Image& image, const std::filesystem::path& root);

    /// Not the daemon's to sync: worktrees, except for the copy of TASK.md in them.
    static bool believed(const std::filesystem::path& below_root);

    void sync(int fd);  ///< of the linker's fsync

  private:
    using Inode = std::pair<std::uint64_t, std::uint64_t>;
    struct Entry {
        Inode inode;
        bool folder = false;
    };
    using Entries = std::map<std::string, Entry>;
    enum class Bytes { synced, current, torn };
    struct Choice {
        std::function<bool(const Inode&)> current_names;
        std::function<Bytes(const Inode&)> bytes;
    };

    void look(const std::filesystem::path& path);
    void keep(const std::filesystem::path& path, const Inode& inode);
    Image image(const Choice& choice) const;

    std::filesystem::path root_;
    std::map<Inode, Entries> synced_names_;
    std::map<Inode, std::string> synced_bytes_;
    std::map<Inode, int> kept_;  ///< open, so that no number is given to another file
};

/// The nth fsync from now on fails as a broken disk does: EIO, and what it was to sync is gone from the cache. 0: none.
void fail_sync(int n);
bool has_failed_sync();
/// A file whose fsync had failed was synced again, as if that could help.
bool has_trusted_a_failed_file();

}  // namespace orange::test

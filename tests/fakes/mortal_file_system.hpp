#pragma once

#include <functional>
#include <stdexcept>

#include "daemon/files/file_system.hpp"

namespace orange::fakes {

/// What a daemon that was killed does next: nothing. Never caught by the product.
struct Killed : std::runtime_error {
    Killed() : std::runtime_error("killed") {}
};

/// Counts the steps that leave a trace in the world and puts an end to them: from the nth on, every step is either the
/// daemon's death (an exception that unwinds it) or, for files, a disk that is full: for good, once or for a while.
class Fuse {
  public:
    enum class Ending { none, killed, disk_full_for_good, disk_full_once, disk_full_for_a_while };

    /// `length`: how many steps a while has.
    void arm(Ending ending, int n, int length = 1) {
        ending_ = ending;
        left_ = n;
        length_ = length;
        steps_ = 0;
    }
    void disarm() { arm(Ending::none, 0); }
    int steps() const { return steps_; }
    bool struck() const { return ending_ != Ending::none && steps_ >= left_; }
    bool reads_count = false;  ///< reading is a step as well: a disk that is failing, not merely full

    /// Before a step outside the file system.
    void step() {
        ++steps_;
        if (ending_ == Ending::killed && steps_ >= left_) throw Killed();
    }
    /// Before a step of the file system; true: it must fail.
    bool file_step() {
        step();
        if (ending_ == Ending::disk_full_for_good) return steps_ >= left_;
        if (ending_ == Ending::disk_full_for_a_while) return steps_ >= left_ && steps_ < left_ + length_;
        return ending_ == Ending::disk_full_once && steps_ == left_;
    }

  private:
    Ending ending_ = Ending::none;
    int left_ = 0;
    int length_ = 1;
    int steps_ = 0;
};

/// Another FileSystem, whose writing calls are steps of a Fuse. Reading works, unless the fuse counts it.
class MortalFileSystem final : public FileSystem {
  public:
    MortalFileSystem(FileSystem& real, Fuse& fuse) : real_(real), fuse_(fuse) {}

    Result<std::string> read(const Path& path) override {
        if (fuse_.reads_count && fuse_.file_step()) return full("reading", path);
        return real_.read(path);
    }
    Result<Piece> read_before(const Path& path, std::optional<std::uintmax_t> end, std::size_t size) override {
        if (fuse_.reads_count && fuse_.file_step()) return full("reading", path);
        return real_.read_before(path, end, size);
    }
    Result<std::vector<std::string>> list(const Path& folder) override {
        if (fuse_.reads_count && fuse_.file_step()) return full("listing", folder);
        return real_.list(folder);
    }
    Result<Beneath> read_beneath(const Path& root, const Path& below, std::uintmax_t from, std::size_t size) override {
        if (fuse_.reads_count && fuse_.file_step()) return full("reading", root / below);
        return real_.read_beneath(root, below, from, size);
    }
    Result<std::vector<std::string>> list_beneath(const Path& root, const Path& below, std::size_t most) override {
        if (fuse_.reads_count && fuse_.file_step()) return full("listing", root / below);
        return real_.list_beneath(root, below, most);
    }
    Result<void> replace(const Path& path, std::string_view content, Durability durability) override {
        if (fuse_.file_step()) return full("writing", path);
        return real_.replace(path, content, durability);
    }
    Result<void> exchange(const Path& path, std::string_view content, const Path& displaced,
                          Durability durability) override {
        if (fuse_.file_step()) return full("writing", path);
        return real_.exchange(path, content, displaced, durability);
    }
    Result<void> append(const Path& path, std::string_view content, Durability durability) override {
        if (fuse_.file_step()) return full("appending to", path);
        return real_.append(path, content, durability);
    }
    Result<void> move_new(const Path& from, const Path& to) override {
        if (fuse_.file_step()) return full("writing", to);
        const auto content = real_.read(from);
        auto moved = real_.move_new(from, to);
        try {
            if (moved) fuse_.step();
        } catch (const Killed&) {  // the file is at both names
            (void)real_.replace(from, content.value_or(""), Durability::unsynced);
            throw;
        }
        return moved;
    }
    Result<void> remove(const Path& path) override {
        if (fuse_.file_step()) return full("removing", path);
        return real_.remove(path);
    }
    Result<FileFacts> facts_of(const Path& path) override { return real_.facts_of(path); }

  private:
    static Error full(const std::string& doing, const Path& path) {
        return {ErrorCode::io, doing + " " + path.string() + ": No space left on device"};
    }

    FileSystem& real_;
    Fuse& fuse_;
};

}  // namespace orange::fakes

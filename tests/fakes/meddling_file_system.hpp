#pragma once

#include <functional>

#include "daemon/files/file_system.hpp"

namespace orange::fakes {

/// Another FileSystem, in which somebody else is faster: `before` is called with the path of every file that is about
/// to be written, and may do to it what an editor does.
class MeddlingFileSystem final : public FileSystem {
  public:
    explicit MeddlingFileSystem(FileSystem& real) : real_(real) {}
    std::function<void(const Path&)> before = [](const Path&) {};

    Result<std::string> read(const Path& path) override { return real_.read(path); }
    Result<Piece> read_before(const Path& path, std::optional<std::uintmax_t> end, std::size_t size) override {
        return real_.read_before(path, end, size);
    }
    Result<Beneath> read_beneath(const Path& root, const Path& below, std::uintmax_t from, std::size_t size) override {
        return real_.read_beneath(root, below, from, size);
    }
    Result<std::vector<std::string>> list_beneath(const Path& root, const Path& below, std::size_t most) override {
        return real_.list_beneath(root, below, most);
    }
    Result<void> replace(const Path& path, std::string_view content, Durability durability) override {
        before(path);
        return real_.replace(path, content, durability);
    }
    Result<void> exchange(const Path& path, std::string_view content, const Path& displaced,
                          Durability durability) override {
        before(path);
        return real_.exchange(path, content, displaced, durability);
    }
    Result<void> append(const Path& path, std::string_view content, Durability durability) override {
        before(path);
        return real_.append(path, content, durability);
    }
    Result<void> move_new(const Path& from, const Path& to) override {
        before(to);
        return real_.move_new(from, to);
    }
    Result<std::vector<std::string>> list(const Path& folder) override { return real_.list(folder); }
    Result<void> remove(const Path& path) override { return real_.remove(path); }
    Result<FileFacts> facts_of(const Path& path) override { return real_.facts_of(path); }

  private:
    FileSystem& real_;
};

}  // namespace orange::fakes

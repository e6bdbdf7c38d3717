#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "daemon/files/file_system.hpp"

namespace orange::fakes {

/// Files that live in a map: everything of FileSystem, at once and without a disk. Tests look into `files`, change them
/// as an editor would, and let paths fail.
class MemoryFileSystem : public FileSystem {
  public:
    std::map<Path, std::string> files;
    std::map<Path, Error> failures;  ///< every call that concerns this path fails so
    int writes = 0;                  ///< replace, exchange and append that succeeded

    Result<std::string> read(const Path& path) override {
        if (auto failure = failure_of(path)) return *failure;
        const auto found = files.find(path);
        if (found == files.end()) return missing("reading", path);
        return found->second;
    }

    Result<Piece> read_before(const Path& path, std::optional<std::uintmax_t> end, std::size_t size) override {
        const auto whole = read(path);
        if (!whole) return whole.error();
        const auto to = std::min<std::uintmax_t>(end.value_or(whole->size()), whole->size());
        const auto from = to > size ? to - size : 0;
        return Piece{from, whole->substr(from, to - from)};
    }

    Result<void> replace(const Path& path, std::string_view content,
                         Durability /*durability*/ = Durability::synced) override {
        if (auto failure = failure_of(path)) return *failure;
        files[path] = content;
        ++writes;
        return {};
    }

    Result<void> exchange(const Path& path, std::string_view content, const Path& displaced,
                          Durability /*durability*/ = Durability::synced) override {
        if (auto failure = failure_of(path)) return *failure;
        const auto found = files.find(path);
        if (found == files.end()) return missing("exchanging", path);
        files[displaced] = std::move(found->second);
        found->second = content;
        ++writes;
        return {};
    }

    Result<void> append(const Path& path, std::string_view content,
                        Durability /*durability*/ = Durability::synced) override {
        if (auto failure = failure_of(path)) return *failure;
        files[path] += content;
        ++writes;
        return {};
    }

    Result<void> move_new(const Path& from, const Path& to) override {
        if (files.contains(to)) return name_is_taken(to);
        const auto content = read(from);
        if (!content) return content.error();
        if (auto written = replace(to, *content); !written) return written;
        return remove(from);
    }

    Result<std::vector<std::string>> list(const Path& folder) override {
        if (auto failure = failure_of(folder)) return *failure;
        std::set<std::string> names;
        for (const auto& [path, content] : files) {
            if (const auto name = name_in(folder, path)) names.insert(*name);
        }
        return std::vector<std::string>(names.begin(), names.end());
    }

    Result<void> remove(const Path& path) override {
        if (auto failure = failure_of(path)) return *failure;
        std::erase_if(files, [&](const auto& file) { return file.first == path || name_in(path, file.first); });
        return {};
    }

    /// Written just now, since tests change `files` behind its back.
    Result<FileFacts> facts_of(const Path& path) override {
        if (auto failure = failure_of(path)) return *failure;
        const auto now = std::chrono::system_clock::now();
        if (const auto found = files.find(path); found != files.end()) {
            return FileFacts{FileFacts::Kind::file, found->second.size(), now};
        }
        const auto below = [&](const auto& file) { return name_in(path, file.first).has_value(); };
        if (std::none_of(files.begin(), files.end(), below)) return missing("looking at", path);
        return FileFacts{FileFacts::Kind::folder, 0, now};
    }

  private:
    std::optional<Error> failure_of(const Path& path) const {
        const auto found = failures.find(path);
        return found == failures.end() ? std::nullopt : std::optional(found->second);
    }

    static Error missing(const std::string& doing, const Path& path) {
        return {ErrorCode::not_found, doing + " " + path.string() + ": No such file or directory"};
    }

    /// The first part of `path` below `folder`, where it lies below it.
    static std::optional<std::string> name_in(const Path& folder, const Path& path) {
        auto part = path.begin();
        for (const auto& expected : folder) {
            if (expected.empty()) continue;  // a trailing slash
            if (part == path.end() || *part != expected) return std::nullopt;
            ++part;
        }
        return part == path.end() ? std::nullopt : std::optional(part->string());
    }
};

}  // namespace orange::fakes

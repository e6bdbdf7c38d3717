#pragma once

#include <functional>

#include "daemon/files/file_system.hpp"

namespace orange::testing {

/// Another FileSystem, of which the nth operation fails as a full disk does. Counts from the last fail_at().
class FaultyFileSystem final : public FileSystem {
  public:
    explicit FaultyFileSystem(FileSystem& real) : real_(real) {}

    /// The nth operation from now fails (1 is the next); 0: none.
    void fail_at(int n) {
        countdown_ = n;
        failed_ = false;
    }
    bool failed() const { return failed_; }

    /// How often they were called.
    struct Calls {
        int reads = 0;
        int lists = 0;
        int looks = 0;  ///< facts_of()
    };
    Calls calls;

    Result<std::string> read(const Path& path) override {
        ++calls.reads;
        if (is_due()) return error("reading", path);
        return real_.read(path);
    }
    Result<Piece> read_before(const Path& path, std::optional<std::uintmax_t> end, std::size_t size) override {
        if (is_due()) return error("reading", path);
        return real_.read_before(path, end, size);
    }
    Result<Beneath> read_beneath(const Path& root, const Path& below, std::uintmax_t from, std::size_t size) override {
        if (is_due()) return error("reading", root / below);
        return real_.read_beneath(root, below, from, size);
    }
    Result<std::vector<std::string>> list_beneath(const Path& root, const Path& below, std::size_t most) override {
        if (is_due()) return error("listing", root / below);
        return real_.list_beneath(root, below, most);
    }
    Result<void> replace(const Path& path, std::string_view content, Durability durability) override {
        if (is_due()) return error("writing", path);
        return real_.replace(path, content, durability);
    }
    Result<void> exchange(const Path& path, std::string_view content, const Path& displaced,
                          Durability durability) override {
        if (is_due()) return error("writing", path);
        return real_.exchange(path, content, displaced, durability);
    }
    Result<void> append(const Path& path, std::string_view content, Durability durability) override {
        if (is_due()) return error("appending to", path);
        return real_.append(path, content, durability);
    }
    Result<void> move_new(const Path& from, const Path& to) override {
        if (is_due()) return error("writing", to);
        return real_.move_new(from, to);
    }
    Result<std::vector<std::string>> list(const Path& folder) override {
        ++calls.lists;
        if (is_due()) return error("listing", folder);
        return real_.list(folder);
    }
    Result<void> remove(const Path& path) override {
        if (is_due()) return error("removing", path);
        return real_.remove(path);
    }
    Result<FileFacts> facts_of(const Path& path) override {
        ++calls.looks;
        return real_.facts_of(path);
    }

  private:
    bool is_due() {
        if (countdown_ == 0 || --countdown_ > 0) return false;
        failed_ = true;
        return true;
    }
    static Error error(const std::string& doing, const Path& path) {
        return {ErrorCode::io, doing + " " + path.string() + ": No space left on device"};
    }

    FileSystem& real_;
    int countdown_ = 0;
    bool failed_ = false;
};

/// Makes `change` fail at each of its operations in turn, until one passes without a failure. After each failure
/// `check_old` must find everything as it was, and `undo` brings it back after the final success.
inline int fail_everywhere(FaultyFileSystem& files, const std::function<Result<void>()>& change,
                           const std::function<void(const Error&)>& check_failure) {
    for (int n = 1;; ++n) {
        files.fail_at(n);
        const auto result = change();
        const bool failed = files.failed();
        files.fail_at(0);
        if (result) return n - 1;
        if (!failed) throw std::runtime_error("failed by itself: " + result.error().message);
        check_failure(result.error());
    }
}

}  // namespace orange::testing

#include "daemon/git/small_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>

#include "common/base/ids.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/posix/read.hpp"
#include "common/posix/write.hpp"

namespace orange::git {
namespace {

Error too_much(const std::string& shown) {
    return {ErrorCode::conflict, printable(shown) + " has more than " + std::to_string(k_most_entries) +
                                     " files, or folders more than " + std::to_string(k_most_levels) + " levels deep"};
}

/// `left`: the number of entries that are still allowed.
Result<void> see_below(int folder, const std::string& shown, const See& see, std::size_t& left, int levels) {
    if (levels == 0) return too_much(shown);
    TRY(const auto names, names_in(folder, shown));
    for (const auto& name : names) {
        if (left-- == 0) return too_much(shown);
        struct stat facts {};
        if (::fstatat(folder, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
            if (errno == ENOENT) continue;
            return io_error("looking at " + shown + "/" + name, errno);
        }
        if (S_ISDIR(facts.st_mode)) {
            TRY(const auto inner, open_folder_at(folder, name, shown + "/" + name));
            TRY(see_below(inner.get(), shown, see, left, levels - 1));
        }
        TRY(see(folder, name, facts.st_mode));
    }
    return {};
}

}  // namespace

std::string real_path(const std::filesystem::path& path) {
    std::error_code error;
    const auto real = std::filesystem::weakly_canonical(path, error);
    return error ? path.lexically_normal().string() : real.string();
}

bool is_link_downwards(int folder, const std::string& name) {
    std::string target(k_longest_pointer, '\0');
    const auto size = ::readlinkat(folder, name.c_str(), target.data(), target.size());
    if (size <= 0 || static_cast<std::size_t>(size) == target.size() || target.starts_with('/')) return false;
    target.resize(static_cast<std::size_t>(size));
    const auto names = split(target, '/');
    return std::find(names.begin(), names.end(), "..") == names.end();
}

Result<std::vector<std::string>> names_in(int folder, const std::string& shown) {
    std::vector<std::string> names;
    UniqueFd again(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const std::unique_ptr<DIR, int (*)(DIR*)> open(again ? ::fdopendir(again.get()) : nullptr, &::closedir);
    if (!open) return io_error("reading the folder " + shown, errno);
    (void)again.release();
    while (const auto* entry = ::readdir(open.get())) {
        const std::string name = entry->d_name;
        if (name == "." || name == "..") continue;
        if (names.size() == k_most_entries) return too_much(shown);
        names.push_back(name);
    }
    return names;
}

Result<void> see_all_below(int folder, const std::string& shown, const See& see) {
    auto left = k_most_entries;
    return see_below(folder, shown, see, left, k_most_levels);
}

std::optional<std::string> small_file_at(int folder, const std::string& name, std::size_t limit) {
    const UniqueFd file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    std::string text;
    if (!file || posix::read_at_most(file.get(), limit, text) != 0) return std::nullopt;
    return text;
}

bool is_symbolic_ref(int folder, const std::string& name) {
    const UniqueFd file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    std::array<char, 4> begin{};
    return file && ::read(file.get(), begin.data(), begin.size()) == static_cast<ssize_t>(begin.size()) &&
           std::string_view(begin.data(), begin.size()) == "ref:";
}

Result<void> replace_file_at(int folder, const std::string& name, std::string_view content, const std::string& shown) {
    const auto temporary = name + "." + random_id(10) + ".tmp";
    const int error = posix::replace_at(folder, name, temporary, content, 0666);
    return error == 0 ? Result<void>{} : io_error("writing " + shown, error);
}

Result<void> copy_file_at(int folder, const std::string& from, int into, const std::string& to, std::size_t limit,
                          const std::string& shown) {
    const UniqueFd in(::openat(folder, from.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!in && errno == ENOENT) return Error(ErrorCode::not_found, printable(shown) + " is not there");
    struct stat facts {};
    if (!in || ::fstat(in.get(), &facts) != 0) return io_error("copying " + shown, errno);
    if (!S_ISREG(facts.st_mode) || facts.st_size > static_cast<off_t>(limit)) {
        return Error(ErrorCode::io, "copying " + printable(shown) +
                                        ": it is not a regular file, or it is larger than " +
                                        std::to_string(limit >> 20) + " MiB");
    }
    const UniqueFd out(::openat(into, to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!out) return io_error("copying " + shown, errno);
    std::vector<char> piece(std::size_t{1} << 18);
    for (auto left = static_cast<std::size_t>(facts.st_size); left > 0;) {
        const auto n = ::read(in.get(), piece.data(), std::min(left, piece.size()));
        if (n < 0) return io_error("copying " + shown, errno);
        if (n == 0) break;  // the file has become shorter
        const int problem = posix::write_all(out.get(), {piece.data(), static_cast<std::size_t>(n)});
        if (problem != 0) return io_error("copying " + shown, problem);
        left -= static_cast<std::size_t>(n);
    }
    return {};
}

std::optional<std::string> settled_facts(const std::string& path) {
    constexpr std::time_t k_tick = 2;  ///< seconds
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) return std::string();
    std::error_code error;
    const auto written = std::filesystem::last_write_time(path, error);
    if (error || std::time(nullptr) - std::max(facts.st_ctime, facts.st_mtime) < k_tick) return std::nullopt;
    std::string all = path;
    for (const auto number : {static_cast<std::int64_t>(facts.st_ino), static_cast<std::int64_t>(facts.st_mode),
                              static_cast<std::int64_t>(facts.st_size), static_cast<std::int64_t>(facts.st_ctime),
                              static_cast<std::int64_t>(written.time_since_epoch().count())}) {
        all += " " + std::to_string(number);
    }
    return all + "\n";
}

}  // namespace orange::git

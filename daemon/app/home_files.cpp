#include "daemon/app/home_files.hpp"

#include "common/base/try.hpp"

namespace orange {

Result<void> HomeFiles::check() const {
    const auto state = home_.state();
    if (state == Home::State::here) return {};
    const auto why = state == Home::State::missing ? " is gone; put it back and try again"
                                                   : " is not the folder that this daemon has locked any more";
    return Error(ErrorCode::io, home_.path().string() + why);
}

/// Adds the check to a failed query, whose cause may be a missing home. A query that succeeds may, for a moment, read
/// another home that was put in its place: nothing is written there, and HomeWatch ends the daemon.
template <class T>
Result<T> HomeFiles::if_home_is_here(Result<T> found) const {
    if (!found) TRY(check());
    return found;
}

Result<std::string> HomeFiles::read(const Path& path) {
    return if_home_is_here(disk_.read(path));
}

void HomeFiles::read_each(const Path& folder, const std::vector<std::string>& names, const std::string& file,
                          const std::function<void(const std::string& name, Result<std::string> content)>& take) {
    disk_.read_each(folder, names, file, [&](const std::string& name, Result<std::string> content) {
        take(name, if_home_is_here(std::move(content)));
    });
}

Result<FileSystem::Piece> HomeFiles::read_before(const Path& path, std::optional<std::uintmax_t> end,
                                                 std::size_t size) {
    return if_home_is_here(disk_.read_before(path, end, size));
}

Result<FileSystem::Beneath> HomeFiles::read_beneath(const Path& root, const Path& below, std::uintmax_t from,
                                                    std::size_t size) {
    return if_home_is_here(disk_.read_beneath(root, below, from, size));
}

Result<std::vector<std::string>> HomeFiles::list_beneath(const Path& root, const Path& below, std::size_t most) {
    return if_home_is_here(disk_.list_beneath(root, below, most));
}

Result<void> HomeFiles::replace(const Path& path, std::string_view content, Durability durability) {
    TRY(check());
    return disk_.replace(path, content, durability);
}

Result<void> HomeFiles::exchange(const Path& path, std::string_view content, const Path& displaced,
                                 Durability durability) {
    TRY(check());
    return disk_.exchange(path, content, displaced, durability);
}

Result<void> HomeFiles::append(const Path& path, std::string_view content, Durability durability) {
    TRY(check());
    return disk_.append(path, content, durability);
}

Result<void> HomeFiles::move_new(const Path& from, const Path& to) {
    TRY(check());
    return disk_.move_new(from, to);
}

Result<std::vector<std::string>> HomeFiles::list(const Path& folder) {
    auto names = disk_.list(folder);
    if (names && names->empty()) TRY(check());
    return if_home_is_here(std::move(names));
}

Result<void> HomeFiles::remove(const Path& path) {
    TRY(check());
    return disk_.remove(path);
}

Result<FileFacts> HomeFiles::facts_of(const Path& path) {
    return if_home_is_here(disk_.facts_of(path));
}

}  // namespace orange
